//! Which tasks are threads of one process, and which process created which.

use std::ops::Deref;

use crate::hash::HashMap;
use crate::tables::packed::Packed;
use crate::tables::process_tracking::kinds::is_thread;
use crate::tables::process_tracking::task::Task;
use crate::thin_vec::ThinVec;

/// One process.
#[derive(Debug, Clone)]
pub(crate) struct Process {
    pub(crate) source: u32,
    pub(crate) pid: Packed<i32>,
    /// Number of its first task: its leader, if the log has it.
    pub(crate) root: u32,
    /// The log has its leader.
    pub(crate) led: bool,
    /// Its last leader: a thread that calls execve takes the leader's place (execve(2)).
    leader: u32,
    /// Its tasks, in the order of their first sign in the log.
    pub(crate) members: Members,
    /// Number of the process that created it, or that was notified of its end.
    pub(crate) parent: Packed<u32>,
    /// How many processes it created.
    pub(crate) children: u32,
}

/// Tasks of a process. Most have one.
#[derive(Debug, Clone, Default)]
pub(crate) enum Members {
    #[default]
    Nobody,
    One(u32),
    Many(ThinVec<u32>),
}

impl Members {
    fn push(&mut self, task: u32) {
        match self {
            Self::Nobody => *self = Self::One(task),
            Self::One(first) => {
                let mut tasks = ThinVec::default();
                tasks.push(*first);
                tasks.push(task);
                *self = Self::Many(tasks);
            }
            Self::Many(tasks) => tasks.push(task),
        }
    }
}

impl Deref for Members {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match self {
            Self::Nobody => &[],
            Self::One(task) => std::slice::from_ref(task),
            Self::Many(tasks) => tasks,
        }
    }
}

/// Not a task of any process, or not yet decided.
const NONE: u32 = u32::MAX;

/// All processes, in the order of their first sign in the log.
pub(crate) fn processes(tasks: &[Task]) -> Vec<Process> {
    let (mut all, by_task) = Grouping::new(tasks).run();
    let mut parents: Vec<_> = all.iter().map(|process| parent(tasks, &by_task, process)).collect();
    cut_circles(&mut parents);
    for (at, parent) in parents.into_iter().enumerate() {
        let Some(parent) = parent else { continue };
        all[at].parent.set(parent);
        if let Some(parent) = all.get_mut(parent as usize) {
            parent.children = parent.children.saturating_add(1);
        }
    }
    all
}

/// No process is its own ancestor: where a damaged log says so, the process that it shows first was
/// created by none of them.
fn cut_circles(parents: &mut [Option<u32>]) {
    // By process, the walk that has come by it first, from the process of that number.
    let mut walks = vec![NONE; parents.len()];
    for start in 0..parents.len() as u32 {
        let mut at = start;
        while walks.get(at as usize) == Some(&NONE) {
            walks[at as usize] = start;
            let Some(parent) = parents[at as usize] else { break };
            at = parent;
        }
        if parents
            .get(at as usize)
            .is_none_or(|parent| parent.is_none() || walks[at as usize] != start)
        {
            continue;
        }
        let (mut first, mut next) = (at, parents[at as usize]);
        while let Some(process) = next.filter(|&process| process != at) {
            first = first.min(process);
            next = parents[process as usize];
        }
        parents[first as usize] = None;
    }
}

/// By task, the number of its process. The idle task has none.
pub(crate) fn processes_by_task(tasks: &[Task], processes: &[Process]) -> Vec<Packed<u32>> {
    let mut by_task = vec![Packed::default(); tasks.len()];
    for (number, process) in (0..).zip(processes) {
        for &task in &*process.members {
            by_task[task as usize].set(number);
        }
    }
    by_task
}

/// The process of the task that created a process, or that was notified of its end.
fn parent(tasks: &[Task], by_task: &[u32], process: &Process) -> Option<u32> {
    let root = tasks.get(process.root as usize)?;
    let creator = root.birth.map(|birth| birth.parent).or(root.guardian.get())?;
    by_task.get(creator as usize).copied().filter(|&parent| parent != NONE)
}

struct Grouping<'a> {
    tasks: &'a [Task],
    /// By task, the first task of its process, as far as calls show.
    roots: Vec<u32>,
    all: Vec<Process>,
    /// The latest process of each process id, by source.
    current: HashMap<(u32, i32), u32>,
    /// Rows in which a thread took its leader's place by execve, by source and process id.
    successions: HashMap<(u32, i32), Vec<u64>>,
}

