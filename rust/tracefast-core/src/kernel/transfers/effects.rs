//! Rows that move data or positions, or show the sizes of files.

use crate::events::details::{Detail, FileNumber};
use crate::events::file_id::name_id_and_up;
use crate::events::rows::Effect;
use crate::events::schema::Column as C;
use crate::events::vocabulary::{
    Access, At, EventKind, FileType, Motion, OffsetKnown, Op, Status, open_flags, whence,
    write_flags,
};
use crate::kernel::block_rows::BlockRows;
use crate::kernel::descriptors::open_file_description::DescriptionRef;
use crate::kernel::files::inodes::{Direct, Inodes};
use crate::kernel::files::length::Change;
use crate::kernel::files::paths::{self, is_generated, may_be_generated};
use crate::kernel::transfers::calls_under_way::{Held, writes};
use crate::kernel::transfers::position::{Offset, Position};
use crate::kernel::transfers::seek::{Seek, seek};
use crate::kernel::transfers::size::{resized, sized};
use crate::kernel::transfers::transfer::{self, Found, Side};
use crate::kernel::{Bound, Kernel};

impl Kernel {
    /// The row moves data or a position, or changes or shows a size.
    pub(crate) fn moved(
        &mut self,
        row: usize,
        block: &mut BlockRows<'_>,
        files: &Bound,
        held: &[Option<Held>; 2],
    ) {
        let Effect { op, motion, made_up, .. } = block.rows.effect[row];
        let valid = block.rows.valid[row];
        let has = |column: C| valid & column.bit() != 0;
        let failed = has(C::Errno);
        let mut base = None;
        if op == Op::Seek {
            if let Some(file) = files[0] {
                base = self.seek(row, block, file, held[0], failed);
                if failed || made_up {
                    self.burst(row, block, false, file);
                }
            }
        } else if motion != Motion::None {
            let interrupted = block.rows.status[row] == Status::Interrupted as u8;
            // A copy moves the data first, and then fails to say where it ended: do_sendfile in
            // fs/read_write.c.
            let late = motion == Motion::Copy && block.failed_with(row, "EFAULT");
            let end = if made_up || interrupted {
                transfer::End::Nothing
            } else if late {
                transfer::End::Unknown
            } else if failed {
                transfer::End::Failed
            } else if has(C::Bytes) && !block.rows.is_excessive(row) {
                transfer::End::Moved(block.rows.bytes[row])
            } else {
                transfer::End::Unknown
            };
            let mut known = self.side(row, block, false, None, files, held, end);
            if motion == Motion::Copy {
                let other = self.side(row, block, true, known, files, held, end);
                known = known_of_both(block, row, known, other);
            }
            if let Some(known) = known {
                block.rows.offset_known[row] = known as u8;
                block.set(row, C::OffsetKnown);
            }
            if late {
                block.rows.access[row] = Access::Error as u8;
                block.set(row, C::Access);
            }
            // With O_SYNC the file has grown when that fails: generic_write_sync in linux/fs.h.
            if let (Motion::Write, Some(file)) = (motion, files[0])
                && !made_up
                && failed_late(row, block)
            {
                resized(&mut self.tasks.files, file, None, block.since, Change::Longer);
            }
        } else if let Some(change) = resizes(row, block, held[0].as_ref()) {
            self.resized(row, block, files[0], held[0], change);
        } else if block.rows.has(row, C::Size) && !failed && !made_up {
            base = self.sized(row, block, files[0]);
        }
        if let Some(base) = base {
            self.notice(row, block, false, base);
        }
    }

    /// What relative offsets count from is proved. Where calls are missing, offsets need not count
    /// from one place.
    #[cold]
    fn notice(&self, row: usize, block: &mut BlockRows<'_>, second: bool, base: i64) {
        let missing = self.tasks.files.missing_calls();
        if !(missing.filtered || missing.hidden) {
            let notice = notice(block, row, second, "offset-base");
            block.rows.offset[notice] = base;
            block.set(notice, C::Offset);
        }
    }

