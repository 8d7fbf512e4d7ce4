//! The fold behind the table of processes: batches of events in, one batch out.

use pyo3::prelude::*;
use tracefast_core::tables::processes;

use crate::arrow::batch::{Batch, Schema};
use crate::tables::held::Held;

/// Processes, to be summed up.
#[pyclass(frozen, module = "tracefast._core")]
pub struct Processes {
    fold: Held<processes::Processes>,
}

#[pymethods]
impl Processes {
    #[new]
    fn new() -> Self {
        Self { fold: Held::new(processes::Processes::default()) }
    }

    /// The columns of the table.
    #[staticmethod]
    fn schema() -> Schema {
        Schema::new(processes::schema())
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
