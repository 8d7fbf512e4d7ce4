//! Parts of arrays that many batches share: dictionaries, keys and columns without values.

use std::sync::{Arc, LazyLock, OnceLock};

use arrow_array::types::UInt32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, StringArray, StringViewArray, UInt32Array, new_null_array,
};
use arrow_buffer::{NullBuffer, ScalarBuffer};

use crate::batch::BATCH_ROWS;
use crate::events::schema::{COLUMNS, Column as C};
use crate::text::string_view::{Place, pack};

/// The view of one of the texts, over the buffer of all of them.
pub(crate) fn view_of(texts: &StringArray, key: usize) -> u128 {
    let (from, to) = (texts.offsets()[key] as usize, texts.offsets()[key + 1] as usize);
    pack(&texts.values()[from..to], Place::Text, from)
}

/// Views over texts as an array: the texts are shared, not copied.
///
/// # Safety
/// Every view was made by [`view_of`] of these texts, or is 0.
#[allow(unsafe_code)]
pub(crate) unsafe fn views_over(
    texts: &StringArray,
    views: ScalarBuffer<u128>,
    validity: Option<NullBuffer>,
) -> ArrayRef {
    let buffers = Arc::from([texts.values().clone()]);
    // SAFETY: as the caller says, views are packed over a text of the only buffer.
    Arc::new(unsafe { StringViewArray::new_unchecked(views, buffers, validity) })
}

pub(crate) fn dictionary(
    keys: ScalarBuffer<u32>,
    validity: Option<NullBuffer>,
    values: &Arc<StringArray>,
) -> ArrayRef {
    let keys = UInt32Array::new(keys, validity);
    #[allow(unsafe_code)]
    // SAFETY: keys come from the dictionary that `values` was made of, or from a vocabulary, and
    // those of nulls are 0 and are not looked up.
    let array: DictionaryArray<UInt32Type> =
        unsafe { DictionaryArray::new_unchecked(keys, Arc::clone(values) as ArrayRef) };
    Arc::new(array)
}

/// The dictionary of a closed vocabulary, built once.
pub(crate) fn vocabulary(texts: &'static [&'static str]) -> Arc<StringArray> {
    type Made = (OnceLock<usize>, OnceLock<Arc<StringArray>>);
    // Not a mutex: in a process that is forked while another thread holds it, it is never released.
    static MADE: [Made; COLUMNS.len()] =
        [const { (OnceLock::new(), OnceLock::new()) }; COLUMNS.len()];
    let key = texts.as_ptr() as usize;
    let make = || Arc::new(StringArray::from_iter_values(texts));
    let found = MADE.iter().find(|(known, _)| *known.get_or_init(|| key) == key);
    found.map_or_else(make, |(_, made)| Arc::clone(made.get_or_init(make)))
}

/// Keys of a column without values, built once for full batches.
pub(crate) fn no_keys(len: usize) -> ScalarBuffer<u32> {
    static ZEROS: LazyLock<ScalarBuffer<u32>> = LazyLock::new(|| vec![0; BATCH_ROWS].into());
    if len <= BATCH_ROWS { ZEROS.slice(0, len) } else { vec![0; len].into() }
}

/// A column without values, built once for full batches.
pub(crate) fn nulls(column: C, len: usize) -> ArrayRef {
    // Not a mutex, as in `vocabulary`.
    static MADE: [OnceLock<ArrayRef>; COLUMNS.len()] = [const { OnceLock::new() }; COLUMNS.len()];
    let kind = column.kind();
    if len > BATCH_ROWS {
        return new_null_array(&kind.data_type(), len);
    }
    // All columns of a kind share one, at the position of the first of them.
    let first = COLUMNS.iter().position(|&(_, _, other)| other == kind).unwrap_or_default();
    let made = MADE[first].get_or_init(|| new_null_array(&kind.data_type(), BATCH_ROWS));
    made.slice(0, len)
}
