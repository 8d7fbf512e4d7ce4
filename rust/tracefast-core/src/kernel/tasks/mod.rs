//! Tasks, from the call that made them to their end, and what they share.

pub(crate) mod comm;
pub(crate) mod effects;
pub(crate) mod memory;

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::events::model_columns::task_key as key;
use crate::events::vocabulary::clone_flags::{CLONE_FILES, CLONE_FS, CLONE_THREAD, CLONE_VM};
use crate::kernel::descriptors::fd_table::{
    DescriptionRef, Descriptor, FdTable, OpenFileDescription, OpenFileDescriptions,
};
use crate::kernel::tasks::memory::AddressSpace;
use crate::kernel::transfers::calls_under_way::Pending;
use crate::kernel::transfers::position::{Offset, Position};

/// Number of a live task in [`Tasks`]. Used again; the identity that users see is not.
pub(crate) type TaskRef = usize;

#[derive(Debug)]
struct Task {
    /// Unique in this log.
    id: u32,
    tid: Option<i32>,
    /// Thread group.
    group: Option<i32>,
    table: usize,
    directory: usize,
    space: usize,
    /// The call that it is in.
    pending: Option<Box<Pending>>,
    /// What a close that has not returned takes away.
    closing: Option<(i32, Descriptor)>,
    /// It exited; events may still name it.
    exited: bool,
    /// It showed itself while nobody was about to make a task.
    unexpected: bool,
}

/// Where paths of a task start.
#[derive(Debug, Clone, Default)]
pub(crate) struct Directories {
    /// Working directory, if known.
    pub working: Option<Arc<[u8]>>,
    /// Root, if it is another one than that of the log's start.
    pub root: Option<Arc<[u8]>>,
}

/// Something that tasks may share.
#[derive(Debug, Default)]
struct Shared<T> {
    items: Vec<(u32, T)>,
    free: Vec<usize>,
}

impl<T: Default> Shared<T> {
    fn add(&mut self, item: T) -> usize {
        if let Some(at) = self.free.pop() {
            self.items[at] = (1, item);
            at
        } else {
            self.items.push((1, item));
            self.items.len() - 1
        }
    }

    fn keep(&mut self, at: usize) -> usize {
        self.items[at].0 += 1;
        at
    }

    /// That of a child: the same, or a copy.
    fn child(&mut self, at: usize, shared: bool) -> usize
    where
        T: Clone,
    {
        if shared {
            return self.keep(at);
        }
        let copy = self.items[at].1.clone();
        self.add(copy)
    }

    /// Gives the item back if nobody else has it.
    fn release(&mut self, at: usize) -> Option<T> {
        self.items[at].0 -= 1;
        (self.items[at].0 == 0).then(|| {
            self.free.push(at);
            std::mem::take(&mut self.items[at].1)
        })
    }
}

/// A call that makes a task and has not returned.
#[derive(Debug)]
struct Forking {
    parent: u32,
    flags: u32,
    /// The child, once it showed itself.
    child: Option<(i32, u32)>,
    /// The log told that it is the child.
    told: bool,
}

/// A task as rows of a block show it, found without a hash: by the last bits of its id.
#[derive(Debug, Clone, Copy)]
struct Cached {
    key: i64,
    sight: Sight,
    /// The block in which rows were told of it last, and its name there, as told by events.
    block: u64,
    comm: Option<u32>,
    /// The block in which rows had been told of a task that was here before.
    before: u64,
}

#[derive(Debug)]
struct TaskCache([Cached; 64]);

impl Default for TaskCache {
    fn default() -> Self {
        let sight = Sight::default();
        Self([Cached { key: NOBODY, sight, block: 0, comm: None, before: 0 }; 64])
    }
}

/// What rows show of a task.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sight {
    /// The task.
    pub task: TaskRef,
    /// Unique in this log.
    pub id: u32,
    /// Thread group.
    pub group: Option<i32>,
    /// See [`Tasks::has_exited`].
    pub exited: bool,
}

/// The key of no task.
const NOBODY: i64 = i64::MAX;

