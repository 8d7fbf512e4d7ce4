//! The fold of failed calls.

use pyo3::prelude::*;
use tracefast_core::tables::errors;

use crate::tables::fold::Fold;

/// Failed calls by program, call, error and path.
#[pyclass(frozen, extends = Fold, module = "tracefast._core")]
pub struct FailedCalls;

#[pymethods]
impl FailedCalls {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        Fold::extended(Self, errors::FailedCalls::default())
    }
}
