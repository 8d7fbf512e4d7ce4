//! Final rows to batches, and batches to groups: what an encoder gets at a time.
//!
//! Rows are made into Arrow arrays a few blocks at a time, while the columns of those blocks are
//! still in the processor's cache, and the columns serve the next blocks at once. Groups, which are
//! longer, are made of such batches.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use tracefast_core::batch::{BATCH_ROWS, Part};
use tracefast_core::stream::{Resolved, Stream, Values};

/// Rows of one batch, all of whose blocks are final.
pub struct Piece {
    /// Group that it belongs to, and its place there.
    pub place: (u64, usize),
    /// The rows.
    pub parts: Vec<Part>,
    /// What their keys stand for.
    pub values: Values,
}

/// What only one worker at a time may touch.
pub struct Serial {
    /// Makes rows final.
    pub stream: Stream,
    parts: Vec<Part>,
    /// Rows in `parts`, and in the group so far without them.
    rows: usize,
    before: usize,
    next: (u64, usize),
    group_rows: usize,
    /// Rows still wanted; no more are taken.
    left: usize,
}

/// Pieces that are full, and groups that are: by number, how many pieces each has.
#[derive(Default)]
pub struct Cut {
    /// The pieces, in order.
    pub pieces: Vec<Piece>,
    /// The groups whose last piece is among these or before.
    pub groups: Vec<(u64, usize)>,
}

impl Serial {
    /// Groups of `group_rows` rows, of the first `limit` that `stream` makes final.
    pub fn new(stream: Stream, group_rows: usize, limit: Option<usize>) -> Self {
        let group_rows = group_rows.max(1);
        let left = limit.unwrap_or(usize::MAX);
        Self { stream, parts: Vec::new(), rows: 0, before: 0, next: (0, 0), group_rows, left }
    }

    /// No row is wanted any more.
    pub fn has_enough(&self) -> bool {
        self.left == 0
    }

    /// Adds final rows.
    pub fn add(&mut self, resolved: Resolved, out: &mut Cut) {
        let block = Arc::new(resolved);
        for run in &block.runs {
            let mut run = run.clone();
            while !run.is_empty() && self.left > 0 {
                let room = BATCH_ROWS.min(self.group_rows - self.before) - self.rows;
                let take = run.len().min(room).min(self.left);
                let rows = run.start..run.start + take;
                run.start += take;
                self.rows += take;
                self.left -= take;
                self.parts.push(Part::new(Arc::clone(&block), rows));
                if take == room {
                    self.cut(out);
                }
            }
        }
        if self.left == 0 {
            self.finish(out);
        }
    }

    /// Ends a piece, and the group if that is full.
    fn cut(&mut self, out: &mut Cut) {
        let values = self.stream.values();
        let parts = std::mem::take(&mut self.parts);
        out.pieces.push(Piece { place: self.next, parts, values });
        self.next.1 += 1;
        self.before += std::mem::take(&mut self.rows);
        if self.before == self.group_rows {
            self.end(out);
        }
    }

    /// No row follows in the group at hand.
    pub fn finish(&mut self, out: &mut Cut) {
        if self.rows > 0 {
            self.cut(out);
        }
        if self.before > 0 {
            self.end(out);
        }
    }

    fn end(&mut self, out: &mut Cut) {
        out.groups.push(self.next);
        self.next = (self.next.0 + 1, 0);
        self.before = 0;
    }
}

/// Groups of which some batches are made.
#[derive(Default)]
pub struct Groups {
    /// The batches by their place; how many there will be, once that is known.
    open: BTreeMap<u64, (BTreeMap<usize, RecordBatch>, Option<usize>)>,
}

impl Groups {
    /// A batch was made; gives its group if that is whole now.
    pub fn add(&mut self, place: (u64, usize), batch: RecordBatch) -> Option<Vec<RecordBatch>> {
        self.open.entry(place.0).or_default().0.insert(place.1, batch);
        self.whole(place.0)
    }

    /// Group `number` has `pieces` batches; gives them if all are made.
    pub fn close(&mut self, number: u64, pieces: usize) -> Option<Vec<RecordBatch>> {
        self.open.entry(number).or_default().1 = Some(pieces);
        self.whole(number)
    }

    fn whole(&mut self, number: u64) -> Option<Vec<RecordBatch>> {
        let (batches, pieces) = self.open.get(&number)?;
        if *pieces != Some(batches.len()) {
            return None;
        }
        let (batches, _) = self.open.remove(&number)?;
        Some(batches.into_values().collect())
    }
}
