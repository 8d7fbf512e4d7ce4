//! What follows ` = `.

use crate::strace::arguments::{annotation, comment, group};
use crate::strace::cursor::Cursor;
use crate::strace::{Layout, Outcome};

/// Reads a result to the end of the line. `None`: no opinion.
pub(crate) fn outcome(layout: &Layout, text: &[u8]) -> Option<Outcome> {
    let mut cursor = Cursor::new(text);
    let mut out = Outcome::default();
    let question = cursor.eat(b"?");
    if !question {
        out.ret = Some(value(&mut cursor)?);
        if cursor.looks_at(b"<") {
            out.annotation = Some(annotation(&mut cursor).ok()?.to_vec());
        }
    }
    if out.annotation.is_some() && cursor.looks_at(b" [") {
        cursor.at += 1;
        let from = cursor.at;
        cursor.until(b"]").filter(|context| context.iter().all(u8::is_ascii_graphic))?;
        out.aux.push(text[from..cursor.at].to_vec());
    }
    if cursor.looks_at(b" /*") {
        cursor.at += 1;
        let from = cursor.at;
        comment(&mut cursor, 0).ok()?;
        out.aux.push(text[from..cursor.at].to_vec());
    }
    error(&mut cursor, &mut out)?;
    // An error is printed as -1, or as no value.
    if out.errno.is_some() && out.ret.is_some_and(|ret| ret != -1) {
        return None;
    }
    let mut timed = false;
    while !cursor.at_end() {
        if !cursor.eat(b" ") || timed {
            return None;
        }
        let from = cursor.at;
        if cursor.eat(b"<") {
            // No call lasts for ten years.
            out.dur = Some(cursor.seconds()?).filter(|&ns| ns <= 3653 * 86_400 * 1_000_000_000);
            timed = true;
            if !cursor.eat(b">") {
                return None;
            }
        } else if cursor.eat(b"(") {
            group(&mut cursor, b')', 0).ok()?;
            let aux = &text[from..cursor.at];
            if aux == b"(INJECTED)" {
                out.injected = true;
            } else if aux.starts_with(b"(INJECTED: ") {
                // Arguments may be made up for a call that does take place.
                out.injected = aux.ends_with(b"retval)");
                out.poked = true;
                out.aux.push(aux.to_vec());
            } else if aux == b"(DELAYED)" {
                out.delayed = true;
            } else if out.injected || out.poked || out.delayed {
                return None;
            } else {
                out.aux.push(aux.to_vec());
            }
        } else {
            return None;
        }
    }
    // With -T every call that returns has its time, and only then.
    let ends = !question || out.errno.is_some();
    (timed == (layout.times && ends)).then_some(out)
}

/// A number, its base by its prefix.
fn value(cursor: &mut Cursor<'_>) -> Option<i64> {
    let minus = cursor.eat(b"-");
    let (digits, base) = if cursor.eat(b"0x") {
        (cursor.span(|b| b.is_ascii_hexdigit()), 16)
    } else {
        let digits = cursor.span(|b| b.is_ascii_digit());
        (digits, if digits.len() > 1 && digits[0] == b'0' { 8 } else { 10 })
    };
    let digits = std::str::from_utf8(digits).ok()?;
    if minus {
        return (base == 10).then(|| format!("-{digits}").parse().ok())?;
    }
    u64::from_str_radix(digits, base).ok().map(|value| value as i64)
}

/// ` ENAME (text)` and the forms without a name. `None`: no opinion.
fn error(cursor: &mut Cursor<'_>, out: &mut Outcome) -> Option<()> {
    if out.annotation.is_some() || !out.aux.is_empty() {
        return Some(());
    }
    let mut look = cursor.clone();
    if look.eat(b" (errno ") {
        // Higher ones are no errors: strace did not get the result.
        out.errno_number = Some(look.decimal().filter(|&number| number < 4096)?);
        *cursor = look;
        return cursor.eat(b")").then_some(());
    }
    if look.eat(b" E??? (errno ") {
        out.errno_number = Some(look.decimal()?);
        *cursor = look;
        return cursor.eat(b")").then_some(());
    }
    if !look.eat(b" ") {
        return Some(());
    }
    match look.peek() {
        Some(b'E') => {
            let name = look.span(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
            if name.len() >= 64 {
                return None;
            }
            out.errno = Some(name.to_vec());
        }
        Some(b'0'..=b'9') => out.errno_number = Some(look.decimal()?),
        _ => return Some(()),
    }
    // The text is in the language of the user of strace.
    if !look.eat(b" (") {
        return None;
    }
    let mut open = 1;
    while open > 0 {
        match look.peek()? {
            b'(' => open += 1,
            b')' => open -= 1,
            _ => {}
        }
        look.at += 1;
    }
    *cursor = look;
    Some(())
}
