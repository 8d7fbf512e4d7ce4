//! Children of calls that do not show their flags: `clone3` whose structure the log has not.
//!
//! Such a child may share the fd table of the task that made it (`CLONE_FILES`), or have a copy. As
//! long as both hold the same, nothing depends on it. Once one of them has changed its table, what
//! the numbers of the other refer to is open: their descriptions have no order from then on, nor has
//! what either of them opens later, and any file may change. When one of them starts a program or
//! ends, the other one has its table alone (`unshare_files` in kernel/fork.c).

use std::sync::Arc;

use crate::kernel::descriptors::open_file_description::may_move_with;
use crate::kernel::files::length::Moment;
use crate::kernel::tasks::{TaskRef, Tasks};

/// How many such children are followed of one table.
const FOLLOWED: usize = 64;

/// Stands for those that are too many. It never ends.
const MORE: u32 = u32::MAX;

/// How many directories are looked at because one was renamed, in all renames of a log. After that,
/// each rename may be of any of them.
const LOOKED_AT: usize = 1 << 22;

impl Tasks {
    /// It is open whether the new task `child`, which has a table of its own, shares that of its
    /// parent.
    #[cold]
    pub(crate) fn may_share(&mut self, child: TaskRef, table: usize) {
        let Some((id, own)) = self.task(child).map(|task| (task.id, task.table)) else { return };
        let many = self.tables[table].unclear.len() >= FOLLOWED;
        let id = if many { MORE } else { id };
        for table in [table, own] {
            let unclear = &mut self.tables[table].unclear;
            if !unclear.contains(&id) {
                unclear.push(id);
            }
        }
        if self.tables[table].diverged {
            self.diverge_alone(own);
        }
    }

    /// The task changes its table.
    #[inline]
    pub(crate) fn changes_table(&mut self, task: TaskRef) {
        if let Some(at) = self.task(task).map(|task| task.table) {
            self.table_changes(at);
        }
    }

    /// The same by the place of the table.
    #[inline]
    pub(crate) fn table_changes(&mut self, at: usize) {
        let table = &self.tables[at];
        if !table.unclear.is_empty() && !table.diverged {
            self.diverge(at);
        }
    }

    /// The tables that may be the same as this one, and this one.
    fn may_be_same(&self, at: usize) -> Vec<usize> {
        let mut same = vec![at];
        let mut next = 0;
        while let Some(&table) = same.get(next) {
            next += 1;
            let unclear = &self.tables[table].unclear;
            for (other, _, table) in self.tables.iter() {
                let linked = table.unclear.iter().any(|id| unclear.contains(id));
                if linked && !same.contains(&other) {
                    same.push(other);
                }
            }
        }
        same
    }

    #[cold]
    fn diverge(&mut self, at: usize) {
        for at in self.may_be_same(at) {
            self.diverge_alone(at);
        }
    }

    fn diverge_alone(&mut self, at: usize) {
        self.table_at(at);
        let table = &mut self.tables[at];
        if !std::mem::replace(&mut table.diverged, true) {
            table.changes_unseen = true;
            table.lose_order(&mut self.files);
            self.files.inodes.begin_unseen_changes();
        }
    }

    /// The task starts a program, or ends.
    #[inline]
    pub(crate) fn shares_no_more(&mut self, task: TaskRef) {
        if let Some(at) = self.task(task).map(|task| task.table) {
            self.table_ends(at);
        }
    }

    /// The only task that surely uses this table shares it with no other one from here on.
    #[inline]
    pub(crate) fn table_ends(&mut self, at: usize) {
        if !self.tables[at].unclear.is_empty() && self.tables.users(at) == 1 {
            self.separate_table(at);
        }
    }

    #[cold]
    fn separate_table(&mut self, at: usize) {
        let &[id] = &self.tables[at].unclear[..] else {
            // Tasks that may share it may share it with each other.
            self.table_changes(at);
            return;
        };
        for (.., table) in self.tables.iter_mut() {
            if id != MORE {
                table.unclear.retain(|&other| other != id);
                if table.unclear.is_empty() && std::mem::take(&mut table.diverged) {
                    self.files.inodes.end_unseen_changes();
                }
            }
        }
    }

    /// The task changes its working directory. One that may share it may have changed, too.
    pub(crate) fn enter(
        &mut self,
        task: TaskRef,
        path: Option<Arc<[u8]>>,
        since: Moment,
        astray: bool,
    ) {
        let Some(table) = self.task(task).map(|task| task.table) else { return };
        let own = self.number_of_directories(task);
        if !self.tables[table].unclear.is_empty() {
            let tables = self.may_be_same(table);
            for other in self.slots.iter_mut() {
                if tables.contains(&other.table) && other.directory != own {
                    let at = self.directories.number(&mut other.directory);
                    self.directories[at].lose();
                }
            }
        }
        let moves = self.files.moves;
        let directories = &mut self.directories[own];
        directories.enter(path, since, astray);
        directories.moves = moves;
    }

    /// Directories got other names, with this one; `None`: with any.
    #[cold]
    pub(crate) fn move_directories(&mut self, folder: Option<&[u8]>) {
        let Some(folder) = folder.filter(|_| self.looked_at < LOOKED_AT) else {
            // Any of those that are open or entered.
            self.files.moves += 1;
            return;
        };
        self.files.move_directories(folder);
        let mut entered = 0;
        for (.., directories) in self.directories.iter_mut() {
            entered += 1;
            if directories.working.as_ref().is_some_and(|path| may_move_with(path, folder)) {
                directories.lose();
            }
        }
        self.looked_at += self.files.files.slots() + entered;
    }
}
