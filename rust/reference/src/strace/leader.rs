//! The columns before an event, and a slow way to find which there are.

use crate::strace::cursor::Cursor;
use crate::strace::{Delta, Event, Layout, Line, Pid, Time, line};

/// Reads the columns of `layout`. `None`: they are not there.
pub(crate) fn leader(layout: &Layout, cursor: &mut Cursor<'_>) -> Option<Line> {
    let (pid, comm) = pid(layout, cursor)?;
    let mut extra = Vec::new();
    if layout.context {
        // Unlike numbers it is not padded.
        if cursor.rest().starts_with(b"[ ") {
            return None;
        }
        extra.push(column(cursor, |b| b.is_ascii_graphic() && b != b'[' && b != b']')?);
    }
    let time = match layout.time {
        Time::None => None,
        Time::Day => Some(day(cursor)?),
        // The time of a clock that was never set looks like other numbers.
        Time::Epoch => Some(cursor.seconds().filter(|&ns| ns >= 100_000_000_000_000_000)?),
    };
    if time.is_some() && !cursor.eat(b" ") {
        return None;
    }
    let delta = match layout.delta {
        Delta::None => None,
        Delta::Plain => Some(padded(cursor)?),
        Delta::Parens => {
            let there = cursor.eat(b"(+");
            let delta = padded(cursor)?;
            (there && cursor.eat(b")")).then_some(Some(delta))?
        }
    };
    if delta.is_some() && !cursor.eat(b" ") {
        return None;
    }
    if layout.number {
        let from = cursor.at;
        let number = column(cursor, |b| b.is_ascii_digit() || b == b'?')?;
        let padded = cursor.at - from == number.len().max(4) + 3;
        // A number that the kernel did not fill in has up to 20 digits.
        let digits = number.len() <= 20 && number.iter().all(u8::is_ascii_digit);
        let known = digits && !number.starts_with(b"00");
        extra.push((padded && (known || number == b"???")).then_some(number)?);
    }
    if layout.pointer {
        let from = cursor.at;
        let pointer = column(cursor, |b| b.is_ascii_hexdigit() || b == b'?')?;
        let whole = !pointer.contains(&b'?') || pointer.iter().all(|&b| b == b'?');
        // Padded by blanks to 16 up to 4.5.
        let padded = cursor.at - from <= 16 + 3;
        extra.push((matches!(pointer.len(), 8 | 16) && whole && padded).then_some(pointer)?);
    }
    Some(Line { pid, comm, time, delta, extra, event: Event::Nothing })
}

/// `None`: not there; the pair within may be empty, where the column comes and goes.
#[allow(clippy::type_complexity)] // Two columns, one of which holds the other.
fn pid(layout: &Layout, cursor: &mut Cursor<'_>) -> Option<(Option<i32>, Option<Vec<u8>>)> {
    match layout.pid {
        Pid::None => Some((None, None)),
        Pid::Plain => {
            let from = cursor.at;
            let pid = number(cursor)?;
            let comm = comm(cursor)?;
            // The pid is padded to five places, the comm not at all, and a blank follows.
            while comm.is_none() && cursor.at - from < 5 {
                cursor.eat(b" ").then_some(())?;
            }
            let there = cursor.eat(b" ");
            // Logs that were merged from one for each task have a wider column.
            if layout.delta != Delta::Plain && comm.is_none() {
                cursor.span(|b| b == b' ');
            }
            there.then_some((Some(pid), comm))
        }
        Pid::Bracket => {
            if !cursor.eat(b"[pid ") {
                return Some((None, None));
            }
            cursor.span(|b| b == b' ');
            let pid = number(cursor)?;
            let comm = comm(cursor)?;
            cursor.eat(b"] ").then_some((Some(pid), comm))
        }
    }
}

/// A task; Linux has no numbers beyond 2^22.
fn number(cursor: &mut Cursor<'_>) -> Option<i32> {
    let zero = cursor.looks_at(b"0");
    i32::try_from(cursor.decimal()?).ok().filter(|pid| !zero && *pid <= 1 << 22)
}

/// `<name>` after a pid, which may be missing.
#[allow(clippy::option_option)] // No opinion, no name, a name.
fn comm(cursor: &mut Cursor<'_>) -> Option<Option<Vec<u8>>> {
    if !cursor.eat(b"<") {
        return Some(None);
    }
    let comm = cursor.span(|b| matches!(b, b' '..=b'~') && b != b'<' && b != b'>').to_vec();
    cursor.eat(b">").then_some(Some(comm))
}

/// `[   text] ` without the blanks.
fn column(cursor: &mut Cursor<'_>, kind: impl Fn(u8) -> bool) -> Option<Vec<u8>> {
    if !cursor.eat(b"[") {
        return None;
    }
    cursor.span(|b| b == b' ');
    let text = cursor.span(kind).to_vec();
    (!text.is_empty() && cursor.eat(b"] ")).then_some(text)
}

/// `HH:MM:SS.fraction` in ns since midnight.
fn day(cursor: &mut Cursor<'_>) -> Option<i64> {
    let two = |cursor: &mut Cursor<'_>, limit: i64| {
        let text = cursor.rest().get(..2)?;
        let value = std::str::from_utf8(text).ok()?.parse::<u8>().ok()?;
        cursor.at += 2;
        (text[0].is_ascii_digit() && i64::from(value) < limit).then_some(i64::from(value))
    };
    let hours = two(cursor, 24)?;
    let minutes = cursor.eat(b":").then(|| two(cursor, 60))??;
    if !cursor.eat(b":") || !cursor.rest().get(..2)?.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let seconds = cursor.seconds()?;
    // A leap second.
    (seconds < 61_000_000_000).then_some((hours * 60 + minutes) * 60_000_000_000 + seconds)
}

/// Seconds, padded to six places.
fn padded(cursor: &mut Cursor<'_>) -> Option<i64> {
    let from = cursor.at;
    let blanks = cursor.span(|b| b == b' ').len();
    let mut digits = cursor.clone();
    digits.decimal()?;
    let width = digits.at - from;
    (width == 6 || (width > 6 && blanks == 0)).then(|| cursor.seconds())?
}

/// Every layout there can be, the simplest first.
fn layouts() -> Vec<Layout> {
    let mut out = Vec::new();
    for pid in [Pid::None, Pid::Plain, Pid::Bracket] {
        for time in [Time::None, Time::Day, Time::Epoch] {
            for delta in [Delta::None, Delta::Plain, Delta::Parens] {
                for flags in 0..16 {
                    let [context, number, pointer, times] = [1, 2, 4, 8].map(|bit| flags & bit > 0);
                    out.push(Layout { pid, context, time, delta, number, pointer, times });
                }
            }
        }
    }
    out
}

/// The layout in which the most of `lines` say something; the simplest, if several are as good.
pub fn sniff(lines: &[&[u8]]) -> Layout {
    let mut best = (0, Layout::default());
    for layout in layouts() {
        let says = |text: &&&[u8]| {
            line(&layout, text).is_some_and(|line| {
                // A column that comes and goes has to come.
                line.event != Event::Nothing && (layout.pid == Pid::None || line.pid.is_some())
            })
        };
        let hits = lines.iter().filter(says).count();
        if hits > best.0 {
            best = (hits, layout);
        }
    }
    best.1
}
