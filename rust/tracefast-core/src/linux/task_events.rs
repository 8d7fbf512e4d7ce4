//! What events of the scheduler say about tasks: their names at that moment, and who created them.
//!
//! A record's own column has the last name that the kernel saved for the task before the log was
//! read (`trace_find_cmdline`), which may be a later one.

use memchr::memmem;

use crate::events::vocabulary::clone_flags::CSIGNAL;
use crate::text::number;
use crate::text::search::rfind;

/// Events that name tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskEvent {
    /// `sched_switch`.
    Switch,
    /// `task_rename`.
    Rename,
    /// `task_newtask`.
    NewTask,
    /// `sched_process_fork`.
    Fork,
    /// `sched_process_exec`.
    Exec,
    /// `sched_process_exit`.
    Exit,
    /// Others with `comm=… pid=…` of one task.
    Named,
}

impl TaskEvent {
    /// What the event `name` is.
    #[inline]
    pub(crate) fn from_name(name: &[u8]) -> Option<Self> {
        if let Some(rest) = name.strip_prefix(b"sched_") {
            return match rest {
                b"switch" => Some(Self::Switch),
                b"process_fork" => Some(Self::Fork),
                b"process_exec" => Some(Self::Exec),
                b"process_exit" => Some(Self::Exit),
                b"wakeup" | b"waking" | b"wakeup_new" | b"migrate_task" | b"process_free"
                | b"stat_wait" | b"stat_sleep" | b"stat_iowait" | b"stat_blocked"
                | b"stat_runtime" => Some(Self::Named),
                _ => None,
            };
        }
        match name {
            b"task_rename" => Some(Self::Rename),
            b"task_newtask" => Some(Self::NewTask),
            _ => None,
        }
    }

    /// It shows when a name changes.
    pub(crate) fn renames(self) -> bool {
        matches!(self, Self::Switch | Self::Rename | Self::Exec)
    }
}

/// A name of a task, and when it applies: before and at the event, or only after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TaskName<'a> {
    /// The task; `None`: the one that the record is of.
    pub tid: Option<i32>,
    /// Its name.
    pub comm: &'a [u8],
    /// From the next record on.
    pub later: bool,
}

/// The names in the payload `text` of an event, at most two.
pub(crate) fn task_names(task_event: TaskEvent, text: &[u8]) -> [Option<TaskName<'_>>; 2] {
    let now = |(tid, comm)| TaskName { tid: Some(tid), comm, later: false };
    match task_event {
        TaskEvent::Switch => {
            if let Some(at) = rfind(text, b" ==> next_comm=", 3) {
                let next = pair(&text[at + 5..], b"next_comm=", b" next_pid=");
                let prev = pair(&text[..at], b"prev_comm=", b" prev_pid=");
                return [prev.map(now), next.map(now)];
            }
            let Some(at) = rfind(text, b" ==> ", 3) else { return [None, None] };
            [plugin(&text[..at]).map(now), plugin(&text[at + 5..]).map(now)]
        }
        TaskEvent::Named | TaskEvent::Exit => {
            let found = pair(text, b"comm=", b" pid=").or_else(|| plugin(text));
            [found.map(now), None]
        }
        TaskEvent::NewTask => [new_task(text).map(|(tid, comm, _)| now((tid, comm))), None],
        TaskEvent::Fork => [fork(text).map(now), None],
        TaskEvent::Exec => {
            let Some((pid, path)) = pair(text, b"filename=", b" pid=") else { return [None, None] };
            let name = &path[memchr::memrchr(b'/', path).map_or(0, |at| at + 1)..];
            // A program without a name is one that was opened before: its name is not here.
            let opened = path.starts_with(b"/dev/fd/") || name.is_empty();
            let comm = &name[..name.len().min(15)];
            [(!opened).then(|| now((pid, comm))), None]
        }
        TaskEvent::Rename => {
            // Without the pid since Linux 6.15.
            let tid = text.strip_prefix(b"pid=").map(number::c_integer).filter(|&(_, n)| n > 0);
            let tid = tid.and_then(|(tid, _)| i32::try_from(tid).ok());
            let find =
                |key: &[u8], from: usize| memmem::find(text.get(from..)?, key).map(|at| from + at);
            let Some(old) = find(b"oldcomm=", 0) else { return [None, None] };
            // Names are no longer than 15 bytes: the first place that may be the end.
            let Some(new) = find(b" newcomm=", old + 8) else { return [None, None] };
            let end = rfind(text, b" oom_score_adj=", 14).unwrap_or(text.len());
            let Some(comm) = text.get(new + 9..end) else { return [None, None] };
            [
                Some(TaskName { tid, comm: &text[old + 8..new], later: false }),
                Some(TaskName { tid, comm, later: true }),
            ]
        }
    }
}

