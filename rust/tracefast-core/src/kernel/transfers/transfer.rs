//! One side of a transfer: where it began, its class, and what it does to position and size.

use crate::events::vocabulary::{Access, At, OffsetKnown};
use crate::kernel::descriptors::open_file_description::{
    DescriptionRef, OpenFileDescription, OpenFileDescriptions,
};
use crate::kernel::files::inodes::Inodes;
use crate::kernel::files::length::{Appender, Change, Length, Moment};
use crate::kernel::transfers::calls_under_way::Held;
use crate::kernel::transfers::position::{CallOverlap, Offset, Position, Stream, Total};

/// One side of a call that moves data, as its row shows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side {
    /// Data goes into the file, not out of it.
    pub write: bool,
    /// It comes out of another file.
    pub copies: bool,
    /// Whether it appends, if that does not depend on the description (pwritev2(2)).
    pub appends: Option<bool>,
    /// Where it begins.
    pub at: At,
    /// The offset that the log gives.
    pub given: Option<i64>,
    /// Bytes asked for.
    pub requested: Option<i64>,
    /// How it ended.
    pub end: End,
}

/// How a transfer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It moved so many bytes.
    Moved(i64),
    /// It failed.
    Failed,
    /// It did not take place.
    Nothing,
    /// The log does not show it.
    Unknown,
}

/// What the columns get.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Where it began; relative if `known` says so.
    pub offset: Option<i64>,
    /// The offset that the log gives is not where the transfer began.
    pub misleading: bool,
    /// It was a write that begins at the end of the file, or may do so.
    at_end: bool,
    /// How well that is known.
    pub known: Option<OffsetKnown>,
    /// The class.
    pub access: Option<Access>,
    /// The size of the file, if it is proved.
    pub size: Option<i64>,
    /// Where relative offsets of earlier rows count from, if that is proved.
    pub base: Option<i64>,
    /// It was the last of calls that overlapped, and moved data.
    pub burst: bool,
}

/// Where a transfer begins, as far as it is known.
#[derive(Debug, Clone, Copy)]
enum Start {
    At(Offset),
    /// Here, if it does not append.
    Assumed(i64),
    Ambiguous,
    Unknown,
}

/// One side of a transfer has ended, which began at `since`.
pub(crate) fn transfer(
    files: &mut OpenFileDescriptions,
    file: DescriptionRef,
    held: Option<Held>,
    since: Moment,
    side: Side,
) -> Found {
    let missing = files.missing_calls();
    let Some((open, inodes)) = files.with_inodes(file) else { return Found::default() };
    let moved_unseen = missing.may_move(open);
    if held.is_none() && !matches!(side.at, At::Given | At::Elsewhere) && open.is_idle_stream() {
        return through(side);
    }
    if held.is_none()
        && !side.write
        && let End::Moved(bytes @ 1..) = side.end
        && open.in_progress.is_empty()
        && let Some(start) = open.reads_at(side.at, || side.given)
    {
        let access = read(open, inodes, start, bytes, since, side.at);
        let mut found = Found { access, ..Found::default() };
        found.put(Start::At(start));
        if moved_unseen {
            found.assume(side.at);
        }
        return found;
    }
    if side.at == At::Stream && open.position != Position::None {
        open.never_positioned(inodes);
    }
    // Where O_APPEND is set a write appends, whatever its offset: pwrite(2). A child may have set it.
    let may_append = missing.hidden && open.hidden && side.write && side.appends.is_none();
    let mut found = if open.unsure {
        unsure(files, file, held, since, side)
    } else {
        moved(open, inodes, held, since, side)
    };
    if moved_unseen || missing.hidden && found.at_end {
        found.assume(if found.at_end || may_append { At::Position } else { side.at });
    }
    found
}

