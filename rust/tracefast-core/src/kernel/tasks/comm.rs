//! The name (comm) of each task at each moment, where events of the log show it: `sched_switch`,
//! `task_rename`, `sched_process_exec` …

use std::sync::Arc;

use crate::hash::HashMap;
use hashbrown::hash_map::Entry;

use crate::events::parsed_block::key_in;

#[derive(Debug)]
struct Comm {
    text: Arc<str>,
    /// Number of a block, and the key in that block's dictionary.
    key: (u64, u32),
    /// The task is in execve, and no event has shown its name since.
    old: bool,
}

/// The last known name of each task.
#[derive(Debug, Default)]
pub(crate) struct Comms {
    tasks: HashMap<i32, Comm>,
    /// Tasks whose name has changed.
    pub changed: Vec<i32>,
}

impl Comms {
    /// Task `tid` has this name, whose key in `block` is `key`.
    pub(crate) fn set(&mut self, tid: i32, comm: &Arc<str>, block: u64, key: u32) {
        let name = Comm { text: Arc::clone(comm), key: (block, key), old: false };
        match self.tasks.entry(tid) {
            Entry::Occupied(mut known) if known.get().text == name.text => {
                known.get_mut().old = false;
            }
            entry => {
                entry.insert(name);
                self.changed.push(tid);
            }
        }
    }

    /// A new task has its parent's name, unless its own is known already: clone(2) copies the comm.
    pub(crate) fn inherit(&mut self, child: i32, parent: i32) {
        if let Some(Comm { text, key, .. }) = self.tasks.get(&parent) {
            let name = Comm { text: Arc::clone(text), key: *key, old: false };
            if let Entry::Vacant(entry) = self.tasks.entry(child) {
                entry.insert(name);
                self.changed.push(child);
            }
        }
    }

    /// The task is gone, or its name is no longer known.
    pub(crate) fn forget(&mut self, tid: i32) {
        if self.tasks.remove(&tid).is_some() {
            self.changed.push(tid);
        }
    }

    /// The task calls execve, which changes its name: execve(2).
    pub(crate) fn executing(&mut self, tid: i32) {
        if let Some(name) = self.tasks.get_mut(&tid) {
            name.old = true;
        }
    }

    /// Its execve succeeded: the old name is wrong unless an event has shown the new one.
    pub(crate) fn executed(&mut self, tid: i32) {
        if self.tasks.get(&tid).is_some_and(|name| name.old) {
            self.forget(tid);
        }
    }

    /// Thread `by` goes on as task `tid`.
    pub(crate) fn superseded(&mut self, tid: i32, by: i32) {
        if let Some(name) = self.tasks.remove(&by) {
            self.tasks.entry(tid).or_insert(name);
            self.changed.extend([tid, by]);
        }
    }

    /// Its name, as a key of `comms`, the dictionary of `block`.
    #[inline]
    pub(crate) fn key(&mut self, tid: i32, block: u64, comms: &mut Vec<Arc<str>>) -> Option<u32> {
        let name = self.tasks.get_mut(&tid)?;
        if name.key.0 != block {
            name.key = (block, key_in(comms, &name.text));
        }
        Some(name.key.1)
    }

    /// Its name.
    pub(crate) fn get(&self, tid: i32) -> Option<&Arc<str>> {
        self.tasks.get(&tid).map(|name| &name.text)
    }
}
