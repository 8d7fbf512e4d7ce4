//! See [`tracefast_reference::checks::strace_arguments`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracefast_reference::checks::strace_arguments(data));
