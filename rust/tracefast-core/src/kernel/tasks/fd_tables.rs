//! The fd tables of tasks.

use std::collections::HashSet;

use crate::kernel::descriptors::fd_table::FdTable;
use crate::kernel::descriptors::open_file_description::{DescriptionRef, OpenFileDescription};
use crate::kernel::tasks::{TaskRef, Tasks};
use crate::kernel::transfers::position::{Offset, Position};

/// Standard input, output and error.
const STANDARD: std::ops::Range<i32> = 0..3;

/// How many tasks are compared with each other. Where there are more, every position is assumed.
const LOOKED_AT: usize = 64;

/// The same for descriptors that no call has made: in tables with more numbers than this, nobody
/// looks which descriptions they may be.
const SUSPECTED: usize = 1 << 8;

impl Tasks {
    /// The fd table of a task older than the log.
    pub(super) fn older_table(&mut self) -> usize {
        self.tables.add(FdTable::older())
    }

    /// Number of the task's fd table.
    #[inline]
    fn number_of_table(&self, task: TaskRef) -> usize {
        self.task(task).map_or(0, |task| task.table)
    }

    /// The fd table with this number.
    #[inline]
    pub(super) fn table_at(&mut self, at: usize) -> &mut FdTable {
        if self.tables[at].lacks_standard {
            self.add_standard(at);
        }
        &mut self.tables[at]
    }

    /// Standard input, output and error of a task older than the log exist from the start, so that
    /// children share their descriptions even if they use them first. Nobody sees them before they
    /// are used, copied, closed or looked for.
    #[cold]
    fn add_standard(&mut self, at: usize) {
        let table = &mut self.tables[at];
        table.lacks_standard = false;
        for fd in STANDARD {
            let mut file = OpenFileDescription::inherited(Position::At(Offset::Relative(0)));
            file.unordered = self.unordered;
            table.open(&mut self.files, fd, file, false);
        }
    }

    /// The fd table with this number, for something that is done to descriptor `fd`.
    #[inline]
    fn table_for(&mut self, at: usize, fd: i32) -> &mut FdTable {
        if STANDARD.contains(&fd) { self.table_at(at) } else { &mut self.tables[at] }
    }

    /// The fd table of the task.
    #[inline]
    pub(crate) fn table(&mut self, task: TaskRef) -> &mut FdTable {
        self.table_at(self.number_of_table(task))
    }

    /// The description that the task's `fd` refers to.
    #[inline]
    pub(crate) fn descriptor(&mut self, task: TaskRef, fd: i32) -> Option<DescriptionRef> {
        let at = self.number_of_table(task);
        let found = self.tables[at].get(fd);
        if found.is_some() { found } else { self.table_for(at, fd).get(fd) }
    }

    /// Makes a copy of a table; returns its number.
    pub(super) fn copy_table(&mut self, at: usize) -> usize {
        let copy = self.copy_of_table(at);
        self.tables.add(copy)
    }

    /// A copy of a table, which is nobody's.
    pub(super) fn copy_of_table(&mut self, at: usize) -> FdTable {
        self.table_at(at);
        self.tables[at].copy(&mut self.files)
    }

    /// The descriptions that tasks of these thread groups have.
    pub(crate) fn files_of(&mut self, groups: &HashSet<i32>) -> Vec<DescriptionRef> {
        let tasks = self.slots.iter();
        let of = tasks.filter(|task| task.groups().iter().any(|group| groups.contains(group)));
        let mut tables: Vec<usize> = of.map(|task| task.table).collect();
        tables.sort_unstable();
        tables.dedup();
        let mut files = Vec::new();
        for table in tables {
            files.extend(self.table_at(table).files());
        }
        files
    }

    /// Whether other tasks share its fd table.
    pub(crate) fn shares_table(&self, task: TaskRef) -> bool {
        let table = self.task(task).map(|task| task.table);
        table.is_some_and(|at| self.tables.users(at) > 1)
    }

