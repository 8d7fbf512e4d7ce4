//! Descriptors passed over sockets: `SCM_RIGHTS` control messages (unix(7)) of `sendmsg` and
//! `recvmsg`. And those that supervisors of seccomp put into other processes.

use crate::events::details::{Added, Detail, Received};
use crate::events::vocabulary::{Motion, open_flags};
use crate::linux::syscalls::{Count, Shape, flags};
use crate::strace::arguments::{self, Split};
use crate::strace::fields::flags::{Flags, is_constant};
use crate::strace::fields::vectors::{ByteRange, Elements, key_len};
use crate::strace::fields::writer::{FieldWriter, fd_number};
use crate::text::number;
use crate::text::search;

const MSG_PEEK: u32 = 0x2;
const MSG_CMSG_CLOEXEC: u32 = 0x4000_0000;
const SO_PEEK_OFF: i64 = 42;

/// Whether there may be a control message with descriptors. The end of the text shows for most
/// calls that there is none.
#[inline]
fn may_carry(text: &[u8], shape: &Shape) -> bool {
    match shape.count {
        // The length of the control messages is near the end, after the data.
        Count::Message(_) => search::rfind(text, b"controllen=", 10)
            .is_some_and(|at| !text[at + 11..].starts_with(b"0,")),
        Count::Messages(_) => search::rfind(text, b"cmsg_type=", 6).is_some(),
        _ => false,
    }
}

/// The descriptors in the first `done` messages of the call, and where their numbers end. `None` if
/// the call has no messages or they carry no descriptors.
#[inline]
pub(crate) fn carried(text: &[u8], shape: &Shape, done: i64) -> Option<Vec<(i32, usize)>> {
    if may_carry(text, shape) { all(text, shape, done) } else { None }
}

#[cold]
fn all(text: &[u8], shape: &Shape, done: i64) -> Option<Vec<(i32, usize)>> {
    let mut found = Vec::new();
    let (Count::Message(position) | Count::Messages(position)) = shape.count else { return None };
    let split = Split::new(text, usize::from(position));
    let range = (split.start(position), split.end(position));
    split.get(text, position)?;
    if matches!(shape.count, Count::Message(_)) {
        header(text, range, &mut found);
    } else {
        let messages = Elements::array(text, range)?;
        for message in messages.map_while(|message| message).take(usize::try_from(done).ok()?) {
            let first = Elements::structure(text, message).and_then(|mut fields| fields.next()?);
            if let Some((start, end)) = first {
                header(text, (start + arguments::name_len(&text[start..end]), end), &mut found);
            }
        }
    }
    (!found.is_empty()).then_some(found)
}

/// Reads `{…, msg_control=[{cmsg_len=20, …}, …], …}`; up to 4.14 `{…, {cmsg_len=20, …}, {…}, …}`.
fn header(text: &[u8], range: ByteRange, found: &mut Vec<(i32, usize)>) {
    let Some(fields) = Elements::structure(text, range) else { return };
    for (start, end) in fields.map_while(|field| field) {
        let field = &text[start..end];
        if field.starts_with(b"{") {
            control(text, (start, end), found);
        } else if field.starts_with(b"msg_control=") {
            let Some(messages) = Elements::array(text, (start + 12, end)) else { continue };
            for message in messages.map_while(|message| message) {
                control(text, message, found);
            }
        }
    }
}

/// Reads `{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[3]}`; up to 4.14
/// the data are `{3}`.
fn control(text: &[u8], range: ByteRange, found: &mut Vec<(i32, usize)>) {
    let Some(fields) = Elements::structure(text, range) else { return };
    let (mut socket, mut rights) = (false, false);
    for (start, end) in fields.map_while(|field| field) {
        let at = start + key_len(&text[start..end]);
        let value = &text[at..end];
        match &text[start..at] {
            b"cmsg_level=" => socket = is_constant(value, b"SOL_SOCKET", 1),
            b"cmsg_type=" => rights = is_constant(value, b"SCM_RIGHTS", 1),
            b"cmsg_data=" | b"" if socket && rights => {
                let data = Elements::array(text, (at, end));
                let Some(data) = data.or_else(|| Elements::structure(text, (at, end))) else {
                    continue;
                };
                for (start, end) in data.map_while(|item| item) {
                    let (fd, n) = fd_number(&text[start..end]);
                    if n > 0 && fd >= 0 {
                        found.push((fd, start + n));
                    }
                }
            }
            _ => {}
        }
    }
}

/// The fields of the structure that an ioctl has as its third argument, by `NAME=`.
fn fields(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let split = Split::new(text, 2);
    let range = split.get(text, 2).map(|_| (split.start(2), split.end(2)));
    let fields = range.and_then(|range| Elements::structure(text, range));
    fields.into_iter().flatten().flatten().map(|(start, end)| {
        let at = start + key_len(&text[start..end]);
        (&text[start..at], &text[at..end])
    })
}

