//! Semaphores and message queues of System V, and message queues of POSIX: sysvipc(7),
//! `mq_overview`(7).

use crate::hash::HashMap;
use crate::tables::waits::world::acts::{Act, Acts};

/// What a task waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum IpcKind {
    /// A set of semaphores, by its id.
    Semaphores,
    /// A queue of System V, by its id.
    Messages,
    /// A queue of POSIX, by its file.
    Queue,
}

/// A source, and what it is there.
pub(crate) type IpcKey = (u32, IpcKind, u64);

/// Those that are remembered.
const MOST: usize = 65_536;

/// Tasks that used one which are remembered.
const MOST_USERS: usize = 1024;

/// What is known about one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ipc {
    /// The task that made it for itself and its descendants: `IPC_PRIVATE`.
    pub(crate) creator: Option<u32>,
    /// Other tasks that used it; more than are remembered, or it has a name.
    pub(crate) users: Vec<u32>,
    pub(crate) anybody: bool,
    /// What added to it: raised a semaphore, sent a message; and what took from it.
    pub(crate) gave: Acts,
    pub(crate) took: Acts,
    removed: bool,
}

/// All of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ipcs {
    all: HashMap<IpcKey, Ipc>,
}

impl Ipcs {
    pub(crate) fn get(&self, key: IpcKey) -> Option<&Ipc> {
        self.all.get(&key)
    }

    /// One was made, or found by its key.
    pub(crate) fn made(&mut self, key: IpcKey, creator: Option<u32>) {
        let again = self.all.get(&key).is_some_and(|one| !one.removed);
        if creator.is_some() || !again {
            let one = Ipc { creator, anybody: creator.is_none(), ..Ipc::default() };
            self.room();
            self.all.insert(key, one);
        }
    }

    fn room(&mut self) {
        if self.all.len() >= MOST {
            self.all.retain(|_, one| !one.removed);
        }
        if self.all.len() >= MOST {
            self.all.clear();
        }
    }

    /// A task used one.
    pub(crate) fn used(&mut self, key: IpcKey, task: u32) -> &mut Ipc {
        self.room();
        // One that the log did not see made may be known to anybody.
        let one = self.all.entry(key).or_insert_with(|| Ipc { anybody: true, ..Ipc::default() });
        if !one.anybody && one.creator != Some(task) && !one.users.contains(&task) {
            one.anybody = one.users.len() >= MOST_USERS;
            one.users.push(task);
        }
        one
    }

    /// One was removed: all who wait for it are woken.
    pub(crate) fn removed(&mut self, key: IpcKey, act: Act) {
        let one = self.used(key, act.task);
        one.gave.push(act);
        one.took.push(act);
        one.removed = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SET: IpcKey = (0, IpcKind::Semaphores, 5);

    #[test]
    fn an_id_is_used_again() {
        let mut all = Ipcs::default();
        all.made(SET, Some(1));
        all.used(SET, 2);
        assert_eq!(all.get(SET).map(|one| (one.creator, one.users.len())), Some((Some(1), 1)));
        all.removed(SET, Act { task: 1, line: 1, ts: 1, end: 1 });
        all.made(SET, None);
        assert!(all.get(SET).is_some_and(|one| one.anybody && !one.removed));
        all.used((0, IpcKind::Messages, 5), 2);
        assert!(all.get((0, IpcKind::Messages, 5)).is_some_and(|one| one.anybody));
    }
}
