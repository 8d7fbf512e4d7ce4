//! Several folds that take the same batches, on all processors and without the interpreter lock.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::arrow::batch::Batch;
use crate::arrow::import::arrow;
use crate::arrow::parquet_events::ParquetEvents;
use crate::errors::exception;
use crate::tables::fold::{Fold, Pushed, SharedFold, TaskRows, taken};

/// Batches that a fold takes in one go: its own data stays in the processor's cache meanwhile.
const TOGETHER: usize = 16;
/// Fewer, if they have so many bytes: lines may be long. A text that several columns point into
/// counts for each of them.
const LONG: usize = 256 << 20;
/// So many of these wait for the slowest fold at most: a faster one need not wait for it each time.
const AHEAD: usize = 2;
/// How long to wait before Python looks for signals.
const PATIENCE: Duration = Duration::from_millis(50);

type Group = Arc<[RecordBatch]>;

/// Folds that take the same batches in threads: each in order, several at once.
#[pyclass(frozen, module = "tracefast._core")]
pub struct FoldThreads {
    lanes: Arc<Lanes>,
    group: Mutex<NextGroup>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// The batches of the next group, and their bytes.
#[derive(Default)]
struct NextGroup {
    batches: Vec<RecordBatch>,
    bytes: usize,
}

struct Lanes {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    lanes: Vec<Lane>,
    /// Those that have something to take and that no thread runs; who waits longest is first.
    ready: VecDeque<usize>,
    failed: Option<Failed>,
    over: bool,
}

struct Lane {
    fold: SharedFold,
    /// What it takes next, in order; while a thread runs it, the first one is what it takes now.
    groups: VecDeque<Group>,
}

/// Why a fold does not go on.
enum Failed {
    Arrow(arrow_schema::ArrowError),
    Taken,
    Panicked,
}

impl Failed {
    fn raise(self) -> PyErr {
        match self {
            Self::Arrow(error) => arrow(&error),
            Self::Taken => taken(),
            Self::Panicked => PyRuntimeError::new_err("a table failed: this is a bug in tracefast"),
        }
    }
}

impl Lanes {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&'a self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout(state, PATIENCE);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Waits until no fold has more than `most` groups to take; false if it takes longer than
    /// Python should wait.
    fn until(&self, most: usize) -> Result<bool, Failed> {
        let mut state = self.lock();
        for waited in [false, true] {
            if let Some(failed) = state.failed.take() {
                return Err(failed);
            }
            if state.lanes.iter().all(|lane| lane.groups.len() <= most) {
                return Ok(true);
            }
            if !waited {
                state = self.wait(state);
            }
        }
        Ok(false)
    }

    fn give(&self, group: &Group) {
        let mut state = self.lock();
        let State { lanes, ready, .. } = &mut *state;
        for (number, lane) in lanes.iter_mut().enumerate() {
            lane.groups.push_back(Arc::clone(group));
            if lane.groups.len() == 1 {
                ready.push_back(number);
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    /// What each thread does.
    fn run(&self) {
        let mut state = self.lock();
        while !state.over {
            let Some(number) = state.ready.pop_front() else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let lane = &state.lanes[number];
            let (fold, group) = (lane.fold.clone(), lane.groups.front().map(Arc::clone));
            drop(state);
            let all =
                || group.iter().flat_map(|group| group.iter()).try_for_each(|b| push(&fold, b));
            let done = catch_unwind(AssertUnwindSafe(all)).unwrap_or(Err(Failed::Panicked));
            drop(group);
            state = self.lock();
            match done {
                Ok(()) => {
                    let State { lanes, ready, .. } = &mut *state;
                    lanes[number].groups.pop_front();
                    if !lanes[number].groups.is_empty() {
                        // Behind those of the other folds.
                        ready.push_back(number);
                    }
                }
                // The lane keeps its groups: nothing may look as if it had taken all.
                Err(failed) => state.failed = Some(failed),
            }
            self.changed.notify_all();
        }
    }
}

/// Why a file was not read to its end.
enum Stopped {
    Failed(Failed),
    Unreadable(tracefast_io::Error),
}

impl Stopped {
    fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Failed(failed) => failed.raise(),
            Self::Unreadable(error) => exception(py, &error),
        }
    }
}

impl From<Failed> for Stopped {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

impl From<arrow_schema::ArrowError> for Stopped {
    fn from(error: arrow_schema::ArrowError) -> Self {
        Self::Failed(Failed::Arrow(error))
    }
}

impl From<tracefast_io::Error> for Stopped {
    fn from(error: tracefast_io::Error) -> Self {
        Self::Unreadable(error)
    }
}

fn push(fold: &SharedFold, batch: &RecordBatch) -> Result<(), Failed> {
    match fold.push(batch) {
        Pushed::Done => Ok(()),
        Pushed::Taken => Err(Failed::Taken),
        Pushed::Failed(error) => Err(Failed::Arrow(error)),
    }
}

#[pymethods]
impl FoldThreads {
    #[new]
    #[allow(clippy::needless_pass_by_value)] // Python's arguments.
    fn new(folds: Vec<PyRef<'_, Fold>>, threads: usize) -> PyResult<Self> {
        let lane = |fold: &PyRef<'_, Fold>| Lane { fold: fold.shared(), groups: VecDeque::new() };
        let state = State { lanes: folds.iter().map(lane).collect(), ..State::default() };
        let lanes = Arc::new(Lanes { state: Mutex::new(state), changed: Condvar::new() });
        let made =
            Self { lanes: Arc::clone(&lanes), group: Mutex::default(), threads: Mutex::default() };
        for _ in 0..threads.min(folds.len()) {
            let lanes = Arc::clone(&lanes);
            let thread = thread::Builder::new().name("tracefast-fold".into());
            let thread = thread.spawn(move || lanes.run())?;
            made.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        }
        Ok(made)
    }

