//! Bytes to blocks of whole lines. A line belongs to the block in which it starts; lines that
//! belong to the one before them (stack frames, dumps) stay with it.

use std::fs::File;
use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memrchr};
use tracefast_core::format::Format;
use tracefast_core::strace::task_prefix::PREFIX;
use tracefast_core::text::block::LINE_START;
use tracefast_core::text::block::{Block, MAX_LINE};

use crate::error::{Error, ErrorKind, Result};
use crate::input::compressed::with_damage_hint;
use crate::input::source::{read_at, shrunk};

/// The first read after a block's end, to find the end of its last line.
const TAIL: usize = 4096;

/// Reads grow up to this length: the excess is then small compared to a long line.
const STEP: usize = 4 << 20;

/// How far to look for a line that can start a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Bytes of a line.
    pub line: usize,
    /// Bytes of whole lines that all continue others. Each part of a file in which one of them
    /// starts may have to look that far, so this is shorter than a line may be.
    pub rest: usize,
    /// Longer lines do not count here, because they start in few parts.
    pub long: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { line: MAX_LINE, rest: MAX_LINE, long: STEP }
    }
}

impl Limits {
    /// Bytes of a block: a long line, lines that continue it, and what is read beyond.
    fn block(self) -> usize {
        self.line + self.rest + 8 * STEP
    }

    /// The same for a log: a line of merged logs has a prefix that its file does not have.
    fn of(self, format: &Format) -> Self {
        let prefix = if format.is_merged() { 2 * PREFIX } else { 0 };
        Self { line: self.line + prefix, ..self }
    }

    /// Refuses `text`, which starts at byte `byte` of the log, if one of its lines is too long.
    pub(crate) fn check(self, text: &[u8], byte: u64) -> Result<()> {
        let mut start = 0;
        while text.len() - start > self.line {
            let end = memchr(b'\n', &text[start..]).map_or(text.len(), |feed| start + feed);
            if end - start > self.line {
                return Err(self.too_long(byte + start as u64));
            }
            start = end + 1;
        }
        Ok(())
    }

