//! Memory that outlives a row group, so that encoding one asks the allocator for little.

use std::sync::{Mutex, PoisonError};

use super::compression::{Compression, Packer};
use super::delta::Texts;
use super::integers::Integers;
use crate::sink::dictionary::Dictionary;

/// What one thread needs while it encodes a row group.
pub(super) struct Scratch {
    pub(super) packer: Packer,
    pub(super) buffers: Buffers,
}

/// Buffers of a column on its way into pages.
#[derive(Default)]
pub(super) struct Buffers {
    /// The page before compression.
    pub(super) page: Vec<u8>,
    /// Validity of the page's rows.
    pub(super) words: Vec<u64>,
    /// Integers of the page.
    pub(super) values: Vec<i64>,
    /// Dictionary keys of the whole column.
    pub(super) keys: Vec<u32>,
    pub(super) integers: Integers,
    pub(super) dictionary: Dictionary,
    pub(super) texts: Texts,
}

/// Scratch memory at rest: as many pieces as threads ever encoded at the same time.
pub(super) struct Pool {
    compression: Compression,
    idle: Mutex<Vec<Scratch>>,
}

impl Pool {
    pub(super) fn new(compression: Compression) -> Self {
        Self { compression, idle: Mutex::new(Vec::new()) }
    }

    pub(super) fn take(&self) -> std::io::Result<Scratch> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(scratch) => Ok(scratch),
            None => {
                Ok(Scratch { packer: Packer::new(self.compression)?, buffers: Buffers::default() })
            }
        }
    }

    pub(super) fn give_back(&self, mut scratch: Scratch) {
        // One row group with enormous strings must not hold its memory for ever.
        scratch.packer.shrink(16 << 20);
        scratch.buffers.page.shrink_to(16 << 20);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
    }
}
