//! See [`tracefast_fuzz::accounting`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracefast_fuzz::accounting(data));