/// The same for a description that may be the same as others.
#[inline(never)]
fn unsure(
    files: &mut OpenFileDescriptions,
    file: DescriptionRef,
    held: Option<Held>,
    since: Moment,
    side: Side,
) -> Found {
    if side.write {
        files.follow_file(file);
    }
    files.number(file);
    let moves = matches!(side.end, End::Moved(1..) | End::Unknown);
    let whole = held.is_none() && side.at == At::Position;
    let under_way = whole && files.move_others(file, moves);
    let Some((open, inodes)) = files.with_inodes(file) else { return Found::default() };
    let found = moved(open, inodes, held, since, side);
    if whole {
        files.moved_since(file, under_way);
    } else if side.at == At::Position {
        files.moved_others(file, moves);
    }
    found
}

/// The same for any description.
#[inline]
fn moved(
    open: &mut OpenFileDescription,
    inodes: &mut Inodes,
    held: Option<Held>,
    since: Moment,
    side: Side,
) -> Found {
    let now = inodes.tick();
    if let Some(inode) = open.inode {
        let ends = !side.write && side.end == End::Moved(0);
        let may_append = open.append || open.may_append || open.switching > 0;
        if ends || side.write && (may_append || side.appends.is_some()) {
            inodes.check_other_names(inode);
        }
        if side.write && !matches!(side.end, End::Failed | End::Nothing | End::Moved(..=0)) {
            inodes.changed(inode, now);
            inodes.doubt_other_names(inode);
        }
    }
    let mut length = open.inode.and_then(|inode| inodes.get(inode)).map(|inode| &mut inode.length);
    let met = meet(open, length.as_deref_mut(), held, since, side);
    let start = start(open, length.as_deref(), side, met);
    finish(open, length, side, met, start, [since, now])
}

/// How a transfer overlapped other calls on its description and its file.
#[derive(Debug, Clone, Copy)]
struct Met {
    /// The write appends, or may append.
    appends: bool,
    /// It writes, and whether it appends is not known.
    may_append: bool,
    /// Whether the write appends depends on which call came first: `O_APPEND` was switched
    /// meanwhile.
    append_unclear: bool,
    /// Other calls may have changed the size of the file meanwhile.
    size_raced: bool,
    /// Other calls may have moved the position that it begins at.
    overlapped: bool,
    /// What is known now that it is over, if calls that move the position were under way.
    overlap: Option<CallOverlap>,
}

/// First phase: removes the transfer from the calls in progress that change the size of the file or
/// move the position.
#[inline]
fn meet(
    open: &mut OpenFileDescription,
    length: Option<&mut Length>,
    held: Option<Held>,
    since: Moment,
    side: Side,
) -> Met {
    // Only writes change the size.
    let size_raced = side.write
        && length.is_some_and(|length| length.end(held.and_then(|held| held.resize), since));
    let given = side.appends.filter(|_| side.write);
    let of_description = side.write && given.is_none();
    let append_unclear = of_description && (open.switching > 0 || open.switched > since);
    let may_append = of_description && open.may_append && !append_unclear;
    let appends = given.unwrap_or(of_description && (open.append && !may_append || append_unclear));
    let moved = match side.end {
        // An append moves the position to the end of the file, wherever that is.
        End::Moved(1..) | End::Unknown if (appends || may_append) && side.at == At::Position => {
            None
        }
        // A copy uses the position without the lock: do_sendfile in fs/read_write.c.
        End::Moved(1..)
            if side.at == At::Position
                && !open.in_progress.is_empty()
                && (side.copies || !open.takes_turns()) =>
        {
            None
        }
        End::Moved(moved) if side.at == At::Position => Some(moved),
        End::Unknown if side.at == At::Position => None,
        _ => Some(0),
    };
    let overlap = match held.and_then(|held| held.call_start) {
        Some(call_start) => Some(open.in_progress.end(call_start, moved, side.write)),
        None if side.at == At::Position && !open.in_progress.is_empty() => {
            Some(open.in_progress.pass(moved, side.write))
        }
        None => None,
    };
    // An explicit offset does not depend on other calls that move the position.
    let overlapped = side.at == At::Position && overlap.is_some_and(|overlap| overlap.overlapped);
    Met { appends, may_append, append_unclear, size_raced, overlapped, overlap }
}

