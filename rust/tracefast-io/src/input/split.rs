//! Bytes to blocks of whole lines. A line belongs to the block in which it starts; lines that
//! belong to the one before them (stack frames, dumps) stay with it.

use std::fs::File;
use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memrchr};
use tracefast_core::format::Format;
use tracefast_core::text::block::LINE_START;
use tracefast_core::text::block::{Block, MAX_BLOCK, MAX_REST};

use crate::error::{Error, ErrorKind, Result};
use crate::input::compressed::with_damage_hint;
use crate::input::source::read_at;

/// The first read after a block's end, to find the end of its last line.
const TAIL: usize = 4096;

/// Reads grow up to this length: the excess is then small compared to a long line.
const STEP: usize = 4 << 20;

/// How far to look for a line that can start a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Bytes of a block, and so of a line.
    pub block: usize,
    /// Bytes of whole lines that all continue others. Each part of a file in which one of them
    /// starts may have to look that far, so this is shorter than a line may be.
    pub rest: usize,
    /// Longer lines do not count here, because they start in few parts.
    pub long: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { block: MAX_BLOCK, rest: MAX_REST, long: STEP }
    }
}

/// Lines that all continue others, as far as they are read.
#[derive(Debug, Default)]
pub(crate) struct Unsettled {
    /// All bytes, and those of whole lines that are not long.
    bytes: usize,
    lines: usize,
    /// Bytes of the last line.
    last: usize,
}

impl Unsettled {
    /// Adds what follows, and fails if it is too much. All of it starts at or after byte `byte` of
    /// the log.
    pub(crate) fn add(&mut self, more: &[u8], limits: Limits, byte: u64) -> Result<()> {
        let mut start = 0;
        for feed in memchr_iter(b'\n', more) {
            let line = self.last + feed + 1 - start;
            if line <= limits.long {
                self.lines += line;
            }
            (self.last, start) = (0, feed + 1);
        }
        self.last += more.len() - start;
        self.bytes += more.len();

        let (kind, hint) = if self.lines >= limits.rest {
            let limit = limits.rest as u64;
            let hint =
                "check that this is a log; if it is, remove the output of the traced program";
            (ErrorKind::NoEvent { limit }, hint)
        } else if self.bytes >= limits.block {
            let limit = limits.block as u64;
            let hint = "check that this is a log; if it is, record shorter strings (strace -s), or \
                        remove the line";
            (ErrorKind::TooLong { limit }, hint)
        } else {
            return Ok(());
        };
        Err(Error::new(kind).at_byte(byte).with_hint(hint))
    }
}

/// The first position after the start of `text` at which a line of its own surely starts.
pub(crate) fn first_start(text: &[u8], format: &Format) -> Option<usize> {
    line_start(text, 0, usize::MAX, false, false, format)
}

/// The first position from `from` on at which a line of its own starts, or any line from `limit`
/// on, in `text`, which has a line feed or the start of the log before `from` exactly if
/// `from_is_start`. `None`: not in sight. `ends`: the log ends with `text`.
fn line_start(
    text: &[u8],
    from: usize,
    limit: usize,
    from_is_start: bool,
    ends: bool,
    format: &Format,
) -> Option<usize> {
    let mut at = if from_is_start { from } else { from + memchr(b'\n', text.get(from..)?)? + 1 };
    loop {
        if at >= limit {
            return Some(at);
        }
        if at >= text.len() {
            return ends.then_some(text.len());
        }
        let seen = &text[at..text.len().min(at + LINE_START)];
        if seen.len() < LINE_START && !ends && memchr(b'\n', seen).is_none() {
            return None;
        }
        let line = memchr(b'\n', seen).map_or(seen, |end| &seen[..end]);
        if at == 0 || format.stands_alone(line) {
            return Some(at);
        }
        at = match memchr(b'\n', &text[at..]) {
            Some(feed) => at + feed + 1,
            None => return ends.then_some(text.len()),
        };
    }
}

/// Reads block `number` of a file cut into parts of `size` bytes: the lines that start in that
/// part.
///
/// # Errors
/// The file cannot be read or became shorter, or a line is longer than a block can be.
pub fn read_block(
    file: &File,
    len: u64,
    number: u64,
    size: usize,
    format: &Format,
    block: &mut Block,
) -> Result<()> {
    read_block_within(file, len, number, size, format, block, Limits::default())
}

