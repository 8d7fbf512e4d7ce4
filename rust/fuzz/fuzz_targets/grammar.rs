//! See [`tracefast_fuzz::grammar`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracefast_fuzz::grammar(data));
