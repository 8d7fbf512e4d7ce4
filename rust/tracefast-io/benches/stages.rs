//! What each stage costs on one thread: `cargo bench -p tracefast-io --bench stages [-- PART OF A
//! NAME]`, on the logs that ship with the project, or on that of `TRACEFAST_BENCH_LOG=FILE`.
//!
//! The text is cut into blocks as in the pipeline. Each block goes through all stages before the
//! one that is timed, so the cache holds what it holds in the pipeline. Only the stage itself is
//! timed. Rows per second refer to the rows of the log for all stages, so times per row can be
//! added.
//!
//! For tools that count instructions, `TRACEFAST_BENCH_STAGE=NAME` takes the log as far as this
//! stage and no further, `TRACEFAST_BENCH_ROUNDS=N` times (once): see `benches/guard.py`.

#![allow(missing_docs)]
#![allow(clippy::print_stdout)]

#[path = "../../tracefast-core/benches/support/mod.rs"]
mod support;

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use criterion::SamplingMode;
use tracefast_core::batch::{BATCH_ROWS, Part, Projection, assemble};
use tracefast_core::format::{Format, Grammar};
use tracefast_core::serial::pool::Pool;
use tracefast_core::serial::resolved_block::ResolvedBlock;
use tracefast_core::serial::stream::Stream;
use tracefast_core::text::block::Block;
use tracefast_core::text::scan::{Marks, structure, structure_portable};
use tracefast_io::sink::{ParquetEncoder, ParquetOptions};

const BLOCK: usize = 256 << 10;

/// Rows of a row group.
const GROUP: usize = 65_536;

