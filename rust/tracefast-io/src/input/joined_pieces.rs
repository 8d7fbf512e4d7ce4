//! Pieces of one text, each cut into blocks on its own, and joined in order: the part of a piece
//! before its first whole line belongs to the block before.

use std::io::{self, Read};

use tracefast_core::format::Format;
use tracefast_core::text::block::Block;

use crate::error::{Error, Result};
use crate::input::split::{Cutter, Limits, Unsettled, first_start};

/// A piece of a text in blocks of whole lines, except at its start and its end.
#[derive(Debug)]
pub struct PieceBlocks {
    blocks: Vec<Block>,
    /// Bytes of the first block that belong to the block before.
    head: usize,
}

impl PieceBlocks {
    /// Cuts `text`, which has no more than `most` bytes, into blocks of about `size`. `buffer`
    /// gives buffers for reuse.
    ///
    /// # Errors
    /// The text cannot be read, is longer, or has a line that is too long.
    pub fn new(
        text: Box<dyn Read + Send>,
        most: usize,
        size: usize,
        format: &Format,
        buffer: impl Fn() -> Vec<u8>,
    ) -> Result<Self> {
        let mut cutter = Cutter::new(Vec::new(), text);
        let mut blocks: Vec<Block> = Vec::new();
        let mut bytes = 0;
        loop {
            let mut block = Block::from_buffer(buffer());
            if !cutter.next(size, format, &mut block)? {
                break;
            }
            block.last = false;
            bytes += block.len();
            if bytes > most {
                return Err(Error::from(io::Error::other("more text than is allowed")));
            }
            blocks.push(block);
        }
        let first = blocks.first().map_or(&[][..], Block::text);
        let head = first_start(first, format).unwrap_or(first.len());
        Ok(Self { blocks, head })
    }
}

/// Joins pieces.
#[derive(Debug, Default)]
pub struct PieceJoiner {
    /// The last block of the last piece: the next piece may have more of it.
    open: Option<Block>,
    /// Bytes before it.
    before: u64,
    unsettled: Unsettled,
    limits: Limits,
}

impl PieceJoiner {
    #[cfg(test)]
    pub(crate) fn within(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Adds the next piece; returns the blocks that are whole.
    ///
    /// # Errors
    /// A line is too long.
    pub fn join(&mut self, piece: PieceBlocks) -> Result<Vec<Block>> {
        let PieceBlocks { blocks, head } = piece;
        let mut out = Vec::new();
        for (i, mut block) in blocks.into_iter().enumerate() {
            if let Some(open) = self.open.as_mut().filter(|_| i == 0) {
                let more = &block.text()[..head];
                open.extend(more);
                self.unsettled.add(more, self.limits, self.before)?;
                block.skip(head);
                if block.is_empty() {
                    continue;
                }
            }
            if let Some(whole) = self.open.take() {
                self.limits.check(whole.text(), self.before)?;
                self.before += whole.len() as u64;
                out.push(whole);
            }
            self.unsettled = Unsettled::default();
            self.unsettled.add(block.text(), self.limits, self.before)?;
            self.open = Some(block);
        }
        Ok(out)
    }

    /// The block that ends with the text, if it has any bytes.
    ///
    /// # Errors
    /// A line is too long.
    pub fn end(self) -> Result<Option<Block>> {
        let Some(mut block) = self.open else { return Ok(None) };
        self.limits.check(block.text(), self.before)?;
        block.last = true;
        Ok(Some(block))
    }

    /// The stream after the pieces, which continues with `rest`.
    pub fn go_on(self, rest: Box<dyn Read + Send>) -> Cutter {
        let open = self.open.map_or_else(Vec::new, |block| block.text().to_vec());
        Cutter::resume(self.before, open, rest)
    }
}
