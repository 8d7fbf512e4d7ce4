//! Where logs come from: files, standard input, compressed or not, found by their first bytes.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arrow_array::RecordBatch;
use memchr::memchr_iter;
use tracefast_core::format::{Format, Wanted};
use tracefast_core::ftrace::Machine;
use tracefast_core::ftrace::wrapper::is_page;
use tracefast_core::other_tools;
use tracefast_core::second_log::second_log;
use tracefast_core::strace::{self, leader::Pid};

use crate::error::{Error, ErrorKind, Result};
use crate::input::arriving::{Arriving, Ending};
use crate::input::compressed::{self, MAGIC, Packing, Pieces};
use crate::input::merge::{Input, Merge};

/// Bytes that decide whether an input is a log at all, and of which format.
pub(crate) const SNIFF: usize = 1 << 20;

/// The same for a page of HTML: systrace puts the viewer, several megabytes, before the trace.
const SNIFF_PAGE: usize = 64 << 20;

/// Counters that another thread may look at while a log is read.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes read of the input as stored, compressed or not.
    pub bytes_read: AtomicU64,
    /// Bytes of all inputs, where known, else 0.
    pub bytes_total: AtomicU64,
    /// Rows made.
    pub rows: AtomicU64,
    /// Blocks of text parsed.
    pub blocks: AtomicU64,
    /// Rows put into Arrow arrays: those that a predicate left.
    pub rows_built: AtomicU64,
    /// The most columns that they were given.
    pub columns_built: AtomicU64,
    /// Set to stop everything.
    pub cancelled: AtomicBool,
    /// The logs were read to their end, or as far as was wanted.
    pub done: AtomicBool,
}

impl Progress {
    /// A batch was made.
    pub(crate) fn built(&self, batch: &RecordBatch) {
        let (rows, columns) = (batch.num_rows() as u64, batch.num_columns() as u64);
        self.rows_built.fetch_add(rows, Ordering::Relaxed);
        if rows > 0 {
            self.columns_built.fetch_max(columns, Ordering::Relaxed);
        }
    }
}

/// An open log, its format known.
pub(crate) struct Source {
    /// As the user named it; `-` is standard input.
    pub name: String,
    /// How to parse it; `None` for an empty input.
    pub format: Option<Format>,
    /// The bytes.
    pub bytes: Bytes,
    /// Lines of its file before it.
    pub line: u64,
    /// The second log of the same file.
    pub second: Option<Box<Source>>,
}

/// The two ways to read.
pub(crate) enum Bytes {
    /// A plain file: any worker reads any part.
    File {
        /// The file.
        file: Arc<File>,
        /// Its length when it was opened.
        len: u64,
    },
    /// Anything else: one thread reads it from start to end.
    Stream {
        /// What was read to find the format.
        head: Vec<u8>,
        /// The rest.
        rest: Box<dyn Read + Send>,
        /// Bytes of the log's file before them.
        before: u64,
    },
    /// The same while it is written: what has come is not kept back.
    Arriving {
        /// What was read to find the format.
        head: Vec<u8>,
        /// The rest.
        rest: Arriving,
    },
    /// A compressed log: any worker unpacks any piece, as long as pieces can be found.
    Packed {
        /// Text that was unpacked to find the format.
        head: Vec<u8>,
        /// The rest.
        rest: Pieces,
    },
}

impl Source {
    fn new(name: &str, format: Option<Format>, bytes: Bytes) -> Self {
        Self { name: name.to_owned(), format, bytes, line: 0, second: None }
    }

