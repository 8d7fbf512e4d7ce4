//! From a validity mask for each row to a bitmap for each column.

use std::borrow::Cow;

use multiversion::multiversion;

use crate::events::schema::COLUMNS;

/// The bitmaps of all columns one after another, each of whole words. The masks of 64 rows are a
/// square of bits, which is transposed.
pub(crate) fn planes(parts: &[Cow<'_, [u64]>], len: usize) -> Vec<u64> {
    let words = len.div_ceil(64);
    let mut planes = vec![0; COLUMNS.len() * words];
    let mut square = [0; 64];
    let (mut filled, mut at) = (0, 0);
    let mut put = |square: &mut [u64; 64], at: usize| {
        transpose(square);
        for (plane, &bits) in planes.chunks_exact_mut(words).zip(square.iter()) {
            plane[at] = bits;
        }
    };
    for part in parts {
        let mut valid = &**part;
        while !valid.is_empty() {
            let (chunk, rest) = valid.split_at(valid.len().min(64 - filled));
            square[filled..filled + chunk.len()].copy_from_slice(chunk);
            filled += chunk.len();
            valid = rest;
            if filled == 64 {
                put(&mut square, at);
                (filled, at) = (0, at + 1);
            }
        }
    }
    if filled > 0 {
        square[filled..].fill(0);
        put(&mut square, at);
    }
    planes
}

/// Bit `c` of word `r` becomes bit `r` of word `c`: smaller and smaller blocks beside the diagonal
/// change places (H. S. Warren, Hacker's Delight, 7-3).
#[multiversion(targets("x86_64+avx2+bmi1+bmi2"))]
fn transpose(square: &mut [u64; 64]) {
    let mut size = 32;
    let mut mask = u64::MAX >> 32;
    while size > 0 {
        for pair in square.chunks_exact_mut(2 * size) {
            let (upper, lower) = pair.split_at_mut(size);
            for (upper, lower) in upper.iter_mut().zip(lower) {
                let swapped = ((*upper >> size) ^ *lower) & mask;
                *upper ^= swapped << size;
                *lower ^= swapped;
            }
        }
        size /= 2;
        mask ^= mask << size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_transposed() {
        let mut random = 1u64;
        let mut square: [u64; 64] = std::array::from_fn(|_| {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            random ^ random >> 29
        });
        let before = square;
        transpose(&mut square);
        for (column, turned) in square.iter().enumerate() {
            for (row, straight) in before.iter().enumerate() {
                assert_eq!(turned >> row & 1, straight >> column & 1);
            }
        }
    }
}
