//! The Python extension `tracefast._core`: conversion only.

// Python's `help` shows the comments above classes and functions, so they are plain text.
#![allow(clippy::doc_markdown, clippy::doc_link_with_quotes)]
pub(crate) mod arrow;
mod errors;
mod event_fields;
mod inputs;
mod notebook;
mod options;
mod parse;
mod predicate;
mod progress;
mod reader;
mod report;
pub(crate) mod tables;

/// Reading and writing of event logs; see the package `tracefast`.
#[pyo3::pymodule(gil_used = false)]
mod _core {
    use std::collections::BTreeMap;
    use std::path::Path;

    use pyo3::exceptions::PyValueError;
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::arrow::batch::{Batch, Schema};
    #[pymodule_export]
    use super::arrow::parquet_events::ParquetEvents;
    #[pymodule_export]
    use super::arrow::values::{column_kinds, column_values};
    #[pymodule_export]
    use super::errors::Error;
    #[pymodule_export]
    use super::event_fields::{Decoder, field_column, field_kind, known_events, survey};
    #[pymodule_export]
    use super::inputs::logs;
    #[pymodule_export]
    use super::parse::parse;
    #[pymodule_export]
    use super::progress::Progress;
    #[pymodule_export]
    use super::reader::Reader;
    #[pymodule_export]
    use super::report::{Report, report_of};
    #[pymodule_export]
    use super::tables::covered::Covered;
    #[pymodule_export]
    use super::tables::errors::FailedCalls;
    #[pymodule_export]
    use super::tables::export::{Export, Plan, Survey};
    #[pymodule_export]
    use super::tables::files::{Darshan, Files};
    #[pymodule_export]
    use super::tables::flow::{Flow, Phases, Roles};
    #[pymodule_export]
    use super::tables::fold::{Fold, TaskRows};
    #[pymodule_export]
    use super::tables::fold_threads::FoldThreads;
    #[pymodule_export]
    use super::tables::forks::Forks;
    #[pymodule_export]
    use super::tables::memory::Memory;
    #[pymodule_export]
    use super::tables::processes::Processes;
    #[pymodule_export]
    use super::tables::syscalls::{StraceCounts, Syscalls};
    #[pymodule_export]
    use super::tables::tallies::{ActivityTally, FileTally, PollTally, TaskTally};
    #[pymodule_export]
    #[pymodule_export]
    use super::tables::waits::Waits;
    #[pymodule_export]
    use super::tables::workers::Workers;

    /// Identity of a file that is known by a name: what the column `file` holds.
    #[pyfunction]
    fn file_id(name: &[u8]) -> u64 {
        tracefast_core::events::file_id::file_id(name)
    }

    /// Names of the system calls that do something, such as ``reads``, ``forks``, ``ends``; those
    /// of all machines.
    #[pyfunction]
    fn syscalls_that(does: &str) -> PyResult<Vec<&'static str>> {
        let names = tracefast_core::linux::syscalls::syscalls_that(does);
        let unknown = || PyValueError::new_err(format!("no class of system calls: {does:?}"));
        Ok(names.ok_or_else(unknown)?.collect())
    }

    /// Give the columns of the events: names, order and types.
    ///
    /// Every log gives these columns. The page of the schema says what each one means, and so does
    /// ``tracefast schema``.
    ///
    /// Returns
    /// -------
    /// Schema
    ///     36 columns, for anything that takes Arrow.
    ///
    /// Examples
    /// --------
    /// >>> import polars as pl
    /// >>> import tracefast as tf
    /// >>> list(tf.schema())[:4]
    /// ['ts', 'dur_ns', 'task', 'pid']
    /// >>> pl.Schema(tf.schema())["ret"]
    /// Int64
    ///
    #[pyfunction]
    fn schema() -> Schema {
        Schema::new(tracefast_core::events::schema::schema())
    }

    /// The metadata in the footer of a Parquet or Arrow IPC file.
    #[pyfunction]
    fn metadata(py: Python<'_>, path: &str) -> PyResult<BTreeMap<String, String>> {
        let path = Path::new(path);
        py.detach(|| tracefast_io::columns::metadata::metadata(path))
            .map_err(|error| super::errors::exception(py, &error))
    }

    /// The first and the last time in a Parquet file, by its footer; None if it does not say.
    #[pyfunction]
    fn times(py: Python<'_>, path: &str) -> PyResult<Option<(i64, i64)>> {
        let path = Path::new(path);
        py.detach(|| tracefast_io::columns::metadata::times(path))
            .map_err(|error| super::errors::exception(py, &error))
    }

    /// Refuse an Arrow IPC file whose batches are not where it says, or not as long as it says.
    #[pyfunction]
    fn check_batches(py: Python<'_>, path: &str) -> PyResult<()> {
        let path = Path::new(path);
        py.detach(|| tracefast_io::columns::metadata::check_batches(path))
            .map_err(|error| super::errors::exception(py, &error))
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        // Errors without a hint have the attribute too.
        py.get_type::<Error>().setattr("hint", py.None())?;
        py.get_type::<Error>().setattr("kind", py.None())?;
        module.add("SCHEMA_VERSION", tracefast_core::events::schema::SCHEMA_VERSION)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
