//! Tasks, from the call that made them to their end, and what they have: an fd table, directories,
//! an address space, a call under way.
//!
//! `fork.rs` makes tasks (`namespaces.rs` those with other numbers, `guesses.rs` those with several
//! possible parents; `hidden_children.rs` is about those whose calls are not in the log,
//! `unshown_flags.rs` about those that may be threads), `directories.rs` is about where their paths
//! start, `fd_tables.rs` about their descriptors, `number_races.rs` about numbers that several threads
//! use and change at once, `passed_descriptors.rs` about those that come from other tasks; `task_cache.rs` finds tasks by
//! id, `shared.rs` holds what several share, such as address spaces, `comm.rs` their names;
//! `effects.rs` is what calls do, `unseen_programs.rs` is about programs whose calls are missing.

pub(crate) mod comm;
pub(crate) mod directories;
pub(crate) mod effects;
mod fd_tables;
mod fork;
mod guesses;
mod hidden_children;
mod namespaces;
mod number_races;
mod passed_descriptors;
mod shared;
pub(crate) mod task_cache;
mod unseen_programs;
mod unshown_flags;

use std::collections::VecDeque;

use crate::hash::HashMap;

use crate::events::model_columns::task_key as key;
use crate::events::vocabulary::clone_flags::{
    CLONE_FILES, CLONE_FS, CLONE_NEWNS, CLONE_NEWPID, CLONE_THREAD, CLONE_VM, UNSHOWN,
};
use crate::kernel::address_space::AddressSpace;
use crate::kernel::descriptors::fd_table::{Descriptor, FdTable};
use crate::kernel::descriptors::open_file_description::OpenFileDescriptions;
use crate::kernel::files::length::Moment;
use crate::kernel::numbered::Numbered;
use crate::kernel::tasks::directories::Directories;
use crate::kernel::tasks::fork::Forking;
use crate::kernel::tasks::guesses::Guess;
use crate::kernel::tasks::namespaces::{Apart, Unseen};
use crate::kernel::tasks::number_races::Copying;
use crate::kernel::tasks::shared::{NEW, Shared};
use crate::kernel::tasks::task_cache::TaskCache;
use crate::kernel::transfers::calls_under_way::Pending;

/// Index of a live task in [`Tasks`]. It is used again; the number that rows show is not.
pub(crate) type TaskRef = usize;

#[derive(Debug)]
struct Task {
    /// Unique in this log.
    id: u32,
    tid: Option<i32>,
    /// Thread group id; None while nobody can know it.
    group: Option<i32>,
    table: usize,
    directory: usize,
    space: usize,
    /// The call that it is in.
    pending: Option<Box<Pending>>,
    /// The descriptor that a close under way has taken out of the table.
    closing: Option<(i32, Descriptor)>,
    /// It has exited; events may still name it.
    exited: bool,
    /// It appeared while no call that makes a task was under way.
    unexpected: bool,
    /// It is in another pid namespace than strace: calls that make a task return other numbers
    /// than the lines of the child show (`pid_namespaces(7)`).
    foreign: bool,
    /// Which pid namespace it is in: 0 for that of the first task.
    pids: u64,
    /// Its number there, if another one than strace's, and proved.
    inside: Option<i32>,
    /// A call has returned its number, and no line has shown it.
    silent: bool,
    /// In which its children will be.
    children: ChildPids,
    /// Its calls may not be in the log.
    hidden: bool,
    /// Its parent is guessed.
    guess: Option<Box<Guess>>,
}

/// The pid namespace of a task's children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChildPids {
    /// That of the task.
    Own,
    /// A new one, which the first child makes: unshare(2) with `CLONE_NEWPID`.
    New,
    /// Another one that has tasks: after that child, or `setns(2)`.
    Other,
}

/// How many records of calls are kept for reuse.
const SPARE: usize = 64;

/// How many tasks that have exited are kept.
const EXITED: usize = 256;

