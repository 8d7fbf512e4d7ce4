//! Ranges of a file by process, and how many bytes processes share.

use crate::tables::merge::merge_recent;
use crate::tables::ranges::Ranges;

/// A process, and a range that it accessed.
type Owned = (Option<i32>, i64, i64);

/// A set of ranges for each process, in one list: thousands of processes may read the same file
/// once each.
///
/// As in [`Ranges`], a range that continues the last one extends it. Others wait in a list, which
/// is sorted and merged when it is as long as the merged list.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProcessRanges {
    last: Option<Owned>,
    /// None if there was only one: most files are read once.
    others: Option<Box<Lists>>,
    /// Ranges of several processes, each byte of one of them. Which one is not known.
    together: Option<Box<Ranges>>,
}

#[derive(Debug, Clone, Default)]
struct Lists {
    recent: Vec<Owned>,
    merged: Vec<Owned>,
}

/// The least number of ranges to wait for before a merge.
const WAITING: usize = 64;

impl ProcessRanges {
    /// Adds `start..end` to the ranges of `pid`.
    #[inline]
    pub(crate) fn insert(&mut self, pid: Option<i32>, start: i64, end: i64) {
        if start >= end {
            return;
        }
        if let Some((owner, first, last)) = &mut self.last {
            if *owner == pid && *first <= start && start <= *last {
                *last = end.max(*last);
                return;
            }
            let before = (*owner, *first, *last);
            self.others.get_or_insert_default().push(before);
        }
        self.last = Some((pid, start, end));
    }

    /// Adds `start..end`, each byte of it to the ranges of one of several processes.
    pub(crate) fn insert_together(&mut self, start: i64, end: i64) {
        self.together.get_or_insert_default().insert(start, end);
    }

    /// All ranges, by process and in order, without overlaps.
    fn merged(&mut self) -> &[Owned] {
        match &mut self.others {
            None => self.last.as_slice(),
            Some(lists) => {
                lists.recent.extend(self.last.take());
                lists.merge();
                &lists.merged
            }
        }
    }

    /// Adds all ranges to `other`, moved by `by` bytes.
    pub(crate) fn move_to(&mut self, other: &mut Self, by: i64) {
        for &(pid, start, end) in self.merged() {
            other.insert(pid, start.saturating_add(by), end.saturating_add(by));
        }
        for &(start, end) in self.together.iter_mut().flat_map(|ranges| ranges.merged()) {
            other.insert_together(start.saturating_add(by), end.saturating_add(by));
        }
    }

    /// Bytes in the union of all processes, and how much larger the sum over processes is, as far as
    /// it is known whose they are.
    pub(crate) fn lengths(&mut self) -> (i64, i64) {
        let mut union = Ranges::default();
        let mut sum: i128 = 0;
        for &(_, start, end) in self.merged() {
            sum += i128::from(end) - i128::from(start);
            union.insert(start, end);
        }
        let shared = sum - i128::from(union.length());
        for &(start, end) in self.together.iter_mut().flat_map(|ranges| ranges.merged()) {
            union.insert(start, end);
        }
        (union.length(), i64::try_from(shared).unwrap_or(i64::MAX))
    }
}

impl Lists {
    fn push(&mut self, range: Owned) {
        self.recent.push(range);
        if self.recent.len() >= WAITING.max(self.merged.len()) {
            self.merge();
        }
    }

    fn merge(&mut self) {
        merge_recent(&mut self.merged, &mut self.recent, |(owner, _, last), (pid, start, end)| {
            let joined = *owner == pid && start <= *last;
            if joined {
                *last = end.max(*last);
            }
            joined
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lengths_are_those_of_sets_of_bytes(
            ranges in prop::collection::vec((0i32..4, 0i64..300, 0i64..9), 0..300), by in -9i64..9,
        ) {
            let mut shares = ProcessRanges::default();
            let mut slow: BTreeMap<i32, BTreeSet<i64>> = BTreeMap::new();
            for &(pid, start, length) in &ranges {
                let pid = (pid > 0).then_some(pid);
                shares.insert(pid, start, start + length);
                slow.entry(pid.unwrap_or(0)).or_default().extend(start..start + length);
            }
            let union: BTreeSet<i64> = slow.values().flatten().copied().collect();
            let sum: usize = slow.values().map(BTreeSet::len).sum();
            let expected = (union.len() as i64, (sum - union.len()) as i64);
            let mut moved = ProcessRanges::default();
            shares.move_to(&mut moved, by);
            prop_assert_eq!(moved.lengths(), expected);
            prop_assert_eq!(shares.lengths(), expected);
        }
    }
}
