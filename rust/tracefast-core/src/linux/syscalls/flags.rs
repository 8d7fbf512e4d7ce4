//! Flags in text, by name or by number.

use crate::events::vocabulary::{FileType, clone_flags, open_flags, write_flags};
use crate::text::number;

/// Flags of open(2) in the numbering of x86; ARM has another bit for directories.
pub(crate) const O_CREAT: u32 = 0x40;
const O_EXCL: u32 = 0x80;
const O_TRUNC: u32 = 0x200;
/// The same everywhere but on alpha, mips, parisc and sparc.
pub(crate) const O_APPEND: u32 = 0x400;
/// That of x86.
pub(crate) const O_DIRECTORY: u32 = 0x1_0000;
const O_CLOEXEC: u32 = crate::linux::syscalls::O_CLOEXEC;
const O_PATH: u32 = 0x20_0000;
/// By its name only: machines have other bits for it.
const O_NOFOLLOW: u32 = 1 << 31;
/// The bit of its own only: the kernel's `O_TMPFILE` includes that of directories (open(2)).
const O_TMPFILE: u32 = 0x40_0000;

const CLONE_NEWUSER: u32 = 0x1000_0000;
/// Commands of ioctl that only succeed for terminals, numbered as on most machines.
pub(crate) const TCGETS: u32 = 0x5401;
pub(crate) const TIOCGWINSZ: u32 = 0x5413;
const FALLOC_FL_KEEP_SIZE: u32 = 0x1;
const FALLOC_FL_COLLAPSE_RANGE: u32 = 0x8;
const FALLOC_FL_ZERO_RANGE: u32 = 0x10;
const FALLOC_FL_INSERT_RANGE: u32 = 0x20;
const FALLOC_FL_UNSHARE_RANGE: u32 = 0x40;
const FALLOC_FL_WRITE_ZEROES: u32 = 0x80;
const RWF_APPEND: u32 = 0x10;
const RWF_NOAPPEND: u32 = 0x20;
const PROT_WRITE: u32 = 0x2;
const MAP_PRIVATE: u32 = 0x2;
/// The bits that say whether changes are private or shared.
const MAP_TYPE: u32 = 0xf;
/// In the numbering of x86 and ARM.
const MAP_ANONYMOUS: u32 = 0x20;
const MREMAP_DONTUNMAP: u32 = 0x4;
/// Of renameat2(2): the two exchange their names.
pub(crate) const RENAME_EXCHANGE: u32 = 0x2;
/// Of `close_range`(2): the task first gets a table of its own.
pub(crate) const CLOSE_RANGE_UNSHARE: u32 = 0x2;

/// The flags of `A|B|0x8`, one after the other. Where a comment explains a number, as in
/// `0x3 /* A|B */`, its names are used instead: they are the same on all machines.
#[derive(Debug, Clone)]
pub(crate) struct Words<'a>(pub &'a [u8]);

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            let (word, rest) = self.0.split_at(word_len(self.0));
            match rest {
                [b'|', rest @ ..] | [b' ', b'*', b'/', b'|', rest @ ..] => self.0 = rest,
                [b' ', b'/', b'*', b' ', names @ ..] => {
                    // Of `0x8 /* RWF_??? */` the names are not known, the number is.
                    if names.get(word_len(names)) != Some(&b'?') {
                        self.0 = names;
                        continue;
                    }
                    self.0 = b"";
                }
                _ => self.0 = b"",
            }
            return (!word.is_empty()).then_some(word);
        }
    }
}

/// Bytes of words.
static WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    table
};

#[inline]
fn word_len(text: &[u8]) -> usize {
    text.iter().take_while(|&&b| WORD[usize::from(b)]).count()
}

/// All flags of `text` in one number: names by `bit`, numbers as they are.
#[inline]
pub(crate) fn mask(text: &[u8], bit: impl Fn(&[u8]) -> u32) -> u32 {
    Words(text).fold(0, |mask, word| {
        let number = word.first().is_some_and(u8::is_ascii_digit);
        mask | if number { number::c_integer(word).0 as u32 } else { bit(word) }
    })
}

/// The bit of a name in calls that open files.
#[inline]
fn open_bit(name: &[u8]) -> u32 {
    match name {
        b"O_CREAT" => O_CREAT,
        b"O_EXCL" => O_EXCL,
        b"O_TRUNC" => O_TRUNC,
        b"O_APPEND" => O_APPEND,
        b"O_DIRECTORY" => O_DIRECTORY,
        b"O_PATH" => O_PATH,
        b"O_NOFOLLOW" => O_NOFOLLOW,
        b"O_TMPFILE" | b"__O_TMPFILE" => O_TMPFILE,
        _ if name.ends_with(b"CLOEXEC") => O_CLOEXEC,
        _ => 0,
    }
}

/// [`open_flags`] of the flags `text` of a call that opens a file.
#[inline]
pub(crate) fn opened(text: &[u8]) -> u32 {
    match text {
        b"O_RDONLY|O_CLOEXEC" => open_flags::CLOEXEC,
        b"O_RDONLY" => 0,
        _ => opened_by(mask(text, open_bit)),
    }
}

