//! How a column of a row group is cut into pages, and which of a page's rows hold a value.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};

use crate::sink::non_null::for_each_valid;

/// The most rows a page holds: as many as a row group, unless longer ones are asked for.
const ROWS: usize = 65_536;

/// Bytes of text a page holds at most, unless a single text is larger. Logs with long strings
/// (`strace -s 1000000`) would otherwise make pages larger than readers accept.
const BYTES: usize = 8 << 20;

/// The rows of one page, as slices of the batches' arrays.
pub(crate) type Page = Vec<ArrayRef>;

/// Cuts the arrays of a column into pages. Where the batches end makes no difference.
pub(crate) fn split(arrays: &[ArrayRef]) -> Vec<Page> {
    let mut pages = Vec::new();
    let mut page = Page::new();
    let (mut rows, mut bytes) = (0, 0);
    for array in arrays {
        let mut at = 0;
        while at < array.len() {
            let most = (array.len() - at).min(ROWS - rows);
            let (taken, size) = fitting(array, at, most, BYTES.saturating_sub(bytes), rows == 0);
            if taken > 0 {
                page.push(array.slice(at, taken));
            }
            at += taken;
            rows += taken;
            bytes += size;
            if rows == ROWS || taken < most {
                pages.push(std::mem::take(&mut page));
                (rows, bytes) = (0, 0);
            }
        }
    }
    if !page.is_empty() {
        pages.push(page);
    }
    pages
}

/// How many of `most` rows from `at` on fit into `room`, and their bytes. A page that is still
/// empty takes one row in any case.
fn fitting(array: &ArrayRef, at: usize, most: usize, room: usize, empty: bool) -> (usize, usize) {
    let Some(array) = array.as_string_view_opt() else { return (most, 0) };
    let views = &array.views()[..];
    let mut bytes = 0;
    // Few batches have that much text.
    let slice = array.nulls().map(|nulls| nulls.slice(at, most));
    for_each_valid(slice.as_ref(), most, |i| bytes += views[at + i] as u32 as usize);
    if bytes <= room {
        return (most, bytes);
    }
    let nulls = array.nulls();
    let mut bytes = 0;
    for (i, view) in array.views()[at..at + most].iter().enumerate() {
        // The lowest 32 bits of a view are the length. Those of a null may be anything.
        let present = nulls.is_none_or(|nulls| nulls.is_valid(at + i));
        let length = if present { *view as u32 as usize } else { 0 };
        if bytes + length > room && !(empty && i == 0) {
            return (i, bytes);
        }
        bytes += length;
    }
    (most, bytes)
}

/// Rows of a page.
pub(crate) fn rows(page: &Page) -> usize {
    page.iter().map(Array::len).sum()
}

/// Writes one bit per row, set where there is a value, and returns the number of nulls.
pub(crate) fn validity(page: &Page, words: &mut Vec<u64>) -> usize {
    words.clear();
    let mut rows = 0;
    for array in page {
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        let length = array.len();
        match nulls {
            Some(nulls) => {
                let chunks = nulls.inner().bit_chunks();
                push_bits(chunks.iter_padded(), length, rows, words);
            }
            None => push_bits(std::iter::repeat(u64::MAX), length, rows, words),
        }
        rows += length;
    }
    page.iter().map(Array::null_count).sum()
}

/// Appends `length` bits after the `at` that are there.
fn push_bits(bits: impl Iterator<Item = u64>, length: usize, at: usize, words: &mut Vec<u64>) {
    let shift = at % 64;
    for (i, word) in bits.take(length.div_ceil(64)).enumerate() {
        let left = length - i * 64;
        let word = if left < 64 { word & ((1 << left) - 1) } else { word };
        if shift == 0 {
            words.push(word);
            continue;
        }
        if let Some(last) = words.last_mut() {
            *last |= word << shift;
        }
        if left.min(64) + shift > 64 {
            words.push(word >> (64 - shift));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Int64Array, StringViewArray};
    use arrow_buffer::NullBuffer;
    use proptest::prelude::*;

    use super::*;

    fn integers(values: &[Option<i64>]) -> ArrayRef {
        Arc::new(Int64Array::from(values.to_vec()))
    }

    proptest! {
        #[test]
        fn bits_agree_with_the_arrays(
            parts in prop::collection::vec(
                (prop::collection::vec(prop::option::weighted(0.7, 0_i64..9), 0..200), 0_usize..70),
                0..5,
            )
        ) {
            // Slices may start in the middle of a byte.
            let page: Page = parts
                .iter()
                .map(|(values, skip)| {
                    let skip = (*skip).min(values.len());
                    integers(values).slice(skip, values.len() - skip)
                })
                .collect();
            let expected: Vec<bool> =
                page.iter().flat_map(|a| (0..a.len()).map(|i| a.is_valid(i))).collect();
            let mut words = Vec::new();
            let nulls = validity(&page, &mut words);
            prop_assert_eq!(words.len(), expected.len().div_ceil(64));
            prop_assert_eq!(nulls, expected.iter().filter(|valid| !**valid).count());
            for i in 0..words.len() * 64 {
                let bit = words[i / 64] >> (i % 64) & 1 == 1;
                prop_assert_eq!(bit, expected.get(i).copied().unwrap_or(false));
            }
        }
    }

    #[test]
    fn pages_do_not_depend_on_batches() {
        let whole = integers(&vec![Some(1); 140_000]);
        let parts = [whole.slice(0, 3), whole.slice(3, 130_000), whole.slice(130_003, 9_997)];
        let lengths = |arrays: &[ArrayRef]| split(arrays).iter().map(rows).collect::<Vec<_>>();
        assert_eq!(lengths(&[Arc::clone(&whole)]), [65_536, 65_536, 8_928]);
        assert_eq!(lengths(&parts), [65_536, 65_536, 8_928]);
        assert!(lengths(&[]).is_empty());
        assert!(lengths(&[whole.slice(0, 0)]).is_empty());
    }

    #[test]
    fn what_hides_behind_nulls_does_not_count() {
        let long = "x".repeat(5 << 20);
        let shown = StringViewArray::from(vec![long.as_str(); 4]);
        let nulls = NullBuffer::from(vec![true, false, false, false]);
        let (views, buffers, _) = shown.into_parts();
        let hidden = StringViewArray::new(views, buffers, Some(nulls));
        assert_eq!(split(&[Arc::new(hidden)]).len(), 1);
    }

    #[test]
    fn long_texts_make_short_pages() {
        let long = "x".repeat(5 << 20);
        let longer = "y".repeat(20 << 20);
        let texts = StringViewArray::from(vec![
            Some("a"),
            Some(&long),
            None,
            Some(&long),
            Some(&longer),
            Some("b"),
        ]);
        let array: ArrayRef = Arc::new(texts);
        let lengths = |arrays: &[ArrayRef]| split(arrays).iter().map(rows).collect::<Vec<_>>();
        assert_eq!(lengths(&[Arc::clone(&array)]), [3, 1, 1, 1]);
        assert_eq!(lengths(&[array.slice(0, 2), array.slice(2, 4)]), [3, 1, 1, 1]);
    }
}
