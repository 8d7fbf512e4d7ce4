//! Counters that Python may read while Rust works.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pyo3::prelude::*;

/// Counters of work in progress, which another thread can read.
///
/// Pass them to ``parse``, ``read`` or ``scan`` (``progress=tf.Progress()``). Each run needs new
/// ones.
///
/// Attributes
/// ----------
/// bytes_read : int
///     Bytes of the logs that were read so far, as stored on disk.
/// bytes_total : int
///     Size of the logs in bytes; 0 where it is not known, as for standard input.
/// rows : int
///     Rows that were found so far.
/// blocks : int
///     Blocks of text that were parsed so far.
/// rows_built : int
///     Rows that were put into arrays so far, without those that a filter left out.
/// columns_built : int
///     The largest number of columns that those rows have.
/// done : bool
///     The logs were read to their end, or as far as needed.
///
/// Examples
/// --------
/// >>> import tracefast as tf
/// >>> counters = tf.Progress()
/// >>> counters
/// Progress(bytes_read=0, bytes_total=0, rows=0, done=False)
/// >>> report = tf.parse("demo.strace", None, progress=counters)
/// >>> counters.bytes_read == counters.bytes_total == report.bytes
/// True
/// >>> counters.rows, counters.done
/// (8, True)
#[pyclass(frozen, module = "tracefast")]
#[derive(Default)]
pub struct Progress {
    pub inner: Arc<tracefast_io::input::source::Progress>,
}

#[pymethods]
impl Progress {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Bytes of the logs that were read so far, as stored on disk.
    #[getter]
    fn bytes_read(&self) -> u64 {
        self.inner.bytes_read.load(Ordering::Relaxed)
    }

    /// Size of the logs in bytes; 0 where it is not known, as for standard input.
    #[getter]
    fn bytes_total(&self) -> u64 {
        self.inner.bytes_total.load(Ordering::Relaxed)
    }

    /// Rows that were found so far.
    #[getter]
    fn rows(&self) -> u64 {
        self.inner.rows.load(Ordering::Relaxed)
    }

    /// Blocks of text that were parsed so far.
    #[getter]
    fn blocks(&self) -> u64 {
        self.inner.blocks.load(Ordering::Relaxed)
    }

    /// Rows that were put into arrays so far, without those that a filter left out.
    #[getter]
    fn rows_built(&self) -> u64 {
        self.inner.rows_built.load(Ordering::Relaxed)
    }

    /// The largest number of columns that those rows have.
    #[getter]
    fn columns_built(&self) -> u64 {
        self.inner.columns_built.load(Ordering::Relaxed)
    }

    /// The logs were read to their end, or as far as needed.
    #[getter]
    fn done(&self) -> bool {
        self.inner.done.load(Ordering::Relaxed)
    }

    fn __repr__(&self) -> String {
        format!(
            "Progress(bytes_read={}, bytes_total={}, rows={}, done={})",
            self.bytes_read(),
            self.bytes_total(),
            self.rows(),
            if self.done() { "True" } else { "False" }
        )
    }

    /// End the work: ``parse`` raises ``KeyboardInterrupt``, and leaves no output.
    fn cancel(&self) {
        self.inner.cancelled.store(true, Ordering::Relaxed);
    }
}

/// The counters to use: the caller's, or new ones.
pub(crate) fn counters(
    progress: Option<&Bound<'_, Progress>>,
) -> Arc<tracefast_io::input::source::Progress> {
    progress.map_or_else(Arc::default, |progress| Arc::clone(&progress.get().inner))
}
