//! How and when processes ended.

use crate::linux::child_status::Outcome;
use crate::tables::process_tracking::group::Process;
use crate::tables::process_tracking::programs::leader;
use crate::tables::process_tracking::task::Task;

/// How the process ended.
pub(crate) fn outcome(tasks: &[Task], process: &Process) -> Option<Outcome> {
    let leader = leader(tasks, process);
    let members = || process.members.iter().filter_map(|&number| tasks.get(number as usize));
    let of = |task: &Task| task.end.as_ref().and_then(|end| end.outcome.clone());
    let last = || {
        let ends = members().filter_map(|task| task.end.as_ref());
        ends.filter(|end| end.outcome.is_some()).max_by_key(|end| end.row)?.outcome.clone()
    };
    let reported = || tasks.get(process.root as usize).and_then(|task| task.reported.clone());
    // The status that a task asked for. A thread that exits alone says nothing about the others.
    let asked = || {
        let whole = members().filter_map(|task| task.asked.filter(|&(.., whole)| whole));
        let alone = leader.and_then(|task| task.asked);
        whole.min_by_key(|&(row, ..)| row).or(alone).map(|(_, status, _)| Outcome::Status(status))
    };
    outlasting(tasks, process, leader)
        .map(|of_thread| reported().unwrap_or(of_thread))
        .or_else(|| leader.and_then(of).or_else(last).or_else(reported).or_else(asked))
}

/// How the last thread ended that outlasted the leader. A leader that exits alone stays a zombie
/// until then, and its line comes last; since Linux 5.17 the status of the process is that of the
/// last thread (`synchronize_group_exit` in kernel/exit.c).
fn outlasting(tasks: &[Task], process: &Process, leader: Option<&Task>) -> Option<Outcome> {
    let leader = leader?;
    let (left, _, whole) = leader.asked?;
    let members = process.members.iter().filter_map(|&number| tasks.get(number as usize));
    let ends = members
        .filter(|&task| !whole && !std::ptr::eq(task, leader))
        .filter_map(|task| task.end.as_ref())
        .filter(|end| end.row > left && !end.superseded && end.outcome.is_some());
    ends.max_by_key(|end| end.row)?.outcome.clone()
}

/// When the process ended: None if the log does not show that no thread is left.
pub(crate) fn end(tasks: &[Task], process: &Process) -> Option<i64> {
    let leader = leader(tasks, process);
    let ends = || {
        let members = process.members.iter().filter_map(|&number| tasks.get(number as usize));
        members.map(|task| task.end.as_ref())
    };
    let traced_end = leader?.end.as_ref().is_some_and(|end| end.traced && !end.superseded);
    let over = traced_end || ends().all(|end| end.is_some());
    let real = ends().flatten().filter(|end| !end.superseded);
    real.filter_map(|end| end.ts.get()).max().filter(|_| over)
}