/// All live tasks.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    slots: Numbered<Task>,
    by_tid: HashMap<i64, TaskRef>,
    /// The tasks that appeared last.
    seen: TaskCache,
    /// Number of the block at hand, from 1.
    pub block: u64,
    /// Keys of tasks whose columns have changed since rows of that block showed them.
    pub changed: Vec<i64>,
    tables: Shared<FdTable>,
    directories: Shared<Directories>,
    /// How many directories were looked at because one was renamed.
    looked_at: usize,
    spaces: Shared<AddressSpace>,
    /// Open file descriptions of all tasks.
    pub files: OpenFileDescriptions,
    forking: VecDeque<Forking>,
    /// Calls that have copied an fd table and may not be over, in a log in several files.
    copying: Vec<Copying>,
    /// When the call at hand was entered, if it makes descriptors.
    pub since: Moment,
    /// Children with numbers of other pid namespaces that have not shown themselves; the oldest
    /// first.
    unseen: VecDeque<Unseen>,
    /// How numbers of tasks in pid namespaces differ from those that strace has.
    apart: HashMap<u64, Apart>,
    /// Children that `task_newtask` has shown, and their parents: `sched_process_fork` will show
    /// them again.
    newborn: HashMap<i32, u32>,
    /// Tasks that have exited, the latest last. They run once more until they are switched away.
    exited: VecDeque<(i32, u32)>,
    /// Events show every child, so nothing has to be inferred.
    events_show_children: bool,
    next: u32,
    /// A path may lead one task to another file than others: some task has another root directory
    /// than at the start of the log, or mounts of its own, or something was mounted.
    pub rooted: bool,
    /// Records of calls that are over, for reuse.
    #[allow(clippy::vec_box)] // They go from here to their task as they are.
    spare: Vec<Box<Pending>>,
    /// The log does not show the order of calls of different tasks.
    unordered: bool,
    /// The log of each task is in a file of its own.
    pub separate: bool,
    /// The log has each task from the call that makes it on, but for the first one.
    followed: bool,
    /// There are calls that make tasks.
    forks: bool,
    /// Only tasks are in the log that strace has attached to, and their children.
    pub attached: bool,
    /// A task has used a descriptor that no call of the log has made.
    lacks_dups: bool,
    /// Of how many tasks the parent is guessed.
    pub guesses: usize,
    /// How many tasks are silent.
    silent: usize,
    /// No child has shown itself, and calls of children may not be in the log.
    pub hides_children: bool,
    /// The highest number of a child that a call has returned.
    highest: i32,
    /// Calls of some task are not in the log any more.
    left: bool,
    /// A supervisor of seccomp may decide what calls return: a descriptor that it has put there.
    pub supervised: bool,
}

impl Tasks {
    fn task(&self, task: TaskRef) -> Option<&Task> {
        self.slots.get(task)
    }

    fn task_mut(&mut self, task: TaskRef) -> Option<&mut Task> {
        self.slots.get_mut(task)
    }

