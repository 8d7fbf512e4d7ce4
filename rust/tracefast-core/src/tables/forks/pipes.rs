//! Pipes through which a child reports that it could not start a program.
//!
//! The parent creates a pipe that closes on exec, creates the child, closes its own write end, and
//! reads. The read returns when the child starts a program, or when it writes why it could not.

use std::collections::VecDeque;

use crate::hash::HashMap;
use crate::linux::clone::Kind;
use crate::tables::forks::arguments;
use crate::tables::forks::fold::{At, Columns, Forks};
use crate::tables::forks::word_classes::Act;

/// How many pipes are remembered.
const PIPES: usize = 65_536;

/// A parent's reads from such a pipe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Wait {
    /// Time in the reads; None if no read has a duration.
    pub(crate) ns: Option<i64>,
    /// When the last read ended.
    pub(crate) end: Option<i64>,
    /// Something was read.
    pub(crate) data: bool,
}

/// A pipe that closes on exec.
#[derive(Debug)]
pub(crate) struct Pipe {
    pub(crate) write_end: u32,
    /// The task that created it, and the number of its process id.
    pub(crate) task: u32,
    pub(crate) pid: Option<u32>,
    /// The row that created it.
    pub(crate) row: u64,
    /// The process that created it closed the write end.
    pub(crate) closed: bool,
    /// The birth that it reports on.
    pub(crate) birth: Option<u32>,
}

/// Pipes that close on exec, by source and description.
#[derive(Debug, Default)]
pub(crate) struct Pipes {
    by_read_end: HashMap<(u32, u32), Pipe>,
    by_write_end: HashMap<(u32, u32), u32>,
    order: VecDeque<(u32, u32, u64)>,
}

impl Pipes {
    pub(crate) fn is_empty(&self) -> bool {
        self.by_read_end.is_empty()
    }

    /// Adds a pipe, and forgets the oldest if there are too many.
    pub(crate) fn insert(&mut self, source: u32, read_end: u32, pipe: Pipe) {
        self.remove(source, read_end);
        self.order.push_back((source, read_end, pipe.row));
        self.by_write_end.insert((source, pipe.write_end), read_end);
        self.by_read_end.insert((source, read_end), pipe);
        while self.order.len() > PIPES {
            let Some((source, read_end, row)) = self.order.pop_front() else { break };
            if self.by_read_end.get(&(source, read_end)).is_some_and(|pipe| pipe.row == row) {
                self.remove(source, read_end);
            }
        }
    }

    /// The pipe whose read end is `ofd`.
    pub(crate) fn read_through(&mut self, source: u32, ofd: u32) -> Option<&mut Pipe> {
        self.by_read_end.get_mut(&(source, ofd))
    }

    /// The pipe whose write end is `ofd`, and its read end.
    pub(crate) fn written_through(&mut self, source: u32, ofd: u32) -> Option<(u32, &mut Pipe)> {
        let &read_end = self.by_write_end.get(&(source, ofd))?;
        self.by_read_end.get_mut(&(source, read_end)).map(|pipe| (read_end, pipe))
    }

    pub(crate) fn remove(&mut self, source: u32, read_end: u32) {
        if let Some(pipe) = self.by_read_end.remove(&(source, read_end)) {
            self.by_write_end.remove(&(source, pipe.write_end));
        }
    }
}

impl Forks {
    /// A call that creates a pipe.
    pub(crate) fn pipe(&mut self, (_, columns): &Columns<'_>, at: &At<'_>, task: u32) {
        let ends = columns.ofd[0].get(at.row).zip(columns.ofd[1].get(at.row));
        let Some((read_end, write_end)) = ends else { return };
        if at.ret == Some(0) && at.args.is_some_and(arguments::closes_on_exec) {
            let pid = self.tasks.get(task as usize).and_then(|task| task.pid.get());
            let row = self.tracker.row;
            let pipe = Pipe { write_end, task, pid, row, closed: false, birth: None };
            self.pipes.insert(at.source, read_end, pipe);
        }
    }

