//! Whether the text of an event may go on in the next line.

/// Keys of names, in any part of the key: they may have line feeds in them.
const NAMES: [&str; 6] = ["comm", "name", "path", "file", "interp", "str"];

/// The text ends within quotes, within brackets, in the value of a name, or has no keys in its last
/// line, so that its meaning is unknown.
pub(crate) fn may_go_on(text: &[u8]) -> bool {
    let quotes = text.split(|&b| b == b'"').count() - 1;
    let last = text.rsplit(|&b| b == b'\n').next().unwrap_or_default();
    let last = String::from_utf8_lossy(last);
    quotes % 2 == 1 || last.rfind('[') > last.rfind(']') || last_key(&last).is_none_or(is_name)
}

fn is_name(key: &str) -> bool {
    NAMES.iter().any(|name| key.contains(name))
}

/// The last word with `=` after it.
fn last_key(line: &str) -> Option<&str> {
    let equals: Vec<usize> = line.match_indices('=').map(|(at, _)| at).collect();
    equals.iter().rev().find_map(|&at| {
        let known = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let before = &line[..at];
        let key = &before[before.trim_end_matches(known).len()..];
        (!key.is_empty()).then_some(key)
    })
}
