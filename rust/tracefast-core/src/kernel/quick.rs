//! The few things that most rows of a log do, without what only others need.
//!
//! Each gives what [`Kernel::row`] would give: a way of its own where that asks questions whose answer
//! is known from the kind of row.

use super::Kernel;
use super::files::FileRef;
use super::page::{Page, Whose};
use super::pending::Pending;
use super::position::Spot;
use super::tasks::TaskRef;
use super::transfer;
use crate::detail::Detail;
use crate::event::{At, Motion, OffsetKnown, Op, Status};
use crate::parsed::{Begin, Target, key_in};
use crate::rows::{Effect, NO_DETAIL};
use crate::schema::Column as C;
use crate::survey::Lane;

impl Kernel {
    /// A row of the block itself that does one of these things, by a task that rows of the block
    /// were told of before. Anything else, and `false`: it was not looked at.
    #[inline]
    pub(super) fn quick(&mut self, row: usize, page: &mut Page<'_>) -> bool {
        let lane = page.survey.lane(row);
        if lane == Lane::All || self.cut {
            return false;
        }
        let tid = page.rows.tid[row];
        let task = match self.tasks.told(Some(tid)) {
            Some((sight, comm)) if !sight.exited => {
                page.whose = Whose { task: sight.id, group: sight.group, comm };
                sight.task
            }
            _ => return false,
        };
        match lane {
            Lane::Idle => true,
            Lane::Begun => self.quick_begun(task, row, page),
            Lane::Use => self.quick_use(task, row, page),
            Lane::BegunUse => self.quick_begun_use(task, row, page),
            Lane::Close => self.quick_close(task, row, page),
            Lane::Memory => self.quick_memory(task, row, page),
            Lane::Path => self.quick_path(task, row, page),
            Lane::Open => self.quick_open(task, row, page),
            Lane::All => false,
        }
    }

    /// The entry of a call that does nothing, if its row is one of [`Lane::Begun`]; so that its end
    /// need not be looked at.
    #[inline]
    pub(super) fn quick_begin(&mut self, begin: &Begin, page: &mut Page<'_>) -> bool {
        let Target::Row(row) = begin.target else { return false };
        let row = row as usize;
        if begin.head.op != Op::None || self.cut || page.survey.lane(row) != Lane::Begun {
            return false;
        }
        let task = match self.tasks.told(begin.tid) {
            Some((sight, _)) if !sight.exited => sight.task,
            _ => return false,
        };
        if begin.tid.is_some_and(|tid| self.names.of(tid).is_some()) {
            return false;
        }
        if let Some(before) = self.tasks.take_pending(task) {
            self.tasks.give_back(before);
        }
        page.survey.leave_out(row);
        true
    }

    /// The end of a call that does nothing.
    fn quick_begun(&mut self, task: TaskRef, row: usize, page: &mut Page<'_>) -> bool {
        if let Some(pending) = self.tasks.take_pending(task) {
            named(page, row, &pending);
            self.tasks.give_back(pending);
        }
        true
    }

    /// A call that uses one descriptor, if that was open.
    #[inline]
    fn quick_use(&mut self, task: TaskRef, row: usize, page: &mut Page<'_>) -> bool {
        let fd = page.rows.fd[row];
        let Some(mut file) = self.tasks.table(task).get(fd) else { return false };
        let valid = page.rows.valid[row];
        let has = |column: C| valid & column.bit() != 0;
        page.since = self.tasks.files.nodes.now();
        if has(C::Path) {
            file = self.hear(page, row, task, file, false, false);
        }
        self.leave_file(page, row, file, false);
        if has(C::FileType) {
            self.learn(page, row, file);
        }
        let Effect { motion, op, .. } = page.rows.effect[row];
        if motion == Motion::Read && self.quick_read(row, page, file) {
            return true;
        }
        if motion != Motion::None || op == Op::Seek {
            self.moved(row, page, &[Some(file), None], &[None; 2]);
        } else if has(C::Size) {
            self.found_size(row, page, Some(file));
        }
        true
    }

