//! The columns that come from the arguments of a call: descriptors, paths, counts, offsets, sizes.
//!
//! [`fill`] is the entry point. The shape of the call ([`crate::linux::syscalls`]) says which
//! argument is what, and its `Plan` (`plan.rs`) says how to find them. Each kind of argument has a
//! file: `annotation.rs` and `paths.rs` for names, `transfer.rs`, `seek.rs` and `vectors.rs` for
//! counts and offsets, `stat.rs` for sizes and types, `flags.rs` for flags. `effects.rs`,
//! `memory.rs`, `aio.rs` and `scm_rights.rs` record what the call does to the process.

mod aio;
mod annotation;
mod effects;
mod flags;
mod memory;
mod paths;
mod plan;
mod scm_rights;
mod seek;
mod stat;
#[cfg(test)]
mod tests;
mod transfer;
mod vectors;

use crate::strace::fields::plan::{Method, Plan};
pub(crate) use annotation::Annotation;

use crate::events::details::Detail;
use crate::events::rows::{AT_FDCWD, Rows, Side, ViewSource};
use crate::events::schema::Column as C;
use crate::events::split_calls::EntryEffect;
use crate::events::vocabulary::{At, Motion, Op};
use crate::linux::syscalls::{self, Count, NONE, Shape, Special};
use crate::strace::call::arguments::{self, MAX_ARGS, Split};
use crate::text::number;

/// Fills the columns that the arguments `source` of call `sys` give.
///
/// `ret` is the return value if the call succeeded. Columns written before, such as the path of an
/// annotated return value, are kept.
pub(crate) fn fill(
    rows: &mut Rows,
    side: &mut Side,
    row: usize,
    source: ViewSource<'_>,
    sys: u16,
    ret: Option<i64>,
) {
    fill_by(Plan::for_call(sys), rows, side, row, source, sys, ret);
}

/// Like [`fill`], with a given plan.
#[inline(always)]
fn fill_by(
    plan: Plan,
    rows: &mut Rows,
    side: &mut Side,
    row: usize,
    source: ViewSource<'_>,
    sys: u16,
    ret: Option<i64>,
) {
    let shape = syscalls::shape(sys);
    let mut out = FieldWriter { rows, side, row, source: &source, shape };
    let text = source.bytes;
    out.rows.effect[row].op = shape.op;
    out.rows.effect[row].motion = shape.way;
    if shape.streams {
        (out.rows.effect[row].place, out.rows.effect[row].place2) = (At::Stream, At::Stream);
    }
    if plan.method == Method::Ends {
        if shape.fd == 0 {
            let start = arguments::name_len(text);
            out.descriptor(start, false);
        }
        match shape.count {
            Count::Last => {
                out.last_integer(text, C::Requested);
            }
            Count::LastButOne => {
                out.last_integers(text);
                let known = out.has(C::Offset);
                out.rows.effect[row].place = if known { At::Given } else { At::Elsewhere };
            }
            _ => {}
        }
        out.rest(plan, None, sys, ret);
    } else {
        let mut split = Split::default();
        if plan.method != Method::Path || out.first_path(&mut split).is_none() {
            out.split(&mut split, plan.last, ret);
        }
        out.rest(plan, Some(&split), sys, ret);
    }
}

