//! Logs as a stream of record batches.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use tracefast_io::run::BatchStream;

use crate::batch::{Batch, Schema, schema_capsule};
use crate::errors::exception;
use crate::options::{READ_ROWS, options};
use crate::predicate::Wanted;
use crate::progress::{Progress, counters};
use crate::report::Report;

/// A one-shot stream of the events of some logs.
#[pyclass(frozen, module = "tracefast")]
pub struct Reader {
    stream: Arc<Mutex<BatchStream>>,
    exported: Mutex<bool>,
    schema: SchemaRef,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl Reader {
    #[new]
    #[pyo3(signature = (
        sources, *, format_in = None, threads = None, block_bytes = 262_144, columns = None,
        machine = None, predicate = None, limit = None, progress = None
    ))]
    #[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)] // Python's keyword arguments.
    fn new(
        py: Python<'_>,
        sources: Vec<String>,
        format_in: Option<&str>,
        threads: Option<usize>,
        block_bytes: usize,
        columns: Option<Vec<String>>,
        machine: Option<&str>,
        predicate: Option<Wanted>,
        limit: Option<usize>,
        progress: Option<&Bound<'_, Progress>>,
    ) -> PyResult<Self> {
        let columns = columns.as_deref();
        let mut options = options(format_in, threads, block_bytes, READ_ROWS, columns, machine)?;
        options.predicate = predicate.map(|Wanted(predicate)| predicate);
        options.limit = limit;
        let progress = counters(progress);
        let stream = py
            .detach(|| BatchStream::open(&sources, options, &progress))
            .map_err(|error| exception(py, &error))?;
        let schema = stream.schema();
        Ok(Self { stream: Arc::new(Mutex::new(stream)), exported: Mutex::new(false), schema })
    }

    /// The schema of the batches.
    #[getter]
    fn schema(&self) -> Schema {
        Schema::new(Arc::clone(&self.schema))
    }

    /// The counts, after the end of the stream; else None.
    #[getter]
    fn report(&self, py: Python<'_>) -> Option<Report> {
        py.detach(|| lock(&self.stream).report().cloned()).map(Report::new)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface asks for best effort only; the types here are what readers want.
        drop(requested_schema);
        let mut exported = lock(&self.exported);
        if *exported {
            let text = "the stream was handed out already; call tracefast.read again";
            return Err(PyRuntimeError::new_err(text));
        }
        *exported = true;
        let export = Export { stream: Arc::clone(&self.stream), schema: Arc::clone(&self.schema) };
        let stream = FFI_ArrowArrayStream::new(Box::new(export));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        loop {
            let found = py.detach(|| lock(&self.stream).poll());
            match found {
                Ok(Some(Some(batch))) => return Ok(Some(Batch::new(batch))),
                Ok(Some(None)) => py.check_signals()?,
                Ok(None) => return Ok(None),
                Err(error) => return Err(exception(py, &error)),
            }
        }
    }

    /// Stops reading; what was read stays valid.
    fn close(&self, py: Python<'_>) {
        py.detach(|| lock(&self.stream).close());
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, py: Python<'_>, _args: &Bound<'_, pyo3::types::PyTuple>) {
        self.close(py);
    }
}

/// The stream as the C interface wants it.
struct Export {
    stream: Arc<Mutex<BatchStream>>,
    schema: SchemaRef,
}

impl Iterator for Export {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = lock(&self.stream).next()?;
        Some(next.map_err(|error| ArrowError::ExternalError(Box::new(error))))
    }
}

impl RecordBatchReader for Export {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
