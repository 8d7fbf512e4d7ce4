//! The structure pass: finds where lines end and where results may start, 64 bytes at a time.

use crate::text::block::PAD;

/// What the structure pass found in a block.
#[derive(Debug, Default)]
pub struct Marks {
    /// Room for positions, of which the first `found` are those of the block at hand. The others
    /// stay, so that nothing is filled with zeros for the next block.
    at: Vec<u32>,
    found: usize,
    /// How many of the positions are line feeds.
    pub feeds: usize,
    /// No byte is above 0x7f.
    pub ascii: bool,
    /// A bit for every byte, lowest first: set if it is one of `,:("`. Only [`lines`] fills it.
    pub separators: Vec<u64>,
}

impl Marks {
    /// Positions, in order, of every line feed and of the second blank of every ` = `. The byte
    /// there shows which.
    pub fn positions(&self) -> &[u32] {
        &self.at[..self.found]
    }
}

/// Masks with a bit for each of 64 bytes.
#[derive(Clone, Copy)]
struct Masks {
    newline: u64,
    /// Line feeds, and ends of ` = `.
    marks: u64,
}

/// 64 bytes; the same number from one byte before them; and from two bytes before them.
type Shifted<'a> = [&'a [u8; 64]; 3];

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
/// assert_eq!(marks.positions(), [10, 12]);
/// ```
pub fn structure_portable(buf: &[u8], len: usize, marks: &mut Marks) {
    assert!(buf.len() >= PAD + len + PAD, "the block is not padded");
    let seen = structure_with(buf, len, marks, 0, masks_portable);
    marks.ascii = seen & HIGHEST == 0;
}

/// Fills `marks` for `buf[PAD..PAD + len]` with the line feeds only, and with the bytes that may
/// separate arguments.
///
/// # Panics
/// If `buf` is shorter than `len` and both pads.
pub fn lines(buf: &[u8], len: usize, marks: &mut Marks) {
    assert!(buf.len() >= PAD + len + PAD, "the block is not padded");
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, as just checked.
        #[allow(unsafe_code)]
        unsafe {
            x86::lines_avx2(buf, len, marks);
        }
        return;
    }
    lines_portable(buf, len, marks);
}

fn lines_portable(buf: &[u8], len: usize, marks: &mut Marks) {
    let seen = lines_with(buf, len, marks, 0, line_masks_portable);
    marks.ascii = seen & HIGHEST == 0;
}

/// Masks of 64 bytes: line feeds, and bytes that may separate arguments.
type LineMasks = [u64; 2];

/// `masks` adds all bytes to what was seen, which is returned in the end: whether a highest bit is
/// set needs to be known only once.
#[inline(always)]
fn lines_with<S>(
    buf: &[u8],
    len: usize,
    marks: &mut Marks,
    mut seen: S,
    masks: impl Fn(&[u8; 64], &mut S) -> LineMasks,
) -> S {
    let mut found = Found::default();
    let (chunks, rest) = buf[PAD..PAD + len].as_chunks();
    // Each is written below, so what an earlier block left needs not be cleared.
    marks.separators.resize(len.div_ceil(64), 0);
    let mut words = marks.separators.iter_mut();
    for (chunk, word) in chunks.iter().zip(&mut words) {
        let [feeds, separators] = masks(chunk, &mut seen);
        found.put(&mut marks.at, feeds);
        *word = separators;
    }
    if let Some(word) = words.next() {
        // Zeros match none of the bytes.
        let mut last = [0; 64];
        last[..rest.len()].copy_from_slice(rest);
        let [feeds, separators] = masks(&last, &mut seen);
        found.put(&mut marks.at, feeds);
        *word = separators;
    }
    marks.found = found.marks;
    seen
}

#[inline(always)]
fn line_masks_portable(chunk: &[u8; 64], seen: &mut u64) -> LineMasks {
    see(chunk, seen);
    [
        eight_by_eight(chunk, |word| equal(word, b'\n')),
        eight_by_eight(chunk, |word| {
            equal(word, b',') | equal(word, b':') | equal(word, b'(') | equal(word, b'"')
        }),
    ]
}

