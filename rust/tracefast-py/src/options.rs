//! Keyword arguments that reading and writing share.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tracefast_core::batch::{BATCH_ROWS, Projection};
use tracefast_core::format::Wanted;
use tracefast_io::pipeline::Options;

/// Checks and collects the options.
pub fn options(
    format_in: Option<&str>,
    threads: Option<usize>,
    block_bytes: usize,
    group_rows: usize,
    columns: Option<&[String]>,
) -> PyResult<Options> {
    let format = match format_in {
        None => None,
        Some("strace") => Some(Wanted::Strace),
        Some("ftrace") => Some(Wanted::Ftrace),
        Some(other) => {
            let text = format!("format_in is 'strace' or 'ftrace', not '{other}'");
            return Err(PyValueError::new_err(text));
        }
    };
    if threads == Some(0) {
        return Err(PyValueError::new_err("threads is at least 1"));
    }
    if !(1..=1 << 26).contains(&block_bytes) {
        return Err(PyValueError::new_err("block_bytes is from 1 to 67108864"));
    }
    if !(1..=1 << 24).contains(&group_rows) {
        return Err(PyValueError::new_err("row_group is from 1 to 16777216"));
    }
    let projection = match columns {
        None => Projection::default(),
        Some(columns) => Projection::of(columns).map_err(|name| {
            PyValueError::new_err(format!("'{name}' is not a column of the event schema"))
        })?,
    };
    Ok(Options { threads: threads.unwrap_or(0), block_bytes, group_rows, projection, format })
}

/// Rows of a batch that a reader hands out.
pub const READ_ROWS: usize = BATCH_ROWS;
