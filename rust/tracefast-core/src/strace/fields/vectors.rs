//! Sums over the parts that a call transfers: vectors of buffers, and messages.
//!
//! A sum counts only if the text shows every part. strace stops after 32 of them unless `-s` says
//! otherwise (`print_array_ex` in `src/util.c`).

use crate::events::schema::Column as C;
use crate::strace::arguments;
use crate::strace::fields::writer::FieldWriter;
use crate::text::number;

/// A range of the text.
pub(crate) type ByteRange = (usize, usize);

/// The elements of an array or a structure. Each byte is scanned once, however deep the elements
/// nest. An element that is not closed is `None` and ends the iteration.
pub(crate) struct Elements<'a> {
    text: &'a [u8],
    at: usize,
    end: usize,
    done: bool,
}

impl<'a> Elements<'a> {
    /// Iterates over what is between the brackets; `None` if the range does not start and end with
    /// them.
    fn parse(text: &'a [u8], range: ByteRange, brackets: (u8, u8)) -> Option<Self> {
        let (start, end) = range;
        let body = text.get(start..end)?;
        let closed =
            body.len() > 1 && body.first() == Some(&brackets.0) && body.last() == Some(&brackets.1);
        closed.then(|| Self { text, at: start + 1, end: end - 1, done: end - start == 2 })
    }

    pub(crate) fn array(text: &'a [u8], range: ByteRange) -> Option<Self> {
        Self::parse(text, range, (b'[', b']'))
    }

    pub(crate) fn structure(text: &'a [u8], range: ByteRange) -> Option<Self> {
        Self::parse(text, range, (b'{', b'}'))
    }

    /// Where the current element ends; `None` if it is not closed.
    fn element_end(&self) -> Option<usize> {
        let text = &self.text[..self.end];
        let mut depth = 0usize;
        let mut i = self.at;
        loop {
            match text[i..].iter().position(|&b| arguments::special(b)) {
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
                _ => i = arguments::skip_opaque(text, i)?.min(self.end),
            }
        }
    }
}

impl Iterator for Elements<'_> {
    type Item = Option<ByteRange>;

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
pub(crate) fn key_len(field: &[u8]) -> usize {
    match arguments::name_len(field) {
        0 => field
            .iter()
            .position(|b| !(b.is_ascii_lowercase() || b.is_ascii_digit() || b"_()".contains(b)))
            .filter(|&n| n > 0 && field[n] == b'=')
            .map_or(0, |n| n + 1),
        n => n,
    }
}

/// The value of a numeric field.
pub(crate) fn number(text: &[u8], (start, end): ByteRange) -> Option<i64> {
    let field = &text[start..end];
    number::whole_integer(&field[key_len(field)..]).filter(|&n| n >= 0)
}

/// The sum of the lengths in `[{iov_base="..", iov_len=3}, …]`, before 4.15 `[{"abc", 3}, …]`.
pub(crate) fn bytes(arg: &[u8]) -> Option<i64> {
    vector(arg, (0, arg.len()))
}

/// The same, for a range of the text.
pub(crate) fn vector(text: &[u8], range: ByteRange) -> Option<i64> {
    let mut sum = 0i64;
    for item in Elements::array(text, range)? {
        let length = Elements::structure(text, item?)?.nth(1)??;
        sum = sum.checked_add(number(text, length)?)?;
    }
    Some(sum)
}

/// The sum over `{…, msg_iov=[…], …}`, before 4.15 `{…, msg_iov(1)=[…], …}`.
pub(crate) fn message(arg: &[u8]) -> Option<i64> {
    header(arg, (0, arg.len()))
}

fn header(text: &[u8], range: ByteRange) -> Option<i64> {
    for field in Elements::structure(text, range)? {
        let (start, end) = field?;
        let field = &text[start..end];
        if field.starts_with(b"msg_iov=") || field.starts_with(b"msg_iov(") {
            return vector(text, (start + key_len(field), end));
        }
    }
    None
}

/// What several messages transfer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Messages {
    /// Number of messages in the text.
    pub count: i64,
    /// Sum of the lengths of their buffers.
    pub requested: Option<i64>,
    /// Sum of the bytes that were transferred.
    pub moved: Option<i64>,
}

/// The sums over `[{msg_hdr={…}, msg_len=5}, …]`, before 4.15 `[{{…}, 5}, …]`. The first `done`
/// messages were transferred.
pub(crate) fn messages(arg: &[u8], done: i64) -> Messages {
    let mut sums = Messages { count: 0, requested: Some(0), moved: Some(0) };
    let Some(items) = Elements::array(arg, (0, arg.len())) else { return Messages::default() };
    for item in items {
        let Some(mut fields) = item.and_then(|item| Elements::structure(arg, item)) else {
            // The text leaves out the rest.
            sums.requested = None;
            break;
        };
        let asked = fields.next().flatten().and_then(|(start, end)| {
            let name = arguments::name_len(&arg[start..end]);
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

impl FieldWriter<'_> {
    /// Writes the sums over several messages, of which the call was given `vlen`.
    pub(crate) fn messages(&mut self, arg: &[u8], vlen: Option<i64>, ret: Option<i64>) {
        let sums = messages(arg, ret.unwrap_or(0));
        // Of received messages, the text shows only those that arrived.
        let whole = vlen.is_none_or(|vlen| sums.count >= vlen);
        if let Some(requested) = sums.requested.filter(|_| whole) {
            self.integer(requested, C::Requested);
        }
        if let Some(bytes) = sums.moved.filter(|_| ret.is_some_and(|n| n > 0)) {
            self.integer(bytes, C::Bytes);
        }
    }
}
