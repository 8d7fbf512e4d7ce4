//! The fold behind the table of created tasks.

use pyo3::prelude::*;
use tracefast_core::tables::forks;

use crate::arrow::batch::{Batch, Schema};
use crate::tables::held::Held;

/// Created tasks, to be summed up.
#[pyclass(frozen, module = "tracefast._core")]
pub struct Forks {
    fold: Held<forks::Forks>,
}

#[pymethods]
impl Forks {
    #[new]
    #[pyo3(signature = (*, hints=false))]
    fn new(hints: bool) -> Self {
        let fold = if hints { forks::Forks::with_hints() } else { forks::Forks::default() };
        Self { fold: Held::new(fold) }
    }

    /// The columns of the table.
    #[staticmethod]
    #[pyo3(signature = (*, hints=false))]
    fn schema(hints: bool) -> Schema {
        Schema::new(if hints { forks::hinted_schema() } else { forks::schema() })
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
