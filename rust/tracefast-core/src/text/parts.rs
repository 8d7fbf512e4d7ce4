//! A text in parts of some lines each, to look at only as much of it as is needed.

/// How many lines with text a part has, at most.
pub(crate) const PART: usize = 200;

/// The parts of `text`, each of [`PART`] lines and the empty lines between them.
pub(crate) fn parts(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (part, after) = rest.split_at(part_end(rest));
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

/// Where the first part of `text` ends.
fn part_end(text: &[u8]) -> usize {
    let (mut lines, mut start) = (0, 0);
    for feed in memchr::memchr_iter(b'\n', text) {
        lines += usize::from(feed > start);
        start = feed + 1;
        if lines == PART {
            return start;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_lines_do_not_count() {
        let text = [b"\n\n".repeat(300), b"a\n\n".repeat(PART + 1), b"b".to_vec()].concat();
        let all: Vec<&[u8]> = parts(&text).collect();
        assert_eq!(all.len(), 2);
        assert!(all[0].ends_with(b"a\n"));
        assert_eq!(all[1], b"\na\n\nb");
        assert_eq!(parts(b"").count(), 0);
    }
}
