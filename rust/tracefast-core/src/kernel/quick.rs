//! The few things that most rows of a log do, without what only others need.
//!
//! Each gives what [`Kernel::row`] would give: a way of its own where that asks questions whose answer
//! is known from the kind of row.

use super::Kernel;
use super::page::{Page, Whose};
use super::pending::Pending;
use super::tasks::TaskRef;
use crate::detail::Detail;
use crate::event::{Motion, Op};
use crate::parsed::key_in;
use crate::rows::NO_DETAIL;
use crate::schema::Column as C;
use crate::survey::Lane;

impl Kernel {
    /// A row of the block itself that does one of these things, by a task that rows of the block
    /// were told of before. Anything else, and `false`: it was not looked at.
    #[inline]
    pub(super) fn quick(&mut self, row: usize, page: &mut Page<'_>) -> bool {
        let lane = page.survey.lane(row);
        if lane == Lane::All || self.cut || !page.rows.has(row, C::Tid) {
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
        page.since = self.tasks.files.nodes.now();
        if page.rows.has(row, C::Path) {
            file = self.hear(page, row, task, file, false, false);
        }
        self.leave_file(page, row, file, false);
        self.learn(page, row, file);
        let effect = &page.rows.effect[row];
        if effect.motion != Motion::None || effect.op == Op::Seek {
            self.moved(row, page, &[Some(file), None], &[None; 2]);
        } else if page.rows.has(row, C::Size) {
            self.found_size(row, page, Some(file));
        }
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
