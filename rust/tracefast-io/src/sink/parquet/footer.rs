//! The end of a file: the indexes of pages, and the footer.
//!
//! All of it can be written only when the last row group is, so it waits in memory, and what waits
//! grows with the file. It waits as the bytes that it will be, some 5 kB for a row group; the
//! structs from which the parquet crate writes the same are five times as large. Still missing are
//! only the positions of the indexes, which come last in the metadata of a column.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::metadata::{
    FileMetaData, KeyValue, ParquetMetaDataBuilder, ParquetMetaDataWriter,
};
use parquet::schema::types::SchemaDescriptor;

use crate::error::Result;
use crate::sink::parquet::EncodedGroup;
use crate::sink::parquet::chunk_metadata::put_offset_index;
use crate::sink::parquet::thrift::{Fields, Kind, structure};

/// The magic bytes at the start and the end of every Parquet file.
pub(crate) const MAGIC: &[u8] = b"PAR1";

/// Which version of the format the file keeps to.
const VERSION: i32 = 1;

/// Room for the first thousand row groups, so that nothing moves as it grows.
const ROOM: usize = 4 << 20;

/// The parts of the footer that wait for the end of the file.
pub(crate) struct Footer {
    descriptor: Arc<SchemaDescriptor>,
    /// Version and schema: the start of the footer.
    head: Vec<u8>,
    groups: Vec<Group>,
    columns: Vec<Lengths>,
    /// What is said of each column, and the indexes of its pages.
    descriptions: Vec<u8>,
    column_indexes: Vec<u8>,
    offset_indexes: Vec<u8>,
}

/// A row group.
struct Group {
    rows: i64,
    uncompressed: i64,
    compressed: i64,
    start: i64,
}

/// Bytes of what is said of a column of a row group. An index that is not there has none.
struct Lengths {
    description: u32,
    column_index: u32,
    offset_index: u32,
}

impl Footer {
    /// The footer of a file without rows.
    ///
    /// # Errors
    /// When Parquet has no equivalent of the schema.
    pub(crate) fn try_new(descriptor: Arc<SchemaDescriptor>) -> Result<Self> {
        let head = head(&descriptor)?;
        Ok(Self {
            descriptor,
            head,
            groups: Vec::new(),
            columns: Vec::new(),
            // The system backs memory only once it is written to.
            descriptions: Vec::with_capacity(ROOM),
            column_indexes: Vec::with_capacity(ROOM),
            offset_indexes: Vec::with_capacity(ROOM),
        })
    }

    /// Row groups so far.
    pub(crate) fn row_groups(&self) -> usize {
        self.groups.len()
    }

    /// Records a row group that starts at byte `start` of the file.
    pub(crate) fn add(&mut self, group: &EncodedGroup, start: u64) {
        let mut at = start;
        let mut uncompressed = 0;
        for (column, descr) in group.columns.iter().zip(self.descriptor.columns()) {
            let before =
                [self.descriptions.len(), self.column_indexes.len(), self.offset_indexes.len()];
            column.description.put(descr.name(), at, &mut self.descriptions);
            if let Some(index) = &column.column_index {
                self.column_indexes.extend_from_slice(index);
            }
            put_offset_index(&column.places, at, &mut self.offset_indexes);
            self.columns.push(Lengths {
                description: (self.descriptions.len() - before[0]) as u32,
                column_index: (self.column_indexes.len() - before[1]) as u32,
                offset_index: (self.offset_indexes.len() - before[2]) as u32,
            });
            at += column.bytes.len() as u64;
            uncompressed += column.description.uncompressed as i64;
        }
        self.groups.push(Group {
            rows: group.rows as i64,
            uncompressed,
            compressed: (at - start) as i64,
            start: start as i64,
        });
    }

    /// Writes the end of a file after the first `at` bytes.
    ///
    /// # Errors
    /// When writing fails, or the footer has 4 GiB.
    pub(crate) fn write(
        &self,
        writer: &mut impl Write,
        at: u64,
        metadata: &[KeyValue],
        created_by: &str,
    ) -> Result<()> {
        writer.write_all(&self.column_indexes)?;
        writer.write_all(&self.offset_indexes)?;
        let column_indexes = at;
        let offset_indexes = at + self.column_indexes.len() as u64;

        let mut writer = Counted { writer, bytes: 0 };
        writer.write_all(&self.head)?;
        let mut piece = Vec::new();
        put_counts(&mut piece, self.groups.iter().map(|group| group.rows).sum(), self.groups.len());
        writer.write_all(&piece)?;
        self.write_groups(&mut writer, column_indexes, offset_indexes)?;
        piece.clear();
        put_rest(&mut piece, metadata, Some(created_by), self.descriptor.num_columns());
        writer.write_all(&piece)?;

        let length = u32::try_from(writer.bytes).map_err(|_| too_large())?;
        writer.write_all(&length.to_le_bytes())?;
        Ok(writer.write_all(MAGIC)?)
    }

