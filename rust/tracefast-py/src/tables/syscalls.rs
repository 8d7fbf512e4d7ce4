//! The folds behind the table of system calls: batches of events in, one batch out.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tracefast_core::tables::syscalls::{self, By};

use crate::arrow::batch::{Batch, Schema};
use crate::tables::held::Held;

/// System calls by name, to be summed up.
#[pyclass(frozen, module = "tracefast._core")]
pub struct Syscalls {
    fold: Held<syscalls::Syscalls>,
}

#[pymethods]
impl Syscalls {
    #[new]
    #[pyo3(signature = (*, by = None))]
    fn new(by: Option<&str>) -> PyResult<Self> {
        Ok(Self { fold: Held::new(syscalls::Syscalls::new(part(by)?)) })
    }

    /// The columns of the table.
    #[staticmethod]
    #[pyo3(signature = (*, by = None))]
    fn schema(by: Option<&str>) -> PyResult<Schema> {
        Ok(Schema::new(syscalls::schema(part(by)?)))
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

fn part(by: Option<&str>) -> PyResult<By> {
    match by {
        None => Ok(By::Name),
        Some("process") => Ok(By::Process),
        Some(other) => Err(PyValueError::new_err(format!("no rows by '{other}'"))),
    }
}

/// Calls as strace counts them, to be summed up.
#[pyclass(frozen, module = "tracefast._core")]
pub struct StraceCounts {
    fold: Held<syscalls::StraceCounts>,
}

#[pymethods]
impl StraceCounts {
    #[new]
    fn new() -> Self {
        Self { fold: Held::new(syscalls::StraceCounts::default()) }
    }

    /// The columns of the table.
    #[staticmethod]
    fn schema() -> Schema {
        Schema::new(syscalls::StraceCounts::schema())
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
