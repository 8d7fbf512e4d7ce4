//! The two passes of an export.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tracefast_core::export::{self, Format, Weight};
use tracefast_core::tables::fold::Dictionaries;
use tracefast_io::sink::ExportFile;

use crate::arrow::batch::{Batch, Schema};
use crate::errors::exception;
use crate::tables::fold::{Fold, feed, first_column, taken};

/// The first pass of an export: processes, names, wakers of waits of at least `min_ns` nanoseconds.
#[pyclass(frozen, extends = Fold, module = "tracefast._core")]
pub struct Survey;

#[pymethods]
impl Survey {
    #[new]
    #[pyo3(signature = (*, min_ns = None))]
    fn new(min_ns: Option<i64>) -> PyClassInitializer<Self> {
        Fold::extended(Self, export::Survey::new(min_ns))
    }

    /// What is known when all events are in; once.
    fn plan(this: &Bound<'_, Self>) -> PyResult<Plan> {
        let take = |survey: &mut export::Survey| {
            std::mem::replace(survey, export::Survey::new(None)).plan()
        };
        let plan = this.as_super().get().change(take).ok_or_else(taken)?;
        Ok(Plan(plan.into()))
    }
}

/// What an export knows before it writes.
#[pyclass(frozen, module = "tracefast._core")]
pub struct Plan(Arc<export::Plan>);

#[pymethods]
impl Plan {
    /// Calls that the log has.
    #[getter]
    fn calls(&self) -> u64 {
        self.0.calls()
    }

    /// Calls whose time is known.
    #[getter]
    fn placed(&self) -> u64 {
        self.0.placed()
    }
}

/// The second pass of an export, which writes a file.
#[pyclass(frozen, module = "tracefast._core")]
pub struct Export(Mutex<Option<(ExportFile, Dictionaries)>>);

#[pymethods]
#[allow(clippy::unused_self)] // Python calls methods of folds on objects.
impl Export {
    #[new]
    fn new(
        py: Python<'_>,
        path: &str,
        clobber: bool,
        format: &str,
        weight: &str,
        plan: &Plan,
    ) -> PyResult<Self> {
        let format = match format {
            "perfetto" => Format::Perfetto,
            "chrome" => Format::Chrome,
            "folded" => Format::Folded,
            "speedscope" => Format::Speedscope,
            other => return Err(PyValueError::new_err(format!("no format '{other}'"))),
        };
        let weight = match weight {
            "time" => Weight::Time,
            "calls" => Weight::Calls,
            "bytes" => Weight::Bytes,
            other => return Err(PyValueError::new_err(format!("no weight '{other}'"))),
        };
        let file =
            ExportFile::create(Path::new(path), clobber, format, Arc::clone(&plan.0), weight);
        let file = file.map_err(|error| exception(py, &error))?;
        Ok(Self(Mutex::new(Some((file, Dictionaries::default())))))
    }

    /// The columns of the events that it reads.
    #[getter]
    fn needed(&self) -> PyResult<Schema> {
        self.with(|(file, _)| Schema::new(file.needed()))
    }

    /// There are no rows of a table.
    #[getter]
    fn schema(&self) -> Schema {
        Schema::new(arrow_schema::Schema::empty().into())
    }

    /// Take the dictionary of a column whose batches hold only keys.
    fn words(&self, column: &str, words: &Bound<'_, PyAny>) -> PyResult<()> {
        let words = first_column(words)?;
        self.with(|(_, known)| {
            known.insert(column.to_owned(), words);
        })
    }

    /// Take in events, and write.
    fn push(&self, py: Python<'_>, events: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut failed = None;
        let fed = feed(py, events, |batch| {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let (Some((file, words)), None) = (&mut *state, &failed) {
                failed = file.push(batch, words).err();
            }
            Ok(())
        });
        failed.map_or(fed, |error| Err(exception(py, &error)))
    }

    /// There are no rows of a table.
    fn ready(&self) -> Vec<Batch> {
        Vec::new()
    }

    /// There are no rows of a table.
    fn finish(&self) -> Vec<Batch> {
        Vec::new()
    }

    /// Write the rest, and put the file in its place; once. Gives what it holds, by name.
    fn commit(&self, py: Python<'_>) -> PyResult<Vec<(&'static str, u64)>> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (file, _) = state.ok_or_else(taken)?;
        let counts = py.detach(|| file.finish()).map_err(|error| exception(py, &error))?;
        Ok(vec![
            ("calls", counts.calls),
            ("instants", counts.instants),
            ("flows", counts.flows),
            ("samples", counts.samples),
            ("moved", counts.moved),
            ("clipped", counts.clipped),
            ("timeless", counts.timeless),
            ("untimed", counts.untimed),
        ])
    }
}

impl Export {
    fn with<T>(&self, look: impl FnOnce(&mut (ExportFile, Dictionaries)) -> T) -> PyResult<T> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.as_mut().map(look).ok_or_else(taken)
    }
}
