//! The table of system calls: names and types of its columns, and their values.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray, UInt32Array,
};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};

use crate::tables::syscalls::By;
use crate::tables::syscalls::durations::Ranks;
use crate::tables::syscalls::row::Entry;

/// The columns of the table.
///
/// # Examples
/// ```
/// use tracefast_core::tables::syscalls::{By, schema};
/// let names = |by| schema(by).fields().iter().map(|f| f.name().clone()).collect::<Vec<_>>();
/// assert_eq!(names(By::Name)[..3], ["source", "name", "calls"]);
/// assert_eq!(names(By::Process)[..4], ["source", "pid", "image", "name"]);
/// ```
pub fn schema(by: By) -> SchemaRef {
    // An empty table has them all; its columns have one length.
    build(Vec::new(), by).map_or_else(|_| Arc::new(Schema::empty()), |table| table.schema())
}

/// The values of a row.
pub(crate) struct Row<'a> {
    source: Option<&'a str>,
    name: Option<&'a str>,
    /// Number of the process, its id and its program.
    who: Option<(u32, Option<i32>, Option<&'a str>)>,
    calls: u64,
    errors: u64,
    unfinished: u64,
    timed: u64,
    times: Option<Times>,
    wall: Option<i64>,
    wait: Option<i64>,
    bytes: Option<i64>,
}

/// What is known if any duration is.
struct Times {
    total: i128,
    mean: i64,
    ranks: Ranks,
}

fn whole(sum: i128) -> i64 {
    i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX })
}

impl Times {
    fn of(entry: &mut Entry) -> Option<Self> {
        let calls = i128::from(entry.timed);
        // To the nearest nanosecond.
        let mean = whole((2 * entry.total + calls).div_euclid(2 * calls.max(1)));
        let ranks = std::mem::take(&mut entry.durations).ranks()?;
        Some(Self { total: entry.total, mean, ranks })
    }
}

impl<'a> Row<'a> {
    pub(crate) fn of(
        mut entry: Entry,
        source: Option<&'a str>,
        name: Option<&'a str>,
        who: Option<(u32, Option<i32>, Option<&'a str>)>,
    ) -> Self {
        let times = Times::of(&mut entry);
        Self {
            source,
            name,
            who,
            calls: entry.calls,
            errors: entry.errors,
            unfinished: entry.unfinished,
            timed: entry.timed,
            times,
            wall: (entry.timed > 0 && entry.timeless == 0).then(|| entry.wall.length()),
            wait: (entry.judged > 0).then(|| whole(entry.waited)),
            bytes: (entry.moved > 0).then(|| whole(entry.bytes)),
        }
    }

    fn total(&self) -> Option<i128> {
        self.times.as_ref().map(|times| times.total)
    }

    fn order(&self) -> impl Ord + '_ {
        (
            Reverse(self.total()),
            Reverse(self.calls),
            self.name,
            self.source,
            self.who.map(|(process, pid, _)| (pid, process)),
        )
    }
}

/// The table, the largest sum of durations first.
pub(crate) fn build(mut rows: Vec<Row<'_>>, by: By) -> Result<RecordBatch, ArrowError> {
    rows.sort_by(|a, b| a.order().cmp(&b.order()));
    let mut totals: HashMap<Option<&str>, i128> = HashMap::new();
    for row in &rows {
        *totals.entry(row.source).or_default() += row.total().unwrap_or(0);
    }
    let columns = columns(&rows, by, &totals);
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, column)| Field::new(*name, column.data_type().clone(), true))
        .collect();
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

type Columns = Vec<(&'static str, ArrayRef)>;

fn columns(rows: &[Row<'_>], by: By, totals: &HashMap<Option<&str>, i128>) -> Columns {
    let time = |f: fn(&Times) -> i64| wholes(rows, move |row| row.times.as_ref().map(f));
    let mut columns: Columns = vec![("source", texts(rows, |row| row.source))];
    if by == By::Process {
        let pids = rows.iter().map(|row| row.who.and_then(|(_, pid, _)| pid));
        columns.push(("pid", Arc::new(pids.collect::<Int32Array>())));
        columns.push(("image", texts(rows, |row| row.who.and_then(|(_, _, image)| image))));
    }
    let shares = rows.iter().map(|row| share(row.total()?, *totals.get(&row.source)?));
    columns.extend([
        ("name", texts(rows, |row| row.name)),
        ("calls", counts(rows, |row| row.calls)),
        ("errors", counts(rows, |row| row.errors)),
        ("unfinished", counts(rows, |row| row.unfinished)),
        ("timed", counts(rows, |row| row.timed)),
        ("total_ns", wholes(rows, |row| row.total().map(whole))),
        ("wall_ns", wholes(rows, |row| row.wall)),
        ("min_ns", time(|times| times.ranks.min)),
        ("mean_ns", time(|times| times.mean)),
        ("p50_ns", time(|times| times.ranks.p50)),
        ("p90_ns", time(|times| times.ranks.p90)),
        ("p99_ns", time(|times| times.ranks.p99)),
        ("max_ns", time(|times| times.ranks.max)),
        ("total_share", Arc::new(shares.collect::<Float64Array>())),
        ("wait_ns", wholes(rows, |row| row.wait)),
        ("bytes", wholes(rows, |row| row.bytes)),
    ]);
    columns
}

/// The part that `part` is of `whole`.
#[allow(clippy::cast_precision_loss)] // A share of more than 2^53 ns may be off in its last bit.
fn share(part: i128, whole: i128) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn texts<'a>(rows: &[Row<'a>], f: impl Fn(&Row<'a>) -> Option<&'a str>) -> ArrayRef {
    Arc::new(rows.iter().map(f).collect::<StringArray>())
}

fn wholes(rows: &[Row<'_>], f: impl Fn(&Row<'_>) -> Option<i64>) -> ArrayRef {
    Arc::new(rows.iter().map(f).collect::<Int64Array>())
}

fn counts(rows: &[Row<'_>], f: impl Fn(&Row<'_>) -> u64) -> ArrayRef {
    let count = |row| u32::try_from(f(row)).unwrap_or(u32::MAX);
    Arc::new(rows.iter().map(|row| Some(count(row))).collect::<UInt32Array>())
}
