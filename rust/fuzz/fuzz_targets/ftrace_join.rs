//! See [`tracefast_fuzz::ftrace_join`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracefast_fuzz::ftrace_join(data));
