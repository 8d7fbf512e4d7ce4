//! The live tasks of a log: what they share, what they hold, where they are blocked.

use crate::hash::HashMap;
use crate::linux::clone::Kind as Birth;
use crate::tables::take_out;
use crate::tables::waits::arguments::Limit;
use crate::tables::waits::wait::Waker;
use crate::tables::waits::world::acts::Act;
use crate::tables::waits::world::descriptors::{Ofd, Tables};
use crate::tables::waits::world::ends::{Ends, Kind};
use crate::tables::waits::world::ipc::{IpcKey, Ipcs};
use crate::tables::waits::world::leases::Leases;
use crate::tables::waits::world::locks::{Lock, LockedFile, Locks, Owner};
use crate::tables::waits::world::spaces::{FutexKey, Space, Twin};
use crate::tables::waits::world::wakes::{ANY, Waited, Wake, Wakes};

/// What a blocked task waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A wake of a futex.
    Futex { key: FutexKey, address: u64, private: bool, value: i64, mask: u32 },
    /// Data to take from some ends, or room to give: then `false`. `others`: and what is not known.
    /// `set`: the epoll set that watches them.
    Ends { ends: Vec<(Ofd, bool)>, others: bool, set: Option<Ofd> },
    /// Somebody opens this side of a FIFO.
    Opening(Ofd),
    /// The end of a child: of this process id, or of any.
    Child(Option<i32>),
    /// The child that it just made starts a program or ends.
    Vfork,
    /// A lock on a file.
    Lock(LockedFile, Lock),
    /// The end of a lease on a file.
    Lease(LockedFile),
    /// A semaphore or queue: to take from it, or until somebody takes: then `false`.
    Ipc(IpcKey, bool),
    /// Time.
    Timer,
    /// Something outside: a signal, a disk, a person.
    Outside,
    /// The log does not say what.
    Unknown,
}

/// A call in which a task waits, or from which a signal or death took it.
#[derive(Debug, Clone)]
pub(crate) struct Blocked {
    /// The number of the wait.
    pub(crate) wait: Option<u32>,
    pub(crate) ts: i64,
    pub(crate) line: u64,
    pub(crate) target: Target,
    pub(crate) limit: Limit,
    /// Bytes that it would take or give.
    pub(crate) bytes: Option<i64>,
    /// The task dies in it.
    pub(crate) dies: bool,
    /// A signal ended it, and it returned: the task goes on if it does not die.
    pub(crate) returned: bool,
}

/// Waits for the same thing that timed out one after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Series {
    pub(crate) since: i64,
    pub(crate) key: u64,
    pub(crate) count: u32,
}

/// A task.
#[derive(Debug, Clone, Default)]
pub(crate) struct Live {
    pub(crate) source: u32,
    pub(crate) tid: Option<i32>,
    pub(crate) pid: Option<i32>,
    pub(crate) alive: bool,
    /// It has rows of its own, which show its process id.
    pub(crate) seen: bool,
    pub(crate) space: u32,
    pub(crate) table: u32,
    pub(crate) parent: Option<u32>,
    /// It is a thread of its creator's process.
    pub(crate) thread: bool,
    /// A call of the log made it.
    pub(crate) born: bool,
    /// The log did not show what it shares with its creator when it was made.
    unclear: bool,
    /// Born, or it is the first of the log and started a program there.
    pub(crate) known: bool,
    /// The newest description when it was made: it may have all that are older.
    pub(crate) newest: u32,
    /// The line on which it was first seen, and on which it ended.
    pub(crate) first_line: u64,
    pub(crate) last_line: u64,
    /// It ended with an error, or a signal without a handler reached it.
    pub(crate) doomed: bool,
    /// Its process ends: a signal killed another thread of it, or that called `exit_group`(2).
    pub(crate) dying: bool,
    /// When it called `_exit`(2) or the like.
    pub(crate) exit_ts: Option<i64>,
    /// The line of the last program that it started; 0 if it started none.
    pub(crate) exec_line: u64,
    pub(crate) blocked: Option<Box<Blocked>>,
    pub(crate) series: Option<Series>,
}

