//! The two ways to use the pipeline: into a file, and as a stream of batches.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};

use crate::error::{Error, ErrorKind, Result};
use crate::merge::{Input, Inputs, inputs};
use crate::pipeline::{Encode, Options, Pipeline};
use crate::report::{Report, metadata};
use crate::sink::{
    AtomicFile, Encoded, Encoder, IpcEncoder, ParquetEncoder, ParquetOptions, about_output,
};
use crate::source::{Progress, Source, total_bytes};

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
}

/// How long a caller waits before it looks for signals again.
const PATIENCE: Duration = Duration::from_millis(100);

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
) -> Result<(Source, Inputs)> {
    let found = inputs(names, options.format)?;
    let Some(first) = found.inputs.first() else {
        let what = "no log is named".to_owned();
        return Err(Error::new(ErrorKind::Option(what)).with_hint("name at least one, or -"));
    };
    let later = found.inputs.iter().skip(1).flat_map(Input::names);
    for name in later.filter(|name| *name != "-") {
        std::fs::metadata(name)
            .map_err(|error| Error::io(name, error).with_hint("check the name"))?;
    }
    progress.bytes_total.store(total_bytes(&found.inputs), Ordering::Relaxed);
    Ok((Source::open_input(first, options.format, progress)?, found))
}

/// Parses the logs `names`, one after another, into one file.
///
/// `interrupted` is asked about ten times a second whether to stop.
///
/// # Errors
/// A log cannot be read or is none, or the output cannot be written. Then there is no output.
pub fn parse(
    names: &[String],
    output: &Output<'_>,
    options: Options,
    progress: &Arc<Progress>,
    mut interrupted: impl FnMut() -> bool,
) -> Result<Report> {
    let begin = Instant::now();
    let file = if output.path == "-" {
        AtomicFile::stdout()?
    } else {
        AtomicFile::create(Path::new(output.path), output.clobber)?
    };
    let (first, Inputs { inputs, warnings }) = open_first(names, &options, progress)?;
    let mut warnings = [empty_warning(&first), warnings].concat();
    let encoder = match output.kind {
        FileKind::Parquet => Encoder::Parquet(ParquetEncoder::try_new(ParquetOptions::default())?),
        FileKind::Arrow => Encoder::Ipc(IpcEncoder::new()),
    };
    let written = |error: Error| about_output(error, Path::new(output.path));
    let mut appender = encoder.appender(file).map_err(written)?;
    let pipeline = Pipeline::start(first, inputs, encoder, options, Arc::clone(progress))?;
    loop {
        match pipeline.next(PATIENCE)? {
            Some(Some(encoded)) => appender.append(encoded).map_err(written)?,
            Some(None) => {}
            None => break,
        }
        if interrupted() {
            return Err(Error::cancelled());
        }
    }
    let tally = pipeline.tally().unwrap_or_default();
    drop(pipeline);
    warnings.extend(no_rows(&tally, &warnings));
    let mut report = Report { tally, warnings, seconds: 0.0 };
    appender.finish(report.metadata()).map_err(written)?.commit()?;
    report.seconds = begin.elapsed().as_secs_f64();
    Ok(report)
}

fn empty_warning(source: &Source) -> Vec<String> {
    match source.format {
        Some(_) => Vec::new(),
        None => vec![format!("{}: the log is empty", source.name)],
    }
}

fn no_rows(tally: &tracefast_core::stream::Tally, warnings: &[String]) -> Option<String> {
    let none = tally.kinds.iter().sum::<u64>() == 0 && warnings.is_empty();
    none.then(|| "no event was found".to_owned())
}

/// Gives batches as they are.
struct Plain;

impl Encode for Plain {
    type Output = Vec<RecordBatch>;

    fn encode(&self, batches: Vec<RecordBatch>) -> Result<Vec<RecordBatch>> {
        Ok(batches)
    }
}

/// A stream of record batches of at most 65,536 rows.
pub struct BatchStream {
    pipeline: Option<Pipeline<Plain>>,
    schema: SchemaRef,
    ready: std::vec::IntoIter<RecordBatch>,
    warnings: Vec<String>,
    report: Option<Report>,
    begin: Instant,
}

impl BatchStream {
    /// Opens `names` and starts to parse.
    ///
    /// # Errors
    /// The first log cannot be read or is none, or another one is missing.
    pub fn open(names: &[String], options: Options, progress: &Arc<Progress>) -> Result<Self> {
        let begin = Instant::now();
        let (first, Inputs { inputs, warnings }) = open_first(names, &options, progress)?;
        let warnings = [empty_warning(&first), warnings].concat();
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
        })
    }

    /// The schema of the batches, with what is known of the logs before they are read.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The next batch; `Ok(None)` at the end, `Ok(Some(None))` if there is none yet after a tenth
    /// of a second.
    ///
    /// # Errors
    /// The first error of any stage; the stream is at its end then.
    pub fn poll(&mut self) -> Result<Option<Option<RecordBatch>>> {
        if let Some(batch) = self.ready.next() {
            return Ok(Some(Some(self.dressed(batch)?)));
        }
        let Some(pipeline) = &self.pipeline else { return Ok(None) };
        match pipeline.next(PATIENCE) {
            Ok(Some(Some(batches))) => {
                self.ready = batches.into_iter();
                match self.ready.next() {
                    Some(batch) => Ok(Some(Some(self.dressed(batch)?))),
                    None => Ok(Some(None)),
                }
            }
            Ok(Some(None)) => Ok(Some(None)),
            Ok(None) => {
                let tally = pipeline.tally().unwrap_or_default();
                let mut warnings = std::mem::take(&mut self.warnings);
                warnings.extend(no_rows(&tally, &warnings));
                let seconds = self.begin.elapsed().as_secs_f64();
                self.report = Some(Report { tally, warnings, seconds });
                self.pipeline = None;
                Ok(None)
            }
            Err(error) => {
                self.pipeline = None;
                Err(error)
            }
        }
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
        self.pipeline = None;
        self.ready = Vec::new().into_iter();
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
