//! Whether strace followed the children of what it traced (`-f`), as far as the first lines show.
//!
//! With `-f` a child stops before its first call, so it shows itself: in a file by the pid of its
//! lines; on a terminal by a message, and by the pid that all lines have while there are several
//! tasks (`printleader` and `startup_tcb` in strace's `src/strace.c`). Without `-f`, its calls are
//! not in the log. Then lines have a pid, too, if strace is attached to several tasks, and one of
//! those that appears late is no child.
//!
//! With `-b execve` strace leaves a task that starts a program. Its last line is a first half, if
//! lines of other tasks follow it (`droptcb` in strace's `src/strace.c`).

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
    /// Tasks that showed themselves later, and that no call had made.
    late: HashSet<i32>,
    /// A call makes a task.
    forks: bool,
    /// What such calls have returned, and the highest of them.
    made: HashSet<i32>,
    highest: i32,
    /// A later task has shown itself.
    shown: bool,
    /// One of them has ended, and none has shown itself.
    missed: bool,
    /// The log starts with the program that strace started.
    started: Option<bool>,
    /// How many programs were started.
    programs: u32,
    /// Tasks whose last line is the first half of an execve.
    starting: HashSet<i32>,
    /// One of them has ended, and the log does not show how; or strace says that it left it.
    left: bool,
}

impl Children {
    /// A line of this task.
    pub(crate) fn see(&mut self, pid: Option<i32>, event: &[u8]) {
        if self.are_settled() {
            return;
        }
        if let Some(pid) = pid {
            self.task(pid);
        }
        let starts = event.starts_with(b"execve");
        self.started.get_or_insert(starts);
        if let Some(pid) = pid.filter(|_| !event.starts_with(b"--- ")) {
            self.starting.remove(&pid);
            // The leader has the other half then, unless strace has left it.
            let superseded = event.starts_with(b"+++ superseded by execve ");
            if superseded || starts && event.ends_with(b" <unfinished ...>") {
                self.starting.insert(pid);
            }
        }
        if starts || event.starts_with(b"<... execve") {
            self.programs += u32::from(result(event).is_some_and(|ret| ret.starts_with(b"0")));
            self.left |= event.ends_with(b" <detached ...>");
        }
        if event.starts_with(b"--- SIGCHLD") {
            self.ended(memchr::memmem::find(event, b"si_pid=").map(|at| &event[at + 7..]));
            return;
        }
        let Some(len) = call_name(event) else {
            if event.starts_with(b"<... ") && classes_as_printed(resumed(event)).has(Classes::FORKS)
            {
                self.made(event);
            }
            return;
        };
        let name = &event[..len];
        if classes_as_printed(name).has(Classes::FORKS) {
            self.forks = true;
            self.made(event);
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
            // To tasks that are older strace attaches before it prints any call.
            self.shown |= self.forks && !self.older.contains(&pid);
            self.task(pid);
        }
    }

    fn task(&mut self, pid: i32) {
        if !self.forks {
            self.older.insert(pid);
        } else if !self.shown && !self.older.contains(&pid) {
            // In another pid namespace calls return lower numbers.
            let is_new = self.highest > 0 && pid > self.highest;
            self.shown |= is_new || self.made.contains(&pid);
            self.late.insert(pid);
        }
    }

    /// A call that makes a task has returned.
    fn made(&mut self, event: &[u8]) {
        if let Some(child) = result(event).map(pid_at).filter(|&child| child > 0) {
            self.made.insert(child);
            self.highest = self.highest.max(child);
            self.shown |= self.late.contains(&child);
        }
    }

    fn ended(&mut self, child: Option<&[u8]>) {
        let Some(child) = child.map(pid_at) else { return };
        self.missed |= self.made.contains(&child);
        self.left |= self.starting.contains(&child);
    }

    /// Whether a child is in the log.
    pub(crate) fn are_shown(&self) -> bool {
        self.shown
    }

    /// Whether later lines do not matter.
    pub(crate) fn are_settled(&self) -> bool {
        self.shown && (self.left || self.programs > 1)
    }

    /// Whether children may not be in the log. In a file every line has a pid if strace follows
    /// children, so what matters there is a child that has ended and not shown itself; or that
    /// strace may have been attached to several tasks.
    pub(crate) fn may_be_hidden(&self, pid: Pid) -> bool {
        let attached = self.started == Some(false);
        !self.shown && (pid != Pid::Plain || self.missed || attached)
    }

    /// Whether strace leaves tasks that start programs.
    pub(crate) fn leave(&self) -> bool {
        self.left
    }
}

/// The name of the call that a second half ends.
fn resumed(event: &[u8]) -> &[u8] {
    let name = &event[5..];
    &name[..name.iter().position(|&b| b == b' ').unwrap_or(name.len())]
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
        let start = "7 execve(\"/bin/x\", [\"x\"], 0x7ffc /* 9 vars */) = 0\n";
        assert!(!hides(&format!("{start}{fork}7 close(3) = 0\n")));
        for ended in [wait, signal] {
            assert!(hides(&format!("{fork}{ended}")));
            assert!(!hides(&format!("{fork}8 +++ exited with 0 +++\n{ended}")));
            // In another pid namespace calls return other numbers.
            assert!(!hides(&format!("{fork}4711 +++ exited with 0 +++\n{ended}")));
        }
        assert!(!hides(&format!("{start}{wait}{fork}")));
    }

    #[test]
    fn a_task_that_appears_late_is_no_child() {
        let fork = "7 clone(child_stack=NULL, flags=SIGCHLD) = 9\n";
        assert!(hides(fork));
        assert!(hides(&format!("{fork}8 close(3) = 0\n")));
        assert!(!hides(&format!("{fork}9 close(3) = 0\n")));
        let halves = "7 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>\n8 close(3) = 0\n7 <... clone resumed>) = ";
        assert!(hides(&format!("{halves}9\n")));
        assert!(!hides(&format!("{halves}8\n")));
    }

    fn leaves(text: &str) -> bool {
        strace::detect(text.as_bytes()).expect("a strace log").leaves_programs
    }

    #[test]
    fn what_ends_after_half_an_execve_was_left() {
        let half =
            "8 execve(\"/bin/x\", [\"x\"], 0x7ffc /* 9 vars */ <unfinished ...>\n7 close(3) = 0\n";
        let ended =
            "7 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=8, si_uid=0} ---\n";
        assert!(leaves(&format!("{half}{ended}")));
        assert!(leaves(&format!("{half}7 wait4(-1, NULL, 0, NULL) = 8\n")));
        assert!(!leaves(half));
        assert!(!leaves(&format!("{half}8 <... execve resumed>) = 0\n{ended}")));
        assert!(!leaves(&format!("{half}8 +++ killed by SIGKILL +++\n{ended}")));
        // Another thread has started the program.
        let superseded = "9 execve(\"/bin/x\", [\"x\"], 0x7ffc /* 9 vars */ <unfinished ...>\n8 +++ superseded by execve in pid 9 +++\n";
        assert!(leaves(&format!("{superseded}7 close(3) = 0\n{ended}")));
        assert!(!leaves(&format!("{superseded}8 <... execve resumed>) = 0\n{ended}")));
        assert!(leaves("8 execve(\"/bin/x\", [\"x\"], 0x7ffc /* 9 vars */ <detached ...>\n"));
        assert!(!leaves("8 read(3,  <detached ...>\n"));
    }
}
