//! The two ways to use the pipeline: into a file, and as a stream of batches.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use tracefast_core::format::Wanted;
use tracefast_core::serial::counts::RunCounts;

use crate::error::{Error, ErrorKind, Result};
use crate::explain::{self, Explain, Explained};
use crate::input::merge::{Input, Inputs, inputs};
use crate::input::source::{Progress, Source, total_bytes};
use crate::pipeline::{Encode, Options, Pipeline};
use crate::report::{Report, metadata};
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
    /// Whether a file that is there may be replaced.
    pub clobber: bool,
    /// What the pages of Parquet are compressed with.
    pub compression: Compression,
}

/// How long a caller waits before it looks for signals again.
pub const PATIENCE: Duration = Duration::from_millis(50);

impl Encode for Encoder {
    type Output = Encoded;

    fn encode(&self, batches: Vec<RecordBatch>) -> Result<Encoded> {
        Self::encode(self, &batches)
    }
}

/// Opens the first log, so that mistakes show before anything is written.
fn open_first(
    names: &[String],
    options: &Options,
    progress: &Arc<Progress>,
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<(Source, Inputs)> {
    progress.done.store(false, Ordering::Relaxed);
    let found = inputs(names, options.format)?;
    let Some(first) = found.inputs.first() else {
        let what = "no log was named".to_owned();
        return Err(Error::new(ErrorKind::Option(what))
            .with_hint("name at least one, or - for standard input"));
    };
    let later = found.inputs.iter().skip(1).flat_map(Input::names);
    for name in later.filter(|name| *name != "-") {
        std::fs::metadata(name)
            .map_err(|error| Error::io(name, error).with_hint("check the name"))?;
    }
    progress.bytes_total.store(total_bytes(&found.inputs), Ordering::Relaxed);
    let source = if first.names().into_iter().any(may_wait) {
        open_patiently(first, options.format, progress, interrupted)?
    } else {
        Source::open_input(first, options.format, progress)?
    };
    Ok((source.on(options.machine), found))
}

/// Its first bytes may be long in coming: a pipe, a terminal.
fn may_wait(name: &str) -> bool {
    name == "-" || std::fs::metadata(name).is_ok_and(|file| !file.is_file() && !file.is_dir())
}

/// Opens an input on a thread of its own, and asks meanwhile whether to stop.
fn open_patiently(
    input: &Input,
    wanted: Option<Wanted>,
    progress: &Arc<Progress>,
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<Source> {
    let (sender, opened) = mpsc::channel();
    let (input, counters) = (input.clone(), Arc::clone(progress));
    // A thread that waits for input cannot be woken: if nobody waits for it, it ends with its input.
    std::thread::Builder::new().name("tracefast-open".to_owned()).spawn(move || {
        let _ = sender.send(Source::open_input(&input, wanted, &counters));
    })?;
    loop {
        match opened.recv_timeout(PATIENCE) {
            Ok(source) => return source,
            Err(RecvTimeoutError::Disconnected) => {
                let what = "a source could not be opened; this is an error in tracefast";
                return Err(Error::new(ErrorKind::Broken(what.to_owned())));
            }
            Err(RecvTimeoutError::Timeout) => {
                if progress.cancelled.load(Ordering::Relaxed) || interrupted() {
                    return Err(Error::cancelled());
                }
            }
        }
    }
}

/// Parses the logs `names`, one after another, into one file.
///
/// `interrupted` is asked about twenty times a second whether to stop.
///
/// # Errors
/// A log cannot be read or is none, or the output cannot be written. Then there is no output.
pub fn parse(
    names: &[String],
    output: &Output<'_>,
    options: Options,
    progress: &Arc<Progress>,
    interrupted: impl FnMut() -> bool,
) -> Result<Report> {
    parse_with(names, Some(output), options, progress, None, interrupted)
}

/// What takes lines that were not understood, in order and some at a time.
pub type Tell<'a> = &'a mut dyn FnMut(Vec<Explained>);

/// As [`parse`]; but the output may be left out, and `tell` gets every line that is not understood,
/// with what was expected there.
///
/// # Errors
/// As [`parse`].
pub fn parse_with(
    names: &[String],
    output: Option<&Output<'_>>,
    mut options: Options,
    progress: &Arc<Progress>,
    mut tell: Option<Tell<'_>>,
    mut interrupted: impl FnMut() -> bool,
) -> Result<Report> {
    if output.is_none() {
        options.projection = explain::columns();
    }
    let begin = Instant::now();
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
    let encode = Explain::new(encoder, tell.is_some());
    let pipeline = Pipeline::start(first, inputs, encode, options, Arc::clone(progress))?;
    loop {
        match pipeline.next(PATIENCE)? {
            Some(Some((encoded, explained))) => {
                if let (Some(appender), Some(encoded)) = (&mut appender, encoded) {
                    appender.append(encoded).map_err(written)?;
                }
                if let Some(tell) = tell.as_mut().filter(|_| !explained.is_empty()) {
                    tell(explained);
                }
            }
            Some(None) => {}
            None => break,
        }
        if interrupted() {
            return Err(Error::cancelled());
        }
    }
    let counts = pipeline.counts().unwrap_or_default();
    drop(pipeline);
    let warnings = [known, warnings(&counts)].concat();
    let mut report = Report { counts, warnings, seconds: 0.0 };
    if let Some(appender) = appender {
        appender.finish(report.metadata()).map_err(written)?.commit()?;
    }
    report.seconds = begin.elapsed().as_secs_f64();
    progress.done.store(true, Ordering::Relaxed);
    Ok(report)
}

/// Logs that hold nothing, by name, and logs without any event.
fn warnings(counts: &RunCounts) -> Vec<String> {
    let empty = counts.sources.iter().filter(|source| source.counts.bytes == 0);
    let mut out: Vec<String> =
        empty.map(|source| format!("{}: the log is empty", source.name)).collect();
    if counts.total.rows() == 0 && out.len() < counts.sources.len() {
        out.push("no event was found".to_owned());
    }
    out
}

/// Gives batches as they are.
struct Plain;

impl Encode for Plain {
    type Output = Vec<RecordBatch>;

    fn encode(&self, batches: Vec<RecordBatch>) -> Result<Vec<RecordBatch>> {
        Ok(batches)
    }
}

/// A stream of record batches of at most [`tracefast_core::batch::BATCH_ROWS`] rows.
pub struct BatchStream {
    pipeline: Option<Pipeline<Plain>>,
    schema: SchemaRef,
    ready: std::vec::IntoIter<RecordBatch>,
    warnings: Vec<String>,
    report: Option<Report>,
    begin: Instant,
    /// It was closed while there may have been more.
    cut: bool,
    progress: Arc<Progress>,
    /// The process that has the threads.
    process: u32,
}

impl BatchStream {
    /// Opens `names` and starts to parse.
    ///
    /// # Errors
    /// The first log cannot be read or is none, or another one is missing.
    pub fn open(names: &[String], options: Options, progress: &Arc<Progress>) -> Result<Self> {
        Self::open_with(names, options, progress, || false)
    }

    /// As [`BatchStream::open`]; `interrupted` is asked some times a second whether to stop, while
    /// the first log is a pipe that has nothing yet.
    ///
    /// # Errors
    /// As [`BatchStream::open`].
    pub fn open_with(
        names: &[String],
        options: Options,
        progress: &Arc<Progress>,
        mut interrupted: impl FnMut() -> bool,
    ) -> Result<Self> {
        let begin = Instant::now();
        let (first, Inputs { inputs, warnings }) =
            open_first(names, &options, progress, &mut interrupted)?;
        let (format, clock) =
            first.format.map_or(("none", "none"), |format| (format.name(), format.clock()));
        let schema = options.projection.schema();
        let facts: std::collections::HashMap<_, _> = metadata(format, clock).into_iter().collect();
        let schema = Arc::new(Schema::new_with_metadata(schema.fields().clone(), facts));
        let pipeline = Pipeline::start(first, inputs, Plain, options, Arc::clone(progress))?;
        Ok(Self {
            pipeline: Some(pipeline),
            schema,
            ready: Vec::new().into_iter(),
            warnings,
            report: None,
            begin,
            cut: false,
            progress: Arc::clone(progress),
            process: std::process::id(),
        })
    }

    /// The schema of the batches, with what is known of the logs before they are read.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The next batch; `Ok(None)` at the end, `Ok(Some(None))` if there is none yet after a
    /// twentieth of a second.
    ///
    /// # Errors
    /// The first error of any stage; the stream is at its end then. Or it was closed before its
    /// end: what was read until then is not all that there is.
    pub fn poll(&mut self) -> Result<Option<Option<RecordBatch>>> {
        if let Some(batch) = self.next_ready() {
            return Ok(Some(Some(self.dressed(batch)?)));
        }
        if self.cut {
            let what = "the reader was closed before its end; read the logs anew";
            return Err(Error::new(ErrorKind::Option(what.to_owned())));
        }
        let Some(pipeline) = &self.pipeline else { return Ok(None) };
        if self.process != std::process::id() {
            let what = "a reader stays in the process that opened it; open one in each process";
            return Err(Error::new(ErrorKind::Option(what.to_owned())));
        }
        match pipeline.next(PATIENCE) {
            Ok(Some(Some(batches))) => {
                self.ready = batches.into_iter();
                match self.next_ready() {
                    Some(batch) => Ok(Some(Some(self.dressed(batch)?))),
                    None => Ok(Some(None)),
                }
            }
            Ok(Some(None)) => Ok(Some(None)),
            Ok(None) => {
                let counts = pipeline.counts().unwrap_or_default();
                let known = std::mem::take(&mut self.warnings);
                let warnings = [known, warnings(&counts)].concat();
                let seconds = self.begin.elapsed().as_secs_f64();
                self.report = Some(Report { counts, warnings, seconds });
                self.pipeline = None;
                self.progress.done.store(true, Ordering::Relaxed);
                Ok(None)
            }
            Err(error) => {
                self.pipeline = None;
                Err(error)
            }
        }
    }

    /// The next batch with rows: a predicate may leave none.
    fn next_ready(&mut self) -> Option<RecordBatch> {
        self.ready.find(|batch| batch.num_rows() > 0)
    }

    fn dressed(&self, batch: RecordBatch) -> Result<RecordBatch> {
        Ok(batch.with_schema(self.schema())?)
    }

    /// The counts, after the end.
    pub fn report(&self) -> Option<&Report> {
        self.report.as_ref()
    }

    /// Stops early.
    pub fn close(&mut self) {
        let pipeline = self.pipeline.take();
        self.cut |= pipeline.is_some() || self.ready.len() > 0;
        if self.process != std::process::id() {
            // A fork has copied the handles of the threads, not the threads: none can be joined.
            std::mem::forget(pipeline);
        }
        self.ready = Vec::new().into_iter();
    }
}

impl Drop for BatchStream {
    fn drop(&mut self) {
        self.close();
    }
}

impl Iterator for BatchStream {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.poll() {
                Ok(Some(Some(batch))) => return Some(Ok(batch)),
                Ok(Some(None)) => {}
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
