//! Logs into a file.

use std::cell::RefCell;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tracefast_io::explain::Explained;
use tracefast_io::run::{FileKind, Output};

use crate::errors::exception;
use crate::options::options;
use crate::progress::{Progress, counters};
use crate::report::Report;

/// Parses logs into one file.
#[pyfunction]
#[pyo3(signature = (
    sources, output, *, sink = "parquet", format_in = None, threads = None, row_group = 131_072,
    block_bytes = 262_144, clobber = true, progress = None
))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)] // Python's keyword arguments.
#[allow(clippy::redundant_closure_for_method_calls)] // The method's lifetimes do not fit.
pub fn parse(
    py: Python<'_>,
    sources: Vec<String>,
    output: String,
    sink: &str,
    format_in: Option<&str>,
    threads: Option<usize>,
    row_group: usize,
    block_bytes: usize,
    clobber: bool,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<Report> {
    let kind = kind(sink)?;
    let options = options(format_in, threads, block_bytes, row_group, None)?;
    let progress = counters(progress);
    let mut signal = None;
    let done = py.detach(|| {
        let output = Output { path: &output, kind, clobber };
        tracefast_io::run::parse(&sources, &output, options, &progress, || {
            // Only between two results, a few times a second: workers never need Python.
            signal = Python::attach(|py| py.check_signals()).err();
            signal.is_some()
        })
    });
    outcome(py, done, signal)
}

/// Tells of every line that is not understood, and parses into a file if one is named.
#[pyfunction]
#[pyo3(signature = (
    sources, tell, *, output = None, sink = "parquet", format_in = None, threads = None,
    row_group = 131_072, block_bytes = 262_144, clobber = true, progress = None
))]
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)] // Python's keyword arguments.
pub fn explain(
    py: Python<'_>,
    sources: Vec<String>,
    tell: Py<PyAny>,
    output: Option<String>,
    sink: &str,
    format_in: Option<&str>,
    threads: Option<usize>,
    row_group: usize,
    block_bytes: usize,
    clobber: bool,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<Report> {
    let kind = kind(sink)?;
    let options = options(format_in, threads, block_bytes, row_group, None)?;
    let progress = counters(progress);
    let (done, raised) = py.detach(|| {
        let output = output.as_ref().map(|path| Output { path, kind, clobber });
        let raised = RefCell::new(None);
        let tell = |lines: Vec<Explained>| {
            let lines: Vec<_> = lines
                .into_iter()
                .map(|line| (line.source.to_string(), line.line, line.text, line.expected))
                .collect();
            if let Err(error) = Python::attach(|py| tell.call1(py, (lines,))) {
                raised.borrow_mut().get_or_insert(error);
            }
        };
        let interrupted = || {
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                raised.borrow_mut().get_or_insert(error);
            }
            raised.borrow().is_some()
        };
        let done = tracefast_io::run::explain(
            &sources,
            output.as_ref(),
            options,
            &progress,
            tell,
            interrupted,
        );
        (done, raised.into_inner())
    });
    outcome(py, done, raised)
}

fn kind(sink: &str) -> PyResult<FileKind> {
    match sink {
        "parquet" => Ok(FileKind::Parquet),
        "arrow" => Ok(FileKind::Arrow),
        other => {
            let text = format!("sink is 'parquet' or 'arrow', not '{other}'");
            Err(PyValueError::new_err(text))
        }
    }
}

/// The report, or what Python raised meanwhile, or the error.
fn outcome(
    py: Python<'_>,
    done: tracefast_io::Result<tracefast_io::report::Report>,
    raised: Option<PyErr>,
) -> PyResult<Report> {
    match (done, raised) {
        (_, Some(raised)) => Err(raised),
        (Ok(report), None) => Ok(Report::new(report)),
        (Err(error), None) => Err(exception(py, &error)),
    }
}
