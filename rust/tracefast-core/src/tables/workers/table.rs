//! The table of workers: names and types of its columns, and their values.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{Int64Builder, ListBuilder, StringBuilder};
use arrow_schema::ArrowError;

use crate::hash::HashMap;
use crate::linux::child_status::Outcome;
use crate::tables::packed::Packed;
use crate::tables::process_tracking::group::{self, Process};
use crate::tables::process_tracking::launcher::StartMethod;
use crate::tables::process_tracking::outcome;
use crate::tables::process_tracking::programs::Programs;
use crate::tables::process_tracking::task::Task;
use crate::tables::process_tracking::tracker::Tracker;
use crate::tables::table_builder::{TableBuilder, build_by_parts};
use crate::tables::workers::batches::messages::Batch;
use crate::tables::workers::fold::Workers;
use crate::tables::workers::pools::{Pool, pools};
use crate::tables::workers::program::is_shell;
use crate::tables::workers::retired::Retired;
use crate::tables::workers::shared_reads::{SharedFile, SharedReads};

type OfFile = fn(&SharedFile<'_>) -> i64;

/// What is known of each file of which several workers of a pool read the same.
const SHARED_NUMBERS: [(&str, OfFile); 4] = [
    ("shared_files", |file| file.file.cast_signed()),
    ("shared_readers", |file| i64::from(file.readers)),
    ("shared_bytes", |file| file.bytes),
    ("shared_again_bytes", |file| file.again),
];

type BatchNumber = (&'static str, fn(&Batch) -> Option<i64>);
type BatchText = (&'static str, fn(&Batch) -> Option<&str>);

/// What is known of each message that a maker had from a worker.
const BATCH_NUMBERS: [BatchNumber; 12] = [
    ("batch_ts", |batch| Some(batch.end)),
    ("batch_wait_ns", Batch::wait_ns),
    ("batch_take_over_ns", Batch::take_over_ns),
    ("batch_maker_tid", |batch| batch.taker_tid.map(i64::from)),
    ("batch_bytes", |batch| Some(batch.bytes)),
    ("batch_busy_ns", |batch| batch.busy_ns),
    ("batch_read_ns", |batch| Some(batch.work.as_deref()?.read_ns)),
    ("batch_read_bytes", |batch| Some(batch.work.as_deref()?.read_bytes)),
    ("batch_files", |batch| Some(batch.work.as_deref()?.files())),
    ("batch_slowest_ns", |batch| Some(batch.work.as_deref()?.slowest()?.1)),
    ("batch_worker_wait_ns", |batch| Some(batch.work.as_deref()?.wait_ns)),
    ("batch_line", |batch| i64::try_from(batch.line).ok()),
];
const BATCH_TEXTS: [BatchText; 2] = [
    ("batch_slowest_path", |batch| Some(batch.work.as_deref()?.slowest()?.0)),
    ("batch_cause", |batch| batch.cause()),
];

/// A worker, its process, and its place.
struct Row<'a> {
    pool: u32,
    round: u32,
    worker: &'a Retired,
    task: Option<&'a Task>,
    process: Option<&'a Process>,
    image: Option<&'a str>,
    ts_start: Option<i64>,
    ts_end: Option<i64>,
    outcome: Option<Outcome>,
    /// Its jobs are connections: those of a server, to whose workers its other messages are orders.
    serves: bool,
    read_shared: i64,
    read_again: i64,
    /// What its maker had from it, in order of time.
    batches: Vec<&'a Batch>,
    /// What its pool read again by file, of the first worker.
    shared: Vec<SharedFile<'a>>,
}

impl Row<'_> {
    /// From its start to its end, or that of the log.
    fn lifetime(&self) -> Option<i64> {
        Some(self.worker.to.saturating_sub(self.ts_start?))
    }

    fn start_ns(&self) -> Option<i64> {
        start_ns(self.worker, self.task?)
    }
}

/// The pools, each with its number among those of its log.
fn numbered(fold: &Workers, is_shell: impl Fn(u32) -> bool) -> Vec<(u32, Pool)> {
    let mut counts: HashMap<u32, u32> = HashMap::default();
    let numbered = pools(&fold.retired, is_shell).into_iter().map(|pool| {
        let maker = fold.tracker.tasks.get(pool.kin.maker as usize);
        let count = counts.entry(maker.map_or(0, |maker| maker.source)).or_default();
        *count += 1;
        (*count - 1, pool)
    });
    numbered.collect()
}

/// A worker: how it was started, and how long it took until it was ready for its first job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    pub(crate) method: StartMethod,
    pub(crate) ns: Option<i64>,
}

