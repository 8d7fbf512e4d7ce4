//! The fold of created tasks.

use pyo3::prelude::*;
use tracefast_core::tables::{forks, workers};

use crate::tables::fold::{Fold, taken};
use crate::tables::workers::Workers;

/// Created tasks.
#[pyclass(frozen, extends = Fold, module = "tracefast._core")]
pub struct Forks;

#[pymethods]
impl Forks {
    #[new]
    #[pyo3(signature = (*, hints = false))]
    fn new(hints: bool) -> PyClassInitializer<Self> {
        let fold = if hints { forks::Forks::with_hints() } else { forks::Forks::default() };
        Fold::extended(Self, fold)
    }

    /// Expect to be given the workers that another fold finds in the same events, before any of them.
    fn expect_workers(this: &Bound<'_, Self>) {
        this.as_super().get().change(forks::Forks::expect_workers);
    }

    /// Take the workers that another fold has found; both have all events.
    fn take_workers(this: &Bound<'_, Self>, workers: &Bound<'_, Workers>) -> PyResult<()> {
        let found = workers.as_super().get().change(workers::Workers::found).ok_or_else(taken)?;
        let taken_over = this.as_super().get().change(|fold: &mut forks::Forks| {
            fold.take_workers(found);
        });
        taken_over.ok_or_else(taken)
    }
}
