//! Which programs processes ran.

use crate::tables::process::group::Process;
use crate::tables::process::task::{Exec, Task};

/// The programs that a process started, in order.
pub(crate) fn started<'a>(tasks: &'a [Task], process: &Process) -> Vec<&'a Exec> {
    let members = process.members.iter().filter_map(|&at| tasks.get(at as usize));
    let mut execs: Vec<_> = members.flat_map(|task| &task.execs).collect();
    execs.sort_by_key(|exec| exec.row);
    execs
}

/// What is known of the program that a process began with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum First<'a> {
    Unasked,
    Asked,
    Known(Option<&'a str>),
}

/// By process, the program that it ran last: the last one that it started, else that of its maker
/// at that moment.
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
                // Processes that made one another in a circle: not those of a real log.
                First::Asked => break None,
                First::Unasked => {}
            }
            firsts[next] = First::Asked;
            way.push(next);
            let birth = tasks.get(all[next].root as usize).and_then(|task| task.birth);
            let (Some(birth), Some(maker)) = (birth, all[next].parent) else { break None };
            let Some(programs) = started.get(maker as usize) else { break None };
            // In order of rows: the last one before the birth.
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

/// The thread that is the process: the one that started its last program, else the first one.
pub(crate) fn leader<'a>(tasks: &'a [Task], process: &Process) -> Option<&'a Task> {
    let members = || process.members.iter().filter_map(|&number| tasks.get(number as usize));
    let last = members()
        .filter_map(|task| task.execs.last().map(|exec| (exec.row, task)))
        .max_by_key(|&(row, _)| row)
        .map(|(_, task)| task);
    last.or_else(|| tasks.get(process.root as usize).filter(|_| process.led))
}

/// The number of the last name of a process: that of its leader, else of its first thread that has
/// one.
pub(crate) fn comm(tasks: &[Task], process: &Process) -> Option<u32> {
    let members = || process.members.iter().filter_map(|&number| tasks.get(number as usize));
    leader(tasks, process)
        .and_then(|task| task.comm)
        .or_else(|| members().find_map(|task| task.comm))
}
