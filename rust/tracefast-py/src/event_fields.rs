//! Fields of one event: texts of its records in, typed columns out.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use tracefast_core::ftrace::decode::{self, ValueKind};

use crate::arrow::batch::{Batch, Schema};
use crate::arrow::import::{arrow, stream};

/// Reads the texts of one event.
#[pyclass(frozen, module = "tracefast._core")]
pub struct Decoder {
    inner: decode::Decoder,
}

#[pymethods]
impl Decoder {
    /// The decoder of an event whose fields are known; None for any other.
    #[staticmethod]
    fn for_event(event: &str) -> Option<Self> {
        decode::Decoder::for_event(event).map(|inner| Self { inner })
    }

    /// The decoder of these keys and their kinds. Keys that were chosen are also searched for among
    /// the words of the text.
    #[staticmethod]
    #[pyo3(signature = (fields, *, chosen = false))]
    fn generic(fields: Vec<(String, String)>, chosen: bool) -> PyResult<Self> {
        let fields = fields
            .into_iter()
            .map(|(key, kind)| match ValueKind::from_name(&kind) {
                Some(kind) => Ok((key, kind)),
                None => Err(PyValueError::new_err(format!("'{kind}' is not a kind of field"))),
            })
            .collect::<PyResult<Vec<_>>>()?;
        Ok(Self { inner: decode::Decoder::generic(&fields, chosen) })
    }

    /// The decoder of rows of kind `function`.
    #[staticmethod]
    fn function() -> Self {
        Self { inner: decode::Decoder::function() }
    }

    /// The schema of the fields, `rest` last.
    #[getter]
    fn schema(&self) -> Schema {
        Schema::new(self.inner.schema())
    }

    /// Reads the first column of a table; one row for each of its rows.
    fn decode(&self, py: Python<'_>, texts: &Bound<'_, PyAny>) -> PyResult<Vec<Batch>> {
        let chunks = Chunks::import(texts)?;
        py.detach(|| chunks.each(|texts| self.inner.decode(texts)))
    }
}

/// Keys of the texts in the first column of a table: tables of `key`, `rank`, `rows`, `classes`.
#[pyfunction]
pub(crate) fn survey(py: Python<'_>, texts: &Bound<'_, PyAny>) -> PyResult<Vec<Batch>> {
    let chunks = Chunks::import(texts)?;
    py.detach(|| chunks.each(|texts| decode::survey(texts)))
}

/// The kind of field that holds all values of some classes.
#[pyfunction]
pub(crate) fn field_kind(classes: u32) -> &'static str {
    ValueKind::from_classes(classes).name()
}

/// The column of a field.
#[pyfunction]
pub(crate) fn field_column(name: &str) -> String {
    decode::column_name(name)
}

/// Names of the events whose fields are known.
#[pyfunction]
pub(crate) fn known_events() -> Vec<&'static str> {
    decode::known().collect()
}

type Texts<'a> = Box<dyn Iterator<Item = Option<&'a str>> + 'a>;

/// A column of text that came through the Arrow C interface.
struct Chunks {
    chunks: Vec<ArrayRef>,
}

impl Chunks {
    fn import(table: &Bound<'_, PyAny>) -> PyResult<Self> {
        let reader = stream(table)?;
        let texts = |schema: SchemaRef| {
            let kind = schema.fields().first().map(|field| field.data_type().clone());
            matches!(kind, Some(DataType::Utf8View | DataType::LargeUtf8 | DataType::Utf8))
        };
        if !texts(reader.schema()) {
            return Err(PyTypeError::new_err("the first column must be text"));
        }
        let chunks = reader
            .map(|batch| batch.map(|batch| Arc::clone(batch.column(0))))
            .collect::<Result<_, _>>()
            .map_err(|error| arrow(&error))?;
        Ok(Self { chunks })
    }

    /// Makes a batch of each chunk.
    fn each(
        &self,
        make: impl Fn(Texts<'_>) -> Result<RecordBatch, ArrowError>,
    ) -> PyResult<Vec<Batch>> {
        let texts = |chunk: &'_ ArrayRef| -> Result<RecordBatch, ArrowError> {
            match chunk.data_type() {
                DataType::Utf8View => make(Box::new(chunk.as_string_view().iter())),
                DataType::LargeUtf8 => make(Box::new(chunk.as_string::<i64>().iter())),
                _ => make(Box::new(chunk.as_string::<i32>().iter())),
            }
        };
        let batches = self.chunks.iter().map(|chunk| texts(chunk).map(Batch::new));
        batches.collect::<Result<_, _>>().map_err(|error| arrow(&error))
    }
}
