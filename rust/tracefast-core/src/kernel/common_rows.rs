//! The short way for common rows: the few things that most rows of a log do.
//!
//! Each function gives the same result as [`Kernel::row`], but skips checks that the class of the
//! row has already answered. A function that returns `false` has done nothing; the row then goes
//! through `calls.rs`.

use std::sync::Arc;

use crate::events::details::Detail;
use crate::events::model_columns::ShownFile;
use crate::events::model_rows::RowClass;
use crate::events::parsed_block::key_in;
use crate::events::rows::{Effect, NO_DETAIL};
use crate::events::schema::Column as C;
use crate::events::split_calls::{CallEntry, EntryEffect, EntryTarget, RowPosition as Place};
use crate::events::vocabulary::{Motion, Op};
use crate::kernel::Kernel;
use crate::kernel::block_rows::{BlockRows, Whose};
use crate::kernel::calls::may_cut;
use crate::kernel::descriptors::open_file_description::DescriptionRef;
use crate::kernel::files::length::Changes;
use crate::kernel::tasks::TaskRef;
use crate::kernel::transfers::calls_under_way::{Pending, writes};

impl Kernel {
    /// Handles one of the block's own rows, if it does one of these things and a row of the block
    /// has shown its task before.
    #[inline]
    pub(crate) fn common_row(&mut self, row: usize, block: &mut BlockRows<'_>) -> bool {
        let (class, begun) = block.model_rows.class(row);
        if class == RowClass::Other || self.cut {
            return false;
        }
        let tid = block.rows.tid[row];
        let Some((task, _)) = self.common_task(Some(tid), block) else { return false };
        if begun {
            block.whose.comm = None;
            return match class {
                RowClass::Idle => self.common_exit(task, row, block),
                RowClass::Path if self.tasks.rooted => false,
                RowClass::Path => {
                    self.common_exit(task, row, block) && self.common_path(task, row, block)
                }
                RowClass::Use => self.common_exit_use(task, row, block),
                RowClass::Open => self.common_exit_open(task, row, block),
                RowClass::Close => self.common_exit_close(task, row, block),
                RowClass::Memory => self.common_exit_memory(task, row, block),
                RowClass::Directory | RowClass::Other => false,
            };
        }
        block.since = self.tasks.files.inodes.now();
        self.common_whole(class, task, row, block, false)
    }

    /// The task, if a row of the block has shown it and it has not exited; and its name, if events
    /// have shown that.
    #[inline]
    fn common_task(
        &self,
        tid: Option<i32>,
        block: &mut BlockRows<'_>,
    ) -> Option<(TaskRef, Option<u32>)> {
        if self.tasks.guesses > 0 {
            return None;
        }
        let (sight, comm) = self.tasks.shown_in_block(tid).filter(|(sight, _)| !sight.exited)?;
        block.whose = Whose { task: sight.id, group: sight.group, comm };
        Some((sight.task, comm))
    }

    /// A call with nothing between its entry and its exit; `begun`: the block has them as an entry
    /// and a row.
    #[inline(always)] // Becomes two functions, one for each value of `begun`.
    fn common_whole(
        &mut self,
        class: RowClass,
        task: TaskRef,
        row: usize,
        block: &mut BlockRows<'_>,
        begun: bool,
    ) -> bool {
        match class {
            RowClass::Idle => true,
            RowClass::Use => self.common_use(task, row, block, begun),
            RowClass::Close => self.common_close(task, row, block, begun),
            RowClass::Memory => self.common_memory(task, row, block, begun),
            RowClass::Path => self.common_path(task, row, block),
            RowClass::Open => self.common_open(task, row, block),
            RowClass::Directory => self.common_directory(task, row, block),
            RowClass::Other => false,
        }
    }

