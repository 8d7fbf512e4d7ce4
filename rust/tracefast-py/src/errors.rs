//! Errors of Rust as exceptions of Python.

use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use tracefast_io::ErrorKind;

pyo3::create_exception!(
    tracefast,
    Error,
    PyValueError,
    "An input is not a log, or a file of columns does not hold events of this schema.\n\n\
     The text is ``FILE: what``, or ``FILE: line N: what``.\n\n\
     Attributes\n----------\n\
     hint : str or None\n    What to do, if anything is known; a traceback shows it below the text, as a \
     note.\n\
     kind : str or None\n    A word that does not change, such as ``not_a_log``, ``columns``,\n    \
     ``damaged_columns``, ``other_tool``, ``too_long``.\n\n\
     Examples\n--------\n\
     >>> import tracefast as tf\n\
     >>> with open(\"notes.txt\", \"w\") as file:\n\
     ...     print(\"milk, bread\", file=file)\n\
     >>> try:\n\
     ...     tf.parse(\"notes.txt\", \"notes.parquet\")\n\
     ... except tf.Error as error:\n\
     ...     print(error)\n\
     ...     print(error.kind, error.hint, sep=\": \")\n\
     notes.txt: line 1: no line of the first megabyte looks like strace or ftrace\n\
     not_a_log: to read it anyway, name its format: strace or ftrace"
);

/// The exception for an error: `OSError` with number and file name if it is from the system.
pub(crate) fn exception(py: Python<'_>, error: &tracefast_io::Error) -> PyErr {
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
    // The hint is an attribute and a note: the text of the exception stays the error's own.
    if let Some(hint) = &hint {
        let _ = raised.value(py).call_method1("add_note", (format!("hint: {hint}"),));
    }
    let _ = raised.value(py).setattr("hint", hint);
    let _ = raised.value(py).setattr("kind", error.kind().word());
    raised
}