fn main() -> io::Result<()> {
    if let Some(name) = support::alone() {
        return alone(&name);
    }
    let mut criterion = support::criterion();
    for (name, text) in support::logs(&["strace", "ftrace"])? {
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

/// Takes the whole log as far as one stage, for an external tool to measure.
fn alone(wanted: &str) -> io::Result<()> {
    let file =
        support::named().ok_or_else(|| io::Error::other("TRACEFAST_BENCH_LOG names no log"))?;
    let (stage, name) = STAGES
        .into_iter()
        .find(|(_, name)| *name == wanted)
        .ok_or_else(|| io::Error::other(format!("there is no stage {wanted}")))?;
    let text = std::fs::read(&file)?;
    let format = format_of(&file, &text)?;
    let rounds = std::env::var("TRACEFAST_BENCH_ROUNDS").ok().and_then(|n| n.parse().ok());
    for _ in 0..rounds.unwrap_or(1_u32) {
        let Outcome { took, rows } = run(&text, &format, stage);
        println!("{name}: {took:?}, {rows} rows, {} bytes", text.len());
    }
    Ok(())
}

fn format_of(name: &str, text: &[u8]) -> io::Result<Format> {
    Format::detect(&text[..text.len().min(1 << 20)], None)
        .ok_or_else(|| io::Error::other(format!("{name}: not a log")))
}

/// How far the text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Stage {
    /// Into blocks.
    Blocks,
    /// Ends of lines, and where results may start.
    Structure,
    /// The structure pass without vector instructions.
    Portable,
    /// Rows.
    Grammar,
    /// Halves over block borders, keys of all blocks: what is done in order, without the model.
    Stitch,
    /// The model too: tasks, descriptors, files.
    Model,
    /// Arrow arrays.
    Batches,
    /// Row groups.
    Parquet,
}

const STAGES: [(Stage, &str); 8] = [
    (Stage::Blocks, "blocks"),
    (Stage::Structure, "structure"),
    (Stage::Portable, "portable"),
    (Stage::Grammar, "grammar"),
    (Stage::Stitch, "stitch"),
    (Stage::Model, "model"),
    (Stage::Batches, "batches"),
    (Stage::Parquet, "parquet"),
];

/// The result for one log.
struct Outcome {
    /// Time in the requested stage.
    took: Duration,
    /// Rows of all blocks, if a stage made rows.
    rows: u64,
}

/// Runs for one stage.
struct Watch {
    stage: Stage,
    took: Duration,
}

impl Watch {
    fn time<T>(&mut self, stage: Stage, work: impl FnOnce() -> T) -> T {
        if stage != self.stage {
            return work();
        }
        let start = Instant::now();
        let done = work();
        self.took += start.elapsed();
        done
    }
}

/// Takes a log through the stages, up to this one.
fn run(mut text: &[u8], format: &Format, stage: Stage) -> Outcome {
    let pool = Arc::new(Pool::default());
    let mut grammar = Grammar::default();
    let mut marks = Marks::default();
    let mut stream = Stream::new(Arc::clone(&pool));
    stream.model = stage >= Stage::Model;
    let in_order = if stream.model { Stage::Model } else { Stage::Stitch };
    stream.begin("log", *format);
    let mut watch = Watch { stage, took: Duration::ZERO };
    let mut arrow = Arrow::new(stage);
    while !text.is_empty() {
        let mut block = watch.time(Stage::Blocks, || {
            let end = cut(text, format);
            let mut block = Block::from_buffer(pool.buffer());
            block.space(end).copy_from_slice(&text[..end]);
            block.set(0, end);
            text = &text[end..];
            block.last = text.is_empty();
            block
        });
        if stage < Stage::Grammar {
            let find = if stage == Stage::Portable { structure_portable } else { structure };
            if stage > Stage::Blocks {
                watch.time(stage, || find(block.padded(), block.len(), &mut marks));
                std::hint::black_box(&marks);
            }
            pool.give_back(block, pool.parsed());
            continue;
        }
        let mut parsed = pool.parsed();
        watch.time(Stage::Grammar, || grammar.parse(format, &mut block, &mut parsed));
        if stage == Stage::Grammar {
            std::hint::black_box(&parsed);
            pool.give_back(block, parsed);
            continue;
        }
        let resolved = watch.time(in_order, || stream.resolve(block, parsed));
        arrow.take(resolved, &mut stream, &mut watch);
    }
    while let Some(rest) = watch.time(in_order, || stream.end()) {
        arrow.take(rest, &mut stream, &mut watch);
    }
    arrow.flush(&mut stream, &mut watch);
    Outcome { took: watch.took, rows: arrow.seen }
}

/// Rows on their way into batches and row groups.
struct Arrow {
    stage: Stage,
    projection: Projection,
    encoder: ParquetEncoder,
    parts: Vec<Part>,
    rows: usize,
    /// All rows so far.
    seen: u64,
    batches: Vec<RecordBatch>,
}

impl Arrow {
    fn new(stage: Stage) -> Self {
        let encoder = ParquetEncoder::try_new(ParquetOptions::default()).expect("the default");
        let projection = Projection::default();
        Self {
            stage,
            projection,
            encoder,
            parts: Vec::new(),
            rows: 0,
            seen: 0,
            batches: Vec::new(),
        }
    }

    fn take(&mut self, resolved: ResolvedBlock, stream: &mut Stream, watch: &mut Watch) {
        self.seen += resolved.runs.iter().map(|run| run.len() as u64).sum::<u64>();
        if self.stage < Stage::Batches {
            return;
        }
        let resolved = Arc::new(resolved);
        for run in &resolved.runs {
            let mut run = run.clone();
            while !run.is_empty() {
                let take = run.len().min(BATCH_ROWS - self.rows);
                let rows = run.start..run.start + take;
                run.start += take;
                self.rows += take;
                self.parts.push(Part::new(Arc::clone(&resolved), rows));
                if self.rows == BATCH_ROWS {
                    self.assemble(stream, watch);
                }
            }
        }
    }

    fn assemble(&mut self, stream: &mut Stream, watch: &mut Watch) {
        let batch = watch
            .time(Stage::Batches, || assemble(&self.parts, &self.projection, &stream.values()));
        self.parts.clear();
        self.rows = 0;
        if self.stage == Stage::Parquet {
            self.batches.push(batch);
            if self.batches.iter().map(RecordBatch::num_rows).sum::<usize>() >= GROUP {
                self.encode(watch);
            }
        }
    }

    fn encode(&mut self, watch: &mut Watch) {
        let group = watch.time(Stage::Parquet, || self.encoder.encode(self.batches.as_slice()));
        std::hint::black_box(group.expect("batches of the event schema"));
        self.batches.clear();
    }

    fn flush(&mut self, stream: &mut Stream, watch: &mut Watch) {
        if !self.parts.is_empty() {
            self.assemble(stream, watch);
        }
        if !self.batches.is_empty() {
            self.encode(watch);
        }
    }
}

/// Where a block ends: after a whole line and everything that belongs to it.
fn cut(text: &[u8], format: &Format) -> usize {
    let mut end = text.len().min(BLOCK);
    while end < text.len() && (text[end - 1] != b'\n' || !format.stands_alone(&text[end..])) {
        end += 1;
    }
    end
}
