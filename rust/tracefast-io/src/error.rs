//! The one error of this crate: what went wrong, where, and what to do about it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

/// Short for a result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused. The error number is kept.
    Io(io::Error),
    /// The input is not a log of strace or ftrace.
    NotALog(String),
    /// The input is the output of another tool, or a log in a form that is not read.
    OtherTool(String),
    /// The input was a log before something replaced its blanks or quotes.
    Typeset(String),
    /// The input is a file of events that tracefast wrote; only logs are read here.
    Columns,
    /// The file of events is not whole.
    DamagedColumns(String),
    /// A line is longer than any line of a log can be.
    TooLong {
        /// The longest line that is read, in bytes.
        limit: u64,
    },
    /// Lines have more text that had to be un-escaped or joined than Arrow can hold.
    TooMuchText {
        /// How much that is, in bytes.
        limit: u64,
    },
    /// The distinct names of calls, errors or commands have more text than a dictionary can hold.
    TooManyNames {
        /// How much that is, in bytes.
        limit: u64,
    },
    /// This many bytes hold no line that starts an event.
    NoEvent {
        /// How many bytes are searched for one.
        limit: u64,
    },
    /// The log became shorter while it was read.
    Shrunk,
    /// The output exists and may not be replaced.
    Exists,
    /// The output is a directory.
    IsADirectory,
    /// The Parquet file could not be encoded.
    Parquet(ParquetError),
    /// The Arrow data could not be encoded.
    Arrow(ArrowError),
    /// An option has a value that makes no sense.
    Option(String),
    /// The caller asked to stop.
    Cancelled,
    /// Another stage failed first, or a worker was lost.
    Broken(String),
}

/// An error of reading, parsing or writing, with its place.
///
/// # Examples
/// ```
/// use tracefast_io::error::{Error, ErrorKind};
///
/// let error = Error::new(ErrorKind::TooLong { limit: 1 << 30 }).at_path("a.log").at_line(7);
/// assert_eq!(error.to_string(), "a.log: line 7: a line is longer than 1073741824 bytes");
/// ```
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    path: Option<PathBuf>,
    line: Option<u64>,
    byte: Option<u64>,
    hint: Option<String>,
}

impl Error {
    /// An error of this kind, without a place.
    pub fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner { kind, path: None, line: None, byte: None, hint: None }))
    }

    /// The operating system refused something about `path`.
    pub(crate) fn io(path: impl Into<PathBuf>, error: io::Error) -> Self {
        Self::new(ErrorKind::Io(error)).at_path(path)
    }

    /// `path` cannot be a log; `what` says why.
    pub(crate) fn not_a_log(path: impl Into<PathBuf>, what: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotALog(what.into())).at_path(path)
    }

    /// `path` is a file of events, but not a whole one; `what` says why.
    pub(crate) fn damaged_columns(path: impl Into<PathBuf>, what: impl Into<String>) -> Self {
        Self::new(ErrorKind::DamagedColumns(what.into()))
            .at_path(path)
            .with_hint("re-create it from the log")
    }

    /// The caller asked to stop.
    pub(crate) fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled)
    }

    /// Names the file, unless one is named already.
    #[must_use]
    pub fn at_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.0.path.get_or_insert_with(|| path.into());
        self
    }

    /// Names the line, counted from 1.
    #[must_use]
    pub fn at_line(mut self, line: u64) -> Self {
        self.0.line = Some(line);
        self
    }

    /// Names the byte, counted from 0.
    #[must_use]
    pub(crate) fn at_byte(mut self, byte: u64) -> Self {
        self.0.byte = Some(byte);
        self
    }

    /// Adds a hint: what the user can do.
    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The file, where known.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// The line, counted from 1, where known.
    pub fn line(&self) -> Option<u64> {
        self.0.line
    }

    /// The byte, counted from 0, where known.
    pub fn byte(&self) -> Option<u64> {
        self.0.byte
    }

    /// What the user can do.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The number the operating system gives this error (`ENOSPC` …), if it has one.
    ///
    /// # Examples
    /// ```
    /// use tracefast_io::error::{Error, ErrorKind};
    ///
    /// assert_eq!(Error::new(ErrorKind::Exists).errno(), Some(17));
    /// ```
    pub fn errno(&self) -> Option<i32> {
        match &self.0.kind {
            ErrorKind::Io(error) => error.raw_os_error(),
            ErrorKind::Exists => Some(libc::EEXIST),
            ErrorKind::IsADirectory => Some(libc::EISDIR),
            _ => None,
        }
    }
}

