//! How a log was recorded, as far as its first lines show it: strace writes its options nowhere.

use std::collections::HashSet;

use crate::linux::syscalls::{Classes, classes_of};
use crate::strace::call::result;
use crate::strace::detect::children::Children;
use crate::strace::detect::seeks::Seeks;
use crate::strace::detect::traced_calls::TracedCalls;
use crate::strace::leader::{DAY, Layout, Time};
use crate::strace::line_start::call_name;
use crate::text::number;
use crate::text::search::rfind;

/// How many calls must succeed before it is likely that only such calls are in the log.
const SUCCEED: usize = 32;

/// By how much calls must overlap, ns: their times are rounded.
const OVERLAP: i64 = 10_000;

/// What the first lines show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Recording {
    /// Lines come at the ends of calls, and no call is split: `-z`, `--status`.
    pub by_ends: bool,
    /// Which calls were traced.
    pub traced: TracedCalls,
    /// Children may not be in the log.
    pub hides_children: bool,
    /// Calls that failed may not be in the log: `-z`.
    pub hides_failures: bool,
    /// Tasks are not in the log any more after they have started a program.
    pub leaves_programs: bool,
}

/// The facts that decide, of the lines so far.
#[derive(Debug, Default)]
struct Facts {
    /// The task of the first call, by its number or 0.
    first: Option<i32>,
    /// There are lines of several tasks.
    several: bool,
    /// A call has two halves.
    split: bool,
    calls: usize,
    /// A call failed.
    failed: bool,
    traced: TracedCalls,
    children: Children,
    seeks: Seeks,
    /// Lines of tasks are not in the order of their times, or a child comes before its parent's
    /// call.
    disordered: bool,
    /// Tasks that calls made, and tasks that appeared without such a call.
    made: HashSet<i32>,
    unexpected: HashSet<i32>,
    /// The latest entry of a call, and whose it is.
    entry: Option<(i64, Option<i32>)>,
    /// The latest end of a call, and whose it is.
    end: Option<(i64, Option<i32>)>,
}

impl Recording {
    /// Looks at the first lines of a log.
    pub(crate) fn detect(text: &[u8], layout: &Layout) -> Self {
        let mut facts = Facts::default();
        for line in text.split(|&b| b == b'\n') {
            facts.see(line.strip_suffix(b"\r").unwrap_or(line), layout);
            if facts.are_settled() {
                break;
            }
        }
        let succeeds = facts.calls >= SUCCEED && !facts.failed;
        Self {
            by_ends: facts.several && !facts.split && (facts.disordered || succeeds),
            traced: facts.traced.with_seeks(&facts.seeks).with_children(&facts.children),
            hides_children: facts.children.may_be_hidden(layout.pid),
            // With `-z` no call is split, and an excerpt may be short.
            hides_failures: !(facts.split || facts.failed),
            leaves_programs: facts.children.leave(),
        }
    }
}

impl Facts {
    /// Whether later lines do not matter.
    fn are_settled(&self) -> bool {
        let all = self.split && self.traced.are_all();
        all && self.children.are_settled() && self.seeks.are_settled()
    }

    fn see(&mut self, line: &[u8], layout: &Layout) {
        let Some(leader) = layout.leader(line) else {
            self.children.see_message(line);
            self.traced.see_message(line);
            return;
        };
        let event = &line[leader.next..];
        self.children.see(leader.pid, event);
        // With `-z`, too, an execve of another thread than the leader ends so: after its line for
        // the thread that superseded the leader.
        self.split |= event.starts_with(b"<... ") && !event.starts_with(b"<... execve resumed");
        if event.starts_with(b"+++ ") {
            self.traced.see_end(event);
            if let Some(pid) = leader.pid {
                // A later task may have its number.
                self.unexpected.remove(&pid);
                self.made.remove(&pid);
            }
        }
        let Some(len) = call_name(event) else {
            self.traced.see_message(event);
            return;
        };
        let name = &event[..len];
        self.traced.see(name, event);
        self.seeks.see(leader.pid, name, event);
        // With `-z`, too, a few lines end so.
        if self.split || event.ends_with(b" ...>") {
            return;
        }
        self.calls += 1;
        self.failed |= memchr::memmem::find(event, b" = -1 E").is_some();
        let task = leader.pid.unwrap_or(0);
        self.several |= *self.first.get_or_insert(task) != task;
        if classes_of(name).has(Classes::FORKS)
            && let Some(at) = rfind(event, b" = ", 0)
        {
            let (child, n) = number::c_integer(&event[at + 3..]);
            if let Some(child) = i32::try_from(child).ok().filter(|&child| n > 0 && child > 0) {
                self.disordered |= self.unexpected.contains(&child);
                self.made.insert(child);
            }
        }
        self.unexpected.extend(leader.pid.filter(|pid| !self.made.contains(pid)));
        if let Some(time) = leader.time.filter(|_| layout.time != Time::None) {
            let took = if line.ends_with(b">") { result::elapsed(line, leader.next) } else { None };
            self.time(time, took.map_or(0, |(_, took)| took.max(0)), leader.pid);
        }
    }

