//! Takes the rows of a block in the order of the log, with what comes between them: the entries of
//! calls whose rows come later, and names of tasks (comm) that events show.
//!
//! Most rows need no work here, as `events/model_rows.rs` has established in parallel.

use std::iter::Peekable;
use std::ops::Range;
use std::slice::Iter;

use crate::events::parsed_block::{CommChange, Parsed};
use crate::events::schema::Column as C;
use crate::events::split_calls::{CallEntry, EntryTarget, RowPosition};
use crate::kernel::Kernel;
use crate::kernel::block_rows::{BlockRows, Whose};

/// How many rows may be searched for the next row of a task, for each row of the block. A block
/// that needs more has all its remaining rows looked at.
const SEARCHES: usize = 64;

/// Entries of calls and name changes that come between the rows of a block.
struct Upcoming<'a> {
    entries: &'a [CallEntry],
    next: usize,
    named: Peekable<Iter<'a, CommChange>>,
    /// There are name changes.
    has_comms: bool,
    /// The row before which the next entry comes, or for which the next name holds.
    due: u32,
}

impl Upcoming<'_> {
    #[inline]
    fn update_due(&mut self) {
        self.due = self.entries.get(self.next).map_or(u32::MAX, |entry| entry.at);
        if self.has_comms {
            self.due = self.due.min(self.named.peek().map_or(u32::MAX, |named| named.from()));
        }
    }
}

impl Kernel {
    /// Goes through the rows of a block in order and fills the columns that need state. Columns
    /// that are the same for many rows are left to [`crate::events::model_columns`].
    pub(crate) fn run(&mut self, parsed: &mut Parsed, text: &[u8]) {
        self.block += 1;
        self.tasks.block = self.block;
        let runs = parsed.runs();
        let inserted = std::mem::take(&mut parsed.inserted);
        let Parsed { rows, side, names, errnos, comms, model_rows, model_columns, .. } = parsed;
        let (entries, named) = (&parsed.entries, &parsed.comm_changes);
        let own = rows.len - inserted.len();
        // In a log in several files every row shows that the earlier calls of its task are over.
        if self.cut || !model_rows.done {
            model_rows.visit_all(0, own);
        }
        model_columns.rows = own;
        // What is remembered of these files is seldom in the cache: to ask for all of it now takes
        // less time than to wait for each.
        for &row in &model_rows.named {
            self.tasks.files.inodes.fetch(rows.file[row as usize]);
        }
        let mut block = BlockRows {
            rows,
            side,
            names,
            errnos,
            comms,
            text,
            number: self.block,
            placed: Vec::with_capacity(inserted.len()),
            next_position: RowPosition { row: 0, entries: 0 },
            since: 0,
            model_rows,
            model_columns,
            own,
            whose: Whose::default(),
            apart: [0; 2],
            searches: own.saturating_mul(SEARCHES),
        };
        let has_comms = !named.is_empty();
        let named = named.iter().peekable();
        let mut upcoming = Upcoming { entries, next: 0, named, has_comms, due: 0 };
        upcoming.update_due();
        let mut inserted = inserted.iter();
        for run in runs {
            if run.start < own {
                self.own_rows(run, &mut upcoming, &mut block);
                continue;
            }
            // Calls that began in earlier blocks; each says how many entries come before it.
            for (row, &known) in run.zip(&mut inserted) {
                while upcoming.next < known.0.entries as usize {
                    self.next_entry(&mut upcoming, false, &mut block);
                }
                self.comms_until(&mut upcoming, &mut block, |named| named.row < known.0.row);
                block.next_position =
                    RowPosition { row: known.0.row, entries: upcoming.next as u32 };
                block.placed.push(known);
                self.row(row, known.0.row, &mut block);
            }
        }
        while upcoming.next < upcoming.entries.len() {
            self.next_entry(&mut upcoming, false, &mut block);
        }
        self.comms_until(&mut upcoming, &mut block, |_| true);
        parsed.inserted = block.placed;
    }

    /// Goes through the rows of calls that were still under way when the log ended. It needs less
    /// and less memory, while the tables that are made of all rows grow.
    pub(crate) fn end(&mut self, parsed: &mut Parsed) {
        self.run(parsed, b"");
        // Of the whole system events come even from tasks that have ended.
        if self.follows {
            let rows = &parsed.rows;
            let tid = |row: usize| rows.has(row, C::Tid).then(|| rows.tid[row]);
            self.tasks.end((0..rows.len).map(tid));
        }
    }

