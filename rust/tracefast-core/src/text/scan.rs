//! The structure pass: finds where lines end and where results may start, 64 bytes at a time.

use crate::text::block::PAD;

/// What the structure pass found in a block.
#[derive(Debug, Default)]
pub struct Marks {
    /// Positions, in order, of every line feed and of the second blank of every ` = `. The byte
    /// there shows which.
    pub at: Vec<u32>,
    /// How many of the positions are line feeds.
    pub feeds: usize,
    /// No byte is above 0x7f.
    pub ascii: bool,
    /// A bit for every byte, lowest first: set if it is one of `,:("`. Only [`lines`] fills it.
    pub separators: Vec<u64>,
}

/// Four masks with a bit for each of 64 bytes.
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
    assert!(buf.len() >= PAD + len + PAD, "the block is not padded");
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("popcnt")
    {
        // SAFETY: the processor has the features of the function, as just checked.
        #[allow(unsafe_code)]
        unsafe {
            x86::structure_avx2(buf, len, marks);
        }
        return;
    }
    structure_portable(buf, len, marks);
}

/// Does what [`structure`] does, without vector instructions, for processors without known ones.
/// Tests and benches compare the two.
///
/// # Panics
/// As [`structure`].
///
/// # Examples
/// ```
/// use tracefast_core::text::block::Block;
/// use tracefast_core::text::scan::{Marks, structure_portable};
///
/// let block = Block::from_text(b"close(3) = 0\n");
/// let mut marks = Marks::default();
/// structure_portable(block.padded(), block.len(), &mut marks);
/// assert_eq!(marks.at, [10, 12]);
/// ```
pub fn structure_portable(buf: &[u8], len: usize, marks: &mut Marks) {
    assert!(buf.len() >= PAD + len + PAD, "the block is not padded");
    structure_with(buf, len, marks, masks_portable);
}

/// Fills `marks` for `buf[PAD..PAD + len]` with the line feeds only, and with the bytes that may
/// separate arguments.
///
/// # Panics
/// If `buf` is shorter than `len` and both pads.
pub fn lines(buf: &[u8], len: usize, marks: &mut Marks) {
    assert!(buf.len() >= PAD + len + PAD, "the block is not padded");
    marks.at.clear();
    marks.separators.clear();
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, as just checked.
        #[allow(unsafe_code)]
        unsafe {
            x86::lines_avx2(buf, len, marks);
        }
        return;
    }
    lines_with(buf, len, marks, line_masks_portable);
}

/// Masks of 64 bytes: line feeds, bytes above 0x7f, and bytes that may separate arguments.
type LineMasks = [u64; 3];

#[inline(always)]
fn lines_with(buf: &[u8], len: usize, marks: &mut Marks, masks: impl Fn(&[u8; 64]) -> LineMasks) {
    let Marks { at, ascii, separators, .. } = marks;
    let mut any_high = 0;
    let mut see = |base: usize, chunk: &[u8; 64], keep: u64| {
        let [feeds, high, separators] = masks(chunk);
        any_high |= high & keep;
        let mut feeds = feeds & keep;
        while feeds != 0 {
            at.push((base + feeds.trailing_zeros() as usize) as u32);
            feeds &= feeds - 1;
        }
        separators & keep
    };
    let (chunks, rest) = buf[PAD..PAD + len].as_chunks();
    let whole = 64 * chunks.len();
    separators.extend(chunks.iter().enumerate().map(|(i, chunk)| see(64 * i, chunk, u64::MAX)));
    // The padding completes the last chunk.
    if !rest.is_empty()
        && let Some(chunk) = buf[PAD + whole..].first_chunk()
    {
        separators.push(see(whole, chunk, (1 << rest.len()) - 1));
    }
    *ascii = any_high == 0;
}

#[inline(always)]
fn line_masks_portable(chunk: &[u8; 64]) -> LineMasks {
    [
        eight_by_eight(chunk, |word| equal(word, b'\n')),
        eight_by_eight(chunk, |word| word),
        eight_by_eight(chunk, |word| {
            equal(word, b',') | equal(word, b':') | equal(word, b'(') | equal(word, b'"')
        }),
    ]
}

