//! Sockets by the address of the server: what a client gives to it, and what the server takes from
//! it, are two sides of one node where the log has both.

use crate::hash::HashMap;
use crate::linux::sockets::SocketName;
use crate::tables::flow::nodes::{Kind, Nodes};
use crate::tables::packed::Packed;

/// Addresses of sockets that are remembered.
const MOST_BOUND: usize = 65_536;

/// To what a socket is connected.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Peer {
    /// It connected to this address.
    Server(Box<str>),
    /// It was accepted at the first address, from a client of the second one, without its port.
    Client(Box<str>, Box<str>),
    /// Two sockets of UNIX without an address, by their numbers.
    Pair(Box<str>),
}

#[derive(Debug, Default)]
pub(crate) struct Sockets {
    /// The addresses of sockets that may listen, by the first task of the process that bound them and
    /// its descriptor: accept(2) shows the descriptor of the one that listens, and no more of it.
    bound: HashMap<(u32, i32), Box<str>>,
    peers: HashMap<(u32, Peer), u32>,
}

impl Sockets {
    /// A socket of a process has an address of its own.
    pub(crate) fn bound(&mut self, owner: u32, fd: i32, address: &str) {
        if self.bound.len() >= MOST_BOUND {
            self.bound.clear();
        }
        self.bound.insert((owner, fd), address.into());
    }

    /// The address of a socket of a process.
    pub(crate) fn address(&self, owner: u32, fd: i32) -> Option<&str> {
        self.bound.get(&(owner, fd)).map(AsRef::as_ref)
    }

    fn node(&mut self, nodes: &mut Nodes, source: u32, peer: Peer) -> u32 {
        *self
            .peers
            .entry((source, peer))
            .or_insert_with(|| nodes.push(source, Kind::Socket, Packed::default()))
    }

    /// The node of a socket that is connected to an address.
    pub(crate) fn server(&mut self, nodes: &mut Nodes, source: u32, address: &str) -> u32 {
        self.node(nodes, source, Peer::Server(address.into()))
    }

    /// The node of a connection that a socket accepted which listens at `server`. `name` is what
    /// strace calls its descriptor, `client` the address that accept(2) returned.
    pub(crate) fn accepted(
        &mut self,
        nodes: &mut Nodes,
        source: u32,
        server: Option<&str>,
        name: Option<&str>,
        client: Option<&str>,
    ) -> Option<u32> {
        let shown = name.and_then(SocketName::parse).filter(|name| !name.is_unix());
        let own = shown.and_then(|name| name.other.is_some().then_some(name.own));
        let server = own.or(server)?;
        let client = client.or(shown.and_then(|name| name.other)).map(host).unwrap_or_default();
        let peer = Peer::Client(server.into(), client.into());
        Some(self.node(nodes, source, peer))
    }

    /// The node of a socket by what strace's `-yy` calls it.
    pub(crate) fn shown(&mut self, nodes: &mut Nodes, source: u32, name: &str) -> Option<u32> {
        let name = SocketName::parse(name)?;
        let other = name.other?;
        let peer = if name.is_unix() {
            let (one, two) = if name.own < other { (name.own, other) } else { (other, name.own) };
            Peer::Pair(format!("unix {one}-{two}").into())
        } else {
            Peer::Server(other.into())
        };
        Some(self.node(nodes, source, peer))
    }

