//! Values in JSON.

use std::io::Write;

/// Writes a string. Names come from the traced program, so they may hold anything.
pub(crate) fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for &byte in text.as_bytes() {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            // Also `<`, so that a page may hold the text.
            0..=0x1f | 0x7f | b'<' => {
                let digit = |value: u8| b"0123456789abcdef"[usize::from(value & 15)];
                out.extend(*b"\\u00");
                out.extend([digit(byte >> 4), digit(byte)]);
            }
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// Writes `"name":`.
pub(crate) fn key(out: &mut Vec<u8>, name: &str) {
    string(out, name);
    out.push(b':');
}

/// Writes a whole number.
pub(crate) fn number(out: &mut Vec<u8>, value: i64) {
    // A vector takes all that is written.
    let _ = write!(out, "{value}");
}

/// Writes nanoseconds as microseconds, with all their digits.
pub(crate) fn micros(out: &mut Vec<u8>, ns: i64) {
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    let _ = write!(out, "{sign}{}.{:03}", ns / 1000, ns % 1000);
}
