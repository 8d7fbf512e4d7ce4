//! The columns before a record in the default layout:
//! `COMM-PID [(TGID)] [CPU] [FLAGS] TIME: PAYLOAD`.

/// The columns of one record, and what follows them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Header {
    pub comm: Option<Vec<u8>>,
    /// Bytes before `-PID`, blanks on the left and all.
    pub before: usize,
    pub tid: Option<i32>,
    pub tgid: Option<i32>,
    pub cpu: Option<u16>,
    /// The text between the processor and the time.
    pub flags: Vec<u8>,
    pub ts: Option<i64>,
    /// The time is an integer of a clock that does not count seconds.
    pub ticks: bool,
    /// The time counts from the start of the log.
    pub since: bool,
    /// Where the payload starts.
    pub payload: usize,
}

/// The kernel aligns names to this width.
pub(crate) const WIDTH: usize = 16;

/// Reads the columns of a line. `None`: they are not there.
///
/// A name may itself look like columns. tracefs aligns it to 16 bytes, so `-PID` at that place
/// decides; where nothing is there, the first processor with a pid on its left and a time on
/// its right does.
pub fn header(line: &[u8]) -> Option<Header> {
    let brackets: Vec<usize> = (0..line.len()).filter(|&at| line[at] == b'[').collect();
    let all: Vec<Header> = brackets.iter().filter_map(|&at| around(line, at)).collect();
    let aligned = all.iter().find(|header| header.before == WIDTH);
    aligned.or(all.first()).cloned()
}

/// Where a second record starts on a line whose first one ends somewhere after `from`: the name
/// of its command takes `width` bytes.
pub(crate) fn second(
    line: &[u8],
    from: usize,
    width: usize,
    columns: fn(&[u8]) -> Option<Header>,
) -> Option<usize> {
    (from..line.len()).find(|&start| {
        line.get(start + width) == Some(&b'-')
            && columns(&line[start..]).is_some_and(|header| header.before == width)
    })
}

/// Reads the columns around the processor's bracket at `at`.
fn around(line: &[u8], at: usize) -> Option<Header> {
    let (left, right) = (&line[..at], &line[at + 1..]);
    let close = right.iter().position(|&b| b == b']')?;
    // What is too large for its column is not there; the record is.
    digits(&right[..close])?;
    let cpu: Option<u16> = number(&right[..close]);
    let after = at + 1 + close + 1;
    let (flags, ts, ticks, payload) = after_cpu(&line[after..])?;
    let (before, tid, tgid) = before_cpu(left)?;
    let comm = name_of(&line[..before], WIDTH)?;
    Some(Header {
        comm: Some(comm.to_vec()),
        before,
        tid: Some(tid),
        tgid,
        cpu,
        flags: flags.to_vec(),
        ts,
        ticks,
        payload: after + payload,
        ..Header::default()
    })
}

/// The name in the text before `-PID`, which aligns it to `width` bytes. trace-cmd puts the names
/// of the file and the buffer before it, or blanks.
pub(crate) fn name_of(text: &[u8], width: usize) -> Option<&[u8]> {
    // Text that was pasted has tabs before it.
    let pasted = width == WIDTH && text.first() == Some(&b'\t');
    let indent = text.iter().take_while(|&&b| pasted && matches!(b, b' ' | b'\t')).count();
    let text = &text[indent..];
    let prefix = &text[..text.len().saturating_sub(width)];
    let words: Vec<&[u8]> = prefix.split(|&b| b == b' ').filter(|word| !word.is_empty()).collect();
    let named = words.len() <= 2
        && words.iter().all(|word| {
            word.len() > 1 && word.iter().position(|&b| b == b':') == Some(word.len() - 1)
        });
    named.then(|| trim_start(&text[prefix.len()..])).or_else(|| long_name(text, width))
}

/// The whole name of a process, which systrace puts in: one word, longer than the column.
fn long_name(text: &[u8], width: usize) -> Option<&[u8]> {
    let words: Vec<&[u8]> = text.split(|&b| b == b' ').filter(|word| !word.is_empty()).collect();
    let (last, names) = words.split_last()?;
    let whole = width == WIDTH && last.len() > width && text.ends_with(last);
    let plain = !last.iter().any(|b| b"\"(=".contains(b));
    (whole && plain && names.iter().all(|name| name.ends_with(b":"))).then_some(last)
}

/// The line has a record's columns, whatever is before its pid.
pub(crate) fn has_columns(line: &[u8]) -> bool {
    let brackets = (0..line.len().min(256)).filter(|&at| line[at] == b'[');
    brackets.into_iter().any(|at| {
        let close = line[at..].iter().position(|&b| b == b']').map(|close| at + close);
        close.is_some_and(|close| {
            digits(&line[at + 1..close]).is_some()
                && after_cpu(&line[close + 1..]).is_some()
                && before_cpu(&line[..at]).is_some()
        })
    })
}