impl<'a> Grouping<'a> {
    fn new(tasks: &'a [Task]) -> Self {
        let mut grouping = Self {
            tasks,
            roots: vec![NONE; tasks.len()],
            all: Vec::new(),
            current: HashMap::default(),
            successions: HashMap::default(),
        };
        for task in tasks {
            for exec in task.execs.iter().filter(|exec| exec.by_thread) {
                let Some(pid) = task.pid.get() else { break };
                grouping.successions.entry((task.source, pid)).or_default().push(exec.row);
            }
        }
        let mut path = Vec::new();
        for task in 0..tasks.len() as u32 {
            grouping.find_root(task, &mut path);
        }
        grouping
    }

    /// Finds the root of a task, and of all tasks on the path to it.
    fn find_root(&mut self, task: u32, path: &mut Vec<u32>) {
        path.clear();
        let mut at = task;
        let root = loop {
            let known = self.roots[at as usize];
            if known != NONE {
                break known;
            }
            // Marked, so that a cycle of threads that created one another ends.
            self.roots[at as usize] = at;
            path.push(at);
            let creator = self.tasks[at as usize].birth.map(|birth| birth.parent);
            match creator.filter(|_| is_thread(self.tasks, &self.tasks[at as usize])) {
                Some(creator) if (creator as usize) < self.tasks.len() => at = creator,
                _ => break at,
            }
        };
        for &passed in path.iter() {
            self.roots[passed as usize] = root;
        }
    }

    /// The processes, and the number of the process of each task.
    fn run(mut self) -> (Vec<Process>, Vec<u32>) {
        let mut by_task = vec![NONE; self.tasks.len()];
        for (at, task) in self.tasks.iter().enumerate() {
            if self.roots[at] == at as u32
                && let Some(process) = self.place(at as u32, task)
            {
                by_task[at] = process;
            }
        }
        for at in 0..self.tasks.len() {
            let process = by_task[self.roots[at] as usize];
            by_task[at] = process;
            if let Some(process) = self.all.get_mut(process as usize) {
                process.members.push(at as u32);
            }
        }
        (self.all, by_task)
    }

    /// The process of a task that is not a thread of a known process.
    fn place(&mut self, number: u32, task: &Task) -> Option<u32> {
        // The idle task was not created by a process. And a task without rows may be a thread if
        // nothing shows what it shares.
        let known =
            !task.guardian.is_none() || task.birth.is_some_and(|birth| birth.kind.is_some());
        let unknown = !task.seen && !known;
        if task.tid.get() == Some(0) || unknown {
            return None;
        }
        let leads = task.pid.is_none() || task.tid.is_none() || task.tid == task.pid;
        let key = task.pid.get().map(|pid| (task.source, pid));
        let current = key.and_then(|key| self.current.get(&key).copied());
        let vacant = leads
            && key
                .zip(current)
                .is_some_and(|(key, current)| self.is_vacant(key, current, task.row));
        if task.birth.is_none()
            && let Some(current) = current
            && let Some(process) = self.all.get_mut(current as usize)
        {
            if leads && !process.led {
                // Its threads have the first rows.
                (process.root, process.leader, process.led) = (number, number, true);
                return Some(current);
            }
            if vacant {
                // A thread without rows under its own id.
                process.leader = number;
                return Some(current);
            }
            if !leads && !has_ended(self.tasks, process, task.row) {
                return Some(current);
            }
        }
        let new = self.all.len() as u32;
        self.all.push(Process {
            source: task.source,
            pid: task.pid,
            root: number,
            led: leads,
            leader: number,
            members: Members::default(),
            parent: Packed::default(),
            children: 0,
        });
        if let Some(key) = key {
            self.current.insert(key, new);
        }
        Some(new)
    }

    /// Whether a thread took the leader's place before a row, but is not yet known.
    fn is_vacant(&self, key: (u32, i32), process: u32, row: u64) -> bool {
        let leader = self.all.get(process as usize).map(|process| process.leader);
        let leader = leader.and_then(|leader| self.tasks.get(leader as usize));
        let Some(end) = leader.and_then(|leader| leader.end.as_ref()) else { return false };
        let known = self
            .successions
            .get(&key)
            .is_some_and(|rows| rows.iter().any(|&exec| end.row < exec && exec < row));
        end.superseded && end.row < row && !known
    }
}

/// Whether the process ended before a row, according to the tracer.
fn has_ended(tasks: &[Task], process: &Process, row: u64) -> bool {
    let end = tasks.get(process.leader as usize).and_then(|task| task.end.as_ref());
    process.led && end.is_some_and(|end| end.traced && !end.superseded && end.row < row)
}
