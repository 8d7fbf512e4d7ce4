//! See [`tracefast_fuzz::split`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracefast_fuzz::split(data));
