//! Dictionaries: small numbers for names, without hashing a string twice.
//!
//! Each worker has an [`Interner`] that outlives its blocks; in a block a name gets the next free
//! key when it first appears. In block order, [`Dictionary`] turns these keys into those of the
//! whole stream, so that keys are in order of appearance wherever blocks end.

use crate::hash::HashMap;
use std::sync::Arc;

use arrow_array::StringArray;

use crate::text::escape::escape_invalid;

/// Bytes of a name that are kept, more than the name of any command, event or function has
/// (`KSYM_NAME_LEN` in the kernel's `include/linux/kallsyms.h`). Names are kept for the whole run,
/// so longer ones are cut.
pub(crate) const KEPT: usize = 1024;

/// Distinct strings of one column that one worker has seen.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    /// Open addressing; 0 is free, otherwise entry + 1. A power of two, at most an eighth full:
    /// collisions cost more than the memory.
    table: Vec<u32>,
    entries: Vec<Entry>,
    /// Number of the block at hand, so that nothing needs to be cleared between blocks.
    epoch: u64,
}

#[derive(Debug)]
struct Entry {
    key: Key,
    raw: Box<[u8]>,
    text: Arc<str>,
    epoch: u64,
    local: u32,
    tag: u16,
}

/// First and last eight bytes and the length: all of a string of up to 16 bytes. If it is shorter
/// than eight bytes both are the same, padded with zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key {
    first: u64,
    last: u64,
    len: usize,
}

impl Key {
    #[inline]
    fn from_bytes(raw: &[u8]) -> Self {
        let len = raw.len();
        // Overlapping reads avoid a copy of unknown length.
        let (first, last) = if let (Some(first), Some(last)) =
            (raw.first_chunk::<8>(), raw.last_chunk::<8>())
        {
            (u64::from_le_bytes(*first), u64::from_le_bytes(*last))
        } else if let (Some(first), Some(last)) = (raw.first_chunk::<4>(), raw.last_chunk::<4>()) {
            let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
            let word = u64::from(first) | u64::from(last) << (8 * (len - 4));
            (word, word)
        } else if let [first, .., last] = *raw {
            let middle = u64::from(raw[len / 2]) << (8 * (len / 2));
            let word = u64::from(first) | middle | u64::from(last) << (8 * (len - 1));
            (word, word)
        } else {
            let word = raw.first().map_or(0, |&byte| u64::from(byte));
            (word, word)
        };
        Self { first, last, len }
    }

    /// As [`Key::from_bytes`], for `padded[at..at + len]` where eight bytes before and after may be
    /// loaded.
    #[inline(always)]
    fn from_padded(padded: &[u8], at: usize, len: usize) -> Option<Self> {
        let first = u64::from_le_bytes(*padded.get(at..)?.first_chunk()?);
        let last = u64::from_le_bytes(*padded.get(..at + len)?.last_chunk()?);
        // If the string is shorter than eight bytes, both have all of it, at one of their ends.
        let other = 8 * (8 - len.clamp(1, 8)) as u32;
        Some(Self { first: first << other >> other, last: last >> other, len })
    }

    #[inline]
    fn hash(self) -> usize {
        // Multiplication by an odd constant mixes upwards, so the high half is better.
        let h = (self.first ^ self.last.rotate_left(29) ^ self.len as u64)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (h >> 32) as usize
    }
}

impl Interner {
    /// Starts a block, in which no name has a key yet.
    pub(crate) fn begin(&mut self) {
        self.epoch += 1;
    }

    /// Key of `raw` in the block at hand, and the tag that `tag` gave it when it was new to this
    /// worker. A name new to the block is appended to `names`.
    #[inline]
    pub(crate) fn key(
        &mut self,
        raw: &[u8],
        names: &mut Vec<Arc<str>>,
        tag: impl FnOnce(&[u8]) -> u16,
    ) -> (u32, u16) {
        if self.table.len() < 8 * (self.entries.len() + 1) {
            self.rehash();
        }
        let key = Key::from_bytes(raw);
        let mask = self.table.len() - 1;
        let mut slot = key.hash() & mask;
        loop {
            let at = self.table[slot];
            if at == 0 {
                if raw.len() > KEPT {
                    return self.key_of_start(raw, names, tag);
                }
                self.entries.push(Entry {
                    key,
                    raw: raw.into(),
                    text: escape_invalid(raw).into(),
                    epoch: 0,
                    local: 0,
                    tag: tag(raw),
                });
                self.table[slot] = self.entries.len() as u32;
                break;
            }
            let entry = &self.entries[at as usize - 1];
            if entry.key == key && (key.len <= 16 || *entry.raw == *raw) {
                break;
            }
            slot = (slot + 1) & mask;
        }
        let entry = &mut self.entries[self.table[slot] as usize - 1];
        if entry.epoch != self.epoch {
            entry.epoch = self.epoch;
            entry.local = names.len() as u32;
            names.push(Arc::clone(&entry.text));
        }
        (entry.local, entry.tag)
    }

    /// Key of the part that is kept of a name that is too long.
    #[cold]
    #[inline(never)]
    fn key_of_start(
        &mut self,
        raw: &[u8],
        names: &mut Vec<Arc<str>>,
        tag: impl FnOnce(&[u8]) -> u16,
    ) -> (u32, u16) {
        // Do not cut a character.
        let start = raw[..=KEPT].iter().rposition(|byte| byte & 0xc0 != 0x80);
        let end = start.filter(|end| end + 4 > KEPT).unwrap_or(KEPT);
        self.key(&raw[..end], names, tag)
    }

