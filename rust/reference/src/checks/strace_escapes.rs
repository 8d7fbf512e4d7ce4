//! Escapes undone in two ways.

use tracefast_core::text::escape::unescape_into;

use crate::strace;

/// Takes `data` for a string between its quotes.
///
/// # Panics
/// If the two ways disagree, or bytes before the text change.
pub fn strace_escapes(data: &[u8]) {
    let mut fast = b"/in/front\xff".to_vec();
    let start = fast.len();
    unescape_into(data, &mut fast);
    let slow = strace::visible(&strace::unescape(data));
    assert_eq!(fast[..start], b"/in/front\xff"[..]);
    let shown = data.escape_ascii();
    assert_eq!(String::from_utf8(fast.split_off(start)).as_ref(), Ok(&slow), "{shown}");
}
