//! Columns that come from the arguments of a call: descriptors, paths, counts, offsets, sizes.

use memchr::{memchr, memrchr};
use xxhash_rust::xxh3::xxh3_64;

use crate::event::{FileType, Op, clone_flags, open_flags};
use crate::find;
use crate::num;
use crate::parsed::Head;
use crate::rows::{AT_FDCWD, Rows, Side};
use crate::schema::Column as C;
use crate::strace::args::{self, MAX_ARGS, Split};
use crate::syscalls::{self, Count, NONE, Shape, Special};
use crate::text::{escape_invalid, unescape_into};
use crate::view::{self, Place};

/// A text that a row's views can point into.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Which buffer of the block holds them.
    pub place: Place,
    /// Where in that buffer they begin.
    pub base: usize,
    /// They are valid UTF-8.
    pub utf8: bool,
}

impl Source<'_> {
    /// The view of `start..end`; a copy beside the text where that is not UTF-8.
    #[inline]
    pub fn view(&self, start: usize, end: usize, side: &mut Side) -> u128 {
        let part = &self.bytes[start..end];
        if self.utf8 {
            view::pack(part, self.place, self.base + start)
        } else {
            match escape_invalid(part) {
                std::borrow::Cow::Borrowed(_) => view::pack(part, self.place, self.base + start),
                std::borrow::Cow::Owned(fixed) => side.put(fixed.as_bytes()),
            }
        }
    }
}

/// Identity of a file known by `name` (a path, `pipe:[…]`, `socket:[…]`).
#[inline]
pub fn file_id(name: &[u8]) -> u64 {
    xxh3_64(name)
}

/// Fills the columns that the arguments `source` of call `sys` give.
///
/// `ret` is the return value where the call succeeded. Columns set before (the path of an annotated
/// return value) stay.
pub fn fill(
    rows: &mut Rows,
    side: &mut Side,
    row: usize,
    source: Source<'_>,
    sys: u16,
    ret: Option<i64>,
) {
    let shape = syscalls::shape(sys);
    let mut out = Out { rows, side, row, source };
    let text = source.bytes;
    out.rows.effect[row].op = shape.op;
    // Plain shapes need no split: the first argument, and counts from the end.
    let simple = shape.path == NONE
        && matches!(shape.fd, 0 | NONE)
        && shape.fd2 == NONE
        && matches!(shape.count, Count::None | Count::Last | Count::LastButOne);
    if simple {
        if shape.fd == 0 {
            let start = args::name_len(text);
            out.descriptor(text, start, false);
        }
        match shape.count {
            Count::Last => {
                out.last_integer(text, C::Requested);
            }
            Count::LastButOne => {
                if let Some(comma) = out.last_integer(text, C::Offset) {
                    out.last_integer(&text[..comma], C::Requested);
                }
            }
            _ => {}
        }
    } else {
        split_shape(&mut out, shape);
    }
    if shape.moves
        && let Some(bytes) = ret.filter(|&n| n >= 0)
    {
        out.rows.bytes[row] = bytes;
        out.rows.valid[row] |= C::Bytes.bit();
    }
    if shape.makes_fd {
        out.made(shape, ret);
    }
    special(&mut out, shape, sys, ret);
}

/// What the first half of a call tells of its effect.
pub fn head(args: &[u8], sys: u16) -> Head {
    let shape = syscalls::shape(sys);
    let mut head = Head { op: shape.op, ..Head::default() };
    match shape.op {
        Op::Fork => head.flags = fork_flags(args, sys),
        Op::Use | Op::Close | Op::Dup | Op::Fchdir => {
            if shape.fd == 0 && shape.fd2 == NONE {
                let (fd, n) = fd_number(&args[args::name_len(args)..]);
                head.fd = (n > 0).then_some(fd);
                return head;
            }
            let last = if shape.fd2 == NONE { shape.fd } else { shape.fd.max(shape.fd2) };
            let split = Split::new(args, usize::from(last));
            let fd = |position| {
                let (fd, n) = fd_number(split.get(args, position)?);
                (n > 0).then_some(fd)
            };
            head.fd = fd(shape.fd);
            head.fd2 = fd(shape.fd2);
        }
        _ => {}
    }
    head
}

