//! Which programs processes ran.

use crate::tables::process_tracking::group::Process;
use crate::tables::process_tracking::task::{Exec, Task};

/// The programs that a process started, in order.
pub(crate) fn started<'a>(tasks: &'a [Task], process: &Process) -> Vec<&'a Exec> {
    let members = process.members.iter().filter_map(|&at| tasks.get(at as usize));
    let mut execs: Vec<_> = members.flat_map(|task| &task.execs).collect();
    execs.sort_by_key(|exec| exec.row);
    execs
}

/// What is known about the first program of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum First<'a> {
    Unasked,
    Asked,
    Known(Option<&'a str>),
}

/// By process, its last program: the last one that it started, or else the one that its creator ran
/// when it was created.
pub(crate) fn last<'a>(
    tasks: &[Task],
    all: &[Process],
    started: &[Vec<&'a Exec>],
) -> Vec<Option<&'a str>> {
    let mut firsts = vec![First::Unasked; all.len()];
    let mut way = Vec::new();
    for at in 0..all.len() {
        let mut next = at;
        let first = loop {
            match firsts[next] {
                First::Known(first) => break first,
                // A cycle of processes that created one another, which no real log has.
                First::Asked => break None,
                First::Unasked => {}
            }
            firsts[next] = First::Asked;
            way.push(next);
            let birth = tasks.get(all[next].root as usize).and_then(|task| task.birth);
            let (Some(birth), Some(maker)) = (birth, all[next].parent) else { break None };
            let Some(programs) = started.get(maker as usize) else { break None };
            // The last one before the birth, in the order of rows.
            let before = programs.partition_point(|exec| exec.row < birth.row);
            match programs[..before].last() {
                Some(exec) => break exec.path.as_deref(),
                None => next = maker as usize,
            }
        };
        for passed in way.drain(..) {
            firsts[passed] = First::Known(first);
        }
    }
    firsts
        .into_iter()
        .zip(started)
        .map(|(first, started)| match (started.last(), first) {
            (Some(exec), _) => exec.path.as_deref(),
            (None, First::Known(first)) => first,
            (None, _) => None,
        })
        .collect()
}

/// The thread that leads the process: the one that started its last program, or else the first.
pub(crate) fn leader<'a>(tasks: &'a [Task], process: &Process) -> Option<&'a Task> {
    let members = || process.members.iter().filter_map(|&number| tasks.get(number as usize));
    let last = members()
        .filter_map(|task| task.execs.last().map(|exec| (exec.row, task)))
        .max_by_key(|&(row, _)| row)
        .map(|(_, task)| task);
    last.or_else(|| tasks.get(process.root as usize).filter(|_| process.led))
}

/// The number of a process's last name: its leader's, or else that of its first thread with a name.
pub(crate) fn comm(tasks: &[Task], process: &Process) -> Option<u32> {
    let members = || process.members.iter().filter_map(|&number| tasks.get(number as usize));
    leader(tasks, process)
        .and_then(|task| task.comm)
        .or_else(|| members().find_map(|task| task.comm))
}