/// The effect of a call as far as its first half shows it. Details of it go to `side`.
pub(crate) fn head(args: &[u8], sys: u16, side: &mut Side) -> EntryEffect {
    let shape = syscalls::shape(sys);
    let mut head = EntryEffect { op: shape.op, motion: shape.way, ..EntryEffect::default() };
    match shape.special {
        Special::Fallocate => head.op = Op::Allocate,
        Special::Fcntl => {
            if let Some(status) = effects::new_status(args) {
                (head.op, head.flags) = (Op::SetStatus, status);
            }
        }
        _ => {}
    }
    match shape.op {
        Op::Fork => head.flags = effects::fork_flags(args, sys),
        Op::CloseRange => {
            let split = Split::new(args, 2);
            let (fd, n) = split.get(args, 0).map_or((0, 0), fd_number);
            head.fd = (n > 0).then_some(fd);
            head.fd2 = split.get(args, 1).and_then(effects::range_end);
            head.flags = effects::range_flags(args, None);
        }
        Op::Use if matches!(shape.count, Count::Submission(_)) => {
            head.fd = aio::sum(args, shape).fd;
        }
        op if op.uses() || matches!(op, Op::Close | Op::Dup | Op::Fchdir) => {
            if shape.way == Motion::Write
                && let Some(found) = scm_rights::carried(args, shape, i64::MAX)
            {
                let fds = found.into_iter().map(|(fd, _)| fd).collect();
                head.detail = Some(side.detail(Detail::Sent(fds)));
            }
            let plain = !matches!(shape.special, Special::Address | Special::Current);
            if shape.fd == 0 && shape.fd2 == NONE && plain {
                let own = shape.offset == NONE && !shape.streams;
                head.moves.0 = shape.way != Motion::None && own;
                let (fd, n) = fd_number(&args[arguments::name_len(args)..]);
                head.fd = (n > 0).then_some(fd);
                return head;
            }
            let mut last = [shape.fd, shape.fd2, shape.path, NONE, NONE];
            if shape.way != Motion::None {
                (last[3], last[4]) = (shape.offset, shape.offset2);
            }
            let last = last.into_iter().filter(|&at| at != NONE).max();
            let split = Split::new(args, usize::from(last.unwrap_or(0)));
            if shape.way != Motion::None {
                let moves = |at| transfer::begin(shape, args, &split, at).0 == At::Position;
                head.moves = (moves(shape.offset), shape.fd2 != NONE && moves(shape.offset2));
            }
            let fd = |position| {
                let (fd, n) = fd_number(split.get(args, position)?);
                (n > 0).then_some(fd)
            };
            head.fd = fd(shape.fd);
            head.fd2 = fd(shape.fd2);
            if shape.special == Special::Address
                && split.get(args, shape.path).and_then(paths::in_address).is_some()
            {
                head.op = Op::Path;
            }
        }
        op if (op.names() || op == Op::Exec) && shape.at != NONE && shape.fd == NONE => {
            (head.fd, head.fd2) = paths::descriptors(args, shape);
            if shape.op != Op::Exec && (head.fd.is_some() || head.fd2.is_some()) {
                head.op = Op::Use;
            }
        }
        _ => {}
    }
    head
}

/// The row that is filled, and the text that it is filled from.
struct FieldWriter<'a> {
    rows: &'a mut Rows,
    side: &'a mut Side,
    row: usize,
    source: &'a ViewSource<'a>,
    shape: &'static Shape,
}

