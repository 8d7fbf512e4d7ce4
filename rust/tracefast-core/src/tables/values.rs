//! Values and how often each occurred, for exact medians, percentiles and the most common value.

use crate::tables::merge::merge_recent;

/// A multiset of whole numbers.
///
/// New values wait in a list, which is sorted and counted when it is as long as the counted list.
/// So memory grows with distinct values, not with values. One value takes no list: most files are
/// read once.
///
/// # Examples
/// ```
/// use tracefast_core::tables::files::Values;
/// let mut values = Values::default();
/// for value in [4096, 100, 4096, 0] {
///     values.push(value);
/// }
/// let counted = values.counted();
/// assert_eq!(counted.rank(50), Some(100));
/// assert_eq!(counted.max(), Some(4096));
/// assert_eq!(counted.commonest(), Some(4096));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Values(State);

/// There are many in each row of a table, so it must be small.
#[derive(Debug, Clone, Default)]
enum State {
    #[default]
    Nothing,
    /// One value, and how often it occurred.
    One(i64, u32),
    Many(Box<Lists>),
}

#[derive(Debug, Clone, Default)]
struct Lists {
    /// The last value that was added, and how many times in a row: 0 before the first one.
    last: (i64, u64),
    recent: Vec<(i64, u64)>,
    counted: Vec<(i64, u64)>,
    /// Where values were found among the counted ones, by some bits of their hash; none while
    /// there are few.
    found: Option<Box<[u16; FOUND]>>,
}

/// The least number of values to wait for before they are counted.
const WAITING: usize = 64;
/// The most counted values among which a new one is looked for.
const SEARCHED: usize = 1 << 12;
/// How many places of values are remembered.
const FOUND: usize = 1 << 8;

impl Values {
    /// Adds one value.
    #[inline]
    pub fn push(&mut self, value: i64) {
        // Usually it is the value before.
        match &mut self.0 {
            State::Many(lists) if lists.last.0 == value => lists.last.1 += 1,
            State::One(only, count) if *only == value && *count < u32::MAX => *count += 1,
            _ => self.add(value, 1),
        }
    }

    /// Adds one value that occurred `times` times.
    #[inline]
    pub fn add(&mut self, value: i64, times: u64) {
        if times == 0 {
            return;
        }
        match &mut self.0 {
            State::Many(lists) => lists.add(value, times),
            State::One(only, count) => {
                let same = *only == value;
                match u32::try_from(times).ok().and_then(|times| count.checked_add(times)) {
                    Some(more) if same => *count = more,
                    _ => {
                        let mut lists = Lists::of(*only, (*count).into());
                        lists.add(value, times);
                        self.0 = State::Many(Box::new(lists));
                    }
                }
            }
            State::Nothing => {
                self.0 = match u32::try_from(times) {
                    Ok(times) => State::One(value, times),
                    Err(_) => State::Many(Box::new(Lists::of(value, times))),
                };
            }
        }
    }

    /// The values in order.
    pub fn counted(&mut self) -> Counted<'_> {
        let (one, many) = match &mut self.0 {
            State::Nothing => (None, &[][..]),
            State::One(value, count) => (Some((*value, u64::from(*count))), &[][..]),
            State::Many(lists) => (None, lists.counted()),
        };
        let total = one.iter().chain(many).map(|&(_, count)| count).sum();
        Counted { one, many, total }
    }

    /// How often `value` occurred.
    pub(crate) fn count_of(&mut self, value: i64) -> u64 {
        let counted = self.counted();
        let values = counted.values();
        let found = values.binary_search_by_key(&value, |&(value, _)| value);
        found.map_or(0, |at| values[at].1)
    }

    /// Adds all of `other`.
    pub(crate) fn absorb(&mut self, mut other: Self) {
        for &(value, times) in other.counted().values() {
            self.add(value, times);
        }
    }
}

impl Lists {
    /// Values of which one was added so far.
    fn of(value: i64, times: u64) -> Self {
        Self { last: (value, times), ..Self::default() }
    }

    fn add(&mut self, value: i64, times: u64) {
        let (last, count) = &mut self.last;
        if *last == value || *count == 0 {
            *last = value;
            *count += times;
            return;
        }
        let before = std::mem::replace(&mut self.last, (value, times));
        // Most values occurred before. Among very many, looking for one costs more than sorting.
        if self.counted.len() <= SEARCHED
            && let Some(count) = self.count_of(before.0)
        {
            *count += before.1;
            return;
        }
        if self.recent.len() >= WAITING.max(self.counted.len()) {
            self.count();
        }
        self.recent.push(before);
    }

