//! Ends of pipes and socket pairs, and what else descriptors lead to that tasks wait for.

use crate::hash::HashMap;
use crate::tables::waits::arguments::Limit;
use crate::tables::waits::wait::On;
use crate::tables::waits::world::acts::{Act, Acts};
use crate::tables::waits::world::descriptors::Ofd;
use crate::tables::waits::world::epoll::EpollSet;
use crate::tables::waits::world::fifos::{Fifo, Fifos};
use crate::tables::waits::world::sockets::{Socket, Sockets};

/// Tasks that gave through an end which are remembered.
const MOST_GIVERS: usize = 64;

/// What an open file description is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Pipe,
    /// A FIFO: each side of it, and each description that is open on one.
    Fifo,
    Pair,
    Eventfd,
    Timerfd,
    Epoll,
    /// A file with a lock.
    File,
    /// A stream socket: connected to nobody whom the log shows, or the log does not prove to whom.
    Socket,
    /// One that listens; it is its own peer.
    Listening,
    /// One whose connection nobody has accepted: it waits in the queue of its peer, which listens.
    Queued,
    /// One of whose connection the log shows both ends.
    Connection,
    /// A pipe or socket that is older than the log, or comes from elsewhere.
    Foreign,
}

impl Kind {
    /// Whether the log proves what the other end is.
    pub(crate) fn shows_peer(self) -> bool {
        !matches!(self, Self::Foreign | Self::Socket | Self::Listening | Self::Queued)
    }
}

/// An end, or what has only one.
#[derive(Debug, Clone)]
pub(crate) struct End {
    pub(crate) kind: Kind,
    /// Where what is given here is taken; itself for an eventfd.
    pub(crate) peer: Option<Ofd>,
    /// As the log calls it: `pipe:[219782]`.
    pub(crate) name: Option<Box<str>>,
    /// The line of the call that made it.
    pub(crate) line: u64,
    /// Calls on it do not wait.
    pub(crate) nonblocking: bool,
    /// Somebody may hold it whom the log does not show: it was sent through a socket.
    pub(crate) unsure: bool,
    pub(crate) gave: Acts,
    pub(crate) took: Acts,
    /// Bytes given less those taken at the other end, if all are known.
    pub(crate) given: i64,
    pub(crate) taken: i64,
    /// Tasks that gave.
    pub(crate) givers: Vec<u32>,
    /// The last task that died while it held the end, and the line.
    pub(crate) lost: Option<(u32, u64)>,
    /// When a signal last killed one that held it.
    pub(crate) killed: Option<i64>,
    /// The epoll sets that watch it.
    pub(crate) watched_by: Vec<Ofd>,
    /// What only a socket has.
    pub(crate) socket: Option<Box<Socket>>,
    /// What only a FIFO has.
    pub(crate) fifo: Option<Box<Fifo>>,
    /// What only an epoll set has.
    pub(crate) set: Option<Box<EpollSet>>,
    /// The file, if it is older than the log.
    foreign: Option<u64>,
}

impl End {
    pub(crate) fn new(kind: Kind, peer: Option<Ofd>, line: u64) -> Self {
        Self {
            kind,
            peer,
            name: None,
            line,
            nonblocking: false,
            unsure: false,
            gave: Acts::default(),
            took: Acts::default(),
            given: 0,
            taken: 0,
            givers: Vec::new(),
            lost: None,
            killed: None,
            watched_by: Vec::new(),
            socket: None,
            fifo: None,
            set: None,
            foreign: None,
        }
    }

    /// A socket that a call on `line` made.
    pub(crate) fn socket(socket: Socket, line: u64) -> Self {
        Self { socket: Some(Box::new(socket)), ..Self::new(Kind::Socket, None, line) }
    }

    /// How long a call on it may wait to take or to give: `SO_RCVTIMEO`, `SO_SNDTIMEO` in socket(7).
    pub(crate) fn limit(&self, take: bool) -> Limit {
        let socket = self.socket.as_deref();
        socket.map_or(Limit::None, |socket| if take { socket.takes_for } else { socket.gives_for })
    }

    /// Whether no other socket can have the address of one that listens. A path can be removed, and
    /// be that of another socket: unix(7).
    pub(crate) fn is_named_for_sure(&self) -> bool {
        self.socket.as_deref().is_some_and(|socket| {
            !socket.shares_address
                && socket.local.as_deref().is_some_and(|address| !address.starts_with('/'))
        })
    }

    /// Calls that take from it return at once, as those that give to the other end fail.
    pub(crate) fn takes_no_more(&self) -> bool {
        self.socket.as_deref().is_some_and(|socket| socket.shut_take)
    }

    /// Calls that give to it fail, as those that take from the other end return at once.
    pub(crate) fn gives_no_more(&self) -> bool {
        self.socket.as_deref().is_some_and(|socket| socket.shut_give)
    }

