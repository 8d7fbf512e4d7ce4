//! Sums over what a call moves in parts: vectors of buffers, messages, submissions.
//!
//! A sum counts only where the text holds every part: strace shows the first 32 of them.

use super::{Out, fd_number};
use crate::num;
use crate::schema::Column as C;
use crate::strace::args::{self, Split};
use crate::syscalls::{Count, Shape};

type Range = (usize, usize);

/// The elements of an array or a structure, split at its commas. Each is looked at once, whatever
/// it nests; an element that is not closed is `None`, and the last.
struct Elements<'a> {
    text: &'a [u8],
    at: usize,
    end: usize,
    done: bool,
}

impl<'a> Elements<'a> {
    /// Those between the brackets; `None` for what has none.
    fn of(text: &'a [u8], range: Range, brackets: (u8, u8)) -> Option<Self> {
        let (start, end) = range;
        let body = text.get(start..end)?;
        let closed =
            body.len() > 1 && body.first() == Some(&brackets.0) && body.last() == Some(&brackets.1);
        closed.then(|| Self { text, at: start + 1, end: end - 1, done: end - start == 2 })
    }

    fn array(text: &'a [u8], range: Range) -> Option<Self> {
        Self::of(text, range, (b'[', b']'))
    }

    fn structure(text: &'a [u8], range: Range) -> Option<Self> {
        Self::of(text, range, (b'{', b'}'))
    }

    /// Where the element at hand ends; `None`: nowhere.
    fn element_end(&self) -> Option<usize> {
        let text = &self.text[..self.end];
        let mut depth = 0usize;
        let mut i = self.at;
        loop {
            match text[i..].iter().position(|&b| args::special(b)) {
                Some(n) => i += n,
                None => return (depth == 0).then_some(self.end),
            }
            match text[i] {
                b'(' | b'[' | b'{' => {
                    depth += 1;
                    i += 1;
                }
                b')' | b']' | b'}' => {
                    depth = depth.checked_sub(1)?;
                    i += 1;
                }
                b',' if depth == 0 => return Some(i),
                b',' => i += 1,
                _ => i = args::skip_opaque(text, i)?.min(self.end),
            }
        }
    }
}

impl Iterator for Elements<'_> {
    type Item = Option<Range>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let Some(end) = self.element_end() else {
            self.done = true;
            return Some(None);
        };
        let mut start = self.at;
        while start < end && self.text[start] == b' ' {
            start += 1;
        }
        self.done = end == self.end;
        self.at = end + 1;
        Some(Some((start, end)))
    }
}

/// Length of `NAME=` or, before 4.15, `NAME(N)=` at the start of a field.
fn key_len(field: &[u8]) -> usize {
    match args::name_len(field) {
        0 => field
            .iter()
            .position(|b| !(b.is_ascii_lowercase() || b.is_ascii_digit() || b"_()".contains(b)))
            .filter(|&n| n > 0 && field[n] == b'=')
            .map_or(0, |n| n + 1),
        n => n,
    }
}

/// The number that is a field's value.
fn number(text: &[u8], (start, end): Range) -> Option<i64> {
    let field = &text[start..end];
    num::whole_integer(&field[key_len(field)..]).filter(|&n| n >= 0)
}

/// The sum of the lengths of `[{iov_base="..", iov_len=3}, …]`, before 4.15 `[{"abc", 3}, …]`.
pub(super) fn bytes(arg: &[u8]) -> Option<i64> {
    vector(arg, (0, arg.len()))
}

fn vector(text: &[u8], range: Range) -> Option<i64> {
    let mut sum = 0i64;
    for item in Elements::array(text, range)? {
        let length = Elements::structure(text, item?)?.nth(1)??;
        sum = sum.checked_add(number(text, length)?)?;
    }
    Some(sum)
}

/// The sum over `{…, msg_iov=[…], …}`, before 4.15 `{…, msg_iov(1)=[…], …}`.
pub(super) fn message(arg: &[u8]) -> Option<i64> {
    header(arg, (0, arg.len()))
}

fn header(text: &[u8], range: Range) -> Option<i64> {
    for field in Elements::structure(text, range)? {
        let (start, end) = field?;
        let field = &text[start..end];
        if field.starts_with(b"msg_iov=") || field.starts_with(b"msg_iov(") {
            return vector(text, (start + key_len(field), end));
        }
    }
    None
}

/// What several messages hold.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Messages {
    /// How many there are in the text.
    pub count: i64,
    /// Sum of their vectors.
    pub requested: Option<i64>,
    /// Sum of the bytes that were moved.
    pub moved: Option<i64>,
}

