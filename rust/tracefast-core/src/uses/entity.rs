//! One row of the table in the making.

use super::values::Values;
use super::way::{Sum, Way};
use super::words::Known;

/// Reads and writes, by position.
pub(super) const READ: usize = 0;
/// See [`READ`].
pub(super) const WRITE: usize = 1;

/// What a row of the table is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) source: u32,
    /// The process, or the description, where rows are parted by it.
    pub(super) part: Option<i64>,
    pub(super) what: What,
}

/// What makes two uses those of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum What {
    /// Its identity.
    File(u64),
    /// Its name, where only that is known.
    Name,
    /// The number of a description, where neither the file nor its name is known.
    Nameless(u32),
    /// The description.
    Description,
}

/// Moves numbers of 32 bits away from 0, which stands for none.
const APART: i64 = 1 << 40;

/// Distinct numbers of at most 32 bits.
#[derive(Debug, Default)]
pub(super) struct Distinct {
    /// The one that came last, moved by [`APART`]: most often that of the next event, too.
    last: i64,
    all: Values,
}

impl Distinct {
    #[inline]
    pub(super) fn push(&mut self, number: i64) {
        if self.last != number.wrapping_add(APART) {
            self.last = number.wrapping_add(APART);
            self.all.push(number);
        }
    }

    /// How many there are.
    pub(super) fn count(&mut self) -> u64 {
        self.all.distinct()
    }
}

/// The uses of one file, by one process, or by one description.
///
/// What every event looks at stands first: that is two cache lines, and where the time goes.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Entity {
    pub(super) key: Key,
    pub(super) path: Option<Box<str>>,
    pub(super) ts_first: Option<i64>,
    pub(super) ts_last: Option<i64>,
    /// When it was last closed.
    pub(super) ts_close: Option<i64>,
    /// The path is the one by which it was opened.
    pub(super) opened: bool,
    /// The log says that its type is unknown.
    pub(super) kind_unknown: bool,
    pub(super) known: Option<Known>,
    /// Number of the word for its type.
    pub(super) kind: Option<u32>,
    pub(super) ways: [Option<Box<Way>>; 2],
    pub(super) pids: Distinct,
    pub(super) tasks: Distinct,
    pub(super) size: Option<i64>,
    pub(super) opens: u64,
    pub(super) opens_failed: u64,
    pub(super) stats: u64,
    pub(super) mmaps: u64,
    pub(super) mmap_bytes: Sum,
    pub(super) file: Option<u64>,
    /// Who opened it, and when.
    pub(super) opener: Option<u32>,
    pub(super) ts_open: Option<i64>,
}

impl Entity {
    pub(super) fn new(key: Key, file: Option<u64>) -> Self {
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
            mmaps: 0,
            mmap_bytes: Sum::default(),
            ts_first: None,
            ts_last: None,
            known: None,
            ways: [None, None],
            opener: None,
            ts_open: None,
            ts_close: None,
        }
    }

    /// Its reads or its writes.
    pub(super) fn way(&mut self, way: usize) -> &mut Way {
        self.ways[way & 1].get_or_insert_default()
    }

    /// Takes in a size that the log proves.
    pub(super) fn prove_size(&mut self, size: i64) {
        self.size = self.size.max(Some(size));
    }

    /// Takes in what is known of a position.
    pub(super) fn know(&mut self, known: Known) {
        self.known = self.known.max(Some(known));
    }

    /// Whether a call tried to move data.
    pub(super) fn moved(&self) -> bool {
        self.ways.iter().flatten().any(|way| way.done + way.errors > 0)
    }

    /// Adds what was done by name alone, without moving data.
    pub(super) fn adopt(&mut self, other: &mut Self) {
        self.kind = self.kind.or(other.kind);
        self.kind_unknown |= other.kind_unknown;
        self.size = self.size.max(other.size);
        self.pids.all.absorb(std::mem::take(&mut other.pids.all));
        self.tasks.all.absorb(std::mem::take(&mut other.tasks.all));
        self.opens += other.opens;
        self.opens_failed += other.opens_failed;
        self.stats += other.stats;
        self.mmaps += other.mmaps;
        self.mmap_bytes.join(other.mmap_bytes);
        self.ts_first = match (self.ts_first, other.ts_first) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.ts_last = self.ts_last.max(other.ts_last);
    }
}
