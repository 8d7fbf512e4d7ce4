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
    buffers: Mutex<Vec<Vec<u8>>>,
    parsed: Mutex<Vec<Parsed>>,
}

/// Larger buffers (for a line of many megabytes) are freed.
const KEEP: usize = 2 << 20;

impl Pool {
    /// An empty buffer; one that was used before, if there is one.
    pub fn buffer(&self) -> Vec<u8> {
        lock(&self.buffers).pop().unwrap_or_default()
    }

    /// Columns; some that were used before, if there are any.
    pub fn parsed(&self) -> Parsed {
        lock(&self.parsed).pop().unwrap_or_default()
    }

    /// A part of `buffer` for Arrow. The buffer comes back when nothing holds the part any more.
    pub(crate) fn share(self: &Arc<Self>, buffer: Vec<u8>, range: Range<usize>) -> Buffer {
        if buffer.is_empty() {
            return Buffer::from(Vec::<u8>::new());
        }
        let pool = Arc::clone(self);
        Buffer::from(Bytes::from_owner(Pooled { buffer, pool }).slice(range))
    }

    /// Takes back a block that did not become rows.
    pub fn give_back(&self, block: Block, parsed: Parsed) {
        self.give(block.into_buffer().0);
        self.give_parsed(parsed);
    }

    pub(crate) fn give(&self, buffer: Vec<u8>) {
        if buffer.capacity() <= KEEP {
            lock(&self.buffers).push(buffer);
        }
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

/// A buffer that Arrow holds, and that returns to its pool afterwards.
struct Pooled {
    buffer: Vec<u8>,
    pool: Arc<Pool>,
}

impl AsRef<[u8]> for Pooled {
    fn as_ref(&self) -> &[u8] {
        &self.buffer
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        self.pool.give(std::mem::take(&mut self.buffer));
    }
}
