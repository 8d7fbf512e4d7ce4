//! What a run found: counts that users see, and that go into the file.

use serde_json::{Map, Value, json};
use tracefast_core::events::line_counts::{LineCounts, Oddities};
use tracefast_core::events::schema::SCHEMA_VERSION;
use tracefast_core::events::vocabulary::EventKind;
use tracefast_core::serial::counts::{Counts, RunCounts, SourceCounts};

/// Counts of a run over one or more logs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// What the stages counted.
    pub counts: RunCounts,
    /// Warnings, such as empty logs.
    pub warnings: Vec<String>,
    /// Wall time, seconds.
    pub seconds: f64,
}

/// Sources that a footer names, at most: readers refuse a footer of a hundred megabytes.
const FOOTER_SOURCES: usize = 10_000;

impl Report {
    /// Lines read.
    pub fn lines(&self) -> u64 {
        self.counts.total.lines.total()
    }

    /// Rows made.
    pub fn rows(&self) -> u64 {
        self.counts.total.rows()
    }

    /// Lines that were not understood, values that are lost, and logs that end within a call.
    pub fn losses(&self) -> u64 {
        self.counts.total.losses()
    }

    /// How good the logs are, in words.
    pub fn quality(&self) -> Vec<String> {
        self.counts.quality()
    }

    /// Rows by kind; kinds without rows are left out.
    pub fn kinds(&self) -> Vec<(&'static str, u64)> {
        self.counts.total.kinds()
    }

    /// Name of the format; `mixed` if there were several, `none` without input.
    pub fn format(&self) -> &str {
        one_of(self.counts.sources.iter().map(|source| &*source.format))
    }

    /// Name of the clock; `mixed` if there were several, `none` without input.
    pub fn clock(&self) -> &str {
        one_of(self.counts.sources.iter().map(|source| &*source.clock))
    }

    /// The counts as JSON. The same input gives the same text: no times, no threads.
    ///
    /// # Examples
    /// ```
    /// let json = tracefast_io::report::Report::default().to_json();
    /// assert!(json.contains("\"rows\":0"));
    /// ```
    pub fn to_json(&self) -> String {
        self.json(usize::MAX)
    }

    /// The report that [`Report::to_json`] wrote as `text`, and which took `seconds`; None if
    /// `text` is not such a report.
    ///
    /// # Examples
    /// ```
    /// use tracefast_io::report::Report;
    ///
    /// let report = Report::default();
    /// assert_eq!(Report::from_json(&report.to_json(), 0.0), Some(report));
    /// assert_eq!(Report::from_json("{}", 0.0), None);
    /// ```
    pub fn from_json(text: &str, seconds: f64) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let example =
            |value: &Value| Some((owned(&value["source"])?, line(value)?, text_of(value)?));
        let counts = RunCounts {
            total: counts_of(&value)?,
            sources: list(&value["sources"], source_of)?,
            examples: list(&value["unparsed"], example)?,
        };
        Some(Self { counts, warnings: list(&value["warnings"], owned)?, seconds })
    }

    /// As [`Report::to_json`], with at most `limit` sources, and the number of those left out.
    fn json(&self, limit: usize) -> String {
        let mut out = counts(&self.counts.total, self.format(), self.clock());
        out.insert("quality".to_owned(), json!(self.quality()));
        let unparsed = self.counts.examples.iter();
        let unparsed = unparsed
            .map(|(source, line, text)| json!({"source": source, "line": line, "text": text}));
        out.insert("unparsed".to_owned(), unparsed.collect());
        out.insert("warnings".to_owned(), json!(self.warnings));
        let sources = &self.counts.sources[..limit.min(self.counts.sources.len())];
        out.insert("sources".to_owned(), sources.iter().map(source).collect());
        let left_out = self.counts.sources.len() - sources.len();
        out.insert("sources_left_out".to_owned(), json!(left_out));
        Value::Object(out).to_string()
    }

    /// Metadata of a file that holds the rows.
    pub fn metadata(&self) -> Vec<(String, String)> {
        let mut out = metadata(self.format(), self.clock());
        out.push(("tracefast.report".to_owned(), self.json(FOOTER_SOURCES)));
        out
    }
}

/// What one source came to.
fn source(source: &SourceCounts) -> Value {
    let mut out = counts(&source.counts, &source.format, &source.clock);
    let unparsed = source.example.iter().map(|(line, text)| json!({"line": line, "text": text}));
    out.insert("source".to_owned(), json!(source.name));
    out.insert("machine".to_owned(), json!(source.machine));
    out.insert("filtered".to_owned(), json!(source.filtered));
    out.insert("wrapped".to_owned(), json!(source.wrapped));
    out.insert("quality".to_owned(), json!(source.quality()));
    out.insert("unparsed".to_owned(), unparsed.collect());
    let noted = source.noted.iter().map(|(line, text)| json!({"line": line, "text": text}));
    out.insert("noted".to_owned(), noted.collect());
    Value::Object(out)
}