struct Out<'a> {
    rows: &'a mut Rows,
    side: &'a mut Side,
    row: usize,
    source: Source<'a>,
}

impl Out<'_> {
    #[inline]
    fn set(&mut self, column: C) {
        self.rows.valid[self.row] |= column.bit();
    }

    fn has(&self, column: C) -> bool {
        self.rows.has(self.row, column)
    }

    /// A descriptor with or without its annotation, at `start` of the source.
    #[inline]
    fn descriptor(&mut self, text: &[u8], start: usize, second: bool) {
        let Some(arg) = text.get(start..) else { return };
        let (fd, n) = fd_number(arg);
        if n == 0 {
            return;
        }
        if second {
            self.rows.fd2[self.row] = fd;
            self.set(C::Fd2);
        } else {
            self.rows.fd[self.row] = fd;
            self.set(C::Fd);
        }
        if arg.get(n) == Some(&b'<')
            && let Some((end, plain)) = args::annotation(text, start + n)
        {
            self.annotation(start + n + 1, end - 1, plain, second);
        }
    }

    /// The body of an annotation, `start..end` of the source, as path, file and type.
    fn annotation(&mut self, start: usize, end: usize, plain: bool, second: bool) {
        if self.has(if second { C::Path2 } else { C::Path }) {
            return;
        }
        let body = &self.source.bytes[start..end];
        let note = Annotation::parse(body);
        let name = &body[..note.len];
        let view = if !self.source.utf8 || !plain && memchr(b'\\', name).is_some() {
            let from = self.side.bytes.len();
            unescape_into(name, &mut self.side.bytes);
            self.side.since(from)
        } else {
            view::pack(name, self.source.place, self.source.base + start)
        };
        // Most descriptors were opened in the log, and their identity is known by then.
        let row = self.row;
        if second {
            self.rows.path2[row] = view;
            self.set(C::Path2);
            self.rows.effect[row].identify2 = note.identity;
        } else {
            self.rows.path[row] = view;
            self.set(C::Path);
            self.rows.effect[row].identify = note.identity;
            if let Some(file_type) = note.file_type {
                self.rows.file_type[row] = file_type as u8;
                self.set(C::FileType);
            }
        }
    }

    /// The last argument of `args`, if it is an integer, into `column`; returns where the comma
    /// before it stands.
    #[inline]
    fn last_integer(&mut self, args: &[u8], column: C) -> Option<usize> {
        // No number is longer than 24 bytes, name included it stays below 40.
        let low = args.len().saturating_sub(40);
        let comma = low + args[low..].iter().rposition(|&b| b == b',')?;
        let arg = args.get(comma + 2..)?;
        let value = num::whole_integer(&arg[args::name_len(arg)..])?;
        self.integer(value, column);
        Some(comma)
    }

    fn integer(&mut self, value: i64, column: C) {
        match column {
            C::Requested => self.rows.requested[self.row] = value,
            C::Offset => self.rows.offset[self.row] = value,
            C::Offset2 => self.rows.offset2[self.row] = value,
            C::Size => self.rows.size[self.row] = value,
            _ => return,
        }
        self.set(column);
    }

    /// A path in quotes, at `arg` which begins at `start` of the source.
    fn path(&mut self, arg: &[u8], start: usize, at: Option<(&[u8], usize)>, second: bool) {
        if self.has(if second { C::Path2 } else { C::Path }) || arg.first() != Some(&b'"') {
            return;
        }
        let Some((end, plain)) = args::string_end(arg, 0) else { return };
        let body = &arg[1..end - 1];
        if body.is_empty() {
            // An empty path with AT_EMPTY_PATH acts on the descriptor.
            if let Some((at, at_start)) = at {
                let (fd, n) = fd_number(at);
                if n > 0 && fd != AT_FDCWD && !second {
                    self.rows.fd[self.row] = fd;
                    self.set(C::Fd);
                    self.rows.effect[self.row].op = Op::Use;
                    let text = self.source.bytes;
                    self.descriptor(text, at_start, false);
                }
            }
            return;
        }
        let (fd, base) = at.map_or((AT_FDCWD, None), |(at, _)| {
            let (fd, n) = fd_number(at);
            let note = (n > 0 && at.get(n) == Some(&b'<'))
                .then(|| args::annotation_end(at, n).map(|end| &at[n + 1..end - 1]))
                .flatten();
            (if n > 0 { fd } else { AT_FDCWD }, note)
        });
        let escaped = !plain || !self.source.utf8;
        let absolute = body[0] == b'/' || body.starts_with(b"\\x2f") || body.starts_with(b"\\57");
        let mut relative = !absolute;
        let (view, id) = match base {
            Some(base) if relative => {
                let from = self.side.bytes.len();
                let note = Annotation::parse(base);
                unescape_into(&base[..note.len], &mut self.side.bytes);
                self.side.bytes.push(b'/');
                unescape_into(body.strip_prefix(b"./").unwrap_or(body), &mut self.side.bytes);
                relative = false;
                let id = file_id(&self.side.bytes[from..]);
                (self.side.since(from), id)
            }
            _ if escaped => {
                let from = self.side.bytes.len();
                unescape_into(body, &mut self.side.bytes);
                let id = file_id(&self.side.bytes[from..]);
                (self.side.since(from), id)
            }
            _ => {
                let at = self.source.base + start + 1;
                (view::pack(body, self.source.place, at), file_id(body))
            }
        };
        // The identity of a relative path has to wait for the working directory.
        let id = (!relative).then_some(id);
        let row = self.row;
        if second {
            self.rows.path2[row] = view;
            self.set(C::Path2);
            self.rows.effect[row].at2 = fd;
            self.rows.effect[row].relative2 = relative;
            if let Some(id) = id {
                self.rows.file2[row] = id;
                self.set(C::File2);
            }
        } else {
            self.rows.path[row] = view;
            self.set(C::Path);
            self.rows.effect[row].at = fd;
            self.rows.effect[row].relative = relative;
            if let Some(id) = id {
                self.rows.file[row] = id;
                self.set(C::File);
            }
        }
    }

    /// A descriptor that the call returns.
    fn made(&mut self, shape: &Shape, ret: Option<i64>) {
        let Some(fd) = ret.and_then(|fd| i32::try_from(fd).ok()).filter(|&fd| fd >= 0) else {
            return;
        };
        if shape.op == Op::Dup {
            self.rows.fd2[self.row] = fd;
            self.set(C::Fd2);
        } else {
            self.rows.fd[self.row] = fd;
            self.set(C::Fd);
        }
    }
}

