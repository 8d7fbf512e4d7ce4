//! Dates and times that other programs put before a line.

use crate::text::number;

/// What times count from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Midnight, in a time zone that the text does not show.
    Day,
    /// 1970 in Greenwich.
    Epoch,
}

/// A date, a time or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Its length in the text.
    pub(crate) len: usize,
    /// Time in ns.
    pub(crate) ns: i64,
    /// Since 1970 if it has a date and a time zone, else of day.
    pub(crate) clock: Clock,
}

/// `2023-01-01T00:00:00.0000000Z`, with a blank instead of the `T` or another zone, or without a
/// zone: CI jobs, containers, journald.
pub(crate) fn iso(text: &[u8]) -> Option<Stamp> {
    let date = text.first_chunk::<10>()?;
    if date[4] != b'-' || date[7] != b'-' || !matches!(text.get(10), Some(b'T' | b' ')) {
        return None;
    }
    let year = fixed(&date[..4])?;
    let (month, day) = (fixed(&date[5..7])?, fixed(&date[8..])?);
    let time = time_of_day(&text[11..])?;
    let len = 11 + time.len;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let Some((seconds, n)) = zone(&text[len..]) else {
        return (!is_more(text.get(len))).then_some(Stamp { len, ..time });
    };
    let seconds = days(year, month, day) * 86_400 - seconds;
    let ns = seconds.checked_mul(1_000_000_000)?.checked_add(time.ns)?;
    (!is_more(text.get(len + n))).then_some(Stamp { len: len + n, ns, clock: Clock::Epoch })
}

/// `Jan 01 00:00:00`, with or without a fraction: syslog, journald, `ts`.
pub(crate) fn syslog(text: &[u8]) -> Option<Stamp> {
    const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let head = text.first_chunk::<7>()?;
    let is_month = MONTHS.chunks(3).any(|month| month == &head[..3]);
    let is_day = matches!(head[4], b' ' | b'0'..=b'3') && head[5].is_ascii_digit();
    if !is_month || head[3] != b' ' || !is_day || head[6] != b' ' {
        return None;
    }
    let time = time_of_day(&text[7..])?;
    Some(Stamp { len: 7 + time.len, ..time })
}

/// `00:00:00`, with or without a fraction after a point or a comma.
pub(crate) fn time_of_day(text: &[u8]) -> Option<Stamp> {
    let time = text.first_chunk::<8>()?;
    if time[2] != b':' || time[5] != b':' {
        return None;
    }
    let (hours, minutes) = (fixed(&time[..2])?, fixed(&time[3..5])?);
    let seconds = fixed(&time[6..])?;
    let mut len = 8;
    let mut ns = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000;
    if matches!(text.get(8), Some(b'.' | b',')) {
        let (value, n) = number::digits(&text[9..]);
        let power = number::POWERS.get(9usize.checked_sub(n)?)?;
        if n > 0 {
            ns += value as i64 * power;
            len = 9 + n;
        }
    }
    // The number of a line can come before a time: `12:07:00:00`.
    let more = matches!(text.get(len), Some(b':' | b'0'..=b'9'));
    (hours < 24 && minutes < 60 && seconds <= 60 && !more).then_some(Stamp {
        len,
        ns,
        clock: Clock::Day,
    })
}

/// `Z`, `+01:00`, `+0100`: seconds east of Greenwich, and its length.
fn zone(text: &[u8]) -> Option<(i64, usize)> {
    let sign = match text.first()? {
        b'Z' => return Some((0, 1)),
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let hours = fixed(text.get(1..3)?)?;
    let colon = usize::from(text.get(3) == Some(&b':'));
    let minutes = fixed(text.get(3 + colon..5 + colon)?)?;
    (hours < 24 && minutes < 60).then_some((sign * (hours * 60 + minutes) * 60, 5 + colon))
}

fn is_more(byte: Option<&u8>) -> bool {
    byte.is_some_and(u8::is_ascii_alphanumeric)
}

/// The value of text that is digits only.
fn fixed(text: &[u8]) -> Option<i64> {
    let (value, n) = number::digits(text);
    (n == text.len()).then_some(value as i64)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years that start in March have their leap day at the end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leaps + (month * 153 + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_with_a_zone_count_from_1970() {
        for (text, ns) in [
            ("1970-01-01T00:00:00Z x", 0),
            ("1970-03-01T00:00:01.5Z", 59 * 86_400_000_000_000 + 1_500_000_000),
            ("2023-01-01T00:00:00.0000000Z ", 1_672_531_200_000_000_000),
            ("2024-02-29 23:59:59.123456789+01:00 ", 1_709_247_599_123_456_789),
            ("2023-01-01T00:00:00-0130 ", 1_672_536_600_000_000_000),
        ] {
            let found = iso(text.as_bytes()).expect(text);
            assert_eq!((found.ns, found.clock), (ns, Clock::Epoch), "{text}");
            assert_eq!(found.len, text.find(" x").unwrap_or(text.trim_end().len()), "{text}");
        }
    }

    #[test]
    fn without_a_zone_only_the_time_of_day_is_known() {
        let second = Stamp { len: 15, ns: 1_000_000_000, clock: Clock::Day };
        assert_eq!(syslog(b"Jan 01 00:00:01 host"), Some(second));
        assert_eq!(syslog(b"Dec  1 00:00:01 host"), Some(second));
        assert_eq!(
            iso(b"2023-01-01 00:00:01,5 x").map(|s| (s.len, s.clock)),
            Some((21, Clock::Day))
        );
        assert_eq!(time_of_day(b"00:00:01 x"), Some(Stamp { len: 8, ..second }));
    }

    #[test]
    fn other_text_is_no_date() {
        for text in ["", "2023-01-01", "2023-13-01T00:00:00Z", "2023-01-01T00:00:00Zulu"] {
            assert_eq!(iso(text.as_bytes()), None, "{text}");
        }
        for text in ["Jax 01 00:00:00", "Jan 41 00:00:00", "Jan 01 24:00:00", "Jan 01 00:00"] {
            assert_eq!(syslog(text.as_bytes()), None, "{text}");
        }
        assert_eq!(time_of_day(b"12:07:00:00 x"), None);
        assert_eq!(time_of_day(b"12:07:00.1234567890"), None);
    }
}
