//! Which programs processes ran.

use crate::tables::packed::Packed;
use crate::tables::process_tracking::group::Process;
use crate::tables::process_tracking::task::{Exec, Task};

/// The programs of all processes.
#[derive(Debug, Clone)]
pub(crate) struct Programs<'a> {
    /// What processes started: first the programs of one process, in order, then those of the next.
    all: Vec<&'a Exec>,
    /// By process, where those of the next one begin.
    ends: Vec<u32>,
    /// By process, the number of its creator's program when it was created.
    inherited: Vec<Packed<u32>>,
}

impl<'a> Programs<'a> {
    pub(crate) fn new(tasks: &'a [Task], processes: &[Process]) -> Self {
        let mut all = Vec::new();
        let mut ends = Vec::with_capacity(processes.len());
        for process in processes {
            let first = all.len();
            let members = process.members.iter().filter_map(|&at| tasks.get(at as usize));
            all.extend(members.flat_map(|task| &task.execs));
            all[first..].sort_by_key(|exec: &&Exec| exec.row);
            ends.push(all.len() as u32);
        }
        let mut programs = Self { all, ends, inherited: Vec::new() };
        programs.inherited = programs.inherited(tasks, processes);
        programs
    }

    /// The programs that a process started, in order, after the number of the first one.
    fn numbered(&self, process: usize) -> (usize, &[&'a Exec]) {
        let end_of = |process: usize| self.ends.get(process).map_or(0, |&end| end as usize);
        let first = process.checked_sub(1).map_or(0, end_of);
        (first, self.all.get(first..end_of(process)).unwrap_or_default())
    }

    /// The programs that a process started, in order.
    pub(crate) fn started(&self, process: usize) -> &[&'a Exec] {
        self.numbered(process).1
    }

    /// The number of the last program that a process started before a row.
    fn started_before(&self, process: usize, row: u64) -> Option<usize> {
        let (first, started) = self.numbered(process);
        let last = started.partition_point(|exec| exec.row < row).checked_sub(1)?;
        Some(first + last)
    }

    /// The program that a process ran before a row; None if the log does not have its start.
    pub(crate) fn before(&self, process: usize, row: u64) -> Option<&'a Exec> {
        let inherited = || self.inherited.get(process)?.get().map(|number| number as usize);
        let number = self.started_before(process, row).or_else(inherited)?;
        self.all.get(number).copied()
    }

    /// The program that a process started itself and ran before a row.
    pub(crate) fn own_before(&self, process: usize, row: u64) -> Option<&'a Exec> {
        self.all.get(self.started_before(process, row)?).copied()
    }

    /// The last program of a process.
    pub(crate) fn last(&self, process: usize) -> Option<&'a Exec> {
        self.before(process, u64::MAX)
    }

    /// By process, the program that its creator ran when it was created, which may be inherited too.
    fn inherited(&self, tasks: &[Task], processes: &[Process]) -> Vec<Packed<u32>> {
        let mut asked = vec![false; processes.len()];
        let mut known = vec![Packed::default(); processes.len()];
        let mut path = Vec::new();
        for at in 0..processes.len() {
            let mut next = at;
            let program = loop {
                if asked[next] {
                    // Nothing yet for a cycle of processes that created one another, which no real
                    // log has.
                    break known[next];
                }
                asked[next] = true;
                path.push(next);
                let birth = tasks.get(processes[next].root as usize).and_then(|task| task.birth);
                let creator = processes[next].parent.get().map(|creator| creator as usize);
                let (Some(birth), Some(creator)) = (birth, creator) else {
                    break Packed::default();
                };
                if creator >= processes.len() {
                    break Packed::default();
                }
                match self.started_before(creator, birth.row) {
                    Some(number) => break (number as u32).into(),
                    None => next = creator,
                }
            };
            for passed in path.drain(..) {
                known[passed] = program;
            }
        }
        known
    }
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
        .and_then(|task| task.comm.get())
        .or_else(|| members().find_map(|task| task.comm.get()))
}
