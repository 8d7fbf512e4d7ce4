//! `io_uring`: the kernel reads, writes, opens and closes files as a process asks through memory
//! (`io_uring(7)`). The log shows that a process asks, not for what.
//!
//! So whatever its descriptors refer to may have moved, and any file may have changed: a ring opens
//! files, too. If the call waits until all is done, a seek or a stat after it proves a position or a
//! size again. If not, descriptions that were open have no order with what the kernel does, nor have
//! those that it keeps (`IORING_REGISTER_FILES`), until they are closed; and sizes are not known from
//! there on. With `IORING_SETUP_SQPOLL` that includes descriptions that are opened later.

use crate::events::rows::{AT_FDCWD, Effect};
use crate::events::vocabulary::ring_flags;
use crate::kernel::Kernel;
use crate::kernel::files::length::Changes;
use crate::kernel::tasks::TaskRef;
use crate::kernel::transfers::calls_under_way::UnseenMoves;
use crate::kernel::transfers::position::Position;

/// How many descriptors of a process are looked at, over all submissions. After that whatever it has
/// is without order.
const LOOKED_AT: u32 = 1 << 20;

impl Kernel {
    /// The task asks the kernel to do what is in a ring, as in `flags` ([`ring_flags`]). Returns what
    /// the kernel may move until the call ends, if all is done then.
    #[cold]
    pub(crate) fn submit(&mut self, task: TaskRef, flags: u32) -> Option<UnseenMoves> {
        let table = self.tasks.table(task);
        table.changes_unseen = true;
        if table.unordered {
            self.any_file_changes();
            return None;
        }
        let open: Vec<_> = table.all().collect();
        table.looked_at = table.looked_at.saturating_add(open.len() as u32);
        let polls = flags & ring_flags::POLLS != 0 || table.looked_at > LOOKED_AT;
        table.unordered = polls;
        if flags & ring_flags::WAITS == 0 || polls {
            for (_, file) in open {
                self.tasks.unordered(file);
                self.tasks.files.moved_others(file, true);
            }
            self.any_file_changes();
            return None;
        }
        self.tasks.files.inodes.begin_unseen_changes();
        let moves = |position| position != Position::None;
        let mut held = Vec::new();
        for (fd, file) in open {
            if self.tasks.files.at(file).is_some_and(|open| moves(open.position)) {
                held.extend(self.tasks.files.hold(fd, file, true, Some(Changes::Any)));
            }
        }
        Some(UnseenMoves { held, files: true, ..UnseenMoves::default() })
    }

    /// A line was not understood that may have been a call: it may have done what a ring does.
    #[cold]
    pub(crate) fn damaged(&mut self, effect: &Effect) {
        let tid = (effect.at != AT_FDCWD).then_some(effect.at);
        if let Some(task) = self.tasks.known(tid)
            && let Some(unseen) = self.submit(task, effect.flags)
        {
            unseen.end(&mut self.tasks.files);
        }
    }

    /// Any file may change from here on, whichever the log names.
    pub(crate) fn any_file_changes(&mut self) {
        if !std::mem::replace(&mut self.unseen_changes, true) {
            self.tasks.files.inodes.begin_unseen_changes();
        }
    }
}