    /// A read that found data, while nobody else moves the position of the file.
    #[inline]
    fn quick_read(&mut self, row: usize, page: &mut Page<'_>, file: FileRef) -> bool {
        let rows = &mut *page.rows;
        let valid = rows.valid[row];
        let effect = &rows.effect[row];
        let (bytes, place) = (rows.bytes[row], effect.place);
        let found = valid & (C::Bytes.bit() | C::Errno.bit()) == C::Bytes.bit() && bytes > 0;
        if !found || effect.made_up || rows.status[row] == Status::Interrupted as u8 {
            return false;
        }
        let Some((open, nodes)) = self.tasks.files.with_nodes(file) else { return false };
        let given = (valid & C::Offset.bit() != 0).then(|| rows.offset[row]);
        let Some(begin) = open.reads_alone(place, || given) else {
            // Nothing is known of places in a pipe.
            return !matches!(place, At::Given | At::Elsewhere) && open.is_quiet_stream();
        };
        let (at, known) = match begin {
            Spot::Exact(at) => (at, OffsetKnown::Exact),
            Spot::Relative(at) => (at, OffsetKnown::Relative),
        };
        let access = transfer::read(open, nodes, begin, bytes, page.since, place);
        let mut valid = valid | C::Offset.bit() | C::OffsetKnown.bit();
        rows.offset[row] = at;
        rows.offset_known[row] = known as u8;
        if let Some(access) = access {
            rows.access[row] = access as u8;
            valid |= C::Access.bit();
        }
        rows.valid[row] = valid;
        true
    }

    /// The same for a call that held the descriptor when it was entered.
    fn quick_begun_use(&mut self, task: TaskRef, row: usize, page: &mut Page<'_>) -> bool {
        let fd = page.rows.fd[row];
        let plain = |pending: &mut Pending| {
            pending.pass.is_none()
                && pending.held[0].is_some_and(|held| held.fd == fd && !held.switches)
        };
        if !self.tasks.pending(task).is_some_and(plain) {
            return false;
        }
        let Some(mut pending) = self.tasks.take_pending(task) else { return false };
        let held = pending.held[0].take();
        page.since = pending.since;
        named(page, row, &pending);
        self.tasks.give_back(pending);
        let Some(held) = held else { return true };
        let mut file = held.file;
        if page.rows.has(row, C::Path) {
            file = self.hear(page, row, task, file, false, true);
        }
        self.leave_file(page, row, file, false);
        let effect = &page.rows.effect[row];
        let moves = effect.motion != Motion::None || effect.op == Op::Seek;
        if moves || held.turn.is_some() || page.rows.has(row, C::Size) {
            self.moved(row, page, &[Some(file), None], &[Some(held), None]);
        }
        held.release(&mut self.tasks.files);
        true
    }

    /// A close.
    fn quick_close(&mut self, task: TaskRef, row: usize, page: &mut Page<'_>) -> bool {
        let fd = page.rows.fd[row];
        let Some(mut file) = self.tasks.table(task).get(fd) else { return false };
        if page.rows.has(row, C::Path) {
            file = self.hear(page, row, task, file, false, false);
        }
        self.leave_file(page, row, file, false);
        if !page.rows.effect[row].made_up {
            self.tasks.close(task, fd);
            self.closed |= is_done(page, row);
        }
        true
    }

    /// A call that changes an address space.
    fn quick_memory(&mut self, task: TaskRef, row: usize, page: &mut Page<'_>) -> bool {
        if page.rows.effect[row].op == Op::Use && !self.quick_use(task, row, page) {
            return false;
        }
        let effect = &page.rows.effect[row];
        if !effect.made_up
            && is_done(page, row)
            && let Some(&Detail::Memory(memory)) = page.side.details.get(effect.detail as usize)
        {
            self.tasks.space(task).change(memory);
        }
        true
    }

    /// A call that acts on what paths name.
    fn quick_path(&mut self, task: TaskRef, row: usize, page: &mut Page<'_>) -> bool {
        if self.tasks.rooted {
            return false;
        }
        if page.rows.effect[row].detail != NO_DETAIL {
            self.directory(task, row, page);
        }
        self.identities(Op::Path, row, page);
        if page.rows.has(row, C::Size) {
            page.since = self.tasks.files.nodes.now();
            self.found_size(row, page, None);
        }
        true
    }

    /// A call that opens a file by its name.
    fn quick_open(&mut self, task: TaskRef, row: usize, page: &mut Page<'_>) -> bool {
        if self.tasks.rooted || page.rows.has(row, C::Size) {
            return false;
        }
        page.since = self.tasks.files.nodes.now();
        if page.rows.effect[row].detail != NO_DETAIL {
            self.directory(task, row, page);
        }
        let [name, _] = self.identities(Op::Open, row, page);
        if !page.rows.effect[row].made_up
            && is_done(page, row)
            && let Some(fd) = page.fd(row, false)
        {
            self.open(task, fd, row, page, false, name);
        }
        true
    }
}

/// The row has the name that its task had when the call was entered.
fn named(page: &mut Page<'_>, row: usize, pending: &Pending) {
    if let Some(comm) = &pending.comm {
        page.rows.comm[row] = key_in(page.comms, comm);
        page.set(row, C::Comm);
    }
}

/// The call succeeded.
fn is_done(page: &Page<'_>, row: usize) -> bool {
    page.ret(row).is_some_and(|ret| ret >= 0) && !page.rows.has(row, C::Errno)
}
