//! How fast one thread parses ftrace's text: `TRACEFAST_BENCH_LOG=FILE cargo bench --bench ftrace`.
//!
//! The file is cut into blocks as the pipeline does, and read again and again for two seconds. What
//! is measured is the grammar stage alone, without reading, stitching and Arrow.

#![allow(clippy::print_stdout, clippy::cast_precision_loss)]

use std::time::{Duration, Instant};

use tracefast_core::block::Block;
use tracefast_core::ftrace::{Grammar, detect, is_continuation};
use tracefast_core::parsed::Parsed;

const BLOCK: usize = 256 << 10;

fn main() {
    let Ok(file) = std::env::var("TRACEFAST_BENCH_LOG") else {
        println!("TRACEFAST_BENCH_LOG names no log: nothing to measure");
        return;
    };
    let text = match std::fs::read(&file) {
        Ok(text) => text.repeat((4 << 20) / text.len().max(1) + 1),
        Err(error) => {
            println!("{file}: {error}");
            return;
        }
    };
    let Some(format) = detect(&text) else {
        println!("{file}: not a log of ftrace");
        return;
    };
    let blocks = blocks(&text);
    let mut grammar = Grammar::default();
    let mut parsed = Parsed::default();
    let (mut bytes, mut lines, mut unparsed) = (0, 0, 0);
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(2) {
        for block in &blocks {
            grammar.parse(&format, block, &mut parsed);
            bytes += block.len();
            lines += parsed.counts.total();
            unparsed += parsed.counts.unparsed;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{:.0} MB/s, {:.1} million lines/s, {unparsed} of {lines} lines not understood",
        bytes as f64 / seconds / 1e6,
        lines as f64 / seconds / 1e6,
    );
}

/// Whole lines, about as many as the pipeline gives to a worker at once.
fn blocks(mut text: &[u8]) -> Vec<Block> {
    let mut blocks = Vec::new();
    while !text.is_empty() {
        let mut end = text.len().min(BLOCK);
        while end < text.len() && (text[end - 1] != b'\n' || is_continuation(&text[end..])) {
            end += 1;
        }
        blocks.push(Block::from_text(&text[..end]));
        text = &text[end..];
    }
    blocks
}