/// The same of a number, in the numbering of x86.
pub(crate) fn opened_by(flags: u32) -> u32 {
    let bit = |bit, meaning| if flags & bit != 0 { meaning } else { 0 };
    let mut known = bit(O_CLOEXEC, open_flags::CLOEXEC);
    if flags & (O_DIRECTORY | O_TMPFILE) == O_DIRECTORY {
        known |= FileType::Directory as u32 | open_flags::TYPED;
    }
    if flags & O_PATH != 0 {
        // The other flags are then ignored: open(2).
        return known | open_flags::PATH;
    }
    known |= bit(O_NOFOLLOW, open_flags::NO_LINK);
    known |= bit(O_APPEND, open_flags::APPEND) | bit(O_TRUNC, open_flags::TRUNC);
    if flags & O_TMPFILE != 0 || flags & (O_CREAT | O_EXCL) == O_CREAT | O_EXCL {
        known |= open_flags::NEW;
    }
    known
}

/// Whether the flags of an open file have `O_APPEND`.
pub(crate) fn appends(text: &[u8]) -> bool {
    mask(text, open_bit) & O_APPEND != 0
}

/// The bit of a name in calls that make tasks or end what they share.
pub(crate) fn clone_bit(name: &[u8]) -> u32 {
    match name {
        b"CLONE_VM" => clone_flags::CLONE_VM,
        b"CLONE_FS" => clone_flags::CLONE_FS,
        b"CLONE_FILES" => clone_flags::CLONE_FILES,
        b"CLONE_VFORK" => clone_flags::CLONE_VFORK,
        b"CLONE_PARENT" => clone_flags::CLONE_PARENT,
        b"CLONE_THREAD" => clone_flags::CLONE_THREAD,
        b"CLONE_NEWNS" => clone_flags::CLONE_NEWNS,
        b"CLONE_NEWPID" => clone_flags::CLONE_NEWPID,
        b"CLONE_PIDFD" => clone_flags::CLONE_PIDFD,
        b"CLONE_NEWUSER" => CLONE_NEWUSER,
        _ => 0,
    }
}

/// What unshare(2) with these flags stops sharing: some namespaces imply `CLONE_FS`. With
/// `CLONE_NEWPID` the next children are in a pid namespace of their own.
pub(crate) fn unshared(flags: u32) -> u32 {
    use clone_flags::{CLONE_FILES, CLONE_FS, CLONE_NEWNS, CLONE_NEWPID};
    let kept = flags & (CLONE_FS | CLONE_FILES | CLONE_NEWPID | CLONE_NEWNS);
    let namespace = flags & (CLONE_NEWNS | CLONE_NEWUSER) != 0;
    if namespace { kept | CLONE_FS } else { kept }
}

/// The bit of a name in the mode of fallocate.
pub(crate) fn fallocate_bit(name: &[u8]) -> u32 {
    match name {
        b"FALLOC_FL_COLLAPSE_RANGE" => FALLOC_FL_COLLAPSE_RANGE,
        b"FALLOC_FL_INSERT_RANGE" => FALLOC_FL_INSERT_RANGE,
        b"FALLOC_FL_ZERO_RANGE" => FALLOC_FL_ZERO_RANGE,
        b"FALLOC_FL_UNSHARE_RANGE" => FALLOC_FL_UNSHARE_RANGE,
        b"FALLOC_FL_WRITE_ZEROES" => FALLOC_FL_WRITE_ZEROES,
        // The others keep the size.
        _ => FALLOC_FL_KEEP_SIZE,
    }
}

/// The bit of a name in the flags of pwritev2.
pub(crate) fn rwf_bit(name: &[u8]) -> u32 {
    match name {
        b"RWF_APPEND" => RWF_APPEND,
        b"RWF_NOAPPEND" => RWF_NOAPPEND,
        _ => 0,
    }
}

/// What pwritev2(2) with these flags does, as [`write_flags`].
pub(crate) fn written(flags: u32) -> u32 {
    let bit = |bit, meaning| if flags & bit != 0 { meaning } else { 0 };
    bit(RWF_APPEND, write_flags::APPEND) | bit(RWF_NOAPPEND, write_flags::NO_APPEND)
}

/// Commands of ioctl that change the length of a file: it takes data over from another one
/// (`FICLONE`, `FICLONERANGE`), or XFS moves its end (`XFS_IOC_ALLOCSP`, `XFS_IOC_FREESP` and those
/// with 64 bits).
pub(crate) fn resizes(command: u32) -> bool {
    matches!(
        command,
        0x4004_9409 | 0x4020_940d | 0x4030_580a | 0x4030_580b | 0x4030_5824 | 0x4030_5825
    )
}

