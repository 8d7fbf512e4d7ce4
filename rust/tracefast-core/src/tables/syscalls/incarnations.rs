//! Which tasks are one process.

use hashbrown::HashMap;

use crate::tables::syscalls::tasks::{Key, Task, Tasks, Who};

/// Processes, from first to last thread; the same number given out anew is another one.
#[derive(Debug, Default)]
pub(crate) struct Incarnations {
    /// By task, the number of its process.
    pub(crate) of: Vec<u32>,
    pub(crate) all: Vec<Process>,
}

/// A process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Process {
    pub(crate) source: u32,
    pub(crate) pid: Option<i32>,
}

impl Incarnations {
    /// Finds the processes of all tasks.
    ///
    /// Tasks are numbered as they appear, so the threads of a process have numbers between that of
    /// its first one and that of the next process with this id. That holds for any part of the
    /// events, in any order.
    pub(crate) fn find(tasks: &Tasks) -> Self {
        let mut found = Self { of: vec![0; tasks.all.len()], all: Vec::new() };
        let mut order: Vec<usize> = (0..tasks.all.len()).collect();
        let number = |task: &Task| match task.key.who {
            Who::Task(number) => Some(number),
            Who::Process(_) => None,
        };
        order.sort_by_key(|&at| {
            let task = &tasks.all[at];
            (task.key.source, task.pid, number(task))
        });
        // Of the process at hand: its key, whether its first thread was seen, and whether another
        // one took that one's place.
        let mut last: Option<(u32, i32)> = None;
        let (mut led, mut vacant) = (false, false);
        for at in order {
            let task = &tasks.all[at];
            let key = task.pid.filter(|_| number(task).is_some()).map(|p| (task.key.source, p));
            // A thread that became the first one by execve was another one before.
            let first = task.led && !task.followed;
            if key.is_none() || key != last || (first && led && !vacant) {
                found.all.push(Process { source: task.key.source, pid: task.pid });
                (last, led, vacant) = (key, false, false);
            }
            led |= first;
            vacant = if first { task.superseded } else { vacant || task.superseded };
            found.of[at] = found.all.len() as u32 - 1;
        }
        found
    }

    /// By process, its tasks.
    pub(crate) fn members(&self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.all.len()];
        for (task, &process) in self.of.iter().enumerate() {
            members[process as usize].push(task);
        }
        members
    }

    /// By identity of a task, the number of its process.
    pub(crate) fn by_task(&self, tasks: &Tasks) -> HashMap<Key, u32, foldhash::fast::FixedState> {
        tasks.all.iter().zip(&self.of).map(|(task, &process)| (task.key, process)).collect()
    }
}
