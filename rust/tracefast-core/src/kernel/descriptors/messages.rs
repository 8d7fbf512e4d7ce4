//! Messages that carry descriptors (`SCM_RIGHTS`) and have not been received.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use crate::kernel::descriptors::open_file_description::DescriptionRef;

/// One end of a pair of sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct End {
    /// Number of the pair.
    pub pair: u32,
    /// Which of the two.
    pub second: bool,
    /// Each call receives one message, and what cannot be copied of that is lost: sockets of all
    /// types but `SOCK_STREAM` (unix(7)).
    pub records: bool,
}

impl End {
    /// The other end of the pair.
    pub(crate) fn other(self) -> Self {
        Self { second: !self.second, ..self }
    }
}

/// The descriptions of one message.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    /// Unique in the log.
    pub number: u64,
    /// The end that it was sent from, if that belongs to a known pair.
    from: Option<End>,
    /// The number of the socket that it was sent through, if that belongs to no known pair and was not
    /// told an address.
    through: Option<u32>,
    /// The descriptions; `None` for those that are not known.
    pub files: Vec<Option<DescriptionRef>>,
    /// Their names.
    paths: Vec<Option<Arc<[u8]>>>,
}

/// Messages of which one was received, and the log does not show which.
#[derive(Debug)]
pub(crate) struct Unclear {
    /// Their descriptions.
    pub files: Vec<DescriptionRef>,
    /// Whichever it was, the oldest is not in the queue any more.
    pub loses_oldest: bool,
}

/// Processes that send and receive messages whose contents the log does not show, as in ftrace. By
/// thread group.
#[derive(Debug, Default)]
pub(crate) struct UnseenMessages {
    /// Those that send.
    pub senders: HashSet<i32>,
    /// Those that receive.
    pub receivers: HashSet<i32>,
    /// A descriptor came that a message may have brought.
    pub arrived: bool,
}

/// How many messages are kept: the receiver may not be in the log at all.
const MESSAGES: usize = 1 << 10;

/// All messages that were sent and not received.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    queue: VecDeque<Message>,
    next: u64,
    /// A message was received that had not been sent: where calls have no ends, or no order, it may
    /// be one that comes later.
    pub early: bool,
    /// Ends at which messages may have been lost.
    lossy: HashSet<End>,
    /// Ends at which a look at the queue need not show the oldest message; `None`: those that belong
    /// to no known pair.
    looked_into: HashSet<Option<End>>,
    /// The log may not show calls that failed.
    pub hides_failures: bool,
    /// It has all calls, as the user says.
    pub complete: bool,
}

impl Messages {
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The descriptions of messages on the way to that end.
    pub(crate) fn on_the_way(&self, to: End) -> Vec<DescriptionRef> {
        let through = self.queue.iter().filter(|message| message.from == Some(to.other()));
        through.flat_map(|message| &message.files).flatten().copied().collect()
    }

    /// Messages on the way to that end may be lost, from now on.
    pub(crate) fn lose(&mut self, to: End) {
        self.lossy.insert(to);
    }

    /// Whether messages from that end may be lost.
    pub(crate) fn may_be_lost(&self, from: End) -> bool {
        self.lossy.contains(&from.other())
    }

    /// A look at the queue of that end may show a later message than the oldest, from now on.
    pub(crate) fn look_into(&mut self, at: Option<End>) {
        self.looked_into.insert(at);
    }

    /// Messages that may be the one received at `to`, if several may be:
    /// - the call only `peeks`, and such a look may begin anywhere (`SO_PEEK_OFF`, socket(7));
    /// - calls that failed are not in the log (`strace -z`). One that could not copy the data has
    ///   removed the message all the same: `unix_dgram_recvmsg` in `net/unix/af_unix.c`;
    /// - they were sent through several sockets, and the log does not show which of those `to` is
    ///   connected to. Of calls that may be missing all that is assumed anyway.
    pub(crate) fn unclear(
        &self,
        to: Option<End>,
        names: &[Option<&[u8]>],
        peeks: bool,
    ) -> Option<Unclear> {
        let lost = self.hides_failures && to.is_none_or(|to| to.records);
        let ways = self.complete && to.is_none();
        if !(lost || ways || peeks && self.looked_into.contains(&to)) {
            return None;
        }
        let fit: Vec<&Message> =
            self.queue.iter().filter(|message| fits(message, to, names)).collect();
        let (first, others) = fit.split_first().filter(|(_, others)| !others.is_empty())?;
        let same = |other: &&Message| first.through.is_some() && first.through == other.through;
        let ways = ways && !others.iter().all(same);
        let files = || fit.iter().flat_map(|message| &message.files).flatten().copied().collect();
        let open = lost || ways || peeks && self.looked_into.contains(&to);
        open.then(|| Unclear { files: files(), loses_oldest: !(peeks || ways) })
    }

