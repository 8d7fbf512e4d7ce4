//! The arguments of a system call as the kernel prints them, and their numbers.
//!
//! `fd: 3, buf: 0x7ffc…, count: 0x340`; before Linux 6.18 the same without `0x`. Since 6.19 data
//! that pointers lead to follow them: `filename: 0x7f… "path"`, `buf: 0x… (2f:74, ...) "/t"...`;
//! quotes in the data are not escaped. `sys_enter` of `raw_syscalls` prints values alone. The
//! option `fields` prints `__syscall_nr=0x1 (1) fd=0x3 (3) …`, trace-cmd's `-R` the same without
//! the values in brackets; there a value without `0x` is decimal, and data follow the arguments:
//! `__filename_val=path`.

use memchr::memchr;

/// Most arguments of a system call.
pub(crate) const MAX_ARGS: usize = 6;

/// Bytes that may end an argument or a name, or start data.
static MARKS: [bool; 256] = {
    let mut marks = [false; 256];
    let mut at = 0;
    while at < 4 {
        marks[b",:(\""[at] as usize] = true;
        at += 1;
    }
    marks
};

/// Arguments in the text of a block, or elsewhere.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArgumentText<'a> {
    /// The text up to their end.
    text: &'a [u8],
    /// Where they start.
    from: usize,
    /// The bytes that may separate them, a bit for each byte, as [`crate::text::scan::lines`] found
    /// it in the text; empty: not known.
    separators: &'a [u64],
}

impl<'a> ArgumentText<'a> {
    /// Those at `from..to` of a block's text.
    #[inline]
    pub(crate) fn within(
        text: &'a [u8],
        (from, to): (usize, usize),
        separators: &'a [u64],
    ) -> Self {
        Self { text: &text[..to], from, separators }
    }

    /// `text` is the arguments.
    #[inline]
    pub(crate) fn alone(text: &'a [u8]) -> Self {
        Self { text, from: 0, separators: &[] }
    }

    /// Their text.
    #[inline]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        &self.text[self.from..]
    }

    /// Where they start.
    #[inline]
    pub(crate) fn from(&self) -> usize {
        self.from
    }

    /// As [`SplitArguments::new`].
    #[inline]
    pub(crate) fn split(&self, upto: usize, data: bool) -> SplitArguments {
        let mut split = SplitArguments::default();
        self.split_into(&mut split, upto, data);
        split
    }

    /// The same, into an existing `split`.
    #[inline]
    pub(crate) fn split_into(&self, split: &mut SplitArguments, upto: usize, data: bool) {
        if self.plain(split, upto).is_none() {
            *split = SplitArguments::new(self.bytes(), upto, data);
        }
    }

    /// The same, for text without data and fields.
    fn plain(&self, split: &mut SplitArguments, upto: usize) -> Option<()> {
        let Self { text, from, separators } = *self;
        let to = text.len();
        match text.get(from) {
            Some(b'_') => return None,
            Some(b'i') if text[from..].starts_with(b"id=") => return None,
            _ => {}
        }
        // The other elements of the array are not read.
        (split.len, split.form) = (0, ArgumentForm::Named);
        let (mut start, mut value) = (from, from);
        let mut word = from / 64;
        let mut bits = separators.get(word)? & u64::MAX << (from % 64);
        loop {
            while bits == 0 {
                word += 1;
                // The marks end with the text.
                bits = if 64 * word < to { *separators.get(word)? } else { 1 };
            }
            let at = 64 * word + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            if at >= to {
                break;
            }
            match (text[at], text.get(at + 1)) {
                (b',', Some(b' ')) => {
                    split.push(from, start, value, at);
                    if split.len == MAX_ARGS || split.len > upto {
                        return Some(());
                    }
                    start = at + 2;
                    value = start;
                }
                // Names have no colons.
                (b':', Some(b' ')) if value == start => value = at + 2,
                (b',' | b':', _) => {}
                _ => return None,
            }
        }
        if start < to {
            split.push(from, start, value, to);
        }
        Some(())
    }
}

/// The start of the text of a call that is printed as fields.
const NUMBER_FIELD: &[u8] = b"__syscall_nr=";

/// The range of each argument's value in the text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SplitArguments {
    at: [(u32, u32); MAX_ARGS],
    len: usize,
    form: ArgumentForm,
}

/// How arguments are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgumentForm {
    /// With their names: `fd: 3, …`.
    Named,
    /// Registers: `3, 7ffc, …`.
    Raw,
    /// As fields of the event: `fd=0x3 (3) …`.
    Fields,
}