    /// Opens the log that a user calls `name` and finds its format.
    ///
    /// # Errors
    /// The file cannot be read, is a directory, or has no line in its first megabyte that is
    /// recognised, and `wanted` names no format.
    pub(crate) fn open(
        name: &str,
        wanted: Option<Wanted>,
        progress: &Arc<Progress>,
    ) -> Result<Self> {
        let path = PathBuf::from(OsStr::new(name));
        let at = |error| Error::io(&path, error);
        if name == "-" {
            let reader = Counted { inner: io::stdin(), progress: Arc::clone(progress) };
            return Self::stream(name, Box::new(reader), wanted);
        }
        let file = File::open(&path).map_err(|error| with_file_hint(at(error)))?;
        let metadata = file.metadata().map_err(at)?;
        if metadata.is_dir() {
            let error = at(io::Error::from_raw_os_error(libc::EISDIR));
            return Err(error.with_hint("name the logs in it, for example DIR/*.log"));
        }
        let mut magic = [0; MAGIC];
        let regular = metadata.is_file() || metadata.file_type().is_block_device();
        let len = metadata.len();
        let read = if regular { read_at(&file, &mut magic, 0).map_err(at)? } else { 0 };
        if regular && Packing::from_magic(&magic[..read]).is_none() {
            let most = usize::try_from(len).unwrap_or(usize::MAX);
            let mut head = vec![0; SNIFF.min(most)];
            let n = read_at(&file, &mut head, 0).map_err(at)?;
            head.truncate(n);
            if is_page(&head) {
                head.resize(SNIFF_PAGE.min(most), 0);
                let more = read_at(&file, &mut head[n..], n as u64).map_err(at)?;
                head.truncate(n + more);
            }
            let format = detect(name, &head, wanted)?;
            if let Some(parts) = TwoLogs::find(&head, format.as_ref(), wanted) {
                progress.bytes_read.fetch_add(head.len() as u64, Ordering::Relaxed);
                (&file).seek(SeekFrom::Start(head.len() as u64)).map_err(at)?;
                let left = len.saturating_sub(head.len() as u64);
                let inner = Counted { inner: file, progress: Arc::clone(progress) };
                return Ok(parts.sources(name, head, Box::new(FileRest { inner, left })));
            }
            return Ok(Self::new(name, format, Bytes::File { file: Arc::new(file), len }));
        }
        let reader = Counted { inner: file, progress: Arc::clone(progress) };
        Self::stream(name, Box::new(reader), wanted)
    }

    /// The same log as recorded on `machine`, if that is chosen.
    #[must_use]
    pub(crate) fn on(mut self, machine: Option<Machine>) -> Self {
        self.format = self.format.map(|format| format.with_machine(machine));
        self.second = self.second.map(|second| Box::new(second.on(machine)));
        self
    }

    /// Opens an input: a log, that of one task, or those of several tasks.
    ///
    /// # Errors
    /// As for [`Source::open`].
    pub(crate) fn open_input(
        input: &Input,
        wanted: Option<Wanted>,
        progress: &Arc<Progress>,
    ) -> Result<Self> {
        match input {
            Input::Log(name) => Self::open(name, wanted, progress),
            Input::TaskLog { name, source, pid } => {
                let mut out = Self::open(name, wanted, progress)?;
                source.clone_into(&mut out.name);
                if let Some(Format::Strace(format)) = &mut out.format {
                    name_by_file(format, *pid);
                }
                Ok(out)
            }
            Input::Set(set) => {
                let merge = Merge::open(&set.members, &set.format.layout, set.origin, progress)?;
                let bytes = Bytes::Stream { head: Vec::new(), rest: Box::new(merge), before: 0 };
                Ok(Self::new(&set.name, Some(Format::Strace(set.format)), bytes))
            }
        }
    }

    /// Opens a log that is still being written, `-` for standard input. It is plain text.
    ///
    /// # Errors
    /// As for [`Source::open`].
    pub(crate) fn open_arriving(
        name: &str,
        wanted: Option<Wanted>,
        ending: &Ending,
        progress: &Arc<Progress>,
    ) -> Result<Self> {
        let mut rest = Arriving::open(name, ending, progress)?;
        let head = rest.head().map_err(|error| Error::io(name, error))?;
        if Packing::from_magic(&head).is_some() {
            let error = Error::not_a_log(name, "a compressed log cannot be followed");
            return Err(error.with_hint("unpack it in a pipe: zcat, zstdcat, xzcat, bzcat"));
        }
        let format = detect(name, &head, wanted)?;
        Ok(Self::new(name, format, Bytes::Arriving { head, rest }))
    }