    /// Handles the entry of a call of one of these kinds, whose row is in the block. `entries`: how
    /// many entries there are up to this one. `next`: nothing comes between it and its row.
    #[inline]
    pub(crate) fn common_entry(
        &mut self,
        entry: &CallEntry,
        entries: u32,
        next: bool,
        block: &mut BlockRows<'_>,
    ) -> bool {
        let EntryTarget::Row(row) = entry.target else { return false };
        let row = row as usize;
        let (class, begun) = block.model_rows.class(row);
        if class == RowClass::Other || !begun || self.cut || entry.head.detail.is_some() {
            return false;
        }
        let Some((task, comm)) = self.common_task(entry.tid, block) else { return false };
        let op = entry.head.op;
        // All that these do, they do at their exit.
        let kept = match class {
            RowClass::Path => !block.rows.has(row, C::Size),
            RowClass::Memory => {
                let mapped = op == Op::Use && entry.head.fd.is_none_or(|fd| fd >= 0);
                !mapped && block.rows.effect[row].op == op
            }
            _ => false,
        };
        let timed = class == RowClass::Open || class == RowClass::Path && !kept;
        let held = match class {
            RowClass::Use => matches!(op, Op::Use | Op::Seek),
            RowClass::Memory => !kept && op == Op::Use,
            RowClass::Close => op == Op::Close,
            _ => false,
        };
        if !(next || class == RowClass::Idle || kept || timed || held) {
            return false;
        }
        if !next && timed {
            if may_cut(&entry.head) {
                return false;
            }
            self.common_entry_timed(task, entry, comm.is_some());
            return true;
        }
        if !next && comm.is_some() {
            // The row shows the name that the task has now, unless the task ends first.
            return self.common_entry_named(task, entry, held);
        }
        if let Some(comm) = comm {
            block.rows.comm[row] = comm;
            block.set(row, C::Comm);
        }
        if let Some(before) = self.tasks.take_pending(task) {
            self.tasks.give_back(before);
        }
        if next || class == RowClass::Idle {
            block.since = self.tasks.files.inodes.now();
            block.next_position = Place { row: row as u32 + 1, entries };
            if self.common_whole(class, task, row, block, true) {
                block.model_rows.leave_out(row);
                return true;
            }
            return false;
        }
        !held || self.common_entry_use(task, entry, None)
    }

    /// The same for a task whose name events have shown.
    fn common_entry_named(&mut self, task: TaskRef, entry: &CallEntry, held: bool) -> bool {
        let comm = entry.tid.and_then(|tid| self.comms.get(tid)).map(Arc::clone);
        if held {
            return self.common_entry_use(task, entry, comm);
        }
        let mut pending = self.tasks.spare();
        (pending.since, pending.comm) = (self.tasks.files.inodes.now(), comm);
        self.tasks.put_pending(task, pending);
        true
    }

    /// The entry of a call that shows or changes a file by its name, so what happens until its exit
    /// matters; `named`: events have shown the name of its task.
    fn common_entry_timed(&mut self, task: TaskRef, entry: &CallEntry, named: bool) {
        let tid = entry.tid.filter(|_| named);
        let comm = tid.and_then(|tid| self.comms.get(tid)).map(Arc::clone);
        let mut pending = self.tasks.spare();
        (pending.since, pending.comm) = (self.tasks.files.inodes.now(), comm);
        pending.makes = entry.head.may_make();
        self.tasks.files.inodes.tick();
        self.tasks.put_pending(task, pending);
    }

    /// The entry of a call that uses or closes one descriptor.
    fn common_entry_use(
        &mut self,
        task: TaskRef,
        entry: &CallEntry,
        comm: Option<Arc<str>>,
    ) -> bool {
        let EntryEffect { op, fd, fd2, motion, moves, .. } = entry.head;
        let (Some(fd), None) = (fd, fd2) else { return false };
        let Some(file) = self.tasks.descriptor(task, fd) else { return false };
        let position = op == Op::Seek || moves.0 && motion != Motion::None;
        let changes = writes(motion, false).then_some(Changes::Longer);
        let mut pending = self.tasks.spare();
        (pending.since, pending.comm) = (self.tasks.files.inodes.now(), comm);
        pending.makes = entry.head.may_make();
        self.tasks.files.inodes.tick();
        self.tasks.files.hold_in(&mut pending.held[0], fd, file, position, changes);
        self.tasks.put_pending(task, pending);
        if op == Op::Close {
            self.tasks.closing(task, fd);
        }
        true
    }

    /// The exit of a call: takes over what was noted at its entry.
    fn common_exit(&mut self, task: TaskRef, row: usize, block: &mut BlockRows<'_>) -> bool {
        block.since = 0;
        if let Some(pending) = self.tasks.take_pending(task) {
            block.since = pending.since;
            named(block, row, &pending);
            self.tasks.give_back(pending);
        }
        true
    }

    /// The exit of a call that opens a file by an absolute path, unless an event within it has shown
    /// another one.
    fn common_exit_open(&mut self, task: TaskRef, row: usize, block: &mut BlockRows<'_>) -> bool {
        let shown = self.tasks.pending(task).is_some_and(|pending| pending.path().is_some());
        if shown || self.tasks.rooted || block.rows.has(row, C::Size) {
            return false;
        }
        self.common_exit(task, row, block) && self.common_open(task, row, block)
    }

