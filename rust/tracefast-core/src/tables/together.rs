//! Several tables that are made in one pass over the events.

use std::any::Any;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

use crate::tables::errors::FailedCalls;
use crate::tables::event_columns::EventColumns;
use crate::tables::fold::{Dictionaries, RowFold};
use crate::tables::forks::Forks;
use crate::tables::process_tracking::follower::{Follower, follow};
use crate::tables::process_tracking::tracker::{TaskColumns, Tracker};
use crate::tables::processes::Processes;
use crate::tables::waits::Waits;
use crate::tables::workers::Workers;

/// What is known about tasks, for several folds: to find it out is a good part of their work.
///
/// # Examples
/// ```
/// use std::any::Any;
///
/// use tracefast_core::tables::fold::Fold;
/// use tracefast_core::tables::processes::Processes;
/// use tracefast_core::tables::together::Together;
///
/// let mut processes = Processes::default();
/// assert!(Together::takes(&processes));
/// Together::default().end(&mut [&mut processes as &mut dyn Any]);
/// let table = processes.finish().expect("columns of one length").remove(0);
/// assert_eq!(table.num_rows(), 0);
/// ```
#[derive(Debug, Default)]
pub struct Together {
    tracker: Box<Tracker>,
}

/// The folds of one pass, at most one of each type.
#[derive(Default)]
struct Folds<'f> {
    processes: Option<&'f mut Processes>,
    failed_calls: Option<&'f mut FailedCalls>,
    forks: Option<&'f mut Forks>,
    waits: Option<&'f mut Waits>,
    workers: Option<&'f mut Workers>,
}

impl Together {
    /// Whether a fold is of a type that needs to know about tasks.
    pub fn takes(fold: &dyn Any) -> bool {
        fold.is::<Processes>()
            || fold.is::<FailedCalls>()
            || fold.is::<Forks>()
            || fold.is::<Waits>()
            || fold.is::<Workers>()
    }

    /// Adds events to folds, of each type one, which must be the same ones each time. Events must
    /// come in order.
    ///
    /// # Errors
    /// A column is missing, or has another type than in the event schema.
    pub fn push(
        &mut self,
        folds: &mut [&mut dyn Any],
        batch: &RecordBatch,
        words: &Dictionaries,
    ) -> Result<(), ArrowError> {
        let Folds { processes, failed_calls, forks, waits, workers } = &mut Folds::of(folds);
        let tracker = &mut self.tracker;
        tracker.keeps_argv |= processes.is_some() || forks.is_some();
        let mut tasks = TaskColumns::from_batch(batch, words)?;
        let mut of_processes = columns(processes, batch, words)?;
        let mut of_failed_calls = columns(failed_calls, batch, words)?;
        let mut of_forks = columns(forks, batch, words)?;
        let mut of_waits = columns(waits, batch, words)?;
        let mut of_workers = columns(workers, batch, words)?;
        for row in 0..batch.num_rows() {
            let found = tracker.row(&mut tasks, row);
            follow((processes, &mut of_processes), tracker, row, found);
            follow((failed_calls, &mut of_failed_calls), tracker, row, found);
            follow((forks, &mut of_forks), tracker, row, found);
            follow((waits, &mut of_waits), tracker, row, found);
            follow((workers, &mut of_workers), tracker, row, found);
        }
        Ok(())
    }

    /// Gives the folds what is known about tasks: they have all events.
    pub fn end(self, folds: &mut [&mut dyn Any]) {
        let Folds { processes, failed_calls, forks, waits, workers } = Folds::of(folds);
        hand_over(processes, &self.tracker);
        hand_over(failed_calls, &self.tracker);
        hand_over(forks, &self.tracker);
        hand_over(waits, &self.tracker);
        hand_over(workers, &self.tracker);
    }
}

impl<'f> Folds<'f> {
    fn of(folds: &'f mut [&mut dyn Any]) -> Self {
        let mut found = Self::default();
        for fold in folds {
            if fold.is::<Processes>() {
                found.processes = fold.downcast_mut();
            } else if fold.is::<FailedCalls>() {
                found.failed_calls = fold.downcast_mut();
            } else if fold.is::<Forks>() {
                found.forks = fold.downcast_mut();
            } else if fold.is::<Waits>() {
                found.waits = fold.downcast_mut();
            } else if fold.is::<Workers>() {
                found.workers = fold.downcast_mut();
            }
        }
        found
    }
}

fn columns<'a, F: RowFold>(
    fold: &Option<&mut F>,
    batch: &'a RecordBatch,
    words: &'a Dictionaries,
) -> Result<Option<F::Columns<'a>>, ArrowError> {
    fold.as_ref().map(|fold| fold.columns(batch, words)).transpose()
}

fn hand_over<F: Follower>(fold: Option<&mut F>, tracker: &Tracker) {
    if let Some(fold) = fold {
        **fold.tracker_mut() = tracker.clone();
    }
}
