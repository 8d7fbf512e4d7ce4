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
    /// It may have completed already: one that looks the same has.
    doubtful: bool,
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
    /// Submissions are in the log.
    seen: bool,
    /// A process will submit some. If the log has none, they were not traced: strace's class `%desc`
    /// does not have them.
    expected: bool,
}

impl Aio {
    /// Takes out the part that has completed; it is `doubtful` if that may be another one, which
    /// does something else. `whole`: all parts with this tag have completed, and have moved all that
    /// they were to move.
    fn take(&mut self, space: usize, done: Completion, whole: bool) -> Option<Part> {
        // `data` need not be unique: many programs leave it at 0.
        let fits = |part: &Part| part.space == space && part.what.data == done.data;
        if whole {
            let same = |part: &Part| fits(part) && part.what.requested == Some(done.result);
            let at = self.parts.iter().position(same)?;
            let part = self.parts.remove(at)?;
            return Some(Part { doubtful: false, ..part });
        }
        let at = self.parts.iter().position(fits)?;
        let mut part = self.parts.remove(at)?;
        let others = self.parts.iter_mut().skip(at).filter(|part| fits(part));
        for other in others.filter(|other| other.what != part.what) {
            (part.doubtful, other.doubtful) = (true, true);
        }
        Some(part)
    }

    /// Whether all parts with the tag of `done` are among these completions, and have moved all that
    /// they were to move. Then it does not matter which completion is whose: none moves more than it
    /// was to.
    fn are_whole(&self, space: usize, done: &[Completion], data: u64) -> bool {
        let fits = |part: &&Part| part.space == space && part.what.data == data;
        if self.parts.iter().filter(fits).any(|part| part.doubtful) {
            return false;
        }
        let mut asked: Vec<_> = self.parts.iter().filter(fits).map(|p| p.what.requested).collect();
        let moved = done.iter().filter(|done| done.data == data).map(|done| Some(done.result));
        let mut moved: Vec<_> = moved.collect();
        asked.sort_unstable();
        moved.sort_unstable();
        asked == moved && asked.iter().all(Option::is_some)
    }
}

impl Kernel {
    /// `io_setup`: until the log shows a submission, writes may be missing.
    #[cold]
    pub(crate) fn expect_submissions(&mut self) {
        if !self.aio.seen && !std::mem::replace(&mut self.aio.expected, true) {
            self.tasks.files.inodes.begin_unseen_changes();
        }
    }

    /// `io_submit` returned: its parts are under way.
    pub(crate) fn submitted(
        &mut self,
        task: TaskRef,
        row: usize,
        detail: usize,
        block: &BlockRows<'_>,
    ) {
        let Some(Detail::Submitted(parts)) = block.side.details.get(detail) else { return };
        if !std::mem::replace(&mut self.aio.seen, true) && self.aio.expected {
            self.tasks.files.inodes.end_unseen_changes();
        }
        let rows = &*block.rows;
        let space = self.tasks.address_space_number(task);
        for &what in parts {
            let file = self.descriptor(task, what.fd, || true);
            let changes = is_write(what.call).then_some(Changes::Longer);
            let held = file.and_then(|file| self.tasks.files.hold(what.fd, file, false, changes));
            let comm = block.comm(row).map(|comm| comm as usize);
            self.aio.parts.push_back(Part {
                space,
                what,
                doubtful: false,
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
        let whole: Vec<bool> =
            done.iter().map(|one| self.aio.are_whole(space, &done, one.data)).collect();
        for (done, whole) in done.into_iter().zip(whole) {
            let part = self.aio.take(space, done, whole);
            self.part(row, done, part, block);
        }
    }

    fn part(&mut self, of: usize, done: Completion, part: Option<Part>, block: &mut BlockRows<'_>) {
        let name = part.as_ref().map(|part| part.what.call.text());
        let row = block.insert(of, EventKind::Aio, name);
        let ended = ended(block, of);
        outcome(block, row, done.result);
        block.complete(row);
        let Some(part) = part else { return };
        let doubtful = part.doubtful;
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
                copies: false,
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
