//! The identity of a file.

use xxhash_rust::xxh3::xxh3_64;

/// The identity of the file with this name (a path, `pipe:[…]`, `socket:[…]`): a hash, which is the
/// same in every log.
///
/// ```
/// use tracefast_core::events::file_id::file_id;
/// assert_eq!(file_id(b"/etc/passwd"), file_id(b"/etc/passwd"));
/// assert_ne!(file_id(b"/etc/passwd"), file_id(b"/etc/shadow"));
/// ```
#[inline]
pub fn file_id(name: &[u8]) -> u64 {
    xxh3_64(name)
}
