//! The bytes under way in pipes and socket pairs, and who gave them.

use std::collections::VecDeque;

use crate::hash::HashMap;

/// Traffic that are remembered.
const MOST_CHANNELS: usize = 65_536;

/// Writes under way, and messages whose sender is not yet known, in one channel. With more the log
/// does not show all of its traffic.
const MOST_WAITING: usize = 65_536;

/// Bytes that one call gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Given {
    /// How many bytes the channel had got after it.
    pub(crate) upto: i64,
    pub(crate) task: u32,
    /// When the call began and ended.
    pub(crate) ts: i64,
    pub(crate) end: i64,
}

/// One direction of a pipe or socket pair. `M` is a message that was taken.
#[derive(Debug)]
pub(crate) struct Channel<M> {
    given: i64,
    taken: i64,
    under_way: VecDeque<Given>,
    /// Messages that were taken before the call that gave them returned.
    early: VecDeque<(i64, M)>,
    /// The process that takes from it, once it is known.
    pub(crate) taker: Option<i32>,
}

impl<M> Default for Channel<M> {
    fn default() -> Self {
        Self { given: 0, taken: 0, under_way: VecDeque::new(), early: VecDeque::new(), taker: None }
    }
}

impl<M> Channel<M> {
    /// A task gave bytes.
    pub(crate) fn give(&mut self, task: u32, bytes: i64, (ts, end): (i64, i64)) {
        self.given = self.given.saturating_add(bytes);
        self.under_way.push_back(Given { upto: self.given, task, ts, end });
        if self.under_way.len() > MOST_WAITING {
            self.under_way.pop_front();
        }
    }

    /// Bytes were taken.
    pub(crate) fn take(&mut self, bytes: i64) {
        self.taken = self.taken.saturating_add(bytes);
    }

    /// What was taken so far is the end of a message.
    pub(crate) fn end_message(&mut self, message: M) {
        self.early.push_back((self.taken, message));
        if self.early.len() > MOST_WAITING {
            self.early.pop_front();
        }
    }

    /// The next message whose bytes have all been given, and the call that gave the last of them.
    pub(crate) fn next_message(&mut self) -> Option<(Given, M)> {
        let &(upto, _) = self.early.front()?;
        if upto > self.given {
            return None;
        }
        while self.under_way.front().is_some_and(|given| given.upto < upto) {
            self.under_way.pop_front();
        }
        let &given = self.under_way.front()?;
        if given.upto == upto {
            self.under_way.pop_front();
        }
        let (_, message) = self.early.pop_front()?;
        Some((given, message))
    }
}

/// The channels of all descriptions, by source and number of the description.
#[derive(Debug)]
pub(crate) struct Traffic<M> {
    all: HashMap<u32, Channel<M>>,
    next: u32,
    /// What each description takes from, and gives to.
    ends: HashMap<(u32, u32), (Option<u32>, Option<u32>)>,
    order: VecDeque<(u32, u32, u32)>,
}

impl<M> Default for Traffic<M> {
    fn default() -> Self {
        Self { all: HashMap::default(), next: 0, ends: HashMap::default(), order: VecDeque::new() }
    }
}

impl<M> Traffic<M> {
    fn add(&mut self, source: u32, from: u32, to: u32) {
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        self.all.insert(number, Channel::default());
        self.ends.entry((source, to)).or_default().0 = Some(number);
        self.ends.entry((source, from)).or_default().1 = Some(number);
        self.order.push_back((source, from, to));
        if self.order.len() > MOST_CHANNELS
            && let Some((source, from, to)) = self.order.pop_front()
        {
            for end in [from, to] {
                let (take, give) = self.ends.remove(&(source, end)).unwrap_or_default();
                for number in take.into_iter().chain(give) {
                    self.all.remove(&number);
                }
            }
        }
    }

    /// A pipe: what is given to one end is taken from the other.
    pub(crate) fn pipe(&mut self, source: u32, read: u32, write: u32) {
        self.add(source, write, read);
    }

    /// A socket pair: two directions.
    pub(crate) fn socket_pair(&mut self, source: u32, one: u32, other: u32) {
        self.add(source, one, other);
        self.add(source, other, one);
    }

    /// The channel that a description takes from.
    pub(crate) fn taken_from(&self, source: u32, ofd: u32) -> Option<u32> {
        self.ends.get(&(source, ofd))?.0
    }

    /// The channel that a description gives to.
    pub(crate) fn given_to(&self, source: u32, ofd: u32) -> Option<u32> {
        self.ends.get(&(source, ofd))?.1
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Channel<M>> {
        self.all.get_mut(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_of_the_call_that_gave_its_last_byte() {
        let mut channel = Channel::default();
        channel.give(1, 4, (10, 11));
        channel.give(1, 96, (12, 13));
        channel.give(2, 50, (14, 15));
        channel.take(100);
        channel.end_message("first");
        let given = Given { upto: 100, task: 1, ts: 12, end: 13 };
        assert_eq!(channel.next_message(), Some((given, "first")));
        channel.take(20);
        channel.end_message("half");
        assert_eq!(channel.next_message().map(|(given, _)| given.task), Some(2));
        channel.take(30);
        channel.end_message("rest");
        assert_eq!(channel.next_message().map(|(given, _)| given.task), Some(2));
        assert_eq!(channel.next_message(), None);
    }

    #[test]
    fn a_write_may_return_after_the_read_of_it() {
        let mut channel = Channel::default();
        channel.take(8);
        channel.end_message(());
        assert_eq!(channel.next_message(), None);
        channel.give(3, 8, (1, 9));
        assert_eq!(channel.next_message().map(|(given, ())| given.task), Some(3));
    }

    #[test]
    fn descriptions_and_their_directions() {
        let mut channels = Traffic::<()>::default();
        channels.pipe(1, 5, 6);
        channels.socket_pair(1, 7, 8);
        assert_eq!(channels.taken_from(1, 5), channels.given_to(1, 6));
        assert_eq!((channels.given_to(1, 5), channels.taken_from(2, 5)), (None, None));
        assert_eq!(channels.taken_from(1, 7), channels.given_to(1, 8));
        assert_ne!(channels.taken_from(1, 7), channels.taken_from(1, 8));
    }

    #[test]
    fn the_oldest_channels_are_forgotten() {
        let mut channels = Traffic::<()>::default();
        for pipe in 0..70_000 {
            channels.pipe(0, 2 * pipe, 2 * pipe + 1);
        }
        assert_eq!(channels.taken_from(0, 0), None);
        assert!(channels.taken_from(0, 139_998).is_some());
        assert!(channels.all.len() <= MOST_CHANNELS && channels.ends.len() <= 2 * MOST_CHANNELS);
    }
}
