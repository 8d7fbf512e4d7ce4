//! Stream sockets: their addresses, and which is connected to which.
//!
//! Two sockets are the ends of one connection if the log shows the same names for both: with
//! strace's `-yy` the numbers of two UNIX sockets or the addresses at both ends, otherwise the
//! address that accept(2) returned and that of the client. Without them the order of connect(2) and
//! accept(2) suggests who is connected to whom, which proves nothing.

use std::collections::VecDeque;

use crate::hash::HashMap;
use crate::tables::waits::arguments::Limit;
use crate::tables::waits::world::acts::Act;
use crate::tables::waits::world::descriptors::Ofd;
use crate::tables::waits::world::ends::{Ends, Kind};

/// Connections of a listening socket that wait for their other end in the log.
const MOST_QUEUED: usize = 64;

/// What only a socket has.
#[derive(Debug, Clone, Default)]
pub(crate) struct Socket {
    /// Its own address, and that of the other end.
    pub(crate) local: Option<Box<str>>,
    pub(crate) remote: Option<Box<str>>,
    /// It is one of TCP.
    pub(crate) inet: bool,
    /// accept(2) made it.
    pub(crate) accepted: bool,
    /// How long calls on it may wait to take, and to give.
    pub(crate) takes_for: Limit,
    pub(crate) gives_for: Limit,
    /// shutdown(2) ended one direction.
    pub(crate) shut_take: bool,
    pub(crate) shut_give: bool,
    /// strace showed both ends of its connection.
    pub(crate) shown: bool,
    /// The call that connected it.
    pub(crate) connected: Option<Act>,
    /// The wait that ended with this connection, whose client is not known yet.
    pub(crate) accepted_in: Option<u32>,
    /// The names that only it has.
    names: Vec<Box<str>>,
    /// The socket that listens for it.
    listening: Option<Ofd>,
    /// Of a listening socket: how many may wait to be accepted; others may have its address, too.
    pub(crate) backlog: Option<i64>,
    pub(crate) shares_address: bool,
    /// Of a listening socket: when a connection was last accepted.
    last_accept: Option<i64>,
    /// Of a listening socket: clients whose connection was not accepted.
    clients: VecDeque<Ofd>,
    /// Of a listening socket: accepted connections without a client, and when they were accepted.
    servers: VecDeque<(Ofd, i64)>,
}

/// Sockets by name, and those that listen by address; each by source.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sockets {
    named: HashMap<(u32, Box<str>), Vec<Ofd>>,
    listening: HashMap<(u32, Box<str>), Vec<Ofd>>,
    /// Some tasks have a network of their own (`CLONE_NEWNET` in clone(2)), in which the same
    /// addresses are those of other sockets.
    pub(crate) several_networks: bool,
}

impl Socket {
    /// One that is not connected.
    pub(crate) fn new(inet: bool) -> Self {
        Self { inet, ..Self::default() }
    }
}

fn take_out(map: &mut HashMap<(u32, Box<str>), Vec<Ofd>>, key: &(u32, Box<str>), ofd: Ofd) {
    if let Some(all) = map.get_mut(key) {
        all.retain(|&one| one != ofd);
        if all.is_empty() {
            map.remove(key);
        }
    }
}

impl Sockets {
    /// A socket was closed.
    pub(crate) fn forget(&mut self, ofd: Ofd, socket: &mut Socket) {
        for name in socket.names.drain(..) {
            take_out(&mut self.named, &(ofd.0, name), ofd);
        }
        if let Some(local) = &socket.local {
            take_out(&mut self.listening, &(ofd.0, listening_at(local)), ofd);
        }
    }
}

/// The address under which a listening socket is found: all of this machine are one.
fn listening_at(address: &str) -> Box<str> {
    let any = address.strip_prefix("0.0.0.0:").or_else(|| address.strip_prefix("[::]:"));
    any.map_or_else(|| address.into(), |port| format!("*:{port}").into())
}

/// The port of an address, or the whole of one that has none.
fn port(address: &str) -> &str {
    match address.rsplit_once(':') {
        Some((_, port)) if !is_path(address) => port,
        _ => address,
    }
}

/// Whether only sockets of this machine can have an address.
fn is_of_this_machine(address: &str) -> bool {
    address.starts_with(['/', '@']) || address.starts_with("127.") || address.starts_with("[::1]:")
}