/// As [`lines_with`].
#[inline(always)]
fn structure_with<S>(
    buf: &[u8],
    len: usize,
    marks: &mut Marks,
    mut seen: S,
    masks: impl Fn(Shifted<'_>, &mut S) -> Masks,
) -> S {
    let mut found = Found::default();
    let text = &buf[PAD..PAD + len];
    // The first and the last 64 bytes are copied between zeros, which match none of the bytes:
    // nothing outside of the text counts.
    let mut edge = [0; 66];
    let first = &text[..len.min(64)];
    edge[2..2 + first.len()].copy_from_slice(first);
    found.add(&mut marks.at, masks(shifted(&edge), &mut seen));
    if len > 64 {
        let (here, rest) = text[64..].as_chunks();
        let (one_before, two_before) = (text[63..].as_chunks().0, text[62..].as_chunks().0);
        for ((here, one), two) in here.iter().zip(one_before).zip(two_before) {
            found.add(&mut marks.at, masks([here, one, two], &mut seen));
        }
        edge = [0; 66];
        edge[..2 + rest.len()].copy_from_slice(&text[len - rest.len() - 2..]);
        // The two bytes before the rest were seen, and a mark on them would be before the rest.
        found.add(&mut marks.at, masks(shifted(&edge), &mut seen));
    }
    marks.found = found.marks;
    marks.feeds = found.feeds;
    seen
}

/// The bytes from the third on, with those before them.
#[inline(always)]
fn shifted(bytes: &[u8; 66]) -> Shifted<'_> {
    let ([_, _, here @ ..], [_, one @ .., _], [two @ .., _, _]) = (bytes, bytes, bytes);
    [here, one, two]
}

#[derive(Default)]
struct Found {
    /// Position of the next 64 bytes.
    base: u32,
    marks: usize,
    feeds: usize,
}

impl Found {
    #[inline(always)]
    fn add(&mut self, at: &mut Vec<u32>, masks: Masks) {
        self.feeds += masks.newline.count_ones() as usize;
        self.put(at, masks.marks);
    }

