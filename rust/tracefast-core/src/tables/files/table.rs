//! The table of files: names and types of its columns, and their values.

use std::cmp::Reverse;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

use crate::hash::HashMap;
use crate::tables::files::By;
use crate::tables::files::by_phase::phase_of;
use crate::tables::files::direction::Direction;
use crate::tables::files::fold::Nameless;
use crate::tables::files::row::{FileUse, Key, READ, WRITE, What};
use crate::tables::files::word_classes::Known;
use crate::tables::names::Names;
use crate::tables::packed::Packed;
use crate::tables::phases::open::In;
use crate::tables::phases::rows::PhasesOfRows;
use crate::tables::table_builder::{TableBuilder, build_by_parts};

/// Types of files that have no positions.
const STREAMS: [&str; 5] = ["pipe", "fifo", "socket", "char", "anon"];

/// The table, the largest number of bytes first.
pub(crate) fn build(
    mut file_uses: Vec<FileUse>,
    by: By,
    (sources, kinds, phases): (&Names, &Names, &PhasesOfRows),
) -> Result<Vec<RecordBatch>, ArrowError> {
    file_uses.sort_by(|a, b| order_of(a, sources).cmp(&order_of(b, sources)));
    build_by_parts(file_uses, |file_uses| {
        let file_uses = file_uses.into_iter();
        let rows: Vec<Row> = file_uses.map(|row| Row::new(row, sources, kinds)).collect();
        build_part(&rows, by, phases)
    })
}

fn build_part(rows: &[Row], by: By, phases: &PhasesOfRows) -> Result<RecordBatch, ArrowError> {
    let mut table = TableBuilder::new(rows);
    table.text("source", |row| row.source.as_deref());
    match by {
        By::File => {}
        By::Process => table.int32("pid", |row| row.file_use.key.part.get().map(|pid| pid as i32)),
        By::Open => {
            table.uint32("ofd", |row| row.file_use.key.part.get().map(|ofd| ofd as u32));
            table.uint32("task", |row| row.file_use.open.as_ref()?.by);
            table.timestamp("ts_open", |row| row.file_use.open.as_ref()?.ts);
            table.timestamp("ts_close", |row| row.file_use.open.as_ref()?.ts_close);
        }
        By::Phase => table.text("phase", |row| match phase_of(row.file_use.key.part) {
            In::Phase(name) => phases.name(name),
            In::None | In::Unknown(_) => None,
        }),
    }
    // 0 is null: the log names no processes or tasks.
    let some = |count: u64| (count > 0).then(|| u32::try_from(count).unwrap_or(u32::MAX));
    table.uint64("file", |row| row.file_use.file.get());
    table.text("path", |row| row.file_use.path.as_deref());
    table.text("type", |row| row.kind.as_deref());
    table.int64("size", |row| row.file_use.size.get());
    table.uint32("processes", |row| some(row.processes));
    table.uint32("tasks", |row| some(row.tasks));
    table.count("opens", |row| row.file_use.opens.into());
    table.count("opens_failed", |row| row.file_use.opens_failed.into());
    table.count("stats", |row| row.file_use.stats.into());
    table.count("stats_failed", |row| row.file_use.stats_failed.into());
    table.count("mmaps", |row| row.file_use.mmaps.into());
    table.count("mmaps_failed", |row| row.file_use.mmaps_failed.into());
    table.int64("mmap_bytes", |row| row.file_use.mmap_bytes.total(row.file_use.mmaps.into()));
    table.timestamp("ts_first", |row| row.file_use.ts_first.get());
    table.timestamp("ts_last", |row| row.file_use.ts_last.get());
    table.text("offset_known", |row| row.file_use.known.map(Known::text));
    add_direction(&mut table, READ, "read");
    add_direction(&mut table, WRITE, "write");
    table.finish()
}

fn values(row: &Row, direction: usize) -> &DirectionValues {
    &row.directions[direction]
}

