//! Processes and threads, with the names and numbers under which they are shown.

use std::collections::HashSet;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

use crate::export::rows::Who;
use crate::hash::HashMap;
use crate::tables::flow::process_names::base_name;
use crate::tables::names::Names;
use crate::tables::process_tracking::group::{self, Process};
use crate::tables::process_tracking::programs::{self, Programs};
use crate::tables::process_tracking::tracker::Tracker;
use crate::tables::table_builder::TableBuilder;

/// The first number that Linux gives to no task: `PID_MAX_LIMIT` in include/linux/threads.h.
const FREE: i32 = 1 << 22;

#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) process: u32,
    /// The number under which it is shown: its thread id, unless another one has that.
    pub(crate) number: i32,
    pub(crate) name: Option<Box<str>>,
    /// The thread that made it.
    pub(crate) maker: Option<u32>,
    /// It is a thread with a table of descriptors of its own, or a process without one: clone(2).
    pub(crate) unusual_files: bool,
    source: u32,
    tid: Option<i32>,
}

#[derive(Debug)]
pub(crate) struct Track {
    /// The number under which it is shown: its process id, unless another one has that.
    pub(crate) number: i32,
    pub(crate) name: String,
    /// The program, or the name of the process; without its folders.
    pub(crate) program: Box<str>,
    pid: Option<i32>,
    /// It has a thread with its number.
    led: bool,
}

/// Numbers of processes and threads. The readers of timelines know both by their numbers alone, and
/// Linux uses numbers again.
#[derive(Debug)]
struct Numbers {
    used: HashSet<i32>,
    next: i32,
}

impl Numbers {
    fn take(&mut self, wanted: Option<i32>) -> i32 {
        if let Some(wanted) = wanted.filter(|&wanted| wanted >= 0 && self.used.insert(wanted)) {
            return wanted;
        }
        self.next = self.next.saturating_add(1);
        self.used.insert(self.next);
        self.next
    }
}

#[derive(Debug)]
pub(crate) struct Tracks {
    sources: Names,
    pub(crate) threads: Vec<Thread>,
    pub(crate) processes: Vec<Track>,
    by_who: HashMap<(u32, Who), u32>,
    numbers: Numbers,
}

impl Tracks {
    pub(crate) fn new(
        tracker: &Tracker,
        sources: &Names,
        loose: &[(u32, Option<i32>, Option<i32>)],
        unusual_files: &HashSet<(u32, u32)>,
    ) -> Self {
        let tasks = &tracker.tasks;
        let found = group::processes(tasks);
        let by_task = group::processes_by_task(tasks, &found);
        let mut tracks = Self {
            sources: Names::default(),
            threads: Vec::with_capacity(tasks.len()),
            processes: Vec::with_capacity(found.len()),
            by_who: HashMap::default(),
            numbers: Numbers { used: HashSet::new(), next: FREE },
        };
        for number in 0.. {
            let Some(name) = sources.text(number) else { break };
            tracks.sources.number(name);
        }
        tracks.add_processes(tracker, &found);
        for (task, process) in tasks.iter().zip(by_task) {
            let source = tracker.source_name(task.source).and_then(|name| sources.find(name));
            let source = source.map_or(0, |number| number + 1);
            let comm = task.comm.get().and_then(|comm| tracker.comms.text(comm));
            let (tid, pid) = (task.tid.get(), task.pid.get());
            let who = Who::Task(task.id);
            tracks.add_thread((source, who), tid, pid, (process.get(), comm));
            if let Some(thread) = tracks.threads.last_mut() {
                // The threads are in the order of the tasks.
                thread.maker = task.birth.map(|birth| birth.parent);
                thread.unusual_files = unusual_files.contains(&(source, task.id));
            }
        }
        for &(source, tid, pid) in loose {
            tracks.add_thread((source, Who::Tid(tid)), tid, pid, (None, None));
        }
        tracks
    }

    fn add_processes(&mut self, tracker: &Tracker, found: &[Process]) {
        let tasks = &tracker.tasks;
        let programs = Programs::new(tasks, found);
        for (at, process) in found.iter().enumerate() {
            let comm = || tracker.comms.text(programs::comm(tasks, process)?);
            let image = programs.last(at).and_then(|exec| exec.path.as_deref());
            let program = image.map(base_name).or_else(comm).unwrap_or("process");
            let source = tracker.source_name(process.source);
            self.add_process(program, process.pid.get(), source);
        }
    }

    fn add_process(&mut self, program: &str, pid: Option<i32>, source: Option<&str>) -> u32 {
        let number = self.numbers.take(pid);
        let mut name = program.to_owned();
        if let Some(pid) = pid.filter(|&pid| pid != number) {
            name = format!("{name} {pid}");
        }
        if let Some(source) = source.filter(|_| self.sources.text(1).is_some()) {
            name = format!("{name} ({})", base_name(source));
        }
        self.processes.push(Track { number, name, program: program.into(), pid, led: false });
        self.processes.len() as u32 - 1
    }

    fn add_thread(
        &mut self,
        key: (u32, Who),
        tid: Option<i32>,
        pid: Option<i32>,
        (process, comm): (Option<u32>, Option<&str>),
    ) {
        let process = process.unwrap_or_else(|| {
            let source = key.0.checked_sub(1).and_then(|at| self.sources.text(at));
            let source = source.map(ToOwned::to_owned);
            self.add_process(comm.unwrap_or("process"), pid.or(tid), source.as_deref())
        });
        let Some(track) = self.processes.get(process as usize) else { return };
        // The first of its threads with that number is its leader.
        let leads = !track.led && (tid.is_none() || tid == track.pid);
        let number = if leads { track.number } else { self.numbers.take(tid) };
        if let Some(track) = self.processes.get_mut(process as usize) {
            track.led |= leads;
        }
        let name = comm.map(Into::into);
        let (maker, unusual_files, source) = (None, false, key.0);
        let thread = Thread { process, number, name, maker, unusual_files, source, tid };
        self.by_who.insert(key, self.threads.len() as u32);
        self.threads.push(thread);
    }

    /// Finds a thread.
    #[inline]
    pub(crate) fn find(&self, source: u32, who: Who) -> Option<u32> {
        self.by_who.get(&(source, who)).copied()
    }

    /// It is the thread that leads its process.
    pub(crate) fn leads(&self, thread: u32) -> bool {
        let thread = self.threads.get(thread as usize);
        thread.is_some_and(|thread| {
            let process = self.processes.get(thread.process as usize);
            process.is_some_and(|process| process.number == thread.number)
        })
    }

    pub(crate) fn of_task(&self, source: u32, task: u32) -> Option<u32> {
        self.find(source, Who::Task(task))
    }

    /// A number that no process or thread has, for what is shown as one: the `n`-th.
    pub(crate) fn free_number(&self, n: i32) -> i32 {
        self.numbers.next.saturating_add(1).saturating_add(n)
    }
}

impl Tracks {
    /// One row per thread.
    pub(crate) fn table(&self) -> Result<RecordBatch, ArrowError> {
        let mut table = TableBuilder::new(&self.threads);
        let process = |thread: &Thread| self.processes.get(thread.process as usize);
        table.text("source", |thread| self.sources.text(thread.source.checked_sub(1)?));
        table.int32("pid", |thread| process(thread)?.pid);
        table.int32("tid", |thread| thread.tid);
        table.text("process", |thread| Some(process(thread)?.name.as_str()));
        table.int32("process_number", |thread| Some(process(thread)?.number));
        table.text("thread", |thread| thread.name.as_deref());
        table.int32("thread_number", |thread| Some(thread.number));
        table.finish()
    }
}
