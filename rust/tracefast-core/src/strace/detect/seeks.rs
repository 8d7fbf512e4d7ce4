//! Whether `lseek` was traced: `-e trace=!lseek` leaves nothing else out that would show.
//!
//! Some things do not happen without a seek, as far as the log shows the file to be the same:
//!
//! - a file that was just opened turns out to be a regular one (`fstat`) and no terminal
//!   (`ioctl(TCGETS)` fails), and is read: Python and bash make both calls, and ask for the position
//!   before they read (`_io_open_impl` in Python's `Modules/_io/_iomodule.c`, `open_script` in bash's `shell.c`);
//! - reads return more than the file has, or come to its end with less.
//!
//! Others hardly do, in a log without any seek:
//!
//! - a descriptor is both read and written: C asks for a seek in between (fopen(3));
//! - a file is closed after many reads, before its end;
//! - a program looks at the size of a file, reads once as much as it wants instead of what a buffer
//!   holds, and closes it: `tail` goes to that part of the file (`tail_bytes` in coreutils'
//!   `src/tail.c`), while `head` does not need the size. A loader does so, too, and maps the file.

use std::collections::HashMap;

use crate::linux::syscalls::{Classes, classes_of};
use crate::text::number;
use crate::text::search::rfind;

/// How many descriptors are followed at a time.
const FOLLOWED: usize = 1 << 12;

/// So many reads of a file are many.
const MANY: u32 = 32;

/// Buffers are multiples of this: one page at least (`BUFSIZ` and `st_blksize` in C libraries).
const BUFFER: i64 = 4096;

/// Files of sysfs have this size, and less to read (`sysfs_add_file_mode_ns` in fs/sysfs/file.c).
const SYSFS: i64 = 4096;

/// What is known of a descriptor that a call in the log has opened.
#[derive(Debug, Default)]
struct Opened {
    /// The size of the file, if it is a regular one.
    size: Option<i64>,
    /// It was asked, after that, whether it is a terminal.
    asked: bool,
    /// How much was read, and by how many calls.
    read: i64,
    reads: u32,
    /// Other calls than these may have read.
    shared: bool,
    /// It is a regular file, and each write appends.
    regular: bool,
    appends: bool,
    /// Something was written.
    written: bool,
    /// The size was known at the last read, which got all that it asked for: less than the file
    /// has, and not what a buffer holds.
    part: bool,
    /// The file was mapped.
    mapped: bool,
}

/// The facts that decide, of the lines so far.
#[derive(Debug, Default)]
pub(crate) struct Seeks {
    /// A seek is in the log.
    seen: bool,
    /// One is missing.
    missed: bool,
    /// Tasks may share numbers of descriptors, so nothing can be said any more.
    unclear: bool,
    open: HashMap<(i32, i32), Opened>,
}

