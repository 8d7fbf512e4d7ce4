//! Tasks that take messages: how far each is, and since when it waits.

use crate::hash::HashMap;
use crate::tables::workers::batches::uses::{Turn, Uses};
use crate::tables::workers::framing::is_length;

/// Parts of memory that came with messages of a task. With more of them all are forgotten, and what
/// the task gives back of them does not count.
const MOST_PARTS: usize = 65_536;

/// A call on the memory of messages belongs to what the task does to take over a message if it begins
/// this soon after the one before, and the task neither waited nor read anything between them.
/// `multiprocessing` and torch have a few locks and short calls between them. After a longer pause it
/// is the task's own work that ended there.
pub(crate) const PAUSE_NS: i64 = 5_000_000;

/// What a task takes from a channel, until the message is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taking {
    pub(crate) channel: u32,
    /// When the task asked for it, and since when it waited.
    asked: i64,
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
    /// When the task asked for it, since when it waited, and when it had it.
    pub(crate) asked: i64,
    pub(crate) since: i64,
    pub(crate) end: i64,
    pub(crate) bytes: i64,
    pub(crate) line: u64,
    /// Counts the messages of the task.
    pub(crate) number: u32,
    /// The task asked for it as soon as it had taken over the one before.
    pub(crate) at_once: bool,
}

/// How a task takes over its last message: it receives and maps the memory that came with it, then
/// gives back that of one earlier message, which it no longer needs.
#[derive(Debug, Default)]
struct TakingOver {
    /// Until when; null once the task waits, or has a new message.
    until: Option<i64>,
    /// Since then it has neither waited nor read anything, nor worked.
    goes_on: bool,
    /// It has received descriptors; and has not mapped the last ones yet.
    received: bool,
    to_map: bool,
    /// The message whose memory it gives back.
    gives_back: Option<u32>,
}

/// The memory of messages: by address where it is mapped, and by open file description. The value is
/// the number of the message.
#[derive(Debug, Default)]
struct Memory {
    addresses: HashMap<i64, u32>,
    descriptions: HashMap<u32, u32>,
}

impl Memory {
    fn add(&mut self, message: u32, address: Option<i64>, description: Option<u32>) {
        if self.addresses.len().max(self.descriptions.len()) >= MOST_PARTS {
            self.addresses.clear();
            self.descriptions.clear();
        }
        self.addresses.extend(address.map(|address| (address, message)));
        self.descriptions.extend(description.map(|description| (description, message)));
    }
}

/// A task that takes messages.
#[derive(Debug, Default)]
pub(crate) struct Taker {
    /// The descriptor that it waits for, if it is one, and since when.
    asked: Option<(Option<i32>, i64)>,
    taking: Option<Taking>,
    /// Messages so far.
    pub(crate) messages: u32,
    /// The row of its last message, and that message's number.
    pub(crate) row: Option<(u32, u32)>,
    taking_over: TakingOver,
    memory: Memory,
    /// When it had its last message, and all that came with it, so far.
    had: i64,
    /// Since then it has done something of its own.
    worked: bool,
    /// When it last woke from a sleep, if since then it has only taken messages over.
    woke: Option<i64>,
    uses: Uses,
    /// When it had given back memory of a message, until its next call of another kind.
    gave_back: Option<i64>,
    /// When it last closed memory of a message, and which.
    closed: Option<(u32, i64)>,
}

/// A poll that found nothing is a look, not a wait, if it took less: a millisecond.
const LOOK_NS: i64 = 1_000_000;

impl Taker {
    /// It waited for a descriptor, or for one of several.
    pub(crate) fn asked(&mut self, fd: Option<i32>, ts: i64, took: i64, found: bool) {
        (self.taking_over, self.gave_back) = (TakingOver::default(), None);
        if !found && took < LOOK_NS {
            self.asked = None;
            return;
        }
        let same = |(one, _): &(Option<i32>, i64)| one.is_none() || fd.is_none() || *one == fd;
        let since = self.asked.filter(same).map_or(ts, |(_, since)| since);
        self.asked = Some((fd, since));
    }

    /// It sleeps, from a moment to another one: a pause of its own. What it did just before was the
    /// last part of taking over a message, and what it does next is the first part of the next one.
    /// Whether the former is longer by this.
    pub(crate) fn sleeps(&mut self, (ts, end): (i64, i64)) -> bool {
        let soon = |since: &i64| ts.saturating_sub(*since) < PAUSE_NS;
        if self.gave_back.take().is_some_and(|since| soon(&since)) {
            self.uses.rests(ts);
        }
        let over = &mut self.taking_over;
        let longer = over.goes_on && over.until.as_ref().is_some_and(soon);
        if longer {
            over.until = over.until.max(Some(ts));
        }
        over.goes_on = false;
        (self.asked, self.woke, self.worked) = (None, Some(end), true);
        longer
    }

