//! Tasks that take messages: how far each is, and since when it waits.

use crate::tables::workers::framing::is_length;

/// What a task takes from a channel, until the message is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taking {
    pub(crate) channel: u32,
    /// Since when the task waited for it.
    pub(crate) since: i64,
    pub(crate) end: i64,
    pub(crate) bytes: i64,
    pub(crate) line: u64,
    /// So far it is what may be the length of the rest.
    is_length: bool,
}

/// A message that a task has taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) task: u32,
    pub(crate) channel: u32,
    pub(crate) fd: Option<i32>,
    /// Since when the task waited for it, and when it had it.
    pub(crate) since: i64,
    pub(crate) end: i64,
    pub(crate) bytes: i64,
    pub(crate) line: u64,
    /// Counts the messages of the task.
    pub(crate) number: u32,
}

/// A task that takes messages.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Taker {
    /// The descriptor that it waits for, if it is one, and since when.
    asked: Option<(Option<i32>, i64)>,
    taking: Option<Taking>,
    /// Messages so far.
    pub(crate) messages: u32,
    /// The row of its last message, and that message's number.
    pub(crate) row: Option<(u32, u32)>,
    /// When it had received the descriptors that came with its last message, and mapped them.
    pub(crate) received: Option<i64>,
}

/// A poll that found nothing is a look, not a wait, if it took less: a millisecond.
const LOOK_NS: i64 = 1_000_000;

impl Taker {
    /// It waited for a descriptor, or for one of several.
    pub(crate) fn asked(&mut self, fd: Option<i32>, ts: i64, took: i64, found: bool) {
        self.received = None;
        if !found && took < LOOK_NS {
            self.asked = None;
            return;
        }
        let same = |(one, _): &(Option<i32>, i64)| one.is_none() || fd.is_none() || *one == fd;
        let since = self.asked.filter(same).map_or(ts, |(_, since)| since);
        self.asked = Some((fd, since));
    }

    /// It did something else than wait.
    pub(crate) fn rests(&mut self) {
        (self.asked, self.received) = (None, None);
    }

    /// A call on a channel took bytes, of those `requested`. The message, if that was its end.
    pub(crate) fn took(
        &mut self,
        (channel, fd): (u32, Option<i32>),
        (bytes, requested): (i64, Option<i64>),
        (ts, end): (i64, i64),
        line: u64,
    ) -> Option<Taking> {
        let asked = self.asked.take().filter(|(one, _)| one.is_none() || *one == fd);
        let since = asked.map_or(ts, |(_, since)| since.min(ts));
        let all = requested.is_none_or(|requested| requested == bytes);
        let Some(taking) = self.taking.as_mut() else {
            let is_length = is_length(requested, bytes);
            let taking = Taking { channel, since, end, bytes, line, is_length };
            self.taking = is_length.then_some(taking);
            return (!is_length).then_some(taking);
        };
        taking.bytes = taking.bytes.saturating_add(bytes);
        (taking.end, taking.is_length) = (end, false);
        if all { self.taking.take() } else { None }
    }

    /// The message that ends because the task goes on without taking more of it.
    pub(crate) fn goes_on(&mut self, channel: Option<u32>) -> Option<Taking> {
        self.taking.take_if(|taking| Some(taking.channel) != channel)
    }

    /// A number for a message that is whole.
    pub(crate) fn message(&mut self, task: u32, fd: Option<i32>, taking: Taking) -> Message {
        self.messages = self.messages.wrapping_add(1);
        self.received = None;
        let Taking { channel, since, end, bytes, line, .. } = taking;
        Message { task, channel, fd, since, end, bytes, line, number: self.messages }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_and_what_follows_are_one_message() {
        let mut taker = Taker::default();
        taker.asked(Some(3), 100, 5_000_000, false);
        taker.asked(Some(3), 6_000_000, 10, true);
        assert_eq!(taker.took((1, Some(3)), (4, Some(4)), (7_000_000, 7_000_001), 5), None);
        let half = taker.took((1, Some(3)), (300, Some(346)), (7_000_002, 7_000_003), 6);
        assert_eq!(half, None);
        let whole = taker.took((1, Some(3)), (46, Some(46)), (7_000_004, 7_000_005), 7);
        let whole = whole.expect("a message");
        assert_eq!((whole.since, whole.end, whole.bytes, whole.line), (100, 7_000_005, 350, 5));
    }

    #[test]
    fn other_reads_are_messages() {
        let mut taker = Taker::default();
        let whole = taker.took((1, Some(3)), (10, Some(65_536)), (50, 60), 5).expect("a message");
        assert_eq!((whole.since, whole.bytes), (50, 10));
        assert_eq!(taker.took((1, Some(3)), (4, Some(4)), (70, 71), 6), None);
        assert_eq!(taker.goes_on(Some(1)), None);
        assert_eq!(taker.goes_on(None).map(|taking| taking.bytes), Some(4));
    }

    #[test]
    fn a_look_at_another_descriptor_is_no_wait() {
        let mut taker = Taker::default();
        taker.asked(Some(3), 100, 10, false);
        taker.asked(Some(9), 200, 2_000_000, false);
        let whole = taker.took((1, Some(3)), (1, Some(9)), (5_000_000, 5_000_001), 5);
        assert_eq!(whole.map(|whole| whole.since), Some(5_000_000));
    }
}
