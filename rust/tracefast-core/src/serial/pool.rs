//! Memory that is used again: the buffers and columns of blocks.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use arrow_buffer::Buffer;
use bytes::Bytes;

use crate::events::parsed_block::Parsed;
use crate::text::block::Block;

/// Memory that goes round: blocks' buffers and columns.
#[derive(Debug, Default)]
pub struct Pool {
    buffers: Mutex<Vec<Vec<u8>>>,
    parsed: Mutex<Vec<Parsed>>,
}

/// Buffers above this size (a line of many megabytes) are given back to the system.
const KEEP: usize = 2 << 20;

impl Pool {
    /// An empty buffer, used before if there is one.
    pub fn buffer(&self) -> Vec<u8> {
        lock(&self.buffers).pop().unwrap_or_default()
    }

    /// Columns, used before if there are some.
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

    /// Takes back what was not made into rows.
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
        // Columns are as many bytes for a row as a short line has twice over.
        if parsed.rows.valid.len() <= KEEP / 64 {
            lock(&self.parsed).push(parsed);
        }
    }
}

/// A poisoned lock only means that another thread failed; a list of spare buffers is never broken.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A buffer that Arrow holds and that goes back to its pool afterwards.
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
