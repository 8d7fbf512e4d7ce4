//! Events that are not known beforehand: keys and types come from their texts.

use std::sync::Arc;

use crate::hash::HashMap;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};

use crate::ftrace::decode::forms::Row;
use crate::ftrace::decode::key_values::{Piece, pieces};
use crate::ftrace::decode::value::{self, FieldType, Integer, Slot};

/// Which texts of one key were seen, as bits that are combined with "or".
mod class {
    /// An integer of at most 53 bits, which a float holds exactly.
    pub(crate) const SMALL: u32 = 1;
    /// A larger one.
    pub(crate) const LARGE: u32 = 1 << 1;
    /// One above `i64::MAX`.
    pub(crate) const UNSIGNED: u32 = 1 << 2;
    /// A negative one.
    pub(crate) const NEGATIVE: u32 = 1 << 3;
    /// `0x…`.
    pub(crate) const HEX: u32 = 1 << 4;
    /// 16 hexadecimal digits that are not a decimal number: a pointer.
    pub(crate) const POINTER: u32 = 1 << 5;
    /// An integer of other than 16 digits.
    pub(crate) const NARROW: u32 = 1 << 6;
    /// A fraction.
    pub(crate) const FRACTION: u32 = 1 << 7;
    /// Anything else.
    pub(crate) const TEXT: u32 = 1 << 8;
}

/// How many keys of one batch are counted: hostile text could have one per word.
const KEYS: usize = 4096;

/// How the values of a column of an unknown event are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// Decimal integers.
    Signed,
    /// Decimal integers, or hexadecimal ones with `0x`.
    Unsigned,
    /// Hexadecimal integers of 16 digits.
    Pointer,
    /// Fractions.
    Float,
    /// Text.
    Text,
}

impl ValueKind {
    /// The name under which a kind is passed around.
    pub fn name(self) -> &'static str {
        match self {
            Self::Signed => "i64",
            Self::Unsigned => "u64",
            Self::Pointer => "pointer",
            Self::Float => "f64",
            Self::Text => "text",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Signed, Self::Unsigned, Self::Pointer, Self::Float, Self::Text]
            .into_iter()
            .find(|kind| kind.name() == name)
    }

    /// The kind that holds all texts of these classes, each of them exactly.
    pub fn from_classes(classes: u32) -> Self {
        use class::{FRACTION, HEX, LARGE, NARROW, NEGATIVE, POINTER, TEXT, UNSIGNED};
        let has = |class: u32| classes & class != 0;
        if classes == 0 || has(TEXT) {
            Self::Text
        } else if has(POINTER) {
            let others = NARROW | NEGATIVE | HEX | FRACTION | UNSIGNED;
            if has(others) { Self::Text } else { Self::Pointer }
        } else if has(FRACTION) {
            if has(LARGE | UNSIGNED | HEX) { Self::Text } else { Self::Float }
        } else if has(UNSIGNED | HEX) {
            if has(NEGATIVE) { Self::Text } else { Self::Unsigned }
        } else {
            Self::Signed
        }
    }

    /// The type of the column.
    pub fn column(self) -> FieldType {
        match self {
            Self::Signed => FieldType::I64,
            Self::Unsigned | Self::Pointer => FieldType::U64,
            Self::Float => FieldType::F64,
            Self::Text => FieldType::Text,
        }
    }

    fn read(self, text: &str, span: (usize, usize)) -> Option<Slot> {
        let bytes = text.as_bytes().get(span.0..span.1)?;
        if bytes == FAULT {
            return None;
        }
        let bits = match self {
            Self::Text => return Some(Slot::Text(span.0, span.1)),
            Self::Signed => whole(bytes)?.exact(FieldType::I64)?,
            Self::Unsigned => match whole(bytes) {
                Some(integer) => integer.exact(FieldType::U64)?,
                None => pointer(bytes)?,
            },
            Self::Pointer => pointer(bytes)?,
            Self::Float => match value::float(bytes) {
                Some(float) => float.to_bits(),
                None => small(whole(bytes)?)?.to_bits(),
            },
        };
        Some(Slot::Bits(bits))
    }
}