fn is_path(address: &str) -> bool {
    address.starts_with(['/', '@', '.'])
}

impl Ends {
    /// A socket has a name that no other open one has; `other` is that of its other end.
    pub(crate) fn name_socket(&mut self, ofd: Ofd, own: String, other: Option<String>, sure: bool) {
        let Some(socket) = self.get_mut(ofd).and_then(|end| end.socket.as_deref_mut()) else {
            return;
        };
        let own: Box<str> = own.into();
        if !socket.names.contains(&own) {
            socket.names.push(own.clone());
            self.sockets.named.entry((ofd.0, own.clone())).or_default().push(ofd);
        }
        let alone = self.sockets.named.get(&(ofd.0, own));
        if let Some(several) = alone.filter(|all| all.len() > 1).cloned() {
            // One socket with two descriptions: a message brought it.
            for one in several {
                self.is_unsure(one);
            }
            return;
        }
        let other = other.map(|other| (ofd.0, other.into_boxed_str()));
        let found = other.and_then(|other| self.sockets.named.get(&other)).map(Vec::as_slice);
        if let Some(&[peer]) = found {
            self.join(ofd, peer, sure && !self.sockets.several_networks);
        }
    }

    fn is_unsure(&mut self, ofd: Ofd) {
        let Some(end) = self.get_mut(ofd) else { return };
        end.unsure = true;
        if let Some(peer) = end.peer.and_then(|peer| self.get_mut(peer)) {
            peer.unsure = true;
        }
    }

    /// Two sockets are the ends of one connection, or the log suggests it.
    pub(crate) fn join(&mut self, one: Ofd, other: Ofd, sure: bool) {
        let kinds = self.get(one).zip(self.get(other));
        let Some((a, b)) = kinds.filter(|_| one != other) else { return };
        let (peers, kinds) = ((a.peer, b.peer), [a.kind, b.kind]);
        if !sure {
            if peers != (None, None) {
                return;
            }
        } else if kinds.contains(&Kind::Connection) {
            if peers != (Some(other), Some(one)) {
                self.is_unsure(one);
                self.is_unsure(other);
            }
            return;
        }
        for guessed in [peers.0, peers.1].into_iter().flatten() {
            if let Some(end) = self.get_mut(guessed) {
                end.peer = None;
            }
        }
        let known = sure && kinds == [Kind::Socket; 2];
        for (ofd, peer) in [(one, other), (other, one)] {
            let Some(end) = self.get_mut(ofd) else { continue };
            end.peer = Some(peer);
            if known {
                end.kind = Kind::Connection;
            }
            let listening = end.socket.as_deref_mut().and_then(|socket| socket.listening.take());
            if let Some(queue) = listening.and_then(|ofd| self.socket_mut(ofd)) {
                queue.clients.retain(|&client| client != ofd);
                queue.servers.retain(|&(server, _)| server != ofd);
            }
        }
    }

    pub(crate) fn socket(&self, ofd: Ofd) -> Option<&Socket> {
        self.get(ofd)?.socket.as_deref()
    }

    pub(crate) fn socket_mut(&mut self, ofd: Ofd) -> Option<&mut Socket> {
        self.get_mut(ofd)?.socket.as_deref_mut()
    }

    /// The addresses at both ends of a socket are known, or one of them.
    pub(crate) fn addressed(&mut self, ofd: Ofd) {
        let Some(end) = self.get(ofd) else { return };
        let Some(socket) = end.socket.as_deref() else { return };
        if end.kind == Kind::Listening {
            let Some(local) = &socket.local else { return };
            let all = self.sockets.listening.entry((ofd.0, listening_at(local))).or_default();
            if !all.contains(&ofd) {
                all.push(ofd);
            }
            return;
        }
        let Some((local, remote)) = socket.local.as_deref().zip(socket.remote.as_deref()) else {
            return;
        };
        // A server may listen at all addresses, so of its own only the port counts.
        let name =
            |role: &str, client: &str, server: &str| format!("{role} {client} to {}", port(server));
        let (own, other) = if socket.accepted {
            (name("server", remote, local), name("client", remote, local))
        } else {
            (name("client", local, remote), name("server", local, remote))
        };
        self.name_socket(ofd, own, Some(other), true);
    }

