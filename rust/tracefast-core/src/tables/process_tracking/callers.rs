//! Who makes calls: processes, and tasks of which the log does not show the process.

use std::ops::Deref;

use crate::tables::process_tracking::group::Process;
use crate::tables::process_tracking::programs::{self, Programs};
use crate::tables::process_tracking::tracker::Tracker;

/// One of them.
#[derive(Debug)]
pub(crate) struct Caller<'a> {
    pub(crate) tasks: Tasks<'a>,
    pub(crate) source: Option<&'a str>,
    pub(crate) pid: Option<i32>,
    /// The path of the last program, or else the name of the process.
    pub(crate) image: Option<&'a str>,
}

/// The tasks of a caller.
#[derive(Debug)]
pub(crate) enum Tasks<'a> {
    /// Those of a process.
    Process(&'a [u32]),
    /// A task without one.
    Alone(u32),
}

impl Deref for Tasks<'_> {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match self {
            Self::Process(tasks) => tasks,
            Self::Alone(task) => std::slice::from_ref(task),
        }
    }
}

/// All callers: each task of a finished tracker is one of the tasks of one of them.
pub(crate) fn callers<'a>(tracker: &'a Tracker, processes: &'a [Process]) -> Vec<Caller<'a>> {
    let tasks = &tracker.tasks;
    let programs = Programs::new(tasks, processes);
    let mut all = Vec::with_capacity(processes.len());
    let mut alone = vec![true; tasks.len()];
    for (number, process) in processes.iter().enumerate() {
        for &task in &*process.members {
            alone[task as usize] = false;
        }
        let comm = || tracker.comms.text(programs::comm(tasks, process)?);
        let image = programs.last(number).and_then(|program| program.path.as_deref());
        all.push(Caller {
            tasks: Tasks::Process(&process.members),
            source: tracker.source_name(process.source),
            pid: process.pid.get(),
            image: image.or_else(comm),
        });
    }
    for (number, task) in (0..).zip(tasks).filter(|&(number, _)| alone[number as usize]) {
        all.push(Caller {
            tasks: Tasks::Alone(number),
            source: tracker.source_name(task.source),
            pid: task.pid.get(),
            image: task.comm.get().and_then(|comm| tracker.comms.text(comm)),
        });
    }
    all
}
