//! Columns of tables as lists of Python.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float64Type, Int32Type, Int64Type, TimestampNanosecondType, UInt32Type, UInt64Type,
};
use arrow_schema::{DataType, TimeUnit};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::arrow::batch::{Batch, Schema};

/// What the values of each column of a table are: "number", "time" (nanoseconds), "text" for all
/// others.
#[pyfunction]
pub(crate) fn column_kinds(schema: &Schema) -> Vec<(String, &'static str)> {
    let kind = |of: &DataType| match of {
        of if of.is_numeric() => "number",
        DataType::Timestamp(..) => "time",
        _ => "text",
    };
    schema.fields().iter().map(|field| (field.name().clone(), kind(field.data_type()))).collect()
}

/// The values of a column of a table as Python's own; times are nanoseconds.
#[pyfunction]
pub(crate) fn column_values<'py>(
    py: Python<'py>,
    batch: &Batch,
    name: &str,
) -> PyResult<Bound<'py, PyList>> {
    let column = batch.rows().column_by_name(name);
    values(py, column.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?)
}

fn values<'py>(py: Python<'py>, column: &dyn Array) -> PyResult<Bound<'py, PyList>> {
    match column.data_type() {
        DataType::Boolean => PyList::new(py, column.as_boolean()),
        DataType::Int32 => PyList::new(py, column.as_primitive::<Int32Type>()),
        DataType::Int64 => PyList::new(py, column.as_primitive::<Int64Type>()),
        DataType::UInt32 => PyList::new(py, column.as_primitive::<UInt32Type>()),
        DataType::UInt64 => PyList::new(py, column.as_primitive::<UInt64Type>()),
        DataType::Float64 => PyList::new(py, column.as_primitive::<Float64Type>()),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            PyList::new(py, column.as_primitive::<TimestampNanosecondType>())
        }
        DataType::Utf8 => PyList::new(py, column.as_string::<i32>()),
        DataType::Utf8View => PyList::new(py, column.as_string_view()),
        DataType::List(_) => {
            let lists = column.as_list::<i32>();
            let lists = lists.iter().map(|list| list.map(|list| values(py, &list)).transpose());
            PyList::new(py, lists.collect::<PyResult<Vec<_>>>()?)
        }
        other => Err(PyTypeError::new_err(format!("a table has no columns of type {other}"))),
    }
}
