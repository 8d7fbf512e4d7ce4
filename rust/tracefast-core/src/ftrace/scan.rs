//! Helpers to step over blanks, for all parts of the grammar.

/// A piece of a text, by its start and end.
pub(crate) type Span = (usize, usize);

/// The position after the blanks at `at`.
#[inline]
pub(crate) fn blanks(line: &[u8], mut at: usize) -> usize {
    while line.get(at) == Some(&b' ') {
        at += 1;
    }
    at
}

/// The end of the text before `end` without trailing blanks, at least `start`.
pub(crate) fn trim_end(line: &[u8], start: usize, mut end: usize) -> usize {
    while end > start && matches!(line[end - 1], b' ' | b'\t') {
        end -= 1;
    }
    end
}
