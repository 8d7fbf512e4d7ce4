//! The processes that created tasks: the program that each ran, and its threads at that time.

use crate::hash::HashMap;
use crate::linux::child_status::Outcome;
use crate::linux::clone::Kind;
use crate::tables::forks::fold::Forks;
use crate::tables::forks::task::{Birth, Task};
use crate::tables::packed::Packed;
use crate::tables::process_tracking::group::{self, Process};
use crate::tables::process_tracking::launcher::WorkerRole;
use crate::tables::process_tracking::outcome;
use crate::tables::process_tracking::programs::Programs;

/// The processes of all tasks, when all events are in.
pub(crate) struct Parents<'a> {
    forks: &'a Forks,
    /// By number of the task in the tracker, the number of its process.
    by_task: Vec<Packed<u32>>,
    processes: Vec<Process>,
    programs: Programs<'a>,
    /// Lives of threads, by process that created tasks.
    lives: HashMap<u32, Lives>,
}

/// When the threads of a process started and ended: by time, and by row.
#[derive(Default)]
struct Lives {
    born: Vec<i64>,
    ended: Vec<i64>,
    born_rows: Vec<u64>,
    ended_rows: Vec<u64>,
}

impl Lives {
    fn sort(&mut self) {
        self.born.sort_unstable();
        self.ended.sort_unstable();
        self.born_rows.sort_unstable();
        self.ended_rows.sort_unstable();
    }
}

impl<'a> Parents<'a> {
    pub(crate) fn new(forks: &'a Forks) -> Self {
        let tasks = &forks.tracker.tasks;
        let processes = group::processes(tasks);
        let by_task = group::processes_by_task(tasks, &processes);
        let programs = Programs::new(tasks, &processes);
        let mut parents = Self { forks, by_task, processes, programs, lives: HashMap::default() };
        parents.lives = parents.lives();
        parents
    }

    fn lives(&self) -> HashMap<u32, Lives> {
        let mut lives: HashMap<u32, Lives> = HashMap::default();
        for process in self.forks.births.iter().filter_map(|birth| self.process(birth)) {
            lives.entry(process).or_default();
        }
        for task in &self.forks.tasks {
            let Some(lives) = self.process_of(task).and_then(|process| lives.get_mut(&process))
            else {
                continue;
            };
            lives.born.push(self.born(task));
            lives.born_rows.push(task.born_row);
            lives.ended.extend(task.end());
            lives.ended_rows.extend(task.ended_row.get());
        }
        for lives in lives.values_mut() {
            lives.sort();
        }
        lives
    }

    /// When a task is known to have existed.
    fn born(&self, task: &Task) -> i64 {
        let birth = task.birth.get().and_then(|birth| self.forks.births.get(birth as usize));
        let returned = || {
            let birth = birth?;
            Some(birth.ts.get()?.saturating_add(birth.call.get().unwrap_or(0)))
        };
        self.forks.first(task).or_else(returned).unwrap_or(i64::MIN)
    }

    /// The process of a task.
    pub(crate) fn process_of(&self, task: &Task) -> Option<u32> {
        if let Some(tracked) = task.tracked.get().filter(|_| task.seen()) {
            return self.by_task.get(tracked as usize)?.get();
        }
        // Only its creation was seen. Without flags, it may be a process as well.
        let birth = self.forks.births.get(task.birth.get()? as usize)?;
        self.process(birth).filter(|_| birth.kind() == Some(Kind::Thread))
    }

    /// The process that created a task.
    pub(crate) fn process(&self, birth: &Birth) -> Option<u32> {
        let caller = self.forks.tasks.get(birth.caller.get()? as usize)?;
        self.by_task.get(caller.tracked.get()? as usize)?.get()
    }

    /// How a child ended that is a process, not a thread.
    pub(crate) fn outcome(&self, child: &Task) -> Option<Outcome> {
        outcome::outcome(&self.forks.tracker.tasks, self.own_process(child)?)
    }

    /// How many threads a child had that is a process.
    pub(crate) fn threads_of(&self, child: &Task) -> Option<usize> {
        self.own_process(child).filter(|_| child.seen()).map(|process| process.members.len())
    }

    /// The process of a child that is its first task.
    fn own_process(&self, child: &Task) -> Option<&Process> {
        let process = self.by_task.get(child.tracked.get()? as usize)?.get()?;
        let process = self.processes.get(process as usize)?;
        (Some(process.root) == child.tracked.get()).then_some(process)
    }

    /// The program that a process ran before a row.
    pub(crate) fn program(&self, process: u32, row: u64) -> Option<&'a str> {
        self.programs.before(process as usize, row)?.path.as_deref()
    }

    /// What that program is to worker processes. A child that has started none has other work to
    /// do than its parent: what a forkserver forks is not a forkserver.
    pub(crate) fn role(&self, process: u32, row: u64) -> Option<WorkerRole> {
        self.programs.own_before(process as usize, row)?.role
    }

    /// How many threads of the process were alive at the birth, the caller included, but not the
    /// new one, which may have rows before the call.
    pub(crate) fn threads(&self, birth: &Birth) -> Option<u32> {
        birth.caller.get()?;
        // The idle task is not a process.
        let Some(process) = self.process(birth) else { return Some(1) };
        let lives = self.lives.get(&process)?;
        let child = birth.child.get().and_then(|child| self.forks.tasks.get(child as usize));
        let child = child.filter(|child| self.process_of(child) == Some(process));
        let (born, ended, new) = if let Some(ts) = birth.ts.get() {
            let alive = |child: &Task| self.born(child) <= ts && child.end().is_none_or(|t| t > ts);
            (
                lives.born.partition_point(|&t| t <= ts),
                lives.ended.partition_point(|&t| t <= ts),
                child.is_some_and(alive),
            )
        } else {
            let row = birth.row * 2;
            let alive = |child: &Task| {
                child.born_row <= row && child.ended_row.get().is_none_or(|r| r > row)
            };
            (
                lives.born_rows.partition_point(|&r| r <= row),
                lives.ended_rows.partition_point(|&r| r <= row),
                child.is_some_and(alive),
            )
        };
        let others = born.saturating_sub(ended).saturating_sub(usize::from(new));
        Some(u32::try_from(others).unwrap_or(u32::MAX).max(1))
    }
}