    /// Whether the row may read through a socket past a message with descriptors.
    #[inline]
    fn may_read_past(&self, row: usize, block: &BlockRows<'_>, file: DescriptionRef) -> bool {
        !self.messages.is_empty()
            && block.rows.effect[row].motion == Motion::Read
            && self.tasks.files.at(file).is_some_and(|open| open.end.is_some())
    }

    /// A call that uses one descriptor, if that is open.
    #[inline]
    fn common_use(
        &mut self,
        task: TaskRef,
        row: usize,
        block: &mut BlockRows<'_>,
        begun: bool,
    ) -> bool {
        let fd = block.rows.fd[row];
        let Some(mut file) = self.tasks.descriptor(task, fd) else { return false };
        if self.may_read_past(row, block, file) {
            return false;
        }
        let valid = block.rows.valid[row];
        let has = |column: C| valid & column.bit() != 0;
        file = self.common_show(task, row, block, file, begun);
        if has(C::FileType) && !begun {
            self.learn(block, row, file);
        }
        let Effect { motion, op, .. } = block.rows.effect[row];
        if motion != Motion::None || op == Op::Seek {
            if !self.common_transfer(row, block, file, None) {
                self.moved(row, block, &[Some(file), None], &[None; 2]);
            }
        } else if has(C::Size) {
            self.found_size(row, block, Some(file));
        }
        true
    }

    /// Notes what the row shows of its descriptor, to be written later. Returns the description,
    /// which an annotation may correct.
    #[inline(always)] // A few comparisons, for nearly every row that uses a descriptor.
    fn common_show(
        &mut self,
        task: TaskRef,
        row: usize,
        block: &mut BlockRows<'_>,
        file: DescriptionRef,
        begun: bool,
    ) -> DescriptionRef {
        self.infer_regular(row, block, file);
        let annotated = block.rows.has(row, C::Path);
        if let Some(open) = self.tasks.files.get(file)
            && open.described == block.number
            && (!annotated || begun || self.closed && open.agrees(block.rows.path[row]))
            && (!annotated || open.path.is_some())
        {
            let shown = ShownFile { row: row as u32, description: open.description };
            block.model_columns.shown[0].push(shown);
            return file;
        }
        self.show_first(task, row, block, file, begun)
    }

    /// The same for the first row of a block that shows this of the description.
    #[inline(never)]
    fn show_first(
        &mut self,
        task: TaskRef,
        row: usize,
        block: &mut BlockRows<'_>,
        file: DescriptionRef,
        begun: bool,
    ) -> DescriptionRef {
        let annotated = block.rows.has(row, C::Path);
        let file = if annotated {
            self.compare_annotation(block, row, task, file, false, begun)
        } else {
            file
        };
        self.show_file_later(block, row, file, false);
        file
    }

    /// The same for a call that has held the description since its entry.
    fn common_exit_use(&mut self, task: TaskRef, row: usize, block: &mut BlockRows<'_>) -> bool {
        let fd = block.rows.fd[row];
        let plain = |pending: &mut Pending| match pending.held[0] {
            Some(held) if held.fd == fd && !held.switches && pending.message().is_none() => {
                Some(held.file)
            }
            _ => None,
        };
        let Some(file) = self.tasks.pending(task).and_then(plain) else { return false };
        let closes = block.rows.effect[row].op == Op::Close;
        if !closes && self.tasks.files.at(file).is_some_and(|open| open.number_closed)
            || self.may_read_past(row, block, file)
        {
            return false;
        }
        let Some(mut pending) = self.tasks.take_pending(task) else { return false };
        let held = pending.held[0].take();
        block.since = pending.since;
        named(block, row, &pending);
        self.tasks.give_back(pending);
        let Some(held) = held else { return true };
        let file = self.common_show(task, row, block, held.file, true);
        let Effect { motion, op, .. } = block.rows.effect[row];
        let moves = motion != Motion::None || op == Op::Seek;
        let resizes = held.resize.is_some();
        if moves && !resizes && self.common_transfer(row, block, file, held.call_start) {
            // Done.
        } else if moves || resizes || block.rows.has(row, C::Size) {
            self.moved(row, block, &[Some(file), None], &[Some(held), None]);
        }
        held.release(&mut self.tasks.files);
        true
    }

