//! One side of a transfer: where it began, its class, what it does to position and size.

use super::files::{FileRef, OpenFile, OpenFiles};
use super::nodes::{Appender, Node};
use super::pending::Held;
use super::position::{Landed, Position, Spot, Stream, Total};
use crate::event::{Access, At, OffsetKnown, whence};

/// One side of a call that moves data, as its row tells it.
#[derive(Debug, Clone, Copy)]
pub struct Side {
    /// Into the file, not out of it.
    pub write: bool,
    /// Where it begins.
    pub at: At,
    /// The offset that the text gives.
    pub given: Option<i64>,
    /// Bytes asked for.
    pub requested: Option<i64>,
    /// How it ended.
    pub end: End,
}

/// How a transfer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It moved so many bytes.
    Moved(i64),
    /// It moved none, as it failed.
    Failed,
    /// It did not take place.
    Nothing,
    /// The log does not tell.
    Unknown,
}

/// What the columns get.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Found {
    /// Where it began; relative if `known` says so.
    pub offset: Option<i64>,
    /// The offset that the text gives does not hold.
    pub misleading: bool,
    /// How well that is known.
    pub known: Option<OffsetKnown>,
    /// The class.
    pub access: Option<Access>,
    /// The size that is proved.
    pub size: Option<i64>,
    /// Relative offsets of earlier rows count from here, as is proved.
    pub base: Option<i64>,
}

/// Where a transfer begins, as far as it is known.
#[derive(Debug, Clone, Copy)]
enum Where {
    Spot(Spot),
    Ambiguous,
    Unknown,
}

/// A side of a transfer is over.
pub fn transfer(files: &mut OpenFiles, file: FileRef, held: Option<Held>, side: Side) -> Found {
    let Some((open, nodes)) = files.with_nodes(file) else { return Found::default() };
    // Whether it appended is not known, if that was changed while it was under way.
    let turned = side.write && held.is_some_and(|held| held.append != open.append);
    let moved = match side.end {
        End::Moved(_) if turned => None,
        End::Moved(moved) => Some(moved),
        End::Failed | End::Nothing => Some(0),
        End::Unknown => None,
    };
    // Writes under way decide where the end of the file is, and with it where others append to.
    if side.at == At::Stream && open.position != Position::None {
        open.never_positioned(nodes);
    }
    let mut racing = false;
    if side.write
        && let Some(node) = open.node.and_then(|node| nodes.get(node))
    {
        if let Some(ticket) = held.and_then(|held| held.write) {
            racing = node.writes.end(ticket, moved, true).overlapped;
        } else if !node.writes.is_quiet() {
            racing = node.writes.pass(moved, true).overlapped;
        }
    }
    let node = open.node.and_then(|node| nodes.get(node));
    // Then its own turn among those that move the position.
    let landed = match held.and_then(|held| held.ticket) {
        Some(ticket) => Some(open.flight.end(ticket, moved, side.write)),
        None if side.at == At::Position && !open.flight.is_quiet() => {
            Some(open.flight.pass(moved, side.write))
        }
        None => None,
    };
    let overlapped = landed.is_some_and(|landed| landed.overlapped);
    let positioned = open.position != Position::None;
    let mut found = Found::default();
    let begin = match side.at {
        _ if turned => Where::Ambiguous,
        _ if side.write && open.append => append_at(node.as_deref(), open, racing || overlapped),
        At::Given => side.given.map_or(Where::Unknown, |at| Where::Spot(Spot::Exact(at))),
        At::Elsewhere | At::Stream => Where::Unknown,
        At::Position if overlapped => Where::Ambiguous,
        At::Position => match open.position {
            Position::At(spot) => Where::Spot(spot),
            Position::None | Position::Unknown => Where::Unknown,
        },
    };
    found.misleading = side.write && (open.append || turned) && side.at == At::Given;
    match side.end {
        End::Failed => found.access = Some(Access::Error),
        End::Nothing => {}
        End::Unknown => {
            if positioned {
                open.streams[usize::from(side.write)] = Stream::Lost;
            }
        }
        End::Moved(0) => {
            let asked = side.requested != Some(0);
            if asked && !side.write {
                found.access = Some(Access::Eof);
                if positioned {
                    found.put(begin);
                    if let Where::Spot(at) = begin
                        && open.streams[0].ended_at(at)
                    {
                        end_of_file(&mut found, at, node);
                    }
                }
            }
        }
        End::Moved(bytes) => {
            if positioned {
                found.put(begin);
                let spot = match begin {
                    Where::Spot(spot) => Some(spot),
                    Where::Ambiguous | Where::Unknown => None,
                };
                found.access = open.streams[usize::from(side.write)].see(spot, bytes);
                if side.write {
                    let append = (!turned).then_some(open.append);
                    grow(node, begin, bytes, open.number(), append);
                }
            }
        }
    }
    if found.known == Some(OffsetKnown::Relative) {
        open.relative = true;
    }
    if side.at == At::Position && positioned {
        settle(open, side, begin, landed);
    }
    if let Some(base) = found.base
        && !open.prove(base)
    {
        found.base = None;
    }
    found
}

