//! Column builders that take one row at a time.

use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int32Builder, Int64Builder, StringViewBuilder, UInt32Builder,
    UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::ftrace::decode::forms::Row;
use crate::ftrace::decode::value::{FieldType, Slot};

/// The column of the text that fits no other column.
pub const REST: &str = "rest";

/// Columns that every table of fields takes from the events.
const RECORD: [&str; 8] = ["source", "ts", "task", "pid", "tid", "comm", "cpu", "line"];

/// The prefix of fields whose name is also a column of the record.
const PREFIX: &str = "event_";

/// The column of the field `name`.
///
/// # Examples
/// ```
/// use tracefast_core::ftrace::decode::column_name;
/// assert_eq!(column_name("prev_pid"), "prev_pid");
/// // `pid` is the task that the record is of.
/// assert_eq!(column_name("pid"), "event_pid");
/// ```
pub fn column_name(name: &str) -> String {
    // A field `event_pid` must not clash with a field `pid`.
    let bare = name.trim_start_matches(PREFIX);
    if bare == REST || RECORD.contains(&bare) { format!("{PREFIX}{name}") } else { name.to_owned() }
}

/// The schema of some fields, and of what is left.
pub(crate) fn schema<'a>(fields: impl Iterator<Item = (&'a str, FieldType)>) -> SchemaRef {
    let mut columns: Vec<Field> = fields
        .map(|(name, kind)| {
            let kind = match kind {
                FieldType::I32 => DataType::Int32,
                FieldType::U32 => DataType::UInt32,
                FieldType::I64 => DataType::Int64,
                FieldType::U64 => DataType::UInt64,
                FieldType::F64 => DataType::Float64,
                FieldType::Bool => DataType::Boolean,
                FieldType::Text => DataType::Utf8View,
            };
            Field::new(column_name(name), kind, true)
        })
        .collect();
    columns.push(Field::new(REST, DataType::Utf8View, true));
    Arc::new(Schema::new(columns))
}

enum ColumnBuilder {
    I32(Int32Builder),
    U32(UInt32Builder),
    I64(Int64Builder),
    U64(UInt64Builder),
    F64(Float64Builder),
    Bool(BooleanBuilder),
    Text(StringViewBuilder),
}

/// Collects the rows of a batch.
pub(crate) struct BatchBuilder {
    fields: Vec<ColumnBuilder>,
    rest: StringViewBuilder,
    rows: usize,
}

impl BatchBuilder {
    /// Columns of these types, and `rest`.
    pub(crate) fn new(kinds: impl Iterator<Item = FieldType>) -> Self {
        let fields = kinds
            .map(|kind| match kind {
                FieldType::I32 => ColumnBuilder::I32(Int32Builder::new()),
                FieldType::U32 => ColumnBuilder::U32(UInt32Builder::new()),
                FieldType::I64 => ColumnBuilder::I64(Int64Builder::new()),
                FieldType::U64 => ColumnBuilder::U64(UInt64Builder::new()),
                FieldType::F64 => ColumnBuilder::F64(Float64Builder::new()),
                FieldType::Bool => ColumnBuilder::Bool(BooleanBuilder::new()),
                FieldType::Text => ColumnBuilder::Text(StringViewBuilder::new()),
            })
            .collect();
        Self { fields, rest: StringViewBuilder::new(), rows: 0 }
    }

    /// Appends a row of `text`.
    #[inline]
    pub(crate) fn push(&mut self, text: &str, row: &Row, rest: Option<&str>) {
        for (column, slot) in self.fields.iter_mut().zip(&row.slots) {
            column.push(text, row, *slot);
        }
        self.rest.append_option(rest);
        self.rows += 1;
    }

    /// The batch.
    ///
    /// # Errors
    /// Never in practice: all columns have one length. The error type is Arrow's.
    pub(crate) fn finish(
        mut self,
        schema: SchemaRef,
    ) -> Result<RecordBatch, arrow_schema::ArrowError> {
        let mut arrays: Vec<ArrayRef> = self.fields.iter_mut().map(ColumnBuilder::finish).collect();
        arrays.push(Arc::new(self.rest.finish()));
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        RecordBatch::try_new_with_options(schema, arrays, &options)
    }
}

impl ColumnBuilder {
    #[inline]
    fn push(&mut self, text: &str, row: &Row, slot: Slot) {
        let bits = match slot {
            Slot::Bits(bits) => Some(bits),
            _ => None,
        };
        match self {
            Self::I32(column) => column.append_option(bits.map(|bits| bits as i32)),
            Self::U32(column) => column.append_option(bits.map(|bits| bits as u32)),
            Self::I64(column) => column.append_option(bits.map(|bits| bits as i64)),
            Self::U64(column) => column.append_option(bits),
            Self::F64(column) => column.append_option(bits.map(f64::from_bits)),
            Self::Bool(column) => column.append_option(bits.map(|bits| bits != 0)),
            // Pieces are cut at ASCII bytes, so never within a character.
            Self::Text(column) => column.append_option(match slot {
                Slot::Text(start, end) => text.get(start..end),
                Slot::Made(start, end) => row.made.get(start..end),
                Slot::Null | Slot::Bits(_) => None,
            }),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::I32(column) => Arc::new(column.finish()),
            Self::U32(column) => Arc::new(column.finish()),
            Self::I64(column) => Arc::new(column.finish()),
            Self::U64(column) => Arc::new(column.finish()),
            Self::F64(column) => Arc::new(column.finish()),
            Self::Bool(column) => Arc::new(column.finish()),
            Self::Text(column) => Arc::new(column.finish()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_fields_share_a_column() {
        let fields =
            ["pid", "event_pid", "event_event_pid", "rest", "event_rest", "event_id", "id"];
        let columns: Vec<String> = fields.iter().map(|field| column_name(field)).collect();
        let mut distinct = columns.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), fields.len(), "{columns:?}");
        assert!(!columns.iter().any(|column| column == REST || RECORD.contains(&column.as_str())));
    }
}
