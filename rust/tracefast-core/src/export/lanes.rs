//! Where the slices of a task go, so that none of them cross.
//!
//! A task makes one call at a time, but logs do not always say so: strace measures the time of a call
//! with another clock than the time at which it starts, a clock is set back, some logs have whole
//! seconds.

/// How far slices may overlap by the rounding of times: strace prints microseconds.
const TICK: i64 = 1_000;

/// The most tracks of a task.
pub(crate) const LANES: usize = 16;

/// A slice in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The track: 0 is that of the task itself.
    pub(crate) lane: usize,
    pub(crate) start: i64,
    pub(crate) end: i64,
}

/// The tracks of a task: when the last slice of each one ends.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    first: Option<i64>,
    further: Vec<i64>,
}

impl Lanes {
    /// Finds a place for a call. Where all tracks are taken, the slice starts later.
    pub(crate) fn place(&mut self, start: i64, end: i64) -> Place {
        let end = end.max(start);
        let taken = self.first.unwrap_or(i64::MIN);
        let overlap = taken.saturating_sub(start);
        if overlap <= 0 || overlap <= TICK && end >= taken {
            self.first = Some(end);
            return Place { lane: 0, start: start.max(taken), end };
        }
        let free = self.further.iter().position(|&taken| taken <= start);
        if free.is_none() && self.further.len() + 1 < LANES {
            self.further.push(end);
            return Place { lane: self.further.len(), start, end };
        }
        let soonest = || (0..self.further.len()).min_by_key(|&at| self.further[at]);
        let at = free.or_else(soonest).unwrap_or(0);
        let Some(taken) = self.further.get_mut(at) else { return Place { lane: 0, start, end } };
        let start = start.max(*taken);
        *taken = end.max(start);
        Place { lane: at + 1, start, end: *taken }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rounding_is_clipped_and_overlaps_get_a_track() {
        let mut lanes = Lanes::default();
        assert_eq!(lanes.place(0, 10_000), Place { lane: 0, start: 0, end: 10_000 });
        assert_eq!(lanes.place(9_500, 20_000), Place { lane: 0, start: 10_000, end: 20_000 });
        assert_eq!(lanes.place(12_000, 21_000), Place { lane: 1, start: 12_000, end: 21_000 });
        assert_eq!(lanes.place(21_000, 21_000), Place { lane: 0, start: 21_000, end: 21_000 });
    }

    proptest! {
        #[test]
        fn slices_never_cross(calls in prop::collection::vec((0i64..50_000, 0i64..9_000), 0..200)) {
            let mut lanes = Lanes::default();
            let mut ends = [i64::MIN; LANES];
            for (start, dur) in calls {
                let place = lanes.place(start, start + dur);
                prop_assert!(place.start >= start && place.end >= place.start);
                prop_assert!(place.start >= ends[place.lane]);
                ends[place.lane] = place.end;
            }
        }
    }
}