/// The child's id and the clone flags in `task_newtask` or `sched_process_fork`.
pub(crate) fn created_task(task_event: TaskEvent, text: &[u8]) -> Option<(i32, u32)> {
    match task_event {
        TaskEvent::NewTask => new_task(text).map(|(tid, _, flags)| (tid, flags & !CSIGNAL)),
        TaskEvent::Fork => fork(text).map(|(tid, _)| (tid, 0)),
        _ => None,
    }
}

/// The program that `sched_process_exec` names: `filename=/bin/true pid=7 old_pid=7`.
pub(crate) fn program(text: &str) -> Option<&str> {
    let (_, path) = pair(text.as_bytes(), b"filename=", b" pid=")?;
    text.get("filename=".len()..)?.get(..path.len())
}

/// The leader and the thread that called execve, if they differ: `sched_process_exec` names
/// both, and from then on the thread has the leader's id.
pub(crate) fn superseded(text: &[u8]) -> Option<(i32, i32)> {
    let (pid, _) = pair(text, b"filename=", b" pid=")?;
    let at = rfind(text, b" old_pid=", 8)?;
    let old = id(&text[at + 9..])?;
    (old != pid).then_some((pid, old))
}

fn new_task(text: &[u8]) -> Option<(i32, &[u8], u32)> {
    let tid = id(text.strip_prefix(b"pid=")?)?;
    let comm = memmem::find(text, b" comm=")? + 6;
    let end = rfind(text, b" clone_flags=", 12).filter(|&end| end >= comm)?;
    // Hexadecimal, with `0x` or without.
    let flags = text[end + 13..].strip_prefix(b"0x").unwrap_or(&text[end + 13..]);
    let (flags, n) = number::hex_digits(flags);
    (n > 0).then_some((tid, &text[comm..end], flags as u32))
}

fn fork(text: &[u8]) -> Option<(i32, &[u8])> {
    let at = rfind(text, b" child_comm=", 11)?;
    pair(&text[at + 1..], b"child_comm=", b" child_pid=")
}

/// `KEY` and a name, `PID` and an id. The name may hold anything, so it is read from the right;
/// what follows the id never holds its key.
fn pair<'a>(text: &'a [u8], key: &[u8], pid: &[u8]) -> Option<(i32, &'a [u8])> {
    let name = text.strip_prefix(key)?;
    let at = rfind(name, pid, pid.len() - 1)?;
    Some((id(&name[at + pid.len()..])?, &name[..at]))
}

/// trace-cmd's `COMM:PID [PRIO] …`.
fn plugin(text: &[u8]) -> Option<(i32, &[u8])> {
    let end = memmem::rfind(text, b" [")?;
    let colon = memchr::memrchr(b':', &text[..end])?;
    let (pid, n) = number::digits(&text[colon + 1..end]);
    let whole = n > 0 && colon + 1 + n == end;
    Some((i32::try_from(pid).ok().filter(|_| whole)?, text[..colon].trim_ascii_start()))
}

