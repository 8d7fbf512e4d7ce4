//! Copies arrays so that they hold only their own rows.

use std::sync::Arc;

use arrow_array::builder::make_view;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int32Type, Int64Type, TimestampNanosecondType, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray, StringViewArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::DataType;

use crate::error::Result;
use crate::sink::dictionary::Dictionary;
use crate::sink::non_null::for_each_valid;

/// The longest text that fits into its view.
const INLINE: usize = 12;

/// Bytes of distinct texts beyond which all texts are copied.
const MOST_BYTES: usize = 1 << 20;

/// The largest buffer that views can point into.
const LARGEST: usize = i32::MAX as usize;

/// Copies the values, or the keys of a dictionary; nulls become zero.
///
/// With a `dictionary` to find them, equal texts are kept once; it pays where texts repeat.
pub(crate) fn compact(array: &ArrayRef, dictionary: Option<&mut Dictionary>) -> Result<ArrayRef> {
    Ok(match array.data_type() {
        DataType::Utf8View => Arc::new(compact_views(array.as_string_view(), dictionary)?),
        DataType::Dictionary(..) => {
            Arc::new(compact_integers(array.as_dictionary::<UInt32Type>().keys()))
        }
        DataType::Int32 => integers::<Int32Type>(array),
        DataType::Int64 => integers::<Int64Type>(array),
        DataType::Timestamp(..) => integers::<TimestampNanosecondType>(array),
        DataType::UInt16 => integers::<UInt16Type>(array),
        DataType::UInt32 => integers::<UInt32Type>(array),
        DataType::UInt64 => integers::<UInt64Type>(array),
        _ => Arc::clone(array),
    })
}

fn integers<T: ArrowPrimitiveType>(array: &ArrayRef) -> ArrayRef {
    Arc::new(compact_integers::<T>(array.as_primitive()))
}

fn compact_integers<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>) -> PrimitiveArray<T> {
    let nulls = nulls(array);
    let values = array.values();
    let values = if nulls.is_some() {
        let mut clean = vec![T::default_value(); array.len()];
        for_each_valid(array.nulls(), array.len(), |i| clean[i] = values[i]);
        ScalarBuffer::from(clean)
    } else {
        values.clone()
    };
    PrimitiveArray::new(values, nulls)
}

/// The validity bitmap, if there is a null, without the bits before and after the slice.
fn nulls(array: &dyn Array) -> Option<NullBuffer> {
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0)?;
    let words: Vec<u64> = nulls.inner().bit_chunks().iter_padded().collect();
    Some(NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(words), 0, array.len())))
}

/// Copies the texts into buffers of their own, equal ones once, unless there are too many. Which
/// views of the old array were equal does not matter: that depends on how the log was cut into
/// blocks.
fn compact_views(
    array: &StringViewArray,
    dictionary: Option<&mut Dictionary>,
) -> Result<StringViewArray> {
    let mut texts = Texts::default();
    let mut views = vec![0_u128; array.len()];
    let mut keys = Vec::new();
    let dictionary = dictionary.and_then(|dictionary| {
        dictionary.clear();
        dictionary.push_views(array, &mut keys, MOST_BYTES).then_some(dictionary)
    });
    if let Some(dictionary) = dictionary {
        let of_keys: Vec<u128> =
            (0..dictionary.len() as u32).map(|key| texts.push(dictionary.text(key))).collect();
        let mut keys = keys.iter();
        for_each_valid(array.nulls(), array.len(), |i| {
            if let Some(&key) = keys.next() {
                views[i] = of_keys[key as usize];
            }
        });
    } else {
        for_each_valid(array.nulls(), array.len(), |i| {
            views[i] = texts.push(array.value(i).as_bytes());
        });
    }
    Ok(StringViewArray::try_new(views.into(), texts.finish(), nulls(array))?)
}

/// Buffers of text in the making.
#[derive(Default)]
struct Texts {
    full: Vec<Buffer>,
    bytes: Vec<u8>,
}

impl Texts {
    /// Appends a text, unless it fits into its view, and returns the view.
    fn push(&mut self, text: &[u8]) -> u128 {
        if text.len() <= INLINE {
            return make_view(text, 0, 0);
        }
        if self.bytes.len() + text.len() > LARGEST {
            self.full.push(Buffer::from_vec(std::mem::take(&mut self.bytes)));
        }
        let view = make_view(text, self.full.len() as u32, self.bytes.len() as u32);
        self.bytes.extend_from_slice(text);
        view
    }

    fn finish(mut self) -> Vec<Buffer> {
        if !self.bytes.is_empty() {
            self.full.push(Buffer::from_vec(self.bytes));
        }
        self.full
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Int64Array;

    use super::*;

    #[test]
    fn views_hold_only_what_they_show() {
        let texts: Vec<String> = (0..100).map(|i| format!("a text of some length {i}")).collect();
        let array = StringViewArray::from_iter_values(&texts).slice(40, 3);
        let compacted = compact_views(&array, Some(&mut Dictionary::default())).unwrap();
        assert_eq!(compacted, array);
        let bytes: usize = compacted.data_buffers().iter().map(Buffer::len).sum();
        assert_eq!(bytes, texts[40..43].iter().map(String::len).sum::<usize>());
    }

    #[test]
    fn equal_texts_stand_once() {
        let long = "a text that is longer than a view";
        let array = StringViewArray::from(vec![Some(long), None, Some("short"), Some(long)]);
        let compacted = compact_views(&array, Some(&mut Dictionary::default())).unwrap();
        assert_eq!(compacted, array);
        assert_eq!(compacted.data_buffers().len(), 1);
        assert_eq!(compacted.data_buffers()[0].as_slice(), long.as_bytes());
        let plain = compact_views(&array, None).unwrap();
        assert_eq!(plain, array);
        assert_eq!(plain.data_buffers()[0].as_slice(), long.repeat(2).as_bytes());
        assert_eq!(compacted.views()[1], 0);
    }

    #[test]
    fn many_texts_are_copied_one_by_one() {
        let texts: Vec<Option<String>> = (0..60_000)
            .map(|i| (i % 7 != 0).then(|| format!("a text of some length {}", i / 2)))
            .collect();
        let array = StringViewArray::from(texts.iter().map(Option::as_deref).collect::<Vec<_>>());
        assert_eq!(compact_views(&array, Some(&mut Dictionary::default())).unwrap(), array);
    }

    #[test]
    fn nothing_shows_of_nulls() {
        let nulls = NullBuffer::from(vec![true, true, false, true, true]);
        let array = Int64Array::new(vec![1, 2, 77, 4, 5].into(), Some(nulls)).slice(1, 3);
        let compacted = compact_integers(&array);
        assert_eq!(compacted, array);
        assert_eq!(compacted.values()[..], [2, 0, 4]);
        let bitmap = compacted.nulls().unwrap();
        assert_eq!((bitmap.offset(), bitmap.validity()[0]), (0, 0b101));
    }
}
