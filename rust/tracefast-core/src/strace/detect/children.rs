//! Whether strace followed the children of what it traced (`-f`), as far as the first lines show.
//!
//! With `-f` a child stops before its first call, so it shows itself: in a file by the pid of its
//! lines; on a terminal by a message, and by the pid that all lines have while there are several
//! tasks (`printleader` and `startup_tcb` in strace's `src/strace.c`). Without `-f`, its calls are
//! not in the log.

use std::collections::HashSet;

use crate::linux::syscalls::{Classes, classes_as_printed};
use crate::strace::call::foreign_text;
use crate::strace::leader::Pid;
use crate::strace::line_start::call_name;
use crate::strace::non_calls::message::{TaskChange, task_change};
use crate::text::number;
use crate::text::search::rfind;

/// The facts that decide, of the lines so far.
#[derive(Debug, Default)]
pub(crate) struct Children {
    /// Tasks that showed themselves before any call made one.
    older: HashSet<i32>,
    /// A call makes a task.
    forks: bool,
    /// What such calls have returned.
    made: HashSet<i32>,
    /// A later task has shown itself.
    shown: bool,
    /// One of them has ended, and none has shown itself.
    missed: bool,
}

impl Children {
    /// A line of this task.
    pub(crate) fn see(&mut self, pid: Option<i32>, event: &[u8]) {
        if self.shown {
            return;
        }
        if let Some(pid) = pid {
            self.task(pid);
        }
        if event.starts_with(b"--- SIGCHLD") {
            self.ended(memchr::memmem::find(event, b"si_pid=").map(|at| &event[at + 7..]));
            return;
        }
        let Some(len) = call_name(event) else { return };
        let name = &event[..len];
        if classes_as_printed(name).has(Classes::FORKS) {
            self.forks = true;
            self.made.extend(result(event).map(pid_at));
            // strace may write its message into the line of the call.
            self.see_message(event);
        } else if name.starts_with(b"wait") {
            self.ended(result(event));
        }
    }

    /// A line that may be a message of strace, or end with one.
    pub(crate) fn see_message(&mut self, line: &[u8]) {
        if self.shown || memchr::memmem::find(line, b" attached").is_none() {
            return;
        }
        let change = task_change(line)
            .or_else(|| foreign_text::message_start(line).and_then(|at| task_change(&line[at..])));
        if let Some(TaskChange::Attached(pid)) = change {
            self.task(pid);
        }
    }

    fn task(&mut self, pid: i32) {
        if self.forks {
            self.shown |= !self.older.contains(&pid);
        } else {
            self.older.insert(pid);
        }
    }

    fn ended(&mut self, child: Option<&[u8]>) {
        self.missed |= child.is_some_and(|child| self.made.contains(&pid_at(child)));
    }

    /// Whether later lines do not matter.
    pub(crate) fn are_settled(&self) -> bool {
        self.shown
    }

    /// Whether children may not be in the log. In a file every line has a pid if strace follows
    /// children, so what matters there is a child that has ended and not shown itself.
    pub(crate) fn may_be_hidden(&self, pid: Pid) -> bool {
        !self.shown && (pid != Pid::Plain || self.missed)
    }
}

/// The result of a call, as text.
fn result(event: &[u8]) -> Option<&[u8]> {
    rfind(event, b" = ", 0).map(|at| &event[at + 3..])
}

/// The pid at the start of the text; 0 for none.
fn pid_at(text: &[u8]) -> i32 {
    let (pid, n) = number::c_integer(text);
    i32::try_from(pid).ok().filter(|&pid| n > 0 && pid > 0).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use crate::strace;

    fn hides(text: &str) -> bool {
        strace::detect(text.as_bytes()).expect("a strace log").hides_children
    }

    #[test]
    fn a_child_without_a_line_is_hidden() {
        let fork = "syscall_0x1b3(0x7ffd105ee2f0, 0x58) = 0x8\n";
        assert!(hides(&format!("{fork}read(3, \"x\", 1) = 1\n")));
        let fork = "clone(child_stack=NULL, flags=SIGCHLD) = 8\n";
        assert!(hides(&format!("{fork}read(3, \"x\", 1) = 1\n")));
        // No child so far.
        assert!(hides("read(3, \"x\", 1) = 1\n"));
        assert!(!hides(&format!("{fork}strace: Process 8 attached\n[pid     8] close(3) = 0\n")));
        assert!(!hides(&format!("{fork}[pid     8] close(3) = 0\n")));
        assert!(!hides("vfork(strace: Process 8 attached\n <unfinished ...>\n"));
        // strace was attached to it.
        assert!(hides(&format!("strace: Process 7 attached\nclose(3) = 0\n{fork}close(3) = 0\n")));
    }

    #[test]
    fn with_pids_a_hidden_child_shows_when_it_ends() {
        let fork = "7 clone(child_stack=NULL, flags=SIGCHLD) = 8\n";
        let wait = "7 wait4(8, NULL, 0, NULL) = 8\n";
        let signal =
            "7 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=8, si_uid=0} ---\n";
        assert!(!hides(&format!("{fork}7 close(3) = 0\n")));
        for ended in [wait, signal] {
            assert!(hides(&format!("{fork}{ended}")));
            assert!(!hides(&format!("{fork}8 +++ exited with 0 +++\n{ended}")));
            // In another pid namespace calls return other numbers.
            assert!(!hides(&format!("{fork}4711 +++ exited with 0 +++\n{ended}")));
        }
        assert!(!hides(&format!("{wait}{fork}")));
    }
}
