//! Lives of tasks: the programs they start, how they end, when they are reaped.

use crate::linux::child_status;
use crate::linux::clone::Kind;
use crate::linux::task_events::{self, TaskEvent};
use crate::tables::forks::arguments;
use crate::tables::forks::fold::{At, Columns, Forks};
use crate::tables::forks::startup::Startup;
use crate::tables::forks::task::{Exec, Image, Process, Task};
use crate::tables::forks::word_classes::Act;

impl Forks {
    /// The first row of a task.
    pub(crate) fn appears(&mut self, source: u32, number: u32, tid: Option<i32>) -> u32 {
        // Only the call that created it was seen, or an event that reported it.
        let promised = tid.and_then(|tid| self.tids.get(&(source, tid)).copied());
        let promised = promised.filter(|&task| {
            self.tasks.get(task as usize).is_some_and(|task| task.number.is_none())
        });
        let task = promised.unwrap_or_else(|| self.new_task(source, 0));
        if let Some(known) = self.tasks.get_mut(task as usize) {
            known.number = Some(number);
        }
        self.numbers.insert((source, number), task);
        task
    }

    /// Adds a task, known from this row on, or with `after` 1, from after this row.
    pub(crate) fn new_task(&mut self, source: u32, after: u64) -> u32 {
        let number = self.tasks.len() as u32;
        let born_row = self.rows * 2 + after;
        self.tasks.push(Task { source, born_row, ..Task::default() });
        number
    }

    fn new_process(&mut self, led: bool) -> u32 {
        let number = self.processes.len() as u32;
        self.processes.push(Process { led, ..Process::default() });
        number
    }

    /// The first row of a task, which names its process.
    pub(crate) fn seen(&mut self, number: u32, tid: Option<i32>, pid: Option<i32>) {
        let Some(task) = self.tasks.get_mut(number as usize) else { return };
        task.seen = true;
        task.pid = pid;
        let (source, known) = (task.source, task.process);
        if let Some(tid) = tid {
            self.tids.insert((source, tid), number);
        }
        let leads = tid.is_some() && tid == pid;
        let process = known.unwrap_or_else(|| {
            let same = pid.and_then(|pid| self.pids.get(&(source, pid)).copied());
            // A second leader means another process with a reused id.
            let same = same.filter(|&process| {
                !leads || self.processes.get(process as usize).is_some_and(|process| !process.led)
            });
            same.unwrap_or_else(|| self.new_process(leads))
        });
        if let Some(process) = self.processes.get_mut(process as usize) {
            process.led |= leads;
        }
        if let Some(pid) = pid {
            self.pids.insert((source, pid), process);
        }
        if let Some(task) = self.tasks.get_mut(number as usize) {
            task.process = Some(process);
        }
        self.settle(number);
    }

    /// Whether a birth is known to have created a thread.
    pub(crate) fn is_thread(&self, birth: u32) -> bool {
        let Some(birth) = self.births.get(birth as usize) else { return false };
        let child = birth.child.and_then(|child| self.tasks.get(child as usize));
        let same = child.is_some_and(|child| child.pid.is_some() && child.pid == birth.pid);
        birth.kind().map_or(same, |kind| kind == Kind::Thread)
    }

    /// Joins a task and its birth, as far as both are known.
    pub(crate) fn settle(&mut self, number: u32) {
        let Some(task) = self.tasks.get(number as usize) else { return };
        let Some(birth) = task.birth else { return };
        let thread = self.is_thread(birth);
        let Some(known) = self.births.get(birth as usize) else { return };
        let (caller, pid, sure) = (known.process, known.child_pid, known.kind().is_some());
        let source = known.source;
        let process = match task.process {
            Some(process) => Some(process),
            None if thread => caller,
            None if sure => {
                let process = self.new_process(true);
                if let Some(pid) = pid {
                    self.pids.insert((source, pid), process);
                }
                Some(process)
            }
            None => None,
        };
        if let Some(process) = process.and_then(|process| self.processes.get_mut(process as usize))
            && !thread
        {
            process.birth.get_or_insert(birth);
        }
        let Some(task) = self.tasks.get_mut(number as usize) else { return };
        task.process = process;
        if thread {
            task.gaps = Vec::new();
        } else if task.exec.is_some()
            && let Some(source) = self.sources.get_mut(source as usize)
        {
            for gap in std::mem::take(&mut task.gaps) {
                source.fresh.push(i64::from(gap));
            }
        }
    }

