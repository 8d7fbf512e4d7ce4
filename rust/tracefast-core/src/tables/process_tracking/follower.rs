//! Folds that ask a tracker which task each row is of. Several of them can share one.

use std::mem::swap;

use crate::tables::fold::RowFold;
use crate::tables::process_tracking::tracker::{TaskRow, Tracker};

/// A fold with a tracker.
pub(crate) trait Follower: RowFold {
    /// The fold's own tracker. It is in a box, so that another one can take its place for a row.
    fn tracker_mut(&mut self) -> &mut Box<Tracker>;

    /// Adds one row that the tracker has taken in.
    fn follow(&mut self, columns: &mut Self::Columns<'_>, row: usize, found: Option<TaskRow>);
}

/// Adds one row to a fold, if there is one, that `tracker` has taken in.
#[inline]
pub(crate) fn follow<F: Follower>(
    (fold, columns): (&mut Option<&mut F>, &mut Option<F::Columns<'_>>),
    tracker: &mut Box<Tracker>,
    row: usize,
    found: Option<TaskRow>,
) {
    if let (Some(fold), Some(columns)) = (fold, columns) {
        swap(fold.tracker_mut(), tracker);
        fold.follow(columns, row, found);
        swap(fold.tracker_mut(), tracker);
    }
}
