//! The model of the traced system: tasks, tables of descriptors, open files, working directories.
//!
//! It knows rows, not text: whatever grammar filled them. Rows come in the order of the log, with
//! the entries of split calls between them, so that each effect happens where the kernel let it
//! happen: descriptors are bound and closed at entry, made at exit.

pub mod files;
mod names;
mod tasks;

use std::iter::Peekable;
use std::slice::Iter;
use std::sync::Arc;

use files::OpenFile;
use names::Names;
use tasks::{TaskRef, Tasks};

use crate::event::{EventKind, FileType, Op, gone_flags, open_flags};
use crate::parsed::{Begin, Named, Parsed, Target, key_in};
use crate::rows::{AT_FDCWD, Rows, Side};
use crate::schema::Column as C;
use crate::strace::fields::file_id;
use crate::view::unpack;

/// What a call that is still open was found to act on, at its entry.
#[derive(Debug, Clone, Default)]
pub struct Bound {
    first: Option<Found>,
    second: Option<Found>,
    /// Name of the caller.
    comm: Option<Arc<str>>,
}

#[derive(Debug, Clone)]
struct Found {
    path: Option<Arc<[u8]>>,
    id: Option<u64>,
    file_type: Option<u8>,
}

/// State of the system that one source's log tells of.
#[derive(Debug, Default)]
pub struct Kernel {
    tasks: Tasks,
    names: Names,
    block: u64,
}

impl Kernel {
    /// Goes through the rows of a block in order and fills the columns that need state.
    ///
    /// `bound` takes what the model finds at the entry of calls that the block leaves open, by the
    /// number of the pending call.
    pub fn run(&mut self, parsed: &mut Parsed, text: &[u8], mut bound: impl FnMut(u32, Bound)) {
        self.block += 1;
        let runs = parsed.runs();
        let Parsed { rows, side, begins, inserted, named, comms, .. } = parsed;
        let own = rows.len - inserted.len();
        let mut inserted = inserted.iter();
        let mut next = 0;
        let mut told = named.iter().peekable();
        for row in runs.into_iter().flatten() {
            // Entries that come before the row: a row put between says how many.
            let known = (row >= own).then(|| inserted.next()).flatten();
            let before = known.map(|(at, _)| at.begins as usize);
            while next < begins.len()
                && before.map_or(begins[next].at as usize <= row, |before| next < before)
            {
                let at = begins[next].at;
                self.tell(&mut told, comms, |named| named.row < at);
                self.begin(&begins[next], rows, side, comms, &mut bound);
                next += 1;
            }
            let at = known.map_or(row as u32, |(at, _)| at.row);
            let own = known.is_none();
            self.tell(&mut told, comms, |named| {
                named.row < at || (own && named.row == at && !named.later)
            });
            self.row(row, rows, side, comms, text);
        }
        for begin in &begins[next..] {
            let at = begin.at;
            self.tell(&mut told, comms, |named| named.row < at);
            self.begin(begin, rows, side, comms, &mut bound);
        }
        self.tell(&mut told, comms, |_| true);
    }

    /// Names that events have told by now.
    #[inline]
    fn tell(
        &mut self,
        told: &mut Peekable<Iter<'_, Named>>,
        comms: &[Arc<str>],
        by_now: impl Fn(&Named) -> bool,
    ) {
        while let Some(named) = told.next_if(|named| by_now(named)) {
            self.names.tell(named.tid, &comms[named.comm as usize], self.block, named.comm);
        }
    }

