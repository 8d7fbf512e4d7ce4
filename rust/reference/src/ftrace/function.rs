//! What the function tracer prints: `FUNCTION <-CALLER`, each with what options add.

/// A function, and what is printed after its name. `alone`: without its caller, which an option
/// leaves out.
pub(crate) fn function(text: &[u8], alone: bool) -> Option<(Vec<u8>, Vec<u8>)> {
    let text = std::str::from_utf8(text).ok()?;
    let name = symbol(text)?;
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let args = text[name.len()..].trim_start_matches(' ');
    let function = || Some((name.as_bytes().to_vec(), args.as_bytes().to_vec()));
    let mut rest = with_arguments(place(text)?);
    if rest.is_empty() {
        return if alone { function() } else { None };
    }
    rest = rest.strip_prefix(" <-")?;
    rest = place(rest)?;
    if let Some(repeats) = rest.strip_prefix(" (repeats: ") {
        rest = repeats.strip_suffix(')').map_or(rest, |_| "");
    }
    if rest.is_empty() { function() } else { None }
}

/// The text after `NAME[+0x1/0x2][ [MODULE]][ <ADDRESS>]`.
fn place(text: &str) -> Option<&str> {
    let mut rest = &text[symbol(text)?.len()..];
    if let Some(offset) = rest.strip_prefix("+0x") {
        rest = offset.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        if let Some(size) = rest.strip_prefix("/0x") {
            rest = size.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        }
    }
    for (open, close) in [(" [", ']'), (" <", '>')] {
        if let Some((inner, after)) =
            rest.strip_prefix(open).and_then(|inner| inner.split_once(close))
        {
            let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            if !inner.is_empty() && !inner.starts_with('-') && inner.chars().all(known) {
                rest = after;
            }
        }
    }
    Some(rest)
}

fn symbol(text: &str) -> Option<&str> {
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    let name = &text[..text.len() - text.trim_start_matches(known).len()];
    (!name.is_empty()).then_some(name)
}

/// The text after `(ARGUMENTS)`, if they are there: the text ends with them, or the caller follows.
fn with_arguments(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(') else { return text };
    match inner.rfind(") <-") {
        Some(at) => &inner[at + 1..],
        None if text.ends_with(')') => "",
        None => text,
    }
}
