//! A call from its entry to its row, for rows that need more than [`crate::kernel::common_rows`]
//! does.
//!
//! At entry a call keeps the descriptions that its descriptors refer to. At its row, which is its
//! exit, the model fills the columns and applies the effects.

use std::sync::Arc;

use crate::events::details::Detail;
use crate::events::model_columns::{TaskColumns, task_key};
use crate::events::model_rows::is_of_task;
use crate::events::parsed_block::key_in;
use crate::events::rows::{Effect, NO_DETAIL};
use crate::events::schema::Column as C;
use crate::events::split_calls::{CallEntry, EntryEffect};
use crate::events::vocabulary::{EventKind, Motion, Op, Status, open_flags};
use crate::kernel::block_rows::{BlockRows, Whose};
use crate::kernel::descriptors::columns::{binds, identify, shows};
use crate::kernel::descriptors::open_file_description::{DescriptionRef, OpenFileDescription};
use crate::kernel::files::length::Changes;
use crate::kernel::files::paths::{self, LONGEST};
use crate::kernel::tasks::TaskRef;
use crate::kernel::tasks::task_cache::Sight;
use crate::kernel::transfers::calls_under_way::{Held, Pending, UnseenMoves, writes};
use crate::kernel::{Bound, Kernel};

impl Kernel {
    /// The entry of a call whose row comes later.
    #[inline(never)]
    pub(crate) fn enter(&mut self, entry: &CallEntry, block: &mut BlockRows<'_>) {
        let sight = self.tasks.sight(entry.tid);
        let task = if sight.exited { self.calling(sight.task, entry.tid) } else { sight.task };
        let head = &entry.head;
        if !self.waiting.is_empty() {
            self.install_due(task, head.op);
        }
        if self.cut {
            self.tasks.goes_on(task);
        }
        if let Some(tid) = entry.tid.filter(|_| head.op == Op::Exec) {
            self.comms.executing(tid);
        }
        let comm = entry.tid.and_then(|tid| self.comms.get(tid)).map(Arc::clone);
        let since = self.tasks.files.inodes.now();
        self.tasks.files.inodes.tick();
        let mut pending = self.tasks.spare();
        (pending.since, pending.comm) = (since, comm);
        pending.makes = head.may_make();
        let (first, second) = binds(head.op);
        let moves = head.motion != Motion::None || head.op == Op::Seek;
        if self.tasks.guesses > 0 && (moves || matches!(head.op, Op::Truncate | Op::Allocate)) {
            self.tasks.moves(task);
        }
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
            self.tasks.files.hold_in(held, fd, file, position, changes);
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
        match head.detail.and_then(|at| block.side.details.get(at as usize)) {
            Some(detail @ (Detail::Sent(fds) | Detail::SentTo(fds))) => {
                let to_pair = matches!(detail, Detail::Sent(_));
                let fds = fds.clone();
                let socket = pending.held[0].filter(|_| to_pair).map(|held| held.file);
                let number = self.send(task, socket, &fds);
                let file = |&fd| Some((fd, self.tasks.descriptor(task, fd)?));
                pending.send(number, fds.iter().filter_map(file).collect());
            }
            Some(Detail::IntoLog) => {
                if let Some(held) = pending.held[0] {
                    self.tasks.files.writes_log(held.file);
                }
            }
            Some(Detail::PeeksLater) => self.peeks_later(pending.held[0].map(|held| held.file)),
            Some(&Detail::Renames(names)) => self.names_nodes(head.op, names),
            Some(Detail::Added(_)) => {
                self.tasks.files.adding += 1;
                let unseen = UnseenMoves { adds: true, ..UnseenMoves::default() };
                pending.unseen = Some(Box::new(unseen));
            }
            _ => {}
        }
        match head.op {
            Op::Submit => self.submit(task, head.flags),
            Op::Exec if !self.follows => pending.unseen = self.hold_shared(task).map(Box::new),
            // Where that was, its line need not say so.
            Op::Exec if self.leaves_programs => self.leave(task, head.op),
            Op::Dup => {
                let fds = head.fd.zip(head.fd2);
                let unseen = fds.and_then(|(from, to)| self.tasks.replacing(task, from, to));
                pending.unseen = unseen.map(Box::new);
            }
            Op::Open | Op::Truncate if may_cut(head) => {
                self.tasks.files.inodes.begin_cut();
                let unseen = UnseenMoves { cuts: true, ..UnseenMoves::default() };
                pending.unseen = Some(Box::new(unseen));
            }
            _ => {}
        }
        self.tasks.put_pending(task, pending);
        match (head.op, head.fd) {
            (Op::Close, Some(fd)) => self.tasks.closing(task, fd),
            (Op::CloseRange, Some(first)) => {
                let last = head.fd2.unwrap_or(i32::MAX);
                self.close_range(task, first, last, head.flags);
            }
            (Op::Rename | Op::Unlink, _) => {
                self.tasks.files.inodes.forget_sizes();
                self.tasks.files.inodes.target_moves(true);
                // Others may open what the names mean then before the row comes.
                match head.detail.and_then(|at| block.side.details.get(at as usize)) {
                    Some(&Detail::Renames(names)) => {
                        for last in names {
                            self.tasks.names_move(last, true);
                        }
                    }
                    _ => self.tasks.names_move(None, true),
                }
            }
            _ => self.entry(task, head.op, head.flags, head.fd),
        }
        if self.cut {
            self.freed();
        }
    }

