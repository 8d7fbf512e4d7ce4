//! Puts encoded row groups into a file, in order.

use std::fmt;
use std::io::{self, IoSlice, Write};
use std::sync::Arc;

use arrow_schema::{DataType, Schema, SchemaRef};
use parquet::arrow::add_encoded_arrow_schema_to_metadata;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use tracefast_core::schema::schema;

use super::{EncodedGroup, ParquetEncoder};
use crate::error::Result;

/// Writes a Parquet file from encoded row groups.
///
/// The writer `W` gets pieces of some kilobytes: it should buffer. What is held in memory is the
/// description of the row groups for the footer, about 20 kB each.
pub struct ParquetAppender<W: Write + Send> {
    file: SerializedFileWriter<Slot<W>>,
}

impl<W: Write + Send> ParquetAppender<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// When writing fails.
    pub fn try_new(writer: W, encoder: &ParquetEncoder) -> Result<Self> {
        let mut properties = WriterProperties::builder().set_created_by(created_by()).build();
        // Tells readers of the Arrow types: dictionaries, views.
        let types = if encoder.shared.string_views { schema() } else { with_plain_strings() };
        add_encoded_arrow_schema_to_metadata(&types, &mut properties);
        let root = encoder.shared.descriptor.root_schema_ptr();
        let file = SerializedFileWriter::new(Slot(Some(writer)), root, Arc::new(properties))?;
        Ok(Self { file })
    }

    /// Appends a row group. An empty one is left out.
    ///
    /// # Errors
    /// When writing fails.
    pub fn append(&mut self, group: EncodedGroup) -> Result<()> {
        if group.rows() == 0 {
            return Ok(());
        }
        let mut row_group = self.file.next_row_group()?;
        for column in group.columns {
            row_group.append_column(&column.bytes, column.close)?;
        }
        row_group.close()?;
        Ok(())
    }

    /// Ends the file with its footer, in which `metadata` stands too, and flushes the writer.
    ///
    /// # Errors
    /// When writing fails.
    pub fn finish(mut self, metadata: Vec<(String, String)>) -> Result<W> {
        for (key, value) in metadata {
            self.file.append_key_value_metadata(KeyValue::new(key, value));
        }
        self.file.finish()?;
        let writer = self.file.inner_mut().0.take();
        writer.ok_or_else(|| ParquetError::General("the writer is gone".to_owned()).into())
    }
}

impl<W: Write + Send> fmt::Debug for ParquetAppender<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParquetAppender")
            .field("row_groups", &self.file.flushed_row_groups().len())
            .field("bytes", &self.file.bytes_written())
            .finish_non_exhaustive()
    }
}

fn with_plain_strings() -> SchemaRef {
    let schema = schema();
    let fields = schema.fields().iter().map(|field| match field.data_type() {
        DataType::Utf8View => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8)),
        _ => Arc::clone(field),
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

fn created_by() -> String {
    format!("tracefast version {}", env!("CARGO_PKG_VERSION"))
}

/// Lets the writer be taken out once the footer is written. The parquet crate either returns the
/// writer or tells the number of the error that flushing it met; both are needed.
struct Slot<W>(Option<W>);

impl<W: Write> Slot<W> {
    fn get(&mut self) -> io::Result<&mut W> {
        self.0.as_mut().ok_or_else(|| io::Error::other("the file is finished"))
    }
}

impl<W: Write> Write for Slot<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.get()?.write(bytes)
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.get()?.write_vectored(pieces)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.get()?.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.get()?.flush()
    }
}
