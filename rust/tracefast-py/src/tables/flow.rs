//! The folds of the flow of data.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tracefast_core::tables::flow::{self, By};
use tracefast_core::tables::phases;

use crate::arrow::batch::Batch;
use crate::arrow::import::arrow;
use crate::tables::fold::{Fold, taken};

/// Which data went where.
#[pyclass(frozen, extends = Fold, module = "tracefast._core")]
pub struct Flow;

#[pymethods]
impl Flow {
    #[new]
    #[pyo3(signature = (*, by = "process"))]
    fn new(by: &str) -> PyResult<PyClassInitializer<Self>> {
        let by = match by {
            "process" => By::Process,
            "image" => By::Image,
            "phase" => By::Phase,
            other => return Err(PyValueError::new_err(format!("no rows by '{other}'"))),
        };
        Ok(Fold::extended(Self, flow::Flow::new(by)))
    }

    /// What the logs lack, so that less is known.
    #[getter]
    fn gaps(this: &Bound<'_, Self>) -> Vec<&'static str> {
        this.as_super().get().look(flow::Flow::gaps).unwrap_or_default()
    }

    /// Give what each file was for, in parts, once all events are in.
    fn roles(this: &Bound<'_, Self>) -> PyResult<Vec<Batch>> {
        let fold = this.as_super().get();
        let parts = this.py().detach(|| fold.change(flow::Flow::roles)).ok_or_else(taken)?;
        let parts = parts.map_err(|error| arrow(&error))?;
        Ok(parts.into_iter().map(Batch::new).collect())
    }
}

/// What each file was for.
#[pyclass(frozen, extends = Fold, module = "tracefast._core")]
pub struct Roles;

#[pymethods]
impl Roles {
    #[new]
    #[pyo3(signature = (*, users = true))]
    fn new(users: bool) -> PyClassInitializer<Self> {
        let fold = if users { flow::Roles::default() } else { flow::Roles::without_users() };
        Fold::extended(Self, fold)
    }

    /// What the logs lack, so that less is known.
    #[getter]
    fn gaps(this: &Bound<'_, Self>) -> Vec<&'static str> {
        this.as_super().get().look(flow::Roles::gaps).unwrap_or_default()
    }
}

/// The named parts of a run.
#[pyclass(frozen, extends = Fold, module = "tracefast._core")]
pub struct Phases;

#[pymethods]
impl Phases {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        Fold::extended(Self, phases::Phases::default())
    }
}
