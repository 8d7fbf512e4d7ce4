//! Tasks whose calls are not in the log: strace follows children with `-f` only, and with `-b execve`
//! not from the program on that they start.
//!
//! Such a task may move the position of every description that it shares with others, pass it on
//! to others, and change any file. Nothing shows it. So those positions are assumed until the
//! descriptions are closed; a seek proves nothing for the next call.

use crate::events::vocabulary::Op;
use crate::events::vocabulary::clone_flags::CLONE_FILES;
use crate::kernel::Kernel;
use crate::kernel::descriptors::open_file_description::DescriptionRef;
use crate::kernel::tasks::{TaskRef, Tasks};

impl Tasks {
    /// A call of `parent` has made a task that has not shown itself.
    #[cold]
    pub(crate) fn hide_from(&mut self, parent: TaskRef, flags: u32) {
        self.hide_table(parent, flags & CLONE_FILES != 0);
    }

    /// A task that is not in the log has what `task` has; `common`: it has the same table.
    fn hide_table(&mut self, task: TaskRef, common: bool) {
        self.files.hidden = true;
        let Some(at) = self.task(task).map(|task| task.table) else { return };
        let table = self.table_at(at);
        // It may open and close numbers of a common table, too.
        table.hidden |= common;
        let files: Vec<DescriptionRef> = table.files().collect();
        for file in files {
            self.files.hide(file);
        }
    }

    /// Such a task, which is new.
    pub(crate) fn hide(&mut self, child: TaskRef) {
        if let Some(task) = self.task_mut(child) {
            task.hidden = true;
        }
    }

    /// A task shows itself that calls have made: children are in the log. Those that have not shown
    /// themselves so far have done nothing.
    #[cold]
    pub(crate) fn child_shows(&mut self) {
        self.hides_children = false;
        self.files.hidden = self.left;
    }

    /// A task appears. Without `-f` it may be one that strace is attached to, whose number is lower
    /// than those of later children; while a call is under way, its return value decides.
    #[cold]
    pub(crate) fn may_be_child(&mut self, tid: i32) {
        if self.highest > 0 && tid > self.highest {
            self.child_shows();
        }
    }

    /// A call has made this task, which has shown itself.
    #[inline]
    pub(crate) fn is_child(&mut self) {
        if self.hides_children {
            self.child_shows();
        }
    }
}

impl Kernel {
    /// strace has left the task, whose last call is of this kind: it goes on unseen. A program has
    /// a table of its own (`unshare_files` in `begin_new_exec`, fs/exec.c).
    #[cold]
    pub(crate) fn leave(&mut self, task: TaskRef, op: Op) {
        self.leaves_programs |= op == Op::Exec;
        if !self.tasks.files.complete {
            self.tasks.left = true;
            self.tasks.hide_table(task, op != Op::Exec);
        }
    }
}