/// Calls whose arguments are not at the start or the end.
fn split_shape(out: &mut Out<'_>, shape: &Shape) {
    let text = out.source.bytes;
    let last = |positions: &[u8]| {
        positions.iter().filter(|&&p| p != NONE).max().map_or(0, |&p| usize::from(p))
    };
    let count = match shape.count {
        Count::Arg(i) | Count::Vector(i) => i,
        Count::Last | Count::LastButOne => MAX_ARGS as u8,
        Count::None => NONE,
    };
    let upto =
        last(&[shape.fd, shape.fd2, shape.path, shape.path2, shape.offset, shape.offset2, count]);
    let split = Split::new(text, upto);
    // A path argument that is absolute or annotated decides; a descriptor comes after it.
    if shape.path != NONE
        && let Some(arg) = split.get(text, shape.path)
    {
        let at = (shape.at != NONE)
            .then(|| split.get(text, shape.at).map(|at| (at, split.start(shape.at))))
            .flatten();
        out.path(arg, split.start(shape.path), at, false);
    }
    if shape.path2 != NONE
        && let Some(arg) = split.get(text, shape.path2)
    {
        let at = (shape.at2 != NONE)
            .then(|| split.get(text, shape.at2).map(|at| (at, split.start(shape.at2))))
            .flatten();
        out.path(arg, split.start(shape.path2), at, true);
    }
    for (position, second) in [(shape.fd, false), (shape.fd2, true)] {
        if usize::from(position) < split.len() {
            out.descriptor(text, split.start(position), second);
        }
    }
    match shape.count {
        Count::Arg(i) => {
            if let Some(value) = split.get(text, i).and_then(num::whole_integer) {
                out.integer(value, C::Requested);
            }
        }
        Count::Vector(i) => {
            if let Some(sum) = split.get(text, i).and_then(vector_bytes) {
                out.integer(sum, C::Requested);
            }
        }
        _ => {}
    }
    for (position, column) in [(shape.offset, C::Offset), (shape.offset2, C::Offset2)] {
        if let Some(value) = split.get(text, position).and_then(offset) {
            out.integer(value, column);
        }
    }
}