fn read_block_within(
    file: &File,
    len: u64,
    number: u64,
    size: usize,
    format: &Format,
    block: &mut Block,
    limits: Limits,
) -> Result<()> {
    let part_start = number * size as u64;
    let end = (part_start + size as u64).min(len);
    // One more byte before the part shows whether a line starts with it.
    let before = usize::from(part_start > 0);
    let offset = part_start - before as u64;
    let part = (end - part_start) as usize + before;
    let mut want = part + if end < len { TAIL } else { 0 };
    let mut have = 0;
    let mut start = None;
    // Where the search for the next line that can start a block continues, so that no byte is
    // searched twice.
    let mut from = 0;
    let mut unsettled = Unsettled::default();
    block.last = false;
    loop {
        let space = block.space(want);
        let read = have;
        have += read_at(file, &mut space[have..], offset + have as u64)?;
        if have < want && offset + (have as u64) < len {
            let error = Error::new(ErrorKind::Shrunk);
            return Err(error.with_hint("parse it when nothing writes it, or parse a copy"));
        }
        let ends = offset + have as u64 >= len;
        let text = &block.space(want)[..have];
        let at_start =
            |at: usize| at.checked_sub(1).map_or(part_start == 0, |at| text[at] == b'\n');
        if start.is_none() {
            let at = from.max(before).min(have);
            start = line_start(text, at, part, at_start(at), ends, format);
            from = if start.is_some() { 0 } else { have.saturating_sub(LINE_START) };
        }
        match start {
            Some(start) if start >= part || start >= have => {
                block.set(0, 0);
                break;
            }
            None if have >= part
                && memchr(b'\n', &text[before..part.min(have)]).is_none()
                && part_start > 0
                && text.first() != Some(&b'\n') =>
            {
                // The whole part is inside a line that starts before it.
                block.set(0, 0);
                break;
            }
            Some(start) => {
                let at = from.max(part).min(have);
                let last = if end >= len {
                    Some(have)
                } else {
                    line_start(text, at, usize::MAX, at_start(at), ends, format)
                        .or(ends.then_some(have))
                };
                if let Some(last) = last {
                    block.set(start, last);
                    block.last = ends && last == have;
                    break;
                }
                from = have.saturating_sub(LINE_START);
            }
            None if ends => {
                block.set(0, 0);
                break;
            }
            None => {}
        }
        unsettled.add(&text[read..], limits, part_start)?;
        want = (want + want.clamp(TAIL, STEP)).min(limits.block);
    }
    Ok(())
}

/// Number of blocks of a file.
pub fn block_count(len: u64, size: usize) -> u64 {
    len.div_ceil(size as u64)
}

/// Cuts a stream into blocks.
pub struct Cutter {
    head: io::Cursor<Vec<u8>>,
    rest: Box<dyn Read + Send>,
    /// Bytes after the last line of the previous block.
    carry: Vec<u8>,
    done: bool,
    read: u64,
    limits: Limits,
}

impl Cutter {
    /// A stream whose first bytes were read already.
    pub fn new(head: Vec<u8>, rest: Box<dyn Read + Send>) -> Self {
        let limits = Limits::default();
        Self { head: io::Cursor::new(head), rest, carry: Vec::new(), done: false, read: 0, limits }
    }

    /// The part of a stream after its first `before` bytes: `part_start`, then `rest`.
    pub(crate) fn resume(before: u64, carry: Vec<u8>, rest: Box<dyn Read + Send>) -> Self {
        let read = before + carry.len() as u64;
        Self { carry, read, ..Self::new(Vec::new(), rest) }
    }

    /// Fills the next block with about `size` bytes. `false`: there are no more.
    ///
    /// # Errors
    /// The stream cannot be read or decompressed, or a line is longer than a block can be.
    pub fn next(&mut self, size: usize, format: &Format, block: &mut Block) -> Result<bool> {
        if self.done && self.carry.is_empty() {
            return Ok(false);
        }
        let mut have = self.carry.len();
        // Blocks usually have one size, so that buffers can be reused.
        let mut want = if have < size / 2 { size } else { have + size };
        block.space(want)[..have].copy_from_slice(&self.carry);
        self.carry.clear();
        self.carry.shrink_to(STEP);
        // No byte is searched twice.
        let (mut from, mut seen) = (0, 0);
        let mut unsettled = Unsettled::default();
        loop {
            let space = block.space(want);
            while have < want && !self.done {
                match self.head.read(&mut space[have..])? {
                    0 => match self.rest.read(&mut space[have..]) {
                        Ok(0) => self.done = true,
                        Ok(n) => {
                            have += n;
                            self.read += n as u64;
                        }
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => {
                            let error = Error::from(error);
                            // An error that names a file has its own place.
                            let named = error.path().is_some();
                            let error = if named { error } else { error.at_byte(self.read) };
                            return Err(with_damage_hint(error));
                        }
                    },
                    n => {
                        have += n;
                        self.read += n as u64;
                    }
                }
            }
            let text = &block.space(want)[..have];
            if self.done {
                block.set(0, have);
                block.last = true;
                return Ok(have > 0);
            }
            if let Some(cut) = last_start(text, from, format) {
                self.carry.extend_from_slice(&text[cut..]);
                block.set(0, cut);
                block.last = false;
                return Ok(true);
            }
            from = have.saturating_sub(LINE_START);
            unsettled.add(&text[seen..], self.limits, self.read - have as u64)?;
            seen = have;
            want = (want + want.min(STEP)).min(self.limits.block);
        }
    }
}