    /// Effects that take place at the entry of a call.
    pub(crate) fn entry(&mut self, task: TaskRef, op: Op, flags: u32, fd: Option<i32>) {
        match (op, fd) {
            // A close that fails frees the descriptor all the same: close(2), "Dealing with error
            // returns from close()".
            (Op::Close, Some(fd)) => self.tasks.close(task, fd),
            (Op::Fork, _) => self.tasks.forking(task, flags),
            (Op::Rename | Op::Unlink, _) => self.tasks.files.inodes.forget_sizes(),
            _ => {}
        }
    }

    /// What rows show of a task, from the block's own row `at` on. A name that events have shown
    /// goes before the one in the record, which is the name at the moment when the log was read.
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

    /// Handles a row: the block's own row `at`, or one that comes before that.
    pub(crate) fn row(&mut self, row: usize, at: u32, block: &mut BlockRows<'_>) {
        let kind = block.rows.kind[row];
        let tid = block.rows.has(row, C::Tid).then(|| block.rows.tid[row]);
        let effect = block.rows.effect[row];
        if !is_of_task(kind, tid.is_some()) {
            if effect.op == Op::Submit {
                self.damaged(&effect);
            }
            return;
        }
        let (op, begun) = (effect.op, effect.begun);
        let idle = op == Op::None && effect.detail == NO_DETAIL;
        if effect.thread != 0 && matches!(op, Op::Exec | Op::Supersedes) {
            // A thread's execve ends under the id of the leader of its group: execve(2).
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
        if self.cut {
            self.tasks.goes_on(task);
        }
        if begun {
            block.whose.comm = None;
            self.ended(task, tid, row, block, &effect);
        } else if !idle {
            match op {
                Op::Away => self.away(task, tid),
                // The row ends the old leader.
                Op::Superseded => self.tasks.superseded(tid, effect.at),
                _ => self.call::<false>(task, tid, row, block, &effect, None),
            }
        }
        if sight.exited {
            // Any later row with its id is of another task.
            self.tasks.changed.push(task_key(tid));
        }
        if block.rows.status[row] == Status::Detached as u8 {
            self.leave(task, op);
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
        if effect.op == Op::Dup
            && let Some(unseen) = pending.as_mut().and_then(|pending| pending.unseen.take())
        {
            self.tasks.replaced(*unseen);
        }
        if let Some(comm) = pending.as_ref().and_then(|pending| pending.comm.as_ref()) {
            block.rows.comm[row] = key_in(block.comms, comm);
            block.set(row, C::Comm);
        }
        if let Some(pending) = &pending {
            for &(fd, file) in pending.sent() {
                self.tasks.ends_on(task, fd, file);
            }
        }
        match effect.op {
            Op::None if effect.detail == NO_DETAIL => {}
            Op::Away => self.away(task, tid),
            Op::Superseded => self.tasks.superseded(tid, effect.at),
            _ => self.call::<true>(task, tid, row, block, effect, pending.as_deref_mut()),
        }
        if let Some(mut pending) = pending {
            if effect.op == Op::Exec
                && block.rows.has(row, C::Ret)
                && let Some(unseen) = pending.unseen.take()
            {
                unseen.moved_nothing(&mut self.tasks.files);
            }
            self.tasks.give_back(pending);
        }
    }

    /// The task is switched away. If it has exited, it does not run again.
    fn away(&mut self, task: TaskRef, tid: Option<i32>) {
        if self.tasks.has_exited(task) {
            self.forget(tid);
            self.tasks.gone(tid);
        }
    }

    /// A row that has effects; `BEGUN`: the entry of its call came before it.
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
        let moves = matches!(op, Op::Seek | Op::Truncate | Op::Allocate);
        if self.tasks.guesses > 0 && (moves || motion != Motion::None) {
            self.tasks.moves(task);
        }
        block.since = match &pending {
            Some(pending) => pending.since,
            None if BEGUN => 0,
            None => self.tasks.files.inodes.now(),
        };
        self.tasks.since = block.since;
        let mut files: Bound = [None; 2];
        let mut held: [Option<Held>; 2] = [None; 2];
        // Nothing reads what such rows show of their descriptions, so it can be written later.
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
            if let Some(file) = held.filter(|_| op != Op::Close)
                && self.tasks.files.at(file).is_some_and(|open| open.number_closed)
            {
                self.tasks.ends_on(task, fd, file);
            }
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
        if detailed && let Some(file) = files[0] {
            self.numbered(row, block, file);
            if let Some(Detail::IntoLog) = block.side.details.get(effect.detail as usize) {
                self.tasks.files.writes_log(file);
            }
        }
        let names = if leads(op) { self.identities(op, row, block) } else { [None; 2] };
        if matches!(op, Op::Path | Op::MakeNode | Op::Symlink)
            || op == Op::Truncate && files[0].is_none()
        {
            self.tasks.files.inodes.types.of_path(row, block);
        }
        if matches!(motion, Motion::Read | Motion::Copy)
            && !self.messages.is_empty()
            && let Some(file) = files[0]
        {
            self.read_past_messages(row, block, file);
        }
        let resize = BEGUN && held[0].is_some_and(|held| held.resize.is_some());
        if motion != Motion::None || moves || resize || size {
            self.moved(row, block, &files, &held);
        }
        if BEGUN && op == Op::Close {
            self.tasks.closed(task, made_up);
        }
        // An injected result is made up by strace: the kernel did not do the call.
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
        } else if made_up && let Some(number) = pending.and_then(|pending| pending.message()) {
            self.unsend(number);
        }
        if BEGUN {
            for held in held.iter().flatten() {
                held.release(&mut self.tasks.files);
            }
        }
        block.apart = [0; 2];
    }

