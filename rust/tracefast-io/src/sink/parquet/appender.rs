//! Puts encoded row groups into a file, in order.

use std::fmt;
use std::io::Write;
use std::sync::Arc;

use arrow_schema::{DataType, Schema, SchemaRef};
use parquet::arrow::add_encoded_arrow_schema_to_metadata;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use tracefast_core::events::schema::{schema, with_plain_words};

use crate::error::Result;
use crate::sink::parquet::footer::{Footer, MAGIC};
use crate::sink::parquet::{EncodedGroup, ParquetEncoder};

/// Writes a Parquet file from encoded row groups.
///
/// The writer `W` gets pieces of some kilobytes: it should buffer. What is held in memory is the
/// description of the row groups for the footer, about 5 kB each.
pub struct ParquetAppender<W: Write + Send> {
    writer: W,
    written: u64,
    footer: Footer,
    /// Stores what readers need to restore the Arrow types: dictionaries, views, and then what the
    /// file says of itself.
    metadata: Vec<KeyValue>,
}

impl<W: Write + Send> ParquetAppender<W> {
    /// Starts a file.
    ///
    /// # Errors
    /// When writing fails.
    pub fn try_new(mut writer: W, encoder: &ParquetEncoder) -> Result<Self> {
        let mut properties = WriterProperties::builder().build();
        let types = if encoder.shared.string_views { schema() } else { with_plain_strings() };
        let types = with_plain_words(&types, &DataType::Utf8);
        add_encoded_arrow_schema_to_metadata(&types, &mut properties);
        let metadata = properties.key_value_metadata().cloned().unwrap_or_default();
        let footer = Footer::try_new(Arc::clone(&encoder.shared.descriptor))?;
        writer.write_all(MAGIC)?;
        Ok(Self { writer, written: MAGIC.len() as u64, footer, metadata })
    }

    /// Appends a row group. An empty one is left out.
    ///
    /// # Errors
    /// When writing fails.
    pub fn append(&mut self, group: EncodedGroup) -> Result<()> {
        if group.rows() == 0 {
            return Ok(());
        }
        self.footer.add(&group, self.written);
        for column in group.columns {
            self.writer.write_all(&column.bytes)?;
            self.written += column.bytes.len() as u64;
        }
        Ok(())
    }

    /// Ends the file with its footer, which also holds `metadata`, and flushes the writer.
    ///
    /// # Errors
    /// When writing fails, or the footer has 4 GiB.
    pub fn finish(mut self, metadata: Vec<(String, String)>) -> Result<W> {
        self.metadata.extend(metadata.into_iter().map(|(key, value)| KeyValue::new(key, value)));
        self.footer.write(&mut self.writer, self.written, &self.metadata, &created_by())?;
        self.writer.flush()?;
        Ok(self.writer)
    }
}

impl<W: Write + Send> fmt::Debug for ParquetAppender<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParquetAppender")
            .field("row_groups", &self.footer.row_groups())
            .field("bytes", &self.written)
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
