//! A log that is still being written: a pipe, or a file that grows, read as it comes.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::input::source::{Progress, SNIFF, shrunk, with_file_hint};

/// How long text may come before the format is decided by what there is.
const SNIFF_TIME: Duration = Duration::from_millis(300);
/// How often to look whether a file has grown, and whether reading is to end.
const PATIENCE: Duration = Duration::from_millis(50);
/// How long text is taken after the end is asked for: a tracer that is ended, too, still writes.
const END_TIME: Duration = Duration::from_millis(300);
/// Bytes of one read: as many as a pipe holds.
const CHUNK: usize = 64 << 10;
/// Reads that wait to be taken.
const AHEAD: usize = 16;

/// Asks for the end of a log that still comes: what was read until then is all of it.
#[derive(Debug, Clone, Default)]
pub struct Ending(Arc<AtomicBool>);

impl Ending {
    /// Reads no further.
    pub fn end(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_due(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The text of such a log. Each read gives what has come, and waits only if that is nothing.
pub(crate) struct Arriving {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: io::Cursor<Vec<u8>>,
    ending: Ending,
    /// When to read no further, whatever comes.
    last: Option<Instant>,
    progress: Arc<Progress>,
}

impl Arriving {
    /// Opens a log, `-` for standard input. A file is read beyond its end as it grows.
    ///
    /// # Errors
    /// It cannot be opened, or is a directory.
    pub(crate) fn open(name: &str, ending: &Ending, progress: &Arc<Progress>) -> Result<Self> {
        let at = |error| with_file_hint(Error::io(Path::new(name), error));
        let file = if name == "-" {
            File::from(io::stdin().as_fd().try_clone_to_owned().map_err(at)?)
        } else {
            File::open(name).map_err(at)?
        };
        let metadata = file.metadata().map_err(at)?;
        if metadata.is_dir() {
            return Err(at(io::Error::from_raw_os_error(libc::EISDIR)));
        }
        let (sender, chunks) = sync_channel(AHEAD);
        let thread = std::thread::Builder::new().name("tracefast-arriving".to_owned());
        let (grows, until) = (metadata.is_file(), ending.clone());
        // It may wait for input when all else has ended, and is left to end with its input.
        thread.spawn(move || read_all(file, grows, &until, &sender))?;
        let (ending, progress) = (ending.clone(), Arc::clone(progress));
        Ok(Self { chunks, chunk: io::Cursor::default(), ending, last: None, progress })
    }

    /// The first bytes, from which the format is found: what comes in a short time.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(crate) fn head(&mut self) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        let mut until = None;
        while head.len() < SNIFF && until.is_none_or(|until| Instant::now() < until) {
            match self.next(PATIENCE)? {
                Some(chunk) if chunk.is_empty() => break,
                Some(chunk) => {
                    head.extend_from_slice(&chunk);
                    until.get_or_insert_with(|| Instant::now() + SNIFF_TIME);
                }
                None => {}
            }
        }
        Ok(head)
    }

    /// The next bytes, none at the end. `None`: they have not come in time.
    fn next(&mut self, patience: Duration) -> io::Result<Option<Vec<u8>>> {
        if self.ending.is_due() {
            let last = *self.last.get_or_insert_with(|| Instant::now() + END_TIME);
            if Instant::now() > last {
                return Ok(Some(Vec::new()));
            }
        }
        match self.chunks.recv_timeout(patience) {
            Ok(chunk) => {
                let chunk = chunk?;
                self.progress.bytes_read.fetch_add(chunk.len() as u64, Ordering::Relaxed);
                Ok(Some(chunk))
            }
            Err(RecvTimeoutError::Timeout) if !self.ending.is_due() => Ok(None),
            Err(_) => Ok(Some(Vec::new())),
        }
    }
}

impl Read for Arriving {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.chunk.read(buf)?;
            if n > 0 || buf.is_empty() {
                return Ok(n);
            }
            match self.next(PATIENCE)? {
                Some(chunk) if chunk.is_empty() => return Ok(0),
                Some(chunk) => self.chunk = io::Cursor::new(chunk),
                None => {}
            }
        }
    }
}

/// Sends what a file holds and gets, until its end is asked for, or nobody takes it any more.
fn read_all(
    mut file: File,
    grows: bool,
    ending: &Ending,
    chunks: &SyncSender<io::Result<Vec<u8>>>,
) {
    let mut read = 0;
    loop {
        let mut chunk = vec![0; CHUNK];
        match file.read(&mut chunk) {
            Ok(0) if !grows || ending.is_due() => return,
            Ok(0) => {
                if file.metadata().is_ok_and(|file| file.len() < read) {
                    let _ = chunks.send(Err(shrunk().into()));
                    return;
                }
                std::thread::sleep(PATIENCE);
            }
            Ok(n) => {
                read += n as u64;
                chunk.truncate(n);
                if chunks.send(Ok(chunk)).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                let _ = chunks.send(Err(error));
                return;
            }
        }
    }
}