    /// As [`Interner::key`], for the name of 1 to 16 bytes at `padded[at..at + len]`, around which
    /// eight bytes may be loaded; `None` if the block at hand does not have it.
    #[inline(always)]
    pub(crate) fn known(&self, padded: &[u8], at: usize, len: usize) -> Option<(u32, u16)> {
        let key = Key::from_padded(padded, at, len)?;
        let mask = self.table.len().wrapping_sub(1);
        let mut slot = key.hash() & mask;
        loop {
            let entry = self.entries.get((*self.table.get(slot)? as usize).wrapping_sub(1))?;
            if entry.key == key {
                return (entry.epoch == self.epoch).then_some((entry.local, entry.tag));
            }
            slot = (slot + 1) & mask;
        }
    }

    #[cold]
    fn rehash(&mut self) {
        let size = (16 * (self.entries.len() + 1)).next_power_of_two().max(1024);
        self.table.clear();
        self.table.resize(size, 0);
        for (i, entry) in self.entries.iter().enumerate() {
            let mut slot = entry.key.hash() & (size - 1);
            while self.table[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.table[slot] = i as u32 + 1;
        }
    }
}

/// Distinct strings of one column over the whole stream, in order of appearance.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    keys: HashMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
    /// Bytes of all texts.
    bytes: usize,
    values: Option<Arc<StringArray>>,
}

impl Dictionary {
    /// The key of `text`.
    pub(crate) fn key(&mut self, text: &Arc<str>) -> u32 {
        if let Some(&key) = self.keys.get(text) {
            return key;
        }
        let key = self.texts.len() as u32;
        self.keys.insert(Arc::clone(text), key);
        self.texts.push(Arc::clone(text));
        self.bytes += text.len();
        self.values = None;
        key
    }

    /// The keys of a block's names, if all of them have one.
    pub(crate) fn known(&self, names: &[Arc<str>]) -> Option<Vec<u32>> {
        names.iter().map(|name| self.keys.get(name).copied()).collect()
    }

    /// Bytes of all values so far.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// All values so far.
    ///
    /// # Panics
    /// If they have more bytes than the offsets of a [`StringArray`] can hold; see
    /// [`Dictionary::bytes`].
    pub(crate) fn values(&mut self) -> Arc<StringArray> {
        let texts = &self.texts;
        Arc::clone(self.values.get_or_insert_with(|| {
            Arc::new(StringArray::from_iter_values(texts.iter().map(AsRef::as_ref)))
        }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_start_of_a_long_name_is_kept() {
        let mut worker = Interner::default();
        let mut names = Vec::new();
        worker.begin();
        let whole = "n".repeat(KEPT);
        let mut key = |name: &str| worker.key(name.as_bytes(), &mut names, |_| 0).0;
        let expected = key(&whole);
        for rest in ["a", "b", "ä", "\n and so on"] {
            assert_eq!(key(&format!("{whole}{rest}")), expected);
        }
        assert_ne!(key(&whole[1..]), expected);
        // A character is not cut, and invalid bytes do not count as an incomplete character.
        key(&format!("{}ä", &whole[1..]));
        key(&format!("{}\u{1f600}", &whole[2..]));
        worker.key(&[0x80; 2 * KEPT], &mut names, |_| 0);
        assert_eq!(*names[1], whole[1..]);
        assert_eq!(*names[2], whole[2..]);
        assert_eq!(*names[3], *"\\x80".repeat(KEPT));
        assert_eq!(names.len(), 4);
    }

    #[test]
    fn bytes_are_those_of_distinct_texts() {
        let mut stream = Dictionary::default();
        for text in ["read", "write", "read", ""] {
            stream.key(&Arc::from(text));
        }
        assert_eq!(stream.bytes(), 9);
    }

    proptest! {
        #[test]
        fn keys_stand_in_order_of_appearance(
            words in proptest::collection::vec("[a-c]{0,20}", 0..200), cut in 0usize..200
        ) {
            let mut expected: Vec<&str> = Vec::new();
            for word in &words {
                if !expected.contains(&word.as_str()) {
                    expected.push(word);
                }
            }
            // The result must not depend on the number of workers or on where blocks end.
            let cut = cut.min(words.len());
            let mut stream = Dictionary::default();
            for part in [&words[..cut], &words[cut..]] {
                let (mut worker, mut names) = (Interner::default(), Vec::new());
                worker.begin();
                let mut local: Vec<u32> = Vec::new();
                for word in part {
                    let padded = format!("{:8}{word}{:8}", "before", "after");
                    let (len, text) = (word.len(), padded.as_bytes());
                    let known = (1..=16).contains(&len).then(|| worker.known(text, 8, len));
                    let before = names.len();
                    let key = worker.key(word.as_bytes(), &mut names, |_| 7);
                    // What is known without a question is what the block has met.
                    let expected = (before == names.len()).then_some(key);
                    prop_assert_eq!(known.unwrap_or(expected), expected);
                    local.push(key.0);
                }
                let map: Vec<u32> = names.iter().map(|name| stream.key(name)).collect();
                prop_assert_eq!(stream.known(&names), Some(map.clone()));
                for (word, key) in part.iter().zip(local) {
                    prop_assert_eq!(&*stream.texts[map[key as usize] as usize], word.as_str());
                }
            }
            let values = stream.values();
            prop_assert_eq!(values.iter().flatten().collect::<Vec<_>>(), expected);
        }
    }
}
