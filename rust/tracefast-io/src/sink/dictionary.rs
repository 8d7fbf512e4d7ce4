//! A dictionary of texts. Its contents depend only on the texts and their order.

use std::hash::BuildHasher;
use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, ArrayRef, StringArray, StringViewArray};
use arrow_schema::ArrowError;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::error::Result;
use crate::sink::non_null::{for_each_valid, walk};

/// Bytes of entries whose memory is kept.
const KEPT_BYTES: usize = 4 << 20;

/// Numbers distinct texts in the order in which they appear.
#[derive(Default)]
pub(crate) struct Dictionary {
    /// The entries as a dictionary page holds them: length, bytes.
    plain: Vec<u8>,
    /// Where each entry ends in `plain`, and its hash.
    entries: Vec<(usize, u64)>,
    table: HashTable<u32>,
    /// The seed differs from run to run. Keys do not depend on it.
    hasher: RandomState,
    /// Bytes of all texts whose views were pushed.
    pushed: usize,
    /// Key of each entry of an Arrow dictionary, or `UNSEEN`.
    remap: Vec<u32>,
    /// Keys of views seen lately, see `push_views`.
    recent: Vec<(u128, u32)>,
    /// Views whose texts are to be looked up, and places of keys that are those of one of them.
    waiting: Vec<Waiting>,
    likewise: Vec<(usize, usize)>,
}

/// A view that waits for its key.
#[derive(Clone, Copy)]
struct Waiting {
    /// Where the key will be written.
    at: usize,
    /// Row of the array.
    row: usize,
    /// Place in `recent`.
    recent: usize,
}

/// Views that wait, at most.
const AT_A_TIME: usize = 32;

/// The first key of views that wait: a dictionary has fewer entries than it may have bytes.
const WAITING: u32 = UNSEEN - AT_A_TIME as u32;

const UNSEEN: u32 = u32::MAX;

/// Views remembered, a power of two.
const RECENT: usize = 1024;

/// No real view has this value: its length would be too large.
const NO_VIEW: (u128, u32) = (u128::MAX, UNSEEN);

