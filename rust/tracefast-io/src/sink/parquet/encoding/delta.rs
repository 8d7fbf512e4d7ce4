//! `DELTA_BINARY_PACKED` for integers and `DELTA_BYTE_ARRAY` for texts.

use multiversion::multiversion;

use crate::sink::parquet::encoding::bit_packing::pack;
use crate::sink::parquet::encoding::rle_bit_packed::put_varint;

/// Values a block holds, and a miniblock, which has a bit width of its own.
const BLOCK: usize = 128;
const MINIBLOCK: usize = 32;

/// Width of the integers in the file. Differences wrap at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// 32 bits, sign-extended.
    W32,
    /// 64 bits.
    W64,
}

impl Width {
    /// Bytes that a plain value takes.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::W32 => 4,
            Self::W64 => 8,
        }
    }
}

/// Appends integers as differences, each block relative to its smallest.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2"))]
pub(crate) fn put_integers(values: &[i64], width: Width, out: &mut Vec<u8>) {
    put_varint(BLOCK as u64, out);
    put_varint((BLOCK / MINIBLOCK) as u64, out);
    put_varint(values.len() as u64, out);
    let Some((&first, rest)) = values.split_first() else {
        return put_varint(0, out);
    };
    put_varint(zigzag(first), out);
    let mut deltas = [0_i64; BLOCK];
    for (block, before) in rest.chunks(BLOCK).zip(values.chunks(BLOCK)) {
        let deltas = &mut deltas[..block.len()];
        for ((delta, &value), &before) in deltas.iter_mut().zip(block).zip(before) {
            *delta = value.wrapping_sub(before);
        }
        if width == Width::W32 {
            for delta in &mut *deltas {
                *delta = i64::from(*delta as i32);
            }
        }
        put_block(deltas, out);
    }
}

#[inline(always)]
fn put_block(deltas: &[i64], out: &mut Vec<u8>) {
    let least = deltas.iter().copied().min().unwrap_or(0);
    put_varint(zigzag(least), out);
    let widths = out.len();
    out.extend_from_slice(&[0; BLOCK / MINIBLOCK]);
    for (i, mini) in deltas.chunks(MINIBLOCK).enumerate() {
        // The rest of the last miniblock stays zero.
        let mut above = [0_u64; MINIBLOCK];
        let mut all = 0;
        for (above, &delta) in above.iter_mut().zip(mini) {
            *above = delta.wrapping_sub(least) as u64;
            all |= *above;
        }
        let bits = u64::BITS - all.leading_zeros();
        out[widths + i] = bits as u8;
        pack(&above, bits, out);
    }
}

fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// Texts of one page, cut into what each shares with the one before it and what it adds.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    shared: Vec<i64>,
    added: Vec<i64>,
    bytes: Vec<u8>,
}

impl Texts {
    /// Forgets everything, keeps the memory, unless it has become unusually large.
    pub(crate) fn clear(&mut self) {
        self.shared.clear();
        self.added.clear();
        self.bytes.clear();
        self.bytes.shrink_to(16 << 20);
    }

    /// Appends one text. `previous` is the one appended before it, empty at first.
    #[inline]
    pub(crate) fn push(&mut self, text: &[u8], previous: &[u8]) {
        let shared = common_prefix(text, previous);
        self.shared.push(shared as i64);
        self.added.push((text.len() - shared) as i64);
        self.bytes.extend_from_slice(&text[shared..]);
    }

    /// Appends the page's values in `DELTA_BYTE_ARRAY`.
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_integers(&self.shared, Width::W32, out);
        put_integers(&self.added, Width::W32, out);
        out.extend_from_slice(&self.bytes);
    }

    /// Appends a page's only value.
    pub(crate) fn put_one(text: &[u8], out: &mut Vec<u8>) {
        put_integers(&[0], Width::W32, out);
        put_integers(&[text.len() as i64], Width::W32, out);
        out.reserve_exact(text.len());
        out.extend_from_slice(text);
    }
}

