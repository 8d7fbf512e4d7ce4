//! Descriptors whose number leads to something else for now.
//!
//! In logs cut by task a call that makes a descriptor stands where it ended at the earliest. If its
//! number leads to something there, another thread is about to close that, and what it does until
//! then is done to that.

use crate::events::vocabulary::Op;
use crate::kernel::Kernel;
use crate::kernel::block_rows::Page;
use crate::kernel::descriptors::fd_table::Slot;
use crate::kernel::tasks::TaskRef;

/// A descriptor that waits for its number.
#[derive(Debug)]
pub(crate) struct Late {
    /// Whose call made it.
    task: TaskRef,
    fd: i32,
    /// What it leads to, kept.
    slot: Slot,
}

/// What numbers lead to before a call that makes descriptors, kept.
pub(crate) type Standing = [Option<(i32, Slot)>; 2];

impl Kernel {
    /// Sees what the numbers of the descriptors that the row makes lead to so far, where others may
    /// be about to close them.
    #[inline(never)]
    pub(crate) fn stand(&mut self, task: TaskRef, row: usize, page: &Page<'_>) {
        if self.closed {
            self.standing = self.taken(task, row, page);
        }
    }

    fn taken(&mut self, task: TaskRef, row: usize, page: &Page<'_>) -> Standing {
        let fds = match page.rows.effect[row].op {
            Op::Open | Op::OpenAnon | Op::OpenProcess => [page.fd(row, false), None],
            Op::OpenPair => [page.fd(row, false), page.fd(row, true)],
            // Those that are given the number may take it from what is open.
            Op::Dup if !matches!(&*page.names[page.rows.name[row] as usize], "dup2" | "dup3") => {
                [None, page.fd(row, true)]
            }
            _ => return [None; 2],
        };
        if !self.tasks.shares_table(task) || page.ret(row).is_none_or(|ret| ret < 0) {
            return [None; 2];
        }
        fds.map(|fd| {
            let slot = self.tasks.table(task).slot(fd?)?;
            self.tasks.files.keep(slot.file);
            Some((fd?, slot))
        })
    }

    /// The descriptors were made: they wait where their numbers led to something.
    #[inline(never)]
    pub(crate) fn postpone(&mut self, task: TaskRef) {
        for (fd, before) in std::mem::take(&mut self.standing).into_iter().flatten() {
            match self.tasks.table(task).slot(fd) {
                // A copy may lead to the same, which two hold then.
                Some(slot) => {
                    self.tasks.table(task).replace(fd, before);
                    self.late.push(Late { task, fd, slot });
                }
                None => self.tasks.files.release(before.file),
            }
        }
    }

    /// The task does something else, so that its calls before were over; or a call needs to know
    /// all descriptors.
    #[cold]
    pub(crate) fn settle(&mut self, task: TaskRef, op: Op) {
        let all = matches!(
            op,
            Op::Fork
                | Op::Appear
                | Op::Exec
                | Op::ExitCall
                | Op::Gone
                | Op::Away
                | Op::Superseded
                | Op::Supersedes
                | Op::Unshare
        );
        self.put_late(|_, late| all || late.task == task);
    }

    /// Numbers were freed.
    #[inline(never)]
    pub(crate) fn freed(&mut self) {
        if self.late.is_empty() {
            return;
        }
        self.put_late(|kernel, late| kernel.tasks.table(late.task).slot(late.fd).is_none());
    }

    fn put_late(&mut self, is_due: impl Fn(&mut Self, &Late) -> bool) {
        for late in std::mem::take(&mut self.late) {
            if is_due(self, &late) {
                self.tasks.install(late.task, late.fd, late.slot.file, late.slot.cloexec);
                self.tasks.files.release(late.slot.file);
            } else {
                self.late.push(late);
            }
        }
    }
}
