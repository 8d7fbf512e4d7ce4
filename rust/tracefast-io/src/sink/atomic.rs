//! Files that appear whole or not at all.
//!
//! A regular file is written under another name beside its place, `.tracefast-NAME.RANDOM.tmp`, and
//! renamed when it is complete. Where a process was killed, that file is left. The next one that writes
//! the same output removes it: a file that is being written is locked (flock(2)).
//! What is no regular file (a pipe, a terminal, `/dev/null`) cannot be replaced by one and is
//! written as it is.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IoSlice, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use tempfile::{Builder, NamedTempFile};

use crate::error::{Error, ErrorKind, Result};

/// Bytes collected before they are written.
const BUFFER: usize = 256 << 10;

/// What the names of temporary files end with, and how many random characters come before that.
const SUFFIX: &str = ".tmp";
const RANDOM: usize = 6;

/// The most links to follow before they are taken for a loop.
const MOST_LINKS: usize = 40;

/// An output that appears under its name when it is complete. Dropped before that, it leaves no
/// trace.
///
/// # Examples
/// ```
/// use std::io::Write;
/// use tracefast_io::sink::AtomicFile;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("out.parquet");
/// let mut file = AtomicFile::create(&path, true)?;
/// file.write_all(b"all of it")?;
/// assert!(!path.exists());
/// file.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"all of it");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    /// What the user called it.
    path: PathBuf,
    clobber: bool,
    writer: BufWriter<Target>,
}

#[derive(Debug)]
enum Target {
    /// Will be renamed to `place`.
    Temporary { file: NamedTempFile, place: PathBuf },
    /// Is written as it is.
    Direct(File),
}

impl AtomicFile {
    /// Starts to write `path`. A link stays a link: what it points to is replaced.
    ///
    /// # Errors
    /// When `path` is a directory; when it exists and `clobber` is false; when nothing can be
    /// written there. Each says what to do.
    pub fn create(path: &Path, clobber: bool) -> Result<Self> {
        let target = open(path, clobber).map_err(|error| about_output(error, path))?;
        let writer = BufWriter::with_capacity(BUFFER, target);
        Ok(Self { path: path.to_owned(), clobber, writer })
    }

    /// Writes to standard output.
    ///
    /// # Errors
    /// When it is closed.
    pub(crate) fn stdout() -> Result<Self> {
        Self::create(Path::new("/dev/stdout"), true)
    }

