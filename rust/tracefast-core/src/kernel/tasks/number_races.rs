//! Numbers of descriptors that change hands while calls of other tasks are on them.
//!
//! Entries of calls are in the log before the kernel looks up their descriptors (`fdget` in
//! fs/file.c), so a call that overlaps one that gives its number to another description, in a table
//! that tasks share, may have been on either. From then on the position of both is ambiguous. Right
//! programs do not do that: close(2), "Multithreaded processes and `close()`".

use crate::events::vocabulary::clone_flags::CLONE_FILES;
use crate::kernel::descriptors::fd_table::{COPIES, FdTable, Perhaps};
use crate::kernel::descriptors::open_file_description::{
    DescriptionRef, OpenFileDescription, OpenFileDescriptions,
};
use crate::kernel::files::length::{Changes, Moment};
use crate::kernel::tasks::{Task, TaskRef, Tasks};
use crate::kernel::transfers::calls_under_way::{Held, UnseenMoves, drop_held};

/// How many tasks are looked at. Where there are more, some call may be on any number that was in use.
const LOOKED_AT: usize = 1 << 8;

/// A call that copies an fd table in a log in several files, where its row is at its entry: until the
/// next row of its task, or the first of the child, the copy may have been made.
#[derive(Debug)]
pub(super) struct Copying {
    parent: TaskRef,
    child: TaskRef,
    /// The table, its copy, and when that was made here.
    table: usize,
    copy: (usize, Moment),
}

impl Copying {
    pub(super) fn is_of(&self, task: TaskRef) -> bool {
        self.parent == task || self.child == task
    }
}

/// A table of several tasks that a call under way copies.
#[derive(Debug)]
pub(crate) struct TableUnderCopy {
    table: usize,
    /// What it had when the call was entered, by number.
    had: Vec<(i32, DescriptionRef)>,
    /// What was made since, or was being closed.
    made: Vec<(i32, DescriptionRef)>,
    /// That is not all.
    forgotten: bool,
}

impl TableUnderCopy {
    /// A call has let the number refer to `file`. Adds what else the copy may have. Returns whether
    /// there may be more.
    fn add(&mut self, others: &mut Vec<DescriptionRef>, fd: i32, file: DescriptionRef) -> bool {
        let at = self.had.binary_search_by_key(&fd, |&(fd, _)| fd);
        others.extend(at.ok().map(|at| self.had[at].1));
        let made = self.made.iter().filter(|&&(made, _)| made == fd);
        others.extend(made.map(|&(_, file)| file));
        if !self.made.contains(&(fd, file)) {
            if self.made.len() == LOOKED_AT {
                others.extend(self.made.drain(..).map(|(_, file)| file));
                self.forgotten = true;
            }
            self.made.push((fd, file));
        }
        self.forgotten
    }
}

impl OpenFileDescriptions {
    /// Whether nothing has used the description since the call that holds it began, when it had so
    /// many users.
    fn is_alone(&self, held: &Held, users: u32) -> bool {
        let Some(open) = self.at(held.file) else { return false };
        let inode = open.inode.and_then(|inode| self.inodes.at(inode));
        let resize = inode.zip(held.resize);
        open.users() == users
            && held.call_start.is_none_or(|start| open.in_progress.is_only(start))
            && resize.is_none_or(|(inode, resize)| inode.length.is_only(resize))
    }

    /// The log does not show which calls were on the description.
    fn lose_calls(&mut self, file: DescriptionRef) {
        let Some((open, inodes)) = self.with_inodes(file) else { return };
        open.unordered = true;
        if let Some(inode) = open.inode.and_then(|inode| inodes.get(inode)) {
            inode.length.lose_order();
        }
    }
}

impl Tasks {
    /// Whether calls of other tasks may be on the number `fd` of this table, which is about to refer
    /// to another description.
    #[inline]
    pub(super) fn is_raced(&self, at: usize, fd: i32) -> bool {
        self.tables.users(at) > 1 && self.tables[at].is_in_use(&self.files, fd)
    }

