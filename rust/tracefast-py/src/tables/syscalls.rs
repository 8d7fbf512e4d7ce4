//! The folds of system calls.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tracefast_core::tables::syscalls::{self, By};

use crate::tables::fold::Fold;

/// System calls by name.
#[pyclass(frozen, extends = Fold, module = "tracefast._core")]
pub struct Syscalls;

#[pymethods]
impl Syscalls {
    #[new]
    #[pyo3(signature = (*, by = None, span = false, distributions = true))]
    fn new(
        by: Option<&str>,
        span: bool,
        distributions: bool,
    ) -> PyResult<PyClassInitializer<Self>> {
        let by = match by {
            None => By::Name,
            Some("process") => By::Process,
            Some("phase") => By::Phase,
            Some(other) => return Err(PyValueError::new_err(format!("no rows by '{other}'"))),
        };
        let fold = syscalls::Syscalls::new(by).with_span(span);
        Ok(Fold::copyable(Self, fold.with_distributions(distributions)))
    }
}

/// System calls as strace counts them.
#[pyclass(frozen, extends = Fold, module = "tracefast._core")]
pub struct StraceCounts;

#[pymethods]
impl StraceCounts {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        Fold::extended(Self, syscalls::StraceCounts::default())
    }
}