/// `-1` of preadv2 and NULL stand for the description's own offset, which is not in the text.
fn offset(arg: &[u8]) -> Option<i64> {
    let inner = arg.strip_prefix(b"[").unwrap_or(arg);
    let (value, n) = num::c_integer(inner);
    (n > 0 && value >= 0).then_some(value)
}

/// The sum of the lengths of a vector that is printed whole:
/// `[{iov_base="..", iov_len=3}, …]`, or `[{"abc", 3}, …]` before 4.15.
fn vector_bytes(arg: &[u8]) -> Option<i64> {
    let inner = arg.strip_prefix(b"[")?.strip_suffix(b"]")?;
    let split = Split::new(inner, MAX_ARGS);
    if split.len() >= MAX_ARGS {
        return None;
    }
    let mut sum = 0i64;
    for i in 0..split.len() as u8 {
        let item = split.get(inner, i)?.strip_prefix(b"{")?.strip_suffix(b"}")?;
        let fields = Split::new(item, 2);
        sum = sum.checked_add(num::whole_integer(fields.get(item, 1)?)?)?;
    }
    Some(sum)
}

/// A descriptor's number and the length of its text.
#[inline]
fn fd_number(arg: &[u8]) -> (i32, usize) {
    if let [b'A', ..] = arg {
        return if arg.starts_with(b"AT_FDCWD") { (AT_FDCWD, 8) } else { (0, 0) };
    }
    // `-e raw` prints −1 and AT_FDCWD as unsigned 32- or 64-bit numbers.
    let (value, n) = num::c_integer(arg);
    (value as i32, n)
}

/// Effects and columns of single calls.
fn special(out: &mut Out<'_>, shape: &Shape, sys: u16, ret: Option<i64>) {
    let text = out.source.bytes;
    let row = out.row;
    match shape.op {
        Op::Fork => out.rows.effect[row].flags = fork_flags(text, sys),
        Op::Open | Op::OpenAnon | Op::OpenPair => {
            let mut flags = shape.makes.map_or(0, |t| t as u32 | open_flags::TYPED);
            // Flags stand behind the path.
            let text = memrchr(b'"', text).map_or(text, |quote| &text[quote..]);
            if find::contains(text, b"CLOEXEC", 5) {
                flags |= open_flags::CLOEXEC;
            }
            if shape.op == Op::Open && find::contains(text, b"O_DIRECTORY", 10) {
                flags |= FileType::Directory as u32 | open_flags::TYPED;
            }
            out.rows.effect[row].flags = flags;
            if shape.op == Op::OpenPair && ret == Some(0) {
                pair(out);
            }
        }
        Op::Dup if find::contains(text, b"O_CLOEXEC", 7) => {
            out.rows.effect[row].flags = open_flags::CLOEXEC;
        }
        Op::CloseRange => {
            // Only marks them, or works on a copy of the table first: nothing is closed for all.
            if find::contains(text, b"CLOSE_RANGE_CLOEXEC", 17) {
                out.rows.effect[row].flags = open_flags::CLOEXEC;
            }
            let split = Split::new(text, 1);
            if let Some(last) = split.get(text, 1).and_then(num::whole_integer) {
                out.rows.fd2[row] =
                    i32::try_from(last).ok().filter(|&fd| fd >= 0).unwrap_or(i32::MAX);
                out.set(C::Fd2);
            }
        }
        Op::ExitCall => out.rows.effect[row].flags = u32::from(syscalls::name(sys) == "exit_group"),
        Op::Use if shape.special == Special::Fcntl => fcntl(out, ret),
        Op::Use if shape.special == Special::Lseek => {
            // The end of the file is its size.
            if text.ends_with(b", 0, SEEK_END")
                && let Some(size) = ret.filter(|&n| n >= 0)
            {
                out.integer(size, C::Size);
            }
        }
        _ => {}
    }
    if shape.stat && ret == Some(0) {
        stat(out);
    }
}