    /// Writes the positions of the bits by index into existing room.
    #[inline(always)]
    fn put(&mut self, at: &mut Vec<u32>, bits: u64) {
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
    at.resize((2 * at.len() + 64).max(1024), 0);
}

#[inline(always)]
fn masks_portable([here, one_before, two_before]: Shifted<'_>, seen: &mut u64) -> Masks {
    see(here, seen);
    let newline = eight_by_eight(here, |word| equal(word, b'\n'));
    let ends = eight_by_eight(here, |word| equal(word, b' '))
        & eight_by_eight(one_before, |word| equal(word, b'='))
        & eight_by_eight(two_before, |word| equal(word, b' '));
    Masks { newline, marks: newline | ends }
}

/// Adds eight bytes at a time to `seen`, bit by bit.
#[inline(always)]
fn see(chunk: &[u8; 64], seen: &mut u64) {
    for word in chunk.as_chunks::<8>().0 {
        *seen |= u64::from_le_bytes(*word);
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

/// Where the first byte of `text` is that no name in ftrace has: one below `0`, a colon, or one
/// above 0x7f; 24 if there is none.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn name_end(text: &[u8; 24]) -> usize {
    x86::name_end(text)
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn name_end(text: &[u8; 24]) -> usize {
    text.iter().position(|&byte| !matches!(byte, b'0'..=0x7f) || byte == b':').unwrap_or(24)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn among_portable<const N: usize>(chunk: &[u8; 16], bytes: [u8; N]) -> u32 {
    chunk.iter().enumerate().fold(0, |m, (i, b)| m | u32::from(bytes.contains(b)) << i)
}

/// Asks the processor to fetch both ends of a text into its nearest cache, without waiting for it:
/// for texts that are far apart, and were written long ago.
#[inline]
pub(crate) fn fetch(text: &[u8]) {
    if let (Some(first), Some(last)) = (text.first(), text.last()) {
        fetch_place(first);
        fetch_place(last);
    }
}

/// The same for one place in memory.
#[inline]
pub(crate) fn fetch_place<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: it reads nothing, whatever the address, and every such processor has it.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86 {
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_cmpeq_epi8, _mm_cmplt_epi8, _mm_loadl_epi64, _mm_loadu_si128,
        _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8, _mm_setzero_si128,
        _mm_sub_epi8, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256,
        _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_setr_epi8,
        _mm256_setzero_si256, _mm256_shuffle_epi8,
    };

    use super::{LineMasks, Marks, Masks, Shifted, lines_with, structure_with};

    #[target_feature(enable = "avx2")]
    pub(crate) fn lines_avx2(buf: &[u8], len: usize, marks: &mut Marks) {
        let none = _mm256_setzero_si256();
        let seen = lines_with(buf, len, marks, none, |chunk, seen| line_masks_avx2(chunk, seen));
        marks.ascii = _mm256_movemask_epi8(seen) == 0;
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn line_masks_avx2(chunk: &[u8; 64], seen: &mut __m256i) -> LineMasks {
        let (low, high) = halves(chunk);
        *seen = _mm256_or_si256(*seen, _mm256_or_si256(low, high));
        // For each low half of a byte, the byte to find; 0 and 1 do not match any.
        let wanted = _mm256_setr_epi8(
            1, 0, 0x22, 0, 0, 0, 0, 0, 0x28, 0, 0x3a, 0, 0x2c, 0, 0, 0, //
            1, 0, 0x22, 0, 0, 0, 0, 0, 0x28, 0, 0x3a, 0, 0x2c, 0, 0, 0,
        );
        let separators = bits(
            _mm256_cmpeq_epi8(low, _mm256_shuffle_epi8(wanted, low)),
            _mm256_cmpeq_epi8(high, _mm256_shuffle_epi8(wanted, high)),
        );
        [bits(equal(low, b'\n'), equal(high, b'\n')), separators]
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

    #[inline(always)]
    #[allow(clippy::cast_ptr_alignment)] // The loads are those that need no alignment.
    pub(crate) fn name_end(text: &[u8; 24]) -> usize {
        // SAFETY: SSE2 is part of the architecture, and the loads take bytes 0 to 15, and 16 to 23.
        unsafe {
            let low = _mm_loadu_si128(text.as_ptr().cast::<__m128i>());
            let high = _mm_loadl_epi64(text.as_ptr().add(16).cast::<__m128i>());
            let ends = |bytes| {
                // With a sign, what is above 0x7f is below `0` as well.
                let below = _mm_cmplt_epi8(bytes, _mm_set1_epi8(b'0'.cast_signed()));
                let colon = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b':'.cast_signed()));
                _mm_movemask_epi8(_mm_or_si128(below, colon))
            };
            // The second load ends with eight zeros, which are below `0`.
            (ends(low) | ends(high) << 16).trailing_zeros() as usize
        }
    }

    #[target_feature(enable = "avx2,popcnt,bmi1")]
    pub(crate) fn structure_avx2(buf: &[u8], len: usize, marks: &mut Marks) {
        let none = _mm256_setzero_si256();
        let seen = structure_with(buf, len, marks, none, |chunk, seen| masks_avx2(chunk, seen));
        marks.ascii = _mm256_movemask_epi8(seen) == 0;
    }

    /// ` = ` is found where it ends: by the same bytes, read from one and two bytes before them.
    /// That takes fewer instructions than to shift masks and to carry bits from one to the next.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn masks_avx2([here, one_before, two_before]: Shifted<'_>, seen: &mut __m256i) -> Masks {
        let (low, high) = halves(here);
        let (low_one, high_one) = halves(one_before);
        let (low_two, high_two) = halves(two_before);
        *seen = _mm256_or_si256(*seen, _mm256_or_si256(low, high));
        let ends = |here, one, two| {
            _mm256_and_si256(
                _mm256_and_si256(equal(here, b' '), equal(one, b'=')),
                equal(two, b' '),
            )
        };
        let feeds = [equal(low, b'\n'), equal(high, b'\n')];
        Masks {
            newline: bits(feeds[0], feeds[1]),
            marks: bits(
                _mm256_or_si256(feeds[0], ends(low, low_one, low_two)),
                _mm256_or_si256(feeds[1], ends(high, high_one, high_two)),
            ),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn equal(bytes: __m256i, byte: u8) -> __m256i {
        _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte.cast_signed()))
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
            prop_assert_eq!(marks.positions(), &obvious(&text)[..]);
            prop_assert_eq!(marks.ascii, text.is_ascii());
            prop_assert_eq!(marks.feeds, text.split(|&b| b == b'\n').count() - 1);
            structure_portable(&buf, text.len(), &mut marks);
            prop_assert_eq!(marks.positions(), &obvious(&text)[..]);
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
                    lines_portable(&buf, text.len(), &mut marks);
                } else {
                    lines(&buf, text.len(), &mut marks);
                }
                prop_assert_eq!(marks.positions(), &feeds[..]);
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
