//! The time in which at least one call was running, in memory that hardly grows with the calls.

use crate::tables::ranges::Ranges;

/// So many separate ranges are kept as they are.
const MOST: usize = 1 << 12;
/// Of older ranges so many are summed up together.
const TOGETHER: usize = 256;

/// A union of ranges of time.
///
/// Of the older ranges, when there are many, only the start, the end and the sum of some together
/// are kept. A later range, such as of a call that waited for long, may cover them, and is then
/// counted instead. Where it starts or ends among such ranges, it counts outside of them, so the
/// length is too small by the gaps between these at most.
#[derive(Debug, Clone, Default)]
pub(crate) struct BusyTime {
    recent: Ranges,
    /// How many ranges were added to `recent` since it was last looked at.
    added: usize,
    /// In order.
    older: Vec<Older>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Older {
    start: i64,
    end: i64,
    busy: i64,
}

impl BusyTime {
    #[inline]
    pub(crate) fn insert(&mut self, start: i64, end: i64) {
        self.recent.insert(start, end);
        self.added += 1;
        if self.added > MOST {
            self.sum_up();
        }
    }

    /// Sums up the older half of the ranges, if there are many.
    #[cold]
    fn sum_up(&mut self) {
        self.added = 0;
        let merged = self.recent.merged();
        if merged.len() <= MOST {
            return;
        }
        let (old, young) = merged.split_at(merged.len() / TOGETHER / 2 * TOGETHER);
        let mut recent = Ranges::default();
        for &(start, end) in young {
            recent.insert(start, end);
        }
        let mut older = std::mem::take(&mut self.older);
        for part in old.chunks(TOGETHER) {
            older.extend(summed_up(part));
        }
        self.recent = recent;
        self.older = settled(older);
    }

    /// Adds all of `other`.
    pub(crate) fn absorb(&mut self, other: &mut Self) {
        for &(start, end) in other.recent.merged() {
            self.insert(start, end);
        }
        if !other.older.is_empty() {
            self.older.append(&mut other.older);
            self.older = settled(std::mem::take(&mut self.older));
        }
    }

    /// The length of the union, at most `i64::MAX`.
    pub(crate) fn length(&mut self) -> i64 {
        let mut length = self.recent.length();
        let recent = self.recent.merged();
        for older in &self.older {
            length = length.saturating_add(left_of(*older, recent));
        }
        length
    }
}

fn summed_up(part: &[(i64, i64)]) -> Option<Older> {
    let (&(start, _), &(_, end)) = (part.first()?, part.last()?);
    let busy =
        part.iter().fold(0_i64, |sum, &(start, end)| sum.saturating_add(end.saturating_sub(start)));
    Some(Older { start, end, busy })
}

/// What `older` adds at least to the ranges, which are in order.
fn left_of(older: Older, ranges: &[(i64, i64)]) -> i64 {
    let first = ranges.partition_point(|&(_, end)| end <= older.start);
    let near = ranges.get(first..).unwrap_or_default();
    let inside = near.iter().take_while(|&&(start, _)| start < older.end).fold(
        0_i64,
        |sum, &(start, end)| {
            let (start, end) = (start.max(older.start), end.min(older.end));
            sum.saturating_add(end.saturating_sub(start))
        },
    );
    older.busy.saturating_sub(inside).max(0)
}

/// Puts them in order; those that overlap become one, with what both have at least.
fn settled(mut all: Vec<Older>) -> Vec<Older> {
    all.sort_unstable_by_key(|older| (older.start, older.end));
    let mut kept: Vec<Older> = Vec::with_capacity(all.len());
    for next in all {
        match kept.last_mut() {
            Some(last) if next.start < last.end => {
                let shared = last.end.min(next.end).saturating_sub(next.start);
                let twice = shared.min(last.busy).min(next.busy);
                last.busy = last.busy.saturating_add(next.busy - twice);
                last.end = last.end.max(next.end);
            }
            _ => kept.push(next),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn memory_hardly_grows_and_the_length_is_kept() {
        let (mut busy, calls) = (BusyTime::default(), 300_000);
        for i in 0..calls {
            busy.insert(i * 10, i * 10 + 3);
        }
        assert_eq!(busy.length(), calls * 3);
        assert!(busy.older.len() * TOGETHER < 300_000 && busy.older.len() > 500);
        assert!(busy.recent.merged().len() <= 2 * MOST);
        // A call that waited all the time.
        let mut whole = busy.clone();
        whole.insert(0, calls * 10);
        assert_eq!(whole.length(), calls * 10);
        // One that started among older ones: what it adds to these is not known.
        busy.insert(1003, calls * 10);
        let (known, exact) = (busy.length(), 101 * 3 + calls * 10 - 1003);
        assert!(known <= exact && exact - known <= TOGETHER as i64 * 7, "{known} {exact}");
    }

    proptest! {
        #[test]
        fn is_never_more_than_the_union(
            parts in prop::collection::vec(
                prop::collection::vec((0i64..300, 1i64..20), 1..9), 0..9,
            ),
            recent in prop::collection::vec((0i64..300, 1i64..90), 0..9),
        ) {
            let mut slow = BTreeSet::new();
            let mut older = Vec::new();
            for part in &parts {
                let mut ranges = Ranges::default();
                for &(start, length) in part {
                    ranges.insert(start, start + length);
                    slow.extend(start..start + length);
                }
                older.extend(summed_up(ranges.merged()));
            }
            let mut busy = BusyTime { older: settled(older), ..BusyTime::default() };
            let least = busy.length();
            for &(start, length) in &recent {
                busy.insert(start, start + length);
                slow.extend(start..start + length);
            }
            prop_assert!(busy.length() <= slow.len() as i64);
            prop_assert!(busy.length() >= least);
            busy.insert(0, 400);
            prop_assert_eq!(busy.length(), 400);
        }
    }
}