/// All tasks, by their number in the tracker, and what they share.
#[derive(Debug, Clone, Default)]
pub(crate) struct World {
    pub(crate) tasks: Vec<Live>,
    pub(crate) spaces: HashMap<u32, Space>,
    next_space: u32,
    pub(crate) tables: Tables,
    pub(crate) ends: Ends,
    pub(crate) locks: Locks,
    pub(crate) leases: Leases,
    pub(crate) ipcs: Ipcs,
    pub(crate) wakes: HashMap<FutexKey, Wakes>,
    /// The first task of each source.
    first: HashMap<u32, u32>,
    /// The task of each thread id, by source.
    pub(crate) by_tid: HashMap<(u32, i32), u32>,
    /// By source and process id, those that have not ended.
    processes: HashMap<(u32, i32), Vec<u32>>,
    /// The paths of shared mappings.
    mapped: HashMap<u64, Box<str>>,
    /// The last task that died with a shared mapping, and the line.
    lost: HashMap<u64, (u32, u64)>,
    /// When a signal last killed one with a shared mapping.
    killed: HashMap<u64, i64>,
}

/// Futexes whose wakes are remembered.
const MOST_WAKES: usize = 65_536;

impl World {
    #[inline]
    pub(crate) fn task(&self, number: u32) -> Option<&Live> {
        self.tasks.get(number as usize)
    }

    #[inline]
    pub(crate) fn task_mut(&mut self, number: u32) -> Option<&mut Live> {
        self.tasks.get_mut(number as usize)
    }

    /// A task that shows itself for the first time, in a row or in its creator's call.
    pub(crate) fn appear(
        &mut self,
        number: u32,
        source: u32,
        ids: (Option<i32>, Option<i32>),
        line: u64,
    ) {
        let at = number as usize;
        if self.tasks.len() <= at {
            self.tasks.resize(at + 1, Live::default());
        }
        let (tid, pid) = ids;
        if self.tasks[at].alive || self.tasks[at].last_line > 0 {
            self.leave_process(number);
            (self.tasks[at].tid, self.tasks[at].pid) = (tid, pid);
            self.join_process(number);
            return;
        }
        let space = self.add_space(Space::new(number, false));
        let table = self.tables.add(number, false);
        self.tasks[at] = Live {
            source,
            tid,
            pid,
            alive: true,
            space,
            table,
            first_line: line,
            ..Live::default()
        };
        self.join_process(number);
        self.first.entry(source).or_insert(number);
        if let Some(tid) = tid {
            self.by_tid.insert((source, tid), number);
        }
    }

    /// The source and the id of a task's process, if the log shows it.
    fn process(&self, number: u32) -> Option<(u32, i32)> {
        self.task(number).and_then(|task| Some((task.source, task.pid?)))
    }

    fn join_process(&mut self, number: u32) {
        let alive = self.task(number).is_some_and(|task| task.alive);
        if let Some(process) = self.process(number).filter(|_| alive) {
            self.processes.entry(process).or_default().push(number);
        }
    }

    fn leave_process(&mut self, number: u32) {
        let Some(process) = self.process(number) else { return };
        if let Some(tasks) = self.processes.get_mut(&process) {
            take_out(tasks, number);
            if tasks.is_empty() {
                self.processes.remove(&process);
            }
        }
    }

    fn add_space(&mut self, space: Space) -> u32 {
        let number = self.next_space;
        self.next_space += 1;
        self.spaces.insert(number, space);
        number
    }

    pub(crate) fn space(&self, task: u32) -> Option<&Space> {
        self.spaces.get(&self.task(task)?.space)
    }

    pub(crate) fn space_mut(&mut self, task: u32) -> Option<&mut Space> {
        let space = self.task(task)?.space;
        self.spaces.get_mut(&space)
    }

    /// Whether a task is the first of a process that has other threads.
    pub(crate) fn leads_others(&self, number: u32) -> bool {
        let first = self.task(number).is_some_and(|task| !task.thread);
        let thread = |&one: &u32| self.task(one).is_some_and(|one| one.thread);
        first && self.space(number).is_some_and(|space| space.tasks.iter().any(thread))
    }

