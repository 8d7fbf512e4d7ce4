//! See [`tracefast_reference::checks::strace_escapes`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracefast_reference::checks::strace_escapes(data));
