//! Logs as a stream of record batches.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};

use crate::error::{Error, ErrorKind, Result};
use crate::input::merge::Inputs;
use crate::input::source::Progress;
use crate::open::{PATIENCE, open_first, warnings};
use crate::pipeline::{Encode, Options, Pipeline, Poll};
use crate::report::{Report, metadata};

/// Hands out batches unchanged.
struct Unencoded;

impl Encode for Unencoded {
    type Output = Vec<RecordBatch>;

    fn encode(&self, batches: Vec<RecordBatch>) -> Result<Vec<RecordBatch>> {
        Ok(batches)
    }
}

/// A stream of record batches of at most [`tracefast_core::batch::BATCH_ROWS`] rows.
pub struct BatchStream {
    pipeline: Option<Pipeline<Unencoded>>,
    schema: SchemaRef,
    ready: std::vec::IntoIter<RecordBatch>,
    warnings: Vec<String>,
    report: Option<Report>,
    started: Instant,
    /// Whether the stream was closed while more could have followed.
    closed_early: bool,
    progress: Arc<Progress>,
    /// The process that started the threads.
    process: u32,
}

impl BatchStream {
    /// Opens `names` and starts to parse.
    ///
    /// # Errors
    /// The first log cannot be read or is not a log, or another one is missing.
    pub fn open(names: &[String], options: Options, progress: &Arc<Progress>) -> Result<Self> {
        Self::open_with(names, options, progress, || false)
    }

    /// Does what [`BatchStream::open`] does. While the first log is a pipe without any data yet,
    /// `interrupted` is called several times a second; `true` stops the run.
    ///
    /// # Errors
    /// The same as those of [`BatchStream::open`].
    pub fn open_with(
        names: &[String],
        options: Options,
        progress: &Arc<Progress>,
        mut interrupted: impl FnMut() -> bool,
    ) -> Result<Self> {
        let started = Instant::now();
        let (first, Inputs { inputs, warnings }) =
            open_first(names, &options, progress, &mut interrupted)?;
        let (format, clock) =
            first.format.map_or(("none", "none"), |format| (format.name(), format.clock()));
        let schema = options.projection.schema();
        let facts: std::collections::HashMap<_, _> = metadata(format, clock).into_iter().collect();
        let schema = Arc::new(Schema::new_with_metadata(schema.fields().clone(), facts));
        let pipeline = Pipeline::start(first, inputs, Unencoded, options, Arc::clone(progress))?;
        Ok(Self {
            pipeline: Some(pipeline),
            schema,
            ready: Vec::new().into_iter(),
            warnings,
            report: None,
            started,
            closed_early: false,
            progress: Arc::clone(progress),
            process: std::process::id(),
        })
    }

    /// The schema of the batches, with what is known of the logs before they are read.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The next batch. Waits for it a twentieth of a second, so that the caller can look for
    /// signals.
    ///
    /// # Errors
    /// The first error of any stage; the stream ends with it. Or the stream was closed early: what
    /// was read until then is not everything.
    pub fn poll(&mut self) -> Result<Poll<RecordBatch>> {
        if let Some(batch) = self.next_ready() {
            return Ok(Poll::Ready(self.with_metadata(batch)?));
        }
        if self.closed_early {
            let what = "the reader was closed before its end; open a new one";
            return Err(Error::new(ErrorKind::Option(what.to_owned())));
        }
        let Some(pipeline) = &self.pipeline else { return Ok(Poll::End) };
        if self.process != std::process::id() {
            let what =
                "a reader works only in the process that opened it; open one in each process";
            return Err(Error::new(ErrorKind::Option(what.to_owned())));
        }
        match pipeline.next(PATIENCE) {
            Ok(Poll::Ready(batches)) => {
                self.ready = batches.into_iter();
                match self.next_ready() {
                    Some(batch) => Ok(Poll::Ready(self.with_metadata(batch)?)),
                    None => Ok(Poll::Waiting),
                }
            }
            Ok(Poll::Waiting) => Ok(Poll::Waiting),
            Ok(Poll::End) => {
                let counts = pipeline.counts().unwrap_or_default();
                let known = std::mem::take(&mut self.warnings);
                let warnings = [known, warnings(&counts)].concat();
                let seconds = self.started.elapsed().as_secs_f64();
                self.report = Some(Report { counts, warnings, seconds });
                self.pipeline = None;
                self.progress.done.store(true, Ordering::Relaxed);
                Ok(Poll::End)
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

    /// Puts what is known of the logs into the schema of a batch.
    fn with_metadata(&self, batch: RecordBatch) -> Result<RecordBatch> {
        Ok(batch.with_schema(self.schema())?)
    }

    /// The counts, after the end.
    pub fn report(&self) -> Option<&Report> {
        self.report.as_ref()
    }

    /// Stops early.
    pub fn close(&mut self) {
        let pipeline = self.pipeline.take();
        self.closed_early |= pipeline.is_some() || self.ready.len() > 0;
        if self.process != std::process::id() {
            // A fork copies the handles of the threads, not the threads, so none can be joined.
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
                Ok(Poll::Ready(batch)) => return Some(Ok(batch)),
                Ok(Poll::Waiting) => {}
                Ok(Poll::End) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
