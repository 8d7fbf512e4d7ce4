//! Logs as a stream of record batches.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::Instant;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use tracefast_io::input::arriving::Ending;
use tracefast_io::open::PATIENCE;
use tracefast_io::pipeline::Poll;
use tracefast_io::read::BatchStream;

use crate::arrow::batch::{Batch, Schema, schema_capsule, stream_capsule};
use crate::arrow::requested::Request;
use crate::errors::exception;
use crate::notebook;
use crate::options::{READ_ROWS, options};
use crate::predicate::Wanted;
use crate::progress::{Progress, counters};
use crate::report::Report;

/// The events of some logs as a stream of Arrow record batches, which can be read once.
///
/// ``tf.read`` makes it. It is an iterator of batches and a context manager, and anything that
/// takes Arrow takes it whole: ``pl.DataFrame(reader)``, ``pa.table(reader)``. After iteration has
/// begun, the stream holds the remaining rows. A reader that was read to its end, handed out or
/// closed raises an error.
///
/// Attributes
/// ----------
/// schema : Schema
///     The columns of the batches.
/// report : Report or None
///     What was read, at the end of the stream; None before.
///
/// Examples
/// --------
/// >>> import polars as pl
/// >>> import tracefast as tf
/// >>> reader = tf.read("demo.strace", columns=["name", "ret"])
/// >>> reader
/// Reader(logs=['demo.strace'], columns=2, state='open')
/// >>> pl.DataFrame(reader).shape
/// (8, 2)
/// >>> reader.report.lines
/// 10
/// >>> with tf.read("demo.strace") as reader:
/// ...     print(sum(len(batch) for batch in reader))
/// 8
#[pyclass(frozen, module = "tracefast")]
pub struct Reader {
    logs: Vec<String>,
    stream: Arc<Mutex<BatchStream>>,
    state: Mutex<State>,
    schema: SchemaRef,
    /// The thread that opened it, if signals come to that one.
    main: Option<ThreadId>,
    /// Asks for the end of a log that still comes.
    ending: Option<Ending>,
}

/// How many logs `repr` of a reader names.
const NAMED: usize = 3;

/// The state of the stream.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    HandedOut,
    /// Iterated to its end, or to an error.
    Ended,
    Closed,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::HandedOut => "handed out",
            Self::Ended => "at its end",
            Self::Closed => "closed",
        }
    }

    /// Only an open stream can be handed out: an empty one would look like an empty log.
    fn check_open(self) -> PyResult<()> {
        let what = match self {
            Self::Open => return Ok(()),
            Self::HandedOut => "the stream was already exported",
            Self::Ended => "the stream was read to its end",
            Self::Closed => return self.check_not_closed(),
        };
        Err(PyRuntimeError::new_err(format!("{what}; call tracefast.read again")))
    }

    fn check_not_closed(self) -> PyResult<()> {
        if self == Self::Closed {
            let text = "the reader is closed; call tracefast.read again";
            return Err(PyValueError::new_err(text));
        }
        Ok(())
    }
}

