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

    /// What the logs lack, so that less is known.
    #[getter]
    fn gaps(this: &Bound<'_, Self>) -> Vec<&'static str> {
        this.as_super().get().look(waits::Waits::gaps).unwrap_or_default()
    }
}
