//! Steps over the text of a line that every part of the grammar takes.

/// A piece of a text, by its start and end.
pub(crate) type Span = (usize, usize);

/// Past the blanks at `at`.
#[inline]
pub(crate) fn blanks(line: &[u8], mut at: usize) -> usize {
    while line.get(at) == Some(&b' ') {
        at += 1;
    }
    at
}

/// Where the text before `end` stops being blanks, but not before `start`.
pub(crate) fn trim_end(line: &[u8], start: usize, mut end: usize) -> usize {
    while end > start && matches!(line[end - 1], b' ' | b'\t') {
        end -= 1;
    }
    end
}
