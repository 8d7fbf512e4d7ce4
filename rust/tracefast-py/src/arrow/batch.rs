//! Batches and schemas by the Arrow `PyCapsule` interface.

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray};
use arrow_schema::{ArrowError, DataType, Fields, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyIterator, PyList};

use crate::arrow::requested::Request;
use crate::notebook;

/// The columns of a table of events: ``pl.Schema(…)`` and ``pa.schema(…)`` take it.
///
/// Its length is the number of columns, and it iterates over their names. It is equal to a schema
/// with the same columns in the same order.
///
/// Attributes
/// ----------
/// names : list of str
///     Names of the columns, in order.
///
/// Examples
/// --------
/// >>> import tracefast as tf
/// >>> with tf.read("demo.strace", columns=["ts", "name", "path"]) as reader:
/// ...     reader.schema
/// ts: timestamp[ns]
/// name: dictionary
/// path: string_view
/// >>> len(tf.schema()), "path" in tf.schema()
/// (36, True)
#[pyclass(frozen, module = "tracefast")]
pub struct Schema {
    inner: SchemaRef,
}

impl Schema {
    pub fn new(inner: SchemaRef) -> Self {
        Self { inner }
    }

    /// The columns.
    pub(crate) fn fields(&self) -> &Fields {
        self.inner.fields()
    }
}

#[pymethods]
impl Schema {
    /// Names of the columns, in order.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.inner.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.inner.fields().len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.names())?.try_iter()
    }

    /// Schemas are equal if their columns are, whatever their metadata.
    fn __eq__(&self, other: &Self) -> bool {
        self.inner.fields() == other.inner.fields()
    }

    /// A line for each column: its name and type.
    fn __repr__(&self) -> String {
        let fields = self.inner.fields().iter();
        let lines =
            fields.map(|field| format!("{}: {}", field.name(), type_name(field.data_type())));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn _repr_html_(&self) -> String {
        columns_table(&format!("{} columns", self.inner.fields().len()), &self.inner)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.inner)
    }
}

/// Columns and their types for a notebook.
fn columns_table(heading: &str, schema: &arrow_schema::Schema) -> String {
    let fields = schema.fields().iter();
    let rows: Vec<_> =
        fields.map(|field| notebook::row(field.name(), type_name(field.data_type()))).collect();
    notebook::table(heading, &rows)
}

/// A type as the page of the schema names it.
fn type_name(of: &DataType) -> String {
    match of {
        DataType::Dictionary(..) => "dictionary".to_owned(),
        DataType::Timestamp(unit, None) => format!("timestamp[{unit}]"),
        DataType::Utf8View => "string_view".to_owned(),
        DataType::Utf8 => "string".to_owned(),
        other => other.to_string().to_lowercase(),
    }
}

/// Some rows of a stream: an Arrow record batch, which polars and pyarrow take as it is.
///
/// Attributes
/// ----------
/// num_rows : int
///     How many rows.
///
/// Examples
/// --------
/// >>> import polars as pl
/// >>> import tracefast as tf
/// >>> with tf.read("demo.strace", columns=["name", "ret"]) as reader:
/// ...     for batch in reader:
/// ...         print(batch, pl.DataFrame(batch)["ret"].sum())
/// Batch(rows=8, columns=2) 4200
#[pyclass(frozen, module = "tracefast")]
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
    /// How many rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.inner.num_rows()
    }

    fn __len__(&self) -> usize {
        self.inner.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("Batch(rows={}, columns={})", self.inner.num_rows(), self.inner.num_columns())
    }

    fn _repr_html_(&self) -> String {
        let rows = notebook::grouped(self.inner.num_rows() as u64);
        let heading = format!("Batch of {rows} rows, {} columns", self.inner.num_columns());
        columns_table(&heading, &self.inner.schema())
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
pub(crate) fn stream_capsule(
    py: Python<'_>,
    stream: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'_, PyCapsule>> {
    let stream = FFI_ArrowArrayStream::new(Box::new(stream));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

/// A capsule with the schema.
pub(crate) fn schema_capsule<'py>(
    py: Python<'py>,
    schema: &SchemaRef,
) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema.as_ref()).map_err(|error| arrow(&error))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

fn arrow(error: &ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
