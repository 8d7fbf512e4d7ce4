//! Bytes to blocks of whole lines. A line belongs to the block in which it begins; lines that
//! belong to the one before them (stack frames, dumps) stay with it.

use std::fs::File;
use std::io::{self, Read};

use memchr::{memchr, memrchr};
use tracefast_core::block::{Block, MAX_BLOCK};
use tracefast_core::format::{Format, LOOK};

use crate::error::{Error, ErrorKind, Result};
use crate::packed::hinted;
use crate::source::read_at;

/// First read behind a block's end, to find the end of its last line.
const TAIL: usize = 4096;

/// The first position behind the begin of `text` at which a line of its own surely begins.
pub(crate) fn first_start(text: &[u8], format: &Format) -> Option<usize> {
    line_start(text, 0, usize::MAX, false, false, format)
}

/// The first position from `from` on at which a line of its own begins, or any line from `limit` on,
/// in `text`, which has a line feed or the begin of the log before `from` exactly if
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
        let seen = &text[at..text.len().min(at + LOOK)];
        if seen.len() < LOOK && !ends && memchr(b'\n', seen).is_none() {
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

/// Reads block `number` of a file cut into parts of `size` bytes: the lines that begin in that part.
///
/// # Errors
/// The file cannot be read, or a line is longer than a block can be.
pub fn read_block(
    file: &File,
    len: u64,
    number: u64,
    size: usize,
    format: &Format,
    block: &mut Block,
) -> Result<()> {
    let begin = number * size as u64;
    let end = (begin + size as u64).min(len);
    // One byte more before the part tells whether a line begins with it.
    let before = usize::from(begin > 0);
    let offset = begin - before as u64;
    let part = (end - begin) as usize + before;
    let mut want = part + if end < len { TAIL } else { 0 };
    let mut have = 0;
    let mut start = None;
    block.last = false;
    loop {
        let space = block.space(want);
        let more = read_at(file, &mut space[have..], offset + have as u64)?;
        have += more;
        // A file that became shorter ends where it ends now.
        let ends = have < want || offset + have as u64 >= len;
        let text = &block.space(want)[..have];
        if start.is_none() {
            let is_start = begin == 0 || text.first() == Some(&b'\n');
            start = line_start(text, before.min(have), part, is_start, ends, format);
        }
        match start {
            Some(start) if start >= part || start >= have => {
                block.set(0, 0);
                break;
            }
            None if have >= part
                && memchr(b'\n', &text[before..part.min(have)]).is_none()
                && begin > 0
                && text.first() != Some(&b'\n') =>
            {
                // The whole part is inside of a line that begins before it.
                block.set(0, 0);
                break;
            }
            Some(start) => {
                let last = if end >= len {
                    Some(have)
                } else {
                    let is_start = text.get(part - 1) == Some(&b'\n');
                    line_start(text, part, usize::MAX, is_start, ends, format)
                        .or(ends.then_some(have))
                };
                if let Some(last) = last {
                    block.set(start, last);
                    block.last = ends && last == have;
                    break;
                }
            }
            None if ends => {
                block.set(0, 0);
                break;
            }
            None => {}
        }
        if want >= MAX_BLOCK {
            return Err(too_long(&block.space(want)[part.min(have)..have], begin));
        }
        want = (want + want.max(TAIL)).min(MAX_BLOCK);
    }
    Ok(())
}

/// No line that stands alone ends in sight of `text`, which begins at or behind `byte`.
pub(crate) fn too_long(text: &[u8], byte: u64) -> Error {
    let limit = MAX_BLOCK as u64;
    let (kind, hint) = if memchr(b'\n', text).is_some() {
        (ErrorKind::NoEvent { limit }, "is it a log? take out what the program itself wrote")
    } else {
        let hint = "is it a log? record strings with a smaller -s, or take the line out";
        (ErrorKind::TooLong { limit }, hint)
    };
    Error::new(kind).at_byte(byte).with_hint(hint)
}

/// Number of blocks of a file.
pub fn block_count(len: u64, size: usize) -> u64 {
    len.div_ceil(size as u64)
}

/// Cuts a stream into blocks.
pub struct Cutter {
    head: io::Cursor<Vec<u8>>,
    rest: Box<dyn Read + Send>,
    /// Behind the last line of its own of the block before.
    carry: Vec<u8>,
    done: bool,
    read: u64,
}

impl Cutter {
    /// A stream whose first bytes were read already.
    pub fn new(head: Vec<u8>, rest: Box<dyn Read + Send>) -> Self {
        Self { head: io::Cursor::new(head), rest, carry: Vec::new(), done: false, read: 0 }
    }

    /// The same behind the first `bytes` bytes of the stream.
    #[must_use]
    pub fn behind(mut self, bytes: u64) -> Self {
        self.read = bytes;
        self
    }

    /// Fills the next block with about `size` bytes. `false`: there is none.
    ///
    /// # Errors
    /// The stream cannot be read or decompressed, or a line is longer than a block can be.
    pub fn next(&mut self, size: usize, format: &Format, block: &mut Block) -> Result<bool> {
        if self.done && self.carry.is_empty() {
            return Ok(false);
        }
        let mut have = self.carry.len();
        // Blocks are of one size as a rule, so that buffers that served before do again.
        let mut want = if have < size / 2 { size } else { have + size };
        block.space(want)[..have].copy_from_slice(&self.carry);
        self.carry.clear();
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
                            // One that names a file has its own place.
                            let named = error.path().is_some();
                            let error = if named { error } else { error.at_byte(self.read) };
                            return Err(hinted(error));
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
            if let Some(cut) = last_start(text, format) {
                self.carry.extend_from_slice(&text[cut..]);
                block.set(0, cut);
                block.last = false;
                return Ok(true);
            }
            if want >= MAX_BLOCK {
                return Err(too_long(text, self.read - have as u64));
            }
            want = (2 * want).min(MAX_BLOCK);
        }
    }
}

/// The last position in `text` at which a line of its own surely begins; not its begin.
fn last_start(text: &[u8], format: &Format) -> Option<usize> {
    let mut end = text.len();
    while let Some(feed) = memrchr(b'\n', &text[..end]) {
        let at = feed + 1;
        let seen = &text[at..text.len().min(at + LOOK)];
        let whole = memchr(b'\n', seen);
        if (seen.len() == LOOK || whole.is_some())
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

    fn by_stream(text: &[u8], size: usize, format: &Format) -> Vec<Vec<u8>> {
        let mut cutter = Cutter::new(Vec::new(), Box::new(io::Cursor::new(text.to_vec())));
        let mut block = Block::default();
        let mut out = Vec::new();
        while cutter.next(size, format, &mut block).expect("readable") {
            out.push(block.text().to_vec());
        }
        out
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
            let format = Format::insisted(Wanted::Strace);
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
