//! How many descriptors of each process the log shows to be open.

use crate::events::vocabulary::Op;
use crate::export::rows::{Called, Row};
use crate::hash::HashMap;
use crate::tables::waits::arguments::Arguments;

/// What a call says about descriptors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) fds: [Option<i32>; 2],
    pub(crate) ret: Option<i64>,
    pub(crate) args: &'a str,
}

/// The open descriptors of all processes, each with whether execve closes it. Those that are older
/// than the log are known once a call has used them.
#[derive(Debug, Default)]
pub(crate) struct Descriptors {
    by_process: HashMap<u32, HashMap<i32, bool>>,
}

impl Descriptors {
    /// A process has its first row: fork(2) copied the descriptors of its parent.
    pub(crate) fn appears(&mut self, process: u32, parent: Option<u32>) {
        if self.by_process.contains_key(&process) {
            return;
        }
        let copy = parent.and_then(|parent| self.by_process.get(&parent)).cloned();
        self.by_process.insert(process, copy.unwrap_or_default());
    }

    /// A process ended.
    pub(crate) fn ended(&mut self, process: u32) -> bool {
        self.by_process.remove(&process).is_some_and(|open| !open.is_empty())
    }

    /// A call. Returns how many are open now, if it changed that.
    pub(crate) fn call(&mut self, process: u32, row: Row, call: Call<'_>) -> Option<usize> {
        let open = self.by_process.get_mut(&process)?;
        let before = open.len();
        let returned = call.ret.and_then(|ret| i32::try_from(ret).ok());
        change(open, row.called, returned, call);
        (open.len() != before).then_some(open.len())
    }
}

fn change(open: &mut HashMap<i32, bool>, called: Called, ret: Option<i32>, call: Call<'_>) {
    let [fd, fd2] = call.fds;
    // close(2) closes even if it fails with EINTR or EIO.
    if let (Op::Close, Some(fd)) = (called.op, fd) {
        open.remove(&fd);
        return;
    }
    let Some(ret) = ret.filter(|&ret| ret >= 0) else { return };
    let marked = || call.args.contains("CLOEXEC");
    let arguments = || Arguments::new(call.args, false);
    match called.op {
        _ if called.makes_fd => {
            open.insert(ret, marked());
        }
        Op::OpenPair => open.extend([fd, fd2].into_iter().flatten().map(|fd| (fd, marked()))),
        Op::Dup => {
            open.insert(fd2.unwrap_or(ret), marked());
        }
        Op::Exec => open.retain(|_, cloexec| !*cloexec),
        Op::CloseRange => {
            let number = |at| arguments().number(at).and_then(|fd| i32::try_from(fd).ok());
            let last = number(1).filter(|&last| last >= 0).unwrap_or(i32::MAX);
            let Some(first) = number(0) else { return };
            if marked() {
                let range = open.iter_mut().filter(|(fd, _)| (first..=last).contains(*fd));
                range.for_each(|(_, cloexec)| *cloexec = true);
            } else {
                open.retain(|fd, _| !(first..=last).contains(fd));
            }
        }
        _ if called.controls && call.args.contains("F_DUPFD") => {
            open.insert(ret, marked());
        }
        _ if called.controls && call.args.contains("F_SETFD") => {
            if let Some(fd) = fd {
                open.insert(fd, marked());
            }
        }
        _ => {
            if let Some(fd) = fd.filter(|&fd| fd >= 0) {
                open.entry(fd).or_insert(false);
            }
        }
    }
}
