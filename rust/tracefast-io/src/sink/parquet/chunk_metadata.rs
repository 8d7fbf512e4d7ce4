//! The metadata of a column of a row group: sizes, encodings, statistics, positions of pages.

use parquet::basic::{Encoding, PageType};

use crate::sink::parquet::chunk::PageInfo;
use crate::sink::parquet::statistics::{self, Bounds, Order, Range};
use crate::sink::parquet::thrift::{Fields, Kind, bool, bytes, structure, zigzag};

/// The metadata of a column of a row group, relative to the start of the column.
pub(crate) struct Description {
    pub(crate) order: Order,
    /// The number of the compression in the file.
    pub(crate) codec: i32,
    pub(crate) rows: usize,
    pub(crate) nulls: usize,
    /// Bytes in the file, headers of pages included.
    pub(crate) compressed: usize,
    pub(crate) uncompressed: usize,
    /// Offsets of the dictionary and of the first page, from the start of the column.
    pub(crate) dictionary_at: Option<u64>,
    pub(crate) first_page: u64,
    /// Kinds of pages, and how many of each follow one another.
    pub(crate) pages: Vec<(PageType, Encoding, usize)>,
    /// Smallest and largest value, if they were looked at and there is a value.
    pub(crate) bounds: Option<Bounds>,
}

/// The position of a data page.
pub(crate) struct Place {
    /// From the start of the column.
    pub(crate) at: u64,
    pub(crate) bytes: usize,
    pub(crate) first_row: usize,
}

impl Description {
    /// Appends the `ColumnMetaData` of a column named `name` that starts at byte `start`.
    pub(crate) fn put(&self, name: &str, start: u64, out: &mut Vec<u8>) {
        let mut encodings: Vec<i32> =
            self.pages.iter().map(|&(_, encoding, _)| encoding as i32).collect();
        // That of the levels.
        encodings.push(Encoding::RLE as i32);
        encodings.sort_unstable();
        encodings.dedup();

        structure(out, |fields| {
            fields.i32(1, self.order.physical() as i32);
            fields.list(2, Kind::I32, encodings.into_iter().map(i64::from), zigzag);
            fields.list(3, Kind::Binary, [name.as_bytes()].into_iter(), bytes);
            fields.i32(4, self.codec);
            fields.i64(5, self.rows as i64);
            fields.i64(6, self.uncompressed as i64);
            fields.i64(7, self.compressed as i64);
            fields.i64(9, (start + self.first_page) as i64);
            if let Some(at) = self.dictionary_at {
                fields.i64(11, (start + at) as i64);
            }
            fields.structure(12, |fields| self.put_statistics(fields));
            fields.list(13, Kind::Struct, self.pages.iter(), |out, pages| {
                structure(out, |fields| {
                    fields.i32(1, pages.0 as i32);
                    fields.i32(2, pages.1 as i32);
                    fields.i32(3, pages.2 as i32);
                });
            });
        });
    }

    fn put_statistics(&self, fields: &mut Fields<'_>) {
        let bounds = self.bounds.as_ref();
        // Without the bounds of fields 1 and 2, which readers of before 2018 look for: they have no
        // order, and the footer should be small.
        fields.i64(3, self.nulls as i64);
        if let Some(bounds) = bounds {
            fields.bytes(5, &bounds.max);
            fields.bytes(6, &bounds.min);
        }
        fields.bool(7, bounds.is_some_and(|bounds| bounds.max_is_exact));
        fields.bool(8, bounds.is_some_and(|bounds| bounds.min_is_exact));
    }
}

/// Appends the `OffsetIndex` of a column that starts at byte `start`.
pub(crate) fn put_offset_index(pages: &[Place], start: u64, out: &mut Vec<u8>) {
    structure(out, |fields| {
        fields.list(1, Kind::Struct, pages.iter(), |out, page| {
            structure(out, |fields| {
                fields.i64(1, (start + page.at) as i64);
                fields.i32(2, page.bytes as i32);
                fields.i64(3, page.first_row as i64);
            });
        });
    });
}

/// The `ColumnIndex` of some pages, all with their ranges.
pub(crate) fn column_index(pages: &[PageInfo], order: Order) -> Vec<u8> {
    let ranges: Vec<&Range> = pages.iter().filter_map(|page| page.range.as_ref()).collect();
    let boundary_order = statistics::boundary_order(&ranges, order);
    let bounds: Vec<Option<Bounds>> =
        pages.iter().map(|page| page.range.as_ref().map(|range| range.bounds(order))).collect();
    let bounds = bounds.iter();
    let mut out = Vec::new();
    structure(&mut out, |fields| {
        fields.list(1, Kind::Bool, bounds.clone().map(Option::is_none), bool);
        fields.list(2, Kind::Binary, bounds.clone(), |out, b| {
            bytes(out, b.as_ref().map_or(&[], |b| &b.min));
        });
        fields.list(3, Kind::Binary, bounds, |out, b| {
            bytes(out, b.as_ref().map_or(&[], |b| &b.max));
        });
        fields.i32(4, boundary_order as i32);
        fields.list(5, Kind::I64, pages.iter().map(|page| page.nulls as i64), zigzag);
    });
    out
}
