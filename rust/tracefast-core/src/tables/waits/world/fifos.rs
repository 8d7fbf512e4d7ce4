//! FIFOs, which tasks open by their names: fifo(7).
//!
//! Each open gives a description of its own. All that read from a FIFO are one end here, its reading
//! side, and all that write to it are the other one, so that it is like a pipe.

use crate::hash::HashMap;
use crate::tables::waits::world::acts::Acts;
use crate::tables::waits::world::descriptors::Ofd;
use crate::tables::waits::world::ends::{End, Ends, Kind};

/// What only a description or a side of a FIFO has.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fifo {
    /// Of a description: the side that it belongs to.
    side: Option<Ofd>,
    /// Of a side: the descriptions that are open.
    pub(crate) members: Vec<Ofd>,
    /// Of a side: who opened it.
    pub(crate) opened: Acts,
    /// Of a side: its name was removed, so that nobody will open it.
    removed: bool,
}

/// The sides of all FIFOs, by source and file: the reading and the writing one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fifos {
    sides: HashMap<(u32, u64), (Ofd, Ofd)>,
    made: u32,
}

impl Ends {
    /// The sides of a FIFO.
    pub(crate) fn sides(&self, file: (u32, u64)) -> Option<(Ofd, Ofd)> {
        self.fifos.sides.get(&file).copied()
    }

    /// A file is a FIFO.
    pub(crate) fn is_fifo(&mut self, file: (u32, u64), name: &str, line: u64) -> (Ofd, Ofd) {
        if let Some(known) = self.sides(file) {
            return known;
        }
        // Descriptions are numbered from below.
        let mut number = || {
            self.fifos.made += 1;
            (file.0, u32::MAX - self.fifos.made)
        };
        let (reads, writes) = (number(), number());
        for (one, other) in [(reads, writes), (writes, reads)] {
            let mut end = End::new(Kind::Fifo, Some(other), line);
            end.name = Some(name.into());
            end.fifo = Some(Box::default());
            self.insert(one, end);
        }
        self.fifos.sides.insert(file, (reads, writes));
        (reads, writes)
    }

    /// Whether there are any.
    pub(crate) fn has_fifos(&self) -> bool {
        self.fifos.made > 0
    }

    /// The name of a FIFO was removed: it lives as long as somebody has it open.
    pub(crate) fn unlinked(&mut self, file: (u32, u64)) {
        let Some((reads, writes)) = self.fifos.sides.remove(&file) else { return };
        for side in [reads, writes] {
            if let Some(fifo) = self.get_mut(side).and_then(|end| end.fifo.as_deref_mut()) {
                fifo.removed = true;
            }
        }
        self.forget_fifo(reads);
    }

    /// Forgets a FIFO that nobody can use any more.
    pub(crate) fn forget_fifo(&mut self, side: Ofd) {
        let Some(other) = self.get(side).and_then(|end| end.peer) else { return };
        let gone = |side: Ofd| {
            let fifo = self.get(side).and_then(|end| end.fifo.as_deref());
            fifo.is_some_and(|fifo| fifo.removed && fifo.members.is_empty())
        };
        if gone(side) && gone(other) {
            self.remove(side);
            self.remove(other);
        }
    }

    /// A description was opened on one side.
    pub(crate) fn joins_side(&mut self, ofd: Ofd, side: Ofd, line: u64) {
        let Some(fifo) = self.get_mut(side).and_then(|end| end.fifo.as_deref_mut()) else { return };
        fifo.members.push(ofd);
        let mut end = End::new(Kind::Fifo, None, line);
        end.fifo = Some(Box::new(Fifo { side: Some(side), ..Fifo::default() }));
        self.insert(ofd, end);
    }

    /// The side of a FIFO that a description belongs to; itself if it is of something else.
    #[inline]
    pub(crate) fn side(&self, ofd: Ofd) -> Ofd {
        if !self.has_fifos() {
            return ofd;
        }
        let fifo = self.get(ofd).and_then(|end| end.fifo.as_deref());
        fifo.and_then(|fifo| fifo.side).unwrap_or(ofd)
    }

    /// Nobody holds a description any more. Gives what is closed by that: its side, if it was the
    /// last one of it.
    pub(crate) fn left(&mut self, ofd: Ofd) -> Option<Ofd> {
        let side = self.side(ofd);
        if side == ofd {
            return Some(ofd);
        }
        self.remove(ofd);
        let fifo = self.get_mut(side)?.fifo.as_deref_mut()?;
        fifo.members.retain(|&one| one != ofd);
        if !fifo.members.is_empty() {
            return None;
        }
        let other = self.get(side)?.peer?;
        if self.get(other)?.fifo.as_deref()?.members.is_empty() {
            // What nobody has read is gone: fifo(7).
            for one in [side, other] {
                if let Some(end) = self.get_mut(one) {
                    (end.given, end.taken) = (0, 0);
                }
            }
        }
        Some(side)
    }

    /// The descriptions of an end.
    pub(crate) fn descriptions(&self, ofd: &Ofd) -> Vec<Ofd> {
        match self.get(*ofd).and_then(|end| end.fifo.as_deref()) {
            Some(fifo) if fifo.side.is_none() => fifo.members.clone(),
            _ => vec![*ofd],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_read_are_one_side() {
        let mut ends = Ends::default();
        let (reads, writes) = ends.is_fifo((0, 7), "f", 1);
        assert_eq!(ends.is_fifo((0, 7), "f", 2), (reads, writes));
        for ofd in [(0, 1), (0, 2)] {
            ends.joins_side(ofd, reads, 3);
            assert_eq!(ends.side(ofd), reads);
        }
        assert_eq!(ends.descriptions(&reads), [(0, 1), (0, 2)]);
        assert_eq!(ends.source_of(reads).map(|(peer, _)| peer), Some(writes));
        assert_eq!(ends.left((0, 1)), None);
        assert_eq!(ends.left((0, 2)), Some(reads));
        assert_eq!(ends.left((0, 9)), Some((0, 9)));
        ends.joins_side((0, 3), writes, 4);
        ends.unlinked((0, 7));
        assert!(ends.get(reads).is_some());
        assert_eq!(ends.left((0, 3)), Some(writes));
        ends.forget_fifo(writes);
        assert!(ends.get(reads).is_none() && ends.get(writes).is_none());
    }
}
