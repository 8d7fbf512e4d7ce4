//! Counters that Python may poll while Rust works.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pyo3::prelude::*;

/// Counters of the logs that are read, to look at meanwhile or afterwards.
///
/// Each run takes a new one.
///
/// Attributes
/// ----------
/// `bytes_read`, `bytes_total`
///     Bytes of the logs as they lie there, compressed or not, so far and in all; 0 if unknown.
/// `blocks`
///     Blocks of text parsed.
/// `rows`
///     Rows of the table so far, built or not.
/// `rows_built`, `columns_built`
///     Rows that were put into Arrow arrays, and the most columns that such rows were given: what a
///     lazy query or `columns` asked for.
///
/// Examples
/// --------
/// >>> counters = tracefast.Progress()
/// >>> report = tracefast.parse("demo.strace", None, progress=counters)
/// >>> counters.bytes_read == report.bytes
/// True
#[pyclass(frozen, module = "tracefast._core")]
#[derive(Default)]
pub struct Progress {
    pub inner: Arc<tracefast_io::source::Progress>,
}

#[pymethods]
impl Progress {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Bytes read of the input as it lies there.
    #[getter]
    fn bytes_read(&self) -> u64 {
        self.inner.bytes_read.load(Ordering::Relaxed)
    }

    /// Bytes of all inputs, 0 if unknown.
    #[getter]
    fn bytes_total(&self) -> u64 {
        self.inner.bytes_total.load(Ordering::Relaxed)
    }

    /// Rows made so far.
    #[getter]
    fn rows(&self) -> u64 {
        self.inner.rows.load(Ordering::Relaxed)
    }

    /// Blocks of text parsed.
    #[getter]
    fn blocks(&self) -> u64 {
        self.inner.blocks.load(Ordering::Relaxed)
    }

    /// Rows put into Arrow arrays.
    #[getter]
    fn rows_built(&self) -> u64 {
        self.inner.rows_built.load(Ordering::Relaxed)
    }

    /// Columns that these rows were given.
    #[getter]
    fn columns_built(&self) -> u64 {
        self.inner.columns_built.load(Ordering::Relaxed)
    }

    /// Stops the run.
    fn cancel(&self) {
        self.inner.cancelled.store(true, Ordering::Relaxed);
    }
}

/// The counters to use: the caller's, or new ones.
pub fn counters(progress: Option<&Bound<'_, Progress>>) -> Arc<tracefast_io::source::Progress> {
    progress.map_or_else(Arc::default, |progress| Arc::clone(&progress.get().inner))
}
