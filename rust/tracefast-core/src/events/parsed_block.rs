//! What a grammar makes of one block, and what it leaves to the serial stage.

use std::sync::Arc;

use crate::events::function_graph::GraphLine;
use crate::events::line_counts::{Example, LineCounts, MAX_EXAMPLES, Oddities};
use crate::events::model_columns::ModelColumns;
use crate::events::model_rows::ModelRows;
use crate::events::rows::{Rows, Side};
use crate::events::split_calls::{CallEntry, Deferred, RowPosition};
use crate::text::escape::escape_invalid;

/// Times of the first and last line of a block, on the clock of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSpan {
    /// Of the first line that has one.
    pub first: i64,
    /// Of the last.
    pub last: i64,
    /// Of the last, as printed: without the days before it.
    pub printed: i64,
}

/// An event says that a task has this name.
#[derive(Debug, Clone, Copy)]
pub struct CommChange {
    /// The row of the event.
    pub row: u32,
    /// It has the name from the next row on.
    pub later: bool,
    /// The task.
    pub tid: i32,
    /// Key of the name.
    pub comm: u32,
}

impl CommChange {
    /// The first row that may show the name.
    #[inline]
    pub fn from(&self) -> u32 {
        self.row + u32::from(self.later)
    }
}

/// Everything that a grammar found in one block.
#[derive(Debug, Default)]
pub struct Parsed {
    /// Events, in the order in which they were completed.
    pub rows: Rows,
    /// Text and facts that are not in the block's own text.
    pub side: Side,
    /// Names by local key.
    pub names: Vec<Arc<str>>,
    /// Names of errors by local key.
    pub errnos: Vec<Arc<str>>,
    /// Names of commands by local key.
    pub comms: Vec<Arc<str>>,
    /// Steps that depend on earlier blocks.
    pub deferred: Vec<Deferred>,
    /// Rows of calls of earlier blocks, which are the last rows: where each belongs, and its
    /// number.
    pub inserted: Vec<(RowPosition, u32)>,
    /// Entries of split calls.
    pub entries: Vec<CallEntry>,
    /// Names of tasks that events give, in order.
    pub comm_changes: Vec<CommChange>,
    /// Lines of `function_graph`.
    pub graph_lines: Vec<GraphLine>,
    /// Lines by use.
    pub counts: LineCounts,
    /// Bytes that merging the logs of several tasks added to the text: prefixes and line feeds.
    pub added: u64,
    /// Oddities of the lines.
    pub oddities: Oddities,
    /// First lines that were not understood.
    pub examples: Vec<Example>,
    /// First results with a note behind them.
    pub noted: Vec<Example>,
    /// Lines that the fast paths could not parse and that were read again byte by byte, apart from
    /// continuations. No result depends on this. The benches show it, because lines that are common
    /// must not be among them.
    pub detours: u64,
    /// The time that the block took: the sum of its differences, or the days that began in it.
    /// Times of the rows are relative to the start of the block.
    pub elapsed: i64,
    /// The sum of the differences of lines with columns other than those at the start of the log.
    pub other_elapsed: i64,
    /// First and last time.
    pub span: Option<TimeSpan>,
    /// A buffer to join halves in.
    pub scratch: Vec<u8>,
    /// Which rows the model must look at.
    pub model_rows: ModelRows,
    /// Columns that the model leaves to be written.
    pub model_columns: ModelColumns,
}

impl Parsed {
    /// Clears everything and makes room for the rows of `lines` lines.
    pub fn reset(&mut self, lines: usize) {
        // A line gives at most one row; calls of earlier blocks that never ended add some.
        self.rows.reset(lines + 64);
        self.side.bytes.clear();
        self.side.details.clear();
        self.names.clear();
        self.errnos.clear();
        self.comms.clear();
        self.deferred.clear();
        self.inserted.clear();
        self.entries.clear();
        self.comm_changes.clear();
        self.graph_lines.clear();
        self.counts = LineCounts::default();
        self.added = 0;
        self.oddities = Oddities::default();
        self.examples.clear();
        self.noted.clear();
        self.detours = 0;
        self.elapsed = 0;
        self.other_elapsed = 0;
        self.span = None;
        self.model_rows.clear();
        self.model_columns.clear();
    }

    /// Finds the rows that the model of the kernel must look at.
    pub(crate) fn find_model_rows(&mut self) {
        let Self { rows, side, errnos, model_rows, deferred, comm_changes, .. } = self;
        let ebadf = errnos.iter().position(|name| **name == *"EBADF");
        model_rows.find(
            rows,
            ebadf.map(|key| key as u32),
            &side.details,
            deferred,
            comm_changes.iter().map(|change| change.row),
        );
    }

    /// Writes the columns that the model left to be written. `text`, `side`: the buffers that the
    /// views point into.
    pub(crate) fn write_model_columns(&mut self, text: &[u8], side: &[u8]) {
        self.model_columns.write(&mut self.rows, text, side);
    }

    /// Records a line that was not understood.
    pub fn example(&mut self, line: i64, task: Option<i32>, text: &[u8]) {
        add_example(&mut self.examples, line, task, text);
    }

    /// Counts a note behind the result of the call in `row`, and records it.
    #[cold]
    pub(crate) fn note(&mut self, row: usize, note: &[u8]) {
        self.oddities.notes += 1;
        add_example(&mut self.noted, self.rows.line[row], None, note);
    }

    /// Key of the name of an error in the serial stage, which has no interner.
    pub fn errno_key(&mut self, name: &[u8]) -> u32 {
        key_in(&mut self.errnos, &escape_invalid(name))
    }

    /// The position after all that has been parsed.
    #[inline]
    pub fn position(&self) -> RowPosition {
        RowPosition { row: self.rows.len as u32, entries: self.entries.len() as u32 }
    }

    /// The rows in order, as ranges: one, unless rows of calls of earlier blocks go between.
    pub fn runs(&self) -> Vec<std::ops::Range<usize>> {
        let own = self.rows.len - self.inserted.len();
        let mut out = Vec::with_capacity(1 + 2 * self.inserted.len());
        let mut done = 0;
        for &(at, row) in &self.inserted {
            let (at, row) = (at.row as usize, row as usize);
            if at > done {
                out.push(done..at);
                done = at;
            }
            out.push(row..row + 1);
        }
        if own > done {
            out.push(done..own);
        }
        out
    }
}

fn add_example(examples: &mut Vec<Example>, line: i64, task: Option<i32>, text: &[u8]) {
    if examples.len() < MAX_EXAMPLES {
        let shown = &text[..text.len().min(200)];
        let text = String::from_utf8_lossy(shown).into_owned();
        examples.push(Example { line, task, text });
    }
}

/// Key of `text` in `names`, added if new.
pub(crate) fn key_in(names: &mut Vec<Arc<str>>, text: &str) -> u32 {
    let at = names.iter().position(|known| **known == *text);
    at.unwrap_or_else(|| {
        names.push(text.into());
        names.len() - 1
    }) as u32
}