    /// The exit of a close, whose entry has taken the descriptor out of the table.
    fn common_exit_close(&mut self, task: TaskRef, row: usize, block: &mut BlockRows<'_>) -> bool {
        if !self.common_exit_use(task, row, block) {
            return false;
        }
        let made_up = block.rows.effect[row].made_up;
        self.tasks.closed(task, made_up);
        self.closed |= !made_up && is_done(block, row);
        true
    }

    /// The exit of a call that changes an address space.
    fn common_exit_memory(&mut self, task: TaskRef, row: usize, block: &mut BlockRows<'_>) -> bool {
        let over = if maps_file(block, row) {
            self.common_exit_use(task, row, block)
        } else {
            !block.rows.effect[row].identify && self.common_exit(task, row, block)
        };
        if over {
            self.change_memory(task, row, block);
        }
        over
    }

    /// A close.
    fn common_close(
        &mut self,
        task: TaskRef,
        row: usize,
        block: &mut BlockRows<'_>,
        begun: bool,
    ) -> bool {
        let fd = block.rows.fd[row];
        let Some(file) = self.tasks.descriptor(task, fd) else { return false };
        self.common_show(task, row, block, file, begun);
        if !block.rows.effect[row].made_up {
            self.tasks.close(task, fd);
            self.closed |= is_done(block, row);
        }
        true
    }

    /// A call that changes an address space.
    fn common_memory(
        &mut self,
        task: TaskRef,
        row: usize,
        block: &mut BlockRows<'_>,
        begun: bool,
    ) -> bool {
        let ready = if maps_file(block, row) {
            self.common_use(task, row, block, begun)
        } else {
            // A damaged number may have a name.
            !block.rows.effect[row].identify
        };
        if !ready {
            return false;
        }
        self.change_memory(task, row, block);
        true
    }

    /// What such a call does to the address space.
    fn change_memory(&mut self, task: TaskRef, row: usize, block: &BlockRows<'_>) {
        let effect = &block.rows.effect[row];
        if !effect.made_up
            && is_done(block, row)
            && let Some(&Detail::Memory(memory)) = block.side.details.get(effect.detail as usize)
        {
            self.tasks.space(task).change(memory);
        }
    }

    /// A call that shows the path of the working directory.
    fn common_directory(&mut self, task: TaskRef, row: usize, block: &BlockRows<'_>) -> bool {
        if self.tasks.rooted {
            return false;
        }
        let done = !block.rows.effect[row].made_up && is_done(block, row);
        if done && block.rows.has(row, C::Path) {
            self.tasks.show_directory(task, block.text_of(&block.rows.path[row]));
        }
        true
    }

    /// A call that acts on files by absolute paths.
    fn common_path(&mut self, task: TaskRef, row: usize, block: &mut BlockRows<'_>) -> bool {
        if self.tasks.rooted {
            return false;
        }
        if block.rows.effect[row].detail != NO_DETAIL {
            self.directory(task, row, block);
        }
        self.identities(Op::Path, row, block);
        self.tasks.files.inodes.types.of_path(row, block);
        if block.rows.has(row, C::Size) {
            self.found_size(row, block, None);
        }
        true
    }

    /// A call that opens a file by an absolute path.
    fn common_open(&mut self, task: TaskRef, row: usize, block: &mut BlockRows<'_>) -> bool {
        if self.tasks.rooted || block.rows.has(row, C::Size) {
            return false;
        }
        if block.rows.effect[row].detail != NO_DETAIL {
            self.directory(task, row, block);
        }
        let [name, _] = self.identities(Op::Open, row, block);
        if !block.rows.effect[row].made_up
            && is_done(block, row)
            && let Some(fd) = block.fd(row, false)
        {
            self.open(task, fd, row, block, false, name);
        }
        true
    }
}

/// The call that changes an address space has a descriptor to do so; -1 stands for none: mmap(2).
fn maps_file(block: &BlockRows<'_>, row: usize) -> bool {
    block.rows.effect[row].op == Op::Use && block.rows.fd[row] >= 0
}

/// Shows the name that the task had when the call was entered.
fn named(block: &mut BlockRows<'_>, row: usize, pending: &Pending) {
    if let Some(comm) = &pending.comm {
        block.rows.comm[row] = key_in(block.comms, comm);
        block.set(row, C::Comm);
    }
}

/// The call succeeded.
fn is_done(block: &BlockRows<'_>, row: usize) -> bool {
    block.ret(row).is_some_and(|ret| ret >= 0) && !block.rows.has(row, C::Errno)
}
