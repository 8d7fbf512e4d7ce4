//! Several tables that are made in one pass over the events.

use std::any::Any;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

use crate::tables::errors::FailedCalls;
use crate::tables::event_columns::EventColumns;
use crate::tables::flow::{Flow, Roles};
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
    begun: bool,
}

/// Declares the types of folds that may share.
macro_rules! folds {
    ($($name:ident: $fold:ty),* $(,)?) => {
        /// The folds of one pass, at most one of each type.
        #[derive(Default)]
        struct Folds<'f> {
            $($name: Option<&'f mut $fold>,)*
        }

        impl<'f> Folds<'f> {
            fn takes(fold: &dyn Any) -> bool {
                $(fold.is::<$fold>())||*
            }

            fn of(folds: &'f mut [&mut dyn Any]) -> Self {
                let mut found = Self::default();
                for fold in folds {
                    $(
                        if fold.is::<$fold>() {
                            found.$name = fold.downcast_mut();
                            continue;
                        }
                    )*
                }
                found
            }

            fn push(
                &mut self,
                tracker: &mut Box<Tracker>,
                batch: &RecordBatch,
                words: &Dictionaries,
            ) -> Result<(), ArrowError> {
                let mut tasks = TaskColumns::from_batch(batch, words)?;
                $(let mut $name = columns(&self.$name, batch, words)?;)*
                for row in 0..batch.num_rows() {
                    let found = tracker.row(&mut tasks, row);
                    $(follow((&mut self.$name, &mut $name), tracker, row, found);)*
                }
                Ok(())
            }

            /// Each gets what is known about tasks.
            fn end(self, tracker: &Tracker) {
                $(hand_over(self.$name, tracker);)*
            }
        }
    };
}

folds! {
    processes: Processes,
    failed_calls: FailedCalls,
    forks: Forks,
    waits: Waits,
    workers: Workers,
    roles: Roles,
    flow: Flow,
}

impl Together {
    /// Whether a fold is of a type that needs to know about tasks.
    pub fn takes(fold: &dyn Any) -> bool {
        Folds::takes(fold)
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
        let mut folds = Folds::of(folds);
        if !std::mem::replace(&mut self.begun, true) {
            self.tracker.keeps_argv = folds.processes.is_some() || folds.forks.is_some();
            if let (Some(forks), Some(_)) = (&mut folds.forks, &folds.workers) {
                forks.expect_workers();
            }
        }
        folds.push(&mut self.tracker, batch, words)
    }

    /// Gives the folds what is known about tasks, and about workers: they have all events.
    pub fn end(mut self, folds: &mut [&mut dyn Any]) {
        let mut folds = Folds::of(folds);
        if let Some(workers) = &mut folds.workers {
            workers.end(&mut self.tracker);
            if let Some(forks) = &mut folds.forks {
                forks.take_workers(&workers.retired);
            }
        }
        folds.end(&self.tracker);
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