#[inline]
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let length = a.len().min(b.len());
    let (a, b) = (&a[..length], &b[..length]);
    let mut at = 0;
    for (x, y) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        let differ = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if differ != 0 {
            return at + differ.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + a[at..].iter().zip(&b[at..]).take_while(|(x, y)| x == y).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads integers back, in the slowest and plainest way; returns what follows too.
    fn read(mut bytes: &[u8], width: Width) -> (Vec<i64>, &[u8]) {
        fn varint(bytes: &mut &[u8]) -> u64 {
            let mut value = 0;
            for shift in (0..).step_by(7) {
                let byte = bytes[0];
                *bytes = &bytes[1..];
                value |= u64::from(byte & 0x7f) << shift;
                if byte < 0x80 {
                    break;
                }
            }
            value
        }
        fn unzigzag(value: u64) -> i64 {
            (value >> 1) as i64 ^ -((value & 1) as i64)
        }
        let bytes = &mut bytes;
        assert_eq!(varint(bytes), 128);
        assert_eq!(varint(bytes), 4);
        let count = varint(bytes) as usize;
        let first = unzigzag(varint(bytes));
        let mut values = Vec::new();
        if count > 0 {
            values.push(first);
        }
        while values.len() < count {
            let least = unzigzag(varint(bytes));
            let widths = &bytes[..4];
            *bytes = &bytes[4..];
            for &bits in widths {
                if values.len() == count {
                    break;
                }
                for i in 0..32 {
                    let mut delta = 0_u64;
                    for j in 0..usize::from(bits) {
                        let at = i * usize::from(bits) + j;
                        delta |= u64::from(bytes[at / 8] >> (at % 8) & 1) << j;
                    }
                    if values.len() < count {
                        let previous = values[values.len() - 1];
                        let mut value = previous.wrapping_add(least).wrapping_add(delta as i64);
                        if width == Width::W32 {
                            value = i64::from(value as i32);
                        }
                        values.push(value);
                    }
                }
                *bytes = &bytes[usize::from(bits) * 4..];
            }
        }
        (values, bytes)
    }

    proptest! {
        #[test]
        fn integers_come_back(values in prop::collection::vec(any::<i64>(), 0..700), shift in 0..64) {
            let values: Vec<i64> = values.iter().map(|v| v >> shift).collect();
            let mut out = Vec::new();
            put_integers(&values, Width::W64, &mut out);
            prop_assert_eq!(read(&out, Width::W64), (values, &[][..]));
        }

        #[test]
        fn short_integers_come_back(values in prop::collection::vec(any::<i32>(), 0..700)) {
            let values: Vec<i64> = values.iter().map(|&v| i64::from(v)).collect();
            let mut out = Vec::new();
            put_integers(&values, Width::W32, &mut out);
            // No difference may need more than 32 bits, or readers refuse the block.
            prop_assert!(out.len() <= 40 + values.len().next_multiple_of(32) * 4 + values.len() / 8);
            prop_assert_eq!(read(&out, Width::W32), (values, &[][..]));
        }

        #[test]
        fn prefixes(a in "[ab]{0,40}", b in "[ab]{0,40}") {
            let plain = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
            prop_assert_eq!(common_prefix(a.as_bytes(), b.as_bytes()), plain);
        }
    }

    #[test]
    fn extremes_come_back() {
        let values = [i64::MIN, i64::MAX, 0, i64::MAX, i64::MIN, -1, 1];
        let mut out = Vec::new();
        put_integers(&values, Width::W64, &mut out);
        assert_eq!(read(&out, Width::W64).0, values);
    }

    #[test]
    fn texts_share_their_beginning() {
        let mut texts = Texts::default();
        let mut previous: &[u8] = b"";
        for text in [&b"/usr/lib/a"[..], b"/usr/lib/b", b"", b"/usr"] {
            texts.push(text, previous);
            previous = text;
        }
        assert_eq!(texts.shared, [0, 9, 0, 0]);
        assert_eq!(texts.added, [10, 1, 0, 4]);
        let mut out = Vec::new();
        texts.put(&mut out);
        let (shared, rest) = read(&out, Width::W32);
        assert_eq!(shared, texts.shared);
        let (added, rest) = read(rest, Width::W32);
        assert_eq!(added, texts.added);
        assert_eq!(rest, b"/usr/lib/ab/usr");
    }
}
