//! Finds the first task of a log that names tasks only while there are several.

use std::collections::HashSet;

use crate::linux::syscalls::{Classes, classes_as_printed};
use crate::strace::call::foreign_text;
use crate::strace::leader::Pid;
use crate::strace::leader::line_layout;
use crate::strace::line_start::call_name;
use crate::strace::non_calls::message::{TaskChange, task_change};
use crate::text::number;

/// Returns the first named task that no earlier line announced as new, or that ends a call which a
/// line without a pid left open.
pub(crate) fn find(text: &[u8]) -> Option<i32> {
    memchr::memmem::find(text, b"[pid ")?;
    let mut made = HashSet::new();
    // The call that the lines without a pid left open.
    let mut open: Option<&[u8]> = None;
    for line in text.split(|&b| b == b'\n') {
        let message = match task_change(line) {
            Some(change) => Some(change),
            None => foreign_text::message_start(line).and_then(|at| task_change(&line[at..])),
        };
        if let Some(TaskChange::Attached(pid)) = message {
            made.insert(pid);
        }
        let Some((layout, at)) = line_layout::layout_of(line) else { continue };
        let event = &line[at..];
        let pid = layout.leader(line).and_then(|leader| leader.pid);
        if let (Pid::Bracket, Some(pid)) = (layout.pid, pid) {
            let ends = resumed(event).is_some_and(|name| Some(name) == open);
            if !made.contains(&pid) && (ends || !open.is_some_and(forks)) {
                return Some(pid);
            }
            made.insert(pid);
        } else if let Some(n) = call_name(event) {
            open = memchr::memmem::find(event, b" = ").is_none().then_some(&event[..n]);
        } else if memchr::memmem::find(event, b" = ").is_some() {
            // The rest of a torn call, or a second half.
            open = None;
        }
        if let Some(child) = child(event) {
            made.insert(child);
            if pid.is_none() {
                open = None;
            }
        }
    }
    None
}

/// The name of the call that a second half ends.
fn resumed(event: &[u8]) -> Option<&[u8]> {
    let name = event.strip_prefix(b"<... ")?;
    memchr::memmem::find(name, b" resumed>").map(|n| &name[..n])
}

fn forks(name: &[u8]) -> bool {
    classes_as_printed(name).has(Classes::FORKS)
}

/// The task that the call on this line created.
fn child(event: &[u8]) -> Option<i32> {
    let name = resumed(event).or_else(|| call_name(event).map(|n| &event[..n]));
    // The call may have lost its start to a message or another line.
    let rest = [&b", child_tidptr="[..], b" => {parent_tid="];
    if !name.is_some_and(forks) && !rest.iter().any(|start| event.starts_with(start)) {
        return None;
    }
    let at = memchr::memmem::rfind(event, b" = ")?;
    let (pid, n) = number::c_integer(&event[at + 3..]);
    i32::try_from(pid).ok().filter(|&pid| n > 0 && pid > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_task_is_one_that_no_call_created() {
        let log = b"execve(\"/x\", [], 0x0) = 0
clone(child_stack=NULL, flags=SIGCHLD/b/strace: Process 12 attached
, child_tidptr=0x7f) = 12
[pid    12] close(3) = 0
[pid    11] wait4(-1,  <unfinished ...>
";
        assert_eq!(find(log), Some(11));
        assert_eq!(find(b"vfork() = 12\n[pid 12] close(3) = 0\n[pid 7] close(3) = 0\n"), Some(7));
        assert_eq!(find(b"close(3) = 0\n"), None);
        // With -q strace does not announce a child, and the child may print first.
        let log = b"clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
[pid    12] set_robust_list(0x7f, 24) = 0
[pid    11] <... clone resumed>, child_tidptr=0x7f) = 12
";
        assert_eq!(find(log), Some(11));
    }

    #[test]
    fn every_call_that_makes_tasks_announces_one() {
        for name in ["clone", "clone2", "clone3", "syscall_0x1b3", "fork", "vfork"] {
            let whole = format!("{name}() = 12\n[pid 12] close(3) = 0\n[pid 7] close(3) = 0\n");
            assert_eq!(find(whole.as_bytes()), Some(7), "{name}");
            let split = format!(
                "{name}( <unfinished ...>\n[pid 12] close(3) = 0\n[pid 7] <... {name} resumed>) = 12\n"
            );
            assert_eq!(find(split.as_bytes()), Some(7), "{name}");
        }
    }
}
