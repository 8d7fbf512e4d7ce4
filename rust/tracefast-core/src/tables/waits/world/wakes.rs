//! Wakes of futexes: who was woken, and who was moved to another futex.

use std::collections::VecDeque;

use crate::tables::waits::wait::Waker;
use crate::tables::waits::world::acts::{Act, LATER_NS};
use crate::tables::waits::world::spaces::FutexKey;

/// Wakes of one futex that are remembered.
const MOST: usize = 8;

/// All bits: what waits and wakes without a mask have (`FUTEX_BITSET_MATCH_ANY` in futex(2)).
pub(crate) const ANY: u32 = u32::MAX;

/// A call that woke somebody on a futex, or moved him to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wake {
    pub(crate) act: Act,
    /// It wakes those whose mask has one of these bits.
    pub(crate) mask: u32,
    /// Its result counts those of this futex alone.
    pub(crate) sure: bool,
    /// Where it moved some, and whether it woke none.
    pub(crate) moved: Option<(FutexKey, bool)>,
}

/// The last wakes of one futex, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wakes {
    wakes: VecDeque<Wake>,
    /// There were more.
    forgotten: bool,
}

/// A wait: the waiting task, its mask, its start and end.
pub(crate) type Waited = (u32, u32, i64, i64);

impl Wakes {
    pub(crate) fn push(&mut self, wake: Wake) {
        if self.wakes.len() == MOST {
            self.wakes.pop_front();
            self.forgotten = true;
        }
        self.wakes.push_back(wake);
    }

    /// Whether one ended at or after a moment.
    pub(crate) fn any_since(&self, ts: i64) -> bool {
        self.wakes.iter().any(|wake| wake.act.end >= ts)
    }

    /// Who woke a task, if one did: the first within its wait. It is proved if nobody else did. Of
    /// a long wait it may be the next one, as for other acts.
    pub(crate) fn ender(&self, (task, mask, from, to): Waited) -> Option<(Waker, Wake)> {
        let others = || {
            self.wakes.iter().filter(move |wake| {
                wake.act.task != task && wake.act.end >= from && wake.mask & mask != 0
            })
        };
        let mut within = others().filter(|wake| wake.act.ts <= to);
        let Some(&first) = within.next() else {
            let &next = others().next().filter(|_| to - from >= LATER_NS)?;
            return Some((Waker { task: next.act.task, line: next.act.line, exact: false }, next));
        };
        let alone = within.all(|wake| wake.act.task == first.act.task);
        let all = !self.forgotten || self.wakes.front().is_some_and(|wake| wake.act.end < from);
        let exact = alone && all && first.sure;
        Some((Waker { task: first.act.task, line: first.act.line, exact }, first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wake(task: u32, ts: i64, mask: u32) -> Wake {
        let act = Act { task, line: ts as u64, ts, end: ts + 1 };
        Wake { act, mask, sure: true, moved: None }
    }

    #[test]
    fn a_wake_reaches_those_with_one_of_its_bits() {
        let mut wakes = Wakes::default();
        wakes.push(wake(1, 10, 1));
        wakes.push(wake(2, 20, 2));
        let line = |mask| wakes.ender((0, mask, 5, 30)).map(|(waker, _)| (waker.line, waker.exact));
        assert_eq!(line(1), Some((10, true)));
        assert_eq!(line(2), Some((20, true)));
        assert_eq!(line(4), None);
        assert_eq!(line(ANY), Some((10, false)));
        let long = wakes.ender((0, ANY, -LATER_NS, 9)).map(|(waker, _)| waker);
        assert_eq!(long, Some(Waker { task: 1, line: 10, exact: false }));
        assert_eq!(wakes.ender((0, ANY, 12, 19)), None);
        assert!(wakes.any_since(21) && !wakes.any_since(22));
    }

    #[test]
    fn a_wake_of_two_futexes_proves_nothing() {
        let mut wakes = Wakes::default();
        wakes.push(Wake { sure: false, ..wake(1, 10, ANY) });
        assert_eq!(wakes.ender((0, ANY, 5, 30)).map(|(waker, _)| waker.exact), Some(false));
    }
}