/// What a probe prints for memory that it could not read.
const FAULT: &[u8] = b"(fault)";

fn whole(text: &[u8]) -> Option<Integer> {
    value::integer(text, 0).filter(|&(_, end)| end == text.len()).map(|(integer, _)| integer)
}

/// An integer as a float, if that is exact.
fn small(integer: Integer) -> Option<f64> {
    if integer.magnitude > 1 << 53 {
        return None;
    }
    #[allow(clippy::cast_precision_loss)] // At most 53 bits.
    let value = integer.magnitude as f64;
    Some(if integer.negative { -value } else { value })
}

fn pointer(text: &[u8]) -> Option<u64> {
    let (value, digits) = crate::text::number::hex_digits(text);
    (digits == 16 && text.len() == 16).then_some(value)
}

/// The class of one value; 0 for one that says nothing of a type.
fn classify(text: &str) -> u32 {
    let bytes = text.as_bytes();
    if bytes.is_empty() || bytes == FAULT {
        return 0;
    }
    let hex = bytes.starts_with(b"0x");
    if let Some(integer) = whole(bytes) {
        let leading = bytes.len() > 1 && bytes[0] == b'0' && !hex;
        let pointer = bytes.len() == 16 && !hex;
        if pointer && leading && !integer.negative {
            return class::POINTER;
        }
        let size = match integer.magnitude {
            m if m > i64::MAX as u64 => class::UNSIGNED | class::LARGE,
            m if m > 1 << 53 => class::LARGE,
            _ => class::SMALL,
        };
        if integer.negative && size & class::UNSIGNED != 0 {
            return class::TEXT;
        }
        // In both forms at once, `0xffffffff (-1)`, the decimal one counts.
        let hex = hex && !bytes.ends_with(b")");
        let mut classes = size;
        for (is, class) in
            [(integer.negative, class::NEGATIVE), (hex, class::HEX), (!pointer, class::NARROW)]
        {
            classes |= if is { class } else { 0 };
        }
        return classes;
    }
    if pointer(bytes).is_some() {
        class::POINTER
    } else if value::float(bytes).is_some() {
        class::FRACTION
    } else {
        class::TEXT
    }
}

/// What is known of a key: the least position among the keys of a text, in how many texts it is,
/// and the classes of its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Seen {
    rank: u32,
    rows: u32,
    classes: u32,
}

/// Keys by their text, and by whether they are words that only precede others.
type Found<'a> = HashMap<(&'a str, bool), Seen>;

fn note<'a>(found: &mut Found<'a>, key: &'a str, word: bool, rank: u32, classes: u32) {
    if let Some(seen) = found.get_mut(&(key, word)) {
        seen.rank = seen.rank.min(rank);
        seen.rows = seen.rows.saturating_add(1);
        seen.classes |= classes;
    } else if found.len() < KEYS {
        found.insert((key, word), Seen { rank, rows: 1, classes });
    }
}

/// Keys of an event's texts, and what their values are: a table of `key`, `word`, `rank` (the
/// least position among the keys of a text), `rows` (texts that have it), `classes`.
///
/// A `word` is not a key by itself: `flags` and `caller` of `flags A|B caller f+0x1/0x2`. It is one
/// if all texts of the event have it. A row without a key says how many texts there are.
///
/// # Errors
/// Never in practice: all columns have one length. The error type is Arrow's.
pub fn survey<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> Result<RecordBatch, ArrowError> {
    let mut found = Found::default();
    let mut count = 0u32;
    let mut loose: Vec<(usize, usize)> = Vec::new();
    for text in texts.flatten() {
        count = count.saturating_add(1);
        let mut rank = 0;
        loose.clear();
        pieces(
            text,
            |_| false,
            |piece| match piece {
                Piece::Loose { span } => loose.push(span),
                Piece::Item { key, value, .. } => {
                    words(&mut found, text, &mut loose, &mut rank);
                    note(&mut found, key, false, rank, classify(&text[value.0..value.1]));
                    rank += 1;
                }
            },
        );
        words(&mut found, text, &mut loose, &mut rank);
    }
    let mut rows: Vec<_> = found.into_iter().collect();
    rows.sort_unstable();
    let column = |name, kind| Field::new(name, kind, name == "key");
    let schema = Schema::new(vec![
        column("key", DataType::Utf8),
        column("word", DataType::Boolean),
        column("rank", DataType::UInt32),
        column("rows", DataType::UInt32),
        column("classes", DataType::UInt32),
    ]);
    let numbers = |first: u32, of: fn(&Seen) -> u32| -> ArrayRef {
        let others = rows.iter().map(|(_, seen)| of(seen));
        Arc::new(UInt32Array::from_iter_values(std::iter::once(first).chain(others)))
    };
    let keys = rows.iter().map(|((key, _), _)| Some(*key));
    let words = rows.iter().map(|((_, word), _)| Some(*word));
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(std::iter::once(None).chain(keys).collect::<StringArray>()),
        Arc::new(std::iter::once(Some(false)).chain(words).collect::<BooleanArray>()),
        numbers(0, |seen| seen.rank),
        numbers(count, |seen| seen.rows),
        numbers(0, |seen| seen.classes),
    ];
    RecordBatch::try_new(Arc::new(schema), arrays)
}

