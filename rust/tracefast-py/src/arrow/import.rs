//! Tables that come through the Arrow `PyCapsule` interface.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::make_array;
use arrow_schema::ArrowError;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The stream of batches that an object hands out, such as a data frame.
#[allow(unsafe_code)]
pub(crate) fn stream(table: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let capsule = table.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds a stream, by the definition of the interface, and
    // lives until the end of this function. The stream is moved out, and what remains is marked
    // as released, so it is not released twice.
    let reader = unsafe {
        RecordBatchStreamReader::from_raw(stream.as_ptr().cast::<FFI_ArrowArrayStream>())
    };
    reader.map_err(|error| arrow(&error))
}

/// The one batch that an object is.
#[allow(unsafe_code)]
pub(crate) fn batch(table: &Bound<'_, PyAny>) -> PyResult<RecordBatch> {
    let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
        table.call_method0("__arrow_c_array__")?.extract()?;
    let schema = schema.cast::<PyCapsule>()?;
    let array = array.cast::<PyCapsule>()?;
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(c"arrow_array"))?.cast::<FFI_ArrowArray>();
    // SAFETY: capsules of these names hold a schema and an array that fits it, by the definition
    // of the interface, and live until the end of this function. The array is moved out, and what
    // remains is marked as released.
    let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) };
    let data = data.map_err(|error| arrow(&error))?;
    let rows = make_array(data);
    let rows = rows.as_struct_opt().ok_or_else(|| PyTypeError::new_err("expected a table"))?;
    Ok(RecordBatch::from(rows))
}

/// The exception for an error of Arrow.
pub(crate) fn arrow(error: &ArrowError) -> PyErr {
    match error {
        ArrowError::SchemaError(text) => PyValueError::new_err(text.clone()),
        other => PyValueError::new_err(other.to_string()),
    }
}
