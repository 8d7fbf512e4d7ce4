//! Many files read at the same time with few descriptors.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use crate::input::source::Progress;

/// Descriptors that may be open at a time: far below the 1,024 that a process is given.
const OPEN: usize = 256;

/// The open files, the one opened first in front.
#[derive(Debug, Default)]
pub(crate) struct Descriptors(Mutex<VecDeque<(usize, Arc<File>)>>);

impl Descriptors {
    /// File `id`, opened at `path` if it is not open; then the one opened first may be closed.
    fn get(&self, id: usize, path: &PathBuf) -> io::Result<Arc<File>> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, file)) = open.iter().find(|(other, _)| *other == id) {
            return Ok(Arc::clone(file));
        }
        while open.len() >= OPEN {
            open.pop_front();
        }
        let file = Arc::new(File::open(path)?);
        open.push_back((id, Arc::clone(&file)));
        Ok(file)
    }

    fn close(&self, id: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|(other, _)| *other != id);
    }
}

/// One of the files, read from start to end. It may be closed between two reads.
pub(crate) struct Reopened {
    path: PathBuf,
    id: usize,
    offset: u64,
    files: Arc<Descriptors>,
    progress: Arc<Progress>,
}

impl Reopened {
    /// The file at `path`, number `id` of those that share `files`.
    pub(crate) fn new(
        path: PathBuf,
        id: usize,
        files: &Arc<Descriptors>,
        progress: &Arc<Progress>,
    ) -> Self {
        Self { path, id, offset: 0, files: Arc::clone(files), progress: Arc::clone(progress) }
    }
}

impl Read for Reopened {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.files.get(self.id, &self.path)?.read_at(buf, self.offset)?;
        if n == 0 && !buf.is_empty() {
            self.files.close(self.id);
        }
        self.offset += n as u64;
        self.progress.bytes_read.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_beyond_the_limit_are_read_on_where_they_were() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = Arc::new(Descriptors::default());
        let progress = Arc::new(Progress::default());
        let mut readers: Vec<Reopened> = (0..2 * OPEN)
            .map(|id| {
                let path = folder.path().join(id.to_string());
                std::fs::write(&path, format!("{id:<8}{id:<8}")).expect("room for it");
                Reopened::new(path, id, &files, &progress)
            })
            .collect();
        for _ in 0..2 {
            for (id, reader) in readers.iter_mut().enumerate() {
                let mut part = [0; 8];
                reader.read_exact(&mut part).expect("readable");
                assert_eq!(part, format!("{id:<8}").as_bytes());
                assert!(files.0.lock().expect("no panic").len() <= OPEN);
            }
        }
        for reader in &mut readers {
            assert_eq!(reader.read(&mut [0; 8]).expect("readable"), 0);
        }
        assert!(files.0.lock().expect("no panic").is_empty());
        assert_eq!(progress.bytes_read.load(Ordering::Relaxed), 2 * OPEN as u64 * 16);
    }
}
