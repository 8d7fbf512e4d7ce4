//! How long calls took: each duration and how often it occurred.

use crate::tables::values::Values;

/// How many durations are stored one by one before they are counted.
const FEW: usize = 1024;
/// Most tracers have a clock in microseconds, and most calls take less than a millisecond.
const TICK: i64 = 1000;
/// How many ticks have a counter of their own.
const SHORT: usize = 1024;

/// A multiset of durations in nanoseconds.
///
/// Most rows of a table by process have few calls, whose durations are stored as they are. If there
/// are many, whole microseconds up to about a millisecond are counted in an array, the others as
/// [`Values`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Durations {
    few: Vec<u32>,
    many: Option<Box<Many>>,
}

#[derive(Debug, Clone)]
struct Many {
    short: [u32; SHORT],
    others: Values,
}

/// The percentiles of durations in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ranks {
    pub(crate) min: i64,
    pub(crate) p50: i64,
    pub(crate) p90: i64,
    pub(crate) p99: i64,
    pub(crate) max: i64,
}

impl Ranks {
    fn new(rank: impl Fn(u64) -> Option<i64>) -> Option<Self> {
        let (min, p50) = (rank(0)?, rank(50)?);
        Some(Self { min, p50, p90: rank(90)?, p99: rank(99)?, max: rank(100)? })
    }
}

impl Many {
    #[inline]
    fn push(&mut self, ns: i64) {
        // A negative number is an index beyond the array.
        if ns % TICK == 0
            && let Some(count) = self.short.get_mut((ns / TICK) as usize)
            && let Some(more) = count.checked_add(1)
        {
            *count = more;
        } else {
            self.others.push(ns);
        }
    }

    fn settled(mut self: Box<Self>) -> Values {
        for (tick, &count) in self.short.iter().enumerate() {
            if count > 0 {
                self.others.add(tick as i64 * TICK, u64::from(count));
            }
        }
        self.others
    }
}

impl Durations {
    #[inline]
    pub(crate) fn push(&mut self, ns: i64) {
        if let Some(many) = &mut self.many {
            many.push(ns);
        } else if let Ok(short) = u32::try_from(ns)
            && self.few.len() < FEW
        {
            self.few.push(short);
        } else {
            self.count().push(ns);
        }
    }

    /// Starts to count durations instead of storing them.
    #[cold]
    fn count(&mut self) -> &mut Many {
        let few = std::mem::take(&mut self.few);
        let many = self
            .many
            .get_or_insert_with(|| Box::new(Many { short: [0; SHORT], others: Values::default() }));
        for ns in few {
            many.push(i64::from(ns));
        }
        many
    }

    /// Adds all of `other`.
    pub(crate) fn absorb(&mut self, other: Self) {
        for ns in other.few {
            self.push(i64::from(ns));
        }
        if let Some(many) = other.many {
            self.count().others.absorb(many.settled());
        }
    }

    /// The extremes, and percentiles by nearest rank; None if there are no durations.
    pub(crate) fn ranks(mut self) -> Option<Ranks> {
        if let Some(many) = self.many {
            let mut values = many.settled();
            let counted = values.counted();
            return Ranks::new(|percent| counted.rank(percent));
        }
        self.few.sort_unstable();
        let few = self.few;
        let at = |percent: usize| (few.len() * percent).div_ceil(100).max(1) - 1;
        Ranks::new(|percent| few.get(at(percent as usize)).map(|&ns| i64::from(ns)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn expected(list: &[i64]) -> Option<Ranks> {
        let mut values = Values::default();
        for &ns in list {
            values.push(ns);
        }
        let counted = values.counted();
        Ranks::new(|percent| counted.rank(percent))
    }

    fn all(list: &[i64]) -> Durations {
        let mut durations = Durations::default();
        for &ns in list {
            durations.push(ns);
        }
        durations
    }

    proptest! {
        #[test]
        fn no_duration_is_lost(
            list in prop_oneof![
                prop::collection::vec(0i64..50, 0..10),
                prop::collection::vec(
                    prop_oneof![
                        -3i64..1_030_000,
                        (-2i64..1030).prop_map(|tick| tick * TICK),
                        Just(i64::MAX),
                        Just(i64::MIN),
                        Just(1 << 32),
                    ],
                    0..3000,
                ),
                prop::collection::vec((0i64..1030).prop_map(|tick| tick * TICK), 1000..1100),
            ],
            cut in 0usize..3000,
        ) {
            let (left, right) = list.split_at(cut.min(list.len()));
            let mut joined = all(left);
            joined.absorb(all(right));
            prop_assert_eq!(joined.ranks(), expected(&list));
            prop_assert_eq!(all(&list).ranks(), expected(&list));
        }
    }

    #[test]
    fn a_full_counter_continues_elsewhere() {
        let mut durations = Durations::default();
        durations.count().short[5] = u32::MAX;
        durations.push(5000);
        let mut values = durations.many.map(Many::settled).unwrap_or_default();
        assert_eq!(values.counted().total(), u64::from(u32::MAX) + 1);
    }
}
