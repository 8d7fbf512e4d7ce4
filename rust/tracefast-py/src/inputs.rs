//! Finds which of the named files are one log.

use pyo3::prelude::*;
use tracefast_io::input::merge::{Input, Inputs, inputs};

use crate::errors::exception;
use crate::options::wanted;

/// Groups the named files into logs: the name that each has in the column `source`, and its files.
/// A log that is cut by task has several.
#[pyfunction]
#[pyo3(signature = (names, *, format_in = None))]
#[allow(clippy::needless_pass_by_value)] // Python's arguments.
pub(crate) fn logs(
    py: Python<'_>,
    names: Vec<String>,
    format_in: Option<&str>,
) -> PyResult<Vec<(String, Vec<String>)>> {
    let wanted = wanted(format_in)?;
    let Inputs { inputs, .. } =
        py.detach(|| inputs(&names, wanted)).map_err(|error| exception(py, &error))?;
    Ok(inputs.iter().map(|input| (source(input), files(input))).collect())
}

fn source(input: &Input) -> String {
    match input {
        Input::Log(name) => name.clone(),
        Input::TaskLog { source, .. } => source.clone(),
        Input::Set(set) => set.name.clone(),
    }
}

fn files(input: &Input) -> Vec<String> {
    input.names().into_iter().map(str::to_owned).collect()
}
