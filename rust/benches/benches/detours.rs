//! How many lines of a log leave the fast path: `cargo bench -p tracefast-benches --bench
//! detours -- LOG…`.
//!
//! The marks of the structure pass and the layout of the log are not enough for these lines: a call
//! with several ` = `, a torn line, one with other columns, a message, a header. Prints one line of
//! JSON for each log: its lines, and how many of them were read again.

#![allow(clippy::print_stdout)]

use std::io;

use tracefast_core::events::parsed_block::Parsed;
use tracefast_core::format::{Format, Grammar};
use tracefast_core::text::block::Block;

const BLOCK: usize = 256 << 10;

fn main() -> io::Result<()> {
    // `cargo bench` adds an option of its own.
    for name in std::env::args().skip(1).filter(|argument| !argument.starts_with("--")) {
        let text = std::fs::read(&name)?;
        let (lines, detours) = Format::detect(&text[..text.len().min(1 << 20)], None)
            .map_or((0, 0), |format| count(&text, &format));
        println!(r#"{{"lines": {lines}, "detours": {detours}}}"#);
    }
    Ok(())
}

/// Lines, and how many of them left the fast path.
fn count(mut text: &[u8], format: &Format) -> (u64, u64) {
    let mut grammar = Grammar::default();
    let mut parsed = Parsed::default();
    let (mut lines, mut detours) = (0, 0);
    while !text.is_empty() {
        let mut end = text.len().min(BLOCK);
        while end < text.len() && (text[end - 1] != b'\n' || !format.stands_alone(&text[end..])) {
            end += 1;
        }
        let mut block = Block::from_text(&text[..end]);
        lines += text[..end].split_inclusive(|&b| b == b'\n').count() as u64;
        text = &text[end..];
        block.last = text.is_empty();
        grammar.parse(format, &mut block, &mut parsed);
        detours += parsed.detours;
    }
    (lines, detours)
}
