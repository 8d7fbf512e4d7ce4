//! What a first tracker found in each row, as a column for the trackers of several tables.
//!
//! Few rows change what is known about tasks. To find out which ones takes a tracker a third of the
//! time that most tables take for a row. [`TaskRows`] finds it out once, and the trackers of the
//! tables take in only the rows that change something. Each of them still has all of its state: no
//! table waits for another one.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};

use crate::tables::event_columns::{EventColumn, EventColumns};
use crate::tables::fold::Dictionaries;
use crate::tables::process_tracking::tracker::{TaskColumns, TaskRow, Tracker};
use crate::tables::process_tracking::word_classes::RowKind;

/// The column that [`TaskRows::add_to`] adds, which is in no schema of events.
pub(crate) const COLUMN: &str = "task_row";

/// Names by number: more than fit into a value are in no real log.
const MOST_NAMES: u64 = (1 << 23) - 1;

/// What a tracker found in a row: from the lowest bit, the task in 32 bits, the kind in 8, the name
/// plus one in 23 (0 for none), and whether the row changes anything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known(u64);

impl Known {
    /// The kind of rows of no task.
    const NOTHING: u64 = 0xff;

    fn new(found: Option<TaskRow>, changes: bool) -> Self {
        let row = found.map_or(Self::NOTHING << 32, |TaskRow { task, kind, name }| {
            u64::from(task) | (kind as u64) << 32 | name.map_or(0, |name| u64::from(name) + 1) << 40
        });
        Self(row | u64::from(changes) << 63)
    }

    /// The row says something new about tasks, or is the first one of its task or name.
    #[inline]
    pub(crate) fn changes(self) -> bool {
        self.0 >> 63 != 0
    }

    /// The task and the name, by the numbers of the first tracker. None if the row is of no task.
    #[inline]
    pub(crate) fn row(self) -> Option<TaskRow> {
        let kind = *RowKind::ALL.get((self.0 >> 32 & 0xff) as usize)?;
        let name = (self.0 >> 40 & MOST_NAMES) as u32;
        Some(TaskRow { task: self.0 as u32, kind, name: name.checked_sub(1) })
    }
}

/// The column of a batch; batches without it have no values.
pub(crate) struct KnownRows<'a>(&'a [u64]);

impl<'a> EventColumn<'a> for KnownRows<'a> {
    fn from_batch(
        batch: &'a RecordBatch,
        name: &str,
        _words: &'a Dictionaries,
    ) -> Result<Self, ArrowError> {
        let column = batch.column_by_name(name);
        let numbers = column.and_then(|column| column.as_primitive_opt::<UInt64Type>());
        Ok(Self(numbers.map_or(&[], |numbers| numbers.values())))
    }
}

impl KnownRows<'_> {
    /// What the first tracker found in a row; None if there was none.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<Known> {
        self.0.get(row).copied().map(Known)
    }
}

/// Goes first, for several tables that follow tasks.
///
/// # Examples
/// ```
/// use arrow_array::RecordBatch;
/// use tracefast_core::events::schema;
/// use tracefast_core::tables::process_tracking::task_rows::TaskRows;
///
/// let events = RecordBatch::new_empty(schema::schema());
/// let more = TaskRows::default().add_to(&events)?;
/// assert_eq!(more.num_columns(), events.num_columns() + 1);
/// # Ok::<(), arrow_schema::ArrowError>(())
/// ```
#[derive(Debug, Default)]
pub struct TaskRows {
    tracker: Tracker,
    /// So many names were in rows before.
    names: u32,
}

impl TaskRows {
    /// Takes in events, in order, and returns them with a column for the folds of tables.
    ///
    /// The folds must get all batches that this took in, in the same order.
    ///
    /// # Errors
    /// A column about tasks is missing, or has another type than in the event schema.
    pub fn add_to(&mut self, events: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        if u64::from(self.names) >= MOST_NAMES {
            return Ok(events.clone());
        }
        let words = Dictionaries::default();
        let mut columns = TaskColumns::from_batch(events, &words)?;
        let known: Vec<u64> =
            (0..events.num_rows()).map(|row| self.known(&mut columns, row).0).collect();
        if u64::from(self.names) >= MOST_NAMES {
            return Ok(events.clone());
        }
        let mut fields = events.schema().fields().to_vec();
        fields.push(Arc::new(Field::new(COLUMN, DataType::UInt64, false)));
        let mut arrays = events.columns().to_vec();
        arrays.push(Arc::new(UInt64Array::from(known)) as ArrayRef);
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
    }

    #[inline]
    fn known(&mut self, columns: &mut TaskColumns<'_>, row: usize) -> Known {
        self.tracker.row += 1;
        let mut changes = false;
        let found = self.tracker.take(columns, row, &mut changes);
        // Numbers are given in order.
        if let Some(name) = found.and_then(|found| found.name)
            && name >= self.names
        {
            self.names = name + 1;
            changes = true;
        }
        Known::new(found, changes)
    }
}