impl TaskCache {
    #[inline]
    fn at(key: i64) -> usize {
        (key & 63) as usize
    }

    /// What is known of the task holds no more. Says whether rows of `block` may have been told.
    fn forget(&mut self, key: i64, block: u64) -> bool {
        let near = &mut self.0[Self::at(key)];
        if near.key != key {
            return near.before == block;
        }
        let told = near.block == block;
        if told {
            near.before = block;
        }
        near.key = NOBODY;
        told
    }
}

/// How many calls that are over are kept, for their memory.
const SPARE: usize = 64;

/// How many tasks that exited are kept.
const EXITED: usize = 256;

/// All live tasks.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    slots: Vec<Option<Task>>,
    free: Vec<TaskRef>,
    by_tid: HashMap<i64, TaskRef, foldhash::fast::FixedState>,
    /// Those of them that showed themselves last.
    seen: TaskCache,
    /// Number of the block at hand, from 1.
    pub block: u64,
    /// Keys of tasks of which rows of that block were told something that holds no more.
    pub changed: Vec<i64>,
    tables: Shared<FdTable>,
    directories: Shared<Directories>,
    spaces: Shared<AddressSpace>,
    /// Open files of all tasks.
    pub files: OpenFileDescriptions,
    forking: VecDeque<Forking>,
    /// Children of which one event told, and their parents: another event will tell of them too.
    newborn: HashMap<i32, u32, foldhash::fast::FixedState>,
    /// Tasks that exited, the latest last: a task shows itself once more when it is switched away.
    exited: VecDeque<(i32, u32)>,
    /// The log tells of every child: there is nothing to guess.
    told: bool,
    next: u32,
    /// Some task has another root than that of the log's start.
    pub rooted: bool,
    /// Calls that are over: their memory is for the next ones.
    #[allow(clippy::vec_box)] // They go from here to their task as they are.
    spare: Vec<Box<Pending>>,
}

impl Tasks {
    /// The task with this id, made if it shows itself for the first time.
    #[inline]
    pub(crate) fn get_or_add(&mut self, tid: Option<i32>) -> TaskRef {
        self.sight(tid).task
    }

    /// The same, with what rows show of it.
    #[inline]
    pub(crate) fn sight(&mut self, tid: Option<i32>) -> Sight {
        let key = key(tid);
        let near = &self.seen.0[TaskCache::at(key)];
        if near.key == key { near.sight } else { self.look(tid, key) }
    }

    /// What rows of the block at hand were told of the task, and its name there, as told by events.
    #[inline]
    pub(crate) fn shown_in_block(&self, tid: Option<i32>) -> Option<(&Sight, Option<u32>)> {
        let key = key(tid);
        let near = &self.seen.0[TaskCache::at(key)];
        (near.key == key && near.block == self.block).then_some((&near.sight, near.comm))
    }

    /// Rows of the block at hand are told of the task from now on.
    pub(crate) fn show_in_block(&mut self, tid: Option<i32>, comm: Option<u32>) -> Sight {
        let sight = self.sight(tid);
        let near = &mut self.seen.0[TaskCache::at(key(tid))];
        (near.block, near.comm) = (self.block, comm);
        sight
    }

    /// What rows show of the task changes.
    pub(crate) fn change(&mut self, tid: Option<i32>) {
        let key = key(tid);
        if self.seen.forget(key, self.block) {
            self.changed.push(key);
        }
    }

    #[inline(never)]
    fn look(&mut self, tid: Option<i32>, key: i64) -> Sight {
        let task = match self.by_tid.get(&key) {
            Some(&task) => task,
            None => self.first_sight(tid),
        };
        let (id, group) = self.identity(task);
        let sight = Sight { task, id, group, exited: self.has_exited(task) };
        let near = &mut self.seen.0[TaskCache::at(key)];
        let before = if near.block == self.block { self.block } else { near.before };
        *near = Cached { key, sight, block: 0, comm: None, before };
        sight
    }

    fn task(&self, task: TaskRef) -> Option<&Task> {
        self.slots.get(task).and_then(Option::as_ref)
    }

