//! Pipes, socket pairs and sockets that listen: who made them, and who writes to them.

use crate::hash::HashMap;

/// An open file description: the number of its source, and its own.
pub(crate) type Ofd = (u32, u32);

/// A connection: the socket that listens, and its number among those that it accepted.
pub(crate) type Request = (Ofd, u32);

/// Ends that are remembered. Those that were made long ago are forgotten: the log does not show
/// here when the last holder has closed one.
const MOST: usize = 65_536;
/// Addresses of sockets.
const MOST_BOUND: usize = 4096;
/// Tasks that wrote to an end.
const MOST_WRITERS: usize = 16;

/// One end.
#[derive(Debug)]
pub(crate) struct End {
    /// Where what is written here is read; none of a socket that listens.
    peer: Option<Ofd>,
    /// The task that made it.
    pub(crate) maker: u32,
    /// Tasks that wrote to it.
    writers: Vec<u32>,
    /// When the maker of workers connected to it to ask for one, in order.
    requests: Vec<i64>,
}

impl End {
    fn new(maker: u32, peer: Option<Ofd>) -> Self {
        Self { peer, maker, writers: Vec::new(), requests: Vec::new() }
    }
}

/// What the log saw made.
#[derive(Debug, Default)]
pub(crate) struct Channels {
    ends: HashMap<Ofd, End>,
    /// By process and descriptor, addresses of sockets that do not listen yet.
    bound: HashMap<(u32, i32), Box<str>>,
    /// By address, the last socket that listens there.
    listening: HashMap<Box<str>, Ofd>,
    /// The last end to which something was written, and by whom.
    last: Option<(Ofd, u32)>,
}

impl Channels {
    /// A task made two ends of a pipe or of a pair of sockets.
    pub(crate) fn made(&mut self, one: Ofd, other: Ofd, maker: u32) {
        self.forget_old();
        for (end, peer) in [(one, other), (other, one)] {
            self.ends.insert(end, End::new(maker, Some(peer)));
        }
        self.last = None;
    }

    /// A task listens on a socket.
    pub(crate) fn listens(&mut self, socket: Ofd, maker: u32, (process, fd): (u32, Option<i32>)) {
        self.forget_old();
        if let Some(path) = fd.and_then(|fd| self.bound.remove(&(process, fd))) {
            if self.listening.len() >= MOST_BOUND {
                self.listening.retain(|_, socket| self.ends.contains_key(socket));
            }
            if self.listening.len() < MOST_BOUND {
                self.listening.insert(path, socket);
            }
        }
        self.ends.entry(socket).or_insert_with(|| End::new(maker, None));
    }

    /// A socket of a process got an address.
    pub(crate) fn binds(&mut self, process: u32, fd: i32, path: &str) {
        // Those of datagrams never listen.
        if self.bound.len() >= MOST_BOUND {
            self.bound.clear();
        }
        self.bound.insert((process, fd), path.into());
    }

    /// A maker connected to the socket with an address.
    pub(crate) fn asked(&mut self, source: u32, path: &str, ts: i64) {
        let socket = self.listening.get(path).filter(|&&(of, _)| of == source);
        if let Some(end) = socket.and_then(|socket| self.ends.get_mut(socket)) {
            end.requests.push(ts);
        }
    }

    /// When the maker connected whose connection was accepted as the one with a number: they wait in
    /// order (`unix_stream_connect` in `net/unix/af_unix.c`).
    pub(crate) fn request(&self, (socket, number): Request) -> Option<i64> {
        self.ends.get(&socket)?.requests.get(number as usize).copied()
    }

    /// A task wrote to what may be an end.
    #[inline]
    pub(crate) fn written(&mut self, ofd: Ofd, task: u32) {
        if self.last == Some((ofd, task)) {
            return;
        }
        if let Some(end) = self.ends.get_mut(&ofd) {
            if !end.writers.contains(&task) && end.writers.len() < MOST_WRITERS {
                end.writers.push(task);
            }
            self.last = Some((ofd, task));
        }
    }

    pub(crate) fn get(&self, ofd: Ofd) -> Option<&End> {
        self.ends.get(&ofd)
    }

    /// Tasks that wrote what is read from an end, and the one that made it.
    pub(crate) fn writers(&self, ofd: Ofd) -> Option<(&[u32], u32)> {
        let end = self.ends.get(&ofd)?;
        let peer = end.peer.and_then(|peer| self.ends.get(&peer));
        Some((peer.map_or(&[], |peer| &peer.writers), end.maker))
    }

    fn forget_old(&mut self) {
        if self.ends.len() < MOST {
            return;
        }
        // A description that was opened later has a larger number.
        let mut numbers: Vec<u32> = self.ends.keys().map(|&(_, ofd)| ofd).collect();
        let (_, &mut middle, _) = numbers.select_nth_unstable(MOST / 2);
        self.ends.retain(|&(_, ofd), _| ofd >= middle);
        self.ends.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_was_written_at_the_other_end() {
        let mut channels = Channels::default();
        channels.made((1, 10), (1, 11), 7);
        channels.written((1, 11), 8);
        channels.written((1, 11), 8);
        channels.written((1, 11), 9);
        channels.written((1, 12), 9);
        assert_eq!(channels.writers((1, 10)), Some((&[8, 9][..], 7)));
        assert_eq!(channels.writers((1, 11)), Some((&[][..], 7)));
        assert_eq!(channels.writers((1, 12)), None);
    }

    #[test]
    fn connections_are_accepted_in_order() {
        let mut channels = Channels::default();
        channels.binds(7, 3, "/tmp/listener");
        channels.listens((1, 5), 7, (7, Some(3)));
        channels.asked(1, "/tmp/listener", 100);
        channels.asked(1, "/tmp/listener", 200);
        channels.asked(2, "/tmp/listener", 300);
        let times = [0, 1, 2].map(|number| channels.request(((1, 5), number)));
        assert_eq!(times, [Some(100), Some(200), None]);
    }

    #[test]
    fn a_program_that_makes_pipes_for_ever_takes_no_memory_for_ever() {
        let mut channels = Channels::default();
        for ofd in (0..1_000_000).step_by(2) {
            channels.made((1, ofd), (1, ofd + 1), 7);
        }
        assert!(channels.ends.len() <= MOST);
        assert!(channels.get((1, 999_999)).is_some());
    }
}
