//! Columns that come from the arguments of a call: descriptors, paths, counts, offsets.

use std::borrow::Cow;

use super::args::{MAX_ARGS, Split, decimal, number};
use crate::event::{FileType, Op, clone_flags, open_flags};
use crate::parsed::Head;
use crate::rows::{AT_FDCWD, Rows, Side};
use crate::schema::Column as C;
use crate::strace::fields::{Source, file_id};
use crate::syscalls::{self, Cloexec, Count, NONE, Shape};
use crate::text::escape_invalid;
use crate::view;

const O_CLOEXEC: i64 = syscalls::O_CLOEXEC as i64;
const AT_EMPTY_PATH: i64 = 0x1000;
const F_DUPFD: i64 = 0;
const F_DUPFD_CLOEXEC: i64 = 1030;
const CLOSE_RANGE_CLOEXEC: i64 = 4;
const SEEK_END: i64 = 2;

/// Where the count of bytes stands: the kernel's argument, whatever the text before it.
fn count_at(shape: &Shape) -> u8 {
    match shape.count {
        Count::Arg(at) => at,
        Count::Last | Count::LastButOne => 2,
        // The text has the address of a vector, not its contents.
        _ => NONE,
    }
}

/// The highest position that the columns of a call need; `None`: it needs none.
fn needed(shape: &Shape) -> Option<usize> {
    if shape.op == Op::Use
        && shape.fd == 0
        && shape.fd2 == NONE
        && !shape.moves
        && shape.path == NONE
    {
        // Of fcntl and lseek, the whole; they are short.
        return Some(MAX_ARGS);
    }
    [
        shape.fd,
        shape.fd2,
        shape.path,
        shape.path2,
        shape.at2,
        shape.offset,
        shape.offset2,
        shape.flags,
        count_at(shape),
    ]
    .into_iter()
    .filter(|&at| at != NONE)
    .max()
    .map(|at| if shape.stat == NONE { usize::from(at) } else { MAX_ARGS })
}

fn split(text: &[u8], shape: &Shape) -> Split {
    match needed(shape) {
        Some(upto) => Split::new(text, upto, shape.path == NONE),
        None => Split::new(b"", 0, false),
    }
}

/// What the arguments tell before the call returns; see [`Head`].
pub fn head(text: &[u8], sys: u16) -> Head {
    let shape = syscalls::shape(sys);
    let mut head = Head { op: shape.op, ..Head::default() };
    match shape.op {
        Op::Fork => head.flags = fork_flags(text, sys),
        Op::Use | Op::Close | Op::Dup | Op::Fchdir => {
            let last = [shape.fd, shape.fd2].into_iter().filter(|&at| at != NONE).max();
            let split = Split::new(text, usize::from(last.unwrap_or(0)), true);
            head.fd = descriptor(&split, text, shape.fd);
            head.fd2 = descriptor(&split, text, shape.fd2);
        }
        Op::Path => {
            if let Some(fd) = empty_path(&split(text, shape), text, shape, sys) {
                head.op = Op::Use;
                head.fd = Some(fd);
            }
        }
        _ => {}
    }
    head
}

/// Descriptors are 32 bits wide in a register of 64.
#[inline]
fn descriptor(split: &Split, text: &[u8], at: u8) -> Option<i32> {
    split.number(text, at).map(|fd| fd as i32)
}

/// `newfstatat(fd, "", …, AT_EMPTY_PATH)` and the like act on the descriptor.
fn empty_path(split: &Split, text: &[u8], shape: &Shape, sys: u16) -> Option<i32> {
    let flags = match syscalls::name(sys) {
        "newfstatat" | "fstatat64" => 3,
        "statx" => 2,
        _ => return None,
    };
    let printed = split.get(text, shape.path).and_then(quoted);
    let empty = printed.map_or_else(
        || split.number(text, flags).is_some_and(|flags| flags & AT_EMPTY_PATH != 0),
        |path| path.text.is_empty(),
    );
    let fd = descriptor(split, text, shape.at)?;
    (empty && fd != AT_FDCWD).then_some(fd)
}

/// Clone flags where the text has them: that of clone3 has only their address.
fn fork_flags(text: &[u8], sys: u16) -> u32 {
    match syscalls::name(sys) {
        "vfork" => clone_flags::CLONE_VM | clone_flags::CLONE_VFORK,
        "clone" | "clone2" => Split::new(text, 0, false).number(text, 0).unwrap_or(0) as u32,
        _ => 0,
    }
}