    /// The row was perhaps the last one of a burst: what that covered is known.
    #[cold]
    fn burst(&mut self, row: usize, block: &mut BlockRows<'_>, second: bool, file: DescriptionRef) {
        let missing = self.tasks.files.missing_calls();
        let Some(open) = self.tasks.files.get(file) else { return };
        let missing = missing.may_move(open);
        let Some(burst) = open.end_burst(missing) else { return };
        let notice = notice(block, row, second, "offset-burst");
        let rows = &mut *block.rows;
        [rows.offset[notice], rows.offset2[notice]] = burst.span;
        rows.offset_known[notice] = burst.known as u8;
        rows.ret[notice] = burst.calls.into();
        for column in [C::Offset, C::Offset2, C::OffsetKnown, C::Ret] {
            block.set(notice, column);
        }
        if let Some(access) = burst.access {
            block.rows.access[notice] = access as u8;
            block.set(notice, C::Access);
        }
    }

    /// One side of a transfer; `first` is what this returned for its first one. Returns how well the
    /// offset is known.
    #[inline]
    #[allow(clippy::too_many_arguments)] // A row, and one of its two sides.
    fn side(
        &mut self,
        row: usize,
        block: &mut BlockRows<'_>,
        second: bool,
        first: Option<OffsetKnown>,
        files: &Bound,
        held: &[Option<Held>; 2],
        end: transfer::End,
    ) -> Option<OffsetKnown> {
        let held = held[usize::from(second)];
        let Some(file) = files[usize::from(second)] else {
            if end == transfer::End::Failed && !second {
                block.rows.access[row] = Access::Error as u8;
                block.set(row, C::Access);
            }
            return None;
        };
        let rows = &*block.rows;
        let (column, given) =
            if second { (C::Offset2, rows.offset2[row]) } else { (C::Offset, rows.offset[row]) };
        let Effect { motion, place, place2, flags, .. } = rows.effect[row];
        if place == At::Stream && !self.follows {
            self.unseen_message(row, block);
        }
        let rows = &*block.rows;
        let mut at = if second { place2 } else { place };
        let mut given = rows.has(row, column).then_some(given);
        if second && at == At::Position && place == At::Position && files[0] == Some(file) {
            // Both sides begin at the position, which moves once: do_sendfile in fs/read_write.c.
            let exact = matches!(first, Some(OffsetKnown::Exact | OffsetKnown::Assumed));
            (at, given) = (At::Given, exact.then_some(rows.offset[row]));
        }
        let side = Side {
            write: writes(motion, second),
            copies: motion == Motion::Copy,
            appends: (motion == Motion::Write).then(|| appends_itself(flags)).flatten(),
            at,
            given,
            requested: rows.has(row, C::Requested).then(|| rows.requested[row]),
            end,
        };
        let found = transfer::transfer(&mut self.tasks.files, file, held, block.since, side);
        if side.write && at == At::Position && matches!(end, transfer::End::Moved(1..)) {
            self.tasks.files.wrote(file);
        }
        put_found(block, row, second, found);
        if let Some(base) = found.base {
            self.notice(row, block, second, base);
        }
        if found.burst {
            self.burst(row, block, second, file);
        }
        found.known
    }

    /// The row may show the size of a file.
    #[inline]
    pub(crate) fn found_size(
        &mut self,
        row: usize,
        block: &mut BlockRows<'_>,
        file: Option<DescriptionRef>,
    ) {
        if block.rows.has(row, C::Errno) || block.rows.effect[row].made_up {
            return;
        }
        let base = self.sized(row, block, file);
        if let Some(base) = base {
            self.notice(row, block, false, base);
        }
    }