    /// The number refers to another description than `before`; `early`: it did so before the call that
    /// made it ended ([`FdTable::was_made_early`]); `beside`: both calls were under way at once, so it
    /// may refer to either.
    #[cold]
    pub(super) fn change_hands(
        &mut self,
        at: usize,
        fd: i32,
        before: Option<DescriptionRef>,
        early: bool,
        beside: bool,
    ) {
        let Some(now) = self.tables[at].get(fd).filter(|&now| before != Some(now)) else { return };
        let mut raced = Vec::new();
        let many = self.slots.slots() > LOOKED_AT;
        if many || beside || early {
            raced.extend(before);
        }
        if !many {
            self.add_calls_on(&mut raced, (at, fd), now);
        }
        if many || early || !raced.is_empty() {
            self.may_be_of(at, raced, now);
        }
    }

    /// Calls may be on one of these descriptions, or on the one that their number refers to `now`.
    fn may_be_of(&mut self, at: usize, others: Vec<DescriptionRef>, now: DescriptionRef) {
        self.tables[at].raced = true;
        for file in others.into_iter().chain([now]) {
            self.files.lose_calls(file);
        }
    }

    /// Finds the descriptions that calls of other tasks may be on, which began on the number while it
    /// did not refer to `now`.
    fn add_calls_on(
        &self,
        raced: &mut Vec<DescriptionRef>,
        (at, fd): (usize, i32),
        now: DescriptionRef,
    ) {
        for task in self.slots.iter().filter(|task| task.table == at) {
            // The close that has freed it.
            let closing = task.closing.is_some_and(|(closing, _)| closing == fd);
            let Some(pending) = task.pending.as_ref().filter(|_| !closing) else { continue };
            let on = pending.held.iter().flatten().filter(|held| held.fd == fd && held.file != now);
            raced.extend(on.map(|held| held.file));
            let sent = pending.sent().iter().filter(|&&(sent, file)| sent == fd && file != now);
            raced.extend(sent.map(|&(_, file)| file));
        }
    }

    /// A call that copies the fd table is entered: fork(2). What the table has now, the child may get
    /// until the call returns or the child shows itself, whatever other tasks do to it.
    pub(super) fn begin_copy(&self, task: TaskRef, flags: u32) -> Option<TableUnderCopy> {
        if flags & CLONE_FILES != 0 || !self.shares_table(task) {
            return None;
        }
        let table = self.task(task)?.table;
        // Of very many calls under way none is looked at.
        let forgotten = self.forking.len() >= LOOKED_AT;
        let had = if forgotten { Vec::new() } else { self.tables[table].all().collect() };
        // What is being closed may be closed after the table was copied.
        let tasks = self.slots.iter().filter(|task| !forgotten && task.table == table);
        let closing = tasks.filter_map(|task| task.closing);
        let made = closing.map(|(fd, slot)| (fd, slot.file)).take(LOOKED_AT).collect();
        Some(TableUnderCopy { table, had, made, forgotten })
    }

    /// A call has let the number refer to `file` instead of `before`, perhaps beside others.
    #[inline]
    pub(super) fn made(
        &mut self,
        at: usize,
        fd: i32,
        before: Option<DescriptionRef>,
        file: DescriptionRef,
    ) {
        if self.tables.users(at) > 1 {
            let now = self.files.inodes.now();
            self.tables[at].note_made(fd, now);
            if !self.forking.is_empty() {
                self.made_beside_fork(at, fd, before, file);
            }
        }
        let lately = self.tables[at].lately.as_ref();
        let last = lately.and_then(|lately| lately.copies.last());
        if last.is_some_and(|&(_, copied)| copied > self.since) || !self.copying.is_empty() {
            self.made_beside_copies(at, fd, file);
        }
    }

    /// Calls that copy the table may be under way: the child gets what the number referred to before,
    /// or what it refers to now.
    #[cold]
    fn made_beside_fork(
        &mut self,
        at: usize,
        fd: i32,
        before: Option<DescriptionRef>,
        file: DescriptionRef,
    ) {
        let mut raced = Vec::new();
        let mut more = self.forking.len() > LOOKED_AT;
        if more {
            raced.extend(before);
        } else {
            let without_child = self.forking.iter_mut().filter(|forking| forking.child.is_none());
            let copies = without_child.filter_map(|forking| forking.copies.as_mut());
            for copy in copies.filter(|copy| copy.table == at) {
                raced.extend(before);
                more |= copy.add(&mut raced, fd, file);
            }
            raced.retain(|&other| other != file);
        }
        if more || !raced.is_empty() {
            self.may_be_of(at, raced, file);
        }
    }

