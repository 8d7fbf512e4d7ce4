//! The counts of a run.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Counts of a run over one or more logs.
#[pyclass(frozen, module = "tracefast")]
pub struct Report {
    inner: tracefast_io::report::Report,
}

impl Report {
    pub fn new(inner: tracefast_io::report::Report) -> Self {
        Self { inner }
    }
}

#[pymethods]
impl Report {
    #[getter]
    fn lines(&self) -> u64 {
        self.inner.lines()
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.inner.tally.total.bytes
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.inner.rows()
    }

    #[getter]
    fn seconds(&self) -> f64 {
        self.inner.seconds
    }

    #[getter]
    fn format(&self) -> &'static str {
        self.inner.format()
    }

    #[getter]
    fn clock(&self) -> &'static str {
        self.inner.clock()
    }

    #[getter]
    fn kinds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, self.inner.kinds())
    }

    #[getter]
    fn accounting<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let uses = self.inner.tally.total.lines.fields();
        dict(py, uses.map(|(name, lines, _)| (name, lines)))
    }

    #[getter]
    fn accounting_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let uses = self.inner.tally.total.lines.fields();
        dict(py, uses.map(|(name, _, bytes)| (name, bytes)))
    }

    #[getter]
    fn oddities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, self.inner.tally.total.oddities.fields())
    }

    /// The same objects as in the JSON.
    #[getter]
    fn sources<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let json = py.import("json")?;
        json.call_method1("loads", (self.inner.to_json(),))?.get_item("sources")
    }

    #[getter]
    fn unparsed(&self) -> Vec<(String, u64, String)> {
        self.inner.tally.examples.clone()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings.clone()
    }

    /// The counts as JSON, without times.
    fn to_json(&self) -> String {
        self.inner.to_json()
    }

    fn __repr__(&self) -> String {
        let kinds: BTreeMap<_, _> = self.inner.kinds().into_iter().collect();
        format!("Report(lines={}, rows={}, kinds={kinds:?})", self.lines(), self.rows())
    }
}

fn dict(
    py: Python<'_>,
    counts: impl IntoIterator<Item = (&'static str, u64)>,
) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    for (name, count) in counts {
        out.set_item(name, count)?;
    }
    Ok(out)
}
