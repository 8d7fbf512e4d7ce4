//! The fold of memory.

use pyo3::prelude::*;
use tracefast_core::tables::memory;

use crate::tables::fold::Fold;

/// The memory of processes over time.
#[pyclass(frozen, extends = Fold, module = "tracefast._core")]
pub struct Memory;

#[pymethods]
impl Memory {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        Fold::extended(Self, memory::Memory::default())
    }
}
