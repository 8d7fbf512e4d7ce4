//! Arrow IPC files: uncompressed, so that readers can map them into memory.
//!
//! The dictionaries of the event schema grow as the log goes on, and a file holds a dictionary only
//! once. Differences ("delta dictionaries") would be one way out, but not every reader knows them.
//! So each dictionary is written whole, after all batches: the footer has its position, and readers
//! of files start with the footer. Memory stays flat, since only the vocabulary itself is kept.
//!
//! Bytes depend on the rows only. Views into the text of a log are turned into views of a buffer of
//! the batch's own, and the slot of a null is zero.

mod compact;

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, RecordBatch, RecordBatchOptions, StringArray, UInt32Array,
    new_empty_array,
};
use arrow_ipc::convert::IpcSchemaEncoder;
use arrow_ipc::writer::{
    DictionaryTracker, EncodedData, IpcDataGenerator, IpcWriteContext, IpcWriteOptions,
    write_message,
};
use arrow_ipc::{Block, FooterBuilder, MetadataVersion};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use flatbuffers::FlatBufferBuilder;
use tracefast_core::events::schema::{COLUMNS, Column, Kind, schema};

use crate::error::Result;
use crate::sink::check_schema;
use crate::sink::dictionary::Dictionary;

/// First and last bytes of a file.
const MAGIC: &[u8; 6] = b"ARROW1";

/// Ends the messages.
const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// Turns record batches of the event schema into messages of an IPC file.
///
/// # Examples
/// ```
/// use arrow_array::RecordBatch;
/// use tracefast_io::sink::{IpcAppender, IpcEncoder};
///
/// let encoder = IpcEncoder::new();
/// let batch = RecordBatch::new_empty(tracefast_core::events::schema::schema());
/// let mut appender = IpcAppender::try_new(Vec::new())?;
/// appender.append(encoder.encode(&[batch])?)?;
/// let file = appender.finish(vec![("tracefast.schema".into(), "1".into())])?;
/// assert!(file.starts_with(b"ARROW1") && file.ends_with(b"ARROW1"));
/// # Ok::<(), tracefast_io::error::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct IpcEncoder {}

/// Record batches as messages, ready to be written.
pub struct EncodedBatches {
    rows: usize,
    messages: Vec<EncodedData>,
    /// The dictionaries as each of the batches knows them, with their columns.
    dictionaries: Vec<(usize, StringArray)>,
}

impl IpcEncoder {
    /// An encoder for the event schema.
    pub fn new() -> Self {
        Self {}
    }

    /// Encodes each batch as one message; batches without rows are left out.
    ///
    /// # Errors
    /// When a batch has another schema, or is too large for a message.
    pub fn encode(&self, batches: &[RecordBatch]) -> Result<EncodedBatches> {
        let mut dictionary = Dictionary::default();
        let mut encoded =
            EncodedBatches { rows: 0, messages: Vec::new(), dictionaries: Vec::new() };
        for batch in batches.iter().filter(|batch| batch.num_rows() > 0) {
            check_schema(&batch.schema())?;
            encoded.rows += batch.num_rows();
            encoded.messages.push(encode_batch(batch, &mut dictionary)?);
            encoded.dictionaries.extend(dictionaries(batch)?);
        }
        Ok(encoded)
    }
}

/// The message of a batch. A dictionary's column is the column of its keys: in a message they look
/// the same, and no dictionary is looked at.
fn encode_batch(batch: &RecordBatch, dictionary: &mut Dictionary) -> Result<EncodedData> {
    let columns: Vec<ArrayRef> = COLUMNS
        .iter()
        .zip(batch.columns())
        .map(|(&(column, _, _), array)| {
            // Nearly every argument text is another one.
            let dictionary = (column != Column::Args).then_some(&mut *dictionary);
            compact::compact(array, dictionary)
        })
        .collect::<Result<_>>()?;
    let fields: Vec<Field> = schema()
        .fields()
        .iter()
        .zip(&columns)
        .map(|(field, column)| Field::new(field.name(), column.data_type().clone(), true))
        .collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let keys = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)?;
    let (_, message) = IpcDataGenerator::default().encode(
        &keys,
        &mut DictionaryTracker::new(true),
        &IpcWriteOptions::default(),
        &mut IpcWriteContext::default(),
    )?;
    Ok(message)
}

fn dictionaries(batch: &RecordBatch) -> Result<Vec<(usize, StringArray)>> {
    let mut dictionaries = Vec::new();
    for (i, &(_, name, kind)) in COLUMNS.iter().enumerate() {
        if kind != Kind::Dictionary {
            continue;
        }
        let values = batch
            .column(i)
            .as_dictionary_opt::<UInt32Type>()
            .and_then(|array| array.values().as_string_opt::<i32>())
            .ok_or_else(|| ArrowError::SchemaError(format!("{name} is no dictionary")))?;
        dictionaries.push((i, values.clone()));
    }
    Ok(dictionaries)
}

impl EncodedBatches {
    /// Rows in the batches.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes held in memory.
    pub fn bytes(&self) -> usize {
        self.messages.iter().map(|m| m.ipc_message.len() + m.arrow_data.len()).sum()
    }
}

impl fmt::Debug for EncodedBatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncodedBatches")
            .field("rows", &self.rows)
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