    /// Whether the message was sent from that end.
    pub(crate) fn is_from(&self, number: u64, end: End) -> bool {
        self.queue.iter().any(|message| message.number == number && message.from == Some(end))
    }

    /// Adds a message. Returns its number, and the oldest message if that had to make room.
    pub(crate) fn send(
        &mut self,
        (from, through): (Option<End>, Option<u32>),
        files: Vec<Option<DescriptionRef>>,
        paths: Vec<Option<Arc<[u8]>>>,
    ) -> (u64, Option<Message>) {
        self.next += 1;
        self.queue.push_back(Message { number: self.next, from, through, files, paths });
        let oldest = (self.queue.len() > MESSAGES).then(|| self.queue.pop_front()).flatten();
        (self.next, oldest)
    }

    /// Removes a message that was not sent after all.
    pub(crate) fn take_back(&mut self, number: u64) -> Option<Message> {
        let at = self.queue.iter().position(|message| message.number == number)?;
        self.queue.remove(at)
    }

    /// The descriptions of all of them.
    pub(crate) fn files(&self) -> impl Iterator<Item = DescriptionRef> {
        self.queue.iter().flat_map(|message| &message.files).flatten().copied()
    }

    /// Removes the message that [`Self::find`] finds.
    pub(crate) fn receive(&mut self, to: Option<End>, names: &[Option<&[u8]>]) -> Option<Message> {
        let at = self.find(to, names)?;
        self.queue.remove(at)
    }

    /// The descriptions of that message, which stays in the queue.
    pub(crate) fn peek(&self, to: Option<End>, names: &[Option<&[u8]>]) -> Option<Message> {
        let at = self.find(to, names)?;
        self.queue.get(at).cloned()
    }

    /// The oldest message that may be the one received at `to`.
    fn find(&self, to: Option<End>, names: &[Option<&[u8]>]) -> Option<usize> {
        self.queue.iter().position(|message| fits(message, to, names))
    }
}

/// Whether the message may be the one received at `to`: with as many descriptions, with these names
/// where names are known, through the same pair where pairs are known.
fn fits(message: &Message, to: Option<End>, names: &[Option<&[u8]>]) -> bool {
    let through = match (message.from, to) {
        (Some(from), Some(to)) => from.pair == to.pair && from.second != to.second,
        (None, None) => true,
        // The other end is of a pair made before the log, or by an untraced call.
        _ => false,
    };
    through
        && message.files.len() == names.len()
        && message.paths.iter().zip(names).all(|(path, name)| match (path, name) {
            (Some(path), Some(name)) => **path == **name,
            _ => true,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(pair: u32, second: bool) -> End {
        End { pair, second, records: false }
    }

    #[test]
    fn messages_come_out_of_the_other_end_in_order() {
        let mut messages = Messages::default();
        for (from, file) in [(end(1, false), 10), (end(2, false), 20), (end(1, false), 11)] {
            messages.send((Some(from), None), vec![Some(file)], vec![None]);
        }
        let mut receive =
            |to: Option<End>| messages.receive(to, &[None]).map(|message| message.files[0]);
        assert_eq!(receive(Some(end(1, false))), None);
        assert_eq!(receive(Some(end(1, true))), Some(Some(10)));
        assert_eq!(receive(Some(end(1, true))), Some(Some(11)));
        assert_eq!(receive(None), None);
        assert_eq!(receive(Some(end(2, true))), Some(Some(20)));
    }

    #[test]
    fn names_and_numbers_tell_messages_apart() {
        let mut messages = Messages::default();
        let path = |text: &[u8]| Some(Arc::from(text));
        messages.send((None, None), vec![Some(1)], vec![path(b"/a")]);
        let (number, _) = messages.send((None, None), vec![Some(2)], vec![path(b"/b")]);
        messages.send((None, None), vec![Some(3), None], vec![None, None]);
        assert_eq!(messages.receive(None, &[None, None]).unwrap().files, [Some(3), None]);
        assert_eq!(messages.receive(None, &[Some(b"/b")]).unwrap().number, number);
        assert!(messages.take_back(number).is_none());
        assert_eq!(messages.receive(None, &[None]).unwrap().files, [Some(1)]);
    }

    #[test]
    fn those_that_nobody_receives_make_room() {
        let mut messages = Messages::default();
        let given_back =
            (0..MESSAGES + 5).filter(|_| messages.send((None, None), vec![], vec![]).1.is_some());
        assert_eq!(given_back.count(), 5);
    }
}
