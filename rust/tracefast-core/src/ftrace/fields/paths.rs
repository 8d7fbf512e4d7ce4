//! Paths among the arguments, where the kernel prints them: since Linux 6.19.
//!
//! The kernel writes `.` for every byte that is not printable ASCII, and cuts long paths.

use std::borrow::Cow;

use crate::events::file_id::{file_id, file_id_and_up, leads_up};
use crate::events::rows::AT_FDCWD;
use crate::events::schema::Column as C;
use crate::events::vocabulary::Op;
use crate::ftrace::call::arguments::{ArgumentForm, SplitArguments, decimal, number};
use crate::ftrace::fields::FieldWriter;
use crate::linux::syscalls::{NONE, Shape, Special};
use crate::text::escape::escape_invalid;
use crate::text::string_view;

const AT_EMPTY_PATH: u32 = 0x1000;
const MOVE_MOUNT_F_EMPTY_PATH: u32 = 0x4;
const MOVE_MOUNT_T_EMPTY_PATH: u32 = 0x40;
const MS_BIND: u32 = 0x1000;
const MS_MOVE: u32 = 0x2000;

/// What is printed of a path.
#[derive(Clone, Copy)]
struct PrintedPath<'a> {
    /// Where it starts in the text.
    start: usize,
    text: &'a [u8],
    /// It is only the beginning.
    cut: bool,
}

/// The string of `0x7f… "path"`, `0x7f… "beginning"...` or `0x7f… "beginning..."`, or the one that
/// follows the arguments.
fn printed<'a>(split: &SplitArguments, text: &'a [u8], position: u8) -> Option<PrintedPath<'a>> {
    if split.form() == ArgumentForm::Fields {
        let (start, end) = split.data(text, position)?;
        let text = &text[start..end];
        return Some(PrintedPath { start, text, cut: text.ends_with(b"...") });
    }
    let (from, to) = split.range(position)?;
    let value = &text[from..to];
    let quote = memchr::memchr(b'"', value)? + 1;
    let (body, cut) = match value.strip_suffix(b"...") {
        Some(body) => (body, true),
        None => (value, false),
    };
    let text = body.get(quote..)?.strip_suffix(b"\"")?;
    Some(PrintedPath { start: from + quote, text, cut: cut || text.ends_with(b"...") })
}

/// How a call shows that its path is empty, so that it acts on the descriptor in front of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EmptyPath {
    /// It does not act on descriptors.
    Never,
    /// By a pointer to nothing.
    Null,
    /// By the path alone.
    Text,
    /// By flags for the first and the second path, at this position.
    Flags(u8, u32, u32),
}

impl EmptyPath {
    pub(crate) fn from_call(name: &str) -> Self {
        let at = match name {
            "newfstatat" | "fstatat64" | "faccessat2" | "fchmodat2" => 3,
            "statx" | "mount_setattr" | "setxattrat" | "getxattrat" | "listxattrat"
            | "removexattrat" => 2,
            "fchownat" | "linkat" | "execveat" | "name_to_handle_at" | "file_getattr"
            | "file_setattr" => 4,
            "move_mount" => {
                return Self::Flags(4, MOVE_MOUNT_F_EMPTY_PATH, MOVE_MOUNT_T_EMPTY_PATH);
            }
            "utimensat" | "utimensat_time64" => return Self::Null,
            "readlinkat" => return Self::Text,
            _ => return Self::Never,
        };
        Self::Flags(at, AT_EMPTY_PATH, 0)
    }
}

/// The descriptors that a call acts on whose paths are empty: `newfstatat(fd, "", …,
/// AT_EMPTY_PATH)`, `utimensat(fd, NULL, …)`.
#[inline]
pub(crate) fn descriptors(
    split: &SplitArguments,
    text: &[u8],
    shape: &Shape,
    empty: EmptyPath,
) -> (Option<i32>, Option<i32>) {
    // The kernel may print an empty path for one that is not empty, so the flag decides.
    let nothing = |position| printed(split, text, position).is_none_or(|path| path.text.is_empty());
    let (first, second) = match empty {
        EmptyPath::Never => return (None, None),
        EmptyPath::Null => (split.number(text, shape.path) == Some(0), false),
        EmptyPath::Text => {
            (printed(split, text, shape.path).is_some_and(|p| p.text.is_empty()), false)
        }
        EmptyPath::Flags(at, first, second) => {
            let flags = split.number(text, at).unwrap_or(0) as u32;
            (flags & first != 0 && nothing(shape.path), flags & second != 0 && nothing(shape.path2))
        }
    };
    let fd = |empty: bool, at: u8| {
        if !empty || at == NONE {
            return None;
        }
        let fd = split.number(text, at)? as i32;
        (fd != AT_FDCWD).then_some(fd)
    };
    (fd(first, shape.at), fd(second, shape.at2))
}

