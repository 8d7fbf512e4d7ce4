//! Sets of ranges: unions of ranges of bytes, or of time.

use crate::tables::merge::merge_recent;

/// A set of half-open ranges of whole numbers.
///
/// A range that starts inside the last one, or right after it, extends it. Others are appended if
/// they are in order; one that reaches back over the last ones takes their place. Others wait in a
/// list, which is sorted and merged when it is as long as the merged list. So an insertion takes
/// logarithmic time in any order, and memory is at most twice that of the separate ranges.
///
/// # Examples
/// ```
/// use tracefast_core::tables::files::Ranges;
/// let mut ranges = Ranges::default();
/// ranges.insert(0, 10);
/// ranges.insert(10, 15);
/// ranges.insert(5, 12);
/// ranges.insert(20, 21);
/// assert_eq!(ranges.length(), 16);
/// assert_eq!(ranges.merged(), [(0, 15), (20, 21)]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Ranges {
    /// The range that was inserted last; empty if there is none.
    last: (i64, i64),
    /// None if there was only one: most files are read once.
    others: Option<Box<Lists>>,
}

#[derive(Debug, Clone, Default)]
struct Lists {
    recent: Vec<(i64, i64)>,
    merged: Vec<(i64, i64)>,
}

/// The least number of ranges to wait for before a merge.
const WAITING: usize = 64;

impl Ranges {
    /// Adds `start..end`, which may be empty.
    #[inline]
    pub fn insert(&mut self, start: i64, end: i64) {
        if start >= end {
            return;
        }
        let (first, last_end) = self.last;
        if first <= start && start <= last_end && first < last_end {
            self.last.1 = last_end.max(end);
            return;
        }
        self.last = (start, end);
        if first < last_end {
            let lists = self.others.get_or_insert_default();
            if start <= first && last_end <= end {
                // Calls of several tasks come in the order of their ends.
                self.last.0 = lists.cover(start, end);
            } else {
                lists.retire((first, last_end));
            }
        }
    }

    /// Whether nothing is covered.
    pub fn is_empty(&self) -> bool {
        self.last.0 >= self.last.1
    }

    /// The ranges in order, without overlaps.
    pub fn merged(&mut self) -> &[(i64, i64)] {
        let empty = self.is_empty();
        let Some(lists) = &mut self.others else {
            return if empty { &[] } else { std::slice::from_ref(&self.last) };
        };
        if !empty {
            lists.recent.push(std::mem::take(&mut self.last));
        }
        lists.merge();
        // Ranges added from here on usually start in the last range or after it.
        if let Some(last) = lists.merged.last() {
            self.last = *last;
        }
        &lists.merged
    }

    /// The length of the union, at most `i64::MAX`.
    pub fn length(&mut self) -> i64 {
        let length: i128 =
            self.merged().iter().map(|&(start, end)| i128::from(end) - i128::from(start)).sum();
        i64::try_from(length).unwrap_or(i64::MAX)
    }

    /// Adds all of `other`, moved by `by`.
    pub(crate) fn absorb(&mut self, other: &mut Self, by: i64) {
        for &(start, end) in other.merged() {
            self.insert(start.saturating_add(by), end.saturating_add(by));
        }
    }
}

impl Lists {
    /// Takes off the ranges at the end that `start..end` covers or joins; gives where all of them
    /// start. Those that reach beyond its end stay.
    fn cover(&mut self, mut start: i64, end: i64) -> i64 {
        while let Some((first, _)) = self.merged.pop_if(|(_, last)| start <= *last && *last <= end)
        {
            start = start.min(first);
        }
        start
    }

    /// Adds a range that no longer grows.
    fn retire(&mut self, (start, end): (i64, i64)) {
        match self.merged.last_mut() {
            // Times come in order, and usually so do the bytes of a file.
            Some((first, last)) if *first <= start && start <= *last => {
                *last = end.max(*last);
                return;
            }
            Some((_, last)) if *last >= start => {}
            _ => return self.merged.push((start, end)),
        }
        // A range that is read again is covered already.
        let at = self.first_from(start);
        if self.merged.get(at).is_none_or(|&(first, last)| start < first || last < end) {
            self.recent.push((start, end));
        }
        if self.recent.len() >= WAITING.max(self.merged.len()) {
            self.merge();
        }
    }

    /// The first range that ends at `start` or later, looked for from the end: what does not come in
    /// order is rarely far back.
    fn first_from(&self, start: i64) -> usize {
        let (mut from, mut to, mut step) = (self.merged.len(), self.merged.len(), 1);
        while from > 0 && self.merged[from - 1].1 >= start {
            to = from - 1;
            from = from.saturating_sub(step);
            step *= 2;
        }
        from + self.merged[from..to].partition_point(|&(_, last)| last < start)
    }

    fn merge(&mut self) {
        merge_recent(&mut self.merged, &mut self.recent, |last, (start, end)| {
            let joined = start <= last.1;
            if joined {
                last.1 = end.max(last.1);
            }
            joined
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn covers_what_was_inserted(
            ranges in prop::collection::vec((0i64..400, 0i64..9), 0..300),
            looks in prop::collection::vec(0usize..300, 0..4),
        ) {
            let mut set = Ranges::default();
            let mut slow = BTreeSet::new();
            for (i, &(start, length)) in ranges.iter().enumerate() {
                set.insert(start, start + length);
                slow.extend(start..start + length);
                if looks.contains(&i) {
                    prop_assert_eq!(set.length(), slow.len() as i64);
                }
            }
            prop_assert_eq!(set.length(), slow.len() as i64);
            let merged = set.merged();
            prop_assert!(merged.windows(2).all(|pair| pair[0].1 < pair[1].0));
            let covered: BTreeSet<i64> = merged.iter().flat_map(|&(a, b)| a..b).collect();
            prop_assert_eq!(covered, slow);
        }
    }

    #[test]
    fn what_is_the_same_takes_no_room() {
        let mut set = Ranges::default();
        for i in 0..100_000i64 {
            set.insert((i * 37 % 50) * 10, (i * 37 % 50) * 10 + 5);
        }
        assert_eq!(set.length(), 250);
        let lists = set.others.expect("several ranges");
        assert!(lists.recent.capacity() + lists.merged.capacity() < 1000);
    }

    #[test]
    fn the_whole_range_of_numbers_has_a_length() {
        let mut set = Ranges::default();
        set.insert(i64::MIN, i64::MAX);
        assert_eq!(set.length(), i64::MAX);
    }

    #[test]
    fn absorbs_with_a_shift() {
        let (mut a, mut b) = (Ranges::default(), Ranges::default());
        a.insert(0, 10);
        b.insert(0, 5);
        b.insert(-20, -10);
        a.absorb(&mut b, 8);
        assert_eq!(a.merged(), [(-12, -2), (0, 13)]);
    }
}