    /// Entry of a call whose row comes later.
    fn begin(
        &mut self,
        begin: &Begin,
        rows: &mut Rows,
        side: &mut Side,
        comms: &mut Vec<Arc<str>>,
        bound: &mut impl FnMut(u32, Bound),
    ) {
        let task = self.tasks.of(begin.tid);
        let task = self.calling(task, begin.tid);
        let head = begin.head;
        if let Some(tid) = begin.tid.filter(|_| head.op == Op::Exec) {
            self.names.executing(tid);
        }
        let (first, second) = binds(head.op);
        let (first, second) = (head.fd.filter(|_| first), head.fd2.filter(|_| second));
        match begin.target {
            Target::Row(row) => {
                self.name(begin.tid, row as usize, rows, comms);
                if let Some(fd) = first {
                    self.bind_one(task, fd, row as usize, rows, side, false);
                }
                if let Some(fd) = second {
                    self.bind_one(task, fd, row as usize, rows, side, true);
                }
            }
            Target::Pending(id) => {
                let mut find = |fd| {
                    let file = self.tasks.table(task).get(fd)?;
                    let file = self.tasks.files.get(file)?;
                    Some(Found { path: file.path.clone(), id: file.id, file_type: file.file_type })
                };
                let (first, second) = (first.and_then(&mut find), second.and_then(find));
                let comm = begin.tid.and_then(|tid| self.names.of(tid)).map(Arc::clone);
                bound(id, Bound { first, second, comm });
            }
            Target::Open => {}
        }
        match (head.op, head.fd) {
            (Op::Close, Some(fd)) => self.tasks.closing(task, fd),
            _ => self.entry(task, head.op, head.flags, head.fd),
        }
    }

    /// Effects that take place when a call is entered.
    fn entry(&mut self, task: TaskRef, op: Op, flags: u32, fd: Option<i32>) {
        match (op, fd) {
            // A failed close frees the descriptor all the same, but not one that was not open.
            (Op::Close, Some(fd)) => self.tasks.close(task, fd),
            (Op::Fork, _) => self.tasks.forking(task, flags),
            _ => {}
        }
    }

    /// The name that the task has at this moment, if the log told it: a record has that of the
    /// moment when the log was read.
    #[inline]
    fn name(&mut self, tid: Option<i32>, row: usize, rows: &mut Rows, comms: &mut Vec<Arc<str>>) {
        if self.names.is_empty() {
            return;
        }
        if let Some(key) = tid.and_then(|tid| self.names.key(tid, self.block, comms)) {
            rows.comm[row] = key;
            rows.valid[row] |= C::Comm.bit();
        }
    }

