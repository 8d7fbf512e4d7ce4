//! Numbers in text.

/// The decimal digits at the start of `text`: their value and how many there are. More than 19
/// digits wrap.
#[inline]
pub(crate) fn digits(text: &[u8]) -> (u64, usize) {
    let mut value = 0u64;
    let mut n = 0;
    while let Some(digit) = text.get(n).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        n += 1;
    }
    (value, n)
}

/// The hexadecimal digits at the start of `text`: their value and how many there are.
#[inline]
pub(crate) fn hex_digits(text: &[u8]) -> (u64, usize) {
    let mut value = 0u64;
    let mut n = 0;
    while let Some(digit) = text.get(n).map(|&b| HEX[usize::from(b)]).filter(|&d| d < 16) {
        value = value << 4 | u64::from(digit);
        n += 1;
    }
    (value, n)
}

/// The value of each byte as a hexadecimal digit; 16 for other bytes.
static HEX: [u8; 256] = {
    let mut table = [16; 256];
    let mut digit = 0;
    while digit < 16 {
        let byte = b"0123456789abcdef"[digit];
        table[byte as usize] = digit as u8;
        table[byte.to_ascii_uppercase() as usize] = digit as u8;
        digit += 1;
    }
    table
};

/// An integer as C prints it at the start of `text`: decimal with a sign, `0x…`, or octal with a
/// leading 0. Values above `i64::MAX` wrap to negative ones, as registers do. Returns the value and
/// its length, which is 0 if there is none.
#[inline]
pub(crate) fn c_integer(text: &[u8]) -> (i64, usize) {
    match text {
        [b'-', rest @ ..] => {
            let (value, n) = digits(rest);
            if n == 0 { (0, 0) } else { ((value as i64).wrapping_neg(), n + 1) }
        }
        [b'0', b'x', rest @ ..] => {
            let (value, n) = hex_digits(rest);
            if n == 0 { (0, 1) } else { (value as i64, n + 2) }
        }
        [b'0', b'0'..=b'7', ..] => {
            let mut value = 0u64;
            let mut n = 0;
            while let Some(digit) = text.get(n).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 8) {
                value = value << 3 | u64::from(digit);
                n += 1;
            }
            (value as i64, n)
        }
        _ => {
            let (value, n) = digits(text);
            (value as i64, n)
        }
    }
}

/// All of `text` as an integer that C printed.
pub(crate) fn whole_integer(text: &[u8]) -> Option<i64> {
    let (value, n) = c_integer(text);
    (n > 0 && n == text.len()).then_some(value)
}

/// Seconds with a fraction of any precision, `SEC[.FRACTION]`, in nanoseconds, and its length.
#[inline]
pub(crate) fn seconds(text: &[u8]) -> Option<(i64, usize)> {
    let (whole, n) = digits(text);
    if n == 0 || n > 10 {
        return None;
    }
    // Ten digits can be more than 64 bits of nanoseconds hold.
    let whole = i64::try_from(whole).ok()?.checked_mul(1_000_000_000)?;
    if text.get(n) != Some(&b'.') {
        return Some((whole, n));
    }
    let (value, m) = digits(&text[n + 1..]);
    if m == 0 || m > 9 {
        return None;
    }
    Some((whole.checked_add(value as i64 * POWERS[9 - m])?, n + 1 + m))
}

/// Powers of ten.
pub(crate) const POWERS: [i64; 10] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// The decimal digits at the start of eight bytes: their value and how many there are, from 1 to
/// 7; `None` for none and for eight.
#[inline(always)]
pub(crate) fn short_digits(eight: [u8; 8]) -> Option<(u64, usize)> {
    let value = u64::from_le_bytes(eight) ^ 0x3030_3030_3030_3030;
    // The high bit of every byte that is not a digit.
    let others = (value.wrapping_add(0x7676_7676_7676_7676) | value) & 0x8080_8080_8080_8080;
    // A carry out of a byte above 0x89 may reach the byte after it, never one before.
    let n = others.trailing_zeros() as usize / 8;
    if n == 0 || n == 8 {
        return None;
    }
    Some((combine(value << (64 - 8 * n)), n))
}

