//! One row of the table in the making.

use crate::tables::files::direction::{Direction, Sum};
use crate::tables::files::words::Known;
use crate::tables::values::Values;

/// Reads and writes, by position.
pub(crate) const READ: usize = 0;
/// See [`READ`].
pub(crate) const WRITE: usize = 1;

/// What a row of the table is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) source: u32,
    /// The process, or the description, where rows are parted by it.
    pub(crate) part: Option<i64>,
    pub(crate) what: What,
}

/// What makes two uses those of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum What {
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
pub(crate) struct Distinct {
    /// The one that came last, moved by [`APART`]: most often that of the next event, too.
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

    /// How many there are.
    pub(crate) fn count(&mut self) -> u64 {
        self.all.distinct()
    }
}

/// The uses of one file, by one process, or by one description.
///
/// What every event looks at stands first: that is two cache lines, and where the time goes.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Entity {
    pub(crate) key: Key,
    pub(crate) path: Option<Box<str>>,
    pub(crate) ts_first: Option<i64>,
    pub(crate) ts_last: Option<i64>,
    /// When it was last closed.
    pub(crate) ts_close: Option<i64>,
    /// The path is the one by which it was opened.
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
    pub(crate) mmaps: u64,
    pub(crate) mmap_bytes: Sum,
    pub(crate) file: Option<u64>,
    /// Who opened it, and when.
    pub(crate) opener: Option<u32>,
    pub(crate) ts_open: Option<i64>,
}

impl Entity {
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
            mmaps: 0,
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

    /// Its reads or its writes.
    pub(crate) fn direction(&mut self, direction: usize) -> &mut Direction {
        self.directions[direction & 1].get_or_insert_default()
    }

    /// Takes in a size that the log proves.
    pub(crate) fn prove_size(&mut self, size: i64) {
        self.size = self.size.max(Some(size));
    }

    /// Takes in what is known of a position.
    pub(crate) fn know(&mut self, known: Known) {
        self.known = self.known.max(Some(known));
    }

    /// Whether a call tried to move data.
    pub(crate) fn moved(&self) -> bool {
        self.directions.iter().flatten().any(|direction| direction.done + direction.errors > 0)
    }

    /// Adds what was done by name alone, without moving data.
    pub(crate) fn adopt(&mut self, other: &mut Self) {
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
