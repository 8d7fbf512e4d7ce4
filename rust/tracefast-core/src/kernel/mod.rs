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

use crate::kernel::block_rows::{BlockRows, Whose};
use crate::kernel::descriptors::columns::{binds, identify, shows};
use crate::kernel::descriptors::fd_table::DescriptionRef;
use crate::kernel::descriptors::messages::Messages;
use crate::kernel::descriptors::number_in_use::{Occupants, Waiting};
use crate::kernel::files::length::Changes;
use crate::kernel::files::paths::LONGEST;
use crate::kernel::tasks::comm::Comms;
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
struct Upcoming<'a> {
    begins: &'a [CallEntry],
    next: usize,
    named: Peekable<Iter<'a, CommChange>>,
    /// There are names among them.
    has_comms: bool,
    /// The row before which the first of them comes, or for which it holds.
    due: u32,
}

impl Upcoming<'_> {
    #[inline]
    fn update_due(&mut self) {
        self.due = self.begins.get(self.next).map_or(u32::MAX, |begin| begin.at);
        if self.has_comms {
            self.due = self.due.min(self.named.peek().map_or(u32::MAX, |named| named.from()));
        }
    }
}

/// What the descriptors of a row lead to.
type Bound = [Option<DescriptionRef>; 2];

/// State of the system that one source's log tells of.
#[derive(Debug, Default)]
pub(crate) struct Kernel {
    tasks: Tasks,
    comms: Comms,
    messages: Messages,
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
    waiting: Vec<Waiting>,
    occupants: Occupants,
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
        let mut block = BlockRows {
            rows,
            side,
            names,
            errnos,
            comms,
            text,
            number: self.block,
            placed: Vec::with_capacity(inserted.len()),
            behind: RowPosition { row: 0, entries: 0 },
            since: 0,
            model_rows,
            model_columns,
            own,
            whose: Whose::default(),
            searches: own.saturating_mul(SEARCHES),
        };
        let has_comms = !named.is_empty();
        let named = named.iter().peekable();
        let mut upcoming = Upcoming { begins, next: 0, named, has_comms, due: 0 };
        upcoming.update_due();
        let mut inserted = inserted.iter();
        for run in runs {
            if run.start < own {
                self.own_rows(run, &mut upcoming, &mut block);
                continue;
            }
            // Calls of earlier blocks, which say how many entries come before them.
            for (row, &known) in run.zip(&mut inserted) {
                while upcoming.next < known.0.entries as usize {
                    self.next_begin(&mut upcoming, false, &mut block);
                }
                self.comms_until(&mut upcoming, &mut block, |named| named.row < known.0.row);
                block.behind = RowPosition { row: known.0.row, entries: upcoming.next as u32 };
                block.placed.push(known);
                self.row(row, known.0.row, &mut block);
            }
        }
        while upcoming.next < upcoming.begins.len() {
            self.next_begin(&mut upcoming, false, &mut block);
        }
        self.comms_until(&mut upcoming, &mut block, |_| true);
        parsed.inserted = block.placed;
    }

    /// Rows of the block itself, one behind the other.
    fn own_rows(
        &mut self,
        run: Range<usize>,
        upcoming: &mut Upcoming<'_>,
        block: &mut BlockRows<'_>,
    ) {
        let mut from = run.start;
        loop {
            let row = block.model_rows.next(from, run.end);
            let last = row.min(run.end - 1) as u32;
            // What comes before the row may show that an earlier one has to be looked at.
            if upcoming.due <= last {
                self.next_upcoming(upcoming, last, block);
                continue;
            }
            if row == run.end {
                return;
            }
            block.behind = RowPosition { row: row as u32 + 1, entries: upcoming.next as u32 };
            if !self.quick(row, block) {
                self.row(row, row as u32, block);
            }
            from = row + 1;
        }
    }

    /// The next of what comes before row `last` or, of names, for it.
    fn next_upcoming(&mut self, upcoming: &mut Upcoming<'_>, last: u32, block: &mut BlockRows<'_>) {
        let begin = upcoming.begins.get(upcoming.next).map(|begin| begin.at);
        let begin = begin.filter(|&at| at <= last).unwrap_or(u32::MAX);
        let by_now = |named: &CommChange| named.row < begin && named.from() <= last;
        if upcoming.has_comms && self.next_comm(upcoming, block, by_now) {
            // It may hold for rows before the next one.
            return;
        }
        if begin != u32::MAX {
            // Nothing comes between the entry and its row.
            let behind = upcoming.begins.get(upcoming.next + 1).map_or(u32::MAX, |begin| begin.at);
            let mut alone = begin == last && behind > last;
            if alone && let Some(named) = upcoming.named.peek() {
                alone = named.from() > last;
            }
            self.next_begin(upcoming, alone, block);
        }
    }

    /// The next entry of a call whose row comes later.
    ///
    /// `alone`: if its row is the next one of the block, then it is the next thing that there is.
    #[inline]
    fn next_begin(&mut self, upcoming: &mut Upcoming<'_>, alone: bool, block: &mut BlockRows<'_>) {
        let Some(begin) = upcoming.begins.get(upcoming.next) else { return };
        if upcoming.has_comms {
            self.comms_until(upcoming, block, |named| named.row < begin.at);
        }
        let next = alone && begin.target == EntryTarget::Row(begin.at);
        if !self.quick_begin(begin, upcoming.next as u32 + 1, next, block) {
            self.begin(begin, block);
            self.visit_changed(begin.at as usize, block);
        }
        upcoming.next += 1;
        upcoming.update_due();
    }

    /// What rows show of some tasks has changed: the next row of each, from row `from` on, has to
    /// be looked at.
    #[inline]
    fn visit_changed(&mut self, from: usize, block: &mut BlockRows<'_>) {
        if !self.comms.changed.is_empty() || !self.tasks.changed.is_empty() {
            self.visit_next_rows(from, block);
        }
    }

    #[cold]
    fn visit_next_rows(&mut self, from: usize, block: &mut BlockRows<'_>) {
        for tid in self.comms.changed.drain(..) {
            self.tasks.change(Some(tid));
        }
        for task in self.tasks.changed.drain(..) {
            let Some(left) = block.searches.checked_sub(block.own.saturating_sub(from)) else {
                block.model_rows.visit_all(from, block.own);
                continue;
            };
            block.searches = left;
            if let Some(row) = block.rows.next_of(task, from..block.own) {
                block.model_rows.visit(row);
            }
        }
    }

    /// Names that events have told by now.
    #[inline]
    fn comms_until(
        &mut self,
        upcoming: &mut Upcoming<'_>,
        block: &mut BlockRows<'_>,
        by_now: impl Fn(&CommChange) -> bool,
    ) {
        while self.next_comm(upcoming, block, &by_now) {}
    }

    /// The next of them; says whether there was one.
    fn next_comm(
        &mut self,
        upcoming: &mut Upcoming<'_>,
        block: &mut BlockRows<'_>,
        by_now: impl Fn(&CommChange) -> bool,
    ) -> bool {
        let Some(named) = upcoming.named.next_if(|named| by_now(named)) else { return false };
        self.comms.set(named.tid, &block.comms[named.comm as usize], self.block, named.comm);
        self.visit_changed(named.from() as usize, block);
        upcoming.update_due();
        true
    }

    /// Entry of a call whose row comes later.
    fn begin(&mut self, begin: &CallEntry, block: &mut BlockRows<'_>) {
        let sight = self.tasks.sight(begin.tid);
        let task = if sight.exited { self.calling(sight.task, begin.tid) } else { sight.task };
        let head = &begin.head;
        if !self.waiting.is_empty() {
            self.install_due(task, head.op);
        }
        if let Some(tid) = begin.tid.filter(|_| head.op == Op::Exec) {
            self.comms.executing(tid);
        }
        let comm = begin.tid.and_then(|tid| self.comms.get(tid)).map(Arc::clone);
        let since = self.tasks.files.inodes.now();
        self.tasks.files.inodes.tick();
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
            head.detail.and_then(|at| block.side.details.get(at as usize))
        {
            let fds = fds.clone();
            pending.message = Some(self.send(task, pending.held[0].map(|held| held.file), &fds));
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
        file: DescriptionRef,
        position: bool,
        changes: Option<Changes>,
    ) -> Option<Held> {
        self.tasks.files.keep(file);
        let (open, inodes) = self.tasks.files.with_inodes(file)?;
        let ticket = position.then(|| open.flight.begin());
        let inode = open.inode.and_then(|inode| inodes.get(inode));
        let turn = inode.zip(changes).map(|(inode, changes)| inode.length.begin(changes));
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
    fn sighted(&mut self, tid: Option<i32>, at: u32, block: &mut BlockRows<'_>) -> Sight {
        if let Some((sight, comm)) = self.tasks.shown_in_block(tid) {
            block.whose = Whose { task: sight.id, group: sight.group, comm };
            return *sight;
        }
        self.first_sighted(tid, at, block)
    }

    #[inline(never)]
    fn first_sighted(&mut self, tid: Option<i32>, at: u32, block: &mut BlockRows<'_>) -> Sight {
        let comm = tid.and_then(|tid| self.comms.key(tid, self.block, block.comms));
        let sight = self.tasks.show_in_block(tid, comm);
        let Sight { id, group, .. } = sight;
        block.whose = Whose { task: id, group, comm };
        block.model_columns.sightings.push(TaskColumns {
            at,
            task: task_key(tid),
            id,
            group,
            comm,
        });
        sight
    }

    /// A row in its place: the block's own row `at`, or one in front of that.
    fn row(&mut self, row: usize, at: u32, block: &mut BlockRows<'_>) {
        let kind = block.rows.kind[row];
        if kind == EventKind::Unparsed as u8 {
            return;
        }
        let tid = block.rows.has(row, C::Tid).then(|| block.rows.tid[row]);
        // A log of ftrace that does not say whose records they are has many tasks.
        if tid.is_none() && KINDS_WITHOUT_TASK.iter().any(|&foreign| kind == foreign as u8) {
            return;
        }
        let effect = block.rows.effect[row];
        let (op, begun) = (effect.op, effect.begun);
        let idle = op == Op::None && effect.detail == NO_DETAIL;
        if effect.thread != 0 && matches!(op, Op::Exec | Op::Supersedes) {
            // A thread's execve ended under the id of its group's leader.
            let by = effect.thread;
            self.tasks.superseded(tid, by);
            if let Some(tid) = tid {
                self.comms.superseded(tid, by);
            }
            self.visit_changed(row, block);
        }
        let mut sight = self.sighted(tid, at, block);
        if sight.exited && kind == EventKind::Syscall as u8 && !begun {
            self.calling(sight.task, tid);
            sight = self.sighted(tid, at, block);
        }
        let task = sight.task;
        if row >= block.own {
            block.own_task(row, begun);
        }
        if !self.waiting.is_empty() {
            self.install_due(task, op);
        }
        if begun {
            block.whose.comm = None;
            self.ended(task, tid, row, block, &effect);
        } else if !idle {
            match op {
                Op::Away => self.away(task, tid),
                // The row is the end of the leader that was.
                Op::Superseded => self.tasks.superseded(tid, effect.at),
                _ => self.call::<false>(task, tid, row, block, &effect, None),
            }
        }
        if sight.exited {
            // Whatever it does next may show that another one has its id.
            self.tasks.changed.push(task_key(tid));
        }
        let from = if row < block.own { row + 1 } else { at as usize };
        self.visit_changed(from, block);
    }

    /// The row of a call whose entry came before it.
    fn ended(
        &mut self,
        task: TaskRef,
        tid: Option<i32>,
        row: usize,
        block: &mut BlockRows<'_>,
        effect: &Effect,
    ) {
        let mut pending = self.tasks.take_pending(task);
        if let Some(comm) = pending.as_ref().and_then(|pending| pending.comm.as_ref()) {
            block.rows.comm[row] = key_in(block.comms, comm);
            block.set(row, C::Comm);
        }
        match effect.op {
            Op::None if effect.detail == NO_DETAIL => {}
            Op::Away => self.away(task, tid),
            Op::Superseded => self.tasks.superseded(tid, effect.at),
            _ => self.call::<true>(task, tid, row, block, effect, pending.as_deref_mut()),
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
        block: &mut BlockRows<'_>,
        effect: &Effect,
        mut pending: Option<&mut Pending>,
    ) {
        let (op, made_up) = (effect.op, effect.made_up);
        let (motion, detailed) = (effect.motion, effect.detail != NO_DETAIL);
        block.since = match &pending {
            Some(pending) => pending.since,
            None if BEGUN => 0,
            None => self.tasks.files.inodes.now(),
        };
        let mut files: Bound = [None; 2];
        let mut held: [Option<Held>; 2] = [None; 2];
        // Nothing here reads what such rows show of their descriptions.
        let relative = effect.relative || effect.relative2 || self.tasks.rooted;
        let later = row < block.own && !relative && !leads(op);
        for (second, binds) in [(false, binds(op).0), (true, binds(op).1)] {
            if !binds {
                continue;
            }
            let at = usize::from(second);
            let Some(fd) = block.fd(row, second) else { continue };
            if BEGUN {
                held[at] = pending.as_deref_mut().and_then(|pending| pending.take(second, fd));
            }
            let held = held[at].map(|held| held.file);
            files[at] = self.bound(task, row, block, fd, held, second, later);
        }
        if detailed {
            self.directory(task, row, block);
        }
        let size = block.rows.has(row, C::Size);
        if relative {
            paths::resolve(&mut self.tasks, task, block, row);
        }
        if effect.identify && !(later && files[0].is_some()) {
            identify(block, row, false);
        }
        if effect.identify2 && !(later && files[1].is_some()) {
            identify(block, row, true);
        }
        let names = if leads(op) { self.identities(op, row, block) } else { [None; 2] };
        let moves = matches!(op, Op::Seek | Op::Truncate | Op::Allocate);
        let turn = BEGUN && held[0].is_some_and(|held| held.turn.is_some());
        if motion != Motion::None || moves || turn || size {
            self.moved(row, block, &files, &held);
        }
        if BEGUN && op == Op::Close {
            self.tasks.closed(task, made_up);
        }
        // What was injected did not take place; to use something has no effect but these.
        let acts = !matches!(op, Op::Use | Op::Path | Op::Seek | Op::Truncate | Op::Allocate);
        if !made_up && (acts || detailed || self.cut) {
            if self.cut {
                self.see_occupants(task, row, block);
            }
            self.act(task, tid, row, block, files, names, pending);
            if self.cut {
                self.postpone(task);
                self.freed();
            }
        } else if made_up && let Some(number) = pending.and_then(|pending| pending.message) {
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
        block: &mut BlockRows<'_>,
        fd: i32,
        held: Option<DescriptionRef>,
        second: bool,
        later: bool,
    ) -> Option<DescriptionRef> {
        let file = if let Some(file) = held {
            if block.failed_with(row, "EBADF") && self.vanished(task, fd, file) {
                return Some(file);
            }
            file
        } else {
            let op = block.rows.effect[row].op;
            self.descriptor(task, fd, || shows(op) && !block.failed_with(row, "EBADF"))?
        };
        let annotated = block.rows.has(row, if second { C::Path2 } else { C::Path });
        let file = if annotated {
            self.compare_annotation(block, row, task, file, second, held.is_some())
        } else {
            file
        };
        if later {
            self.show_file_later(block, row, file, second);
        } else {
            self.show_file(block, row, file, second);
        }
        if !second && !block.rows.effect[row].begun {
            self.learn(block, row, file);
        }
        Some(file)
    }

    /// At its entry the call seemed to act on something older than the log, and there was nothing.
    fn vanished(&mut self, task: TaskRef, fd: i32, file: DescriptionRef) -> bool {
        let unseen =
            |open: &mut fd_table::OpenFileDescription| open.inherited && open.number() == 0;
        let unseen = self.tasks.files.get(file).is_some_and(unseen);
        if unseen && self.tasks.table(task).get(fd) == Some(file) {
            self.tasks.close(task, fd);
        }
        unseen
    }

    /// The working directory that an annotation tells.
    fn directory(&mut self, task: TaskRef, row: usize, block: &mut BlockRows<'_>) {
        let at = block.rows.effect[row].detail;
        if let Some(Detail::Directory(view)) = block.side.details.get(at as usize) {
            let path = block.text_of(view);
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
    fn identities(&mut self, op: Op, row: usize, block: &mut BlockRows<'_>) -> [Option<u64>; 2] {
        let inodes = &self.tasks.files.inodes;
        let mut names = [None; 2];
        if block.rows.has(row, C::File) && !(op == Op::Truncate && block.rows.has(row, C::Fd)) {
            names[0] = Some(block.rows.file[row]);
            block.rows.file[row] = inodes.identity(block.rows.file[row]);
        }
        if block.rows.has(row, C::File2) {
            names[1] = Some(block.rows.file2[row]);
            block.rows.file2[row] = inodes.identity(block.rows.file2[row]);
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
        self.tasks.get_or_add(tid)
    }

    fn forget(&mut self, tid: Option<i32>) {
        if let Some(tid) = tid {
            self.comms.forget(tid);
        }
    }
}

/// What the operation's names lead to may be another file by now.
#[inline]
fn leads(op: Op) -> bool {
    use Op::{Exec, Link, Open, Path, Rename, Truncate, Unlink};
    matches!(op, Open | Path | Exec | Rename | Unlink | Link | Truncate)
}
