//! Errors of Rust as exceptions of Python.

use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use tracefast_io::ErrorKind;

pyo3::create_exception!(
    tracefast,
    Error,
    PyValueError,
    "Input that is no log of strace or ftrace, or holds no events of this schema."
);

/// The exception for an error: `OSError` with number and file name where the system refused.
pub fn exception(py: Python<'_>, error: &tracefast_io::Error) -> PyErr {
    let hint = error.hint().map(str::to_owned);
    let raised = match error.kind() {
        ErrorKind::Cancelled => return PyKeyboardInterrupt::new_err(()),
        ErrorKind::Broken(_) => PyRuntimeError::new_err(error.to_string()),
        ErrorKind::Option(_) => PyValueError::new_err(error.to_string()),
        _ => match error.errno() {
            // With number and name Python chooses the subclass itself.
            Some(number) => PyOSError::new_err((
                number,
                error.kind().to_string(),
                error.path().map(|path| path.display().to_string()),
            )),
            None if matches!(error.kind(), ErrorKind::Io(_)) => {
                PyOSError::new_err(error.to_string())
            }
            None => Error::new_err(error.to_string()),
        },
    };
    // The hint is an attribute: the text of the exception stays the error's own.
    let _ = raised.value(py).setattr("hint", hint);
    raised
}
