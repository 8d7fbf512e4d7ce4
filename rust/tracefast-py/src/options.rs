//! Keyword arguments that reading and writing share.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tracefast_core::batch::{BATCH_ROWS, Projection};
use tracefast_core::format::Wanted;
use tracefast_core::ftrace::Machine;
use tracefast_io::pipeline::Options;

/// Checks and collects the options.
pub(crate) fn options(
    format_in: Option<&str>,
    threads: Option<usize>,
    block_bytes: usize,
    group_rows: usize,
    columns: Option<&[String]>,
    machine: Option<&str>,
) -> PyResult<Options> {
    let format = wanted(format_in)?;
    let machine = match machine {
        None => None,
        Some(name) => Some(Machine::from_name(name).ok_or_else(|| unknown_machine(name))?),
    };
    if threads == Some(0) {
        return Err(PyValueError::new_err("threads must be at least 1, got 0"));
    }
    if !(1..=1 << 26).contains(&block_bytes) {
        return Err(PyValueError::new_err(format!(
            "block_bytes must be from 1 to 67108864, got {block_bytes}"
        )));
    }
    if !(1..=1 << 24).contains(&group_rows) {
        return Err(PyValueError::new_err(format!(
            "row_group must be from 1 to 16777216, got {group_rows}"
        )));
    }
    let projection = match columns {
        None => Projection::default(),
        Some(columns) => Projection::from_names(columns)
            .map_err(|error| PyValueError::new_err(error.to_string()))?,
    };
    let threads = threads.unwrap_or(0);
    let base = Options::default();
    Ok(Options { threads, block_bytes, group_rows, projection, format, machine, ..base })
}

/// The format asked for, by its name.
pub(crate) fn wanted(format_in: Option<&str>) -> PyResult<Option<Wanted>> {
    match format_in {
        None => Ok(None),
        Some("strace") => Ok(Some(Wanted::Strace)),
        Some("ftrace") => Ok(Some(Wanted::Ftrace)),
        Some(other) => {
            let text = format!("format_in must be 'strace' or 'ftrace', got '{other}'");
            Err(PyValueError::new_err(text))
        }
    }
}

fn unknown_machine(name: &str) -> PyErr {
    let known = Machine::ALL.map(|machine| format!("'{}'", machine.name())).join(", ");
    PyValueError::new_err(format!("machine must be one of {known}, got '{name}'"))
}

/// Rows of a batch that a reader hands out.
pub(crate) const READ_ROWS: usize = BATCH_ROWS;
