//! The hybrid of run-length encoding and bit packing in which Parquet keeps dictionary keys and
//! definition levels.
//!
//! Values are looked at in chunks of 64: equal chunks in a row become one run, all between two runs
//! is bit-packed. Finer runs would save few bytes, since each page is compressed afterwards, and
//! cost a branch per value.

use multiversion::multiversion;

use crate::sink::parquet::encoding::bit_packing::pack;

/// Values a chunk holds; a multiple of 8, as bit-packed runs must be, save the last.
const CHUNK: usize = 64;

/// Chunks of equal values that are worth an end of the bit-packed run before them.
const WORTH_A_RUN: usize = 4;

/// Bits needed for the keys of a dictionary. At least one: some readers refuse zero.
pub(crate) fn key_width(entries: usize) -> u32 {
    (usize::BITS - entries.saturating_sub(1).leading_zeros()).max(1)
}

/// Appends dictionary keys as a data page holds them: the bit width, then the runs.
pub(crate) fn put_keys(keys: &[u32], width: u32, out: &mut Vec<u8>) {
    debug_assert!((1..=32).contains(&width));
    out.push(width as u8);
    let chunks = keys.len().div_ceil(CHUNK);
    let chunk = |i: usize| &keys[i * CHUNK..keys.len().min((i + 1) * CHUNK)];
    let constant = |i: usize| {
        let chunk = chunk(i);
        let (first, last) = (chunk[0], chunk[chunk.len() - 1]);
        // All at once: that takes a few vector instructions.
        let same = || chunk.iter().fold(0, |other, &key| other | (key ^ first)) == 0;
        (first == last && same()).then_some(first)
    };
    for_each_run(chunks, constant, |run| match run {
        Run::Equal { value, from, to } => {
            put_varint(((keys.len().min(to * CHUNK) - from * CHUNK) as u64) << 1, out);
            out.extend_from_slice(&value.to_le_bytes()[..width.div_ceil(8) as usize]);
        }
        Run::Mixed { from, to } => {
            let keys = &keys[from * CHUNK..keys.len().min(to * CHUNK)];
            put_varint((keys.len().div_ceil(8) as u64) << 1 | 1, out);
            pack_keys(keys, width, out);
        }
    });
}

/// Appends one definition level per row, from the bits of validity: set where there is a value.
/// Bits beyond `rows` must be zero.
pub(crate) fn put_levels(words: &[u64], rows: usize, out: &mut Vec<u8>) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    let full = |i: usize| rows - i * CHUNK >= CHUNK;
    let constant = |i: usize| match words[i] {
        0 => Some(0),
        u64::MAX => Some(1),
        // The last chunk may be short.
        word if !full(i) && word == (1 << (rows % CHUNK)) - 1 => Some(1),
        _ => None,
    };
    for_each_run(words.len(), constant, |run| match run {
        Run::Equal { value, from, to } => {
            put_varint(((rows.min(to * CHUNK) - from * CHUNK) as u64) << 1, out);
            out.push(value as u8);
        }
        Run::Mixed { from, to } => {
            let bytes = (rows.min(to * CHUNK) - from * CHUNK).div_ceil(8);
            put_varint((bytes as u64) << 1 | 1, out);
            let start = out.len();
            out.extend(words[from..to].iter().flat_map(|word| word.to_le_bytes()));
            out.truncate(start + bytes);
        }
    });
    let length = (out.len() - at - 4) as u32;
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
}

/// Chunks that belong together.
enum Run {
    Equal { value: u32, from: usize, to: usize },
    Mixed { from: usize, to: usize },
}

