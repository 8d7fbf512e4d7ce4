//! The schema that a consumer requests: the same data in other Arrow types.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_cast::{CastOptions, can_cast_types, cast_with_options};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow::import::arrow;

/// How batches change before they are returned.
pub(crate) struct Request {
    schema: SchemaRef,
    /// Some column changes its type.
    casts: bool,
}

impl Request {
    /// How batches of `schema` change for `requested`, a capsule with a schema.
    ///
    /// # Errors
    /// It asks for other columns, or for types that mean something else.
    pub(crate) fn new(schema: &SchemaRef, requested: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let Some(requested) = requested.filter(|requested| !requested.is_none()) else {
            return Ok(Self { schema: Arc::clone(schema), casts: false });
        };
        let requested = imported(requested)?;
        let names = |schema: &Schema| -> Vec<String> {
            schema.fields().iter().map(|field| field.name().clone()).collect()
        };
        if names(schema) != names(&requested) {
            let text = format!(
                "the requested schema has other columns: {}; there are {}",
                names(&requested).join(", "),
                names(schema).join(", ")
            );
            return Err(PyValueError::new_err(text));
        }
        let mut fields = Vec::with_capacity(schema.fields().len());
        for (field, wanted) in schema.fields().iter().zip(requested.fields()) {
            let (from, to) = (field.data_type(), wanted.data_type());
            if from != to && !(is_like(from, to) && can_cast_types(from, to)) {
                let text = format!("column '{}' is {from} and cannot be {to}", field.name());
                return Err(PyValueError::new_err(text));
            }
            fields.push(field.as_ref().clone().with_data_type(to.clone()));
        }
        let casts =
            schema.fields().iter().zip(&fields).any(|(f, g)| f.data_type() != g.data_type());
        let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
        Ok(Self { schema: Arc::new(schema), casts })
    }

    /// The schema of the returned batches.
    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The batch in the requested types.
    ///
    /// # Errors
    /// A number does not fit into its type.
    pub(crate) fn answer(&self, batch: RecordBatch) -> Result<RecordBatch, ArrowError> {
        if !self.casts {
            return Ok(batch);
        }
        // A number that does not fit is an error: as a null it would say "not known".
        let options = CastOptions { safe: false, ..CastOptions::default() };
        let columns = batch.columns().iter().zip(self.schema.fields());
        let columns: Result<Vec<_>, _> =
            columns.map(|(c, field)| cast_with_options(c, field.data_type(), &options)).collect();
        let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(self.schema(), columns?, &rows)
    }
}

/// Both are text, or times, or whole numbers: two ways to write the same.
fn is_like(from: &DataType, to: &DataType) -> bool {
    let text = |of: &DataType| match of {
        DataType::Dictionary(_, values) => values.is_string(),
        other => other.is_string(),
    };
    match (from, to) {
        // Another zone would be another time.
        (DataType::Timestamp(_, zone), DataType::Timestamp(_, other)) => zone == other,
        _ => text(from) && text(to) || from.is_integer() && to.is_integer(),
    }
}

#[allow(unsafe_code)]
fn imported(requested: &Bound<'_, PyAny>) -> PyResult<Schema> {
    let capsule = requested.cast::<PyCapsule>()?;
    let schema = capsule.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
    // SAFETY: a capsule of this name holds a schema, by the definition of the interface, and lives
    // until the end of this function.
    Schema::try_from(unsafe { schema.as_ref() }).map_err(|error| arrow(&error))
}