impl Default for SplitArguments {
    fn default() -> Self {
        Self { at: [(0, 0); MAX_ARGS], len: 0, form: ArgumentForm::Named }
    }
}

impl SplitArguments {
    /// The arguments up to number `upto`. With `data`, a string may hold any data and ends at the
    /// last place where it can end; otherwise it is a path and ends at the first.
    #[inline]
    pub(crate) fn new(text: &[u8], upto: usize, data: bool) -> Self {
        let mut split = Self::default();
        match text.first() {
            Some(b'_') if text.starts_with(NUMBER_FIELD) => {
                split.form = ArgumentForm::Fields;
                split.fields(NUMBER_FIELD.len(), text, upto);
                return split;
            }
            // A call by number as fields: its arguments are one, and not printed.
            Some(b'i') if text.starts_with(b"id=") => return split,
            _ => {}
        }
        let mut start = 0;
        while split.len < MAX_ARGS && split.len <= upto && start < text.len() {
            // Most pieces have no quote and no bracket; then the comma ends them.
            let mut colon = None;
            let mut at = start;
            let end = loop {
                // Most bytes are not marks.
                at += text[at..].iter().take_while(|&&b| !MARKS[usize::from(b)]).count();
                match text.get(at) {
                    None => break at,
                    Some(b',') if text.get(at + 1) == Some(&b' ') => break at,
                    Some(b':') if colon.is_none() && text.get(at + 1) == Some(&b' ') => {
                        colon = Some(at + 2);
                        at += 2;
                    }
                    Some(b'(') => at = memchr(b')', &text[at..]).map_or(text.len(), |n| at + n + 1),
                    Some(b'"') => at = string_end(text, at, data),
                    Some(_) => at += 1,
                }
            };
            if colon.is_none() {
                split.form = ArgumentForm::Raw;
            }
            split.at[split.len] = (colon.unwrap_or(start) as u32, end as u32);
            split.len += 1;
            start = end + 2;
        }
        split
    }

    /// The next argument starts at `start`, its value is at `value..end`; the first one starts at
    /// `from`.
    #[inline(always)]
    fn push(&mut self, from: usize, start: usize, value: usize, end: usize) {
        if value == start {
            self.form = ArgumentForm::Raw;
        }
        self.at[self.len] = ((value - from) as u32, (end - from) as u32);
        self.len += 1;
    }

    /// `KEY=VALUE` after `KEY=VALUE`, following the number of the call.
    fn fields(&mut self, from: usize, text: &[u8], upto: usize) {
        let mut start = from;
        while self.len < MAX_ARGS && self.len <= upto {
            let Some(equal) = memchr(b'=', &text[start..]).map(|n| start + n + 1) else { return };
            let next = memchr(b'=', &text[equal..]).map_or(text.len(), |n| {
                // The key before the next `=` is one word.
                let key = text[equal..equal + n].iter().rev().take_while(|&&b| b != b' ').count();
                (equal + n).saturating_sub(key + 1).max(equal)
            });
            self.at[self.len] = (equal as u32, next as u32);
            self.len += 1;
            start = next;
        }
    }

    /// The value at this position.
    #[inline]
    pub(crate) fn get<'a>(&self, text: &'a [u8], position: u8) -> Option<&'a [u8]> {
        self.range(position).and_then(|(start, end)| text.get(start..end))
    }

    /// The range of the value at this position.
    #[inline]
    pub(crate) fn range(&self, position: u8) -> Option<(usize, usize)> {
        let position = usize::from(position);
        let (start, end) = *self.at.get(position).filter(|_| position < self.len)?;
        Some((start as usize, end as usize))
    }

    /// The number at this position.
    #[inline(always)]
    pub(crate) fn number(&self, text: &[u8], position: u8) -> Option<i64> {
        if usize::from(position) < self.len { self.known_number(text, position) } else { None }
    }

    fn known_number(&self, text: &[u8], position: u8) -> Option<i64> {
        let (start, end) = *self.at.get(usize::from(position))?;
        let value = text.get(start as usize..end as usize)?;
        if self.form == ArgumentForm::Fields && !value.starts_with(b"0x") {
            return signed(value);
        }
        number(value)
    }

    /// How many arguments were found.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// How they are printed.
    pub(crate) fn form(&self) -> ArgumentForm {
        self.form
    }

    /// The data that the pointer at this position leads to, if they are printed after the
    /// arguments.
    #[cold]
    pub(crate) fn data(&self, text: &[u8], position: u8) -> Option<(usize, usize)> {
        if self.form != ArgumentForm::Fields {
            return None;
        }
        let (value, _) = self.range(position)?;
        let before = text.get(..value)?.strip_suffix(b"=")?;
        let key = &before[memchr::memrchr(b' ', before)? + 1..];
        let mut found = None;
        for at in memchr::memmem::find_iter(text, b"_val=") {
            let Some(start) = memchr::memrchr(b' ', &text[..at]) else { continue };
            let Some(name) = text[start + 1..at].strip_prefix(b"__") else { continue };
            if let Some(from) = found {
                return Some((from, start));
            }
            if name == key {
                found = Some(at + 5);
            }
        }
        found.map(|from| (from, text.len()))
    }
}

