//! One column of one row group: its pages, compressed, and what the footer says about them.

use std::io::Write;

use parquet::basic::{Encoding, PageType};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};

use crate::error::Result;
use crate::sink::parquet::chunk_metadata::{Description, Place, column_index};
use crate::sink::parquet::compression::Packer;
use crate::sink::parquet::statistics::{Order, Range};

/// A column of a row group, ready to be copied into the file.
pub(crate) struct EncodedColumn {
    pub(crate) bytes: Vec<u8>,
    pub(crate) description: Description,
    pub(crate) places: Vec<Place>,
    /// The column index, as written to the file.
    pub(crate) column_index: Option<Vec<u8>>,
}

/// What a data page is besides its bytes.
pub(crate) struct PageInfo {
    pub(crate) rows: usize,
    pub(crate) nulls: usize,
    pub(crate) encoding: Encoding,
    /// Smallest and largest value, unless all are null or the column has no statistics.
    pub(crate) range: Option<Range>,
}

/// Compresses the pages of a column and records their positions.
pub(crate) struct Chunk<'a> {
    order: Order,
    packer: &'a mut Packer,
    sink: TrackedWrite<Vec<u8>>,
    uncompressed: usize,
    dictionary_at: Option<u64>,
    rows: usize,
    pages: Vec<PageInfo>,
    places: Vec<Place>,
}

impl<'a> Chunk<'a> {
    pub(crate) fn new(order: Order, packer: &'a mut Packer) -> Self {
        Self {
            order,
            packer,
            sink: TrackedWrite::new(Vec::new()),
            uncompressed: 0,
            dictionary_at: None,
            rows: 0,
            pages: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Appends the dictionary, whose entries are plain. It must come before the data.
    pub(crate) fn dictionary(&mut self, plain: &[u8], entries: usize) -> Result<()> {
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
    pub(crate) fn page(&mut self, plain: &[u8], info: PageInfo) -> Result<()> {
        let buf = self.packer.pack(plain)?;
        let page = Page::DataPage {
            buf,
            num_values: info.rows as u32,
            encoding: info.encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            // They are in the column index, where readers find them without reading the page.
            statistics: None,
        };
        let (at, bytes) = self.write(page, plain.len())?;
        self.places.push(Place { at, bytes, first_row: self.rows });
        self.rows += info.rows;
        self.pages.push(info);
        Ok(())
    }

    /// Returns the offset of the page in the chunk, and its length with the header.
    fn write(&mut self, page: Page, uncompressed: usize) -> Result<(u64, usize)> {
        let page = CompressedPage::new(page, uncompressed);
        let spec = SerializedPageWriter::new(&mut self.sink).write_page(page)?;
        self.uncompressed += spec.uncompressed_size;
        Ok((spec.offset, spec.compressed_size))
    }

    /// Describes the column. `with_range` says whether the pages came with their ranges.
    pub(crate) fn finish(mut self, with_range: bool) -> Result<EncodedColumn> {
        let order = self.order;
        let mut ranges = self.pages.iter().filter_map(|page| page.range.as_ref());
        let mut whole = ranges.next().cloned();
        if let Some(whole) = &mut whole {
            ranges.for_each(|range| whole.extend(range, order));
        }

        let mut kinds: Vec<(PageType, Encoding, usize)> = Vec::new();
        if self.dictionary_at.is_some() {
            kinds.push((PageType::DICTIONARY_PAGE, Encoding::PLAIN, 1));
        }
        for page in &self.pages {
            match kinds.last_mut() {
                Some((PageType::DATA_PAGE, encoding, count)) if *encoding == page.encoding => {
                    *count += 1;
                }
                _ => kinds.push((PageType::DATA_PAGE, page.encoding, 1)),
            }
        }

        self.sink.flush()?;
        let bytes = self.sink.into_inner()?;
        let description = Description {
            order,
            codec: self.packer.codec(),
            rows: self.rows,
            nulls: self.pages.iter().map(|page| page.nulls).sum(),
            compressed: bytes.len(),
            uncompressed: self.uncompressed,
            dictionary_at: self.dictionary_at,
            first_page: self.places.first().map_or(0, |place| place.at),
            pages: kinds,
            bounds: whole.map(|range| range.bounds(order)),
        };
        let column_index = with_range.then(|| column_index(&self.pages, order));
        Ok(EncodedColumn { bytes, description, places: self.places, column_index })
    }
}
