//! Asynchronous I/O (`io_submit(2)`, `io_getevents(2)`): a row for each part that has completed.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::events::details::{AioCall, Completion, Detail, Submission};
use crate::events::parsed_block::key_in;
use crate::events::schema::Column as C;
use crate::events::vocabulary::{At, EventKind, OffsetKnown};
use crate::kernel::Kernel;
use crate::kernel::block_rows::BlockRows;
use crate::kernel::files::length::{Changes, Moment};
use crate::kernel::tasks::TaskRef;
use crate::kernel::transfers::calls_under_way::{Held, drop_held};
use crate::kernel::transfers::effects::put_found;
use crate::kernel::transfers::transfer::{self, Side};
use crate::linux::errno;

/// A part of a submission that has not completed.
#[derive(Debug)]
struct Part {
    /// Address space of the submitter: `data` has a meaning only there.
    space: usize,
    what: Submission,
    held: Option<Held>,
    since: Moment,
    task: u32,
    pid: Option<i32>,
    tid: Option<i32>,
    comm: Option<Arc<str>>,
    ts: Option<i64>,
}

/// How many parts are kept.
const PARTS: usize = 1 << 16;

/// All parts that have not completed, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Aio {
    parts: VecDeque<Part>,
}

impl Aio {
    /// Finds the part that has completed; and whether it may be another one, which does something
    /// else.
    fn find(&mut self, space: usize, done: Completion) -> Option<(Part, bool)> {
        let fits = |part: &Part| part.space == space && part.what.data == done.data;
        let at = self.parts.iter().position(fits)?;
        let first = &self.parts[at];
        let mut doubtful = false;
        // `data` need not be unique: many programs leave it at 0.
        for other in self.parts.iter().skip(at + 1).take(64).filter(|part| fits(part)) {
            doubtful |= other.what != first.what;
        }
        self.parts.remove(at).map(|part| (part, doubtful))
    }
}

impl Kernel {
    /// `io_submit` returned: its parts are under way.
    pub(crate) fn submitted(
        &mut self,
        task: TaskRef,
        row: usize,
        detail: usize,
        block: &BlockRows<'_>,
    ) {
        let Some(Detail::Submitted(parts)) = block.side.details.get(detail) else { return };
        let rows = &*block.rows;
        let space = self.tasks.address_space_number(task);
        for &what in parts {
            let file = self.descriptor(task, what.fd, || true);
            let changes = is_write(what.call).then_some(Changes::Longer);
            let held = file.and_then(|file| self.hold(what.fd, file, false, changes));
            let comm = block.comm(row).map(|comm| comm as usize);
            self.aio.parts.push_back(Part {
                space,
                what,
                held,
                since: block.since,
                task: block.whose.task,
                pid: block.pid(row),
                tid: rows.has(row, C::Tid).then(|| rows.tid[row]),
                comm: comm.and_then(|comm| block.comms.get(comm).cloned()),
                ts: rows.has(row, C::Ts).then(|| rows.ts[row]),
            });
            if self.aio.parts.len() > PARTS
                && let Some(held) = self.aio.parts.pop_front().and_then(|part| part.held)
            {
                drop_held(&mut self.tasks.files, held);
            }
        }
    }

    /// `io_getevents` returned completed parts: each gets a row.
    pub(crate) fn collected(
        &mut self,
        task: TaskRef,
        row: usize,
        detail: usize,
        block: &mut BlockRows<'_>,
    ) {
        let Some(Detail::Collected(done)) = block.side.details.get(detail) else { return };
        let done = done.clone();
        let space = self.tasks.address_space_number(task);
        for done in done {
            let part = self.aio.find(space, done);
            self.part(row, done, part, block);
        }
    }

    fn part(
        &mut self,
        of: usize,
        done: Completion,
        part: Option<(Part, bool)>,
        block: &mut BlockRows<'_>,
    ) {
        let name = part.as_ref().map(|(part, _)| part.what.call.text());
        let row = block.insert(of, EventKind::Aio, name);
        let ended = ended(block, of);
        outcome(block, row, done.result);
        block.complete(row);
        let Some((part, doubtful)) = part else { return };
        submitter(&part, ended, row, block);
        let Some(held) = part.held else { return };
        let file = held.file;
        block.rows.fd[row] = part.what.fd;
        block.set(row, C::Fd);
        let write = is_write(part.what.call);
        let read = matches!(part.what.call, AioCall::Pread | AioCall::Preadv);
        if let Some(requested) = part.what.requested {
            block.rows.requested[row] = requested;
            block.set(row, C::Requested);
        }
        self.show_file(block, row, file, false);
        if read || write {
            if let Some(offset) = part.what.offset.filter(|_| !doubtful) {
                block.rows.offset[row] = offset;
                block.set(row, C::Offset);
            }
            let end = if done.result < 0 {
                transfer::End::Failed
            } else {
                transfer::End::Moved(done.result)
            };
            let side = Side {
                write,
                appends: None,
                at: if doubtful { At::Elsewhere } else { At::Given },
                given: part.what.offset,
                requested: part.what.requested,
                end,
            };
            let files = &mut self.tasks.files;
            let mut found = transfer::transfer(files, file, Some(held), part.since, side);
            if doubtful && found.known.is_some() {
                found.known = Some(OffsetKnown::Ambiguous);
            }
            put_found(block, row, false, found);
            if let Some(known) = found.known {
                block.rows.offset_known[row] = known as u8;
                block.set(row, C::OffsetKnown);
            }
        }
        self.tasks.files.release(file);
    }
}

fn is_write(call: AioCall) -> bool {
    matches!(call, AioCall::Pwrite | AioCall::Pwritev)
}

/// When the call returned.
fn ended(block: &BlockRows<'_>, row: usize) -> Option<i64> {
    let rows = &*block.rows;
    let entry = rows.has(row, C::Ts).then(|| rows.ts[row])?;
    let took = rows.has(row, C::DurNs).then(|| rows.dur[row])?;
    entry.checked_add(took)
}

/// Shows the result of a part.
fn outcome(block: &mut BlockRows<'_>, row: usize, result: i64) {
    if result >= 0 {
        block.rows.ret[row] = result;
        block.rows.bytes[row] = result;
        block.set(row, C::Bytes);
    } else {
        block.rows.ret[row] = -1;
        if let Some(name) = errno::name(result.unsigned_abs()) {
            block.rows.errno[row] = key_in(block.errnos, name);
            block.set(row, C::Errno);
        }
    }
    block.set(row, C::Ret);
}

/// Shows which task submitted the part, and when.
fn submitter(part: &Part, ended: Option<i64>, row: usize, block: &mut BlockRows<'_>) {
    block.rows.task[row] = part.task;
    if let Some(pid) = part.pid {
        block.rows.pid[row] = pid;
        block.set(row, C::Pid);
    }
    if let Some(tid) = part.tid {
        block.rows.tid[row] = tid;
        block.set(row, C::Tid);
    }
    if let Some(comm) = &part.comm {
        block.rows.comm[row] = key_in(block.comms, comm);
        block.set(row, C::Comm);
    }
    if let Some(ts) = part.ts {
        block.rows.ts[row] = ts;
        block.set(row, C::Ts);
        if let Some(ended) = ended.filter(|&ended| ended >= ts) {
            block.rows.dur[row] = ended.wrapping_sub(ts);
            block.set(row, C::DurNs);
        }
    }
}
