//! See [`tracefast_reference::checks::strace_halves`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracefast_reference::checks::strace_halves(data));