    /// A call on a descriptor that may be such a pipe.
    pub(crate) fn uses_pipe(&mut self, (_, columns): &Columns<'_>, at: &At<'_>, task: u32) {
        let Some(ofd) = columns.ofd[0].get(at.row) else { return };
        let pid = self.tasks.get(task as usize).and_then(|task| task.pid.get());
        match at.act {
            Act::Close => {
                if let Some((_, pipe)) = self.pipes.written_through(at.source, ofd) {
                    pipe.closed |= pipe.pid == pid;
                } else if let Some(pipe) = self.pipes.read_through(at.source, ofd)
                    && pipe.pid == pid
                {
                    self.pipes.remove(at.source, ofd);
                }
            }
            Act::Dup => {
                // A pipe that the child's program inherits does not report on the child.
                if let Some((read_end, pipe)) = self.pipes.written_through(at.source, ofd)
                    && pipe.pid != pid
                    && at.args.is_some_and(arguments::hands_on)
                {
                    let birth = pipe.birth;
                    self.pipes.remove(at.source, read_end);
                    if let Some(birth) = birth.and_then(|b| self.births.get_mut(b as usize)) {
                        birth.pipe = None;
                    }
                }
            }
            _ => self.reads_pipe(at, ofd, pid),
        }
    }

    fn reads_pipe(&mut self, at: &At<'_>, ofd: u32, pid: Option<u32>) {
        let Some(ret) = at.ret.filter(|&ret| ret >= 0) else { return };
        let Some(pipe) = self.pipes.read_through(at.source, ofd) else { return };
        if !pipe.closed || pipe.pid != pid {
            return;
        }
        let first = pipe.birth.is_none();
        if first {
            // The last child of the thread that created the pipe, or else of its process id.
            let since = |&number: &u32| {
                self.births.get(number as usize).is_some_and(|birth| birth.row > pipe.row)
            };
            let by_task = self.tasks.get(pipe.task as usize).and_then(|task| task.made.get());
            let by_pid = || self.pids.get(pid?)?.made.get();
            pipe.birth = by_task.filter(since).or_else(|| by_pid().filter(since));
        }
        let number = pipe.birth;
        let taken =
            number.and_then(|number| self.births.get(number as usize)).is_none_or(|birth| {
                first && birth.pipe.is_some()
                    || birth.child.is_none()
                    || birth.kind() == Some(Kind::Thread)
            });
        if taken || ret == 0 {
            self.pipes.remove(at.source, ofd);
        }
        if taken {
            return;
        }
        let Some(birth) = number.and_then(|number| self.births.get_mut(number as usize)) else {
            return;
        };
        let wait = birth.pipe.get_or_insert_default();
        if let Some(dur) = at.dur {
            wait.ns = Some(wait.ns.unwrap_or(0).saturating_add(dur));
        }
        wait.end = at.end().or(wait.end);
        wait.data |= ret > 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipe(write_end: u32, row: u64) -> Pipe {
        Pipe { write_end, task: 0, pid: None, row, closed: false, birth: None }
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut pipes = Pipes::default();
        for at in 0..PIPES as u32 + 2 {
            pipes.insert(0, at * 2, pipe(at * 2 + 1, u64::from(at)));
        }
        assert!(pipes.written_through(0, 1).is_none() && pipes.written_through(0, 3).is_none());
        assert_eq!(pipes.written_through(0, 5).map(|(read_end, _)| read_end), Some(4));
        assert_eq!(pipes.by_read_end.len(), PIPES);
        assert_eq!(pipes.by_write_end.len(), PIPES);
        pipes.remove(0, 4);
        assert!(pipes.written_through(0, 5).is_none() && pipes.read_through(0, 4).is_none());
    }

    #[test]
    fn a_reused_number_replaces_the_pipe() {
        let mut pipes = Pipes::default();
        for at in 0..3 * PIPES as u64 {
            pipes.insert(0, 7, pipe(8, at));
        }
        pipes.insert(0, 1, pipe(2, 0));
        assert!(pipes.read_through(0, 7).is_some());
    }
}
