//! Short needles in short texts: a general searcher costs more to set up than the search.

use memchr::{memchr, memrchr};

/// The position of the first `needle` in `text`. `rare` is the position in `needle` of a byte that
/// is rare in the text.
///
/// # Examples
/// ```
/// use tracefast_core::text::search::find;
/// assert_eq!(find(b"O_RDONLY|O_CLOEXEC", b"CLOEXEC", 5), Some(11));
/// assert_eq!(find(b"O_RDONLY", b"CLOEXEC", 5), None);
/// ```
#[inline(always)]
pub fn find(text: &[u8], needle: &[u8], rare: usize) -> Option<usize> {
    let byte = needle[rare];
    let mut from = rare;
    loop {
        let at = from + memchr(byte, text.get(from..)?)?;
        if text[at - rare..].starts_with(needle) {
            return Some(at - rare);
        }
        from = at + 1;
    }
}

/// The position of the last `needle` in `text`; otherwise as [`find`].
#[inline(always)]
pub fn rfind(text: &[u8], needle: &[u8], rare: usize) -> Option<usize> {
    let byte = needle[rare];
    let mut end = text.len();
    loop {
        let at = memrchr(byte, &text[..end])?;
        if at < rare {
            return None;
        }
        if text[at - rare..].starts_with(needle) {
            return Some(at - rare);
        }
        end = at;
    }
}

/// Whether `text` contains `needle`; otherwise as [`find`].
#[inline(always)]
pub fn contains(text: &[u8], needle: &[u8], rare: usize) -> bool {
    find(text, needle, rare).is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn as_a_general_search(text in "[abc]{0,40}", needle in "[abc]{1,4}", rare in 0usize..4) {
            let (text, needle) = (text.as_bytes(), needle.as_bytes());
            let rare = rare % needle.len();
            prop_assert_eq!(find(text, needle, rare), memchr::memmem::find(text, needle));
            prop_assert_eq!(rfind(text, needle, rare), memchr::memmem::rfind(text, needle));
        }
    }
}
