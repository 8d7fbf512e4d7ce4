//! Parquet: row groups are encoded by any thread, and appended in order by one.
//!
//! The pages' contents are encoded here, because the event schema knows only few types, and what is
//! known about them saves most of the work of a general writer: keys of dictionaries are mapped by
//! a table, so no text is hashed for a row; bitmaps of validity are definition levels already;
//! columns without values cost nothing. The footer is written here, because it waits in memory
//! until the file is complete, and should be small. The parquet crate writes the pages' headers and
//! the schema, and is the reference in tests: its encoders for the values, its footer byte by byte.
//!
//! Every column has statistics and an offset index; every column except `args` has a column index,
//! so that readers skip row groups and pages.

mod appender;
mod chunk;
mod chunk_metadata;
mod compression;
pub(crate) mod encoding;
mod footer;
mod pages;
mod scratch;
mod statistics;
mod thrift;

use crate::sink::parquet::encoding::integers;
use crate::sink::parquet::encoding::nulls;
use crate::sink::parquet::encoding::texts::{self, Contents};

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::ArrowSchemaConverter;
use parquet::schema::types::SchemaDescriptor;
use tracefast_core::events::schema::{Column, schema};

use crate::error::Result;
use crate::sink::check_schema;
pub use crate::sink::parquet::appender::ParquetAppender;
use crate::sink::parquet::chunk::{Chunk, EncodedColumn};
pub use crate::sink::parquet::compression::Compression;
use crate::sink::parquet::scratch::{Pool, Scratch};
use crate::sink::parquet::statistics::Order;

/// How Parquet files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParquetOptions {
    /// What pages are compressed with.
    pub compression: Compression,
    /// Whether readers that restore Arrow types (pyarrow, arrow-rs) find string views, as in the
    /// event schema, or plain strings. polars and duckdb read both alike. pyarrow 26 can neither
    /// filter nor compare string views.
    pub string_views: bool,
}

impl Default for ParquetOptions {
    fn default() -> Self {
        Self { compression: Compression::default(), string_views: true }
    }
}

/// Turns record batches of the event schema into row groups. Clones share their memory.
///
/// # Examples
/// ```
/// use arrow_array::RecordBatch;
/// use tracefast_io::sink::{ParquetAppender, ParquetEncoder, ParquetOptions};
///
/// let encoder = ParquetEncoder::try_new(ParquetOptions::default())?;
/// let batch = RecordBatch::new_empty(tracefast_core::events::schema::schema());
/// let group = encoder.encode(&[batch])?;
///
/// let mut appender = ParquetAppender::try_new(Vec::new(), &encoder)?;
/// appender.append(group)?;
/// let file = appender.finish(vec![("tracefast.schema".into(), "1".into())])?;
/// assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
/// # Ok::<(), tracefast_io::error::Error>(())
/// ```
#[derive(Clone)]
pub struct ParquetEncoder {
    shared: Arc<Shared>,
}

struct Shared {
    compression: Compression,
    string_views: bool,
    descriptor: Arc<SchemaDescriptor>,
    pool: Pool,
}

/// A row group, ready to be copied into the file.
pub struct EncodedGroup {
    rows: usize,
    columns: Vec<EncodedColumn>,
}

impl ParquetEncoder {
    /// An encoder for the event schema.
    ///
    /// # Errors
    /// When Parquet has no equivalent of the schema.
    pub fn try_new(options: ParquetOptions) -> Result<Self> {
        let descriptor = Arc::new(ArrowSchemaConverter::new().convert(&schema())?);
        let pool = Pool::new(options.compression);
        Ok(Self {
            shared: Arc::new(Shared {
                compression: options.compression,
                string_views: options.string_views,
                descriptor,
                pool,
            }),
        })
    }

    /// Encodes any number of batches as one row group.
    ///
    /// The bytes depend on the rows only, not on how they are cut into batches. Each column of
    /// batches that are given away is freed once it is encoded.
    ///
    /// # Errors
    /// When a batch has another schema, a dictionary holds a null value, or a text does not fit
    /// into a page (2 GiB).
    pub fn encode(&self, batches: impl Into<Vec<RecordBatch>>) -> Result<EncodedGroup> {
        let batches = batches.into();
        let mut rows = 0;
        let mut columns = vec![Vec::with_capacity(batches.len()); schema().fields().len()];
        for batch in batches {
            check_schema(&batch.schema())?;
            rows += batch.num_rows();
            for (arrays, array) in columns.iter_mut().zip(batch.columns()) {
                arrays.push(Arc::clone(array));
            }
        }
        // Texts first: they hold the blocks of the log.
        let schema = schema();
        let mut order: Vec<usize> = (0..columns.len()).collect();
        order.sort_by_key(|&i| *schema.field(i).data_type() != DataType::Utf8View);
        let mut scratch = self.shared.pool.take()?;
        let encoded = order
            .into_iter()
            .map(|i| Ok((i, encode_column(i, &std::mem::take(&mut columns[i]), &mut scratch)?)))
            .collect::<Result<BTreeMap<_, _>>>();
        self.shared.pool.give_back(scratch);
        Ok(EncodedGroup { rows, columns: encoded?.into_values().collect() })
    }
}

impl fmt::Debug for ParquetEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParquetEncoder")
            .field("compression", &self.shared.compression)
            .finish_non_exhaustive()
    }
}

impl EncodedGroup {
    /// Rows in the group.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes it holds in memory and will take in the file.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(|column| column.bytes.len()).sum()
    }
}

impl fmt::Debug for EncodedGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncodedGroup")
            .field("rows", &self.rows())
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

fn encode_column(
    index: usize,
    arrays: &[ArrayRef],
    scratch: &mut Scratch,
) -> Result<EncodedColumn> {
    let schema = schema();
    let order = integers::order(schema.field(index).data_type()).unwrap_or(Order::Text);
    let Scratch { packer, buffers } = scratch;
    let chunk = Chunk::new(order, packer);

    if arrays.iter().all(|array| array.null_count() == array.len()) {
        return nulls::encode(chunk, buffers, arrays);
    }
    let encoded = match (order, grows(index)) {
        (Order::Text, _) if index == Column::Args as usize => {
            texts::encode_dictionary(chunk, buffers, arrays, Contents::Arguments)
        }
        (Order::Text, _) => texts::encode_dictionary(chunk, buffers, arrays, Contents::Names),
        (_, true) => integers::encode_deltas(chunk, buffers, order, arrays),
        (_, false) => integers::encode_dictionary(chunk, buffers, order, arrays),
    }?;
    if index == Column::Task as usize {
        // Tasks are numbered as their ids appear. Unless an id is used again, the columns of both
        // have the same keys, and those of processes without threads, too.
        packer.keep(&mut buffers.page);
    }
    Ok(encoded)
}

/// Columns whose values mostly differ from row to row by little.
fn grows(index: usize) -> bool {
    [Column::Ts, Column::DurNs, Column::Line, Column::Offset, Column::Offset2, Column::Ofd]
        .iter()
        .any(|&column| column as usize == index)
}
