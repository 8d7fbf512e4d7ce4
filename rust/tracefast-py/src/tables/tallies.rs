//! The folds of sums over all rows.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use tracefast_core::tables::tallies;

use crate::tables::fold::Fold;

/// Rows by task and kind.
#[pyclass(frozen, extends = Fold, module = "tracefast._core")]
pub struct TaskTally;

#[pymethods]
impl TaskTally {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        Fold::extended(Self, tallies::TaskTally::default())
    }
}

/// Calls by name and file.
#[pyclass(frozen, extends = Fold, module = "tracefast._core")]
pub struct FileTally;

#[pymethods]
impl FileTally {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        Fold::extended(Self, tallies::FileTally::default())
    }
}

/// Calls that ask and get nothing, by task.
#[pyclass(frozen, extends = Fold, module = "tracefast._core")]
pub struct PollTally;

#[pymethods]
impl PollTally {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        Fold::extended(Self, tallies::PollTally::default())
    }
}

/// Calls over time, by size and by duration.
#[pyclass(frozen, extends = Fold, module = "tracefast._core")]
pub struct ActivityTally;

#[pymethods]
impl ActivityTally {
    #[new]
    #[pyo3(signature = (starts, *, step_ns, steps))]
    fn new(starts: BTreeMap<String, i64>, step_ns: u64, steps: u32) -> PyClassInitializer<Self> {
        Fold::extended(Self, tallies::ActivityTally::new(starts, step_ns, steps))
    }
}
