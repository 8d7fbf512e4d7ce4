//! What is kept by process id while events come in.
//!
//! [`process_tracking`](crate::tables::process_tracking) decides which tasks are one process, but
//! only when all events are in. Until then, tasks with the same process id are taken for one.

use crate::hash::HashMap;
use crate::tables::packed::Packed;

#[derive(Debug, Default)]
pub(crate) struct Pid {
    /// Its anonymous memory in bytes, from events.
    pub(crate) anon: Packed<i64>,
    /// The last birth by a call of one of its tasks.
    pub(crate) made: Packed<u32>,
}

/// Uses of process ids.
#[derive(Debug, Default)]
pub(crate) struct Pids {
    all: Vec<Pid>,
    /// The latest use of each process id, by source.
    latest: HashMap<(u32, i32), u32>,
}

impl Pids {
    /// The number of the latest use of an id. A task without a process id gets its own number.
    pub(crate) fn number(&mut self, source: u32, pid: Option<i32>) -> u32 {
        let all = &mut self.all;
        let mut add = || {
            all.push(Pid::default());
            all.len() as u32 - 1
        };
        match pid {
            Some(pid) => *self.latest.entry((source, pid)).or_insert_with(add),
            None => add(),
        }
    }

    /// The process has ended: the next one with its id is another.
    pub(crate) fn forget(&mut self, source: u32, pid: i32) {
        self.latest.remove(&(source, pid));
    }

    pub(crate) fn get(&self, number: u32) -> Option<&Pid> {
        self.all.get(number as usize)
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Pid> {
        self.all.get_mut(number as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::Pids;

    #[test]
    fn an_id_that_was_forgotten_gets_another_number() {
        let mut pids = Pids::default();
        let first = pids.number(1, Some(7));
        assert_eq!(pids.number(1, Some(7)), first);
        assert_ne!(pids.number(2, Some(7)), first);
        pids.forget(1, 7);
        assert_ne!(pids.number(1, Some(7)), first);
        assert_ne!(pids.number(1, None), pids.number(1, None));
        assert!(pids.get(first).is_some());
    }
}
