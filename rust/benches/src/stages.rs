//! The stages that the text of a log goes through, on one thread.
//!
//! The text is cut into blocks as in the pipeline. Each block goes through all stages before the
//! one that is timed, so the cache holds what it holds in the pipeline. Only the stage itself is
//! timed.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
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

/// The format of a log.
///
/// # Errors
///
/// If it has none.
pub fn format_of(name: &str, text: &[u8]) -> io::Result<Format> {
    Format::detect(&text[..text.len().min(1 << 20)], None)
        .ok_or_else(|| io::Error::other(format!("{name}: not a log")))
}

/// How far the text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum Stage {
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

/// All of them, and their names.
pub const STAGES: [(Stage, &str); 8] = [
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
#[derive(Debug)]
pub struct Outcome {
    /// Time in the requested stage.
    pub took: Duration,
    /// Rows of all blocks, if a stage made rows.
    pub rows: u64,
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
pub fn run(mut text: &[u8], format: &Format, stage: Stage) -> Outcome {
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
