//! Logs into a file.

use std::cell::RefCell;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tracefast_io::error::Error;
use tracefast_io::explain::Explained;
use tracefast_io::parse::{FileKind, OnUnparsed, Output, parse_with};
use tracefast_io::sink::Compression;

use crate::errors::exception;
use crate::options::options;
use crate::progress::{Progress, counters};
use crate::report::Report;

/// Parses logs, into one file if it is named; `explain` gets the lines that are not understood.
#[pyfunction]
#[pyo3(signature = (
    sources, output, *, sink = "parquet", format_in = None, threads = None, row_group = 65_536,
    compression = None, block_bytes = 262_144, clobber = true, machine = None, model = true,
    assume_complete = false, explain = None, progress = None, name = None
))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)] // Python's keyword arguments.
#[allow(clippy::redundant_closure_for_method_calls)] // The method's lifetimes do not fit.
pub(crate) fn parse(
    py: Python<'_>,
    sources: Vec<String>,
    output: Option<String>,
    sink: &str,
    format_in: Option<&str>,
    threads: Option<usize>,
    row_group: usize,
    compression: Option<&str>,
    block_bytes: usize,
    clobber: bool,
    machine: Option<&str>,
    model: bool,
    assume_complete: bool,
    explain: Option<Py<PyAny>>,
    progress: Option<&Bound<'_, Progress>>,
    name: Option<String>,
) -> PyResult<Report> {
    let kind = kind(sink)?;
    let mut options = options(format_in, threads, block_bytes, row_group, None, machine)?;
    (options.model, options.assume_complete) = (model, assume_complete);
    options.name = name;
    let compression = match (compression, kind) {
        (None, _) => Compression::default(),
        (Some(text), FileKind::Parquet) => {
            text.parse().map_err(|error: Error| exception(py, &error))?
        }
        (Some(_), FileKind::Arrow) => {
            return Err(PyValueError::new_err(
                "compression is only for Parquet: leave it out for Arrow files",
            ));
        }
    };
    let progress = counters(progress);
    let (done, raised) = py.detach(|| {
        let output = output.as_ref().map(|path| Output { path, kind, clobber, compression });
        let raised = RefCell::new(None);
        let mut tell = explain.map(|explain| {
            let raised = &raised;
            move |lines: Vec<Explained>| {
                if let Err(error) = Python::attach(|py| explain.call1(py, (tuples(lines),))) {
                    raised.borrow_mut().get_or_insert(error);
                }
            }
        });
        let tell = tell.as_mut().map(|tell| tell as OnUnparsed<'_>);
        let interrupted = || {
            // Only between two results, a few times a second: workers never need Python.
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                raised.borrow_mut().get_or_insert(error);
            }
            raised.borrow().is_some()
        };
        let done = parse_with(&sources, output.as_ref(), options, &progress, tell, interrupted);
        (done, raised.into_inner())
    });
    match (done, raised) {
        (_, Some(raised)) => Err(raised),
        (Ok(report), None) => Ok(Report::new(report)),
        (Err(error), None) => Err(exception(py, &error)),
    }
}

/// Source, number, text, what was expected.
type UnparsedTuple = (String, u64, String, String);

fn tuples(lines: Vec<Explained>) -> Vec<UnparsedTuple> {
    let tuple = |line: Explained| (line.source.to_string(), line.line, line.text, line.expected);
    lines.into_iter().map(tuple).collect()
}

fn kind(sink: &str) -> PyResult<FileKind> {
    match sink {
        "parquet" => Ok(FileKind::Parquet),
        "arrow" => Ok(FileKind::Arrow),
        other => {
            let text = format!("sink must be 'parquet' or 'arrow', got '{other}'");
            Err(PyValueError::new_err(text))
        }
    }
}
