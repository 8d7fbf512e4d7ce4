//! Colours, which `--color` puts around every token of a line, and those of `grep --color`.

use std::borrow::Cow;

use crate::text::block::Block;

/// Removes SGR sequences (`ESC [ digits;… m`), and those that erase the rest of a line (`ESC [ K`),
/// from `text` in place and returns its new length.
///
/// strace escapes an ESC of the traced program as `\33` (`string_quote` in `src/util.c`), so
/// program data is not changed.
pub(crate) fn strip(text: &mut [u8]) -> usize {
    let mut to = 0;
    let mut from = 0;
    while from < text.len() {
        let next = memchr::memchr(0x1b, &text[from..]).map_or(text.len(), |n| from + n);
        text.copy_within(from..next, to);
        to += next - from;
        from = next;
        if from < text.len() {
            let skip = sequence(&text[from..]);
            // An ESC that starts no such sequence stays.
            if skip == 0 {
                text[to] = text[from];
                to += 1;
                from += 1;
            }
            from += skip;
        }
    }
    to
}

/// The same, copied only if there are any.
pub(crate) fn plain(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memmem::find(text, b"\x1b[").is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(stripped(text))
}

/// The text without them.
pub(crate) fn stripped(text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    let len = strip(&mut text);
    text.truncate(len);
    text
}

/// Removes the colours from all lines of `block`. Returns the number of each line that had some, and
/// how many bytes it lost.
pub(crate) fn strip_all(block: &mut Block) -> Vec<(u32, u32)> {
    let mut coloured = Vec::new();
    let mut start = 0;
    for (number, line) in block.text().split(|&b| b == b'\n').enumerate() {
        if memchr::memchr(0x1b, line).is_some() {
            coloured.push((number as u32, start, start + line.len()));
        }
        start += line.len() + 1;
    }
    strip_lines(block, &coloured)
}

/// Removes the colours from `lines` of `block`: number, start, end, in ascending order. Returns the
/// number of each line and how many bytes it lost.
pub(crate) fn strip_lines(block: &mut Block, lines: &[(u32, usize, usize)]) -> Vec<(u32, u32)> {
    let mut taken = Vec::with_capacity(lines.len());
    block.edit(|text| {
        let (mut to, mut from) = (0, 0);
        for &(number, start, end) in lines {
            text.copy_within(from..start, to);
            to += start - from;
            let len = strip(&mut text[start..end]);
            text.copy_within(start..start + len, to);
            to += len;
            from = end;
            taken.push((number, (end - start - len) as u32));
        }
        text.copy_within(from.., to);
        to + text.len() - from
    });
    taken
}

/// Length of the sequence at the start of `text`, or 0.
fn sequence(text: &[u8]) -> usize {
    if text.get(1) != Some(&b'[') {
        return 0;
    }
    let body = text[2..].iter().position(|b| !(b.is_ascii_digit() || *b == b';'));
    body.filter(|&n| matches!(text[2 + n], b'm' | b'K')).map_or(0, |n| n + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_colours_are_removed() {
        assert_eq!(stripped(b"\x1b[35m-1\x1b[0m\x1b[m, \x1b[1;34mA\x1b[0m"), b"-1, A");
        assert_eq!(stripped(b"\x1b[2A \x1b \x1b[12"), b"\x1b[2A \x1b \x1b[12");
        assert_eq!(stripped(b"\x1b[32m\x1b[K7\x1b[m\x1b[K:\x1b[2Kx"), b"7:x");
        assert_eq!(stripped(b""), b"");
    }

    #[test]
    fn example_of_strip() {
        let mut text = *b"\x1b[33mclose\x1b[0m(3)";
        let len = strip(&mut text);
        assert_eq!(&text[..len], b"close(3)");
    }
}