    /// A row in its place.
    fn row(
        &mut self,
        row: usize,
        rows: &mut Rows,
        side: &mut Side,
        comms: &mut Vec<Arc<str>>,
        text: &[u8],
    ) {
        if rows.kind[row] == EventKind::Unparsed as u8 {
            return;
        }
        let tid = rows.has(row, C::Tid).then(|| rows.tid[row]);
        // A log of ftrace that does not say whose records they are has many tasks.
        let foreign = [EventKind::Event, EventKind::Function, EventKind::Marker, EventKind::Lost];
        if tid.is_none() && foreign.iter().any(|&kind| rows.kind[row] == kind as u8) {
            return;
        }
        let op = rows.effect[row].op;
        if matches!(op, Op::Exec | Op::Supersedes) && rows.effect[row].thread != 0 {
            // A thread's execve ended under the id of its group's leader.
            let by = rows.effect[row].thread;
            self.tasks.superseded(tid, by);
            if let Some(tid) = tid {
                self.names.superseded(tid, by);
            }
        }
        let mut task = self.tasks.of(tid);
        if rows.kind[row] == EventKind::Syscall as u8 && !rows.effect[row].begun {
            task = self.calling(task, tid);
        }
        self.identify(task, row, rows);
        if !rows.effect[row].begun {
            self.name(tid, row, rows, comms);
        }
        if op == Op::Away && self.tasks.has_exited(task) {
            self.forget(tid);
            self.tasks.gone(tid);
        }
        if matches!(op, Op::None | Op::Away) {
            return;
        }
        if op == Op::Superseded {
            // The row is the end of the leader that was.
            self.tasks.superseded(tid, rows.effect[row].at);
            return;
        }
        let begun = rows.effect[row].begun;
        if !begun {
            self.bind(task, row, rows, side);
            self.learn(task, row, rows);
        }
        identify(row, rows, side, text);
        self.resolve(task, row, rows, side, text);
        // What was injected did not take place.
        let injected = rows.effect[row].made_up;
        if begun && op == Op::Close {
            self.tasks.closed(task, injected);
        }
        if injected {
            return;
        }
        let effect = rows.effect[row];
        let fd = rows.has(row, C::Fd).then(|| rows.fd[row]);
        let fd2 = rows.has(row, C::Fd2).then(|| rows.fd2[row]);
        let ret = rows.has(row, C::Ret).then(|| rows.ret[row]);
        let failed = rows.has(row, C::Errno);
        if !begun {
            self.entry(task, op, effect.flags, fd);
        }
        let done = ret.is_some_and(|ret| ret >= 0) && !failed;
        match (op, fd, fd2) {
            (Op::Open | Op::OpenAnon | Op::OpenProcess | Op::Take, Some(fd), _) if done => {
                self.open(task, fd, row, rows, side, text, false);
            }
            (Op::OpenPair, Some(fd), Some(fd2)) if done => {
                self.open(task, fd, row, rows, side, text, false);
                self.open(task, fd2, row, rows, side, text, true);
            }
            (Op::Dup, Some(fd), Some(fd2)) if done => {
                self.tasks.dup(task, fd, fd2, effect.flags & open_flags::CLOEXEC != 0);
            }
            (Op::CloseRange, Some(fd), Some(fd2)) if done => {
                self.tasks.close_range(task, fd, fd2, effect.flags & open_flags::CLOEXEC != 0);
            }
            (Op::SetCloexec, Some(fd), _) if done => {
                let mark = effect.flags & open_flags::CLOEXEC != 0;
                self.tasks.table(task).set_cloexec(fd, mark);
            }
            (Op::Fork, ..) => {
                let child = ret.filter(|_| done).and_then(|ret| i32::try_from(ret).ok());
                let child = child.map(|ret| if effect.at == AT_FDCWD { ret } else { effect.at });
                if let (Some(child), Some(parent)) = (child, tid) {
                    self.names.inherit(child, parent);
                }
                if let Some(child) = self.tasks.forked(task, child, effect.flags) {
                    rows.child[row] = child;
                    rows.valid[row] |= C::Child.bit();
                }
            }
            (Op::Appear, ..) => {
                self.tasks.appeared(task, effect.at, effect.flags, effect.at2 != AT_FDCWD);
            }
            (Op::Exec, ..) if done => {
                if let Some(tid) = tid {
                    self.names.executed(tid);
                }
                self.tasks.exec(task);
            }
            (Op::Gone, ..) if effect.flags & gone_flags::NAMED != 0 => self.tasks.exited(tid),
            (Op::Gone, ..) => {
                self.forget(tid);
                self.tasks.gone(tid);
            }
            (Op::Chdir, ..) if done => {
                let known = rows.has(row, C::Path) && !effect.relative;
                let path = known.then(|| unpack(&rows.path[row], text, &side.bytes).into());
                self.tasks.chdir(task, path);
            }
            (Op::Fchdir, Some(fd), _) if done => {
                let file = self.tasks.table(task).get(fd);
                let path = file.and_then(|f| self.tasks.files.get(f)).and_then(|f| f.path.clone());
                self.tasks.chdir(task, path);
            }
            _ => {}
        }
    }

    /// The task makes a call: one that exited does not, so that it is another one with its id.
    #[inline]
    fn calling(&mut self, task: TaskRef, tid: Option<i32>) -> TaskRef {
        if !self.tasks.has_exited(task) {
            return task;
        }
        self.forget(tid);
        self.tasks.gone(tid);
        self.tasks.of(tid)
    }

    fn forget(&mut self, tid: Option<i32>) {
        if let Some(tid) = tid {
            self.names.forget(tid);
        }
    }

    fn identify(&mut self, task: TaskRef, row: usize, rows: &mut Rows) {
        let (id, group) = self.tasks.identity(task);
        rows.task[row] = id;
        let mut valid = C::Task.bit();
        if !rows.has(row, C::Pid)
            && let Some(group) = group
        {
            rows.pid[row] = group;
            valid |= C::Pid.bit();
        }
        rows.valid[row] |= valid;
    }