    fn write_groups(
        &self,
        writer: &mut impl Write,
        mut column_index_at: u64,
        mut offset_index_at: u64,
    ) -> Result<()> {
        let columns = self.descriptor.num_columns();
        let numbered = i16::try_from(self.groups.len()).is_ok();
        let mut descriptions = &self.descriptions[..];
        let mut piece = Vec::new();
        for (number, (group, lengths)) in
            self.groups.iter().zip(self.columns.chunks(columns)).enumerate()
        {
            piece.clear();
            structure(&mut piece, |fields| {
                let list = fields.begin_list(1, Kind::Struct, columns);
                for lengths in lengths {
                    let (description, rest) = descriptions.split_at(lengths.description as usize);
                    descriptions = rest;
                    let places = (offset_index_at, column_index_at);
                    put_column(list, description, lengths, places);
                    offset_index_at += u64::from(lengths.offset_index);
                    column_index_at += u64::from(lengths.column_index);
                }
                fields.i64(2, group.uncompressed);
                fields.i64(3, group.rows);
                fields.i64(5, group.start);
                fields.i64(6, group.compressed);
                if numbered {
                    fields.i16(7, number as i16);
                }
            });
            writer.write_all(&piece)?;
        }
        Ok(())
    }
}

/// Appends a `ColumnChunk` with its offset and column indexes at `places`.
fn put_column(out: &mut Vec<u8>, description: &[u8], lengths: &Lengths, places: (u64, u64)) {
    structure(out, |fields| {
        // The metadata is in the footer only, not in a file of its own.
        fields.i64(2, 0);
        fields.whole_structure(3, description);
        fields.i64(4, places.0 as i64);
        fields.i32(5, lengths.offset_index as i32);
        if lengths.column_index > 0 {
            fields.i64(6, places.1 as i64);
            fields.i32(7, lengths.column_index as i32);
        }
    });
}

/// Appends the fields between the schema and the row groups.
fn put_counts(out: &mut Vec<u8>, rows: i64, groups: usize) {
    let mut fields = Fields::after(2, out);
    fields.i64(3, rows);
    fields.begin_list(4, Kind::Struct, groups);
}

/// Appends the fields after the row groups.
fn put_rest(out: &mut Vec<u8>, metadata: &[KeyValue], created_by: Option<&str>, columns: usize) {
    let mut fields = Fields::after(4, out);
    if !metadata.is_empty() {
        fields.list(5, Kind::Struct, metadata.iter(), |out, pair| {
            structure(out, |fields| {
                fields.bytes(1, pair.key.as_bytes());
                if let Some(value) = &pair.value {
                    fields.bytes(2, value.as_bytes());
                }
            });
        });
    }
    if let Some(created_by) = created_by {
        fields.bytes(6, created_by.as_bytes());
    }
    // Values have the order of their type, for each column.
    fields.list(7, Kind::Struct, 0..columns, |out, _| {
        structure(out, |fields| fields.structure(1, |_| ()));
    });
    out.push(0);
}

/// The start of the footer. The parquet crate knows how to write types: it writes the footer of a
/// file without rows, and everything after the schema is cut off.
fn head(descriptor: &Arc<SchemaDescriptor>) -> Result<Vec<u8>> {
    let file = FileMetaData::new(VERSION, 0, None, None, Arc::clone(descriptor), None);
    let mut whole = Vec::new();
    ParquetMetaDataWriter::new(&mut whole, &ParquetMetaDataBuilder::new(file).build()).finish()?;

    let mut tail = Vec::new();
    put_counts(&mut tail, 0, 0);
    put_rest(&mut tail, &[], None, descriptor.num_columns());
    tail.extend_from_slice(&((whole.len() - 8) as u32).to_le_bytes());
    tail.extend_from_slice(MAGIC);
    let head = whole.strip_suffix(&tail[..]);
    // Only another version of the crate could change this; a test would fail.
    let other = || ParquetError::General("the footer has another form".to_owned());
    Ok(head.ok_or_else(other)?.to_vec())
}

fn too_large() -> ParquetError {
    ParquetError::General("too many row groups: a footer cannot have 4 GiB".to_owned())
}

/// Counts what is written.
struct Counted<'a, W> {
    writer: &'a mut W,
    bytes: u64,
}

impl<W: Write> Write for Counted<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.writer.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
