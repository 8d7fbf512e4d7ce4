//! Sinks: where record batches go.
//!
//! A sink has two halves. Encoders are cheap to clone, work in any thread and turn record batches
//! into bytes; appenders put those bytes into a file, in order, from one thread. [`Encoder`] and
//! [`Appender`] cover both kinds of file.

mod atomic;
mod dictionary;
mod export;
mod ipc;
mod non_null;
mod parquet;

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};
use tracefast_core::events::schema::schema;

use crate::error::Result;
pub use crate::sink::atomic::AtomicFile;
pub(crate) use crate::sink::atomic::about_output;
pub use crate::sink::export::ExportFile;
pub use crate::sink::ipc::{EncodedBatches, IpcAppender, IpcEncoder};
pub use crate::sink::parquet::{
    Compression, EncodedGroup, ParquetAppender, ParquetEncoder, ParquetOptions,
};

/// Turns record batches into bytes of a file, in any thread.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Encoder {
    /// A Parquet file.
    Parquet(ParquetEncoder),
    /// An Arrow IPC file.
    Ipc(IpcEncoder),
}

/// What an encoder made of some batches.
#[derive(Debug)]
#[non_exhaustive]
pub enum Encoded {
    /// A row group.
    Parquet(EncodedGroup),
    /// Messages.
    Ipc(EncodedBatches),
}

/// Puts encoded batches into a file, in order.
#[derive(Debug)]
#[non_exhaustive]
pub enum Appender<W: Write + Send> {
    /// A Parquet file.
    Parquet(ParquetAppender<W>),
    /// An Arrow IPC file.
    Ipc(IpcAppender<W>),
}

impl Encoder {
    /// Encodes batches: as one row group, or as a message each.
    ///
    /// # Errors
    /// See [`ParquetEncoder::encode`] and [`IpcEncoder::encode`].
    ///
    /// # Examples
    /// ```
    /// use arrow_array::RecordBatch;
    /// use tracefast_io::sink::{Encoder, IpcEncoder};
    ///
    /// let encoder = Encoder::Ipc(IpcEncoder::new());
    /// let mut appender = encoder.appender(Vec::new())?;
    /// let batch = RecordBatch::new_empty(tracefast_core::events::schema::schema());
    /// appender.append(encoder.encode(&[batch])?)?;
    /// let file = appender.finish(Vec::new())?;
    /// assert!(file.starts_with(b"ARROW1"));
    /// # Ok::<(), tracefast_io::error::Error>(())
    /// ```
    pub fn encode(&self, batches: impl Into<Vec<RecordBatch>>) -> Result<Encoded> {
        Ok(match self {
            Self::Parquet(encoder) => Encoded::Parquet(encoder.encode(batches)?),
            Self::Ipc(encoder) => Encoded::Ipc(encoder.encode(&batches.into())?),
        })
    }

    /// Starts a file for the output of this encoder.
    ///
    /// # Errors
    /// When writing fails.
    pub fn appender<W: Write + Send>(&self, writer: W) -> Result<Appender<W>> {
        Ok(match self {
            Self::Parquet(encoder) => Appender::Parquet(ParquetAppender::try_new(writer, encoder)?),
            Self::Ipc(_) => Appender::Ipc(IpcAppender::try_new(writer)?),
        })
    }
}

impl Encoded {
    /// Rows in it.
    pub fn rows(&self) -> usize {
        match self {
            Self::Parquet(group) => group.rows(),
            Self::Ipc(batches) => batches.rows(),
        }
    }

    /// Bytes it holds in memory.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Parquet(group) => group.bytes(),
            Self::Ipc(batches) => batches.bytes(),
        }
    }
}

impl<W: Write + Send> Appender<W> {
    /// Appends what an encoder of the same kind made.
    ///
    /// # Errors
    /// When writing fails, or the encoder is of the other kind.
    pub fn append(&mut self, encoded: Encoded) -> Result<()> {
        match (self, encoded) {
            (Self::Parquet(appender), Encoded::Parquet(group)) => appender.append(group),
            (Self::Ipc(appender), Encoded::Ipc(batches)) => appender.append(batches),
            _ => {
                let text = "what was encoded is for another kind of file".to_owned();
                Err(ArrowError::InvalidArgumentError(text).into())
            }
        }
    }

    /// Ends the file, `metadata` with it, and flushes the writer.
    ///
    /// # Errors
    /// When writing fails.
    pub fn finish(self, metadata: Vec<(String, String)>) -> Result<W> {
        match self {
            Self::Parquet(appender) => appender.finish(metadata),
            Self::Ipc(appender) => appender.finish(metadata),
        }
    }
}

fn check_schema(found: &Schema) -> Result<()> {
    let wanted = schema();
    let same = found.fields().len() == wanted.fields().len()
        && found
            .fields()
            .iter()
            .zip(wanted.fields())
            .all(|(a, b)| a.name() == b.name() && a.data_type() == b.data_type());
    if same {
        Ok(())
    } else {
        Err(ArrowError::SchemaError("not the event schema".to_owned()).into())
    }
}
