//! Final rows to batches, and batches to groups: what an encoder gets at a time.
//!
//! Rows are made into Arrow arrays a few blocks at a time, while the columns of those blocks are
//! still in the processor's cache, and the columns serve the next blocks at once. Groups, which are
//! longer, are made of such batches. A group ends early if its rows have much text, so that memory
//! is bounded in bytes, too.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use tracefast_core::batch::{BATCH_ROWS, Part};
use tracefast_core::events::rows::Rows;
use tracefast_core::serial::resolved_block::{DictionaryValues, ResolvedBlock};
use tracefast_core::serial::stream::Stream;
use tracefast_core::text::string_view::REACH;

use crate::error::{Error, ErrorKind, Result};

/// Rows of one batch, all of whose blocks are final.
pub(crate) struct BatchRows {
    /// Group that it belongs to, and its place there.
    pub place: (u64, usize),
    /// The rows.
    pub parts: Vec<Part>,
    /// The values of their keys.
    pub values: DictionaryValues,
}

/// Makes rows final and divides them into batches and groups; only one worker at a time may do so.
pub(crate) struct RowGrouper {
    /// Makes rows final.
    pub stream: Stream,
    parts: Vec<Part>,
    /// Rows in `parts`, and in the group so far without them.
    rows: usize,
    before: usize,
    /// Bytes of text in the group so far.
    bytes: usize,
    /// See [`REACH`].
    reach: usize,
    /// The most bytes that the offsets of a dictionary can address.
    words: usize,
    next: (u64, usize),
    group_rows: usize,
    /// Rows still wanted; no more are taken.
    left: usize,
}

/// Batches and groups that have all their rows.
#[derive(Default)]
pub(crate) struct ReadyRows {
    /// The batches, in order.
    pub batches: Vec<BatchRows>,
    /// The groups whose last batch is among these or before.
    pub groups: Vec<FullGroup>,
}

/// A group all of whose rows are there.
pub(crate) struct FullGroup {
    /// Its number.
    pub number: u64,
    /// How many batches it has.
    pub batches: usize,
    /// Bytes of text in it.
    pub bytes: usize,
}

/// Bytes of text with which a group is full: several times the text of a group of usual rows.
/// Without this limit, rows with long strings (`strace -s 100000`) or stacks would take gigabytes.
const GROUP_BYTES: usize = 16 << 20;

impl RowGrouper {
    /// Groups of `group_rows` rows, of the first `limit` that `stream` makes final.
    pub(crate) fn new(stream: Stream, group_rows: usize, limit: Option<usize>) -> Self {
        let group_rows = group_rows.max(1);
        let left = limit.unwrap_or(usize::MAX);
        let (parts, next) = (Vec::new(), (0, 0));
        let (reach, words) = (REACH, i32::MAX as usize);
        Self { stream, parts, rows: 0, before: 0, bytes: 0, reach, words, next, group_rows, left }
    }

    /// All wanted rows were added.
    pub(crate) fn has_enough(&self) -> bool {
        self.left == 0
    }

    /// Adds final rows.
    ///
    /// # Errors
    /// The copied texts of a block are longer than views can address, or all names longer
    /// than a dictionary can hold.
    pub(crate) fn add(&mut self, resolved: ResolvedBlock, out: &mut ReadyRows) -> Result<()> {
        if resolved.buffers.iter().any(|buffer| buffer.len() > self.reach) {
            let hint = "record shorter strings (strace -s), or remove the line";
            let error = Error::new(ErrorKind::TooMuchText { limit: self.reach as u64 });
            return Err(error.at_line(resolved.line as u64).with_hint(hint));
        }
        if self.stream.dictionary_bytes() > self.words {
            let hint = "check the lines around this one: no real program uses so many names";
            let error = Error::new(ErrorKind::TooManyNames { limit: self.words as u64 });
            return Err(error.at_line(resolved.line as u64).with_hint(hint));
        }
        // Most blocks go into one group as a whole. Then it does not matter which of their rows
        // have the text.
        let rows = self.before + self.rows + resolved.len();
        let whole = resolved
            .text_bytes()
            .filter(|&bytes| rows < self.group_rows && self.bytes + bytes < GROUP_BYTES);
        self.bytes += whole.unwrap_or(0);
        let block = Arc::new(resolved);
        for run in &block.runs {
            let mut run = run.clone();
            while !run.is_empty() && self.left > 0 {
                let room = BATCH_ROWS.min(self.group_rows - self.before) - self.rows;
                let rows = run.start..run.end.min(run.start + room.min(self.left));
                let take = match whole {
                    Some(_) => rows.len(),
                    None => block.look(|all| self.fitting(all, rows)),
                };
                let rows = run.start..run.start + take;
                run.start += take;
                self.rows += take;
                self.left -= take;
                self.parts.push(Part::new(Arc::clone(&block), rows));
                if take == room {
                    self.end_batch(out);
                }
                if self.bytes >= GROUP_BYTES {
                    self.finish(out);
                }
            }
        }
        if self.left == 0 {
            self.finish(out);
        }
        Ok(())
    }

    /// How many of some rows the group takes: those up to the one with which it has enough text.
    fn fitting(&mut self, rows: &Rows, range: Range<usize>) -> usize {
        let text: usize = range.clone().map(|row| rows.text_bytes(row)).sum();
        if self.bytes + text < GROUP_BYTES {
            self.bytes += text;
            return range.len();
        }
        let start = range.start;
        for row in range {
            self.bytes += rows.text_bytes(row);
            if self.bytes >= GROUP_BYTES {
                return row + 1 - start;
            }
        }
        unreachable!("the rows have that much text")
    }