    /// Whether a task is no thread of the process whose memory it has: a child of vfork.
    pub(crate) fn borrows_memory(&self, number: u32) -> bool {
        self.task(number).is_some_and(|task| {
            let parent = task.parent.and_then(|parent| self.task(parent));
            !task.thread && parent.is_some_and(|parent| parent.space == task.space)
        })
    }

    /// Whether the log does not show where some tasks of a source come from.
    pub(crate) fn has_strangers(&self, source: u32) -> bool {
        self.tasks.iter().any(|task| task.source == source && task.first_line > 0 && !task.known)
    }

    fn leave_space(&mut self, number: u32, task: u32) {
        if let Some(space) = self.spaces.get_mut(&number) {
            take_out(&mut space.tasks, task);
            if space.tasks.is_empty() {
                self.spaces.remove(&number);
            }
        }
    }

    /// The tasks that may hold a description of a file which the log shows with some of them only:
    /// those whom they made, or who made them, after it was opened.
    pub(crate) fn tasks_that_may_hold(&self, ofd: Ofd) -> Vec<u32> {
        let mut tasks = self.tables.tasks_that_hold(ofd);
        let mut at = 0;
        while let Some(&holder) = tasks.get(at) {
            at += 1;
            let Some(holding) = self.task(holder) else { continue };
            let made = (0..).zip(&self.tasks).filter(|(_, task)| {
                task.alive && task.parent == Some(holder) && task.newest >= ofd.1
            });
            let maker = holding.parent.filter(|_| holding.newest >= ofd.1);
            let alive = maker.filter(|&maker| self.task(maker).is_some_and(|one| one.alive));
            let found: Vec<u32> = made.map(|(number, _)| number).chain(alive).collect();
            for one in found {
                if !tasks.contains(&one) {
                    tasks.push(one);
                }
            }
        }
        tasks
    }

    /// The tasks that hold an end.
    pub(crate) fn holders(&self, ofd: Ofd) -> Vec<u32> {
        let all = self.ends.descriptions(&ofd);
        all.into_iter().flat_map(|ofd| self.tables.tasks_that_hold(ofd)).collect()
    }

    /// Whether a task was made by another one, or by those whom it made.
    pub(crate) fn descends(&self, task: u32, from: u32) -> bool {
        let mut next = Some(task);
        // A circle cannot be, but the numbers are the log's.
        for _ in 0..self.tasks.len() {
            match next {
                Some(one) if one == from => return true,
                Some(one) => next = self.task(one).and_then(|task| task.parent),
                None => return false,
            }
        }
        false
    }

    /// A call on `line` made a task.
    pub(crate) fn born(
        &mut self,
        child: u32,
        parent: u32,
        kind: Option<Birth>,
        shares_table: bool,
        line: u64,
    ) {
        let Some((space, table)) = self.task(parent).map(|task| (task.space, task.table)) else {
            return;
        };
        let Some(own) = self.task(child).cloned() else { return };
        if child == parent {
            return;
        }
        if own.born {
            if own.unclear && kind.is_some() {
                self.separate((child, &own), (parent, space, table), kind, shares_table, line);
            }
            return;
        }
        // Of a call whose flags the log does not show, the child may share all: then more could wake
        // those who wait.
        let thread = matches!(kind, Some(Birth::Thread) | None);
        let shares_memory = kind != Some(Birth::Fork);
        let executed = self.spaces.get(&own.space).is_some_and(|space| space.known);
        if !executed {
            if shares_memory {
                self.leave_space(own.space, child);
                if let Some(space) = self.spaces.get_mut(&space) {
                    space.tasks.push(child);
                }
                self.tasks[child as usize].space = space;
            } else if let Some(old) = self.spaces.get(&space) {
                let thread = old.tasks.iter().copied().find(|&one| one != parent);
                let twin = Twin { space, task: parent, line, thread };
                let mut copied = old.copied(child, twin);
                if let Some(before) = self.spaces.get(&own.space) {
                    copied.tasks.clone_from(&before.tasks);
                }
                self.spaces.insert(own.space, copied);
            }
        }
        // A program that it started meanwhile has a table of its own.
        if (shares_table || thread) && !executed {
            self.tables.join(child, own.table, table);
            self.tasks[child as usize].table = table;
        } else {
            self.tables.became_copy(own.table, table, line);
        }
        let task = &mut self.tasks[child as usize];
        (task.born, task.known, task.unclear) = (true, true, kind.is_none());
        (task.thread, task.parent) = (thread && !executed, Some(parent));
    }