/// The thread that runs, if it is the one in which Python handles signals.
fn main_thread(py: Python<'_>) -> PyResult<Option<ThreadId>> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    let here = threading.call_method0("get_ident")?;
    Ok(main.eq(here)?.then(|| std::thread::current().id()))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl Reader {
    #[new]
    #[pyo3(signature = (
        sources, *, format_in = None, threads = None, block_bytes = 262_144, columns = None,
        machine = None, assume_complete = false, predicate = None, limit = None, progress = None,
        plain_words = false, arriving = false, ahead = 0
    ), text_signature = None)]
    #[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)] // Python's keyword arguments.
    #[allow(clippy::redundant_closure_for_method_calls)] // The method's lifetimes do not fit.
    fn new(
        py: Python<'_>,
        sources: Vec<String>,
        format_in: Option<&str>,
        threads: Option<usize>,
        block_bytes: usize,
        columns: Option<Vec<String>>,
        machine: Option<&str>,
        assume_complete: bool,
        predicate: Option<Wanted>,
        limit: Option<usize>,
        progress: Option<&Bound<'_, Progress>>,
        plain_words: bool,
        arriving: bool,
        ahead: usize,
    ) -> PyResult<Self> {
        let columns = columns.as_deref();
        let mut options = options(format_in, threads, block_bytes, READ_ROWS, columns, machine)?;
        options.predicate = predicate.map(|Wanted(predicate)| predicate);
        options.limit = limit;
        options.assume_complete = assume_complete;
        options.ahead = ahead;
        options.arriving = arriving.then(Ending::default);
        let ending = options.arriving.clone();
        if plain_words {
            options.projection = options.projection.with_plain_words();
        }
        let progress = counters(progress);
        let main = main_thread(py)?;
        let (stream, raised) = py.detach(|| {
            let mut raised = None;
            let interrupted = || {
                raised = Python::attach(|py| py.check_signals()).err();
                raised.is_some()
            };
            let stream = BatchStream::open_with(&sources, options, &progress, interrupted);
            (stream, raised)
        });
        let stream = match (stream, raised) {
            (_, Some(raised)) => return Err(raised),
            (stream, None) => stream.map_err(|error| exception(py, &error))?,
        };
        let schema = stream.schema();
        let state = Mutex::new(State::Open);
        Ok(Self {
            logs: sources,
            stream: Arc::new(Mutex::new(stream)),
            state,
            schema,
            main,
            ending,
        })
    }

    /// The columns of the batches.
    #[getter]
    fn schema(&self) -> Schema {
        Schema::new(Arc::clone(&self.schema))
    }

    /// What was read, at the end of the stream; None before.
    #[getter]
    fn report(&self, py: Python<'_>) -> Option<Report> {
        py.detach(|| lock(&self.stream).report().cloned()).map(Report::new)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let request = Request::new(&self.schema, requested_schema)?;
        let mut state = lock(&self.state);
        state.check_open()?;
        *state = State::HandedOut;
        let stream = Arc::clone(&self.stream);
        stream_capsule(py, Export { stream, request, main: self.main, looked: Instant::now() })
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        loop {
            match self.poll(py)? {
                (_, Some(batch)) => return Ok(Some(batch)),
                (true, None) => return Ok(None),
                (false, None) => {}
            }
        }
    }

    /// Wait a twentieth of a second for a batch: whether this was the end, and the batch.
    fn poll(&self, py: Python<'_>) -> PyResult<(bool, Option<Batch>)> {
        // Checks even if there is a batch: a loop in C never checks for signals.
        py.check_signals()?;
        lock(&self.state).check_not_closed()?;
        let found = py.detach(|| lock(&self.stream).poll());
        if matches!(found, Ok(Poll::End) | Err(_)) {
            let mut state = lock(&self.state);
            if *state == State::Open {
                *state = State::Ended;
            }
        }
        let found = found.map_err(|error| exception(py, &error))?;
        Ok(match found {
            Poll::Ready(batch) => (false, Some(Batch::new(batch))),
            Poll::Waiting => (false, None),
            Poll::End => (true, None),
        })
    }

    /// Take what was read so far of a log that still comes for all of it; batches of it follow.
    fn end(&self) {
        if let Some(ending) = &self.ending {
            ending.end();
        }
    }

    /// Stop reading; batches that were returned stay valid.
    ///
    /// On a closed reader, iteration and ``__arrow_c_stream__`` raise `ValueError`.
    fn close(&self, py: Python<'_>) {
        *lock(&self.state) = State::Closed;
        py.detach(|| lock(&self.stream).close());
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let named = PyList::new(py, self.logs.iter().take(NAMED))?.repr()?.to_string();
        let more = self.logs.len().saturating_sub(NAMED);
        let logs = match named.strip_suffix(']') {
            Some(named) if more > 0 => format!("{named}, … {more} more]"),
            _ => named,
        };
        let state = lock(&self.state).name();
        let columns = self.schema.fields().len();
        Ok(format!("Reader(logs={logs}, columns={columns}, state='{state}')"))
    }

    fn _repr_html_(&self, py: Python<'_>) -> String {
        let mut rows: Vec<_> = self.logs.iter().map(|log| notebook::row("log", log)).collect();
        let more = rows.len().saturating_sub(NAMED);
        rows.truncate(NAMED);
        if more > 0 {
            rows.push(notebook::row("", format!("{more} more logs")));
        }
        rows.push(notebook::row("columns", self.schema.fields().len().to_string()));
        rows.push(notebook::row("state", lock(&self.state).name()));
        match self.report(py) {
            Some(report) => rows.extend(report.summary()),
            None => rows.push(notebook::row("quality", "known when all is read")),
        }
        notebook::table("Reader", &rows)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, py: Python<'_>, _args: &Bound<'_, pyo3::types::PyTuple>) {
        self.close(py);
    }
}

/// The stream for the C interface.
struct Export {
    stream: Arc<Mutex<BatchStream>>,
    request: Request,
    main: Option<ThreadId>,
    /// When it last checked for signals.
    looked: Instant,
}

impl Export {
    /// Checks for signals in the thread that handles them: only there is it safe to wait for
    /// Python. Elsewhere another thread may hold Python and wait for this batch.
    fn check_signals(&self) -> Result<(), ArrowError> {
        if self.main != Some(std::thread::current().id()) {
            return Ok(());
        }
        Python::attach(|py| {
            let Err(raised) = py.check_signals() else { return Ok(()) };
            let error = ArrowError::ExternalError(format!("stopped by a signal: {raised}").into());
            if raised.is_instance_of::<PyKeyboardInterrupt>(py) {
                // The consumer of the stream turns this error into one of its own. Python raises
                // the interrupt as soon as it runs again, even if that error is caught.
                #[allow(unsafe_code)]
                // SAFETY: it only notes that the signal came, and may be called at any time.
                unsafe {
                    pyo3::ffi::PyErr_SetInterrupt();
                }
            }
            Err(error)
        })
    }
}

impl Iterator for Export {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            // Not for each batch: other threads of Python may keep it busy.
            if self.looked.elapsed() > PATIENCE {
                if let Err(error) = self.check_signals() {
                    return Some(Err(error));
                }
                self.looked = Instant::now();
            }
            let found = lock(&self.stream).poll();
            match found {
                Ok(Poll::Ready(batch)) => return Some(self.request.answer(batch)),
                Ok(Poll::Waiting) => {}
                Ok(Poll::End) => return None,
                Err(error) => return Some(Err(ArrowError::ExternalError(Box::new(error)))),
            }
        }
    }
}

impl RecordBatchReader for Export {
    fn schema(&self) -> SchemaRef {
        self.request.schema()
    }
}