    /// An unknown id is a child whose parent's call has not returned, if there is such a call: the
    /// oldest one; else a task older than the log.
    fn first_sight(&mut self, tid: Option<i32>) -> TaskRef {
        let next = self.next;
        let mut open = self.forking.iter_mut();
        let open = open.find(|forking| forking.child.is_none()).filter(|_| !self.told);
        if let (Some(tid), Some(forking)) = (tid, open) {
            forking.child = Some((tid, next));
            let (parent, flags) = (forking.parent, forking.flags);
            let parent = self
                .slots
                .iter()
                .position(|slot| slot.as_ref().is_some_and(|task| task.id == parent));
            return self.add(Some(tid), parent, flags);
        }
        let at = self.add(tid, None, 0);
        if let Some(task) = self.slots[at].as_mut() {
            task.unexpected = true;
        }
        at
    }

    fn add(&mut self, tid: Option<i32>, parent: Option<TaskRef>, flags: u32) -> TaskRef {
        let parent = parent.and_then(|parent| {
            self.task(parent).map(|task| (task.group, task.table, task.directory, task.space))
        });
        let (group, table, directory, space) =
            if let Some((group, table, directory, space)) = parent {
                let group = if flags & CLONE_THREAD != 0 { group } else { tid };
                let table = if flags & CLONE_FILES != 0 {
                    self.tables.keep(table)
                } else {
                    let copy = self.tables.items[table].1.copy(&mut self.files);
                    self.tables.add(copy)
                };
                let directory = self.directories.child(directory, flags & CLONE_FS != 0);
                (group, table, directory, self.spaces.child(space, flags & CLONE_VM != 0))
            } else {
                let table = self.older_table();
                let directory = self.directories.add(Directories::default());
                (tid, table, directory, self.spaces.add(AddressSpace::default()))
            };
        let task = Task {
            id: self.next,
            tid,
            group,
            table,
            directory,
            space,
            pending: None,
            closing: None,
            exited: false,
            unexpected: false,
        };
        self.next += 1;
        let at = if let Some(at) = self.free.pop() {
            self.slots[at] = Some(task);
            at
        } else {
            self.slots.push(Some(task));
            self.slots.len() - 1
        };
        self.by_tid.insert(key(tid), at);
        self.change(tid);
        at
    }

    /// The table of a task that is older than the log: its children share the descriptions of what
    /// every program has open, even if they use them first.
    fn older_table(&mut self) -> usize {
        let mut table = FdTable::default();
        for fd in 0..3 {
            let file = OpenFileDescription::inherited(Position::At(Offset::Relative(0)));
            table.open(&mut self.files, fd, file, false);
        }
        self.tables.add(table)
    }

    fn remove(&mut self, tid: Option<i32>) {
        self.change(tid);
        if let Some(tid) = tid {
            self.newborn.remove(&tid);
        }
        let Some(at) = self.by_tid.remove(&key(tid)) else { return };
        if let Some(task) = self.slots[at].take() {
            self.free.push(at);
            if let Some(mut pending) = task.pending {
                pending.abandon(&mut self.files);
            }
            self.spaces.release(task.space);
            if let Some((fd, slot)) = task.closing {
                self.tables.items[task.table].1.give_back(&mut self.files, fd, slot, false);
            }
            if let Some(mut table) = self.tables.release(task.table) {
                table.clear(&mut self.files);
            }
            self.directories.release(task.directory);
            self.forking.retain(|forking| forking.parent != task.id);
        }
    }

    /// Identity and thread group.
    #[inline]
    pub(crate) fn identity(&self, task: TaskRef) -> (u32, Option<i32>) {
        self.task(task).map_or((0, None), |task| (task.id, task.group))
    }

    /// The task's descriptors.
    #[inline]
    pub(crate) fn table(&mut self, task: TaskRef) -> &mut FdTable {
        let at = self.slots[task].as_ref().map_or(0, |task| task.table);
        &mut self.tables.items[at].1
    }

    /// A call that makes a task was entered.
    pub(crate) fn forking(&mut self, task: TaskRef, flags: u32) {
        let (parent, _) = self.identity(task);
        self.forking.retain(|forking| forking.parent != parent);
        self.forking.push_back(Forking { parent, flags, child: None, told: false });
    }