    /// The log shows now that a task shares less with its creator than it was thought to.
    fn separate(
        &mut self,
        (child, own): (u32, &Live),
        (parent, space, table): (u32, u32, u32),
        kind: Option<Birth>,
        shares_table: bool,
        line: u64,
    ) {
        let thread = kind == Some(Birth::Thread);
        if kind == Some(Birth::Fork)
            && own.space == space
            && let Some(old) = self.spaces.get(&space)
        {
            let thread = old.tasks.iter().copied().find(|&one| one != parent && one != child);
            let copied = old.copied(child, Twin { space, task: parent, line, thread });
            self.leave_space(space, child);
            self.tasks[child as usize].space = self.add_space(copied);
        }
        if !thread && !shares_table && own.table == table {
            let copy = self.tables.copy(table, child, Some(line));
            self.tables.leave(table, child);
            self.tasks[child as usize].table = copy;
        }
        let task = &mut self.tasks[child as usize];
        (task.thread, task.unclear) = (thread, false);
    }

    /// A task starts a program: the other threads of its process end.
    pub(crate) fn exec(&mut self, number: u32, line: u64) {
        let Some(task) = self.task(number).cloned() else { return };
        let first = self.first.get(&task.source) == Some(&number);
        let others: Vec<_> = self
            .spaces
            .get(&task.space)
            .map(|space| space.tasks.iter().copied().filter(|&other| other != number).collect())
            .unwrap_or_default();
        for other in others {
            let same = self.task(other).is_some_and(|other| {
                other.pid.is_some() && other.pid == task.pid && other.source == task.source
            });
            if same {
                self.ended(other, line, false, None);
            }
        }
        self.leave_space(task.space, number);
        let space = self.add_space(Space::new(number, true));
        let table = self.tables.exec(task.table, number);
        let task = &mut self.tasks[number as usize];
        (task.space, task.table, task.exec_line) = (space, table, line);
        task.known |= first;
    }

    /// A task ends, and with it all threads of its process.
    pub(crate) fn dies_with_its_process(&mut self, number: u32) {
        let tasks = self.process(number).and_then(|process| self.processes.get(&process));
        for &one in tasks.into_iter().flatten() {
            if let Some(task) = self.tasks.get_mut(one as usize) {
                task.dying = true;
            }
        }
    }

    /// A task ended; `badly` if it was killed, or failed; `killed`: when a signal killed it.
    pub(crate) fn ended(&mut self, number: u32, line: u64, badly: bool, killed: Option<i64>) {
        if self.task(number).is_none_or(|task| !task.alive) {
            return;
        }
        self.leave_process(number);
        let task = &mut self.tasks[number as usize];
        (task.alive, task.last_line, task.blocked, task.series) = (false, line, None, None);
        let (space, table) = (task.space, task.table);
        if killed.is_some() {
            for ofd in self.tables.ends_of(table) {
                let side = self.ends.side(ofd);
                if let Some(end) = self.ends.get_mut(side) {
                    end.killed = killed;
                }
            }
            if let Some(space) = self.spaces.get_mut(&space) {
                space.killed = killed;
                self.killed.extend(space.objects().zip(killed.into_iter().cycle()));
            }
        }
        if badly && self.tables.get(table).is_some_and(|table| table.tasks.len() == 1) {
            for ofd in self.tables.ends_of(table) {
                let side = self.ends.side(ofd);
                if let Some(end) = self.ends.get_mut(side) {
                    end.lost = Some((number, line));
                }
            }
            let objects = self.spaces.get(&space).map(|space| space.objects().collect::<Vec<_>>());
            for object in objects.into_iter().flatten() {
                self.lost.insert(object, (number, line));
            }
        }
        self.leave_space(space, number);
        self.tables.leave(table, number);
    }

