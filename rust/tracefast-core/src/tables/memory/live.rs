//! The processes that live, by their ids.

use std::collections::VecDeque;

use crate::hash::HashMap;
use crate::kernel::address_space::Resident;
use crate::tables::memory::mappings::Space;
use crate::tables::packed::Packed;

/// How many processes may wait at the same time for the rest of what the log says about their birth.
const WAITING: usize = 1024;

/// How many leaders are remembered whose process no row was about.
const LEADERS: usize = 1 << 16;

/// A process, named by its source and the task of its first thread.
pub(crate) type Key = (u32, u32);

/// A process.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) task: u32,
    pub(crate) pid: Packed<i32>,
    /// Its leader has a row, so `task` is the leader.
    led: bool,
    /// It has rows.
    pub(crate) seen: bool,
    /// It has ended, but the log does not say yet what it was copied from, or its pages are not yet
    /// given back.
    pub(crate) ended: bool,
    pub(crate) image: Packed<u32>,
    pub(crate) space: Space,
    /// Its address space in `rss_stat`.
    pub(crate) mm: Packed<u32>,
    /// What the last row about it shows; nothing before the first one.
    pub(crate) shown: Resident,
}

impl Process {
    fn new(task: u32) -> Self {
        Self {
            task,
            pid: Packed::default(),
            led: false,
            seen: false,
            ended: false,
            image: Packed::default(),
            space: Space::default(),
            mm: Packed::default(),
            shown: Resident::default(),
        }
    }
}

/// The ids in a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ids {
    pub(crate) source: u32,
    pub(crate) task: u32,
    pub(crate) pid: Option<i32>,
    pub(crate) tid: Option<i32>,
}

impl Ids {
    /// The row is of the thread that leads its process, as far as it shows.
    pub(crate) fn leads(&self) -> bool {
        self.pid.is_none() || self.tid.is_none() || self.pid == self.tid
    }
}

/// All processes that live.
#[derive(Debug, Default)]
pub(crate) struct Live {
    processes: HashMap<Key, Process>,
    by_pid: HashMap<(u32, i32), u32>,
    /// The leaders of processes that no row was about yet, and the last one that was added.
    leaders: HashMap<(u32, i32), u32>,
    last: Option<Key>,
    /// Those that the log has not shown in full, the oldest first.
    waiting: VecDeque<Key>,
    /// How many processes have no rows yet.
    pub(crate) unseen: usize,
}

impl Live {
    pub(crate) fn get(&mut self, key: Key) -> Option<&mut Process> {
        self.processes.get_mut(&key)
    }

    /// The process of a row; adds it at its first one.
    pub(crate) fn of_row(&mut self, ids: Ids) -> Key {
        let source = ids.source;
        let pid = ids.pid.or(ids.tid);
        let known = pid.and_then(|pid| self.by_pid.get(&(source, pid)).copied());
        let task = match known {
            Some(task) if task == ids.task || !ids.leads() => task,
            Some(task) => self.lead(source, task, ids.task),
            None => pid
                .and_then(|pid| self.leaders.remove(&(source, pid)))
                .filter(|_| !ids.leads())
                .unwrap_or(ids.task),
        };
        let key = (source, task);
        let process = self.processes.entry(key).or_insert_with(|| Process::new(task));
        if !process.seen {
            process.seen = true;
            self.unseen = self.unseen.saturating_sub(1);
        }
        process.led |= ids.leads() || task != ids.task;
        if known != Some(task)
            && let Some(pid) = pid
        {
            process.pid.set(pid);
            self.by_pid.insert((source, pid), task);
        }
        key
    }

    /// Notes the task that leads a process, of which other threads may have the first rows that
    /// matter.
    #[inline]
    pub(crate) fn note(&mut self, ids: Ids) {
        if self.last != Some((ids.source, ids.task)) {
            self.last = Some((ids.source, ids.task));
            if let Some(pid) = ids.pid.filter(|_| ids.leads()) {
                let key = (ids.source, pid);
                if !self.by_pid.contains_key(&key) {
                    // Those of processes that have ended may be among them.
                    if self.leaders.len() >= LEADERS {
                        self.leaders.clear();
                    }
                    self.leaders.insert(key, ids.task);
                }
            }
        }
    }

    /// The leader's task `new` has the id of a process that was known by its task `old`.
    fn lead(&mut self, source: u32, old: u32, new: u32) -> u32 {
        let led = self.processes.get(&(source, old)).is_none_or(|process| process.led);
        if led {
            // An earlier process with the same id, whose end is not in the log.
            self.remove((source, old));
        } else if let Some(mut process) = self.processes.remove(&(source, old)) {
            // Its threads have the first rows.
            process.task = new;
            self.processes.insert((source, new), process);
        }
        new
    }

    /// The process of a task that a call has made, if it has not been seen, or its birth was not
    /// known.
    pub(crate) fn born(&mut self, source: u32, task: u32) -> &mut Process {
        let key = (source, task);
        if !self.processes.contains_key(&key) {
            self.unseen += 1;
            self.wait(key);
        }
        self.processes.entry(key).or_insert_with(|| Process::new(task))
    }

    /// Keeps a process until the log has shown the rest of it, but not for ever.
    pub(crate) fn wait(&mut self, key: Key) {
        self.waiting.push_back(key);
        if self.waiting.len() > WAITING
            && let Some(oldest) = self.waiting.pop_front()
            && self.processes.get(&oldest).is_some_and(|process| process.ended || !process.seen)
        {
            self.remove(oldest);
        }
    }

    /// Its id may be given to another process from now on.
    pub(crate) fn release_pid(&mut self, key: Key) {
        if let Some(process) = self.processes.get(&key)
            && let Some(pid) = process.pid.get()
            && self.by_pid.get(&(key.0, pid)) == Some(&key.1)
        {
            self.by_pid.remove(&(key.0, pid));
        }
    }

    pub(crate) fn remove(&mut self, key: Key) {
        self.release_pid(key);
        if let Some(process) = self.processes.remove(&key)
            && !process.seen
        {
            self.unseen = self.unseen.saturating_sub(1);
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.processes.len()
    }
}
