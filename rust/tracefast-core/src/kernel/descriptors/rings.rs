//! `io_uring`: the kernel reads, writes, opens and closes files as a process asks through memory
//! (`io_uring(7)`). The log shows that a process asks, not for what.
//!
//! So whatever its descriptors refer to may have moved, and any file may have changed: a ring opens
//! files, too. Descriptions that were open have no order with what the kernel does, nor have those
//! that it keeps (`IORING_REGISTER_FILES`), until they are closed; and sizes are not known from there
//! on. With `IORING_SETUP_SQPOLL` that includes descriptions that are opened later.
//!
//! A call that waits for as many ends as it submits is no exception: it counts ends that earlier calls
//! have left in the ring, and a signal or another thread may end its wait (`io_cqring_wait` in
//! `io_uring/io_uring.c`).

use crate::events::rows::{AT_FDCWD, Effect};
use crate::events::vocabulary::ring_flags;
use crate::kernel::Kernel;
use crate::kernel::descriptors::open_file_description::DescriptionRef;
use crate::kernel::files::length::Changes;
use crate::kernel::tasks::TaskRef;
use crate::kernel::transfers::calls_under_way::UnseenMoves;
use crate::kernel::transfers::position::Position;

/// How many descriptors of a process are looked at, over all submissions. After that whatever it has
/// is without order.
const LOOKED_AT: u32 = 1 << 20;

impl Kernel {
    /// The task asks the kernel to do what is in a ring, as in `flags` ([`ring_flags`]).
    #[cold]
    pub(crate) fn submit(&mut self, task: TaskRef, flags: u32) {
        let open = self.may_change(task, flags & ring_flags::POLLS != 0);
        for (_, file) in open {
            self.tasks.unordered(file);
            self.tasks.files.moved_others(file, true);
        }
        self.any_file_changes();
    }

    /// What a task has, which others than calls may change, until something proves it again;
    /// `from_now`: what it will have, too. Nothing if none of that has an order anyway.
    fn may_change(&mut self, task: TaskRef, from_now: bool) -> Vec<(i32, DescriptionRef)> {
        let table = self.tasks.table(task);
        table.changes_unseen = true;
        if table.unordered {
            return Vec::new();
        }
        let open: Vec<_> = table.all().collect();
        table.looked_at = table.looked_at.saturating_add(open.len() as u32);
        table.unordered = from_now || table.looked_at > LOOKED_AT;
        open
    }

    /// A line was not understood that may have been a call: it may have done what a ring does, and
    /// has done it.
    #[cold]
    pub(crate) fn damaged(&mut self, effect: &Effect) {
        let tid = (effect.at != AT_FDCWD).then_some(effect.at);
        let Some(task) = self.tasks.known(tid) else { return };
        let open = self.may_change(task, false);
        if self.tasks.table(task).unordered {
            for (_, file) in open {
                self.tasks.unordered(file);
                self.tasks.files.moved_others(file, true);
            }
            return self.any_file_changes();
        }
        self.tasks.files.inodes.begin_unseen_changes();
        let moves = |position| position != Position::None;
        let mut held = Vec::new();
        for (fd, file) in open {
            if self.tasks.files.at(file).is_some_and(|open| moves(open.position)) {
                held.extend(self.tasks.files.hold(fd, file, true, Some(Changes::Any)));
            }
        }
        let unseen = UnseenMoves { held, files: true, ..UnseenMoves::default() };
        unseen.end(&mut self.tasks.files);
    }

    /// Any file may change from here on, whichever the log names.
    pub(crate) fn any_file_changes(&mut self) {
        if !std::mem::replace(&mut self.unseen_changes, true) {
            self.tasks.files.inodes.begin_unseen_changes();
        }
    }
}
