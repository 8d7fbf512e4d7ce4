//! The fold behind the table of created tasks.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use tracefast_core::spawns;

use crate::batch::{Batch, Schema};
use crate::import::arrow;
use crate::uses::{column_of, feed, over};

/// Created tasks, to be summed up.
#[pyclass(frozen, module = "tracefast._core")]
pub struct Spawns {
    fold: Mutex<Option<spawns::Spawns>>,
}

#[pymethods]
impl Spawns {
    #[new]
    #[pyo3(signature = (*, hints=false))]
    fn new(hints: bool) -> Self {
        let fold = if hints { spawns::Spawns::with_hints() } else { spawns::Spawns::default() };
        Self { fold: Mutex::new(Some(fold)) }
    }

    /// The columns of the table.
    #[staticmethod]
    #[pyo3(signature = (*, hints=false))]
    fn schema(hints: bool) -> Schema {
        Schema::new(if hints { spawns::hinted_schema() } else { spawns::schema() })
    }

    /// Takes in the words that the numbers in a column stand for.
    fn words(&self, column: &str, words: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Some(fold) = &mut *self.lock() {
            fold.words(column, column_of(words)?);
        }
        Ok(())
    }

    /// Takes in events.
    fn push(&self, py: Python<'_>, events: &Bound<'_, PyAny>) -> PyResult<()> {
        feed(py, events, |batch| match &mut *self.lock() {
            Some(fold) => fold.push(batch),
            None => Ok(()),
        })
    }

    /// The table; once.
    fn finish(&self, py: Python<'_>) -> PyResult<Batch> {
        let fold = self.lock().take().ok_or_else(over)?;
        py.detach(|| fold.finish()).map(Batch::new).map_err(|error| arrow(&error))
    }
}

impl Spawns {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<spawns::Spawns>> {
        self.fold.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
