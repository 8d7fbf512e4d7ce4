//! The short way for rows that move data or a position: the few things that most of them do.
//!
//! Each function gives the same result as [`Kernel::moved`]. One that returns `false` has done
//! nothing; the row then goes through `transfers/effects.rs`.

use crate::events::rows::{Effect, NO_DETAIL};
use crate::events::schema::Column as C;
use crate::events::vocabulary::{Access, At, Motion, OffsetKnown, Op, Status, whence};
use crate::kernel::Kernel;
use crate::kernel::block_rows::BlockRows;
use crate::kernel::descriptors::open_file_description::DescriptionRef;
use crate::kernel::transfers::position::{CallStart, Offset};
use crate::kernel::transfers::{seek, transfer};

impl Kernel {
    /// A read, a write or a seek while no other call moves the position of the description;
    /// `call_start`: it was under way since its entry.
    #[inline]
    pub(crate) fn common_transfer(
        &mut self,
        row: usize,
        block: &mut BlockRows<'_>,
        file: DescriptionRef,
        call_start: Option<CallStart>,
    ) -> bool {
        let Effect { motion, op, .. } = block.rows.effect[row];
        match motion {
            Motion::None => op == Op::Seek && self.common_seek(row, block, file, call_start),
            Motion::Read | Motion::Write => self.common_move(row, block, file, call_start),
            Motion::Copy => false,
        }
    }

    /// A read, or a write into something without positions.
    #[inline]
    fn common_move(
        &mut self,
        row: usize,
        block: &mut BlockRows<'_>,
        file: DescriptionRef,
        call_start: Option<CallStart>,
    ) -> bool {
        let rows = &mut *block.rows;
        let valid = rows.valid[row];
        let effect = &rows.effect[row];
        let (bytes, place) = (rows.bytes[row], effect.place);
        let found = valid & (C::Bytes.bit() | C::Errno.bit()) == C::Bytes.bit() && bytes >= 0;
        let made_up = effect.made_up || rows.status[row] == Status::Interrupted as u8;
        if !found || made_up || rows.is_excessive(row) {
            return false;
        }
        let missing = self.tasks.files.missing_calls();
        let Some((open, inodes)) = self.tasks.files.with_inodes(file) else { return false };
        if open.is_stream() {
            // There are no offsets in a pipe.
            let unseen = place == At::Stream && !self.follows;
            let stream = !matches!(place, At::Given | At::Elsewhere);
            let sure = effect.motion == Motion::Read || call_start.is_none() || !open.unsure;
            return bytes > 0 && stream && sure && !unseen && open.in_progress.is_alone(call_start);
        }
        if effect.motion == Motion::Write {
            return false;
        }
        let given = (valid & C::Offset.bit() != 0).then(|| rows.offset[row]);
        let Some(start) = open.reads_at(place, || given) else { return false };
        let filtered = missing.may_move(open);
        let mut valid = valid | C::Offset.bit() | C::OffsetKnown.bit();
        if bytes == 0 {
            let asked = valid & C::Requested.bit() != 0 && rows.requested[row] > 0;
            let Offset::Exact(at) = start else { return false };
            if filtered || !asked || !open.in_progress.is_alone(call_start) {
                return false;
            }
            if let Some(size) = transfer::read_end(open, inodes, at, block.since) {
                rows.size[row] = size;
                valid |= C::Size.bit();
            }
            rows.offset[row] = at;
            rows.offset_known[row] = OffsetKnown::Exact as u8;
            rows.access[row] = Access::Eof as u8;
            rows.valid[row] = valid | C::Access.bit();
            return true;
        }
        if !open.in_progress.is_alone(call_start) {
            return false;
        }
        let (at, known) = match start {
            Offset::Exact(at) if filtered && place == At::Position => (at, OffsetKnown::Assumed),
            Offset::Exact(at) => (at, OffsetKnown::Exact),
            Offset::Relative(at) if filtered => (at, OffsetKnown::AssumedRelative),
            Offset::Relative(at) => (at, OffsetKnown::Relative),
        };
        let access = transfer::read(open, inodes, start, bytes, block.since, place);
        rows.offset[row] = at;
        rows.offset_known[row] = known as u8;
        if let Some(access) = access {
            rows.access[row] = access as u8;
            valid |= C::Access.bit();
        }
        rows.valid[row] = valid;
        true
    }

    /// A seek from a known position.
    #[inline]
    fn common_seek(
        &mut self,
        row: usize,
        block: &mut BlockRows<'_>,
        file: DescriptionRef,
        call_start: Option<CallStart>,
    ) -> bool {
        let rows = &mut *block.rows;
        let shown = C::Ret.bit() | C::Errno.bit() | C::Size.bit();
        let Effect { flags, number, made_up, detail, .. } = rows.effect[row];
        let to = rows.ret[row];
        let done = rows.valid[row] & shown == C::Ret.bit() && to >= 0 && detail == NO_DETAIL;
        if !done || made_up || self.narrow {
            return false;
        }
        let Some((open, inodes)) = self.tasks.files.with_inodes(file) else { return false };
        if !open.is_at_offset() || open.unsure || !open.in_progress.is_alone(call_start) {
            return false;
        }
        seek::seek_alone(open, inodes, to, flags == whence::SEEK_CUR && number == 0);
        true
    }
}