/// The workers, by the number of their source and their task.
pub(crate) fn starts(retired: &[Retired], tasks: &[Task]) -> HashMap<(u32, u32), Start> {
    let processes = group::processes(tasks);
    let by_task = group::processes_by_task(tasks, &processes);
    let programs = Programs::new(tasks, &processes);
    let image = |task| image(&programs, &by_task, task);
    let pools = pools(retired, |task| image(task).is_some_and(is_shell));
    let workers = pools.iter().flat_map(|pool| &pool.workers);
    let found = workers.filter_map(|&(at, _)| {
        let worker = retired.get(at)?;
        let task = tasks.get(worker.task as usize)?;
        let start = Start { method: worker.kin.method, ns: start_ns(worker, task) };
        Some(((task.source, task.id), start))
    });
    found.collect()
}

/// The workers of all logs of a pass, for a fold that counts sources and tasks in its own way.
#[derive(Debug, Clone, Default)]
pub struct WorkerStarts(Vec<(Option<Box<str>>, u32, Start)>);

impl WorkerStarts {
    pub(crate) fn new(fold: &Workers) -> Self {
        let found = starts(&fold.retired, &fold.tracker.tasks).into_iter();
        Self(
            found
                .map(|((source, id), start)| {
                    (fold.tracker.source_name(source).map(Into::into), id, start)
                })
                .collect(),
        )
    }

    /// The same, by the number of their source in a tracker and task.
    pub(crate) fn of(&self, tracker: &Tracker) -> HashMap<(u32, u32), Start> {
        let sources: HashMap<_, u32> = tracker
            .tasks
            .iter()
            .map(|task| (tracker.source_name(task.source), task.source))
            .collect();
        let workers = self.0.iter().filter_map(|(source, id, start)| {
            Some(((*sources.get(&source.as_deref())?, *id), *start))
        });
        workers.collect()
    }
}

/// From the call that made a worker, or asked a server for it, until it was ready for its first job.
fn start_ns(worker: &Retired, task: &Task) -> Option<i64> {
    let from = worker.asked.get().or_else(|| task.birth?.ts.get())?;
    Some(worker.ready?.ts.get()?.saturating_sub(from).max(0))
}

/// The last program of a task's process.
fn image<'a>(programs: &Programs<'a>, by_task: &[Packed<u32>], task: u32) -> Option<&'a str> {
    programs.last(by_task.get(task as usize)?.get()? as usize)?.path.as_deref()
}