    /// Path, identity and type of what the descriptors lead to.
    #[inline]
    fn bind(&mut self, task: TaskRef, row: usize, rows: &mut Rows, side: &mut Side) {
        let (first, second) = binds(rows.effect[row].op);
        if first && rows.has(row, C::Fd) {
            let fd = rows.fd[row];
            self.bind_one(task, fd, row, rows, side, false);
        }
        if second && rows.has(row, C::Fd2) {
            let fd = rows.fd2[row];
            self.bind_one(task, fd, row, rows, side, true);
        }
    }

    /// The call tells the type of what its descriptor leads to.
    #[inline]
    fn learn(&mut self, task: TaskRef, row: usize, rows: &Rows) {
        if rows.effect[row].op == Op::Use && rows.has(row, C::FileType) && rows.has(row, C::Fd) {
            let found = self.tasks.table(task).get(rows.fd[row]);
            if let Some(file) = found.and_then(|file| self.tasks.files.get(file)) {
                file.file_type = Some(rows.file_type[row]);
            }
        }
    }

    fn bind_one(
        &mut self,
        task: TaskRef,
        fd: i32,
        row: usize,
        rows: &mut Rows,
        side: &mut Side,
        second: bool,
    ) {
        let (path_column, file_column) =
            if second { (C::Path2, C::File2) } else { (C::Path, C::File) };
        let found = self.tasks.table(task).get(fd);
        let Some(file) = found.and_then(|file| self.tasks.files.get(file)) else {
            // Older than the log: the annotation is all that there is.
            return;
        };
        if file.path.is_none() && rows.has(row, path_column) {
            return;
        }
        if let Some(path) = &file.path {
            if file.seen != self.block {
                file.view = side.put(path);
                file.seen = self.block;
            }
            if second {
                rows.path2[row] = file.view;
            } else {
                rows.path[row] = file.view;
            }
            rows.valid[row] |= path_column.bit();
        }
        if let Some(id) = file.id {
            if second {
                rows.file2[row] = id;
            } else {
                rows.file[row] = id;
            }
            rows.valid[row] |= file_column.bit();
        } else if second {
            rows.effect[row].identify2 = false;
        } else {
            rows.effect[row].identify = false;
        }
        if !second {
            settle(file.file_type, row, rows);
        }
    }

    /// Makes relative paths absolute where the directory is known.
    fn resolve(
        &mut self,
        task: TaskRef,
        row: usize,
        rows: &mut Rows,
        side: &mut Side,
        text: &[u8],
    ) {
        let effect = rows.effect[row];
        for (relative, at, second) in
            [(effect.relative, effect.at, false), (effect.relative2, effect.at2, true)]
        {
            if !relative {
                continue;
            }
            let base = if at == AT_FDCWD {
                self.tasks.cwd(task)
            } else {
                let file = self.tasks.table(task).get(at);
                file.and_then(|file| self.tasks.files.get(file)).and_then(|file| file.path.clone())
            };
            let view = if second { rows.path2[row] } else { rows.path[row] };
            let rooted = base.as_ref().is_some_and(|base| base.starts_with(b"/"));
            // A directory that was itself opened by a relative name is better than none.
            let (view, id) = match base.filter(|_| rooted || at != AT_FDCWD) {
                Some(base) => {
                    let path = unpack(&view, text, &side.bytes);
                    let joined = join(&base, path);
                    if second {
                        rows.effect[row].relative2 = !rooted;
                    } else {
                        rows.effect[row].relative = !rooted;
                    }
                    (side.put(&joined), file_id(&joined))
                }
                // As printed: the log does not say where it starts. Of a descriptor that nobody
                // opened there may be several, and names in them that are not the same.
                None if at != AT_FDCWD => continue,
                None => (view, file_id(unpack(&view, text, &side.bytes))),
            };
            if second {
                rows.path2[row] = view;
                rows.file2[row] = id;
                rows.valid[row] |= C::File2.bit();
            } else {
                rows.path[row] = view;
                rows.file[row] = id;
                rows.valid[row] |= C::File.bit();
            }
        }
    }

