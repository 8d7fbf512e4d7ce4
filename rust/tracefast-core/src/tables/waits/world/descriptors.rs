//! Who holds which end: the descriptors of pipes, socket pairs and the like, by table.
//!
//! Only ends are kept, not files, so most tables are nearly empty.

use crate::hash::HashMap;
use crate::tables::take_out;

/// An open file description: the number of its source, and its own.
pub(crate) type Ofd = (u32, u32);

/// A descriptor that leads to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Descriptor {
    pub(crate) ofd: Ofd,
    /// execve closes it.
    pub(crate) cloexec: bool,
    /// The line of the call that made it or, if it was inherited, of the fork.
    pub(crate) line: u64,
    /// It was inherited.
    pub(crate) inherited: bool,
}

/// A table of descriptors, which tasks share.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    fds: HashMap<i32, Descriptor>,
    /// What its tasks closed before the log showed from whom they have the table.
    closed: Vec<i32>,
    /// An execve came before that.
    executed: bool,
    /// The log shows where it comes from.
    pub(crate) known: bool,
    pub(crate) tasks: Vec<u32>,
}

/// All tables, and who holds each end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tables {
    all: HashMap<u32, Table>,
    next: u32,
    /// The tables that hold an end, once for each descriptor.
    holders: HashMap<Ofd, Vec<u32>>,
    /// Ends that nobody holds any more, since they were last taken.
    released: Vec<Ofd>,
}

impl Tables {
    /// A new table of one task.
    pub(crate) fn add(&mut self, task: u32, known: bool) -> u32 {
        let number = self.next;
        self.next += 1;
        let table = Table { known, tasks: vec![task], ..Table::default() };
        self.all.insert(number, table);
        number
    }

    pub(crate) fn get(&self, table: u32) -> Option<&Table> {
        self.all.get(&table)
    }

    /// The tables that hold an end.
    pub(crate) fn holders(&self, ofd: Ofd) -> &[u32] {
        self.holders.get(&ofd).map_or(&[], Vec::as_slice)
    }

    /// The tasks that hold an end.
    pub(crate) fn tasks_that_hold(&self, ofd: Ofd) -> Vec<u32> {
        let tables = self.holders(ofd).iter().filter_map(|table| self.all.get(table));
        let mut tasks: Vec<_> = tables.flat_map(|table| table.tasks.iter().copied()).collect();
        tasks.sort_unstable();
        tasks.dedup();
        tasks
    }

    pub(crate) fn descriptor(&self, table: u32, fd: i32) -> Option<Descriptor> {
        self.all.get(&table)?.fds.get(&fd).copied()
    }

    /// The first descriptor of a table that leads to an end.
    pub(crate) fn find(&self, table: u32, ofd: Ofd) -> Option<Descriptor> {
        let found = self.all.get(&table)?.fds.values().filter(|one| one.ofd == ofd);
        found.min_by_key(|one| one.line).copied()
    }

    pub(crate) fn insert(&mut self, table: u32, fd: i32, descriptor: Descriptor) {
        self.remove(table, fd);
        if let Some(table) = self.all.get_mut(&table) {
            table.fds.insert(fd, descriptor);
            table.closed.retain(|&closed| closed != fd);
        }
        self.holders.entry(descriptor.ofd).or_default().push(table);
    }

    /// Closes a descriptor.
    pub(crate) fn remove(&mut self, table: u32, fd: i32) {
        let Some(entry) = self.all.get_mut(&table) else { return };
        if !entry.known && entry.closed.len() < MOST_CLOSED {
            entry.closed.push(fd);
        }
        if let Some(descriptor) = entry.fds.remove(&fd) {
            self.release(table, descriptor.ofd);
        }
    }

    /// Closes the descriptors from `first` to `last`.
    pub(crate) fn remove_range(&mut self, table: u32, first: i32, last: i32) {
        let Some(entry) = self.all.get(&table) else { return };
        let mut fds: Vec<_> = entry.fds.keys().copied().collect();
        fds.retain(|fd| (first..=last).contains(fd));
        fds.sort_unstable();
        for fd in fds {
            self.remove(table, fd);
        }
    }

