//! Whose lines without a pid are: on a terminal strace names tasks only while there are several.

use std::collections::BTreeSet;

use crate::events::split_calls::{PidPrefix, TraceChange};

/// The tasks that are traced, as far as the log tells.
#[derive(Debug, Default)]
pub(crate) struct TracedTasks {
    tasks: BTreeSet<i32>,
    exiting: BTreeSet<i32>,
    naming: Option<PidPrefix>,
    /// Whose lines those without a pid are now.
    owner: Option<i32>,
    /// No line without a pid came since tasks lost their names.
    fresh: bool,
    /// The first task is known.
    rooted: bool,
    /// Tasks with a name since there are names, while the first task is not known.
    named: BTreeSet<i32>,
}

impl TracedTasks {
    /// A log whose first lines are of task `root`, if that is known.
    pub(crate) fn new(root: Option<i32>) -> Self {
        Self { tasks: root.into_iter().collect(), rooted: root.is_some(), ..Self::default() }
    }

    /// A task, as a line names it, by its id.
    pub(crate) fn task(&self, named: Option<i32>) -> Option<i32> {
        match (named, self.naming) {
            (None, Some(PidPrefix::Absent)) => self.owner,
            _ => named,
        }
    }

    /// This is the first line without a pid, and whose it is, is not known.
    pub(crate) fn is_unknown(&self) -> bool {
        self.fresh && self.owner.is_none()
    }

    /// This is the first line with the pid `tid`, which may be the first task's.
    pub(crate) fn may_be_root(&self, tid: i32) -> bool {
        self.naming == Some(PidPrefix::Present)
            && !self.rooted
            && !self.tasks.contains(&tid)
            && !self.named.contains(&tid)
    }

    /// Whose lines those without a pid are, if there are such now.
    pub(crate) fn owner(&self) -> Option<i32> {
        self.owner.filter(|_| self.naming == Some(PidPrefix::Absent))
    }

    /// From here on tasks are named in this way. `false`: they were before.
    pub(crate) fn name(&mut self, naming: PidPrefix) -> bool {
        if self.naming == Some(naming) {
            return false;
        }
        self.naming = Some(naming);
        self.fresh = naming == PidPrefix::Absent;
        self.named.clear();
        if self.fresh {
            self.owner = self.only();
        }
        true
    }

    /// Lines without a pid are of this task, by what they say.
    pub(crate) fn own(&mut self, tid: i32) {
        self.tasks.insert(tid);
        self.owner = Some(tid);
        self.rooted = true;
    }

    /// The task without a name goes on as what was `by`: the one that is left beside it.
    pub(crate) fn supersede(&mut self, by: i32) {
        if self.is_unknown() {
            let mut others = self.tasks.iter().filter(|&&tid| tid != by);
            if let (Some(&owner), None) = (others.next(), others.next()) {
                self.own(owner);
            }
        }
    }

    /// The one task that is traced, or the one of several that did not call exit.
    fn only(&self) -> Option<i32> {
        let one = |mut tasks: Box<dyn Iterator<Item = &i32> + '_>| {
            tasks.next().copied().filter(|_| tasks.next().is_none())
        };
        one(Box::new(self.tasks.iter()))
            .or_else(|| one(Box::new(self.tasks.difference(&self.exiting))))
    }

    /// A line of a task, in a log that does not always have pids.
    pub(crate) fn see(&mut self, tid: Option<i32>) {
        match (tid, self.naming) {
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

    /// What a line says.
    pub(crate) fn hear(&mut self, life: TraceChange) {
        match life {
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
        traced.name(PidPrefix::Absent);
        assert_eq!(traced.task(None), Some(3));
        traced.hear(TraceChange::Started(4));
        traced.name(PidPrefix::Present);
        traced.see(Some(3));
        assert_eq!((traced.task(Some(4)), traced.task(None)), (Some(4), None));
        traced.hear(TraceChange::Ended(Some(3)));
        traced.name(PidPrefix::Absent);
        assert_eq!(traced.task(None), Some(4));
    }

    #[test]
    fn versions_without_exit_lines_show_the_call() {
        let mut traced = TracedTasks::new(None);
        traced.name(PidPrefix::Absent);
        assert!(traced.is_unknown());
        traced.name(PidPrefix::Present);
        traced.see(Some(3));
        traced.see(Some(4));
        traced.hear(TraceChange::Exiting(Some(4)));
        traced.name(PidPrefix::Absent);
        assert_eq!(traced.owner(), Some(3));
    }
}
