//! The model of the traced system: tasks, tables of descriptors, open file descriptions, files,
//! working directories, private memory.
//!
//! It knows rows, not text: whatever grammar filled them. Rows come in the order of the log, with
//! the entries of split calls between them, so that each effect happens where the kernel let it
//! happen: descriptors are held and closed at entry, made at exit; transfers move the position of
//! their description at exit.

mod block_rows;
mod common_rows;
pub(crate) mod descriptors;
pub(crate) mod files;
#[cfg(test)]
mod rules;
mod tasks;
pub(crate) mod transfers;

use crate::kernel::descriptors::fd_table;
use crate::kernel::files::paths;

use std::iter::Peekable;
use std::ops::Range;
use std::slice::Iter;
use std::sync::Arc;

use crate::kernel::block_rows::{Page, Whose};
use crate::kernel::descriptors::columns::{binds, identify, shows};
use crate::kernel::descriptors::fd_table::FileRef;
use crate::kernel::descriptors::messages::Passes;
use crate::kernel::descriptors::number_in_use::{Late, Standing};
use crate::kernel::files::length::Changes;
use crate::kernel::files::paths::LONGEST;
use crate::kernel::tasks::comm::Names;
use crate::kernel::transfers::aio::Aio;
use crate::kernel::transfers::calls_under_way::{Held, Pending, writes};
use tasks::{Sight, TaskRef, Tasks};

use crate::events::details::Detail;
use crate::events::model_columns::{TaskColumns, task_key};
use crate::events::model_rows::KINDS_WITHOUT_TASK;
use crate::events::parsed_block::{CommChange, Parsed, key_in};
use crate::events::rows::{Effect, NO_DETAIL};
use crate::events::schema::Column as C;
use crate::events::split_calls::{CallEntry, EntryTarget, RowPosition};
use crate::events::vocabulary::{EventKind, Motion, Op, open_flags};

/// How often the rows of a block may be searched through, all in all. What is left over of a block
/// that takes more is looked at row by row.
const SEARCHES: usize = 64;

/// What stands between rows of a block.
struct ToCome<'a> {
    begins: &'a [CallEntry],
    next: usize,
    named: Peekable<Iter<'a, CommChange>>,
    /// There are names among them.
    telling: bool,
    /// The row before which the first of them comes, or for which it holds.
    due: u32,
}

impl ToCome<'_> {
    #[inline]
    fn hasten(&mut self) {
        self.due = self.begins.get(self.next).map_or(u32::MAX, |begin| begin.at);
        if self.telling {
            self.due = self.due.min(self.named.peek().map_or(u32::MAX, |named| named.from()));
        }
    }
}

/// What the descriptors of a row lead to.
type Bound = [Option<FileRef>; 2];

/// State of the system that one source's log tells of.
#[derive(Debug, Default)]
pub(crate) struct Kernel {
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
    pub(crate) fn new(cut: bool) -> Self {
        Self { cut, ..Self::default() }
    }

    /// Goes through the rows of a block in order and fills the columns that need state; those that
    /// it need not fill itself it leaves to [`crate::events::model_columns`].
    pub(crate) fn run(&mut self, parsed: &mut Parsed, text: &[u8]) {
        self.block += 1;
        self.tasks.block = self.block;
        let runs = parsed.runs();
        let inserted = std::mem::take(&mut parsed.inserted);
        let Parsed { rows, side, names, errnos, comms, model_rows, model_columns, .. } = parsed;
        let (begins, named) = (&parsed.entries, &parsed.comm_changes);
        let own = rows.len - inserted.len();
        // In logs of several tasks every row shows that the calls of its task before it are over.
        if self.cut || !model_rows.done {
            model_rows.visit_all(0, own);
        }
        model_columns.rows = own;
        let mut page = Page {
            rows,
            side,
            names,
            errnos,
            comms,
            text,
            block: self.block,
            placed: Vec::with_capacity(inserted.len()),
            behind: RowPosition { row: 0, entries: 0 },
            since: 0,
            model_rows,
            model_columns,
            own,
            whose: Whose::default(),
            searches: own.saturating_mul(SEARCHES),
        };
        let telling = !named.is_empty();
        let named = named.iter().peekable();
        let mut to_come = ToCome { begins, next: 0, named, telling, due: 0 };
        to_come.hasten();
        let mut inserted = inserted.iter();
        for run in runs {
            if run.start < own {
                self.own_rows(run, &mut to_come, &mut page);
                continue;
            }
            // Calls of earlier blocks, which say how many entries come before them.
            for (row, &known) in run.zip(&mut inserted) {
                while to_come.next < known.0.entries as usize {
                    self.next_begin(&mut to_come, false, &mut page);
                }
                self.tell(&mut to_come, &mut page, |named| named.row < known.0.row);
                page.behind = RowPosition { row: known.0.row, entries: to_come.next as u32 };
                page.placed.push(known);
                self.row(row, known.0.row, &mut page);
            }
        }
        while to_come.next < to_come.begins.len() {
            self.next_begin(&mut to_come, false, &mut page);
        }
        self.tell(&mut to_come, &mut page, |_| true);
        parsed.inserted = page.placed;
    }