    /// Whether a call that returned `fd` as new can only have done so after a close that the log does
    /// not have.
    pub(crate) fn lacks_close(&self, task: TaskRef, fd: i32) -> bool {
        let Some(task) = self.task(task) else { return false };
        let table = &self.tables[task.table];
        let old = table.get(fd).and_then(|file| self.files.at(file));
        old.is_some_and(|old| !old.inherited)
            && self.tables.users(task.table) == 1
            && !(self.unordered || table.may_change_unseen())
            && !table.was_made_since(fd, self.since)
    }

    /// Whether a call that the log does not have, such as dup(2), may have made descriptor `fd`, which
    /// is new to it. The log proves that of a number that was closed; from then on it may be so of
    /// others that could also be older than the log.
    #[cold]
    pub(crate) fn was_made_unseen(&mut self, task: TaskRef, fd: i32) -> bool {
        let table = &self.tables[self.number_of_table(task)];
        let known = self.files.complete || self.files.is_filtered();
        if known || self.unordered || table.may_change_unseen() {
            return false;
        }
        self.lacks_dups |= table.is_closed(fd);
        self.lacks_dups
    }

    /// A call may have made descriptor `fd`, if the task does not have it.
    pub(crate) fn may_make(&mut self, task: TaskRef, fd: i32) {
        let at = self.number_of_table(task);
        self.tables[at].may_open(fd);
    }

    /// A call may have made a descriptor of the task, of a number that it does not return.
    pub(crate) fn may_make_any(&mut self, task: TaskRef) {
        let at = self.number_of_table(task);
        self.tables[at].may_open_any();
    }

    /// Each description of the task may have a descriptor that the log does not show; in a table of
    /// very many numbers, any description at all.
    #[cold]
    pub(crate) fn suspect_all(&mut self, task: TaskRef) {
        let table = self.table(task);
        if table.numbers() > SUSPECTED {
            self.files.filter();
            return;
        }
        let files: Vec<DescriptionRef> = table.files().collect();
        for file in files {
            self.files.suspect_once(file);
        }
    }

    /// See [`FdTable::open`].
    pub(crate) fn open(
        &mut self,
        task: TaskRef,
        fd: i32,
        file: OpenFileDescription,
        cloexec: bool,
    ) -> Option<DescriptionRef> {
        let at = self.number_of_table(task);
        self.table_for(at, fd);
        let inherited = file.inherited;
        if !inherited {
            self.table_changes(at);
        }
        let raced = self.is_raced(at, fd);
        let table = &self.tables[at];
        let before = table.get(fd);
        let beside = !inherited && before.is_some() && table.was_made_since(fd, self.since);
        let closed = inherited && raced && before.is_none();
        let early = raced && table.was_made_early(&self.files, fd, self.since);
        let table = &mut self.tables[at];
        let file = table.open(&mut self.files, fd, file, cloexec)?;
        if table.hidden || self.files.hidden && inherited {
            self.files.hide(file);
        }
        if closed {
            self.used_after_close(at, fd, file);
        } else if raced || beside {
            self.change_hands(at, fd, before, early, beside);
        }
        if inherited {
            self.used_first(at, fd, file);
        } else {
            self.made(at, fd, before, file);
        }
        if inherited && self.attached {
            self.may_be_of_others(task, fd, file);
        }
        let table = &self.tables[at];
        let alone = !(table.unordered || table.diverged);
        // It may be what a supervisor is putting there. In a log in several files times show the order,
        // which are not those at which calls return.
        let adding = self.files.adding > 0 && !inherited;
        let given = adding || (self.unordered || self.separate) && self.supervised;
        if !alone || given || (self.unordered || table.changes_unseen) && inherited {
            self.unordered(file);
        }
        Some(file)
    }

