//! The clock of a block's lines: midnight, sums of deltas, steps back.

use crate::events::line_counts::Oddities;
use crate::events::parsed_block::TimeSpan;
use crate::strace::leader::{DAY, Delta, Layout, Time};

/// A step back of more than this in times of day is a midnight: nobody sets a clock that far.
const NIGHT: i64 = DAY / 2;

/// A step forward of more than this takes a midnight back: lines around one may be out of order,
/// by the time that a call takes (`-z`).
const EVENING: i64 = DAY / 4 * 3;

/// How times of day go on from one line to the next: the days between them.
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

/// The clock of one block, which begins at nothing known.
#[derive(Debug)]
pub(crate) struct Clock {
    kind: ClockKind,
    first: Option<i64>,
    /// Time of the line before.
    last: i64,
    /// Time of day of the line before.
    day_time: i64,
    /// Days, or the sum of deltas.
    elapsed: i64,
}

impl Clock {
    pub(crate) fn new(layout: &Layout) -> Self {
        let kind = match (layout.time, layout.delta) {
            (Time::Day, _) => ClockKind::Day,
            (Time::None, Delta::Plain) => ClockKind::Delta,
            _ => ClockKind::Plain,
        };
        Self { kind, first: None, last: i64::MIN, day_time: 0, elapsed: 0 }
    }

    /// The time of a line that prints `time`.
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

    /// What passed in the block, and its first and last time.
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
