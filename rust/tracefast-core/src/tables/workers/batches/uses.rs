//! In which order a task uses the messages that it took.
//!
//! A loader that hands out batches in their order keeps what comes too early while it waits for the
//! next one. The log shows which one that was as soon as the task gives back the memory of it: a
//! trainer that binds a batch drops the one before, so batches are given back in the order of use.

use std::collections::VecDeque;

use crate::tables::workers::batches::takers::PAUSE_NS;

/// Messages that a task holds. One with more does not use them one after the other.
const MOST_HELD: usize = 4096;

/// A message that a task took, and whose memory it has not given back.
#[derive(Debug, Clone, Copy)]
struct Held {
    message: u32,
    row: u32,
    /// The task asked for it as soon as it had the one before.
    at_once: bool,
    /// Memory came with it, so that it will be given back.
    has_memory: bool,
    /// It came while the task waited for one that it used before.
    early: bool,
}

/// What the log shows when a task gives back a message: how it had got it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) row: u32,
    /// The messages that came while the task waited for this one, in order.
    pub(crate) early: Vec<u32>,
    /// If it had come early itself: the calls by which the task gave back the one before.
    pub(crate) bound: Option<(i64, i64)>,
}

/// The messages of a task that it has not given back.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    held: VecDeque<Held>,
    /// The last message whose memory the task mapped.
    mapped: Option<u32>,
    /// The last message that was given back.
    last: Option<u32>,
    /// When it was, if no message had come since the one before was: one that had come early took
    /// its place.
    bound: Option<(i64, i64)>,
    /// A message has come since the last one was given back.
    came: bool,
    /// The task has slept since then.
    rested: bool,
}

impl Uses {
    /// The task took a message.
    pub(crate) fn took(&mut self, message: u32, row: u32, at_once: bool) {
        self.came = true;
        let has_memory = self.mapped == Some(message);
        self.held.push_back(Held { message, row, at_once, has_memory, early: false });
        if self.held.len() > MOST_HELD {
            self.held.pop_front();
        }
    }

    /// The task mapped memory of its last message.
    pub(crate) fn maps(&mut self, message: u32) {
        self.mapped = Some(message);
        if let Some(held) = self.held.back_mut().filter(|held| held.message == message) {
            held.has_memory = true;
        }
    }

    /// The task gave back memory of a message, from a moment to another one. What this shows about
    /// how it got the message, the first time.
    pub(crate) fn gave_back(&mut self, message: u32, (ts, end): (i64, i64)) -> Option<Turn> {
        if self.last == Some(message) {
            if let Some((since, until)) = self.bound.filter(|_| !self.came) {
                // The rest of its memory, or the task had already given back a part while it used it.
                let goes_on = !self.rested && ts.saturating_sub(until) < PAUSE_NS;
                self.bound = Some((if goes_on { since } else { ts }, end));
            }
            self.rested = false;
            return None;
        }
        // Nor can one have come if it was the last of all.
        self.rested = false;
        let is_newest = self.held.back().is_some_and(|held| held.message == message);
        let came = std::mem::replace(&mut self.came, false) && !is_newest;
        let bound = (!came).then_some((ts, end));
        let before = std::mem::replace(&mut self.bound, bound);
        self.last = Some(message);
        let at = self.held.iter().position(|held| held.message == message)?;
        Some(self.turn(at, before))
    }

    /// The task sleeps, just after it had given back memory: it had the next message then.
    pub(crate) fn rests(&mut self, ts: i64) {
        if let Some((_, end)) = self.bound.as_mut().filter(|_| !self.came) {
            *end = ts;
        }
        self.rested = true;
    }

    /// The task has ended. What is known of the last message that came early.
    pub(crate) fn ended(&mut self) -> Option<Turn> {
        let bound = self.bound.take()?;
        let [held] = *self.held.make_contiguous() else { return None };
        held.early.then(|| self.turn(0, Some(bound)))
    }

