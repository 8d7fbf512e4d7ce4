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
pub(crate) mod scm_rights;
mod seek;
mod stat;
#[cfg(test)]
mod tests;
mod transfer;
mod vectors;
mod writer;

use crate::events::details::{Added, Detail};
use crate::events::rows::{Rows, Side, ViewSource};
use crate::events::schema::Column as C;
use crate::events::split_calls::EntryEffect;
use crate::events::vocabulary::{At, Motion, Op};
use crate::linux::syscalls::{self, Count, NONE, Special};
use crate::strace::arguments::{self, Split};
use crate::strace::fields::plan::{Method, Plan};
use crate::strace::fields::writer::{FieldWriter, fd_number};
use crate::text::number;

pub(crate) use annotation::Annotation;

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

/// Takes back what [`fill`] found by counting from the end of arguments of which the last are missing.
#[cold]
pub(crate) fn forget_ends(rows: &mut Rows, row: usize, sys: u16) {
    if Plan::for_call(sys).method == Method::Ends {
        rows.valid[row] &= !(C::Requested.bit() | C::Offset.bit());
        if rows.effect[row].place == At::Given {
            rows.effect[row].place = At::Elsewhere;
        }
    }
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
    out.rows.effect[row].motion = shape.motion;
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
    let mut head = EntryEffect { op: shape.op, motion: shape.motion, ..EntryEffect::default() };
    match shape.special {
        Special::Fallocate => head.op = Op::Allocate,
        Special::Ioctl if effects::ioctl_resizes(args) => head.op = Op::Allocate,
        Special::Ioctl if effects::adds_descriptor(args) => {
            head.detail = Some(side.detail(Detail::Added(Added::default())));
        }
        Special::Fcntl => {
            if let Some(status) = effects::new_status(args) {
                (head.op, head.flags) = (Op::SetStatus, status);
            }
        }
        Special::MakeNode | Special::Symlink => {
            let node = shape.special == Special::MakeNode;
            head.op = if node { Op::MakeNode } else { Op::Symlink };
            if !node || effects::makes_node(args, shape) {
                head.detail = Some(side.detail(Detail::Renames(paths::last_parts(args, shape))));
            }
        }
        Special::SocketOption if scm_rights::sets_peek_offset(args) => {
            head.detail = Some(side.detail(Detail::PeeksLater));
        }
        Special::RingEnter => {
            let enter = effects::ring_enter(args);
            if let Some(asks) = enter.asks() {
                (head.op, head.flags) = (Op::Submit, asks);
            }
            if enter.by_index() {
                return head;
            }
        }
        _ => {}
    }
    match shape.op {
        Op::Fork => head.flags = effects::fork_flags(args, sys),
        Op::Open => head.flags = effects::cuts(args, shape),
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
            if shape.motion == Motion::Write
                && let Some(found) = scm_rights::carried(args, shape, i64::MAX)
            {
                head.detail = Some(side.detail(scm_rights::sent(args, &found)));
            }
            let plain = !matches!(shape.special, Special::Address | Special::Current);
            if shape.fd == 0 && shape.fd2 == NONE && plain {
                let own = shape.offset == NONE && !shape.streams;
                head.moves.0 = shape.motion != Motion::None && own;
                let (fd, n) = fd_number(&args[arguments::name_len(args)..]);
                head.fd = (n > 0).then_some(fd);
                return head;
            }
            let mut last = [shape.fd, shape.fd2, shape.path, NONE, NONE];
            if shape.motion != Motion::None {
                (last[3], last[4]) = (shape.offset, shape.offset2);
            }
            let last = last.into_iter().filter(|&at| at != NONE).max();
            let split = Split::new(args, usize::from(last.unwrap_or(0)));
            if shape.motion != Motion::None {
                let moves = |at| transfer::start(shape, args, &split, at).0 == At::Position;
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
        Op::Rename | Op::Unlink => {
            let names = paths::last_parts(args, shape);
            head.detail = Some(side.detail(Detail::Renames(names)));
        }
        op if (op.names() || op == Op::Exec) && shape.at != NONE && shape.fd == NONE => {
            if op == Op::Link {
                head.detail = Some(side.detail(Detail::Renames(paths::last_parts(args, shape))));
            }
            (head.fd, head.fd2) = paths::descriptors(args, shape);
            if shape.op != Op::Exec && (head.fd.is_some() || head.fd2.is_some()) {
                head.op = Op::Use;
            }
        }
        _ => {}
    }
    head
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
        if shape.offset != NONE || shape.motion != Motion::None {
            self.transfer(split);
        }
    }
}
