//! Events within a system call that show which file it acts on: the kernel prints no paths before
//! Linux 6.19, but the page cache prints device and inode, and probes print what users ask for.

use memchr::memmem;

use crate::events::file_id::file_id;

/// What an event shows of the call around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileHint {
    /// Pages of this file are looked up, or brought in: the identity of device and inode.
    Inode(u64),
    /// A page of a mapped file is brought in: the pages that follow may be of that file.
    Fault,
    /// A path, from here to there in the text.
    Path(usize, usize),
}

/// The hint in the event `name` with the payload `text`.
#[inline]
pub(crate) fn file_hint(name: &[u8], text: &[u8]) -> Option<FileHint> {
    if text.first() == Some(&b'(') {
        return path(text);
    }
    match name.strip_prefix(PAGES)? {
        b"get_pages" | b"add_to_page_cache" => inode(text).map(FileHint::Inode),
        b"fault" => Some(FileHint::Fault),
        _ => None,
    }
}

/// The event may have a hint whatever its text starts with.
pub(crate) fn may_hint(name: &[u8]) -> bool {
    name.starts_with(PAGES)
}

/// Events of the page cache.
const PAGES: &[u8] = b"mm_filemap_";

/// The string of a probe.
fn path(text: &[u8]) -> Option<FileHint> {
    let start = memmem::find(text, b"=\"")? + 2;
    let end = start
        + memmem::find(&text[start..], b"\" ")
            .or_else(|| text.get(start..)?.strip_suffix(b"\"").map(<[u8]>::len))?;
    (start < end).then_some(FileHint::Path(start, end))
}

/// `dev 254:0 ino 3443da` or `dev=254:0 ino=3443da`: the inode in hexadecimal.
fn inode(text: &[u8]) -> Option<u64> {
    let rest = text.strip_prefix(b"dev")?.get(1..)?;
    let (device, rest) = rest.split_at(memchr::memchr(b' ', rest)?);
    let rest = rest.strip_prefix(b" ino")?.get(1..)?;
    let digits = rest.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    let number = std::str::from_utf8(&rest[..digits]).ok()?;
    let number = u64::from_str_radix(number, 16).ok()?;
    let colon = memchr::memchr(b':', device)?;
    let decimal = |part: &[u8]| std::str::from_utf8(part).ok()?.parse::<u32>().ok();
    let (major, minor) = (decimal(&device[..colon])?, decimal(&device[colon + 1..])?);
    Some(file_id(format!("{major}:{minor}:{number}").as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_and_inode_are_read_in_both_spellings() {
        let id = Some(FileHint::Inode(file_id(b"254:0:26933")));
        let text = b"dev 254:0 ino 6935 pfn=0x1d16ce ofs=4026368 order=0";
        assert_eq!(file_hint(b"mm_filemap_add_to_page_cache", text), id);
        assert_eq!(file_hint(b"mm_filemap_get_pages", b"dev=254:0 ino=6935 ofs=0-1"), id);
        for odd in
            ["", "dev", "dev=", "dev=254 ino=1", "dev=x:0 ino=1", "dev=254:0 ino=", "dev=1:1"]
        {
            assert_eq!(file_hint(b"mm_filemap_get_pages", odd.as_bytes()), None, "{odd}");
        }
    }

    #[test]
    fn strings_of_probes_are_paths() {
        let text = br#"(f+0x0/0x1) path="/a b" mode=3"#;
        assert_eq!(file_hint(b"x", text), Some(FileHint::Path(18, 22)));
        for odd in ["(", "(f) path=\"\"", "(f) path=\"/a", "(f) path=3"] {
            assert_eq!(file_hint(b"x", odd.as_bytes()), None, "{odd}");
        }
    }

    #[test]
    fn example_of_clue() {
        use crate::events::file_id::file_id;
        use crate::ftrace::record::file_hints::{FileHint, file_hint};
        let found = file_hint(b"mm_filemap_get_pages", b"dev=254:0 ino=3443da ofs=0-65535");
        assert_eq!(found, Some(FileHint::Inode(file_id(b"254:0:3425242"))));
        let text = br#"(do_sys_openat2+0x0/0x90) path="/etc/hosts""#;
        assert_eq!(file_hint(b"opened", text), Some(FileHint::Path(32, 42)));
        assert_eq!(file_hint(b"sched_switch", b""), None);
    }
}