    pub(crate) fn executes(&mut self, at: &At<'_>, number: u32) {
        let Some(task) = self.tasks.get_mut(number as usize) else { return };
        if at.errno.is_some() {
            if task.exec.is_none() {
                task.exec_failed = task.exec_failed.saturating_add(1);
                if let Some(dur) = at.dur {
                    let sum = task.exec_failed_ns.unwrap_or(0);
                    task.exec_failed_ns = Some(sum.saturating_add(dur));
                }
            }
            return;
        }
        if at.ret != Some(0) {
            return;
        }
        let image = at.path.map(|path| self.names.number(path));
        if let Some(startup) = task.startup.take() {
            task.started = startup.finish();
        }
        if task.exec.is_none() {
            task.exec = Some(Exec { ts: at.ts, dur: at.dur });
            task.image = image;
            task.startup = Some(Box::new(Startup::new(at.end())));
        }
        // The event that reports it came before the call returned.
        let told = task.event_image_ts >= at.ts && task.event_image_ts.is_some();
        let process = task.process;
        if let Some(process) = process.and_then(|process| self.processes.get_mut(process as usize))
        {
            match image {
                Some(image) => process.image = Image::Known(image),
                None if !told => process.image = Image::Unknown,
                None => {}
            }
        }
        self.settle(number);
    }

    pub(crate) fn asks_to_end(&mut self, at: &At<'_>, number: u32) {
        let Some(task) = self.tasks.get_mut(number as usize) else { return };
        task.exit_asked = at.ts.or(task.exit_asked);
        task.status_asked = at.args.and_then(child_status::exit_code).or(task.status_asked);
    }

    pub(crate) fn ends(&mut self, at: &At<'_>, number: u32) {
        let Some(task) = self.tasks.get_mut(number as usize) else { return };
        task.exit_line = task.exit_line.max(at.ts);
        task.ended_row = Some(self.rows * 2);
        match at.act {
            Act::Exited if task.status.is_none() => {
                task.status = at.ret.and_then(|ret| i32::try_from(ret).ok());
            }
            Act::Signal(name) if task.signal.is_none() => task.signal = Some(name),
            _ => {}
        }
        task.settle_down();
    }

    /// `SIGCHLD`, which reports a child's end.
    pub(crate) fn told(&mut self, at: &At<'_>) {
        let Some(ended) = at.args.and_then(child_status::siginfo) else { return };
        let Some(&child) = self.tids.get(&(at.source, ended.pid)) else { return };
        if let Some(child) = self.tasks.get_mut(child as usize)
            && !child.told
        {
            child.told = true;
            (child.utime_ns, child.stime_ns) = (ended.utime_ns, ended.stime_ns);
        }
    }

    pub(crate) fn collects(&mut self, at: &At<'_>) {
        let Some(end) = at.end() else { return };
        let args = at.args.unwrap_or_default();
        if child_status::leaves_child(args) {
            return;
        }
        let pid = match (at.act, at.ret) {
            (Act::WaitId, Some(0)) => child_status::collected_by_waitid(args),
            (Act::Wait, Some(pid)) if pid > 0 => i32::try_from(pid).ok(),
            _ => None,
        };
        let child = pid.and_then(|pid| self.tids.get(&(at.source, pid)).copied());
        if let Some(child) = child.and_then(|child| self.tasks.get_mut(child as usize)) {
            child.collected.get_or_insert(end);
        }
    }

    pub(crate) fn event(&mut self, columns: &mut Columns<'_>, at: &At<'_>, number: u32) {
        let args = at.args.unwrap_or_default();
        match at.act {
            Act::NewTask | Act::Forked => {
                let by_fork = at.act == Act::Forked;
                let event = if by_fork { TaskEvent::Fork } else { TaskEvent::NewTask };
                if let Some((pid, flags)) = task_events::created_task(event, args.as_bytes()) {
                    self.announces(columns, at, number, pid, (!by_fork).then_some(flags));
                }
            }
            Act::Executed => {
                let image = task_events::program(args).map(|path| self.names.number(path));
                let Some(task) = self.tasks.get_mut(number as usize) else { return };
                if task.event_image.is_none() {
                    task.event_image = image;
                }
                task.event_image_ts = at.ts.or(task.event_image_ts);
                let process = task.process;
                if let Some(process) =
                    process.and_then(|process| self.processes.get_mut(process as usize))
                {
                    process.image = image.map_or(Image::Unknown, Image::Known);
                }
            }
            Act::Ended => {
                let Some(task) = self.tasks.get_mut(number as usize) else { return };
                task.exit_event = task.exit_event.max(at.ts);
                task.ended_row = Some(self.rows * 2);
                task.settle_down();
            }
            Act::Rss => {
                let process = self.tasks.get(number as usize).and_then(|task| task.process);
                if let Some(process) =
                    process.and_then(|process| self.processes.get_mut(process as usize))
                    && let Some(bytes) = arguments::anonymous(args)
                {
                    process.anon = Some(bytes);
                }
            }
            _ => {}
        }
    }
}

impl Task {
    /// Frees what only a running task needs.
    fn settle_down(&mut self) {
        self.gaps = if self.exec.is_some() { std::mem::take(&mut self.gaps) } else { Vec::new() };
        if let Some(startup) = self.startup.take() {
            self.started = startup.finish();
        }
    }
}