    /// Handles the block's own rows one after another.
    fn own_rows(
        &mut self,
        run: Range<usize>,
        upcoming: &mut Upcoming<'_>,
        block: &mut BlockRows<'_>,
    ) {
        let (mut from, end) = (run.start, run.end);
        // No entry or name is due at the end that is not due before it.
        let most = end.saturating_sub(1) as u32;
        loop {
            let row = block.model_rows.next(from, end);
            let last = if row == end { most } else { row as u32 };
            // The entry or name may mean that an earlier row has to be looked at.
            if upcoming.due <= last {
                self.next_upcoming(upcoming, last, block);
                continue;
            }
            if row == end {
                return;
            }
            block.next_position =
                RowPosition { row: row as u32 + 1, entries: upcoming.next as u32 };
            if !self.common_row(row, block) {
                self.row(row, row as u32, block);
            }
            from = row + 1;
        }
    }

    /// Handles the next entry that comes before row `last`, or the next name that holds for it.
    fn next_upcoming(&mut self, upcoming: &mut Upcoming<'_>, last: u32, block: &mut BlockRows<'_>) {
        let entry_at = upcoming.entries.get(upcoming.next).map(|entry| entry.at);
        let entry_at = entry_at.filter(|&at| at <= last).unwrap_or(u32::MAX);
        let by_now = |named: &CommChange| named.row < entry_at && named.from() <= last;
        if upcoming.has_comms && self.next_comm(upcoming, block, by_now) {
            // The name may hold for rows before the next entry.
            return;
        }
        if entry_at != u32::MAX {
            // Whether nothing comes between the entry and its row.
            let following =
                upcoming.entries.get(upcoming.next + 1).map_or(u32::MAX, |entry| entry.at);
            let mut alone = entry_at == last && following > last;
            if alone && let Some(named) = upcoming.named.peek() {
                alone = named.from() > last;
            }
            self.next_entry(upcoming, alone, block);
        }
    }

    /// Handles the next entry of a call whose row comes later.
    ///
    /// `alone`: nothing comes between it and the next row of the block.
    #[inline]
    fn next_entry(&mut self, upcoming: &mut Upcoming<'_>, alone: bool, block: &mut BlockRows<'_>) {
        let Some(entry) = upcoming.entries.get(upcoming.next) else { return };
        if upcoming.has_comms {
            self.comms_until(upcoming, block, |named| named.row < entry.at);
        }
        let next = alone && entry.target == EntryTarget::Row(entry.at);
        if !self.common_entry(entry, upcoming.next as u32 + 1, next, block) {
            self.enter(entry, block);
            self.visit_changed(entry.at as usize, block);
        }
        upcoming.next += 1;
        upcoming.update_due();
    }

    /// Columns of some tasks have changed: marks the next row of each, from row `from` on, to be
    /// looked at.
    #[inline]
    pub(crate) fn visit_changed(&mut self, from: usize, block: &mut BlockRows<'_>) {
        if !self.comms.changed.is_empty() || !self.tasks.changed.is_empty() {
            self.visit_next_rows(from, block);
        }
    }

    #[cold]
    fn visit_next_rows(&mut self, from: usize, block: &mut BlockRows<'_>) {
        for tid in self.comms.changed.drain(..) {
            self.tasks.change(Some(tid));
        }
        for task in self.tasks.changed.drain(..) {
            let Some(left) = block.searches.checked_sub(block.own.saturating_sub(from)) else {
                block.model_rows.visit_all(from, block.own);
                continue;
            };
            block.searches = left;
            if let Some(row) = block.rows.next_of(task, from..block.own) {
                block.model_rows.visit(row);
            }
        }
    }

    /// Handles the names for which `by_now` holds.
    #[inline]
    fn comms_until(
        &mut self,
        upcoming: &mut Upcoming<'_>,
        block: &mut BlockRows<'_>,
        by_now: impl Fn(&CommChange) -> bool,
    ) {
        while self.next_comm(upcoming, block, &by_now) {}
    }

    /// Handles the next of them; returns whether there was one.
    fn next_comm(
        &mut self,
        upcoming: &mut Upcoming<'_>,
        block: &mut BlockRows<'_>,
        by_now: impl Fn(&CommChange) -> bool,
    ) -> bool {
        let Some(named) = upcoming.named.next_if(|named| by_now(named)) else { return false };
        self.comms.set(named.tid, &block.comms[named.comm as usize], self.block, named.comm);
        self.visit_changed(named.from() as usize, block);
        upcoming.update_due();
        true
    }
}
