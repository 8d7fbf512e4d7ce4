//! The folds of the core as Python objects: batches of events in, one table out.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::PyClass;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use tracefast_core::tables::fold;
use tracefast_core::tables::process_tracking::task_rows;

use crate::arrow::batch::{Batch, Schema};
use crate::arrow::import::{arrow, batch, stream};

/// A fold of any type.
trait AnyFold: Send {
    fn needed(&self) -> SchemaRef;
    fn schema(&self) -> SchemaRef;
    fn follows_tasks(&self) -> bool;
    fn push(&mut self, batch: &RecordBatch, words: &fold::Dictionaries) -> Result<(), ArrowError>;
    fn ready(&mut self) -> Result<Vec<RecordBatch>, ArrowError>;
    fn finish(self: Box<Self>) -> Result<Vec<RecordBatch>, ArrowError>;
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

impl<F: fold::Fold + Send + 'static> AnyFold for F {
    fn needed(&self) -> SchemaRef {
        fold::Fold::needed(self)
    }

    fn schema(&self) -> SchemaRef {
        fold::Fold::schema(self)
    }

    fn follows_tasks(&self) -> bool {
        fold::Fold::follows_tasks(self)
    }

    fn push(&mut self, batch: &RecordBatch, words: &fold::Dictionaries) -> Result<(), ArrowError> {
        fold::Fold::push(self, batch, words)
    }

    fn ready(&mut self) -> Result<Vec<RecordBatch>, ArrowError> {
        fold::Fold::ready(self)
    }