impl Dictionary {
    /// Clears it and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.plain.clear();
        self.plain.shrink_to(KEPT_BYTES);
        self.entries.clear();
        self.table.clear();
        self.pushed = 0;
    }

    /// The entries as a dictionary page of Parquet holds them: length, bytes.
    pub(crate) fn plain(&self) -> &[u8] {
        &self.plain
    }

    /// Number of entries.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether at most so many quarters of the bytes of all texts whose views were pushed are in
    /// entries: the others were there already.
    pub(crate) fn repeats(&self, quarters: usize) -> bool {
        let new = self.plain.len() - 4 * self.entries.len();
        4 * new <= quarters * self.pushed
    }

    /// The text with this key.
    pub(crate) fn text(&self, key: u32) -> &[u8] {
        text(&self.plain, &self.entries, key)
    }

    fn key(&mut self, wanted: &[u8]) -> u32 {
        let Self { plain, entries, table, hasher, .. } = self;
        let hash = hasher.hash_one(wanted);
        let same =
            |&key: &u32| entries[key as usize].1 == hash && text(plain, entries, key) == wanted;
        match table.entry(hash, same, |&key| entries[key as usize].1) {
            Entry::Occupied(found) => *found.get(),
            Entry::Vacant(place) => {
                let key = entries.len() as u32;
                place.insert(key);
                plain.extend_from_slice(&(wanted.len() as u32).to_le_bytes());
                plain.extend_from_slice(wanted);
                entries.push((plain.len(), hash));
                key
            }
        }
    }

    /// Appends the key of each value of an Arrow dictionary. Each entry is hashed once per array.
    pub(crate) fn push_dictionary(&mut self, array: &ArrayRef, keys: &mut Vec<u32>) -> Result<()> {
        type To<'a> = (&'a mut Dictionary, &'a mut Vec<u32>);
        let unexpected = || {
            let text = format!("no dictionary of texts with 32-bit keys: {}", array.data_type());
            ArrowError::SchemaError(text)
        };
        let dictionary = array.as_dictionary_opt::<UInt32Type>().ok_or_else(unexpected)?;
        let values = dictionary.values().as_string_opt::<i32>().ok_or_else(unexpected)?;
        if values.null_count() > 0 {
            let text = "a dictionary holds a null value".to_owned();
            return Err(ArrowError::InvalidArgumentError(text).into());
        }
        self.remap.clear();
        self.remap.resize(values.len(), UNSEEN);
        let of_values = &dictionary.keys().values()[..];
        keys.reserve(array.len() - array.null_count());
        let key = |this: &mut Self, index: u32| match this.remap[index as usize] {
            UNSEEN => this.key_of_entry(values, index),
            key => key,
        };
        let one = |(this, keys): &mut To<'_>, i: usize| keys.push(key(this, of_values[i]));
        // An iterator of known length is appended without a look at the capacity for each key.
        let many = |(this, keys): &mut To<'_>, range: Range<usize>| {
            keys.extend(of_values[range].iter().map(|&index| key(this, index)));
        };
        walk(dictionary.nulls(), array.len(), &mut (self, keys), many, one);
        Ok(())
    }

    /// The key of an entry of an Arrow dictionary.
    #[cold]
    fn key_of_entry(&mut self, values: &StringArray, index: u32) -> u32 {
        let key = self.key(values.value(index as usize).as_bytes());
        self.remap[index as usize] = key;
        key
    }

    /// Appends the key of each view; false when the entries have more than `most` bytes.
    ///
    /// Within one array, equal views mean equal texts, so a text is read and hashed only when its
    /// view was not seen lately. Those texts are far apart in memory that was written long ago:
    /// some at a time are touched first, so that the processor fetches them at once and not one by
    /// one.
    pub(crate) fn push_views(
        &mut self,
        array: &StringViewArray,
        keys: &mut Vec<u32>,
        most: usize,
    ) -> bool {
        self.recent.clear();
        self.recent.resize(RECENT, NO_VIEW);
        let views = &array.views()[..];
        keys.reserve(array.len() - array.null_count());
        let mut small = true;
        for_each_valid(array.nulls(), array.len(), |i| {
            if !small {
                return;
            }
            let view = views[i];
            let length = view as u32 as usize;
            if length > most {
                // It is not copied first.
                small = false;
                return;
            }
            self.pushed += length;
            let mixed = ((view >> 64) as u64 ^ view as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let at = (mixed >> (64 - RECENT.trailing_zeros())) as usize;
            let (seen, key) = self.recent[at];
            if seen == view {
                if key >= WAITING {
                    self.likewise.push((keys.len(), (key - WAITING) as usize));
                }
                keys.push(key);
                return;
            }
            let number = WAITING + self.waiting.len() as u32;
            self.recent[at] = (view, number);
            self.waiting.push(Waiting { at: keys.len(), row: i, recent: at });
            keys.push(number);
            if self.waiting.len() == AT_A_TIME {
                small = self.settle(array, keys, most);
            }
        });
        self.settle(array, keys, most) && small
    }

    /// Gives keys to the views that wait for them; false when the entries have more than `most`
    /// bytes: the rest has no keys then.
    fn settle(&mut self, array: &StringViewArray, keys: &mut [u32], most: usize) -> bool {
        let ends = |text: &[u8]| text.first().zip(text.last()).map_or(0, |(a, b)| a ^ b);
        let touch = |sum: u8, waiting: &Waiting| sum ^ ends(array.value(waiting.row).as_bytes());
        std::hint::black_box(self.waiting.iter().fold(0, touch));
        for i in 0..self.waiting.len() {
            let Waiting { at, row, recent } = self.waiting[i];
            let key = self.key(array.value(row).as_bytes());
            keys[at] = key;
            // Another view may have taken its place.
            if self.recent[recent].1 == WAITING + i as u32 {
                self.recent[recent].1 = key;
            }
            if self.plain.len() > most {
                self.waiting.clear();
                self.likewise.clear();
                return false;
            }
        }
        for &(at, number) in &self.likewise {
            keys[at] = keys[self.waiting[number].at];
        }
        self.waiting.clear();
        self.likewise.clear();
        true
    }

    /// Smallest and largest of the texts with these keys, or of all.
    pub(crate) fn bounds(&mut self, keys: Option<&[u32]>) -> Option<(&[u8], &[u8])> {
        let Some(keys) = keys else {
            let all = || (0..self.entries.len() as u32).map(|key| self.text(key));
            return Some((all().min()?, all().max()?));
        };
        // `remap` is not needed any more.
        self.remap.clear();
        self.remap.resize(self.entries.len(), UNSEEN);
        for &key in keys {
            self.remap[key as usize] = key;
        }
        let seen = || self.remap.iter().filter(|&&key| key != UNSEEN).map(|&key| self.text(key));
        Some((seen().min()?, seen().max()?))
    }
}

fn text<'a>(plain: &'a [u8], entries: &[(usize, u64)], key: u32) -> &'a [u8] {
    let key = key as usize;
    let start = if key == 0 { 0 } else { entries[key - 1].0 };
    &plain[start + 4..entries[key].0]
}