impl Found {
    fn put(&mut self, begin: Where) {
        let known = match begin {
            Where::Spot(Spot::Exact(at)) => {
                self.offset = Some(at);
                OffsetKnown::Exact
            }
            Where::Spot(Spot::Relative(at)) => {
                self.offset = Some(at);
                OffsetKnown::Relative
            }
            Where::Ambiguous => OffsetKnown::Ambiguous,
            Where::Unknown => OffsetKnown::Unknown,
        };
        self.known = Some(known);
    }
}

/// Where a write of a description that appends begins: at the end of the file. Where that is not
/// known, it is counted from the first such write, as long as nobody else writes.
fn append_at(node: Option<&Node>, open: &OpenFile, raced: bool) -> Where {
    let Some(node) = node else { return Where::Unknown };
    if raced {
        return Where::Ambiguous;
    }
    match (node.size, node.appender) {
        (Some(size), _) => Where::Spot(Spot::Exact(size)),
        (None, Appender::One(number, end)) if number == open.number() => {
            Where::Spot(Spot::Relative(end))
        }
        // A description has one base only.
        (None, Appender::Nobody) if !open.relative => Where::Spot(Spot::Relative(0)),
        _ => Where::Unknown,
    }
}

/// A read at `at`, where the one before it ended, found the end of the file.
fn end_of_file(found: &mut Found, at: Spot, node: Option<&mut Node>) {
    let Some(node) = node else { return };
    match (at, node.size) {
        (Spot::Exact(at), Some(size)) if at < size || node.cut && at != size => {}
        (Spot::Exact(at), _) => {
            node.size = Some(at);
            found.size = Some(at);
        }
        (Spot::Relative(at), Some(size)) if !node.cut && size >= at => {
            found.base = Some(size - at);
            found.size = Some(size);
        }
        (Spot::Relative(_), _) => {}
    }
}

/// A write by description `number` may make the file longer. `append`: it appends, if that is known.
fn grow(node: Option<&mut Node>, begin: Where, bytes: i64, number: u32, append: Option<bool>) {
    let Some(node) = node else { return };
    let appends = append == Some(true);
    node.size = match (node.size, begin) {
        (Some(size), Where::Spot(Spot::Exact(at))) => Some(size.max(at.saturating_add(bytes))),
        // The order of those that append changes nothing for the end.
        (Some(size), _) if appends => Some(size.saturating_add(bytes)),
        _ => None,
    };
    node.appender = match (node.appender, begin) {
        (Appender::Nobody, Where::Spot(Spot::Relative(0))) if appends => {
            Appender::One(number, bytes)
        }
        (Appender::One(of, end), Where::Spot(Spot::Relative(_))) if appends && of == number => {
            Appender::One(number, end.saturating_add(bytes))
        }
        _ => Appender::Several,
    };
}