/// The end of the string that starts with the quote at `at`: after a quote, or `"...`, with an
/// argument or the end of the text next.
#[cold]
fn string_end(text: &[u8], at: usize, data: bool) -> usize {
    // With the option `verbose`, types precede the names: `const char * filename: 0x7f…`.
    let typed = memchr(b':', text).is_some_and(|colon| text[..colon].contains(&b' '));
    let mut ends = memchr::memchr_iter(b'"', text.get(at + 1..).unwrap_or_default())
        .map(|n| {
            let end = at + n + 2;
            if text[end..].starts_with(b"...") { end + 3 } else { end }
        })
        .filter(|&end| begins_argument(&text[end..], typed));
    let end = if data { ends.next_back() } else { ends.next() };
    end.unwrap_or(text.len())
}

/// Nothing, or `, NAME: `.
fn begins_argument(text: &[u8], typed: bool) -> bool {
    let Some(name) = text.strip_prefix(b", ") else { return text.is_empty() };
    let is_part =
        |b: u8| b.is_ascii_alphanumeric() || b == b'_' || typed && matches!(b, b' ' | b'*');
    let n = name.iter().take_while(|&&b| is_part(b)).count();
    n > 0 && name[n..].starts_with(b": ")
}

/// A value: hexadecimal with or without `0x`, because values below ten read the same
/// either way. More than 16 digits can only be decimal: descriptors of `openat` since Linux 6.19.
#[inline]
pub(crate) fn number(value: &[u8]) -> Option<i64> {
    let digits = value.strip_prefix(b"0x").unwrap_or(value);
    if digits.len() >= 8 {
        return long_number(digits, value);
    }
    let mut number = 0;
    for (n, &byte) in digits.iter().enumerate() {
        let Some(digit) = hexadecimal(byte) else {
            return (n > 0 && byte == b' ').then_some(number as i64);
        };
        number = number << 4 | digit;
    }
    (!digits.is_empty()).then_some(number as i64)
}

/// The same of eight bytes and more: addresses, and what is negative.
#[inline(never)]
fn long_number(digits: &[u8], value: &[u8]) -> Option<i64> {
    let mut number = 0u64;
    let mut n = 0;
    let mut rest = digits;
    while let Some((eight, others)) = rest.split_first_chunk() {
        let (value, count) = eight_hexadecimal(*eight);
        number = number << (4 * count) | value;
        n += count;
        rest = if count == 8 { others } else { &[] };
    }
    let more = rest.iter().map_while(|&byte| hexadecimal(byte));
    for digit in more {
        number = number << 4 | digit;
        n += 1;
    }
    let whole = n > 0 && matches!(digits.get(n), None | Some(b' '));
    if n > 16 {
        return if whole { decimal(value) } else { None };
    }
    whole.then_some(number as i64)
}

/// The hexadecimal digits at the start of eight bytes: their value and how many there are.
#[inline]
fn eight_hexadecimal(eight: [u8; 8]) -> (u64, usize) {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let word = u64::from_le_bytes(eight);
    // The high bit of every byte that is not a digit, and of every byte that is not `a` to `f`.
    // Only a byte that is neither carries, and it carries only into later bytes.
    let digit = word ^ 0x3030_3030_3030_3030;
    let digits = digit.wrapping_add(0x7676_7676_7676_7676) | digit;
    let letter = word ^ 0x6060_6060_6060_6060;
    let letters = letter.wrapping_add(0x7979_7979_7979_7979)
        | !letter.wrapping_add(0x7f7f_7f7f_7f7f_7f7f)
        | letter;
    let n = (digits & letters & HIGH).trailing_zeros() as usize / 8;
    if n == 0 {
        return (0, 0);
    }
    let nibbles = (word & 0x0f0f_0f0f_0f0f_0f0f)
        .wrapping_add((word >> 6 & 0x0101_0101_0101_0101).wrapping_mul(9))
        << (64 - 8 * n);
    let pairs = (nibbles << 4 | nibbles >> 8) & 0x00ff_00ff_00ff_00ff;
    let quads = (pairs << 8 | pairs >> 16) & 0x0000_ffff_0000_ffff;
    ((quads << 16 | quads >> 32) & 0xffff_ffff, n)
}

