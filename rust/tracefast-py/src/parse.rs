//! Logs into a file.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
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
    let kind = match sink {
        "parquet" => FileKind::Parquet,
        "arrow" => FileKind::Arrow,
        other => {
            let text = format!("sink is 'parquet' or 'arrow', not '{other}'");
            return Err(PyValueError::new_err(text));
        }
    };
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
    match (done, signal) {
        (_, Some(signal)) => Err(signal),
        (Ok(report), None) => Ok(Report::new(report)),
        (Err(error), None) => Err(exception(py, &error)),
    }
}
