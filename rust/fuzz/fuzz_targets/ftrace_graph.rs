//! See [`tracefast_fuzz::ftrace_graph`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tracefast_fuzz::ftrace_graph(data));
