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
    fn new() -> PyClassInitializer<Self> {
        Fold::extended(Self, workers::Workers::default())
    }
}
