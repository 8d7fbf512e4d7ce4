//! The table of created tasks: names and types of its columns, and their values.

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

use crate::linux::child_status::Outcome;
use crate::linux::clone::Kind;
use crate::tables::forks::fold::Forks;
use crate::tables::forks::hints::{self, Evidence, Hint};
use crate::tables::forks::parents::Parents;
use crate::tables::forks::startup::Started;
use crate::tables::forks::task::{Birth, Task};
use crate::tables::forks::tracer::{Cost, Spawn};
use crate::tables::forks::word_classes::Maker;
use crate::tables::process_tracking::argv;
use crate::tables::process_tracking::task::Exec;
use crate::tables::table_builder::{TableBuilder, build_by_parts};

/// The table, by source and time; nulls last.
pub(crate) fn build(forks: &Forks) -> Result<Vec<RecordBatch>, ArrowError> {
    let parents = Parents::new(forks);
    let evidence = Evidence::new(forks, &parents);
    let costs: Vec<Option<Cost>> = forks
        .sources
        .iter()
        .map(
            |source| if source.kernel { None } else { Cost::from_gaps(&source.all, &source.fresh) },
        )
        .collect();
    let mut births: Vec<&Birth> = forks.births.iter().filter(|birth| !birth.joined).collect();
    births.sort_by_key(|birth| {
        let source = forks.tracker.source_name(birth.source);
        let (ts, line) = (birth.ts.get(), birth.line.get());
        ((source.is_none(), source), (ts.is_none(), ts), (line.is_none(), line))
    });
    build_by_parts(births, |births| {
        let rows = births.into_iter().map(|birth| {
            let cost = costs.get(birth.source as usize).copied().flatten();
            Row::new(forks, birth, &parents, &evidence, cost)
        });
        build_part(forks, &rows.collect::<Vec<_>>())
    })
}

fn build_part(forks: &Forks, rows: &[Row<'_>]) -> Result<RecordBatch, ArrowError> {
    let text = |number: Option<u32>| forks.names.text(number?);
    let mut table = TableBuilder::new(rows);
    table.text("source", |row| row.source);
    table.timestamp("ts", |row| row.birth.ts.get());
    table.uint64("line", |row| row.birth.line.get());
    table.uint32("task", |row| row.birth.task.get());
    table.int32("pid", |row| row.birth.pid.get());
    table.int32("tid", |row| row.birth.tid.get());
    table.text("parent_image", |row| row.parent_image);
    table.text("name", |row| row.birth.name.map(Maker::text));
    table.text("kind", |row| row.kind.map(Kind::text));
    table.uint32("child_task", |row| Some(forks.tracked(row.child?)?.id));
    table.int32("child_pid", |row| row.birth.child_pid.get());
    table.text("errno", |row| text(row.birth.errno.get()));
    table.int64("call_ns", |row| row.birth.call.get());
    table.uint32("restarts", |row| Some(row.birth.attempts.saturating_sub(1)));
    table.int64("exec_gap_ns", |row| row.gap);
    table.uint32("exec_failed", |row| {
        row.child.filter(|child| child.seen()).map(Task::execs_failed)
    });
    table.int64("exec_failed_ns", |row| row.child?.program.as_ref()?.failed_ns);
    table.int64("exec_ns", |row| row.child?.exec()?.dur);
    table.text("image", |row| row.program?.path.as_deref());
    table.array("argv", argv::column(rows.iter().map(|row| row.program?.argv.as_deref())));
    table.int64("startup_ns", |row| row.started?.ns);
    table.uint32("startup_calls", |row| Some(row.started?.calls));
    table.uint32("startup_libraries", |row| Some(row.started?.libraries));
    table.uint32("startup_misses", |row| Some(row.started?.misses));
    table.int64("error_pipe_ns", |row| row.pipe);
    table.int64("lifetime_ns", |row| row.lifetime);
    table.int32("exit_status", |row| match &row.outcome {
        Some(Outcome::Status(status)) => Some(*status),
        Some(Outcome::Signal(_)) => None,
        None => {
            let child = row.child?;
            child.status.get().or(child.status_asked.get().filter(|_| child.signal.is_none()))
        }
    });
    table.text("exit_signal", |row| match &row.outcome {
        Some(Outcome::Signal(name)) => Some(&**name),
        Some(Outcome::Status(_)) => None,
        None => text(row.child?.signal.get()),
    });
    table.int64("reap_ns", |row| row.reap);
    table.int64("child_utime_ns", |row| row.cpu_time(row.child?.utime_ns.get()));
    table.int64("child_stime_ns", |row| row.cpu_time(row.child?.stime_ns.get()));
    table.uint32("parent_tasks", |row| row.parent_tasks);
    table.int64("parent_anon_bytes", |row| row.birth.anon.get());
    table.int64("tracer_low_ns", |row| Some(row.tracer?.0));
    table.int64("tracer_high_ns", |row| Some(row.tracer?.1));
    if forks.hints.is_some() {
        hints::add_columns(&mut table, |row| &row.hint);
    }
    table.finish()
}

/// Times of a log may be whole seconds.
const CPU_TIME_ROUNDING: i64 = 1_000_000_000;

/// How much a child's end may seem to come after the return of the wait that collected it.
const REAP_ROUNDING: i64 = 1_000_000;

/// The values of a row.
struct Row<'a> {
    birth: &'a Birth,
    child: Option<&'a Task>,
    source: Option<&'a str>,
    parent_image: Option<&'a str>,
    kind: Option<Kind>,
    /// The first program that the child started.
    program: Option<&'a Exec>,
    started: Option<Started>,
    gap: Option<i64>,
    pipe: Option<i64>,
    lifetime: Option<i64>,
    /// The most time that its threads can have had on processors.
    cpu_most: Option<i64>,
    /// How the child ended, if it is a process.
    outcome: Option<Outcome>,
    reap: Option<i64>,
    parent_tasks: Option<u32>,
    tracer: Option<(i64, i64)>,
    hint: Hint,
}

