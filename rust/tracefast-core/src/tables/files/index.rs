//! The rows of the table by what they are about.

use std::hash::BuildHasher;

use crate::hash::Hasher;
use crate::tables::files::By;
use crate::tables::files::fold::Files;
use crate::tables::files::row::{FileUse, Key, What};

impl Files {
    /// The row of a key, and of a name if the file has only that; adds it at its first use.
    #[inline]
    pub(crate) fn find(&mut self, key: Key, file: Option<u64>, path: Option<&str>) -> u32 {
        let named = key.what == What::Name;
        if let Some((last, number)) = self.last
            && last == key
            && !named
        {
            return number;
        }
        let name = if named { path } else { None };
        let hash = self.hasher.hash_one((key, name));
        let number = match self.in_index(hash, key, name) {
            Some(number) => number,
            None => self.add(hash, key, file, name),
        };
        self.last = Some((key, number));
        number
    }

    fn add(&mut self, hash: u64, key: Key, file: Option<u64>, name: Option<&str>) -> u32 {
        let mut file_use = FileUse::new(key, file);
        file_use.path = name.map(Into::into);
        let free = self.by_phase.free.pop();
        let number = free.unwrap_or(self.file_uses.len() as u32);
        match self.file_uses.get_mut(number as usize) {
            Some(empty) => {
                *empty = file_use;
                self.users.clear();
            }
            None => self.file_uses.push(file_use),
        }
        self.add_to_index(hash, number);
        if self.options.by == By::Phase {
            self.by_phase.added(key, number);
        }
        number
    }

    #[inline]
    fn in_index(&self, hash: u64, key: Key, name: Option<&str>) -> Option<u32> {
        let same = |&number: &u32| {
            self.file_uses.get(number as usize).is_some_and(|file_use| {
                file_use.key == key && (key.what != What::Name || file_use.path.as_deref() == name)
            })
        };
        self.index.find(hash, same).copied()
    }

    fn add_to_index(&mut self, hash: u64, number: u32) {
        let (file_uses, hasher) = (&self.file_uses, &self.hasher);
        self.index.insert_unique(hash, number, |&number| hash_of(hasher, file_uses, number));
    }

    /// Gives a row another key. Returns the row that has that key already.
    pub(crate) fn change_key(&mut self, number: u32, key: Key) -> Option<u32> {
        let hash = hash_of(&self.hasher, &self.file_uses, number);
        if let Ok(found) = self.index.find_entry(hash, |&other| other == number) {
            found.remove();
        }
        self.last = None;
        let file_use = self.file_uses.get_mut(number as usize)?;
        file_use.key = key;
        let hash = hash_of(&self.hasher, &self.file_uses, number);
        let name = self.file_uses.get(number as usize)?.path.as_deref();
        let same = self.in_index(hash, key, name);
        if same.is_none() {
            self.add_to_index(hash, number);
        }
        same
    }
}

/// The hash of a row's key, and of its name if it has only that.
fn hash_of(hasher: &Hasher, file_uses: &[FileUse], number: u32) -> u64 {
    file_uses.get(number as usize).map_or(0, |file_use| {
        let name = file_use.path.as_deref().filter(|_| file_use.key.what == What::Name);
        hasher.hash_one((file_use.key, name))
    })
}