    /// Rows of the block itself, one behind the other.
    fn own_rows(&mut self, run: Range<usize>, to_come: &mut ToCome<'_>, page: &mut Page<'_>) {
        let mut from = run.start;
        loop {
            let row = page.model_rows.next(from, run.end);
            let last = row.min(run.end - 1) as u32;
            // What comes before the row may show that an earlier one has to be looked at.
            if to_come.due <= last {
                self.come(to_come, last, page);
                continue;
            }
            if row == run.end {
                return;
            }
            page.behind = RowPosition { row: row as u32 + 1, entries: to_come.next as u32 };
            if !self.quick(row, page) {
                self.row(row, row as u32, page);
            }
            from = row + 1;
        }
    }

    /// The next of what comes before row `last` or, of names, for it.
    fn come(&mut self, to_come: &mut ToCome<'_>, last: u32, page: &mut Page<'_>) {
        let begin = to_come.begins.get(to_come.next).map(|begin| begin.at);
        let begin = begin.filter(|&at| at <= last).unwrap_or(u32::MAX);
        let by_now = |named: &CommChange| named.row < begin && named.from() <= last;
        if to_come.telling && self.tell_one(to_come, page, by_now) {
            // It may hold for rows before the next one.
            return;
        }
        if begin != u32::MAX {
            // Nothing comes between the entry and its row.
            let behind = to_come.begins.get(to_come.next + 1).map_or(u32::MAX, |begin| begin.at);
            let mut alone = begin == last && behind > last;
            if alone && let Some(named) = to_come.named.peek() {
                alone = named.from() > last;
            }
            self.next_begin(to_come, alone, page);
        }
    }

    /// The next entry of a call whose row comes later.
    ///
    /// `alone`: if its row is the next one of the block, then it is the next thing that there is.
    #[inline]
    fn next_begin(&mut self, to_come: &mut ToCome<'_>, alone: bool, page: &mut Page<'_>) {
        let Some(begin) = to_come.begins.get(to_come.next) else { return };
        if to_come.telling {
            self.tell(to_come, page, |named| named.row < begin.at);
        }
        let next = alone && begin.target == EntryTarget::Row(begin.at);
        if !self.quick_begin(begin, to_come.next as u32 + 1, next, page) {
            self.begin(begin, page);
            self.look_again(begin.at as usize, page);
        }
        to_come.next += 1;
        to_come.hasten();
    }

    /// What rows show of some tasks has changed: the next row of each, from row `from` on, has to
    /// be looked at.
    #[inline]
    fn look_again(&mut self, from: usize, page: &mut Page<'_>) {
        if !self.names.changed.is_empty() || !self.tasks.changed.is_empty() {
            self.search(from, page);
        }
    }

    #[cold]
    fn search(&mut self, from: usize, page: &mut Page<'_>) {
        for tid in self.names.changed.drain(..) {
            self.tasks.change(Some(tid));
        }
        for task in self.tasks.changed.drain(..) {
            let Some(left) = page.searches.checked_sub(page.own.saturating_sub(from)) else {
                page.model_rows.visit_all(from, page.own);
                continue;
            };
            page.searches = left;
            if let Some(row) = page.rows.next_of(task, from..page.own) {
                page.model_rows.visit(row);
            }
        }
    }

    /// Names that events have told by now.
    #[inline]
    fn tell(
        &mut self,
        to_come: &mut ToCome<'_>,
        page: &mut Page<'_>,
        by_now: impl Fn(&CommChange) -> bool,
    ) {
        while self.tell_one(to_come, page, &by_now) {}
    }

    /// The next of them; says whether there was one.
    fn tell_one(
        &mut self,
        to_come: &mut ToCome<'_>,
        page: &mut Page<'_>,
        by_now: impl Fn(&CommChange) -> bool,
    ) -> bool {
        let Some(named) = to_come.named.next_if(|named| by_now(named)) else { return false };
        self.names.tell(named.tid, &page.comms[named.comm as usize], self.block, named.comm);
        self.look_again(named.from() as usize, page);
        to_come.hasten();
        true
    }

