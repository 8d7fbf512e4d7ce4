//! The table of created tasks: names and types of its columns, and their values.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray, TimestampNanosecondArray,
    UInt32Array, UInt64Array,
};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use foldhash::fast::FixedState;

use crate::linux::clone::Kind;
use crate::tables::forks::fold::Forks;
use crate::tables::forks::hints::{self, Hint};
use crate::tables::forks::startup::Started;
use crate::tables::forks::task::{Birth, Image, Task};
use crate::tables::forks::tracer::{Cost, Spawn};
use crate::tables::forks::words::Maker;

/// The columns of the table.
///
/// # Examples
/// ```
/// use tracefast_core::tables::forks::schema;
/// let schema = schema();
/// assert_eq!(schema.field(0).name(), "source");
/// assert_eq!(schema.fields().len(), 34);
/// ```
pub fn schema() -> SchemaRef {
    // An empty table has them all; its columns have one length.
    build(&Forks::default()).map_or_else(|_| Arc::new(Schema::empty()), |table| table.schema())
}

/// The columns of the table with evidence ([`Forks::with_hints`]).
///
/// # Examples
/// ```
/// use tracefast_core::tables::forks::{hinted_schema, schema};
/// assert_eq!(hinted_schema().fields().len(), schema().fields().len() + 8);
/// ```
pub fn hinted_schema() -> SchemaRef {
    build(&Forks::with_hints()).map_or_else(|_| Arc::new(Schema::empty()), |table| table.schema())
}

/// The table, in order of source and time; what has none comes last.
pub(crate) fn build(forks: &Forks) -> Result<RecordBatch, ArrowError> {
    let images = images(forks);
    let threads = Threads::of(forks);
    let costs: Vec<Option<Cost>> = forks
        .sources
        .iter()
        .map(|source| if source.kernel { None } else { Cost::of(&source.all, &source.fresh) })
        .collect();
    let mut rows: Vec<Made<'_>> = forks
        .births
        .iter()
        .zip(images)
        .enumerate()
        .filter(|(_, (birth, _))| !birth.joined)
        .map(|(number, (birth, image))| {
            let cost = costs.get(birth.source as usize).copied().flatten();
            Made::of(forks, number as u32, birth, image, &threads, cost)
        })
        .collect();
    rows.sort_by_key(|row| {
        let (ts, line) = (row.birth.ts, row.birth.line);
        ((row.source.is_none(), row.source), (ts.is_none(), ts), (line.is_none(), line))
    });
    let mut columns = columns(&rows, forks);
    if forks.hints.is_some() {
        let hints: Vec<&Hint> = rows.iter().map(|row| &row.hint).collect();
        columns.extend(hints::columns(&hints));
    }
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, column)| Field::new(*name, column.data_type().clone(), true))
        .collect();
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

/// The program that the caller of each birth runs: that of its process, or of what made that.
fn images(forks: &Forks) -> Vec<Option<u32>> {
    /// Not looked for yet, under way, found.
    #[derive(Clone, Copy)]
    enum State {
        New,
        Open,
        Found(Option<u32>),
    }
    let mut states = vec![State::New; forks.births.len()];
    let mut way: Vec<u32> = Vec::new();
    for start in 0..states.len() as u32 {
        let mut at = Some(start);
        let found = loop {
            let Some(number) = at else { break None };
            let Some(state) = states.get_mut(number as usize) else { break None };
            match *state {
                State::Found(image) => break image,
                // Events that contradict themselves: who made itself has no program.
                State::Open => break None,
                State::New => {}
            }
            *state = State::Open;
            way.push(number);
            let Some(birth) = forks.births.get(number as usize) else { break None };
            match birth.image {
                Image::Known(image) => break Some(image),
                Image::Unknown => break None,
                Image::Inherited => {
                    let process = birth.process.and_then(|p| forks.processes.get(p as usize));
                    at = process.and_then(|process| process.birth);
                }
            }
        };
        for number in way.drain(..) {
            if let Some(state) = states.get_mut(number as usize) {
                *state = State::Found(found);
            }
        }
    }
    states
        .into_iter()
        .map(|state| if let State::Found(image) = state { image } else { None })
        .collect()
}

/// When the threads of processes that made others lived: by time, and by row.
#[derive(Default)]
struct Lives {
    born: Vec<i64>,
    ended: Vec<i64>,
    born_rows: Vec<u64>,
    ended_rows: Vec<u64>,
}

impl Lives {
    fn sort(&mut self) {
        self.born.sort_unstable();
        self.ended.sort_unstable();
        self.born_rows.sort_unstable();
        self.ended_rows.sort_unstable();
    }
}

