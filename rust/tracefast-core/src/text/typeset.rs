//! Blanks and quotes that word processors and web pages put in place of those of a log.

use crate::text::search::find;

const BLANKS: [&str; 2] = ["\u{a0}", "\u{202f}"];
const QUOTES: [&str; 5] = ["\u{201c}", "\u{201d}", "\u{201e}", "\u{2018}", "\u{2019}"];

/// The text with blanks and quotes of ASCII in place of others. `None` if it has no others.
pub(crate) fn plain(text: &[u8]) -> Option<Vec<u8>> {
    if !has(text, &BLANKS) && !has(text, &QUOTES) {
        return None;
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let of =
            |all: &'static [&str]| all.iter().find(|one| rest.starts_with(one.as_bytes())).copied();
        let found = match byte {
            0xc2 | 0xe2 => {
                of(&BLANKS).map(|one| (b' ', one)).or(of(&QUOTES).map(|one| (b'"', one)))
            }
            _ => None,
        };
        let (ascii, one) = found.unwrap_or((byte, ""));
        out.push(ascii);
        rest = if one.is_empty() { after } else { &rest[one.len()..] };
    }
    Some(out)
}

/// What the text has that a log does not, in words.
pub(crate) fn described(text: &[u8]) -> &'static str {
    match (has(text, &BLANKS), has(text, &QUOTES)) {
        (true, true) => "no-break spaces and typographic quotes",
        (true, false) => "no-break spaces",
        (false, _) => "typographic quotes",
    }
}

fn has(text: &[u8], any: &[&str]) -> bool {
    any.iter().any(|one| find(text, one.as_bytes(), 0).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_quotes_become_those_of_ascii() {
        let text = "open(\u{201c}/x\u{201d}) =\u{a0}3 \u{e9}\n".as_bytes();
        assert_eq!(plain(text).as_deref(), Some("open(\"/x\") = 3 \u{e9}\n".as_bytes()));
        assert_eq!(described(text), "no-break spaces and typographic quotes");
        assert_eq!(described("\u{202f}".as_bytes()), "no-break spaces");
        assert_eq!(plain("open(\"/\u{e9}\") = 3\n".as_bytes()), None);
    }
}
