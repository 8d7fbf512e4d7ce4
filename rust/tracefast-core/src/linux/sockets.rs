//! What strace's `-yy` calls a socket: `UNIX-STREAM:[236577->235641,"/run/s"]`,
//! `TCP:[127.0.0.1:43210->127.0.0.1:5000]` (`print_sockaddr_by_inode` in `src/socketutils.c`).
//!
//! The name changes while the socket is open. One of the internet protocols has a number until it
//! is bound or connected, then an address, then two; one of UNIX keeps its number.

/// The parts of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SocketName<'a> {
    pub(crate) protocol: &'a str,
    /// Its number or address.
    pub(crate) own: &'a str,
    /// Those of the socket that it is connected to.
    pub(crate) other: Option<&'a str>,
}

impl<'a> SocketName<'a> {
    /// Of a descriptor with this name; `None` if that is no socket's.
    pub(crate) fn parse(name: &'a str) -> Option<Self> {
        let (protocol, rest) = name.split_once(":[")?;
        if !protocol.starts_with(|first: char| first.is_ascii_uppercase()) {
            return None;
        }
        if protocol.starts_with("UNIX") {
            let (own, rest) = digits(rest)?;
            let other = rest.strip_prefix("->").and_then(digits).map(|(other, _)| other);
            return Some(Self { protocol, own, other });
        }
        let rest = rest.strip_suffix(']')?;
        let (own, other) = match rest.split_once("->") {
            Some((own, other)) => (own, Some(other)),
            None => (rest, None),
        };
        Some(Self { protocol, own, other })
    }

    pub(crate) fn is_unix(&self) -> bool {
        self.protocol.starts_with("UNIX")
    }

    /// Whether it has only a number, which no later name shows.
    fn is_unbound(&self) -> bool {
        !self.is_unix() && self.own.bytes().all(|byte| byte.is_ascii_digit())
    }

    /// Whether a socket may have had this name at one time and the other one at another.
    pub(crate) fn may_become(&self, later: &Self) -> bool {
        if self.protocol != later.protocol {
            return false;
        }
        if self.is_unbound() || later.is_unbound() {
            return self.is_unbound() != later.is_unbound() || self.own == later.own;
        }
        let any = |name: &Self| name.own.starts_with("0.0.0.0:") || name.own.starts_with("[::]:");
        let port = |name: &Self| name.own.rsplit_once(':').map(|(_, port)| port.to_owned());
        let same = self.own == later.own
            || !self.is_unix() && (any(self) || any(later)) && port(self) == port(later);
        same && (self.other.is_none() || later.other.is_none() || self.other == later.other)
    }
}

fn digits(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).filter(|(digits, _)| !digits.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (name, protocol, own, other) in [
            (r#"UNIX-STREAM:[12->34,"/run/a]>b"]"#, "UNIX-STREAM", "12", Some("34")),
            (r#"UNIX-STREAM:[12,@"a->5"]"#, "UNIX-STREAM", "12", None),
            ("TCP:[127.0.0.1:4->127.0.0.1:5]", "TCP", "127.0.0.1:4", Some("127.0.0.1:5")),
            ("TCPv6:[[::1]:4->[::1]:5]", "TCPv6", "[::1]:4", Some("[::1]:5")),
            ("TCP:[0.0.0.0:80]", "TCP", "0.0.0.0:80", None),
            ("TCP:[71599]", "TCP", "71599", None),
        ] {
            assert_eq!(SocketName::parse(name), Some(SocketName { protocol, own, other }));
        }
        for name in ["pipe:[5]", "/a:[5]", "socket:[5]", "UNIX-STREAM:[]", "anon_inode:[eventfd]"] {
            assert_eq!(SocketName::parse(name), None, "{name}");
        }
    }

    #[test]
    fn names_change_while_a_socket_is_open() {
        for (before, after, may) in [
            ("TCP:[7]", "TCP:[127.0.0.1:5]", true),
            ("TCP:[7]", "TCP:[8]", false),
            ("TCP:[7]", "UDP:[127.0.0.1:5]", false),
            ("TCP:[127.0.0.1:5]", "TCP:[127.0.0.1:5->127.0.0.1:6]", true),
            ("TCP:[0.0.0.0:5]", "TCP:[127.0.0.1:5->127.0.0.1:6]", true),
            ("TCP:[0.0.0.0:5]", "TCP:[127.0.0.1:55]", false),
            ("TCP:[127.0.0.1:5->127.0.0.1:7]", "TCP:[127.0.0.1:5->127.0.0.1:6]", false),
            ("UNIX-STREAM:[1]", r#"UNIX-STREAM:[1->2,"/s"]"#, true),
            ("UNIX-STREAM:[1]", "UNIX-STREAM:[2->1]", false),
            ("UNIX-STREAM:[1->2]", "UNIX-STREAM:[1->3]", false),
        ] {
            let name = |text| SocketName::parse(text).expect("a name");
            assert_eq!(name(before).may_become(&name(after)), may, "{before} {after}");
        }
    }
}