/// Lives of threads, by process.
struct Threads {
    lives: HashMap<u32, Lives, FixedState>,
}

impl Threads {
    fn of(forks: &Forks) -> Self {
        let mut lives: HashMap<u32, Lives, FixedState> = HashMap::default();
        for process in forks.births.iter().filter_map(|birth| birth.process) {
            lives.entry(process).or_default();
        }
        for task in &forks.tasks {
            let Some(lives) = task.process.and_then(|process| lives.get_mut(&process)) else {
                continue;
            };
            let birth = task.birth.and_then(|birth| forks.births.get(birth as usize));
            let made = || {
                let birth = birth?;
                Some(birth.ts?.saturating_add(birth.call.unwrap_or(0)))
            };
            lives.born.push(task.first.or_else(made).unwrap_or(i64::MIN));
            lives.born_rows.push(task.born_row);
            lives.ended.extend(task.end());
            lives.ended_rows.extend(task.ended_row);
        }
        for lives in lives.values_mut() {
            lives.sort();
        }
        Self { lives }
    }

    /// Threads of the caller that lived at its call, itself included.
    fn at(&self, birth: &Birth) -> Option<u32> {
        let lives = self.lives.get(&birth.process?)?;
        let (born, ended) = if let Some(ts) = birth.ts {
            (lives.born.partition_point(|&t| t <= ts), lives.ended.partition_point(|&t| t <= ts))
        } else {
            let row = birth.row * 2;
            (
                lives.born_rows.partition_point(|&r| r <= row),
                lives.ended_rows.partition_point(|&r| r <= row),
            )
        };
        Some(u32::try_from(born.saturating_sub(ended)).unwrap_or(u32::MAX).max(1))
    }
}

/// The values of a row.
struct Made<'a> {
    birth: &'a Birth,
    child: Option<&'a Task>,
    source: Option<&'a str>,
    parent_image: Option<&'a str>,
    kind: Option<Kind>,
    image: Option<&'a str>,
    started: Option<Started>,
    gap: Option<i64>,
    pipe: Option<i64>,
    lifetime: Option<i64>,
    reap: Option<i64>,
    parent_tasks: Option<u32>,
    tracer: Option<(i64, i64)>,
    hint: Hint,
}

impl<'a> Made<'a> {
    fn of(
        forks: &'a Forks,
        number: u32,
        birth: &'a Birth,
        parent_image: Option<u32>,
        threads: &Threads,
        cost: Option<Cost>,
    ) -> Self {
        let name = |name: Option<u32>| name.and_then(|name| forks.names.text(name));
        let child = birth.child.and_then(|child| forks.tasks.get(child as usize));
        let kind = birth.kind().or_else(|| forks.is_thread(number).then_some(Kind::Thread));
        let between = |from: Option<i64>, to: Option<i64>| {
            from.zip(to).map(|(from, to)| to.saturating_sub(from))
        };
        let start = child.and_then(Task::start);
        let end = child.and_then(Task::end);
        let exec = child.and_then(|child| child.exec);
        let gap = between(start, exec.and_then(|exec| exec.ts));
        let waited = matches!(kind, Some(Kind::Vfork | Kind::PosixSpawn));
        let spawn = Spawn {
            call: birth.call,
            gap,
            exec: exec.and_then(|exec| exec.dur),
            lines: child.map_or(0, |child| child.lines),
            followed: child.is_some_and(|child| child.seen),
            waited,
        };
        Self {
            birth,
            child,
            source: birth.source.checked_sub(1).and_then(|source| forks.source_names.text(source)),
            parent_image: name(parent_image.or(birth.comm)),
            kind,
            image: name(child.and_then(|child| child.image.or(child.event_image))),
            started: child.and_then(|child| {
                child.started.or_else(|| child.startup.as_ref().and_then(|s| s.finish()))
            }),
            gap,
            pipe: child.and_then(|child| pipe(birth, child)),
            lifetime: between(start, end),
            // Both times are rounded.
            reap: between(end, child.and_then(|child| child.collected)).map(|ns| ns.max(0)),
            parent_tasks: threads.at(birth),
            tracer: cost.and_then(|cost| cost.share(&spawn)),
            hint: forks.hint_of(birth, parent_image, child),
        }
    }
}

/// The parent's wait on the pipe by which the child reports, if it was that.
fn pipe(birth: &Birth, child: &Task) -> Option<i64> {
    let wait = birth.pipe?;
    let reported = match child.exec {
        // It ended at the execve: not before, and not with the program.
        Some(exec) => {
            let ended = child.exit_asked.or(child.end());
            !wait.data
                && wait.end.zip(exec.ts).is_some_and(|(end, exec)| end >= exec)
                && wait.end.zip(ended).is_none_or(|(end, ended)| end < ended)
        }
        None => child.exec_failed > 0,
    };
    wait.ns.filter(|_| reported)
}

