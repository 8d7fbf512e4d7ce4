//! The arguments of a system call as the kernel prints them, and their numbers.
//!
//! `fd: 3, buf: 0x7ffc…, count: 0x340`; before Linux 6.18 the same without `0x`. Since 6.19 data
//! that pointers lead to follow them: `filename: 0x7f… "path"`, `buf: 0x… (2f:74, ...) "/t"...`;
//! quotes in them are not escaped. `sys_enter` of `raw_syscalls` prints values alone. The option
//! `fields` prints `__syscall_nr=0x1 (1) fd=0x3 (3) …`, trace-cmd's `-R` the same without the
//! values in brackets; there a value without `0x` is decimal, and data stand behind the arguments:
//! `__filename_val=path`.

use memchr::memchr;

/// Most arguments of a system call.
pub const MAX_ARGS: usize = 6;

/// Bytes that may end an argument or a name, or begin data.
static MARKS: [bool; 256] = {
    let mut marks = [false; 256];
    let mut at = 0;
    while at < 4 {
        marks[b",:(\""[at] as usize] = true;
        at += 1;
    }
    marks
};

/// What begins the text of a call that is printed as fields.
const NUMBER_FIELD: &[u8] = b"__syscall_nr=";

/// Where the value of each argument stands in the text.
#[derive(Debug, Clone, Copy)]
pub struct Split {
    at: [(u32, u32); MAX_ARGS],
    len: usize,
    form: Form,
}

/// How arguments are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// With their names: `fd: 3, …`.
    Named,
    /// Registers: `3, 7ffc, …`.
    Raw,
    /// As fields of the event: `fd=0x3 (3) …`.
    Fields,
}

impl Default for Split {
    fn default() -> Self {
        Self { at: [(0, 0); MAX_ARGS], len: 0, form: Form::Named }
    }
}

impl Split {
    /// The arguments up to number `upto`. `data`: a string in them may be any data, and ends at the
    /// last place where one can end; otherwise a string is a path and ends at the first.
    #[inline]
    pub fn new(text: &[u8], upto: usize, data: bool) -> Self {
        let mut split = Self::default();
        match text.first() {
            Some(b'_') if text.starts_with(NUMBER_FIELD) => {
                split.form = Form::Fields;
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
                // Most bytes are none of the four.
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
                split.form = Form::Raw;
            }
            split.at[split.len] = (colon.unwrap_or(start) as u32, end as u32);
            split.len += 1;
            start = end + 2;
        }
        split
    }

    /// `KEY=VALUE` after `KEY=VALUE`, behind the number of the call.
    fn fields(&mut self, behind: usize, text: &[u8], upto: usize) {
        let mut start = behind;
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
    pub fn get<'a>(&self, text: &'a [u8], position: u8) -> Option<&'a [u8]> {
        self.range(position).and_then(|(start, end)| text.get(start..end))
    }

    /// Where the value at this position stands.
    #[inline]
    pub fn range(&self, position: u8) -> Option<(usize, usize)> {
        let position = usize::from(position);
        let (start, end) = *self.at.get(position).filter(|_| position < self.len)?;
        Some((start as usize, end as usize))
    }

    /// The number at this position.
    #[inline(always)]
    pub fn number(&self, text: &[u8], position: u8) -> Option<i64> {
        if usize::from(position) < self.len { self.known_number(text, position) } else { None }
    }

    fn known_number(&self, text: &[u8], position: u8) -> Option<i64> {
        let value = self.get(text, position)?;
        if self.form == Form::Fields && !value.starts_with(b"0x") {
            return signed(value);
        }
        number(value)
    }

    /// How many arguments were found.
    pub fn len(&self) -> usize {
        self.len
    }

    /// No arguments.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How they are printed.
    pub fn form(&self) -> Form {
        self.form
    }

    /// The data that the pointer at this position leads to, where they stand behind the arguments.
    #[cold]
    pub fn data(&self, text: &[u8], position: u8) -> Option<(usize, usize)> {
        if self.form != Form::Fields {
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

/// Behind the string that begins with the quote at `at`: behind a quote, or `"...`, with an
/// argument or the end of the text next.
#[cold]
fn string_end(text: &[u8], at: usize, data: bool) -> usize {
    // With the option `verbose`, types stand before the names: `const char * filename: 0x7f…`.
    let typed = memchr(b':', text).is_some_and(|colon| text[..colon].contains(&b' '));
    let mut ends = memchr::memchr_iter(b'"', text.get(at + 1..).unwrap_or_default())
        .map(|n| {
            let behind = at + n + 2;
            if text[behind..].starts_with(b"...") { behind + 3 } else { behind }
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

/// A value: hexadecimal whether or not `0x` stands before it, since values below ten read the same
/// either way. More than 16 digits can only be decimal: descriptors of `openat` since Linux 6.19.
///
/// # Examples
/// ```
/// use tracefast_core::ftrace::args::number;
/// assert_eq!(number(b"0x340"), Some(0x340));
/// assert_eq!(number(b"ff"), Some(255));
/// assert_eq!(number(b"18446744073709551516"), Some(-100));
/// assert_eq!(number(b"O_RDONLY|O_CLOEXEC"), None);
/// ```
#[inline]
pub fn number(value: &[u8]) -> Option<i64> {
    let digits = value.strip_prefix(b"0x").unwrap_or(value);
    let mut number = 0u64;
    let mut n = 0;
    while let Some(digit) = digits.get(n).and_then(|&b| hexadecimal(b)) {
        number = number << 4 | digit;
        n += 1;
    }
    let whole = n > 0 && matches!(digits.get(n), None | Some(b' '));
    if n > 16 {
        return if whole { decimal(value) } else { None };
    }
    whole.then_some(number as i64)
}

/// The value of a digit.
#[inline]
pub(super) fn hexadecimal(byte: u8) -> Option<u64> {
    match byte {
        b'0'..=b'9' => Some(u64::from(byte - b'0')),
        b'a'..=b'f' => Some(u64::from(byte - b'a' + 10)),
        _ => None,
    }
}

/// A decimal value up to 2⁶⁴−1, as a register holds it.
pub fn decimal(value: &[u8]) -> Option<i64> {
    let end = memchr(b' ', value).unwrap_or(value.len());
    std::str::from_utf8(&value[..end]).ok()?.parse::<u64>().ok().map(|n| n as i64)
}

/// What an exit says: `0x…` as a register holds it, or a signed decimal number.
///
/// # Examples
/// ```
/// use tracefast_core::ftrace::args::result;
/// assert_eq!(result(b"0xfffffffffffffffe"), Some(-2));
/// assert_eq!(result(b"-2"), Some(-2));
/// assert_eq!(result(b"__syscall_nr=0x3 (3) ret=0x0 (0)"), Some(0));
/// assert_eq!(result(b""), None);
/// ```
#[inline]
pub fn result(text: &[u8]) -> Option<i64> {
    let value = match text.strip_prefix(b"__syscall_nr=") {
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
    use super::*;

    fn values(text: &str, data: bool) -> Vec<&str> {
        let split = Split::new(text.as_bytes(), MAX_ARGS, data);
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
        // Data may even look like the next argument; the length is the last.
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
        let split = Split::new(b"__syscall_nr=0x11 (17) fd=0x3 (3)", 6, false);
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
}