/// The source that was put into JSON.
fn source_of(value: &Value) -> Option<SourceCounts> {
    let example = |value: &Value| Some((line(value)?, text_of(value)?));
    let mut examples = list(&value["unparsed"], example)?;
    let machine = match &value["machine"] {
        Value::Null => None,
        name => Some(owned(name)?.into()),
    };
    Some(SourceCounts {
        name: owned(&value["source"])?,
        format: owned(&value["format"])?.into(),
        clock: owned(&value["clock"])?.into(),
        machine,
        filtered: value["filtered"].as_bool().unwrap_or_default(),
        wrapped: value["wrapped"].as_u64().and_then(|width| width.try_into().ok()),
        counts: counts_of(value)?,
        example: examples.pop(),
        // Earlier versions wrote none.
        noted: list(&value["noted"], example).unwrap_or_default(),
    })
}

/// The counts that were put into JSON.
fn counts_of(value: &Value) -> Option<Counts> {
    let number = |of: &str, name: &str| value[of][name].as_u64().unwrap_or_default();
    let uses = |name: &str| (number("accounting", name), number("accounting_bytes", name));
    Some(Counts {
        lines: LineCounts::from_named(uses),
        bytes: value["bytes"].as_u64()?,
        kinds: std::array::from_fn(|kind| number("kinds", EventKind::TEXTS[kind])),
        oddities: Oddities::from_named(|name| number("oddities", name)),
    })
}

fn list<T>(value: &Value, one: impl FnMut(&Value) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(one).collect()
}

fn owned(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn line(value: &Value) -> Option<u64> {
    value["line"].as_u64()
}

fn text_of(value: &Value) -> Option<String> {
    owned(&value["text"])
}

/// The counts that a source and the whole run have in common.
fn counts(counts: &Counts, format: &str, clock: &str) -> Map<String, Value> {
    let uses = counts.lines.fields();
    let object = |fields: &mut dyn Iterator<Item = (&'static str, u64)>| -> Value {
        Value::Object(fields.map(|(name, n)| (name.to_owned(), json!(n))).collect())
    };
    let mut out = Map::new();
    let mut put = |name: &str, value| out.insert(name.to_owned(), value);
    put("lines", json!(counts.lines.total()));
    put("bytes", json!(counts.bytes));
    put("rows", json!(counts.rows()));
    put("format", json!(format));
    put("clock", json!(clock));
    put("kinds", object(&mut counts.kinds().into_iter()));
    put("accounting", object(&mut uses.iter().map(|&(name, lines, _)| (name, lines))));
    put("accounting_bytes", object(&mut uses.iter().map(|&(name, _, bytes)| (name, bytes))));
    put("oddities", object(&mut counts.oddities.fields().into_iter()));
    out
}

/// Metadata that is known before any row.
pub(crate) fn metadata(format: &str, clock: &str) -> Vec<(String, String)> {
    [
        ("tracefast.schema", SCHEMA_VERSION),
        ("tracefast.version", env!("CARGO_PKG_VERSION")),
        ("tracefast.format", format),
        ("tracefast.clock", clock),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .to_vec()
}

/// The only name but `none`.
fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> &'a str {
    let mut names = names.filter(|&name| name != "none");
    let Some(first) = names.next() else { return "none" };
    if names.all(|name| name == first) { first } else { "mixed" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_footer_names_so_many_sources_and_counts_the_rest() {
        let mut report = Report::default();
        for number in 0..3 {
            report.counts.begin(&format!("{number}.log"), None);
        }
        let footer: Value = serde_json::from_str(&report.json(2)).expect("JSON");
        assert_eq!(footer["sources"].as_array().map(Vec::len), Some(2));
        assert_eq!(footer["sources_left_out"], 1);
        let whole: Value = serde_json::from_str(&report.to_json()).expect("JSON");
        assert_eq!(whole["sources"][2]["source"], "2.log");
        assert_eq!(whole["sources_left_out"], 0);
    }

    #[test]
    fn one_name_or_mixed() {
        let of = |names: &[&'static str]| one_of(names.iter().copied());
        assert_eq!(of(&[]), "none");
        assert_eq!(of(&["none", "epoch", "none"]), "epoch");
        assert_eq!(of(&["epoch", "none", "epoch"]), "epoch");
        assert_eq!(of(&["epoch", "delta"]), "mixed");
    }
}
