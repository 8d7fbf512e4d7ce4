//! Calls, whole and in halves.

use crate::strace::arguments::{Stop, group};
use crate::strace::cursor::Cursor;
use crate::strace::result::outcome;
use crate::strace::{Ending, Event, Layout};

/// Reads `name(…` to the end of the line. `None`: no opinion.
pub fn call(layout: &Layout, text: &[u8]) -> Option<Event> {
    let mut cursor = Cursor::new(text);
    let name = cursor.span(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'?' | b':'));
    if !is_name(name) || !cursor.eat(b"(") {
        return Some(Event::Nothing);
    }
    let name = name.to_vec();
    let (args, ending) = rest_of(layout, cursor.rest())?;
    Some(Event::Call { name, args, ending })
}

pub(crate) fn is_name(name: &[u8]) -> bool {
    let begins = name.first().is_some_and(|&b| b.is_ascii_alphabetic() || b == b'_');
    let known = begins && name.iter().all(|&b| b.is_ascii_alphanumeric() || b == b'_');
    known && name.len() < 256 || name == b"???" || name == b"????"
}

/// Reads what follows the opening parenthesis: the arguments and how they end.
pub fn rest_of(layout: &Layout, text: &[u8]) -> Option<(Vec<u8>, Ending)> {
    let mut cursor = Cursor::new(text);
    match group(&mut cursor, b')', 0) {
        Ok(()) => {
            let args = &text[..cursor.at - 1];
            let (args, ending) = closed(layout, args, cursor.rest())?;
            Some((args.to_vec(), ending))
        }
        Err(Stop::Unclear) => None,
        Err(stop) => {
            if let Some((args, ending)) = marked(text) {
                // The mark may be what a string or a path says.
                let mut before = Cursor::new(args);
                let between = group(&mut before, b')', 0) == Err(Stop::End);
                return between.then(|| (args.to_vec(), ending));
            }
            // What strace may have started to print after the arguments looks like a part of them.
            let doubtful = stop == Stop::End && text.ends_with(b" ");
            (!doubtful).then(|| (text.to_vec(), Ending::Cut))
        }
    }
}

/// The arguments are complete: ` = ` and the result follow.
fn closed<'a>(layout: &Layout, args: &'a [u8], rest: &[u8]) -> Option<(&'a [u8], Ending)> {
    let mut cursor = Cursor::new(rest);
    if cursor.span(|b| b == b' ').is_empty() || !cursor.eat(b"= ") {
        return None;
    }
    match (cursor.rest(), args.strip_suffix(b" <unfinished ...>")) {
        (b"?", Some(args)) => return Some((args, Ending::Killed)),
        (b"?", None) if args == b"<unfinished ...>" => return Some((b"", Ending::Killed)),
        (_, Some(_)) => return None,
        _ => {}
    }
    if cursor.rest() == b"? <unavailable>" {
        let args = args.strip_suffix(b" <unavailable>").unwrap_or(args);
        return Some((args, Ending::Unavailable));
    }
    Some((args, Ending::Result(outcome(layout, cursor.rest())?)))
}

/// A mark at the end of the line, and what is before it.
fn marked(text: &[u8]) -> Option<(&[u8], Ending)> {
    for (mark, ending) in
        [(&b" <unfinished ...>"[..], Ending::Unfinished), (b" <detached ...>", Ending::Detached)]
    {
        if let Some(args) = text.strip_suffix(mark) {
            return Some((args, ending));
        }
    }
    let at = text.windows(2).rposition(|pair| pair == b" <")?;
    let (args, mut mark) = (&text[..at], Cursor::new(&text[at..]));
    let ending = if mark.eat(b" <pid changed to ") {
        let pid = i32::try_from(mark.decimal()?).ok()?;
        mark.eat(b" ...>").then_some(Ending::PidChanged(pid))?
    } else if mark.eat(b" <unfinished ... exit status ") {
        mark.decimal()?;
        mark.eat(b">").then_some(Ending::Killed)?
    } else if mark.eat(b" <Cannot restart pid ") {
        mark.decimal()?;
        let there = mark.eat(b" with ptrace(") && mark.until(b"): ").is_some();
        (there && reason(&mut mark)).then_some(Ending::Unavailable)?
    } else if mark.eat(b" <ptrace(") {
        let there = mark.until(b"):").is_some();
        (there && reason(&mut mark)).then_some(Ending::Unavailable)?
    } else {
        return None;
    };
    mark.at_end().then_some((args, ending))
}

/// The text of an error and `>`.
fn reason(mark: &mut Cursor<'_>) -> bool {
    !mark.span(|b| b != b'>').is_empty() && mark.eat(b">")
}