/// Writes an IPC file from encoded batches.
pub struct IpcAppender<W: Write> {
    writer: W,
    /// Bytes written.
    at: i64,
    blocks: Vec<Block>,
    dictionaries: BTreeMap<usize, StringArray>,
    tracker: DictionaryTracker,
}

impl<W: Write> IpcAppender<W> {
    /// Starts a file.
    ///
    /// # Errors
    /// When writing fails.
    pub fn try_new(mut writer: W) -> Result<Self> {
        let options = IpcWriteOptions::default();
        let mut tracker = DictionaryTracker::new(true);
        // The magic bytes, filled up to the alignment of messages.
        let mut start = [0; 64];
        start[..MAGIC.len()].copy_from_slice(MAGIC);
        writer.write_all(&start[..8])?;
        let message = IpcDataGenerator::default().schema_to_bytes_with_dictionary_tracker(
            &schema(),
            &mut tracker,
            &options,
        );
        let (head, body) = write_message(&mut writer, message, &options)?;
        let at = (8 + head + body) as i64;
        Ok(Self { writer, at, blocks: Vec::new(), dictionaries: BTreeMap::new(), tracker })
    }

    /// Appends batches.
    ///
    /// # Errors
    /// When writing fails, or a dictionary is not a longer version of the one before.
    pub fn append(&mut self, batches: EncodedBatches) -> Result<()> {
        for (column, values) in batches.dictionaries {
            self.grow(column, values)?;
        }
        for message in batches.messages {
            let block = self.write(message)?;
            self.blocks.push(block);
        }
        Ok(())
    }

    /// Ends the file with the dictionaries and the footer, which holds `metadata` as that of the
    /// schema, and flushes the writer.
    ///
    /// # Errors
    /// When writing fails.
    pub fn finish(mut self, metadata: Vec<(String, String)>) -> Result<W> {
        let dictionary_blocks = self.write_dictionaries()?;
        self.writer.write_all(&END)?;

        let metadata: BTreeMap<String, String> = metadata.into_iter().collect();
        let schema = schema().as_ref().clone().with_metadata(metadata);
        let mut builder = FlatBufferBuilder::new();
        let dictionaries = builder.create_vector(&dictionary_blocks);
        let batches = builder.create_vector(&self.blocks);
        // Dictionaries are numbered again, as for the schema at the start of the file.
        let schema = IpcSchemaEncoder::new()
            .with_dictionary_tracker(&mut DictionaryTracker::new(true))
            .schema_to_fb_offset(&mut builder, &schema);
        let mut footer = FooterBuilder::new(&mut builder);
        footer.add_version(MetadataVersion::V5);
        footer.add_schema(schema);
        footer.add_dictionaries(dictionaries);
        footer.add_recordBatches(batches);
        let footer = footer.finish();
        builder.finish(footer, None);

        let footer = builder.finished_data();
        let length = i32::try_from(footer.len())
            .map_err(|_| ArrowError::IpcError("the footer is too large".to_owned()))?;
        self.writer.write_all(footer)?;
        self.writer.write_all(&length.to_le_bytes())?;
        self.writer.write_all(MAGIC)?;
        self.writer.flush()?;
        Ok(self.writer)
    }

    fn write(&mut self, message: EncodedData) -> Result<Block> {
        let (head, body) = write_message(&mut self.writer, message, &IpcWriteOptions::default())?;
        let block = Block::new(self.at, head as i32, body as i64);
        self.at += (head + body) as i64;
        Ok(block)
    }

    /// Keeps the longest version of a dictionary.
    fn grow(&mut self, column: usize, values: StringArray) -> Result<()> {
        if let Some(known) = self.dictionaries.get(&column) {
            let common = known.len().min(values.len());
            if known.slice(0, common) != values.slice(0, common) {
                let name = COLUMNS[column].1;
                let text = format!("the dictionary of {name} was replaced");
                return Err(ArrowError::InvalidArgumentError(text).into());
            }
            if known.len() >= values.len() {
                return Ok(());
            }
        }
        self.dictionaries.insert(column, values);
        Ok(())
    }

    /// Every dictionary needs a message, also where no batch has a value of it.
    fn write_dictionaries(&mut self) -> Result<Vec<Block>> {
        let columns: Vec<ArrayRef> = schema()
            .fields()
            .iter()
            .enumerate()
            .map(|(i, field)| match (field.data_type(), self.dictionaries.get(&i)) {
                (DataType::Dictionary(..), Some(values)) => {
                    let keys = UInt32Array::new_null(0);
                    Arc::new(DictionaryArray::new(keys, Arc::new(values.clone()))) as ArrayRef
                }
                (other, _) => new_empty_array(other),
            })
            .collect();
        let carrier = RecordBatch::try_new(schema(), columns)?;
        let (messages, _) = IpcDataGenerator::default().encode(
            &carrier,
            &mut self.tracker,
            &IpcWriteOptions::default(),
            &mut IpcWriteContext::default(),
        )?;
        messages.into_iter().map(|message| self.write(message)).collect()
    }
}

impl<W: Write> fmt::Debug for IpcAppender<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IpcAppender")
            .field("batches", &self.blocks.len())
            .field("bytes", &self.at)
            .finish_non_exhaustive()
    }
}