type Columns = Vec<(&'static str, ArrayRef)>;

fn columns(rows: &[Made<'_>], forks: &Forks) -> Columns {
    let texts = |f: &dyn Fn(&Made<'_>) -> Option<&'static str>| -> ArrayRef {
        Arc::new(rows.iter().map(f).collect::<StringArray>())
    };
    let child = |f: fn(&Task) -> Option<i64>| wholes(rows, move |row| f(row.child?));
    let startup = |f: fn(&Started) -> u32| {
        let value = move |row: &Made<'_>| row.started.as_ref().map(f);
        counts(rows, value)
    };
    let errno = |row: &Made<'_>| row.birth.errno.and_then(|name| forks.names.text(name));
    let signal = |row: &Made<'_>| row.child?.signal.and_then(|name| forks.names.text(name));
    let id = |f: fn(&Birth) -> Option<i32>| -> ArrayRef {
        Arc::new(rows.iter().map(|row| f(row.birth)).collect::<Int32Array>())
    };
    let status = |row: &Made<'_>| {
        let child = row.child?;
        child.status.or(child.status_asked.filter(|_| child.signal.is_none()))
    };
    let failed = |row: &Made<'_>| row.child.filter(|child| child.seen).map(|c| c.exec_failed);
    let times = rows.iter().map(|row| row.birth.ts).collect::<TimestampNanosecondArray>();
    let lines = rows.iter().map(|row| row.birth.line).collect::<UInt64Array>();
    vec![
        ("source", Arc::new(rows.iter().map(|row| row.source).collect::<StringArray>())),
        ("ts", Arc::new(times)),
        ("line", Arc::new(lines)),
        ("task", counts(rows, |row| row.birth.task)),
        ("pid", id(|birth| birth.pid)),
        ("tid", id(|birth| birth.tid)),
        ("parent_image", Arc::new(rows.iter().map(|r| r.parent_image).collect::<StringArray>())),
        ("name", texts(&|row| row.birth.name.map(Maker::text))),
        ("kind", texts(&|row| row.kind.map(Kind::text))),
        ("child_task", counts(rows, |row| row.child.and_then(|child| child.number))),
        ("child_pid", id(|birth| birth.child_pid)),
        ("errno", Arc::new(rows.iter().map(errno).collect::<StringArray>())),
        ("call_ns", wholes(rows, |row| row.birth.call)),
        ("restarts", counts(rows, |row| Some(row.birth.attempts.saturating_sub(1)))),
        ("exec_gap_ns", wholes(rows, |row| row.gap)),
        ("exec_failed", counts(rows, failed)),
        ("exec_failed_ns", child(|child| child.exec_failed_ns)),
        ("exec_ns", child(|child| child.exec?.dur)),
        ("image", Arc::new(rows.iter().map(|row| row.image).collect::<StringArray>())),
        ("startup_ns", wholes(rows, |row| row.started?.ns)),
        ("startup_calls", startup(|started| started.calls)),
        ("startup_libraries", startup(|started| started.libraries)),
        ("startup_misses", startup(|started| started.misses)),
        ("error_pipe_ns", wholes(rows, |row| row.pipe)),
        ("lifetime_ns", wholes(rows, |row| row.lifetime)),
        ("exit_status", Arc::new(rows.iter().map(status).collect::<Int32Array>())),
        ("exit_signal", Arc::new(rows.iter().map(signal).collect::<StringArray>())),
        ("reap_ns", wholes(rows, |row| row.reap)),
        ("child_utime_ns", child(|child| child.utime_ns)),
        ("child_stime_ns", child(|child| child.stime_ns)),
        ("parent_tasks", counts(rows, |row| row.parent_tasks)),
        ("parent_anon_bytes", wholes(rows, |row| row.birth.anon)),
        ("tracer_low_ns", wholes(rows, |row| row.tracer.map(|(low, _)| low))),
        ("tracer_high_ns", wholes(rows, |row| row.tracer.map(|(_, high)| high))),
    ]
}

fn wholes<'a>(rows: &'a [Made<'a>], f: impl Fn(&'a Made<'a>) -> Option<i64>) -> ArrayRef {
    Arc::new(rows.iter().map(f).collect::<Int64Array>())
}

fn counts<'a>(rows: &'a [Made<'a>], f: impl Fn(&'a Made<'a>) -> Option<u32>) -> ArrayRef {
    Arc::new(rows.iter().map(f).collect::<UInt32Array>())
}
