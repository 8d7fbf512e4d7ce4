//! Folds that share what is known about tasks.

use std::any::Any;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use tracefast_core::tables::{fold, together};

use crate::tables::fold::{Fold, feed, taken};

/// Folds that share what is known about tasks.
#[pyclass(frozen, module = "tracefast._core")]
pub struct Together {
    folds: Vec<Py<Fold>>,
    shared: Mutex<Option<together::Together>>,
}

#[pymethods]
impl Together {
    #[new]
    fn new(folds: Vec<Bound<'_, Fold>>) -> Self {
        let folds = folds.into_iter().map(Bound::unbind).collect();
        Self { folds, shared: Mutex::new(Some(together::Together::default())) }
    }

    /// Say whether a fold needs to know about tasks.
    #[staticmethod]
    fn takes(fold: &Bound<'_, Fold>) -> bool {
        fold.get().with_fold(together::Together::takes).unwrap_or(false)
    }

    /// Take in events.
    fn push(&self, py: Python<'_>, events: &Bound<'_, PyAny>) -> PyResult<()> {
        let words = fold::Dictionaries::default();
        let mut over = false;
        feed(py, events, |batch| {
            let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
            let pushed = shared
                .as_mut()
                .and_then(|shared| self.with_folds(|folds| shared.push(folds, batch, &words)).ok());
            pushed.unwrap_or_else(|| {
                over = true;
                Ok(())
            })
        })?;
        if over { Err(taken()) } else { Ok(()) }
    }

    /// Give the folds what is known about tasks: they have all events, and have their tables.
    fn end(&self) -> PyResult<()> {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner).take();
        let shared = shared.ok_or_else(taken)?;
        self.with_folds(|folds| shared.end(folds))
    }
}

impl Together {
    fn with_folds<T>(&self, change: impl FnOnce(&mut [&mut dyn Any]) -> T) -> PyResult<T> {
        let mut states: Vec<_> = self.folds.iter().map(|fold| fold.get().lock()).collect();
        let folds: Option<Vec<_>> =
            states.iter_mut().map(|state| Some(state.as_mut()?.fold_mut())).collect();
        folds.map(|mut folds| change(&mut folds)).ok_or_else(taken)
    }
}