/// Notes the words of a run of loose pieces that may be keys: the first of each two.
fn words<'a>(
    found: &mut Found<'a>,
    text: &'a str,
    loose: &mut Vec<(usize, usize)>,
    rank: &mut u32,
) {
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    let spans = loose.as_slice();
    if spans.len().is_multiple_of(2) {
        // Twice the same word would be one column for two values.
        let keys: Vec<&str> = spans.iter().step_by(2).map(|&(a, b)| &text[a..b]).collect();
        if keys.len() <= MOST_WORDS && keys.iter().all(|key| is_word(key)) {
            for (at, key) in keys.iter().enumerate() {
                if !keys[..at].contains(key) {
                    note(found, key, true, *rank, class::TEXT);
                }
                *rank += 1;
            }
        }
    }
    loose.clear();
}

/// How many words side by side may be keys.
const MOST_WORDS: usize = 16;

/// Finds the column of a key, where keys mostly come in the order of the columns.
#[derive(Debug)]
pub(crate) struct Keys {
    keys: Vec<(String, usize)>,
}

impl Keys {
    /// Keys and their columns; the first of equal keys counts.
    pub(crate) fn new(keys: impl Iterator<Item = (String, usize)>) -> Self {
        Self { keys: keys.collect() }
    }

    /// The column of `key`; `hint` is where to look first, and becomes where to look next.
    #[inline]
    pub(crate) fn column(&self, key: &str, hint: &mut usize) -> Option<usize> {
        if let Some((found, column)) = self.keys.get(*hint)
            && found == key
        {
            *hint += 1;
            return Some(*column);
        }
        let at = self.keys.iter().position(|(found, _)| found == key)?;
        *hint = at + 1;
        Some(self.keys[at].1)
    }

    /// Whether there is such a key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|(found, _)| found == key)
    }
}

/// The range of each column's value in the text of a row, and the text that is left over.
#[derive(Debug, Default)]
pub(crate) struct Leftovers {
    taken: Vec<(usize, usize)>,
    left: Vec<(usize, usize)>,
    /// What is left, in one piece.
    pub text: String,
}

impl Leftovers {
    /// Reads `text` by keys: `convert` gives the value of a column, or says that the text of an
    /// item is not a value. The last of two items with one key counts: a name before it may hold
    /// anything.
    pub(crate) fn read(
        &mut self,
        text: &str,
        keys: &Keys,
        known: bool,
        row: &mut Row,
        mut convert: impl FnMut(usize, (usize, usize), &mut String) -> Option<Slot>,
    ) {
        self.taken.clear();
        self.taken.resize(row.slots.len(), (0, 0));
        self.left.clear();
        let mut hint = 0;
        pieces(
            text,
            |word| known && keys.has(word),
            |piece| {
                let (key, value, span) = match piece {
                    Piece::Loose { span } => return self.left.push(span),
                    Piece::Item { key, value, span } => (key, value, span),
                };
                let slot = keys
                    .column(key, &mut hint)
                    .and_then(|column| Some((column, convert(column, value, &mut row.made)?)));
                let Some((column, slot)) = slot else { return self.left.push(span) };
                if row.slots[column] != Slot::Null {
                    self.left.push(self.taken[column]);
                }
                row.slots[column] = slot;
                self.taken[column] = span;
            },
        );
        self.left.sort_unstable();
        self.text.clear();
        for &(start, end) in &self.left {
            if !self.text.is_empty() {
                self.text.push(' ');
            }
            self.text.push_str(&text[start..end]);
        }
    }

