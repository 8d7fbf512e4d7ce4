//! See [`tracefast_fuzz::unescape`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracefast_fuzz::unescape(data));