/// Where the position is behind the transfer.
fn settle(open: &mut OpenFile, side: Side, begin: Where, landed: Option<Landed>) {
    match landed {
        // Others are under way: it is known again when the last of them is over.
        Some(Landed { total: Total::Open, .. }) => {}
        Some(Landed { overlapped: true, total, ways }) => {
            open.position = match total {
                Total::Moved(total) if !(open.append && ways[1]) => open.position.plus(total),
                _ => Position::Unknown,
            };
            // Whichever came last ended here.
            if ways[0] != ways[1]
                && let Position::At(spot) = open.position
            {
                open.streams[usize::from(ways[1])] = Stream::End(spot);
            }
        }
        _ => match (side.end, begin) {
            (End::Moved(bytes), Where::Spot(spot)) if bytes > 0 => {
                open.position = Position::At(spot.plus(bytes));
            }
            (End::Moved(1..) | End::Unknown, _) => open.position = Position::Unknown,
            _ => {}
        },
    }
}

/// Moves the position of a description, as lseek does.
#[derive(Debug, Clone, Copy)]
pub struct Seek {
    /// From where, one of [`crate::event::whence`].
    pub whence: u32,
    /// The argument.
    pub by: i64,
    /// Where the position is now; `None` if the call failed, or its end is not in the log.
    pub to: Option<i64>,
    /// It failed, or did not take place.
    pub failed: bool,
}

/// A seek is over. Gives the base of relative offsets, if it proves that.
pub fn seek(files: &mut OpenFiles, file: FileRef, held: Option<Held>, seek: Seek) -> Option<i64> {
    let (open, nodes) = files.with_nodes(file)?;
    // What others move meanwhile comes before it or behind it.
    let moved = seek.failed.then_some(0);
    let landed = match held.and_then(|held| held.ticket) {
        Some(ticket) => Some(open.flight.end(ticket, moved, false)),
        None if !open.flight.is_quiet() => Some(open.flight.pass(moved, false)),
        None => None,
    };
    if open.position == Position::None {
        return None;
    }
    if let Some(Landed { overlapped: true, total, .. }) = landed {
        match total {
            Total::Open => {}
            Total::Moved(total) => open.position = open.position.plus(total),
            Total::Lost => open.position = Position::Unknown,
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
        (whence::SEEK_CUR, Position::At(Spot::Relative(at))) => {
            Some(to.wrapping_sub(seek.by).wrapping_sub(at)).filter(|&base| base >= 0)
        }
        _ => None,
    };
    let base = base.filter(|&base| open.prove(base));
    if let Some(base) = base
        && let Some(node) = open.node.and_then(|node| nodes.get(node))
        && let Appender::One(number, end) = node.appender
        && number == open.number()
    {
        (node.size, node.appender) = (Some(base.saturating_add(end)), Appender::Several);
    }
    open.position = Position::At(Spot::Exact(to));
    base
}

/// A call found the size of a file, or with `cut` made it. Gives the base of relative offsets, if
/// that proves it.
pub fn sized(
    files: &mut OpenFiles,
    file: FileRef,
    held: Option<Held>,
    size: i64,
    cut: bool,
) -> Option<i64> {
    let number = files.number(file);
    let (open, nodes) = files.with_nodes(file)?;
    if open.node.is_none() && open.position != Position::None {
        // A file without a name is known by its description alone.
        open.node = Some(nodes.open(nameless(number)));
    }
    let node = open.node.and_then(|node| nodes.get(node))?;
    let racing = match held.and_then(|held| held.write) {
        Some(ticket) => node.writes.end(ticket, None, true).overlapped,
        None => !node.writes.is_quiet(),
    };
    if racing {
        node.size = None;
        return None;
    }
    // Who finds it shorter than what was read finds that somebody cut it.
    let shorter = matches!(open.streams[0], Stream::End(Spot::Exact(end)) if end > size);
    node.cut |= cut || shorter || node.size.is_some_and(|known| size < known);
    node.size = Some(size);
    // It alone appended: its last write ended there.
    let appender = std::mem::replace(&mut node.appender, Appender::Several);
    match appender {
        Appender::One(of, end) if of == number && !cut => {
            Some(size.wrapping_sub(end)).filter(|&base| base >= 0 && open.prove(base))
        }
        _ => None,
    }
}

/// The identity of a file that has no name, which no row shows.
pub fn nameless(number: u32) -> u64 {
    u64::MAX - u64::from(number)
}
