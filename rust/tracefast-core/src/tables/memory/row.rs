//! The rows of the table, its columns and their values.

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

use crate::kernel::address_space::Resident;
use crate::tables::names::Names;
use crate::tables::packed::Packed;
use crate::tables::table_builder::TableBuilder;

/// Where numbers come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    RssStat,
    Mappings,
}

impl From {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::RssStat => "rss_stat",
            Self::Mappings => "mappings",
        }
    }
}

/// The memory of a process from a moment on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) source: u32,
    pub(crate) ts: Packed<i64>,
    pub(crate) task: u32,
    pub(crate) pid: Packed<i32>,
    pub(crate) image: Packed<u32>,
    pub(crate) resident: Resident,
    pub(crate) from: From,
}

/// A part of the table. `sources` has the names of sources from 1 on.
pub(crate) fn build(
    rows: &[Row],
    sources: &Names,
    images: &Names,
) -> Result<RecordBatch, ArrowError> {
    let mut table = TableBuilder::new(rows);
    table.text("source", |row| sources.text(row.source.checked_sub(1)?));
    table.timestamp("ts", |row| row.ts.get());
    table.uint32("task", |row| Some(row.task));
    table.int32("pid", |row| row.pid.get());
    table.text("image", |row| images.text(row.image.get()?));
    table.int64("anon_bytes", |row| Some(row.resident.anon));
    table.int64("file_bytes", |row| Some(row.resident.file));
    table.int64("shm_bytes", |row| Some(row.resident.shared));
    table.text("from", |row| Some(row.from.text()));
    table.finish()
}
