//! The clock of a block: midnights, sums of deltas, steps back.

use crate::events::line_counts::Oddities;
use crate::events::parsed_block::TimeSpan;
use crate::strace::leader::{DAY, Delta, Time};

/// Times of day that step back by more than this passed midnight: nobody sets a clock that far.
const NIGHT: i64 = DAY / 2;

/// Times of day that step forward by more than this belong to the day before. Lines around midnight
/// may be out of order by the duration of a call: with `-z` strace prints a call when it ends.
const EVENING: i64 = DAY / 4 * 3;

/// The number of days between two times of day on successive lines: -1, 0 or 1.
pub(crate) fn days(before: i64, now: i64) -> i64 {
    match now - before {
        step if step < -NIGHT => 1,
        step if step > EVENING => -1,
        _ => 0,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClockKind {
    Plain,
    Day,
    Delta,
}

/// The clock of one block, which starts without knowledge of other blocks.
#[derive(Debug)]
pub(crate) struct Clock {
    kind: ClockKind,
    first: Option<i64>,
    last: i64,
    /// Printed time of the previous line.
    day_time: i64,
    /// Days that passed, in ns, or the sum of deltas.
    elapsed: i64,
}

impl Clock {
    pub(crate) fn new(time: Time, delta: Delta) -> Self {
        let kind = match (time, delta) {
            (Time::Day, _) => ClockKind::Day,
            (Time::None, Delta::Plain) => ClockKind::Delta,
            _ => ClockKind::Plain,
        };
        Self { kind, first: None, last: i64::MIN, day_time: 0, elapsed: 0 }
    }

    /// Converts a printed time to the clock of the block.
    #[inline]
    pub(crate) fn read(&mut self, time: i64, oddities: &mut Oddities) -> i64 {
        let time = match self.kind {
            ClockKind::Plain => time,
            ClockKind::Day => {
                if self.first.is_some() {
                    self.elapsed += days(self.day_time, time) * DAY;
                }
                self.day_time = time;
                time.wrapping_add(self.elapsed)
            }
            ClockKind::Delta => {
                self.elapsed = self.elapsed.wrapping_add(time);
                self.elapsed
            }
        };
        oddities.time_steps_back += u64::from(time < self.last);
        self.last = time;
        self.first.get_or_insert(time);
        time
    }

    /// The time that passed in the block, and its first and last time.
    pub(crate) fn end(&self) -> (i64, Option<TimeSpan>) {
        (self.elapsed, {
            self.first.map(|first| TimeSpan { first, last: self.last, printed: self.day_time })
        })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn example_of_days() {
        use crate::strace::leader::DAY;
        use crate::strace::leader::clock::days;
        let hour = DAY / 24;
        assert_eq!(days(23 * hour, hour), 1);
        assert_eq!(days(hour, 23 * hour), -1);
        assert_eq!(days(14 * hour, 13 * hour), 0);
    }
}
