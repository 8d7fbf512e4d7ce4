//! How many different numbers there were.

use crate::tables::merge::merge_recent;
use crate::tables::packed::Packed;

/// A set of process ids, or of numbers of tasks, that usually come several times in a row.
///
/// There are several in each row of a table: one number takes no memory of its own. Others wait in
/// a list, which is sorted and merged when it is as long as the merged list: to look each of them up
/// would take far longer, as thousands of tasks may use one file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Distinct {
    /// It fits into 32 bits.
    last: Packed<i64>,
    /// All numbers, if there is more than one.
    all: Option<Box<Lists>>,
}

#[derive(Debug, Clone, Default)]
struct Lists {
    recent: Vec<u32>,
    merged: Vec<u32>,
}

/// The least number of numbers to wait for before a merge.
const WAITING: usize = 64;

impl Distinct {
    #[inline]
    pub(crate) fn insert(&mut self, number: u32) {
        if self.last != i64::from(number).into() {
            self.add(number);
        }
    }

    fn add(&mut self, number: u32) {
        let before = std::mem::replace(&mut self.last, i64::from(number).into());
        match &mut self.all {
            Some(all) => all.push(number),
            None => {
                if let Some(before) = before.get() {
                    let recent = vec![before as u32, number];
                    self.all = Some(Box::new(Lists { recent, merged: Vec::new() }));
                }
            }
        }
    }

    /// How many there are.
    pub(crate) fn count(&mut self) -> u64 {
        match &mut self.all {
            Some(all) => all.merged().len() as u64,
            None => self.last.is_some().into(),
        }
    }

    /// Adds all of `other`.
    pub(crate) fn absorb(&mut self, other: Self) {
        if let Some(last) = other.last.get() {
            self.insert(last as u32);
        }
        if let Some(mut all) = other.all {
            all.merged().iter().for_each(|&number| self.insert(number));
        }
    }
}

impl Lists {
    fn push(&mut self, number: u32) {
        self.recent.push(number);
        if self.recent.len() >= WAITING.max(self.merged.len()) {
            self.merged();
        }
    }

    /// All numbers in order, each once.
    fn merged(&mut self) -> &[u32] {
        merge_recent(&mut self.merged, &mut self.recent, |last, number| *last == number);
        &self.merged
    }
}

/// Pairs of numbers that were lately added to two sets of some row: to add them again would change
/// nothing. The sets of many rows are far apart in memory, and a call usually uses what the calls
/// before it have used.
#[derive(Debug, Clone, Default)]
pub(crate) struct LatelyAdded(Vec<(u32, [u32; 2])>);

/// Pairs that are remembered, a power of two: they stay in the fastest cache of a processor.
const REMEMBERED: usize = 1 << 10;

/// No row.
const NOWHERE: u32 = u32::MAX;

impl LatelyAdded {
    /// Notes that both numbers are added to the sets of a row. Returns false if they are in there.
    #[inline]
    pub(crate) fn add(&mut self, row: u32, numbers: [u32; 2]) -> bool {
        if self.0.is_empty() {
            self.0.resize(REMEMBERED, (NOWHERE, [0; 2]));
        }
        // Fibonacci hashing: Knuth, The Art of Computer Programming 3, 6.4.
        let both = u64::from(row) << 32 | u64::from(numbers[1]);
        let hash = both.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - REMEMBERED.trailing_zeros());
        let Some(place) = self.0.get_mut(hash as usize) else { return true };
        let new = row == NOWHERE || *place != (row, numbers);
        *place = (row, numbers);
        new
    }

    /// Forgets all: a row has other sets than before.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counts_what_a_set_has(
            one in prop::collection::vec(0u32..6, 0..9), other in prop::collection::vec(2u32..90, 0..300),
        ) {
            let of = |numbers: &[u32]| {
                let mut found = Distinct::default();
                for &number in numbers {
                    found.insert(number);
                }
                found
            };
            let mut found = of(&one);
            prop_assert_eq!(found.count(), one.iter().collect::<BTreeSet<_>>().len() as u64);
            found.absorb(of(&other));
            let all: BTreeSet<_> = one.iter().chain(&other).collect();
            prop_assert_eq!(found.count(), all.len() as u64);
        }
    }

    #[test]
    fn what_was_lately_added_is_not_new() {
        let mut lately = LatelyAdded::default();
        assert!(lately.add(1, [2, 3]) && !lately.add(1, [2, 3]));
        assert!(lately.add(1, [4, 3]) && lately.add(2, [2, 3]) && lately.add(1, [2, 4]));
        assert!(lately.add(NOWHERE, [0, 0]) && lately.add(NOWHERE, [0, 0]));
        lately.clear();
        assert!(lately.add(2, [2, 3]));
        // Whatever is forgotten, nothing new is taken for known.
        let mut all = BTreeSet::new();
        for i in 0..20_000_u32 {
            let (row, pid, task) = (i * i % 97, i % 7, i * 31 % 113);
            let new = lately.add(row, [pid, task]);
            assert!(all.insert((row, pid, task)) <= new);
        }
    }

    #[test]
    fn it_is_small() {
        assert_eq!(size_of::<Distinct>(), 16);
    }
}