    /// A bound socket listens: listen(2).
    pub(crate) fn listens(&mut self, ofd: Ofd) {
        let Some(end) = self.get_mut(ofd).filter(|end| end.kind == Kind::Socket) else { return };
        (end.kind, end.peer) = (Kind::Listening, Some(ofd));
        self.addressed(ofd);
    }

    /// The sockets that listen at an address. A relative path is no address: it depends on where
    /// who uses it is.
    pub(crate) fn listening_at(&self, source: u32, address: &str) -> Vec<Ofd> {
        if address.starts_with('.') {
            return Vec::new();
        }
        let at = |address: Box<str>| self.sockets.listening.get(&(source, address));
        let any = (!is_path(address)).then(|| at(format!("*:{}", port(address)).into())).flatten();
        at(address.into()).into_iter().chain(any).flatten().copied().collect()
    }

    /// A client connected, or began to: it waits in the queue of who listens. `done`: it is connected.
    pub(crate) fn connected(&mut self, ofd: Ofd, listening: &[Ofd], act: Act, done: bool) {
        if let Some(socket) = self.socket_mut(ofd) {
            socket.connected = Some(act);
        }
        for &one in listening {
            if let Some(end) = self.get_mut(one) {
                end.gave.push(act);
            }
        }
        let ([listening], false) = (listening, self.get(ofd).is_none_or(|end| end.peer.is_some()))
        else {
            return;
        };
        let Some(queue) = self.socket_mut(*listening) else { return };
        // Its connection may have been accepted before its call returned.
        let after: Vec<_> = queue.servers.iter().filter(|&&(_, end)| end >= act.ts).collect();
        if let [&(server, _)] = after[..] {
            return self.join(ofd, server, false);
        }
        let earlier = queue.last_accept.is_none_or(|last| last < act.ts);
        // With more, a connection may fail after a while: `tcp_abort_on_overflow` in tcp(7).
        let room = queue.backlog.is_some_and(|most| (queue.clients.len() as i64) <= most);
        let queued = done && earlier && room && !queue.shares_address;
        if queue.clients.len() == MOST_QUEUED {
            queue.clients.pop_front();
        }
        queue.clients.push_back(ofd);
        let networks = self.sockets.several_networks;
        let Some(end) = self.get_mut(ofd) else { return };
        let Some(socket) = end.socket.as_deref_mut() else { return };
        socket.listening = Some(*listening);
        let here = socket.remote.as_deref().is_some_and(is_of_this_machine);
        if queued && here && !networks && end.kind == Kind::Socket {
            (end.kind, end.peer) = (Kind::Queued, Some(*listening));
        }
    }

    /// Somebody accepts a connection: it may be that of any client in the queue.
    pub(crate) fn accepts(&mut self, listening: Ofd, at: i64) {
        let Some(queue) = self.socket_mut(listening) else { return };
        queue.last_accept = queue.last_accept.max(Some(at));
        let clients: Vec<Ofd> = queue.clients.iter().copied().collect();
        for client in clients {
            if let Some(end) = self.get_mut(client).filter(|end| end.kind == Kind::Queued) {
                (end.kind, end.peer) = (Kind::Socket, None);
            }
        }
    }

