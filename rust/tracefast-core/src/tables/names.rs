//! Texts by number.

use crate::hash::HashMap;

/// Texts that occur often, each stored once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    numbers: HashMap<Box<str>, u32>,
    texts: Vec<Box<str>>,
}

impl Names {
    /// The number of a text.
    pub(crate) fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.texts.len() as u32;
        self.numbers.insert(text.into(), number);
        self.texts.push(text.into());
        number
    }

    /// The number of a text, if it has one.
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    /// How many texts there are.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The text of a number.
    pub(crate) fn text(&self, number: u32) -> Option<&str> {
        self.texts.get(number as usize).map(AsRef::as_ref)
    }
}