    #[allow(clippy::too_many_arguments)] // A row and its two texts.
    fn open(
        &mut self,
        task: TaskRef,
        fd: i32,
        row: usize,
        rows: &mut Rows,
        side: &Side,
        text: &[u8],
        second: bool,
    ) {
        let flags = rows.effect[row].flags;
        let typed = flags & open_flags::TYPED != 0 && flags & 0xff != FileType::Unknown as u32;
        let file_type = if rows.has(row, C::FileType) && !second {
            Some(rows.file_type[row])
        } else {
            typed.then_some(flags as u8)
        };
        let (path, id) = if second {
            (
                rows.has(row, C::Path2).then_some(&rows.path2[row]),
                rows.has(row, C::File2).then(|| rows.file2[row]),
            )
        } else {
            (
                rows.has(row, C::Path).then_some(&rows.path[row]),
                rows.has(row, C::File).then(|| rows.file[row]),
            )
        };
        let path = path.map(|view| unpack(view, text, &side.bytes).into());
        if let (Some(file_type), false) = (file_type, second) {
            rows.file_type[row] = file_type;
            rows.valid[row] |= C::FileType.bit();
        }
        self.tasks.open(
            task,
            fd,
            OpenFile::new(path, id, file_type),
            flags & open_flags::CLOEXEC != 0,
        );
    }
}

/// The identity of files that only an annotation names.
#[inline]
fn identify(row: usize, rows: &mut Rows, side: &Side, text: &[u8]) {
    let effect = rows.effect[row];
    if effect.identify && !rows.has(row, C::File) {
        rows.file[row] = file_id(unpack(&rows.path[row], text, &side.bytes));
        rows.valid[row] |= C::File.bit();
    }
    if effect.identify2 && !rows.has(row, C::File2) {
        rows.file2[row] = file_id(unpack(&rows.path2[row], text, &side.bytes));
        rows.valid[row] |= C::File2.bit();
    }
}

/// The type of what the row acts on, of which the model knows `known`.
#[inline]
fn settle(known: Option<u8>, row: usize, rows: &mut Rows) {
    let said = rows.has(row, C::FileType).then(|| rows.file_type[row]);
    if let Some(file_type) = FileType::settled(known, said) {
        rows.file_type[row] = file_type;
        rows.valid[row] |= C::FileType.bit();
    }
}

/// Whether the operation acts on what its first and its second descriptor lead to.
fn binds(op: Op) -> (bool, bool) {
    let first =
        matches!(op, Op::Close | Op::Dup | Op::Fchdir | Op::SetCloexec | Op::Exec) || op.uses();
    (first, op == Op::Use)
}

/// Fills in what was bound at the entry of a call that ends in a later block.
pub fn apply(bound: &Bound, row: usize, parsed: &mut Parsed) {
    let Parsed { rows, side, comms, .. } = parsed;
    if let Some(comm) = &bound.comm {
        rows.comm[row] = key_in(comms, comm);
        rows.valid[row] |= C::Comm.bit();
    }
    if let Some(found) = &bound.first {
        if let Some(path) = &found.path {
            rows.path[row] = side.put(path);
            rows.valid[row] |= C::Path.bit();
        }
        if let Some(id) = found.id {
            rows.file[row] = id;
            rows.valid[row] |= C::File.bit();
        } else if found.path.is_some() {
            rows.effect[row].identify = false;
        }
        settle(found.file_type, row, rows);
    }
    if let Some(found) = &bound.second {
        if let Some(path) = &found.path {
            rows.path2[row] = side.put(path);
            rows.valid[row] |= C::Path2.bit();
        }
        if let Some(id) = found.id {
            rows.file2[row] = id;
            rows.valid[row] |= C::File2.bit();
        } else if found.path.is_some() {
            rows.effect[row].identify2 = false;
        }
    }
}

/// `base/path`; a leading `./` is left out.
fn join(base: &[u8], path: &[u8]) -> Vec<u8> {
    let mut path = path;
    while let Some(rest) = path.strip_prefix(b"./") {
        path = rest;
    }
    let mut out = base.to_vec();
    if path != b"." {
        if out.last() != Some(&b'/') {
            out.push(b'/');
        }
        out.extend_from_slice(path);
    }
    out
}
