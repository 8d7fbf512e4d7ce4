//! See [`tracefast_fuzz::ftrace_decode`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracefast_fuzz::ftrace_decode(data));
