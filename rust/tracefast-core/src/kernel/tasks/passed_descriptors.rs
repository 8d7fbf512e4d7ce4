//! Descriptors that come from other tasks, and may come from them.

use crate::kernel::descriptors::open_file_description::{DescriptionRef, OpenFileDescription};
use crate::kernel::tasks::{Task, TaskRef, Tasks};
use crate::kernel::transfers::position::Position;

/// How many tasks are looked at. Where there are more, some call may be under way.
const LOOKED_AT: usize = 1 << 12;

impl Tasks {
    /// See [`Tasks::install`]; `file` comes from another task.
    pub(crate) fn receive(&mut self, task: TaskRef, fd: i32, file: DescriptionRef, cloexec: bool) {
        self.install(task, fd, file, cloexec);
        if self.unordered {
            self.unordered(file);
        }
    }

    /// The description is sent to another task; `early`: which may have received it already;
    /// `inside`: through a pair of sockets that the log has made. The other end of any other socket
    /// may belong to a process that is not in the log.
    pub(crate) fn sent(&mut self, file: DescriptionRef, early: bool, inside: bool) {
        if !inside && !self.files.complete {
            self.files.hidden = true;
            self.left = true;
        }
        if self.files.hidden {
            self.files.hide(file);
        }
        if self.unordered {
            self.unordered(file);
        } else if early {
            self.files.suspect(file);
        }
    }

    /// Whether a call of a task is under way that `is` so, or may be.
    fn is_any_under_way(&self, is: impl Fn(&Task) -> bool) -> bool {
        self.slots.slots() > LOOKED_AT || self.slots.iter().any(is)
    }

    /// Whether a call is under way that sends one of the messages that `are` wanted.
    pub(crate) fn sends_beside(&self, are: impl Fn(u64) -> bool) -> bool {
        let message = |task: &Task| task.pending.as_ref().and_then(|pending| pending.message());
        self.is_any_under_way(|task| message(task).is_some_and(&are))
    }

    /// Whether another call is under way that may receive through the socket.
    pub(crate) fn receives_beside(&self, socket: DescriptionRef) -> bool {
        self.is_any_under_way(|task| {
            let pending = task.pending.as_ref().filter(|pending| pending.makes);
            let held = pending.and_then(|pending| pending.held[0]);
            held.is_some_and(|held| held.file == socket)
        })
    }

    /// Whether a call is under way that may make or close descriptors of the task.
    pub(crate) fn is_changing_numbers(&self, task: TaskRef) -> bool {
        let Some(table) = self.task(task).map(|task| task.table) else { return false };
        self.is_any_under_way(|task| {
            let makes = task.pending.as_ref().is_some_and(|pending| pending.makes);
            task.table == table && (makes || task.closing.is_some())
        })
    }

    /// A call has taken a description out of a task. Without an order between tasks that may be any
    /// that the task has, or will have as the log shows it; `None`: out of any task.
    #[cold]
    pub(crate) fn taken(&mut self, of: Option<TaskRef>) {
        if !self.unordered {
            return;
        }
        let of = of.and_then(|of| self.task(of)).map(|task| task.table);
        for (at, _, table) in self.tables.iter_mut() {
            if of.is_none_or(|of| of == at) {
                table.lose_order(&mut self.files);
                table.unordered = true;
            }
        }
    }

    /// A call has copied a descriptor of a process that the log does not name: it may be of any
    /// description.
    #[cold]
    pub(crate) fn copied_from_any(&mut self) {
        for at in self.tables.numbers() {
            self.table_at(at);
            self.tables[at].lose_order(&mut self.files);
        }
    }

    /// One of the other tasks has a descriptor `fd` now that the log does not show: each of them may.
    #[cold]
    pub(crate) fn replace_elsewhere(&mut self, task: TaskRef, fd: i32) {
        let own = self.task(task).map(|task| task.table);
        for at in self.tables.numbers().into_iter().filter(|&at| Some(at) != own) {
            self.table_at(at);
            let mut file = OpenFileDescription::inherited(Position::Unknown);
            file.unordered = true;
            self.tables[at].open(&mut self.files, fd, file, false);
            // The call that waits may return it (`SECCOMP_ADDFD_FLAG_SEND`).
            let now = self.files.inodes.now();
            self.tables[at].note_made(fd, now);
        }
    }

    /// Another task has made descriptor `fd` of this one, which is in a call. If that returns the
    /// number, it may be of what was made: it is as if two calls made it at once.
    #[cold]
    pub(crate) fn made_for(&mut self, task: TaskRef, fd: i32) {
        let now = self.files.inodes.now();
        if let Some(table) = self.task(task).map(|task| task.table) {
            self.tables[table].note_made(fd, now);
        }
    }

    /// Other tasks may use any description of this one.
    #[cold]
    pub(crate) fn share_descriptions(&mut self, task: TaskRef) {
        let at = self.task(task).map_or(0, |task| task.table);
        self.table_at(at);
        self.tables[at].lose_order(&mut self.files);
    }
}
