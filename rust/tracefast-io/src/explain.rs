//! What was expected on the lines that were not understood, found while rows are encoded.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use tracefast_core::batch::Projection;
use tracefast_core::events::vocabulary::EventKind;
use tracefast_core::format::Format;

use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::Encode;

/// A line that was not understood.
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

/// The columns that an explanation needs.
pub(crate) fn columns() -> Projection {
    Projection::from_names(&["kind", "args", "line", "source"]).unwrap_or_default()
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

/// Adds the lines of `batch` that were not understood. `None`: it has other columns.
fn explain(
    batch: &RecordBatch,
    format: impl Fn(&str) -> Option<Format>,
    out: &mut Vec<Explained>,
) -> Option<()> {
    let column = |name| batch.column_by_name(name);
    let kinds = column("kind")?.as_dictionary_opt::<UInt32Type>()?.keys();
    let lines = column("line")?.as_primitive_opt::<UInt64Type>()?;
    let texts = column("args")?.as_string_view_opt()?;
    let sources = column("source")?.as_dictionary_opt::<UInt32Type>()?;
    let names = sources.values().as_string_opt::<i32>()?;
    let mut last: Option<(u32, Arc<str>, Option<Format>)> = None;
    for row in 0..batch.num_rows() {
        if kinds.is_null(row) || kinds.value(row) != EventKind::Unparsed as u32 {
            continue;
        }
        let key = sources.keys().value(row);
        if last.as_ref().is_none_or(|last| last.0 != key) {
            let name = names.value(key as usize);
            last = Some((key, name.into(), format(name)));
        }
        let Some((_, source, format)) = &last else { continue };
        let text = texts.value(row);
        let expected = format.map(|format| format.explain(text.as_bytes())).unwrap_or_default();
        let (source, text) = (Arc::clone(source), text.to_owned());
        out.push(Explained { source, line: lines.value(row), text, expected });
    }
    Some(())
}
