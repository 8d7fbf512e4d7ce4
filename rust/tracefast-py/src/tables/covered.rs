//! Unions of ranges.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type};
use arrow_array::{Array, Int64Array, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::prelude::*;
use tracefast_core::tables::files;

use crate::arrow::batch::Batch;
use crate::arrow::import::arrow;
use crate::tables::fold::feed;

/// Unions of ranges, by number of a group.
#[pyclass(frozen, module = "tracefast._core")]
pub struct Covered {
    fold: Mutex<files::Covered>,
}

#[pymethods]
impl Covered {
    #[new]
    fn new() -> Self {
        Self { fold: Mutex::new(files::Covered::default()) }
    }

    /// Takes in ranges: number of the group (`UInt32`), start and length (`Int64`). Ranges whose
    /// start or length is null are empty.
    fn push(&self, py: Python<'_>, ranges: &Bound<'_, PyAny>) -> PyResult<()> {
        feed(py, ranges, |batch| {
            let wrong =
                || ArrowError::SchemaError("the columns are group, start and length".to_owned());
            let [group, start, length] = batch.columns() else { return Err(wrong()) };
            let groups = group.as_primitive_opt::<UInt32Type>().ok_or_else(wrong)?;
            let starts = start.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?;
            let lengths = length.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?;
            let mut fold = self.fold.lock().unwrap_or_else(PoisonError::into_inner);
            for (row, group) in groups.values().iter().enumerate() {
                let known = starts.is_valid(row) && lengths.is_valid(row);
                let length = if known { lengths.value(row) } else { 0 };
                fold.insert(*group as usize, starts.value(row), length);
            }
            Ok(())
        })
    }

    /// How much each group covers: one column, `length`.
    fn finish(&self, py: Python<'_>) -> PyResult<Batch> {
        let lengths =
            py.detach(|| self.fold.lock().unwrap_or_else(PoisonError::into_inner).lengths());
        let schema = Schema::new(vec![Field::new("length", DataType::Int64, true)]);
        let column = Arc::new(Int64Array::from(lengths));
        RecordBatch::try_new(Arc::new(schema), vec![column])
            .map(Batch::new)
            .map_err(|error| arrow(&error))
    }
}
