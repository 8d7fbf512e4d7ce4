//! Bytes that are not UTF-8, and strace's escapes.

use std::borrow::Cow;
use std::fmt::Write as _;

/// `raw` as text; bytes that are not UTF-8 appear as `\xNN`.
///
/// # Examples
/// ```
/// assert_eq!(tracefast_core::text::escape::escape_invalid(b"caf\xc3\xa9 \xff"), "café \\xff");
/// ```
pub fn escape_invalid(raw: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(raw) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(raw.len() + 16);
    for chunk in raw.utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    Cow::Owned(out)
}

/// Appends `escaped`, a string as strace prints it without its quotes, to `out`: escapes undone,
/// then made UTF-8 as [`escape_invalid`] does.
///
/// Octal escapes take up to three digits, which is right for every version of strace.
pub fn unescape_into(escaped: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    unescape_raw(escaped, out);
    if std::str::from_utf8(&out[start..]).is_err() {
        let fixed = escape_invalid(&out[start..]).into_owned();
        out.truncate(start);
        out.extend_from_slice(fixed.as_bytes());
    }
}

/// Appends the bytes that `escaped` stands for to `out`, even if they are not UTF-8.
pub(crate) fn unescape_raw(escaped: &[u8], out: &mut Vec<u8>) {
    let mut rest = escaped;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let Some((&first, tail)) = rest.split_first() else {
            out.push(b'\\');
            break;
        };
        rest = tail;
        match first {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'f' => out.push(0x0c),
            b'v' => out.push(0x0b),
            b'0'..=b'7' => {
                let mut value = u32::from(first - b'0');
                for _ in 0..2 {
                    match rest.split_first() {
                        Some((&digit @ b'0'..=b'7', tail)) => {
                            value = value * 8 + u32::from(digit - b'0');
                            rest = tail;
                        }
                        _ => break,
                    }
                }
                out.push(value as u8);
            }
            b'x' => {
                let hex = |b: &u8| (*b as char).to_digit(16);
                match (rest.first().and_then(hex), rest.get(1).and_then(hex)) {
                    (Some(high), Some(low)) => {
                        out.push((high * 16 + low) as u8);
                        rest = &rest[2..];
                    }
                    _ => out.extend_from_slice(b"\\x"),
                }
            }
            other => out.push(other),
        }
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unescape(text: &str) -> String {
        let mut out = Vec::new();
        unescape_into(text.as_bytes(), &mut out);
        String::from_utf8(out).expect("made UTF-8")
    }

    #[test]
    fn undoes_what_strace_prints() {
        assert_eq!(unescape(r#"a \"q\", b"#), r#"a "q", b"#);
        assert_eq!(unescape(r"w/gt\76 x"), "w/gt> x");
        assert_eq!(unescape(r"\0763"), ">3");
        assert_eq!(unescape(r"\303\251\n\\"), "é\n\\");
        assert_eq!(unescape(r"\x2f\x65"), "/e");
        assert_eq!(unescape(r"\377"), r"\xff");
        assert_eq!(unescape(r"\xg"), r"\xg");
        assert_eq!(unescape("\\"), "\\");
    }
}
