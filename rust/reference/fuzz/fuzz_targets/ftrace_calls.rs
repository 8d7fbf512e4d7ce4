//! See [`tracefast_reference::checks::ftrace_calls`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracefast_reference::checks::ftrace_calls(data));
