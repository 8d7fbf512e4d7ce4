//! A log parsed in memory, in one thread, with blocks of a chosen length.

use std::sync::Arc;

use arrow_array::RecordBatch;
use tracefast_core::batch::{Part, Projection, assemble};
use tracefast_core::events::line_counts::LineCounts;
use tracefast_core::format::{Format, Grammar};
use tracefast_core::serial::pool::Pool;
use tracefast_core::serial::resolved_block::ResolvedBlock;
use tracefast_core::serial::stream::Stream;
use tracefast_core::text::block::Block;

/// Lines by use and all rows of a log cut into blocks of at least `size` bytes.
///
/// # Panics
/// If a byte is not accounted for, or the rows by kind are not the rows.
pub fn parse(format: Format, data: &[u8], size: usize) -> (LineCounts, RecordBatch) {
    let pool = Arc::new(Pool::default());
    let mut stream = Stream::new(Arc::clone(&pool));
    let mut grammar = Grammar::default();
    let mut parts = Vec::new();
    stream.begin("log", format);
    let blocks = blocks(format, data, size);
    for (number, text) in blocks.iter().enumerate() {
        let mut block = Block::from_text(text);
        block.last = number + 1 == blocks.len();
        let mut parsed = pool.parsed();
        grammar.parse(&format, &mut block, &mut parsed);
        keep(&mut parts, stream.resolve(block, parsed));
    }
    while let Some(resolved) = stream.end() {
        keep(&mut parts, resolved);
    }
    assert_eq!(stream.counts.total.bytes, data.len() as u64, "bytes");
    assert_eq!(stream.counts.total.lines.total_bytes(), data.len() as u64, "bytes by use");
    let batch = assemble(&parts, &Projection::default(), &stream.values());
    assert_eq!(stream.counts.total.rows(), batch.num_rows() as u64, "rows by kind");
    (stream.counts.total.lines, batch)
}

fn keep(parts: &mut Vec<Part>, resolved: ResolvedBlock) {
    let block = Arc::new(resolved);
    for rows in block.runs.clone() {
        parts.push(Part::new(Arc::clone(&block), rows));
    }
}

/// Cuts whole lines into blocks that never start with the continuation of a line.
fn blocks(format: Format, data: &[u8], size: usize) -> Vec<&[u8]> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut end = 0;
    for line in data.split_inclusive(|&b| b == b'\n') {
        if end - start >= size && format.stands_alone(line.strip_suffix(b"\n").unwrap_or(line)) {
            out.push(&data[start..end]);
            start = end;
        }
        end += line.len();
    }
    out.push(&data[start..end]);
    out
}