    fn stream(name: &str, mut raw: Box<dyn Read + Send>, wanted: Option<Wanted>) -> Result<Self> {
        let at = |error| compressed::with_damage_hint(Error::io(name, error));
        let magic = read_up_to(&mut raw, MAGIC).map_err(at)?;
        let Some(packing) = Packing::from_magic(&magic) else {
            return Self::in_order(name, magic, raw, wanted);
        };
        let mut rest = Pieces::new(packing, magic, raw);
        let mut head = Vec::new();
        let mut again = None;
        while again.is_none() && head.len() < SNIFF {
            match rest.next() {
                Some(piece) if piece.append_to(&mut head).is_ok() => {}
                Some(piece) => again = Some(piece),
                None => break,
            }
        }
        if again.is_some() || head.len() < SNIFF || is_page(&head) {
            let rest = rest.rest(again.as_slice()).map_err(at)?;
            return Self::in_order(
                name,
                head,
                rest.unwrap_or_else(|| Box::new(io::empty())),
                wanted,
            );
        }
        let format = detect(name, &head, wanted)?;
        if let Some(parts) = TwoLogs::find(&head, format.as_ref(), wanted) {
            let rest = rest.rest(&[]).map_err(at)?.unwrap_or_else(|| Box::new(io::empty()));
            return Ok(parts.sources(name, head, rest));
        }
        Ok(Self::new(name, format, Bytes::Packed { head, rest }))
    }

    /// A stream after its first bytes, `head`.
    fn in_order(
        name: &str,
        mut head: Vec<u8>,
        mut rest: Box<dyn Read + Send>,
        wanted: Option<Wanted>,
    ) -> Result<Self> {
        let at = |error| compressed::with_damage_hint(Error::io(name, error));
        let mut fill = |head: &mut Vec<u8>, most: usize| {
            let more = read_up_to(&mut rest, most.saturating_sub(head.len()))?;
            head.extend_from_slice(&more);
            Ok(())
        };
        fill(&mut head, SNIFF).map_err(at)?;
        if is_page(&head) {
            fill(&mut head, SNIFF_PAGE).map_err(at)?;
        }
        let format = detect(name, &head, wanted)?;
        if let Some(parts) = TwoLogs::find(&head, format.as_ref(), wanted) {
            return Ok(parts.sources(name, head, rest));
        }
        Ok(Self::new(name, format, Bytes::Stream { head, rest, before: 0 }))
    }
}

/// A log of strace and one of ftrace in the same file.
struct TwoLogs {
    formats: [Format; 2],
    /// Bytes before the second.
    start: usize,
}

impl TwoLogs {
    /// Finds them in the first bytes of a file. A format that the user names is the only one.
    fn find(head: &[u8], format: Option<&Format>, wanted: Option<Wanted>) -> Option<Self> {
        let format = format.filter(|_| wanted.is_none() && !is_page(head))?;
        let start = second_log(head, format)?;
        let (first, second) = head.split_at(start);
        let formats = [Format::detect(first, None)?, Format::detect(second, None)?];
        Some(Self { formats, start })
    }

    /// Two sources; the second is called `NAME#2`.
    fn sources(self, name: &str, mut head: Vec<u8>, rest: Box<dyn Read + Send>) -> Source {
        let Self { formats: [first, second], start } = self;
        let after = head.split_off(start);
        let line = memchr_iter(b'\n', &head).count() as u64;
        let bytes = Bytes::Stream { head: after, rest, before: start as u64 };
        let second = Source { line, ..Source::new(&format!("{name}#2"), Some(second), bytes) };
        let bytes = Bytes::Stream { head, rest: Box::new(io::empty()), before: 0 };
        Source { second: Some(Box::new(second)), ..Source::new(name, Some(first), bytes) }
    }
}

/// The task is not in the log but in the name of its file.
fn name_by_file(format: &mut strace::Format, pid: i32) {
    if format.layout.pid == Pid::Bracket {
        format.layout.pid = Pid::File;
        format.root = None;
        format.task = Some(pid);
    }
}

