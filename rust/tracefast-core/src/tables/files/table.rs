//! The table of files: names and types of its columns, and their values.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampNanosecondArray, UInt32Array, UInt64Array,
};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};

use crate::tables::files::By;
use crate::tables::files::direction::Way;
use crate::tables::files::fold::{Nameless, Names};
use crate::tables::files::row::{Entity, Key, READ, WRITE, What};
use crate::tables::files::words::Known;

/// Files on which nothing is read or written by position.
const STREAMS: [&str; 5] = ["pipe", "fifo", "socket", "char", "anon"];

/// The columns of the table.
///
/// # Examples
/// ```
/// use tracefast_core::tables::files::{By, schema};
/// let names = |by| schema(by).fields().iter().map(|f| f.name().clone()).collect::<Vec<_>>();
/// assert_eq!(names(By::File)[..3], ["source", "file", "path"]);
/// assert_eq!(names(By::Process)[1], "pid");
/// assert_eq!(names(By::Open)[1..5], ["ofd", "task", "ts_open", "ts_close"]);
/// ```
pub fn schema(by: By) -> SchemaRef {
    // An empty table has them all; its columns have one length.
    build(Vec::new(), by, &Names::default(), &Names::default())
        .map_or_else(|_| Arc::new(Schema::empty()), |table| table.schema())
}

/// The table, the largest number of bytes first.
pub(crate) fn build(
    entities: Vec<Entity>,
    by: By,
    sources: &Names,
    kinds: &Names,
) -> Result<RecordBatch, ArrowError> {
    let mut rows: Vec<Row> =
        entities.into_iter().map(|entity| Row::of(entity, sources, kinds)).collect();
    rows.sort_by(|a, b| a.order().cmp(&b.order()));
    let columns = columns(&rows, by);
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, column)| Field::new(name, column.data_type().clone(), true))
        .collect();
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

/// Joins what is known by name only to the first file of that name, and what was done with a
/// description before its file was known to that file.
///
/// Where data moved it stays a row of its own, as such a name may be that of several files.
pub(crate) fn adopted(mut entities: Vec<Entity>, nameless: &Nameless) -> Vec<Entity> {
    let mut owners: HashMap<(u32, Option<i64>, &str), usize> = HashMap::new();
    let mut homes: HashMap<Key, usize> = HashMap::new();
    let first = |entity: &Entity| (entity.ts_first.is_none(), entity.ts_first, entity.file);
    for (at, entity) in entities.iter().enumerate() {
        if !nameless.is_empty() && matches!(entity.key.what, What::File(_)) {
            homes.insert(entity.key, at);
        }
        if let (Some(path), Some(_)) = (&entity.path, entity.file) {
            let owner = owners.entry((entity.key.source, entity.key.part, path)).or_insert(at);
            if first(entity) < first(&entities[*owner]) {
                *owner = at;
            }
        }
    }
    let mut adoptions = Vec::new();
    for (at, entity) in entities.iter().enumerate() {
        if entity.moved() {
            continue;
        }
        let Key { source, part, what } = entity.key;
        let owner = match (what, &entity.path) {
            (What::Name, Some(path)) => owners.get(&(source, part, path)),
            (What::Nameless(ofd), _) => nameless
                .get(&(source, ofd))
                .and_then(|file| homes.get(&Key { source, part, what: What::File((*file)?) })),
            _ => None,
        };
        if let Some(&owner) = owner {
            adoptions.push((at, owner));
        }
    }
    for &(at, owner) in &adoptions {
        let key = entities[at].key;
        let mut child = std::mem::replace(&mut entities[at], Entity::new(key, None));
        entities[owner].adopt(&mut child);
    }
    let mut gone = adoptions.into_iter().map(|(at, _)| at).peekable();
    let mut at = 0;
    entities.retain(|_| {
        at += 1;
        gone.next_if_eq(&(at - 1)).is_none()
    });
    entities
}

/// The values of a row.
struct Row {
    entity: Entity,
    source: Option<String>,
    kind: Option<String>,
    processes: u64,
    tasks: u64,
    ways: [Values; 2],
}

impl Row {
    fn of(mut entity: Entity, sources: &Names, kinds: &Names) -> Self {
        let size = entity.size;
        let ways = [READ, WRITE].map(|way| {
            Values::of(entity.ways[way].take().map_or_else(Way::default, |way| *way), size)
        });
        let kind = entity.kind.and_then(|kind| kinds.text(kind));
        if kind.is_some_and(|kind| STREAMS.contains(&kind)) {
            // What is known of the other side of a call is not known of these.
            entity.known = None;
        }
        let unknown = || entity.kind_unknown.then(|| "unknown".to_owned());
        Self {
            source: sources.text(entity.key.source).map(str::to_owned),
            kind: kind.map(str::to_owned).or_else(unknown),
            processes: entity.pids.count(),
            tasks: entity.tasks.count(),
            ways,
            entity,
        }
    }