    fn seek(
        &mut self,
        row: usize,
        block: &mut BlockRows<'_>,
        file: DescriptionRef,
        held: Option<Held>,
        failed: bool,
    ) -> Option<i64> {
        let effect = block.rows.effect[row];
        let mut to = block.ret(row);
        let mut whole = !self.narrow;
        if let Some(&Detail::Position(position)) = block.side.details.get(effect.detail as usize) {
            (to, whole) = (position, true);
        }
        // _llseek(2) stores the new position last, where it may not write; lseek(2) of 32 bits finds
        // last that it cannot say it.
        let late = block.failed_with(row, "EFAULT") || block.failed_with(row, "EOVERFLOW");
        let failed = failed && !late || effect.made_up;
        // Only memory (`/proc/PID/mem`) has positions that do not fit.
        let to = to.filter(|&to| !failed && to >= 0);
        let mut how = Seek { whence: effect.flags, by: effect.number, to, failed };
        if !(whole || failed) {
            how.to = self.widened(file, how);
            if how.to != to {
                block.clear(row, C::Size);
            }
        }
        let mut base = seek(&mut self.tasks.files, file, held, how);
        if block.failed_with(row, "ESPIPE")
            && let Some((open, inodes)) = self.tasks.files.with_inodes(file)
        {
            open.never_positioned(inodes);
        }
        if block.rows.has(row, C::Size) && !failed {
            base = base.or(self.sized(row, block, Some(file)));
        }
        base
    }

    /// Where a seek of a 32-bit process has ended, which shows the lower half of that: `ksys_lseek`
    /// in `fs/read_write.c`. `None` if nothing else shows it.
    #[cold]
    fn widened(&mut self, file: DescriptionRef, seek: Seek) -> Option<i64> {
        let (open, inodes) = self.tasks.files.with_inodes(file)?;
        let from = match (seek.whence, open.position) {
            (whence::SEEK_SET, _) => Some(0),
            (whence::SEEK_CUR, Position::At(Offset::Exact(at))) => Some(at),
            (whence::SEEK_END, _) => inodes.get(open.inode?)?.length.size(),
            _ => None,
        };
        from?.checked_add(seek.by).filter(|&to| Some(to as u32) == seek.to.map(|to| to as u32))
    }

    /// The row shows the size of a file. Returns the base of relative offsets, if that is proved.
    fn sized(
        &mut self,
        row: usize,
        block: &BlockRows<'_>,
        file: Option<DescriptionRef>,
    ) -> Option<i64> {
        let size = block.rows.size[row];
        if let Some(file) = file {
            return sized(&mut self.tasks.files, file, block.since, size);
        }
        let path = &block.rows.path[row];
        if block.rows.has(row, C::Path)
            && may_be_generated(*path)
            && is_generated(block.text_of(path))
        {
            return None;
        }
        let inodes = &mut self.tasks.files.inodes;
        let id = named(inodes, block, row)?;
        let now = inodes.tick();
        if block.rows.effect[row].flags & open_flags::NO_LINK != 0 && inodes.is_open(id) {
            show_no_link(inodes, block, row, id);
        }
        let mut at = inodes.find(id);
        if let Some(number) = number_in(block, row) {
            at = inodes.looked_at(at, number, block.since);
        }
        let at = at?;
        inodes.check_other_names(at);
        inodes.get(at)?.length.see(size, block.since, now);
        inodes.compare_size(at);
        None
    }

    /// The row may show which file the description is of.
    pub(crate) fn numbered(&mut self, row: usize, block: &BlockRows<'_>, file: DescriptionRef) {
        let made_up = block.rows.effect[row].made_up;
        if let Some(number) = number_in(block, row).filter(|_| !made_up) {
            let regular = block.rows.has(row, C::FileType)
                && block.rows.file_type[row] == FileType::Regular as u8;
            self.tasks.files.know_number(file, number, regular);
        }
    }