    pub(crate) fn set_cloexec(&mut self, table: u32, fd: i32, cloexec: bool) {
        let entry = self.all.get_mut(&table).and_then(|table| table.fds.get_mut(&fd));
        if let Some(descriptor) = entry {
            descriptor.cloexec = cloexec;
        }
    }

    fn release(&mut self, table: u32, ofd: Ofd) {
        let Some(holders) = self.holders.get_mut(&ofd) else { return };
        if let Some(at) = holders.iter().position(|&holder| holder == table) {
            holders.swap_remove(at);
        }
        if holders.is_empty() {
            self.holders.remove(&ofd);
            self.released.push(ofd);
        }
    }

    /// The ends that nobody holds any more.
    pub(crate) fn take_released(&mut self) -> Vec<Ofd> {
        std::mem::take(&mut self.released)
    }

    /// A task starts a program: it has a table of its own from now on, without what closes on exec.
    pub(crate) fn exec(&mut self, table: u32, task: u32) -> u32 {
        let shared = self.all.get(&table).is_some_and(|table| table.tasks.len() > 1);
        let own = if shared { self.copy(table, task, None) } else { table };
        if shared {
            self.leave(table, task);
        }
        let Some(entry) = self.all.get_mut(&own) else { return own };
        entry.executed |= !entry.known;
        let mut closed: Vec<_> =
            entry.fds.iter().filter(|(_, one)| one.cloexec).map(|(&fd, _)| fd).collect();
        closed.sort_unstable();
        for fd in closed {
            self.remove(own, fd);
        }
        own
    }

    /// A copy of a table for a task, made by the fork on a line.
    pub(crate) fn copy(&mut self, table: u32, task: u32, fork: Option<u64>) -> u32 {
        let own = self.add(task, self.all.get(&table).is_some_and(|table| table.known));
        self.copy_into(table, own, fork, false);
        own
    }

    fn copy_into(&mut self, from: u32, to: u32, fork: Option<u64>, executed: bool) {
        let Some(source) = self.all.get(&from) else { return };
        let mut fds: Vec<_> = source.fds.iter().map(|(&fd, &one)| (fd, one)).collect();
        fds.sort_unstable_by_key(|&(fd, _)| fd);
        let skip =
            |table: &Table, fd: i32| table.closed.contains(&fd) || table.fds.contains_key(&fd);
        let Some(target) = self.all.get(&to) else { return };
        fds.retain(|&(fd, one)| !(skip(target, fd) || executed && one.cloexec));
        for (fd, one) in fds {
            let inherited = fork.is_some() || one.inherited;
            let line = fork.unwrap_or(one.line);
            self.insert(to, fd, Descriptor { line, inherited, ..one });
        }
    }

    /// The log shows that the table of a task is a copy of another one, made by the fork on a line.
    pub(crate) fn became_copy(&mut self, table: u32, of: u32, fork: u64) {
        let Some(entry) = self.all.get(&table) else { return };
        if entry.known || table == of {
            return;
        }
        let executed = entry.executed;
        self.copy_into(of, table, Some(fork), executed);
        let known = self.all.get(&of).is_some_and(|of| of.known);
        if let Some(entry) = self.all.get_mut(&table) {
            (entry.known, entry.closed) = (known, Vec::new());
        }
    }

    /// The log shows that a task shares the table of another one.
    pub(crate) fn join(&mut self, task: u32, own: u32, other: u32) {
        if own == other {
            return;
        }
        let before = self.all.get(&own).map(|table| {
            let fds: Vec<_> = table.fds.iter().map(|(&fd, &one)| (fd, one)).collect();
            (table.closed.clone(), fds)
        });
        self.leave(own, task);
        if let Some(table) = self.all.get_mut(&other) {
            table.tasks.push(task);
        }
        let Some((closed, fds)) = before else { return };
        for fd in closed {
            self.remove(other, fd);
        }
        for (fd, one) in fds {
            self.insert(other, fd, one);
        }
    }