/// Second phase: where the transfer began.
#[inline]
fn start(open: &OpenFileDescription, length: Option<&Length>, side: Side, met: Met) -> Start {
    if met.append_unclear {
        return Start::Ambiguous;
    }
    if met.appends {
        let raced = met.size_raced || met.overlapped || open.unordered;
        return append_at(length, open, side.at, raced);
    }
    if met.may_append {
        return write_at(length, open, side, met);
    }
    match side.at {
        // Another task may have switched to `O_APPEND` before.
        At::Given if side.write && open.unordered && side.appends.is_none() => {
            side.given.map_or(Start::Unknown, Start::Assumed)
        }
        At::Given => side.given.map_or(Start::Unknown, |at| Start::At(Offset::Exact(at))),
        At::Elsewhere | At::Stream => Start::Unknown,
        At::Position if met.overlapped || open.unordered => Start::Ambiguous,
        At::Position => match open.position {
            Position::At(offset) => Start::At(offset),
            Position::Unknown if open.doubtful => Start::Ambiguous,
            Position::None | Position::Unknown => Start::Unknown,
        },
    }
}

/// Third phase: what the columns get, and what changes: the end of its stream,
/// the size of the file, the position. Moments: when it began, and now.
#[inline]
fn finish(
    open: &mut OpenFileDescription,
    mut length: Option<&mut Length>,
    side: Side,
    met: Met,
    start: Start,
    moments: [Moment; 2],
) -> Found {
    let [since, now] = moments;
    let positioned = open.position != Position::None;
    // Append ignores the offset that a pwrite gives: pwrite(2), BUGS.
    let misleading = met.appends && side.at == At::Given;
    let at_end = met.appends || met.may_append;
    let mut found = Found { misleading, at_end, ..Found::default() };
    match side.end {
        End::Failed => found.access = Some(Access::Error),
        End::Nothing => {}
        End::Unknown => {
            if positioned {
                open.streams[usize::from(side.write)] = Stream::Lost;
            }
        }
        End::Moved(0) if side.write => {
            // The call has looked where the data would go.
            if side.copies && matches!(start, Start::At(Offset::Exact(_))) && positioned {
                found.put(start);
            }
        }
        End::Moved(0) => {
            // A read that asks for nothing returns 0 anywhere.
            if side.requested != Some(0) {
                found.access = Some(Access::Eof);
                if positioned {
                    found.put(start);
                    if let (Start::At(at), Some(length)) = (start, length.as_mut())
                        && side.requested.is_some()
                        && open.streams[0].ended_at(at)
                    {
                        end_of_file(&mut found, at, length, [since, open.read, now]);
                    }
                }
            }
        }
        End::Moved(bytes) => {
            if positioned {
                found.put(start);
                if met.overlapped {
                    open.see_overlapping(side.write);
                }
                let offset = match start {
                    Start::At(offset) => Some(offset),
                    Start::Assumed(at) => Some(Offset::Exact(at)),
                    Start::Ambiguous | Start::Unknown => None,
                };
                found.access = open.streams[usize::from(side.write)].see(offset, bytes);
                if !side.write {
                    // Of reads that overlap, the one that ended last may have begun first.
                    open.read = if met.overlapped { since.min(open.read) } else { since };
                    if let (Some(Offset::Exact(at)), Some(length)) = (offset, length.as_mut()) {
                        length.reaches(at.saturating_add(bytes), since);
                    }
                }
            }
        }
    }
    if side.write
        && let Some(length) = length
    {
        let appends = met.appends && !met.append_unclear;
        length.change(changed(side.end, start, appends, open.number()), met.size_raced, now);
        let alone = !met.size_raced && !met.overlapped;
        if let (End::Moved(1..), At::Position, true) = (side.end, side.at, met.may_append && alone)
        {
            length.wrote(open.number());
        }
    }
    if side.at == At::Position && matches!(side.end, End::Moved(1..) | End::Unknown) {
        open.at_end_of_write = side.write && !met.overlapped;
    }
    if found.known == Some(OffsetKnown::Relative) {
        open.relative = true;
    }
    let overlap = met.overlap;
    if positioned && (side.at == At::Position || overlap.is_some_and(|overlap| overlap.overlapped))
    {
        found.burst = settle(open, side, start, overlap);
    }
    if let Some(base) = found.base
        && !open.prove(base)
    {
        found.base = None;
    }
    found
}

