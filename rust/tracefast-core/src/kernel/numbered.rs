//! Items by number. The numbers of items that are gone are used again.

use std::iter::Flatten;
use std::slice::Iter;

/// Fewer items at the front than this are not worth moving the others.
const MANY: usize = 4096;

/// Items by number.
#[derive(Debug)]
pub(crate) struct Numbered<T> {
    items: Vec<Option<T>>,
    free: Vec<usize>,
    /// The number of the first item.
    first: usize,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { items: Vec::new(), free: Vec::new(), first: 0 }
    }
}

impl<T> Numbered<T> {
    pub(crate) fn add(&mut self, item: T) -> usize {
        if let Some(at) = self.free.pop() {
            self.items[at - self.first] = Some(item);
            at
        } else {
            self.items.push(Some(item));
            self.first + self.items.len() - 1
        }
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        self.items.get(at.wrapping_sub(self.first))?.as_ref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.items.get_mut(at.wrapping_sub(self.first))?.as_mut()
    }

    pub(crate) fn remove(&mut self, at: usize) -> Option<T> {
        let item = self.items.get_mut(at.wrapping_sub(self.first))?.take()?;
        self.free.push(at);
        Some(item)
    }

    /// Drops an item where it is: moving long ones takes longer.
    pub(crate) fn discard(&mut self, at: usize) {
        if let Some(slot) = self.items.get_mut(at.wrapping_sub(self.first))
            && slot.is_some()
        {
            *slot = None;
            self.free.push(at);
        }
    }

    /// How many there are at most: places of items that are gone count as well.
    pub(crate) fn slots(&self) -> usize {
        self.items.len()
    }

    /// All items.
    pub(crate) fn iter(&self) -> Flatten<Iter<'_, Option<T>>> {
        self.items.iter().flatten()
    }

    /// All items.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.items.iter_mut().flatten()
    }

    /// The number of the first item that is wanted.
    pub(crate) fn position(&self, wanted: impl Fn(&T) -> bool) -> Option<usize> {
        let at = self.items.iter().position(|item| item.as_ref().is_some_and(&wanted))?;
        Some(self.first + at)
    }

    /// Gives back the memory of items at the front that are gone, whose numbers are not used again.
    pub(crate) fn shrink(&mut self) {
        let gone = drop_front(&mut self.items, Option::is_none);
        if gone > 0 {
            self.first += gone;
            self.free.retain(|&at| at >= self.first);
            self.free.shrink_to_fit();
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.iter().count()
    }
}

/// Removes items at the front that are gone, if there are many; returns how many.
pub(crate) fn drop_front<T>(items: &mut Vec<T>, gone: impl Fn(&T) -> bool) -> usize {
    let front = items.iter().take_while(|item| gone(item)).count();
    // The items behind them are moved down, so this waits until an eighth of them is gone.
    if front < MANY || front < items.len() / 8 {
        return 0;
    }
    items.drain(..front);
    items.shrink_to_fit();
    front
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_keep_their_numbers_when_the_front_goes() {
        let mut items = Numbered::default();
        let all = 3 * MANY;
        let numbers: Vec<usize> = (0..all).map(|item| items.add(item)).collect();
        for &at in &numbers[..2 * MANY] {
            assert_eq!(items.remove(at), Some(at));
        }
        items.shrink();
        assert_eq!((items.items.len(), items.len()), (MANY, MANY));
        assert_eq!((items.get(0), items.get(2 * MANY)), (None, Some(&(2 * MANY))));
        assert_eq!((items.remove(5), items.add(7)), (None, all));
        items.discard(all - 1);
        items.discard(all - 1);
        assert_eq!(items.remove(all - 1), None);
        assert_eq!((items.add(8), items.get(all - 1)), (all - 1, Some(&8)));
    }

    #[test]
    fn a_few_stay_where_they_are() {
        let mut items = Numbered::default();
        let at = items.add('a');
        items.add('b');
        items.remove(at);
        items.shrink();
        assert_eq!((items.first, items.position(|&item| item == 'b')), (0, Some(1)));
    }
}
