//! Tasks by id, with what rows show of them: a small cache before the hash table, as most rows
//! belong to the few tasks that ran last.

use crate::events::model_columns::task_key as key;
use crate::kernel::tasks::{TaskRef, Tasks};

/// An entry of the cache, which the last bits of the id select.
#[derive(Debug, Clone, Copy)]
struct Cached {
    key: i64,
    sight: Sight,
    /// The last block whose rows have shown the task, and its name in there, if events have shown
    /// that.
    block: u64,
    comm: Option<u32>,
    /// The last block whose rows have shown a task that had this entry before.
    before: u64,
}

#[derive(Debug)]
pub(crate) struct TaskCache([Cached; 64]);

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
    /// Number of the task, unique in this log.
    pub id: u32,
    /// Thread group id.
    pub group: Option<i32>,
    /// See [`Tasks::has_exited`].
    pub exited: bool,
}

/// The key of an empty entry.
const NOBODY: i64 = i64::MAX;

impl TaskCache {
    #[inline]
    pub(crate) fn at(key: i64) -> usize {
        (key & 63) as usize
    }

    /// Forgets the task. Returns whether rows of `block` may have shown it.
    pub(crate) fn forget(&mut self, key: i64, block: u64) -> bool {
        let near = &mut self.0[Self::at(key)];
        if near.key != key {
            return near.before == block;
        }
        let shown = near.block == block;
        if shown {
            near.before = block;
        }
        near.key = NOBODY;
        shown
    }
}

impl Tasks {
    /// The task with this id, which is made if it appears for the first time.
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

    /// What rows of the block at hand have shown of the task, and its name, if events have shown
    /// that.
    #[inline]
    pub(crate) fn shown_in_block(&self, tid: Option<i32>) -> Option<(&Sight, Option<u32>)> {
        let key = key(tid);
        let near = &self.seen.0[TaskCache::at(key)];
        (near.key == key && near.block == self.block).then_some((&near.sight, near.comm))
    }

    /// Rows of the block at hand show the task from now on.
    pub(crate) fn show_in_block(&mut self, tid: Option<i32>, comm: Option<u32>) -> Sight {
        let sight = self.sight(tid);
        let near = &mut self.seen.0[TaskCache::at(key(tid))];
        (near.block, near.comm) = (self.block, comm);
        sight
    }

    /// What rows show of the task has changed.
    pub(crate) fn change(&mut self, tid: Option<i32>) {
        let key = key(tid);
        if self.seen.forget(key, self.block) {
            self.changed.push(key);
        }
    }

    #[inline(never)]
    fn look(&mut self, tid: Option<i32>, key: i64) -> Sight {
        let task = match self.by_tid.get(&key) {
            Some(&task) => {
                self.showed(task);
                task
            }
            None => self.first_sight(tid),
        };
        let (id, group) = self.identity(task);
        let sight = Sight { task, id, group, exited: self.has_exited(task) };
        let near = &mut self.seen.0[TaskCache::at(key)];
        let before = if near.block == self.block { self.block } else { near.before };
        *near = Cached { key, sight, block: 0, comm: None, before };
        sight
    }
}