/// The bytes of all inputs, if every one of them is a file.
pub(crate) fn total_bytes(inputs: &[Input]) -> u64 {
    let mut names = inputs.iter().flat_map(Input::names);
    let lengths: Option<Vec<u64>> =
        names.by_ref().map(|name| std::fs::metadata(name).ok().map(|m| m.len())).collect();
    lengths.map_or(0, |lengths| lengths.iter().sum())
}

pub(crate) fn with_file_hint(error: Error) -> Error {
    match error.errno() {
        Some(libc::ENOENT) => error.with_hint("check the name"),
        Some(libc::EACCES) => {
            error.with_hint("check the permissions of the file and of its folder")
        }
        _ => error,
    }
}

const ANYWAY: &str = "to read it anyway, name its format: strace or ftrace";

fn detect(name: &str, head: &[u8], wanted: Option<Wanted>) -> Result<Option<Format>> {
    if head.is_empty() {
        return Ok(None);
    }
    if let Some(what) = Format::typeset(head).filter(|_| wanted.is_none()) {
        let what = format!("a word processor or a page put {what} into this log");
        let hint = "put those of ASCII back: sed 's/\u{a0}/ /g; s/[\u{201c}\u{201d}\u{201e}]/\"/g'";
        return Err(Error::new(ErrorKind::Typeset(what)).at_path(name).with_hint(hint));
    }
    if let Some(wanted) = wanted {
        let format = Format::detect(head, Some(wanted));
        return Ok(Some(format.unwrap_or_else(|| Format::from_wanted(wanted))));
    }
    if let Some(other) = other_tools::recognize(head) {
        let hint = match other.hint {
            hint if other.has_lines => format!("{hint}; {ANYWAY}"),
            hint => hint.to_owned(),
        };
        let what = format!("this is {}, not a log of strace or ftrace", other.what);
        let error = Error::new(ErrorKind::OtherTool(what)).at_path(name).at_line(other.line);
        return Err(error.with_hint(hint));
    }
    if let Some(format) = Format::detect(head, None) {
        return Ok(Some(format));
    }
    if head.starts_with(b"PAR1") || head.starts_with(b"ARROW1") {
        return Err(Error::new(ErrorKind::Columns)
            .at_path(name)
            .with_hint("it does not need parsing: scan it directly"));
    }
    let what = if head.contains(&0) {
        "this is a binary file, not text of strace or ftrace"
    } else {
        "no line of the first megabyte looks like strace or ftrace"
    };
    let error = Error::not_a_log(name, what).at_line(1);
    Err(error.with_hint(ANYWAY))
}

/// Reads as much of `buf` as the file has from `offset` on.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn read_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < buf.len() {
        match file.read_at(&mut buf[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

pub(crate) fn read_up_to(reader: &mut dyn Read, limit: usize) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    reader.take(limit as u64).read_to_end(&mut out)?;
    Ok(out)
}

/// The rest of a file whose length is known: what is written to it meanwhile is not read.
struct FileRest<R> {
    inner: R,
    /// Bytes of it.
    left: u64,
}

impl<R: Read> Read for FileRest<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.by_ref().take(self.left).read(buf)?;
        if n == 0 && self.left > 0 && !buf.is_empty() {
            return Err(shrunk().into());
        }
        self.left -= n as u64;
        Ok(n)
    }
}

/// The log has become shorter than it was when it was opened.
pub(crate) fn shrunk() -> Error {
    Error::new(ErrorKind::Shrunk).with_hint("parse it when nothing writes it, or parse a copy")
}

/// Counts bytes read of the input as stored.
struct Counted<R> {
    inner: R,
    progress: Arc<Progress>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.progress.bytes_read.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_file_has_its_length() {
        let read = |left: u64| {
            let mut text = String::new();
            FileRest { inner: &b"abc"[..], left }.read_to_string(&mut text).map(|_| text)
        };
        assert_eq!(read(3).expect("whole"), "abc");
        // It has grown.
        assert_eq!(read(2).expect("as long as it was"), "ab");
        let error = Error::from(read(4).expect_err("the end is gone"));
        assert_eq!(error.kind().word(), "shrunk");
    }
}
