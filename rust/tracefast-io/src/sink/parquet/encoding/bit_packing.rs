//! Integers of a few bits each, one after another, the least significant bit first, as Parquet
//! packs dictionary keys and differences.

/// Values that fill whole bytes at any width.
const GROUP: usize = 8;

/// Appends values of `width` bits, at most 64; the last group of eight is filled up with zeros.
///
/// Neighbours are joined to pairs, these to fours, as long as they fit into 64 bits: joining takes
/// one shift, and fewer words are then put one after another.
#[inline(always)] // For the processors that the caller is compiled for.
pub(crate) fn pack<T: Copy + Into<u64>>(values: &[T], width: u32, out: &mut Vec<u8>) {
    // Of each write of fixed length the end is cut off: that takes less than a write of its own
    // length.
    out.reserve(values.len().div_ceil(GROUP) * width as usize + size_of::<u128>());
    match width {
        0 => {}
        1..=8 => for_each_group(values, |group| {
            let [low, high] = fours(group, width);
            let end = out.len() + width as usize;
            out.extend_from_slice(&(low | high << (4 * width)).to_le_bytes());
            out.truncate(end);
        }),
        9..=16 => for_each_group(values, |group| {
            let [low, high] = fours(group, width);
            let end = out.len() + width as usize;
            let both = u128::from(low) | u128::from(high) << (4 * width);
            out.extend_from_slice(&both.to_le_bytes());
            out.truncate(end);
        }),
        17..=32 => {
            let mut words = Words::new(2 * width, out);
            for_each_group(values, |group| pairs(group, width).map(|pair| words.put(pair)));
            words.finish();
        }
        _ => {
            let mut words = Words::new(width, out);
            for_each_group(values, |group| group.map(|value| words.put(value)));
            words.finish();
        }
    }
}

#[inline(always)]
fn for_each_group<T: Copy + Into<u64>, R>(values: &[T], mut f: impl FnMut([u64; GROUP]) -> R) {
    let (groups, rest) = values.as_chunks::<GROUP>();
    for group in groups {
        f(group.map(Into::into));
    }
    if !rest.is_empty() {
        let mut group = [0; GROUP];
        for (place, &value) in group.iter_mut().zip(rest) {
            *place = value.into();
        }
        f(group);
    }
}

#[inline(always)]
fn pairs(group: [u64; GROUP], width: u32) -> [u64; 4] {
    let [a, b, c, d, e, f, g, h] = group;
    [a | b << width, c | d << width, e | f << width, g | h << width]
}

#[inline(always)]
fn fours(group: [u64; GROUP], width: u32) -> [u64; 2] {
    let [a, b, c, d] = pairs(group, width);
    [a | b << (2 * width), c | d << (2 * width)]
}

/// Puts words of more than 32 bits one after another.
struct Words<'a> {
    bits: u32,
    /// What is not written yet, and how many bits that is.
    word: u64,
    used: u32,
    out: &'a mut Vec<u8>,
}

impl<'a> Words<'a> {
    fn new(bits: u32, out: &'a mut Vec<u8>) -> Self {
        Self { bits, word: 0, used: 0, out }
    }

    #[inline(always)]
    fn put(&mut self, value: u64) {
        self.word |= value << self.used;
        self.used += self.bits;
        if self.used >= u64::BITS {
            self.out.extend_from_slice(&self.word.to_le_bytes());
            self.used -= u64::BITS;
            // The bits that did not fit. Shifting by all 64 bits is not possible, hence the test.
            self.word = if self.used == 0 { 0 } else { value >> (self.bits - self.used) };
        }
    }

    fn finish(self) {
        let bytes = self.used.div_ceil(u8::BITS) as usize;
        self.out.extend_from_slice(&self.word.to_le_bytes()[..bytes]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_bit_is_where_it_belongs(
            width in 0_u32..=64,
            values in prop::collection::vec(any::<u64>(), 0..100),
        ) {
            let cut = |value: &u64| if width == 0 { 0 } else { value >> (64 - width) };
            let values: Vec<u64> = values.iter().map(cut).collect();
            let mut out = vec![7];
            pack(&values, width, &mut out);
            let width = width as usize;
            prop_assert_eq!(out.len(), 1 + values.len().div_ceil(8) * width);
            let found = |bit: usize| out[1 + bit / 8] >> (bit % 8) & 1;
            for bit in 0..(out.len() - 1) * 8 {
                let expected = values.get(bit / width).map_or(0, |value| value >> (bit % width) & 1);
                prop_assert_eq!(u64::from(found(bit)), expected);
            }
        }
    }
}
