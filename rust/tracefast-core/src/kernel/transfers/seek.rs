//! Seeks: where they leave the position, and what they prove.

use crate::events::vocabulary::whence;
use crate::kernel::descriptors::open_file_description::{
    DescriptionRef, OpenFileDescription, OpenFileDescriptions,
};
use crate::kernel::files::inodes::Inodes;
use crate::kernel::transfers::calls_under_way::Held;
use crate::kernel::transfers::position::{CallOverlap, Offset, Position, Total};

/// A seek, as lseek(2) does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seek {
    /// One of [`crate::events::vocabulary::whence`].
    pub whence: u32,
    /// The offset that the call was given.
    pub by: i64,
    /// Where the position is now; `None` if the call failed, or its end is not in the log.
    pub to: Option<i64>,
    /// It failed, or did not take place.
    pub failed: bool,
}

/// A seek has ended. Returns the base of relative offsets, if it proves that.
pub(crate) fn seek(
    files: &mut OpenFileDescriptions,
    file: DescriptionRef,
    held: Option<Held>,
    seek: Seek,
) -> Option<i64> {
    let (open, inodes) = files.with_inodes(file)?;
    let base = sought(open, inodes, held, seek);
    let known = open.position == seek.to.map_or(Position::Unknown, exact);
    let same = seek.whence == whence::SEEK_CUR && seek.by == 0 && known;
    open.at_end_of_write &= same || seek.failed;
    if open.unsure && !seek.failed {
        open.doubtful &= !known;
        let ordered = known && !open.unordered;
        if let (whence::SEEK_CUR, Some(to), true) = (seek.whence, seek.to, ordered) {
            files.compare_positions(file, to.wrapping_sub(seek.by));
        }
        files.moved_others(file, !same);
    }
    base
}

/// The same for a seek to `to` from a known position, while no other call moves that: the short form
/// of [`seek`]; `stays`: it only asks for the position.
#[inline]
pub(crate) fn seek_alone(
    open: &mut OpenFileDescription,
    inodes: &mut Inodes,
    to: i64,
    stays: bool,
) {
    inodes.tick();
    open.at_end_of_write &= stays;
    open.position = exact(to);
}

fn exact(at: i64) -> Position {
    Position::At(Offset::Exact(at))
}

fn sought(
    open: &mut OpenFileDescription,
    inodes: &mut Inodes,
    held: Option<Held>,
    seek: Seek,
) -> Option<i64> {
    // Calls that overlap come before it or after it.
    let moved = seek.failed.then_some(0);
    let overlap = match held.and_then(|held| held.call_start) {
        Some(call_start) => Some(open.in_progress.end(call_start, moved, false)),
        None if !open.in_progress.is_empty() => Some(open.in_progress.pass(moved, false)),
        None => None,
    };
    if open.position == Position::None {
        return None;
    }
    if let Some(overlap @ CallOverlap { overlapped: true, .. }) = overlap {
        if overlap.total != Total::Open {
            open.settle(overlap);
        }
        return None;
    }
    if seek.failed {
        return None;
    }
    let Some(to) = seek.to else {
        open.lose();
        return None;
    };
    let base = match (seek.whence, open.position) {
        (whence::SEEK_CUR, Position::At(Offset::Relative(at))) if !open.unordered => {
            Some(to.wrapping_sub(seek.by).wrapping_sub(at)).filter(|&base| base >= 0)
        }
        _ => None,
    };
    let now = inodes.tick();
    let base = base.filter(|&base| open.prove(base));
    if let Some(base) = base
        && let Some(at) = open.inode
    {
        inodes.check_other_names(at);
        let Some(inode) = inodes.get(at) else { return Some(base) };
        inode.length.based(open.number(), base, now);
    }
    open.position = Position::At(Offset::Exact(to));
    base
}