    /// Names all sockets, once all rows are in.
    pub(crate) fn finish(&mut self, nodes: &mut Nodes) {
        let servers: Vec<(u32, &str)> = self.of(|peer| match peer {
            Peer::Server(address) => Some(&**address),
            _ => None,
        });
        let listeners: Vec<(u32, &str)> = self.of(|peer| match peer {
            Peer::Client(server, _) => Some(&**server),
            _ => None,
        });
        for ((source, peer), &number) in &self.peers {
            let known = |all: &[(u32, &str)], test: &dyn Fn(&str) -> bool| {
                all.iter()
                    .find(|(one, address)| one == source && test(address))
                    .map(|found| found.1.to_owned())
            };
            let (kind, name) = match peer {
                Peer::Pair(name) => (Kind::Socket, name.to_string()),
                Peer::Server(address) => {
                    let served = known(&listeners, &|server| same_server(server, address));
                    let outside = served.is_none() && !is_path(address);
                    (if outside { Kind::Host } else { Kind::Socket }, address.to_string())
                }
                Peer::Client(server, client) => {
                    let here = |address: &str| {
                        same_server(server, address)
                            && (client.is_empty() || is_local(client) || **client == *host(address))
                    };
                    match known(&servers, &here) {
                        Some(address) => (Kind::Socket, address),
                        None if client.is_empty() => (Kind::Socket, server.to_string()),
                        None => (Kind::Host, client.to_string()),
                    }
                }
            };
            let name = nodes.names.number(&name);
            if let Some(node) = nodes.all.get_mut(number as usize) {
                (node.kind, node.name) = (kind, name.into());
            }
        }
    }

    /// Some addresses of peers, in their order.
    fn of<'a>(&'a self, address: impl Fn(&'a Peer) -> Option<&'a str>) -> Vec<(u32, &'a str)> {
        let found = self.peers.keys().filter_map(|(source, peer)| Some((*source, address(peer)?)));
        let mut found: Vec<_> = found.collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The address without its port.
fn host(address: &str) -> &str {
    match address.rsplit_once(':') {
        Some((host, _)) if !is_path(address) => host,
        _ => address,
    }
}

fn is_path(address: &str) -> bool {
    address.starts_with(['/', '@', '.'])
}

/// Whether an address is one of the loopback network, in which only this machine is.
fn is_local(host: &str) -> bool {
    host.starts_with("127.") || host == "[::1]"
}

/// Whether who listens at `server` is who is reached at `address`.
fn same_server(server: &str, address: &str) -> bool {
    let any = server.strip_prefix("0.0.0.0:").or_else(|| server.strip_prefix("[::]:"));
    match any {
        Some(port) => !is_path(address) && address.rsplit_once(':').is_some_and(|(_, p)| p == port),
        None => server == address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(nodes: &Nodes, node: u32) -> (Option<&'static str>, &str) {
        let node = nodes.get(node).expect("a node");
        (node.kind.text(), nodes.text(node).unwrap_or_default())
    }

    #[test]
    fn both_ends_in_the_log_are_one() {
        let (mut nodes, mut sockets) = (Nodes::default(), Sockets::default());
        sockets.bound(1, 7, "0.0.0.0:80");
        let at = sockets.address(1, 7).map(str::to_owned);
        let at = at.as_deref();
        let client = sockets.server(&mut nodes, 1, "127.0.0.1:80");
        let server = sockets.accepted(&mut nodes, 1, at, None, Some("127.0.0.1:4000"));
        let other = sockets.accepted(&mut nodes, 1, at, None, Some("10.0.0.9:4000"));
        sockets.finish(&mut nodes);
        assert_eq!(found(&nodes, client), (Some("socket"), "127.0.0.1:80"));
        assert_eq!(server.map(|node| found(&nodes, node)), Some((Some("socket"), "127.0.0.1:80")));
        assert_eq!(other.map(|node| found(&nodes, node)), Some((Some("host"), "10.0.0.9")));
    }

    #[test]
    fn one_end_is_a_host() {
        let (mut nodes, mut sockets) = (Nodes::default(), Sockets::default());
        let client = sockets.shown(&mut nodes, 1, "TCP:[10.0.0.1:5->10.0.0.2:443]");
        let log = sockets.server(&mut nodes, 1, "/dev/log");
        sockets.finish(&mut nodes);
        assert_eq!(client.map(|node| found(&nodes, node)), Some((Some("host"), "10.0.0.2:443")));
        assert_eq!(found(&nodes, log), (Some("socket"), "/dev/log"));
    }
}
