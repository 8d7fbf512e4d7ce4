//! Walking over the values that are not null.

use std::ops::Range;

use arrow_buffer::NullBuffer;

/// Calls `f` with the position of each value that is not null, in order.
#[inline]
pub(crate) fn for_each_valid(nulls: Option<&NullBuffer>, length: usize, mut f: impl FnMut(usize)) {
    walk(nulls, length, &mut f, |f, range| range.for_each(f), |f, at| f(at));
}

/// Calls `many` with ranges of values without a null, and `one` with the positions of the
/// others that are not, all in order: most columns have long stretches of one or the other.
#[inline]
pub(crate) fn walk<T>(
    nulls: Option<&NullBuffer>,
    length: usize,
    to: &mut T,
    many: impl Fn(&mut T, Range<usize>),
    one: impl Fn(&mut T, usize),
) {
    let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else {
        return many(to, 0..length);
    };
    if nulls.null_count() == length {
        return;
    }
    for (i, mut word) in nulls.inner().bit_chunks().iter_padded().enumerate() {
        let start = i * 64;
        if word == u64::MAX && start + 64 <= length {
            many(to, start..start + 64);
            continue;
        }
        while word != 0 {
            let at = start + word.trailing_zeros() as usize;
            if at >= length {
                return;
            }
            one(to, at);
            word &= word - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn positions_are_those_of_the_bits(
            bits in prop::collection::vec(prop::bool::weighted(0.8), 0..300),
            skip in 0_usize..70,
        ) {
            let skip = skip.min(bits.len());
            // A slice that starts in the middle of a byte.
            let nulls = NullBuffer::from(bits.clone()).slice(skip, bits.len() - skip);
            let expected: Vec<usize> =
                (0..nulls.len()).filter(|&i| bits[skip + i]).collect();
            let mut found = Vec::new();
            for_each_valid(Some(&nulls), nulls.len(), |i| found.push(i));
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn without_nulls_every_position_counts() {
        let mut found = Vec::new();
        for_each_valid(None, 3, |i| found.push(i));
        assert_eq!(found, [0, 1, 2]);
        for_each_valid(Some(&NullBuffer::new_null(100)), 100, |_| panic!("all are null"));
    }
}