/// The line starts as a record does, and ends in its columns behind the processor.
pub(crate) fn is_cut(line: &[u8]) -> bool {
    let brackets = (0..line.len().min(256)).filter(|&at| line[at] == b'[');
    brackets.into_iter().any(|at| {
        let Some(close) = line[at..].iter().position(|&b| b == b']') else { return false };
        let named = before_cpu(&line[..at])
            .is_some_and(|(before, ..)| name_of(&line[..before], WIDTH).is_some());
        let rest = &line[at + close + 1..];
        let words: Vec<&[u8]> =
            rest.split(|&b| b == b' ').filter(|word| !word.is_empty()).collect();
        let time = |word: &[u8]| word.iter().all(|b| b.is_ascii_digit() || b".:".contains(b));
        let flags = |word: &[u8]| {
            b".dDbXx-".contains(&word[0])
                && word[1..].iter().all(|&b| b.is_ascii_alphanumeric() || b == b'.')
        };
        digits(&line[at + 1..at + close]).is_some()
            && named
            && match words[..] {
                [] => true,
                [one] => time(one) || flags(one),
                [one, two] => (time(one) || flags(one)) && time(two),
                _ => false,
            }
    })
}

/// `COMM-PID ` and perhaps `(TGID) `: how long the name is, and the numbers.
fn before_cpu(left: &[u8]) -> Option<(usize, i32, Option<i32>)> {
    let mut left = blanks_off(left)?;
    let mut tgid = None;
    if let Some(inner) = left.strip_suffix(b")") {
        let open = inner.iter().rposition(|&b| b == b'(')?;
        let text = trim_start(&inner[open + 1..]);
        let unknown = !text.is_empty() && text.iter().all(|&b| b == b'-');
        if !unknown {
            tgid = Some(number(text)?);
        }
        left = blanks_off(&inner[..open])?;
    }
    let dash = left.iter().rposition(|&b| b == b'-')?;
    Some((dash, number(&left[dash + 1..])?, tgid))
}

/// `[FLAGS] TIME: `: the flags, the time, whether it counts ticks, and where the payload starts.
fn after_cpu(right: &[u8]) -> Option<(&[u8], Option<i64>, bool, usize)> {
    let colon = right.iter().position(|&b| b == b':')?;
    let words: Vec<&[u8]> =
        right[..colon].split(|&b| b == b' ').filter(|word| !word.is_empty()).collect();
    let (flags, time): (&[u8], &[u8]) = match words[..] {
        [time] => (b"", time),
        [flags, time] if are_flags(flags) => (flags, time),
        _ => return None,
    };
    // Blanks only before the columns, which end with the time.
    if right[..colon].last() == Some(&b' ') {
        return None;
    }
    let (ts, ticks) = time_of(time)?;
    let blank = right.get(colon + 1) == Some(&b' ');
    Some((flags, ts, ticks, colon + 1 + usize::from(blank)))
}

/// Four characters up to 5.14, five since, six to eight where the kernel is a real-time one.
pub(crate) fn are_flags(word: &[u8]) -> bool {
    let known = |b: &u8| b.is_ascii_alphanumeric() || *b == b'.';
    // The first one is a letter or a dot.
    (4..=8).contains(&word.len()) && !word[0].is_ascii_digit() && word.iter().all(known)
}

/// Seconds with up to nine digits after the point, in ns, or an integer, which does not count them;
/// nothing where the time is too large.
pub(crate) fn time_of(text: &[u8]) -> Option<(Option<i64>, bool)> {
    let Some(point) = text.iter().position(|&b| b == b'.') else {
        return Some((number(digits(text)?), true));
    };
    let (seconds, fraction) = (digits(&text[..point])?, digits(&text[point + 1..])?);
    let unit = 10_i64.checked_pow(9_u32.checked_sub(u32::try_from(fraction.len()).ok()?)?)?;
    let nanos = |seconds: i64| {
        seconds.checked_mul(1_000_000_000)?.checked_add(number::<i64>(fraction)? * unit)
    };
    Some((number(seconds).and_then(nanos), false))
}

fn digits(text: &[u8]) -> Option<&[u8]> {
    (!text.is_empty() && text.iter().all(u8::is_ascii_digit)).then_some(text)
}

/// A decimal number of digits alone.
pub(crate) fn number<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(digits(text)?).ok()?.parse().ok()
}

/// Text without the blanks on its left.
pub(crate) fn trim_start(text: &[u8]) -> &[u8] {
    let from = text.iter().position(|&b| b != b' ').unwrap_or(text.len());
    &text[from..]
}

/// Text without the blanks on its right, of which there must be at least one.
fn blanks_off(text: &[u8]) -> Option<&[u8]> {
    let upto = text.iter().rposition(|&b| b != b' ').map_or(0, |at| at + 1);
    (upto < text.len()).then(|| &text[..upto])
}
