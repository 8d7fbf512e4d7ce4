//! A dictionary of texts: what stands in it depends on the texts and their order only.

use std::hash::BuildHasher;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, ArrayRef, StringViewArray};
use arrow_schema::ArrowError;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::valid::for_each_valid;
use crate::error::Result;

/// Bytes of a dictionary of views beyond which the texts are written as they are.
const MOST_BYTES: usize = 1 << 20;

/// Numbers distinct texts in the order in which they appear.
#[derive(Default)]
pub(super) struct Dictionary {
    /// The entries as a dictionary page holds them: length, bytes.
    plain: Vec<u8>,
    /// Where each entry ends in `plain`, and its hash.
    entries: Vec<(usize, u64)>,
    table: HashTable<u32>,
    /// The seed differs from run to run. Keys do not depend on it.
    hasher: RandomState,
    /// Key of each entry of an Arrow dictionary, or `UNSEEN`.
    remap: Vec<u32>,
    /// Keys of views seen lately, see `push_views`.
    recent: Vec<(u128, u32)>,
}

const UNSEEN: u32 = u32::MAX;

/// Views remembered, a power of two.
const RECENT: usize = 1024;

/// No view is like this one: its length would be above any array's.
const NO_VIEW: (u128, u32) = (u128::MAX, UNSEEN);

impl Dictionary {
    /// Forgets everything, keeps the memory.
    pub(super) fn clear(&mut self) {
        self.plain.clear();
        self.plain.shrink_to(4 * MOST_BYTES);
        self.entries.clear();
        self.table.clear();
    }

    /// The entries as a dictionary page of Parquet holds them: length, bytes.
    pub(super) fn plain(&self) -> &[u8] {
        &self.plain
    }

    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The text with this key.
    pub(super) fn text(&self, key: u32) -> &[u8] {
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
    pub(super) fn push_dictionary(&mut self, array: &ArrayRef, keys: &mut Vec<u32>) -> Result<()> {
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
        for_each_valid(dictionary.nulls(), array.len(), |i| {
            let index = of_values[i] as usize;
            let mut key = self.remap[index];
            if key == UNSEEN {
                key = self.key(values.value(index).as_bytes());
                self.remap[index] = key;
            }
            keys.push(key);
        });
        Ok(())
    }

    /// Appends the key of each view; false when the dictionary has grown too large.
    ///
    /// Within one array, equal views mean equal texts, so a text is read and hashed only when its
    /// view was not seen lately.
    pub(super) fn push_views(&mut self, array: &StringViewArray, keys: &mut Vec<u32>) -> bool {
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
            let mixed = ((view >> 64) as u64 ^ view as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let at = (mixed >> (64 - RECENT.trailing_zeros())) as usize;
            let (seen, mut key) = self.recent[at];
            if seen != view {
                key = self.key(array.value(i).as_bytes());
                self.recent[at] = (view, key);
                small = self.plain.len() <= MOST_BYTES;
            }
            keys.push(key);
        });
        small
    }

    /// Smallest and largest of the texts with these keys.
    pub(super) fn bounds(&mut self, keys: &[u32]) -> Option<(&[u8], &[u8])> {
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
