//! Columns without any value.

use arrow_array::ArrayRef;
use parquet::basic::Encoding;

use super::chunk::{Chunk, EncodedColumn, PageInfo};
use super::hybrid::put_levels;
use super::pages;
use super::scratch::Buffers;
use crate::error::Result;

/// Encodes a column in which all is null: levels only.
pub(super) fn encode(
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
