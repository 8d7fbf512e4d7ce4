//! Columns of calls whose arguments need not be split: what counts stands first, or at the end.

use super::{Out, fd_number};
use crate::event::{Motion, Op};
use crate::schema::Column as C;
use crate::strace::args::{self, Split};
use crate::strace::fields::paths::Start;
use crate::syscalls::{Count, NONE, Shape, Special};

/// How the arguments of a call are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// A descriptor that is the first one, and counts from the end.
    Ends,
    /// A path that is the first one, or the second behind the descriptor that it starts from.
    Path,
    /// All that count, one after the other.
    Split,
}

impl Way {
    #[inline]
    pub fn of(shape: &Shape) -> Self {
        let ends = matches!(shape.count, Count::None | Count::Last | Count::LastButOne);
        if shape.fd2 != NONE {
            Self::Split
        } else if shape.path == NONE && matches!(shape.fd, 0 | NONE) && ends {
            Self::Ends
        } else if matches!((shape.path, shape.at), (0, NONE) | (1, 0))
            && matches!(
                (shape.special, shape.way, shape.count),
                (Special::None, Motion::None, Count::None)
            )
            && [shape.path2, shape.fd, shape.offset] == [NONE; 3]
            && shape.prefix.is_empty()
        {
            Self::Path
        } else {
            Self::Split
        }
    }
}

/// The call does nothing beyond what its descriptor, path and counts say.
#[inline]
pub(super) fn is_plain(shape: &Shape) -> bool {
    shape.special == Special::None
        && shape.length == NONE
        && (shape.flags == NONE
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
            ))
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
