//! Which calls were traced: strace does not write down what `-e trace=…` chose.
//!
//! A position is known only if every call that moves it is in the log. That shows in calls that
//! nobody chooses: programs have memory, handle signals and end. Options name single calls, and
//! classes such as `%file`, `%desc` and `%process` (strace(1)); calls of no class are in the log
//! only if all calls are.

use memchr::memmem::find;

use crate::linux::syscalls::{Classes, classes_of};
use crate::strace::detect::children::Children;
use crate::strace::detect::seeks::Seeks;
use crate::strace::non_calls::message::{self, TaskChange};

/// A log of fewer calls shows too little to say that others are missing.
const CALLS: u16 = 32;

/// The same for a log that shows how a task ended.
const CALLS_TO_END: u16 = 8;

/// What the calls of a log show: a bit for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TracedCalls {
    seen: u32,
    /// How many there are, at most [`CALLS`].
    calls: u16,
}

/// A bit for each call of these, all of which belong to no class of strace's, and which most
/// programs make when they start.
const CLASSLESS_CALLS: [&[u8]; 14] = [
    b"arch_prctl",
    b"getrandom",
    b"getrusage",
    b"prctl",
    b"prlimit64",
    b"rseq",
    b"sched_getaffinity",
    b"sched_yield",
    b"set_robust_list",
    b"set_thread_area",
    b"set_tid_address",
    b"sysinfo",
    b"ugetrlimit",
    b"uname",
];

const CLASSLESS: u32 = SIGNALS - 1;
const SIGNALS: u32 = 1 << 14;
const WAITS: u32 = 1 << 15;
const IDENTITIES: u32 = 1 << 16;
/// Calls that neither name a file nor are about memory, descriptors or processes.
const OTHERS: u32 = (1 << 17) - 1;
/// `%memory`.
const MEMORY: u32 = 1 << 17;
/// `%desc`, and `%memory`.
const MAPS: u32 = 1 << 18;
/// `%process`.
const PROCESSES: u32 = 1 << 19;
/// `%desc`, or chosen because they move positions.
const SEEKS: u32 = 1 << 20;
/// `%desc`.
const DESCRIPTORS: u32 = 1 << 21;
/// A task has ended, not by a signal. It has made a call to do so.
const ENDED: u32 = 1 << 22;
/// The loader opens its cache of libraries, which it maps: ld.so(8).
const LOADER: u32 = 1 << 23;
/// `lseek`.
const LSEEK: u32 = 1 << 24;
/// It must have been called.
const NO_LSEEK: u32 = 1 << 25;
/// Calls that only processes of 32 bits make.
const NARROW: u32 = 1 << 26;
/// The log starts where strace was attached to a task, not with a program, and does not say that it
/// was attached to the other threads of the process.
const ATTACHED: u32 = 1 << 27;

impl TracedCalls {
    /// A call `name`, on a line whose event is `event`.
    pub(crate) fn see(&mut self, name: &[u8], event: &[u8]) {
        if matches!(name, b"mmap2" | b"fstat64" | b"stat64" | b"fcntl64") {
            self.seen |= NARROW;
        }
        if self.are_all() {
            return;
        }
        self.calls = (self.calls + 1).min(CALLS);
        self.seen |= match name {
            b"openat" | b"open" if find(event, b"/etc/ld.so.cache\"").is_some() => LOADER,
            b"read" | b"write" | b"openat" | b"open" | b"close" => 0,
            b"exit" | b"_exit" | b"exit_group" | b"wait4" | b"waitid" | b"waitpid" => PROCESSES,
            b"brk" | b"munmap" | b"mprotect" | b"mremap" | b"madvise" => MEMORY,
            b"mmap" | b"mmap2" => MAPS,
            b"dup" | b"dup2" | b"dup3" | b"fcntl" | b"fcntl64" | b"ioctl" | b"getdents"
            | b"getdents64" | b"poll" | b"ppoll" | b"select" | b"pselect6" | b"_newselect"
            | b"fadvise64" | b"flock" | b"epoll_wait" | b"epoll_pwait" | b"epoll_ctl" => {
                DESCRIPTORS
            }
            b"futex" | b"nanosleep" | b"clock_nanosleep" | b"clock_gettime" => WAITS,
            b"rt_sigaction" | b"rt_sigprocmask" | b"rt_sigreturn" | b"sigaltstack" | b"kill"
            | b"tgkill" => SIGNALS,
            b"getpid" | b"gettid" | b"getppid" | b"getuid" | b"geteuid" | b"getgid"
            | b"getegid" | b"getpgrp" | b"getpgid" => IDENTITIES,
            _ => match CLASSLESS_CALLS.iter().position(|&other| other == name) {
                Some(at) => 1 << at,
                None if classes_of(name).has(Classes::SEEKS) => SEEKS,
                None if classes_of(name).has(Classes::FORKS) => PROCESSES,
                None => 0,
            },
        };
    }

