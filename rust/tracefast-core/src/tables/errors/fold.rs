//! The fold: events in order to counts of failed calls.

use std::ops::Range;

use arrow_array::RecordBatch;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_schema::ArrowError;

use crate::hash::HashMap;
use crate::tables::errors::paths::Paths;
use crate::tables::event_columns::{Numbers, Text, Words, event_columns};
use crate::tables::fold::RowFold;
use crate::tables::names::Names;
use crate::tables::packed::Packed;
use crate::tables::process_tracking::callers::callers;
use crate::tables::process_tracking::group;
use crate::tables::process_tracking::tracker::{TaskColumns, TaskRow, Tracker};
use crate::tables::syscalls::word_classes::{End, Fault, Role, RowKind};
use crate::tables::table_builder::{TableBuilder, build_by_parts};

/// Failed calls by program, call, error and path so far.
///
/// The table has one row for each of these, with `calls`: how many calls of that name the program
/// made. The program is that of the table of system calls by process.
///
/// # Examples
/// ```
/// use tracefast_core::tables::errors::FailedCalls;
/// use tracefast_core::tables::fold::Fold;
/// let table = FailedCalls::default().finish().expect("columns of one length").remove(0);
/// assert_eq!(table.num_rows(), 0);
/// assert!(table.column_by_name("first_line").is_some());
/// ```
#[derive(Debug, Default)]
pub struct FailedCalls {
    tracker: Tracker,
    sources: Names,
    names: Names,
    errnos: Names,
    paths: Paths,
    by_task: Vec<TaskCalls>,
    /// Of calls without a task, by source and name; the source is its number plus one, 0 for none.
    taskless: HashMap<(u32, u32), u64>,
    taskless_failed: HashMap<(u32, Failure), Sums>,
}

/// The calls of a task.
#[derive(Debug, Default)]
struct TaskCalls {
    /// By name, how many calls.
    counts: Vec<u32>,
    /// A map for each task: a log may have a million of these in all, and in a map of all of them
    /// most calls would look for a place that is in no cache.
    failed: HashMap<Failure, Sums>,
}

/// What failed calls of a task are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Failure {
    name: u32,
    errno: u32,
    path: Packed<u32>,
}

/// The calls that failed in one way.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    count: u64,
    timed: u64,
    total: i64,
    first_line: Packed<u64>,
}

impl Sums {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.timed += other.timed;
        self.total = self.total.saturating_add(other.total);
        self.first_line.lower(other.first_line.get());
    }
}

event_columns! {
    pub(crate) struct CallColumns {
        kind: Words<RowKind> = "kind",
        name: Words<(u32, Role)> = "name",
        errno: Words<(u32, Fault)> = "errno",
        status: Words<End> = "status",
        ret: Numbers<Int64Type> = "ret",
        path: Text = "path",
        dur: Numbers<Int64Type> = "dur_ns",
        line: Numbers<UInt64Type> = "line",
        source: Words<u32> = "source",
    }
}

impl RowFold for FailedCalls {
    type Columns<'a> = (CallColumns<'a>, TaskColumns<'a>);

    fn empty(&self) -> Self {
        Self::default()
    }

    #[inline]
    fn fetch(&mut self, (columns, tasks): &mut Self::Columns<'_>, rows: Range<usize>) {
        tasks.fetch(rows.clone());
        columns.path.fetch(rows.filter(|&row| columns.errno.has(row)));
    }

    #[inline]
    fn row(&mut self, columns: &mut Self::Columns<'_>, row: usize) {
        // Every row of a task helps to find its process.
        let found = self.tracker.row(&mut columns.1, row);
        self.follow(columns, row, found);
    }