/// Fills the columns that the arguments `source` of call `sys` give; `ret` is the return value of a
/// call that succeeded.
#[inline]
pub fn fill(
    rows: &mut Rows,
    side: &mut Side,
    row: usize,
    source: Source<'_>,
    sys: u16,
    ret: Option<i64>,
) {
    if sys == syscalls::UNKNOWN {
        return;
    }
    let shape = syscalls::shape(sys);
    rows.effect[row].op = shape.op;
    let split = split(source.bytes, shape);
    let mut out = Out { rows, side, row, source, split };
    out.descriptors(shape);
    out.counts(shape, ret);
    if shape.path != NONE {
        out.paths(shape, sys);
    }
    if shape.makes_fd {
        out.made(shape, ret);
    }
    out.special(shape, sys, ret);
}

struct Out<'a> {
    rows: &'a mut Rows,
    side: &'a mut Side,
    row: usize,
    source: Source<'a>,
    split: Split,
}

/// A string in quotes.
struct Quoted<'a> {
    /// Where it begins in the value.
    start: usize,
    text: &'a [u8],
    /// The kernel printed only its beginning.
    cut: bool,
}

/// The string of `0x7f… "path"` or `0x7f… "beginning"...`.
fn quoted(value: &[u8]) -> Option<Quoted<'_>> {
    let start = memchr::memchr(b'"', value)? + 1;
    let (body, cut) = match value.strip_suffix(b"...") {
        Some(body) => (body, true),
        None => (value, false),
    };
    let text = body.get(start..)?.strip_suffix(b"\"")?;
    Some(Quoted { start, text, cut })
}