    /// A task has ended: `+++ exited with 0 +++`.
    pub(crate) fn see_end(&mut self, event: &[u8]) {
        if event.starts_with(b"+++ exited") {
            self.seen |= ENDED;
        }
    }

    /// A message of strace: `strace: Process 7 attached`.
    pub(crate) fn see_message(&mut self, line: &[u8]) {
        if self.calls == 0
            && find(line, b" with ").is_none()
            && let Some(TaskChange::Attached(_)) = message::task_change(line)
        {
            self.seen |= ATTACHED;
        }
    }

    /// What seeks show in addition.
    pub(crate) fn with_seeks(self, seeks: &Seeks) -> Self {
        let seen = if seeks.are_seen() { LSEEK } else { 0 };
        let missed = if seeks.are_missed() { NO_LSEEK } else { 0 };
        Self { seen: self.seen | seen | missed, ..self }
    }

    /// Whether strace followed children (`-f`): then it was attached to all threads that there were.
    pub(crate) fn with_children(self, children: &Children) -> Self {
        let seen = if children.are_shown() { self.seen & !ATTACHED } else { self.seen };
        Self { seen, ..self }
    }

    /// What both show, which are parts of one log.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { seen: self.seen | other.seen, calls: (self.calls + other.calls).min(CALLS) }
    }

    fn has(self, any: u32) -> bool {
        self.seen & any != 0
    }

    /// Whether all calls that move positions are in the log: no choice of calls that leaves some of
    /// them out is likely to include these.
    pub(crate) fn are_all(self) -> bool {
        let others = (self.seen & OTHERS).count_ones();
        let moves = self.has(SEEKS | DESCRIPTORS);
        let maps = self.has(MEMORY | MAPS);
        others >= 3
            || others >= 2 && self.has(CLASSLESS)
            || others >= 1 && maps && (moves || self.has(PROCESSES))
            || self.has(MEMORY) && self.has(PROCESSES) && moves
    }

    /// Whether some of those calls are probably missing.
    pub(crate) fn are_filtered(self) -> bool {
        let unmapped = self.has(LOADER) && !self.has(MEMORY | MAPS);
        let endless = self.has(ENDED) && !self.has(PROCESSES) && self.calls >= CALLS_TO_END;
        let seekless = self.has(NO_LSEEK) && !self.has(LSEEK);
        let few = self.calls < CALLS && !(unmapped || endless || self.has(ATTACHED));
        seekless || !(few || self.are_all())
    }

    /// Whether there are processes of 32 bits.
    pub(crate) fn are_narrow(self) -> bool {
        self.has(NARROW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strace;

    fn filtered(text: &str) -> bool {
        strace::detect(text.as_bytes()).expect("a strace log").traced.are_filtered()
    }

    fn log(rest: &str) -> String {
        "7 read(3, \"x\", 1) = 1\n".repeat(CALLS.into()) + rest
    }

    #[test]
    fn calls_of_a_choice_are_not_all() {
        assert!(filtered(&log("")));
        assert!(filtered(&log("7 lseek(3, 0, SEEK_SET) = 0\n")));
        // %file
        assert!(filtered(&log("7 access(\"/x\", F_OK) = 0\n7 getcwd(\"/\", 9) = 2\n")));
        // %file,%desc
        let desc = "7 ioctl(1, TCGETS, {}) = 0\n7 mmap(NULL, 9, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7000\n7 lseek(3, 0, SEEK_SET) = 0\n";
        assert!(filtered(&log(desc)));
        // read,write,futex
        assert!(filtered(&log("7 futex(0x7000, FUTEX_WAKE_PRIVATE, 1) = 0\n")));
        // %file,%process,read,write,close
        assert!(filtered(&log("7 wait4(-1) = 8\n7 exit_group(0) = ?\n")));
        // Few calls show nothing.
        assert!(!filtered("7 read(3, \"x\", 1) = 1\n"));
    }

    #[test]
    fn calls_that_nobody_chooses_show_that_all_are_there() {
        assert!(!filtered(&log(
            "7 brk(NULL) = 0x5000\n7 arch_prctl(ARCH_SET_FS, 0x7000) = 0\n7 exit_group(0) = ?\n"
        )));
        let started = "7 set_tid_address(0x7000) = 7\n7 set_robust_list(0x7000, 24) = 0\n7 rseq(0x7000, 32, 0, 0x53053053) = 0\n";
        assert!(!filtered(&log(started)));
        // %file,%desc,%process,%memory
        let classes = "7 brk(NULL) = 0x5000\n7 ioctl(1, TCGETS, {}) = 0\n7 exit_group(0) = ?\n";
        assert!(!filtered(&log(classes)));
        assert!(filtered(&log(&classes.replace("exit_group(0)", "access(\"/x\", F_OK)"))));
    }

    #[test]
    fn what_must_come_with_a_line_is_missing() {
        let cache = "7 openat(AT_FDCWD, \"/etc/ld.so.cache\", O_RDONLY|O_CLOEXEC) = 3\n";
        assert!(filtered(cache));
        let mapped = "7 mmap(NULL, 9, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7000\n";
        assert!(!filtered(&format!("{cache}{mapped}")));
        let reads = "7 read(3, \"x\", 1) = 1\n".repeat(CALLS_TO_END.into());
        // %desc
        let desc = "7 fcntl(3, F_GETFD) = 0\n7 +++ exited with 0 +++\n";
        assert!(filtered(&format!("{cache}{mapped}{reads}{desc}")));
        assert!(filtered(&format!("{reads}7 +++ exited with 0 +++\n")));
        assert!(!filtered(&format!("{reads}7 exit_group(0) = ?\n7 +++ exited with 0 +++\n")));
        assert!(!filtered(&format!("{reads}7 +++ killed by SIGKILL +++\n")));
    }

    #[test]
    fn other_threads_than_the_one_that_strace_is_attached_to_are_missing() {
        let reads = "lseek(3, 0, SEEK_CUR) = 5\nread(3, \"x\", 1) = 1\n";
        assert!(filtered(&format!("strace: Process 7 attached\n{reads}")));
        assert!(filtered(&format!("Process 7 attached - interrupt to quit\n{reads}")));
        // `-f`
        assert!(!filtered(&format!("strace: Process 7 attached with 3 threads\n{reads}")));
        assert!(!filtered(&format!("{reads}strace: Process 7 attached\n{reads}")));
        let child =
            "vfork(strace: Process 8 attached\n <unfinished ...>\n[pid     8] close(3) = 0\n";
        assert!(!filtered(&format!("strace: Process 7 attached\n{reads}{child}")));
        let all = "futex(0x7000, FUTEX_WAKE_PRIVATE, 1) = 0\nbrk(NULL) = 0x5000\n";
        assert!(!filtered(&format!("strace: Process 7 attached\n{reads}{all}")));
    }

    #[test]
    fn parts_of_a_log_are_seen_together() {
        let see = |text: &str| strace::detect(text.as_bytes()).expect("a strace log").traced;
        let part = see(&format!("{}7 +++ exited with 0 +++\n", log("")));
        let other = see(
            "8 brk(NULL) = 0x5000\n8 rseq(0x7000, 32, 0, 0x53053053) = 0\n8 exit_group(0) = ?\n",
        );
        assert!(part.are_filtered());
        assert!(!part.and(other).are_filtered());
    }
}
