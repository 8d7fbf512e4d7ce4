//! How Python's `multiprocessing` frames messages: their length in four bytes, then the message
//! (`Connection._send_bytes` in `multiprocessing/connection.py`).

use crate::text::escape::unescape_raw;

/// Bytes of a length.
const LENGTH: i64 = 4;

/// Whether a call that took bytes, of those `requested`, may have taken a length.
pub(crate) fn is_length(requested: Option<i64>, bytes: i64) -> bool {
    requested == Some(LENGTH) && bytes == LENGTH
}

/// The length that a call read, as strace prints its bytes.
pub(crate) fn length(args: &str) -> Option<i32> {
    let (_, text) = args.split_once('"')?;
    // Each byte takes four characters at most.
    let text = text.get(..16.min(text.len())).unwrap_or(text);
    let end = text.rfind("\", ").or_else(|| text.rfind("\"...")).unwrap_or(text.len());
    let mut bytes = Vec::with_capacity(16);
    unescape_raw(text.get(..end)?.as_bytes(), &mut bytes);
    Some(i32::from_be_bytes(*bytes.first_chunk::<4>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        assert_eq!(length(r#"5, "\0\0\0\34", 4"#), Some(28));
        assert_eq!(length(r#"5, "\x00\x00\x01\x02", 4"#), Some(258));
        assert_eq!(length(r#"5, "\377\377\377\377", 4"#), Some(-1));
        assert_eq!(length(r#"5, "\0\0\0\"", 4"#), Some(34));
        assert_eq!(length(r#"5, ""..., 4"#), None);
        assert_eq!(length("fd: 5, buf: 0x7f, count: 0x4"), None);
    }
}