    /// It returned: `child` is the new task's id, `None` if it failed. Returns the identity.
    pub(crate) fn forked(&mut self, task: TaskRef, child: Option<i32>, flags: u32) -> Option<u32> {
        let (parent, _) = self.identity(task);
        let at = self.forking.iter().position(|forking| forking.parent == parent);
        let forking = at.and_then(|at| self.forking.remove(at));
        let tid = child.filter(|&tid| tid > 0)?;
        // What the call returns is an id of the caller's namespace, which may be another one.
        if let Some((_, id)) = forking.as_ref().filter(|forking| forking.told).and_then(|f| f.child)
        {
            return Some(id);
        }
        if let Some((_, id)) = forking.as_ref().and_then(|f| f.child).filter(|&(t, _)| t == tid) {
            return Some(id);
        }
        // Another call's child took this one's place: that call's is still to come.
        let mut taken = None;
        for other in &mut self.forking {
            if other.child.is_some_and(|(seen, _)| seen == tid) {
                taken = other.child.take();
            }
        }
        if let Some((wrong, _)) = forking.and_then(|f| f.child) {
            // And what was taken for this call's child is the other one's.
            let id = self.by_tid.get(&key(Some(wrong))).map(|&at| self.identity(at).0);
            if let (Some(id), Some(other)) =
                (id, self.forking.iter_mut().find(|other| other.child.is_none()))
            {
                other.child = Some((wrong, id));
            }
        }
        if let Some((_, id)) = taken {
            return Some(id);
        }
        // An id that is still taken has lost its exit in the log; but calls that are printed only as
        // they return (`strace -z`) let a child show itself before its maker is known.
        let early = self.by_tid(tid).filter(|&at| at != task);
        let early =
            early.and_then(|at| self.task(at)).filter(|task| task.unexpected && !task.exited);
        let early = early.map(|task| task.id);
        self.remove(Some(tid));
        let new = self.add(Some(tid), Some(task), flags);
        if let (Some(id), Some(task)) = (early, self.slots[new].as_mut()) {
            task.id = id;
            self.change(Some(tid));
        }
        Some(self.identity(new).0)
    }

    /// An event of `task` tells that it made task `child`.
    ///
    /// `first`: by `task_newtask`, which `sched_process_fork` may follow.
    pub(crate) fn appeared(&mut self, task: TaskRef, child: i32, flags: u32, first: bool) {
        self.told = true;
        let (parent, _) = self.identity(task);
        if self.task(task).is_none_or(|task| task.tid == Some(child)) {
            return;
        }
        if self.newborn.remove(&child) == Some(parent) && !first {
            return;
        }
        let forking = self.forking.iter().position(|forking| forking.parent == parent);
        let known = forking.and_then(|at| self.forking[at].child).filter(|known| known.0 == child);
        let id = if let Some((_, id)) = known {
            id
        } else {
            // An id that is still taken has lost its exit in the log.
            self.remove(Some(child));
            let flags = match forking {
                Some(at) if flags == 0 => self.forking[at].flags,
                _ => flags,
            };
            let new = self.add(Some(child), Some(task), flags);
            self.identity(new).0
        };
        // What had the id before may have been about to make a task itself.
        if let Some(forking) = self.forking.iter_mut().find(|forking| forking.parent == parent) {
            (forking.child, forking.told) = (Some((child, id)), true);
        }
        if first {
            self.newborn.insert(child, parent);
        }
    }

    /// The task's last sign of life has been seen.
    pub(crate) fn gone(&mut self, tid: Option<i32>) {
        self.remove(tid);
    }

