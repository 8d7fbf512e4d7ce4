//! The fold of waits.

use pyo3::prelude::*;
use tracefast_core::tables::waits;

use crate::tables::fold::Fold;

/// Waits of at least `min_ns` nanoseconds, and those without an end.
#[pyclass(frozen, extends = Fold, module = "tracefast._core")]
pub struct Waits;

#[pymethods]
impl Waits {
    #[new]
    #[pyo3(signature = (*, min_ns))]
    fn new(min_ns: i64) -> PyClassInitializer<Self> {
        Fold::extended(Self, waits::Waits::new(min_ns))
    }
}