    /// The table was copied during the call at hand, or may not have been copied yet: the copies may
    /// have the number, too.
    #[cold]
    fn made_beside_copies(&mut self, at: usize, fd: i32, file: DescriptionRef) {
        let opened = self.files.at(file).map_or(0, |open| open.opened);
        let cloexec = self.tables[at].slot(fd).is_some_and(|slot| slot.cloexec);
        let since = self.since;
        let copies = self.tables[at].lately.as_ref().map_or(&[][..], |lately| &lately.copies);
        let over = copies.iter().filter(|&&(_, copied)| copied > since);
        let mut copies: Vec<((usize, Moment), bool)> = over.map(|&copy| (copy, false)).collect();
        // Others may have been forgotten.
        let mut raced = copies.len() == COPIES;
        let under_way = self.copying.iter().filter(|copying| copying.table == at);
        copies.extend(under_way.map(|copying| (copying.copy, true)));
        for ((copy, copied), under_way) in copies {
            if self.tables.get(copy).and_then(FdTable::copied) != Some(copied) {
                continue;
            }
            let table = &mut self.tables[copy];
            let had = table.get(fd);
            let perhaps = &mut table.lately.get_or_insert_default().perhaps;
            match had {
                Some(had) => {
                    // The child has used the number already, or has what the number referred to
                    // before, if it was not copied later.
                    let used = self.files.at(had).is_some_and(|open| open.inherited);
                    if had != file && (used || under_way) {
                        self.files.lose_calls(had);
                        raced = true;
                    }
                }
                None if perhaps.len() < COPIES => {
                    perhaps.push(Perhaps { fd, file, opened, cloexec });
                }
                None => raced = true,
            }
        }
        if raced {
            self.files.lose_calls(file);
        }
    }

    /// A call of `parent` has copied its fd table for `child`, or will do so until it is over.
    pub(super) fn copied(&mut self, parent: TaskRef, child: TaskRef) {
        let [of, own] = [parent, child].map(|task| self.task(task).map_or(0, |task| task.table));
        let copied = self.tables[own].copied().unwrap_or_default();
        let lately = self.tables[of].lately.as_ref();
        let last = lately.and_then(|lately| lately.copies.last());
        if of != own && last == Some(&(own, copied)) {
            if self.copying.len() == LOOKED_AT {
                self.copying.remove(0);
            }
            self.copying.push(Copying { parent, child, table: of, copy: (own, copied) });
        }
    }

    /// The log shows that the earlier calls of the task are over, and that it exists.
    #[inline]
    pub(crate) fn goes_on(&mut self, task: TaskRef) {
        if !self.copying.is_empty() {
            self.copying.retain(|copying| !copying.is_of(task));
        }
    }

    /// A copy of a table for a child.
    pub(super) fn copy_for_child(&mut self, at: usize) -> usize {
        let copy = self.copy_table(at);
        if self.tables.users(at) > 1 {
            let now = self.files.inodes.tick();
            self.tables[copy].lately.get_or_insert_default().copied = now;
            let copies = &mut self.tables[at].lately.get_or_insert_default().copies;
            if copies.len() == COPIES {
                copies.remove(0);
            }
            copies.push((copy, now));
        }
        copy
    }

    /// A task uses a number that no call of its own has made, as far as the log shows: perhaps it got
    /// it from a table that it is a copy of.
    #[inline]
    pub(super) fn used_first(&mut self, at: usize, fd: i32, file: DescriptionRef) {
        if self.tables.users(at) > 1 {
            let now = self.files.inodes.now();
            self.tables[at].note_made(fd, now);
        }
        if self.tables[at].lately.as_ref().is_some_and(|lately| !lately.perhaps.is_empty()) {
            self.used_perhaps(at, fd, file);
        }
    }

    #[cold]
    fn used_perhaps(&mut self, at: usize, fd: i32, file: DescriptionRef) {
        let perhaps = self.tables[at].lately.as_ref().map_or(&[][..], |lately| &lately.perhaps);
        let of: Vec<Perhaps> = perhaps.iter().filter(|one| one.fd == fd).copied().collect();
        for other in of {
            let same = |open: &OpenFileDescription| open.opened == other.opened;
            if self.files.at(other.file).is_some_and(same) {
                self.files.lose_calls(other.file);
                self.files.lose_calls(file);
            }
        }
    }

