//! The folds of files.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tracefast_core::tables::files::{self, By, Options, Scope};

use crate::tables::fold::Fold;

/// Files, and how they were used.
#[pyclass(frozen, extends = Fold, module = "tracefast._core")]
pub struct Files;

#[pymethods]
impl Files {
    #[new]
    #[pyo3(signature = (*, by = None, scope = "stream", near = 131_072, distributions = true))]
    fn new(
        by: Option<&str>,
        scope: &str,
        near: i64,
        distributions: bool,
    ) -> PyResult<PyClassInitializer<Self>> {
        let by = match by {
            None => By::File,
            Some("process") => By::Process,
            Some("open") => By::Open,
            Some("phase") => By::Phase,
            Some(other) => return Err(PyValueError::new_err(format!("no rows by '{other}'"))),
        };
        let scope = match scope {
            "stream" => Scope::Stream,
            "file" => Scope::File,
            _ => return Err(PyValueError::new_err(format!("'{scope}' is not a known scope"))),
        };
        let options = Options { by, scope, near, distributions };
        Ok(Fold::copyable(Self, files::Files::new(options)))
    }

    /// Calls of `io_uring_enter` so far, and the submissions that they took.
    #[getter]
    fn rings(this: &Bound<'_, Self>) -> (u64, u64) {
        this.as_super().get().look(files::Files::rings).unwrap_or_default()
    }
}

/// Counters of Darshan's POSIX module.
#[pyclass(frozen, extends = Fold, module = "tracefast._core")]
pub struct Darshan;

#[pymethods]
impl Darshan {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        Fold::extended(Self, files::Darshan::default())
    }
}
