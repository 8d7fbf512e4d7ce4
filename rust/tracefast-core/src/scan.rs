//! The structure pass: where lines end and where results may begin, 64 bytes at a time.

use crate::block::PAD;

/// What the structure pass found in a block.
#[derive(Debug, Default)]
pub struct Marks {
    /// Positions, in order, of every line feed and of the second blank of every ` = `. A look at
    /// the byte tells which.
    pub at: Vec<u32>,
    /// No byte is above 0x7f.
    pub ascii: bool,
    /// A bit for every byte, the lowest first, that is one of `,:("`; from [`lines`] only.
    pub parts: Vec<u64>,
}

/// The four facts about 64 bytes, a bit each.
#[derive(Clone, Copy)]
struct Masks {
    newline: u64,
    blank: u64,
    equal: u64,
    high: u64,
}

/// Fills `marks` for `buf[PAD..PAD + len]`.
///
/// `buf` is the whole padded buffer: at least [`PAD`] bytes follow the text, so that the last 64
/// bytes can be loaded at once.
///
/// # Panics
/// If `buf` is shorter than `len` and both pads.
pub fn structure(buf: &[u8], len: usize, marks: &mut Marks) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        assert!(buf.len() >= PAD + len + PAD, "the block is not padded");
        marks.at.clear();
        // SAFETY: the processor has AVX2, as just asked.
        #[allow(unsafe_code)]
        unsafe {
            x86::structure_avx2(buf, len, marks);
        }
        return;
    }
    structure_portable(buf, len, marks);
}

/// Does what [`structure`] does, without vector instructions: what processors get that have none
/// that are known. Tests and benches hold one against the other.
///
/// # Panics
/// As [`structure`].
///
/// # Examples
/// ```
/// use tracefast_core::block::Block;
/// use tracefast_core::scan::{Marks, structure_portable};
///
/// let block = Block::from_text(b"close(3) = 0\n");
/// let mut marks = Marks::default();
/// structure_portable(block.padded(), block.len(), &mut marks);
/// assert_eq!(marks.at, [10, 12]);
/// ```
pub fn structure_portable(buf: &[u8], len: usize, marks: &mut Marks) {
    assert!(buf.len() >= PAD + len + PAD, "the block is not padded");
    marks.at.clear();
    structure_with(buf, len, marks, masks_portable);
}

/// Fills `marks` for `buf[PAD..PAD + len]` with the line feeds alone, and with what may part
/// arguments.
///
/// # Panics
/// If `buf` is shorter than `len` and both pads.
pub fn lines(buf: &[u8], len: usize, marks: &mut Marks) {
    assert!(buf.len() >= PAD + len + PAD, "the block is not padded");
    marks.at.clear();
    marks.parts.clear();
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, as just asked.
        #[allow(unsafe_code)]
        unsafe {
            x86::lines_avx2(buf, len, marks);
        }
        return;
    }
    lines_with(buf, len, marks, line_masks_portable);
}

/// Line feeds, bytes above 0x7f, and what may part arguments, of 64 bytes.
type LineMasks = [u64; 3];

#[inline(always)]
fn lines_with(buf: &[u8], len: usize, marks: &mut Marks, masks: impl Fn(&[u8; 64]) -> LineMasks) {
    let Marks { at, ascii, parts } = marks;
    let mut any_high = 0;
    let mut see = |base: usize, chunk: &[u8; 64], keep: u64| {
        let [feeds, high, parts] = masks(chunk);
        any_high |= high & keep;
        let mut feeds = feeds & keep;
        while feeds != 0 {
            at.push((base + feeds.trailing_zeros() as usize) as u32);
            feeds &= feeds - 1;
        }
        parts & keep
    };
    let (chunks, rest) = buf[PAD..PAD + len].as_chunks();
    let whole = 64 * chunks.len();
    parts.extend(chunks.iter().enumerate().map(|(i, chunk)| see(64 * i, chunk, u64::MAX)));
    // The padding makes the last one whole.
    if !rest.is_empty()
        && let Some(chunk) = buf[PAD + whole..].first_chunk()
    {
        parts.push(see(whole, chunk, (1 << rest.len()) - 1));
    }
    *ascii = any_high == 0;
}

fn line_masks_portable(chunk: &[u8; 64]) -> LineMasks {
    let mut masks = [0; 3];
    for (i, &byte) in chunk.iter().enumerate() {
        masks[0] |= u64::from(byte == b'\n') << i;
        masks[1] |= u64::from(byte >> 7) << i;
        masks[2] |= u64::from(matches!(byte, b',' | b':' | b'(' | b'"')) << i;
    }
    masks
}

#[inline(always)]
fn structure_with(buf: &[u8], len: usize, marks: &mut Marks, masks: impl Fn(&[u8; 64]) -> Masks) {
    let mut high = 0;
    // The last two bits of the blank and equal masks of the 64 bytes before.
    let (mut blank_before, mut equal_before) = (0, 0);
    let text = &buf[PAD..];
    let mut base = 0;
    while base < len {
        let Some(chunk) = text[base..].first_chunk::<64>() else { break };
        let mut m = masks(chunk);
        let left = len - base;
        if left < 64 {
            let keep = (1 << left) - 1;
            m = Masks {
                newline: m.newline & keep,
                blank: m.blank & keep,
                equal: m.equal & keep,
                high: m.high & keep,
            };
        }
        high |= m.high;
        let ends = m.blank & ((m.equal << 1) | equal_before) & ((m.blank << 2) | blank_before);
        blank_before = m.blank >> 62;
        equal_before = m.equal >> 63;
        let mut bits = ends | m.newline;
        while bits != 0 {
            marks.at.push((base + bits.trailing_zeros() as usize) as u32);
            bits &= bits - 1;
        }
        base += 64;
    }
    marks.ascii = high == 0;
}

