//! The phase of each row, for tables that are made by phase.

use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_schema::ArrowError;

use crate::tables::event_columns::EventColumns;
use crate::tables::fold::Dictionaries;
use crate::tables::phases::fold::{MarkColumns, Watched};
use crate::tables::phases::open::In;
use crate::tables::process_tracking::tracker::{TaskColumns, Tracker};
use crate::tables::process_tracking::word_classes::{RowKind, Status};

/// The column that says which rows the table counts, if it does not count all: the others only say
/// what is in which phase.
pub(crate) const COUNTED: &str = "counted";

/// The columns that show the phase of a row.
pub(crate) struct PhaseColumns<'a> {
    tasks: TaskColumns<'a>,
    marks: MarkColumns<'a>,
    counted: Option<&'a BooleanArray>,
}

impl<'a> EventColumns<'a> for PhaseColumns<'a> {
    fn names() -> Vec<&'static str> {
        <(TaskColumns<'_>, MarkColumns<'_>)>::names()
    }

    fn from_batch(batch: &'a RecordBatch, words: &'a Dictionaries) -> Result<Self, ArrowError> {
        let (tasks, marks) = EventColumns::from_batch(batch, words)?;
        let counted = batch.column_by_name(COUNTED).and_then(|column| column.as_boolean_opt());
        Ok(Self { tasks, marks, counted })
    }
}

/// What a row says of phases.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PhaseRow {
    pub(crate) phase: In,
    /// The table counts it.
    pub(crate) counted: bool,
    /// A process whose maker is known by this row, and the phase of that.
    pub(crate) born: Option<(u32, In)>,
}

/// The phases of all rows so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct PhasesOfRows {
    tracker: Tracker,
    watched: Watched,
}

impl PhasesOfRows {
    /// Takes in a row. A mark is itself in no phase.
    pub(crate) fn row(&mut self, columns: &mut PhaseColumns<'_>, row: usize) -> PhaseRow {
        let PhaseColumns { tasks, marks, counted } = columns;
        let counted = counted.is_none_or(|counted| counted.is_valid(row) && counted.value(row));
        let outside = PhaseRow { counted, ..PhaseRow::default() };
        let Some(found) = self.tracker.row(tasks, row) else { return outside };
        let owner = self.tracker.leader(found.task);
        let is_mark = self.watched.row((tasks, marks), row, found, (owner, &self.tracker));
        let is_call = matches!(found.kind, RowKind::Call | RowKind::Part);
        if is_mark || !is_call {
            return outside;
        }
        let phase = self.watched.open.named(owner, tasks.ts.get(row), &self.tracker);
        let mut born = None;
        if let Some(child) = tasks.child.get(row)
            && tasks.status(row) != Some(Status::Injected)
            && let Some(source) = self.tracker.tasks.get(found.task as usize).map(|t| t.source)
        {
            born = Some((self.tracker.number(source, child), phase));
        }
        PhaseRow { phase, counted, born }
    }

    /// The number of a phase's name, once all rows are in.
    pub(crate) fn settled(&self, phase: In) -> Option<u32> {
        self.watched.open.settled(phase, &self.tracker)
    }

    /// The name of a phase.
    pub(crate) fn name(&self, name: u32) -> Option<&str> {
        self.watched.open.name(name)
    }
}
