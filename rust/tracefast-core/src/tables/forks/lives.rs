//! Lives of tasks: the programs they start, how they end, when they are reaped.

use crate::linux::child_status;
use crate::linux::rss_stat::{Pages, RssStat};
use crate::linux::task_events::{self, TaskEvent};
use crate::tables::forks::fold::{At, Columns, Forks};
use crate::tables::forks::startup::Startup;
use crate::tables::forks::task::{Exec, Task};
use crate::tables::forks::word_classes::Act;
use crate::tables::process_tracking::task;
use crate::thin_vec::ThinVec;

impl Forks {
    /// The record of a task that the tracker knows.
    #[inline]
    pub(crate) fn task_of(&self, tracked: u32) -> Option<u32> {
        self.by_tracked.get(tracked as usize)?.checked_sub(1)
    }

    /// What the tracker knows about a task.
    pub(crate) fn tracked(&self, task: &Task) -> Option<&task::Task> {
        self.tracker.tasks.get(task.tracked.get()? as usize)
    }

    /// The earliest known time of a task.
    pub(crate) fn first(&self, task: &Task) -> Option<i64> {
        self.tracked(task)?.ts_start.get()
    }

    /// When a task started to run.
    pub(crate) fn start(&self, task: &Task) -> Option<i64> {
        task.returned.get().or_else(|| self.first(task))
    }

    /// Notes that a record is about a task that the tracker knows.
    pub(crate) fn track(&mut self, number: u32, tracked: u32) {
        if tracked as usize >= self.by_tracked.len() {
            self.by_tracked.resize(tracked as usize + 1, 0);
        }
        if let Some(known) = self.by_tracked.get_mut(tracked as usize) {
            *known = number + 1;
        }
        if let Some(task) = self.tasks.get_mut(number as usize) {
            task.tracked.set_first(tracked);
        }
    }

    /// The first row of a task.
    #[cold]
    pub(crate) fn appears(&mut self, tracked: u32, tid: Option<i32>) -> u32 {
        let Some(known) = self.tracker.tasks.get(tracked as usize) else { return u32::MAX };
        let (source, pid) = (known.source, known.pid.get());
        let number = self.task_of(tracked).unwrap_or_else(|| {
            // Only the call that created it was seen, or an event that reported it.
            let promised = tid.and_then(|tid| self.tids.get(&(source, tid)).copied());
            let untracked = |&task: &u32| {
                self.tasks.get(task as usize).is_some_and(|task| task.tracked.is_none())
            };
            promised.filter(untracked).unwrap_or_else(|| self.new_task(source, 0))
        });
        self.track(number, tracked);
        if let Some(tid) = tid {
            self.tids.insert((source, tid), number);
        }
        let pid = self.pids.number(source, pid);
        if let Some(task) = self.tasks.get_mut(number as usize) {
            task.pid.set(pid);
        }
        self.add_gaps(number);
        number
    }

    /// Adds a task, known from this row on, or with `after` 1, from after this row.
    pub(crate) fn new_task(&mut self, source: u32, after: u64) -> u32 {
        let number = self.tasks.len() as u32;
        let born_row = self.tracker.row * 2 + after;
        self.tasks.push(Task { source, born_row, ..Task::default() });
        number
    }

    /// Adds the gaps of a process that has started a program to those of its source.
    pub(crate) fn add_gaps(&mut self, number: u32) {
        let Some(task) = self.tasks.get(number as usize) else { return };
        let (Some(birth), started) = (task.birth.get(), task.exec().is_some()) else { return };
        let thread = self.is_thread(birth);
        let Some(task) = self.tasks.get_mut(number as usize) else { return };
        if thread {
            task.gaps = ThinVec::default();
        } else if started && let Some(source) = self.sources.get_mut(task.source as usize) {
            for gap in task.gaps.take() {
                source.fresh.push(i64::from(gap));
            }
        }
    }

    pub(crate) fn executes(&mut self, at: &At<'_>, number: u32) {
        let Some(task) = self.tasks.get_mut(number as usize) else { return };
        if at.errno.is_none() && at.ret != Some(0) {
            return;
        }
        let program = task.program.get_or_insert_default();
        if at.errno.is_some() {
            if program.exec.is_none() {
                program.failed = program.failed.saturating_add(1);
                if let Some(dur) = at.dur {
                    let sum = program.failed_ns.unwrap_or(0);
                    program.failed_ns = Some(sum.saturating_add(dur));
                }
            }
            return;
        }
        if let Some(startup) = program.startup.take() {
            program.started = startup.finish();
        }
        if program.exec.is_none() {
            program.exec = Some(Exec { ts: at.ts, dur: at.dur });
            program.startup = Some(Box::new(Startup::new(at.end())));
        }
        self.add_gaps(number);
    }

    pub(crate) fn asks_to_end(&mut self, at: &At<'_>, number: u32) {
        let Some(task) = self.tasks.get_mut(number as usize) else { return };
        task.exit_asked.set_last(at.ts);
        task.status_asked.set_last(at.args.and_then(child_status::exit_code));
    }

    pub(crate) fn ends(&mut self, at: &At<'_>, number: u32) {
        let Some(task) = self.tasks.get_mut(number as usize) else { return };
        match at.act {
            Act::Ended => task.exit_event.raise(at.ts),
            _ => task.exit_line.raise(at.ts),
        }
        match at.act {
            Act::Exited if task.status.is_none() => {
                task.status.set(at.ret.and_then(|ret| i32::try_from(ret).ok()));
            }
            Act::Signal(name) if task.signal.is_none() => task.signal.set(name),
            _ => {}
        }
        task.ended_row.set(self.tracker.row * 2);
        task.settle_down();
        let tracked = task.tracked.get();
        let known = tracked.and_then(|tracked| self.tracker.tasks.get(tracked as usize));
        if let Some(known) = known
            && known.tid == known.pid
            && let Some(pid) = known.pid.get()
            && known.end.as_ref().is_some_and(|end| !end.superseded)
        {
            self.pids.forget(known.source, pid);
        }
    }

    /// `SIGCHLD`, which reports a child's end.
    pub(crate) fn child_ended(&mut self, at: &At<'_>) {
        let Some(ended) = at.args.and_then(child_status::siginfo) else { return };
        let Some(&child) = self.tids.get(&(at.source, ended.pid)) else { return };
        if let Some(child) = self.tasks.get_mut(child as usize)
            && !child.end_signalled
        {
            child.end_signalled = true;
            child.utime_ns.set(ended.utime_ns);
            child.stime_ns.set(ended.stime_ns);
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
            child.collected.set_first(end);
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
            Act::Ended => self.ends(at, number),
            Act::Rss => {
                let pid = self.tasks.get(number as usize).and_then(|task| task.pid.get());
                if let Some(pid) = pid.and_then(|pid| self.pids.get_mut(pid))
                    && let Some(bytes) = own_anonymous(args)
                {
                    pid.anon.set(bytes);
                }
            }
            _ => {}
        }
    }
}

impl Task {
    /// Frees what only a running task needs.
    fn settle_down(&mut self) {
        if self.exec().is_none() {
            self.gaps = ThinVec::default();
        }
        if let Some(program) = &mut self.program
            && let Some(startup) = program.startup.take()
        {
            program.started = startup.finish();
        }
    }
}

/// Anonymous memory of the current task in bytes, if the event `rss_stat` is about that.
fn own_anonymous(args: &str) -> Option<i64> {
    let stat = RssStat::parse(args)?;
    (stat.own && stat.pages == Pages::Anonymous).then_some(stat.bytes)
}
