//! What was expected on lines that were not understood, or lost their result, found while rows are
//! encoded; and notes behind results.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use tracefast_core::batch::Projection;
use tracefast_core::events::vocabulary::{EventKind, Status};
use tracefast_core::format::Format;
use tracefast_core::serial::counts::SourceCounts;

use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::Encode;

/// A line that was not understood, or whose result is lost or has a note behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// The log, as the user named it.
    pub source: Arc<str>,
    /// Number of the line, 1-based.
    pub line: u64,
    /// Its text; bytes that are not UTF-8 appear as `\xNN`.
    pub text: String,
    /// What was expected there, in words.
    pub expected: String,
}

/// The columns that explanations need, if they are wanted; counts need none.
pub(crate) fn columns(wanted: bool) -> Projection {
    let all = ["kind", "status", "name", "args", "line", "source"];
    Projection::from_names(&all[..if wanted { all.len() } else { 1 }]).unwrap_or_default()
}

/// Encodes groups as `inner` does, if there is one, and explains their lines that were not
/// understood, if that is wanted.
pub(crate) struct Explain<E> {
    inner: Option<E>,
    wanted: bool,
    formats: Mutex<HashMap<String, Format>>,
}

impl<E: Encode> Explain<E> {
    /// An encoder around `inner`.
    pub(crate) fn new(inner: Option<E>, wanted: bool) -> Self {
        Self { inner, wanted, formats: Mutex::default() }
    }
}

impl<E: Encode> Encode for Explain<E> {
    type Output = (Option<E::Output>, Vec<Explained>);

    fn begin(&self, source: &str, format: Format) {
        let mut formats = self.formats.lock().unwrap_or_else(PoisonError::into_inner);
        formats.insert(source.to_owned(), format);
    }

    fn encode(&self, batches: Vec<RecordBatch>) -> Result<Self::Output> {
        let mut out = Vec::new();
        if self.wanted {
            let format = |source: &str| {
                let formats = self.formats.lock().unwrap_or_else(PoisonError::into_inner);
                formats.get(source).copied()
            };
            for batch in &batches {
                explain(batch, format, &mut out).ok_or_else(|| {
                    let what = "a batch has not the columns that an explanation needs".to_owned();
                    Error::new(ErrorKind::Broken(what))
                })?;
            }
        }
        let encoded = self.inner.as_ref().map(|inner| inner.encode(batches)).transpose()?;
        Ok((encoded, out))
    }
}

/// The first notes behind results of a log.
pub(crate) fn notes(log: &SourceCounts) -> impl Iterator<Item = Explained> + '_ {
    let source: Arc<str> = log.name.as_str().into();
    let expected = "nothing behind the result: this is in extra";
    log.noted.iter().map(move |(line, text)| Explained {
        source: Arc::clone(&source),
        line: *line,
        text: text.clone(),
        expected: expected.to_owned(),
    })
}

/// Adds the lines of `batch` that were not understood, and calls whose result is lost. `None`: it
/// has other columns.
fn explain(
    batch: &RecordBatch,
    format: impl Fn(&str) -> Option<Format>,
    out: &mut Vec<Explained>,
) -> Option<()> {
    let column = |name| batch.column_by_name(name);
    let kinds = column("kind")?.as_dictionary_opt::<UInt32Type>()?.keys();
    let statuses = column("status")?.as_dictionary_opt::<UInt32Type>()?.keys();
    let calls = column("name")?.as_dictionary_opt::<UInt32Type>()?;
    let call_names = calls.values().as_string_opt::<i32>()?;
    let lines = column("line")?.as_primitive_opt::<UInt64Type>()?;
    let texts = column("args")?.as_string_view_opt()?;
    let sources = column("source")?.as_dictionary_opt::<UInt32Type>()?;
    let names = sources.values().as_string_opt::<i32>()?;
    let mut last: Option<(u32, Arc<str>, Option<Format>)> = None;
    for row in 0..batch.num_rows() {
        let unparsed = kinds.is_valid(row) && kinds.value(row) == EventKind::Unparsed as u32;
        let lost = statuses.is_valid(row) && statuses.value(row) == Status::Truncated as u32;
        if !unparsed && !lost {
            continue;
        }
        let key = sources.keys().value(row);
        if last.as_ref().is_none_or(|last| last.0 != key) {
            let name = names.value(key as usize);
            last = Some((key, name.into(), format(name)));
        }
        let Some((_, source, format)) = &last else { continue };
        let text = if texts.is_valid(row) { texts.value(row) } else { "" };
        let (text, expected) = if lost {
            let name = calls.keys().is_valid(row).then(|| calls.keys().value(row) as usize);
            let name = name.map_or("", |name| call_names.value(name));
            (format!("{name}({text}"), "a result: it is lost".to_owned())
        } else {
            let expected = format.map(|format| format.explain(text.as_bytes()));
            (text.to_owned(), expected.unwrap_or_default())
        };
        let source = Arc::clone(source);
        out.push(Explained { source, line: lines.value(row), text, expected });
    }
    Some(())
}