impl ErrorKind {
    /// A stable word for this kind, for programs to compare and for the command line to find its
    /// advice.
    ///
    /// # Examples
    /// ```
    /// use tracefast_io::error::ErrorKind;
    ///
    /// assert_eq!(ErrorKind::TooLong { limit: 1 << 30 }.word(), "too_long");
    /// ```
    pub fn word(&self) -> &'static str {
        match self {
            Self::Io(_) => "io",
            Self::NotALog(_) => "not_a_log",
            Self::OtherTool(_) => "other_tool",
            Self::Typeset(_) => "typeset",
            Self::Columns => "columns",
            Self::DamagedColumns(_) => "damaged_columns",
            Self::TooLong { .. } => "too_long",
            Self::TooMuchText { .. } => "too_much_text",
            Self::TooManyNames { .. } => "too_many_names",
            Self::NoEvent { .. } => "no_event",
            Self::Shrunk => "shrunk",
            Self::Exists => "exists",
            Self::IsADirectory => "is_a_directory",
            Self::Parquet(_) => "parquet",
            Self::Arrow(_) => "arrow",
            Self::Option(_) => "option",
            Self::Cancelled => "cancelled",
            Self::Broken(_) => "broken",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => {
                // The number is in `errno`; the message holds only the words.
                let text = error.to_string();
                f.write_str(text.split(" (os error").next().unwrap_or(&text))
            }
            Self::NotALog(what)
            | Self::OtherTool(what)
            | Self::Typeset(what)
            | Self::Option(what)
            | Self::Broken(what) => f.write_str(what),
            Self::Columns => f.write_str("this is a Parquet or Arrow file, not a log"),
            Self::DamagedColumns(what) => {
                write!(f, "the file of events is incomplete or damaged: {what}")
            }
            Self::TooLong { limit } => write!(f, "a line is longer than {limit} bytes"),
            Self::TooMuchText { limit } => {
                write!(f, "more than {limit} bytes of text would have to be unescaped or joined")
            }
            Self::TooManyNames { limit } => {
                write!(
                    f,
                    "the distinct names of calls, errors and commands take more than {limit} bytes"
                )
            }
            Self::NoEvent { limit } => write!(f, "no event starts in {limit} bytes"),
            Self::Shrunk => f.write_str("became shorter while it was read"),
            Self::Exists => f.write_str("already exists"),
            Self::IsADirectory => f.write_str("is a directory"),
            Self::Parquet(error) => write!(f, "cannot write Parquet: {error}"),
            Self::Arrow(error) => write!(f, "cannot write Arrow data: {error}"),
            Self::Cancelled => f.write_str("interrupted"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.0.path {
            write!(f, "{}: ", path.display())?;
        }
        match (self.0.line, self.0.byte) {
            (Some(line), _) => write!(f, "line {line}: ")?,
            (None, Some(byte)) => write!(f, "byte {byte}: ")?,
            (None, None) => {}
        }
        self.0.kind.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Io(error) => Some(error),
            ErrorKind::Parquet(error) => Some(error),
            ErrorKind::Arrow(error) => Some(error),
            _ => None,
        }
    }
}

/// Unwraps an error of this crate that went through a reader.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(own) => own,
            Err(error) => Self::new(ErrorKind::Io(error)),
        }
    }
}

/// For readers, which can only return errors of the standard library.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::other(error)
    }
}

/// Takes an I/O error out of its wrapping, so that a full disk is reported as one.
impl From<ParquetError> for Error {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(io) => Self::from(*io),
                Err(inner) => Self::new(ErrorKind::Parquet(ParquetError::External(inner))),
            },
            other => Self::new(ErrorKind::Parquet(other)),
        }
    }
}

/// As for Parquet: unwraps an I/O error.
impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, io) => Self::from(io),
            other => Self::new(ErrorKind::Arrow(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_comes_first() {
        let missing = io::Error::from_raw_os_error(libc::ENOENT);
        let error = Error::io("x/y.log", missing).with_hint("check the name");
        assert_eq!(error.to_string(), "x/y.log: No such file or directory");
        assert_eq!(error.errno(), Some(libc::ENOENT));
        assert_eq!(error.hint(), Some("check the name"));
        assert_eq!(Error::cancelled().at_byte(12).to_string(), "byte 12: interrupted");
        assert_eq!(Error::cancelled().at_byte(12).at_line(3).to_string(), "line 3: interrupted");
    }

    #[test]
    fn the_first_path_stays() {
        let error = Error::not_a_log("inner.log", "no line is understood").at_path("outer");
        assert_eq!(error.to_string(), "inner.log: no line is understood");
    }

    #[test]
    fn an_error_goes_through_a_reader_as_it_is() {
        let inner = Error::io("a.log.7", io::Error::from_raw_os_error(libc::EACCES));
        let error = Error::from(io::Error::from(inner)).at_path("a.log");
        assert_eq!(error.to_string(), "a.log.7: Permission denied");
        assert_eq!(error.errno(), Some(libc::EACCES));
    }

    #[test]
    fn a_full_disk_keeps_its_number_through_the_crates() {
        let full = || io::Error::from_raw_os_error(libc::ENOSPC);
        let parquet = Error::from(ParquetError::from(full()));
        assert_eq!(parquet.errno(), Some(libc::ENOSPC));
        let arrow = Error::from(ArrowError::IoError("writing".into(), full()));
        assert_eq!(arrow.errno(), Some(libc::ENOSPC));
        let other = Error::from(ParquetError::General("no".into()));
        assert!(matches!(other.kind(), ErrorKind::Parquet(_)));
        assert_eq!(other.errno(), None);
    }
}
