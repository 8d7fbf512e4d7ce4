//! What a call of a process that may be a worker says about it.

use memchr::memrchr;

use crate::linux::waits::{CallTime, Giver, Time, spent};
use crate::tables::waits::arguments::{Arguments, FutexCall, FutexOp};
use crate::tables::waits::word_classes::Act;
use crate::tables::workers::fold::{At, CallColumns, Workers};
use crate::tables::workers::word_classes::Held;
use crate::text::search::contains;

impl Workers {
    /// A call of a process that may be a worker.
    pub(crate) fn lived(&mut self, columns: &mut CallColumns<'_>, at: &At) {
        let Some(Some(life)) = self.lives.get_mut(at.owner as usize) else { return };
        let (tasks, own) = columns;
        life.calls += 1;
        let end = at.ts.map(|ts| ts.saturating_add(at.dur.unwrap_or(0)));
        life.last = life.last.max(end.unwrap_or(self.tracker.row as i64));
        life.bits |= at.meaning.bit;
        let first = at.task == at.owner;
        let act = at.meaning.act;
        // A server of `multiprocessing.managers` does so first of all. A thread that sends results
        // does it to pass descriptors with them (`multiprocessing/resource_sharer.py`).
        life.listens |= first && act == Act::Listen;
        let moves = takes(act) || act == Act::Accept;
        let giver = if moves || at.meaning.time.asks_for_giver(at.dur) {
            let held = own.held.get(at.row, Held::from_file_type);
            held.map_or(Giver::Unknown, |held| held.giver).known_as(|| tasks.path.get(at.row))
        } else {
            Giver::Unknown
        };
        let args = || tasks.args.get(at.row).unwrap_or_default();
        let futex = if act == Act::Futex {
            FutexCall::parse(Arguments::new(args(), own.cpu.get(at.row).is_some()))
        } else {
            None
        };
        // Processes that share a semaphore of sem_open(3) wait while its value is 0
        // (`__new_sem_wait_slow64` in glibc's nptl/sem_waitcommon.c); pthread_join, which waits in the
        // same way, expects the id of a thread.
        if futex.is_some_and(|f| f.op == FutexOp::Wait && !f.private && f.value == 0) {
            life.waits_for_semaphore(at.ts);
        }
        // Its own threads are no others, and a sleep is its own doing.
        let alone = act == Act::Sleep || futex.is_some_and(|futex| futex.private);
        let waits = !alone && spent(at.meaning.time, giver, at.dur) == Time::Wait;
        if moves && giver != Giver::Storage {
            self.takes_job(columns, at);
        }
        let Some(Some(life)) = self.lives.get_mut(at.owner as usize) else { return };
        if first {
            if at.meaning.watches() {
                life.watches(at.ts);
            } else {
                life.looks_away();
            }
            if waits {
                life.wait_ns = life.wait_ns.saturating_add(at.dur.unwrap_or(0));
            }
        }
        if !self.starts_only {
            self.uses(columns, at, giver);
        }
    }

    /// It takes from what may be a channel for jobs.
    fn takes_job(&mut self, (tasks, own): &mut CallColumns<'_>, at: &At) {
        let Some(Some(life)) = self.lives.get_mut(at.owner as usize) else { return };
        let accepts = at.meaning.act == Act::Accept;
        let Some(ofd) = own.ofd[usize::from(accepts)].get(at.row) else { return };
        let ofd = (at.source, ofd);
        let Some(maker) = self.channels.get(ofd).map(|end| end.maker) else { return };
        if self.owners.get(maker as usize) == Some(&at.owner) {
            return;
        }
        let anon = life.growth.now.get();
        let Some(channel) = life.takes(ofd, at.ts) else { return };
        let jobs = channel.messages;
        if !accepts {
            let args = tasks.args.get(at.row).unwrap_or_default();
            channel.took(own.requested.get(at.row), own.bytes.get(at.row).unwrap_or(0), args);
        } else if tasks.ret.get(at.row).is_some_and(|fd| fd >= 0) {
            channel.accepted();
        }
        if channel.messages > jobs
            && let Some(anon) = anon
        {
            channel.steps.begin(anon);
        }
    }

    /// It uses a file.
    fn uses(&mut self, (tasks, own): &mut CallColumns<'_>, at: &At, giver: Giver) {
        let Some(Some(life)) = self.lives.get_mut(at.owner as usize) else { return };
        let act = at.meaning.act;
        let bytes = own.bytes.get(at.row).unwrap_or(0);
        let reads = bytes > 0 && takes(act) && giver == Giver::Storage;
        let path = tasks.path.get(at.row);
        let module = path.is_some_and(is_module);
        if at.task == at.owner {
            let end = at.ts.map(|ts| ts.saturating_add(at.dur.unwrap_or(0)));
            // What it looks up, and the memory that it gets for the next module.
            let aside = matches!(at.meaning.time, CallTime::Works | CallTime::Opens);
            // Its own program, which each worker runs, has no compiled file.
            let runs = takes(act) && path.is_some_and(|path| path.as_bytes().ends_with(b".py"));
            life.imports(module && !runs, aside, (at.ts, end));
        }
        let Some(path) = path else {
            if reads {
                life.reads(own.file.get(at.row), None, own.offset.get(at.row), bytes);
            }
            return;
        };
        if module {
            let used = matches!(act, Act::Open | Act::Map)
                && tasks.ret.get(at.row).is_some_and(|ret| ret != -1);
            let (file, size) = (own.file.get(at.row), own.size.get(at.row));
            life.module(file, size, at.dur.unwrap_or(0), used);
        }
        if is_shared_memory(path) {
            let mapped = if act == Act::Map && tasks.ret.get(at.row) != Some(-1) {
                own.requested.get(at.row).unwrap_or(0)
            } else {
                0
            };
            let moved = if takes(act) || act == Act::Give { bytes } else { 0 };
            life.shm_bytes = life.shm_bytes.saturating_add(mapped.max(0)).saturating_add(moved);
        } else if reads
            && !own.held.get(at.row, Held::from_file_type).is_some_and(|held| held.device)
        {
            life.reads(own.file.get(at.row), Some(path), own.offset.get(at.row), bytes);
        }
    }
}

/// Whether a call takes data from its descriptor.
pub(crate) fn takes(act: Act) -> bool {
    matches!(act, Act::Take | Act::Transfer)
}

/// Whether a path is that of a module of Python, or of a shared library.
fn is_module(path: &str) -> bool {
    let bytes = path.as_bytes();
    match bytes.last() {
        Some(b'c') => bytes.ends_with(b".pyc"),
        Some(b'y') => bytes.ends_with(b".py"),
        Some(b'o') => bytes.ends_with(b".so"),
        // A library with a version: `libc.so.6`.
        Some(b'0'..=b'9') => {
            let name = memrchr(b'/', bytes).map_or(bytes, |at| &bytes[at + 1..]);
            contains(name, b".so.", 0)
        }
        _ => false,
    }
}

/// Whether a path is that of memory which processes share. Semaphores (`sem_overview(7)`) hold no
/// data.
pub(crate) fn is_shared_memory(path: &str) -> bool {
    path.strip_prefix("/dev/shm/").is_some_and(|name| !name.starts_with("sem."))
        || path.starts_with("/memfd:")
}