    /// A call of `task` was entered at `entry`.
    fn time(&mut self, entry: i64, took: i64, task: Option<i32>) {
        let before = |known: Option<(i64, Option<i32>)>, by: i64| {
            known.is_some_and(|(time, of)| of != task && (by..DAY / 2).contains(&(time - entry)))
        };
        self.disordered |= before(self.entry, 1) || before(self.end, OVERLAP);
        let end = entry.saturating_add(took);
        // After midnight times of day start again.
        let later = |known: Option<(i64, Option<i32>)>, time: i64| {
            known.is_none_or(|(known, _)| known <= time || known - time > DAY / 2)
        };
        if later(self.entry, entry) {
            self.entry = Some((entry, task));
        }
        if later(self.end, end) {
            self.end = Some((end, task));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strace::detect::sniff;

    fn recording(text: &str) -> Recording {
        let (layout, _) = sniff(text.as_bytes()).expect("a strace log");
        Recording::detect(text.as_bytes(), &layout)
    }

    #[test]
    fn whole_calls_of_several_tasks_do_not_overlap_unless_lines_come_at_their_ends() {
        let by_ends = |text: &str| recording(text).by_ends;
        assert!(by_ends(
            "8 1700000000.000200 read(3, \"\", 1) = 0 <0.000010>\n7 1700000000.000100 wait4(8) = 8\n"
        ));
        assert!(by_ends(
            "8 1700000000.000100 read(3, \"\", 1) = 0 <0.000200>\n7 1700000000.000200 close(4) = 0\n"
        ));
        // The child comes before its parent's call.
        assert!(by_ends("8 read(3, \"\", 1) = 0\n7 clone(flags=SIGCHLD) = 8\n"));
        assert!(!by_ends("7 clone(flags=SIGCHLD) = 8\n8 read(3, \"\", 1) = 0\n"));
        // Its number was that of a task that has ended.
        assert!(!by_ends("8 close(3) = 0\n8 +++ exited with 0 +++\n7 clone(flags=SIGCHLD) = 8\n"));
        assert!(!by_ends(
            "8 1700000000.000100 read(3, \"\", 1) = 0 <0.000100>\n7 1700000000.000200 close(4) = 0 <0.000010>\n"
        ));
        // Midnight.
        assert!(!by_ends("8 23:59:59.900000 close(3) = 0\n7 00:00:00.100000 close(4) = 0\n"));
        // A second half.
        let split = "7 1700000000.000100 wait4(8 <unfinished ...>\n8 1700000000.000200 close(3) = 0\n7 1700000000.000150 <... wait4 resumed>) = 8\n";
        assert!(!by_ends(split));
    }

    #[test]
    fn an_execve_of_another_thread_than_the_leader_does_not_show_halves() {
        let superseded = "8 +++ superseded by execve in pid 9 +++\n8 <... execve resumed>) = 0\n";
        let log = "8 read(3, \"\", 1) = 0\n7 clone(flags=SIGCHLD) = 8\n".to_owned();
        assert!(recording(&(superseded.to_owned() + &log)).by_ends);
    }

    #[test]
    fn calls_that_all_succeed_are_not_all_calls() {
        let log = |rest: &str| "7 close(3) = 0\n8 close(3) = 0\n".repeat(SUCCEED) + rest;
        assert!(recording(&log("")).by_ends);
        assert!(!recording(&log("7 close(3) = -1 EBADF (Bad file descriptor)\n")).by_ends);
        assert!(!recording(&"7 close(3) = 0\n".repeat(99)).by_ends);
        // Of one task the order is known, too.
        let split =
            "7 read(3,  <unfinished ...>\n8 close(4) = 0\n7 <... read resumed>\"\", 1) = 0\n";
        for (rest, hides) in
            [("", true), ("7 close(3) = -1 EBADF (Bad file descriptor)\n", false), (split, false)]
        {
            assert_eq!(recording(&("7 close(3) = 0\n".repeat(9) + rest)).hides_failures, hides);
        }
    }
}
