//! How many descriptors of each process the log shows to be open.
//!
//! The tables are those of the model (`kernel/descriptors/fd_table.rs`). Which tasks share one follows
//! from how they were made, and from `unshare`.

use crate::events::vocabulary::Op;
use crate::export::rows::Called;
use crate::export::tracks::Tracks;
use crate::hash::HashMap;
use crate::kernel::descriptors::fd_table::FdTable;
use crate::kernel::descriptors::open_file_description::{
    DescriptionRef, OpenFileDescription, OpenFileDescriptions,
};
use crate::linux::syscalls::{Cloexec, Count, NONE, Shape, Special};
use crate::strace::fields::scm_rights::carried;
use crate::tables::waits::arguments::Arguments;

const MSG_CMSG_CLOEXEC: i64 = 0x4000_0000;

/// What a call says about descriptors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) fds: [Option<i32>; 2],
    pub(crate) ret: Option<i64>,
    pub(crate) args: &'a str,
}

/// A table, and the threads that share it.
#[derive(Debug, Default)]
struct Table {
    fds: FdTable,
    open: usize,
    threads: Vec<u32>,
    /// The processes whose leaders have it.
    processes: Vec<u32>,
}

/// The tables of all tasks. Descriptors that are older than the log are known once a call has used
/// them.
#[derive(Debug, Default)]
pub(crate) struct Descriptors {
    /// Which files are open does not matter here: all descriptors lead to this one.
    files: OpenFileDescriptions,
    any: Option<DescriptionRef>,
    tables: HashMap<u32, Table>,
    next: u32,
    by_thread: HashMap<u32, u32>,
    by_process: HashMap<u32, u32>,
    /// How many descriptors processes have now, where that has changed: for the reader to take.
    pub(crate) changes: Vec<(u32, usize)>,
}

impl Descriptors {
    /// A thread has its first row, or the call that made it returned: it shares the table of its
    /// process, or has a copy of its maker's.
    pub(crate) fn appears(&mut self, tracks: &Tracks, thread: u32) {
        if self.by_thread.contains_key(&thread) {
            return;
        }
        let Some(track) = tracks.threads.get(thread as usize) else { return };
        let own = self.by_process.get(&track.process).copied();
        let maker = track.maker.and_then(|maker| self.by_thread.get(&maker).copied());
        // The flags may say otherwise: CLONE_FILES in clone(2).
        let shares = own.is_some() != track.unusual_files;
        match own.filter(|_| shares).or(maker) {
            Some(table) if shares => self.join(thread, table),
            Some(table) => self.copy(thread, table),
            None => self.add(thread, Table::default()),
        }
        if let (None, Some(&table)) = (own, self.by_thread.get(&thread)) {
            self.lead(track.process, table);
        }
    }

    fn add(&mut self, thread: u32, table: Table) {
        self.tables.insert(self.next, table);
        self.join(thread, self.next);
        self.next += 1;
    }

    fn join(&mut self, thread: u32, table: u32) {
        if let Some(entry) = self.tables.get_mut(&table) {
            entry.threads.push(thread);
            self.by_thread.insert(thread, table);
        }
    }

    fn copy(&mut self, thread: u32, table: u32) {
        let Some(entry) = self.tables.get(&table) else { return };
        let (fds, open) = (entry.fds.copy(&mut self.files), entry.open);
        self.add(thread, Table { fds, open, ..Table::default() });
    }

    /// A process has this table from now on.
    fn lead(&mut self, process: u32, table: u32) {
        let before = self.by_process.insert(process, table);
        let before = before.and_then(|before| self.tables.get_mut(&before));
        let open = before.map_or(0, |before| {
            before.processes.retain(|&one| one != process);
            before.open
        });
        if let Some(entry) = self.tables.get_mut(&table) {
            entry.processes.push(process);
            if entry.open != open {
                self.changes.push((process, entry.open));
            }
        }
    }

    /// The thread has its table alone from now on, and so has its process if the thread leads it.
    fn unshare(&mut self, thread: u32, leads: Option<u32>) {
        let Some(&table) = self.by_thread.get(&thread) else { return };
        if self.tables.get(&table).is_none_or(|entry| entry.threads.len() < 2) {
            return;
        }
        self.leave(thread);
        self.copy(thread, table);
        if let (Some(process), Some(&own)) = (leads, self.by_thread.get(&thread)) {
            self.lead(process, own);
        }
    }

    fn leave(&mut self, thread: u32) {
        let Some(table) = self.by_thread.remove(&thread) else { return };
        if let Some(entry) = self.tables.get_mut(&table) {
            entry.threads.retain(|&one| one != thread);
        }
    }

    /// A thread ended. Without threads a table is closed.
    pub(crate) fn ended(&mut self, thread: u32) {
        let Some(&table) = self.by_thread.get(&thread) else { return };
        self.leave(thread);
        if self.tables.get(&table).is_some_and(|entry| entry.threads.is_empty())
            && let Some(mut entry) = self.tables.remove(&table)
        {
            entry.fds.clear(&mut self.files);
            for process in entry.processes {
                self.by_process.remove(&process);
                if entry.open > 0 {
                    self.changes.push((process, 0));
                }
            }
        }
    }