/// The value of a digit.
#[inline]
pub(crate) fn hexadecimal(byte: u8) -> Option<u64> {
    let digit = DIGITS[usize::from(byte)];
    (digit < 16).then_some(u64::from(digit))
}

/// Values of digits; 16: not a digit.
static DIGITS: [u8; 256] = {
    let mut digits = [16; 256];
    let mut n = 0;
    while n < 16 {
        digits[b"0123456789abcdef"[n] as usize] = n as u8;
        n += 1;
    }
    digits
};

/// A decimal value up to 2⁶⁴−1, as a register holds it.
pub(crate) fn decimal(value: &[u8]) -> Option<i64> {
    let end = memchr(b' ', value).unwrap_or(value.len());
    std::str::from_utf8(&value[..end]).ok()?.parse::<u64>().ok().map(|n| n as i64)
}

/// What an exit says: `0x…` as a register holds it, or a signed decimal number.
#[inline]
pub(crate) fn result(text: &[u8]) -> Option<i64> {
    let fields = if text.first() == Some(&b'_') { text.strip_prefix(NUMBER_FIELD) } else { None };
    let value = match fields {
        Some(fields) => &fields[memchr::memmem::find(fields, b" ret=")? + 5..],
        None => text,
    };
    if value.starts_with(b"0x") {
        return number(value).filter(|_| value.len() > 2);
    }
    signed(value)
}

