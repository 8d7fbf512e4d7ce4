//! See [`tracefast_fuzz::join`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracefast_fuzz::join(data));