impl<'a> Row<'a> {
    fn new(
        forks: &'a Forks,
        birth: &'a Birth,
        parents: &Parents<'a>,
        evidence: &Evidence<'_>,
        cost: Option<Cost>,
    ) -> Self {
        let process = parents.process(birth);
        let parent_image = process.and_then(|process| parents.program(process, birth.row));
        let comm = || forks.tracker.comms.text(birth.comm.get()?);
        let child = birth.child.get().and_then(|child| forks.tasks.get(child as usize));
        let kind = forks.kind(birth);
        // None where the clock was set back between the two.
        let between = |from: Option<i64>, to: Option<i64>| {
            let ns = from.zip(to).map(|(from, to)| to.saturating_sub(from));
            ns.filter(|&ns| ns >= 0)
        };
        let start = child.and_then(|child| forks.start(child));
        let end = child.and_then(Task::end);
        let exec = child.and_then(Task::exec);
        let gap = between(start, exec.and_then(|exec| exec.ts));
        let waited = matches!(kind, Some(Kind::Vfork | Kind::PosixSpawn));
        let spawn = Spawn {
            call: birth.call.get(),
            gap,
            exec: exec.and_then(|exec| exec.dur),
            lines: child.map_or(0, |child| child.lines),
            followed: child.is_some_and(Task::seen),
            waited,
        };
        Self {
            birth,
            child,
            source: forks.tracker.source_name(birth.source),
            parent_image: parent_image.or_else(comm),
            kind,
            program: child.and_then(|child| forks.tracked(child)?.execs.first()),
            started: child.and_then(|child| {
                let program = child.program.as_ref()?;
                program.started.or_else(|| program.startup.as_ref()?.finish())
            }),
            gap,
            pipe: child.and_then(|child| pipe(birth, child)),
            lifetime: between(start, end),
            cpu_most: between(birth.ts.get(), end).zip(child).and_then(|(ns, child)| {
                let threads = parents.threads_of(child)?;
                ns.saturating_add(CPU_TIME_ROUNDING).checked_mul(i64::try_from(threads).ok()?)
            }),
            outcome: child.and_then(|child| parents.outcome(child)),
            reap: child.and_then(|child| child.collected.get()).zip(end).and_then(
                |(collected, end)| {
                    // Both times are rounded.
                    let rounded = (-REAP_ROUNDING..0).contains(&collected.saturating_sub(end));
                    if rounded { Some(0) } else { between(Some(end), Some(collected)) }
                },
            ),
            parent_tasks: parents.threads(birth),
            tracer: cost.and_then(|cost| cost.share(&spawn)),
            hint: {
                let role = process.and_then(|process| parents.role(process, birth.row));
                forks.hint_of(birth, (parent_image, process, role), child, evidence)
            },
        }
    }
}

impl Row<'_> {
    /// A processor time, unless the log is too short for it.
    fn cpu_time(&self, ns: Option<i64>) -> Option<i64> {
        ns.filter(|&ns| self.cpu_most.is_none_or(|most| ns <= most))
    }
}

/// The parent's wait on the pipe through which the child reports, if it was that.
fn pipe(birth: &Birth, child: &Task) -> Option<i64> {
    let wait = birth.pipe.as_ref()?;
    let reported = match child.exec() {
        // The wait ended at the execve: not before, and not when the program ended.
        Some(exec) => {
            let ended = child.exit_asked.get().or(child.end());
            !wait.data
                && wait.end.zip(exec.ts).is_some_and(|(end, exec)| end >= exec)
                && wait.end.zip(ended).is_none_or(|(end, ended)| end < ended)
        }
        None => child.execs_failed() > 0,
    };
    wait.ns.filter(|_| reported)
}
