//! Logs into a file.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use arrow_array::RecordBatch;

use crate::error::{Error, Result};
use crate::explain::{self, Explain, Explained};
use crate::input::merge::Inputs;
use crate::input::source::Progress;
use crate::open::{PATIENCE, open_first, warnings};
use crate::pipeline::{Encode, Options, Pipeline, Poll};
use crate::report::Report;
use crate::sink::{
    AtomicFile, Compression, Encoded, Encoder, IpcEncoder, ParquetEncoder, ParquetOptions,
    about_output,
};

/// Kinds of files that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC file.
    Arrow,
}

/// Where rows go.
#[derive(Debug, Clone)]
pub struct Output<'a> {
    /// File name; `-` is standard output.
    pub path: &'a str,
    /// Kind of file.
    pub kind: FileKind,
    /// Whether an existing file may be replaced.
    pub clobber: bool,
    /// What the pages of Parquet are compressed with.
    pub compression: Compression,
}

impl Encode for Encoder {
    type Output = Encoded;

    fn encode(&self, batches: Vec<RecordBatch>) -> Result<Encoded> {
        Self::encode(self, batches)
    }
}

/// Parses the logs `names`, one after another, into one file.
///
/// `interrupted` is called about twenty times a second; `true` stops the run.
///
/// # Errors
/// A log cannot be read or is not a log, or the output cannot be written. Then there is no output.
pub fn parse(
    names: &[String],
    output: &Output<'_>,
    options: Options,
    progress: &Arc<Progress>,
    interrupted: impl FnMut() -> bool,
) -> Result<Report> {
    parse_with(names, Some(output), options, progress, None, interrupted)
}

/// Receives the lines that were not understood, and calls whose result is lost, in order, some at a
/// time; then the first notes behind results of each log.
pub type OnUnparsed<'a> = &'a mut dyn FnMut(Vec<Explained>);

/// Does what [`parse`] does; but the output may be left out, and `on_unparsed` receives every line
/// that is not understood, with what was expected there, and what else an explanation has.
///
/// # Errors
/// As [`parse`].
pub fn parse_with(
    names: &[String],
    output: Option<&Output<'_>>,
    mut options: Options,
    progress: &Arc<Progress>,
    mut on_unparsed: Option<OnUnparsed<'_>>,
    mut interrupted: impl FnMut() -> bool,
) -> Result<Report> {
    if output.is_none() {
        options.projection = explain::columns(on_unparsed.is_some());
    }
    let started = Instant::now();
    let file = match output {
        None => None,
        Some(output) if output.path == "-" => Some(AtomicFile::stdout()?),
        Some(output) => Some(AtomicFile::create(Path::new(output.path), output.clobber)?),
    };
    let (first, Inputs { inputs, warnings: known }) =
        open_first(names, &options, progress, &mut interrupted)?;
    let encoder = match output.map(|output| (output.kind, output.compression)) {
        None => None,
        Some((FileKind::Parquet, compression)) => {
            let options = ParquetOptions { compression, ..ParquetOptions::default() };
            Some(Encoder::Parquet(ParquetEncoder::try_new(options)?))
        }
        Some((FileKind::Arrow, _)) => Some(Encoder::Ipc(IpcEncoder::new())),
    };
    let path = Path::new(output.map_or("", |output| output.path));
    let written = |error: Error| about_output(error, path);
    let mut appender = match (&encoder, file) {
        (Some(encoder), Some(file)) => Some(encoder.appender(file).map_err(written)?),
        _ => None,
    };
    let encode = Explain::new(encoder, on_unparsed.is_some());
    let pipeline = Pipeline::start(first, inputs, encode, options, Arc::clone(progress))?;
    loop {
        match pipeline.next(PATIENCE)? {
            Poll::Ready((encoded, explained)) => {
                if let (Some(appender), Some(encoded)) = (&mut appender, encoded) {
                    appender.append(encoded).map_err(written)?;
                }
                if let Some(receive) = on_unparsed.as_mut().filter(|_| !explained.is_empty()) {
                    receive(explained);
                }
            }
            Poll::Waiting => {}
            Poll::End => break,
        }
        if interrupted() {
            return Err(Error::cancelled());
        }
    }
    let counts = pipeline.counts().unwrap_or_default();
    drop(pipeline);
    if let Some(receive) = on_unparsed {
        for noted in counts.sources.iter().filter(|log| !log.noted.is_empty()) {
            receive(explain::notes(noted).collect());
        }
    }
    let warnings = [known, warnings(&counts)].concat();
    let mut report = Report { counts, warnings, seconds: 0.0 };
    if let Some(appender) = appender {
        appender.finish(report.metadata()).map_err(written)?.commit()?;
    }
    report.seconds = started.elapsed().as_secs_f64();
    progress.done.store(true, Ordering::Relaxed);
    Ok(report)
}