impl Out<'_> {
    #[inline]
    fn set(&mut self, column: C) {
        self.rows.valid[self.row] |= column.bit();
    }

    #[inline]
    fn number(&self, at: u8) -> Option<i64> {
        self.split.number(self.source.bytes, at)
    }

    fn flags(&self, shape: &Shape) -> i64 {
        self.number(shape.flags).unwrap_or(0)
    }

    fn fd(&mut self, fd: Option<i32>) {
        if let Some(fd) = fd {
            self.rows.fd[self.row] = fd;
            self.set(C::Fd);
        }
    }

    fn fd2(&mut self, fd: Option<i32>) {
        if let Some(fd) = fd {
            self.rows.fd2[self.row] = fd;
            self.set(C::Fd2);
        }
    }

    #[inline]
    fn descriptors(&mut self, shape: &Shape) {
        let fd = descriptor(&self.split, self.source.bytes, shape.fd);
        let fd2 = descriptor(&self.split, self.source.bytes, shape.fd2);
        self.fd(fd);
        self.fd2(fd2);
    }

    #[inline]
    fn counts(&mut self, shape: &Shape, ret: Option<i64>) {
        if let Some(count) = self.number(count_at(shape)).filter(|&n| n >= 0) {
            self.rows.requested[self.row] = count;
            self.set(C::Requested);
        }
        // Calls on two descriptors take the address of an offset, which is not in the text.
        if shape.fd2 == NONE
            && let Some(offset) = self.number(shape.offset).filter(|&n| n >= 0)
        {
            self.rows.offset[self.row] = offset;
            self.set(C::Offset);
        }
        if shape.moves
            && let Some(bytes) = ret.filter(|&n| n >= 0)
        {
            self.rows.bytes[self.row] = bytes;
            self.set(C::Bytes);
        }
    }

    /// Paths where the kernel prints them.
    fn paths(&mut self, shape: &Shape, sys: u16) {
        if let Some(fd) = empty_path(&self.split, self.source.bytes, shape, sys) {
            self.rows.effect[self.row].op = Op::Use;
            self.fd(Some(fd));
            return;
        }
        self.path(shape.path, shape.at, false);
        self.path(shape.path2, shape.at2, true);
    }

    fn path(&mut self, position: u8, at: u8, second: bool) {
        let bytes = self.source.bytes;
        let Some((start, end)) = self.split.range(position) else { return };
        let Some(path) = quoted(&bytes[start..end]).filter(|path| !path.text.is_empty()) else {
            return;
        };
        let base = self.start_of_path(at, &bytes[start..end]);
        let from = start + path.start;
        let relative = path.text[0] != b'/';
        let name = if self.source.utf8 { None } else { Some(escape_invalid(path.text)) };
        let view = match (&name, path.cut) {
            (None, false) => view::pack(path.text, self.source.place, self.source.base + from),
            (_, cut) => {
                let name = name.as_deref().map_or(path.text, str::as_bytes);
                let begin = self.side.bytes.len();
                self.side.bytes.extend_from_slice(name);
                if cut {
                    self.side.bytes.extend_from_slice(b"...");
                }
                self.side.since(begin)
            }
        };
        // What a path in full would be is not known, nor is a relative one before it is resolved.
        let id = (!relative && !path.cut).then(|| {
            file_id(name.as_ref().map_or(path.text, |name: &Cow<'_, str>| name.as_bytes()))
        });
        let row = self.row;
        let effect = &mut self.rows.effect[row];
        if second {
            effect.at2 = base;
            effect.relative2 = relative;
            self.rows.path2[row] = view;
            self.set(C::Path2);
            if let Some(id) = id {
                self.rows.file2[row] = id;
                self.set(C::File2);
            }
        } else {
            effect.at = base;
            effect.relative = relative;
            self.rows.path[row] = view;
            self.set(C::Path);
            if let Some(id) = id {
                self.rows.file[row] = id;
                self.set(C::File);
            }
        }
    }

    /// The descriptor that a relative path starts from. Where the pointer of the path has no `0x`,
    /// Linux 6.19 prints both in decimal.
    fn start_of_path(&self, at: u8, path: &[u8]) -> i32 {
        let Some(value) = self.split.get(self.source.bytes, at) else { return AT_FDCWD };
        let fd = if path.starts_with(b"0x") { number(value) } else { decimal(value) };
        fd.map_or(AT_FDCWD, |fd| fd as i32)
    }

    /// A descriptor that the call returns.
    fn made(&mut self, shape: &Shape, ret: Option<i64>) {
        let fd = ret.and_then(|fd| i32::try_from(fd).ok()).filter(|&fd| fd >= 0);
        if shape.op == Op::Dup {
            self.fd2(fd);
        } else {
            self.fd(fd);
        }
    }

    /// Effects and columns of single calls.
    #[inline]
    fn special(&mut self, shape: &Shape, sys: u16, ret: Option<i64>) {
        let row = self.row;
        match shape.op {
            Op::Fork => {
                // A return of 0 is the child's view of its own creation.
                if ret == Some(0) {
                    self.rows.effect[row].op = Op::None;
                }
                self.rows.effect[row].flags = fork_flags(self.source.bytes, sys);
            }
            Op::Open | Op::OpenAnon | Op::OpenPair => {
                let mut flags = shape.makes.map_or(0, |t| t as u32 | open_flags::TYPED);
                flags |= self.opened(shape, sys);
                self.rows.effect[row].flags = flags;
            }
            Op::Dup if self.flags(shape) & O_CLOEXEC != 0 => {
                self.rows.effect[row].flags = open_flags::CLOEXEC;
            }
            Op::CloseRange => {
                if self.flags(shape) & CLOSE_RANGE_CLOEXEC != 0 {
                    self.rows.effect[row].flags = open_flags::CLOEXEC;
                }
                if self.rows.has(row, C::Fd2) && self.rows.fd2[row] < 0 {
                    self.rows.fd2[row] = i32::MAX;
                }
            }
            Op::ExitCall => {
                self.rows.effect[row].flags = u32::from(syscalls::name(sys) == "exit_group");
            }
            Op::Use => match syscalls::name(sys) {
                "fcntl" | "fcntl64" => self.fcntl(ret),
                "lseek" => {
                    // The end of the file is its size.
                    let end = self.number(1) == Some(0) && self.number(2) == Some(SEEK_END);
                    if let Some(size) = ret.filter(|&n| end && n >= 0) {
                        self.rows.size[row] = size;
                        self.set(C::Size);
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// What the flags of a call that makes a descriptor say of it.
    fn opened(&self, shape: &Shape, sys: u16) -> u32 {
        let bit = match syscalls::name(sys) {
            // The text has only the address of the flags.
            "openat2" => return 0,
            _ => match shape.cloexec {
                Cloexec::Always => return open_flags::CLOEXEC,
                Cloexec::Bit(bit) => i64::from(bit),
            },
        };
        let mut flags = 0;
        match self.split.get(self.source.bytes, shape.flags) {
            Some(value) if value.starts_with(b"O_") => {
                let has = |name: &[u8]| value.split(|&b| b == b'|').any(|flag| flag == name);
                if has(b"O_CLOEXEC") {
                    flags |= open_flags::CLOEXEC;
                }
                if has(b"O_DIRECTORY") {
                    flags |= FileType::Directory as u32 | open_flags::TYPED;
                }
            }
            Some(value) if number(value).is_some_and(|value| value & bit != 0) => {
                flags |= open_flags::CLOEXEC;
            }
            _ => {}
        }
        flags
    }

    /// `fcntl(fd: 3, cmd: 0x406, arg: 0xa)` is a dup.
    fn fcntl(&mut self, ret: Option<i64>) {
        let Some(cmd @ (F_DUPFD | F_DUPFD_CLOEXEC)) = self.number(1) else { return };
        let Some(fd) = ret.and_then(|fd| i32::try_from(fd).ok()).filter(|&fd| fd >= 0) else {
            return;
        };
        self.rows.effect[self.row].op = Op::Dup;
        if cmd == F_DUPFD_CLOEXEC {
            self.rows.effect[self.row].flags = open_flags::CLOEXEC;
        }
        self.fd2(Some(fd));
    }
}
