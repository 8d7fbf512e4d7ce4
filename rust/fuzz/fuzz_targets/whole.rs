//! See [`tracefast_fuzz::whole`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracefast_fuzz::whole(data));
