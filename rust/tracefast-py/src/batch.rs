//! Batches and schemas by the Arrow `PyCapsule` interface.

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::requested::Request;

/// A schema that Arrow libraries can import.
#[pyclass(frozen, module = "tracefast._core")]
pub struct Schema {
    inner: SchemaRef,
}

impl Schema {
    pub fn new(inner: SchemaRef) -> Self {
        Self { inner }
    }
}

#[pymethods]
impl Schema {
    /// Names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.inner.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.inner)
    }
}

/// A record batch that Arrow libraries can import.
#[pyclass(frozen, module = "tracefast._core")]
pub struct Batch {
    inner: RecordBatch,
}

impl Batch {
    pub fn new(inner: RecordBatch) -> Self {
        Self { inner }
    }

    /// The rows.
    pub fn rows(&self) -> &RecordBatch {
        &self.inner
    }
}

#[pymethods]
impl Batch {
    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.inner.num_rows()
    }

    fn __len__(&self) -> usize {
        self.inner.num_rows()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.inner.schema())
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let rows = self.answer(py, requested_schema)?;
        let schema = schema_capsule(py, &rows.schema())?;
        let array = FFI_ArrowArray::new(&StructArray::from(rows).to_data());
        Ok((schema, PyCapsule::new_with_value(py, array, c"arrow_array")?))
    }

    /// The batch as a stream of one.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let rows = self.answer(py, requested_schema)?;
        let schema = rows.schema();
        stream_capsule(py, RecordBatchIterator::new([Ok(rows)], schema))
    }
}

impl Batch {
    fn answer(
        &self,
        py: Python<'_>,
        requested_schema: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<RecordBatch> {
        let request = Request::new(&self.inner.schema(), requested_schema)?;
        let rows = self.inner.clone();
        py.detach(|| request.answer(rows)).map_err(|error| arrow(&error))
    }
}

/// A capsule with a stream.
pub fn stream_capsule(
    py: Python<'_>,
    stream: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'_, PyCapsule>> {
    let stream = FFI_ArrowArrayStream::new(Box::new(stream));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

/// A capsule with the schema.
pub fn schema_capsule<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema.as_ref()).map_err(|error| arrow(&error))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

fn arrow(error: &ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