    /// Entry of a call whose row comes later.
    fn begin(&mut self, begin: &CallEntry, page: &mut Page<'_>) {
        let sight = self.tasks.sight(begin.tid);
        let task = if sight.exited { self.calling(sight.task, begin.tid) } else { sight.task };
        let head = &begin.head;
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

    /// What the rows of a task show of it, from the block's own row `at` on. A name that events told
    /// is that of the moment: a record has that of the moment when the log was read.
    #[inline]
    fn sighted(&mut self, tid: Option<i32>, at: u32, page: &mut Page<'_>) -> Sight {
        if let Some((sight, comm)) = self.tasks.told(tid) {
            page.whose = Whose { task: sight.id, group: sight.group, comm };
            return *sight;
        }
        self.first_sighted(tid, at, page)
    }

    #[inline(never)]
    fn first_sighted(&mut self, tid: Option<i32>, at: u32, page: &mut Page<'_>) -> Sight {
        let comm = tid.and_then(|tid| self.names.key(tid, self.block, page.comms));
        let sight = self.tasks.tell(tid, comm);
        let Sight { id, group, .. } = sight;
        page.whose = Whose { task: id, group, comm };
        page.model_columns.sightings.push(TaskColumns { at, task: task_key(tid), id, group, comm });
        sight
    }

    /// A row in its place: the block's own row `at`, or one in front of that.
    fn row(&mut self, row: usize, at: u32, page: &mut Page<'_>) {
        let kind = page.rows.kind[row];
        if kind == EventKind::Unparsed as u8 {
            return;
        }
        let tid = page.rows.has(row, C::Tid).then(|| page.rows.tid[row]);
        // A log of ftrace that does not say whose records they are has many tasks.
        if tid.is_none() && KINDS_WITHOUT_TASK.iter().any(|&foreign| kind == foreign as u8) {
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
            self.look_again(row, page);
        }
        let mut sight = self.sighted(tid, at, page);
        if sight.exited && kind == EventKind::Syscall as u8 && !begun {
            self.calling(sight.task, tid);
            sight = self.sighted(tid, at, page);
        }
        let task = sight.task;
        if row >= page.own {
            page.own_task(row, begun);
        }
        if !self.late.is_empty() {
            self.settle(task, op);
        }
        if begun {
            page.whose.comm = None;
            self.ended(task, tid, row, page, &effect);
        } else if !idle {
            match op {
                Op::Away => self.away(task, tid),
                // The row is the end of the leader that was.
                Op::Superseded => self.tasks.superseded(tid, effect.at),
                _ => self.call::<false>(task, tid, row, page, &effect, None),
            }
        }
        if sight.exited {
            // Whatever it does next may show that another one has its id.
            self.tasks.changed.push(task_key(tid));
        }
        let from = if row < page.own { row + 1 } else { at as usize };
        self.look_again(from, page);
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
        // Nothing here reads what such rows show of their descriptions.
        let relative = effect.relative || effect.relative2 || self.tasks.rooted;
        let later = row < page.own && !relative && !leads(op);
        for (second, binds) in [(false, binds(op).0), (true, binds(op).1)] {
            if !binds {
                continue;
            }
            let at = usize::from(second);
            let Some(fd) = page.fd(row, second) else { continue };
            if BEGUN {
                held[at] = pending.as_deref_mut().and_then(|pending| pending.take(second, fd));
            }
            let held = held[at].map(|held| held.file);
            files[at] = self.bound(task, row, page, fd, held, second, later);
        }
        if detailed {
            self.directory(task, row, page);
        }
        let size = page.rows.has(row, C::Size);
        if relative {
            paths::resolve(&mut self.tasks, task, page, row);
        }
        if effect.identify && !(later && files[0].is_some()) {
            identify(page, row, false);
        }
        if effect.identify2 && !(later && files[1].is_some()) {
            identify(page, row, true);
        }
        let names = if leads(op) { self.identities(op, row, page) } else { [None; 2] };
        let moves = matches!(op, Op::Seek | Op::Truncate | Op::Allocate);
        let turn = BEGUN && held[0].is_some_and(|held| held.turn.is_some());
        if motion != Motion::None || moves || turn || size {
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

    /// What the row's first or second descriptor leads to, in its columns, now or `later`; `held`: it
    /// led there when its call was entered.
    #[inline]
    #[allow(clippy::too_many_arguments)] // A row, one of its descriptors, and what is known of it.
    fn bound(
        &mut self,
        task: TaskRef,
        row: usize,
        page: &mut Page<'_>,
        fd: i32,
        held: Option<FileRef>,
        second: bool,
        later: bool,
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
        if later {
            self.leave_file(page, row, file, second);
        } else {
            self.put_file(page, row, file, second);
        }
        if !second && !page.rows.effect[row].begun {
            self.learn(page, row, file);
        }
        Some(file)
    }

    /// At its entry the call seemed to act on something older than the log, and there was nothing.
    fn vanished(&mut self, task: TaskRef, fd: i32, file: FileRef) -> bool {
        let unseen = |open: &mut fd_table::OpenFile| open.inherited && open.number() == 0;
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
            if path.len() > LONGEST {
                *known = None;
            } else if path.starts_with(b"/") && known.as_ref().is_none_or(|known| **known != *path)
            {
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
