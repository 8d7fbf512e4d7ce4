//! Folds: batches of events in their order in, one batch out.

use std::collections::HashMap;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::ArrowError;

/// Dictionaries of columns that hold only their keys, by name of the column.
pub type Dictionaries = HashMap<String, ArrayRef>;

/// What sums events up into a table.
///
/// # Examples
/// Two calls that took 1 µs together; the column `kind` holds keys of words that came before:
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::cast::AsArray;
/// use arrow_array::types::Int64Type;
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, UInt8Array};
/// use tracefast_core::tables::syscalls::StraceCounts;
/// use tracefast_core::tables::fold::Fold;
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
///
/// let mut fold = StraceCounts::default();
/// fold.words("kind", Arc::new(StringArray::from(vec!["syscall"])));
/// fold.push(&events)?;
/// let table = fold.finish()?;
/// assert_eq!(table["total_ns"].as_primitive::<Int64Type>().value(0), 1000);
/// # Ok::<(), arrow_schema::ArrowError>(())
/// ```
pub trait Fold: Sized {
    /// The words that were taken in, for [`words`](Self::words) and [`push`](Self::push).
    fn dictionaries(&mut self) -> &mut Dictionaries;

    /// Takes in the rows of a batch, whose words are `known`, for [`push`](Self::push).
    ///
    /// # Errors
    /// Those of [`push`](Self::push).
    fn rows(&mut self, batch: &RecordBatch, known: &Dictionaries) -> Result<(), ArrowError>;

    /// Takes in the words that the numbers in a column stand for, in batches to come.
    fn words(&mut self, column: &str, words: ArrayRef) {
        self.dictionaries().insert(column.to_owned(), words);
    }

    /// Takes in events, which follow those before in their order.
    ///
    /// # Errors
    /// A column is missing, or is of another type than in the event schema. Text may be in any
    /// layout; words may stand in a dictionary or not.
    fn push(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        // Lent out, as a row changes what is beside it.
        let known = std::mem::take(self.dictionaries());
        let done = self.rows(batch, &known);
        *self.dictionaries() = known;
        done
    }

    /// The table.
    ///
    /// # Errors
    /// None, as all columns have one length.
    fn finish(self) -> Result<RecordBatch, ArrowError>;
}
