//! Whether the batches of an Arrow IPC file are where the file says, and as long as it says.
//!
//! polars trusts this: at a length that damage made large it asks for that much memory, which ends
//! the whole process. What is in the buffers polars checks itself (offsets, views, keys, UTF-8), so
//! only metadata is read here, and eight bytes of each compressed buffer: its length unpacked.
//!
//! <https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc>

use std::collections::HashMap;
use std::fs::File;

use arrow_ipc::{Block, Buffer, Footer, Message, MessageHeader, RecordBatch, root_as_message};
use arrow_schema::{DataType, Schema};

use crate::input::source::read_at;

/// What is wrong with a file.
type Checked = Result<(), &'static str>;

/// Before the metadata of a message: a mark, and the length of the metadata.
const PREFIX: u64 = 8;
const MARK: [u8; 4] = [0xff; 4];

/// How many times its length a compressed buffer may have unpacked. A block of zstd has at least 4
/// bytes and unpacks to at most 128 KiB (RFC 8878); lz4 does not come near.
const RATIO: u64 = 32 << 10;

/// Buffers may be padded, and builders may have had room to spare.
const PADDING: u64 = 4096;

/// What a buffer of a column holds.
#[derive(Debug, Clone, Copy)]
enum Part {
    /// Bits that may be left out if no row is null.
    Validity,
    Bits,
    /// So many bytes for each row.
    Fixed(u64),
    /// So many bytes for each row, and once more.
    Offsets(u64),
    /// Text: at most so many bytes.
    Data(u64),
}

/// The longest text that offsets and views of 32 bits reach.
const SHORT: u64 = i32::MAX as u64;

/// What buffers a column has, and whether there are more, counted by the batch; `None` for types of
/// columns within columns, which no events have.
fn parts(data_type: &DataType) -> Option<(Vec<Part>, bool)> {
    use Part::{Bits, Data, Fixed, Offsets, Validity};
    let parts = match data_type {
        DataType::Null => vec![],
        DataType::Boolean => vec![Validity, Bits],
        DataType::Utf8 | DataType::Binary => vec![Validity, Offsets(4), Data(SHORT)],
        DataType::LargeUtf8 | DataType::LargeBinary => vec![Validity, Offsets(8), Data(u64::MAX)],
        DataType::Utf8View | DataType::BinaryView => {
            return Some((vec![Validity, Fixed(16)], true));
        }
        DataType::FixedSizeBinary(width) => {
            vec![Validity, Fixed(u64::try_from(*width).ok()?)]
        }
        DataType::Dictionary(keys, _) => return parts(keys),
        other => vec![Validity, Fixed(other.primitive_width()? as u64)],
    };
    Some((parts, false))
}

/// An Arrow IPC file.
pub(crate) struct Layout<'a> {
    file: &'a File,
    /// Where its footer starts: everything else is before.
    end: u64,
    columns: Vec<&'a DataType>,
    /// By number of a dictionary, the type of its words.
    dictionaries: HashMap<i64, &'a DataType>,
}

impl<'a> Layout<'a> {
    /// A file whose footer, which starts at byte `end`, has this schema.
    pub(crate) fn new(file: &'a File, end: u64, footer: &Footer<'_>, schema: &'a Schema) -> Self {
        let columns: Vec<_> = schema.fields().iter().map(|field| field.data_type()).collect();
        let fields = footer.schema().and_then(|schema| schema.fields());
        let numbers = fields.into_iter().flatten().map(|field| Some(field.dictionary()?.id()));
        let words = |data_type: &'a DataType| match data_type {
            DataType::Dictionary(_, words) => Some(&**words),
            _ => None,
        };
        let dictionaries =
            numbers.zip(&columns).filter_map(|(number, column)| Some((number?, words(column)?)));
        Self { file, end, dictionaries: dictionaries.collect(), columns }
    }

    /// Checks all batches and dictionaries.
    pub(crate) fn check(&self, footer: &Footer<'_>) -> Checked {
        let dictionaries = footer.dictionaries().into_iter().flatten();
        for block in dictionaries {
            self.block(block, MessageHeader::DictionaryBatch)?;
        }
        let batches = footer.recordBatches().into_iter().flatten();
        for block in batches {
            self.block(block, MessageHeader::RecordBatch)?;
        }
        Ok(())
    }

    fn block(&self, block: &Block, kind: MessageHeader) -> Checked {
        let outside = "a batch is not inside the file";
        let start = u64::try_from(block.offset()).map_err(|_| outside)?;
        let metadata = u64::try_from(block.metaDataLength()).map_err(|_| outside)?;
        let body = u64::try_from(block.bodyLength()).map_err(|_| outside)?;
        let body_start = start.checked_add(metadata).ok_or(outside)?;
        if body_start.checked_add(body).is_none_or(|end| end > self.end) || metadata < PREFIX {
            return Err(outside);
        }
        let mut bytes = vec![0; metadata as usize];
        self.read(&mut bytes, start)?;
        // Until version 0.15 there was no mark.
        let skip = if bytes.starts_with(&MARK) { 4 } else { 0 };
        let spoiled = "the metadata of a batch is spoiled";
        let (length, rest) = bytes[skip..].split_first_chunk::<4>().ok_or(spoiled)?;
        let length = u32::from_le_bytes(*length) as usize;
        let message = root_as_message(rest.get(..length).ok_or(spoiled)?).map_err(|_| spoiled)?;
        if message.header_type() != kind || message.bodyLength() != block.bodyLength() {
            return Err(spoiled);
        }
        self.message(&message, body_start, body)
    }

    fn message(&self, message: &Message<'_>, start: u64, length: u64) -> Checked {
        let nothing = "a batch holds nothing";
        let body = Body { layout: self, start, length };
        if let Some(batch) = message.header_as_dictionary_batch() {
            let words = self.dictionaries.get(&batch.id()).copied();
            return body.check(&batch.data().ok_or(nothing)?, words.as_slice());
        }
        body.check(&message.header_as_record_batch().ok_or(nothing)?, &self.columns)
    }

    fn read(&self, bytes: &mut [u8], at: u64) -> Checked {
        match read_at(self.file, bytes, at) {
            Ok(length) if length == bytes.len() => Ok(()),
            _ => Err("a batch cannot be read"),
        }
    }
}

