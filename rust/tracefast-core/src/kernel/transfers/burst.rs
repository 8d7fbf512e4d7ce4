//! Bursts: calls that overlapped, and moved data through one position, one after the other.
//!
//! Which of them came first, the log does not show, so where each began is `ambiguous`. What they
//! covered together is known: each began where another one ended.

use crate::events::vocabulary::{Access, FileType, OffsetKnown};
use crate::kernel::descriptors::open_file_description::OpenFileDescription;
use crate::kernel::transfers::position::{CallOverlap, Offset, Position, Stream, Total};

/// What a burst covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Burst {
    /// Where it began, and where it ended.
    pub span: [i64; 2],
    pub known: OffsetKnown,
    /// How many calls moved data.
    pub calls: u32,
    /// The class of the call that came first, whichever that was.
    pub access: Option<Access>,
}

/// What a description remembers of the burst that is under way.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BurstStart {
    /// The stream of its calls, before the first of them ended.
    before: Stream,
    /// Another access of that stream ended meanwhile.
    torn: bool,
    /// Its last call has ended.
    over: bool,
}

impl OpenFileDescription {
    /// Whether the kernel lets one call after the other use the position: `fdget_pos` in fs/file.c
    /// takes a lock where `FMODE_ATOMIC_POS` is set, which `do_dentry_open` does for regular files
    /// and directories. A file without a name in any file system (`memfd_create(2)`) is not opened
    /// that way.
    pub(crate) fn takes_turns(&self) -> bool {
        let within =
            |folder: &[u8]| self.path.as_ref().is_some_and(|path| path.starts_with(folder));
        if within(b"/memfd:") {
            return false;
        }
        match self.file_type {
            Some(it) if it == FileType::Regular as u8 || it == FileType::Directory as u8 => true,
            Some(it) if it != FileType::Unknown as u8 => false,
            _ => !within(b"/dev/") || within(b"/dev/shm/"),
        }
    }

    /// A call that overlapped others has ended, and moved data; `write`: to the file.
    pub(crate) fn see_overlapping(&mut self, write: bool) {
        let stream = self.streams[usize::from(write)];
        if self.in_progress.moves().0 <= 1 {
            self.burst = BurstStart { before: stream, ..BurstStart::default() };
        } else {
            self.burst.torn |= stream != Stream::Lost;
        }
    }

    /// The last of calls that overlapped has ended. Returns whether they were a burst.
    pub(crate) fn settle(&mut self, overlap: CallOverlap) -> bool {
        let CallOverlap { total, moved_by, .. } = overlap;
        let Total::Moved(total) = total else {
            self.position = Position::Unknown;
            return false;
        };
        self.position = self.position.plus(total);
        let Position::At(end) = self.position else { return false };
        if moved_by[0] == moved_by[1] {
            return false;
        }
        // The last of them ended here, whichever it was, unless a call with an explicit offset came
        // later.
        let stream = &mut self.streams[usize::from(moved_by[1])];
        if *stream == Stream::Lost {
            *stream = Stream::End(end);
        } else {
            self.burst.torn = true;
        }
        self.burst.over = true;
        true
    }

    /// The burst whose last call has just ended, if any; `missing`: calls that are not in the log may
    /// have moved the position.
    #[cold]
    pub(crate) fn end_burst(&mut self, missing: bool) -> Option<Burst> {
        let BurstStart { mut before, torn, over } = std::mem::take(&mut self.burst);
        let Position::At(end) = self.position else { return None };
        if !over || self.unordered || self.doubtful {
            return None;
        }
        let (calls, bytes) = self.in_progress.moves();
        let from = end.plus(bytes.checked_neg()?);
        let access = before.see(Some(from), bytes).filter(|_| !torn);
        let (at, known) = match from {
            Offset::Exact(at) if missing => (at, OffsetKnown::Assumed),
            Offset::Exact(at) => (at, OffsetKnown::Exact),
            Offset::Relative(at) if missing => (at, OffsetKnown::AssumedRelative),
            Offset::Relative(at) => (at, OffsetKnown::Relative),
        };
        self.relative |= matches!(from, Offset::Relative(_));
        Some(Burst { span: [at, at.checked_add(bytes)?], known, calls, access })
    }
}
