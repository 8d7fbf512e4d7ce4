//! Descriptors that come from other tasks, and may come from them.

use crate::kernel::descriptors::open_file_description::{DescriptionRef, OpenFileDescription};
use crate::kernel::tasks::{TaskRef, Tasks};
use crate::kernel::transfers::position::Position;

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

    /// The messages that calls are sending.
    pub(crate) fn messages_under_way(&self) -> Vec<u64> {
        let pending = self.slots.iter().filter_map(|task| task.pending.as_ref());
        pending.filter_map(|pending| pending.message()).collect()
    }

    /// Whether another call is under way that may receive through the socket.
    pub(crate) fn receives_beside(&self, socket: DescriptionRef) -> bool {
        let mut pending = self.slots.iter().filter_map(|task| task.pending.as_ref());
        pending
            .any(|pending| pending.makes && pending.held[0].is_some_and(|held| held.file == socket))
    }

    /// Whether a call is under way that may make or close descriptors of the task.
    pub(crate) fn is_changing_numbers(&self, task: TaskRef) -> bool {
        let Some(table) = self.task(task).map(|task| task.table) else { return false };
        let mut tasks = self.slots.iter().filter(|task| task.table == table);
        tasks.any(|task| {
            let makes = task.pending.as_ref().is_some_and(|pending| pending.makes);
            makes || task.closing.is_some()
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
