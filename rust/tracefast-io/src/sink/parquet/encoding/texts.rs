//! Text columns: Arrow dictionaries, and views with and without a dictionary.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringViewArray};
use parquet::basic::Encoding;

use crate::error::Result;
use crate::sink::non_null::for_each_valid;
use crate::sink::parquet::chunk::{Chunk, EncodedColumn, PageInfo};
use crate::sink::parquet::encoding::delta::Texts;
use crate::sink::parquet::encoding::rle_bit_packed::{key_width, put_keys, put_levels};
use crate::sink::parquet::pages::{self, Page};
use crate::sink::parquet::scratch::Buffers;
use crate::sink::parquet::statistics::Range;

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contents {
    /// Names, of which there are few.
    Names,
    /// Arguments of calls: long texts, which a program may repeat or not.
    Arguments,
}

impl Contents {
    /// Bytes that a dictionary may have.
    fn most_bytes(self) -> usize {
        match self {
            Self::Names => 1 << 20,
            Self::Arguments => 4 << 20,
        }
    }

    /// Whether readers look for a range of it.
    fn has_range(self) -> bool {
        self == Self::Names
    }
}

/// After how many rows it is seen whether a dictionary of arguments pays.
const TRIED: usize = 8_192;

/// How many quarters of the bytes may be new: to find a text in a dictionary takes about as long as
/// to write and to compress a third of it.
const NEW: usize = 3;

/// Encodes a column with a dictionary: of an Arrow dictionary always, of views unless the
/// dictionary grows too large, or too few texts repeat.
pub(crate) fn encode_dictionary(
    mut chunk: Chunk<'_>,
    buffers: &mut Buffers,
    arrays: &[ArrayRef],
    contents: Contents,
) -> Result<EncodedColumn> {
    let pages = pages::split(arrays);
    buffers.dictionary.clear();
    buffers.keys.clear();
    for array in pages.iter().flatten().filter(|array| array.as_string_view_opt().is_none()) {
        buffers.dictionary.push_dictionary(array, &mut buffers.keys)?;
    }
    let views = pages.iter().flatten().filter_map(|array| array.as_string_view_opt());
    if !push_views(views, buffers, contents) {
        return encode_plain(chunk, buffers, arrays, contents.has_range());
    }
    let entries = buffers.dictionary.len();
    chunk.dictionary(buffers.dictionary.plain(), entries)?;

    let mut keys = &buffers.keys[..];
    for page in &pages {
        let rows = pages::rows(page);
        let nulls = pages::validity(page, &mut buffers.words);
        let (here, rest) = keys.split_at(rows - nulls);
        keys = rest;
        buffers.page.clear();
        put_levels(&buffers.words, rows, &mut buffers.page);
        put_keys(here, key_width(entries), &mut buffers.page);
        // The only page holds nothing but what the dictionary holds.
        let some = (pages.len() > 1).then_some(here);
        let bounds = contents.has_range().then(|| buffers.dictionary.bounds(some)).flatten();
        let range = bounds.map(|(min, max)| Range::of_texts(min, max));
        let encoding = Encoding::RLE_DICTIONARY;
        chunk.page(&buffers.page, PageInfo { rows, nulls, encoding, range })?;
    }
    chunk.finish(contents.has_range())
}

/// Looks up the texts of all arrays; false where the texts are better written as they are. That
/// depends on the rows only, not on how they are cut into arrays.
fn push_views<'a>(
    arrays: impl Iterator<Item = &'a StringViewArray>,
    buffers: &mut Buffers,
    contents: Contents,
) -> bool {
    let Buffers { dictionary, keys, .. } = buffers;
    let mut rows = 0;
    for array in arrays {
        let first = array.len().min(TRIED - rows.min(TRIED));
        for part in [array.slice(0, first), array.slice(first, array.len() - first)] {
            if part.is_empty() {
                continue;
            }
            if !dictionary.push_views(&part, keys, contents.most_bytes()) {
                return false;
            }
            rows += part.len();
            if rows == TRIED && contents == Contents::Arguments && !dictionary.repeats(NEW) {
                return false;
            }
        }
    }
    contents == Contents::Names || dictionary.repeats(NEW)
}

/// Encodes a column of views without a dictionary.
pub(crate) fn encode_plain(
    mut chunk: Chunk<'_>,
    buffers: &mut Buffers,
    arrays: &[ArrayRef],
    with_range: bool,
) -> Result<EncodedColumn> {
    for page in pages::split(arrays) {
        let rows = pages::rows(&page);
        let nulls = pages::validity(&page, &mut buffers.words);
        buffers.page.clear();
        put_levels(&buffers.words, rows, &mut buffers.page);
        let range = put_page(&page, buffers, with_range);
        let encoding = Encoding::DELTA_BYTE_ARRAY;
        chunk.page(&buffers.page, PageInfo { rows, nulls, encoding, range })?;
    }
    chunk.finish(with_range)
}

fn put_page(page: &Page, buffers: &mut Buffers, with_range: bool) -> Option<Range> {
    if let [array] = &page[..]
        && let Some(array) = array.as_string_view_opt()
        && array.len() == 1
        && array.is_valid(0)
    {
        // A text longer than a page should be gets a page of its own, and is not copied twice.
        let text = array.value(0).as_bytes();
        Texts::put_one(text, &mut buffers.page);
        return with_range.then(|| Range::of_texts(text, text));
    }
    let texts = &mut buffers.texts;
    texts.clear();
    let mut previous: &[u8] = &[];
    let mut bounds: Option<(&[u8], &[u8])> = None;
    for array in page.iter().filter_map(|array| array.as_string_view_opt()) {
        for_each_valid(array.nulls(), array.len(), |i| {
            let text = array.value(i).as_bytes();
            texts.push(text, previous);
            previous = text;
            if with_range {
                let (min, max) = bounds.unwrap_or((text, text));
                bounds = Some((min.min(text), max.max(text)));
            }
        });
    }
    texts.put(&mut buffers.page);
    bounds.map(|(min, max)| Range::of_texts(min, max))
}