/// Adds the columns of reads, or of writes.
fn add_direction(table: &mut TableBuilder<'_, Row>, direction: usize, prefix: &str) {
    let of = move |row| values(row, direction);
    let name = |rest: &str| format!("{prefix}{rest}");
    table.count(name("s"), |row| of(row).direction.done.get());
    table.count(name("_errors"), |row| of(row).direction.errors.get());
    table.int64(name("_bytes"), |row| of(row).bytes);
    table.int64(name("_requested"), |row| of(row).requested);
    table.count(name("_first"), |row| of(row).direction.first.get());
    table.count(name("_consecutive"), |row| of(row).direction.consecutive.get());
    table.count(name("_forward"), |row| of(row).direction.forward.get());
    table.count(name("_backward"), |row| of(row).direction.backward.get());
    if direction == READ {
        table.count(name("_eof"), |row| of(row).direction.eof.get());
    }
    table.count(name("_unknown"), |row| of(row).direction.unknown());
    table.count(name("_near"), |row| of(row).direction.near.get());
    table.count(name("_rewinds"), |row| of(row).direction.rewinds.get());
    table.count(name("_short"), |row| of(row).direction.short.get());
    table.float64(name("_random_share"), |row| of(row).random_share);
    table.float64(name("_random_bytes_share"), |row| of(row).random_bytes_share);
    table.count(name("_runs"), |row| of(row).runs);
    table.int64(name("_run_bytes_median"), |row| of(row).run_bytes_median);
    table.int64(name("_jump_median"), |row| of(row).jump_median);
    table.int64(name("_jump_p90"), |row| of(row).jump_p90);
    table.int64(name("_unique_bytes"), |row| of(row).unique);
    table.int64(name("_reread_bytes"), |row| of(row).reread);
    table.float64(name("_reread_factor"), |row| of(row).reread_factor);
    table.float64(name("_coverage_share"), |row| of(row).coverage);
    table.int64(name("_shared_bytes"), |row| of(row).shared);
    table.int64(name("_size_median"), |row| of(row).size_median);
    table.int64(name("_size_max"), |row| of(row).size_max);
    table.int64(name("_asked_common"), |row| of(row).asked_common);
    table.int64(name("_ns"), |row| of(row).ns);
    table.int64(name("_wall_ns"), |row| of(row).wall_ns);
    table.int64(name("_p50_ns"), |row| of(row).p50);
    table.int64(name("_p99_ns"), |row| of(row).p99);
    table.int64(name("_max_ns"), |row| of(row).max);
}

/// Joins rows known by name only to the first file of that name, and rows of descriptions whose
/// file was not yet known to that file.
///
/// Rows that moved data stay: their name may refer to several files.
pub(crate) fn adopted(mut file_uses: Vec<FileUse>, nameless: &Nameless) -> Vec<FileUse> {
    // Names of rows that may be joined, and the first file of each.
    let mut owners: HashMap<(u32, Packed<i64>, &str), Option<usize>> = HashMap::default();
    for file_use in &file_uses {
        let Key { source, part, what } = file_use.key;
        if let (What::Name, Some(path), false) = (what, &file_use.path, file_use.moved()) {
            owners.insert((source, part, path), None);
        }
    }
    let mut homes: HashMap<Key, usize> = HashMap::default();
    let first = |file_use: &FileUse| {
        (file_use.ts_first.is_none(), file_use.ts_first.get(), file_use.file.get())
    };
    for (at, file_use) in file_uses.iter().enumerate() {
        if !nameless.is_empty() && matches!(file_use.key.what, What::File(_)) {
            homes.insert(file_use.key, at);
        }
        if let (Some(path), Some(_)) = (&file_use.path, file_use.file.get())
            && let Some(owner) = owners.get_mut(&(file_use.key.source, file_use.key.part, &**path))
            && owner.is_none_or(|owner| first(file_use) < first(&file_uses[owner]))
        {
            *owner = Some(at);
        }
    }
    let mut adoptions = Vec::new();
    for (at, file_use) in file_uses.iter().enumerate() {
        if file_use.moved() {
            continue;
        }
        let Key { source, part, what } = file_use.key;
        let owner = match (what, &file_use.path) {
            (What::Name, Some(path)) => owners.get(&(source, part, &**path)).copied().flatten(),
            (What::Nameless(ofd), _) => nameless
                .get(&(source, ofd))
                .and_then(|file| homes.get(&Key { source, part, what: What::File(file.get()?) }))
                .copied(),
            _ => None,
        };
        if let Some(owner) = owner {
            adoptions.push((at, owner));
        }
    }
    drop(owners);
    for &(at, owner) in &adoptions {
        let key = file_uses[at].key;
        let mut child = std::mem::replace(&mut file_uses[at], FileUse::new(key, None));
        file_uses[owner].adopt(&mut child);
    }
    let mut gone = adoptions.into_iter().map(|(at, _)| at).peekable();
    let mut at = 0;
    file_uses.retain(|_| {
        at += 1;
        gone.next_if_eq(&(at - 1)).is_none()
    });
    file_uses
}

/// The values of a row.
struct Row {
    file_use: FileUse,
    source: Option<String>,
    kind: Option<String>,
    processes: u64,
    tasks: u64,
    directions: [DirectionValues; 2],
}

