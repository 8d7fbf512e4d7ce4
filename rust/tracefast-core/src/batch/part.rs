//! The part of a block that goes into a batch.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::serial::resolved_block::ResolvedBlock;

/// Some rows of a block.
#[derive(Debug, Clone)]
pub struct Part {
    /// The block.
    pub block: Arc<ResolvedBlock>,
    /// The rows.
    pub rows: Range<usize>,
    /// The rows that are selected, in order; `None` for all of them.
    pub picked: Option<Vec<u32>>,
}

impl Part {
    /// All of these rows.
    pub fn new(block: Arc<ResolvedBlock>, rows: Range<usize>) -> Self {
        Self { block, rows, picked: None }
    }

    /// Number of selected rows.
    pub fn len(&self) -> usize {
        self.picked.as_ref().map_or(self.rows.len(), Vec::len)
    }

    /// No row is selected.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The validity masks of the selected rows.
    pub(crate) fn valid(&self) -> Cow<'_, [u64]> {
        let valid = &self.block.rows().valid;
        match &self.picked {
            None => Cow::Borrowed(&valid[self.rows.clone()]),
            Some(picked) => picked.iter().map(|&row| valid[row as usize]).collect(),
        }
    }
}
