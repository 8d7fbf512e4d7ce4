//! Children whose calls are not in the log: strace follows them with `-f` only.
//!
//! Such a child may move the position of every description that it shares with its parent, pass it on
//! to others, and change any file. Nothing shows it. So those positions are assumed until the
//! descriptions are closed; a seek proves nothing for the next call.

use crate::events::vocabulary::clone_flags::CLONE_FILES;
use crate::kernel::descriptors::open_file_description::DescriptionRef;
use crate::kernel::tasks::{TaskRef, Tasks};

impl Tasks {
    /// A call of `parent` has made a task that has not shown itself.
    #[cold]
    pub(crate) fn hide_from(&mut self, parent: TaskRef, flags: u32) {
        self.files.hidden = true;
        let Some(at) = self.task(parent).map(|task| task.table) else { return };
        let table = self.table_at(at);
        // It may open and close numbers of a common table, too.
        table.hidden |= flags & CLONE_FILES != 0;
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
        self.files.hidden = false;
    }
}
