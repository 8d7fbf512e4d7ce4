//! The numbers of the columns, and what ends them.

use crate::ftrace::header::Clock;
use crate::text::number;

/// A decimal number of at most 19 digits and where it ends.
#[inline]
pub(crate) fn number(line: &[u8], at: usize) -> Option<(u64, usize)> {
    let (value, n) = number::digits(line.get(at..)?);
    (n > 0 && n < 20).then_some((value, at + n))
}

/// `SECONDS.FRACTION` in nanoseconds, or an integer unchanged; then what it counts, and where it
/// ends.
#[inline]
pub(crate) fn timestamp(line: &[u8], at: usize) -> Option<(Option<i64>, Clock, usize)> {
    let (whole, n) = number::digits(line.get(at..)?);
    let point = at + n;
    if n == 0 || n > 20 {
        return None;
    }
    if line.get(point) != Some(&b'.') {
        let value = if n < 20 { i64::try_from(whole).ok() } else { None };
        return Some((value, Clock::Ticks, point));
    }
    let (fraction, m) = number::digits(&line[point + 1..]);
    if m == 0 || m > 9 {
        return None;
    }
    let fraction = fraction as i64 * number::POWERS[9 - m];
    let whole = if n < 20 { i64::try_from(whole).ok() } else { None };
    let time = whole
        .and_then(|whole| whole.checked_mul(1_000_000_000))
        .and_then(|whole| whole.checked_add(fraction));
    Some((time, Clock::Uptime, point + 1 + m))
}

/// Where the payload starts, if the colon before it is at `colon`.
#[inline]
pub(crate) fn after_colon(line: &[u8], colon: usize) -> usize {
    if line.get(colon + 1) == Some(&b' ') { colon + 2 } else { colon + 1 }
}
