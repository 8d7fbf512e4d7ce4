//! The rows of a block while the model goes through them, and the rows that it adds.

use std::sync::Arc;

use crate::events::model_columns::{self, ModelColumns};
use crate::events::model_rows::ModelRows;
use crate::events::parsed_block::key_in;
use crate::events::rows::{Rows, Side};
use crate::events::schema::Column as C;
use crate::events::split_calls::RowPosition;
use crate::events::vocabulary::{EventKind, Status};
use crate::kernel::files::length::Moment;
use crate::text::string_view::unpack;

/// A block's rows and what belongs to them.
#[derive(Debug)]
pub(crate) struct BlockRows<'a> {
    pub rows: &'a mut Rows,
    pub side: &'a mut Side,
    pub names: &'a mut Vec<Arc<str>>,
    pub errnos: &'a mut Vec<Arc<str>>,
    pub comms: &'a mut Vec<Arc<str>>,
    pub text: &'a [u8],
    /// Number of the block.
    pub number: u64,
    /// Rows that come between the block's own, in order.
    pub placed: Vec<(RowPosition, u32)>,
    /// The position after the row at hand.
    pub next_position: RowPosition,
    /// When its call was entered.
    pub since: Moment,
    /// Which rows have to be looked at.
    pub model_rows: &'a mut ModelRows,
    /// What is written later into rows before row `own`.
    pub model_columns: &'a mut ModelColumns,
    /// How many rows the block had before rows of earlier blocks' calls were added.
    pub own: usize,
    /// What the row at hand shows of its task.
    pub whose: Whose,
    /// How the names of its two paths differ from others with the same text, if they do; otherwise 0.
    /// See [`own_name`](crate::kernel::files::paths::own_name).
    pub apart: [u64; 2],
    /// How many rows may still be searched for the next one of a task.
    pub searches: usize,
}

/// What a row shows of its task.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Whose {
    /// Unique in the log.
    pub task: u32,
    /// Thread group.
    pub group: Option<i32>,
    /// Key of its name, if events have shown it.
    pub comm: Option<u32>,
}

impl BlockRows<'_> {
    /// The text of a view.
    #[inline]
    pub(crate) fn text_of<'a>(&'a self, view: &'a u128) -> &'a [u8] {
        unpack(view, self.text, &self.side.bytes)
    }

    /// The first or second descriptor of the row, if it has one.
    #[inline]
    pub(crate) fn fd(&self, row: usize, second: bool) -> Option<i32> {
        if second {
            self.rows.has(row, C::Fd2).then(|| self.rows.fd2[row])
        } else {
            self.rows.has(row, C::Fd).then(|| self.rows.fd[row])
        }
    }

    /// The call failed with this error.
    pub(crate) fn failed_with(&self, row: usize, errno: &str) -> bool {
        self.rows.has(row, C::Errno)
            && self.errnos.get(self.rows.errno[row] as usize).is_some_and(|name| **name == *errno)
    }

    /// The return value, if there is one.
    #[inline]
    pub(crate) fn ret(&self, row: usize) -> Option<i64> {
        self.rows.has(row, C::Ret).then(|| self.rows.ret[row])
    }

    /// A copy of the first or second path.
    pub(crate) fn path(&self, row: usize, second: bool) -> Option<Arc<[u8]>> {
        let (column, view) = if second {
            (C::Path2, &self.rows.path2[row])
        } else {
            (C::Path, &self.rows.path[row])
        };
        self.rows.has(row, column).then(|| self.text_of(view).into())
    }

    /// The column has a value.
    #[inline]
    pub(crate) fn set(&mut self, row: usize, column: C) {
        self.rows.valid[row] |= column.bit();
    }

    /// The column has none.
    #[inline]
    pub(crate) fn clear(&mut self, row: usize, column: C) {
        self.rows.valid[row] &= !column.bit();
    }

    /// The thread group of the row at hand.
    pub(crate) fn pid(&self, row: usize) -> Option<i32> {
        self.rows.has(row, C::Pid).then(|| self.rows.pid[row]).or(self.whose.group)
    }

    /// Key of the name of its task.
    pub(crate) fn comm(&self, row: usize) -> Option<u32> {
        self.whose.comm.or(self.rows.has(row, C::Comm).then(|| self.rows.comm[row]))
    }

    /// Writes what the row at hand shows of its task, but for the name if the call has `begun`
    /// before.
    pub(crate) fn own_task(&mut self, row: usize, begun: bool) {
        self.rows.task[row] = self.whose.task;
        self.set(row, C::Task);
        if let Some(pid) = self.pid(row) {
            self.rows.pid[row] = pid;
            self.set(row, C::Pid);
        }
        if let Some(comm) = self.whose.comm.filter(|_| !begun) {
            self.rows.comm[row] = comm;
            self.set(row, C::Comm);
        }
    }

    /// Writes now what would be written into the row at hand later, as its columns are about to be
    /// read.
    pub(crate) fn write_shown(&mut self, row: usize) {
        let Self { rows, side, text, model_columns: fill, .. } = self;
        for (second, shown) in [false, true].into_iter().zip(&fill.shown) {
            for shown in shown.iter().rev().take_while(|shown| shown.row as usize == row) {
                if let Some(description) = fill.descriptions.get(shown.description as usize)
                    && model_columns::show(rows, row, description, second)
                {
                    model_columns::identify(rows, row, second, text, &side.bytes);
                }
            }
        }
    }

    /// Adds a row after the row at hand, `of`: of the same task and the same line.
    pub(crate) fn insert(&mut self, of: usize, kind: EventKind, name: Option<&str>) -> usize {
        let (task, pid, comm) = (self.whose.task, self.pid(of), self.comm(of));
        let row = self.rows.push();
        self.placed.push((self.next_position, row as u32));
        let rows = &mut *self.rows;
        rows.kind[row] = kind as u8;
        rows.line[row] = rows.line[of];
        rows.ts[row] = rows.ts[of];
        rows.task[row] = task;
        rows.tid[row] = rows.tid[of];
        let same = [C::Line, C::Ts, C::Tid];
        let same = same.iter().fold(0, |bits, column| bits | column.bit());
        rows.valid[row] = rows.valid[of] & same | C::Kind.bit() | C::Task.bit();
        if let Some(pid) = pid {
            rows.pid[row] = pid;
            rows.valid[row] |= C::Pid.bit();
        }
        if let Some(comm) = comm {
            rows.comm[row] = comm;
            rows.valid[row] |= C::Comm.bit();
        }
        if let Some(name) = name {
            rows.name[row] = key_in(self.names, name);
            rows.valid[row] |= C::Name.bit();
        }
        row
    }

    /// Marks the row as that of a complete call.
    pub(crate) fn complete(&mut self, row: usize) {
        self.rows.status[row] = Status::Complete as u8;
        self.set(row, C::Status);
    }
}
