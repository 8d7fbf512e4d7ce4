//! Programs whose calls are not in the log, though the call that started them is.
//!
//! On x86 the events `syscalls` leave out the calls of 32-bit programs
//! (`arch_trace_is_compat_syscall` in arch/x86/include/asm/ftrace.h). The execve of a 64-bit program
//! that starts one is entered, and its end is a call of the new program. So until an execve has ended,
//! its task may move what it shares with others.

use crate::kernel::Kernel;
use crate::kernel::descriptors::open_file_description::DescriptionRef;
use crate::kernel::tasks::TaskRef;
use crate::kernel::transfers::calls_under_way::UnseenMoves;
use crate::kernel::transfers::position::Position;

impl Kernel {
    /// Holds the descriptions that the task shares with other ones, as if calls were under way that
    /// move them.
    #[cold]
    pub(crate) fn hold_shared(&mut self, task: TaskRef) -> Option<UnseenMoves> {
        let open: Vec<(i32, DescriptionRef)> = self.tasks.table(task).all().collect();
        let mut held = Vec::new();
        for (fd, file) in open {
            let shared = self
                .tasks
                .files
                .at(file)
                .is_some_and(|open| open.is_shared() && open.position != Position::None);
            if shared {
                held.extend(self.tasks.files.hold(fd, file, true, None));
            }
        }
        (!held.is_empty()).then_some(UnseenMoves { held, ..UnseenMoves::default() })
    }
}
