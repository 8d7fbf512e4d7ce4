//! The columns of a batch of events, in any layout that Arrow readers return.
//!
//! [`event_columns!`] declares the columns that a fold reads, each once, with its name in the event
//! schema and its type.

use std::borrow::Cow;

use arrow_array::array::AnyDictionaryArray;
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{Array, ArrayRef, LargeStringArray, RecordBatch, StringArray, StringViewArray};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_schema::{ArrowError, DataType};

use crate::tables::fold::Dictionaries;
use crate::text::scan;

/// A set of columns of a batch, implemented by [`event_columns!`].
pub(crate) trait EventColumns<'a>: Sized {
    /// The names of the columns, in the event schema.
    fn names() -> Vec<&'static str>;

    /// Finds the columns in a batch; `words` has the dictionaries of those that hold only keys.
    fn from_batch(batch: &'a RecordBatch, words: &'a Dictionaries) -> Result<Self, ArrowError>;
}

/// Two sets together.
impl<'a, A: EventColumns<'a>, B: EventColumns<'a>> EventColumns<'a> for (A, B) {
    fn names() -> Vec<&'static str> {
        [A::names(), B::names()].concat()
    }

    fn from_batch(batch: &'a RecordBatch, words: &'a Dictionaries) -> Result<Self, ArrowError> {
        Ok((A::from_batch(batch, words)?, B::from_batch(batch, words)?))
    }
}

/// An optional set; a fold that does not need it does not call this.
impl<'a, A: EventColumns<'a>> EventColumns<'a> for Option<A> {
    fn names() -> Vec<&'static str> {
        A::names()
    }

    fn from_batch(batch: &'a RecordBatch, words: &'a Dictionaries) -> Result<Self, ArrowError> {
        A::from_batch(batch, words).map(Some)
    }
}

/// Declares a struct of columns, and implements [`EventColumns`] for it.
///
/// A field is `name: Type = "column"`, or `name: Type = ["first", "second"]` for an array of two
/// columns. `Type` is [`Numbers`] of an Arrow type, [`Text`], or [`Words`] of the meaning of words.
macro_rules! event_columns {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident {
            $(
                $field_visibility:vis $field:ident: $kind:ident $(<$value:ty>)? = $column:tt
            ),* $(,)?
        }
    ) => {
        $(#[$attribute])*
        $visibility struct $name<'a> {
            $(
                $field_visibility $field: $crate::tables::event_columns::event_columns!(
                    @type $column, $kind<'a $(, $value)?>
                ),
            )*
        }

        impl<'a> $crate::tables::event_columns::EventColumns<'a> for $name<'a> {
            fn names() -> Vec<&'static str> {
                [$(
                    &$crate::tables::event_columns::event_columns!(@names $column)[..]
                ),*]
                .concat()
            }

            fn from_batch(
                batch: &'a arrow_array::RecordBatch,
                words: &'a $crate::tables::fold::Dictionaries,
            ) -> Result<Self, arrow_schema::ArrowError> {
                use $crate::tables::event_columns::EventColumn;
                Ok(Self {
                    $(
                        $field: $crate::tables::event_columns::event_columns!(
                            @read $column, batch, words
                        ),
                    )*
                })
            }
        }
    };
    (@type [$first:literal, $second:literal], $type:ty) => { [$type; 2] };
    (@type $column:literal, $type:ty) => { $type };
    (@names [$first:literal, $second:literal]) => { [$first, $second] };
    (@names $column:literal) => { [$column] };
    (@read [$first:literal, $second:literal], $batch:ident, $words:ident) => {
        [
            EventColumn::from_batch($batch, $first, $words)?,
            EventColumn::from_batch($batch, $second, $words)?,
        ]
    };
    (@read $column:literal, $batch:ident, $words:ident) => {
        EventColumn::from_batch($batch, $column, $words)?
    };
}
pub(crate) use event_columns;

/// One column of a batch.
pub(crate) trait EventColumn<'a>: Sized {
    /// Finds the column `name`; `words` has the dictionaries of columns that hold only keys.
    fn from_batch(
        batch: &'a RecordBatch,
        name: &str,
        words: &'a Dictionaries,
    ) -> Result<Self, ArrowError>;
}

fn find<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef, ArrowError> {
    batch
        .column_by_name(name)
        .ok_or_else(|| ArrowError::SchemaError(format!("the column '{name}' is missing")))
}

fn wrong(name: &str, found: &DataType) -> ArrowError {
    ArrowError::SchemaError(format!("the column '{name}' cannot be read as {found}"))
}