impl OpenFileDescription {
    /// Whether its position is known, and counts from the start of the file.
    #[inline]
    pub(crate) fn is_at_offset(&self) -> bool {
        matches!(self.position, Position::At(Offset::Exact(_)))
    }

    /// Where a read begins, if that is known and no other call moves the position.
    #[inline]
    pub(crate) fn reads_at(&self, at: At, given: impl FnOnce() -> Option<i64>) -> Option<Offset> {
        if self.position == Position::None {
            return None;
        }
        match (at, self.position) {
            (At::Position, Position::At(spot)) if !(self.unordered | self.unsure) => Some(spot),
            (At::Given, _) => given().map(Offset::Exact),
            _ => None,
        }
    }
}

/// A read of `bytes` bytes at `start` while no other call moves the position: the short form of
/// [`transfer`]. Returns the class.
#[inline]
pub(crate) fn read(
    open: &mut OpenFileDescription,
    inodes: &mut Inodes,
    start: Offset,
    bytes: i64,
    since: Moment,
    at: At,
) -> Option<Access> {
    inodes.tick();
    open.read = since;
    match start {
        Offset::Exact(start) => {
            if let Some(inode) = open.inode.and_then(|inode| inodes.get(inode)) {
                inode.length.reaches(start.saturating_add(bytes), since);
            }
        }
        Offset::Relative(_) => open.relative = true,
    }
    if at == At::Position {
        open.position = Position::At(start.plus(bytes));
    }
    open.streams[0].see(Some(start), bytes)
}

/// A read at `at` that found the end of the file while no other call moves the position: the short
/// form of [`transfer`]. Returns the size of the file, if that proves it.
#[inline]
pub(crate) fn read_end(
    open: &mut OpenFileDescription,
    inodes: &mut Inodes,
    at: i64,
    since: Moment,
) -> Option<i64> {
    let now = inodes.tick();
    let inode = open.inode?;
    inodes.check_other_names(inode);
    let length = &mut inodes.get(inode)?.length;
    let on = open.streams[0].ended_at(Offset::Exact(at));
    on.then(|| length.ends(at, since, open.read, now).size).flatten()
}

/// A transfer through a pipe, a socket or a terminal, which has no offset.
#[inline]
fn through(side: Side) -> Found {
    let access = match side.end {
        End::Failed => Some(Access::Error),
        End::Moved(0) if side.requested != Some(0) && !side.write => Some(Access::Eof),
        _ => None,
    };
    Found { access, ..Found::default() }
}

impl Found {
    /// Calls that were not traced may have moved the position, or changed the size, before a transfer
    /// that began `at`.
    #[cold]
    fn assume(&mut self, at: At) {
        (self.size, self.base) = (None, None);
        match self.known {
            Some(OffsetKnown::Exact) if at == At::Position => {
                self.known = Some(OffsetKnown::Assumed);
            }
            Some(OffsetKnown::Relative) => self.known = Some(OffsetKnown::AssumedRelative),
            _ => {}
        }
    }

    fn put(&mut self, start: Start) {
        let known = match start {
            Start::At(Offset::Exact(at)) => {
                self.offset = Some(at);
                OffsetKnown::Exact
            }
            Start::At(Offset::Relative(at)) => {
                self.offset = Some(at);
                OffsetKnown::Relative
            }
            Start::Assumed(at) => {
                self.offset = Some(at);
                OffsetKnown::Assumed
            }
            Start::Ambiguous => OffsetKnown::Ambiguous,
            Start::Unknown => OffsetKnown::Unknown,
        };
        self.known = Some(known);
    }
}