    /// The row changes the size of a file without moving data; or it failed to.
    fn resized(
        &mut self,
        row: usize,
        block: &BlockRows<'_>,
        file: Option<DescriptionRef>,
        held: Option<Held>,
        change: Change,
    ) {
        if let Some(file) = file {
            resized(&mut self.tasks.files, file, held, block.since, change);
            return;
        }
        let inodes = &mut self.tasks.files.inodes;
        let now = inodes.tick();
        let Some(id) = named(inodes, block, row) else {
            if change != Change::Nothing {
                inodes.change_any();
            }
            return;
        };
        if let Some(at) = inodes.find(id) {
            if change != Change::Nothing {
                inodes.changed(at, now);
            }
            if let Some(inode) = inodes.get(at) {
                let raced = inode.length.end(None, block.since);
                inode.length.change(change, raced, now);
                inode.length.cut_since(block.since);
            }
        } else if change != Change::Nothing {
            inodes.changed_unopened(id);
        }
    }
}

/// How well the offsets of a copy are known: that of the side that is known less. It cannot say that
/// one counts from the start of the file and one from the first access, so the latter goes; nor that
/// one is assumed where the other one is not even that.
fn known_of_both(
    block: &mut BlockRows<'_>,
    row: usize,
    first: Option<OffsetKnown>,
    second: Option<OffsetKnown>,
) -> Option<OffsetKnown> {
    let (Some(one), Some(other)) = (first, second) else { return first.or(second) };
    let counts = |known| matches!(known, OffsetKnown::Relative | OffsetKnown::AssumedRelative);
    let places = |known| matches!(known, OffsetKnown::Exact | OffsetKnown::Assumed);
    let both = if counts(one) && places(other) {
        clear_source(block, row);
        OffsetKnown::Unknown
    } else if places(one) && counts(other) {
        clear_target(block, row);
        OffsetKnown::Unknown
    } else if one as u8 > other as u8 {
        one
    } else {
        other
    };
    let assumed = |known| matches!(known, OffsetKnown::Assumed | OffsetKnown::AssumedRelative);
    if matches!(both, OffsetKnown::Ambiguous | OffsetKnown::Unknown) {
        if assumed(one) {
            clear_source(block, row);
        }
        if assumed(other) {
            clear_target(block, row);
        }
    }
    Some(both)
}

/// Takes back the offset of the source.
fn clear_source(block: &mut BlockRows<'_>, row: usize) {
    block.clear(row, C::Offset);
    if block.rows.access[row] != Access::Eof as u8 {
        block.clear(row, C::Access);
    }
}

/// Takes back the offset of the destination.
fn clear_target(block: &mut BlockRows<'_>, row: usize) {
    block.clear(row, C::Offset2);
    block.clear(row, C::Access2);
}

/// Whether a write with these [`write_flags`] appends, if they say so.
#[inline]
fn appends_itself(flags: u32) -> Option<bool> {
    if flags == 0 { None } else { Some(flags & write_flags::APPEND != 0) }
}

/// The number of the file that the row shows.
fn number_in(block: &BlockRows<'_>, row: usize) -> Option<FileNumber> {
    match block.side.details.get(block.rows.effect[row].detail as usize) {
        Some(&Detail::Numbered(number, _)) => Some(number),
        _ => None,
    }
}

/// The file that the path of the row names.
fn named(inodes: &Inodes, block: &BlockRows<'_>, row: usize) -> Option<u64> {
    let id = block.rows.has(row, C::File).then(|| block.rows.file[row])?;
    Some(paths::own_name(block, row, false).map_or(id, |name| inodes.identity(name)))
}

/// The path of the row, which names the open file `id`, is no symbolic link.
#[cold]
fn show_no_link(inodes: &mut Inodes, block: &BlockRows<'_>, row: usize, id: u64) {
    let lexical = || name_id_and_up(block.text_of(&block.rows.path[row])).0;
    let name = paths::own_name(block, row, false).unwrap_or_else(lexical);
    let direct = inodes.direct(name, Direct::Last);
    inodes.show_direct(id, direct);
}

