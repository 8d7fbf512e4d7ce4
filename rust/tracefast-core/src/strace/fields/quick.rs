//! Columns of calls whose arguments need not be split: what counts stands first, or at the end.

use super::{Out, fd_number};
use crate::event::{Motion, Op};
use crate::schema::Column as C;
use crate::strace::args::{self, MAX_ARGS, Split};
use crate::strace::fields::paths::Start;
use crate::syscalls::{self, Count, NONE, Shape, Special};

/// How the columns of a call are found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub way: Way,
    /// The call does nothing beyond what its descriptor, path and counts say.
    pub plain: bool,
    /// The last argument that a column needs.
    pub last: u8,
}

/// How its arguments are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// A descriptor that is the first one, and counts from the end.
    Ends,
    /// A path that is the first one, or the second behind the descriptor that it starts from.
    Path,
    /// All that count, one after the other.
    Split,
}

impl Plan {
    /// Of calls that are not in the table.
    const NOTHING: Self = Self { way: Way::Ends, plain: true, last: 0 };

    /// The plan of call `sys`.
    #[inline]
    pub fn of(sys: u16) -> Self {
        static PLANS: [Plan; syscalls::count()] = {
            let mut plans = [Plan::NOTHING; syscalls::count()];
            let mut sys = 0;
            while sys < plans.len() {
                plans[sys] = Plan::new(syscalls::shape_at(sys));
                sys += 1;
            }
            plans
        };
        PLANS.get(usize::from(sys)).copied().unwrap_or(Self::NOTHING)
    }

    const fn new(shape: &Shape) -> Self {
        let ends = matches!(shape.count, Count::None | Count::Last | Count::LastButOne);
        let path = matches!((shape.path, shape.at), (0, NONE) | (1, 0))
            && matches!(shape.special, Special::None)
            && matches!((shape.count, shape.way), (Count::None, Motion::None))
            && matches!((shape.path2, shape.fd, shape.offset), (NONE, NONE, NONE))
            && shape.prefix.is_empty();
        let way = if shape.fd2 != NONE {
            Way::Split
        } else if shape.path == NONE && matches!(shape.fd, 0 | NONE) && ends {
            Way::Ends
        } else if path {
            Way::Path
        } else {
            Way::Split
        };
        let plain = matches!((shape.special, shape.length), (Special::None, NONE))
            && shape.flags == NONE
            && !matches!(
                shape.op,
                Op::Fork
                    | Op::Open
                    | Op::OpenAnon
                    | Op::OpenPair
                    | Op::OpenProcess
                    | Op::Take
                    | Op::Unshare
                    | Op::CloseRange
                    | Op::ExitCall
            );
        Self { way, plain, last: last_position(shape) }
    }
}

/// The last position that a column needs.
const fn last_position(shape: &Shape) -> u8 {
    let count = match shape.count {
        Count::Arg(at) | Count::Vector(at) | Count::Message(at) | Count::Submission(at) => at,
        // The number of messages stands behind them.
        Count::Messages(at) => at + 1,
        Count::Last | Count::LastButOne => MAX_ARGS as u8,
        Count::None => NONE,
    };
    let all = [shape.fd, shape.fd2, shape.path, shape.path2, shape.offset, shape.offset2, count];
    let (mut last, mut i) = (0, 0);
    while i < all.len() {
        if all[i] != NONE && all[i] > last {
            last = all[i];
        }
        i += 1;
    }
    last
}

impl Out<'_> {
    /// The path of a call that has no other columns, if it stands where it should, and what a split
    /// up to it finds. `None`: only splitting the arguments tells.
    #[inline]
    pub(super) fn first_path(&mut self) -> Option<Split> {
        let text = self.source.bytes;
        let (mut at, mut start) = (None, 0);
        if self.shape.path == 1 {
            let (fd, n) = fd_number(text);
            let mut from = Start::new(fd, n);
            start = n;
            if let [b'0'..=b'9' | b'D', b'<', b'/' | b'a'..=b'z', ..] =
                *text.get(n.checked_sub(1)?..)?
            {
                let (end, _) = args::annotation(text, n)?;
                from.close(end);
                start = end;
            }
            if !matches!(*text.get(start..)?, [b',', b' ', b'"', ..]) {
                return None;
            }
            start += 2;
            at = Some(from);
        }
        if text.get(start) != Some(&b'"') {
            return None;
        }
        let (end, plain) = args::string_end(text, start)?;
        if self.has(C::Path) {
            self.asked(&text[start..], at);
        } else {
            self.quoted((start, end), plain, at, false);
        }
        Some(Split::ending(usize::from(self.shape.path), start, end))
    }
}
