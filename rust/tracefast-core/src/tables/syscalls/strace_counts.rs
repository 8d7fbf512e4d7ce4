//! Calls, errors and seconds as strace counts them for its own summary (`-c`).

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};

use crate::ftrace::machine::Machine;
use crate::tables::event_columns::{Numbers, Words};
use crate::tables::files::Names;
use crate::tables::fold::{Dictionaries, Fold};
use crate::tables::syscalls::words::{End, Kind, Role};

/// What strace would have counted, so far.
///
/// strace counts a call when it returns: those that never do, or that are cut off by a death, a
/// detachment or the end of the log, are in no line of its summary. Whatever the kernel hands back
/// as an error is one, also what only has the call started anew (`ERESTARTSYS`), what the tracer
/// made up, and what a handler of a signal left in the register (`rt_sigreturn`). Events may come in
/// any order.
///
/// # Examples
/// ```
/// use tracefast_core::tables::syscalls::StraceCounts;
/// use tracefast_core::tables::fold::Fold;
/// let table = StraceCounts::default().finish().expect("columns of one length");
/// assert_eq!(table.num_rows(), 0);
/// assert!(table.column_by_name("errors").is_some());
/// ```
#[derive(Debug, Default)]
pub struct StraceCounts {
    dictionaries: Dictionaries,
    names: Names,
    counts: Vec<Count>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    calls: u64,
    errors: u64,
    /// Calls whose duration is known, and its sum.
    timed: u64,
    ns: i128,
}

/// The columns that are needed.
struct Columns<'a> {
    dur: Numbers<'a, Int64Type>,
    kind: Words<'a, Kind>,
    name: Words<'a, (u32, Role)>,
    ret: Numbers<'a, Int64Type>,
    errno: Words<'a, ()>,
    status: Words<'a, End>,
}

/// Numbers of calls on x86-64.
const NUMBERS: u64 = 1024;

impl StraceCounts {
    /// The columns of the table.
    pub fn schema() -> SchemaRef {
        // An empty table has them all; its columns have one length.
        Self::default().finish().map_or_else(|_| Arc::new(Schema::empty()), |table| table.schema())
    }

    #[inline]
    fn row(&mut self, columns: &mut Columns<'_>, row: usize) {
        if columns.kind.get(row, Kind::of) != Some(Kind::Call) {
            return;
        }
        let names = &mut self.names;
        let Some((name, role)) = columns.name.get(row, |word| (names.number(word), Role::of(word)))
        else {
            return;
        };
        let end = columns.status.get(row, End::of).unwrap_or(End::Returned);
        // strace does not see the return of a call in the task that it made.
        let child = role == Role::Fork && end == End::Headless && columns.ret.get(row) == Some(0);
        if end == End::None || role == Role::Exit || child {
            return;
        }
        let at = name as usize;
        if at >= self.counts.len() {
            self.counts.resize(at + 1, Count::default());
        }
        let Some(count) = self.counts.get_mut(at) else { return };
        count.calls += 1;
        count.errors += u64::from(columns.errno.get(row, |_| ()).is_some());
        if let Some(dur) = columns.dur.get(row) {
            count.timed += 1;
            // A clock that was set back gives strace no time either.
            count.ns += i128::from(dur.max(0));
        }
    }
}

impl Fold for StraceCounts {
    fn dictionaries(&mut self) -> &mut Dictionaries {
        &mut self.dictionaries
    }

    fn rows(&mut self, batch: &RecordBatch, known: &Dictionaries) -> Result<(), ArrowError> {
        let mut columns = Columns {
            dur: Numbers::of(batch, "dur_ns")?,
            kind: Words::of(batch, "kind", known)?,
            name: Words::of(batch, "name", known)?,
            ret: Numbers::of(batch, "ret")?,
            errno: Words::of(batch, "errno", known)?,
            status: Words::of(batch, "status", known)?,
        };
        for row in 0..batch.num_rows() {
            self.row(&mut columns, row);
        }
        Ok(())
    }

    /// The table in strace's order: the most time first, else by number of the call.
    fn finish(self) -> Result<RecordBatch, ArrowError> {
        let call = |number| Some((Machine::X86_64.call(number)?, number));
        let numbers: HashMap<&str, u64> = (0..NUMBERS).filter_map(call).collect();
        let mut rows: Vec<(&str, Count)> = (0_u32..)
            .zip(&self.counts)
            .filter(|(_, count)| count.calls > 0)
            .filter_map(|(name, count)| Some((self.names.text(name)?, *count)))
            .collect();
        rows.sort_by_key(|&(name, count)| {
            let number = numbers.get(name).copied();
            (Reverse(count.ns), number.is_none(), number, name)
        });
        let total = |count: &Count| i64::try_from(count.ns).unwrap_or(i64::MAX);
        let each = |f: fn(&Count) -> u64| -> ArrayRef {
            Arc::new(rows.iter().map(|(_, count)| Some(f(count))).collect::<UInt64Array>())
        };
        let texts = rows.iter().map(|&(name, _)| Some(name)).collect::<StringArray>();
        let numbered =
            rows.iter().map(|(name, _)| numbers.get(name).and_then(|&n| u32::try_from(n).ok()));
        let ns = rows.iter().map(|(_, count)| Some(total(count))).collect::<Int64Array>();
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("name", Arc::new(texts)),
            ("number", Arc::new(numbered.collect::<UInt32Array>())),
            ("calls", each(|count| count.calls)),
            ("errors", each(|count| count.errors)),
            ("timed", each(|count| count.timed)),
            ("total_ns", Arc::new(ns)),
        ];
        let fields: Vec<Field> = columns
            .iter()
            .map(|(name, column)| Field::new(*name, column.data_type().clone(), true))
            .collect();
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
    }
}