fn id(text: &[u8]) -> Option<i32> {
    // The option `fields` prints hexadecimal numbers.
    let (id, n) = number::c_integer(text);
    (n > 0).then(|| i32::try_from(id).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comm_changes(name: &str, text: &str) -> Vec<(Option<i32>, String, bool)> {
        let task_event = TaskEvent::from_name(name.as_bytes())
            .unwrap_or_else(|| panic!("{name} reports a name"));
        task_names(task_event, text.as_bytes())
            .into_iter()
            .flatten()
            .map(|fact| (fact.tid, String::from_utf8_lossy(fact.comm).into_owned(), fact.later))
            .collect()
    }

    fn one(name: &str, text: &str) -> (i32, String) {
        match &comm_changes(name, text)[..] {
            [(Some(tid), comm, false)] => (*tid, comm.clone()),
            other => panic!("{name} {text}: {other:?}"),
        }
    }

    #[test]
    fn names_in_every_form() {
        let wakeup = "comm=sh pid=7 prio=120 target_cpu=001";
        assert_eq!(one("sched_wakeup", wakeup), (7, "sh".to_owned()));
        assert_eq!(one("sched_waking", "sh:7 [120] CPU:001"), (7, "sh".to_owned()));
        let odd = "comm=a pid=9 b pid=7 prio=120";
        assert_eq!(one("sched_process_exit", odd), (7, "a pid=9 b".to_owned()));
        assert_eq!(
            one("sched_process_fork", "comm=a pid=1 child_comm=x=y child_pid=2"),
            (2, "x=y".to_owned())
        );
        assert_eq!(
            one("task_newtask", "pid=1529 comm=new\nline clone_flags=1200000 oom_score_adj=0"),
            (1529, "new\nline".to_owned())
        );
        assert_eq!(
            one("sched_process_exec", "filename=/usr/bin/a pid=1 old_pid=1 b pid=7 old_pid=7"),
            (7, "a pid=1 old_pid".to_owned())
        );
        assert_eq!(
            one("sched_wakeup", "comm=sh pid=0x7 (7) prio=0x78 (120)"),
            (7, "sh".to_owned())
        );
    }

    #[test]
    fn switches_and_renames() {
        let pair = |a: (i32, &str), b: (i32, &str)| {
            vec![(Some(a.0), a.1.to_owned(), false), (Some(b.0), b.1.to_owned(), false)]
        };
        assert_eq!(
            comm_changes("sched_switch", "bash:2330 [120] S ==> swapper/0:0 [120]"),
            pair((2330, "bash"), (0, "swapper/0"))
        );
        assert_eq!(
            comm_changes(
                "sched_switch",
                "prev_comm=a ==> b prev_pid=7 prev_prio=120 prev_state=R+ ==> next_comm= next_pid=8 \
                 next_prio=120"
            ),
            pair((7, "a ==> b"), (8, ""))
        );
        let new = |tid| vec![(tid, "a".to_owned(), false), (tid, "b c".to_owned(), true)];
        let text = "pid=7 oldcomm=a newcomm=b c oom_score_adj=0";
        assert_eq!(comm_changes("task_rename", text), new(Some(7)));
        assert_eq!(comm_changes("task_rename", "oldcomm=a newcomm=b c oom_score_adj=0"), new(None));
    }

    #[test]
    fn who_made_whom() {
        let text = b"pid=1529 comm=bash clone_flags=1200000 oom_score_adj=0";
        assert_eq!(created_task(TaskEvent::NewTask, text), Some((1529, 0x120_0000)));
        let text = b"pid=1529 comm=bash clone_flags=0x1200000 oom_score_adj=0";
        assert_eq!(created_task(TaskEvent::NewTask, text), Some((1529, 0x120_0000)));
        let text = b"comm=bash pid=1 child_comm=bash child_pid=2";
        assert_eq!(created_task(TaskEvent::Fork, text), Some((2, 0)));
        assert_eq!(superseded(b"filename=/bin/true pid=7 old_pid=9"), Some((7, 9)));
        assert_eq!(superseded(b"filename=/bin/true pid=7 old_pid=7"), None);
    }

    #[test]
    fn programs_may_have_any_name() {
        assert_eq!(program("filename=/a b pid=1 pid=7 old_pid=7"), Some("/a b pid=1"));
        assert_eq!(program("filename=/bin/true"), None);
        assert_eq!(program("/bin/true"), None);
    }

    #[test]
    fn what_tells_nothing() {
        for name in ["sched_process_wait", "sys_enter", "", "sched_", "task"] {
            assert_eq!(TaskEvent::from_name(name.as_bytes()), None, "{name}");
        }
        for text in [
            "",
            "=",
            "pid=",
            "comm=",
            " ==> ",
            "filename= pid=",
            "a:b [",
            "newcomm=",
            "oldcomm= newcomm=",
            "oldcomm= oom_score_adj= newcomm=",
            "pid=1 comm= clone_flags=",
        ] {
            for task_event in [
                TaskEvent::Switch,
                TaskEvent::Rename,
                TaskEvent::NewTask,
                TaskEvent::Fork,
                TaskEvent::Exec,
                TaskEvent::Exit,
                TaskEvent::Named,
            ] {
                let _ = (
                    task_names(task_event, text.as_bytes()),
                    created_task(task_event, text.as_bytes()),
                );
                assert_eq!(superseded(text.as_bytes()), None);
            }
        }
        assert_eq!(comm_changes("sched_process_exec", "filename=/dev/fd/3 pid=1 old_pid=1"), []);
    }

    #[test]
    fn example_of_facts() {
        use crate::linux::task_events::{TaskEvent, task_names};
        let text = b"prev_comm=a b prev_pid=7 prev_prio=120 prev_state=S ==> \
                     next_comm=swapper/0 next_pid=0 next_prio=120";
        let [first, second] = task_names(TaskEvent::Switch, text).map(Option::unwrap);
        assert_eq!((first.tid, first.comm), (Some(7), &b"a b"[..]));
        assert_eq!((second.tid, second.comm), (Some(0), &b"swapper/0"[..]));
    }
}
