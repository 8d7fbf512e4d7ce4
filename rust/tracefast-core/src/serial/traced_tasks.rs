//! The task of lines without a pid: strace without `-o FILE` prints pids only while it traces
//! several tasks.

use std::collections::BTreeSet;

use crate::events::split_calls::{PidPrefix, TraceChange};

/// The tasks that are traced, as far as the log shows.
#[derive(Debug, Default)]
pub(crate) struct TracedTasks {
    tasks: BTreeSet<i32>,
    exiting: BTreeSet<i32>,
    prefix: Option<PidPrefix>,
    /// The task of lines without a pid at present.
    owner: Option<i32>,
    /// No line without a pid has come since lines last had one.
    fresh: bool,
    /// The first task is known.
    rooted: bool,
    /// Tasks seen since lines have a pid, while the first task is not known.
    named: BTreeSet<i32>,
}

impl TracedTasks {
    /// For a log whose first lines are of task `root`, if that is known.
    pub(crate) fn new(root: Option<i32>) -> Self {
        Self { tasks: root.into_iter().collect(), rooted: root.is_some(), ..Self::default() }
    }

    /// The task of a line with this pid, or without one.
    pub(crate) fn task(&self, named: Option<i32>) -> Option<i32> {
        match (named, self.prefix) {
            (None, Some(PidPrefix::Absent)) => self.owner,
            _ => named,
        }
    }

    /// Whether this is the first line without a pid and its task is not known.
    pub(crate) fn is_unknown(&self) -> bool {
        self.fresh && self.owner.is_none()
    }

    /// Whether this is the first line with the pid `tid`, which may be that of the first task.
    pub(crate) fn may_be_root(&self, tid: i32) -> bool {
        self.prefix == Some(PidPrefix::Present)
            && !self.rooted
            && !self.tasks.contains(&tid)
            && !self.named.contains(&tid)
    }

    /// The task of lines without a pid, while lines have none.
    pub(crate) fn owner(&self) -> Option<i32> {
        self.owner.filter(|_| self.prefix == Some(PidPrefix::Absent))
    }

    /// From here on lines have a pid, or none. Returns whether that is a change.
    pub(crate) fn set_prefix(&mut self, prefix: PidPrefix) -> bool {
        if self.prefix == Some(prefix) {
            return false;
        }
        self.prefix = Some(prefix);
        self.fresh = prefix == PidPrefix::Absent;
        self.named.clear();
        if self.fresh {
            self.owner = self.only();
        }
        true
    }

    /// Lines without a pid are of this task, as their contents show.
    pub(crate) fn set_owner(&mut self, tid: i32) {
        self.tasks.insert(tid);
        self.owner = Some(tid);
        self.rooted = true;
    }

    /// The task of lines without a pid is the one that took over from `by`: the only other one.
    pub(crate) fn supersede(&mut self, by: i32) {
        if self.is_unknown() {
            let mut others = self.tasks.iter().filter(|&&tid| tid != by);
            if let (Some(&owner), None) = (others.next(), others.next()) {
                self.set_owner(owner);
            }
        }
    }

    /// The only task that is traced, or the only one of several that did not call exit.
    fn only(&self) -> Option<i32> {
        let one = |mut tasks: Box<dyn Iterator<Item = &i32> + '_>| {
            tasks.next().copied().filter(|_| tasks.next().is_none())
        };
        one(Box::new(self.tasks.iter()))
            .or_else(|| one(Box::new(self.tasks.difference(&self.exiting))))
    }

    /// Takes note of a line of a task.
    pub(crate) fn see(&mut self, tid: Option<i32>) {
        match (tid, self.prefix) {
            (Some(tid), Some(PidPrefix::Present)) => {
                self.tasks.insert(tid);
                if !self.rooted {
                    self.named.insert(tid);
                }
            }
            (None, _) => self.fresh = false,
            _ => {}
        }
    }

    /// Takes note of what a line says about whether a task is traced.
    pub(crate) fn apply(&mut self, change: TraceChange) {
        match change {
            TraceChange::Started(tid) => {
                self.tasks.insert(tid);
                self.exiting.remove(&tid);
            }
            TraceChange::Exiting(tid) => self.exiting.extend(self.task(tid)),
            TraceChange::Ended(tid) => {
                if let Some(tid) = self.task(tid) {
                    self.tasks.remove(&tid);
                    self.exiting.remove(&tid);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_survivor_owns_lines_without_a_pid() {
        let mut traced = TracedTasks::new(Some(3));
        traced.set_prefix(PidPrefix::Absent);
        assert_eq!(traced.task(None), Some(3));
        traced.apply(TraceChange::Started(4));
        traced.set_prefix(PidPrefix::Present);
        traced.see(Some(3));
        assert_eq!((traced.task(Some(4)), traced.task(None)), (Some(4), None));
        traced.apply(TraceChange::Ended(Some(3)));
        traced.set_prefix(PidPrefix::Absent);
        assert_eq!(traced.task(None), Some(4));
    }

    #[test]
    fn versions_without_exit_lines_show_the_call() {
        let mut traced = TracedTasks::new(None);
        traced.set_prefix(PidPrefix::Absent);
        assert!(traced.is_unknown());
        traced.set_prefix(PidPrefix::Present);
        traced.see(Some(3));
        traced.see(Some(4));
        traced.apply(TraceChange::Exiting(Some(4)));
        traced.set_prefix(PidPrefix::Absent);
        assert_eq!(traced.owner(), Some(3));
    }
}
