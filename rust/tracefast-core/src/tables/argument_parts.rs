//! The arguments of a call, one by one.

/// The parts between commas that are in no bracket and no string.
pub(crate) struct Parts<'a>(pub(crate) &'a str);

impl<'a> Iterator for Parts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.0.is_empty() {
            return None;
        }
        let bytes = self.0.as_bytes();
        let (mut at, mut depth) = (0, 0_i32);
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            let Some(n) = rest.iter().position(|&byte| SPECIAL[usize::from(byte)]) else { break };
            at += n;
            match bytes[at] {
                b'"' => at = end_of_string(bytes, at),
                b'(' | b'[' | b'{' => depth += 1,
                b',' if depth <= 0 => {
                    let part = self.0.get(..at);
                    self.0 = self.0.get(at + 1..).unwrap_or_default();
                    return part;
                }
                b',' => {}
                _ => depth -= 1,
            }
            at += 1;
        }
        Some(std::mem::take(&mut self.0))
    }
}

/// Bytes that end a part, or may contain its end.
const SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let bytes = b"\"([{)]},";
    let mut at = 0;
    while at < bytes.len() {
        special[bytes[at] as usize] = true;
        at += 1;
    }
    special
};

/// The closing quote of the string that starts at `start`, or the end of the text.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(n) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += n;
        if bytes[at] == b'"' {
            return at;
        }
        // What follows a backslash ends nothing.
        at += 2;
    }
    bytes.len()
}