    /// The task exited, but events may still name it. Its descriptors are closed.
    pub(crate) fn exited(&mut self, tid: Option<i32>) {
        let (Some(tid), Some(&at)) = (tid, self.by_tid.get(&key(tid))) else { return };
        let fresh = self.tables.add(FdTable::default());
        let Some(task) = self.slots[at].as_mut() else { return };
        let (table, id) = (std::mem::replace(&mut task.table, fresh), task.id);
        task.exited = true;
        let closing = task.closing.take();
        if let Some(mut pending) = task.pending.take() {
            pending.abandon(&mut self.files);
        }
        self.change(Some(tid));
        if let Some((fd, slot)) = closing {
            self.tables.items[table].1.give_back(&mut self.files, fd, slot, false);
        }
        if let Some(mut table) = self.tables.release(table) {
            table.clear(&mut self.files);
        }
        self.exited.push_back((tid, id));
        if self.exited.len() > EXITED
            && let Some((tid, id)) = self.exited.pop_front()
        {
            let known = self.by_tid.get(&key(Some(tid))).map(|&at| self.identity(at).0);
            if known == Some(id) {
                self.remove(Some(tid));
            }
        }
    }

    /// The task exited, and what shows itself with its id may be another one.
    #[inline]
    pub(crate) fn has_exited(&self, task: TaskRef) -> bool {
        self.task(task).is_some_and(|task| task.exited)
    }

    /// Thread `by` goes on as `tid`, the leader of its group, which is gone.
    pub(crate) fn superseded(&mut self, tid: Option<i32>, by: i32) {
        let Some(&at) = self.by_tid.get(&key(Some(by))) else { return };
        if tid == Some(by) {
            return;
        }
        self.remove(tid);
        self.by_tid.remove(&key(Some(by)));
        self.change(Some(by));
        if let Some(task) = self.slots[at].as_mut() {
            task.tid = tid;
            // After execve a process has one thread, whose id is its own.
            task.group = tid.or(task.group);
        }
        self.by_tid.insert(key(tid), at);
        self.change(tid);
    }

    /// A program was started: descriptors marked so are closed, in a table of its own; nothing is
    /// left of the address space.
    pub(crate) fn exec(&mut self, task: TaskRef) {
        self.unshare(task, CLONE_FILES);
        let Some((table, space)) = self.task(task).map(|task| (task.table, task.space)) else {
            return;
        };
        self.tables.items[table].1.exec(&mut self.files);
        self.spaces.release(space);
        let own = self.spaces.add(AddressSpace::fresh());
        if let Some(task) = self.slots[task].as_mut() {
            task.space = own;
        }
    }

    /// Where its paths start.
    #[inline]
    pub(crate) fn directories(&mut self, task: TaskRef) -> &mut Directories {
        let at = self.slots[task].as_ref().map_or(0, |task| task.directory);
        &mut self.directories.items[at].1
    }

    /// Its address space.
    pub(crate) fn space(&mut self, task: TaskRef) -> &mut AddressSpace {
        let at = self.slots[task].as_ref().map_or(0, |task| task.space);
        &mut self.spaces.items[at].1
    }

    /// A number for its address space, while that lives.
    pub(crate) fn address_space_number(&self, task: TaskRef) -> usize {
        self.task(task).map_or(0, |task| task.space)
    }

    /// The call that it is in, taken out.
    #[inline]
    pub(crate) fn take_pending(&mut self, task: TaskRef) -> Option<Box<Pending>> {
        self.slots[task].as_mut().and_then(|task| task.pending.take())
    }

    /// The call that it is in.
    pub(crate) fn pending(&mut self, task: TaskRef) -> Option<&mut Pending> {
        self.slots[task].as_mut().and_then(|task| task.pending.as_deref_mut())
    }

    /// A call without facts, for one that begins.
    #[inline]
    #[allow(clippy::unnecessary_box_returns)] // Its memory is what is handed out.
    pub(crate) fn spare(&mut self) -> Box<Pending> {
        self.spare.pop().unwrap_or_default()
    }

    /// It is in this call.
    pub(crate) fn put_pending(&mut self, task: TaskRef, pending: Box<Pending>) {
        let before = match self.slots[task].as_mut() {
            Some(task) => task.pending.replace(pending),
            None => Some(pending),
        };
        if let Some(before) = before {
            self.give_back(before);
        }
    }

