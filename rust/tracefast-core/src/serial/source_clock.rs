//! The clock of a log over all its blocks.
//!
//! Times of a parsed block are relative to its start where the log prints differences (`strace -r`)
//! or times of day, so what came before has to be added.

use crate::events::parsed_block::Parsed;
use crate::events::rows::RowClock;
use crate::events::schema::Column as C;
use crate::events::split_calls::Deferred;
use crate::format::Format;

/// The clock of one source.
#[derive(Debug, Default)]
pub(crate) struct SourceClock {
    /// The sum of all differences, or of the days that have passed.
    elapsed: i64,
    /// The sum of the differences of lines with columns other than those at the start of the log.
    other_elapsed: i64,
    /// Time of the last line.
    last: Option<i64>,
    /// The same, as printed.
    printed: Option<i64>,
}

impl SourceClock {
    /// Makes the times of the next block those of the log, and counts steps back.
    pub(crate) fn run(&mut self, parsed: &mut Parsed, format: &Format) {
        if let Some(span) = parsed.span {
            self.elapsed = self.elapsed.wrapping_add(format.pause(self.printed, span.first));
            let first = span.first.wrapping_add(self.elapsed);
            parsed.oddities.time_steps_back +=
                u64::from(self.last.is_some_and(|last| first < last));
            self.last = Some(span.last.wrapping_add(self.elapsed));
            self.printed = Some(span.printed);
        }
        if format.is_merged() {
            // Lines are where calls ended, so an earlier start of another task is not odd.
            parsed.oddities.time_steps_back = 0;
        }
        shift_times(parsed, self.elapsed, self.other_elapsed);
        self.elapsed = self.elapsed.wrapping_add(parsed.elapsed);
        self.other_elapsed = self.other_elapsed.wrapping_add(parsed.other_elapsed);
    }
}

/// Makes times that are relative to the start of the block relative to the start of the log.
fn shift_times(parsed: &mut Parsed, log: i64, other: i64) {
    if log == 0 && other == 0 {
        return;
    }
    let shifted = |ts: i64, clock: RowClock| match clock {
        RowClock::Log => ts.wrapping_add(log),
        RowClock::Other => ts,
        RowClock::OtherDelta => ts.wrapping_add(other),
    };
    let rows = &mut parsed.rows;
    for row in 0..rows.len {
        if rows.has(row, C::Ts) {
            rows.ts[row] = shifted(rows.ts[row], rows.effect[row].clock);
        }
    }
    for touch in &mut parsed.deferred {
        if let Deferred::Open { open, .. } | Deferred::Continue { open, .. } = touch {
            open.ts = open.ts.map(|ts| shifted(ts, open.clock));
        }
    }
}
