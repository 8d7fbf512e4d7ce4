//! What the folds of the core share as Python objects: batches of events in, one batch out.

use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::ArrowError;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use tracefast_core::tables::fold::Fold;

use crate::arrow::batch::Batch;
use crate::arrow::import::{arrow, batch, stream};

/// A fold until its table is taken.
pub(crate) struct Held<F>(Mutex<Option<F>>);

impl<F: Fold + Send> Held<F> {
    pub(crate) fn new(fold: F) -> Self {
        Self(Mutex::new(Some(fold)))
    }

    /// Takes in the words that the numbers in a column stand for.
    pub(crate) fn words(&self, column: &str, words: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Some(fold) = &mut *self.lock() {
            fold.words(column, column_of(words)?);
        }
        Ok(())
    }

    /// Takes in events.
    pub(crate) fn push(&self, py: Python<'_>, events: &Bound<'_, PyAny>) -> PyResult<()> {
        feed(py, events, |batch| match &mut *self.lock() {
            Some(fold) => fold.push(batch),
            None => Ok(()),
        })
    }

    /// What `look` sees in the fold; nothing once the table is taken.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&F) -> T) -> Option<T> {
        self.lock().as_ref().map(look)
    }

    /// The table; once.
    pub(crate) fn finish(&self, py: Python<'_>) -> PyResult<Batch> {
        let over = || PyRuntimeError::new_err("the table was taken already");
        let fold = self.lock().take().ok_or_else(over)?;
        py.detach(|| fold.finish()).map(Batch::new).map_err(|error| arrow(&error))
    }

    fn lock(&self) -> MutexGuard<'_, Option<F>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls `each` with the batches of a table, without the interpreter lock.
pub(crate) fn feed(
    py: Python<'_>,
    events: &Bound<'_, PyAny>,
    mut each: impl FnMut(&RecordBatch) -> Result<(), ArrowError> + Send,
) -> PyResult<()> {
    let done = if let Ok(own) = events.cast::<Batch>() {
        let own = own.get();
        py.detach(|| each(own.rows()))
    } else if events.hasattr("__arrow_c_stream__")? {
        let batches = stream(events)?;
        py.detach(|| batches.into_iter().try_for_each(|batch| each(&batch?)))
    } else {
        let batch = batch(events)?;
        py.detach(|| each(&batch))
    };
    done.map_err(|error| arrow(&error))
}

/// The first column of a table of one batch.
fn column_of(table: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let batch = stream(table)?.next().transpose().map_err(|error| arrow(&error))?;
    let column = batch.and_then(|batch| batch.columns().first().cloned());
    column.ok_or_else(|| PyValueError::new_err("words are wanted"))
}
