//! Tables: one row per item, columns added in order.

use std::hash::Hash;
use std::sync::{Arc, LazyLock};

use arrow_array::builder::StringViewBuilder;
use arrow_array::types::{
    ArrowPrimitiveType, Float64Type, Int32Type, Int64Type, TimestampNanosecondType, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, PrimitiveArray, RecordBatch, StringViewArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, Field, Schema};

use crate::hash::HashMap;

/// Bytes of the buffers of text that a column fills one after the other.
const TEXT_BLOCK: u32 = 32 << 10;

/// The zeros of all columns that have nothing else: those of writes in a table of files that were
/// only read are a third of it.
static ZEROS: LazyLock<Buffer> = LazyLock::new(|| Buffer::from(vec![0u128; PART]));

/// A table of `rows`, to which columns are added one by one.
pub(crate) struct TableBuilder<'r, R> {
    rows: &'r [R],
    fields: Vec<Field>,
    columns: Vec<ArrayRef>,
}

impl<'r, R> TableBuilder<'r, R> {
    pub(crate) fn new(rows: &'r [R]) -> Self {
        Self { rows, fields: Vec::new(), columns: Vec::new() }
    }

    /// Adds a column that is already an array.
    pub(crate) fn array(&mut self, name: impl Into<String>, column: ArrayRef) {
        self.fields.push(Field::new(name, column.data_type().clone(), true));
        self.columns.push(column);
    }

    /// Adds a column of text.
    ///
    /// It consists of views, and a text that the row before has too is stored once: most rows are of
    /// one source.
    pub(crate) fn text<T: AsRef<str>>(
        &mut self,
        name: impl Into<String>,
        value: impl Fn(&'r R) -> Option<T>,
    ) {
        let mut column = StringViewBuilder::with_capacity(self.rows.len())
            .with_fixed_block_size(TEXT_BLOCK)
            .with_deduplicate_strings();
        for row in self.rows {
            column.append_option(value(row));
        }
        let column = column.finish();
        let rows = column.len();
        if column.null_count() < rows || rows * size_of::<u128>() > ZEROS.len() {
            return self.array(name, Arc::new(column));
        }
        // The view of a null is zeros as well.
        let zeros = ScalarBuffer::new(ZEROS.clone(), 0, rows);
        self.array(name, Arc::new(StringViewArray::new(zeros, Vec::new(), Some(all_null(rows)))));
    }

    /// Adds a column of text that follows from a key, such as a number: the text of each key is asked
    /// for and stored once.
    pub(crate) fn keyed_text<'t, K: Copy + Eq + Hash>(
        &mut self,
        name: impl Into<String>,
        key: impl Fn(&'r R) -> K,
        text: impl Fn(K) -> Option<&'t str>,
    ) {
        let mut texts = StringViewBuilder::new().with_fixed_block_size(TEXT_BLOCK);
        let mut numbers: HashMap<K, usize> = HashMap::default();
        let mut of_row = Vec::with_capacity(self.rows.len());
        for row in self.rows {
            let (key, next) = (key(row), numbers.len());
            of_row.push(*numbers.entry(key).or_insert_with(|| {
                texts.append_option(text(key));
                next
            }));
        }
        let texts = texts.finish();
        let views = of_row.iter().map(|&number| texts.views()[number]).collect();
        let valid = |nulls: &NullBuffer| of_row.iter().map(|&n| nulls.is_valid(n)).collect();
        let column =
            StringViewArray::new(views, texts.data_buffers().to_vec(), texts.nulls().map(valid));
        self.array(name, Arc::new(column));
    }

    fn numbers<T: ArrowPrimitiveType>(
        &mut self,
        name: impl Into<String>,
        value: impl Fn(&'r R) -> Option<T::Native>,
    ) {
        let column: PrimitiveArray<T> = self.rows.iter().map(value).collect();
        self.array(name, Arc::new(sparing(column)));
    }

    pub(crate) fn timestamp(
        &mut self,
        name: impl Into<String>,
        value: impl Fn(&'r R) -> Option<i64>,
    ) {
        self.numbers::<TimestampNanosecondType>(name, value);
    }

    pub(crate) fn int64(&mut self, name: impl Into<String>, value: impl Fn(&'r R) -> Option<i64>) {
        self.numbers::<Int64Type>(name, value);
    }

    pub(crate) fn int32(&mut self, name: impl Into<String>, value: impl Fn(&'r R) -> Option<i32>) {
        self.numbers::<Int32Type>(name, value);
    }

    pub(crate) fn uint64(&mut self, name: impl Into<String>, value: impl Fn(&'r R) -> Option<u64>) {
        self.numbers::<UInt64Type>(name, value);
    }

    pub(crate) fn uint32(&mut self, name: impl Into<String>, value: impl Fn(&'r R) -> Option<u32>) {
        self.numbers::<UInt32Type>(name, value);
    }

    pub(crate) fn float64(
        &mut self,
        name: impl Into<String>,
        value: impl Fn(&'r R) -> Option<f64>,
    ) {
        self.numbers::<Float64Type>(name, value);
    }

    pub(crate) fn boolean(
        &mut self,
        name: impl Into<String>,
        value: impl Fn(&'r R) -> Option<bool>,
    ) {
        self.array(name, Arc::new(self.rows.iter().map(value).collect::<BooleanArray>()));
    }

    /// Adds a count as a saturated `UInt32`.
    pub(crate) fn count(&mut self, name: impl Into<String>, value: impl Fn(&'r R) -> u64) {
        self.uint32(name, |row| Some(u32::try_from(value(row)).unwrap_or(u32::MAX)));
    }

    /// The table.
    pub(crate) fn finish(self) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.columns)
    }
}

/// The same column, whose zeros and nulls take no memory of their own if it has nothing else.
fn sparing<T: ArrowPrimitiveType>(column: PrimitiveArray<T>) -> PrimitiveArray<T> {
    let rows = column.len();
    let bytes = column.values().inner();
    if bytes.len() > ZEROS.len() || bytes.iter().any(|&byte| byte != 0) {
        return column;
    }
    let nulls = match column.null_count() {
        all if all == rows => Some(all_null(rows)),
        _ => column.nulls().cloned(),
    };
    PrimitiveArray::new(ScalarBuffer::new(ZEROS.clone(), 0, rows), nulls)
}

fn all_null(rows: usize) -> NullBuffer {
    NullBuffer::new(BooleanBuffer::new(ZEROS.clone(), 0, rows))
}

/// Rows that are turned into columns at a time.
pub(crate) const PART: usize = 1 << 14;

/// Turns rows into parts of a table, at least one.
///
/// The rows and the table may each be most of the memory there is, so rows are freed while columns
/// grow: from the end, which is what allocators give back.
pub(crate) fn build_by_parts<R>(
    mut rows: Vec<R>,
    build: impl Fn(Vec<R>) -> Result<RecordBatch, ArrowError>,
) -> Result<Vec<RecordBatch>, ArrowError> {
    let mut parts = Vec::new();
    while parts.is_empty() || !rows.is_empty() {
        let part = rows.split_off(rows.len().saturating_sub(1) / PART * PART);
        rows.shrink_to_fit();
        parts.push(build(part)?);
    }
    parts.reverse();
    Ok(parts)
}