    /// What is left, if anything.
    pub(crate) fn rest(&self) -> Option<&str> {
        (!self.text.is_empty()).then_some(self.text.as_str())
    }
}

/// Reads a value of an unknown event.
pub(crate) fn convert(
    kinds: &[ValueKind],
    text: &str,
    column: usize,
    value: (usize, usize),
) -> Option<Slot> {
    kinds.get(column)?.read(text, value)
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::UInt32Type;

    use super::*;

    fn kind(texts: &[&str]) -> ValueKind {
        ValueKind::from_classes(texts.iter().fold(0, |classes, text| classes | classify(text)))
    }

    #[test]
    fn a_column_holds_all_its_texts_exactly() {
        for (texts, expected) in [
            (&["1", "-2", "003"][..], ValueKind::Signed),
            (&["1", "18446744073709551615"], ValueKind::Unsigned),
            (&["-1", "18446744073709551615"], ValueKind::Text),
            (&["0x1", "2"], ValueKind::Unsigned),
            (&["0x1", "-2"], ValueKind::Text),
            (&["0xffffffff (-1)", "0x1 (1)"], ValueKind::Signed),
            (&["1", "1.5"], ValueKind::Float),
            (&["9007199254740993", "1.5"], ValueKind::Text),
            (&["1.12345678901234567"], ValueKind::Text),
            (&["000000008b0e061d", "0000000000000000"], ValueKind::Pointer),
            (&["000000008b0e061d", "1234567890123456"], ValueKind::Pointer),
            (&["1234567890123456", "5"], ValueKind::Signed),
            (&["000000008b0e061d", "5"], ValueKind::Text),
            (&["8b0e", "5"], ValueKind::Text),
            (&["", "5"], ValueKind::Signed),
            (&["(fault)", "0x5"], ValueKind::Unsigned),
            (&[""], ValueKind::Text),
            (&["A|B"], ValueKind::Text),
        ] {
            assert_eq!(kind(texts), expected, "{texts:?}");
        }
    }

    #[test]
    fn every_kind_reads_what_it_was_chosen_for() {
        let texts = [
            "1",
            "-2",
            "003",
            "18446744073709551615",
            "0x1",
            "0xffffffff (-1)",
            "1.5",
            "abc",
            "000000008b0e061d",
            "1234567890123456",
            "9007199254740993",
            "-9223372036854775808",
        ];
        for a in texts {
            for b in texts {
                let kind = kind(&[a, b]);
                for text in [a, b] {
                    assert!(kind.read(text, (0, text.len())).is_some(), "{a} {b}: {kind:?} {text}");
                }
            }
        }
    }

    #[test]
    fn keys_are_counted() {
        let texts = [Some("b=1 a=x, flags A caller f"), None, Some("a=y c=0x1"), Some("")];
        let table = survey(texts.into_iter()).expect("columns of one length");
        let keys: Vec<_> = table.column(0).as_string::<i32>().iter().collect();
        let expected = [None, Some("a"), Some("b"), Some("c"), Some("caller"), Some("flags")];
        assert_eq!(keys, expected);
        let words: Vec<_> = table.column(1).as_boolean().iter().flatten().collect();
        assert_eq!(words, [false, false, false, false, true, true]);
        let numbers = |n: usize| table.column(n).as_primitive::<UInt32Type>().values().to_vec();
        assert_eq!(numbers(2), [0, 0, 0, 1, 3, 2]);
        assert_eq!(numbers(3), [3, 2, 1, 1, 1, 1]);
    }
}