/// The last position in `text`, after `from`, at which a line of its own surely starts.
fn last_start(text: &[u8], from: usize, format: &Format) -> Option<usize> {
    let mut end = text.len();
    while let Some(feed) = memrchr(b'\n', &text[from..end]).map(|at| from + at) {
        let at = feed + 1;
        let seen = &text[at..text.len().min(at + LINE_START)];
        let whole = memchr(b'\n', seen);
        if (seen.len() == LINE_START || whole.is_some())
            && format.stands_alone(whole.map_or(seen, |end| &seen[..end]))
        {
            return Some(at);
        }
        end = feed;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;
    use tracefast_core::format::Wanted;

    use super::*;
    use crate::input::joined_pieces::{PieceBlocks, PieceJoiner};

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

    #[test]
    fn a_file_that_becomes_shorter_is_an_error() {
        let format = Format::detect(b"1 read(3, \"\", 1) = 0\n", None).expect("strace");
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(&b"1 read(3, \"\", 1) = 0\n".repeat(100)).expect("room for it");
        let len = file.metadata().expect("its length").len();
        file.set_len(len - 30).expect("shorter");
        let mut block = Block::default();
        let last = block_count(len, 1000) - 1;
        let error =
            read_block(&file, len, last, 1000, &format, &mut block).expect_err("the end is gone");
        assert_eq!(error.kind().word(), "shrunk");
    }

    fn by_stream(text: &[u8], size: usize, format: &Format) -> Vec<Vec<u8>> {
        let mut cutter = Cutter::new(Vec::new(), Box::new(io::Cursor::new(text.to_vec())));
        let mut block = Block::default();
        let mut out = Vec::new();
        while cutter.next(size, format, &mut block).expect("readable") {
            out.push(block.text().to_vec());
        }
        out
    }

    /// What the two ways say of a log with `text` after some lines of their own.
    fn refused(text: &str, limits: Limits) -> [Option<String>; 3] {
        let format = Format::from_wanted(Wanted::Strace);
        let log = "close(3) = 0\n".repeat(9) + text + "close(4) = 0\n";
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(log.as_bytes()).expect("room for it");
        let len = log.len() as u64;
        let mut block = Block::default();
        let by_file = (0..block_count(len, 50)).find_map(|number| {
            read_block_within(&file, len, number, 50, &format, &mut block, limits).err()
        });
        let rest = Box::new(io::Cursor::new(log.clone().into_bytes()));
        let mut cutter = Cutter { limits, ..Cutter::new(Vec::new(), rest) };
        let by_stream = loop {
            match cutter.next(50, &format, &mut block) {
                Ok(true) => {}
                Ok(false) => break None,
                Err(error) => break Some(error),
            }
        };
        let mut joiner = PieceJoiner::within(limits);
        let by_pieces = log.as_bytes().chunks(70).find_map(|piece| {
            let text = Box::new(io::Cursor::new(piece.to_vec()));
            let piece = PieceBlocks::new(text, 70, 50, &format, Vec::new).expect("readable");
            joiner.join(piece).err()
        });
        [by_file, by_stream, by_pieces].map(|error| error.map(|error| error.kind().to_string()))
    }

    #[test]
    fn lines_may_have_a_length_and_no_more() {
        let limits = Limits { block: 60_000, rest: 20_000, long: 30_000 };
        let line = |length: usize| format!("write(1, \"{}\") = 1\n", "x".repeat(length));
        assert_eq!(refused(&line(45_000), limits), [None, None, None]);
        let error = Some("a line is longer than 60000 bytes".to_owned());
        assert_eq!(refused(&line(70_000), limits), [error.clone(), error.clone(), error]);
        // Lines that belong to the one before: no block may start with one.
        let frames = |count: usize| " > /usr/lib/libc.so.6(read+0x1d) [0x11ba1d]\n".repeat(count);
        assert_eq!(refused(&frames(300), limits), [None, None, None]);
        let error = Some("no event starts in 20000 bytes".to_owned());
        assert_eq!(refused(&frames(2_000), limits), [error.clone(), error.clone(), error]);
        // A long line among them counts as a long line only.
        let dump = format!(" > {}\n", "x".repeat(45_000));
        assert_eq!(refused(&(frames(2) + &dump), limits), [None, None, None]);
    }

    proptest! {
        #[test]
        fn blocks_are_the_log_again(
            lines in proptest::collection::vec("( [|>] )?[a-z]{0,40}", 0..60),
            size in 1usize..200,
            feed in any::<bool>(),
        ) {
            let mut text = lines.join("\n").into_bytes();
            if feed {
                text.push(b'\n');
            }
            let format = Format::from_wanted(Wanted::Strace);
            for blocks in [by_file(&text, size, &format), by_stream(&text, size, &format)] {
                prop_assert_eq!(blocks.concat(), text.clone());
                let filled: Vec<_> = blocks.iter().filter(|block| !block.is_empty()).collect();
                for (i, block) in filled.iter().enumerate() {
                    prop_assert!(i + 1 == filled.len() || block.ends_with(b"\n"));
                    let first = block.split(|&b| b == b'\n').next().unwrap_or_default();
                    prop_assert!(i == 0 || format.stands_alone(first));
                }
            }
        }
    }
}
