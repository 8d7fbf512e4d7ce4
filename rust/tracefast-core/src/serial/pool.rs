//! Memory that is reused: the buffers and columns of blocks.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use arrow_buffer::Buffer;
use bytes::Bytes;

use crate::events::parsed_block::Parsed;
use crate::text::block::Block;

/// Buffers and columns of blocks that are free to use.
#[derive(Debug, Default)]
pub struct Pool {
    /// Of the texts of blocks. They keep their length, so that nothing is filled with zeros again.
    blocks: Spare,
    /// Of the texts that were unescaped or joined, which are short or empty in most blocks.
    sides: Spare,
    parsed: Mutex<Vec<Parsed>>,
}

/// Buffers of one kind.
type Spare = Arc<Mutex<Vec<Vec<u8>>>>;

/// Larger buffers (for a line of many megabytes) are freed.
const KEEP: usize = 2 << 20;

impl Pool {
    /// A buffer for the text of a block; one that was used before, if there is one.
    pub fn buffer(&self) -> Vec<u8> {
        lock(&self.blocks).pop().unwrap_or_default()
    }

    /// Columns; some that were used before, if there are any.
    pub fn parsed(&self) -> Parsed {
        lock(&self.parsed).pop().unwrap_or_default()
    }

    /// The text `range` of a block's buffer, for Arrow. The buffer comes back when nothing holds
    /// the text any more.
    pub(crate) fn share_block(&self, buffer: Vec<u8>, range: Range<usize>) -> Buffer {
        share(buffer, range, &self.blocks)
    }

    /// The same for unescaped and joined texts. `side` becomes a buffer for those of the next block.
    pub(crate) fn share_side(&self, side: &mut Vec<u8>) -> Buffer {
        if side.is_empty() {
            return Buffer::from(Vec::<u8>::new());
        }
        // One that has grown already.
        let mut next = lock(&self.sides).pop().unwrap_or_default();
        next.clear();
        let buffer = std::mem::replace(side, next);
        let range = 0..buffer.len();
        share(buffer, range, &self.sides)
    }

    /// Takes back a block that did not become rows.
    pub fn give_back(&self, block: Block, parsed: Parsed) {
        give(block.into_buffer().0, &self.blocks);
        self.give_parsed(parsed);
    }

    pub(crate) fn give_parsed(&self, mut parsed: Parsed) {
        parsed.scratch.shrink_to(KEEP);
        // The columns of a row have about twice the bytes of a short line.
        if parsed.rows.valid.len() <= KEEP / 64 {
            lock(&self.parsed).push(parsed);
        }
    }
}

/// Locks even if another thread panicked: a list of spare buffers is never half changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn give(buffer: Vec<u8>, to: &Spare) {
    if buffer.capacity() <= KEEP {
        lock(to).push(buffer);
    }
}

fn share(buffer: Vec<u8>, range: Range<usize>, to: &Spare) -> Buffer {
    if buffer.is_empty() {
        return Buffer::from(buffer);
    }
    let to = Arc::clone(to);
    Buffer::from(Bytes::from_owner(Shared { buffer, to }).slice(range))
}

/// A buffer that Arrow holds, and that returns to the others of its kind afterwards.
struct Shared {
    buffer: Vec<u8>,
    to: Spare,
}

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.buffer
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        give(std::mem::take(&mut self.buffer), &self.to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_return_to_those_of_their_kind() {
        let pool = Pool::default();
        let text = pool.share_block(vec![7; 64], 1..3);
        let mut side = b"joined".to_vec();
        let joined = pool.share_side(&mut side);
        assert_eq!((text.as_slice(), joined.as_slice()), (&[7, 7][..], &b"joined"[..]));
        assert!(side.is_empty() && pool.buffer().is_empty());
        drop((text, joined));
        assert_eq!(pool.buffer().len(), 64);
        side.extend(b"more");
        drop(pool.share_side(&mut side));
        assert!(side.is_empty() && side.capacity() >= b"joined".len());
    }

    #[test]
    fn a_block_without_joined_text_keeps_its_buffer() {
        let pool = Pool::default();
        let mut side = Vec::with_capacity(100);
        assert!(pool.share_side(&mut side).is_empty());
        assert!(side.capacity() >= 100);
    }
}