    fn order(&self) -> impl Ord + '_ {
        let moved = |way: &Values| way.bytes.unwrap_or(0);
        let bytes = moved(&self.ways[READ]).saturating_add(moved(&self.ways[WRITE]));
        let entity = &self.entity;
        (
            Reverse(bytes),
            (entity.path.is_none(), entity.path.as_deref()),
            (self.source.is_none(), self.source.as_deref()),
            (entity.file.is_none(), entity.file),
            entity.key.part,
        )
    }
}

/// What is said of the reads of a row, or of its writes.
struct Values {
    way: Way,
    bytes: Option<i64>,
    requested: Option<i64>,
    random_share: Option<f64>,
    random_bytes_share: Option<f64>,
    runs: u64,
    run_bytes_median: Option<i64>,
    jump_median: Option<i64>,
    jump_p90: Option<i64>,
    unique: Option<i64>,
    reread: Option<i64>,
    reread_factor: Option<f64>,
    coverage: Option<f64>,
    shared: Option<i64>,
    size_median: Option<i64>,
    size_max: Option<i64>,
    asked_common: Option<i64>,
    ns: Option<i64>,
    wall_ns: Option<i64>,
    p50: Option<i64>,
    p99: Option<i64>,
    max: Option<i64>,
}

impl Values {
    #[allow(clippy::cast_precision_loss)] // As in `share`.
    fn of(mut way: Way, size: Option<i64>) -> Self {
        let (union, shared) = way.ranges.lengths();
        let unique = union.saturating_add(way.apart.0);
        let shared = shared.saturating_add(way.apart.1);
        // Bytes without a place may be any bytes of the file.
        let placed = way.placed > 0 || way.moved == 0 && way.bytes.of(way.done).is_some();
        let unique_bytes = placed.then_some(unique);
        let judged = way.consecutive + way.forward + way.backward;
        let runs = way.runs.counted();
        let (run_count, run_bytes_median) = (runs.total(), runs.rank(50));
        let jumps = way.jumps.counted();
        let (jump_median, jump_p90) = (jumps.rank(50), jumps.rank(90));
        let sizes = way.sizes.counted();
        let (size_median, size_max) = (sizes.rank(50), sizes.max());
        let asked_common = way.asked.counted().commonest();
        let times = way.durations.counted();
        let (p50, p99, max) = (times.rank(50), times.rank(99), times.max());
        let wall = way.wall.length();
        let ns = way.ns.of(way.calls);
        Self {
            bytes: way.bytes.of(way.done),
            requested: way.requested.of(way.done),
            random_share: share(way.consecutive + way.near, judged),
            random_bytes_share: share(way.straight_bytes as u64, way.judged_bytes as u64),
            runs: run_count,
            run_bytes_median,
            jump_median,
            jump_p90,
            unique: unique_bytes,
            reread: unique_bytes.map(|unique| way.placed_bytes.saturating_sub(unique).max(0)),
            reread_factor: unique_bytes
                .filter(|&unique| unique > 0)
                .map(|unique| way.placed_bytes as f64 / unique as f64),
            coverage: match (unique_bytes, size) {
                // What was written may have been cut off again, or be counted from elsewhere.
                (Some(unique), Some(size)) if size > 0 => {
                    Some((unique as f64 / size as f64).min(1.0))
                }
                _ => None,
            },
            shared: placed.then_some(shared),
            size_median,
            size_max,
            asked_common,
            ns,
            wall_ns: ns.filter(|_| way.timeless == 0).map(|_| wall),
            p50,
            p99,
            max,
            way,
        }
    }
}

/// The part of `whole` that is not `straight`.
#[allow(clippy::cast_precision_loss)] // A share of more than 2^53 bytes may be off in its last bit.
fn share(straight: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| (whole - straight.min(whole)) as f64 / whole as f64)
}

type Columns = Vec<(String, ArrayRef)>;

