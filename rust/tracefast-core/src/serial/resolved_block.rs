//! Blocks whose rows are final, and the dictionaries that their keys refer to.

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use arrow_array::StringArray;
use arrow_buffer::Buffer;

use crate::events::parsed_block::Parsed;
use crate::events::rows::Rows;
use crate::serial::pool::{Pool, lock};

/// A block whose rows are final, except that `maps` has yet to translate their dictionary keys.
#[derive(Debug)]
pub struct ResolvedBlock {
    /// As the serial stage left it, until the rows are first asked for.
    pub(crate) left: Mutex<Parsed>,
    /// With all columns written.
    pub(crate) filled: OnceLock<Parsed>,
    pub(crate) pool: Arc<Pool>,
    /// Text and side text, which views point into.
    pub buffers: [Buffer; 2],
    /// Keys of the stream by keys of the block: names, errors, commands.
    pub maps: [Vec<u32>; 3],
    /// The rows, in order.
    pub runs: Vec<Range<usize>>,
    /// The line of the log on which the block starts, 1-based.
    pub line: i64,
    /// Key of the source.
    pub source: u32,
}

impl ResolvedBlock {
    /// The columns. The first caller writes those that the serial stage left out, so that this is
    /// done in parallel.
    pub fn rows(&self) -> &Rows {
        &self.parsed().rows
    }

    fn parsed(&self) -> &Parsed {
        self.filled.get_or_init(|| {
            let mut parsed = std::mem::take(&mut *lock(&self.left));
            parsed.write_model_columns(&self.buffers[0], &self.buffers[1]);
            parsed
        })
    }

    /// Inspects the rows as they are, without writing the columns that are left out. Texts other
    /// than paths are there already.
    pub fn look<T>(&self, look: impl FnOnce(&Rows) -> T) -> T {
        self.look_whole(|parsed| look(&parsed.rows))
    }

    fn look_whole<T>(&self, look: impl FnOnce(&Parsed) -> T) -> T {
        match self.filled.get() {
            Some(parsed) => look(parsed),
            None => look(&lock(&self.left)),
        }
    }

    /// Bytes of the texts of all rows (see [`Rows::text_bytes`]), if the serial stage added no
    /// rows.
    pub fn text_bytes(&self) -> Option<usize> {
        self.look_whole(|parsed| {
            let Parsed { rows, model_rows, .. } = parsed;
            let same = model_rows.done && model_rows.rows == rows.len && model_rows.open.is_empty();
            same.then_some(model_rows.text_bytes)
        })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.runs.iter().map(ExactSizeIterator::len).sum()
    }

    /// The texts of this block's keys, for `maps[which]`.
    pub fn texts(&self, which: usize) -> &[Arc<str>] {
        let parsed = self.parsed();
        match which {
            0 => &parsed.names,
            1 => &parsed.errnos,
            _ => &parsed.comms,
        }
    }

    /// There are no rows.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

impl Drop for ResolvedBlock {
    fn drop(&mut self) {
        let parsed = match self.filled.take() {
            Some(parsed) => parsed,
            None => std::mem::take(&mut *lock(&self.left)),
        };
        self.pool.give_parsed(parsed);
    }
}

/// Values of the dictionaries that grow with the log, at some point of the stream.
#[derive(Debug, Clone)]
pub struct DictionaryValues {
    /// Names, errors, commands, sources.
    pub open: [Arc<StringArray>; 4],
}