/// Which rows of a column are null: its bitmap, with no pointers to follow for each row.
#[derive(Clone, Copy)]
struct Nulls<'a> {
    /// A bit is set where there is a value. Rows beyond its end have one, so it is empty where no row
    /// is null.
    valid: &'a [u8],
    /// The bit of the first row.
    offset: usize,
}

impl<'a> Nulls<'a> {
    fn new(nulls: Option<&'a NullBuffer>) -> Self {
        let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
        Self {
            valid: nulls.map_or(&[], NullBuffer::validity),
            offset: nulls.map_or(0, NullBuffer::offset),
        }
    }

    #[inline]
    fn is_null(self, row: usize) -> bool {
        let at = self.offset + row;
        self.valid.get(at / 8).is_some_and(|bits| bits >> (at % 8) & 1 == 0)
    }
}

/// A column of numbers.
pub(crate) struct Numbers<'a, T: ArrowPrimitiveType> {
    values: &'a [T::Native],
    nulls: Nulls<'a>,
}

impl<'a, T: ArrowPrimitiveType> EventColumn<'a> for Numbers<'a, T> {
    fn from_batch(
        batch: &'a RecordBatch,
        name: &str,
        _words: &'a Dictionaries,
    ) -> Result<Self, ArrowError> {
        let column = find(batch, name)?;
        let array =
            column.as_primitive_opt::<T>().ok_or_else(|| wrong(name, column.data_type()))?;
        // Many columns have no value in a whole log: such rows are beyond the end.
        if array.null_count() == array.len() {
            return Ok(Self { values: &[], nulls: Nulls::new(None) });
        }
        Ok(Self { values: array.values(), nulls: Nulls::new(array.nulls()) })
    }
}

impl<T: ArrowPrimitiveType> Numbers<'_, T> {
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<T::Native> {
        if self.nulls.is_null(row) { None } else { self.values.get(row).copied() }
    }
}

/// A column of any text, such as paths.
pub(crate) struct Text<'a> {
    texts: Texts<'a>,
    nulls: Nulls<'a>,
}

enum Texts<'a> {
    View(&'a StringViewArray),
    Small(&'a StringArray),
    Large(&'a LargeStringArray),
}

impl<'a> EventColumn<'a> for Text<'a> {
    fn from_batch(
        batch: &'a RecordBatch,
        name: &str,
        _words: &'a Dictionaries,
    ) -> Result<Self, ArrowError> {
        let column = find(batch, name)?;
        Self::from_array(column.as_ref()).ok_or_else(|| wrong(name, column.data_type()))
    }
}

impl<'a> Text<'a> {
    fn from_array(column: &'a dyn Array) -> Option<Self> {
        let texts = match column.data_type() {
            DataType::Utf8View => column.as_string_view_opt().map(Texts::View),
            DataType::Utf8 => column.as_string_opt::<i32>().map(Texts::Small),
            DataType::LargeUtf8 => column.as_string_opt::<i64>().map(Texts::Large),
            _ => None,
        };
        Some(Self { texts: texts?, nulls: Nulls::new(column.nulls()) })
    }

    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<&'a str> {
        if self.nulls.is_null(row) {
            return None;
        }
        Some(match self.texts {
            Texts::View(array) => array.value(row),
            Texts::Small(array) => array.value(row),
            Texts::Large(array) => array.value(row),
        })
    }

    /// Lets the processor fetch the texts of some rows before they are needed. They are far apart in
    /// memory that was written long ago, and to wait for each where it is used takes longer.
    #[inline]
    pub(crate) fn fetch(&self, rows: impl Iterator<Item = usize>) {
        for text in rows.filter_map(|row| self.get(row)) {
            scan::fetch(text.as_bytes());
        }
    }

    fn len(&self) -> usize {
        match self.texts {
            Texts::View(array) => array.len(),
            Texts::Small(array) => array.len(),
            Texts::Large(array) => array.len(),
        }
    }
}

/// A column of words from a small vocabulary. Each word is looked up once per batch.
///
/// The column may be dictionary-encoded, hold only keys of a separate dictionary, or be text.
pub(crate) struct Words<'a, C> {
    column: &'a dyn Array,
    /// By row, in 32 bits. Those of another width are copied, so that a row is found without looking
    /// at what the column is like; empty before a row is asked for, as folds ask for some columns in
    /// few batches.
    keys: Cow<'a, [u32]>,
    nulls: Nulls<'a>,
    texts: Text<'a>,
    codes: Vec<Option<C>>,
}

