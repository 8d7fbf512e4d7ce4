//! New descriptors whose number still refers to something else.
//!
//! In a log in several files (`strace -ff`), a call that makes a descriptor comes at its earliest
//! possible end. If its number is in use there, another thread is about to close that, and what it
//! does until then, it does to the old description. So the new descriptor waits.

use crate::events::vocabulary::Op;
use crate::kernel::Kernel;
use crate::kernel::block_rows::BlockRows;
use crate::kernel::descriptors::fd_table::Descriptor;
use crate::kernel::tasks::TaskRef;

/// A descriptor that waits for its number.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// The task whose call made it.
    task: TaskRef,
    fd: i32,
    /// The descriptor itself; it counts as a user of its description.
    slot: Descriptor,
}

/// What the numbers of new descriptors refer to before the call; each counts as a user.
pub(crate) type Occupants = [Option<(i32, Descriptor)>; 2];

impl Kernel {
    /// Notes what the numbers of the row's new descriptors refer to, where other tasks may be about
    /// to close them.
    #[inline(never)]
    pub(crate) fn see_occupants(&mut self, task: TaskRef, row: usize, block: &BlockRows<'_>) {
        if self.closed {
            self.occupants = self.occupants_of(task, row, block);
        }
    }

    fn occupants_of(&mut self, task: TaskRef, row: usize, block: &BlockRows<'_>) -> Occupants {
        let fds = match block.rows.effect[row].op {
            Op::Open | Op::OpenAnon | Op::OpenProcess => [block.fd(row, false), None],
            Op::OpenPair => [block.fd(row, false), block.fd(row, true)],
            // dup2 and dup3 may close what the number refers to: dup(2).
            Op::Dup if !matches!(&*block.names[block.rows.name[row] as usize], "dup2" | "dup3") => {
                [None, block.fd(row, true)]
            }
            _ => return [None; 2],
        };
        if !self.tasks.shares_table(task) || block.ret(row).is_none_or(|ret| ret < 0) {
            return [None; 2];
        }
        fds.map(|fd| {
            let slot = self.tasks.table(task).slot(fd?)?;
            self.tasks.files.keep(slot.file);
            Some((fd?, slot))
        })
    }

    /// The descriptors were made: those whose numbers are in use have to wait.
    #[inline(never)]
    pub(crate) fn postpone(&mut self, task: TaskRef) {
        for (fd, before) in std::mem::take(&mut self.occupants).into_iter().flatten() {
            match self.tasks.table(task).slot(fd) {
                // Both may be descriptors of the same description.
                Some(slot) => {
                    self.tasks.table(task).replace(fd, before);
                    self.waiting.push(Waiting { task, fd, slot });
                }
                None => {
                    self.tasks.files.release(before.file);
                }
            }
        }
    }

    /// The task does something else, so its earlier calls are over; or a call depends on the whole
    /// table. Installs the descriptors that waited for this.
    #[cold]
    pub(crate) fn install_due(&mut self, task: TaskRef, op: Op) {
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
        self.install_waiting(|_, waiting| all || waiting.task == task);
    }

    /// Installs the descriptors whose numbers have become free.
    #[inline(never)]
    pub(crate) fn freed(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        self.install_waiting(|kernel, waiting| {
            kernel.tasks.table(waiting.task).slot(waiting.fd).is_none()
        });
    }

    fn install_waiting(&mut self, is_due: impl Fn(&mut Self, &Waiting) -> bool) {
        for waiting in std::mem::take(&mut self.waiting) {
            if is_due(self, &waiting) {
                self.tasks.install(
                    waiting.task,
                    waiting.fd,
                    waiting.slot.file,
                    waiting.slot.cloexec,
                );
                self.tasks.files.release(waiting.slot.file);
            } else {
                self.waiting.push(waiting);
            }
        }
    }
}
