//! Blocks, cut from a file and from a stream.

use std::io::{Cursor, Write};

use tracefast_core::format::{Format, Wanted};
use tracefast_core::text::block::Block;
use tracefast_io::input::split::{Cutter, block_count, read_block};

/// Cuts the text after the first two bytes into blocks, whose length these bytes give.
///
/// # Panics
/// If the blocks are not the input again, or one of them starts in the middle of something.
pub fn blocks(data: &[u8]) {
    let [low, high, text @ ..] = data else { return };
    let size = 1 + usize::from(*low) + (usize::from(*high & 15) << 8);
    let wanted = if high & 16 == 0 { Wanted::Strace } else { Wanted::Ftrace };
    let format = Format::from_wanted(wanted);
    check(&by_file(text, size, &format), text, &format);
    check(&by_stream(text, size, usize::from(*high), &format), text, &format);
}

fn check(blocks: &[Vec<u8>], text: &[u8], format: &Format) {
    assert!(blocks.concat() == text, "the blocks are not the text {}", text.escape_ascii());
    let filled: Vec<_> = blocks.iter().filter(|block| !block.is_empty()).collect();
    for (number, block) in filled.iter().enumerate() {
        let shown = block.escape_ascii();
        assert!(number + 1 == filled.len() || block.ends_with(b"\n"), "no end: {shown}");
        let line = block.split(|&b| b == b'\n').next().unwrap_or_default();
        assert!(number == 0 || format.stands_alone(line), "continues: {shown}");
    }
}

fn by_file(text: &[u8], size: usize, format: &Format) -> Vec<Vec<u8>> {
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(text).expect("room for it");
    let len = text.len() as u64;
    let mut block = Block::default();
    (0..block_count(len, size))
        .map(|number| {
            read_block(&file, len, number, size, format, &mut block).expect("readable");
            block.text().to_vec()
        })
        .collect()
}

/// The first `head` bytes were read before.
fn by_stream(text: &[u8], size: usize, head: usize, format: &Format) -> Vec<Vec<u8>> {
    let (head, rest) = text.split_at(head.min(text.len()));
    let mut cutter = Cutter::new(head.to_vec(), Box::new(Cursor::new(rest.to_vec())));
    let mut block = Block::default();
    let mut out = Vec::new();
    while cutter.next(size, format, &mut block).expect("readable") {
        assert!(!block.last || out.iter().map(Vec::len).sum::<usize>() + block.len() == text.len());
        out.push(block.text().to_vec());
    }
    out
}
