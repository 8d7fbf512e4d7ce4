//! One row of the table while events are folded.

use crate::tables::files::direction::{Direction, Sum};
use crate::tables::files::word_classes::Known;
use crate::tables::values::Values;

/// The index of reads in pairs of reads and writes.
pub(crate) const READ: usize = 0;
/// The index of writes.
pub(crate) const WRITE: usize = 1;

/// What a row of the table is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) source: u32,
    /// The process or the description, if rows are split by it.
    pub(crate) part: Option<i64>,
    pub(crate) what: What,
}

/// What identifies the file of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum What {
    /// Its identity.
    File(u64),
    /// Its name, if only that is known.
    Name,
    /// The number of a description, if neither the file nor its name is known.
    Nameless(u32),
    /// The description, in a table with a row for each.
    Description,
}

/// Moves 32-bit numbers away from 0, which means none.
const APART: i64 = 1 << 40;

/// Distinct numbers of at most 32 bits.
#[derive(Debug, Default)]
pub(crate) struct Distinct {
    /// The last number, moved by [`APART`]: usually the next event has the same.
    last: i64,
    all: Values,
}

impl Distinct {
    #[inline]
    pub(crate) fn push(&mut self, number: i64) {
        if self.last != number.wrapping_add(APART) {
            self.last = number.wrapping_add(APART);
            self.all.push(number);
        }
    }

    pub(crate) fn count(&mut self) -> u64 {
        self.all.distinct()
    }
}

/// The uses of one file, by one process, or by one description.
///
/// Every event reads the first fields: they fit in two cache lines, where most of the time goes.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct FileUse {
    pub(crate) key: Key,
    pub(crate) path: Option<Box<str>>,
    pub(crate) ts_first: Option<i64>,
    pub(crate) ts_last: Option<i64>,
    /// When it was last closed.
    pub(crate) ts_close: Option<i64>,
    /// The path is the one that an open call gave.
    pub(crate) opened: bool,
    /// The log says that its type is unknown.
    pub(crate) kind_unknown: bool,
    pub(crate) known: Option<Known>,
    /// Number of the word for its type.
    pub(crate) kind: Option<u32>,
    pub(crate) directions: [Option<Box<Direction>>; 2],
    pub(crate) pids: Distinct,
    pub(crate) tasks: Distinct,
    pub(crate) size: Option<i64>,
    pub(crate) opens: u64,
    pub(crate) opens_failed: u64,
    pub(crate) stats: u64,
    pub(crate) stats_failed: u64,
    pub(crate) mmaps: u64,
    pub(crate) mmaps_failed: u64,
    pub(crate) mmap_bytes: Sum,
    pub(crate) file: Option<u64>,
    /// The task that opened it, and when.
    pub(crate) opener: Option<u32>,
    pub(crate) ts_open: Option<i64>,
}

impl FileUse {
    pub(crate) fn new(key: Key, file: Option<u64>) -> Self {
        Self {
            key,
            file,
            path: None,
            opened: false,
            kind: None,
            kind_unknown: false,
            size: None,
            pids: Distinct::default(),
            tasks: Distinct::default(),
            opens: 0,
            opens_failed: 0,
            stats: 0,
            stats_failed: 0,
            mmaps: 0,
            mmaps_failed: 0,
            mmap_bytes: Sum::default(),
            ts_first: None,
            ts_last: None,
            known: None,
            directions: [None, None],
            opener: None,
            ts_open: None,
            ts_close: None,
        }
    }

    pub(crate) fn direction(&mut self, direction: usize) -> &mut Direction {
        self.directions[direction & 1].get_or_insert_default()
    }

    /// Raises the size to one that the log proves.
    pub(crate) fn prove_size(&mut self, size: i64) {
        self.size = self.size.max(Some(size));
    }

    /// Keeps the worst of what is known about positions.
    pub(crate) fn know(&mut self, known: Known) {
        self.known = self.known.max(Some(known));
    }

    /// Whether a call tried to move data.
    pub(crate) fn moved(&self) -> bool {
        self.directions.iter().flatten().any(|direction| direction.done + direction.errors > 0)
    }

    /// Adds the counts of a row that has only a name and moved no data.
    pub(crate) fn adopt(&mut self, other: &mut Self) {
        self.kind = self.kind.or(other.kind);
        self.kind_unknown |= other.kind_unknown;
        self.size = self.size.max(other.size);
        self.pids.all.absorb(std::mem::take(&mut other.pids.all));
        self.tasks.all.absorb(std::mem::take(&mut other.tasks.all));
        self.opens += other.opens;
        self.opens_failed += other.opens_failed;
        self.stats += other.stats;
        self.stats_failed += other.stats_failed;
        self.mmaps += other.mmaps;
        self.mmaps_failed += other.mmaps_failed;
        self.mmap_bytes.join(other.mmap_bytes);
        self.ts_first = match (self.ts_first, other.ts_first) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.ts_last = self.ts_last.max(other.ts_last);
    }
}
