//! Paths among the arguments: what they are relative to, and what an empty one means.

use crate::events::details::Detail;
use crate::events::file_id::{file_id, file_id_and_up, last_part, leads_up};
use crate::events::rows::{AT_FDCWD, NO_DETAIL};
use crate::events::schema::Column as C;
use crate::events::vocabulary::{FileType, Op, open_flags};
use crate::linux::syscalls::{NONE, Shape, Special};
use crate::strace::arguments::{self, MAX_ARGS, Split};
use crate::strace::fields::annotation::Annotation;
use crate::strace::fields::writer::{FieldWriter, fd_number};
use crate::text::escape::unescape_into;
use crate::text::search;
use crate::text::string_view;

/// The descriptor that a path is relative to.
#[derive(Clone, Copy)]
pub(crate) struct PathBase {
    fd: i32,
    /// Where its number ends in the source.
    end: usize,
    /// Where its annotation ends, or 0 if that is not known yet.
    close: usize,
}

impl PathBase {
    pub(crate) fn new(fd: i32, end: usize) -> Self {
        Self { fd, end, close: 0 }
    }

    /// Sets where its annotation ends.
    pub(crate) fn close(&mut self, end: usize) {
        self.close = end;
    }

    /// Reads the base of a path from argument `at`.
    #[inline]
    fn parse(text: &[u8], split: &Split, at: u8) -> Option<Self> {
        if usize::from(at) >= split.len() {
            return None;
        }
        let start = split.start(at);
        let (fd, n) = fd_number(text.get(start..)?);
        (n > 0).then_some(Self::new(fd, start + n))
    }

    /// The directory in its annotation, as printed.
    fn note(self, text: &[u8]) -> Option<&[u8]> {
        if self.close > 0 {
            return Some(&text[self.end + 1..self.close - 1]);
        }
        if text.get(self.end) != Some(&b'<') {
            return None;
        }
        let (end, _) = arguments::annotation(text, self.end)?;
        Some(&text[self.end + 1..end - 1])
    }
}

/// Whether a path, as printed, is absolute; `-xx` prints `/` as `\x2f`.
fn is_rooted(path: &[u8]) -> bool {
    path.first() == Some(&b'/') || path.starts_with(b"\\x2f")
}

/// Whether the path is empty or NULL: the call then acts on the descriptor.
fn is_empty(arg: &[u8]) -> bool {
    arg == b"NULL" || arg.strip_prefix(b"\"\"").is_some_and(|rest| !rest.starts_with(b"..."))
}

/// What follows `/proc/self/cwd/`, which is the working directory, or `/proc/self/root`, which is
/// the root directory: proc(5).
#[inline]
fn through_proc(path: &[u8]) -> Option<&[u8]> {
    let rest = path.strip_prefix(b"/proc/self/")?;
    let inside = match rest.strip_prefix(b"cwd/") {
        Some(inside) => &inside[inside.iter().position(|&b| b != b'/')?..],
        None => rest.strip_prefix(b"root").filter(|inside| inside.starts_with(b"/"))?,
    };
    (!inside.is_empty()).then_some(inside)
}

/// Whether the identity of a path depends on whether a directory in it is a symbolic link, which the
/// log does not show. A base that strace shows is not such a directory.
#[inline]
fn may_lead_elsewhere(path: &[u8], shown_base: bool, plain: bool) -> bool {
    if !plain {
        return search::contains(path, b"..", 0) || search::contains(path, b"\\x2e", 0);
    }
    let mut path = path;
    while let (true, Some(rest)) = (shown_base, path.strip_prefix(b"../")) {
        path = rest;
    }
    leads_up(path)
}

/// The descriptors that a call acts on because the paths relative to them are empty.
pub(crate) fn descriptors(text: &[u8], shape: &Shape) -> (Option<i32>, Option<i32>) {
    let last = if shape.path2 == NONE { shape.path } else { shape.path.max(shape.path2) };
    let split = Split::new(text, usize::from(last));
    let fd = |path, at| {
        split.get(text, path).filter(|arg| is_empty(arg))?;
        PathBase::parse(text, &split, at).map(|start| start.fd).filter(|&fd| fd != AT_FDCWD)
    };
    (fd(shape.path, shape.at), fd(shape.path2, shape.at2))
}

/// The last parts of the paths of a call, each `None` if the text does not show it; those of its only
/// path twice, or after that of what a symbolic link leads to.
pub(crate) fn last_parts(text: &[u8], shape: &Shape) -> [Option<u64>; 2] {
    let split = Split::new(text, MAX_ARGS);
    let last = |at| {
        let arg = split.get(text, at)?;
        let (end, _) = arguments::string_end(arg, 0).filter(|&(end, _)| end == arg.len())?;
        let mut path = Vec::new();
        unescape_into(&arg[1..end - 1], &mut path);
        last_part(&path)
    };
    match shape {
        Shape { special: Special::Symlink, .. } => [last(0), last(shape.path)],
        Shape { path2: NONE, .. } => [last(shape.path); 2],
        _ => [last(shape.path), last(shape.path2)],
    }
}

