//! Whole calls on lines of the usual shape, `-f -ttt -T` into a file: read in one go, by wide loads
//! at places that the structure pass found. Whatever is odd about a line is left to the complete
//! way through leader, event, call and result, which reads these lines alike.

use super::calls::ODD;
use super::leader;
use super::lines;
use super::parser::{Above, Owner, Parser};
use crate::block::PAD;
use crate::event::{EventKind, Status};
use crate::num;
use crate::parsed::Lost;
use crate::scan::first_of;
use crate::schema::Column as C;
use crate::strace::fields::{self, Source};
use crate::syscalls;
use crate::view::Place;

/// A line, as positions in the block's text.
struct Found {
    pid: i32,
    time: i64,
    name: usize,
    /// The arguments end at the `)` here; they begin behind the `(` that follows the name.
    args: (usize, usize),
    ret: i64,
    shown: Shown,
    dur: i64,
}

/// What stands behind the ` = ` of most calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// A number alone.
    Value,
    /// A descriptor with its annotation, between the brackets, which holds no escape.
    Noted(usize, usize),
    /// −1 and an error, whose name this is, with its text.
    Error(usize, usize),
}

/// Columns of every such row.
const COLUMNS: u64 = {
    let all = [C::Line, C::Tid, C::Ts, C::Name, C::Args, C::Ret, C::DurNs, C::Kind, C::Status];
    let (mut bits, mut i) = (0, 0);
    while i < all.len() {
        bits |= all[i].bit();
        i += 1;
    }
    bits
};

impl Found {
    /// Reads the line `start..end`, whose only ` = ` ends at `mark`. `None`: its shape is another
    /// one, or its call has a name of more than 15 bytes.
    #[inline(always)]
    fn read(padded: &[u8], start: usize, end: usize, mark: usize) -> Option<Self> {
        let (pid, time, next) = leader::usual(padded.get(PAD + start..)?.first_chunk()?)?;
        let name = start + next;
        let args = name + 1 + bracket(padded.get(PAD + name..)?.first_chunk()?)?;
        let text = padded.get(PAD..PAD + end)?;
        // ` <0.000017>`
        let tail: &[u8; 11] = text.last_chunk()?;
        let [b' ', b'<', whole @ b'0'..=b'9', fraction @ ..] = *tail else { return None };
        let micros = num::six_digits(fraction, b'.', b'>')?;
        let dur = i64::from(whole - b'0') * 1_000_000_000 + micros as i64 * 1_000;
        // `)`, blanks, `= `
        let mut close = mark.checked_sub(3)?;
        while close > args && text[close] == b' ' {
            close -= 1;
        }
        if close < args || text[close] != b')' || text[..close].ends_with(b".>") {
            // The last are those of a task that died in the call.
            return None;
        }
        let (ret, shown) = value(padded, mark + 1, end - tail.len())?;
        Some(Self { pid, time, name, args: (args, close), ret, shown, dur })
    }
}

/// Where the first `(` stands.
#[inline(always)]
fn bracket(head: &[u8; 16]) -> Option<usize> {
    let word = u128::from_le_bytes(*head) ^ u128::from_le_bytes([b'('; 16]);
    let zeros = word.wrapping_sub(u128::from_le_bytes([1; 16])) & !word;
    // A borrow may only come from a zero before.
    let zeros = zeros & u128::from_le_bytes([0x80; 16]);
    (zeros != 0).then(|| zeros.trailing_zeros() as usize / 8)
}

/// The result at `from..to` of the text.
#[inline(always)]
fn value(padded: &[u8], from: usize, to: usize) -> Option<(i64, Shown)> {
    let text = padded.get(PAD..PAD + to)?;
    let head: [u8; 8] = *padded.get(PAD + from..)?.first_chunk()?;
    let (ret, n) = match num::short_digits(head) {
        Some((value, n)) if head[0] != b'0' || n == 1 => (value as i64, n),
        _ => num::c_integer(text.get(from..)?),
    };
    let behind = from + n;
    if behind == to && n > 0 {
        return Some((ret, Shown::Value));
    }
    match *text.get(behind..)? {
        [b'<', b'/' | b'a'..=b'z', .., b'>'] if n > 0 => {
            let end = first_of(text, behind + 1, [b'<', b'>', b'\\'])?;
            (end + 1 == to).then_some((ret, Shown::Noted(behind + 1, end)))
        }
        [b' ', b'E', .., b')'] if n == 2 && ret == -1 => {
            let len = text[behind + 1..]
                .iter()
                .position(|b| !(b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_'))?;
            let name = (behind + 1, behind + 1 + len);
            let body = text[name.1..].strip_prefix(b" (")?;
            // Marks of the tracer stand in parentheses as well.
            let plain = !body.starts_with(b"DELAYED") && !body.starts_with(b"INJECTED");
            let end = first_of(text, name.1 + 2, [b'(', b')'])?;
            (len > 1 && plain && end + 1 == to).then_some((ret, Shown::Error(name.0, name.1)))
        }
        _ => None,
    }
}

impl Parser<'_> {
    /// A whole call in the line `start..end`, whose only ` = ` ends at `mark`. `false`: its shape is
    /// another one, and nothing was done.
    #[inline]
    pub(super) fn usual_call(&mut self, start: usize, end: usize, mark: usize) -> bool {
        let padded = self.padded;
        let Some(found) = Found::read(padded, start, end, mark) else { return false };
        let len = found.args.0 - 1 - found.name;
        let Some((key, sys)) = self.grammar.names.known(padded, PAD + found.name, len) else {
            return false;
        };
        if sys == ODD {
            return false;
        }
        let makes_fd = syscalls::shape(sys).makes_fd;
        if matches!(found.shown, Shown::Noted(..)) && !makes_fd {
            return false;
        }
        self.above = Above::Nothing;
        self.table = false;
        let ts = self.clock.read(found.time, &mut self.parsed.oddities);
        self.touch(Some(found.pid), Lost::Elsewhere);
        let args = self.view(found.args.0, found.args.1);
        let source = |(start, end): (usize, usize)| Source {
            bytes: &self.text[start..end],
            place: Place::Text,
            base: start,
            utf8: true,
        };
        let parsed = &mut *self.parsed;
        let row = parsed.rows.push();
        self.owner = Owner::Row(row);
        let mut valid = COLUMNS;
        let mut ret = Some(found.ret);
        match found.shown {
            Shown::Value => {}
            Shown::Noted(start, end) => {
                let whole = source((0, end));
                valid |=
                    lines::made(&mut parsed.rows, &mut parsed.side, row, whole, (start, end), true);
            }
            Shown::Error(start, end) => {
                ret = None;
                let name = &self.text[start..end];
                let (key, _) = self.grammar.errnos.key(name, &mut parsed.errnos, |_| 0);
                parsed.rows.errno[row] = key;
                valid |= C::Errno.bit();
            }
        }
        let rows = &mut parsed.rows;
        rows.line[row] = self.line;
        rows.tid[row] = found.pid;
        rows.ts[row] = ts;
        rows.name[row] = key;
        rows.args[row] = args;
        rows.ret[row] = found.ret;
        rows.dur[row] = found.dur;
        rows.kind[row] = EventKind::Syscall as u8;
        rows.status[row] = Status::Complete as u8;
        rows.valid[row] = valid;
        fields::fill(rows, &mut parsed.side, row, source(found.args), sys, ret);
        true
    }
}
