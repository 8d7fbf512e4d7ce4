//! The counters of Darshan's POSIX module, from system calls.
//!
//! Darshan sits between a program and its C library, and counts per path. This fold counts in the
//! same way, as if the program had made every system call itself. So calls that the C library makes
//! on its own (`fopen`, the loader) count too. Darshan sees one process; this fold sees all
//! processes in the log.

pub(crate) mod record;
pub(crate) mod table;

use arrow_array::RecordBatch;
use arrow_array::types::{Int32Type, Int64Type, TimestampNanosecondType};
use arrow_schema::ArrowError;

use crate::hash::HashMap;
use crate::linux::syscalls::{Classes, NONE, Special, by_name, shape};
use crate::tables::event_columns::{Numbers, Text, Words, event_columns};
use crate::tables::files::fold::NO_SOURCE;
use crate::tables::files::word_classes::RowKind;
use crate::tables::fold::RowFold;
use crate::tables::names::Names;
use record::{CallSpan, READ, Record, WRITE};

/// The counters so far.
///
/// # Examples
/// ```
/// use tracefast_core::tables::fold::Fold;
/// use tracefast_core::tables::files::Darshan;
/// assert_eq!(Darshan::default().finish().expect("columns of one length").remove(0).num_rows(), 0);
/// ```
#[derive(Debug, Default)]
pub struct Darshan {
    sources: Names,
    /// Time of the first event, by number of the source.
    origins: HashMap<u32, i64>,
    records: Vec<(u32, Box<str>, Record)>,
    index: HashMap<u32, HashMap<Box<str>, usize>>,
}

/// What a call is to Darshan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    /// A read or write at the record's offset.
    Stream(usize),
    /// A read or write at an offset: the last argument, or the one `.1` places before the last.
    At(usize, usize),
    Open,
    Dup,
    Close,
    Seek,
    /// A seek that does not return its new position.
    LongSeek,
    Stat,
    Map,
    Sync,
    DataSync,
    Rename,
    Other,
}

impl Operation {
    fn from_name(name: &str) -> Self {
        let shape = shape(by_name(name.as_bytes()));
        let classes = shape.classes;
        if classes.has(Classes::READS.and(Classes::WRITES)) {
            let direction = if classes.has(Classes::READS) { READ } else { WRITE };
            return match (shape.offset, shape.special) {
                (NONE, _) => Self::Stream(direction),
                // The flags come after the offset.
                (_, Special::Current) => Self::At(direction, 1),
                _ => Self::At(direction, 0),
            };
        }
        match name {
            _ if shape.opens_path() => Self::Open,
            _ if classes.has(Classes::DUPS) => Self::Dup,
            _ if classes.has(Classes::CLOSES) => Self::Close,
            "_llseek" => Self::LongSeek,
            _ if classes.has(Classes::SEEKS) => Self::Seek,
            // Darshan does not wrap it.
            "statx" => Self::Other,
            _ if classes.has(Classes::STATS) => Self::Stat,
            _ if classes.has(Classes::MAPS) => Self::Map,
            "fsync" => Self::Sync,
            "fdatasync" => Self::DataSync,
            _ if classes.has(Classes::RENAMES) => Self::Rename,
            _ => Self::Other,
        }
    }
}

event_columns! {
    pub(crate) struct Columns {
        ts: Numbers<TimestampNanosecondType> = "ts",
        dur: Numbers<Int64Type> = "dur_ns",
        kind: Words<RowKind> = "kind",
        name: Words<Operation> = "name",
        args: Text = "args",
        ret: Numbers<Int64Type> = "ret",
        injected: Words<bool> = "status",
        fd: Numbers<Int32Type> = "fd",
        path: Text = "path",
        path2: Text = "path2",
        regular: Words<bool> = "file_type",
        offset: Numbers<Int64Type> = "offset",
        source: Words<u32> = "source",
    }
}

impl Darshan {
    /// The record of a path; creates it if needed.
    fn record(&mut self, source: u32, path: &str) -> &mut Record {
        let paths = self.index.entry(source).or_default();
        let at = if let Some(&at) = paths.get(path) {
            at
        } else {
            let at = self.records.len();
            paths.insert(path.into(), at);
            self.records.push((source, path.into(), Record::default()));
            at
        };
        &mut self.records[at].2
    }