fn fork_flags(text: &[u8], sys: u16) -> u32 {
    match syscalls::name(sys) {
        "fork" => 0,
        "vfork" => clone_flags::CLONE_VM | clone_flags::CLONE_VFORK,
        _ => clone_bits(text),
    }
}

fn clone_bits(text: &[u8]) -> u32 {
    use clone_flags::{CLONE_FILES, CLONE_FS, CLONE_THREAD, CLONE_VFORK, CLONE_VM};
    let has = |name: &[u8]| {
        memchr::memmem::find_iter(text, name).any(|at| {
            !text.get(at + name.len()).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
        })
    };
    let named: u32 = [
        (&b"CLONE_VM"[..], CLONE_VM),
        (b"CLONE_FS", CLONE_FS),
        (b"CLONE_FILES", CLONE_FILES),
        (b"CLONE_VFORK", CLONE_VFORK),
        (b"CLONE_THREAD", CLONE_THREAD),
    ]
    .iter()
    .filter(|(name, _)| has(name))
    .map(|(_, bit)| bit)
    .sum();
    if named != 0 {
        return named;
    }
    // Raw numbers: `flags=0x1200011`.
    find::find(text, b"flags=", 5).map_or(0, |at| num::c_integer(&text[at + 6..]).0 as u32)
}

/// `fcntl(3, F_DUPFD_CLOEXEC, 10) = 10` is a dup, `fcntl(3, F_SETFD, FD_CLOEXEC)` a mark.
fn fcntl(out: &mut Out<'_>, ret: Option<i64>) {
    let text = out.source.bytes;
    if find::contains(text, b"F_SETFD", 6) {
        if ret == Some(0) {
            let mark = find::contains(text, b"FD_CLOEXEC", 9);
            out.rows.effect[out.row].op = Op::SetCloexec;
            out.rows.effect[out.row].flags = if mark { open_flags::CLOEXEC } else { 0 };
        }
        return;
    }
    if !find::contains(text, b"F_DUPFD", 5) {
        return;
    }
    if let Some(fd) = ret.and_then(|fd| i32::try_from(fd).ok()).filter(|&fd| fd >= 0) {
        let row = out.row;
        out.rows.effect[row].op = Op::Dup;
        if find::contains(text, b"F_DUPFD_CLOEXEC", 13) {
            out.rows.effect[row].flags = open_flags::CLOEXEC;
        }
        out.rows.fd2[row] = fd;
        out.set(C::Fd2);
    }
}

/// `[3<…>, 4<…>]` of pipe and socketpair.
fn pair(out: &mut Out<'_>) {
    let text = out.source.bytes;
    let split = Split::new(text, MAX_ARGS);
    for i in 0..split.len() as u8 {
        let Some(arg) = split.get(text, i) else { return };
        if arg.first() != Some(&b'[') {
            continue;
        }
        let from = split.start(i) + 1;
        let inner = &arg[1..];
        let two = Split::new(inner, 1);
        if two.len() == 2 {
            out.descriptor(text, from + two.start(0), false);
            out.descriptor(text, from + two.start(1), true);
        }
    }
}