    /// A task ends, or leaves its table. Without tasks a table is closed.
    pub(crate) fn leave(&mut self, table: u32, task: u32) {
        let Some(entry) = self.all.get_mut(&table) else { return };
        take_out(&mut entry.tasks, task);
        if entry.tasks.is_empty()
            && let Some(entry) = self.all.remove(&table)
        {
            let mut ends: Vec<_> = entry.fds.values().map(|one| one.ofd).collect();
            ends.sort_unstable();
            for ofd in ends {
                self.release(table, ofd);
            }
        }
    }

    /// The ends that a table holds.
    pub(crate) fn ends_of(&self, table: u32) -> Vec<Ofd> {
        let table = self.all.get(&table);
        let mut ends: Vec<_> = table.into_iter().flat_map(|table| table.fds.values()).collect();
        ends.sort_unstable_by_key(|one| one.ofd);
        ends.dedup_by_key(|one| one.ofd);
        ends.into_iter().map(|one| one.ofd).collect()
    }
}

/// Closed descriptors that are remembered of a table whose origin is not yet known.
const MOST_CLOSED: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    const READ: Ofd = (1, 10);
    const WRITE: Ofd = (1, 11);

    fn end(ofd: Ofd, cloexec: bool) -> Descriptor {
        Descriptor { ofd, cloexec, line: 1, inherited: false }
    }

    fn with_pipe() -> (Tables, u32) {
        let mut tables = Tables::default();
        let table = tables.add(0, true);
        tables.insert(table, 3, end(READ, true));
        tables.insert(table, 4, end(WRITE, false));
        (tables, table)
    }

    #[test]
    fn a_fork_copies_and_an_exec_closes() {
        let (mut tables, parent) = with_pipe();
        let child = tables.copy(parent, 1, Some(7));
        assert_eq!(tables.tasks_that_hold(READ), [0, 1]);
        assert!(tables.descriptor(child, 3).is_some_and(|one| one.inherited && one.line == 7));
        assert_eq!(tables.exec(child, 1), child);
        assert_eq!(tables.tasks_that_hold(READ), [0]);
        assert_eq!(tables.tasks_that_hold(WRITE), [0, 1]);
        tables.remove(parent, 3);
        assert_eq!(tables.take_released(), [READ]);
        tables.leave(parent, 0);
        tables.leave(child, 1);
        assert_eq!(tables.take_released(), [WRITE]);
    }

    #[test]
    fn threads_share_until_one_starts_a_program() {
        let (mut tables, table) = with_pipe();
        let own = tables.add(1, false);
        tables.remove(own, 3);
        tables.join(1, own, table);
        assert!(tables.descriptor(table, 3).is_none());
        assert_eq!(tables.tasks_that_hold(WRITE), [0, 1]);
        let own = tables.exec(table, 1);
        assert_ne!(own, table);
        assert_eq!(tables.holders(WRITE).len(), 2);
    }

    #[test]
    fn a_child_may_act_before_the_log_shows_its_fork() {
        let (mut tables, parent) = with_pipe();
        let child = tables.add(1, false);
        tables.remove(child, 4);
        tables.exec(child, 1);
        tables.insert(child, 9, end((1, 12), false));
        tables.became_copy(child, parent, 7);
        assert_eq!(tables.ends_of(child), [(1, 12)]);
        assert_eq!(tables.tasks_that_hold(READ), [0]);
        assert_eq!(tables.tasks_that_hold(WRITE), [0]);
    }

    #[test]
    fn ranges() {
        let (mut tables, table) = with_pipe();
        tables.remove_range(table, 4, i32::MAX);
        assert_eq!(tables.ends_of(table), [READ]);
        tables.set_cloexec(table, 3, false);
        tables.exec(table, 0);
        assert_eq!(tables.find(table, READ).map(|one| one.line), Some(1));
    }
}