    fn too_long(self, byte: u64) -> Error {
        let limit = MAX_LINE.min(self.line) as u64;
        Error::new(ErrorKind::TooLong { limit }).at_byte(byte).with_hint(
            "check that this is a log; if it is, record shorter strings (strace -s), or remove the \
             line",
        )
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
    /// Adds what follows, and fails if it is too much. What was added first is at byte `byte` of the
    /// log.
    pub(crate) fn add(&mut self, more: &[u8], limits: Limits, byte: u64) -> Result<()> {
        let mut start = 0;
        for feed in memchr_iter(b'\n', more) {
            let line = self.last + feed - start;
            if line > limits.line {
                return Err(limits.too_long(byte + (self.bytes + feed - line) as u64));
            }
            if line < limits.long {
                self.lines += line + 1;
            }
            (self.last, start) = (0, feed + 1);
        }
        self.last += more.len() - start;
        self.bytes += more.len();
        if self.last > limits.line {
            return Err(limits.too_long(byte + (self.bytes - self.last) as u64));
        }
        if self.lines >= limits.rest || self.bytes >= limits.block() {
            let error = Error::new(ErrorKind::NoEvent { limit: limits.rest as u64 });
            return Err(error.at_byte(byte).with_hint(
                "check that this is a log; if it is, remove the output of the traced program",
            ));
        }
        Ok(())
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
/// The file cannot be read or became shorter, or a line is too long.
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
    let limits = limits.of(format);
    block.last = false;
    loop {
        let space = block.space(want);
        let read = have;
        have += read_at(file, &mut space[have..], offset + have as u64)?;
        if have < want && offset + (have as u64) < len {
            return Err(shrunk());
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
                    limits.check(&text[start..last], offset + start as u64)?;
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
        unsettled.add(&text[read..], limits, offset)?;
        want += want.clamp(TAIL, STEP);
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
    /// Blocks end where a read does: more may be long in coming.
    at_once: bool,
}

impl Cutter {
    /// A stream whose first bytes were read already.
    pub fn new(head: Vec<u8>, rest: Box<dyn Read + Send>) -> Self {
        let limits = Limits::default();
        Self {
            head: io::Cursor::new(head),
            rest,
            carry: Vec::new(),
            done: false,
            read: 0,
            limits,
            at_once: false,
        }
    }

    /// The same, where `before` bytes of the file are another log.
    pub(crate) fn after(before: u64, head: Vec<u8>, rest: Box<dyn Read + Send>) -> Self {
        Self { read: before, ..Self::new(head, rest) }
    }

    /// A stream whose text is not kept back until there is enough for a block.
    pub(crate) fn at_once(head: Vec<u8>, rest: Box<dyn Read + Send>) -> Self {
        Self { at_once: true, ..Self::new(head, rest) }
    }

    /// The part of a stream after its first `before` bytes: `part_start`, then `rest`.
    pub(crate) fn resume(before: u64, carry: Vec<u8>, rest: Box<dyn Read + Send>) -> Self {
        let read = before + carry.len() as u64;
        Self { carry, read, ..Self::new(Vec::new(), rest) }
    }

    /// Fills the next block with about `size` bytes. `false`: there are no more.
    ///
    /// # Errors
    /// The stream cannot be read or decompressed, or a line is too long.
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
        let limits = self.limits.of(format);
        loop {
            let space = block.space(want);
            let before = have;
            while have < want && !self.done && (have == before || !self.at_once) {
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
            let byte = self.read - have as u64;
            if self.done {
                limits.check(text, byte)?;
                block.set(0, have);
                block.last = true;
                return Ok(have > 0);
            }
            if let Some(cut) = last_start(text, from, format) {
                limits.check(&text[..cut], byte)?;
                self.carry.extend_from_slice(&text[cut..]);
                block.set(0, cut);
                block.last = false;
                return Ok(true);
            }
            from = have.saturating_sub(LINE_START);
            unsettled.add(&text[seen..], limits, byte)?;
            seen = have;
            if have == want {
                want += want.min(STEP);
            }
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

    /// What the three ways say of a log with `text` after some lines of their own.
    fn refused(text: &str, limits: Limits) -> [Option<String>; 3] {
        let log = "close(3) = 0\n".repeat(9) + text + "close(4) = 0\n";
        refusals(&log, 50, 70, limits).map(|error| error.map(|error| error.kind().to_string()))
    }

    /// What is wrong with a log that is read as a file and as a stream in blocks of `size` bytes,
    /// and as pieces of `piece` bytes.
    fn refusals(log: &str, size: usize, piece: usize, limits: Limits) -> [Option<Error>; 3] {
        let format = Format::from_wanted(Wanted::Strace);
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(log.as_bytes()).expect("room for it");
        let len = log.len() as u64;
        let mut block = Block::default();
        let by_file = (0..block_count(len, size)).find_map(|number| {
            read_block_within(&file, len, number, size, &format, &mut block, limits).err()
        });
        let rest = Box::new(io::Cursor::new(log.as_bytes().to_vec()));
        let mut cutter = Cutter { limits, ..Cutter::new(Vec::new(), rest) };
        let by_stream = loop {
            match cutter.next(size, &format, &mut block) {
                Ok(true) => {}
                Ok(false) => break None,
                Err(error) => break Some(error),
            }
        };
        let mut joiner = PieceJoiner::within(limits);
        let by_pieces = log.as_bytes().chunks(piece).find_map(|text| {
            let text = Box::new(io::Cursor::new(text.to_vec()));
            let piece = PieceBlocks::new(text, piece, size, &format, Vec::new).expect("readable");
            joiner.join(piece).err()
        });
        [by_file, by_stream, by_pieces.or_else(|| joiner.end().err())]
    }

    #[test]
    fn lines_may_have_a_length_and_no_more() {
        let limits = Limits { line: 60_000, rest: 20_000, long: 30_000 };
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
        fn the_first_line_that_is_too_long_is_refused(
            lengths in proptest::collection::vec(
                prop_oneof![0usize..80, 295usize..310, 0usize..900], 0..12,
            ),
            size in 1usize..200,
            piece in 1usize..500,
            feed in any::<bool>(),
        ) {
            let limits = Limits { line: 300, rest: 1 << 20, long: 1 << 20 };
            let lines: Vec<_> =
                lengths.iter().map(|&length| format!("close({}) = 0", "3".repeat(length))).collect();
            let mut byte = 0;
            let too_long = lines.iter().find_map(|line| {
                byte += line.len() as u64 + 1;
                (line.len() > limits.line).then(|| byte - line.len() as u64 - 1)
            });
            let log = lines.join("\n") + if feed { "\n" } else { "" };
            for error in refusals(&log, size, piece, limits) {
                let place = error.map(|error| {
                    assert_eq!(error.kind().word(), "too_long");
                    error.byte()
                });
                prop_assert_eq!(place, too_long.map(Some));
            }
        }

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
