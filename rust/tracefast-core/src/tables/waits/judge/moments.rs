//! The moments at which waits are judged: the end of the log, and what ended waits by force.
//!
//! Rows come in the order in which calls end. So at a signal, the call of a task that is blocked
//! still has no row: the state of all tasks is kept until each has shown where it was.

use crate::hash::HashMap;
use crate::linux::clone::Kind as Birth;
use crate::tables::waits::fold::{At, Waits};
use crate::tables::waits::judge::verdicts::{self, Now};
use crate::tables::waits::wait::Verdict;
use crate::tables::waits::world::tasks::{Blocked, World};

/// A wait that a signal ends earlier than this is not looked at, nor is a second signal within it.
pub(crate) const AGE_NS: i64 = 100_000_000;

/// Moments that are open at a time; each keeps a copy of what is live.
const MOST_OPEN: usize = 4;

/// Tasks in these copies, and in all that were made: with more, signals are not looked at.
const MOST_TASKS: usize = 1 << 20;
const MOST_COPIED: usize = 16 << 20;

/// The state of all tasks when a signal struck one.
#[derive(Debug)]
struct Moment {
    source: u32,
    ts: i64,
    world: World,
    /// Tasks that have not shown where they were.
    unseen: HashMap<u32, ()>,
}

/// All moments that are not yet judged.
#[derive(Debug, Default)]
pub(crate) struct Moments {
    open: Vec<Moment>,
    /// By source, the time of the last one.
    last: HashMap<u32, i64>,
    /// Tasks that were copied.
    copied: usize,
}

impl Moments {
    /// Whether it is not yet known of some who could have gone on then.
    pub(crate) fn are_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// A call that was under way at open moments has made a task.
    pub(crate) fn born(
        &mut self,
        (child, parent): (u32, u32),
        kind: Option<Birth>,
        shares_table: bool,
        at: &At<'_>,
    ) {
        for moment in &mut self.open {
            if moment.source == at.source && at.ts.is_some_and(|ts| ts <= moment.ts) {
                moment.world.born(child, parent, kind, shares_table, at.line);
            }
        }
    }
}

impl Waits {
    /// A call without a usual end.
    pub(crate) fn blocked(&mut self, task: u32, blocked: Blocked) {
        self.resolve(task, Some(&blocked));
        if let Some(task) = self.world.task_mut(task) {
            task.blocked = Some(Box::new(blocked));
        }
    }

    /// A deadly signal reached a task, or its death.
    pub(crate) fn struck(&mut self, task_number: u32, source: u32, ts: Option<i64>) {
        let Some(ts) = ts else { return };
        let Some(task) = self.world.task(task_number) else { return };
        let Some(blocked) = task.blocked.as_deref() else { return };
        let since = task.series.map_or(blocked.ts, |series| series.since.min(blocked.ts));
        let old = ts.saturating_sub(since) >= AGE_NS;
        if blocked.returned {
            let blocked = blocked.clone();
            self.resolve(task_number, Some(&blocked));
        }
        if old {
            self.moment(task_number, source, ts);
        }
    }

    fn moment(&mut self, struck: u32, source: u32, ts: i64) {
        let last = self.moments.last.entry(source).or_insert(i64::MIN);
        if ts.saturating_sub(*last) < AGE_NS || self.moments.open.len() >= MOST_OPEN {
            return;
        }
        let tasks = self.world.tasks.len();
        let held: usize = self.moments.open.iter().map(|moment| moment.world.tasks.len()).sum();
        if held + tasks > MOST_TASKS || self.moments.copied + tasks > MOST_COPIED {
            return;
        }
        *last = ts;
        self.moments.copied += tasks;
        let mut world = self.world.clone();
        // Of others whose call returned, only their own next line shows whether they go on.
        for (_, task) in (0..).zip(&mut world.tasks).filter(|&(number, _)| number != struck) {
            task.blocked.take_if(|blocked| blocked.returned);
        }
        let unseen = world
            .tasks
            .iter()
            .enumerate()
            .filter(|(_, task)| task.alive && task.source == source && task.blocked.is_none())
            .map(|(number, _)| (number as u32, ()))
            .collect();
        self.moments.open.push(Moment { source, ts, world, unseen });
        self.judge_ready(false);
    }

    /// A row of a task shows where it was at open moments.
    pub(crate) fn shown(&mut self, task: u32) {
        if self.moments.are_open() {
            self.resolve(task, None);
        }
    }

    /// A wait that ended may have been under way at open moments.
    pub(crate) fn was_blocked(&mut self, task: u32, blocked: &Blocked) {
        if self.moments.are_open() {
            self.resolve(task, Some(blocked));
        }
    }

    fn resolve(&mut self, task: u32, blocked: Option<&Blocked>) {
        let mut any = false;
        for moment in &mut self.moments.open {
            if moment.unseen.remove(&task).is_none() {
                continue;
            }
            any |= moment.unseen.is_empty();
            if let Some(blocked) = blocked.filter(|blocked| blocked.ts <= moment.ts)
                && let Some(task) = moment.world.task_mut(task)
            {
                task.blocked = Some(Box::new(blocked.clone()));
            }
        }
        if any {
            self.judge_ready(false);
        }
    }

    fn judge_ready(&mut self, all: bool) {
        let moments = std::mem::take(&mut self.moments.open);
        for mut moment in moments {
            if !all && !moment.unseen.is_empty() {
                self.moments.open.push(moment);
                continue;
            }
            if let Some(child) = verdicts::bind_children(&mut moment.world, moment.source)
                && let Some(task) = self.world.task_mut(child)
            {
                task.known = true;
            }
            let log = self.log(moment.source);
            verdicts::judge(
                &moment.world,
                &self.tracker,
                &mut self.rows,
                &Now { source: moment.source, ts: moment.ts, log, last: false },
            );
        }
    }

    /// Judges what is still blocked when the log ends.
    pub(crate) fn judge_the_end(&mut self) {
        self.judge_ready(true);
        for (source, log) in (0..).zip(self.logs.clone()) {
            for task in &mut self.world.tasks {
                task.blocked.take_if(|blocked| blocked.dies || blocked.returned);
            }
            verdicts::bind_children(&mut self.world, source);
            verdicts::judge(
                &self.world,
                &self.tracker,
                &mut self.rows,
                &Now { source, ts: log.last, log, last: true },
            );
        }
        let unsure: Vec<u32> = (0..)
            .zip(&self.logs)
            .filter(|&(source, log)| !log.ftrace && self.world.has_strangers(source))
            .map(|(source, _)| source)
            .collect();
        for wait in &mut self.rows {
            let source = self.world.tasks.get(wait.task as usize).map(|task| task.source);
            let log = source.and_then(|source| self.logs.get(source as usize));
            // A filter hid who made some tasks: those of which it hid all would be missed.
            if source.is_some_and(|source| unsure.contains(&source))
                && let Some(judged) = wait.judged.as_mut()
                && judged.verdict == Verdict::Deadlock
            {
                judged.verdict = Verdict::LikelyDeadlock;
            }
            if wait.end == crate::tables::waits::wait::End::Open
                && let (Some(log), Some(ts)) = (log, wait.ts.get())
            {
                let since = wait.judged.as_ref().and_then(|judged| judged.open_ns);
                wait.open.set(Some(since.unwrap_or_else(|| log.last.saturating_sub(ts))));
            }
        }
    }
}
