//! How long calls took: each duration and how often it occurred.

use crate::uses::Values;

/// Most clocks of tracers tick in microseconds, and most calls take less than one millisecond.
const TICK: i64 = 1000;
/// Ticks that are counted by position.
const QUICK: usize = 1024;

/// A multiset of durations in nanoseconds.
///
/// Whole microseconds below about a millisecond are counted in a table by their number, once there
/// are so many durations that the table is the smaller part; all others are [`Values`].
#[derive(Debug, Default)]
pub(super) struct Durations {
    quick: Option<Box<[u32; QUICK]>>,
    others: Values,
    pushed: u64,
}

impl Durations {
    #[inline]
    pub(super) fn push(&mut self, ns: i64) {
        self.pushed += 1;
        if let Some(quick) = &mut self.quick {
            // Of a negative number the position is beyond the table.
            if ns % TICK == 0
                && let Some(count) = quick.get_mut((ns / TICK) as usize)
                && let Some(more) = count.checked_add(1)
            {
                *count = more;
                return;
            }
        } else if self.pushed > QUICK as u64 {
            self.quick = Some(Box::new([0; QUICK]));
        }
        self.others.push(ns);
    }

    /// Adds all of `other`.
    pub(super) fn absorb(&mut self, mut other: Self) {
        self.pushed += other.pushed;
        other.settle();
        self.others.absorb(other.others);
    }

    /// All of them.
    pub(super) fn values(&mut self) -> &mut Values {
        self.settle();
        &mut self.others
    }

    fn settle(&mut self) {
        for (tick, &count) in self.quick.take().iter().flat_map(|quick| quick.iter().enumerate()) {
            if count > 0 {
                self.others.add(tick as i64 * TICK, u64::from(count));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_duration_is_lost(
            list in prop::collection::vec(
                prop_oneof![-3i64..1_030_000, (-2i64..1030).prop_map(|tick| tick * TICK)],
                0..3000,
            ),
            cut in 0usize..3000,
        ) {
            let (mut whole, mut first, mut second) =
                (Durations::default(), Durations::default(), Durations::default());
            let mut plain = Values::default();
            for (i, &ns) in list.iter().enumerate() {
                whole.push(ns);
                plain.push(ns);
                if i < cut { &mut first } else { &mut second }.push(ns);
            }
            first.absorb(second);
            for percent in [1, 50, 90, 99, 100] {
                let expected = plain.counted().rank(percent);
                prop_assert_eq!(whole.values().counted().rank(percent), expected);
                prop_assert_eq!(first.values().counted().rank(percent), expected);
            }
            prop_assert_eq!(whole.values().counted().total(), list.len() as u64);
            prop_assert_eq!(first.values().counted().total(), list.len() as u64);
        }
    }

    #[test]
    fn a_full_counter_goes_on_elsewhere() {
        let mut durations = Durations::default();
        for _ in 0..=QUICK + 1 {
            durations.push(5000);
        }
        if let Some(quick) = &mut durations.quick {
            quick[5] = u32::MAX;
        }
        durations.push(5000);
        // Those before the table was made are counted, and the one that found it full.
        let expected = u64::from(u32::MAX) + QUICK as u64 + 1 + 1;
        assert_eq!(durations.values().counted().total(), expected);
    }
}