    /// It opened a file.
    pub(crate) fn opens(&mut self) {
        self.moves_on();
        self.worked = true;
    }

    /// It read something else than a message.
    pub(crate) fn moves_on(&mut self) {
        self.taking_over.goes_on = false;
        self.writes();
    }

    /// It wrote something elsewhere than to a worker: a call of its own.
    pub(crate) fn writes(&mut self) {
        (self.woke, self.gave_back) = (None, None);
    }

    /// It takes something that may be a message.
    pub(crate) fn asks(&mut self) {
        self.taking_over.goes_on = false;
        self.gave_back = None;
    }

    /// Until when it takes over its last message, as far as is known.
    pub(crate) fn taken_over(&self) -> Option<i64> {
        self.taking_over.until
    }

    /// A call received descriptors: those of its last message.
    pub(crate) fn received(&mut self, end: i64) {
        let over = &mut self.taking_over;
        if over.until.is_some() {
            (over.until, over.goes_on) = (Some(end), true);
            (over.received, over.to_map) = (true, true);
            // It may have had to import something before.
            (self.had, self.worked) = (end, false);
        }
    }

    /// A call on memory of a message, from a moment to another one. Whether it is part of taking over
    /// the last message.
    fn takes_over(&mut self, message: u32, (ts, end): (i64, i64)) -> bool {
        let is_own = message == self.messages;
        let over = &mut self.taking_over;
        let Some(until) = over.until.filter(|_| over.goes_on) else { return false };
        // It gives back one message for the one that it takes over, and then begins to use that.
        let in_turn = over.gives_back.is_none_or(|earlier| earlier == message);
        // What was received came with the message, however long it takes until that is mapped.
        let soon = ts.saturating_sub(until) < PAUSE_NS || over.to_map && is_own;
        over.goes_on = in_turn && soon;
        if over.goes_on {
            over.until = Some(end.max(until));
            over.gives_back = (!is_own).then_some(message);
            self.had = end.max(until);
        }
        over.goes_on
    }

    /// A call that opens, looks at, or closes shared memory, or any description that is not known to
    /// be something else. Whether it is part of taking over the last message.
    pub(crate) fn uses(
        &mut self,
        description: Option<u32>,
        is_shared: bool,
        times: (i64, i64),
    ) -> bool {
        let known = description.and_then(|of| self.memory.descriptions.get(&of).copied());
        if known.is_none() && !is_shared {
            return false;
        }
        let message = known.unwrap_or(self.messages);
        let takes_over = self.takes_over(message, times);
        if takes_over && known.is_none() {
            self.memory.add(message, None, description);
        }
        takes_over
    }

    /// It mapped memory that processes share, or that may be what it received. Whether it is that of
    /// its last message.
    pub(crate) fn maps(
        &mut self,
        (address, description): (i64, Option<u32>),
        is_shared: bool,
        times: (i64, i64),
    ) -> bool {
        let is_memory = is_shared || self.taking_over.received;
        if !is_memory || !self.takes_over(self.messages, times) {
            return false;
        }
        self.taking_over.to_map = false;
        self.memory.add(self.messages, Some(address), description);
        self.uses.maps(self.messages);
        true
    }

    /// It unmapped what was at an address. Whether that was part of taking over its last message: it
    /// was the memory of an earlier one; and what it shows about how it got that one.
    pub(crate) fn unmaps(&mut self, address: i64, times: (i64, i64)) -> (bool, Option<Turn>) {
        let Some(message) = self.memory.addresses.remove(&address) else { return (false, None) };
        let takes_over = message != self.messages && self.takes_over(message, times);
        let goes_on = |since: i64| times.0.saturating_sub(since) < PAUSE_NS;
        let closed = self.closed.take().filter(|&(of, ts)| of == message && goes_on(ts));
        let since = self.woke.take().or(closed.map(|(_, since)| since)).unwrap_or(times.0);
        self.gave_back = Some(times.1);
        (takes_over, self.uses.gave_back(message, (since, times.1)))
    }

    /// It closes a description, which may be memory of a message that it gives back.
    pub(crate) fn closes(&mut self, description: Option<u32>, ts: i64) {
        let message = description.and_then(|of| self.memory.descriptions.get(&of).copied());
        self.closed = message.map(|message| (message, ts));
    }

    /// The row of a message that it took is known.
    pub(crate) fn has_row(&mut self, row: u32, message: &Message) {
        self.row = Some((row, message.number));
        self.uses.took(message.number, row, message.at_once);
    }

    /// It has ended: what is known of the last message that it used.
    pub(crate) fn ended(&mut self) -> Option<Turn> {
        self.uses.ended()
    }

