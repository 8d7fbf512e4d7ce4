//! The fold behind the table of processes: batches of events in, one batch out.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use tracefast_core::processes;

use crate::batch::{Batch, Schema};
use crate::import::arrow;
use crate::uses::{column_of, feed, over};

/// Processes, to be summed up.
#[pyclass(frozen, module = "tracefast._core")]
pub struct Processes {
    fold: Mutex<Option<processes::Processes>>,
}

#[pymethods]
impl Processes {
    #[new]
    fn new() -> Self {
        Self { fold: Mutex::new(Some(processes::Processes::default())) }
    }

    /// The columns of the table.
    #[staticmethod]
    fn schema() -> Schema {
        Schema::new(processes::schema())
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

impl Processes {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<processes::Processes>> {
        self.fold.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