    /// Closes what nobody holds any more: those who wait for it are woken.
    pub(crate) fn close(&mut self, released: &[Ofd], act: Act) {
        for &ofd in released {
            if !self.locks.is_empty() {
                self.locks.release_all(Owner::Description(ofd), act);
            }
            self.ends.forget(ofd);
            self.leases.closed(ofd, act);
            let Some(end) = self.ends.get_mut(ofd) else { continue };
            end.gave.push(act);
            end.took.push(act);
            let queued = end.kind == Kind::Queued;
            let peer = end.peer.filter(|&peer| peer != ofd && !queued);
            if end.kind == Kind::Fifo {
                // It can be opened again, if it has its name.
                self.ends.forget_fifo(ofd);
                continue;
            }
            let held = peer.is_some_and(|peer| !self.tables.holders(peer).is_empty());
            if !held {
                self.ends.remove(ofd);
                if let Some(peer) = peer {
                    self.ends.remove(peer);
                }
            }
        }
    }

    /// A futex was woken.
    pub(crate) fn woke(&mut self, key: FutexKey, wake: Wake) {
        if self.wakes.len() >= MOST_WAKES && !self.wakes.contains_key(&key) {
            self.wakes.clear();
        }
        self.wakes.entry(key).or_default().push(wake);
    }

    /// Who woke a task that waited on a futex, and on which futex it waited in the end: who is moved
    /// to another one is woken there.
    pub(crate) fn woken_by(&self, key: FutexKey, waited: Waited) -> (Option<Waker>, FutexKey) {
        let ender = |key: &FutexKey, waited| self.wakes.get(key)?.ender(waited);
        let Some((waker, first)) = ender(&key, waited) else { return (None, key) };
        let Some((other, all_moved)) = first.moved else { return (Some(waker), key) };
        let (task, _, from, to) = waited;
        let after = (task, ANY, from.max(first.act.ts), to);
        match ender(&other, after) {
            Some((there, _)) => {
                let exact = there.exact && waker.exact && all_moved;
                (Some(Waker { exact, ..there }), other)
            }
            None if all_moved => (None, other),
            None => (Some(Waker { exact: false, ..waker }), other),
        }
    }

    /// The last task that died with a shared mapping, and the line.
    pub(crate) fn lost_mapping(&self, object: u64) -> Option<(u32, u64)> {
        self.lost.get(&object).copied()
    }

    /// When a signal last killed one with a shared mapping.
    pub(crate) fn killed_with(&self, object: u64) -> Option<i64> {
        self.killed.get(&object).copied()
    }

    /// Notes what a shared mapping is of.
    pub(crate) fn name_object(&mut self, object: u64, path: Option<&str>) {
        if let Some(path) = path {
            self.mapped.entry(object).or_insert_with(|| path.into());
        }
    }

    /// Whether a shared mapping is of a file that others can open by its path.
    pub(crate) fn is_file(&self, object: u64) -> bool {
        let path = self.mapped.get(&object);
        path.is_some_and(|path| !path.contains("memfd:") && !path.contains("(deleted)"))
    }

    /// The path of a shared mapping, or the line of the call that made it.
    pub(crate) fn object_name(&self, object: u64) -> String {
        self.mapped
            .get(&object)
            .map_or_else(|| format!("mapping of line {}", object & !(1 << 63)), ToString::to_string)
    }

    /// What the address of a futex is, in the memory of a task.
    pub(crate) fn futex(&self, task: u32, address: u64, private: bool) -> Option<FutexKey> {
        let space = self.task(task)?.space;
        let place = if private { None } else { self.spaces.get(&space)?.place(address) };
        Some(match place {
            Some((object, offset)) => FutexKey::Shared(object, offset),
            None => FutexKey::Private(space, address),
        })
    }
}