    fn turn(&mut self, at: usize, bound: Option<(i64, i64)>) -> Turn {
        let held = self.held[at];
        let mut first = at;
        if !held.early {
            while first > 0
                && self.held[first].at_once
                && self.held[first - 1].has_memory
                && !self.held[first - 1].early
            {
                first -= 1;
            }
        }
        let early = self.held.range_mut(first..at).map(|held| {
            held.early = true;
            held.row
        });
        let early = early.collect();
        self.held.remove(at);
        Turn { row: held.row, early, bound: bound.filter(|_| held.early) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(row: u32, early: &[u32], bound: Option<(i64, i64)>) -> Turn {
        Turn { row, early: early.to_vec(), bound }
    }

    /// Takes a message with memory.
    fn takes(uses: &mut Uses, message: u32, row: u32, at_once: bool) {
        uses.took(message, row, at_once);
        uses.maps(message);
    }

    #[test]
    fn what_came_while_the_task_waited_for_another_one_is_early() {
        let mut uses = Uses::default();
        takes(&mut uses, 1, 10, false);
        for (message, row) in [(2, 11), (3, 12), (4, 13)] {
            takes(&mut uses, message, row, message > 2);
        }
        // The second step ended with the fourth message; the others are for later.
        assert_eq!(uses.gave_back(1, (100, 110)), Some(turn(10, &[], None)));
        assert_eq!(uses.gave_back(1, (111, 112)), None);
        assert_eq!(uses.gave_back(4, (200, 210)), Some(turn(13, &[11, 12], None)));
        assert_eq!(uses.gave_back(4, (220, 230)), None);
        assert_eq!(uses.gave_back(2, (300, 310)), Some(turn(11, &[], Some((200, 230)))));
        takes(&mut uses, 5, 14, false);
        assert_eq!(uses.gave_back(3, (400, 410)), Some(turn(12, &[], Some((300, 310)))));
        assert_eq!(uses.gave_back(3, (420, 430)), None);
        assert_eq!(uses.gave_back(5, (500, 510)), Some(turn(14, &[], None)));
        assert_eq!(uses.ended(), None);
    }

    #[test]
    fn the_first_one_is_the_last_to_come() {
        let mut uses = Uses::default();
        takes(&mut uses, 1, 10, false);
        takes(&mut uses, 2, 11, true);
        assert_eq!(uses.gave_back(2, (100, 110)), Some(turn(11, &[10], None)));
        takes(&mut uses, 3, 12, false);
        assert_eq!(uses.gave_back(1, (200, 210)), Some(turn(10, &[], Some((100, 110)))));
    }

    #[test]
    fn messages_that_are_used_as_they_come_and_dropped_in_another_order() {
        let mut uses = Uses::default();
        for message in 1..=3 {
            takes(&mut uses, message, message, false);
        }
        assert_eq!(uses.gave_back(3, (100, 110)), Some(turn(3, &[], None)));
        assert_eq!(uses.gave_back(1, (200, 210)), Some(turn(1, &[], None)));
    }

    #[test]
    fn the_last_one_may_never_be_given_back() {
        let mut uses = Uses::default();
        takes(&mut uses, 1, 10, false);
        takes(&mut uses, 2, 11, true);
        assert_eq!(uses.gave_back(2, (100, 110)), Some(turn(11, &[10], None)));
        assert_eq!(uses.ended(), Some(turn(10, &[], Some((100, 110)))));
        assert_eq!(uses.ended(), None);
    }

    #[test]
    fn what_has_no_memory_is_never_given_back() {
        let mut uses = Uses::default();
        uses.took(1, 10, false);
        uses.maps(2);
        uses.took(2, 11, true);
        assert_eq!(uses.gave_back(2, (100, 110)), Some(turn(11, &[], None)));
    }

    #[test]
    fn memory_is_bounded() {
        let mut uses = Uses::default();
        for message in 0..10_000 {
            takes(&mut uses, message, message, true);
        }
        assert_eq!(uses.held.len(), MOST_HELD);
        assert_eq!(uses.gave_back(0, (1, 2)), None);
    }
}
