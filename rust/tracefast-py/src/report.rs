//! The counts of a run.

use std::collections::BTreeMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::notebook;

/// What was read, and what every line was used for.
///
/// ``tf.parse`` returns it, and a reader has it at its end. Reports can be pickled and copied, and
/// are equal if they count the same, however long it took.
///
/// Attributes
/// ----------
/// lines : int
///     Lines of text, after unpacking.
/// bytes : int
///     Bytes of text, after unpacking.
/// rows : int
///     Rows that the lines gave.
/// seconds : float
///     How long it took, in seconds.
/// format : str
///     ``strace``, ``tracefs`` or ``trace-cmd``; ``mixed`` if logs differ, or ``none``.
/// clock : str
///     ``epoch``, ``time-of-day``, ``delta``, ``uptime``, ``ticks``, ``none``, or ``mixed``.
/// kinds : dict of str to int
///     Rows by `kind`.
/// accounting : dict of str to int
///     Lines by use; every line has one, so that they add up to `lines`.
/// accounting_bytes : dict of str to int
///     Bytes of the lines by use; they add up to `bytes`.
/// oddities : dict of str to int
///     What is unusual, and how often; only ``lost_values`` are losses.
/// quality : list of str
///     How good the logs are, in words: ``complete``, or what is missing, such as
///     ``3 values lost``, ``cut at the end``, ``filtered``; then ``pasted: prefix removed``.
/// losses : int
///     Lines that were not understood, values that are lost, and logs that end within a call.
/// sources : list of dict
///     The same for each log.
/// unparsed : list of (str, int, str)
///     Source, number and text of the first three lines that were not understood.
/// warnings : list of str
///     Empty logs, and the like.
///
/// Examples
/// --------
/// >>> import tracefast as tf
/// >>> report = tf.parse("demo.strace", None)
/// >>> report
/// Report(lines=10, rows=8, kinds={'exit': 1, 'signal': 1, 'syscall': 6})
/// >>> report.accounting["resumed"]
/// 2
/// >>> report.lines == sum(report.accounting.values())
/// True
#[pyclass(frozen, module = "tracefast")]
pub struct Report {
    inner: tracefast_io::report::Report,
}

impl Report {
    pub fn new(inner: tracefast_io::report::Report) -> Self {
        Self { inner }
    }

    /// What a notebook shows of it.
    pub(crate) fn summary(&self) -> Vec<(String, String)> {
        let mut rows = vec![
            notebook::row("format", self.format()),
            notebook::row("clock", self.clock()),
            notebook::row("lines", notebook::grouped(self.lines())),
            notebook::row("rows", notebook::grouped(self.rows())),
        ];
        let kinds: BTreeMap<_, _> = self.inner.kinds().into_iter().collect();
        rows.extend(kinds.into_iter().filter(|&(_, count)| count > 0).map(|(kind, count)| {
            notebook::row(&format!("rows of kind {kind}"), notebook::grouped(count))
        }));
        rows.push(notebook::row("quality", self.quality().join(", ")));
        rows.extend(self.inner.warnings.iter().map(|text| notebook::row("warning", text)));
        rows
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
        self.inner.counts.total.bytes
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
    fn format(&self) -> &str {
        self.inner.format()
    }

    #[getter]
    fn clock(&self) -> &str {
        self.inner.clock()
    }

    #[getter]
    fn kinds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, self.inner.kinds())
    }

    #[getter]
    fn accounting<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let uses = self.inner.counts.total.lines.fields();
        dict(py, uses.map(|(name, lines, _)| (name, lines)))
    }

    #[getter]
    fn accounting_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let uses = self.inner.counts.total.lines.fields();
        dict(py, uses.map(|(name, _, bytes)| (name, bytes)))
    }

    #[getter]
    fn oddities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, self.inner.counts.total.oddities.fields())
    }

    #[getter]
    fn quality(&self) -> Vec<String> {
        self.inner.quality()
    }

    #[getter]
    fn losses(&self) -> u64 {
        self.inner.losses()
    }

    /// The same objects as in the JSON.
    #[getter]
    fn sources<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let json = py.import("json")?;
        json.call_method1("loads", (self.inner.to_json(),))?.get_item("sources")
    }

    #[getter]
    fn unparsed(&self) -> Vec<(String, u64, String)> {
        self.inner.counts.examples.clone()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings.clone()
    }

    /// Give all of it but `seconds`, as it is in the metadata of a file.
    fn to_json(&self) -> String {
        self.inner.to_json()
    }

    /// Reports are equal if they count the same, however long it took.
    fn __eq__(&self, other: &Self) -> bool {
        let (one, other) = (&self.inner, &other.inner);
        one.counts == other.counts && one.warnings == other.warnings
    }

    /// What `pickle` and `copy` need to restore it.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String, f64))> {
        let made_by = py.import("tracefast._core")?.getattr("report_of")?;
        Ok((made_by, (self.inner.to_json(), self.inner.seconds)))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let kinds: BTreeMap<_, _> = self.inner.kinds().into_iter().collect();
        let kinds = dict(py, kinds)?.repr()?.to_string();
        Ok(format!("Report(lines={}, rows={}, kinds={kinds})", self.lines(), self.rows()))
    }

    fn _repr_html_(&self) -> String {
        notebook::table("Report", &self.summary())
    }
}

/// Restores a report from the text of `Report.to_json`.
#[pyfunction]
pub(crate) fn report_of(json: &str, seconds: f64) -> PyResult<Report> {
    let report = tracefast_io::report::Report::from_json(json, seconds);
    report.map(Report::new).ok_or_else(|| PyValueError::new_err("the text is not a report"))
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