impl Seeks {
    /// A call `name` of a task, on a line whose event is `event`.
    pub(crate) fn see(&mut self, pid: Option<i32>, name: &[u8], event: &[u8]) {
        if self.are_settled() {
            return;
        }
        let pid = pid.unwrap_or(0);
        let key = |fd: i64| Some((pid, i32::try_from(fd).ok()?));
        let args = &event[name.len() + 1..];
        let fd = number_at(args).and_then(key);
        match name {
            b"lseek" | b"_llseek" | b"llseek" => {
                self.seen = true;
                self.open.clear();
            }
            _ if self.unclear => {}
            b"open" | b"openat" => {
                let made = result(event).and_then(key);
                if let Some(made) = made.filter(|_| self.open.len() < FOLLOWED) {
                    let appends = memchr::memmem::find(event, b"O_APPEND").is_some();
                    self.open.insert(made, Opened { appends, ..Opened::default() });
                }
            }
            // A shell opens a file for another number.
            b"dup2" | b"dup3" => {
                if let Some(made) = result(event).and_then(key)
                    && fd != Some(made)
                {
                    let old = fd.and_then(|fd| self.open.remove(&fd));
                    self.open.remove(&made);
                    self.open.extend(old.map(|old| (made, old)));
                }
            }
            b"mmap" | b"mmap2" => {
                let fd = number_at(fifth(args)).and_then(key);
                if let Some(open) = fd.and_then(|fd| self.open.get_mut(&fd)) {
                    open.mapped = true;
                }
            }
            // They read from, or close, numbers that are not looked for.
            b"sendfile" | b"sendfile64" | b"splice" | b"copy_file_range" | b"execve"
            | b"execveat" | b"close_range" => self.open.clear(),
            b"close" => {
                let closed = fd.and_then(|fd| self.open.remove(&fd));
                self.missed |= closed.is_some_and(|open| open.ends_early());
            }
            _ if classes_of(name).has(Classes::FORKS) => {
                self.unclear = memchr::memmem::find(event, b"CLONE_FILES").is_some();
                for (_, open) in self.open.iter_mut().filter(|(key, _)| key.0 == pid) {
                    open.shared = true;
                }
            }
            _ => {
                let Some(open) = fd.and_then(|fd| self.open.get_mut(&fd)) else { return };
                self.missed |= open.lacks_seek(name, event);
            }
        }
    }

    /// Whether later lines do not matter.
    pub(crate) fn are_settled(&self) -> bool {
        self.seen
    }

    /// A seek is in the log.
    pub(crate) fn are_seen(&self) -> bool {
        self.seen
    }

    /// Whether the program must have called `lseek`, and the log shows no call of it.
    pub(crate) fn are_missed(&self) -> bool {
        self.missed && !self.seen
    }
}

impl Opened {
    /// A call on the descriptor. Returns whether a seek must have come before it.
    fn lacks_seek(&mut self, name: &[u8], event: &[u8]) -> bool {
        match name {
            b"fstat" | b"fstat64" | b"newfstatat" | b"fstatat64" => {
                let at = memchr::memmem::find(event, b"st_mode=S_IFREG|")
                    .and_then(|_| memchr::memmem::find(event, b"st_size="));
                self.size = at.and_then(|at| number_at(&event[at + 8..]));
                self.regular = self.size.is_some();
            }
            b"ioctl" => {
                let asked = memchr::memmem::find(event, b"TCGETS").is_some();
                self.asked |= asked
                    && self.size.is_some()
                    && memchr::memmem::find(event, b" = -1 ENOTTY").is_some();
            }
            b"read" | b"readv" => {
                let Some(bytes) = result(event) else {
                    self.shared = true;
                    return false;
                };
                let asked = asked(event);
                if asked == Some(0) {
                    return false;
                }
                self.reads += 1;
                self.read = self.read.saturating_add(bytes);
                if bytes == 0 {
                    return self.has_more();
                }
                self.part = self.has_more() && asked == Some(bytes) && bytes % BUFFER != 0;
                // Files that the kernel makes up have no size.
                let more =
                    self.size.is_some_and(|size| size > 0 && (self.asked || self.read > size));
                return more || self.regular && self.written;
            }
            b"write" | b"writev" => {
                self.size = None;
                self.written |= !self.appends && result(event).is_some_and(|bytes| bytes > 0);
                return self.regular && self.written && self.read > 0;
            }
            // Data goes in, or out in another way.
            b"pread64" | b"preadv" | b"preadv2" | b"fadvise64" => {}
            _ => self.size = None,
        }
        false
    }

    /// The file is longer than what was read of it.
    fn has_more(&self) -> bool {
        !self.shared && self.size.is_some_and(|size| size != SYSFS && self.read < size)
    }

    /// Whether a file that is closed now was not read to its end, by a program that reads often, or
    /// wants a part of it.
    fn ends_early(&self) -> bool {
        let part = self.reads == 1 && self.part && !self.mapped;
        (self.reads >= MANY || part) && self.has_more()
    }
}

