//! The fold of processes.

use pyo3::prelude::*;
use tracefast_core::tables::processes;

use crate::tables::fold::Fold;

/// Processes.
#[pyclass(frozen, extends = Fold, module = "tracefast._core")]
pub struct Processes;

#[pymethods]
impl Processes {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        Fold::copyable(Self, processes::Processes::default())
    }
}