    /// Whether its next call may be part of taking over its last message.
    pub(crate) fn is_taking_over(&self) -> bool {
        self.taking_over.until.is_some() && self.taking_over.goes_on
    }

    pub(crate) fn has_maps(&self) -> bool {
        !self.memory.addresses.is_empty()
    }

    /// A call on a channel took bytes, of those `requested`. The message, if that was its end.
    pub(crate) fn took(
        &mut self,
        (channel, fd): (u32, Option<i32>),
        (bytes, requested): (i64, Option<i64>),
        (ts, end): (i64, i64),
        line: u64,
    ) -> Option<Taking> {
        let asked = self.asked.take();
        let same = asked.filter(|(one, _)| one.is_none() || *one == fd);
        // After a wait for something else the sleep before it does not count.
        let woke = self.woke.take().filter(|_| asked.is_none() || same.is_some());
        let asked = same.map_or(ts, |(_, since)| since.min(ts));
        let since = woke.unwrap_or(asked).min(asked);
        let all = requested.is_none_or(|requested| requested == bytes);
        let Some(taking) = self.taking.as_mut() else {
            let is_length = is_length(requested, bytes);
            let taking = Taking { channel, asked, since, end, bytes, line, is_length };
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
        self.taking_over =
            TakingOver { until: Some(taking.end), goes_on: true, ..TakingOver::default() };
        let Taking { channel, asked, since, end, bytes, line, .. } = taking;
        let worked = std::mem::replace(&mut self.worked, false);
        let at_once = !worked && since.saturating_sub(self.had) < PAUSE_NS;
        self.had = end;
        Message {
            task,
            channel,
            fd,
            asked,
            since,
            end,
            bytes,
            line,
            number: self.messages,
            at_once,
        }
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

    /// Milliseconds.
    const MS: i64 = 1_000_000;

    /// A task that has just taken a message at the time 0, and before that another one, whose memory
    /// is at the address 1 and has the description 11.
    fn with_two_messages() -> Taker {
        let mut taker = Taker::default();
        for number in 0..2 {
            let whole = taker.took((1, Some(3)), (10, Some(20)), (0, 0), 5).expect("a message");
            taker.message(7, Some(3), whole);
            if number == 0 {
                assert!(taker.maps((1, Some(11)), true, (0, 0)));
            }
        }
        taker
    }

    #[test]
    fn a_message_is_taken_over_with_its_memory() {
        let mut taker = with_two_messages();
        assert!(taker.maps((2, Some(12)), true, (MS, 2 * MS)));
        assert!(taker.uses(Some(12), true, (3 * MS, 4 * MS)));
        // It gives back the earlier one, then works, and gives back this one.
        assert!(taker.uses(Some(11), false, (5 * MS, 6 * MS)));
        assert!(taker.unmaps(1, (7 * MS, 8 * MS)).0);
        assert!(!taker.uses(Some(12), true, (9 * MS, 10 * MS)));
        assert!(!taker.unmaps(2, (11 * MS, 12 * MS)).0);
        assert_eq!(taker.taken_over(), Some(8 * MS));
    }

    #[test]
    fn other_memory_is_no_part_of_a_message() {
        let mut taker = with_two_messages();
        assert!(!taker.maps((2, Some(12)), false, (MS, 2 * MS)));
        assert!(!taker.uses(Some(13), false, (MS, 2 * MS)));
        assert!(!taker.unmaps(4096, (MS, 2 * MS)).0);
        assert_eq!(taker.taken_over(), Some(0));
        // What was received may be anything.
        taker.received(20 * MS);
        assert!(taker.maps((3, Some(14)), false, (40 * MS, 41 * MS)));
        assert_eq!(taker.taken_over(), Some(41 * MS));
    }

    #[test]
    fn work_ends_the_taking_over() {
        let mut paused = with_two_messages();
        assert!(!paused.unmaps(1, (PAUSE_NS, PAUSE_NS + 1)).0);
        let mut reads = with_two_messages();
        reads.moves_on();
        assert!(!reads.unmaps(1, (MS, 2 * MS)).0);
        let mut sleeps = with_two_messages();
        assert!(sleeps.sleeps((MS, 2 * MS)));
        assert!(!sleeps.unmaps(1, (2 * MS, 3 * MS)).0);
        assert_eq!((paused.taken_over(), sleeps.taken_over()), (Some(0), Some(MS)));
    }

    #[test]
    fn memory_that_is_never_given_back_is_forgotten() {
        let mut memory = Memory::default();
        for number in 0..200_000 {
            memory.add(number, Some(number.into()), Some(number));
        }
        assert!(memory.addresses.len() <= MOST_PARTS && memory.descriptions.len() <= MOST_PARTS);
        assert_eq!(memory.descriptions.get(&199_999), Some(&199_999));
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