fn columns(rows: &[Row], by: By) -> Columns {
    let mut columns: Columns = Vec::new();
    let mut add = |name: &str, column: ArrayRef| columns.push((name.to_owned(), column));
    add("source", texts(rows, |row| row.source.as_deref()));
    match by {
        By::File => {}
        By::Process => {
            let pid = |row: &Row| row.entity.key.part.map(|pid| pid as i32);
            add("pid", Arc::new(rows.iter().map(pid).collect::<Int32Array>()));
        }
        By::Open => {
            let ofd = |row: &Row| row.entity.key.part.map(|ofd| ofd as u32);
            add("ofd", Arc::new(rows.iter().map(ofd).collect::<UInt32Array>()));
            let task = |row: &Row| row.entity.opener;
            add("task", Arc::new(rows.iter().map(task).collect::<UInt32Array>()));
            add("ts_open", times(rows, |row| row.entity.ts_open));
            add("ts_close", times(rows, |row| row.entity.ts_close));
        }
    }
    let file = rows.iter().map(|row| row.entity.file).collect::<UInt64Array>();
    add("file", Arc::new(file));
    add("path", texts(rows, |row| row.entity.path.as_deref()));
    add("type", texts(rows, |row| row.kind.as_deref()));
    add("size", wholes(rows, |row| row.entity.size));
    add("processes", some(rows, |row| row.processes));
    add("tasks", some(rows, |row| row.tasks));
    add("opens", counts(rows, |row| row.entity.opens));
    add("opens_failed", counts(rows, |row| row.entity.opens_failed));
    add("stats", counts(rows, |row| row.entity.stats));
    add("mmaps", counts(rows, |row| row.entity.mmaps));
    add("mmap_bytes", wholes(rows, |row| row.entity.mmap_bytes.of(row.entity.mmaps)));
    add("ts_first", times(rows, |row| row.entity.ts_first));
    add("ts_last", times(rows, |row| row.entity.ts_last));
    add("offset_known", texts(rows, |row| row.entity.known.map(Known::text)));
    for (way, name) in [(READ, "read"), (WRITE, "write")] {
        columns.extend(
            data(rows, way).into_iter().map(|(part, column)| (format!("{name}{part}"), column)),
        );
    }
    columns
}

/// The columns of reads, or of writes, without that word.
fn data(rows: &[Row], way: usize) -> Vec<(&'static str, ArrayRef)> {
    let count = |f: fn(&Values) -> u64| counts(rows, move |row| f(&row.ways[way]));
    let whole = |f: fn(&Values) -> Option<i64>| wholes(rows, move |row| f(&row.ways[way]));
    let float = |f: fn(&Values) -> Option<f64>| {
        Arc::new(rows.iter().map(|row| f(&row.ways[way])).collect::<Float64Array>()) as ArrayRef
    };
    let mut columns = vec![
        ("s", count(|v| v.way.done)),
        ("_errors", count(|v| v.way.errors)),
        ("_bytes", whole(|v| v.bytes)),
        ("_requested", whole(|v| v.requested)),
        ("_first", count(|v| v.way.first)),
        ("_consecutive", count(|v| v.way.consecutive)),
        ("_forward", count(|v| v.way.forward)),
        ("_backward", count(|v| v.way.backward)),
    ];
    if way == READ {
        columns.push(("_eof", count(|v| v.way.eof)));
    }
    columns.extend([
        ("_unknown", count(|v| v.way.unknown())),
        ("_near", count(|v| v.way.near)),
        ("_rewinds", count(|v| v.way.rewinds)),
        ("_short", count(|v| v.way.short)),
        ("_random_share", float(|v| v.random_share)),
        ("_random_bytes_share", float(|v| v.random_bytes_share)),
        ("_runs", count(|v| v.runs)),
        ("_run_bytes_median", whole(|v| v.run_bytes_median)),
        ("_jump_median", whole(|v| v.jump_median)),
        ("_jump_p90", whole(|v| v.jump_p90)),
        ("_unique_bytes", whole(|v| v.unique)),
        ("_reread_bytes", whole(|v| v.reread)),
        ("_reread_factor", float(|v| v.reread_factor)),
        ("_coverage_share", float(|v| v.coverage)),
        ("_shared_bytes", whole(|v| v.shared)),
        ("_size_median", whole(|v| v.size_median)),
        ("_size_max", whole(|v| v.size_max)),
        ("_asked_common", whole(|v| v.asked_common)),
        ("_ns", whole(|v| v.ns)),
        ("_wall_ns", whole(|v| v.wall_ns)),
        ("_p50_ns", whole(|v| v.p50)),
        ("_p99_ns", whole(|v| v.p99)),
        ("_max_ns", whole(|v| v.max)),
    ]);
    columns
}

fn texts<'a>(rows: &'a [Row], f: impl Fn(&'a Row) -> Option<&'a str>) -> ArrayRef {
    Arc::new(rows.iter().map(f).collect::<StringArray>())
}

fn wholes(rows: &[Row], f: impl Fn(&Row) -> Option<i64>) -> ArrayRef {
    Arc::new(rows.iter().map(f).collect::<Int64Array>())
}

fn times(rows: &[Row], f: impl Fn(&Row) -> Option<i64>) -> ArrayRef {
    Arc::new(rows.iter().map(f).collect::<TimestampNanosecondArray>())
}

/// Counts of what every event has unless the log does not tell: none of them is not 0.
fn some(rows: &[Row], f: impl Fn(&Row) -> u64) -> ArrayRef {
    let count = |row| Some(f(row)).filter(|&n| n > 0).map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    Arc::new(rows.iter().map(count).collect::<UInt32Array>())
}

fn counts(rows: &[Row], f: impl Fn(&Row) -> u64) -> ArrayRef {
    let count = |row| u32::try_from(f(row)).unwrap_or(u32::MAX);
    Arc::new(rows.iter().map(|row| Some(count(row))).collect::<UInt32Array>())
}
