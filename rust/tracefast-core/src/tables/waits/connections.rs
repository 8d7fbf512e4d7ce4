//! Calls on sockets: what they are called, who connects to whom, what ends.

use crate::linux::sockets::SocketName;
use crate::tables::waits::arguments::{Arguments, address, option_time};
use crate::tables::waits::changes::{inner_name, made};
use crate::tables::waits::fold::{At, Columns, Waits};
use crate::tables::waits::wait::Waker;
use crate::tables::waits::word_classes::{Act, Fault};
use crate::tables::waits::world::descriptors::Ofd;
use crate::tables::waits::world::ends::{End, Kind};
use crate::tables::waits::world::sockets::Socket;

impl Waits {
    /// A call on a socket that returned; `descriptor` is what the call acts on, or made.
    pub(crate) fn on_socket(
        &mut self,
        columns: &mut Columns<'_>,
        at: &At<'_>,
        table: u32,
        (fd, made_ofd): (Option<i32>, Option<Ofd>),
    ) {
        let held = fd.and_then(|fd| self.world.tables.descriptor(table, fd)).map(|one| one.ofd);
        let arguments = Arguments::new(at.args, at.ftrace);
        let returned = at.ret == Some(0);
        match at.act {
            Act::Socket => {
                // Nobody is connected by one that sends datagrams alone.
                let streams = ["SOCK_STREAM", "SOCK_SEQPACKET"];
                let made = made_ofd.zip(fd).filter(|_| at.ret.is_some_and(|ret| ret >= 0));
                let Some((ofd, fd)) = made else { return };
                if streams.iter().any(|word| at.args.contains(word)) {
                    let inet = at.args.starts_with("AF_INET");
                    self.insert_socket(at, table, (fd, ofd), Socket::new(inet));
                    self.shows(ofd, columns.0.path.get(at.row));
                }
            }
            Act::Accept => self.accepts(columns, at, table, fd.zip(made_ofd)),
            Act::Connect => self.connects(columns, at, held),
            Act::Bind | Act::OwnAddress | Act::PeerAddress if returned => {
                let Some(ofd) = held else { return };
                let Some(socket) = self.world.ends.socket_mut(ofd) else { return };
                let shown = arguments.at(1).and_then(address);
                // The kernel chooses the port: ip(7).
                let shown = shown.filter(|shown| !shown.ends_with(":0"));
                match (at.act, shown) {
                    (Act::PeerAddress, Some(shown)) => socket.remote = Some(shown.into()),
                    (_, Some(shown)) => socket.local = Some(shown.into()),
                    _ => return,
                }
                self.world.ends.addressed(ofd);
            }
            Act::Listen if returned => {
                let Some(ofd) = held else { return };
                if let Some(end) = self.world.ends.get_mut(ofd)
                    && let Some(name) = inner_name(at.args)
                {
                    end.name = Some(name.into());
                }
                if let Some(socket) = self.world.ends.socket_mut(ofd) {
                    socket.backlog = arguments.number(1);
                }
                self.world.ends.listens(ofd);
            }
            Act::SetOption if returned => {
                let Some(socket) = held.and_then(|ofd| self.world.ends.socket_mut(ofd)) else {
                    return;
                };
                let option = arguments.at(2).unwrap_or_default();
                let time = || option_time(arguments.at(3).unwrap_or_default());
                if option.starts_with("SO_RCVTIMEO") {
                    socket.takes_for = time();
                } else if option.starts_with("SO_SNDTIMEO") {
                    socket.gives_for = time();
                } else if option == "SO_REUSEPORT" || option == "0xf" {
                    socket.shares_address = true;
                }
            }
            Act::Shutdown if returned => {
                if let Some(ofd) = held {
                    self.shuts(at, ofd, arguments.at(1).unwrap_or_default());
                }
            }
            _ => {}
        }
    }

    fn insert_socket(&mut self, at: &At<'_>, table: u32, (fd, ofd): (i32, Ofd), socket: Socket) {
        let mut end = End::socket(socket, at.line);
        end.nonblocking = at.args.contains("NONBLOCK");
        self.world.ends.insert(ofd, end);
        self.world.tables.insert(table, fd, made(at, ofd));
    }

