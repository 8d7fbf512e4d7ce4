//! Which task is the first one, in a log that names tasks only while there are several.

use std::collections::HashSet;

use super::leader::Pid;
use super::message::{News, news};
use super::{columns, torn};
use crate::num;

/// The first task with a name that no line before has announced as a new one.
pub(super) fn find(text: &[u8]) -> Option<i32> {
    memchr::memmem::find(text, b"[pid ")?;
    let mut made = HashSet::new();
    for line in text.split(|&b| b == b'\n') {
        let message = match news(line) {
            Some(news) => Some(news),
            None => torn::message_start(line).and_then(|at| news(&line[at..])),
        };
        if let Some(News::Attached(pid)) = message {
            made.insert(pid);
        }
        let Some((layout, at)) = columns::layout_of(line) else { continue };
        if layout.pid == Pid::Bracket
            && let Some(pid) = layout.leader(line).and_then(|leader| leader.pid)
            && made.insert(pid)
        {
            return Some(pid);
        }
        made.extend(child(&line[at..]));
    }
    None
}

/// The task that a call on this line made.
fn child(event: &[u8]) -> Option<i32> {
    let name = event.strip_prefix(b"<... ").unwrap_or(event);
    let forks = [&b"clone"[..], b"fork", b"vfork", b", child_tidptr=", b" => {parent_tid="];
    if !forks.iter().any(|start| name.starts_with(start)) {
        return None;
    }
    let at = memchr::memmem::rfind(event, b" = ")?;
    let (pid, n) = num::digits(&event[at + 3..]);
    i32::try_from(pid).ok().filter(|_| n > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_task_that_nobody_made() {
        let log = b"execve(\"/x\", [], 0x0) = 0
clone(child_stack=NULL, flags=SIGCHLD/b/strace: Process 12 attached
, child_tidptr=0x7f) = 12
[pid    12] close(3) = 0
[pid    11] wait4(-1,  <unfinished ...>
";
        assert_eq!(find(log), Some(11));
        assert_eq!(find(b"vfork() = 12\n[pid 12] close(3) = 0\n[pid 7] close(3) = 0\n"), Some(7));
        assert_eq!(find(b"close(3) = 0\n"), None);
    }
}
