//! Folds, which turn batches of events in order into one table.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Schema, SchemaRef};

use crate::events::schema;
use crate::tables::event_columns::EventColumns;
#[cfg(doc)]
use crate::tables::event_columns::Text;
use crate::tables::process_tracking::task_rows;

/// So many rows have their texts fetched together, before the first of them is taken in: the nearest
/// cache has room for these.
const FETCHED: usize = 64;

/// Words by column name, for columns that hold only the keys of a dictionary.
pub type Dictionaries = HashMap<String, ArrayRef>;

/// Summarizes events in a table.
///
/// # Examples
/// Two calls that took 1 µs together; the column `kind` holds keys into a dictionary:
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::cast::AsArray;
/// use arrow_array::types::Int64Type;
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, UInt8Array};
/// use tracefast_core::tables::syscalls::StraceCounts;
/// use tracefast_core::tables::fold::{Dictionaries, Fold};
///
/// let word = |word| Arc::new(StringArray::from(vec![word; 2])) as ArrayRef;
/// let events = RecordBatch::try_from_iter_with_nullable([
///     ("dur_ns", Arc::new(Int64Array::from(vec![700, 300])) as ArrayRef, true),
///     ("kind", Arc::new(UInt8Array::from(vec![0, 0])), true),
///     ("name", word(Some("read")), true),
///     ("ret", Arc::new(Int64Array::from(vec![5, 0])), true),
///     ("errno", word(None), true),
///     ("status", word(Some("complete")), true),
/// ])?;
/// let kinds = Arc::new(StringArray::from(vec!["syscall"])) as ArrayRef;
/// let words = Dictionaries::from([("kind".to_owned(), kinds)]);
///
/// let mut fold = StraceCounts::default();
/// fold.push(&events, &words)?;
/// let table = fold.finish()?.remove(0);
/// assert_eq!(table["total_ns"].as_primitive::<Int64Type>().value(0), 1000);
/// # Ok::<(), arrow_schema::ArrowError>(())
/// ```
pub trait Fold: Sized {
    /// The columns of the events that the fold reads, with their types in the event schema.
    fn needed(&self) -> SchemaRef;

    /// The columns of the table.
    fn schema(&self) -> SchemaRef;

    /// Whether it is faster if a [`TaskRows`](crate::tables::process_tracking::task_rows::TaskRows)
    /// goes first.
    fn follows_tasks(&self) -> bool;

    /// Adds events, which must come in order.
    ///
    /// `words` has the dictionaries of columns that hold only keys.
    ///
    /// # Errors
    /// A column is missing, or has another type than in the event schema. Text may be in any
    /// layout; words may be dictionary-encoded or not.
    fn push(&mut self, batch: &RecordBatch, words: &Dictionaries) -> Result<(), ArrowError>;

    /// The first rows of the table, if events that come later do not change them, so that a long
    /// table need not be kept: [`Fold::finish`] gives the rows after them.
    ///
    /// # Errors
    /// Never in practice: all columns have the same length.
    fn ready(&mut self) -> Result<Vec<RecordBatch>, ArrowError>;

    /// The table, in parts of thousands of rows; at least one.
    ///
    /// # Errors
    /// Never in practice: all columns have the same length.
    fn finish(self) -> Result<Vec<RecordBatch>, ArrowError>;
}

/// A fold that takes one row at a time. Every table implements this; [`Fold`] follows from it.
pub(crate) trait RowFold: Sized {
    type Columns<'a>: EventColumns<'a>;

    /// A fold with the same options that has seen no events.
    fn empty(&self) -> Self;

    /// Names of the columns that are read; names may repeat.
    fn column_names(&self) -> Vec<&'static str> {
        Self::Columns::<'static>::names()
    }

    /// Finds the columns in a batch.
    fn columns<'a>(
        &self,
        batch: &'a RecordBatch,
        words: &'a Dictionaries,
    ) -> Result<Self::Columns<'a>, ArrowError> {
        EventColumns::from_batch(batch, words)
    }

    /// Fetches the texts that the next rows are asked for: see [`Text::fetch`].
    #[inline]
    fn fetch(&mut self, _columns: &mut Self::Columns<'_>, _rows: Range<usize>) {}

    /// Adds one row.
    fn row(&mut self, columns: &mut Self::Columns<'_>, row: usize);

    /// The first rows of the table, if they can no longer change. Most tables are known at the end.
    fn ready(&mut self) -> Result<Vec<RecordBatch>, ArrowError> {
        Ok(Vec::new())
    }

    /// The table, in parts; at least one. Without those that were [`ready`](Self::ready).
    fn table(self) -> Result<Vec<RecordBatch>, ArrowError>;
}

impl<F: RowFold> Fold for F {
    fn needed(&self) -> SchemaRef {
        let names = self.column_names();
        let events = schema::schema();
        let fields = events.fields().iter().filter(|field| names.contains(&field.name().as_str()));
        Arc::new(Schema::new(fields.cloned().collect::<Vec<_>>()))
    }

    fn schema(&self) -> SchemaRef {
        // An empty table has all columns.
        let table = self.empty().table().ok();
        let part = table.as_ref().and_then(|parts| parts.first());
        part.map_or_else(|| Arc::new(Schema::empty()), RecordBatch::schema)
    }

    fn follows_tasks(&self) -> bool {
        self.column_names().contains(&task_rows::COLUMN)
    }

    fn push(&mut self, batch: &RecordBatch, words: &Dictionaries) -> Result<(), ArrowError> {
        let mut columns = self.columns(batch, words)?;
        let end = batch.num_rows();
        for start in (0..end).step_by(FETCHED) {
            let rows = start..end.min(start + FETCHED);
            self.fetch(&mut columns, rows.clone());
            for row in rows {
                self.row(&mut columns, row);
            }
        }
        Ok(())
    }

    fn ready(&mut self) -> Result<Vec<RecordBatch>, ArrowError> {
        RowFold::ready(self)
    }

    fn finish(self) -> Result<Vec<RecordBatch>, ArrowError> {
        self.table()
    }
}
