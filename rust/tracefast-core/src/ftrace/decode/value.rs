//! One value in the text of an event: how it is printed, and what it is.

use std::fmt::Write;

use crate::text::number;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldType {
    /// Signed, 32 bits.
    I32,
    /// Unsigned, 32 bits.
    U32,
    /// Signed, 64 bits.
    I64,
    /// Unsigned, 64 bits.
    U64,
    /// Binary floating point, 64 bits.
    F64,
    /// True or false.
    Bool,
    /// Text.
    Text,
}

/// How the kernel prints a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Print {
    /// `-12`, `0xc`, `0xc (12)`.
    Integer,
    /// `c` or `0xc`.
    Hex,
    /// `0100644`.
    Octal,
    /// `1.5`.
    Float,
    /// `true`, `1`.
    Bool,
    /// `254,0`, `254:0`, or the number of both.
    Device,
    /// `R+`, or the number that the kernel has for it.
    State,
    /// `be,0,4`, `0x2,0,4`, or the number of all three.
    Ioprio,
    /// Anything without blanks.
    Word,
    /// Anything of at most 15 bytes: a command's name.
    Comm,
    /// What a number means: a place in the code, `f+0x1/0x2 [module]`, or flags, `A|B`. The
    /// option `fields` adds the number, or has nothing else.
    Symbol,
    /// Anything.
    Text,
}

impl Print {
    /// Whether the text alone does not say where the value ends.
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::Comm | Self::Symbol | Self::Text)
    }

    /// An open value from `start` to `end`.
    pub(crate) fn open(self, text: &[u8], start: usize, end: usize) -> Slot {
        let mut stop = end;
        if self == Self::Symbol
            && let Some(inner) = text.get(start..end)
            && let Some(at) = memchr::memrchr(b' ', inner)
            && both(text, start + at).is_some_and(|(_, after)| after == end)
        {
            stop = start + at;
        }
        Slot::Text(start, stop)
    }
}

/// A value that was read, in as few bytes as a row can be made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Slot {
    /// The text does not say.
    #[default]
    Null,
    /// A number's bits.
    Bits(u64),
    /// A piece of the text.
    Text(usize, usize),
    /// A piece of the text that was rewritten, such as `254:0`.
    Made(usize, usize),
}

/// An integer as text, which may be more than its column can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Integer {
    /// It has a sign.
    pub negative: bool,
    /// Its absolute value.
    pub magnitude: u64,
}

impl Integer {
    /// The bits of the number in a column of this type. The kernel prints some signed numbers as
    /// unsigned ones and vice versa, so only the bits count.
    pub(crate) fn bits(self, kind: FieldType) -> Option<u64> {
        let Self { negative, magnitude } = self;
        let signed = if negative { magnitude.wrapping_neg() } else { magnitude };
        let fits = match kind {
            FieldType::I32 | FieldType::U32 if negative => magnitude <= 1 << 31,
            FieldType::I32 | FieldType::U32 => u32::try_from(magnitude).is_ok(),
            FieldType::I64 | FieldType::U64 => !negative || magnitude <= 1 << 63,
            FieldType::Bool => magnitude <= 1 && !negative,
            FieldType::F64 | FieldType::Text => false,
        };
        fits.then_some(signed)
    }

    /// The same without a change of sign: exactly the number in the text.
    pub(crate) fn exact(self, kind: FieldType) -> Option<u64> {
        match kind {
            FieldType::I64 if !self.negative && self.magnitude > i64::MAX as u64 => None,
            FieldType::U64 if self.negative && self.magnitude > 0 => None,
            _ => self.bits(kind),
        }
    }
}