/// The number at the start of the text.
fn number_at(text: &[u8]) -> Option<i64> {
    let (value, n) = number::digits(text);
    i64::try_from(value).ok().filter(|_| n > 0)
}

/// The text from the fifth argument on; empty if there are fewer.
fn fifth(args: &[u8]) -> &[u8] {
    let at = memchr::memmem::find_iter(args, b", ").nth(3);
    at.map_or(b"", |at| &args[at + 2..])
}

/// How much a read asks for: the last argument.
fn asked(event: &[u8]) -> Option<i64> {
    let end = rfind(event, b") ", 0)?;
    let start = rfind(&event[..end], b", ", 0)? + 2;
    number_at(&event[start..end])
}

/// The result of a call, if it is a number that is not negative.
fn result(event: &[u8]) -> Option<i64> {
    rfind(event, b" = ", 0).and_then(|at| number_at(&event[at + 3..]))
}

#[cfg(test)]
mod tests {
    use crate::strace;

    fn filtered(text: &str) -> bool {
        let all = "7 brk(NULL) = 0x5000\n7 set_robust_list(0x7000, 24) = 0\n7 getuid() = 0\n7 rseq(0x7000, 32, 0, 0x53053053) = 0\n";
        let log = format!("{all}{text}");
        strace::detect(log.as_bytes()).expect("a strace log").traced.are_filtered()
    }

    const OPEN: &str = "7 openat(AT_FDCWD, \"/x\", O_RDONLY|O_CLOEXEC) = 3\n";
    const STAT: &str =
        "7 newfstatat(3, \"\", {st_mode=S_IFREG|0644, st_size=9, ...}, AT_EMPTY_PATH) = 0\n";
    const ASK: &str = "7 ioctl(3, TCGETS, 0x7ffd) = -1 ENOTTY (Inappropriate ioctl for device)\n";
    const READ: &str = "7 read(3, \"x\"..., 8192) = 9\n";
    const SEEK: &str = "7 lseek(3, 0, SEEK_CUR) = 0\n";

    #[test]
    fn a_file_that_is_no_terminal_is_looked_at_before_it_is_read() {
        assert!(filtered(&[OPEN, STAT, ASK, READ].concat()));
        assert!(!filtered(&[OPEN, STAT, ASK, SEEK, READ].concat()));
        // Any seek shows that seeks are traced.
        let other = "7 lseek(0, 0, SEEK_CUR) = 0\n";
        assert!(!filtered(&[other, OPEN, STAT, ASK, READ].concat()));
        assert!(!filtered(&[OPEN, STAT, ASK, READ, other].concat()));
        // sed -i
        assert!(!filtered(&[OPEN, ASK, STAT, READ].concat()));
        assert!(!filtered(&[OPEN, STAT, READ].concat()));
        // Standard input is older than the log, and was asked for other reasons.
        assert!(!filtered(&[STAT, ASK, READ].concat()));
        assert!(!filtered(&[OPEN, STAT, ASK, "7 close(3) = 0\n", READ].concat()));
    }

    #[test]
    fn a_file_has_no_more_than_its_size() {
        let end = "7 read(3, \"\", 8192) = 0\n";
        assert!(!filtered(&[OPEN, STAT, READ, end].concat()));
        assert!(filtered(&[OPEN, STAT, READ, end, READ].concat()));
        // It has grown; or the kernel makes it up.
        assert!(!filtered(&[OPEN, STAT, READ, &STAT.replace("=9", "=18"), READ].concat()));
        assert!(!filtered(&[OPEN, &STAT.replace("=9", "=0"), READ, READ].concat()));
        assert!(!filtered(&[OPEN, &STAT.replace("IFREG", "IFCHR"), READ, READ].concat()));
        // Another thread may have opened another file.
        let thread = "7 clone(flags=CLONE_VM|CLONE_FILES|CLONE_THREAD) = 8\n";
        assert!(!filtered(&[OPEN, STAT, thread, READ, READ].concat()));
    }