#[inline(always)]
fn structure_with(buf: &[u8], len: usize, marks: &mut Marks, masks: impl Fn(&[u8; 64]) -> Masks) {
    let (chunks, rest) = buf[PAD..PAD + len].as_chunks::<64>();
    // Writes by index into existing room; truncates the unused rest at the end.
    let room = marks.at.capacity().max(1024);
    marks.at.resize(room, 0);
    let mut found = Found::default();
    for chunk in chunks {
        found.add(&mut marks.at, masks(chunk));
    }
    // Zeros match none of the bytes.
    let mut last = [0; 64];
    last[..rest.len()].copy_from_slice(rest);
    found.add(&mut marks.at, masks(&last));
    marks.at.truncate(found.marks);
    marks.feeds = found.feeds;
    marks.ascii = found.high == 0;
}

#[derive(Default)]
struct Found {
    /// Position of the next 64 bytes.
    base: u32,
    marks: usize,
    feeds: usize,
    high: u64,
    /// The last two bits of the blank and equal masks of the previous 64 bytes.
    blank: u64,
    equal: u64,
}

impl Found {
    #[inline(always)]
    fn add(&mut self, at: &mut Vec<u32>, m: Masks) {
        let ends = m.blank & ((m.equal << 1) | self.equal) & ((m.blank << 2) | self.blank);
        self.blank = m.blank >> 62;
        self.equal = m.equal >> 63;
        self.high |= m.high;
        self.feeds += m.newline.count_ones() as usize;
        let bits = ends | m.newline;
        let mut room = at.get_mut(self.marks..).and_then(|room| room.first_chunk_mut::<64>());
        if room.is_none() {
            more_room(at);
            room = at[self.marks..].first_chunk_mut();
        }
        if let Some(room) = room {
            // Few chunks have more than two marks: two are written without a branch.
            room[0] = self.base + bits.trailing_zeros();
            let mut left = bits & bits.wrapping_sub(1);
            room[1] = self.base + left.trailing_zeros();
            left &= left.wrapping_sub(1);
            let mut slots = room.iter_mut().skip(2);
            while left != 0
                && let Some(slot) = slots.next()
            {
                *slot = self.base + left.trailing_zeros();
                left &= left - 1;
            }
        }
        self.marks += bits.count_ones() as usize;
        self.base += 64;
    }
}

#[cold]
#[inline(never)]
fn more_room(at: &mut Vec<u32>) {
    at.resize(2 * at.len() + 64, 0);
}

#[inline(always)]
fn masks_portable(chunk: &[u8; 64]) -> Masks {
    Masks {
        newline: eight_by_eight(chunk, |word| equal(word, b'\n')),
        blank: eight_by_eight(chunk, |word| equal(word, b' ')),
        equal: eight_by_eight(chunk, |word| equal(word, b'=')),
        high: eight_by_eight(chunk, |word| word),
    }
}

/// A bit for each of 64 bytes: the highest bit of each byte in the result of `mark`, which takes
/// eight bytes at a time.
#[inline(always)]
fn eight_by_eight(chunk: &[u8; 64], mark: impl Fn(u64) -> u64) -> u64 {
    let words = chunk.as_chunks::<8>().0.iter().enumerate();
    words.fold(0, |bits, (i, word)| {
        let marks = (mark(u64::from_le_bytes(*word)) & HIGHEST) >> 7;
        // The product collects the lowest bits of all bytes in its highest byte: each is added
        // there once, and no other sum reaches it.
        bits | (marks.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i)
    })
}

/// The highest bit of each byte of a word.
const HIGHEST: u64 = 0x8080_8080_8080_8080;

/// Sets the highest bit of each byte of `word` that is `byte`, and no other bit.
#[inline(always)]
fn equal(word: u64, byte: u8) -> u64 {
    let differ = word ^ (u64::from(byte) * 0x0101_0101_0101_0101);
    // The sum of the lower bits overflows into the highest bit unless all of them are zero.
    !(((differ & !HIGHEST) + !HIGHEST) | differ)
}