/// The number with these eight decimal digits, the most significant first.
#[inline(always)]
pub(crate) fn combine(value: u64) -> u64 {
    let pairs = (value.wrapping_mul(10).wrapping_add(value >> 8)) & 0x00ff_00ff_00ff_00ff;
    let quads = (pairs.wrapping_mul(100).wrapping_add(pairs >> 16)) & 0x0000_ffff_0000_ffff;
    (quads.wrapping_mul(10_000).wrapping_add(quads >> 32)) & 0xffff_ffff
}

/// Eight digits at the start of `eight`, if they all are.
#[inline]
pub(crate) fn eight_digits(eight: [u8; 8]) -> Option<u64> {
    let word = u64::from_le_bytes(eight);
    let value = word.wrapping_sub(0x3030_3030_3030_3030);
    // A byte that is not a digit has another high nibble, or overflows it when 6 is added.
    if (value | value.wrapping_add(0x0606_0606_0606_0606)) & 0xf0f0_f0f0_f0f0_f0f0 != 0 {
        return None;
    }
    Some(combine(value))
}

/// The six digits between the bytes `first` and `last`, if `eight` is all that: a fraction in
/// microseconds with the bytes around it.
#[inline(always)]
pub(crate) fn six_digits(eight: [u8; 8], first: u8, last: u8) -> Option<u64> {
    let frame = 0x0030_3030_3030_3000 | u64::from(first) | u64::from(last) << 56;
    let value = u64::from_le_bytes(eight) ^ frame;
    let others = (value | value.wrapping_add(0x0006_0606_0606_0600)) & 0xfff0_f0f0_f0f0_f0ff;
    (others == 0).then(|| combine(value << 8))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn eight_digits_agrees(
            bytes in any::<[u8; 8]>(),
            tail in any::<[u8; 8]>(),
            cut in 0usize..8,
            n in 0u64..100_000_000,
        ) {
            let text = format!("{n:08}");
            let eight: [u8; 8] = text.as_bytes().try_into().expect("eight digits");
            prop_assert_eq!(eight_digits(eight), Some(n));
            let expected = bytes.iter().all(u8::is_ascii_digit).then(|| digits(&bytes).0);
            prop_assert_eq!(eight_digits(bytes), expected);
            for frame in [bytes, tail] {
                let mut framed = frame;
                framed[1..7].copy_from_slice(&eight[2..]);
                let expected = (framed[0] == frame[0] && framed[7] == b'>').then_some(n % 1_000_000);
                prop_assert_eq!(six_digits(framed, frame[0], b'>'), expected);
                let changed = cut.min(6);
                framed[1..=changed].copy_from_slice(&tail[..changed]);
                let digits = framed[1..7].iter().all(u8::is_ascii_digit);
                prop_assert_eq!(six_digits(framed, frame[0], framed[7]).is_some(), digits);
                prop_assert_eq!(six_digits(framed, frame[0] ^ 1, framed[7]), None);
            }
            let (value, len) = digits(&bytes);
            let mut mixed = eight;
            mixed[cut..].copy_from_slice(&tail[cut..]);
            let (value_mixed, len_mixed) = digits(&mixed);
            let short_mixed = (1..8).contains(&len_mixed).then_some((value_mixed, len_mixed));
            prop_assert_eq!(short_digits(mixed), short_mixed);
            let short = (1..8).contains(&len).then_some((value, len));
            prop_assert_eq!(short_digits(bytes), short);
        }
    }

    #[test]
    fn fractions_of_any_precision() {
        assert_eq!(seconds(b"12.5 "), Some((12_500_000_000, 4)));
        assert_eq!(seconds(b"0.000017>"), Some((17_000, 8)));
        assert_eq!(seconds(b"7"), Some((7_000_000_000, 1)));
        assert_eq!(seconds(b"1."), None);
        assert_eq!(seconds(b".5"), None);
        assert_eq!(seconds(b"9223372037.9"), None);
    }

    #[test]
    fn example_of_c_integer() {
        use crate::text::number::c_integer;
        assert_eq!(c_integer(b"-100, x"), (-100, 4));
        assert_eq!(c_integer(b"0xffffffffffffff9c)"), (-100, 18));
        assert_eq!(c_integer(b"0644"), (0o644, 4));
        assert_eq!(c_integer(b"NULL"), (0, 0));
    }
}
