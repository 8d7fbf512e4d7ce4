//! The fold behind the table of created tasks.

use pyo3::prelude::*;
use tracefast_core::spawns;

use crate::batch::{Batch, Schema};
use crate::fold::Held;

/// Created tasks, to be summed up.
#[pyclass(frozen, module = "tracefast._core")]
pub struct Spawns {
    fold: Held<spawns::Spawns>,
}

#[pymethods]
impl Spawns {
    #[new]
    #[pyo3(signature = (*, hints=false))]
    fn new(hints: bool) -> Self {
        let fold = if hints { spawns::Spawns::with_hints() } else { spawns::Spawns::default() };
        Self { fold: Held::new(fold) }
    }

    /// The columns of the table.
    #[staticmethod]
    #[pyo3(signature = (*, hints=false))]
    fn schema(hints: bool) -> Schema {
        Schema::new(if hints { spawns::hinted_schema() } else { spawns::schema() })
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