/// Whether the call failed with an error that may come after the file has grown.
fn failed_late(row: usize, block: &BlockRows<'_>) -> bool {
    block.rows.has(row, C::Errno)
        && ["EIO", "ENOSPC", "EDQUOT"].iter().any(|name| block.failed_with(row, name))
}

/// What the call did to the size of a file without moving data, if it is a call that may.
fn resizes(row: usize, block: &BlockRows<'_>, held: Option<&Held>) -> Option<Change> {
    let effect = block.rows.effect[row];
    let done = block.ret(row).filter(|_| !effect.made_up && !block.rows.has(row, C::Errno));
    match effect.op {
        // Some file systems grow the file step by step, and stop in between.
        Op::Allocate
            if !effect.made_up && (failed_late(row, block) || block.failed_with(row, "EINTR")) =>
        {
            Some(Change::Longer)
        }
        Op::Truncate | Op::Allocate if effect.made_up || block.rows.has(row, C::Errno) => {
            Some(Change::Nothing)
        }
        Op::Truncate if done.is_some() && block.rows.has(row, C::Size) => {
            Some(Change::Cut(block.rows.size[row]))
        }
        Op::Allocate if done.is_some() && effect.flags == 1 => Some(Change::Shift(effect.number)),
        Op::Allocate if done.is_some() && effect.number >= 0 => Some(Change::Reach(effect.number)),
        Op::Truncate | Op::Allocate => Some(Change::Any),
        // At its entry it was a call that may.
        _ => {
            held?.resize?;
            let over = block.rows.has(row, C::Ret) || block.rows.has(row, C::Errno);
            Some(if over { Change::Nothing } else { Change::Any })
        }
    }
}

/// Writes what was found of one side of a transfer into the columns of the row.
pub(crate) fn put_found(block: &mut BlockRows<'_>, row: usize, second: bool, found: Found) {
    let rows = &mut *block.rows;
    let mut valid = rows.valid[row];
    let (offset, access) = if second { (C::Offset2, C::Access2) } else { (C::Offset, C::Access) };
    if let Some(at) = found.offset {
        if second {
            rows.offset2[row] = at;
        } else {
            rows.offset[row] = at;
        }
        valid |= offset.bit();
    } else if found.misleading {
        valid &= !offset.bit();
    }
    if let Some(class) = found.access {
        if second {
            rows.access2[row] = class as u8;
        } else {
            rows.access[row] = class as u8;
        }
        valid |= access.bit();
    }
    if let Some(size) = found.size.filter(|_| !second) {
        rows.size[row] = size;
        valid |= C::Size.bit();
    }
    rows.valid[row] = valid;
}

/// Adds a row that says something about the description of the row.
fn notice(block: &mut BlockRows<'_>, of: usize, second: bool, name: &str) -> usize {
    block.write_shown(of);
    let row = block.insert(of, EventKind::Notice, Some(name));
    let rows = &mut *block.rows;
    let (from, to) = if second {
        rows.ofd[row] = rows.ofd2[of];
        rows.path[row] = rows.path2[of];
        rows.file[row] = rows.file2[of];
        ([C::Ofd2, C::Path2, C::File2], [C::Ofd, C::Path, C::File])
    } else {
        rows.ofd[row] = rows.ofd[of];
        rows.path[row] = rows.path[of];
        rows.file[row] = rows.file[of];
        rows.file_type[row] = rows.file_type[of];
        if rows.has(of, C::FileType) {
            rows.valid[row] |= C::FileType.bit();
        }
        ([C::Ofd, C::Path, C::File], [C::Ofd, C::Path, C::File])
    };
    for (from, to) in from.into_iter().zip(to) {
        if rows.has(of, from) {
            rows.valid[row] |= to.bit();
        }
    }
    row
}
