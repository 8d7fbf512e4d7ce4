//! The tasks that made calls, and what tells to which process each belongs.

use hashbrown::HashMap;

use crate::tables::syscalls::images::Step;

/// Which task an event is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) source: u32,
    /// Its identity, else the process, if at least that is known.
    pub(crate) who: Who,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Who {
    Task(u32),
    Process(Option<i32>),
}

/// What events told of a task.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) key: Key,
    pub(crate) pid: Option<i32>,
    /// It was seen as the first thread of its process, and as another one.
    pub(crate) led: bool,
    pub(crate) followed: bool,
    /// Another thread took its place by execve.
    pub(crate) superseded: bool,
    /// The number of its last name, and when that was seen.
    pub(crate) comm: Option<(u64, u32)>,
}

/// All tasks seen so far, and what became of their programs.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    pub(crate) all: Vec<Task>,
    index: HashMap<Key, u32, foldhash::fast::FixedState>,
    last: Option<(Key, u32)>,
    pub(crate) steps: Vec<Step>,
}

impl Tasks {
    /// The number of a task.
    #[inline]
    pub(crate) fn number(&mut self, key: Key) -> u32 {
        if let Some((last, number)) = self.last
            && last == key
        {
            return number;
        }
        let number = *self.index.entry(key).or_insert_with(|| {
            let pid = if let Who::Process(pid) = key.who { pid } else { None };
            let (led, followed, superseded, comm) = (false, false, false, None);
            self.all.push(Task { key, pid, led, followed, superseded, comm });
            self.all.len() as u32 - 1
        });
        self.last = Some((key, number));
        number
    }

    /// Takes in what an event says of a task.
    #[inline]
    pub(crate) fn see(
        &mut self,
        number: u32,
        (pid, tid): (Option<i32>, Option<i32>),
        comm: Option<(u64, u32)>,
    ) {
        let Some(task) = self.all.get_mut(number as usize) else { return };
        if pid.is_some() {
            task.pid = pid;
            if tid.is_some() {
                task.led |= tid == pid;
                task.followed |= tid != pid;
            }
        }
        if comm.is_some() {
            task.comm = comm;
        }
    }

    pub(crate) fn superseded(&mut self, number: u32) {
        if let Some(task) = self.all.get_mut(number as usize) {
            task.superseded = true;
        }
    }
}
