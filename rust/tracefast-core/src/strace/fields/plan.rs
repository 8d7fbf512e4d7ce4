//! How the columns of each call are found, and calls whose arguments need not be split.

use crate::events::schema::Column as C;
use crate::events::vocabulary::{Motion, Op};
use crate::linux::syscalls::{self, Count, NONE, Shape, Special};
use crate::strace::arguments::{self, MAX_ARGS, Split};
use crate::strace::fields::paths::PathBase;
use crate::strace::fields::writer::{FieldWriter, fd_number};

/// How the columns of a call are found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub method: Method,
    /// The call has no effect beyond what its descriptor, path and counts say.
    pub plain: bool,
    /// Position of the last argument that a column needs.
    pub last: u8,
}

/// How the arguments are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// A descriptor as the first argument, and counts from the end.
    Ends,
    /// A path as the first argument, or as the second after the descriptor that it is relative to.
    Path,
    /// All arguments, split at their commas.
    Split,
}

impl Plan {
    /// For calls that are not in the table.
    const NOTHING: Self = Self { method: Method::Ends, plain: true, last: 0 };

    /// The plan for call `sys`.
    #[inline]
    pub(crate) fn for_call(sys: u16) -> Self {
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
            && matches!((shape.count, shape.motion), (Count::None, Motion::None))
            && matches!((shape.path2, shape.fd, shape.offset), (NONE, NONE, NONE))
            && shape.prefix.is_empty();
        let method = if shape.fd2 != NONE {
            Method::Split
        } else if shape.path == NONE && matches!(shape.fd, 0 | NONE) && ends {
            Method::Ends
        } else if path {
            Method::Path
        } else {
            Method::Split
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
        Self { method, plain, last: last_position(shape) }
    }
}

/// Position of the last argument that a column needs.
const fn last_position(shape: &Shape) -> u8 {
    let count = match shape.count {
        Count::Arg(at) | Count::Vector(at) | Count::Message(at) | Count::Submission(at) => at,
        // The number of messages follows them.
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

impl FieldWriter<'_> {
    /// Writes the path of a call that has no other columns, if it is where it is expected, and
    /// notes its end in `split`. `None` if the arguments must be split to find it.
    #[inline]
    pub(crate) fn first_path(&mut self, split: &mut Split) -> Option<()> {
        let text = self.source.bytes;
        let (mut at, mut start) = (None, 0);
        if self.shape.path == 1 {
            let (fd, n) = fd_number(text);
            let mut from = PathBase::new(fd, n);
            start = n;
            if let [b'0'..=b'9' | b'D', b'<', b'/' | b'a'..=b'z', ..] =
                *text.get(n.checked_sub(1)?..)?
            {
                let (end, _) = arguments::annotation(text, n)?;
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
        let (end, plain) = arguments::string_end(text, start)?;
        if self.has(C::Path) {
            self.requested_path(&text[start..], at);
        } else {
            self.quoted((start, end), plain, at, false);
        }
        split.end_with(self.shape.path, start, end);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use proptest::prelude::*;

    use super::*;
    use crate::events::rows::ViewSource;
    use crate::events::rows::{Rows, Side};
    use crate::strace::fields::fill_by;
    use crate::text::string_view::{Place, unpack};

    /// Formats the columns that a plan finds in `text`. With `known`, the result has given a path.
    fn shown(plan: Plan, sys: u16, text: &[u8], ret: Option<i64>, known: bool) -> String {
        let (mut rows, mut side) = (Rows::default(), Side::default());
        let row = rows.push();
        rows.path[row] = 1 << 32 | 1;
        rows.valid[row] = if known { C::Path.bit() } else { 0 };
        let source = ViewSource { bytes: text, place: Place::Text, base: 0, utf8: true };
        fill_by(plan, &mut rows, &mut side, row, source, sys, ret);
        let view =
            |view: &u128| String::from_utf8_lossy(unpack(view, text, &side.bytes)).into_owned();
        let mut out = format!("{:x} {:?} {:?}", rows.valid[row], rows.effect[row], side.details);
        for (column, value) in [
            (C::Fd, i64::from(rows.fd[row])),
            (C::File, rows.file[row] as i64),
            (C::FileType, i64::from(rows.file_type[row])),
            (C::Size, rows.size[row]),
        ] {
            if rows.has(row, column) {
                let _ = write!(out, " {column:?}={value}");
            }
        }
        if rows.has(row, C::Path) {
            let _ = write!(out, " path={}", view(&rows.path[row]));
        }
        out
    }

    fn compare(text: &[u8]) {
        for name in CALLS {
            let sys = syscalls::by_name(name.as_bytes());
            let plan = Plan::for_call(sys);
            let method = if plan.method == Method::Path { Method::Split } else { plan.method };
            let slow = Plan { method, plain: false, ..plan };
            for (ret, known) in [(Some(0), false), (None, false), (Some(3), true)] {
                let (planned, slow) =
                    (shown(plan, sys, text, ret, known), shown(slow, sys, text, ret, known));
                assert_eq!(planned, slow, "{}({})", syscalls::name(sys), text.escape_ascii());
            }
        }
    }

    const CALLS: [&str; 11] = [
        "openat",
        "open",
        "newfstatat",
        "stat",
        "statx",
        "access",
        "chdir",
        "execve",
        "unlinkat",
        "close",
        "fstat",
    ];

    const ARGUMENTS: &[&str] = &[
        r#"AT_FDCWD</w>, "x", {st_mode=S_IFREG|0644, st_size=12, ...}, 0"#,
        r#"AT_FDCWD</w (deleted)>, "./x\"y", O_RDONLY|O_CLOEXEC"#,
        r#"AT_FDCWD, "/a, b"..., O_RDONLY"#,
        r#"3</w<x>>, "", {st_mode=S_IFDIR|0755, st_size=4096, ...}, AT_EMPTY_PATH"#,
        r#"0xffffff9c</w>, "x", 0"#,
        r#"0xffffff9c</w, "q">, "x", 0"#,
        r#""x", {st_mode=S_IFREG|0644, st_size=12, x={st_mode=S_IFIFO}}"#,
        r#"3, "x", {st_mode=S_IFREG|0644, st_size=12, ...}, "{st_mode=S_IFDIR""#,
        r#"3</dev/null<char 1:3>>, "x", 0"#,
        r#"3<pipe:[7]>, "x", {st_mode=S_IFREG|0644, st_size=12, x={st_size=1}}, 0"#,
        r#"/* a, "b" */ 3, "x", {st_mode=S_IFREG|0644, st_size=12, ...}, 0"#,
        r#""/x", {st_mode=S_IFREG|0644, st_size=12, y="{st_mode=S_"}"#,
        r#""/x{st_mode=S_IFREG|0644, st_size=1", {st_mode=S_IFREG|0600, st_size=3, ...}"#,
        r#""x" , [3, 4]"#,
        r#"dirfd=3</w>, path="x", flags=0"#,
        "3</w>, NULL, 0",
        r#""cut"#,
        "3</cut",
        "",
    ];

    #[test]
    fn plans_find_what_splitting_finds() {
        for text in ARGUMENTS {
            compare(text.as_bytes());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

        #[test]
        fn plans_find_it_in_changed_text(
            text in 0..ARGUMENTS.len() - 1,
            at in any::<prop::sample::Index>(),
            byte in 0usize..22,
            cut in any::<prop::sample::Index>(),
        ) {
            let mut text = ARGUMENTS[text].as_bytes().to_vec();
            let at = at.index(text.len());
            match br#"()<>[]{}",=\ 0x-./*DS"#.get(byte) {
                Some(&byte) => text[at] = byte,
                None => text.truncate(cut.index(text.len())),
            }
            compare(&text);
        }
    }
}