/// Size and type out of `{st_mode=S_IFREG|0644, st_size=1024, ...}`.
fn stat(out: &mut Out<'_>) {
    let text = out.source.bytes;
    // The file's name may hold such text; the structure stands behind it.
    let Some(open) = memrchr(b'{', text) else { return };
    // Abbreviated, it begins with the mode; times and the like are structures of their own.
    let text = if text[open + 1..].starts_with(b"st_mode=S") {
        &text[open..]
    } else {
        &text[open.saturating_sub(400)..]
    };
    let value = |key: &[u8], rare| find::rfind(text, key, rare).map(|at| &text[at + key.len()..]);
    let mode = value(b"_mode=S", 5);
    let file_type = mode.and_then(|mode| {
        Some(match mode.get(..6)? {
            b"_IFREG" => FileType::Regular,
            b"_IFDIR" => FileType::Directory,
            b"_IFIFO" => FileType::Fifo,
            b"_IFCHR" => FileType::Char,
            b"_IFBLK" => FileType::Block,
            _ if mode.starts_with(b"_IFSOCK") => FileType::Socket,
            _ => return None,
        })
    });
    if let Some(file_type) = file_type {
        let noted = out.has(C::FileType).then(|| out.rows.file_type[out.row]);
        if let Some(file_type) = FileType::settled(noted, Some(file_type as u8)) {
            out.rows.file_type[out.row] = file_type;
            out.set(C::FileType);
        }
    }
    if let Some(size) = value(b"_size=", 5) {
        let (size, n) = num::c_integer(size);
        if n > 0 && matches!(file_type, None | Some(FileType::Regular)) {
            out.integer(size, C::Size);
        }
    }
}

/// What an annotation says of a descriptor.
#[derive(Debug, Clone, Copy)]
pub struct Annotation {
    /// Length of the name at the start of the annotation.
    pub len: usize,
    /// Type, where the annotation tells it.
    pub file_type: Option<FileType>,
    /// The name tells one file from another; `anon_inode:[eventpoll]` does not.
    pub identity: bool,
}

impl Annotation {
    /// Reads the text between the angle brackets.
    pub fn parse(body: &[u8]) -> Self {
        let of =
            |file_type, identity| Self { len: body.len(), file_type: Some(file_type), identity };
        match body.first() {
            Some(b'/') => {
                let mut note = Self { len: body.len(), file_type: None, identity: true };
                if body.ends_with(b">") {
                    for (mark, file_type) in
                        [(&b"<char "[..], FileType::Char), (b"<block ", FileType::Block)]
                    {
                        if let Some(at) = find::rfind(body, mark, 0) {
                            note.len = at;
                            note.file_type = Some(file_type);
                        }
                    }
                }
                if let Some(name) = body[..note.len].strip_suffix(b" (deleted)") {
                    note.len = name.len();
                }
                if body.starts_with(b"/memfd:") {
                    note.file_type = Some(FileType::Memfd);
                }
                note
            }
            Some(b'p') if body.starts_with(b"pipe:[") => of(FileType::Pipe, true),
            Some(b's') if body.starts_with(b"socket:[") => of(FileType::Socket, true),
            Some(b'a') if body.starts_with(b"anon_inode:") => of(FileType::Anon, false),
            Some(b'p') if body.starts_with(b"pid:") => of(FileType::Anon, false),
            Some(b's') if body.starts_with(b"signalfd:") => of(FileType::Anon, false),
            Some(b'{') => of(FileType::Anon, false),
            Some(b'A'..=b'Z' | b'(') => of(FileType::Socket, true),
            _ => Self { len: body.len(), file_type: None, identity: true },
        }
    }
}
