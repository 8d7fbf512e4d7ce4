//! The text of any event as keys and values, as far as it has them.
//!
//! Formats of events are written by many people: `a=1 b=x`, `dev 254,0 ino 12 pos 0`,
//! `cpu: 0001 target: 3`, `[timeout=25]`, `flags=A|B`, `reason:flush on task switch (0)`,
//! `arr={0x1,0x2}`, `s="text"`. Every byte of the text is in a key or a value or in a loose piece,
//! except blanks, commas, semicolons, and brackets around items.

use crate::ftrace::decode::value;

/// A piece of the text; ranges are positions in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// A key and its value.
    Item {
        /// The key.
        key: &'a str,
        /// The value, without quotes.
        value: (usize, usize),
        /// Both together.
        span: (usize, usize),
    },
    /// Anything else: a word, or a group in brackets.
    Loose {
        /// Where it is.
        span: (usize, usize),
    },
}

/// The key of where a probe was hit.
pub(crate) const PROBE: &str = "probe";
/// The key of where a probed function returns to.
pub(crate) const PROBE_RETURN: &str = "probe_return";

/// Cuts `text` into pieces, in their order. Words that are `known` are keys whatever follows them.
pub(crate) fn pieces<'a>(
    text: &'a str,
    known: impl Fn(&str) -> bool,
    mut see: impl FnMut(Piece<'a>),
) {
    let mut cutter =
        Cutter { text, bytes: text.as_bytes(), known, brackets: true, quotes: [true; 2] };
    let mut at = cutter.probe(&mut see);
    while at < text.len() {
        let byte = cutter.bytes[at];
        // Brackets around items have no meaning, and neither has a bracket left over by a value.
        let opens = matches!(byte, b'[' | b'(' | b'{') && cutter.begins(at + 1);
        if is_blank(byte) || matches!(byte, b',' | b';' | b':' | b']' | b')' | b'}') || opens {
            at += 1;
            continue;
        }
        if let Some((key, value, strong)) = cutter.key(at) {
            let (value, end) = cutter.value(value, strong);
            let key = match &text[at..key] {
                "__probe_ip" | "__probe_func" => PROBE,
                "__probe_ret_ip" => PROBE_RETURN,
                key => key,
            };
            see(Piece::Item { key, value, span: (at, end) });
            at = end;
        } else {
            let end = cutter.token(at);
            see(Piece::Loose { span: (at, end) });
            at = end;
        }
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

struct Cutter<'a, K> {
    text: &'a str,
    bytes: &'a [u8],
    known: K,
    /// No bracket was left open so far. After one that was, searching for the end of each further
    /// one would be wasted.
    brackets: bool,
    /// The same for quotes, single and double.
    quotes: [bool; 2],
}

impl<'a, K: Fn(&str) -> bool> Cutter<'a, K> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// End of the blanks at `at`.
    fn blanks(&self, at: usize) -> usize {
        at + self.bytes[at..].iter().take_while(|&&b| is_blank(b)).count()
    }

    /// `(symbol+0x0/0x10)`, `(0x55c9)`, `(group.event)`, `(to <- function)` at the start: where a
    /// probe was hit. Gives the end.
    fn probe(&mut self, see: &mut impl FnMut(Piece<'a>)) -> usize {
        if self.byte(0) != Some(b'(') {
            return 0;
        }
        let Some(end) = memchr::memchr(b')', self.bytes) else { return 0 };
        if self.byte(end + 1).is_some_and(|b| !is_blank(b)) {
            return 0;
        }
        let inner = &self.text[1..end];
        let place = |text: &str| {
            let symbol = text.split_once("+0x").is_some_and(|(name, _)| !name.contains(' '));
            let event = text.split_once('.').is_some_and(|(group, event)| {
                !group.is_empty() && !event.is_empty() && text.bytes().all(is_word)
            });
            symbol || event || text.starts_with("0x") && !text.contains(' ')
        };
        let mut item = |key, (start, end)| {
            see(Piece::Item { key, value: (start, end), span: (start, end) });
        };
        if let Some((to, function)) = inner.split_once(" <- ") {
            item(PROBE, (end - function.len(), end));
            item(PROBE_RETURN, (1, 1 + to.len()));
        } else if place(inner) {
            item(PROBE, (1, end));
        } else {
            return 0;
        }
        end + 1
    }

    /// The end of the word at `at`, which is not a number.
    fn word(&self, at: usize) -> Option<usize> {
        let first = self.byte(at)?;
        if !first.is_ascii_alphabetic() && first != b'_' {
            return None;
        }
        Some(at + self.bytes[at..].iter().take_while(|&&b| is_word(b)).count())
    }

    fn is_known(&self, start: usize, end: usize) -> bool {
        (self.known)(&self.text[start..end])
    }

    /// The `=` of a key at `end`, and not that of `==`, `=>`.
    fn equals(&self, end: usize) -> bool {
        self.byte(end) == Some(b'=') && !matches!(self.byte(end + 1), Some(b'=' | b'>'))
    }

    /// A key at `at`: its end, where its value starts, and whether text of several words may
    /// follow.
    fn key(&self, at: usize) -> Option<(usize, usize, bool)> {
        let end = self.word(at)?;
        if self.equals(end) {
            return Some((end, end + 1, true));
        }
        if self.bytes[end..].starts_with(b" = ") {
            return Some((end, end + 3, true));
        }
        let known = self.is_known(at, end);
        match self.byte(end)? {
            b':' => {
                let next = self.byte(end + 1)?;
                if !is_blank(next) {
                    return (next != b':').then_some((end, end + 1, true));
                }
                let value = self.blanks(end + 1);
                if known {
                    return (value < self.bytes.len()).then_some((end, end + 1, true));
                }
                self.number(value).then_some((end, value, false))
            }
            b if is_blank(b) => {
                let value = self.blanks(end);
                if known {
                    return (value < self.bytes.len()).then_some((end, end, true));
                }
                self.number(value).then_some((end, value, false))
            }
            _ => None,
        }
    }

    /// A key that ends a text of several words starts at `at`.
    fn begins(&self, at: usize) -> bool {
        let Some(end) = self.word(at) else { return false };
        if self.equals(end) {
            return true;
        }
        match self.byte(end) {
            Some(b':') => {
                self.is_known(at, end)
                    || self.byte(end + 1).is_some_and(|b| !is_blank(b) && b != b':')
            }
            Some(b) if is_blank(b) => self.is_known(at, end),
            _ => false,
        }
    }

    /// The text at `at` looks like a number: digits first, or a hexadecimal one of a fixed width.
    fn number(&self, at: usize) -> bool {
        match &self.bytes[at..] {
            [b'0'..=b'9', ..] | [b'-', b'0'..=b'9', ..] => true,
            rest => {
                let digits = rest.iter().take_while(|b| b.is_ascii_hexdigit()).count();
                digits >= 8 && !rest.get(digits).copied().is_some_and(is_word)
            }
        }
    }

    /// The value at `at` and the end of what belongs to it.
    fn value(&mut self, mut at: usize, strong: bool) -> ((usize, usize), usize) {
        let whole = self.bytes.len();
        match self.byte(at) {
            None => return ((at, at), at),
            Some(b',' | b';') if self.byte(at + 1).is_none_or(is_blank) => return ((at, at), at),
            Some(b) if is_blank(b) => {
                let next = self.blanks(at);
                if next == whole || self.begins(next) || self.key(next).is_some() {
                    return ((at, at), at);
                }
                at = next;
            }
            Some(quote @ (b'"' | b'\'')) => {
                if let Some((_, end)) = value::integer(self.bytes, at) {
                    return ((at, end), end);
                }
                if let Some(end) = self.quoted(at, quote) {
                    return ((at + 1, end), end + 1);
                }
            }
            Some(_) => {}
        }
        let mut stop = self.token(at);
        let mut end = self.trimmed(at, stop);
        if self.bytes[at..end].starts_with(b"0x") {
            let both = value::end_of_both(self.bytes, end);
            if both > end {
                return ((at, both), both);
            }
        }
        // Words go on until the next key, a comma or an arrow; a number is done.
        let goes_on = strong && !self.number(at);
        while goes_on && end == stop {
            let next = self.blanks(stop);
            let opens = matches!(self.byte(next), Some(b'[' | b'(' | b'{'));
            let ended = match self.byte(next) {
                None | Some(b',' | b';' | b']' | b')' | b'}') => true,
                Some(_) => self.begins(if opens { next + 1 } else { next }),
            };
            if ended || self.arrow(next) {
                break;
            }
            stop = self.token(next);
            end = self.trimmed(next, stop);
        }
        ((at, end), end.max(at))
    }

    /// `==>`, `->`, `<-` at `at`.
    fn arrow(&self, at: usize) -> bool {
        let token = self.bytes[at..].iter().take_while(|&&b| !is_blank(b)).take(4).count();
        let token = &self.bytes[at..at + token];
        let dashes =
            |part: &[u8]| !part.is_empty() && part.iter().all(|b| matches!(b, b'-' | b'='));
        match token {
            [head @ .., b'>'] => dashes(head),
            [b'<', tail @ ..] => dashes(tail),
            _ => false,
        }
    }

    /// The end of a text that starts with a quote at `at`: the first quote that something which
    /// ends a value follows. Quotes within are not escaped.
    fn quoted(&mut self, at: usize, quote: u8) -> Option<usize> {
        let may = usize::from(quote == b'"');
        if !self.quotes[may] {
            return None;
        }
        let mut ends = memchr::memchr_iter(quote, &self.bytes[at + 1..]).map(|n| at + 1 + n);
        let end = ends.find(|&end| match self.byte(end + 1) {
            None | Some(b',' | b';' | b')' | b'}' | b']') => true,
            Some(b) if is_blank(b) => {
                let next = self.blanks(end + 1);
                next == self.bytes.len() || self.begins(next) || self.key(next).is_some()
            }
            Some(_) => false,
        });
        self.quotes[may] = end.is_some();
        end
    }

    /// The end of the token at `at`: up to a blank, or a comma before one. Groups in brackets are
    /// taken whole.
    fn token(&mut self, at: usize) -> usize {
        let mut end = at;
        while let Some(byte) = self.byte(end) {
            match byte {
                b if is_blank(b) => break,
                b',' | b';' if end > at && self.byte(end + 1).is_none_or(is_blank) => break,
                b'(' | b'[' | b'{' if self.brackets => {
                    let close = self.closing(end);
                    self.brackets = close.is_some();
                    end = close.unwrap_or(end) + 1;
                }
                _ => end += 1,
            }
        }
        end
    }

    fn closing(&self, at: usize) -> Option<usize> {
        let mut depth = 0usize;
        for (n, byte) in self.bytes[at..].iter().enumerate() {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                // Ranges are open on one side: `[90/1)`.
                b')' | b']' | b'}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(at + n);
            }
        }
        None
    }

    /// The end of the value in the token from `at` to `end`: without what belongs to the text
    /// around it, as the `]` of `[timeout=25]`, or the colon of `bdi 254:0:`.
    fn trimmed(&self, at: usize, end: usize) -> usize {
        let token = &self.bytes[at..end];
        let count = |of: [u8; 3]| token.iter().filter(|b| of.contains(b)).count();
        let mut surplus = count(*b")]}").saturating_sub(count(*b"([{"));
        let mut end = end;
        while end > at {
            match self.bytes[end - 1] {
                b',' | b';' | b':' => {}
                b')' | b']' | b'}' if surplus > 0 => surplus -= 1,
                _ => break,
            }
            end -= 1;
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> String {
        cut_with(text, &[])
    }

    fn cut_with(text: &str, known: &[&str]) -> String {
        let mut out = Vec::new();
        pieces(
            text,
            |word| known.contains(&word),
            |piece| {
                out.push(match piece {
                    Piece::Item { key, value, .. } => format!("{key}={}", &text[value.0..value.1]),
                    Piece::Loose { span } => format!("<{}>", &text[span.0..span.1]),
                });
            },
        );
        out.join("|")
    }

    #[test]
    fn keys_and_values() {
        for (text, cut_text) in [
            ("a=1 b=0x2 c=x", "a=1|b=0x2|c=x"),
            ("a=1, b=2,c=3", "a=1|b=2,c=3"),
            ("nr = 5", "nr=5"),
            ("", ""),
            ("   ", ""),
            ("a=", "a="),
            ("a= b=1", "a=|b=1"),
            ("a=, b=1", "a=|b=1"),
            ("flags= f   B", "flags=f   B"),
            ("comm=my prog pid=3", "comm=my prog|pid=3"),
            ("dev 254,0 ino 12 pos 0", "dev=254,0|ino=12|pos=0"),
            ("bdi 254:0: ino=3 state=A|B flags=C", "bdi=254:0|ino=3|state=A|B|flags=C"),
            ("cpu: 0001 target: 3", "cpu=0001|target=3"),
            ("pages:0 reason:flush on task switch (0)", "pages=0|reason=flush on task switch (0)"),
            ("vec=7 [action=SCHED]", "vec=7|action=SCHED"),
            ("a=1 [timeout=25] b=2", "a=1|timeout=25|b=2"),
            ("halt_poll_ns 0 (shrink 0)", "halt_poll_ns=0|<(shrink 0)>"),
            ("cred 000000003170fa32, cap 21, ret 0", "cred=000000003170fa32|cap=21|ret=0"),
            ("cred a00000003170fa32, cap 21", "cred=a00000003170fa32|cap=21"),
            ("mt_mod 00000000d531969a, DESTROY", "mt_mod=00000000d531969a|<DESTROY>"),
            ("es [90/1) mapped 0", "<es>|<[90/1)>|mapped=0"),
            ("range (2, 3] x=1", "<range>|<(2, 3]>|x=1"),
            ("arr={0x1,0x2} b={a, {b}} c", "arr={0x1,0x2}|b={a, {b}} c"),
            ("a=0x1 (1) b=0xffffffff (-1)", "a=0x1 (1)|b=0xffffffff (-1)"),
            ("a=0x1 (x) b=2", "a=0x1|<(x)>|b=2"),
            ("prev_state=R ==> next_comm=b", "prev_state=R|<==>>|next_comm=b"),
            ("f=A | B g=1", "f=A | B|g=1"),
            ("caller f+0x34/0x90", "<caller>|<f+0x34/0x90>"),
            ("s=\"a b\" t=\"x=1 \" y\" u=(fault)", "s=a b|t=x=1 \" y|u=(fault)"),
            ("s='a b' t=1", "s=a b|t=1"),
            ("a='x'(120) b=(1) c=' '(32) d='", "a='x'(120)|b=(1)|c=' '(32)|d='"),
            ("a==b c=>d", "<a==b>|<c=>d>"),
            ("std::f x", "<std::f>|<x>"),
            ("runtime=12 [ns]", "runtime=12|<[ns]>"),
            ("a=(b c=d", "a=(b|c=d"),
        ] {
            assert_eq!(cut(text), cut_text, "{text}");
        }
    }

    #[test]
    fn known_words_are_keys() {
        assert_eq!(
            cut_with(
                "ino fe00000 status D x flags A|B lblk 5",
                &["ino", "status", "flags", "lblk"]
            ),
            "ino=fe00000|status=D x|flags=A|B|lblk=5"
        );
        assert_eq!(cut_with("status", &["status"]), "<status>");
        assert_eq!(cut_with("flags  len 5", &["flags", "len"]), "flags=|len=5");
    }

    #[test]
    fn probes() {
        for (text, cut_text) in [
            ("(do_sys+0x0/0x10) a=0x1", "probe=do_sys+0x0/0x10|a=0x1"),
            ("(0x55c9b3acfa50) s=(fault)", "probe=0x55c9b3acfa50|s=(fault)"),
            ("(f+0x1c/0x70 <- g) ret=0x0", "probe=g|probe_return=f+0x1c/0x70|ret=0x0"),
            ("(sched.sched_switch) a=1", "probe=sched.sched_switch|a=1"),
            ("(f+0x1/0x2 [ext4]) a=1", "probe=f+0x1/0x2 [ext4]|a=1"),
            ("(2, 3) a=1", "<(2, 3)>|a=1"),
            ("__probe_ip=0x1 (1) a=(1)", "probe=0x1 (1)|a=(1)"),
            ("(", "<(>"),
        ] {
            assert_eq!(cut(text), cut_text, "{text}");
        }
    }

    #[test]
    fn hostile_text_is_cut_in_linear_time() {
        for part in [
            "a=(",
            "a=\"",
            "((((",
            "a=\"x ",
            "a=(x ",
            "[a=[",
            "a a ",
            "aaaaaaaa ",
            "a=x y",
            ": ",
            "\" ",
        ] {
            pieces(&part.repeat(300_000), |_| false, |_| ());
        }
    }

    #[test]
    fn example_of_pieces() {
        use crate::ftrace::decode::key_values::{Piece, pieces};
        let text = "dev 254,0 state=A b, done";
        let mut found = Vec::new();
        pieces(text, |_| false, |piece| found.push(piece));
        let keys: Vec<_> = found
            .iter()
            .map(|piece| match piece {
                Piece::Item { key, value, .. } => (*key, &text[value.0..value.1]),
                Piece::Loose { span } => ("", &text[span.0..span.1]),
            })
            .collect();
        assert_eq!(keys, [("dev", "254,0"), ("state", "A b"), ("", "done")]);
    }
}