    fn add(&mut self, tid: Option<i32>, parent: Option<TaskRef>, flags: u32) -> TaskRef {
        if self.unordered {
            self.share(parent, flags);
        }
        let maker = parent;
        let parent = parent.and_then(|parent| self.task(parent));
        let makes_space = flags & CLONE_NEWPID != 0;
        let children = parent.map_or(ChildPids::Own, |parent| parent.children);
        let separates = children != ChildPids::Own || makes_space;
        let foreign = parent.is_some_and(|parent| parent.foreign || separates);
        let outside = parent.is_some_and(|parent| !parent.foreign);
        let first = makes_space || children == ChildPids::New;
        // With the flag each child has a namespace of its own. After unshare(2) the first child of a
        // task makes the namespace, and the others are in it, too.
        let pids = match parent {
            _ if makes_space => u64::from(self.next) << 1 | 1,
            Some(parent) if separates => (u64::from(parent.id) + 1) << 1,
            Some(parent) => parent.pids,
            None => 0,
        };
        let parent = parent.map(|parent| (parent.group, parent.table));
        if let Some(maker) = maker.and_then(|maker| self.task_mut(maker))
            && first
            && !makes_space
        {
            maker.children = ChildPids::Other;
        }
        let first = first && outside;
        if let (true, Some(tid)) = (first, tid) {
            self.number_shown(pids, 1, tid);
        }
        let (group, table, directory, space) =
            if let (Some(maker), Some((group, table))) = (maker, parent) {
                let group = if flags & CLONE_THREAD != 0 { group } else { tid };
                let table = if flags & CLONE_FILES != 0 {
                    self.tables.keep(table)
                } else {
                    self.copy_for_child(table)
                };
                let directory = self.directories_of_child(maker, flags);
                (group, table, directory, self.space_of_child(maker, flags))
            } else {
                (tid, self.older_table(), NEW, NEW)
            };
        let table_of_parent = parent.map(|(_, table)| table);
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
            foreign,
            pids,
            inside: first.then_some(1),
            silent: false,
            children: ChildPids::Own,
            hidden: false,
            guess: None,
        };
        self.next += 1;
        let at = self.slots.add(task);
        self.by_tid.insert(key(tid), at);
        if let (true, Some(parent)) = (self.separate, maker) {
            self.copied(parent, at);
        }
        self.change(tid);
        if flags & UNSHOWN != 0
            && let Some(table_of_parent) = table_of_parent
        {
            self.may_share(at, table_of_parent);
        }
        at
    }

    /// A new task may use the descriptions of `parent`, and change files that others have open, in an
    /// order that the log does not show.
    #[cold]
    fn share(&mut self, parent: Option<TaskRef>, flags: u32) {
        if self.next > 0 {
            self.files.inodes.lose_order();
        }
        if let Some(at) = parent.and_then(|parent| self.task(parent)).map(|task| task.table) {
            let table = &mut self.tables[at];
            table.lose_order(&mut self.files);
            table.unordered |= flags & CLONE_FILES != 0;
        }
    }

    /// The log does not show, from here on, the order of calls of different tasks.
    #[cold]
    pub(crate) fn lose_order(&mut self) {
        if std::mem::replace(&mut self.unordered, true) || self.next == 0 {
            return;
        }
        self.files.inodes.lose_order();
        for (_, users, table) in self.tables.iter_mut() {
            table.lose_order(&mut self.files);
            table.unordered = users > 1;
        }
    }

    fn remove(&mut self, tid: Option<i32>) {
        self.change(tid);
        if let Some(tid) = tid {
            self.newborn.remove(&tid);
        }
        if let Some(at) = self.by_tid.remove(&key(tid)) {
            self.remove_at(at);
        }
    }

    fn remove_at(&mut self, at: TaskRef) {
        self.shares_no_more(at);
        if let Some(task) = self.slots.remove(at) {
            self.unseen.retain(|unseen| unseen.id != task.id);
            self.silent -= usize::from(task.silent);
            if let Some(mut pending) = task.pending {
                pending.abandon(&mut self.files);
            }
            if let Some(guess) = task.guess {
                self.guesses -= 1;
                guess.end(&mut self.files);
            }
            self.spaces.release(task.space);
            if let Some((fd, slot)) = task.closing {
                self.tables[task.table].give_back(&mut self.files, fd, slot, false);
            }
            if let Some(mut table) = self.tables.release(task.table) {
                table.clear(&mut self.files);
            }
            self.directories.release(task.directory);
            self.copying.retain(|copying| !copying.is_of(at));
            self.forking.retain(|forking| forking.parent != task.id);
        }
    }

    /// The log has ended, and with it these tasks.
    pub(crate) fn end(&mut self, tids: impl Iterator<Item = Option<i32>>) {
        self.forking.clear();
        self.unseen.clear();
        tids.for_each(|tid| self.remove(tid));
        self.slots.shrink();
        self.tables.shrink();
        self.directories.shrink();
        self.spaces.shrink();
        self.files.files.shrink();
    }

    /// Number and thread group.
    #[inline]
    pub(crate) fn identity(&self, task: TaskRef) -> (u32, Option<i32>) {
        self.task(task).map_or((0, None), |task| (task.id, task.group))
    }

    /// The task is gone.
    pub(crate) fn gone(&mut self, tid: Option<i32>) {
        self.remove(tid);
    }

    /// The task has exited, and its descriptors are closed. Events may still name it.
    pub(crate) fn exited(&mut self, tid: Option<i32>) {
        let (Some(tid), Some(&at)) = (tid, self.by_tid.get(&key(tid))) else { return };
        self.shares_no_more(at);
        let fresh = self.tables.add(FdTable::default());
        let Some(task) = self.task_mut(at) else { return };
        let (table, id) = (std::mem::replace(&mut task.table, fresh), task.id);
        task.exited = true;
        let closing = task.closing.take();
        if let Some(mut pending) = task.pending.take() {
            pending.abandon(&mut self.files);
        }
        self.change(Some(tid));
        if let Some((fd, slot)) = closing {
            self.tables[table].give_back(&mut self.files, fd, slot, false);
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

    /// Whether the task has exited: what appears with its id next may be another one.
    #[inline]
    pub(crate) fn has_exited(&self, task: TaskRef) -> bool {
        self.task(task).is_some_and(|task| task.exited)
    }

    /// Thread `by`, which called execve, goes on under the id of its leader, `tid`: execve(2).
    pub(crate) fn superseded(&mut self, tid: Option<i32>, by: i32) {
        let Some(&at) = self.by_tid.get(&key(Some(by))) else { return };
        if tid == Some(by) {
            return;
        }
        self.remove(tid);
        self.by_tid.remove(&key(Some(by)));
        self.change(Some(by));
        if let Some(task) = self.task_mut(at) {
            task.tid = tid;
            // After execve a process has one thread, whose id is that of the process.
            task.group = tid.or(task.group);
        }
        self.by_tid.insert(key(tid), at);
        self.change(tid);
    }

    /// A program was started: the fd table becomes the task's own, descriptors marked close-on-exec
    /// are closed, and the address space is a new one (`begin_new_exec` in fs/exec.c).
    pub(crate) fn exec(&mut self, task: TaskRef) {
        self.unshare(task, CLONE_FILES);
        self.shares_no_more(task);
        let Some((table, space)) = self.task(task).map(|task| (task.table, task.space)) else {
            return;
        };
        self.tables[table].exec(&mut self.files);
        self.spaces.release(space);
        let own = self.spaces.add(AddressSpace::fresh());
        if let Some(task) = self.task_mut(task) {
            task.space = own;
            if let Some(guess) = task.guess.as_mut() {
                guess.started = true;
            }
        }
    }

    /// Where its paths start.
    #[inline]
    pub(crate) fn directories(&mut self, task: TaskRef) -> &mut Directories {
        let (at, moves) = (self.number_of_directories(task), self.files.moves);
        let directories = &mut self.directories[at];
        if directories.moves != moves {
            directories.moves = moves;
            if directories.working.is_some() {
                directories.lose();
            }
        }
        directories
    }

    /// Its address space.
    pub(crate) fn space(&mut self, task: TaskRef) -> &mut AddressSpace {
        let at = self.address_space_number(task);
        &mut self.spaces[at]
    }

    /// Its address space, if something has happened in that.
    pub(crate) fn known_space(&self, task: TaskRef) -> Option<&AddressSpace> {
        self.spaces.get(self.task(task)?.space)
    }

    /// The task opens or uses a file. No loader and no C library does that before it has memory, so
    /// a program without any call for that shows that not all calls were traced.
    #[inline]
    pub(crate) fn expect_set_up(&mut self, task: TaskRef) {
        if !self.files.is_filtered()
            && self.known_space(task).is_some_and(AddressSpace::lacks_set_up)
        {
            self.files.filter();
        }
    }

    /// The task opens a file. Without `-f` no child does, and the log does not show what children
    /// write.
    #[inline]
    pub(crate) fn opens(&mut self, task: TaskRef) {
        if self.followed && !self.files.inodes.remembers {
            self.files.inodes.remembers = self.identity(task).0 != 0;
        }
    }

    /// A program was started. If strace started it, it follows all tasks from there on.
    pub(crate) fn started(&mut self) {
        self.followed |= self.next == 1;
        self.files.inodes.remembers = self.followed && !self.forks;
    }

    /// A number of its address space, unique among the live ones.
    pub(crate) fn address_space_number(&mut self, task: TaskRef) -> usize {
        self.slots.get_mut(task).map_or(0, |task| self.spaces.number(&mut task.space))
    }

    fn number_of_directories(&mut self, task: TaskRef) -> usize {
        self.slots.get_mut(task).map_or(0, |task| self.directories.number(&mut task.directory))
    }

    /// What a child of `parent` gets that was made with these flags.
    fn directories_of_child(&mut self, parent: TaskRef, flags: u32) -> usize {
        let at = self.slots.get_mut(parent).map(|task| &mut task.directory);
        let mut at = at.map_or(NEW, |at| self.directories.child(at, flags & CLONE_FS != 0));
        if flags & CLONE_NEWNS != 0 {
            let own = self.directories.number(&mut at);
            self.leave_mounts_at(own);
        }
        at
    }

    /// What a child of `parent` gets that was made with these flags.
    fn space_of_child(&mut self, parent: TaskRef, flags: u32) -> usize {
        let at = self.slots.get_mut(parent).map(|task| &mut task.space);
        at.map_or(NEW, |at| self.spaces.child(at, flags & CLONE_VM != 0))
    }

    /// Takes out the call that it is in.
    #[inline]
    pub(crate) fn take_pending(&mut self, task: TaskRef) -> Option<Box<Pending>> {
        self.task_mut(task).and_then(|task| task.pending.take())
    }

    /// The call that it is in.
    pub(crate) fn pending(&mut self, task: TaskRef) -> Option<&mut Pending> {
        self.task_mut(task).and_then(|task| task.pending.as_deref_mut())
    }

    /// An empty record for a call.
    #[inline]
    #[allow(clippy::unnecessary_box_returns)] // Its memory is what is handed out.
    pub(crate) fn spare(&mut self) -> Box<Pending> {
        self.spare.pop().unwrap_or_default()
    }

    /// The task is in this call.
    pub(crate) fn put_pending(&mut self, task: TaskRef, pending: Box<Pending>) {
        let before = match self.task_mut(task) {
            Some(task) => task.pending.replace(pending),
            None => Some(pending),
        };
        if let Some(before) = before {
            self.give_back(before);
        }
    }

    /// The call is over: releases what it still holds, and keeps the record for reuse.
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
        self.known(Some(tid))
    }

    /// The live task with this id, if it has one.
    pub(crate) fn known(&self, tid: Option<i32>) -> Option<TaskRef> {
        self.by_tid.get(&key(tid)).copied()
    }

    /// Its children will be in another pid namespace: `setns(2)`.
    pub(crate) fn separate(&mut self, task: TaskRef) {
        if let Some(task) = self.task_mut(task) {
            task.children = ChildPids::Other;
        }
    }

    /// Whether it is in another pid namespace than strace.
    pub(crate) fn is_foreign(&self, task: TaskRef) -> bool {
        self.task(task).is_some_and(|task| task.foreign)
    }

    /// Ends the sharing of what `flags` (clone flags) names: unshare(2).
    pub(crate) fn unshare(&mut self, task: TaskRef, flags: u32) {
        let Some((table, directory)) = self.task(task).map(|task| (task.table, task.directory))
        else {
            return;
        };
        if flags & CLONE_NEWPID != 0
            && let Some(task) = self.task_mut(task)
        {
            task.children = ChildPids::New;
        }
        if flags & CLONE_FILES != 0 && self.tables.users(table) > 1 {
            let own = self.copy_table(table);
            self.tables.release(table);
            if let Some(task) = self.task_mut(task) {
                task.table = own;
            }
        }
        if flags & CLONE_FS != 0 && self.directories.users(directory) > 1 {
            let copy = self.directories[directory].clone();
            self.directories.release(directory);
            let own = self.directories.add(copy);
            if let Some(task) = self.task_mut(task) {
                task.directory = own;
            }
        }
        if flags & CLONE_NEWNS != 0 {
            self.leave_mounts(task);
        }
    }
}