    /// A descriptor that is not known to be connected appears with its name: with `-yy` strace
    /// shows both ends of a connection.
    pub(crate) fn shows(&mut self, ofd: Ofd, name: Option<&str>) {
        let Some(socket) = self.world.ends.socket(ofd).filter(|socket| !socket.shown) else {
            return;
        };
        let Some(name) = name else { return };
        let Some((own, other)) = both_names(name) else { return };
        if other.is_none() && !socket_is_new(socket) {
            return;
        }
        let shown = other.is_some();
        if let Some(end) = self.world.ends.get_mut(ofd).filter(|_| shown) {
            end.name = Some(name.into());
            if let Some(socket) = end.socket.as_deref_mut() {
                socket.shown = true;
            }
        }
        self.world.ends.name_socket(ofd, own, other, true);
        // The other end may wait in a call that began before it had this name.
        if let Some(SocketName { protocol, own, other: Some(other) }) = SocketName::parse(name)
            && let Some(end) = self.world.ends.get(ofd).filter(|end| end.kind == Kind::Connection)
            && let Some(peer) = end.peer.and_then(|peer| self.world.ends.get_mut(peer))
            && peer.socket.as_deref().is_some_and(|socket| !socket.shown)
        {
            peer.name = Some(format!("{protocol}:[{other}->{own}]").into());
        }
    }

    fn accepts(
        &mut self,
        columns: &mut Columns<'_>,
        at: &At<'_>,
        table: u32,
        made: Option<(i32, Ofd)>,
    ) {
        let Some((fd, ofd)) = made.filter(|_| at.ret.is_some_and(|ret| ret >= 0)) else { return };
        let listening = self.listening(columns, at);
        let listener = listening.and_then(|ofd| self.world.ends.socket(ofd));
        let mut socket = Socket::new(false);
        socket.accepted = true;
        if let Some(listener) = listener {
            (socket.inet, socket.local) = (listener.inet, listener.local.clone());
            if listener.inet {
                // The kernel copies the socket: sk_clone_lock() in net/core/sock.c.
                (socket.takes_for, socket.gives_for) = (listener.takes_for, listener.gives_for);
            }
        }
        let arguments = Arguments::new(at.args, at.ftrace);
        socket.remote = arguments.at(1).and_then(address).map(Into::into);
        let inet = socket.inet;
        if let Some(listening) = listening {
            self.world.ends.accepts(listening, at.end().unwrap_or(0));
        }
        self.insert_socket(at, table, (fd, ofd), socket);
        self.shows(ofd, columns.0.path.get(at.row));
        self.world.ends.addressed(ofd);
        if let Some(listening) = listening {
            self.world.ends.accepted(ofd, listening, at.end().unwrap_or(0));
            if !inet && let Some(end) = self.world.ends.get_mut(listening) {
                // There is room in the queue for who waits in connect.
                end.took.push(at.as_act());
                let act = at.as_act();
                self.late.acted(&mut self.rows, &self.world, listening, false, act);
            }
        }
    }

    /// The listening socket of a call of accept(2).
    pub(crate) fn listening(&self, columns: &Columns<'_>, at: &At<'_>) -> Option<Ofd> {
        let fd = Self::accepts_from(columns, at)?;
        let table = self.world.task(at.task)?.table;
        Some(self.world.tables.descriptor(table, fd)?.ofd)
    }

    /// The descriptor from which accept(2) takes a connection.
    pub(crate) fn accepts_from(columns: &Columns<'_>, at: &At<'_>) -> Option<i32> {
        let shown = || i32::try_from(Arguments::new(at.args, at.ftrace).number(0)?).ok();
        columns.1.fd[1].get(at.row).or_else(shown)
    }

    /// Where connect(2) connects to: the sockets that listen there.
    pub(crate) fn listening_for(&self, at: &At<'_>) -> Vec<Ofd> {
        let arguments = Arguments::new(at.args, at.ftrace);
        let address = arguments.at(1).and_then(address);
        address.map_or_else(Vec::new, |address| self.world.ends.listening_at(at.source, &address))
    }