/// The same by name. strace lists all names of a number: `BTRFS_IOC_CLONE or FICLONE`.
pub(crate) fn resizes_by_name(command: &[u8]) -> bool {
    [&b"FICLONE"[..], b"IOC_CLONE", b"IOC_ALLOCSP", b"IOC_FREESP"]
        .iter()
        .any(|name| memchr::memmem::find(command, name).is_some())
}

/// Commands of ioctl for supervisors of seccomp (`seccomp_unotify(2)`).
pub(crate) const SECCOMP_IOCTL_NOTIF_RECV: u32 = 0xc050_2100;
pub(crate) const SECCOMP_IOCTL_NOTIF_ADDFD: u32 = 0x4018_2103;

/// A flag of seccomp(2): the call returns a descriptor for a supervisor.
pub(crate) const SECCOMP_FILTER_FLAG_NEW_LISTENER: u32 = 8;

/// Memory with this protection may be written to.
pub(crate) fn is_writable(protection: u32) -> bool {
    protection & PROT_WRITE != 0
}

/// With these flags mremap(2) also keeps the old range mapped, without its pages.
pub(crate) fn keeps_old(flags: u32) -> bool {
    flags & MREMAP_DONTUNMAP != 0
}

/// A mapping with these flags is private.
pub(crate) fn is_private(flags: u32) -> bool {
    flags & MAP_TYPE == MAP_PRIVATE
}

/// A mapping with these flags has no file.
pub(crate) fn is_anonymous(flags: u32) -> bool {
    flags & MAP_ANONYMOUS != 0
}

/// fallocate(2) in this mode grows the file to the end of the range.
pub(crate) fn allocates(mode: u32) -> bool {
    mode & !(FALLOC_FL_ZERO_RANGE | FALLOC_FL_UNSHARE_RANGE | FALLOC_FL_WRITE_ZEROES) == 0
}

/// fallocate(2) in this mode moves what follows the range, and with it the end of the file.
pub(crate) fn shifts(mode: u32) -> bool {
    mode & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE) != 0
}

/// By how many bytes it moves the end, for a range of this length.
pub(crate) fn shifted(mode: u32, len: i64) -> i64 {
    if mode & FALLOC_FL_COLLAPSE_RANGE != 0 { len.wrapping_neg() } else { len }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_all_spellings() {
        for (text, words) in [
            ("A|B_2, 0666", &["A", "B_2"][..]),
            ("A|0x80000}", &["A", "0x80000"]),
            ("0x3 /* A|B */|17 /* SIGCHLD */, 0", &["A", "B", "SIGCHLD"]),
            ("0x1|0x8 /* RWF_??? */", &["0x1", "0x8"]),
            ("0x8 /* ", &[]),
            ("A||B", &["A"]),
            ("", &[]),
        ] {
            let found: Vec<_> = Words(text.as_bytes()).map(String::from_utf8_lossy).collect();
            assert_eq!(found, words, "{text}");
        }
    }

    #[test]
    fn comments_in_comments_are_no_deeper_than_a_stack() {
        let deep = "0x1 /* ".repeat(1_000_000);
        assert_eq!(Words(deep.as_bytes()).count(), 0);
    }

    #[test]
    fn what_opens_say() {
        use open_flags::{APPEND, CLOEXEC, NEW, NO_LINK, PATH, TRUNC, TYPED};
        let directory = TYPED | FileType::Directory as u32;
        for (text, known) in [
            ("O_RDONLY", 0),
            ("O_RDONLY|O_CLOEXEC", CLOEXEC),
            ("O_WRONLY|O_CREAT|O_TRUNC|O_APPEND, 0666", TRUNC | APPEND),
            ("O_WRONLY|O_CREAT|O_EXCL|0x80000, 0666", NEW | CLOEXEC),
            ("O_WRONLY|O_EXCL", 0),
            ("0x241 /* O_WRONLY|O_CREAT|O_TRUNC */, 0666", TRUNC),
            // As on mips.
            ("0x501 /* O_WRONLY|O_CREAT|O_EXCL */, 0666", NEW),
            ("0x80241, 0666", TRUNC | CLOEXEC),
            ("02002|O_APPEND", APPEND),
            ("O_RDWR|O_TMPFILE, 0600", NEW),
            ("O_RDWR|O_DIRECTORY|__O_TMPFILE", NEW),
            ("0x410002, 0600", NEW),
            ("O_RDONLY|O_DIRECTORY", directory),
            ("O_RDONLY|O_NOFOLLOW|O_CLOEXEC", NO_LINK | CLOEXEC),
            // On ARM it is O_LARGEFILE.
            ("0x20000", 0),
            ("O_RDONLY|O_TRUNC|O_DIRECTORY|O_PATH", PATH | directory),
            ("0x210000", PATH | directory),
            ("O_RDWR|O_APPEND, resolve=RESOLVE_NO_XDEV}, 24", APPEND),
            ("OPEN_TREE_CLONE|OPEN_TREE_CLOEXEC", CLOEXEC),
        ] {
            assert_eq!(opened(text.as_bytes()), known, "{text}");
        }
    }
}