impl Row {
    fn new(mut file_use: FileUse, sources: &Names, kinds: &Names) -> Self {
        let size = file_use.size.get();
        let directions = [READ, WRITE].map(|direction| {
            DirectionValues::new(
                file_use.directions[direction]
                    .take()
                    .map_or_else(Direction::default, |direction| *direction),
                size,
            )
        });
        let kind = file_use.kind.get().and_then(|kind| kinds.text(kind));
        if kind.is_some_and(|kind| STREAMS.contains(&kind)) {
            // The log gives it for the other side of the call.
            file_use.known = None;
        }
        let unknown = || file_use.kind_unknown.then(|| "unknown".to_owned());
        Self {
            source: sources.text(file_use.key.source).map(str::to_owned),
            kind: kind.map(str::to_owned).or_else(unknown),
            processes: file_use.pids.count(),
            tasks: file_use.tasks.count(),
            directions,
            file_use,
        }
    }
}

/// What the rows are sorted by.
fn order_of<'a>(file_use: &'a FileUse, sources: &'a Names) -> impl Ord + 'a {
    let moved = |direction: usize| {
        let direction = file_use.directions[direction].as_ref();
        direction.and_then(|direction| direction.bytes.total(direction.done.get())).unwrap_or(0)
    };
    let source = sources.text(file_use.key.source);
    (
        Reverse(moved(READ).saturating_add(moved(WRITE))),
        (file_use.path.is_none(), file_use.path.as_deref()),
        (source.is_none(), source),
        (file_use.file.is_none(), file_use.file.get()),
        file_use.key.part.get(),
    )
}

/// The columns of the reads, or of the writes, of a row.
struct DirectionValues {
    direction: Direction,
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

impl DirectionValues {
    #[allow(clippy::cast_precision_loss)] // As in `share`.
    fn new(mut direction: Direction, size: Option<i64>) -> Self {
        let (union, shared) = direction.ranges.lengths();
        let apart = direction.apart.as_deref().copied().unwrap_or_default();
        let unique = union.saturating_add(apart.0);
        let shared = shared.saturating_add(apart.1);
        // Bytes at unknown positions may be any bytes of the file.
        let placed = direction.placed.get() > 0
            || direction.moved.get() == 0 && direction.bytes.total(direction.done.get()).is_some();
        let unique_bytes = placed.then_some(unique);
        let judged =
            direction.consecutive.get() + direction.forward.get() + direction.backward.get();
        let runs = direction.runs.counted();
        let (run_count, run_bytes_median) = (runs.total(), runs.rank(50));
        let jumps = direction.jumps.as_mut().map(|jumps| jumps.counted());
        let jump = |percent| jumps.as_ref()?.rank(percent);
        let (jump_median, jump_p90) = (jump(50), jump(90));
        let sizes = direction.sizes.counted();
        let (size_median, size_max) = (sizes.rank(50), sizes.max());
        let asked_common = direction.asked.counted().commonest();
        let times = direction.durations.counted();
        let (p50, p99, max) = (times.rank(50), times.rank(99), times.max());
        let wall = direction.wall.length();
        // Nothing is known of it if durations were not kept.
        let walled =
            direction.timeless.get() == 0 && (direction.calls.get() == 0 || times.total() > 0);
        let ns = direction.ns.total(direction.calls.get());
        Self {
            bytes: direction.bytes.total(direction.done.get()),
            requested: direction.requested.total(direction.done.get()),
            random_share: share(direction.consecutive.get() + direction.near.get(), judged),
            random_bytes_share: share(
                direction.straight_bytes as u64,
                direction.judged_bytes as u64,
            ),
            runs: run_count,
            run_bytes_median,
            jump_median,
            jump_p90,
            unique: unique_bytes,
            reread: unique_bytes.map(|unique| direction.placed_bytes.saturating_sub(unique).max(0)),
            reread_factor: unique_bytes
                .filter(|&unique| unique > 0)
                .map(|unique| direction.placed_bytes as f64 / unique as f64),
            coverage: match (unique_bytes, size) {
                // A write may have been truncated later, or its position may be relative.
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
            wall_ns: ns.filter(|_| walled).map(|_| wall),
            p50,
            p99,
            max,
            direction,
        }
    }
}

/// The part of `whole` that is not `straight`.
#[allow(clippy::cast_precision_loss)] // A share of more than 2^53 bytes may be off in its last bit.
fn share(straight: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| (whole - straight.min(whole)) as f64 / whole as f64)
}
