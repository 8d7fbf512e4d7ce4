//! Tasks that are made: by fork, vfork, clone and clone3, or by events that show it.
//!
//! A child may appear in the log before the call of its parent returns. It is then the child of the
//! oldest such call under way, until a return value or an event says otherwise.

use crate::events::vocabulary::clone_flags::{CLONE_PIDFD, UNSHOWN};
use crate::kernel::tasks::number_races::TableUnderCopy;
use crate::kernel::tasks::{TaskRef, Tasks};

/// A call under way that makes a task.
#[derive(Debug)]
pub(crate) struct Forking {
    pub(crate) parent: u32,
    pub(crate) flags: u32,
    /// Id and number of the child, once it appeared.
    pub(crate) child: Option<(i32, u32)>,
    /// An event has shown that it is the child.
    pub(crate) confirmed: bool,
    /// A task that is gone may have been the child.
    pub(crate) unproved: bool,
    /// The fd table that it copies, if several tasks use it.
    pub(crate) copies: Option<TableUnderCopy>,
}

impl Tasks {
    /// The task for an unknown id: the child of the oldest call under way that makes one and has
    /// none yet; else a task older than the log.
    pub(crate) fn first_sight(&mut self, tid: Option<i32>) -> TaskRef {
        if let Some(tid) = tid.filter(|_| self.hides_children) {
            self.may_be_child(tid);
        }
        if let Some(task) = tid.and_then(|tid| self.first_sight_of_unseen(tid)) {
            return task;
        }
        let next = self.next;
        let parents = if self.forking.len() < 2 { Vec::new() } else { self.possible_parents() };
        let mut open = self.forking.iter_mut();
        let open =
            open.find(|forking| forking.child.is_none()).filter(|_| !self.events_show_children);
        if let (Some(tid), Some(forking)) = (tid, open) {
            forking.child = Some((tid, next));
            let (parent, flags) = (forking.parent, forking.flags);
            let parent = self.by_number(parent);
            let child = self.add(Some(tid), parent, flags);
            if parents.len() > 1 {
                self.guess(child, parents);
            }
            return child;
        }
        // strace follows a task only from the call that makes it, which was not traced then.
        if self.followed && !self.forks && !self.unordered {
            self.files.filter();
        }
        if let Some(tid) = tid.filter(|_| self.silent > 0) {
            self.doubt_silent(tid);
        }
        let at = self.add(tid, None, 0);
        if let Some(task) = self.task_mut(at) {
            task.unexpected = true;
        }
        at
    }

    /// A call that makes a task is entered.
    pub(crate) fn forking(&mut self, task: TaskRef, flags: u32) {
        let (parent, _) = self.identity(task);
        self.forking.retain(|forking| forking.parent != parent);
        if !std::mem::replace(&mut self.forks, true) {
            self.files.inodes.remembers = false;
        }
        let copies = self.begin_copy(task, flags);
        self.forking.push_back(Forking {
            parent,
            flags,
            child: None,
            confirmed: false,
            unproved: false,
            copies,
        });
    }

    /// Such a call has returned: `child` is the id of the new task, `None` if the call failed.
    /// `translated`: the id is that of strace's pid namespace (`--decode-pids=pidns`). Returns the
    /// number of the new task.
    pub(crate) fn forked(
        &mut self,
        task: TaskRef,
        child: Option<i32>,
        flags: u32,
        translated: bool,
    ) -> Option<u32> {
        if flags & (CLONE_PIDFD | UNSHOWN) != 0 {
            self.may_make_any(task);
        }
        let (parent, _) = self.identity(task);
        let made = self.returned(task, parent, child, flags, translated);
        // What has a number of another namespace may be its child.
        if made.is_none_or(|_| translated || self.task(task).is_none_or(|task| !task.foreign)) {
            self.rule_out(parent);
        }
        made
    }

    fn returned(
        &mut self,
        task: TaskRef,
        parent: u32,
        child: Option<i32>,
        flags: u32,
        translated: bool,
    ) -> Option<u32> {
        let at = self.forking.iter().position(|forking| forking.parent == parent);
        let forking = at.and_then(|at| self.forking.remove(at));
        let seen = forking.as_ref().and_then(|forking| forking.child);
        let Some(tid) = child.filter(|&tid| tid > 0) else {
            if let Some(wrong) = seen {
                self.reassign(wrong);
            }
            return None;
        };
        // The return value is the id in the pid namespace of the caller, which may be another one:
        // pid_namespaces(7). What an event has shown goes before it.
        if let Some((_, id)) =
            forking.as_ref().filter(|forking| forking.confirmed).and_then(|f| f.child)
        {
            return Some(id);
        }
        self.highest = self.highest.max(tid);
        if let Some((_, id)) = seen.filter(|&(seen, _)| seen == tid) {
            self.is_child();
            self.guessed_right(id);
            return Some(id);
        }
        if self.hides_children {
            self.hide_from(task, flags);
        }
        if !translated && self.has_foreign_children(task, tid) {
            let child = self.forked_elsewhere(task, tid, flags, seen);
            if forking.is_some_and(|forking| forking.unproved) {
                self.may_have_more(child);
            }
            return Some(child);
        }
        // The child was taken for that of another call, whose own child has not appeared yet.
        let mut taken = None;
        for other in &mut self.forking {
            if other.child.is_some_and(|(seen, _)| seen == tid) {
                taken = other.child.take();
            }
        }
        if let Some(wrong) = seen {
            self.reassign(wrong);
        }
        if let Some((_, id)) = taken {
            self.is_child();
            self.guessed_wrong(id, task, flags);
            return Some(id);
        }
        // If the id is in use, the exit of its task is missing in the log. But calls that are
        // printed only when they return (`strace -z`) let a child appear before its parent's call.
        let early = self.by_tid(tid).filter(|&at| at != task);
        let early =
            early.and_then(|at| self.task(at)).filter(|task| task.unexpected && !task.exited);
        let early = early.map(|task| task.id);
        if early.is_some() {
            self.is_child();
        }
        if early.is_some() && !self.separate {
            self.lose_order();
        }
        self.remove(Some(tid));
        let new = self.add(Some(tid), Some(task), flags);
        if self.hides_children {
            self.hide(new);
        }
        if let (Some(id), Some(task)) = (early, self.task_mut(new)) {
            task.id = id;
            self.change(Some(tid));
        } else if self.attached && !self.followed && !self.unordered {
            self.keep_silent(new);
        }
        Some(self.identity(new).0)
    }

    /// An event of `task` shows that it made task `child`.
    ///
    /// `first`: the event is `task_newtask`, which `sched_process_fork` may follow (kernel/fork.c).
    pub(crate) fn appeared(&mut self, task: TaskRef, child: i32, flags: u32, first: bool) {
        self.events_show_children = true;
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
            // If the id is in use, the exit of its task is missing in the log.
            self.remove(Some(child));
            let flags = match forking {
                _ if first => flags,
                Some(at) => self.forking[at].flags,
                None => UNSHOWN,
            };
            let new = self.add(Some(child), Some(task), flags);
            self.identity(new).0
        };
        // After `remove`, as the old task of this id may have been in such a call itself.
        if let Some(forking) = self.forking.iter_mut().find(|forking| forking.parent == parent) {
            (forking.child, forking.confirmed) = (Some((child, id)), true);
        }
        if first {
            self.newborn.insert(child, parent);
        }
    }
}
