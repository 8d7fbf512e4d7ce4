//! Size and type out of `struct stat` and `struct statx`, as printed.

use memchr::{memchr, memrchr};

use super::Out;
use crate::event::FileType;
use crate::find;
use crate::num;
use crate::schema::Column as C;
use crate::strace::args::Split;

impl<'a> Out<'a> {
    /// Size and type out of `{st_mode=S_IFREG|0644, st_size=1024, ...}`.
    pub(super) fn stat(&mut self) {
        let Some(text) = self.structure() else { return };
        let value =
            |key: &[u8], rare| find::find(text, key, rare).map(|at| &text[at + key.len()..]);
        let mode = value(b"_mode=", 5);
        let file_type = mode.and_then(type_of);
        if let Some(file_type) = file_type {
            let noted = self.has(C::FileType).then(|| self.rows.file_type[self.row]);
            if let Some(file_type) = FileType::settled(noted, Some(file_type as u8)) {
                self.rows.file_type[self.row] = file_type;
                self.set(C::FileType);
            }
        }
        // The size of a directory or of a link is not that of a file's contents.
        if matches!((mode, file_type), (None, _) | (_, Some(FileType::Regular)))
            && let Some(size) = value(b"_size=", 5)
        {
            let (size, n) = num::c_integer(size);
            if n > 0 {
                self.integer(size, C::Size);
            }
        }
    }

    /// The text of the structure.
    #[inline]
    fn structure(&self) -> Option<&'a [u8]> {
        let text = self.source.bytes;
        // Abbreviated, as most are, it begins with the mode. The name of the file may hold such
        // text, but then a quote follows.
        let open = memrchr(b'{', text)?;
        if text[open + 1..].starts_with(b"st_mode=S") && memchr(b'"', &text[open..]).is_none() {
            return Some(&text[open..]);
        }
        let split = Split::new(text, usize::from(self.shape.stat));
        split.get(text, self.shape.stat).filter(|arg| arg.first() == Some(&b'{'))
    }
}

/// The type in `S_IFREG|0644`, `0100644` or `0100644 /* S_IFREG|0644 */`.
fn type_of(mode: &[u8]) -> Option<FileType> {
    if mode.first() == Some(&b'0') {
        return Some(match num::c_integer(mode).0 & 0o170_000 {
            0o100_000 => FileType::Regular,
            0o040_000 => FileType::Directory,
            0o010_000 => FileType::Fifo,
            0o020_000 => FileType::Char,
            0o060_000 => FileType::Block,
            0o140_000 => FileType::Socket,
            _ => return None,
        });
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