/// The descriptor that the path after position `at` starts from. Linux 6.19 prints those of
/// openat in decimal, and its pointer too: then that has no `0x`.
fn start(split: &SplitArguments, text: &[u8], at: u8) -> i32 {
    if split.form() == ArgumentForm::Fields {
        return split.number(text, at).map_or(AT_FDCWD, |fd| fd as i32);
    }
    let Some(value) = split.get(text, at) else { return AT_FDCWD };
    let decimals = split.get(text, at.wrapping_add(1)).is_some_and(|path| {
        !path.starts_with(b"0x") && path.first() != Some(&b'0') && path.contains(&b'"')
    });
    let fd = if decimals { decimal(value) } else { number(value) };
    fd.map_or(AT_FDCWD, |fd| fd as i32)
}

/// What is mounted is a path: a word like `proc` is not, unless a directory is bound.
fn is_mounted(path: &[u8], flags: u32) -> bool {
    matches!(path.first(), Some(b'/' | b'.')) || flags & (MS_BIND | MS_MOVE) != 0
}

impl FieldWriter<'_> {
    /// Paths where the kernel prints them, or the descriptors in their place.
    #[inline]
    pub(crate) fn paths(&mut self) {
        let shape = self.shape;
        if self.plan.empty != EmptyPath::Never {
            let (fd, fd2) = descriptors(self.split, self.source.bytes, shape, self.plan.empty);
            if fd.is_some() || fd2.is_some() {
                if shape.op.names() {
                    self.rows.effect[self.row].op = Op::Use;
                }
                self.fd(fd);
                self.fd2(fd2);
            }
        }
        // Linux prints none before 6.19.
        let fields = self.split.form() == ArgumentForm::Fields;
        if fields || memchr::memchr(b'"', self.source.bytes).is_some() {
            self.path(shape.path, shape.at, false);
            if shape.path2 != NONE {
                self.path(shape.path2, shape.at2, true);
            }
        }
    }

    #[cold]
    fn path(&mut self, position: u8, at: u8, second: bool) {
        let Some(path) = printed(self.split, self.source.bytes, position) else { return };
        if path.text.is_empty() {
            return;
        }
        if second
            && self.shape.special == Special::Mount
            && !is_mounted(path.text, self.int(3).unwrap_or(0))
        {
            return;
        }
        let start = if at == NONE { AT_FDCWD } else { start(self.split, self.source.bytes, at) };
        let prefix = self.shape.prefix;
        let relative = path.text[0] != b'/' && prefix.is_empty();
        let name = if self.source.utf8 {
            Cow::Borrowed(path.text)
        } else {
            Cow::Owned(escape_invalid(path.text).into_owned().into_bytes())
        };
        let plain =
            self.source.utf8 && prefix.is_empty() && (!path.cut || path.text.ends_with(b"..."));
        let (view, id, up) = if plain {
            let view =
                string_view::pack(path.text, self.source.place, self.source.base + path.start);
            let (id, up) = file_id_and_up(path.text);
            (view, id, up)
        } else {
            let start = self.side.bytes.len();
            self.side.bytes.extend_from_slice(prefix.as_bytes());
            self.side.bytes.extend_from_slice(&name);
            if path.cut && !name.ends_with(b"...") {
                self.side.bytes.extend_from_slice(b"...");
            }
            // A short text is stored in the view itself.
            let id = file_id(&self.side.bytes[start..]);
            (self.side.since(start), id, leads_up(path.text))
        };
        // A cut path and an unresolved relative path identify no file.
        let id = (!relative && !path.cut).then_some(id);
        let row = self.row;
        let up = !relative && up;
        let effect = &mut self.rows.effect[row];
        if second {
            effect.at2 = start;
            effect.relative2 = relative;
            effect.identify2 |= up;
            self.rows.path2[row] = view;
            self.set(C::Path2);
            if let Some(id) = id {
                self.rows.file2[row] = id;
                self.set(C::File2);
            }
        } else {
            effect.at = start;
            effect.relative = relative;
            effect.identify |= up;
            self.rows.path[row] = view;
            self.set(C::Path);
            if let Some(id) = id {
                self.rows.file[row] = id;
                self.set(C::File);
            }
        }
    }
}