    #[test]
    fn a_file_ends_where_its_size_says() {
        let long = STAT.replace("=9", "=99");
        let end = "7 read(3, \"\", 8192) = 0\n";
        assert!(filtered(&[OPEN, &long, READ, end].concat()));
        assert!(!filtered(&[OPEN, &long, READ].concat()));
        // Nothing was asked for; the rest may have been read by another task, or in sysfs be none.
        assert!(!filtered(&[OPEN, &long, READ, "7 read(3, \"\", 0) = 0\n"].concat()));
        assert!(!filtered(&[OPEN, &long, READ, "7 fork() = 8\n", end].concat()));
        assert!(!filtered(&[OPEN, &long, "7 read(3,  <unfinished ...>\n", end].concat()));
        assert!(!filtered(&[OPEN, &STAT.replace("=9", "=4096"), READ, end].concat()));
    }

    #[test]
    fn what_is_read_and_written_is_sought() {
        let written = "7 write(3, \"x\", 1) = 1\n";
        let whole = "7 dup2(3, 1) = 1\n7 write(1, \"x\", 1) = 1\n";
        assert!(filtered(&[OPEN, STAT, READ, written].concat()));
        assert!(filtered(&[OPEN, STAT, READ, whole].concat()));
        assert!(filtered(&[OPEN, STAT, written, READ].concat()));
        assert!(!filtered(&[OPEN, STAT, written].concat()));
        assert!(!filtered(&[OPEN, &STAT.replace("IFREG", "IFCHR"), READ, written].concat()));
        let full = "7 write(3, \"x\", 1) = -1 ENOSPC (No space left on device)\n";
        assert!(!filtered(&[OPEN, STAT, READ, full].concat()));
        let append = OPEN.replace("O_RDONLY", "O_RDWR|O_APPEND");
        assert!(!filtered(&[&append, STAT, READ, written].concat()));
    }

    #[test]
    fn a_part_of_a_file_is_sought() {
        let long = STAT.replace("=9", "=99999");
        let close = "7 close(3) = 0\n";
        let part = "7 read(3, \"x\"..., 50)             = 50\n";
        assert!(filtered(&[OPEN, &long, part, close].concat()));
        assert!(filtered(&[OPEN, &long, part, "7 read(3, \"\", 0)      = 0\n", close].concat()));
        assert!(!filtered(&[OPEN, &long, SEEK, part, close].concat()));
        // head -c 50; the size is not looked at before.
        assert!(!filtered(&[OPEN, part, close].concat()));
        assert!(!filtered(&[OPEN, part, &long, close].concat()));
        // A buffer, the whole file, or a part at the start after all.
        assert!(!filtered(&[OPEN, &long, &part.replace("50", "8192"), close].concat()));
        assert!(!filtered(&[OPEN, &STAT.replace("=9", "=50"), part, close].concat()));
        assert!(!filtered(&[OPEN, &long, part, part, close].concat()));
        assert!(!filtered(&[OPEN, &long, &part.replace("= 50", "= 40"), close].concat()));
        // A loader.
        let map = "7 mmap(NULL, 999, PROT_READ|PROT_EXEC, MAP_PRIVATE, 3, 0) = 0x7000\n";
        assert!(!filtered(&[OPEN, &long, part, map, close].concat()));
    }

    #[test]
    fn a_file_is_read_to_its_end_or_only_for_a_moment() {
        let long = STAT.replace("=9", "=999");
        let close = "7 close(3) = 0\n";
        let reads = READ.repeat(32);
        assert!(filtered(&[OPEN, &long, &reads, close].concat()));
        assert!(!filtered(&[OPEN, &long, &reads].concat()));
        assert!(!filtered(&[OPEN, &long, READ, close].concat()));
        assert!(!filtered(&[OPEN, &long, "7 fork() = 8\n", &reads, close].concat()));
        assert!(!filtered(&[OPEN, &STAT.replace("=9", "=288"), &reads, close].concat()));
    }
}