    fn known(&mut self, source: u32, path: &str) -> Option<&mut Record> {
        let at = *self.index.get(&source)?.get(path)?;
        self.records.get_mut(at).map(|(_, _, record)| record)
    }

    /// The record of a path, if it was opened.
    fn opened(&mut self, source: u32, path: &str) -> Option<&mut Record> {
        self.known(source, path).filter(|record| record.opened)
    }
}

impl RowFold for Darshan {
    type Columns<'a> = Columns<'a>;

    fn empty(&self) -> Self {
        Self::default()
    }

    fn row(&mut self, columns: &mut Columns<'_>, row: usize) {
        let source = columns.source.get(row, |text| self.sources.number(text));
        let source = source.unwrap_or(NO_SOURCE);
        let ts = columns.ts.get(row);
        if let Some(ts) = ts {
            let origin = self.origins.entry(source).or_insert(ts);
            *origin = ts.min(*origin);
        }
        let act = match columns.name.get(row, Operation::from_name) {
            Some(act) if act != Operation::Other => act,
            _ => return,
        };
        if columns.kind.get(row, RowKind::from_word) != Some(RowKind::Call)
            || columns.injected.get(row, |word| word == "injected") == Some(true)
        {
            return;
        }
        let (Some(path), Some(ret)) = (columns.path.get(row), columns.ret.get(row)) else { return };
        if ret < 0 && act != Operation::Close {
            return;
        }
        let span = ts
            .zip(columns.dur.get(row))
            .map(|(start, dur)| CallSpan { start, end: start.saturating_add(dur) });
        match act {
            Operation::Open => self.record(source, path).open(span),
            Operation::Stat => {
                if columns.regular.get(row, |word| word == "regular") != Some(true) {
                    return;
                }
                if columns.fd.get(row).is_none() {
                    self.record(source, path).stat(span);
                } else if let Some(record) = self.opened(source, path) {
                    record.stat(span);
                }
            }
            Operation::Rename => {
                if let Some(record) = self.known(source, path) {
                    record.renamed(span);
                    if let Some(target) = columns.path2.get(row) {
                        self.record(source, target).rename_targets += 1;
                    }
                }
            }
            Operation::Map if columns.fd.get(row).is_none() => {}
            _ => {
                let Some(record) = self.opened(source, path) else { return };
                match act {
                    Operation::Stream(direction) => record.access(direction, ret, None, span),
                    Operation::At(direction, skip) => {
                        let argument_offset =
                            columns.args.get(row).and_then(|args| argument(args, skip));
                        let at = argument_offset.or_else(|| columns.offset.get(row)).unwrap_or(0);
                        record.access(direction, ret, Some(at), span);
                    }
                    Operation::Dup => record.dup(span),
                    Operation::Close => record.close(span),
                    Operation::Seek => record.seek(ret, span),
                    Operation::LongSeek => {
                        if let Some(at) = columns.args.get(row).and_then(bracketed) {
                            record.seek(at, span);
                        }
                    }
                    Operation::Map => record.mmaps += 1,
                    Operation::Sync => record.sync(false, span),
                    Operation::DataSync => record.sync(true, span),
                    Operation::Open | Operation::Stat | Operation::Rename | Operation::Other => {}
                }
            }
        }
    }

    /// The table, the largest number of bytes first.
    fn table(self) -> Result<Vec<RecordBatch>, ArrowError> {
        Ok(vec![table::build(self.records, &self.sources, &self.origins)?])
    }
}

/// The argument `skip` places before the last, as a number. Named fields (`pos: 0x10`) come from
/// ftrace, which has the offset in a column.
fn argument(args: &str, skip: usize) -> Option<i64> {
    let text = args.rsplit(',').nth(skip)?.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|number| number as i64),
        None => text.parse().ok(),
    }
}

/// The number in the last brackets: the position that `_llseek` reports.
fn bracketed(args: &str) -> Option<i64> {
    let (before, _) = args.rsplit_once(']')?;
    before.rsplit_once('[')?.1.trim().parse().ok()
}