fn masks_portable(chunk: &[u8; 64]) -> Masks {
    let mut m = Masks { newline: 0, blank: 0, equal: 0, high: 0 };
    for (i, &byte) in chunk.iter().enumerate() {
        m.newline |= u64::from(byte == b'\n') << i;
        m.blank |= u64::from(byte == b' ') << i;
        m.equal |= u64::from(byte == b'=') << i;
        m.high |= u64::from(byte >> 7) << i;
    }
    m
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86 {
    use std::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8,
        _mm256_setr_epi8, _mm256_shuffle_epi8,
    };

    use super::{LineMasks, Marks, Masks, lines_with, structure_with};

    #[target_feature(enable = "avx2")]
    pub(super) fn lines_avx2(buf: &[u8], len: usize, marks: &mut Marks) {
        lines_with(buf, len, marks, |chunk| line_masks_avx2(chunk));
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn line_masks_avx2(chunk: &[u8; 64]) -> LineMasks {
        let (low, high) = halves(chunk);
        // Of each low half of a byte, the one that is looked for; 0 and 1 are none that has it.
        let wanted = _mm256_setr_epi8(
            1, 0, 0x22, 0, 0, 0, 0, 0, 0x28, 0, 0x3a, 0, 0x2c, 0, 0, 0, //
            1, 0, 0x22, 0, 0, 0, 0, 0, 0x28, 0, 0x3a, 0, 0x2c, 0, 0, 0,
        );
        let parts = bits(
            _mm256_cmpeq_epi8(low, _mm256_shuffle_epi8(wanted, low)),
            _mm256_cmpeq_epi8(high, _mm256_shuffle_epi8(wanted, high)),
        );
        [equal(low, high, b'\n'), bits(low, high), parts]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    #[allow(clippy::cast_ptr_alignment)] // The loads are those that need no alignment.
    fn halves(chunk: &[u8; 64]) -> (__m256i, __m256i) {
        // SAFETY: both loads stay inside the 64 bytes of `chunk`; they need no alignment.
        unsafe {
            (
                _mm256_loadu_si256(chunk.as_ptr().cast::<__m256i>()),
                _mm256_loadu_si256(chunk.as_ptr().add(32).cast::<__m256i>()),
            )
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn structure_avx2(buf: &[u8], len: usize, marks: &mut Marks) {
        structure_with(buf, len, marks, |chunk| masks_avx2(chunk));
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn masks_avx2(chunk: &[u8; 64]) -> Masks {
        let (low, high) = halves(chunk);
        Masks {
            newline: equal(low, high, b'\n'),
            blank: equal(low, high, b' '),
            equal: equal(low, high, b'='),
            high: bits(low, high),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn equal(low: __m256i, high: __m256i, byte: u8) -> u64 {
        let want = _mm256_set1_epi8(byte.cast_signed());
        bits(_mm256_cmpeq_epi8(low, want), _mm256_cmpeq_epi8(high, want))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn bits(low: __m256i, high: __m256i) -> u64 {
        u64::from(_mm256_movemask_epi8(low).cast_unsigned())
            | u64::from(_mm256_movemask_epi8(high).cast_unsigned()) << 32
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn padded(text: &[u8]) -> Vec<u8> {
        let mut buf = vec![b' '; PAD];
        buf.extend_from_slice(text);
        // Marks in the padding must not be reported.
        buf.extend([b'\n', b' ', b'=', b' '].iter().cycle().take(PAD));
        buf
    }

    fn obvious(text: &[u8]) -> Vec<u32> {
        (0..text.len())
            .filter(|&i| text[i] == b'\n' || (i >= 2 && text[i - 2..=i] == *b" = "))
            .map(|i| i as u32)
            .collect()
    }

    proptest! {
        #[test]
        fn finds_what_a_slow_search_finds(
            text in proptest::collection::vec(
                prop_oneof![Just(b' '), Just(b'='), Just(b'\n'), any::<u8>()], 0..400)
        ) {
            let buf = padded(&text);
            let mut marks = Marks::default();
            structure(&buf, text.len(), &mut marks);
            prop_assert_eq!(&marks.at, &obvious(&text));
            prop_assert_eq!(marks.ascii, text.is_ascii());
            structure_portable(&buf, text.len(), &mut marks);
            prop_assert_eq!(&marks.at, &obvious(&text));
        }

        #[test]
        fn lines_and_parts_are_those_of_a_slow_search(
            text in proptest::collection::vec(
                prop_oneof![
                    prop::sample::select(b",:(\"\n \x02\x0a\x0c\x1a\x2a\x32\x38\x3c\x00\x10\xa2".to_vec()),
                    any::<u8>(),
                ],
                0..400,
            )
        ) {
            let buf = padded(&text);
            let feeds: Vec<u32> =
                (0..text.len()).filter(|&i| text[i] == b'\n').map(|i| i as u32).collect();
            let parts = |i: usize| text.get(i).is_some_and(|b| b",:(\"".contains(b));
            for portable in [false, true] {
                let mut marks = Marks::default();
                if portable {
                    lines_with(&buf, text.len(), &mut marks, line_masks_portable);
                } else {
                    lines(&buf, text.len(), &mut marks);
                }
                prop_assert_eq!(&marks.at, &feeds);
                prop_assert_eq!(marks.ascii, text.is_ascii());
                prop_assert_eq!(marks.parts.len(), text.len().div_ceil(64));
                for i in 0..64 * marks.parts.len() {
                    prop_assert_eq!(marks.parts[i / 64] >> (i % 64) & 1 == 1, parts(i), "{}", i);
                }
            }
        }
    }
}
