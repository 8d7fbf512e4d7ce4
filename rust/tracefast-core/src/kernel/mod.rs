//! The model of the traced system: tasks, tables of descriptors, open file descriptions, files,
//! working directories, private memory.
//!
//! It knows rows, not text: whatever grammar filled them. Rows come in the order of the log, with
//! the entries of split calls between them, so that each effect happens where the kernel let it
//! happen: descriptors are held and closed at entry, made at exit; transfers move the position of
//! their description at exit.

mod aio;
mod bind;
mod exchange;
pub mod files;
mod late;
mod length;
mod memory;
mod motion;
mod names;
mod nodes;
mod open;
mod page;
mod passing;
pub(crate) mod paths;
mod pending;
mod position;
mod process;
mod tasks;
mod transfer;

use std::iter::Peekable;
use std::slice::Iter;
use std::sync::Arc;

use aio::Aio;
use bind::{binds, identify, shows};
use files::FileRef;
use late::{Late, Standing};
use length::Changes;
use names::Names;
use page::Page;
use passing::Passes;
use pending::{Held, Pending, writes};
use tasks::{TaskRef, Tasks};

use crate::detail::Detail;
use crate::event::{EventKind, Motion, Op, open_flags};
use crate::parsed::{Begin, Named, Parsed, Spot, key_in};
use crate::rows::{Effect, NO_DETAIL};
use crate::schema::Column as C;

/// What the descriptors of a row lead to.
type Bound = [Option<FileRef>; 2];

/// State of the system that one source's log tells of.
#[derive(Debug, Default)]
pub struct Kernel {
    tasks: Tasks,
    names: Names,
    passes: Passes,
    aio: Aio,
    block: u64,
    /// Pairs of sockets made so far.
    pairs: u32,
    /// The log shows files being closed, renamed: where it does not, it may be that only other
    /// calls were traced.
    closed: bool,
    renamed: bool,
    /// The logs of several tasks: ends of calls are known by their times only.
    cut: bool,
    late: Vec<Late>,
    standing: Standing,
}

impl Kernel {
    /// For a log, or with `cut` for those of several tasks that are one.
    pub fn new(cut: bool) -> Self {
        Self { cut, ..Self::default() }
    }