    /// A connection was accepted from the queue of a listening socket at `end`.
    pub(crate) fn accepted(&mut self, ofd: Ofd, listening: Ofd, end: i64) {
        if self.get(ofd).is_none_or(|end| end.peer.is_some()) {
            return;
        }
        let Some(queue) = self.socket_mut(listening) else { return };
        let alone = queue.clients.len() == 1;
        // The first in the queue is the first to be accepted.
        let client = queue.clients.pop_front();
        if client.is_none() {
            if queue.servers.len() == MOST_QUEUED {
                queue.servers.pop_front();
            }
            queue.servers.push_back((ofd, end));
            if let Some(socket) = self.socket_mut(ofd) {
                socket.listening = Some(listening);
            }
        }
        if let Some(client) = client.filter(|_| alone) {
            self.join(ofd, client, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::waits::world::ends::End;

    const CLIENT: Ofd = (0, 1);
    const SERVER: Ofd = (0, 2);
    const OTHER: Ofd = (0, 3);

    fn act(ts: i64) -> Act {
        Act { task: 1, line: 1, ts, end: ts }
    }

    fn ends() -> Ends {
        let mut ends = Ends::default();
        for ofd in [CLIENT, SERVER, OTHER] {
            let accepted = ofd == SERVER;
            ends.insert(ofd, End::socket(Socket { accepted, ..Socket::default() }, 1));
        }
        ends
    }

    fn address(ends: &mut Ends, ofd: Ofd, local: &str, remote: &str) {
        let socket = ends.socket_mut(ofd).expect("a socket");
        (socket.local, socket.remote) = (Some(local.into()), Some(remote.into()));
        ends.addressed(ofd);
    }

    fn peer(ends: &Ends, ofd: Ofd) -> Option<(Ofd, Kind)> {
        let end = ends.get(ofd)?;
        Some((end.peer?, end.kind))
    }

    #[test]
    fn addresses_prove_a_connection() {
        let mut ends = ends();
        address(&mut ends, SERVER, "0.0.0.0:80", "127.0.0.1:4000");
        address(&mut ends, OTHER, "127.0.0.1:4001", "127.0.0.1:80");
        assert_eq!(peer(&ends, SERVER), None);
        address(&mut ends, CLIENT, "127.0.0.1:4000", "127.0.0.1:80");
        assert_eq!(peer(&ends, SERVER), Some((CLIENT, Kind::Connection)));
        assert_eq!(peer(&ends, CLIENT), Some((SERVER, Kind::Connection)));
        ends.remove(CLIENT);
        ends.remove(SERVER);
        ends.remove(OTHER);
        assert!(ends.sockets.named.is_empty());
    }

    #[test]
    fn addresses_of_several_networks_prove_nothing() {
        let mut ends = ends();
        ends.sockets.several_networks = true;
        address(&mut ends, SERVER, "0.0.0.0:80", "127.0.0.1:4000");
        address(&mut ends, CLIENT, "127.0.0.1:4000", "127.0.0.1:80");
        assert_eq!(peer(&ends, SERVER), Some((CLIENT, Kind::Socket)));
    }

    #[test]
    fn a_socket_with_two_descriptions_proves_nothing() {
        let mut ends = ends();
        ends.name_socket(CLIENT, "unix 5".into(), None, true);
        ends.name_socket(OTHER, "unix 5".into(), None, true);
        ends.name_socket(SERVER, "unix 6".into(), Some("unix 5".into()), true);
        assert_eq!(peer(&ends, SERVER), None);
        assert!(ends.get(CLIENT).is_some_and(|end| end.unsure));
    }

    #[test]
    fn the_order_of_a_queue_is_a_guess() {
        let mut ends = ends();
        ends.socket_mut(OTHER).expect("a socket").local = Some("[::]:80".into());
        ends.listens(OTHER);
        let listening = ends.listening_at(0, "127.0.0.1:80");
        assert_eq!(listening, [OTHER]);
        assert!(ends.listening_at(0, "127.0.0.1:81").is_empty());
        ends.connected(CLIENT, &listening, act(5), true);
        ends.accepted(SERVER, OTHER, 7);
        assert_eq!(peer(&ends, SERVER), Some((CLIENT, Kind::Socket)));
        // Their addresses prove it.
        address(&mut ends, SERVER, "0.0.0.0:80", "127.0.0.1:4000");
        address(&mut ends, CLIENT, "127.0.0.1:4000", "127.0.0.1:80");
        assert_eq!(peer(&ends, CLIENT), Some((SERVER, Kind::Connection)));
        ends.remove(OTHER);
        assert!(ends.listening_at(0, "127.0.0.1:80").is_empty());
    }

    #[test]
    fn of_two_in_a_queue_nobody_knows_which() {
        let mut ends = ends();
        let fourth = (0, 4);
        ends.insert(fourth, End::socket(Socket::default(), 1));
        ends.listens(fourth);
        ends.connected(CLIENT, &[fourth], act(5), true);
        ends.connected(OTHER, &[fourth], act(6), true);
        ends.accepted(SERVER, fourth, 7);
        assert_eq!(peer(&ends, SERVER), None);
    }

    #[test]
    fn an_accept_may_return_before_the_connect() {
        let mut ends = ends();
        ends.listens(OTHER);
        ends.accepted(SERVER, OTHER, 7);
        // Who began later is not whose connection was accepted.
        ends.connected(CLIENT, &[OTHER], act(8), true);
        assert_eq!(peer(&ends, CLIENT), None);
        ends.connected(CLIENT, &[OTHER], act(6), true);
        assert_eq!(peer(&ends, CLIENT), Some((SERVER, Kind::Socket)));
    }
}
