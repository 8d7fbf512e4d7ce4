//! Events in Parquet as an iterator of batches.

use std::sync::{Mutex, PoisonError};

use arrow_array::RecordBatch;
use pyo3::prelude::*;
use tracefast_io::Error;
use tracefast_io::columns::parquet_events::SavedEvents;

use crate::arrow::batch::Batch;
use crate::errors::exception;

/// The rows of a Parquet file of events, in order.
#[pyclass(frozen, module = "tracefast._core")]
pub struct ParquetEvents {
    batches: Mutex<SavedEvents>,
}

#[pymethods]
impl ParquetEvents {
    #[new]
    #[pyo3(signature = (path, *, columns, threads = None))]
    #[allow(clippy::needless_pass_by_value)] // Python's arguments.
    fn new(
        py: Python<'_>,
        path: String,
        columns: Vec<String>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        let batches = py
            .detach(|| SavedEvents::open(path, &columns, threads.unwrap_or_else(all)))
            .map_err(|error| exception(py, &error))?;
        Ok(Self { batches: Mutex::new(batches) })
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let next = py.detach(|| self.next_batch());
        next.map(|batch| batch.map(Batch::new)).map_err(|error| exception(py, &error))
    }
}

impl ParquetEvents {
    /// The next rows.
    pub(crate) fn next_batch(&self) -> Result<Option<RecordBatch>, Error> {
        self.batches.lock().unwrap_or_else(PoisonError::into_inner).next().transpose()
    }
}
