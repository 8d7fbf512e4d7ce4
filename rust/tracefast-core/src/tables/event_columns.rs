//! The columns of a batch of events, in any layout that readers of Arrow hand out.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, UInt8Type, UInt16Type, UInt32Type,
};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, LargeStringArray, PrimitiveArray, RecordBatch, StringArray,
    StringViewArray,
};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_schema::{ArrowError, DataType};

use crate::tables::fold::Dictionaries;

/// The column `name` of a batch.
pub(crate) fn find<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef, ArrowError> {
    batch
        .column_by_name(name)
        .ok_or_else(|| ArrowError::SchemaError(format!("the column '{name}' is missing")))
}

fn wrong(name: &str, found: &DataType) -> ArrowError {
    ArrowError::SchemaError(format!("the column '{name}' cannot be read as {found}"))
}

/// Numbers.
pub(crate) struct Numbers<'a, T: ArrowPrimitiveType> {
    values: &'a [T::Native],
    nulls: Option<&'a NullBuffer>,
}

impl<'a, T: ArrowPrimitiveType> Numbers<'a, T> {
    pub(crate) fn of(batch: &'a RecordBatch, name: &str) -> Result<Self, ArrowError> {
        let column = find(batch, name)?;
        let array =
            column.as_primitive_opt::<T>().ok_or_else(|| wrong(name, column.data_type()))?;
        Ok(Self { values: array.values(), nulls: array.nulls().filter(|n| n.null_count() > 0) })
    }

    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<T::Native> {
        match self.nulls {
            Some(nulls) if nulls.is_null(row) => None,
            _ => self.values.get(row).copied(),
        }
    }
}

/// Text of any kind, such as paths.
pub(crate) enum Text<'a> {
    View(&'a StringViewArray),
    Small(&'a StringArray),
    Large(&'a LargeStringArray),
}

impl<'a> Text<'a> {
    pub(crate) fn of(batch: &'a RecordBatch, name: &str) -> Result<Self, ArrowError> {
        let column = find(batch, name)?;
        Self::from(column.as_ref()).ok_or_else(|| wrong(name, column.data_type()))
    }

    fn from(column: &'a dyn Array) -> Option<Self> {
        match column.data_type() {
            DataType::Utf8View => column.as_string_view_opt().map(Self::View),
            DataType::Utf8 => column.as_string_opt::<i32>().map(Self::Small),
            DataType::LargeUtf8 => column.as_string_opt::<i64>().map(Self::Large),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<&'a str> {
        match self {
            Self::View(array) => array.is_valid(row).then(|| array.value(row)),
            Self::Small(array) => array.is_valid(row).then(|| array.value(row)),
            Self::Large(array) => array.is_valid(row).then(|| array.value(row)),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::View(array) => array.len(),
            Self::Small(array) => array.len(),
            Self::Large(array) => array.len(),
        }
    }
}

/// Words of a small vocabulary: each is looked up once a batch.
///
/// A column of them may be a dictionary of its own, keys of one that came before, or plain text.
pub(crate) struct Words<'a, C> {
    keys: Keys<'a>,
    nulls: Option<&'a NullBuffer>,
    texts: Text<'a>,
    codes: Vec<Option<C>>,
}

enum Keys<'a> {
    /// The number of the row: there is no dictionary.
    Rows,
    Borrowed(&'a [u32]),
    Owned(Vec<u32>),
}

impl<'a, C: Copy> Words<'a, C> {
    pub(crate) fn of(
        batch: &'a RecordBatch,
        name: &str,
        known: &'a Dictionaries,
    ) -> Result<Self, ArrowError> {
        let column = find(batch, name)?;
        let found = match column.data_type() {
            DataType::Dictionary(key, _) => match **key {
                DataType::UInt32 => column
                    .as_dictionary_opt::<UInt32Type>()
                    .map(|array| (Keys::Borrowed(array.keys().values()), array.values())),
                DataType::UInt16 => column.as_dictionary_opt::<UInt16Type>().map(dictionary),
                DataType::UInt8 => column.as_dictionary_opt::<UInt8Type>().map(dictionary),
                _ => None,
            },
            DataType::UInt32 => column
                .as_primitive_opt::<UInt32Type>()
                .map(|array| Keys::Borrowed(array.values()))
                .zip(known.get(name)),
            DataType::UInt16 => {
                column.as_primitive_opt::<UInt16Type>().map(widened).zip(known.get(name))
            }
            DataType::UInt8 => {
                column.as_primitive_opt::<UInt8Type>().map(widened).zip(known.get(name))
            }
            _ => Some((Keys::Rows, column)),
        };
        let text = found.and_then(|(keys, texts)| Some((keys, Text::from(texts)?)));
        let (keys, texts) = text.ok_or_else(|| wrong(name, column.data_type()))?;
        let codes = vec![None; texts.len()];
        let nulls = column.nulls().filter(|nulls| nulls.null_count() > 0);
        Ok(Self { keys, nulls, texts, codes })
    }

    /// What `look` makes of the word in a row; None of null.
    #[inline]
    pub(crate) fn get(&mut self, row: usize, look: impl FnOnce(&str) -> C) -> Option<C> {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return None;
        }
        let key = match &self.keys {
            Keys::Rows => row,
            Keys::Borrowed(keys) => keys.get(row)?.as_usize(),
            Keys::Owned(keys) => keys.get(row)?.as_usize(),
        };
        let code = self.codes.get_mut(key)?;
        if code.is_none() {
            *code = Some(look(self.texts.get(key)?));
        }
        *code
    }
}

fn dictionary<K: ArrowDictionaryKeyType>(array: &DictionaryArray<K>) -> (Keys<'_>, &ArrayRef) {
    (widened(array.keys()), array.values())
}

fn widened<'a, K: ArrowPrimitiveType>(array: &PrimitiveArray<K>) -> Keys<'a> {
    Keys::Owned(array.values().iter().map(|key| key.as_usize() as u32).collect())
}
