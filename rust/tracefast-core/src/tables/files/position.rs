//! Positions in files: where an access was, and how far from the previous one.

use crate::tables::files::word_classes::Class;

/// A position in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The start of the stream: no data was moved yet.
    Start,
    /// Not in the log.
    Lost,
    /// At this byte.
    Exact(i64),
    /// This far from the first access of this description.
    Relative(u32, i64),
}

impl Place {
    /// How far this is after `before`; None if the two cannot be compared.
    pub(crate) fn distance_from(self, before: Self) -> Option<i64> {
        match (self, before) {
            (Self::Exact(a), Self::Exact(b)) => Some(a.saturating_sub(b)),
            (Self::Relative(x, a), Self::Relative(y, b)) if x == y => Some(a.saturating_sub(b)),
            _ => None,
        }
    }

    /// Class of an access that moves data here, if the one before it ended at `before`; None if it is
    /// not known.
    pub(crate) fn class_after(self, before: Self) -> Option<Class> {
        if before == Self::Start {
            // The first access has its class wherever it was.
            return (self != Self::Lost).then_some(Class::First);
        }
        Some(match self.distance_from(before)? {
            0 => Class::Consecutive,
            1.. => Class::Forward,
            _ => Class::Backward,
        })
    }

    /// The place `bytes` further.
    pub(crate) fn plus(self, bytes: i64) -> Self {
        match self {
            Self::Exact(at) => Self::Exact(at.saturating_add(bytes)),
            Self::Relative(ofd, at) => Self::Relative(ofd, at.saturating_add(bytes)),
            other => other,
        }
    }

    /// The position, now that the first access of `ofd` is known to have been at `base`.
    pub(crate) fn proved(self, ofd: u32, base: i64) -> Self {
        match self {
            Self::Relative(of, at) if of == ofd => Self::Exact(at.saturating_add(base)),
            other => other,
        }
    }
}

/// A stream of accesses: where the last one ended, and the current chain of consecutive ones.
///
/// There is one for each description that moved data, so it must be small.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    end: i64,
    /// The description that the end is relative to.
    ofd: u32,
    state: State,
    /// The row of the table that the current chain belongs to.
    owner: u32,
    /// Bytes of that chain.
    bytes: i64,
    /// Reads or writes.
    direction: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Lost,
    Exact,
    Relative,
}

/// No row of the table.
const NOBODY: u32 = u32::MAX;

impl Default for Stream {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Stream {
    pub(crate) fn new(direction: usize) -> Self {
        let direction = direction as u8;
        Self { end: 0, ofd: 0, state: State::Start, owner: NOBODY, bytes: 0, direction }
    }

    pub(crate) fn direction(&self) -> usize {
        self.direction.into()
    }

    /// Where the last access that moved data ended.
    pub(crate) fn end(&self) -> Place {
        match self.state {
            State::Start => Place::Start,
            State::Lost => Place::Lost,
            State::Exact => Place::Exact(self.end),
            State::Relative => Place::Relative(self.ofd, self.end),
        }
    }

    /// The last access ended at `place`.
    pub(crate) fn set_end(&mut self, place: Place) {
        (self.state, self.ofd, self.end) = match place {
            Place::Start => (State::Start, 0, 0),
            Place::Lost => (State::Lost, 0, 0),
            Place::Exact(at) => (State::Exact, 0, at),
            Place::Relative(ofd, at) => (State::Relative, ofd, at),
        };
    }

    pub(crate) fn prove(&mut self, ofd: u32, base: i64) {
        self.set_end(self.end().proved(ofd, base));
    }

    /// Class of an access that moves data at `place`; None if it is not known.
    pub(crate) fn class(&self, place: Place) -> Option<Class> {
        place.class_after(self.end())
    }

    /// Adds an access of the row `owner` to the current chain. Returns the chain that this ends, if
    /// any.
    pub(crate) fn chain(
        &mut self,
        class: Option<Class>,
        owner: u32,
        bytes: i64,
    ) -> Option<(u32, i64)> {
        match class {
            None | Some(Class::Other | Class::Eof) => None,
            Some(Class::Consecutive) if self.owner == owner => {
                self.bytes = self.bytes.saturating_add(bytes);
                None
            }
            _ => {
                let over = self.run();
                (self.owner, self.bytes) = (owner, bytes);
                over
            }
        }
    }

    /// The current chain: its row, and its bytes.
    pub(crate) fn run(&self) -> Option<(u32, i64)> {
        (self.owner != NOBODY).then_some((self.owner, self.bytes))
    }
}