    /// Finds the description of the row's first or second descriptor, and shows it in the columns
    /// of the row, now or `later`; `held`: what it referred to at entry.
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
        if !second {
            self.infer_regular(row, block, file);
        }
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

    /// Whether the call failed because the descriptor, which seemed older than the log at entry,
    /// did not exist.
    fn vanished(&mut self, task: TaskRef, fd: i32, file: DescriptionRef) -> bool {
        let unseen = |open: &mut OpenFileDescription| open.inherited && open.number() == 0;
        let unseen = self.tasks.files.get(file).is_some_and(unseen);
        if unseen && self.tasks.descriptor(task, fd) == Some(file) {
            // Besides the descriptor and this call.
            let others = self.tasks.files.users(file) > 2;
            self.tasks.close(task, fd);
            if others {
                // They may be on what a call makes that has not ended.
                self.tasks.closed_again(task, fd);
            }
        }
        unseen
    }

    /// The working directory, which an annotation shows.
    pub(crate) fn directory(&mut self, task: TaskRef, row: usize, block: &mut BlockRows<'_>) {
        let at = block.rows.effect[row].detail;
        if let Some(Detail::Directory(view) | Detail::Numbered(_, Some(view))) =
            block.side.details.get(at as usize)
        {
            let path = block.text_of(view);
            if path.starts_with(b"/") || path.len() > LONGEST {
                self.tasks.show_directory(task, path);
            }
        }
    }

    /// Replaces the identity of a name by that of the file that it refers to now, after renames;
    /// returns the hashes of the names in the model.
    #[inline]
    pub(crate) fn identities(
        &mut self,
        op: Op,
        row: usize,
        block: &mut BlockRows<'_>,
    ) -> [Option<u64>; 2] {
        let (valid, identify) = (block.rows.valid[row], block.rows.effect[row].identify);
        let one = valid & (C::File.bit() | C::File2.bit()) == C::File.bit();
        if one && !identify && block.apart[0] == 0 && op != Op::Truncate {
            let name = block.rows.file[row];
            block.rows.file[row] = self.tasks.files.inodes.identity(name);
            return [Some(name), None];
        }
        self.identities_of_both(op, row, block)
    }

    #[inline(never)]
    fn identities_of_both(
        &mut self,
        op: Op,
        row: usize,
        block: &mut BlockRows<'_>,
    ) -> [Option<u64>; 2] {
        let inodes = &self.tasks.files.inodes;
        let mut names = [None; 2];
        if block.rows.has(row, C::File) && !(op == Op::Truncate && block.rows.has(row, C::Fd)) {
            names[0] = paths::own_name(block, row, false).or(Some(block.rows.file[row]));
            block.rows.file[row] = inodes.identity(block.rows.file[row]);
        }
        if block.rows.has(row, C::File2) {
            names[1] = paths::own_name(block, row, true).or(Some(block.rows.file2[row]));
            block.rows.file2[row] = inodes.identity(block.rows.file2[row]);
        }
        names
    }

    /// The task makes a call. A task that has exited does not, so this is another one with its id.
    #[inline]
    pub(crate) fn calling(&mut self, task: TaskRef, tid: Option<i32>) -> TaskRef {
        if !self.tasks.has_exited(task) {
            return task;
        }
        self.forget(tid);
        self.tasks.gone(tid);
        self.tasks.get_or_add(tid)
    }

    pub(crate) fn forget(&mut self, tid: Option<i32>) {
        if let Some(tid) = tid {
            self.comms.forget(tid);
        }
    }
}

/// Whether the call may cut a file that it names.
pub(crate) fn may_cut(head: &EntryEffect) -> bool {
    match head.op {
        Op::Open => head.flags & open_flags::TRUNC != 0,
        Op::Truncate => head.fd.is_none(),
        _ => false,
    }
}

/// Whether the operation acts on files by name, which may be other files by now.
#[inline]
fn leads(op: Op) -> bool {
    use Op::{Exec, Link, MakeNode, Open, Path, Rename, Symlink, Truncate, Unlink};
    matches!(op, Open | Path | Exec | Rename | Unlink | Link | MakeNode | Symlink | Truncate)
}