    /// A task that no call of the log has made uses a number that others have: perhaps the call was
    /// not traced (`strace -P`), and it has their descriptions.
    #[cold]
    fn may_be_of_others(&mut self, task: TaskRef, fd: i32, file: DescriptionRef) {
        let hidden = !(self.forks || self.separate || self.unordered);
        let made = self.task(task).filter(|task| task.unexpected && hidden);
        let Some(own) = made else { return };
        // The time to compare all with all grows with the square of their number.
        if self.slots.slots() > LOOKED_AT {
            self.files.filter();
            return;
        }
        let own = own.table;
        let others: Vec<DescriptionRef> = self
            .tables
            .iter()
            .filter(|&(at, ..)| at != own)
            .filter_map(|(_, _, table)| table.get(fd))
            .collect();
        let known =
            |file: &&DescriptionRef| self.files.at(**file).is_some_and(|open| !open.inherited);
        if others.iter().any(|file| known(&file)) {
            for other in others {
                self.unordered(other);
            }
            self.unordered(file);
        }
    }

    /// Other tasks may use the description too, in an order that the log does not show.
    #[cold]
    pub(crate) fn unordered(&mut self, file: DescriptionRef) {
        if let Some(open) = self.files.get(file) {
            open.unordered = true;
        }
    }

    /// See [`FdTable::install`].
    pub(crate) fn install(&mut self, task: TaskRef, fd: i32, file: DescriptionRef, cloexec: bool) {
        let at = self.number_of_table(task);
        self.table_for(at, fd);
        self.table_changes(at);
        let (raced, before) = (self.is_raced(at, fd), self.tables[at].get(fd));
        let beside = before.is_some() && self.tables[at].was_made_since(fd, self.since);
        // dup2(2) may replace what is older than the log.
        let early = raced
            && before.is_none()
            && self.tables[at].was_made_early(&self.files, fd, self.since);
        let table = &mut self.tables[at];
        table.install(&mut self.files, fd, file, cloexec);
        let (unordered, hidden) = (table.unordered || table.diverged, table.hidden);
        if unordered {
            self.unordered(file);
        }
        if hidden {
            self.files.hide(file);
        }
        if raced || beside {
            self.change_hands(at, fd, before, early, beside);
        }
        self.made(at, fd, before, file);
    }

    /// See [`FdTable::dup`].
    pub(crate) fn dup(&mut self, task: TaskRef, from: i32, to: i32, cloexec: bool) {
        let at = self.number_of_table(task);
        self.table_for(at, from);
        self.table_for(at, to);
        self.table_changes(at);
        self.tables[at].dup(&mut self.files, from, to, cloexec);
    }

    /// See [`FdTable::close`].
    pub(crate) fn close(&mut self, task: TaskRef, fd: i32) {
        let at = self.number_of_table(task);
        self.table_for(at, fd);
        self.table_changes(at);
        if self.tables.users(at) > 1 {
            self.number_closed(at, fd);
        }
        self.tables[at].close(&mut self.files, fd);
    }

    /// A close is entered whose exit comes later. The exit may show that the close was injected,
    /// and did not take place.
    pub(crate) fn closing(&mut self, task: TaskRef, fd: i32) {
        self.closed(task, false);
        let at = self.number_of_table(task);
        self.table_changes(at);
        self.table_for(at, fd);
        if self.tables.users(at) > 1 {
            self.number_closed(at, fd);
        }
        let taken = self.tables[at].take(fd).map(|slot| (fd, slot));
        if let Some(task) = self.task_mut(task) {
            task.closing = taken;
        }
    }

    /// Such a close is over; `open`: it did not take place.
    pub(crate) fn closed(&mut self, task: TaskRef, open: bool) {
        if let Some(task) = self.slots.get_mut(task)
            && let Some((fd, slot)) = task.closing.take()
        {
            self.tables[task.table].give_back(&mut self.files, fd, slot, open);
        }
    }

    /// See [`FdTable::close_range`] and [`FdTable::mark_range`].
    pub(crate) fn close_range(&mut self, task: TaskRef, first: i32, last: i32, mark: bool) {
        let at = self.number_of_table(task);
        self.table_at(at);
        self.table_changes(at);
        if mark {
            self.tables[at].mark_range(first, last);
        } else {
            if self.tables.users(at) > 1 {
                let closed = self.tables[at].all().filter(|&(fd, _)| (first..=last).contains(&fd));
                for (fd, _) in closed.collect::<Vec<_>>() {
                    self.number_closed(at, fd);
                }
            }
            self.tables[at].close_range(&mut self.files, first, last);
        }
    }
}