    /// How often a counted value occurred.
    #[inline]
    fn count_of(&mut self, value: i64) -> Option<&mut u64> {
        // Fibonacci hashing: Knuth, The Art of Computer Programming 3, 6.4.
        let hash = (value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
        let known = self.found.as_ref().map(|found| usize::from(found[hash as usize % FOUND]));
        // Since then it may have moved.
        let known = known.filter(|&at| self.counted.get(at).is_some_and(|one| one.0 == value));
        let at = match known {
            Some(at) => at,
            None => self.search(value, hash as usize % FOUND)?,
        };
        self.counted.get_mut(at).map(|(_, count)| count)
    }

    fn search(&mut self, value: i64, hash: usize) -> Option<usize> {
        let at = self.counted.binary_search_by_key(&value, |&(value, _)| value).ok()?;
        if self.counted.len() > WAITING {
            self.found.get_or_insert_with(|| Box::new([0; FOUND]))[hash] = at as u16;
        }
        Some(at)
    }

    /// All values in order.
    fn counted(&mut self) -> &[(i64, u64)] {
        if self.last.1 > 0 {
            self.recent.push(std::mem::take(&mut self.last));
        }
        self.count();
        &self.counted
    }

    fn count(&mut self) {
        merge_recent(&mut self.counted, &mut self.recent, |last, (value, times)| {
            let same = last.0 == value;
            if same {
                last.1 += times;
            }
            same
        });
    }
}

/// Values in order, each with how often it occurred.
#[derive(Debug, Clone, Copy)]
pub struct Counted<'a> {
    /// The only value, or all of them.
    one: Option<(i64, u64)>,
    many: &'a [(i64, u64)],
    total: u64,
}

impl Counted<'_> {
    fn values(&self) -> &[(i64, u64)] {
        if self.one.is_some() { self.one.as_slice() } else { self.many }
    }

    /// How many values there are, each as often as it occurred.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The value at position `ceil(percent / 100 * n)`, the nearest rank; None without any value.
    pub fn rank(&self, percent: u64) -> Option<i64> {
        let wanted = (u128::from(self.total) * u128::from(percent)).div_ceil(100).max(1);
        let mut reached = 0;
        let found = self.values().iter().find(|&&(_, count)| {
            reached += u128::from(count);
            reached >= wanted
        });
        found.map(|&(value, _)| value)
    }

    /// The largest value.
    pub fn max(&self) -> Option<i64> {
        self.values().last().map(|&(value, _)| value)
    }

    /// The most common value; the largest, if there are several.
    pub fn commonest(&self) -> Option<i64> {
        self.values().iter().max_by_key(|&&(value, count)| (count, value)).map(|&(value, _)| value)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranks_are_those_of_the_sorted_values(
            list in prop::collection::vec(-20i64..200, 0..400), looks in 0usize..400,
        ) {
            let mut values = Values::default();
            for (i, &value) in list.iter().enumerate() {
                values.push(value);
                if i == looks {
                    prop_assert_eq!(values.counted().total(), i as u64 + 1);
                }
            }
            let mut sorted = list.clone();
            sorted.sort_unstable();
            let counted = values.counted();
            prop_assert_eq!(counted.total(), sorted.len() as u64);
            prop_assert_eq!(counted.max(), sorted.last().copied());
            for percent in [1, 50, 90, 99, 100] {
                let at = (sorted.len() * percent).div_ceil(100).max(1) - 1;
                prop_assert_eq!(counted.rank(percent as u64), sorted.get(at).copied());
            }
            let often = |value: i64| list.iter().filter(|&&other| other == value).count();
            let commonest = list.iter().copied().max_by_key(|&value| (often(value), value));
            prop_assert_eq!(counted.commonest(), commonest);
        }
    }

    #[test]
    fn values_are_found_again_after_they_have_moved() {
        let mut values = Values::default();
        // Smaller ones come later, so that all counted ones move.
        for round in 0..40 {
            for value in (-30 * round..300).rev() {
                values.push(value * 1000);
            }
        }
        let counted = values.counted();
        for (value, count) in counted.values().iter().map(|&(value, count)| (value / 1000, count)) {
            let rounds = if value < 0 { 40 - value.unsigned_abs().div_ceil(30) } else { 40 };
            assert_eq!(count, rounds, "{value}");
        }
        assert_eq!(counted.values().len(), 300 + 30 * 39);
    }

    #[test]
    fn what_is_the_same_takes_no_room() {
        let mut values = Values::default();
        for i in 0..100_000 {
            values.push(i % 50);
        }
        assert_eq!(values.counted().total(), 100_000);
        let State::Many(lists) = values.0 else { panic!("several values") };
        assert!(lists.recent.capacity() + lists.counted.capacity() < 1000);
        let mut one = Values::default();
        (0..100).for_each(|_| one.push(7));
        assert!(matches!(one.0, State::One(7, 100)));
        assert_eq!(size_of::<Values>(), 16);
        assert_eq!(one.count_of(7), 100);
    }
}
