//! Columns without any value.

use arrow_array::ArrayRef;
use parquet::basic::Encoding;

use crate::error::Result;
use crate::sink::parquet::chunk::{Chunk, EncodedColumn, PageInfo};
use crate::sink::parquet::encoding::rle_bit_packed::put_levels;
use crate::sink::parquet::pages;
use crate::sink::parquet::scratch::Buffers;

/// Encodes a column in which all is null: levels only.
pub(crate) fn encode(
    mut chunk: Chunk<'_>,
    buffers: &mut Buffers,
    arrays: &[ArrayRef],
) -> Result<EncodedColumn> {
    for page in pages::split(arrays) {
        let rows = pages::rows(&page);
        let nulls = pages::validity(&page, &mut buffers.words);
        buffers.page.clear();
        put_levels(&buffers.words, rows, &mut buffers.page);
        // No value is plain as well as anything else.
        let info = PageInfo { rows, nulls, encoding: Encoding::PLAIN, range: None };
        chunk.page(&buffers.page, info)?;
    }
    chunk.finish(true)
}