impl FieldWriter<'_> {
    /// Writes what follows from the result and from flags. If the arguments were split, `split`
    /// holds them up to the last one that a column needs.
    #[inline(always)]
    fn rest(&mut self, plan: Plan, split: Option<&Split>, sys: u16, ret: Option<i64>) {
        let shape = self.shape;
        if shape.moves
            && let Some(bytes) = ret.filter(|&n| n >= 0)
        {
            self.rows.bytes[self.row] = bytes;
            self.set(C::Bytes);
        }
        if shape.makes_fd {
            self.returned_descriptor(ret);
        }
        if !plan.plain {
            self.effects(split, sys, ret);
        }
        if shape.stat != NONE && ret == Some(0) {
            self.stat(split.filter(|_| plan.method == Method::Path));
        }
    }

    #[inline]
    fn set(&mut self, column: C) {
        self.rows.valid[self.row] |= column.bit();
    }

    fn has(&self, column: C) -> bool {
        self.rows.has(self.row, column)
    }

    #[inline]
    fn put_fd(&mut self, fd: i32, second: bool) {
        if second {
            self.rows.fd2[self.row] = fd;
            self.set(C::Fd2);
        } else {
            self.rows.fd[self.row] = fd;
            self.set(C::Fd);
        }
    }

    /// Writes the descriptor at `start` of the source, and its annotation if it has one.
    #[inline]
    fn descriptor(&mut self, start: usize, second: bool) {
        let text = self.source.bytes;
        let Some(arg) = text.get(start..) else { return };
        // Most descriptors have one digit.
        let (fd, n) = match *arg {
            [digit @ b'0'..=b'9', b'<' | b',' | b')', ..] => (i32::from(digit - b'0'), 1),
            _ => fd_number(arg),
        };
        if n == 0 {
            return;
        }
        self.put_fd(fd, second);
        if arg.get(n) == Some(&b'<')
            && let Some((end, plain)) = arguments::annotation(text, start + n)
        {
            self.annotation(start + n + 1, end - 1, plain, second);
        }
    }

    /// Writes the last argument of `args` into `column` if it is an integer. Returns the position
    /// of the comma before it.
    #[inline(always)]
    fn last_integer(&mut self, args: &[u8], column: C) -> Option<usize> {
        // No number is longer than 24 bytes; with its name it is shorter than 40.
        let low = args.len().saturating_sub(40);
        let comma = low + args[low..].iter().rposition(|&b| b == b',')?;
        let arg = args.get(comma + 2..)?;
        let value = number::whole_integer(&arg[arguments::name_len(arg)..])?;
        self.integer(value, column);
        Some(comma)
    }

    /// Writes the last two arguments: count and offset.
    #[inline]
    fn last_integers(&mut self, text: &[u8]) {
        if text.starts_with(b"0x") {
            // Raw registers: on 32-bit architectures an offset takes two.
            self.registers(text);
        } else if let Some(comma) = self.last_integer(text, C::Offset) {
            self.last_integer(&text[..comma], C::Requested);
        }
    }

    #[cold]
    fn registers(&mut self, text: &[u8]) {
        let split = Split::new(text, MAX_ARGS);
        let value = |at| split.get(text, at).and_then(number::whole_integer);
        if let Some(count) = value(2) {
            self.integer(count, C::Requested);
        }
        let pair = |low, high| Some(value(high)? << 32 | value(low)?);
        let wide = (1..split.len() as u8)
            .any(|at| value(at).is_some_and(|register| u32::try_from(register).is_err()));
        let offset = match split.len() {
            // Old versions print a fifth register on 64-bit architectures too; its value is
            // meaningless.
            4 => value(3),
            5 if wide || value(4) == Some(0) => value(3),
            // Some architectures require a pair to start with an even register (syscall(2)).
            6 if !wide => pair(4, 5),
            _ => None,
        };
        if let Some(offset) = offset {
            self.integer(offset, C::Offset);
        }
    }

    /// Writes a number of bytes. Negative ones, and those that do not fit, are left out.
    #[inline]
    fn integer(&mut self, value: i64, column: C) {
        if value < 0 {
            return;
        }
        match column {
            C::Requested => self.rows.requested[self.row] = value,
            C::Offset => self.rows.offset[self.row] = value,
            C::Offset2 => self.rows.offset2[self.row] = value,
            C::Size => self.rows.size[self.row] = value,
            C::Bytes => self.rows.bytes[self.row] = value,
            _ => return,
        }
        self.set(column);
    }

    /// Writes the descriptor that the call returns.
    fn returned_descriptor(&mut self, ret: Option<i64>) {
        if let Some(fd) = ret.and_then(|fd| i32::try_from(fd).ok()).filter(|&fd| fd >= 0) {
            self.put_fd(fd, self.shape.op == Op::Dup);
        }
    }

    /// Fills the columns of calls whose arguments must be split.
    fn split(&mut self, split: &mut Split, last: u8, ret: Option<i64>) {
        let shape = self.shape;
        let text = self.source.bytes;
        split.fill(text, usize::from(last));
        // Whether the path is absolute or annotated decides what the descriptor means, so paths
        // come first.
        if shape.path != NONE {
            self.path_argument(split, false);
        }
        if shape.path2 != NONE {
            self.path_argument(split, true);
        }
        for (position, second) in [(shape.fd, false), (shape.fd2, true)] {
            if usize::from(position) < split.len() {
                self.descriptor(split.start(position), second);
            }
        }
        match shape.count {
            Count::Arg(at) => {
                if let Some(value) = split.get(text, at).and_then(number::whole_integer) {
                    self.integer(value, C::Requested);
                }
            }
            Count::Vector(at) => {
                if let Some(sum) = split.get(text, at).and_then(vectors::bytes) {
                    self.integer(sum, C::Requested);
                }
            }
            Count::Message(at) => {
                if let Some(sum) = split.get(text, at).and_then(vectors::message) {
                    self.integer(sum, C::Requested);
                }
            }
            Count::Messages(at) => {
                if let Some(arg) = split.get(text, at) {
                    let vlen = split.get(text, at + 1).and_then(number::whole_integer);
                    self.messages(arg, vlen, ret);
                }
            }
            Count::Submission(_) => self.submission(ret),
            _ => {}
        }
        if matches!(shape.count, Count::Message(_) | Count::Messages(_)) {
            self.rights(ret);
        }
        if shape.offset != NONE || shape.way != Motion::None {
            self.transfer(split);
        }
    }
}

/// The number of a descriptor, and the length of its text.
#[inline]
fn fd_number(arg: &[u8]) -> (i32, usize) {
    if let [b'A', ..] = arg {
        return if arg.starts_with(b"AT_FDCWD") { (AT_FDCWD, 8) } else { (0, 0) };
    }
    // `-e raw` prints -1 and AT_FDCWD as unsigned 32-bit or 64-bit numbers.
    let (value, n) = number::c_integer(arg);
    (value as i32, n)
}
