//! Descriptors whose number leads to something else for now.
//!
//! In logs cut by task a call that makes a descriptor stands where it ended at the earliest. If its
//! number leads to something there, another thread is about to close that, and what it does until
//! then is done to that.

use super::Kernel;
use super::files::Slot;
use super::page::Page;
use super::tasks::TaskRef;
use crate::event::Op;

/// A descriptor that waits for its number.
#[derive(Debug)]
pub struct Late {
    /// Whose call made it.
    task: TaskRef,
    fd: i32,
    /// What it leads to, kept.
    slot: Slot,
}

/// What numbers lead to before a call that makes descriptors, kept.
pub type Standing = [Option<(i32, Slot)>; 2];

impl Kernel {
    /// What the numbers of the descriptors that the row makes lead to so far, where others may be
    /// about to close them.
    #[inline]
    pub(super) fn standing(&mut self, task: TaskRef, row: usize, page: &Page<'_>) -> Standing {
        if self.cut && self.closed { self.taken(task, row, page) } else { [None; 2] }
    }

    #[cold]
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
        if !self.tasks.shares_table(task) {
            return [None; 2];
        }
        fds.map(|fd| {
            let slot = self.tasks.table(task).slot(fd?)?;
            self.tasks.files.keep(slot.file);
            Some((fd?, slot))
        })
    }

    /// The descriptors were made: they wait where their numbers led to something.
    #[inline]
    pub(super) fn postpone(&mut self, task: TaskRef, standing: Standing) {
        for (fd, before) in standing.into_iter().flatten() {
            match self.tasks.table(task).slot(fd) {
                Some(slot) if slot.file != before.file => {
                    self.tasks.table(task).replace(fd, before);
                    self.late.push(Late { task, fd, slot });
                }
                _ => self.tasks.files.release(before.file),
            }
        }
    }

    /// The task does something else, so that its calls before were over; or a call needs to know
    /// all descriptors.
    #[cold]
    pub(super) fn settle(&mut self, task: TaskRef, op: Op) {
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
    #[cold]
    pub(super) fn freed(&mut self) {
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