    /// The call is over; what it still holds it holds no more.
    #[inline]
    pub(crate) fn give_back(&mut self, mut pending: Box<Pending>) {
        pending.abandon(&mut self.files);
        if self.spare.len() < SPARE {
            pending.clear();
            self.spare.push(pending);
        }
    }

    /// The live task with this id.
    pub(crate) fn by_tid(&self, tid: i32) -> Option<TaskRef> {
        self.by_tid.get(&key(Some(tid))).copied()
    }

    /// Others have the same table of descriptors.
    pub(crate) fn shares_table(&self, task: TaskRef) -> bool {
        let table = self.slots[task].as_ref().map(|task| task.table);
        table.is_some_and(|at| self.tables.items[at].0 > 1)
    }

    /// See [`FdTable::open`].
    pub(crate) fn open(
        &mut self,
        task: TaskRef,
        fd: i32,
        file: OpenFileDescription,
        cloexec: bool,
    ) -> Option<DescriptionRef> {
        let at = self.slots[task].as_ref().map_or(0, |task| task.table);
        self.tables.items[at].1.open(&mut self.files, fd, file, cloexec)
    }

    /// See [`FdTable::install`].
    pub(crate) fn install(&mut self, task: TaskRef, fd: i32, file: DescriptionRef, cloexec: bool) {
        let at = self.slots[task].as_ref().map_or(0, |task| task.table);
        self.tables.items[at].1.install(&mut self.files, fd, file, cloexec);
    }

    /// Shares no more what `flags` (clone flags) names.
    pub(crate) fn unshare(&mut self, task: TaskRef, flags: u32) {
        let Some((table, directory)) = self.task(task).map(|task| (task.table, task.directory))
        else {
            return;
        };
        if flags & CLONE_FILES != 0 && self.tables.items[table].0 > 1 {
            let copy = self.tables.items[table].1.copy(&mut self.files);
            self.tables.release(table);
            let own = self.tables.add(copy);
            if let Some(task) = self.slots[task].as_mut() {
                task.table = own;
            }
        }
        if flags & CLONE_FS != 0 && self.directories.items[directory].0 > 1 {
            let copy = self.directories.items[directory].1.clone();
            self.directories.release(directory);
            let own = self.directories.add(copy);
            if let Some(task) = self.slots[task].as_mut() {
                task.directory = own;
            }
        }
    }

    /// See [`FdTable::dup`].
    pub(crate) fn dup(&mut self, task: TaskRef, from: i32, to: i32, cloexec: bool) {
        let at = self.slots[task].as_ref().map_or(0, |task| task.table);
        self.tables.items[at].1.dup(&mut self.files, from, to, cloexec);
    }

    /// See [`FdTable::close`].
    pub(crate) fn close(&mut self, task: TaskRef, fd: i32) {
        let at = self.slots[task].as_ref().map_or(0, |task| task.table);
        self.tables.items[at].1.close(&mut self.files, fd);
    }

    /// A close begins whose end comes later: it may turn out to have been none.
    pub(crate) fn closing(&mut self, task: TaskRef, fd: i32) {
        self.closed(task, false);
        let at = self.slots[task].as_ref().map_or(0, |task| task.table);
        let taken = self.tables.items[at].1.take(fd).map(|slot| (fd, slot));
        if let Some(task) = self.slots[task].as_mut() {
            task.closing = taken;
        }
    }

    /// A close that began is over; `open`: it did not take place.
    pub(crate) fn closed(&mut self, task: TaskRef, open: bool) {
        if let Some(task) = self.slots[task].as_mut()
            && let Some((fd, slot)) = task.closing.take()
        {
            self.tables.items[task.table].1.give_back(&mut self.files, fd, slot, open);
        }
    }

    /// See [`FdTable::close_range`] and [`FdTable::mark_range`].
    pub(crate) fn close_range(&mut self, task: TaskRef, first: i32, last: i32, mark: bool) {
        let at = self.slots[task].as_ref().map_or(0, |task| task.table);
        if mark {
            self.tables.items[at].1.mark_range(first, last);
        } else {
            self.tables.items[at].1.close_range(&mut self.files, first, last);
        }
    }
}
