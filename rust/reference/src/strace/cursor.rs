//! A place in a text.

/// A text and how far it was read.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    pub text: &'a [u8],
    pub at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// The byte before the next one.
    pub(crate) fn before(&self) -> Option<u8> {
        self.at.checked_sub(1).and_then(|at| self.text.get(at)).copied()
    }

    pub(crate) fn at_end(&self) -> bool {
        self.at == self.text.len()
    }

    pub(crate) fn looks_at(&self, literal: &[u8]) -> bool {
        self.rest().starts_with(literal)
    }

    /// Reads `literal`, if it is there.
    pub(crate) fn eat(&mut self, literal: &[u8]) -> bool {
        let there = self.looks_at(literal);
        if there {
            self.at += literal.len();
        }
        there
    }

    /// Reads bytes as long as they are of a kind.
    pub(crate) fn span(&mut self, kind: impl Fn(u8) -> bool) -> &'a [u8] {
        let from = self.at;
        while self.peek().is_some_and(&kind) {
            self.at += 1;
        }
        &self.text[from..self.at]
    }

    /// Reads up to and with `literal`; gives what is before it.
    pub(crate) fn until(&mut self, literal: &[u8]) -> Option<&'a [u8]> {
        let from = self.at;
        while !self.at_end() {
            let to = self.at;
            if self.eat(literal) {
                return Some(&self.text[from..to]);
            }
            self.at += 1;
        }
        None
    }

    /// A decimal number without a sign.
    pub(crate) fn decimal(&mut self) -> Option<i64> {
        let digits = self.span(|b| b.is_ascii_digit());
        std::str::from_utf8(digits).ok()?.parse().ok()
    }

    /// Seconds with at most nine digits after the point, in ns.
    pub(crate) fn seconds(&mut self) -> Option<i64> {
        let seconds = self.decimal()?.checked_mul(1_000_000_000)?;
        if !self.eat(b".") {
            return Some(seconds);
        }
        let digits = self.span(|b| b.is_ascii_digit());
        if digits.is_empty() || digits.len() > 9 {
            return None;
        }
        let mut nanos = std::str::from_utf8(digits).ok()?.to_owned();
        while nanos.len() < 9 {
            nanos.push('0');
        }
        seconds.checked_add(nanos.parse().ok()?)
    }
}
