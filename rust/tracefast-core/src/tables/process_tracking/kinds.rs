//! How tasks were created: by the flags of the call, or else by what the tasks did.

use crate::linux::clone::Kind;
use crate::tables::process_tracking::task::{Birth, Task};

/// Whether a task is a thread of its creator's process.
///
/// If nothing shows it, a child of `clone3` is a thread: the C library uses `clone3` for threads,
/// and for the processes of `posix_spawn`, which start a program.
pub(crate) fn is_thread(tasks: &[Task], task: &Task) -> bool {
    task.birth.is_some_and(|birth| shown_thread(tasks, task, &birth).unwrap_or(birth.clone3))
}

/// How a task was created; None if nothing shows it.
pub(crate) fn kind(tasks: &[Task], task: &Task) -> Option<Kind> {
    let birth = task.birth?;
    birth.kind.or_else(|| match shown_thread(tasks, task, &birth) {
        Some(true) => Some(Kind::Thread),
        Some(false) if birth.clone3 => Some(process_kind(task, &birth)),
        _ => None,
    })
}

/// Whether a task is a thread, if the flags or its own rows show it.
fn shown_thread(tasks: &[Task], task: &Task, birth: &Birth) -> Option<bool> {
    if let Some(kind) = birth.kind {
        return Some(kind == Kind::Thread);
    }
    // The flags are not in the log, but the model may know them.
    let creator = tasks.get(birth.parent as usize);
    let same_process = task.seen
        && task.pid.is_some()
        && task.tid != task.pid
        && creator.is_some_and(|creator| creator.pid == task.pid);
    // Parents are notified of the end of processes only.
    let process = || task.guardian.is_some() || task.execs.iter().any(|exec| !exec.by_thread);
    if same_process { Some(true) } else { process().then_some(false) }
}

/// How `clone3` created a process whose flags are not in the log. The caller of `posix_spawn` waits
/// until the child has started its program (`CLONE_VFORK` in clone(2)).
fn process_kind(task: &Task, birth: &Birth) -> Kind {
    let returned = birth.ts.get().zip(birth.dur.get()).map(|(ts, dur)| ts.saturating_add(dur));
    let exec = task.execs.iter().find(|exec| !exec.by_thread).and_then(|exec| exec.ts);
    match returned.zip(exec) {
        Some((returned, exec)) if returned < exec => Kind::Fork,
        _ => Kind::PosixSpawn,
    }
}