/// Where a write that appends begins: at the end of the file. If the size is not known, the end is
/// counted from the first append, as long as only one description appends.
fn append_at(length: Option<&Length>, open: &OpenFileDescription, at: At, raced: bool) -> Start {
    let Some(length) = length else { return Start::Unknown };
    if raced {
        return Start::Ambiguous;
    }
    match (length.size(), length.appender()) {
        (Some(size), _) => Start::At(Offset::Exact(size)),
        (None, Appender::One(number, end)) if number == open.number() => {
            Start::At(Offset::Relative(end))
        }
        (None, Appender::Nobody) if may_count(open, at) => Start::At(Offset::Relative(0)),
        _ => Start::Unknown,
    }
}

/// Where a write begins that may append: known only if the end of the file is where it would begin
/// otherwise.
fn write_at(length: Option<&Length>, open: &OpenFileDescription, side: Side, met: Met) -> Start {
    let size = length.filter(|_| !met.size_raced).and_then(Length::size);
    let at = match (side.at, open.position) {
        (At::Given, _) => side.given.map(Offset::Exact),
        (At::Position, _) if met.overlapped || open.unordered => return Start::Ambiguous,
        (At::Position, Position::Unknown) if open.doubtful => return Start::Ambiguous,
        (At::Position, Position::At(offset)) => Some(offset),
        _ => None,
    };
    let Some(at) = at else { return Start::Unknown };
    // Offsets count from its first access, wherever that is.
    let first = at == Offset::Relative(0) && open.streams == [Stream::Fresh; 2] && !open.relative;
    let last = length.filter(|_| !met.size_raced).map_or(0, Length::last_writer);
    let on = side.at == At::Position && open.at_end_of_write && last == open.number();
    if first || on || size.map(Offset::Exact) == Some(at) {
        Start::At(at)
    } else if side.at == At::Given {
        // Few programs give offsets and open with `O_APPEND`.
        side.given.map_or(Start::Unknown, Start::Assumed)
    } else {
        Start::Unknown
    }
}

/// Whether relative offsets may count from a write that begins `at`: a description has one base
/// only.
fn may_count(open: &OpenFileDescription, at: At) -> bool {
    let counts = |stream: &Stream| matches!(stream, Stream::End(Offset::Relative(_)));
    // Relative offsets that exist count from the position of the description.
    let moves = at == At::Position || !matches!(open.position, Position::At(Offset::Relative(_)));
    moves && !open.relative && !open.proved && !open.streams.iter().any(counts)
}

/// A read at `at`, where the previous read ended, found the end of the file. Moments: when it
/// began, when the previous read began, and now.
fn end_of_file(found: &mut Found, at: Offset, length: &mut Length, moments: [Moment; 3]) {
    let [since, read, now] = moments;
    let ended = match at {
        Offset::Exact(at) => length.ends(at, since, read, now),
        Offset::Relative(at) => length.ends_relative(at, since, read),
    };
    (found.size, found.base) = (ended.size, ended.base);
}

/// What a write did to the size of the file.
fn changed(end: End, start: Start, appends: bool, number: u32) -> Change {
    match (end, start) {
        (End::Failed | End::Nothing | End::Moved(..=0), _) => Change::Nothing,
        (End::Moved(bytes), Start::At(Offset::Relative(_))) if appends => {
            Change::Append(bytes, Some(number))
        }
        (End::Moved(bytes), _) if appends => Change::Append(bytes, None),
        (End::Moved(bytes), Start::At(Offset::Exact(at))) => {
            Change::Reach(at.saturating_add(bytes))
        }
        (End::Moved(_) | End::Unknown, _) => Change::Longer,
    }
}

/// Sets the position after the transfer. Returns whether this ends a burst.
fn settle(
    open: &mut OpenFileDescription,
    side: Side,
    start: Start,
    overlap: Option<CallOverlap>,
) -> bool {
    match overlap {
        // Others are still under way: the position is known again when the last of them has ended.
        Some(CallOverlap { total: Total::Open, .. }) => {}
        Some(overlap @ CallOverlap { overlapped: true, .. }) => return open.settle(overlap),
        _ => match (side.end, start) {
            (End::Moved(bytes), Start::At(spot)) if bytes > 0 => {
                open.position = Position::At(spot.plus(bytes));
            }
            (End::Moved(1..) | End::Unknown, _) => open.position = Position::Unknown,
            _ => {}
        },
    }
    false
}
