//! What each stage costs on one thread: `TRACEFAST_BENCH_LOG=FILE cargo bench --bench stages`.
//!
//! The file is cut into blocks as the pipeline does, and goes round for two seconds: through the
//! grammar alone, then with the serial stages behind it, then with Arrow arrays behind those.
//! `TRACEFAST_BENCH_ROUNDS=N` goes round N times instead, for tools that count instructions.

#![allow(clippy::print_stdout, clippy::cast_precision_loss)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use tracefast_core::batch::{Part, Projection, assemble};
use tracefast_core::block::Block;
use tracefast_core::format::{Format, Grammar};
use tracefast_core::stream::{Pool, Stream};

const BLOCK: usize = 256 << 10;

fn main() {
    let Ok(file) = std::env::var("TRACEFAST_BENCH_LOG") else {
        println!("TRACEFAST_BENCH_LOG names no log: nothing to measure");
        return;
    };
    let text = match std::fs::read(&file) {
        Ok(text) => text,
        Err(error) => {
            println!("{file}: {error}");
            return;
        }
    };
    let Some(format) = Format::detect(&text[..text.len().min(1 << 20)], None) else {
        println!("{file}: not a log");
        return;
    };
    let rounds = std::env::var("TRACEFAST_BENCH_ROUNDS").ok().and_then(|n| n.parse().ok());
    for depth in [Depth::Grammar, Depth::Serial, Depth::Arrow] {
        let begin = Instant::now();
        let (mut bytes, mut rows, mut round) = (0, 0, 0);
        loop {
            let (b, r) = run(&text, &format, depth);
            bytes += b;
            rows += r;
            round += 1;
            match rounds {
                Some(rounds) if round >= rounds => break,
                None if begin.elapsed() > Duration::from_secs(2) => break,
                _ => {}
            }
        }
        let seconds = begin.elapsed().as_secs_f64();
        println!(
            "{depth:?}: {:.0} MB/s, {:.0} ns a row",
            bytes as f64 / seconds / 1e6,
            seconds * 1e9 / rows as f64,
        );
    }
}

#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
enum Depth {
    Grammar,
    Serial,
    Arrow,
}

/// Bytes read and rows made.
fn run(mut text: &[u8], format: &Format, depth: Depth) -> (usize, usize) {
    let pool = Arc::new(Pool::default());
    let mut grammar = Grammar::default();
    let mut stream = Stream::new(Arc::clone(&pool));
    stream.begin("log", *format);
    let projection = Projection::default();
    let (mut bytes, mut rows) = (0, 0);
    let mut parts = Vec::new();
    while !text.is_empty() {
        let end = cut(text, format);
        let mut block = Block::from_buffer(pool.buffer());
        block.space(end).copy_from_slice(&text[..end]);
        block.set(0, end);
        text = &text[end..];
        bytes += end;
        let mut parsed = pool.parsed();
        grammar.parse(format, &mut block, &mut parsed);
        rows += parsed.rows.len;
        if depth == Depth::Grammar {
            pool.give_back(block, parsed);
            continue;
        }
        let resolved = Arc::new(stream.resolve(block, parsed));
        if depth == Depth::Arrow {
            for rows in resolved.runs.clone() {
                parts.push(Part { block: Arc::clone(&resolved), rows });
            }
            if parts.iter().map(|part| part.rows.len()).sum::<usize>() > 60_000 {
                assemble(&parts, &projection, &stream.values());
                parts.clear();
            }
        }
    }
    (bytes, rows)
}

/// Where a block ends: behind a whole line and all that belongs to it.
fn cut(text: &[u8], format: &Format) -> usize {
    let mut end = text.len().min(BLOCK);
    while end < text.len() && (text[end - 1] != b'\n' || !format.stands_alone(&text[end..])) {
        end += 1;
    }
    end
}