    /// Goes through the rows of a block in order and fills the columns that need state.
    pub fn run(&mut self, parsed: &mut Parsed, text: &[u8]) {
        self.block += 1;
        let runs = parsed.runs();
        let inserted = std::mem::take(&mut parsed.inserted);
        let Parsed { rows, side, begins, named, names, errnos, comms, .. } = parsed;
        let own = rows.len - inserted.len();
        let mut page = Page {
            rows,
            side,
            names,
            errnos,
            comms,
            text,
            block: self.block,
            placed: Vec::with_capacity(inserted.len()),
            behind: Spot { row: 0, begins: 0 },
            since: 0,
        };
        let mut inserted = inserted.iter();
        let mut next = 0;
        let mut told = named.iter().peekable();
        let telling = !named.is_empty();
        let mut due = begins.first().map_or(usize::MAX, |begin| begin.at as usize);
        for run in runs {
            for row in run {
                // Entries that come before the row: a row put between says how many.
                let known = if row < own { None } else { inserted.next() };
                if row >= due || known.is_some() {
                    let before = known.map(|(at, _)| at.begins as usize);
                    while next < begins.len()
                        && before.map_or(begins[next].at as usize <= row, |before| next < before)
                    {
                        let at = begins[next].at;
                        self.tell(&mut told, page.comms, |named| named.row < at);
                        self.begin(&begins[next], &mut page);
                        next += 1;
                    }
                    due = begins.get(next).map_or(usize::MAX, |begin| begin.at as usize);
                }
                let at = known.map_or(row as u32, |(at, _)| at.row);
                let own = known.is_none();
                if telling {
                    self.tell(&mut told, page.comms, |named| {
                        named.row < at || (own && named.row == at && !named.later)
                    });
                }
                page.behind = Spot { row: at + u32::from(own), begins: next as u32 };
                if let Some(&known) = known {
                    page.placed.push(known);
                }
                self.row(row, &mut page);
            }
        }
        for begin in &begins[next..] {
            let at = begin.at;
            self.tell(&mut told, page.comms, |named| named.row < at);
            self.begin(begin, &mut page);
        }
        self.tell(&mut told, page.comms, |_| true);
        parsed.inserted = page.placed;
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
    fn begin(&mut self, begin: &Begin, page: &mut Page<'_>) {
        let task = self.tasks.of(begin.tid);
        let task = self.calling(task, begin.tid);
        let head = begin.head;
        if !self.late.is_empty() {
            self.settle(task, head.op);
        }
        if let Some(tid) = begin.tid.filter(|_| head.op == Op::Exec) {
            self.names.executing(tid);
        }
        let comm = begin.tid.and_then(|tid| self.names.of(tid)).map(Arc::clone);
        let since = self.tasks.files.nodes.now();
        self.tasks.files.nodes.tick();
        let mut pending = self.tasks.spare();
        (pending.since, pending.comm) = (since, comm);
        let (first, second) = binds(head.op);
        let moves = head.motion != Motion::None || head.op == Op::Seek;
        for is_second in [false, true] {
            let (fd, binds) = if is_second { (head.fd2, second) } else { (head.fd, first) };
            let Some(fd) = fd.filter(|_| binds) else { continue };
            let Some(file) = self.descriptor(task, fd, || moves) else { continue };
            let position = if is_second { head.moves.1 } else { head.moves.0 };
            let position = head.op == Op::Seek || position && head.motion != Motion::None;
            let changes = match head.op {
                Op::Truncate | Op::Allocate => Some(Changes::Any),
                _ => writes(head.motion, is_second).then_some(Changes::Longer),
            };
            let held = &mut pending.held[usize::from(is_second)];
            *held = self.hold(fd, file, position, changes);
            if head.op == Op::SetStatus
                && let Some(open) = self.tasks.files.get(file)
                && open.append != (head.flags & open_flags::APPEND != 0)
            {
                open.switching += 1;
                if let Some(held) = held {
                    held.switches = true;
                }
            }
        }
        if let Some(Detail::Sent(fds)) =
            head.detail.and_then(|at| page.side.details.get(at as usize))
        {
            let fds = fds.clone();
            pending.pass = Some(self.send(task, pending.held[0].map(|held| held.file), &fds));
        }
        self.tasks.put_pending(task, pending);
        match (head.op, head.fd) {
            (Op::Close, Some(fd)) => self.tasks.closing(task, fd),
            (Op::CloseRange, Some(first)) => {
                let last = head.fd2.unwrap_or(i32::MAX);
                self.close_range(task, first, last, head.flags);
            }
            _ => self.entry(task, head.op, head.flags, head.fd),
        }
        if self.cut {
            self.freed();
        }
    }

    /// A call under way keeps what its descriptor leads to.
    fn hold(
        &mut self,
        fd: i32,
        file: FileRef,
        position: bool,
        changes: Option<Changes>,
    ) -> Option<Held> {
        self.tasks.files.keep(file);
        let (open, nodes) = self.tasks.files.with_nodes(file)?;
        let ticket = position.then(|| open.flight.begin());
        let node = open.node.and_then(|node| nodes.get(node));
        let turn = node.zip(changes).map(|(node, changes)| node.length.begin(changes));
        Some(Held { fd, file, ticket, turn, switches: false })
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
    fn comm(&mut self, tid: Option<i32>, row: usize, page: &mut Page<'_>) {
        if self.names.is_empty() {
            return;
        }
        if let Some(key) = tid.and_then(|tid| self.names.key(tid, self.block, page.comms)) {
            page.rows.comm[row] = key;
            page.set(row, C::Comm);
        }
    }

    /// A row in its place.
    fn row(&mut self, row: usize, page: &mut Page<'_>) {
        let kind = page.rows.kind[row];
        if kind == EventKind::Unparsed as u8 {
            return;
        }
        let valid = page.rows.valid[row];
        let tid = (valid & C::Tid.bit() != 0).then(|| page.rows.tid[row]);
        // A log of ftrace that does not say whose records they are has many tasks.
        let foreign = [EventKind::Event, EventKind::Function, EventKind::Marker, EventKind::Lost];
        if tid.is_none() && foreign.iter().any(|&foreign| kind == foreign as u8) {
            return;
        }
        let effect = page.rows.effect[row];
        let (op, begun) = (effect.op, effect.begun);
        let idle = op == Op::None && effect.detail == NO_DETAIL;
        if effect.thread != 0 && matches!(op, Op::Exec | Op::Supersedes) {
            // A thread's execve ended under the id of its group's leader.
            let by = effect.thread;
            self.tasks.superseded(tid, by);
            if let Some(tid) = tid {
                self.names.superseded(tid, by);
            }
        }
        let mut sight = self.tasks.sight(tid);
        if sight.exited && kind == EventKind::Syscall as u8 && !begun {
            self.calling(sight.task, tid);
            sight = self.tasks.sight(tid);
        }
        let task = sight.task;
        if !self.late.is_empty() {
            self.settle(task, op);
        }
        page.rows.task[row] = sight.id;
        let mut shown = valid | C::Task.bit();
        if valid & C::Pid.bit() == 0
            && let Some(group) = sight.group
        {
            page.rows.pid[row] = group;
            shown |= C::Pid.bit();
        }
        page.rows.valid[row] = shown;
        if begun {
            self.ended(task, tid, row, page, &effect);
            return;
        }
        self.comm(tid, row, page);
        match op {
            _ if idle => {}
            Op::Away => self.away(task, tid),
            // The row is the end of the leader that was.
            Op::Superseded => self.tasks.superseded(tid, effect.at),
            _ => self.call::<false>(task, tid, row, page, &effect, None),
        }
    }

    /// The row of a call whose entry came before it.
    fn ended(
        &mut self,
        task: TaskRef,
        tid: Option<i32>,
        row: usize,
        page: &mut Page<'_>,
        effect: &Effect,
    ) {
        let mut pending = self.tasks.take_pending(task);
        if let Some(comm) = pending.as_ref().and_then(|pending| pending.comm.as_ref()) {
            page.rows.comm[row] = key_in(page.comms, comm);
            page.set(row, C::Comm);
        }
        match effect.op {
            Op::None if effect.detail == NO_DETAIL => {}
            Op::Away => self.away(task, tid),
            Op::Superseded => self.tasks.superseded(tid, effect.at),
            _ => self.call::<true>(task, tid, row, page, effect, pending.as_deref_mut()),
        }
        if let Some(pending) = pending {
            self.tasks.give_back(pending);
        }
    }

    /// The task is switched away: if it exited, this was the last of it.
    fn away(&mut self, task: TaskRef, tid: Option<i32>) {
        if self.tasks.has_exited(task) {
            self.forget(tid);
            self.tasks.gone(tid);
        }
    }

    /// A row that does something to the system; `BEGUN`: its call was entered before it.
    #[inline]
    fn call<const BEGUN: bool>(
        &mut self,
        task: TaskRef,
        tid: Option<i32>,
        row: usize,
        page: &mut Page<'_>,
        effect: &Effect,
        mut pending: Option<&mut Pending>,
    ) {
        let (op, made_up) = (effect.op, effect.made_up);
        let (motion, detailed) = (effect.motion, effect.detail != NO_DETAIL);
        page.since = match &pending {
            Some(pending) => pending.since,
            None if BEGUN => 0,
            None => self.tasks.files.nodes.now(),
        };
        let mut files: Bound = [None; 2];
        let mut held: [Option<Held>; 2] = [None; 2];
        for (second, binds) in [(false, binds(op).0), (true, binds(op).1)] {
            if !binds {
                continue;
            }
            let at = usize::from(second);
            let Some(fd) = page.fd(row, second) else { continue };
            if BEGUN {
                held[at] = pending.as_deref_mut().and_then(|pending| pending.take(second, fd));
            }
            files[at] = self.bound(task, row, page, fd, held[at].map(|held| held.file), second);
        }
        if detailed {
            self.directory(task, row, page);
        }
        let size = page.rows.has(row, C::Size);
        if effect.relative || effect.relative2 || self.tasks.rooted {
            paths::resolve(&mut self.tasks, task, page, row);
        }
        if effect.identify || effect.identify2 {
            identify(page, row);
        }
        let names = if leads(op) { self.identities(op, row, page) } else { [None; 2] };
        let moves = matches!(op, Op::Seek | Op::Truncate | Op::Allocate);
        if motion != Motion::None || moves || BEGUN || size {
            self.moved(row, page, &files, &held);
        }
        if BEGUN && op == Op::Close {
            self.tasks.closed(task, made_up);
        }
        // What was injected did not take place; to use something has no effect but these.
        let acts = !matches!(op, Op::Use | Op::Path | Op::Seek | Op::Truncate | Op::Allocate);
        if !made_up && (acts || detailed || self.cut) {
            if self.cut {
                self.stand(task, row, page);
            }
            self.act(task, tid, row, page, files, names, pending);
            if self.cut {
                self.postpone(task);
                self.freed();
            }
        } else if made_up && let Some(number) = pending.and_then(|pending| pending.pass) {
            self.unsend(number);
        }
        if BEGUN {
            for held in held.iter().flatten() {
                held.release(&mut self.tasks.files);
            }
        }
    }

    /// What the row's first or second descriptor leads to, in its columns; `held`: it led there when
    /// its call was entered.
    #[inline]
    fn bound(
        &mut self,
        task: TaskRef,
        row: usize,
        page: &mut Page<'_>,
        fd: i32,
        held: Option<FileRef>,
        second: bool,
    ) -> Option<FileRef> {
        let file = if let Some(file) = held {
            if page.failed_with(row, "EBADF") && self.vanished(task, fd, file) {
                return Some(file);
            }
            file
        } else {
            let op = page.rows.effect[row].op;
            self.descriptor(task, fd, || shows(op) && !page.failed_with(row, "EBADF"))?
        };
        let annotated = page.rows.has(row, if second { C::Path2 } else { C::Path });
        let file =
            if annotated { self.hear(page, row, task, file, second, held.is_some()) } else { file };
        self.put_file(page, row, file, second);
        if !second && !page.rows.effect[row].begun {
            self.learn(page, row, file);
        }
        Some(file)
    }

    /// At its entry the call seemed to act on something older than the log, and there was nothing.
    fn vanished(&mut self, task: TaskRef, fd: i32, file: FileRef) -> bool {
        let unseen = |open: &mut files::OpenFile| open.inherited && open.number() == 0;
        let unseen = self.tasks.files.get(file).is_some_and(unseen);
        if unseen && self.tasks.table(task).get(fd) == Some(file) {
            self.tasks.close(task, fd);
        }
        unseen
    }

    /// The working directory that an annotation tells.
    fn directory(&mut self, task: TaskRef, row: usize, page: &mut Page<'_>) {
        let at = page.rows.effect[row].detail;
        if let Some(Detail::Directory(view)) = page.side.details.get(at as usize) {
            let path = page.text_of(view);
            let known = &mut self.tasks.directories(task).working;
            if path.starts_with(b"/") && known.as_ref().is_none_or(|known| **known != *path) {
                *known = Some(path.into());
            }
        }
    }

    /// Names that lead elsewhere by now; gives their hashes.
    fn identities(&mut self, op: Op, row: usize, page: &mut Page<'_>) -> [Option<u64>; 2] {
        let nodes = &self.tasks.files.nodes;
        let mut names = [None; 2];
        if page.rows.has(row, C::File) && !(op == Op::Truncate && page.rows.has(row, C::Fd)) {
            names[0] = Some(page.rows.file[row]);
            page.rows.file[row] = nodes.identity(page.rows.file[row]);
        }
        if page.rows.has(row, C::File2) {
            names[1] = Some(page.rows.file2[row]);
            page.rows.file2[row] = nodes.identity(page.rows.file2[row]);
        }
        names
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
}

/// What the operation's names lead to may be another file by now.
#[inline]
fn leads(op: Op) -> bool {
    use Op::{Exec, Link, Open, Path, Rename, Truncate, Unlink};
    matches!(op, Open | Path | Exec | Rename | Unlink | Link | Truncate)
}
