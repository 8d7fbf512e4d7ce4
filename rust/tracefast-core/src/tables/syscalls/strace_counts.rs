//! Calls, errors and seconds as strace counts them for its own summary (`-c`).

use std::cmp::Reverse;

use arrow_array::RecordBatch;
use arrow_array::types::Int64Type;
use arrow_schema::ArrowError;

use crate::hash::HashMap;
use crate::linux::machine::Machine;
use crate::tables::event_columns::{Numbers, Words, event_columns};
use crate::tables::fold::RowFold;
use crate::tables::names::Names;
use crate::tables::syscalls::word_classes::{End, Role, RowKind};
use crate::tables::table_builder::TableBuilder;

/// Calls as strace counts them.
///
/// strace counts a call when it returns. Calls that never return, or that are cut off by a death, a
/// detach or the end of the log, are not in its summary. Every error that the kernel returns
/// counts, even one that only restarts the call (`ERESTARTSYS`), one that the tracer injected, and
/// one that a signal handler left in the register (`rt_sigreturn`). Events may come in any order.
///
/// # Examples
/// ```
/// use tracefast_core::tables::syscalls::StraceCounts;
/// use tracefast_core::tables::fold::Fold;
/// let table = StraceCounts::default().finish().expect("columns of one length").remove(0);
/// assert_eq!(table.num_rows(), 0);
/// assert!(table.column_by_name("errors").is_some());
/// ```
#[derive(Debug, Default)]
pub struct StraceCounts {
    names: Names,
    counts: Vec<Count>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    calls: u64,
    errors: u64,
    /// Calls whose duration is known, and the sum of durations.
    timed: u64,
    ns: i128,
}

event_columns! {
    pub(crate) struct CallColumns {
        dur: Numbers<Int64Type> = "dur_ns",
        kind: Words<RowKind> = "kind",
        name: Words<(u32, Role)> = "name",
        ret: Numbers<Int64Type> = "ret",
        errno: Words<()> = "errno",
        status: Words<End> = "status",
    }
}

/// How many numbers of calls x86-64 has.
const NUMBERS: u64 = 1024;

impl RowFold for StraceCounts {
    type Columns<'a> = CallColumns<'a>;

    fn empty(&self) -> Self {
        Self::default()
    }

    #[inline]
    fn row(&mut self, columns: &mut CallColumns<'_>, row: usize) {
        if columns.kind.get(row, RowKind::from_word) != Some(RowKind::Call) {
            return;
        }
        let names = &mut self.names;
        let Some((name, role)) =
            columns.name.get(row, |word| (names.number(word), Role::from_name(word)))
        else {
            return;
        };
        let end = columns.status.get(row, End::from_status).unwrap_or(End::Returned);
        // strace does not see the return of the call in the task that it created.
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
            // If the clock was set back, strace counts no time either.
            count.ns += i128::from(dur.max(0));
        }
    }

    /// The table in strace's order: by time, largest first, then by number of the call.
    fn table(self) -> Result<Vec<RecordBatch>, ArrowError> {
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
        let mut table = TableBuilder::new(&rows);
        table.text("name", |&(name, _)| Some(name));
        table.uint32("number", |(name, _)| u32::try_from(*numbers.get(name)?).ok());
        table.uint64("calls", |(_, count)| Some(count.calls));
        table.uint64("errors", |(_, count)| Some(count.errors));
        table.uint64("timed", |(_, count)| Some(count.timed));
        table.int64("total_ns", |(_, count)| Some(i64::try_from(count.ns).unwrap_or(i64::MAX)));
        Ok(vec![table.finish()?])
    }
}