/// The integer at `at`, decimal or with `0x`, and its end. The option `fields` prints both,
/// `0xffffffff (-1)`: the decimal one has the sign. One byte it prints as `'a'(97)` or `(7)`.
#[inline]
pub(crate) fn integer(text: &[u8], at: usize) -> Option<(Integer, usize)> {
    match text.get(at..)? {
        [b'0', b'x', digits @ ..] => {
            let (magnitude, n) = hex(digits)?;
            let end = at + 2 + n;
            Some(both(text, end).unwrap_or((Integer { negative: false, magnitude }, end)))
        }
        [b'(', ..] => bracketed(text, at),
        [b'\'', _, b'\'', b'(', ..] => bracketed(text, at + 3),
        _ => decimal(text, at),
    }
}

/// `(-1)` at `at`.
fn bracketed(text: &[u8], at: usize) -> Option<(Integer, usize)> {
    let (integer, end) = decimal(text, at + 1)?;
    (text.get(end) == Some(&b')')).then_some((integer, end + 1))
}

#[inline]
fn decimal(text: &[u8], at: usize) -> Option<(Integer, usize)> {
    let rest = text.get(at..)?;
    let (negative, digits) = match rest {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let mut magnitude = 0u64;
    let mut n = 0;
    while let Some(digit) = digits.get(n).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
        // More digits than 64 bits can hold are not a number.
        magnitude = magnitude.checked_mul(10)?.checked_add(u64::from(digit))?;
        n += 1;
        if n > 20 {
            return None;
        }
    }
    (n > 0).then_some((Integer { negative, magnitude }, at + usize::from(negative) + n))
}

/// From 1 to 16 hexadecimal digits.
#[inline]
fn hex(text: &[u8]) -> Option<(u64, usize)> {
    let digits = text.get(..17).unwrap_or(text);
    let (value, n) = number::hex_digits(digits);
    (n > 0 && n <= 16).then_some((value, n))
}

/// ` (-1)` at `at`.
fn both(text: &[u8], at: usize) -> Option<(Integer, usize)> {
    let brackets = text.get(at..)?.starts_with(b" (");
    if brackets { bracketed(text, at + 1) } else { None }
}

/// The end of the `0x1 (1)` whose `0x1` ends at `at`; `at` itself where there is no more.
pub(crate) fn end_of_both(text: &[u8], at: usize) -> usize {
    both(text, at).map_or(at, |(_, end)| end)
}

/// Reads a value that ends where its text says, from `at` on; `stop` is the byte that follows a
/// word. Text that has to be rewritten is appended to `made`.
#[inline]
pub(crate) fn read(
    print: Print,
    kind: FieldType,
    text: &[u8],
    at: usize,
    stop: Option<u8>,
    made: &mut String,
) -> Option<(Slot, usize)> {
    match print {
        Print::Integer => {
            let (integer, end) = integer(text, at)?;
            Some((Slot::Bits(integer.bits(kind)?), end))
        }
        Print::Hex => {
            let rest = text.get(at..)?;
            if rest.starts_with(b"0x") || matches!(rest, [b'(' | b'\'', ..]) {
                return read(Print::Integer, kind, text, at, stop, made);
            }
            let (magnitude, n) = hex(rest)?;
            let integer = Integer { negative: false, magnitude };
            Some((Slot::Bits(integer.bits(kind)?), at + n))
        }
        Print::Octal => {
            let rest = text.get(at..)?;
            if rest.starts_with(b"0x") || matches!(rest, [b'(' | b'\'', ..]) {
                return read(Print::Integer, kind, text, at, stop, made);
            }
            let n = rest.iter().take(22).take_while(|b| (b'0'..=b'7').contains(b)).count();
            let magnitude = rest[..n]
                .iter()
                .try_fold(0u64, |value, b| Some(value.checked_mul(8)? | u64::from(b - b'0')))?;
            let integer = Integer { negative: false, magnitude };
            (n > 0).then_some((Slot::Bits(integer.bits(kind)?), at + n))
        }
        Print::Float => {
            let end = word(text, at, stop);
            let value = float(text.get(at..end)?)?;
            Some((Slot::Bits(value.to_bits()), end))
        }
        Print::Bool => {
            let rest = text.get(at..)?;
            if rest.starts_with(b"true") {
                return Some((Slot::Bits(1), at + 4));
            }
            if rest.starts_with(b"false") {
                return Some((Slot::Bits(0), at + 5));
            }
            let (integer, end) = integer(text, at)?;
            Some((Slot::Bits(integer.bits(FieldType::Bool)?), end))
        }
        Print::Device => device(text, at, made),
        Print::State => state(text, at, made),
        Print::Ioprio => ioprio(text, at, made),
        Print::Word => {
            let end = word(text, at, stop);
            (end > at).then_some((Slot::Text(at, end), end))
        }
        Print::Comm | Print::Symbol | Print::Text => None,
    }
}

