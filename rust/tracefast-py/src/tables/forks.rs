//! The fold of created tasks.

use pyo3::prelude::*;
use tracefast_core::tables::forks;

use crate::tables::fold::Fold;

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
}