/// A decimal value with a sign.
fn signed(value: &[u8]) -> Option<i64> {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    let magnitude = decimal(digits)?;
    Some(if digits.len() < value.len() { magnitude.wrapping_neg() } else { magnitude })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::block::Block;
    use crate::text::scan::{Marks, lines};

    proptest! {
        /// The marks of the structure pass and a search byte by byte give the same result.
        #[test]
        fn both_ways_of_splitting_agree(
            before in "[a-z:, (]{0,70}",
            args in prop_oneof![
                "([a-z_]{1,9}: (0x)?[0-9a-f]{1,16}(, )?){0,8}",
                "([a-z_]{0,3}[:,]{0,2} ?[0-9a-f|]{0,3}[(\")]?){0,12}",
                "([0-9a-f]{1,12}, ?){0,8}",
                "(__syscall_nr=|id=|i|_)[a-f0-9=:, ]{0,30}",
            ],
            after in "[)] ?[,:(\"]?.{0,70}",
            upto in 0usize..8,
            data in any::<bool>(),
        ) {
            let block = Block::from_text(format!("{before}{args}{after}").as_bytes());
            let mut marks = Marks::default();
            lines(block.padded(), block.len(), &mut marks);
            let span = (before.len(), before.len() + args.len());
            let within = ArgumentText::within(block.text(), span, &marks.separators);
            let expected = SplitArguments::new(args.as_bytes(), upto, data);
            for split in [within.split(upto, data), ArgumentText::alone(args.as_bytes()).split(upto, data)] {
                prop_assert_eq!((split.len, split.form), (expected.len, expected.form));
                prop_assert_eq!(&split.at[..split.len], &expected.at[..split.len]);
            }
        }

        #[test]
        fn numbers_are_read_as_digit_by_digit(
            text in prop_oneof!["(0x)?[0-9a-f]{0,20}[ g:`@/]?[0-9a-f]{0,9}", "(0x)?.{0,20}"],
            bytes in any::<[u8; 8]>(),
            digits in 0usize..9,
        ) {
            let plain = text.strip_prefix("0x").unwrap_or(&text);
            let n = plain.bytes().take_while(|&b| hexadecimal(b).is_some()).count();
            let whole = n > 0 && (n == plain.len() || plain.as_bytes()[n] == b' ');
            let expected = match n {
                _ if !whole => None,
                0..=16 => u64::from_str_radix(&plain[..n], 16).ok().map(|number| number as i64),
                _ => decimal(text.as_bytes()),
            };
            prop_assert_eq!(number(text.as_bytes()), expected);
            let mut eight = *b"9af05c7e";
            eight[digits..].copy_from_slice(&bytes[digits..]);
            let n = eight.iter().take_while(|&&b| hexadecimal(b).is_some()).count();
            let value = eight[..n].iter().fold(0, |v, &b| v << 4 | hexadecimal(b).unwrap_or(0));
            prop_assert_eq!(eight_hexadecimal(eight), (value, n));
        }
    }

    fn values(text: &str, data: bool) -> Vec<&str> {
        let split = SplitArguments::new(text.as_bytes(), MAX_ARGS, data);
        (0..split.len as u8)
            .map(|i| split.range(i).map(|(start, end)| &text[start..end]).expect("within"))
            .collect()
    }

    #[test]
    fn three_generations() {
        let expected = ["3", "7ffc0", "340"];
        assert_eq!(values("fd: 3, buf: 7ffc0, count: 340", true), expected);
        assert_eq!(values("3, 7ffc0, 340", true), expected);
        assert_eq!(
            values("unsigned int fd: 3, char * buf: 7ffc0, size_t count: 340", true),
            expected
        );
        assert_eq!(
            values(
                "dfd: 18446744073709551516, filename: 1407 \"/a\", flags: O_RDONLY|O_CLOEXEC",
                false
            ),
            ["18446744073709551516", "1407 \"/a\"", "O_RDONLY|O_CLOEXEC"]
        );
        assert_eq!(
            values("fd: 1, buf: 0x7f (2f:74:6d, ...) \"/tm\"..., count: 0x10", true),
            ["1", "0x7f (2f:74:6d, ...) \"/tm\"...", "0x10"]
        );
        assert_eq!(values("", false), [""; 0]);
    }

    #[test]
    fn strings_hold_anything() {
        assert_eq!(
            values("filename: 0x7f \"a, b: \"c\" d\", mode: 1", false),
            ["0x7f \"a, b: \"c\" d\"", "1"]
        );
        // Data may look like the next argument, but the length is the last argument.
        assert_eq!(
            values("fd: 1, buf: 0x7f (22) \"x\", count: 0x9\", count: 0x2", true),
            ["1", "0x7f (22) \"x\", count: 0x9\"", "0x2"]
        );
        assert_eq!(
            values("oldname: 0x1 \"/a\", newname: 0x2 \"/b\"", false),
            ["0x1 \"/a\"", "0x2 \"/b\""]
        );
        assert_eq!(values("filename: 0x7f \"cut", false), ["0x7f \"cut"]);
    }

    #[test]
    fn fields_of_the_event() {
        assert_eq!(
            values("__syscall_nr=0x11 (17) fd=0x3 (3) buf=(0xffff8881) count=0x310 (784)", false),
            ["0x3 (3)", "(0xffff8881)", "0x310 (784)"]
        );
        assert_eq!(
            values("__syscall_nr=33 oldfd=0x0000000b newfd=0x1", false),
            ["0x0000000b", "0x1"]
        );
        assert_eq!(values("__syscall_nr=33", false), [""; 0]);
        let split = SplitArguments::new(b"__syscall_nr=0x11 (17) fd=0x3 (3)", 6, false);
        assert_eq!(split.number(b"__syscall_nr=0x11 (17) fd=0x3 (3)", 0), Some(3));
    }

    #[test]
    fn calls_by_number_as_fields_have_no_arguments() {
        assert_eq!(values("id=33 args=ARRAY[0b, 00, 01]", true), [""; 0]);
        assert_eq!(result(b"0xfffffffffffffffe (-2)"), Some(-2));
    }

    #[test]
    fn numbers() {
        assert_eq!(number(b"0xffffffffffffffff"), Some(-1));
        assert_eq!(number(b"0xffffff9c"), Some(0xffff_ff9c));
        assert_eq!(number(b"0x"), None);
        assert_eq!(number(b"99999999999999999999999"), None);
        assert_eq!(number(b"0644"), Some(0x644));
        assert_eq!(result(b"0x"), None);
        assert_eq!(result(b"5"), Some(5));
        assert_eq!(result(b"5x"), None);
        assert_eq!(result(b"0xfffffffffffffe00"), Some(-512));
    }

    #[test]
    fn example_of_number() {
        use crate::ftrace::call::arguments::number;
        assert_eq!(number(b"0x340"), Some(0x340));
        assert_eq!(number(b"ff"), Some(255));
        assert_eq!(number(b"18446744073709551516"), Some(-100));
        assert_eq!(number(b"O_RDONLY|O_CLOEXEC"), None);
    }

    #[test]
    fn example_of_result() {
        use crate::ftrace::call::arguments::result;
        assert_eq!(result(b"0xfffffffffffffffe"), Some(-2));
        assert_eq!(result(b"-2"), Some(-2));
        assert_eq!(result(b"__syscall_nr=0x3 (3) ret=0x0 (0)"), Some(0));
        assert_eq!(result(b""), None);
    }
}