    /// The table, by program, in the order of the first lines.
    fn table(mut self) -> Result<Vec<RecordBatch>, ArrowError> {
        self.tracker.finish();
        let processes = group::processes(&self.tracker.tasks);
        let mut programs = Programs::default();
        let mut program_of = vec![0; self.tracker.tasks.len()];
        for caller in callers(&self.tracker, &processes) {
            let program = programs.number((caller.source, caller.image));
            for &task in &*caller.tasks {
                program_of[task as usize] = program;
            }
        }
        let mut calls: HashMap<(u32, u32), u64> = HashMap::default();
        let mut groups: HashMap<(u32, Failure), Sums> = HashMap::default();
        for (&program, task) in program_of.iter().zip(&self.by_task) {
            for (name, &count) in (0..).zip(&task.counts).filter(|&(_, &count)| count > 0) {
                *calls.entry((program, name)).or_default() += u64::from(count);
            }
            for (&failure, &sums) in &task.failed {
                groups.entry((program, failure)).or_default().add(sums);
            }
        }
        let source = |number: u32| self.sources.text(number.checked_sub(1)?);
        for (&(number, name), &count) in &self.taskless {
            *calls.entry((programs.number((source(number), None)), name)).or_default() += count;
        }
        for (&(number, failure), &sums) in &self.taskless_failed {
            let program = programs.number((source(number), None));
            groups.entry((program, failure)).or_default().add(sums);
        }
        let mut rows: Vec<_> = groups
            .into_iter()
            .map(|((program, Failure { name, errno, path }), sums)| Row {
                program: programs.all[program as usize],
                name: self.names.text(name),
                errno: self.errnos.text(errno),
                path: path.get().and_then(|path| self.paths.text(path)),
                calls: calls.get(&(program, name)).copied().unwrap_or_default(),
                sums,
            })
            .collect();
        rows.sort_by_key(|row| {
            let line = row.sums.first_line.get().unwrap_or(u64::MAX);
            (row.program, line, row.name, row.errno, row.path)
        });
        build_by_parts(rows, |rows| build(&rows))
    }
}

impl FailedCalls {
    /// Adds one row that the tracker has taken in.
    #[inline]
    fn follow(
        &mut self,
        (columns, _): &mut <Self as RowFold>::Columns<'_>,
        row: usize,
        found: Option<TaskRow>,
    ) {
        if columns.kind.get(row, RowKind::from_word) != Some(RowKind::Call) {
            return;
        }
        let names = &mut self.names;
        let name = columns.name.get(row, |word| (names.number(word), Role::from_name(word)));
        let Some((name, role)) = name else { return };
        if role == Role::Fork
            && columns.status.get(row, End::from_status) == Some(End::Headless)
            && columns.ret.get(row) == Some(0)
        {
            // The call that created a task returns in it too, but it is the parent's call.
            return;
        }
        let source = columns.source.get(row, |text| self.sources.number(text) + 1).unwrap_or(0);
        let task = found.map(|row| row.task);
        match task {
            Some(task) => {
                let (task, name) = (task as usize, name as usize);
                if task >= self.by_task.len() {
                    self.by_task.resize_with(task + 1, TaskCalls::default);
                }
                let counts = &mut self.by_task[task].counts;
                if name >= counts.len() {
                    counts.resize(name + 1, 0);
                }
                counts[name] = counts[name].saturating_add(1);
            }
            None => *self.taskless.entry((source, name)).or_default() += 1,
        }
        let errnos = &mut self.errnos;
        let errno = columns.errno.get(row, |word| (errnos.number(word), Fault::from_errno(word)));
        let Some((errno, Fault::Error)) = errno else { return };
        if role == Role::Sigreturn {
            return;
        }
        let path = columns.path.get(row).map(|path| self.paths.number(path));
        let failure = Failure { name, errno, path: path.into() };
        let sums = match task.and_then(|task| self.by_task.get_mut(task as usize)) {
            Some(task) => task.failed.entry(failure).or_default(),
            None => self.taskless_failed.entry((source, failure)).or_default(),
        };
        let dur = columns.dur.get(row);
        sums.add(Sums {
            count: 1,
            timed: u64::from(dur.is_some()),
            total: dur.unwrap_or(0),
            first_line: columns.line.get(row).into(),
        });
    }
}

/// A log and a program in it.
type Program<'a> = (Option<&'a str>, Option<&'a str>);

/// Programs by number.
#[derive(Default)]
struct Programs<'a> {
    numbers: HashMap<Program<'a>, u32>,
    all: Vec<Program<'a>>,
}

impl<'a> Programs<'a> {
    fn number(&mut self, program: Program<'a>) -> u32 {
        *self.numbers.entry(program).or_insert_with(|| {
            self.all.push(program);
            self.all.len() as u32 - 1
        })
    }
}

struct Row<'a> {
    program: Program<'a>,
    name: Option<&'a str>,
    errno: Option<&'a str>,
    path: Option<&'a str>,
    calls: u64,
    sums: Sums,
}

fn build(rows: &[Row<'_>]) -> Result<RecordBatch, ArrowError> {
    let mut table = TableBuilder::new(rows);
    table.text("source", |row| row.program.0);
    table.text("image", |row| row.program.1);
    table.text("name", |row| row.name);
    table.text("errno", |row| row.errno);
    table.text("path", |row| row.path);
    table.uint64("calls", |row| Some(row.calls));
    table.uint64("count", |row| Some(row.sums.count));
    table.uint64("timed", |row| Some(row.sums.timed));
    table.int64("total_ns", |row| Some(row.sums.total));
    table.uint64("first_line", |row| row.sums.first_line.get());
    table.finish()
}
