//! The table of waits: names and types of its columns, and their values.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{ListBuilder, UInt32Builder};
use arrow_schema::ArrowError;

use crate::tables::process_tracking::group;
use crate::tables::process_tracking::programs::Programs;
use crate::tables::process_tracking::task::Task;
use crate::tables::table_builder::{TableBuilder, build_by_parts};
use crate::tables::waits::fold::Waits;
use crate::tables::waits::wait::{Judged, Wait};

/// The table, in order of source and start.
pub(crate) fn build(fold: Waits) -> Result<Vec<RecordBatch>, ArrowError> {
    let Waits { tracker, rows: mut waits, .. } = fold;
    let tasks = &tracker.tasks;
    let processes = group::processes(tasks);
    let by_task = group::processes_by_task(tasks, &processes);
    let programs = Programs::new(tasks, &processes);
    let task = |number: u32| tasks.get(number as usize);
    let source = |number: u32| tracker.source_name(task(number)?.source);
    let image = |number: u32, row: u64| {
        programs.before(by_task.get(number as usize)?.get()? as usize, row)?.path.as_deref()
    };
    waits.sort_by(|one, other| {
        let key = |wait: &Wait| (wait.ts.is_none(), wait.ts.get(), wait.line);
        source(one.task).cmp(&source(other.task)).then_with(|| key(one).cmp(&key(other)))
    });
    build_by_parts(waits, |rows| {
        let judged = |row: &Wait| -> Option<Judged> { row.judged.as_deref().cloned() };
        let of = |number: Option<u32>| -> Option<&Task> { task(number?) };
        let mut table = TableBuilder::new(&rows);
        table.text("source", |row: &Wait| source(row.task));
        table.timestamp("ts", |row| row.ts.get());
        table.int64("dur_ns", |row| row.dur.get());
        table.int64("open_ns", |row| row.open.get().or_else(|| judged(row)?.open_ns));
        table.int64("run_delay_ns", |row| row.run_delay.get());
        table.uint32("task", |row| task(row.task).map(|task| task.id));
        table.int32("pid", |row| task(row.task)?.pid.get());
        table.int32("tid", |row| task(row.task)?.tid.get());
        table.text("image", |row| image(row.task, row.row));
        table.uint64("line", |row| Some(row.line));
        table.text("name", |row| Some(tracker.row_name(row.name.get()?)));
        table.int32("fd", |row| row.fd.get());
        table.text("on", |row| Some(row.on.text()));
        table.text("object", |row| row.object.as_deref());
        table.int64("timeout_ns", |row| row.timeout.get());
        table.text("end", |row| Some(row.end.text()));
        table.uint32("waker_task", |row| of(Some(row.waker?.task)).map(|task| task.id));
        table.int32("waker_pid", |row| of(Some(row.waker?.task))?.pid.get());
        table.uint64("waker_line", |row| Some(row.waker?.line));
        table.text("waker_known", |row| Some(if row.waker?.exact { "exact" } else { "inferred" }));
        let mut could_wake = ListBuilder::new(UInt32Builder::new());
        for row in &rows {
            match judged(row).and_then(|judged| judged.could_wake) {
                Some(tasks) => could_wake.append_value(tasks.into_iter().map(Some)),
                None => could_wake.append_null(),
            }
        }
        table.array("could_wake", Arc::new(could_wake.finish()));
        table.text("verdict", |row| Some(judged(row)?.verdict.text()));
        table.text("proof", |row| Some(judged(row)?.proof?.text()));
        table.uint32("root_task", |row| of(judged(row)?.root).map(|task| task.id));
        table.uint64("because_line", |row| Some(judged(row)?.because?.0));
        // For the screen and the graph, behind the columns of the table.
        table.uint32("because_task", |row| of(Some(judged(row)?.because?.1)).map(|task| task.id));
        table.int32("because_pid", |row| of(Some(judged(row)?.because?.1))?.pid.get());
        table.int32("because_tid", |row| of(Some(judged(row)?.because?.1))?.tid.get());
        let met = |row: &Wait| row.waker.map(|waker| waker.task).or_else(|| judged(row)?.waits_for);
        table.int32("met_pid", |row| of(met(row))?.pid.get());
        table.text("met_image", |row| image(met(row)?, row.row));
        table.int32("root_pid", |row| of(judged(row)?.root)?.pid.get());
        table.finish()
    })
}