/// Where the path in `{sa_family=AF_UNIX, sun_path="/run/x"}` starts; up to 4.5 the field is named
/// `path`. The name of an abstract socket, `@"x"`, is not a path.
pub(crate) fn in_address(arg: &[u8]) -> Option<usize> {
    let at = search::find(arg, b"path=\"", 4)? + 5;
    arg.starts_with(b"{").then_some(at)
}

/// Whether the source of a mount is a path. A word like `proc` is not one, unless a directory is
/// bound.
fn is_mounted(arg: &[u8], text: &[u8]) -> bool {
    [&b"\"/"[..], b"\".", b"\"\\x2f", b"\"\\x2e"].iter().any(|start| arg.starts_with(start))
        || search::contains(text, b"MS_BIND", 0)
        || search::contains(text, b"MS_MOVE", 0)
}

impl FieldWriter<'_> {
    /// Writes the first or the second path of the call.
    pub(crate) fn path_argument(&mut self, split: &Split, second: bool) {
        let shape = self.shape;
        let text = self.source.bytes;
        let (path, at) = if second { (shape.path2, shape.at2) } else { (shape.path, shape.at) };
        let Some(arg) = split.get(text, path) else { return };
        let start = split.start(path);
        match shape.special {
            Special::Address => self.address(arg, start),
            Special::Mount if second && !is_mounted(arg, text) => {}
            _ => self.path(arg, start, PathBase::parse(text, split, at), second),
        }
    }

    /// Writes the path of a socket: `bind(3, {sa_family=AF_UNIX, sun_path="/run/x"}, 110)`.
    fn address(&mut self, arg: &[u8], start: usize) {
        let Some(at) = in_address(arg) else { return };
        self.path(&arg[at..], start + at, None, false);
        // The descriptor refers to the socket, not to its name.
        self.rows.effect[self.row].op = Op::Path;
        self.rows.file_type[self.row] = FileType::Socket as u8;
        self.set(C::FileType);
    }

    /// Writes the path in `arg`, which starts at `start` of the source.
    fn path(&mut self, arg: &[u8], start: usize, at: Option<PathBase>, second: bool) {
        if self.has(if second { C::Path2 } else { C::Path }) {
            self.requested_path(arg, at);
            return;
        }
        if arg.first() != Some(&b'"') {
            if arg == b"NULL"
                && let Some(at) = at
            {
                self.on_descriptor(at, second);
            }
            return;
        }
        if let Some((end, plain)) = arguments::string_end(arg, 0) {
            self.quoted((start, start + end), plain, at, second);
        }
    }

    /// The annotation of the result has given the path. A relative argument still shows the
    /// directory that it started from.
    #[inline]
    pub(crate) fn requested_path(&mut self, arg: &[u8], at: Option<PathBase>) {
        if self.shape.op == Op::Open {
            self.rows.effect[self.row].flags |= open_flags::RESOLVED;
            if self.rows.effect[self.row].flags & open_flags::DELETED != 0 {
                self.requested(arg);
            }
        }
        if matches!(arg, [b'"', first, ..] if !b"/\"".contains(first))
            && !arg.starts_with(b"\"\\x2f")
        {
            self.directory(at);
            if let Some(at) = at {
                self.rows.effect[self.row].at = at.fd;
            }
        }
    }

    /// Records an absolute path that leads to a file without a name: `"/proc/self/fd/3"`, with which
    /// the text starts.
    #[cold]
    fn requested(&mut self, arg: &[u8]) {
        if arg.first() == Some(&b'"')
            && let Some((end, _)) = arguments::string_end(arg, 0)
            && is_rooted(&arg[1..end - 1])
            && !arg[end..].starts_with(b"...")
        {
            let from = self.side.bytes.len();
            unescape_into(&arg[1..end - 1], &mut self.side.bytes);
            let view = self.side.since(from);
            self.rows.effect[self.row].detail = self.side.detail(Detail::Requested(view));
        }
    }

    /// Writes the path whose quotes are at both ends of a range of the source.
    #[inline]
    pub(crate) fn quoted(
        &mut self,
        (start, end): (usize, usize),
        plain: bool,
        at: Option<PathBase>,
        second: bool,
    ) {
        let text = self.source.bytes;
        let body = &text[start + 1..end - 1];
        if text[end..].starts_with(b"...") {
            // Only the start of the path was printed.
            return;
        }
        if body.is_empty() {
            if let Some(at) = at {
                self.on_descriptor(at, second);
            }
            return;
        }
        let plain = plain && self.source.utf8;
        let (start, body, at) = match through_proc(body) {
            Some(rest) => (end - 2 - rest.len(), rest, at.filter(|at| at.fd == AT_FDCWD)),
            None => (start, body, at),
        };
        let absolute = is_rooted(body);
        let fd = at.map_or(AT_FDCWD, |at| at.fd);
        let base = at
            .filter(|_| !absolute)
            .and_then(|at| at.note(self.source.bytes))
            .filter(|note| is_rooted(note));
        let from = self.side.bytes.len();
        let mut relative = !absolute;
        let mut up = None;
        let (view, id) = if !self.shape.prefix.is_empty() {
            relative = false;
            self.side.bytes.extend_from_slice(self.shape.prefix.as_bytes());
            unescape_into(body, &mut self.side.bytes);
            self.appended(from)
        } else if let Some(base) = base {
            relative = false;
            self.join(base, body, plain);
            self.appended(from)
        } else if plain {
            let at = self.source.base + start + 1;
            let (id, leads_up) = if relative { (0, false) } else { file_id_and_up(body) };
            up = Some(leads_up);
            (string_view::pack(body, self.source.place, at), id)
        } else {
            unescape_into(body, &mut self.side.bytes);
            self.appended(from)
        };
        self.put_path(view, (!relative).then_some(id), second);
        if base.is_some() {
            self.directory(at);
        }
        let up = !relative && up.unwrap_or_else(|| may_lead_elsewhere(body, base.is_some(), plain));
        let effect = &mut self.rows.effect[self.row];
        // The model has to look at the text of such a path again.
        if second {
            effect.identify2 |= up;
        } else {
            effect.identify |= up;
        }
        if second {
            effect.at2 = fd;
            effect.relative2 = relative;
        } else {
            effect.at = fd;
            effect.relative = relative;
        }
    }

    /// Records the working directory, which the annotation of `AT_FDCWD` shows.
    fn directory(&mut self, at: Option<PathBase>) {
        let known =
            |at: &PathBase| at.fd == AT_FDCWD && at.note(self.source.bytes).is_some_and(is_rooted);
        let at = at.filter(known);
        if self.rows.effect[self.row].detail == NO_DETAIL
            && let Some(view) = at.and_then(|at| self.annotated_name(at.end))
        {
            let detail = self.side.detail(Detail::Directory(view));
            self.rows.effect[self.row].detail = detail;
        }
    }

    /// View and identity of what was appended to the side text.
    fn appended(&mut self, from: usize) -> (u128, u64) {
        let id = file_id(&self.side.bytes[from..]);
        (self.side.since(from), id)
    }

    /// A relative path gets its identity once the working directory is known.
    fn put_path(&mut self, view: u128, id: Option<u64>, second: bool) {
        let row = self.row;
        if second {
            self.rows.path2[row] = view;
            self.set(C::Path2);
            if let Some(id) = id {
                self.rows.file2[row] = id;
                self.set(C::File2);
            }
        } else {
            self.rows.path[row] = view;
            self.set(C::Path);
            if let Some(id) = id {
                self.rows.file[row] = id;
                self.set(C::File);
            }
        }
    }

    /// Appends `base/body` to the side text, without a leading `./`.
    fn join(&mut self, base: &[u8], body: &[u8], plain: bool) {
        let side = &mut self.side.bytes;
        let from = side.len();
        unescape_into(&base[..Annotation::parse(base).len], side);
        let unescaped;
        let mut path = body;
        if !plain {
            let mut buffer = Vec::new();
            unescape_into(body, &mut buffer);
            unescaped = buffer;
            path = &unescaped;
        }
        while let Some(rest) = path.strip_prefix(b"./") {
            path = rest;
        }
        if path.is_empty() || path == b"." {
            return;
        }
        if side.len() == from || side.last() != Some(&b'/') {
            side.push(b'/');
        }
        side.extend_from_slice(path);
    }

    /// An empty path: the call acts on the descriptor that the path would be relative to.
    fn on_descriptor(&mut self, at: PathBase, second: bool) {
        let shape = self.shape;
        if at.fd == AT_FDCWD {
            // With AT_EMPTY_PATH this is the working directory (openat(2)).
            if !search::contains(self.source.bytes, b"AT_EMPTY_PATH", 3) {
                return;
            }
            if at.note(self.source.bytes).is_none() {
                let view = string_view::pack(b".", self.source.place, 0);
                self.put_path(view, None, second);
                let effect = &mut self.rows.effect[self.row];
                if second {
                    effect.relative2 = true;
                } else {
                    effect.relative = true;
                }
                return;
            }
        } else if shape.op.names() && (second || shape.fd == NONE) {
            self.put_fd(at.fd, second);
            self.rows.effect[self.row].op = Op::Use;
        } else if shape.op == Op::Exec {
            self.put_fd(at.fd, second);
        }
        if self.source.bytes.get(at.end) == Some(&b'<')
            && let Some((end, plain)) = arguments::annotation(self.source.bytes, at.end)
        {
            self.annotation(at.end + 1, end - 1, plain, second);
        }
    }
}