fn word(text: &[u8], at: usize, stop: Option<u8>) -> usize {
    let mut end = at;
    while text.get(end).is_some_and(|&b| b != b' ' && Some(b) != stop) {
        end += 1;
    }
    end
}

/// A decimal fraction that a float represents without rounding to another one of as many digits.
pub(crate) fn float(text: &[u8]) -> Option<f64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let point = memchr::memchr(b'.', digits)?;
    let (whole, fraction) = (&digits[..point], &digits[point + 1..]);
    let all = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    if !all(whole) || !all(fraction) || digits.len() > 16 {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Appends to `made`, and gives what was appended.
fn make(made: &mut String, write: impl FnOnce(&mut String)) -> Slot {
    let start = made.len();
    write(made);
    Slot::Made(start, made.len())
}

/// `254,0`, `254:0`, `266338304`, as `254:0`.
fn device(text: &[u8], at: usize, made: &mut String) -> Option<(Slot, usize)> {
    let (first, end) = integer(text, at)?;
    if first.negative || first.magnitude > u64::from(u32::MAX) {
        return None;
    }
    if let Some(b',' | b':') = text.get(end)
        && let Some((second, end)) = decimal(text, end + 1)
        && !second.negative
    {
        let slot = make(made, |made| {
            let _ = write!(made, "{}:{}", first.magnitude, second.magnitude);
        });
        return Some((slot, end));
    }
    // The kernel's own number has 12 bits of major and 20 of minor.
    let slot = make(made, |made| {
        let _ = write!(made, "{}:{}", first.magnitude >> 20, first.magnitude & 0xf_ffff);
    });
    Some((slot, end))
}

/// Letters of states as kernels from 4.14 on number them; below 16, and 128, all kernels agree.
const STATES: [(u64, char); 8] = [
    (0x1, 'S'),
    (0x2, 'D'),
    (0x4, 'T'),
    (0x8, 't'),
    (0x10, 'X'),
    (0x20, 'Z'),
    (0x40, 'P'),
    (0x80, 'I'),
];

fn state(text: &[u8], at: usize, made: &mut String) -> Option<(Slot, usize)> {
    let Some((number, end)) = integer(text, at) else {
        let rest = text.get(at..)?;
        let letter = |b: &&u8| b.is_ascii_alphabetic() || matches!(b, b'|' | b'+');
        let n = rest.iter().take_while(letter).count();
        return (n > 0).then_some((Slot::Text(at, at + n), at + n));
    };
    if number.negative || number.magnitude > 0x1ff {
        return Some((Slot::Text(at, end), end));
    }
    let slot = make(made, |made| {
        let start = made.len();
        for (bit, letter) in STATES {
            if number.magnitude & bit != 0 {
                if made.len() > start {
                    made.push('|');
                }
                made.push(letter);
            }
        }
        if made.len() == start {
            made.push('R');
        }
        if number.magnitude & 0x100 != 0 {
            made.push('+');
        }
    });
    Some((slot, end))
}

/// Priority of a request: class, hint, level.
fn ioprio(text: &[u8], at: usize, made: &mut String) -> Option<(Slot, usize)> {
    let Some((number, end)) = integer(text, at) else {
        let rest = text.get(at..)?;
        let n = rest.iter().take_while(|b| b.is_ascii_lowercase()).count();
        let (_, end) = hint_and_level(text, at + n)?;
        return (n > 0).then_some((Slot::Text(at, end), end));
    };
    let number = if number.negative { return None } else { number.magnitude };
    let (class, (hint, level), end) = match hint_and_level(text, end) {
        Some((rest, end)) => (number, rest, end),
        None => (number >> 13, ((number >> 3) & 1023, number & 7), end),
    };
    let slot = make(made, |made| {
        match class {
            0 => made.push_str("none"),
            1 => made.push_str("rt"),
            2 => made.push_str("be"),
            3 => made.push_str("idle"),
            7 => made.push_str("invalid"),
            other => drop(write!(made, "{other}")),
        }
        let _ = write!(made, ",{hint},{level}");
    });
    Some((slot, end))
}

/// `,0,4` at `at`.
fn hint_and_level(text: &[u8], at: usize) -> Option<((u64, u64), usize)> {
    if text.get(at) != Some(&b',') {
        return None;
    }
    let (hint, at) = decimal(text, at + 1)?;
    if text.get(at) != Some(&b',') {
        return None;
    }
    let (level, end) = decimal(text, at + 1)?;
    (!hint.negative && !level.negative).then_some(((hint.magnitude, level.magnitude), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(print: Print, kind: FieldType, text: &str) -> Option<(String, usize)> {
        let mut made = String::new();
        let (slot, end) = read(print, kind, text.as_bytes(), 0, None, &mut made)?;
        let value = match slot {
            Slot::Null => "null".to_owned(),
            Slot::Bits(bits) if kind == FieldType::F64 => f64::from_bits(bits).to_string(),
            Slot::Bits(bits) => (bits as i64).to_string(),
            Slot::Text(start, end) => text[start..end].to_owned(),
            Slot::Made(start, end) => made[start..end].to_owned(),
        };
        Some((value, end))
    }

    fn whole(print: Print, kind: FieldType, of: &str) -> Option<String> {
        text(print, kind, of).filter(|(_, end)| *end == of.len()).map(|(value, _)| value)
    }

    #[test]
    fn integers_in_every_spelling() {
        let i32 = |of| whole(Print::Integer, FieldType::I32, of);
        assert_eq!(i32("120").as_deref(), Some("120"));
        assert_eq!(i32("001").as_deref(), Some("1"));
        assert_eq!(i32("-5").as_deref(), Some("-5"));
        assert_eq!(i32("0x78").as_deref(), Some("120"));
        assert_eq!(i32("0x78 (120)").as_deref(), Some("120"));
        assert_eq!(i32("0xfffffffffffffffb (-5)").as_deref(), Some("-5"));
        assert_eq!(i32("(7)").as_deref(), Some("7"));
        assert_eq!(i32("'a'(97)").as_deref(), Some("97"));
        assert_eq!(i32("' '(32)").as_deref(), Some("32"));
        assert_eq!(i32("(x)"), None);
        assert_eq!(i32("'a'"), None);
        assert_eq!(i32("4294967296"), None);
        assert_eq!(i32("-"), None);
        assert_eq!(i32(""), None);
        let u64 = |of| whole(Print::Integer, FieldType::U64, of);
        assert_eq!(u64("18446744073709551615").as_deref(), Some("-1"));
        assert_eq!(u64("18446744073709551616"), None);
        assert_eq!(u64("000000000000000000001"), None);
        assert_eq!(u64("0x10000000000000000"), None);
        assert_eq!(whole(Print::Hex, FieldType::U64, "fe00000").as_deref(), Some("266338304"));
        assert_eq!(
            whole(Print::Hex, FieldType::U64, "0x52db4 (339380)").as_deref(),
            Some("339380")
        );
        assert_eq!(whole(Print::Octal, FieldType::U32, "0100644").as_deref(), Some("33188"));
        assert_eq!(whole(Print::Octal, FieldType::U32, "0x81a4 (33188)").as_deref(), Some("33188"));
        // What follows is checked by the next literal.
        assert_eq!(text(Print::Integer, FieldType::I64, "7 (x)"), Some(("7".to_owned(), 1)));
        assert_eq!(text(Print::Integer, FieldType::I64, "0x7 (x)"), Some(("7".to_owned(), 3)));
    }

    #[test]
    fn numbers_that_are_not_the_same_are_not_exact() {
        let minus = Integer { negative: true, magnitude: 1 };
        assert_eq!(
            (minus.bits(FieldType::U64), minus.exact(FieldType::U64)),
            (Some(u64::MAX), None)
        );
        let large = Integer { negative: false, magnitude: u64::MAX };
        assert_eq!(
            (large.bits(FieldType::I64), large.exact(FieldType::I64)),
            (Some(u64::MAX), None)
        );
        assert_eq!(large.exact(FieldType::U64), Some(u64::MAX));
    }

    #[test]
    fn devices_states_priorities() {
        let device = |of| whole(Print::Device, FieldType::Text, of);
        assert_eq!(device("254,0").as_deref(), Some("254:0"));
        assert_eq!(device("254:0").as_deref(), Some("254:0"));
        assert_eq!(device("266338304").as_deref(), Some("254:0"));
        assert_eq!(device("0xfe00000 (266338304)").as_deref(), Some("254:0"));
        assert_eq!(device("8388625").as_deref(), Some("8:17"));
        assert_eq!(device("mmc"), None);
        let state = |of| whole(Print::State, FieldType::Text, of);
        for (of, letters) in [
            ("R+", "R+"),
            ("S", "S"),
            ("D|K", "D|K"),
            ("0", "R"),
            ("1", "S"),
            ("0x2 (2)", "D"),
            ("128", "I"),
            ("256", "R+"),
            ("3", "S|D"),
            ("4096", "4096"),
        ] {
            assert_eq!(state(of).as_deref(), Some(letters), "{of}");
        }
        let ioprio = |of| whole(Print::Ioprio, FieldType::Text, of);
        assert_eq!(ioprio("be,0,4").as_deref(), Some("be,0,4"));
        assert_eq!(ioprio("0x2,0,4").as_deref(), Some("be,0,4"));
        assert_eq!(ioprio("16388").as_deref(), Some("be,0,4"));
        assert_eq!(ioprio("0x4004 (16388)").as_deref(), Some("be,0,4"));
        assert_eq!(ioprio("0").as_deref(), Some("none,0,0"));
        assert_eq!(ioprio("4,1"), None);
    }

    #[test]
    fn the_address_of_a_symbol_is_no_part_of_it() {
        let symbol = |of: &str| match Print::Symbol.open(of.as_bytes(), 0, of.len()) {
            Slot::Text(start, end) => of[start..end].to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(symbol("f+0x1/0x2 (-2122645833)"), "f+0x1/0x2");
        assert_eq!(symbol("f+0x1/0x2 [ext4]"), "f+0x1/0x2 [ext4]");
        assert_eq!(symbol("f+0x1/0x2 [ext4] (12)"), "f+0x1/0x2 [ext4]");
        assert_eq!(symbol("f (x)"), "f (x)");
        assert_eq!(symbol("(12)"), "(12)");
        assert_eq!(symbol(""), "");
    }

    #[test]
    fn truth_and_fractions() {
        assert_eq!(whole(Print::Bool, FieldType::Bool, "true").as_deref(), Some("1"));
        assert_eq!(whole(Print::Bool, FieldType::Bool, "0x0 (0)").as_deref(), Some("0"));
        assert_eq!(whole(Print::Bool, FieldType::Bool, "(1)").as_deref(), Some("1"));
        assert_eq!(whole(Print::Bool, FieldType::Bool, "2"), None);
        assert_eq!(whole(Print::Float, FieldType::F64, "128.5").as_deref(), Some("128.5"));
        // More digits than a float can distinguish.
        assert_eq!(whole(Print::Float, FieldType::F64, "1663687647.123456789"), None);
        assert_eq!(whole(Print::Float, FieldType::F64, "1e5"), None);
    }
}
