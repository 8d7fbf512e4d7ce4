//! One column of one row group: its pages, compressed, and what the footer says about them.

use std::io::Write;

use bytes::Bytes;
use parquet::basic::{Encoding, PageType};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::file::metadata::{
    ColumnChunkMetaData, ColumnIndexBuilder, OffsetIndexBuilder, PageEncodingStats,
};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::compression::Packer;
use super::stats::{self, Order, Range};
use crate::error::Result;

/// A column of a row group, ready to be copied into the file.
pub(super) struct EncodedColumn {
    pub(super) bytes: Bytes,
    pub(super) close: ColumnCloseResult,
}

/// What a data page is besides its bytes.
pub(super) struct PageInfo {
    pub(super) rows: usize,
    pub(super) nulls: usize,
    pub(super) encoding: Encoding,
    /// Smallest and largest value, unless all are null or the column has no statistics.
    pub(super) range: Option<Range>,
}

/// Compresses the pages of a column and remembers where they stand.
pub(super) struct Chunk<'a> {
    descr: ColumnDescPtr,
    order: Order,
    packer: &'a mut Packer,
    sink: TrackedWrite<Vec<u8>>,
    uncompressed: usize,
    dictionary_at: Option<i64>,
    pages: Vec<PageInfo>,
    places: OffsetIndexBuilder,
    first_page: Option<i64>,
}

impl<'a> Chunk<'a> {
    pub(super) fn new(descr: ColumnDescPtr, order: Order, packer: &'a mut Packer) -> Self {
        Self {
            descr,
            order,
            packer,
            sink: TrackedWrite::new(Vec::new()),
            uncompressed: 0,
            dictionary_at: None,
            pages: Vec::new(),
            places: OffsetIndexBuilder::new(),
            first_page: None,
        }
    }

    /// Appends the dictionary, whose entries are plain. It must come before the data.
    pub(super) fn dictionary(&mut self, plain: &[u8], entries: usize) -> Result<()> {
        let buf = self.packer.pack(plain)?;
        let page = Page::DictionaryPage {
            buf,
            num_values: entries as u32,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        let (at, _) = self.write(page, plain.len())?;
        self.dictionary_at = Some(at);
        Ok(())
    }

    /// Appends a data page: levels and values.
    pub(super) fn page(&mut self, plain: &[u8], info: PageInfo) -> Result<()> {
        let buf = self.packer.pack(plain)?;
        let page = Page::DataPage {
            buf,
            num_values: info.rows as u32,
            encoding: info.encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            // They stand in the column index, where readers find them without reading the page.
            statistics: None,
        };
        let (at, length) = self.write(page, plain.len())?;
        self.first_page.get_or_insert(at);
        self.places.append_row_count(info.rows as i64);
        self.places.append_offset_and_size(at, length);
        self.pages.push(info);
        Ok(())
    }

    /// Returns where the page begins in the chunk and the bytes it takes, its header among them.
    fn write(&mut self, page: Page, uncompressed: usize) -> Result<(i64, i32)> {
        let page = CompressedPage::new(page, uncompressed);
        let spec = SerializedPageWriter::new(&mut self.sink).write_page(page)?;
        self.uncompressed += spec.uncompressed_size;
        Ok((spec.offset as i64, spec.compressed_size as i32))
    }

    /// Describes the column. `with_range` says whether the pages came with their ranges.
    pub(super) fn finish(mut self, with_range: bool) -> Result<EncodedColumn> {
        let order = self.order;
        let rows: usize = self.pages.iter().map(|page| page.rows).sum();
        let nulls: usize = self.pages.iter().map(|page| page.nulls).sum();
        let mut ranges = self.pages.iter().filter_map(|page| page.range.as_ref());
        let mut whole = ranges.next().cloned();
        if let Some(whole) = &mut whole {
            ranges.for_each(|range| whole.extend(range, order));
        }

        let mut encodings = vec![Encoding::RLE];
        let mut counts: Vec<PageEncodingStats> = Vec::new();
        if self.dictionary_at.is_some() {
            encodings.push(Encoding::PLAIN);
            counts.push(encoding_stats(PageType::DICTIONARY_PAGE, Encoding::PLAIN));
        }
        for page in &self.pages {
            if !encodings.contains(&page.encoding) {
                encodings.push(page.encoding);
            }
            match counts.last_mut() {
                Some(last)
                    if last.page_type == PageType::DATA_PAGE && last.encoding == page.encoding =>
                {
                    last.count += 1;
                }
                _ => counts.push(encoding_stats(PageType::DATA_PAGE, page.encoding)),
            }
        }

        self.sink.flush()?;
        let bytes = Bytes::from(self.sink.into_inner()?);
        let metadata = ColumnChunkMetaData::builder(self.descr)
            .set_compression(self.packer.codec())
            .set_encodings(encodings)
            .set_page_encoding_stats(counts)
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size(self.uncompressed as i64)
            .set_num_values(rows as i64)
            .set_dictionary_page_offset(self.dictionary_at)
            .set_data_page_offset(self.first_page.unwrap_or(0))
            .set_statistics(stats::statistics(order, whole.as_ref(), nulls as u64))
            .build()?;

        let column_index = if with_range {
            let mut index = ColumnIndexBuilder::new(order.physical());
            for page in &self.pages {
                let (min, max) =
                    page.range.as_ref().map_or_else(Default::default, |r| r.to_bytes(order));
                index.append(page.range.is_none(), min, max, page.nulls as i64, None);
            }
            let ranges: Vec<&Range> =
                self.pages.iter().filter_map(|page| page.range.as_ref()).collect();
            index.set_boundary_order(stats::boundary_order(&ranges, order));
            Some(index.build()?)
        } else {
            None
        };

        let close = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: rows as u64,
            metadata,
            bloom_filter: None,
            column_index,
            offset_index: Some(self.places.build()),
        };
        Ok(EncodedColumn { bytes, close })
    }
}

fn encoding_stats(page_type: PageType, encoding: Encoding) -> PageEncodingStats {
    PageEncodingStats { page_type, encoding, count: 1 }
}