/// Reads `ioctl(6, SECCOMP_IOCTL_NOTIF_RECV, {id=0x22ed, pid=9823, …})`.
#[cold]
pub(crate) fn notified(text: &[u8]) -> Option<(u64, i32)> {
    let (mut notice, mut tid) = (None, None);
    for (name, value) in fields(text) {
        match name {
            b"id=" => notice = Some(number::c_integer(value).0 as u64),
            b"pid=" => tid = number::whole_integer(value).and_then(|pid| i32::try_from(pid).ok()),
            _ => {}
        }
    }
    Some((notice?, tid?))
}

/// Reads `ioctl(6, SECCOMP_IOCTL_NOTIF_ADDFD, {id=0x22ed, flags=0, srcfd=5, newfd=0,
/// newfd_flags=O_CLOEXEC})`.
#[cold]
pub(crate) fn added(text: &[u8]) -> Added {
    let mut added = Added::default();
    for (name, value) in fields(text) {
        match name {
            b"id=" => added.notice = Some(number::c_integer(value).0 as u64),
            b"srcfd=" => {
                let (fd, n) = fd_number(value);
                added.fd = (n > 0).then_some(fd);
            }
            b"newfd_flags=" => {
                added.cloexec = flags::opened(value) & open_flags::CLOEXEC != 0;
            }
            _ => {}
        }
    }
    added
}

/// Whether `setsockopt(6, SOL_SOCKET, SO_PEEK_OFF, [1], 4)` sets where `MSG_PEEK` begins.
#[cold]
pub(crate) fn sets_peek_offset(text: &[u8]) -> bool {
    let split = Split::new(text, 2);
    let is = |at, name: &[u8], number| {
        split.get(text, at).is_some_and(|arg| is_constant(arg, name, number))
    };
    is(1, b"SOL_SOCKET", 1) && is(2, b"SO_PEEK_OFF", SO_PEEK_OFF)
}

/// The descriptors that a call sends.
pub(crate) fn sent(text: &[u8], found: &[(i32, usize)]) -> Detail {
    let fds = found.iter().map(|&(fd, _)| fd).collect();
    let to_address = memchr::memmem::find(text, b"msg_name={").is_some();
    if to_address { Detail::SentTo(fds) } else { Detail::Sent(fds) }
}

/// Whether a message had more control data than there was room for: recvmsg(2).
fn is_cut(text: &[u8]) -> bool {
    let end = &text[text.len().saturating_sub(96)..];
    memchr::memmem::find(end, b"MSG_CTRUNC").is_some()
}

/// Whether a message is only an address, as with `-e verbose=none` and `-e raw=all`.
fn is_address(text: &[u8], shape: &Shape) -> bool {
    matches!(shape.count, Count::Message(_) | Count::Messages(_))
        && memchr::memchr(b',', text).is_some_and(|at| text[at + 1..].starts_with(b" 0x"))
}

impl FieldWriter<'_> {
    /// Records the descriptors in the messages of the call. Received ones may be marked
    /// close-on-exec.
    #[inline]
    pub(crate) fn rights(&mut self, ret: Option<i64>) {
        let received = self.shape.motion == Motion::Read;
        if received && ret.is_none() {
            return;
        }
        let done = ret.unwrap_or(i64::MAX);
        if let Some(found) = carried(self.source.bytes, self.shape, done) {
            self.put_rights(&found, received);
        } else if received && is_cut(self.source.bytes) {
            // There may have been descriptors.
            self.put_rights(&[], received);
        } else if is_address(self.source.bytes, self.shape) {
            self.rows.effect[self.row].detail = self.side.detail(Detail::UnseenMessage);
        }
    }

    #[cold]
    fn put_rights(&mut self, found: &[(i32, usize)], received: bool) {
        let text = self.source.bytes;
        let detail = if received {
            let position = if matches!(self.shape.count, Count::Message(_)) { 2 } else { 3 };
            let flags = Flags::at(text, None, position);
            let effect = &mut self.rows.effect[self.row];
            if flags.has(b"MSG_CMSG_CLOEXEC", 9, MSG_CMSG_CLOEXEC) {
                effect.flags |= open_flags::CLOEXEC;
            }
            if flags.has(b"MSG_PEEK", 5, MSG_PEEK) {
                effect.flags |= open_flags::PEEKS;
            }
            let view = |&(fd, end): &(i32, usize)| Received { fd, path: self.annotated_name(end) };
            Detail::Received(found.iter().map(view).collect())
        } else {
            sent(text, found)
        };
        self.rows.effect[self.row].detail = self.side.detail(detail);
    }
}
