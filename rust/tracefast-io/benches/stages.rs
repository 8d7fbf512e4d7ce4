//! What each stage costs on one thread: `cargo bench -p tracefast-io --bench stages`, on the logs that
//! ship with the project, or on that of `TRACEFAST_BENCH_LOG=FILE`.
//!
//! The text is cut into blocks as the pipeline does, and goes round for two seconds a stage: each
//! stage has those above it in front, so that a line of the output says what is done up to there,
//! and what the stage adds. The best round counts.
//!
//! For tools that count instructions, `TRACEFAST_BENCH_STAGE=NAME` does one stage only, and
//! `TRACEFAST_BENCH_ROUNDS=N` goes round N times: see `benches/guard.py`.

#![allow(missing_docs)]
#![allow(clippy::print_stdout, clippy::cast_precision_loss)]

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use tracefast_core::batch::{BATCH_ROWS, Part, Projection, assemble};
use tracefast_core::block::Block;
use tracefast_core::format::{Format, Grammar};
use tracefast_core::scan::{Marks, structure};
use tracefast_core::stream::{Pool, Resolved, Stream};
use tracefast_io::sink::{ParquetEncoder, ParquetOptions};

const BLOCK: usize = 256 << 10;

/// Rows of a row group.
const GROUP: usize = 131_072;

fn main() -> io::Result<()> {
    if let Ok(file) = std::env::var("TRACEFAST_BENCH_LOG") {
        return measure(&file, &std::fs::read(&file)?);
    }
    // `cargo test --all-targets` starts this too.
    if std::env::args().any(|argument| argument == "--bench") {
        for name in ["demo.strace", "demo.ftrace"] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
            let packed = File::open(path.join(format!("{name}.zst")))?;
            measure(name, &zstd::decode_all(packed)?)?;
        }
    }
    Ok(())
}

/// Measures and prints each stage of a log.
fn measure(name: &str, text: &[u8]) -> io::Result<()> {
    let Some(format) = Format::detect(&text[..text.len().min(1 << 20)], None) else {
        return Err(io::Error::other(format!("{name}: not a log")));
    };
    let rounds: Option<u32> =
        std::env::var("TRACEFAST_BENCH_ROUNDS").ok().and_then(|n| n.parse().ok());
    let only = std::env::var("TRACEFAST_BENCH_STAGE").ok();
    let lines = memchr::memchr_iter(b'\n', text).count().max(1);
    println!("{name}: {} bytes, {lines} lines", text.len());
    let mut before = 0.0;
    for (stage, name) in STAGES {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let begin = Instant::now();
        let mut best = f64::INFINITY;
        let mut round = 0;
        while rounds.map_or(begin.elapsed() < Duration::from_secs(2), |rounds| round < rounds) {
            let start = Instant::now();
            run(text, &format, stage);
            best = best.min(start.elapsed().as_secs_f64());
            round += 1;
        }
        let each = best * 1e9 / lines as f64;
        println!(
            "{name:10} {:8.0} MB/s {each:7.1} ns/line, adds {:7.1}",
            text.len() as f64 / best / 1e6,
            each - before,
        );
        before = each;
    }
    Ok(())
}

/// How far the text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Stage {
    /// Into blocks.
    Blocks,
    /// Ends of lines, and where results may begin.
    Structure,
    /// Rows.
    Grammar,
    /// Halves over block borders, keys of all blocks.
    Stitch,
    /// Tasks, descriptors, files.
    Model,
    /// Arrow arrays.
    Batches,
    /// Row groups.
    Parquet,
}

const STAGES: [(Stage, &str); 7] = [
    (Stage::Blocks, "blocks"),
    (Stage::Structure, "structure"),
    (Stage::Grammar, "grammar"),
    (Stage::Stitch, "stitch"),
    (Stage::Model, "model"),
    (Stage::Batches, "batches"),
    (Stage::Parquet, "parquet"),
];

/// Takes a log through the stages, up to this one.
fn run(mut text: &[u8], format: &Format, stage: Stage) {
    let pool = Arc::new(Pool::default());
    let mut grammar = Grammar::default();
    let mut marks = Marks::default();
    let mut stream = Stream::new(Arc::clone(&pool));
    stream.model = stage >= Stage::Model;
    stream.begin("log", *format);
    let mut arrow = Arrow::new(stage);
    while !text.is_empty() {
        let end = cut(text, format);
        let mut block = Block::from_buffer(pool.buffer());
        block.space(end).copy_from_slice(&text[..end]);
        block.set(0, end);
        text = &text[end..];
        block.last = text.is_empty();
        if stage <= Stage::Structure {
            if stage == Stage::Structure {
                structure(block.padded(), block.len(), &mut marks);
                std::hint::black_box(&marks);
            }
            pool.give_back(block, pool.parsed());
            continue;
        }
        let mut parsed = pool.parsed();
        grammar.parse(format, &mut block, &mut parsed);
        if stage == Stage::Grammar {
            std::hint::black_box(&parsed);
            pool.give_back(block, parsed);
            continue;
        }
        let resolved = stream.resolve(block, parsed);
        arrow.take(resolved, &mut stream);
    }
    if let Some(rest) = stream.end() {
        arrow.take(rest, &mut stream);
    }
    arrow.flush(&mut stream);
}

/// Rows on their way into batches and row groups.
struct Arrow {
    stage: Stage,
    projection: Projection,
    encoder: ParquetEncoder,
    parts: Vec<Part>,
    rows: usize,
    batches: Vec<RecordBatch>,
}

impl Arrow {
    fn new(stage: Stage) -> Self {
        let encoder = ParquetEncoder::try_new(ParquetOptions::default()).expect("the default");
        let projection = Projection::default();
        Self { stage, projection, encoder, parts: Vec::new(), rows: 0, batches: Vec::new() }
    }

    fn take(&mut self, resolved: Resolved, stream: &mut Stream) {
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
                self.parts.push(Part { block: Arc::clone(&resolved), rows });
                if self.rows == BATCH_ROWS {
                    self.assemble(stream);
                }
            }
        }
    }

    fn assemble(&mut self, stream: &mut Stream) {
        let batch = assemble(&self.parts, &self.projection, &stream.values());
        self.parts.clear();
        self.rows = 0;
        if self.stage == Stage::Parquet {
            self.batches.push(batch);
            if self.batches.iter().map(RecordBatch::num_rows).sum::<usize>() >= GROUP {
                self.encode();
            }
        }
    }

    fn encode(&mut self) {
        let group = self.encoder.encode(&self.batches).expect("batches of the event schema");
        std::hint::black_box(group);
        self.batches.clear();
    }

    fn flush(&mut self, stream: &mut Stream) {
        if !self.parts.is_empty() {
            self.assemble(stream);
        }
        if !self.batches.is_empty() {
            self.encode();
        }
    }
}

/// Where a block ends: behind a whole line and all that belongs to it.
fn cut(text: &[u8], format: &Format) -> usize {
    let mut end = text.len().min(BLOCK);
    while end < text.len() && (text[end - 1] != b'\n' || !format.stands_alone(&text[end..])) {
        end += 1;
    }
    end
}
