//! Children in other pid namespaces than strace.
//!
//! There a call that makes a task returns the number that the child has in the namespace of its
//! parent, and the lines of the child show another one: `pid_namespaces(7)`. So a task that appears
//! is the child of a call whose number has not appeared. Where that may be several calls, it is
//! taken for the child of the oldest in the oldest one's namespace, and the descriptions that only
//! some of them have may be used by it unseen. The kernel counts up (`alloc_pid` in kernel/pid.c),
//! so the oldest child of a namespace is the one with the lowest number.

use crate::events::model_columns::task_key as key;
use crate::kernel::descriptors::open_file_description::DescriptionRef;
use crate::kernel::tasks::{TaskRef, Tasks};
use crate::kernel::transfers::position::Position;

/// A child that a call has returned, and whose lines have not come.
#[derive(Debug)]
pub(crate) struct Unseen {
    /// What the call returned.
    pub(crate) number: i32,
    /// Number of the task, unique in the log.
    pub(crate) id: u32,
    at: TaskRef,
}

/// How many such children are remembered.
const UNSEEN: usize = 256;

/// Lower numbers are not used again (`RESERVED_PIDS` in kernel/pid.c): a task with a higher one that
/// makes a task with a lower one is in a namespace of its own.
const RESERVED: i32 = 300;

impl Tasks {
    /// Whether calls of the task, one of which has returned `child`, return numbers of another
    /// namespace.
    pub(crate) fn has_foreign_children(&mut self, task: TaskRef, child: i32) -> bool {
        let Some(task) = self.slots[task].as_mut() else { return false };
        task.foreign |= child < RESERVED && task.tid.is_some_and(|tid| tid >= RESERVED);
        task.foreign
    }

    /// A call of such a task has returned `number`; `seen`: id and number of a task that was taken
    /// for its child. Returns the number of the child in the log.
    pub(crate) fn forked_elsewhere(
        &mut self,
        parent: TaskRef,
        number: i32,
        flags: u32,
        seen: Option<(i32, u32)>,
    ) -> u32 {
        if let Some((_, id)) = seen {
            return id;
        }
        if let Some(id) = self.adopt(parent, flags) {
            return id;
        }
        // The number may be that of a task that strace sees under the same one.
        let other = self.by_tid.remove(&key(Some(number)));
        let at = self.add(Some(number), Some(parent), flags);
        if let Some(other) = other {
            self.by_tid.insert(key(Some(number)), other);
            self.change(Some(number));
        }
        let (id, _) = self.identity(at);
        if self.unseen.len() == UNSEEN
            && let Some(oldest) = self.unseen.pop_front()
            && self.by_tid.get(&key(Some(oldest.number))) != Some(&oldest.at)
        {
            self.remove_at(oldest.at);
        }
        self.unseen.push_back(Unseen { number, id, at });
        id
    }

    /// Calls that are printed only when they return (`strace -z`) let a child appear before its
    /// parent's call: if one task has, it is the child.
    fn adopt(&mut self, parent: TaskRef, flags: u32) -> Option<u32> {
        let (older, _) = self.identity(parent);
        let mut early = self
            .slots
            .iter()
            .flatten()
            .filter(|task| task.unexpected && !task.exited && task.id > older);
        let (child, None) = (early.next()?, early.next()) else { return None };
        let (tid, id) = (child.tid, child.id);
        self.remove(tid);
        let at = self.add(tid, Some(parent), flags);
        if let Some(task) = self.slots[at].as_mut() {
            task.id = id;
        }
        self.change(tid);
        Some(id)
    }

    /// A call has returned the number of the task.
    pub(crate) fn keep_silent(&mut self, task: TaskRef) {
        if let Some(task) = self.slots[task].as_mut() {
            task.silent = true;
            self.silent += 1;
        }
    }

    /// A task appears that no call has made as far as the log shows. It may be older than the log,
    /// but then its number is lower than those of new tasks. Otherwise it may be a child that has
    /// not shown itself under the number that a call returned: strace may be attached to a
    /// container. Then it has the child's descriptions.
    pub(crate) fn doubt_silent(&mut self, tid: i32) {
        let mut open: Vec<DescriptionRef> = Vec::new();
        for task in self.slots.iter_mut().flatten() {
            if task.silent && !task.exited && task.tid.is_some_and(|number| number < tid) {
                task.silent = false;
                self.silent -= 1;
                let table = &self.tables.items[task.table].1;
                open.extend(table.all().map(|(_, file)| file));
            }
        }
        open.sort_unstable();
        open.dedup();
        for file in open {
            self.doubt(file);
        }
    }

    /// Calls of another task may use the description unseen from now on.
    fn doubt(&mut self, file: DescriptionRef) {
        if let Some(file) = self.files.get(file)
            && file.position != Position::None
        {
            // As if a call were under way that never ends.
            file.in_progress.begin();
        }
    }

    /// A row shows the task.
    #[inline]
    pub(crate) fn showed(&mut self, task: TaskRef) {
        if self.hides_children && self.task(task).is_some_and(|task| task.hidden) {
            self.child_shows();
        }
        if self.silent > 0
            && let Some(task) = self.slots[task].as_mut()
        {
            self.silent -= usize::from(std::mem::take(&mut task.silent));
        }
        if !self.unseen.is_empty() {
            self.unseen.retain(|unseen| unseen.at != task);
        }
    }

    /// The task for an id that appears for the first time, if a call has returned it under another
    /// number.
    pub(crate) fn first_sight_of_unseen(&mut self, tid: i32) -> Option<TaskRef> {
        if self.unseen.is_empty() || self.events_show_children {
            return None;
        }
        let open = self.forking.iter().filter(|forking| forking.child.is_none()).count();
        let exact = self.unseen.iter().position(|unseen| unseen.number == tid);
        if exact.is_none() && self.unseen.len() + open > 1 {
            self.doubt_descriptions();
        }
        let Unseen { number, at, .. } = self.unseen.remove(exact.unwrap_or(self.oldest()))?;
        let old = key(Some(number));
        if self.by_tid.get(&old) == Some(&at) {
            self.by_tid.remove(&old);
            self.change(Some(number));
        }
        let task = self.slots[at].as_mut()?;
        task.tid = Some(tid);
        if task.group == Some(number) {
            task.group = Some(tid);
        }
        self.by_tid.insert(key(Some(tid)), at);
        self.change(Some(tid));
        Some(at)
    }

    /// The place of the oldest child of those in one namespace. In logs of `-ff` without times all
    /// calls of the parent come before those of its first child.
    fn oldest(&self) -> usize {
        let pids = |unseen: &Unseen| self.slots[unseen.at].as_ref().map(|task| task.pids);
        let space = self.unseen.front().and_then(pids);
        let same = self.unseen.iter().enumerate().filter(|(_, unseen)| pids(unseen) == space);
        same.min_by_key(|(_, unseen)| unseen.number).map_or(0, |(at, _)| at)
    }

    /// Which of several children a task is remains open. What only some of them have under a number
    /// may be used by calls of another task from now on.
    fn doubt_descriptions(&mut self) {
        let parents = self.forking.iter().filter(|forking| forking.child.is_none());
        let parents = parents.filter_map(|forking| {
            self.slots.iter().flatten().find(|task| task.id == forking.parent)
        });
        let children = self.unseen.iter().filter_map(|unseen| self.slots[unseen.at].as_ref());
        let mut tables: Vec<usize> = parents.chain(children).map(|task| task.table).collect();
        for (_, file) in self.only_some(&mut tables) {
            self.doubt(file);
        }
    }
}
