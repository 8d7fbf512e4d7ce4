//! What tasks did lately that may end a wait of another one: writes to a pipe, wakes of a futex.

use std::collections::VecDeque;

use crate::tables::waits::wait::Waker;

/// Acts on one thing that are remembered.
const MOST: usize = 8;

/// By how much a wait may have ended later than its start and its time say: strace is interrupted
/// between the two clocks that it reads. What took no longer than this may not have waited at all.
pub(crate) const LATER_NS: i64 = 1_000_000;

/// An act that may end a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Act {
    pub(crate) task: u32,
    pub(crate) line: u64,
    pub(crate) ts: i64,
    /// When it was done, as far as the log shows.
    pub(crate) end: i64,
}

/// The last acts on one thing, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Acts {
    acts: VecDeque<Act>,
    /// There were more.
    forgotten: bool,
}

impl Acts {
    pub(crate) fn push(&mut self, act: Act) {
        if self.acts.len() == MOST {
            self.acts.pop_front();
            self.forgotten = true;
        }
        self.acts.push_back(act);
    }

    /// Whether one ended at or after a moment.
    pub(crate) fn any_since(&self, ts: i64) -> bool {
        self.acts.iter().any(|act| act.end >= ts)
    }

    /// Who ended a wait of `task` that lasted from `from` to `to`: the first who acted within it.
    /// It is proved if nobody else did.
    ///
    /// strace notes when a call starts before the clock of its duration runs, so a long wait may
    /// have ended later than `to`. If nobody acted within it, it was who acted next, before it
    /// returned.
    pub(crate) fn ender(&self, task: u32, from: i64, to: i64) -> Option<Waker> {
        let others = || self.acts.iter().filter(|act| act.task != task && act.end >= from);
        let mut within = others().filter(|act| act.ts <= to);
        let Some(first) = within.next() else {
            let next = others().next().filter(|_| to - from >= LATER_NS)?;
            return Some(Waker { task: next.task, line: next.line, exact: false });
        };
        let alone = within.all(|act| act.task == first.task);
        let all = !self.forgotten || self.acts.front().is_some_and(|act| act.end < from);
        Some(Waker { task: first.task, line: first.line, exact: alone && all })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn act(task: u32, ts: i64) -> Act {
        Act { task, line: ts as u64, ts, end: ts + 1 }
    }

    #[test]
    fn the_first_within_the_wait_ended_it() {
        let mut acts = Acts::default();
        for (task, ts) in [(1, 10), (2, 20), (2, 30)] {
            acts.push(act(task, ts));
        }
        let ender = |from, to| acts.ender(0, from, to);
        assert_eq!(ender(12, 40), Some(Waker { task: 2, line: 20, exact: true }));
        assert_eq!(ender(5, 40), Some(Waker { task: 1, line: 10, exact: false }));
        assert_eq!(ender(32, 40), None);
        // Before a long wait returned in the log, but after the time that it took.
        assert_eq!(ender(-LATER_NS, 9), Some(Waker { task: 1, line: 10, exact: false }));
        assert_eq!(ender(12, 19), None);
        assert_eq!(acts.ender(2, 12, 40), None);
        assert!(acts.any_since(31) && !acts.any_since(32));
    }

    #[test]
    fn of_many_acts_the_last_are_known() {
        let mut acts = Acts::default();
        (0..20).for_each(|ts| acts.push(act(1, ts * 10)));
        assert_eq!(acts.ender(0, 5, 500).map(|waker| waker.exact), Some(false));
        assert_eq!(acts.ender(0, 155, 500).map(|waker| waker.exact), Some(true));
    }
}
