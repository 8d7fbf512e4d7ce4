//! What a run found: counts that users see, and that go into the file.

use serde_json::{Map, Value, json};
use tracefast_core::event::EventKind;
use tracefast_core::schema::SCHEMA_VERSION;
use tracefast_core::stream::Tally;

/// Counts of a run over one or more logs.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// What the stages counted.
    pub tally: Tally,
    /// Logs that held nothing, and the like.
    pub warnings: Vec<String>,
    /// Wall time, seconds.
    pub seconds: f64,
}

impl Report {
    /// Lines read.
    pub fn lines(&self) -> u64 {
        self.tally.lines.total()
    }

    /// Rows made.
    pub fn rows(&self) -> u64 {
        self.tally.kinds.iter().sum()
    }

    /// Rows by kind; kinds without rows are left out.
    pub fn kinds(&self) -> Vec<(&'static str, u64)> {
        let all = EventKind::TEXTS.iter().copied().zip(self.tally.kinds);
        all.filter(|&(_, count)| count > 0).collect()
    }

    /// Name of the format; `mixed` if there were several, `none` without input.
    pub fn format(&self) -> &'static str {
        one_of(&self.tally.formats)
    }

    /// Name of the clock, likewise.
    pub fn clock(&self) -> &'static str {
        one_of(&self.tally.clocks)
    }

    /// The counts as JSON. The same input gives the same text: no times, no threads.
    ///
    /// # Examples
    /// ```
    /// let json = tracefast_io::report::Report::default().to_json();
    /// assert!(json.contains("\"rows\":0"));
    /// ```
    pub fn to_json(&self) -> String {
        let uses = self.tally.lines.fields();
        let lines = uses.map(|(name, lines, _)| (name, lines));
        let bytes = uses.map(|(name, _, bytes)| (name, bytes));
        let counts = |fields: &[(&'static str, u64)]| -> Value {
            let map: Map<String, Value> =
                fields.iter().map(|&(name, n)| (name.to_owned(), json!(n))).collect();
            Value::Object(map)
        };
        let unparsed: Vec<Value> = self
            .tally
            .examples
            .iter()
            .map(|(source, line, text)| json!({"source": source, "line": line, "text": text}))
            .collect();
        json!({
            "lines": self.lines(),
            "bytes": self.tally.bytes,
            "rows": self.rows(),
            "format": self.format(),
            "clock": self.clock(),
            "kinds": counts(&self.kinds()),
            "accounting": counts(&lines),
            "accounting_bytes": counts(&bytes),
            "unparsed": unparsed,
            "warnings": self.warnings,
        })
        .to_string()
    }

    /// Metadata of a file that holds the rows.
    pub fn metadata(&self) -> Vec<(String, String)> {
        let mut out = metadata(self.format(), self.clock());
        out.push(("tracefast.report".to_owned(), self.to_json()));
        out
    }
}

/// Metadata that is known before the rows are.
pub fn metadata(format: &str, clock: &str) -> Vec<(String, String)> {
    [
        ("tracefast.schema", SCHEMA_VERSION),
        ("tracefast.version", env!("CARGO_PKG_VERSION")),
        ("tracefast.format", format),
        ("tracefast.clock", clock),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .to_vec()
}

fn one_of(names: &[&'static str]) -> &'static str {
    match names {
        [] => "none",
        [name] => name,
        _ => "mixed",
    }
}
