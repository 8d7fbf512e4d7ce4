//! Numbers of descriptors that change hands while calls of other tasks are on them.
//!
//! Entries of calls are in the log before the kernel looks up their descriptors (`fdget` in
//! fs/file.c), so a call that overlaps one that gives its number to another description, in a table
//! that tasks share, may have been on either. From then on the position of both is ambiguous. Right
//! programs do not do that: close(2), "Multithreaded processes and `close()`".

#[cfg(doc)]
use crate::kernel::descriptors::fd_table::FdTable;
use crate::kernel::descriptors::open_file_description::{DescriptionRef, OpenFileDescriptions};
use crate::kernel::files::length::Changes;
use crate::kernel::tasks::fork::Forking;
use crate::kernel::tasks::{Task, TaskRef, Tasks};
use crate::kernel::transfers::calls_under_way::{Held, UnseenMoves, drop_held};

/// How many tasks are looked at. Where there are more, some call may be on any number that was in use.
const LOOKED_AT: usize = 1 << 8;

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
    /// made it ended ([`FdTable::was_made_early`]).
    #[cold]
    pub(super) fn change_hands(
        &mut self,
        at: usize,
        fd: i32,
        before: Option<DescriptionRef>,
        early: bool,
    ) {
        let Some(now) = self.tables[at].get(fd).filter(|&now| before != Some(now)) else { return };
        let mut raced = Vec::new();
        let many = self.slots.slots() > LOOKED_AT;
        if many {
            raced.extend(before);
        } else {
            self.add_calls_on(&mut raced, (at, fd), before, now);
        }
        if many || early || !raced.is_empty() {
            raced.push(now);
            self.tables[at].raced = true;
        }
        for file in raced {
            self.files.lose_calls(file);
        }
    }

    /// Finds the descriptions that calls of other tasks may be on, which began on the number while it
    /// did not refer to `now`.
    fn add_calls_on(
        &self,
        raced: &mut Vec<DescriptionRef>,
        (at, fd): (usize, i32),
        before: Option<DescriptionRef>,
        now: DescriptionRef,
    ) {
        for task in self.slots.iter().filter(|task| task.table == at) {
            // The close that has freed it.
            let closing = task.closing.is_some_and(|(closing, _)| closing == fd);
            let Some(pending) = task.pending.as_ref().filter(|_| !closing) else { continue };
            let on = pending.held.iter().flatten().filter(|held| held.fd == fd && held.file != now);
            raced.extend(on.map(|held| held.file));
            // Which numbers it sends is not kept. The copy of a child that has not shown itself may
            // be of the table before or after.
            let forks = |forking: &Forking| forking.parent == task.id && forking.child.is_none();
            if pending.message().is_some() || self.forking.iter().any(forks) {
                raced.extend(before);
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
