//! Smallest and largest values, which let readers skip pages and row groups.

use std::cmp::Ordering;

use multiversion::multiversion;
use parquet::basic::{BoundaryOrder, Type};

use crate::sink::parquet::encoding::delta::Width;

/// Bytes of a text that statistics keep. A bound stays a bound when it is cut.
const KEPT: usize = 64;

/// How the values of a column compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Integers with a sign, of this width.
    Signed(Width),
    /// Integers without one: by the bits of the sign-extended value.
    Unsigned(Width),
    /// Texts, by bytes.
    Text,
}

impl Order {
    /// The type in the file.
    pub(crate) fn physical(self) -> Type {
        match self {
            Self::Signed(Width::W32) | Self::Unsigned(Width::W32) => Type::INT32,
            Self::Signed(Width::W64) | Self::Unsigned(Width::W64) => Type::INT64,
            Self::Text => Type::BYTE_ARRAY,
        }
    }

    /// Smallest and largest of some integers.
    pub(crate) fn range(self, values: &[i64]) -> Option<Range> {
        let (min, max) = if matches!(self, Self::Signed(_)) {
            bounds(values, |v| v)?
        } else {
            let (min, max) = bounds(values, |v| v as u64)?;
            (min as i64, max as i64)
        };
        Some(Range { min: Value::Integer(min), max: Value::Integer(max) })
    }

    fn compare(self, a: &Value, b: &Value) -> Ordering {
        match (a, b) {
            (Value::Integer(a), Value::Integer(b)) if matches!(self, Self::Signed(_)) => a.cmp(b),
            (Value::Integer(a), Value::Integer(b)) => (*a as u64).cmp(&(*b as u64)),
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            // A column never holds both.
            (Value::Integer(_), Value::Text(_)) => Ordering::Less,
            (Value::Text(_), Value::Integer(_)) => Ordering::Greater,
        }
    }
}

/// The smallest and the largest of some integers, as `convert` gives them.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2"))]
pub(crate) fn bounds<T: Copy, U: Copy + Ord>(
    values: &[T],
    convert: impl Fn(T) -> U,
) -> Option<(U, U)> {
    let first = convert(*values.first()?);
    let (mut min, mut max) = (first, first);
    // Not `fold`, which is not always inlined, and then compiled for any processor.
    for &value in values {
        let value = convert(value);
        min = if value < min { value } else { min };
        max = if value > max { value } else { max };
    }
    Some((min, max))
}

/// A value of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// An integer, sign-extended from its width in the file.
    Integer(i64),
    /// A text, cut to the length of bounds.
    Text(Vec<u8>),
}

