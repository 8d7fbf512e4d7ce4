//! The table of system calls: names and types of its columns, and their values.

use std::cmp::Reverse;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

use crate::hash::HashMap;
use crate::tables::syscalls::By;
use crate::tables::syscalls::durations::Ranks;
use crate::tables::syscalls::row::Entry;
use crate::tables::table_builder::TableBuilder;

/// The log that a row is about.
#[derive(Clone, Copy)]
pub(crate) struct Log<'a> {
    pub(crate) name: Option<&'a str>,
    /// The times of its first and last event; None without times.
    pub(crate) span: Option<(i64, i64)>,
}

/// The values of a row.
pub(crate) struct Row<'a> {
    log: Log<'a>,
    name: Option<&'a str>,
    /// Number of the process, its id and its program.
    who: Option<(u32, Option<i32>, Option<&'a str>)>,
    phase: Option<&'a str>,
    calls: u64,
    errors: u64,
    unfinished: u64,
    open: Option<i64>,
    timed: u64,
    times: Option<Times>,
    wall: Option<i64>,
    wait: Option<i64>,
    bytes: Option<i64>,
}

/// What is known if there is any duration.
struct Times {
    total: i128,
    mean: i64,
    /// None if durations were not kept.
    ranks: Option<Ranks>,
}

fn whole(sum: i128) -> i64 {
    i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX })
}

impl Times {
    fn new(entry: &mut Entry) -> Option<Self> {
        if entry.timed == 0 {
            return None;
        }
        let calls = i128::from(entry.timed);
        // To the nearest nanosecond.
        let mean = whole((2 * entry.total + calls).div_euclid(2 * calls));
        let ranks = std::mem::take(&mut entry.durations).ranks();
        Some(Self { total: entry.total, mean, ranks })
    }
}

impl<'a> Row<'a> {
    pub(crate) fn new(
        mut entry: Entry,
        log: Log<'a>,
        name: Option<&'a str>,
        who: Option<(u32, Option<i32>, Option<&'a str>)>,
    ) -> Self {
        let last = log.span.map_or(0, |(_, last)| last);
        let open = i128::from(entry.open) * i128::from(last) - entry.begun;
        let times = Times::new(&mut entry);
        let kept = times.as_ref().is_some_and(|times| times.ranks.is_some());
        Self {
            log,
            name,
            who,
            phase: None,
            calls: entry.calls,
            errors: entry.errors,
            unfinished: entry.unfinished,
            open: (entry.open > 0).then(|| whole(open)),
            timed: entry.timed,
            times,
            wall: (kept && entry.timeless == 0).then(|| entry.wall.length()),
            wait: (entry.judged > 0).then(|| whole(entry.waited)),
            bytes: (entry.moved > 0).then(|| whole(entry.bytes)),
        }
    }

    /// The same row, of calls in a phase.
    pub(crate) fn in_phase(self, phase: Option<&'a str>) -> Self {
        Self { phase, ..self }
    }

    fn total(&self) -> Option<i128> {
        self.times.as_ref().map(|times| times.total)
    }

    fn ranks(&self) -> Option<Ranks> {
        self.times.as_ref()?.ranks
    }

    fn order(&self) -> impl Ord + '_ {
        (
            // What has no end took at least so long.
            Reverse(
                self.total()
                    .or(self.open.map(|_| 0))
                    .map(|total| total + i128::from(self.open.unwrap_or(0))),
            ),
            Reverse(self.calls),
            self.name,
            self.log.name,
            self.who.map(|(process, pid, _)| (pid, process)),
            self.phase,
        )
    }
}

/// The table, the largest sum of durations first, with what calls without an end took so far.
pub(crate) fn build(
    mut rows: Vec<Row<'_>>,
    by: By,
    with_span: bool,
) -> Result<RecordBatch, ArrowError> {
    rows.sort_by(|a, b| a.order().cmp(&b.order()));
    let mut totals: HashMap<Option<&str>, i128> = HashMap::default();
    for row in &rows {
        *totals.entry(row.log.name).or_default() += row.total().unwrap_or(0);
    }
    let mut table = TableBuilder::new(&rows);
    table.text("source", |row| row.log.name);
    match by {
        By::Name => {}
        By::Process => {
            table.int32("pid", |row| row.who?.1);
            table.text("image", |row| row.who?.2);
        }
        By::Phase => table.text("phase", |row| row.phase),
    }
    table.text("name", |row| row.name);
    table.count("calls", |row| row.calls);
    table.count("errors", |row| row.errors);
    table.count("unfinished", |row| row.unfinished);
    table.int64("open_ns", |row| row.open);
    table.count("timed", |row| row.timed);
    table.int64("total_ns", |row| row.total().map(whole));
    table.int64("wall_ns", |row| row.wall);
    table.int64("min_ns", |row| Some(row.ranks()?.min));
    table.int64("mean_ns", |row| Some(row.times.as_ref()?.mean));
    table.int64("p50_ns", |row| Some(row.ranks()?.p50));
    table.int64("p90_ns", |row| Some(row.ranks()?.p90));
    table.int64("p99_ns", |row| Some(row.ranks()?.p99));
    table.int64("max_ns", |row| Some(row.ranks()?.max));
    table.float64("total_share", |row| share(row.total()?, *totals.get(&row.log.name)?));
    table.int64("wait_ns", |row| row.wait);
    table.int64("bytes", |row| row.bytes);
    if with_span {
        table.int64("span_ns", |row| row.log.span.map(|(first, last)| last.saturating_sub(first)));
    }
    table.finish()
}

#[allow(clippy::cast_precision_loss)] // A share of more than 2^53 ns may be off in its last bit.
fn share(part: i128, whole: i128) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