    /// What the user called the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the complete file in its place. Its permissions are those of the file it replaces, or
    /// the usual ones.
    ///
    /// # Errors
    /// When the last bytes cannot be written, or the file cannot be renamed. It is then removed.
    pub fn commit(self) -> Result<()> {
        let Self { path, clobber, writer } = self;
        let target = writer.into_inner().map_err(|error| {
            let (error, writer) = error.into_parts();
            // Otherwise the buffer would be written once more.
            drop(writer.into_parts());
            about_output(error.into(), &path)
        })?;
        put_in_place(target, clobber).map_err(|error| about_output(error, &path))
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.writer.write_vectored(pieces)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            // The file itself: through `NamedTempFile` an error would name the temporary file.
            Self::Temporary { file, .. } => file.as_file_mut().write(bytes),
            Self::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Completes an error that an output met: names the file, and says what the user can do.
pub(crate) fn about_output(error: Error, path: &Path) -> Error {
    let hint = match error.errno() {
        Some(libc::ENOSPC | libc::EDQUOT) => "free some space, or write to another disk",
        Some(libc::ENOENT) => "create the folder first",
        Some(libc::ENOTDIR) => "a part of the path is a file, not a folder",
        Some(libc::EACCES | libc::EPERM | libc::EROFS) => "choose a folder that you may write to",
        Some(libc::EISDIR) => "give the name of a file, not of a folder",
        Some(libc::EEXIST) => "choose another name, or allow the file to be replaced",
        Some(libc::ELOOP) => "its symbolic links form a loop",
        Some(libc::ENAMETOOLONG) => "choose a shorter name",
        _ => return error.at_path(path),
    };
    error.at_path(path).with_hint(hint)
}

fn open(path: &Path, clobber: bool) -> Result<Target> {
    let place = match resolve(path)? {
        Resolved::Standard(file) => return Ok(Target::Direct(file)),
        Resolved::Place(place) => place,
    };
    let replaced = match fs::metadata(&place) {
        Ok(metadata) if metadata.is_dir() => return Err(Error::new(ErrorKind::IsADirectory)),
        Ok(metadata) if !metadata.is_file() => {
            return Ok(Target::Direct(OpenOptions::new().write(true).open(&place)?));
        }
        Ok(_) if !clobber => return Err(Error::new(ErrorKind::Exists)),
        Ok(metadata) => {
            // Renaming would replace a file that its owner has protected.
            OpenOptions::new().write(true).open(&place)?;
            Some(metadata.permissions())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    let Some(name) = place.file_name() else {
        return Err(Error::new(ErrorKind::IsADirectory));
    };
    let name: String = name.to_string_lossy().chars().take(40).collect();
    let folder = match place.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let prefix = format!(".tracefast-{name}.");
    remove_abandoned(folder, &prefix);
    let file = locked(folder, &prefix)?;
    if let Some(permissions) = replaced {
        // Where the file system has no permissions, there are none to keep.
        let _ = file.as_file().set_permissions(permissions);
    }
    Ok(Target::Temporary { file, place })
}

/// Creates a temporary file and locks it, so that no other process takes it for abandoned.
fn locked(folder: &Path, prefix: &str) -> io::Result<NamedTempFile> {
    loop {
        // Opened as any file is, so that the user's mask applies, and errors keep their number.
        let file = Builder::new()
            .prefix(prefix)
            .suffix(SUFFIX)
            .rand_bytes(RANDOM)
            .make_in(folder, |path| OpenOptions::new().write(true).create_new(true).open(path))?;
        // Some file systems have no locks: there, abandoned files stay.
        let removed = flock(file.as_file(), FlockOperation::LockExclusive).is_ok()
            && file.as_file().metadata()?.nlink() == 0;
        // Another process may have removed it before it was locked.
        if !removed {
            return Ok(file);
        }
    }
}

/// Removes temporary files of an output whose writers are gone.
fn remove_abandoned(folder: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let random = name
            .to_str()
            .and_then(|name| name.strip_prefix(prefix)?.strip_suffix(SUFFIX))
            .is_some_and(|random| random.len() == RANDOM);
        if random
            && let Ok(file) = OpenOptions::new().write(true).open(entry.path())
            && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

enum Resolved {
    /// The process's own standard output or error, whatever they are.
    Standard(File),
    /// A path that is no link.
    Place(PathBuf),
}

/// Follows links, so that they stay, and what they point to is replaced.
fn resolve(path: &Path) -> io::Result<Resolved> {
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        match place.to_str() {
            // Opened again, they would write from the start of the file that they are redirected
            // to.
            Some("/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1") => {
                return Ok(Resolved::Standard(io::stdout().as_fd().try_clone_to_owned()?.into()));
            }
            Some("/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2") => {
                return Ok(Resolved::Standard(io::stderr().as_fd().try_clone_to_owned()?.into()));
            }
            _ => {}
        }
        // Descriptors look like links, but what they point to may have no name.
        if place.starts_with("/proc/self/fd") || place.starts_with("/dev/fd") {
            let file = OpenOptions::new().write(true).open(&place)?;
            return Ok(Resolved::Standard(file));
        }
        match fs::read_link(&place) {
            Ok(link) => {
                place.pop();
                place.push(link);
            }
            // No link, or nothing there yet.
            Err(_) => return Ok(Resolved::Place(place)),
        }
    }
    Err(io::Error::from_raw_os_error(libc::ELOOP))
}

fn put_in_place(target: Target, clobber: bool) -> Result<()> {
    let Target::Temporary { file, place } = target else { return Ok(()) };
    file.as_file().sync_all()?;
    if clobber {
        file.persist(&place).map_err(|error| error.error)?;
    } else if let Err(error) = file.persist_noclobber(&place) {
        // Another process created one meanwhile.
        return Err(match error.error.kind() {
            io::ErrorKind::AlreadyExists => Error::new(ErrorKind::Exists),
            _ => error.error.into(),
        });
    }
    if let Some(folder) = place.parent() {
        // The name survives a crash only when the folder is written too. Not every file system can.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}
