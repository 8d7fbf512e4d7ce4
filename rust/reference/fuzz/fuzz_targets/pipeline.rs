//! See [`tracefast_reference::checks::pipeline`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracefast_reference::checks::pipeline(data));
