//! The fold of workers.

use pyo3::prelude::*;
use tracefast_core::tables::workers;

use crate::tables::fold::Fold;

/// Workers.
#[pyclass(frozen, extends = Fold, module = "tracefast._core")]
pub struct Workers;

#[pymethods]
impl Workers {
    #[new]
    #[pyo3(signature = (*, estimates = true))]
    fn new(estimates: bool) -> PyClassInitializer<Self> {
        let fold = if estimates {
            workers::Workers::default()
        } else {
            workers::Workers::without_estimates()
        };
        Fold::extended(Self, fold)
    }
}
