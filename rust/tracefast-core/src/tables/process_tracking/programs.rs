//! Which programs processes ran.

use crate::tables::process_tracking::group::Process;
use crate::tables::process_tracking::task::{Exec, Task};

/// The programs of all processes.
#[derive(Debug)]
pub(crate) struct Programs<'a> {
    /// By process, what it started, in order.
    started: Vec<Vec<&'a Exec>>,
    /// By process, the program of its creator when it was created.
    inherited: Vec<Option<&'a str>>,
}

impl<'a> Programs<'a> {
    pub(crate) fn new(tasks: &'a [Task], processes: &[Process]) -> Self {
        let started: Vec<_> = processes.iter().map(|process| started(tasks, process)).collect();
        let inherited = inherited(tasks, processes, &started);
        Self { started, inherited }
    }

    /// The programs that a process started, in order.
    pub(crate) fn started(&self, process: usize) -> &[&'a Exec] {
        self.started.get(process).map_or(&[], Vec::as_slice)
    }

    /// The path of the program that a process ran before a row; None if it is not in the log.
    pub(crate) fn before(&self, process: usize, row: u64) -> Option<&'a str> {
        match started_before(self.started(process), row) {
            Some(exec) => exec.path.as_deref(),
            None => self.inherited.get(process).copied().flatten(),
        }
    }

    /// The path of the last program of a process.
    pub(crate) fn last(&self, process: usize) -> Option<&'a str> {
        self.before(process, u64::MAX)
    }
}

fn started<'a>(tasks: &'a [Task], process: &Process) -> Vec<&'a Exec> {
    let members = process.members.iter().filter_map(|&at| tasks.get(at as usize));
    let mut execs: Vec<_> = members.flat_map(|task| &task.execs).collect();
    execs.sort_by_key(|exec| exec.row);
    execs
}

/// The last of some programs that was started before a row.
fn started_before<'a>(started: &[&'a Exec], row: u64) -> Option<&'a Exec> {
    let count = started.partition_point(|exec| exec.row < row);
    started.get(..count)?.last().copied()
}

/// What is known about the first program of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum First<'a> {
    Unasked,
    Asked,
    Known(Option<&'a str>),
}

/// By process, the program that its creator ran when it was created, which may be inherited too.
fn inherited<'a>(
    tasks: &[Task],
    processes: &[Process],
    started: &[Vec<&'a Exec>],
) -> Vec<Option<&'a str>> {
    let mut firsts = vec![First::Unasked; processes.len()];
    let mut path = Vec::new();
    for at in 0..processes.len() {
        let mut next = at;
        let first = loop {
            match firsts[next] {
                First::Known(first) => break first,
                // A cycle of processes that created one another, which no real log has.
                First::Asked => break None,
                First::Unasked => {}
            }
            firsts[next] = First::Asked;
            path.push(next);
            let birth = tasks.get(processes[next].root as usize).and_then(|task| task.birth);
            let (Some(birth), Some(creator)) = (birth, processes[next].parent) else { break None };
            let Some(programs) = started.get(creator as usize) else { break None };
            match started_before(programs, birth.row) {
                Some(exec) => break exec.path.as_deref(),
                None => next = creator as usize,
            }
        };
        for passed in path.drain(..) {
            firsts[passed] = First::Known(first);
        }
    }
    let known = |first| if let First::Known(first) = first { first } else { None };
    firsts.into_iter().map(known).collect()
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
