//! String views: 16 bytes that hold a short string, or say where a long one is.
//!
//! Layout (Arrow, little endian): length, then up to 12 bytes of text; or length, first 4 bytes,
//! number of the buffer, offset in it.

/// Longest string that a view holds itself.
pub const INLINE: usize = 12;

/// Bytes of a buffer that views can point into: offsets and lengths in Arrow have 31 bits.
pub const REACH: usize = i32::MAX as usize;

/// Which of a block's two buffers a view points into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Place {
    /// The block's own text.
    Text = 0,
    /// Strings that were joined, unescaped or copied from elsewhere.
    Side = 1,
}

/// The view of `bytes`, which are at `offset` of `place`.
///
/// # Examples
/// ```
/// use tracefast_core::text::string_view::{Place, pack, unpack};
/// let text = b"a string of more than twelve bytes";
/// let view = pack(&text[2..], Place::Text, 2);
/// assert_eq!(unpack(&view, text, b""), &text[2..]);
/// ```
#[inline]
pub fn pack(bytes: &[u8], place: Place, offset: usize) -> u128 {
    // In registers: bytes that are stored one by one cannot be loaded as a whole at once.
    let len = bytes.len();
    if len <= INLINE {
        return short(bytes) << 32 | len as u128;
    }
    let prefix = bytes.first_chunk().map_or(0, |prefix| u32::from_le_bytes(*prefix));
    (offset as u128) << 96 | u128::from(place as u32) << 64 | u128::from(prefix) << 32 | len as u128
}

/// Up to 12 bytes as a number, by overlapping reads: that avoids a copy of unknown length.
#[inline]
fn short(bytes: &[u8]) -> u128 {
    let len = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        let last = u128::from(u64::from_le_bytes(*last)) << (8 * (len - 8));
        u128::from(u64::from_le_bytes(*first)) | last
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let last = u64::from(u32::from_le_bytes(*last)) << (8 * (len - 4));
        u128::from(u64::from(u32::from_le_bytes(*first)) | last)
    } else {
        bytes.iter().rev().fold(0, |all, &byte| all << 8 | u128::from(byte))
    }
}

/// As [`pack`], for `padded[start..start + len]` where 16 bytes from `start` on may be loaded:
/// short strings need no copy of unknown length.
#[inline]
pub(crate) fn pack_padded(
    padded: &[u8],
    start: usize,
    len: usize,
    place: Place,
    offset: usize,
) -> u128 {
    let Some(head) = padded.get(start..).and_then(|s| s.first_chunk::<16>()) else {
        return pack(&padded[start..start + len], place, offset);
    };
    let head = u128::from_le_bytes(*head);
    if len <= INLINE {
        ((head & ((1 << (8 * len)) - 1)) << 32) | len as u128
    } else {
        let prefix = head as u32;
        (offset as u128) << 96
            | u128::from(place as u32) << 64
            | u128::from(prefix) << 32
            | len as u128
    }
}

/// The string of a view over the two buffers of a block.
#[inline]
pub fn unpack<'a>(view: &'a u128, text: &'a [u8], side: &'a [u8]) -> &'a [u8] {
    let len = *view as u32 as usize;
    if len <= INLINE {
        // The view itself holds the bytes; on a big-endian machine they would be reversed.
        const { assert!(cfg!(target_endian = "little"), "views are laid out in little endian") };
        &as_bytes(view)[4..4 + len]
    } else {
        let offset = (*view >> 96) as usize;
        let buffer = if (*view >> 64) as u32 == Place::Text as u32 { text } else { side };
        &buffer[offset..offset + len]
    }
}

#[allow(unsafe_code)]
fn as_bytes(view: &u128) -> &[u8; 16] {
    // SAFETY: any u128 is 16 initialised bytes, and bytes need no alignment.
    unsafe { &*std::ptr::from_ref(view).cast() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn both_ways_of_packing_agree(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let mut padded = vec![7; 3];
            padded.extend_from_slice(&bytes);
            padded.extend([9; 16]);
            let view = pack(&bytes, Place::Text, 3);
            prop_assert_eq!(&view.to_le_bytes()[..4], &(bytes.len() as u32).to_le_bytes());
            prop_assert_eq!(pack_padded(&padded, 3, bytes.len(), Place::Text, 3), view);
            prop_assert_eq!(unpack(&view, &padded, b""), &bytes[..]);
        }
    }
}