/// The table, in order of source, pool, round and start.
pub(crate) fn build(fold: &Workers) -> Result<Vec<RecordBatch>, ArrowError> {
    let tasks = &fold.tracker.tasks;
    let processes = group::processes(tasks);
    let by_task = group::processes_by_task(tasks, &processes);
    let programs = Programs::new(tasks, &processes);
    let mut rows = Vec::new();
    let process = |task: u32| by_task.get(task as usize)?.get();
    let mut batches: HashMap<u32, Vec<&Batch>> = HashMap::default();
    for batch in &fold.messages.rows {
        if let Some(giver) = process(batch.giver) {
            batches.entry(giver).or_default().push(batch);
        }
    }
    let image = |task| image(&programs, &by_task, task);
    for (number, pool) in numbered(fold, |task| image(task).is_some_and(is_shell)) {
        let mut reads = SharedReads::default();
        for worker in pool.workers.iter().filter_map(|&(at, _)| fold.retired.get(at)) {
            worker.reads.iter().for_each(|part| reads.add(worker.task, part));
        }
        let read_again = reads.again();
        let mut shared = reads.again_files();
        let accepts =
            |&(at, _): &(usize, u32)| fold.retired.get(at).is_some_and(|one| one.connections > 0);
        let serves = pool.workers.iter().any(accepts);
        for &(at, round) in &pool.workers {
            let Some(worker) = fold.retired.get(at) else { continue };
            let number_of = process(worker.task);
            let maker = process(pool.kin.maker);
            let mut from_it = number_of.and_then(|of| batches.remove(&of)).unwrap_or_default();
            from_it.retain(|batch| process(batch.taker) == maker);
            from_it.sort_by_key(|batch| (batch.end, batch.line));
            let known = number_of.and_then(|number| processes.get(number as usize));
            let members = known.into_iter().flat_map(|process| process.members.iter());
            let starts = members.filter_map(|&task| tasks.get(task as usize)?.ts_start.get());
            rows.push(Row {
                pool: number,
                round,
                worker,
                task: tasks.get(worker.task as usize),
                process: known,
                image: image(worker.task),
                ts_start: starts.min(),
                ts_end: known.and_then(|process| outcome::end(tasks, process)),
                outcome: known.and_then(|process| outcome::outcome(tasks, process)),
                serves,
                read_shared: reads.shared(worker.task),
                read_again,
                batches: from_it,
                shared: std::mem::take(&mut shared),
            });
        }
    }
    let source = |row: &Row<'_>| fold.tracker.source_name(row.task?.source);
    rows.sort_by(|one, other| {
        let key = |row: &Row<'_>| (row.pool, row.round, row.ts_start, row.worker.task);
        source(one).cmp(&source(other)).then_with(|| key(one).cmp(&key(other)))
    });
    let maker = |row: &Row<'_>| tasks.get(row.worker.kin.maker as usize);
    build_by_parts(rows, |rows| {
        let mut table = TableBuilder::new(&rows);
        table.text("source", source);
        table.uint32("pool", |row| Some(row.pool));
        table.uint32("round", |row| Some(row.round));
        table.text("method", |row| Some(row.worker.kin.method.text()));
        table.int32("parent_pid", |row| maker(row)?.pid.get());
        table.int32("pid", |row| row.process?.pid.get());
        table.uint32("task", |row| row.task.map(|task| task.id));
        table.text("image", |row| row.image);
        table.timestamp("ts_start", |row| row.ts_start);
        table.int64("start_ns", Row::start_ns);
        table.uint64("start_calls", |row| row.worker.ready.map(|ready| ready.calls));
        table.uint32("modules", |row| row.worker.ready.map(|ready| ready.modules));
        table.int64("module_bytes", |row| row.worker.ready.map(|ready| ready.module_bytes));
        table.uint64("jobs", |row| {
            if row.serves { Some(row.worker.connections) } else { row.worker.jobs }
        });
        table.int64("busy_ns", |row| {
            Some(row.lifetime()?.saturating_sub(row.worker.wait_ns.get()?).max(0))
        });
        table.int64("wait_ns", |row| row.worker.wait_ns.get());
        table.uint32("files", |row| Some(row.worker.files));
        table.int64("read_bytes", |row| Some(row.worker.read_bytes));
        table.int64("read_shared_bytes", |row| Some(row.read_shared));
        table.int64("shm_bytes", |row| Some(row.worker.shm_bytes));
        let growth = |row: &Row<'_>| row.worker.growth.known();
        table.int64("anon_start_bytes", |row| growth(row).map(|(_, start, _)| start));
        table.int64("anon_peak_bytes", |row| growth(row).map(|(.., peak)| peak));
        table.int64("anon_growth_bytes", |row| {
            growth(row).map(|(_, start, peak)| peak.saturating_sub(start).max(0))
        });
        let each = |of: Option<(i64, u64)>| of.map(|(bytes, _)| bytes);
        table.int64("anon_per_phase_bytes", |row| each(row.worker.growth.per_phase));
        table.int64("anon_per_job_bytes", |row| each(row.worker.growth.per_job));
        table.int64("anon_once_bytes", |row| row.worker.growth.once());
        table.text("memory_from", |row| growth(row).map(|(from, ..)| from.text()));
        table.uint64("cow_faults", |row| {
            let log = fold.logs.get(row.task?.source as usize)?;
            log.faults.then_some(row.worker.growth.write_faults)
        });
        table.timestamp("ts_end", |row| row.ts_end);
        table.int32("exit_status", |row| match row.outcome {
            Some(Outcome::Status(status)) => Some(status),
            _ => None,
        });
        table.text("exit_signal", |row| match &row.outcome {
            Some(Outcome::Signal(name)) => Some(name),
            _ => None,
        });
        // For the table of pools.
        table.int64("module_ns", |row| row.worker.ready.map(|ready| ready.module_ns));
        table.int64("anon_ready_bytes", |row| row.worker.ready?.anon.get());
        table.timestamp("ts_ready", |row| row.worker.ready?.ts.get());
        table.int64("made_ns", |row| row.task?.birth?.dur.get());
        table.int64("read_again_bytes", |row| Some(row.read_again));
        let mut paths = ListBuilder::new(StringBuilder::new());
        for row in &rows {
            paths.append_value(row.shared.iter().map(|file| file.path));
        }
        table.array("shared_paths", Arc::new(paths.finish()));
        for (name, value) in SHARED_NUMBERS {
            let mut list = ListBuilder::new(Int64Builder::new());
            for row in &rows {
                list.append_value(row.shared.iter().map(|file| Some(value(file))));
            }
            table.array(name, Arc::new(list.finish()));
        }
        for (name, value) in BATCH_NUMBERS {
            let mut list = ListBuilder::new(Int64Builder::new());
            for row in &rows {
                list.append_value(row.batches.iter().map(|batch| value(batch)));
            }
            table.array(name, Arc::new(list.finish()));
        }
        for (name, value) in BATCH_TEXTS {
            let mut list = ListBuilder::new(StringBuilder::new());
            for row in &rows {
                list.append_value(row.batches.iter().map(|batch| value(batch)));
            }
            table.array(name, Arc::new(list.finish()));
        }
        table.finish()
    })
}