    /// Ends a batch, and the group if that is full.
    fn end_batch(&mut self, out: &mut ReadyRows) {
        let values = self.stream.values();
        let parts = std::mem::take(&mut self.parts);
        out.batches.push(BatchRows { place: self.next, parts, values });
        self.next.1 += 1;
        self.before += std::mem::take(&mut self.rows);
        if self.before == self.group_rows {
            self.end_group(out);
        }
    }

    /// No row follows in the group at hand.
    pub(crate) fn finish(&mut self, out: &mut ReadyRows) {
        if self.rows > 0 {
            self.end_batch(out);
        }
        if self.before > 0 {
            self.end_group(out);
        }
    }

    fn end_group(&mut self, out: &mut ReadyRows) {
        let (number, batches) = self.next;
        out.groups.push(FullGroup { number, batches, bytes: std::mem::take(&mut self.bytes) });
        self.next = (number + 1, 0);
        self.before = 0;
    }
}

/// Groups with some of their batches.
#[derive(Default)]
pub(crate) struct OpenGroups {
    /// The batches by their place; how many there will be, once that is known.
    open: BTreeMap<u64, (BTreeMap<usize, RecordBatch>, Option<usize>)>,
}

impl OpenGroups {
    /// Adds a batch; returns its group if that is complete now.
    pub(crate) fn add(
        &mut self,
        place: (u64, usize),
        batch: RecordBatch,
    ) -> Option<Vec<RecordBatch>> {
        self.open.entry(place.0).or_default().0.insert(place.1, batch);
        self.whole(place.0)
    }

    /// Group `number` has `batches` batches; gives them if all are made.
    pub(crate) fn close(&mut self, number: u64, batches: usize) -> Option<Vec<RecordBatch>> {
        self.open.entry(number).or_default().1 = Some(batches);
        self.whole(number)
    }

    fn whole(&mut self, number: u64) -> Option<Vec<RecordBatch>> {
        let (batches, count) = self.open.get(&number)?;
        if *count != Some(batches.len()) {
            return None;
        }
        let (batches, _) = self.open.remove(&number)?;
        Some(batches.into_values().collect())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use tracefast_core::events::parsed_block::Parsed;
    use tracefast_core::format::{Format, Grammar, Wanted};
    use tracefast_core::serial::pool::Pool;
    use tracefast_core::text::block::Block;

    use super::*;

    fn grouper() -> RowGrouper {
        let mut stream = Stream::new(Arc::new(Pool::default()));
        stream.begin("log", Format::from_wanted(Wanted::Strace));
        RowGrouper::new(stream, 1_000, None)
    }

    fn add(grouper: &mut RowGrouper, text: &str, out: &mut ReadyRows) -> Result<()> {
        let mut block = Block::from_text(text.as_bytes());
        let mut parsed = Parsed::default();
        let format = Format::from_wanted(Wanted::Strace);
        Grammar::default().parse(&format, &mut block, &mut parsed);
        let resolved = grouper.stream.resolve(block, parsed);
        grouper.add(resolved, out)
    }

    #[test]
    fn much_text_ends_a_group() {
        let long = "x".repeat(GROUP_BYTES / 4 - 5);
        let mut lines = String::new();
        for _ in 0..9 {
            let _ = writeln!(lines, "write(1, \"{long}\") = 1");
        }
        // However the log is cut into blocks.
        for size in [1, 2, 9] {
            let (mut grouper, mut ready) = (grouper(), ReadyRows::default());
            let lines: Vec<&str> = lines.split_inclusive('\n').collect();
            for block in lines.chunks(size) {
                add(&mut grouper, &block.concat(), &mut ready).expect("few bytes");
            }
            grouper.finish(&mut ready);
            let rows: Vec<usize> = (0..)
                .zip(&ready.groups)
                .map(|(number, group)| {
                    assert_eq!(group.number, number);
                    let batches = ready.batches.iter().filter(|batch| batch.place.0 == number);
                    batches.flat_map(|batch| &batch.parts).map(|part| part.rows.len()).sum()
                })
                .collect();
            assert_eq!(rows, [4, 4, 1], "blocks of {size} lines");
            assert!(ready.groups[0].bytes >= GROUP_BYTES);
            assert_eq!(ready.groups[2].bytes, long.len() + 5);
        }
    }

    #[test]
    fn texts_that_views_cannot_tell_are_refused() {
        let (mut grouper, mut ready) = (grouper(), ReadyRows::default());
        grouper.reach = 200;
        let name = "x".repeat(60);
        let path = |escaped: &str| format!("rmdir(\"/{name}{escaped}\") = 0\n");
        add(&mut grouper, &path(""), &mut ready).expect("short enough");
        add(&mut grouper, &path("\\n").repeat(2), &mut ready).expect("short enough");
        let error = add(&mut grouper, &path("\\n").repeat(4), &mut ready).expect_err("too much");
        let expected = "line 4: more than 200 bytes of text would have to be unescaped or joined";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn names_that_a_dictionary_cannot_hold_are_refused() {
        let (mut grouper, mut ready) = (grouper(), ReadyRows::default());
        grouper.words = 12;
        for _ in 0..2 {
            add(&mut grouper, "read(3) = 0\nfutimens(3) = 0\n", &mut ready).expect("few bytes");
        }
        let error = add(&mut grouper, "a(3) = 0\nb(3) = 0\n", &mut ready).expect_err("too much");
        let expected =
            "line 5: the distinct names of calls, errors and commands take more than 12 bytes";
        assert_eq!(error.to_string(), expected);
    }
}
