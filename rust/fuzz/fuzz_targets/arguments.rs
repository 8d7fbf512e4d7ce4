//! See [`tracefast_fuzz::arguments`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracefast_fuzz::arguments(data));
