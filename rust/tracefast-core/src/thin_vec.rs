//! Lists that are usually empty.

use std::ops::{Deref, DerefMut};

/// A list that takes no more room than a pointer while it is empty.
#[derive(Debug, Clone)]
pub(crate) struct ThinVec<T>(
    // A box, because most structs have nothing in the list, and there may be millions of them.
    #[allow(clippy::box_collection)] Option<Box<Vec<T>>>,
);

impl<T> ThinVec<T> {
    pub(crate) fn push(&mut self, item: T) {
        self.0.get_or_insert_default().push(item);
    }

    pub(crate) fn insert(&mut self, at: usize, item: T) {
        self.0.get_or_insert_default().insert(at, item);
    }

    pub(crate) fn remove(&mut self, at: usize) {
        if let Some(list) = &mut self.0 {
            list.remove(at);
        }
    }

    pub(crate) fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        if let Some(list) = &mut self.0 {
            list.retain(keep);
        }
    }

    /// Removes all items, and gives them.
    pub(crate) fn take(&mut self) -> Vec<T> {
        self.0.take().map_or_else(Vec::new, |list| *list)
    }
}

impl<T> Default for ThinVec<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> From<Vec<T>> for ThinVec<T> {
    fn from(list: Vec<T>) -> Self {
        Self((!list.is_empty()).then(|| Box::new(list)))
    }
}

impl<T> Deref for ThinVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl<T> DerefMut for ThinVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.0.as_deref_mut().map_or(&mut [], Vec::as_mut_slice)
    }
}

impl<'a, T> IntoIterator for &'a ThinVec<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
