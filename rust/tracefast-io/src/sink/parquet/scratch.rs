//! Memory that is reused from one row group to the next.

use std::sync::{Mutex, PoisonError};

use crate::sink::dictionary::Dictionary;
use crate::sink::parquet::compression::{Compression, Packer};
use crate::sink::parquet::encoding::delta::Texts;
use crate::sink::parquet::encoding::integers::Integers;

/// What one thread needs while it encodes a row group.
pub(crate) struct Scratch {
    pub(crate) packer: Packer,
    pub(crate) buffers: Buffers,
}

/// Buffers of a column on its way into pages.
#[derive(Default)]
pub(crate) struct Buffers {
    /// The page before compression.
    pub(crate) page: Vec<u8>,
    /// Validity of the page's rows.
    pub(crate) words: Vec<u64>,
    /// Integers of the page.
    pub(crate) values: Vec<i64>,
    /// Dictionary keys of the whole column.
    pub(crate) keys: Vec<u32>,
    pub(crate) integers: Integers,
    pub(crate) dictionary: Dictionary,
    pub(crate) texts: Texts,
}

/// Scratch memory that is free to use: one for each thread that ever encoded at the same time.
pub(crate) struct Pool {
    compression: Compression,
    idle: Mutex<Vec<Scratch>>,
}

impl Pool {
    pub(crate) fn new(compression: Compression) -> Self {
        Self { compression, idle: Mutex::new(Vec::new()) }
    }

    pub(crate) fn take(&self) -> std::io::Result<Scratch> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(scratch) => Ok(scratch),
            None => {
                Ok(Scratch { packer: Packer::new(self.compression)?, buffers: Buffers::default() })
            }
        }
    }

    pub(crate) fn give_back(&self, mut scratch: Scratch) {
        // One row group with enormous strings must not hold its memory for ever.
        scratch.packer.shrink(16 << 20);
        scratch.buffers.page.shrink_to(16 << 20);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
    }
}