impl Value {
    /// The value as a plain page would hold it, a text without its length.
    fn to_bytes(&self, order: Order) -> Vec<u8> {
        match self {
            Self::Integer(v) if order.physical() == Type::INT32 => {
                (*v as i32).to_le_bytes().to_vec()
            }
            Self::Integer(v) => v.to_le_bytes().to_vec(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// Smallest and largest value of a page or a row group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Range {
    /// The smallest.
    pub min: Value,
    /// The largest.
    pub max: Value,
}

/// What the file says of a [`Range`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// No value is below it.
    pub min: Vec<u8>,
    /// It is the smallest value.
    pub min_is_exact: bool,
    /// No value is above it.
    pub max: Vec<u8>,
    /// It is the largest value.
    pub max_is_exact: bool,
}

impl Range {
    /// The range of texts. Only what bounds need is kept of them.
    pub(crate) fn of_texts(min: &[u8], max: &[u8]) -> Self {
        let prefix = |text: &[u8]| Value::Text(text[..text.len().min(KEPT + 1)].to_vec());
        let (min, max_prefix) = (prefix(min), prefix(max));
        // A few texts have no shorter upper bound.
        let alone = max.len() > KEPT && cut_max(&max_prefix).1;
        let max = if alone { Value::Text(max.to_vec()) } else { max_prefix };
        Self { min, max }
    }

    /// Both bounds as the file has them, texts cut.
    pub(crate) fn bounds(&self, order: Order) -> Bounds {
        let (min, min_is_exact) = cut_min(&self.min);
        let (max, max_is_exact) = cut_max(&self.max);
        let (min, max) = (min.to_bytes(order), max.to_bytes(order));
        Bounds { min, min_is_exact, max, max_is_exact }
    }

    /// Widens this range so that it holds the other.
    pub(crate) fn extend(&mut self, other: &Self, order: Order) {
        if order.compare(&other.min, &self.min) == Ordering::Less {
            self.min = other.min.clone();
        }
        if order.compare(&other.max, &self.max) == Ordering::Greater {
            self.max = other.max.clone();
        }
    }
}

/// Whether the pages are sorted. Pages without values do not count.
pub(crate) fn boundary_order(pages: &[&Range], order: Order) -> BoundaryOrder {
    let in_order = |wrong: Ordering| {
        pages.windows(2).all(|pair| {
            order.compare(&pair[1].min, &pair[0].min) != wrong
                && order.compare(&pair[1].max, &pair[0].max) != wrong
        })
    };
    if in_order(Ordering::Less) {
        BoundaryOrder::ASCENDING
    } else if in_order(Ordering::Greater) {
        BoundaryOrder::DESCENDING
    } else {
        BoundaryOrder::UNORDERED
    }
}

/// A lower bound of at most [`KEPT`] bytes, and whether it is the value itself.
fn cut_min(value: &Value) -> (Value, bool) {
    match value {
        Value::Text(text) if text.len() > KEPT => (Value::Text(beginning(text).to_vec()), false),
        other => (other.clone(), true),
    }
}

/// An upper bound of at most [`KEPT`] bytes where there is one, and whether it is the value itself.
fn cut_max(value: &Value) -> (Value, bool) {
    let Value::Text(text) = value else { return (value.clone(), true) };
    if text.len() <= KEPT {
        return (value.clone(), true);
    }
    // With its last character replaced by the next one, a text is above all texts with this prefix.
    // UTF-8 sorts by bytes as by characters.
    let text = String::from_utf8_lossy(beginning(text));
    for (at, character) in text.char_indices().rev() {
        if let Some(next) = next_character(character) {
            let mut bound = text[..at].to_owned();
            bound.push(next);
            return (Value::Text(bound.into_bytes()), false);
        }
    }
    (value.clone(), true)
}

/// The first [`KEPT`] bytes or fewer, whole characters only.
fn beginning(text: &[u8]) -> &[u8] {
    let is_inside = |at: usize| text[at] & 0xc0 == 0x80;
    let end = (0..=KEPT).rev().find(|&at| !is_inside(at)).unwrap_or(0);
    &text[..end]
}

fn next_character(character: char) -> Option<char> {
    match character {
        // The surrogates are between them.
        '\u{d7ff}' => Some('\u{e000}'),
        other => char::from_u32(u32::from(other) + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.as_bytes().to_vec())
    }

    #[test]
    fn cut_bounds_hold_the_value() {
        let filler = |n: usize| "x".repeat(n);
        for long in [
            filler(65),
            filler(63) + "é and more",
            filler(62) + "\u{d7ff} and more",
            filler(60) + "\u{10ffff} and more",
            "\u{10ffff}".repeat(20),
        ] {
            let (min, exact) = cut_min(&text(&long));
            assert!(!exact);
            assert_eq!(Order::Text.compare(&min, &text(&long)), Ordering::Less);
            let (max, exact) = cut_max(&text(&long));
            assert_ne!(Order::Text.compare(&max, &text(&long)), Ordering::Less, "{long}");
            assert_eq!(exact, max == text(&long));
            let Value::Text(max) = max else { unreachable!() };
            assert!(String::from_utf8(max).is_ok());
        }
        assert_eq!(cut_min(&text("short")), (text("short"), true));
        assert_eq!(cut_max(&text("short")), (text("short"), true));
    }

    #[test]
    fn a_prefix_of_a_text_has_its_bounds() {
        let high = "\u{10ffff}".repeat(20);
        for long in ["x".repeat(70), "é".repeat(80), "x".repeat(62) + &high, high] {
            let whole = Range { min: text(&long), max: text(&long) };
            let prefix = Range::of_texts(long.as_bytes(), long.as_bytes());
            assert_eq!(prefix.bounds(Order::Text), whole.bounds(Order::Text), "{long}");
        }
        let short = Range::of_texts(b"a", b"b");
        assert_eq!(short, Range { min: text("a"), max: text("b") });
    }

    #[test]
    fn unsigned_values_compare_by_their_bits() {
        let order = Order::Unsigned(Width::W64);
        let range = order.range(&[-1, 0, 5]).unwrap();
        assert_eq!(range, Range { min: Value::Integer(0), max: Value::Integer(-1) });
        let order = Order::Signed(Width::W64);
        let range = order.range(&[-1, 0, 5]).unwrap();
        assert_eq!(range, Range { min: Value::Integer(-1), max: Value::Integer(5) });
        assert_eq!(order.range(&[]), None);
    }

    #[test]
    fn orders_of_pages() {
        let pages = |pairs: &[(i64, i64)]| -> Vec<Range> {
            pairs
                .iter()
                .map(|&(min, max)| Range { min: Value::Integer(min), max: Value::Integer(max) })
                .collect()
        };
        let order = Order::Signed(Width::W32);
        let of = |pairs| boundary_order(&pages(pairs).iter().collect::<Vec<_>>(), order);
        assert_eq!(of(&[]), BoundaryOrder::ASCENDING);
        assert_eq!(of(&[(1, 4), (2, 4)]), BoundaryOrder::ASCENDING);
        assert_eq!(of(&[(2, 5), (1, 5)]), BoundaryOrder::DESCENDING);
        assert_eq!(of(&[(2, 5), (1, 6)]), BoundaryOrder::UNORDERED);
    }
}