    fn connects(&mut self, columns: &mut Columns<'_>, at: &At<'_>, ofd: Option<Ofd>) {
        let fault = columns.1.fault.get(at.row, Fault::from_errno);
        if at.ret != Some(0) && fault != Some(Fault::InProgress) {
            return;
        }
        let Some(ofd) = ofd else { return };
        let arguments = Arguments::new(at.args, at.ftrace);
        if at.args.contains("AF_UNSPEC") {
            // It is no longer connected: connect(2).
            if let Some(end) = self.world.ends.get_mut(ofd) {
                end.unsure = true;
            }
            return;
        }
        let Some(socket) = self.world.ends.socket_mut(ofd) else { return };
        socket.remote = arguments.at(1).and_then(address).map(Into::into);
        self.world.ends.addressed(ofd);
        let listening = self.listening_for(at);
        self.world.ends.connected(ofd, &listening, at.as_act(), at.ret == Some(0));
        for one in listening {
            self.late.acted(&mut self.rows, &self.world, one, true, at.as_act());
        }
        let peer = self.world.ends.get(ofd).and_then(|end| end.peer);
        let Some(peer) = peer.and_then(|peer| self.world.ends.get_mut(peer)) else { return };
        let known = peer.kind.shows_peer();
        let number = peer.socket.as_deref_mut().and_then(|socket| socket.accepted_in.take());
        if let Some(wait) = number.and_then(|number| self.rows.get_mut(number as usize))
            && wait.waker.is_none()
            && wait.task != at.task
        {
            wait.waker = Some(Waker { task: at.task, line: at.line, exact: known });
        }
    }

    /// Who ended the wait of accept(2): whoever connected.
    pub(crate) fn client(&mut self, at: &At<'_>, ofd: Option<Ofd>, number: u32) -> Option<Waker> {
        let ofd = ofd?;
        let end = self.world.ends.get(ofd)?;
        let exact = end.kind.shows_peer();
        let act = end.peer.and_then(|peer| self.world.ends.socket(peer)?.connected);
        let Some(act) = act else {
            self.world.ends.socket_mut(ofd)?.accepted_in = Some(number);
            return None;
        };
        // Who connected before it began to wait did not make it wait.
        let within = at.ts.is_some_and(|ts| act.end >= ts) && act.task != at.task;
        within.then_some(Waker { task: act.task, line: act.line, exact })
    }

    fn shuts(&mut self, at: &At<'_>, ofd: Ofd, how: &str) {
        let (take, give) = match how {
            "SHUT_RD" | "0 /* SHUT_RD */" => (true, false),
            "SHUT_WR" | "1 /* SHUT_WR */" => (false, true),
            _ => (true, true),
        };
        let Some(end) = self.world.ends.get_mut(ofd) else { return };
        let peer = end.peer.filter(|&peer| peer != ofd);
        let socket = end.socket.get_or_insert_default();
        socket.shut_take |= take;
        socket.shut_give |= give;
        let act = at.as_act();
        if give {
            end.gave.push(act);
            self.late.acted(&mut self.rows, &self.world, ofd, true, act);
        }
        if take && let Some(end) = peer.and_then(|peer| self.world.ends.get_mut(peer)) {
            end.gave.push(act);
        }
    }
}

fn socket_is_new(socket: &Socket) -> bool {
    socket.local.is_none() && socket.remote.is_none() && !socket.accepted
}

/// The names of a socket and of its other end. One of TCP that is not connected has none that would
/// be shown later.
fn both_names(name: &str) -> Option<(String, Option<String>)> {
    let SocketName { protocol, own, other } = SocketName::parse(name)?;
    if protocol.starts_with("UNIX") {
        let number = |number: &str| format!("unix {number}");
        return Some((number(own), other.map(number)));
    }
    let other = other.filter(|_| protocol.starts_with("TCP"))?;
    Some((format!("tcp {own} to {other}"), Some(format!("tcp {other} to {own}"))))
}

/// Whether a socket may be connected, and no name has shown to what.
pub(crate) fn is_unnamed(end: &End) -> bool {
    end.kind != Kind::Listening && end.socket.as_deref().is_some_and(|socket| !socket.shown)
}

#[cfg(test)]
mod tests {
    use super::both_names;

    #[test]
    fn names_of_both_ends() {
        let both = |text| both_names(text).map(|(own, other)| (own, other.unwrap_or_default()));
        let pair = |own: &str, other: &str| Some((own.to_string(), other.to_string()));
        assert_eq!(both("UNIX-STREAM:[12->34,\"/run/s\"]"), pair("unix 12", "unix 34"));
        assert_eq!(both("UNIX-STREAM:[12]"), pair("unix 12", ""));
        assert_eq!(
            both("TCP:[127.0.0.1:4->127.0.0.1:5]"),
            pair("tcp 127.0.0.1:4 to 127.0.0.1:5", "tcp 127.0.0.1:5 to 127.0.0.1:4")
        );
        for text in ["TCP:[71599]", "TCP:[127.0.0.1:5000]", "UDP:[1->2]", "pipe:[5]"] {
            assert_eq!(both(text), None, "{text}");
        }
    }
}
