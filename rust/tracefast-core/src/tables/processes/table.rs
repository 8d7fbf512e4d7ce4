//! The table of processes: names and types of its columns, and their values.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::ArrowError;

use crate::linux::child_status::Outcome;
use crate::linux::clone::Kind;
use crate::tables::process_tracking::argv;
use crate::tables::process_tracking::group::Process;
use crate::tables::process_tracking::kinds::kind;
use crate::tables::process_tracking::outcome;
use crate::tables::process_tracking::programs::{self, Programs};
use crate::tables::process_tracking::task::{Exec, Task};
use crate::tables::processes::fold::Processes;
use crate::tables::processes::work::Work;
use crate::tables::table_builder::TableBuilder;

/// The values of a row that are not in the process itself.
struct Row<'a> {
    process: &'a Process,
    source: Option<&'a str>,
    root: Option<&'a Task>,
    parent: Option<(&'a Process, Option<&'a Task>)>,
    program: Option<&'a Exec>,
    images: &'a [&'a Exec],
    comm: Option<&'a str>,
    ts_start: Option<i64>,
    ts_end: Option<i64>,
    outcome: Option<Outcome>,
    work: Work,
}

impl<'a> Row<'a> {
    fn new(
        fold: &'a Processes,
        all: &'a [Process],
        process: &'a Process,
        (program, images): (Option<&'a Exec>, &'a [&'a Exec]),
    ) -> Self {
        let tasks = &fold.tracker.tasks;
        let task = |number: u32| tasks.get(number as usize);
        let members = || process.members.iter().filter_map(|&number| task(number));
        let root = task(process.root);
        let mut work = Work::default();
        let done = process.members.iter().filter_map(|&number| fold.work.get(number as usize));
        done.for_each(|one| work.join(one));
        let comm = programs::comm(tasks, process);
        let born = root.and_then(|task| task.birth).and_then(|birth| birth.ts.get());
        let parent = process.parent.get().and_then(|at| all.get(at as usize));
        Self {
            process,
            source: fold.tracker.source_name(process.source),
            root,
            parent: parent.map(|parent| (parent, task(parent.root))),
            program,
            images,
            comm: comm.and_then(|comm| fold.tracker.comms.text(comm)),
            ts_start: members().filter_map(|task| task.ts_start.get()).min().or(born),
            ts_end: outcome::end(tasks, process),
            outcome: outcome::outcome(tasks, process),
            work,
        }
    }

    fn lifetime(&self) -> Option<i64> {
        Some(self.ts_end?.saturating_sub(self.ts_start?))
    }
}

/// The table, in order of source and start.
pub(crate) fn build(fold: &Processes, all: &[Process]) -> Result<RecordBatch, ArrowError> {
    let tasks = &fold.tracker.tasks;
    let programs = Programs::new(tasks, all);
    let mut rows: Vec<Row<'_>> = all
        .iter()
        .enumerate()
        .map(|(number, process)| {
            let images = (programs.last(number), programs.started(number));
            Row::new(fold, all, process, images)
        })
        .collect();
    // Equal rows stay in the order of their first sign in the log.
    rows.sort_by_key(|row| {
        ((row.source.is_none(), row.source), (row.ts_start.is_none(), row.ts_start))
    });
    let mut table = TableBuilder::new(&rows);
    table.text("source", |row| row.source);
    table.uint32("task", |row| row.root.map(|task| task.id));
    table.int32("pid", |row| row.process.pid.get());
    table.uint32("parent_task", |row| row.parent?.1.map(|task| task.id));
    table.int32("ppid", |row| row.parent?.0.pid.get());
    table.text("image", |row| row.program?.path.as_deref());
    table.array("images", images(&rows));
    let started = rows.iter().map(|row| row.program?.argv.as_deref());
    table.array("argv", argv::column(started));
    table.text("comm", |row| row.comm);
    table.text("kind", |row| kind(tasks, row.root?).map(Kind::text));
    table.timestamp("ts_start", |row| row.ts_start);
    table.timestamp("ts_end", |row| row.ts_end);
    table.int64("lifetime_ns", Row::lifetime);
    table.uint32("threads", |row| u32::try_from(row.process.members.len()).ok());
    table.uint32("children", |row| Some(row.process.children));
    table.uint64("calls", |row| Some(row.work.calls));
    table.int64("io_ns", |row| row.work.io.total());
    table.int64("wait_ns", |row| row.work.wait.total());
    table.int64("read_bytes", |row| Some(row.work.read));
    table.int64("write_bytes", |row| Some(row.work.written));
    table.int32("exit_status", |row| match row.outcome {
        Some(Outcome::Status(status)) => Some(status),
        _ => None,
    });
    table.text("exit_signal", |row| match &row.outcome {
        Some(Outcome::Signal(name)) => Some(name),
        _ => None,
    });
    table.finish()
}

fn images(rows: &[Row<'_>]) -> ArrayRef {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for row in rows {
        for exec in row.images {
            lists.values().append_option(exec.path.as_deref());
        }
        lists.append(true);
    }
    Arc::new(lists.finish())
}
