//! The schema of events, which is the same for every log.
//!
//! Columns, order and types are those of `docs/schema.md`. They never depend on the log, so files
//! can be concatenated.

use std::sync::{Arc, LazyLock};

use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};

/// Version of the schema, in the metadata key `tracefast.schema`.
pub const SCHEMA_VERSION: &str = "1";

/// A column of the event schema, by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // The meaning of each is in `docs/schema.md`.
pub enum Column {
    Ts,
    DurNs,
    Task,
    Pid,
    Tid,
    Comm,
    Cpu,
    Kind,
    Name,
    Args,
    Ret,
    Errno,
    Result,
    Status,
    Fd,
    Fd2,
    Ofd,
    Ofd2,
    Path,
    Path2,
    File,
    File2,
    FileType,
    Size,
    Offset,
    Offset2,
    OffsetKnown,
    Requested,
    Bytes,
    Access,
    Access2,
    Child,
    AnonBytes,
    Line,
    Source,
    Extra,
}

use Column as C;

/// How the values of a column are stored and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nanoseconds without a zone.
    Timestamp,
    /// Signed 64-bit integer.
    I64,
    /// Unsigned 64-bit integer.
    U64,
    /// Signed 32-bit integer.
    I32,
    /// Unsigned 32-bit integer.
    U32,
    /// Unsigned 16-bit integer.
    U16,
    /// Dictionary of strings with 32-bit keys.
    Dictionary,
    /// String view.
    View,
}

impl Kind {
    /// The Arrow type.
    pub fn data_type(self) -> DataType {
        match self {
            Self::Timestamp => DataType::Timestamp(TimeUnit::Nanosecond, None),
            Self::I64 => DataType::Int64,
            Self::U64 => DataType::UInt64,
            Self::I32 => DataType::Int32,
            Self::U32 => DataType::UInt32,
            Self::U16 => DataType::UInt16,
            Self::Dictionary => {
                DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8))
            }
            Self::View => DataType::Utf8View,
        }
    }
}

/// Name and kind of every column, in order.
pub const COLUMNS: [(C, &str, Kind); 36] = [
    (C::Ts, "ts", Kind::Timestamp),
    (C::DurNs, "dur_ns", Kind::I64),
    (C::Task, "task", Kind::U32),
    (C::Pid, "pid", Kind::I32),
    (C::Tid, "tid", Kind::I32),
    (C::Comm, "comm", Kind::Dictionary),
    (C::Cpu, "cpu", Kind::U16),
    (C::Kind, "kind", Kind::Dictionary),
    (C::Name, "name", Kind::Dictionary),
    (C::Args, "args", Kind::View),
    (C::Ret, "ret", Kind::I64),
    (C::Errno, "errno", Kind::Dictionary),
    (C::Result, "result", Kind::View),
    (C::Status, "status", Kind::Dictionary),
    (C::Fd, "fd", Kind::I32),
    (C::Fd2, "fd2", Kind::I32),
    (C::Ofd, "ofd", Kind::U32),
    (C::Ofd2, "ofd2", Kind::U32),
    (C::Path, "path", Kind::View),
    (C::Path2, "path2", Kind::View),
    (C::File, "file", Kind::U64),
    (C::File2, "file2", Kind::U64),
    (C::FileType, "file_type", Kind::Dictionary),
    (C::Size, "size", Kind::I64),
    (C::Offset, "offset", Kind::I64),
    (C::Offset2, "offset2", Kind::I64),
    (C::OffsetKnown, "offset_known", Kind::Dictionary),
    (C::Requested, "requested", Kind::I64),
    (C::Bytes, "bytes", Kind::I64),
    (C::Access, "access", Kind::Dictionary),
    (C::Access2, "access2", Kind::Dictionary),
    (C::Child, "child", Kind::U32),
    (C::AnonBytes, "anon_bytes", Kind::I64),
    (C::Line, "line", Kind::U64),
    (C::Source, "source", Kind::Dictionary),
    (C::Extra, "extra", Kind::View),
];

impl Column {
    /// The bit of this column in a row's validity mask.
    #[inline]
    pub const fn bit(self) -> u64 {
        1 << self as u8
    }

    /// The name in tables.
    pub fn name(self) -> &'static str {
        COLUMNS[self as usize].1
    }

    /// How its values are stored.
    pub fn kind(self) -> Kind {
        COLUMNS[self as usize].2
    }
}

/// The Arrow schema, without metadata.
///
/// # Examples
/// ```
/// let schema = tracefast_core::events::schema::schema();
/// assert_eq!(schema.field(0).name(), "ts");
/// assert_eq!(schema.fields().len(), 36);
/// ```
pub fn schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        let fields: Vec<Field> = COLUMNS
            .iter()
            .map(|&(_, name, kind)| Field::new(name, kind.data_type(), true))
            .collect();
        Arc::new(Schema::new(fields))
    });
    Arc::clone(&SCHEMA)
}

/// Columns of words that are plain strings in Parquet and in scans.
///
/// Readers skip rows by the statistics of strings, but not by those of dictionaries. So Parquet
/// files declare names and sources as strings; their pages are dictionary-encoded anyway. Tables
/// have the source as a string too, and are joined on it.
pub const PLAIN: [Column; 2] = [Column::Name, Column::Source];

/// Changes the columns of [`PLAIN`] in a schema of events to the type `plain`.
///
/// # Examples
/// ```
/// use arrow_schema::DataType;
/// use tracefast_core::events::schema::{Column, schema, with_plain_words};
///
/// let plain = with_plain_words(&schema(), &DataType::Utf8);
/// assert_eq!(*plain.field(Column::Name as usize).data_type(), DataType::Utf8);
/// assert_eq!(*plain.field(Column::Source as usize).data_type(), DataType::Utf8);
/// assert_eq!(plain.field(0), schema().field(0));
/// ```
pub fn with_plain_words(schema: &Schema, plain: &DataType) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| {
        if PLAIN.iter().any(|column| column.name() == field.name()) {
            Arc::new(field.as_ref().clone().with_data_type(plain.clone()))
        } else {
            Arc::clone(field)
        }
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_at_their_own_position() {
        for (i, &(column, _, _)) in COLUMNS.iter().enumerate() {
            assert_eq!(column as usize, i);
        }
    }
}