    pub(crate) fn on(&self) -> On {
        let named_pipe = || self.name.as_deref().is_some_and(|name| name.starts_with("pipe"));
        match self.kind {
            Kind::Pipe | Kind::Fifo => On::Pipe,
            Kind::Eventfd => On::Eventfd,
            Kind::Timerfd => On::Timer,
            Kind::Epoll => On::Other,
            Kind::File => On::Disk,
            Kind::Foreign if named_pipe() => On::Pipe,
            Kind::Pair
            | Kind::Socket
            | Kind::Listening
            | Kind::Queued
            | Kind::Connection
            | Kind::Foreign => On::Socket,
        }
    }

    pub(crate) fn gave(&mut self, act: Act, bytes: i64) {
        self.gave.push(act);
        self.given = self.given.saturating_add(bytes);
        if self.givers.len() < MOST_GIVERS && !self.givers.contains(&act.task) {
            self.givers.push(act.task);
        }
    }

    pub(crate) fn took(&mut self, act: Act, bytes: i64) {
        self.took.push(act);
        self.taken = self.taken.saturating_add(bytes);
    }
}

/// All ends.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ends {
    all: HashMap<Ofd, End>,
    /// Ends of what is older than the log, by source and file.
    foreign: HashMap<(u32, u64), Vec<Ofd>>,
    /// Some are files with locks.
    files: bool,
    pub(crate) sockets: Sockets,
    pub(crate) fifos: Fifos,
}

impl Ends {
    pub(crate) fn get(&self, ofd: Ofd) -> Option<&End> {
        self.all.get(&ofd)
    }

    pub(crate) fn get_mut(&mut self, ofd: Ofd) -> Option<&mut End> {
        self.all.get_mut(&ofd)
    }

    pub(crate) fn insert(&mut self, ofd: Ofd, end: End) {
        self.files |= end.kind == Kind::File;
        self.all.insert(ofd, end);
    }

    /// Whether a file had a lock, so that its descriptions are among the ends.
    pub(crate) fn has_files(&self) -> bool {
        self.files
    }

    /// An end that the log did not see made; two with one file are each other's peers.
    pub(crate) fn foreign(
        &mut self,
        ofd: Ofd,
        (file, is_socket): (Option<u64>, bool),
        name: Option<&str>,
        line: u64,
    ) {
        if self.all.contains_key(&ofd) {
            return;
        }
        let mut end = End::new(Kind::Foreign, None, line);
        end.name = name.map(Into::into);
        end.unsure = true;
        // The ends of a pipe are one file, those of a connection are two.
        if is_socket {
            end.socket = Some(Box::default());
        } else if let Some(file) = file {
            let known = self.foreign.entry((ofd.0, file)).or_default();
            end.peer = known.last().copied();
            if let Some(peer) = end.peer.and_then(|peer| self.all.get_mut(&peer)) {
                peer.peer = Some(ofd);
            }
            known.push(ofd);
            end.foreign = Some(file);
            if known.len() > 8 {
                known.remove(0);
            }
        }
        self.all.insert(ofd, end);
    }

    pub(crate) fn remove(&mut self, ofd: Ofd) {
        self.forget(ofd);
        let file = self.all.remove(&ofd).and_then(|end| end.foreign);
        if let Some(key) = file.map(|file| (ofd.0, file))
            && let Some(known) = self.foreign.get_mut(&key)
        {
            known.retain(|&one| one != ofd);
            if known.is_empty() {
                self.foreign.remove(&key);
            }
        }
    }

    /// Nobody holds an end any more: epoll sets no longer watch it (epoll(7)), and its names may
    /// become those of another one.
    pub(crate) fn forget(&mut self, ofd: Ofd) {
        let Some(end) = self.all.get_mut(&ofd) else { return };
        let sets = std::mem::take(&mut end.watched_by);
        if let Some(socket) = end.socket.as_deref_mut() {
            self.sockets.forget(ofd, socket);
        }
        for set in sets {
            if let Some(set) = self.all.get_mut(&set).and_then(|set| set.set.as_deref_mut()) {
                set.forget(ofd);
            }
        }
    }

    /// Where a task that waits to take from `ofd` gets its data from.
    pub(crate) fn source_of(&self, ofd: Ofd) -> Option<(Ofd, &End)> {
        let peer = self.get(ofd)?.peer?;
        Some((peer, self.get(peer)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_older_than_the_log_leaves_nothing_when_it_is_closed() {
        let mut ends = Ends::default();
        for ofd in [(1, 5), (1, 6)] {
            ends.foreign(ofd, (Some(7), false), None, 1);
        }
        assert_eq!(ends.source_of((1, 6)).map(|(peer, _)| peer), Some((1, 5)));
        ends.remove((1, 5));
        ends.foreign((1, 8), (Some(7), false), None, 2);
        assert_eq!(ends.source_of((1, 8)).map(|(peer, _)| peer), Some((1, 6)));
        ends.remove((1, 6));
        ends.remove((1, 8));
        assert!(ends.foreign.is_empty() && ends.all.is_empty());
    }
}
