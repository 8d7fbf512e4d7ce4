//! Arguments: nested groups, strings, comments, annotations.

use crate::strace::DEPTH;
use crate::strace::cursor::Cursor;
use crate::strace::text::annotation_end;

/// Why a group has no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The text ends between two of its pieces.
    End,
    /// The text ends within a string, a comment or an annotation.
    Torn,
    /// Not what strace prints, or too deep to say.
    Unclear,
}

/// Reads up to and with the byte that closes a group, after the one that opened it.
pub(crate) fn group(cursor: &mut Cursor<'_>, close: u8, depth: usize) -> Result<(), Stop> {
    if depth > DEPTH {
        return Err(Stop::Unclear);
    }
    loop {
        match cursor.peek() {
            None => return Err(Stop::End),
            Some(byte) if byte == close => {
                cursor.at += 1;
                return Ok(());
            }
            Some(b'(') => inner(cursor, b')', depth)?,
            Some(b'[') => inner(cursor, b']', depth)?,
            Some(b'{') => inner(cursor, b'}', depth)?,
            Some(b'"') => string(cursor)?,
            Some(b'\'') => letter(cursor)?,
            Some(b'<') => angle(cursor)?,
            Some(b'/') if cursor.looks_at(b"/*") => comment(cursor, depth)?,
            Some(b')' | b']' | b'}') => return Err(Stop::Unclear),
            Some(b' '..=b'~') => cursor.at += 1,
            Some(_) => return Err(Stop::Unclear),
        }
    }
}

fn inner(cursor: &mut Cursor<'_>, close: u8, depth: usize) -> Result<(), Stop> {
    cursor.at += 1;
    group(cursor, close, depth + 1)
}

/// `"…"`, whose next byte is the first quote.
pub(crate) fn string(cursor: &mut Cursor<'_>) -> Result<(), Stop> {
    cursor.at += 1;
    loop {
        match cursor.peek() {
            None => return Err(Stop::Torn),
            Some(b'"') => {
                cursor.at += 1;
                return Ok(());
            }
            Some(b'\\') => {
                cursor.at += 1;
                match cursor.peek() {
                    None => return Err(Stop::Torn),
                    Some(b' '..=b'~') => cursor.at += 1,
                    Some(_) => return Err(Stop::Unclear),
                }
            }
            Some(b' '..=b'~') => cursor.at += 1,
            Some(_) => return Err(Stop::Unclear),
        }
    }
}

/// `'M'` or `'\x00'`.
fn letter(cursor: &mut Cursor<'_>) -> Result<(), Stop> {
    cursor.at += 1;
    if cursor.eat(b"\\") {
        cursor.at += 1;
        cursor.span(|b| b.is_ascii_hexdigit());
    } else {
        cursor.at += 1;
    }
    if cursor.at >= cursor.text.len() {
        cursor.at = cursor.text.len();
        return Err(Stop::Torn);
    }
    if cursor.eat(b"'") { Ok(()) } else { Err(Stop::Unclear) }
}

/// `/* … */`. Comments nest; a quote counts only at the start.
pub(crate) fn comment(cursor: &mut Cursor<'_>, depth: usize) -> Result<(), Stop> {
    if depth > DEPTH {
        return Err(Stop::Unclear);
    }
    cursor.at += 2;
    if cursor.looks_at(b" \"") {
        cursor.at += 1;
        string(cursor)?;
    }
    loop {
        if cursor.eat(b"*/") {
            return Ok(());
        }
        if cursor.looks_at(b"/*") {
            comment(cursor, depth + 1)?;
            continue;
        }
        match cursor.peek() {
            None => return Err(Stop::Torn),
            Some(b' '..=b'~') => cursor.at += 1,
            Some(_) => return Err(Stop::Unclear),
        }
    }
}

/// How the marks start with which strace ends a call that does not return.
const MARKS: [&[u8]; 6] = [
    b"<unfinished ...",
    b"<detached ...>",
    b"<pid changed to ",
    b"<unavailable>",
    b"<ptrace(",
    b"<Cannot restart pid ",
];

/// `<`: a shift, a call that continues, an annotation, or just itself.
fn angle(cursor: &mut Cursor<'_>) -> Result<(), Stop> {
    if cursor.eat(b"<<") {
        return Ok(());
    }
    if cursor.looks_at(b"<... ") {
        return if cursor.until(b" ...>").is_some() { Ok(()) } else { Err(Stop::Torn) };
    }
    let annotates = match cursor.before() {
        Some(b'D') => cursor.text[..cursor.at].ends_with(b"AT_FDCWD"),
        Some(byte) => byte.is_ascii_digit() || byte == b']',
        None => false,
    };
    if !annotates {
        // Nothing but the marks of strace itself.
        let known = MARKS.iter().any(|mark| cursor.looks_at(mark));
        cursor.at += 1;
        return if known { Ok(()) } else { Err(Stop::Unclear) };
    }
    annotation(cursor).map(|_| ())
}

/// `<…>`, and `(deleted)` after it; returns the text between.
pub(crate) fn annotation<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], Stop> {
    cursor.at += 1;
    let body = cursor.rest();
    let Some(end) = annotation_end(body) else {
        cursor.at = cursor.text.len();
        return Err(Stop::Torn);
    };
    if !body[..end].iter().all(|b| matches!(b, b' '..=b'~')) {
        return Err(Stop::Unclear);
    }
    cursor.at += end + 1;
    cursor.eat(b"(deleted)");
    Ok(&body[..end])
}
