//! A second reading of both grammars, slow and obvious, and the checks that compare the parsers
//! with it.
//!
//! [`strace`] and [`ftrace`] read the same text as the parsers of `tracefast-core`, by the grammar
//! alone; they share nothing with them but tables of names. Where the two differ, the grammar says
//! which one is wrong, and the log becomes a test.
//!
//! [`made`] makes logs out of bytes: every choice is a byte, so a fuzzer can steer it, and what
//! each row must say is known. [`mutants`] changes real lines, the same way in every run.
//! [`checks`] are the bodies of the fuzz targets as plain functions: `tests/` runs them on made-up
//! input in every test run, `fuzz/` under libFuzzer (`make fuzz`).
//!
//! To compare parser and reference on logs of your own:
//!
//! ```console
//! $ TRACEFAST_LOGS=folder cargo test -p tracefast-reference --test strace -- --ignored --nocapture
//! $ TRACEFAST_LOGS=folder cargo test -p tracefast-reference --test ftrace -- --ignored --nocapture
//! ```

#![allow(missing_docs)] // The fields of a row are those of the schema.
#![allow(clippy::format_push_string)] // Nothing here is fast, all of it plain.

pub mod checks;
pub mod columns;
pub mod compare;
pub mod ftrace;
pub mod made;
pub mod mutants;
pub mod strace;
