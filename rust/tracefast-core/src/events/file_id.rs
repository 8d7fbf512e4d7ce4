//! Which file a name stands for.

use xxhash_rust::xxh3::xxh3_64;

/// Identity of a file known by `name` (a path, `pipe:[…]`, `socket:[…]`): a hash, the same in every
/// log.
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
