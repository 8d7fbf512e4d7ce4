//! One row of the table while events are folded.

use crate::tables::distinct::Distinct;
use crate::tables::files::direction::{Direction, Sum};
use crate::tables::files::word_classes::Known;
use crate::tables::packed::Packed;

/// The index of reads in pairs of reads and writes.
pub(crate) const READ: usize = 0;
/// The index of writes.
pub(crate) const WRITE: usize = 1;

/// What a row of the table is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) source: u32,
    /// The process or the description, if rows are split by it.
    pub(crate) part: Packed<i64>,
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

/// When a description was open.
#[derive(Debug, Clone, Default)]
pub(crate) struct Opened {
    /// The task that opened it, and when.
    pub(crate) by: Option<u32>,
    pub(crate) ts: Option<i64>,
    /// When it was last closed.
    pub(crate) ts_close: Option<i64>,
}

/// The uses of one file, by one process, or by one description.
///
/// Every event reads the first fields: they fit in two cache lines, where most of the time goes.
#[derive(Debug, Clone)]
#[repr(C)]
pub(crate) struct FileUse {
    pub(crate) key: Key,
    pub(crate) path: Option<Box<str>>,
    pub(crate) ts_first: Packed<i64>,
    pub(crate) ts_last: Packed<i64>,
    /// In a table with a row for each description.
    pub(crate) open: Option<Box<Opened>>,
    /// The path is the one that an open call gave.
    pub(crate) opened: bool,
    /// The log says that its type is unknown.
    pub(crate) kind_unknown: bool,
    pub(crate) known: Option<Known>,
    /// Number of the word for its type.
    pub(crate) kind: Packed<u32>,
    pub(crate) directions: [Option<Box<Direction>>; 2],
    pub(crate) pids: Distinct,
    pub(crate) tasks: Distinct,
    pub(crate) size: Packed<i64>,
    pub(crate) opens: u32,
    pub(crate) opens_failed: u32,
    pub(crate) stats: u32,
    pub(crate) stats_failed: u32,
    pub(crate) mmaps: u32,
    pub(crate) mmaps_failed: u32,
    pub(crate) mmap_bytes: Sum,
    pub(crate) file: Packed<u64>,
}

impl FileUse {
    pub(crate) fn new(key: Key, file: Option<u64>) -> Self {
        Self {
            key,
            file: file.into(),
            path: None,
            opened: false,
            kind: Packed::default(),
            kind_unknown: false,
            size: Packed::default(),
            pids: Distinct::default(),
            tasks: Distinct::default(),
            opens: 0,
            opens_failed: 0,
            stats: 0,
            stats_failed: 0,
            mmaps: 0,
            mmaps_failed: 0,
            mmap_bytes: Sum::default(),
            ts_first: Packed::default(),
            ts_last: Packed::default(),
            known: None,
            directions: [None, None],
            open: None,
        }
    }

    pub(crate) fn direction(&mut self, direction: usize) -> &mut Direction {
        self.directions[direction & 1].get_or_insert_default()
    }

    /// Raises the size to one that the log proves.
    pub(crate) fn prove_size(&mut self, size: i64) {
        self.size.raise(size);
    }

    /// Keeps the worst of what is known about positions.
    pub(crate) fn know(&mut self, known: Known) {
        self.known = self.known.max(Some(known));
    }

    /// Whether a call tried to move data.
    pub(crate) fn moved(&self) -> bool {
        self.directions
            .iter()
            .flatten()
            .any(|direction| direction.done.get() + direction.errors.get() > 0)
    }

    /// Whether no call that moves data has succeeded.
    pub(crate) fn is_idle(&self) -> bool {
        self.directions.iter().flatten().all(|direction| direction.done.get() == 0)
    }

    /// Adds another row that is about the same.
    pub(crate) fn absorb(&mut self, other: &mut Self) {
        let first = |row: &Self| (!row.opened, row.ts_first.is_none(), row.ts_first.get());
        if other.path.is_some() && (self.path.is_none() || first(other) < first(self)) {
            (self.path, self.opened) = (other.path.take(), other.opened);
        }
        self.file.set_first(other.file);
        self.known = self.known.max(other.known);
        for (direction, other) in [READ, WRITE].into_iter().zip(&mut other.directions) {
            if let Some(other) = other.take() {
                self.direction(direction).absorb(*other);
            }
        }
        self.adopt(other);
    }

    /// Adds the counts of a row that has only a name and moved no data.
    pub(crate) fn adopt(&mut self, other: &mut Self) {
        self.kind.set_first(other.kind);
        self.kind_unknown |= other.kind_unknown;
        self.size.raise(other.size);
        self.pids.absorb(std::mem::take(&mut other.pids));
        self.tasks.absorb(std::mem::take(&mut other.tasks));
        self.opens = self.opens.saturating_add(other.opens);
        self.opens_failed = self.opens_failed.saturating_add(other.opens_failed);
        self.stats = self.stats.saturating_add(other.stats);
        self.stats_failed = self.stats_failed.saturating_add(other.stats_failed);
        self.mmaps = self.mmaps.saturating_add(other.mmaps);
        self.mmaps_failed = self.mmaps_failed.saturating_add(other.mmaps_failed);
        self.mmap_bytes.join(other.mmap_bytes);
        self.ts_first.lower(other.ts_first);
        self.ts_last.raise(other.ts_last);
    }
}