    /// Wait for room, a twentieth of a second at most, and give a batch to all folds; whether there
    /// was room.
    #[allow(clippy::needless_pass_by_value)] // Python's arguments.
    fn take(&self, py: Python<'_>, batch: PyRef<'_, Batch>) -> PyResult<bool> {
        if self.is_full() && !self.give(py)? {
            return Ok(false);
        }
        self.add(batch.rows().clone());
        Ok(true)
    }

    /// Give all folds what a file has, for a twentieth of a second and one batch at most; whether
    /// that was the rest. `rows` adds to each batch what its rows say about tasks.
    ///
    /// Nothing here waits for Python, which may be busy with imports.
    #[pyo3(signature = (events, rows = None))]
    #[allow(clippy::needless_pass_by_value)] // Python's arguments.
    fn take_from(
        &self,
        py: Python<'_>,
        events: PyRef<'_, ParquetEvents>,
        rows: Option<PyRef<'_, TaskRows>>,
    ) -> PyResult<bool> {
        let (events, rows) = (&*events, rows.as_deref());
        let all = py.detach(|| {
            let since = Instant::now();
            while since.elapsed() < PATIENCE {
                if self.is_full() && !self.hand_over()? {
                    return Ok(false);
                }
                let Some(batch) = events.next_batch()? else { return Ok(true) };
                self.add(match rows {
                    Some(rows) => rows.add(&batch)?,
                    None => batch,
                });
            }
            Ok(false)
        });
        all.map_err(|error: Stopped| error.raise(py))
    }

    /// Wait, a twentieth of a second at most, until all folds have taken everything; whether they
    /// have.
    fn end(&self, py: Python<'_>) -> PyResult<bool> {
        if !self.group().batches.is_empty() && !self.give(py)? {
            return Ok(false);
        }
        py.detach(|| self.lanes.until(0)).map_err(Failed::raise)
    }
}

impl FoldThreads {
    fn group(&self) -> MutexGuard<'_, NextGroup> {
        self.group.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_full(&self) -> bool {
        let group = self.group();
        group.batches.len() >= TOGETHER || group.bytes >= LONG
    }

    /// Adds a batch to the next group.
    fn add(&self, batch: RecordBatch) {
        let mut group = self.group();
        group.bytes = group.bytes.saturating_add(batch.get_array_memory_size());
        group.batches.push(batch);
    }

    /// Gives the folds the next group, if there is room.
    fn give(&self, py: Python<'_>) -> PyResult<bool> {
        py.detach(|| self.hand_over()).map_err(Failed::raise)
    }

    /// The same without the interpreter lock.
    fn hand_over(&self) -> Result<bool, Failed> {
        let room = self.lanes.until(AHEAD - 1)?;
        if room {
            let group = std::mem::take(&mut *self.group());
            self.lanes.give(&group.batches.into());
        }
        Ok(room)
    }
}

impl Drop for FoldThreads {
    /// The threads end after the batches that they are taking.
    fn drop(&mut self) {
        self.lanes.lock().over = true;
        self.lanes.changed.notify_all();
        let threads =
            std::mem::take(self.threads.get_mut().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            // It catches what may panic.
            let _ = thread.join();
        }
    }
}
