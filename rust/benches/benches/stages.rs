//! What each stage costs on one thread: `cargo bench -p tracefast-benches --bench stages [-- PART OF
//! A NAME]`, on the logs that ship with the project, or on that of `TRACEFAST_BENCH_LOG=FILE`.
//!
//! Rows per second refer to the rows of the log for all stages, so times per row can be added.

#![allow(missing_docs)]

mod support;

use std::io;

use criterion::SamplingMode;
use tracefast_benches::logs::logs;
use tracefast_benches::stages::{STAGES, Stage, format_of, run};

fn main() -> io::Result<()> {
    let mut criterion = support::criterion();
    for (name, text) in logs(&["strace", "ftrace"])? {
        let format = format_of(&name, &text)?;
        let rows = run(&text, &format, Stage::Stitch).rows;
        let mut group = criterion.benchmark_group(&name);
        group.sampling_mode(SamplingMode::Flat);
        group.throughput(support::throughput(rows, text.len()));
        for (stage, name) in STAGES {
            group.bench_function(name, |bench| {
                bench.iter_custom(|rounds| {
                    (0..rounds).map(|_| run(&text, &format, stage).took).sum()
                });
            });
        }
        group.finish();
    }
    criterion.final_summary();
    Ok(())
}
