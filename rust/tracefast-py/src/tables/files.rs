//! The folds behind the table of files: batches of events in, one batch out.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type};
use arrow_array::{Array, Int64Array, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema as ArrowSchema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tracefast_core::tables::files::{self, By, Options, Scope};

use crate::arrow::batch::{Batch, Schema};
use crate::arrow::import::arrow;
use crate::tables::held::{Held, feed};

/// The fold behind `tf.files`.
#[pyclass(frozen, module = "tracefast._core")]
pub struct Files {
    fold: Held<files::Files>,
}

#[pymethods]
impl Files {
    #[new]
    #[pyo3(signature = (*, by = None, scope = "stream", near = 131_072))]
    fn new(by: Option<&str>, scope: &str, near: i64) -> PyResult<Self> {
        let scope = match scope {
            "stream" => Scope::Stream,
            "file" => Scope::File,
            _ => return Err(PyValueError::new_err(format!("'{scope}' is no scope"))),
        };
        let fold = files::Files::new(Options { by: part(by)?, scope, near });
        Ok(Self { fold: Held::new(fold) })
    }

    /// The columns of the table.
    #[staticmethod]
    #[pyo3(signature = (*, by = None))]
    fn schema(by: Option<&str>) -> PyResult<Schema> {
        Ok(Schema::new(files::schema(part(by)?)))
    }

    /// Takes in the words that the numbers in a column stand for.
    fn words(&self, column: &str, words: &Bound<'_, PyAny>) -> PyResult<()> {
        self.fold.words(column, words)
    }

    /// Takes in events.
    fn push(&self, py: Python<'_>, events: &Bound<'_, PyAny>) -> PyResult<()> {
        self.fold.push(py, events)
    }

    /// Calls of `io_uring_enter` so far, and the submissions that they took.
    #[getter]
    fn rings(&self) -> (u64, u64) {
        self.fold.look(files::Files::rings).unwrap_or_default()
    }

    /// The table; once.
    fn finish(&self, py: Python<'_>) -> PyResult<Batch> {
        self.fold.finish(py)
    }
}

fn part(by: Option<&str>) -> PyResult<By> {
    match by {
        None => Ok(By::File),
        Some("process") => Ok(By::Process),
        Some("open") => Ok(By::Open),
        Some(other) => Err(PyValueError::new_err(format!("no rows by '{other}'"))),
    }
}

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

    /// Takes in ranges: number of the group (`UInt32`), start and length (`Int64`). Those without
    /// a start or a length count for nothing.
    fn push(&self, py: Python<'_>, ranges: &Bound<'_, PyAny>) -> PyResult<()> {
        feed(py, ranges, |batch| {
            let wrong = || ArrowError::SchemaError("group, start and length are wanted".to_owned());
            let [group, start, length] = batch.columns() else { return Err(wrong()) };
            let groups = group.as_primitive_opt::<UInt32Type>().ok_or_else(wrong)?;
            let starts = start.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?;
            let lengths = length.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?;
            let mut fold = self.fold.lock().unwrap_or_else(PoisonError::into_inner);
            for (row, group) in groups.values().iter().enumerate() {
                let told = starts.is_valid(row) && lengths.is_valid(row);
                let length = if told { lengths.value(row) } else { 0 };
                fold.insert(*group as usize, starts.value(row), length);
            }
            Ok(())
        })
    }

    /// How much each group covers: one column, `length`.
    fn finish(&self, py: Python<'_>) -> PyResult<Batch> {
        let lengths =
            py.detach(|| self.fold.lock().unwrap_or_else(PoisonError::into_inner).lengths());
        let schema = ArrowSchema::new(vec![Field::new("length", DataType::Int64, true)]);
        let column = Arc::new(Int64Array::from(lengths));
        RecordBatch::try_new(Arc::new(schema), vec![column])
            .map(Batch::new)
            .map_err(|error| arrow(&error))
    }
}

/// Counters of Darshan's POSIX module, to be summed up.
#[pyclass(frozen, module = "tracefast._core")]
pub struct Darshan {
    fold: Held<files::Darshan>,
}

#[pymethods]
impl Darshan {
    #[new]
    fn new() -> Self {
        Self { fold: Held::new(files::Darshan::default()) }
    }

    /// The columns of the table.
    #[staticmethod]
    fn schema() -> Schema {
        Schema::new(files::Darshan::schema())
    }

    /// Takes in the words that the numbers in a column stand for.
    fn words(&self, column: &str, words: &Bound<'_, PyAny>) -> PyResult<()> {
        self.fold.words(column, words)
    }

    /// Takes in events.
    fn push(&self, py: Python<'_>, events: &Bound<'_, PyAny>) -> PyResult<()> {
        self.fold.push(py, events)
    }

    /// The table; once.
    fn finish(&self, py: Python<'_>) -> PyResult<Batch> {
        self.fold.finish(py)
    }
}
