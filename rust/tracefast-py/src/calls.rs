//! The folds behind the table of system calls: batches of events in, one batch out.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tracefast_core::call_table::{self, By};

use crate::batch::{Batch, Schema};
use crate::import::arrow;
use crate::uses::{column_of, feed, over};

/// System calls by name, to be summed up.
#[pyclass(frozen, module = "tracefast._core")]
pub struct CallTable {
    fold: Mutex<Option<call_table::CallTable>>,
}

#[pymethods]
impl CallTable {
    #[new]
    #[pyo3(signature = (*, by = None))]
    fn new(by: Option<&str>) -> PyResult<Self> {
        Ok(Self { fold: Mutex::new(Some(call_table::CallTable::new(part(by)?))) })
    }

    /// The columns of the table.
    #[staticmethod]
    #[pyo3(signature = (*, by = None))]
    fn schema(by: Option<&str>) -> PyResult<Schema> {
        Ok(Schema::new(call_table::schema(part(by)?)))
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

impl CallTable {
    fn lock(&self) -> MutexGuard<'_, Option<call_table::CallTable>> {
        self.fold.lock().unwrap_or_else(PoisonError::into_inner)
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
pub struct TracerCounts {
    fold: Mutex<Option<call_table::TracerCounts>>,
}

#[pymethods]
impl TracerCounts {
    #[new]
    fn new() -> Self {
        Self { fold: Mutex::new(Some(call_table::TracerCounts::default())) }
    }

    /// The columns of the table.
    #[staticmethod]
    fn schema() -> Schema {
        Schema::new(call_table::TracerCounts::schema())
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

impl TracerCounts {
    fn lock(&self) -> MutexGuard<'_, Option<call_table::TracerCounts>> {
        self.fold.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