    /// A call of a thread.
    pub(crate) fn call(&mut self, tracks: &Tracks, thread: u32, called: Called, call: Call<'_>) {
        let arguments = Arguments::new(call.args, false);
        let process = tracks.threads.get(thread as usize).map(|track| track.process);
        let done = call.ret.is_some_and(|ret| ret >= 0);
        match called.op {
            Op::Exec if call.ret == Some(0) => {
                self.unshare(thread, process);
                let own = self.by_thread.get(&thread).copied();
                if let (Some(process), Some(own)) = (process, own)
                    && self.by_process.get(&process) != Some(&own)
                {
                    self.lead(process, own);
                }
            }
            Op::Unshare if done && arguments.has(0, "CLONE_FILES", 0x400) => {
                self.unshare(thread, process.filter(|_| tracks.leads(thread)));
            }
            Op::CloseRange if done && arguments.has(2, "CLOSE_RANGE_UNSHARE", 2) => {
                self.unshare(thread, process.filter(|_| tracks.leads(thread)));
            }
            _ => {}
        }
        let any = *self.any.get_or_insert_with(|| {
            let any = self.files.add(OpenFileDescription::new(None, None, None));
            self.files.keep(any);
            any
        });
        let table = self.by_thread.get(&thread).and_then(|table| self.tables.get_mut(table));
        let Some(table) = table else { return };
        let before = table.open;
        Change { table, files: &mut self.files, any }.of(called, call, arguments);
        if table.open != before {
            self.changes.extend(table.processes.iter().map(|&process| (process, table.open)));
        }
    }
}

/// A change of a table.
struct Change<'a> {
    table: &'a mut Table,
    files: &'a mut OpenFileDescriptions,
    any: DescriptionRef,
}

impl Change<'_> {
    fn open(&mut self, fd: i32, cloexec: bool) {
        let new = self.table.fds.get(fd).is_none();
        self.table.fds.install(self.files, fd, self.any, cloexec);
        self.table.open += usize::from(new && self.table.fds.get(fd).is_some());
    }

    fn close(&mut self, fd: i32) {
        let known = self.table.fds.get(fd).is_some();
        self.table.fds.close(self.files, fd);
        self.table.open -= usize::from(known);
    }

    fn of(&mut self, called: Called, call: Call<'_>, arguments: Arguments<'_>) {
        let [fd, fd2] = call.fds;
        // close(2) closes even if it fails with EINTR or EIO.
        if let (Op::Close, Some(fd)) = (called.op, fd) {
            self.close(fd);
            return;
        }
        let Some(ret) = call.ret.filter(|&ret| ret >= 0) else { return };
        let marked = || match called.cloexec {
            Cloexec::Always => true,
            Cloexec::Bit(bit) => {
                called.flags != NONE
                    && arguments.has(called.flags.into(), "CLOEXEC", i64::from(bit))
            }
        };
        if let Some(shape) = called.messages {
            self.receive(shape, call.args, ret);
        }
        let new = i32::try_from(ret).ok();
        match called.op {
            Op::Dup => {
                if let Some(new) = fd2.or(new).filter(|&new| Some(new) != fd) {
                    self.open(new, marked());
                }
            }
            _ if called.makes_fd => {
                if let Some(new) = new {
                    self.open(new, marked());
                }
            }
            Op::OpenPair => {
                [fd, fd2].into_iter().flatten().for_each(|fd| self.open(fd, marked()));
            }
            Op::Exec => {
                self.table.fds.exec(self.files);
                self.table.open = self.table.fds.all().count();
            }
            Op::CloseRange => self.range(arguments),
            _ if called.special == Special::Fcntl => self.control(fd, new, arguments),
            _ if called.special == Special::Ioctl && arguments.is(1, "FIOCLEX", 0x5451) => {
                self.mark(fd, true);
            }
            _ if called.special == Special::Ioctl && arguments.is(1, "FIONCLEX", 0x5450) => {
                self.mark(fd, false);
            }
            _ => self.used(fd),
        }
    }

    /// A call used a descriptor, so it is open.
    fn used(&mut self, fd: Option<i32>) {
        if let Some(fd) = fd.filter(|&fd| self.table.fds.get(fd).is_none()) {
            self.open(fd, false);
        }
    }

    /// Messages may carry descriptors: `SCM_RIGHTS` in unix(7).
    fn receive(&mut self, shape: &Shape, args: &str, ret: i64) {
        let Some(found) = carried(args.as_bytes(), shape, ret) else { return };
        let flags = if matches!(shape.count, Count::Message(_)) { 2 } else { 3 };
        let marked = Arguments::new(args, false).has(flags, "MSG_CMSG_CLOEXEC", MSG_CMSG_CLOEXEC);
        for (fd, _) in found {
            self.open(fd, marked);
        }
    }

    fn mark(&mut self, fd: Option<i32>, cloexec: bool) {
        self.used(fd);
        if let Some(fd) = fd {
            self.table.fds.set_cloexec(fd, cloexec);
        }
    }

    fn control(&mut self, fd: Option<i32>, new: Option<i32>, arguments: Arguments<'_>) {
        let marked = arguments.is(1, "F_DUPFD_CLOEXEC", 1030);
        self.used(fd);
        if marked || arguments.is(1, "F_DUPFD", 0) {
            if let Some(new) = new {
                self.open(new, marked);
            }
        } else if arguments.is(1, "F_SETFD", 2) {
            self.mark(fd, arguments.has(2, "FD_CLOEXEC", 1));
        }
    }

    fn range(&mut self, arguments: Arguments<'_>) {
        let number = |at| arguments.number(at).map(|fd| i32::try_from(fd).unwrap_or(i32::MAX));
        let (Some(first), Some(last)) = (number(0), number(1)) else { return };
        let last = if last < 0 { i32::MAX } else { last };
        if arguments.has(2, "CLOSE_RANGE_CLOEXEC", 4) {
            self.table.fds.mark_range(first, last);
        } else {
            self.table.fds.close_range(self.files, first, last);
            self.table.open = self.table.fds.all().count();
        }
    }
}