/// The sums over `[{msg_hdr={…}, msg_len=5}, …]`, before 4.15 `[{{…}, 5}, …]`, of which the first
/// `done` were moved.
pub(super) fn messages(arg: &[u8], done: i64) -> Messages {
    let mut sums = Messages { count: 0, requested: Some(0), moved: Some(0) };
    let Some(items) = Elements::array(arg, (0, arg.len())) else { return Messages::default() };
    for item in items {
        let Some(mut fields) = item.and_then(|item| Elements::structure(arg, item)) else {
            // The rest is left out.
            sums.requested = None;
            break;
        };
        let asked = fields.next().flatten().and_then(|(start, end)| {
            let name = args::name_len(&arg[start..end]);
            header(arg, (start + name, end))
        });
        let add = |sum: Option<i64>, part: Option<i64>| sum?.checked_add(part?);
        sums.requested = add(sums.requested, asked);
        if sums.count < done {
            let moved = fields.next().flatten().and_then(|length| number(arg, length));
            sums.moved = add(sums.moved, moved);
        }
        sums.count += 1;
    }
    if sums.count < done {
        sums.moved = None;
    }
    sums
}

/// What the parts of a submission say.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Submission {
    /// The descriptor that all share.
    pub fd: Option<i32>,
    /// Where it stands in the text first.
    pub start: Option<usize>,
    /// Sum of their lengths.
    pub requested: Option<i64>,
    /// Where the transfer begins, if there is one only.
    pub offset: Option<i64>,
}

/// What `[{aio_fildes=3, aio_nbytes=…, aio_offset=…, …}, …]` submits; before 4.19
/// `[{pread, fildes=3, nbytes=…, offset=…}, …]`. A request to cancel has one part, without `[]`.
pub(super) fn submission(text: &[u8], shape: &Shape) -> Submission {
    let Count::Submission(position) = shape.count else { return Submission::default() };
    let split = Split::new(text, usize::from(position));
    let Some(arg) = split.get(text, position) else { return Submission::default() };
    let start = split.start(position);
    let range = (start, start + arg.len());
    match Elements::array(text, range) {
        Some(parts) => sum(text, parts),
        None => sum(text, std::iter::once(Some(range))),
    }
}

fn sum(text: &[u8], parts: impl Iterator<Item = Option<Range>>) -> Submission {
    let mut all = Submission::default();
    for (n, part) in parts.enumerate() {
        // Something left out may be about any file.
        let Some(part) = part.and_then(|part| one(text, part)) else {
            return Submission::default();
        };
        if n == 0 {
            all = part;
            continue;
        }
        all.offset = None;
        if all.fd != part.fd {
            (all.fd, all.start) = (None, None);
        }
        all.requested = match (all.requested, part.requested) {
            (Some(sum), Some(more)) => sum.checked_add(more),
            (sum, more) => sum.or(more),
        };
    }
    all
}

fn one(text: &[u8], range: Range) -> Option<Submission> {
    let mut part = Submission::default();
    for field in Elements::structure(text, range)? {
        let (start, end) = field?;
        let field = &text[start..end];
        let at = key_len(field);
        let value = (start + at, end);
        let name = field[..at].strip_prefix(b"aio_").unwrap_or(&field[..at]);
        match name {
            b"fildes=" => {
                let (fd, n) = fd_number(&text[value.0..end]);
                part.fd = (n > 0).then_some(fd);
                part.start = (n > 0).then_some(value.0);
            }
            b"nbytes=" => part.requested = number(text, value),
            b"offset=" => part.offset = number(text, value),
            b"buf=" if part.requested.is_none() => part.requested = vector(text, value),
            b"" if field == b"..." => {
                // `{...}` tells nothing.
                return None;
            }
            _ => {}
        }
    }
    Some(part)
}

impl Out<'_> {
    /// The sums over several messages, `vlen` of which were asked for.
    pub(super) fn messages(&mut self, arg: &[u8], vlen: Option<i64>, ret: Option<i64>) {
        let sums = messages(arg, ret.unwrap_or(0));
        // Of those received, only they are in the text.
        let whole = vlen.is_none_or(|vlen| sums.count >= vlen);
        if let Some(requested) = sums.requested.filter(|_| whole) {
            self.integer(requested, C::Requested);
        }
        if let Some(bytes) = sums.moved.filter(|_| ret.is_some_and(|n| n > 0)) {
            self.integer(bytes, C::Bytes);
        }
    }

    /// What the parts of a submission share.
    pub(super) fn submission(&mut self) {
        let parts = submission(self.source.bytes, self.shape);
        if let Some(requested) = parts.requested {
            self.integer(requested, C::Requested);
        }
        if let Some(start) = parts.start {
            self.descriptor(start, false);
        } else if let Some(fd) = parts.fd {
            self.put_fd(fd, false);
        }
        if let Some(offset) = parts.offset {
            self.integer(offset, C::Offset);
        }
    }
}
