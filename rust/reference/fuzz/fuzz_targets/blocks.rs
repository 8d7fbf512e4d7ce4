//! See [`tracefast_reference::checks::blocks`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracefast_reference::checks::blocks(data));
