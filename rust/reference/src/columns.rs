//! Columns of rows and tables as plain values.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, DurationNanosecondType, Float64Type, Int32Type, Int64Type,
    TimestampNanosecondType, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch, StringArray};

/// The numbers of a column, times among them; `None` if it has none.
pub fn numbers(batch: &RecordBatch, name: &str) -> Option<Vec<Option<i128>>> {
    let column = batch.column_by_name(name)?;
    primitive::<Int64Type>(column)
        .or_else(|| primitive::<TimestampNanosecondType>(column))
        .or_else(|| primitive::<DurationNanosecondType>(column))
        .or_else(|| primitive::<Int32Type>(column))
        .or_else(|| primitive::<UInt16Type>(column))
        .or_else(|| primitive::<UInt32Type>(column))
        .or_else(|| primitive::<UInt64Type>(column))
}

fn primitive<T: ArrowPrimitiveType>(column: &dyn Array) -> Option<Vec<Option<i128>>>
where
    T::Native: Into<i128>,
{
    let values = column.as_primitive_opt::<T>()?;
    Some(values.iter().map(|value| value.map(Into::into)).collect())
}

/// The shares of a column; `None` if it has none.
pub fn shares(batch: &RecordBatch, name: &str) -> Option<Vec<Option<f64>>> {
    Some(batch.column_by_name(name)?.as_primitive_opt::<Float64Type>()?.iter().collect())
}

/// The words or texts of a column; `None` if it has none.
pub fn texts(batch: &RecordBatch, name: &str) -> Option<Vec<Option<String>>> {
    let column = batch.column_by_name(name)?;
    let owned = |text: Option<&str>| text.map(str::to_owned);
    if let Some(words) = column.as_dictionary_opt::<UInt32Type>() {
        let words = words.downcast_dict::<StringArray>()?;
        return Some(words.into_iter().map(owned).collect());
    }
    if let Some(views) = column.as_string_view_opt() {
        return Some(views.iter().map(owned).collect());
    }
    Some(column.as_string_opt::<i32>()?.iter().map(owned).collect())
}