    /// A close of `fd` has succeeded: if the number was closed before, another call that the log does
    /// not have yet has made it.
    #[inline]
    pub(crate) fn closed_again(&mut self, task: TaskRef, fd: i32) {
        if self.shares_table(task) {
            self.table(task).close_again(fd);
        }
    }

    /// The number is about to be closed in a table that tasks share.
    #[inline]
    pub(super) fn number_closed(&mut self, at: usize, fd: i32) {
        if let Some(open) = self.tables[at].get(fd).and_then(|file| self.files.get(file)) {
            open.number_closed = true;
        }
    }

    /// A call of `task` that began on the number `fd`, which referred to `file` then, is over. If the
    /// number was closed meanwhile, a call that another task is in may have made it again before this
    /// one looked it up.
    #[cold]
    pub(crate) fn ends_on(&mut self, task: TaskRef, fd: i32, file: DescriptionRef) {
        let Some(at) = self.task(task).map(|task| task.table) else { return };
        let now = self.tables[at].get(fd);
        let is_free = match now.and_then(|now| self.files.at(now)) {
            // Another call uses it as if it was older than the log.
            Some(open) => now != Some(file) && open.inherited,
            None => self.tables[at].is_closed(fd),
        };
        if !is_free || self.tables.users(at) < 2 {
            return;
        }
        let mut of_others = self.slots.iter().filter(|other| other.table == at);
        // The task at hand is not in a call any more.
        let making = |other: &Task| other.pending.as_ref().is_some_and(|pending| pending.makes);
        if self.slots.slots() > LOOKED_AT || of_others.any(making) {
            let now = self.files.inodes.now();
            self.tables[at].note_outlived(fd, now);
            self.files.lose_calls(file);
        }
    }

    /// A call uses the number `fd` of this table, from which a close has taken the descriptor: the
    /// close may come after it, or a call that opens another one before it. That is `file` now.
    #[cold]
    pub(super) fn used_after_close(&mut self, at: usize, fd: i32, file: DescriptionRef) {
        if self.slots.slots() > LOOKED_AT {
            let table = &mut self.tables[at];
            if !std::mem::replace(&mut table.unordered, true) {
                table.lose_order(&mut self.files);
            }
            return;
        }
        let of = |task: &&Task| task.table == at;
        let closing = self.slots.iter().filter(of).filter_map(|task| task.closing);
        let closing = closing.filter(|&(closing, _)| closing == fd).map(|(_, slot)| slot.file);
        for file in closing.chain([file]).collect::<Vec<_>>() {
            self.files.lose_calls(file);
        }
    }

    /// A call is entered that lets `to` refer to the description of `from`: dup2(2). Until it ends,
    /// calls of other tasks on `to` may be on either.
    pub(crate) fn replacing(&mut self, task: TaskRef, from: i32, to: i32) -> Option<UnseenMoves> {
        if !self.shares_table(task) {
            return None;
        }
        let both = [self.descriptor(task, to)?, self.descriptor(task, from)?];
        let files = &mut self.files;
        let inodes = both.map(|file| files.at(file).and_then(|open| open.inode));
        if both[0] == both[1] || inodes == [None; 2] {
            return None;
        }
        let mut unseen = UnseenMoves::default();
        for (second, fd) in [to, from].into_iter().enumerate() {
            let changes = (second == 0 || inodes[0] != inodes[1]).then_some(Changes::Longer);
            unseen.held.extend(files.hold(fd, both[second], true, changes));
        }
        unseen.users = files.users(both[0]);
        Some(unseen)
    }

    /// Such a call is over. If nothing has used what `to` referred to, nobody was on that number.
    pub(crate) fn replaced(&mut self, unseen: UnseenMoves) {
        let files = &mut self.files;
        if unseen.held.first().is_none_or(|held| files.is_alone(held, unseen.users)) {
            unseen.moved_nothing(files);
            return;
        }
        for held in unseen.held {
            files.lose_calls(held.file);
            drop_held(files, held);
        }
    }
}
