//! Tasks that are made.

use crate::events::model_columns::task_key as key;
use crate::kernel::tasks::{TaskRef, Tasks};

/// A call that makes a task and has not returned.
#[derive(Debug)]
pub(super) struct Forking {
    pub(super) parent: u32,
    pub(super) flags: u32,
    /// The child, once it showed itself.
    pub(super) child: Option<(i32, u32)>,
    /// The log told that it is the child.
    pub(super) told: bool,
}

impl Tasks {
    /// An unknown id is a child whose parent's call has not returned, if there is such a call: the
    /// oldest one; else a task older than the log.
    pub(super) fn first_sight(&mut self, tid: Option<i32>) -> TaskRef {
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
}
