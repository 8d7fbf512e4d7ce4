//! Size, type and number of a file from `struct stat` and `struct statx`, as printed.

use memchr::{memchr, memrchr};

use crate::events::details::{Detail, FileNumber};
use crate::events::rows::NO_DETAIL;
use crate::events::schema::Column as C;
use crate::events::vocabulary::{FileType, Op, open_flags};
use crate::linux::syscalls::flags;
use crate::strace::arguments::Split;
use crate::strace::fields::writer::FieldWriter;
use crate::text::number;
use crate::text::scan::first_of;
use crate::text::search;

impl<'a> FieldWriter<'a> {
    /// Writes size and type from `{st_mode=S_IFREG|0644, st_size=1024, ...}`.
    pub(crate) fn stat(&mut self, split: Option<&Split>) {
        let Some(text) = self.structure(split) else { return };
        // The mode usually comes first.
        let mode = text.strip_prefix(b"{st_mode=").or_else(|| value(text, b"_mode="));
        let file_type = mode.and_then(type_of);
        if let Some(file_type) = file_type {
            let noted = self.has(C::FileType).then(|| self.rows.file_type[self.row]);
            if let Some(file_type) = FileType::settled(noted, Some(file_type as u8)) {
                self.rows.file_type[self.row] = file_type;
                self.set(C::FileType);
            }
        }
        // The size of a directory or a link is not the size of a file's contents.
        if matches!((mode, file_type), (None, _) | (_, Some(FileType::Regular)))
            && has_size(text)
            && let Some(size) = value(text, b"_size=")
        {
            let (size, n) = number::c_integer(size);
            if n > 0 {
                self.integer(size, C::Size);
            }
            if file_type.is_some() {
                self.of_no_link();
            }
        }
        // Only whole structures (`-v`) have a device, which is the first field of `struct stat`.
        if !text.starts_with(b"{st_mode=")
            && let Some(number) = number_of(text)
        {
            self.number(number);
        }
    }

    /// A call that does not follow symbolic links has shown a regular file.
    #[inline]
    fn of_no_link(&mut self) {
        let text = self.source.bytes;
        // Most texts end with a bracket or a digit.
        let of_link = self.shape.of_link
            || text.last() == Some(&b'W') && text.ends_with(b"AT_SYMLINK_NOFOLLOW");
        let effect = &mut self.rows.effect[self.row];
        if of_link && effect.op == Op::Path {
            effect.flags = open_flags::NO_LINK;
        }
    }

    #[cold]
    fn number(&mut self, number: FileNumber) {
        let at = self.rows.effect[self.row].detail;
        if at == NO_DETAIL {
            self.rows.effect[self.row].detail = self.side.detail(Detail::Numbered(number, None));
        } else if let Some(detail) = self.side.details.get_mut(at as usize)
            && let Detail::Directory(view) = *detail
        {
            *detail = Detail::Numbered(number, Some(view));
        }
    }

    #[inline]
    fn structure(&self, split: Option<&Split>) -> Option<&'a [u8]> {
        let text = self.source.bytes;
        // Directly after the path, if no other structure follows.
        if let Some(split) = split
            && let Some(before) = self.shape.stat.checked_sub(1)
            && split.len() == usize::from(self.shape.stat)
            && let Some(rest) = text[split.end(before)..].strip_prefix(b", ")
            && rest.starts_with(b"{st_mode=S")
            && first_of(rest, 1, [b'{', b'"']).is_none()
        {
            return Some(rest);
        }
        // The abbreviated form, which most calls have, starts with the mode. The name of the file
        // may hold the same text, but then a quote follows.
        let open = memrchr(b'{', text)?;
        if text[open + 1..].starts_with(b"st_mode=S") && memchr(b'"', &text[open..]).is_none() {
            return Some(&text[open..]);
        }
        let split = Split::new(text, usize::from(self.shape.stat));
        split.get(text, self.shape.stat).filter(|arg| arg.first() == Some(&b'{'))
    }
}

/// Whether the structure says how large the file is. `struct statx` has a mask of the fields that
/// the file system has filled (`stx_mask` in statx(2)).
#[inline]
fn has_size(text: &[u8]) -> bool {
    text.strip_prefix(b"{stx_mask=").is_none_or(|mask| {
        let bit = |name: &[u8]| match name {
            b"STATX_ALL" | b"STATX_BASIC_STATS" | b"STATX_SIZE" => STATX_SIZE,
            _ => 0,
        };
        flags::mask(mask, bit) & STATX_SIZE != 0
    })
}

/// `STATX_SIZE` of statx(2).
const STATX_SIZE: u32 = 0x200;

/// The text after the first `key`, a name of six bytes that ends with `=`.
#[inline]
fn value<'a>(text: &'a [u8], key: &[u8; 6]) -> Option<&'a [u8]> {
    let mut from = 5;
    loop {
        let at = first_of(text, from, [b'='])?;
        from = at + 1;
        if text[..from].ends_with(key) {
            return Some(&text[from..]);
        }
    }
}

/// The file type in `S_IFREG|0644`, `0100644` or `0100644 /* S_IFREG|0644 */`.
pub(crate) fn type_of(mode: &[u8]) -> Option<FileType> {
    if mode.first() == Some(&b'0') {
        return FileType::of_mode(number::c_integer(mode).0 as u32);
    }
    Some(match mode.get(..7)? {
        b"S_IFREG" => FileType::Regular,
        b"S_IFDIR" => FileType::Directory,
        b"S_IFIFO" => FileType::Fifo,
        b"S_IFCHR" => FileType::Char,
        b"S_IFBLK" => FileType::Block,
        _ if mode.starts_with(b"S_IFSOCK") => FileType::Socket,
        _ => return None,
    })
}

/// The number of the file in `{st_dev=makedev(0x8, 0x1), st_ino=131, …}`, or in
/// `{…, stx_ino=131, …, stx_dev_major=8, stx_dev_minor=1, …}`.
#[cold]
fn number_of(text: &[u8]) -> Option<FileNumber> {
    let device = if let Some(device) = text.strip_prefix(b"{st_dev=") {
        if let Some(parts) = device.strip_prefix(b"makedev(") {
            let (major, n) = unsigned(parts)?;
            device_number(major, unsigned(parts[n..].strip_prefix(b", ")?)?.0)
        } else {
            // `-X raw` prints it as it is in memory: makedev(3) of the GNU C library.
            let (raw, _) = unsigned(device)?;
            let major = (raw >> 8 & 0xfff) | (raw >> 32 & 0xffff_f000);
            device_number(major, (raw & 0xff) | (raw >> 12 & 0xffff_ff00))
        }
    } else {
        let (major, minor) = (field(text, b" stx_dev_major=")?, field(text, b" stx_dev_minor=")?);
        device_number(major, minor)
    };
    let inode = field(text, b" st_ino=").or_else(|| field(text, b" stx_ino="))?;
    (inode != 0).then_some(FileNumber { device, inode })
}

fn device_number(major: u64, minor: u64) -> u64 {
    major << 32 | minor
}

fn field(text: &[u8], key: &[u8]) -> Option<u64> {
    let at = search::find(text, key, 1)?;
    unsigned(&text[at + key.len()..]).map(|(value, _)| value)
}

/// A number without a sign, and its length.
fn unsigned(text: &[u8]) -> Option<(u64, usize)> {
    let (value, n) = number::c_integer(text);
    (n > 0).then_some((value as u64, n))
}