impl<'a, C: Copy> EventColumn<'a> for Words<'a, C> {
    fn from_batch(
        batch: &'a RecordBatch,
        name: &str,
        words: &'a Dictionaries,
    ) -> Result<Self, ArrowError> {
        let column = find(batch, name)?;
        let texts = match column.data_type() {
            DataType::Dictionary(..) => {
                column.as_any_dictionary_opt().map(AnyDictionaryArray::values)
            }
            DataType::UInt32 | DataType::UInt16 | DataType::UInt8 => words.get(name),
            // There is no dictionary: the key is the row.
            _ => Some(column),
        };
        let texts = texts.and_then(|texts| Text::from_array(texts));
        let texts = texts.filter(|_| has_keys(column.data_type()));
        let texts = texts.ok_or_else(|| wrong(name, column.data_type()))?;
        let codes = vec![None; texts.len()];
        let own = column.as_any_dictionary_opt().map_or(column.as_ref(), AnyDictionaryArray::keys);
        let keys = own.as_primitive_opt::<UInt32Type>().map_or(&[][..], |keys| keys.values());
        Ok(Self { column: own, keys: keys.into(), nulls: Nulls::new(own.nulls()), texts, codes })
    }
}

impl<C: Copy> Words<'_, C> {
    /// Whether there is a word in a row.
    #[inline]
    pub(crate) fn has(&self, row: usize) -> bool {
        !self.nulls.is_null(row)
    }

    /// The result of `look` for the word in a row; None if it is null.
    #[inline]
    pub(crate) fn get(&mut self, row: usize, look: impl FnOnce(&str) -> C) -> Option<C> {
        if self.nulls.is_null(row) {
            return None;
        }
        let key = match self.keys.get(row) {
            Some(&key) => key as usize,
            None => self.first(row)?,
        };
        let code = self.codes.get_mut(key)?;
        if code.is_none() {
            *code = Some(look(self.texts.get(key)?));
        }
        *code
    }

    /// The key of the row that is asked for first.
    #[cold]
    fn first(&mut self, row: usize) -> Option<usize> {
        if self.keys.is_empty() {
            self.keys = keys(self.column).into();
        }
        self.keys.get(row).map(|&key| key as usize)
    }
}

/// Whether [`keys`] takes a column of this type.
fn has_keys(column: &DataType) -> bool {
    match column {
        DataType::Dictionary(key, _) => {
            matches!(**key, DataType::UInt32 | DataType::UInt16 | DataType::UInt8)
        }
        _ => true,
    }
}

/// The keys of a column of words, from the keys of its dictionary, or from its texts.
fn keys(column: &dyn Array) -> Vec<u32> {
    match column.data_type() {
        DataType::UInt16 => widened::<UInt16Type>(column),
        DataType::UInt8 => widened::<UInt8Type>(column),
        // There is no dictionary: the key is the row.
        _ => (0..column.len() as u32).collect(),
    }
}

fn widened<K: ArrowPrimitiveType>(keys: &dyn Array) -> Vec<u32> {
    keys.as_primitive::<K>().values().iter().map(|key| key.as_usize() as u32).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::DictionaryArray;

    use super::*;

    #[test]
    fn words_are_those_of_the_rows_wherever_a_batch_starts() {
        let texts = ["read", "openat", "close", "a"];
        let wanted = |row: usize| (!row.is_multiple_of(3)).then(|| texts[row % 4]);
        let whole: DictionaryArray<UInt16Type> = (0..300).map(wanted).collect();
        for (start, rows) in [(0, 300), (7, 200), (64, 64), (130, 65), (9, 1)] {
            let column = Arc::new(whole.slice(start, rows)) as ArrayRef;
            let plain = (start..start + rows).map(wanted).collect::<StringArray>();
            let columns = [("name", column), ("path", Arc::new(plain) as ArrayRef)];
            let batch = RecordBatch::try_from_iter(columns).expect("one length");
            let none = Dictionaries::default();
            for name in ["name", "path"] {
                let mut words = Words::from_batch(&batch, name, &none).expect("words");
                let found: Vec<_> = (0..rows).map(|row| words.get(row, str::len)).collect();
                let expected = (start..start + rows).map(|row| wanted(row).map(str::len));
                assert_eq!(found, expected.collect::<Vec<_>>());
                assert_eq!(words.get(rows, str::len), None);
            }
        }
    }
}