/// Cuts `chunks` into runs. `constant` gives the value of a chunk that has only one.
fn for_each_run(chunks: usize, constant: impl Fn(usize) -> Option<u32>, mut emit: impl FnMut(Run)) {
    let mut mixed = 0;
    let mut at = 0;
    while at < chunks {
        let Some(value) = constant(at) else {
            at += 1;
            continue;
        };
        let from = at;
        while at < chunks && constant(at) == Some(value) {
            at += 1;
        }
        // A page of one value is one run, however short.
        if at - from >= WORTH_A_RUN || (from == 0 && at == chunks) {
            if mixed < from {
                emit(Run::Mixed { from: mixed, to: from });
            }
            emit(Run::Equal { value, from, to: at });
            mixed = at;
        }
    }
    if mixed < chunks {
        emit(Run::Mixed { from: mixed, to: chunks });
    }
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2"))]
fn pack_keys(keys: &[u32], width: u32, out: &mut Vec<u8>) {
    pack(keys, width, out);
}

/// Appends an unsigned number, seven bits a byte.
pub(crate) fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads runs back, in the slowest and plainest way.
    fn read(mut bytes: &[u8], width: u32, count: usize) -> Vec<u32> {
        let mut values = Vec::new();
        while values.len() < count {
            let mut header = 0_u64;
            for shift in (0..).step_by(7) {
                header |= u64::from(bytes[0] & 0x7f) << shift;
                let last = bytes[0] < 0x80;
                bytes = &bytes[1..];
                if last {
                    break;
                }
            }
            let n = (header >> 1) as usize;
            if header & 1 == 0 {
                let mut value = [0; 4];
                let length = width.div_ceil(8) as usize;
                value[..length].copy_from_slice(&bytes[..length]);
                bytes = &bytes[length..];
                values.resize(values.len() + n, u32::from_le_bytes(value));
            } else {
                for i in 0..n * 8 {
                    let bit = |j: usize| {
                        let at = i * width as usize + j;
                        u32::from(bytes[at / 8] >> (at % 8) & 1) << j
                    };
                    values.push((0..width as usize).map(bit).sum());
                }
                bytes = &bytes[n * width as usize..];
            }
        }
        assert!(bytes.is_empty());
        values.truncate(count);
        values
    }

    fn runs() -> impl Strategy<Value = (u32, Vec<u32>)> {
        (1_u32..=32).prop_flat_map(|width| {
            let top = u32::MAX >> (32 - width);
            let runs = prop::collection::vec((0..=top, 1_usize..400), 1..12);
            let noise = prop::collection::vec(0..=top, 0..300);
            (Just(width), runs, noise).prop_map(|(width, runs, noise)| {
                let mut keys: Vec<u32> =
                    runs.iter().flat_map(|&(key, n)| std::iter::repeat_n(key, n)).collect();
                let middle = keys.len() / 2;
                keys.splice(middle..middle, noise);
                (width, keys)
            })
        })
    }

    proptest! {
        #[test]
        fn keys_come_back((width, keys) in runs()) {
            let mut out = Vec::new();
            put_keys(&keys, width, &mut out);
            prop_assert_eq!(u32::from(out[0]), width);
            prop_assert_eq!(read(&out[1..], width, keys.len()), keys);
        }

        #[test]
        fn levels_come_back((_, keys) in runs()) {
            let levels: Vec<u32> = keys.iter().map(|key| key & 1).collect();
            let words: Vec<u64> = levels
                .chunks(64)
                .map(|c| c.iter().rev().fold(0, |word, &level| word << 1 | u64::from(level)))
                .collect();
            let mut out = Vec::new();
            put_levels(&words, levels.len(), &mut out);
            let length = u32::from_le_bytes([out[0], out[1], out[2], out[3]]) as usize;
            prop_assert_eq!(length, out.len() - 4);
            prop_assert_eq!(read(&out[4..], 1, levels.len()), levels);
        }
    }

    #[test]
    fn one_value_is_one_run() {
        let mut out = Vec::new();
        put_keys(&vec![5; 65_536], 3, &mut out);
        assert_eq!(out, [3, 0x80, 0x80, 0x08, 5]);
        out.clear();
        put_levels(&[u64::MAX, 0b111], 67, &mut out);
        assert_eq!(out, [3, 0, 0, 0, 0x86, 1, 1]);
    }

    #[test]
    fn widths() {
        assert_eq!([0, 1, 2, 3, 4, 5, 256, 257].map(key_width), [1, 1, 1, 2, 2, 3, 8, 9]);
    }
}
