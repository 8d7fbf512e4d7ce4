//! Tables: one row per item, columns added in order.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampNanosecondArray, UInt32Array, UInt64Array,
};
use arrow_schema::{ArrowError, Field, Schema};

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

    fn collect<A, T>(&mut self, name: impl Into<String>, value: impl Fn(&'r R) -> Option<T>)
    where
        A: Array + FromIterator<Option<T>> + 'static,
    {
        self.array(name, Arc::new(self.rows.iter().map(value).collect::<A>()));
    }

    pub(crate) fn text<T: AsRef<str>>(
        &mut self,
        name: impl Into<String>,
        value: impl Fn(&'r R) -> Option<T>,
    ) {
        self.collect::<StringArray, T>(name, value);
    }

    pub(crate) fn timestamp(
        &mut self,
        name: impl Into<String>,
        value: impl Fn(&'r R) -> Option<i64>,
    ) {
        self.collect::<TimestampNanosecondArray, i64>(name, value);
    }

    pub(crate) fn int64(&mut self, name: impl Into<String>, value: impl Fn(&'r R) -> Option<i64>) {
        self.collect::<Int64Array, i64>(name, value);
    }

    pub(crate) fn int32(&mut self, name: impl Into<String>, value: impl Fn(&'r R) -> Option<i32>) {
        self.collect::<Int32Array, i32>(name, value);
    }

    pub(crate) fn uint64(&mut self, name: impl Into<String>, value: impl Fn(&'r R) -> Option<u64>) {
        self.collect::<UInt64Array, u64>(name, value);
    }

    pub(crate) fn uint32(&mut self, name: impl Into<String>, value: impl Fn(&'r R) -> Option<u32>) {
        self.collect::<UInt32Array, u32>(name, value);
    }

    pub(crate) fn float64(
        &mut self,
        name: impl Into<String>,
        value: impl Fn(&'r R) -> Option<f64>,
    ) {
        self.collect::<Float64Array, f64>(name, value);
    }

    pub(crate) fn boolean(
        &mut self,
        name: impl Into<String>,
        value: impl Fn(&'r R) -> Option<bool>,
    ) {
        self.collect::<BooleanArray, bool>(name, value);
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