/// The index of the first of `bytes` in `text` from `at` on. For short distances: the byte is
/// usually near, and a general searcher costs more to call than to run.
///
/// # Examples
/// ```
/// use tracefast_core::text::scan::first_of;
/// assert_eq!(first_of(b"3</data/x>, 5", 2, [b'<', b'>']), Some(9));
/// assert_eq!(first_of(b"3</data", 2, [b'<', b'>']), None);
/// ```
#[inline(always)]
pub fn first_of<const N: usize>(text: &[u8], at: usize, bytes: [u8; N]) -> Option<usize> {
    first(
        text,
        at,
        #[inline(always)]
        |chunk| among(chunk, bytes),
        #[inline(always)]
        |byte| bytes.contains(&byte),
    )
}

/// The index of the first byte in `text` from `at` on that may start a token or be a bracket in
/// strace's text: one of `"'(),/<[]{}`, or another byte between `!` and `/`.
#[inline]
pub(crate) fn first_special(text: &[u8], at: usize) -> Option<usize> {
    first(text, at, specials, is_special)
}

#[inline(always)]
fn is_special(byte: u8) -> bool {
    matches!(byte, b'!'..=b'/' | b'<' | b'[' | b']' | b'{' | b'}')
}

/// `found` returns a bit for each byte of a chunk that counts; `counts` decides for one byte.
#[inline(always)]
fn first(
    text: &[u8],
    at: usize,
    found: impl Fn(&[u8; 16]) -> u32,
    counts: impl Fn(u8) -> bool,
) -> Option<usize> {
    let (chunks, rest) = text.get(at..)?.as_chunks::<16>();
    let mut from = at;
    for chunk in chunks {
        let bits = found(chunk);
        if bits != 0 {
            return Some(from + bits.trailing_zeros() as usize);
        }
        from += 16;
    }
    if let Some(chunk) = text.last_chunk::<16>() {
        // The last 16 bytes overlap bytes that were checked before.
        let bits = found(chunk) >> (16 - rest.len());
        return (bits != 0).then(|| from + bits.trailing_zeros() as usize);
    }
    rest.iter().position(|&byte| counts(byte)).map(|n| from + n)
}

/// The index of the first `byte` in `chunk`.
#[inline(always)]
pub fn nearest(chunk: &[u8; 16], byte: u8) -> Option<usize> {
    let found = among(chunk, [byte]);
    (found != 0).then(|| found.trailing_zeros() as usize)
}