    fn finish(self: Box<Self>) -> Result<Vec<RecordBatch>, ArrowError> {
        fold::Fold::finish(*self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// The table of a fold as it is, in parts.
type Snapshot = fn(&dyn Any) -> Result<Vec<RecordBatch>, ArrowError>;

/// The table that a copy of a fold of type `F` gives.
fn snapshot<F: fold::Fold + Clone + 'static>(
    fold: &dyn Any,
) -> Result<Vec<RecordBatch>, ArrowError> {
    let copy = fold.downcast_ref::<F>().cloned();
    copy.map_or_else(|| Ok(Vec::new()), fold::Fold::finish)
}

/// A table in the making: batches of events in, in order, one table out.
#[pyclass(frozen, subclass, module = "tracefast._core")]
pub struct Fold(SharedFold);

/// A fold that threads without Python may push to; None once its table was taken.
#[derive(Clone)]
pub(crate) struct SharedFold(Arc<Mutex<Option<State>>>);

/// What came of a batch.
pub(crate) enum Pushed {
    Done,
    /// The table was already taken.
    Taken,
    Failed(ArrowError),
}

impl SharedFold {
    pub(crate) fn push(&self, batch: &RecordBatch) -> Pushed {
        match &mut *self.lock() {
            None => Pushed::Taken,
            Some(State { fold, words, .. }) => {
                fold.push(batch, words).map_or_else(Pushed::Failed, |()| Pushed::Done)
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<State>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct State {
    fold: Box<dyn AnyFold>,
    /// Makes the table of what came so far; only for tables that are shown while events come.
    snapshot: Option<Snapshot>,
    words: fold::Dictionaries,
}

impl Fold {
    /// An object of a class that extends this one.
    pub(crate) fn extended<T: PyClass<BaseType = Self>>(
        class: T,
        fold: impl fold::Fold + Send + 'static,
    ) -> PyClassInitializer<T> {
        Self::with_snapshot(class, fold, None)
    }

    /// The same, whose table can be looked at while events come.
    pub(crate) fn copyable<T: PyClass<BaseType = Self>, F: fold::Fold + Clone + Send + 'static>(
        class: T,
        fold: F,
    ) -> PyClassInitializer<T> {
        Self::with_snapshot(class, fold, Some(snapshot::<F>))
    }

    fn with_snapshot<T: PyClass<BaseType = Self>>(
        class: T,
        fold: impl fold::Fold + Send + 'static,
        snapshot: Option<Snapshot>,
    ) -> PyClassInitializer<T> {
        let (fold, words) = (Box::new(fold), fold::Dictionaries::default());
        let state = Mutex::new(Some(State { fold, snapshot, words }));
        let base = Self(SharedFold(Arc::new(state)));
        PyClassInitializer::from(base).add_subclass(class)
    }

    /// The result of `look` for a fold of type `F`; None if the table was taken.
    pub(crate) fn look<F: 'static, T>(&self, look: impl FnOnce(&F) -> T) -> Option<T> {
        self.with(|state| state.fold.as_any().downcast_ref().map(look)).ok().flatten()
    }

    /// The result of `change` for a fold of type `F`; None if the table was taken.
    pub(crate) fn change<F: 'static, T>(&self, change: impl FnOnce(&mut F) -> T) -> Option<T> {
        self.with(|state| state.fold.as_any_mut().downcast_mut().map(change)).ok().flatten()
    }

    fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> PyResult<T> {
        self.lock().as_mut().map(look).ok_or_else(taken)
    }

    fn lock(&self) -> MutexGuard<'_, Option<State>> {
        self.0.lock()
    }

    /// The fold, for threads without Python.
    pub(crate) fn shared(&self) -> SharedFold {
        self.0.clone()
    }
}

pub(crate) fn taken() -> PyErr {
    PyRuntimeError::new_err("the table was already taken")
}

#[pymethods]
impl Fold {
    /// The columns of the events that the fold reads, in the types that events have.
    #[getter]
    fn needed(&self) -> PyResult<Schema> {
        self.with(|state| Schema::new(state.fold.needed()))
    }

    /// The columns of the table.
    #[getter]
    fn schema(&self) -> PyResult<Schema> {
        self.with(|state| Schema::new(state.fold.schema()))
    }

    /// Whether it takes less time if `TaskRows` go first.
    #[getter]
    fn follows_tasks(&self) -> PyResult<bool> {
        self.with(|state| state.fold.follows_tasks())
    }

    /// Take the dictionary of a column whose batches hold only keys.
    fn words(&self, column: &str, words: &Bound<'_, PyAny>) -> PyResult<()> {
        let words = first_column(words)?;
        self.with(|state| {
            state.words.insert(column.to_owned(), words);
        })
    }

    /// Take in events.
    fn push(&self, py: Python<'_>, events: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut over = false;
        feed(py, events, |batch| match self.0.push(batch) {
            Pushed::Done => Ok(()),
            Pushed::Failed(error) => Err(error),
            Pushed::Taken => {
                over = true;
                Ok(())
            }
        })?;
        if over { Err(taken()) } else { Ok(()) }
    }

    /// Give the first rows of the table, if they can no longer change; each once.
    fn ready(&self, py: Python<'_>) -> PyResult<Vec<Batch>> {
        let parts = py.detach(|| self.with(|state| state.fold.ready()))?;
        let parts = parts.map_err(|error| arrow(&error))?;
        Ok(parts.into_iter().map(Batch::new).collect())
    }

    /// Give the table of the events so far, in parts; more may follow.
    fn snapshot(&self, py: Python<'_>) -> PyResult<Vec<Batch>> {
        let parts = py.detach(|| {
            self.with(|State { fold, snapshot, .. }| {
                snapshot.map(|snapshot| snapshot(fold.as_any()))
            })
        })?;
        let what = "this table is known at the end only";
        let parts = parts.ok_or_else(|| PyRuntimeError::new_err(what))?;
        Ok(parts.map_err(|error| arrow(&error))?.into_iter().map(Batch::new).collect())
    }

    /// Give the rest of the table in parts; once.
    fn finish(&self, py: Python<'_>) -> PyResult<Vec<Batch>> {
        let state = self.lock().take();
        let State { fold, .. } = state.ok_or_else(taken)?;
        let parts = py.detach(|| fold.finish()).map_err(|error| arrow(&error))?;
        Ok(parts.into_iter().map(Batch::new).collect())
    }
}

/// What each row says about tasks, found out once for the folds of several tables.
#[pyclass(frozen, module = "tracefast._core")]
pub struct TaskRows {
    rows: Mutex<task_rows::TaskRows>,
}

#[pymethods]
impl TaskRows {
    #[new]
    fn new() -> Self {
        Self { rows: Mutex::default() }
    }

    /// Give events, in order, with a column for folds that take all of them.
    fn add_to(&self, py: Python<'_>, events: &Bound<'_, PyAny>) -> PyResult<Batch> {
        let add = |events: &RecordBatch| py.detach(|| self.add(events));
        let more = match events.cast::<Batch>() {
            Ok(own) => add(own.get().rows()),
            Err(_) => add(&batch(events)?),
        };
        more.map(Batch::new).map_err(|error| arrow(&error))
    }
}

impl TaskRows {
    /// The same without the interpreter lock.
    pub(crate) fn add(&self, events: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).add_to(events)
    }
}

/// Calls `each` with the batches of a table, without the interpreter lock.
pub(crate) fn feed(
    py: Python<'_>,
    events: &Bound<'_, PyAny>,
    mut each: impl FnMut(&RecordBatch) -> Result<(), ArrowError> + Send,
) -> PyResult<()> {
    let done = if let Ok(own) = events.cast::<Batch>() {
        let own = own.get();
        py.detach(|| each(own.rows()))
    } else if events.hasattr("__arrow_c_stream__")? {
        let batches = stream(events)?;
        py.detach(|| batches.into_iter().try_for_each(|batch| each(&batch?)))
    } else {
        let batch = batch(events)?;
        py.detach(|| each(&batch))
    };
    done.map_err(|error| arrow(&error))
}

/// The first column of a table of one batch.
pub(crate) fn first_column(table: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let batch = stream(table)?.next().transpose().map_err(|error| arrow(&error))?;
    let column = batch.and_then(|batch| batch.columns().first().cloned());
    column.ok_or_else(|| PyValueError::new_err("expected a table with one column"))
}