/// The buffers of one batch.
struct Body<'a> {
    layout: &'a Layout<'a>,
    start: u64,
    length: u64,
}

impl Body<'_> {
    fn check(&self, batch: &RecordBatch<'_>, columns: &[&DataType]) -> Checked {
        let packed = batch.compression().is_some();
        let rows = u64::try_from(batch.length()).map_err(|_| "a batch has no number of rows")?;
        let mut nodes = batch.nodes().into_iter().flatten();
        let mut buffers = batch.buffers().into_iter().flatten();
        let mut more = batch.variadicBufferCounts().into_iter().flatten();
        for column in columns {
            // Below a column of columns, only the bounds of buffers are known.
            let Some((parts, views)) = parts(column) else { break };
            let node = nodes.next().ok_or("a batch has too few columns")?;
            if node.length() != batch.length() || !(0..=node.length()).contains(&node.null_count())
            {
                return Err("a column has more or fewer rows than its batch");
            }
            let mut next = |part| {
                let length =
                    self.buffer(buffers.next().ok_or("a batch has too few buffers")?, packed)?;
                fits(part, length, rows, node.null_count() > 0)
            };
            for part in parts {
                next(part)?;
            }
            for _ in 0..if views { more.next().unwrap_or(0) } else { 0 } {
                next(Part::Data(SHORT))?;
            }
        }
        buffers.try_for_each(|buffer| self.buffer(buffer, packed).map(drop))
    }

    /// The length of a buffer, unpacked.
    fn buffer(&self, buffer: &Buffer, packed: bool) -> Result<u64, &'static str> {
        let outside = "a buffer is not inside its batch";
        let at = u64::try_from(buffer.offset()).map_err(|_| outside)?;
        let length = u64::try_from(buffer.length()).map_err(|_| outside)?;
        if at.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(outside);
        }
        if !packed || length == 0 {
            return Ok(length);
        }
        let mut prefix = [0; 8];
        let rest = length.checked_sub(prefix.len() as u64).ok_or(outside)?;
        self.layout.read(&mut prefix, self.start + at)?;
        match i64::from_le_bytes(prefix) {
            // Stored as it is.
            -1 => Ok(rest),
            unpacked => u64::try_from(unpacked)
                .ok()
                .filter(|&unpacked| unpacked / RATIO <= rest)
                .ok_or("a buffer says that it unpacks to more than it can"),
        }
    }
}

/// Whether a buffer has the length that so many rows need.
fn fits(part: Part, length: u64, rows: u64, nulls: bool) -> Checked {
    let rows_of = |rows: u64, width| rows.checked_mul(width).ok_or("a batch has too many rows");
    let least = match part {
        Part::Validity if !nulls && length == 0 => return Ok(()),
        Part::Validity | Part::Bits => rows.div_ceil(8),
        Part::Fixed(width) => rows_of(rows, width)?,
        // Without rows, there may be no offsets.
        Part::Offsets(_) if rows == 0 && length == 0 => return Ok(()),
        Part::Offsets(width) => rows_of(rows.saturating_add(1), width)?,
        Part::Data(most) if length > most => return Err("a text is longer than its offsets reach"),
        Part::Data(_) => return Ok(()),
    };
    if length < least {
        return Err("a buffer is too short for its rows");
    }
    if length / 2 > least + PADDING {
        return Err("a buffer is too long for its rows");
    }
    Ok(())
}