/// A bit for each byte in `chunk` that is one of `bytes`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn among<const N: usize>(chunk: &[u8; 16], bytes: [u8; N]) -> u32 {
    x86::among(chunk, bytes)
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn specials(chunk: &[u8; 16]) -> u32 {
    x86::specials(chunk)
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn specials(chunk: &[u8; 16]) -> u32 {
    chunk.iter().enumerate().fold(0, |m, (i, &b)| m | u32::from(is_special(b)) << i)
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn among<const N: usize>(chunk: &[u8; 16], bytes: [u8; N]) -> u32 {
    among_portable(chunk, bytes)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn among_portable<const N: usize>(chunk: &[u8; 16], bytes: [u8; N]) -> u32 {
    chunk.iter().enumerate().fold(0, |m, (i, b)| m | u32::from(bytes.contains(b)) << i)
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86 {
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8,
        _mm_or_si128, _mm_set1_epi8, _mm_setzero_si128, _mm_sub_epi8, _mm256_cmpeq_epi8,
        _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8, _mm256_setr_epi8,
        _mm256_shuffle_epi8,
    };

    use super::{LineMasks, Marks, Masks, lines_with, structure_with};

    #[target_feature(enable = "avx2")]
    pub(crate) fn lines_avx2(buf: &[u8], len: usize, marks: &mut Marks) {
        lines_with(buf, len, marks, |chunk| line_masks_avx2(chunk));
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn line_masks_avx2(chunk: &[u8; 64]) -> LineMasks {
        let (low, high) = halves(chunk);
        // For each low half of a byte, the byte to find; 0 and 1 do not match any.
        let wanted = _mm256_setr_epi8(
            1, 0, 0x22, 0, 0, 0, 0, 0, 0x28, 0, 0x3a, 0, 0x2c, 0, 0, 0, //
            1, 0, 0x22, 0, 0, 0, 0, 0, 0x28, 0, 0x3a, 0, 0x2c, 0, 0, 0,
        );
        let separators = bits(
            _mm256_cmpeq_epi8(low, _mm256_shuffle_epi8(wanted, low)),
            _mm256_cmpeq_epi8(high, _mm256_shuffle_epi8(wanted, high)),
        );
        [equal(low, high, b'\n'), bits(low, high), separators]
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

    #[inline(always)]
    #[allow(clippy::cast_ptr_alignment)] // The load is one that needs no alignment.
    pub(crate) fn among<const N: usize>(chunk: &[u8; 16], bytes: [u8; N]) -> u32 {
        // SAFETY: SSE2 is part of the architecture, and the load stays inside the 16 bytes.
        unsafe {
            let chunk = _mm_loadu_si128(chunk.as_ptr().cast::<__m128i>());
            let found = bytes.into_iter().fold(_mm_setzero_si128(), |found, byte| {
                _mm_or_si128(found, _mm_cmpeq_epi8(chunk, _mm_set1_epi8(byte.cast_signed())))
            });
            _mm_movemask_epi8(found).cast_unsigned()
        }
    }

    /// A bit for each byte that [`super::is_special`] accepts.
    #[inline(always)]
    #[allow(clippy::cast_ptr_alignment)] // The load is one that needs no alignment.
    pub(crate) fn specials(chunk: &[u8; 16]) -> u32 {
        // SAFETY: SSE2 is part of the architecture, and the load stays inside the 16 bytes.
        unsafe {
            let chunk = _mm_loadu_si128(chunk.as_ptr().cast::<__m128i>());
            let is = |bytes, byte: u8| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte.cast_signed()));
            // From `!` to `/`: the difference from `!` is at most 14.
            let above = _mm_sub_epi8(chunk, _mm_set1_epi8(b'!'.cast_signed()));
            let near = _mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8(14)), above);
            // One bit separates `[` from `{`, and `]` from `}`.
            let folded = _mm_or_si128(chunk, _mm_set1_epi8(0x20));
            let brackets = _mm_or_si128(is(folded, b'{'), is(folded, b'}'));
            let found = _mm_or_si128(_mm_or_si128(near, brackets), is(chunk, b'<'));
            _mm_movemask_epi8(found).cast_unsigned()
        }
    }

    #[target_feature(enable = "avx2,popcnt,bmi1")]
    pub(crate) fn structure_avx2(buf: &[u8], len: usize, marks: &mut Marks) {
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
            prop_assert_eq!(marks.feeds, text.split(|&b| b == b'\n').count() - 1);
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
            let separators = |i: usize| text.get(i).is_some_and(|b| b",:(\"".contains(b));
            for portable in [false, true] {
                let mut marks = Marks::default();
                if portable {
                    lines_with(&buf, text.len(), &mut marks, line_masks_portable);
                } else {
                    lines(&buf, text.len(), &mut marks);
                }
                prop_assert_eq!(&marks.at, &feeds);
                prop_assert_eq!(marks.ascii, text.is_ascii());
                prop_assert_eq!(marks.separators.len(), text.len().div_ceil(64));
                for i in 0..64 * marks.separators.len() {
                    prop_assert_eq!(marks.separators[i / 64] >> (i % 64) & 1 == 1, separators(i), "{}", i);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn first_of_finds_the_first(
            text in proptest::collection::vec(0u8..20, 0..60), from in 0usize..60
        ) {
            let from = from.min(text.len());
            for bytes in [[1, 2, 3], [7, 7, 7], [200, 0, 19]] {
                let expected = text[from..].iter().position(|b| bytes.contains(b));
                prop_assert_eq!(first_of(&text, from, bytes), expected.map(|n| from + n));
                for chunk in text.windows(16).filter_map(<[u8]>::first_chunk) {
                    let expected = chunk.iter().position(|&b| b == bytes[1]);
                    prop_assert_eq!(nearest(chunk, bytes[1]), expected);
                }
                for chunk in text.windows(16).filter_map(<[u8]>::first_chunk) {
                    prop_assert_eq!(among(chunk, bytes), among_portable(chunk, bytes));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn specials_are_found(text in proptest::collection::vec(any::<u8>(), 0..60)) {
            for from in 0..text.len() {
                let expected = text[from..].iter().position(|&b| is_special(b));
                prop_assert_eq!(first_special(&text, from), expected.map(|n| from + n));
            }
            prop_assert_eq!(first_special(&text, text.len()), None);
            prop_assert_eq!(first_special(&text, text.len() + 1), None);
        }
    }
}
