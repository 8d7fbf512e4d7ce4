//! Exits, signals, stops, and the message about the personality.

use crate::strace::Event;
use crate::strace::cursor::Cursor;

/// Reads an event that is not a call. `None`: a call, or something else.
pub(crate) fn other(text: &[u8]) -> Option<Event> {
    let mut cursor = Cursor::new(text);
    let event = if cursor.eat(b"+++ ") { ended(&mut cursor)? } else { between(&mut cursor)? };
    cursor.at_end().then_some(event)
}

fn ended(cursor: &mut Cursor<'_>) -> Option<Event> {
    let event = if cursor.eat(b"exited with ") {
        Event::Exit(cursor.decimal()?)
    } else if cursor.eat(b"killed by ") {
        let name = signal(cursor)?;
        cursor.eat(b" (core dumped)");
        Event::Killed(name)
    } else if cursor.eat(b"superseded by execve in pid ") {
        Event::Superseded(i32::try_from(cursor.decimal()?).ok()?)
    } else {
        return None;
    };
    cursor.eat(b" +++").then_some(event)
}

fn between(cursor: &mut Cursor<'_>) -> Option<Event> {
    if cursor.eat(b"[ Process PID=") {
        cursor.decimal()?;
        let there = cursor.eat(b" runs in ") && cursor.until(b" mode. ]").is_some();
        return there.then_some(Event::Personality);
    }
    if !cursor.eat(b"--- ") {
        return None;
    }
    if cursor.eat(b"stopped by ") {
        let name = signal(cursor)?;
        return cursor.eat(b" ---").then_some(Event::Stop(name));
    }
    let name = if cursor.looks_at(b"{") {
        None
    } else {
        let name = signal(cursor)?;
        if !cursor.eat(b" ") {
            return None;
        }
        if cursor.eat(b"by ") {
            signal(cursor)?;
            return cursor.eat(b" ---").then_some(Event::Stop(name));
        }
        Some(name)
    };
    let info_text = cursor.rest().strip_suffix(b" ---")?;
    cursor.at = cursor.text.len();
    let info =
        info_text.starts_with(b"{si_signo=SIG") && info_text.ends_with(b"}") && name.is_some();
    let old_info =
        info_text.starts_with(b"{si_signo=SIG") && info_text.ends_with(b")") && name.is_none();
    let oldest = info_text.starts_with(b"(") && info_text.ends_with(b")") && name.is_some();
    (info || old_info || oldest).then_some(Event::Signal(name))
}

/// `SIGSEGV`, `SIGRT_3`, `33`.
fn signal(cursor: &mut Cursor<'_>) -> Option<Vec<u8>> {
    let name = cursor.span(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    let number = !name.is_empty() && name.iter().all(u8::is_ascii_digit);
    (name.starts_with(b"SIG") || number).then(|| name.to_vec())
}
