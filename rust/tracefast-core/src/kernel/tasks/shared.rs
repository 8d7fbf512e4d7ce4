//! Things that tasks may share, with counts of their users.

use std::ops::{Index, IndexMut};

use crate::kernel::numbered::drop_front;

/// The number of an item that is as each is at first, and that one task has: it takes no memory
/// until something happens to it. Of many tasks the log shows one call or two.
pub(crate) const NEW: usize = usize::MAX;

/// Things of one kind, each with the count of its users.
#[derive(Debug, Default)]
pub(crate) struct Shared<T> {
    items: Vec<(u32, T)>,
    free: Vec<usize>,
    /// The number of the first one.
    first: usize,
}

impl<T: Default> Shared<T> {
    pub(crate) fn add(&mut self, item: T) -> usize {
        if let Some(at) = self.free.pop() {
            self.items[at - self.first] = (1, item);
            at
        } else {
            self.items.push((1, item));
            self.first + self.items.len() - 1
        }
    }

    pub(crate) fn keep(&mut self, at: usize) -> usize {
        if at != NEW {
            self.items[at - self.first].0 += 1;
        }
        at
    }

    /// How many there are at most: places of items that are gone count as well.
    pub(crate) fn slots(&self) -> usize {
        self.items.len()
    }

    /// How many tasks use it.
    #[inline]
    pub(crate) fn users(&self, at: usize) -> u32 {
        if at == NEW {
            return 1;
        }
        self.items[at - self.first].0
    }

    /// The item; `None` if it is as each is at first.
    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        self.items.get(at.wrapping_sub(self.first)).map(|(_, item)| item)
    }

    /// Gives the item a number, if it has none.
    #[inline]
    pub(crate) fn number(&mut self, at: &mut usize) -> usize {
        if *at == NEW {
            *at = self.add(T::default());
        }
        *at
    }

    /// What a child gets: the same item, or a copy.
    pub(crate) fn child(&mut self, at: &mut usize, shared: bool) -> usize
    where
        T: Clone,
    {
        match *at {
            _ if shared => {
                let at = self.number(at);
                self.keep(at)
            }
            NEW => NEW,
            at => {
                let copy = self[at].clone();
                self.add(copy)
            }
        }
    }

    /// One user less; returns the item if that was the last one.
    pub(crate) fn release(&mut self, at: usize) -> Option<T> {
        if at == NEW {
            return None;
        }
        let (users, item) = &mut self.items[at - self.first];
        *users -= 1;
        (*users == 0).then(|| {
            self.free.push(at);
            std::mem::take(item)
        })
    }

    /// Those in use: their numbers, how many tasks use them, and what they are.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, u32, &T)> {
        let used = (self.first..).zip(&self.items).filter(|(_, (users, _))| *users > 0);
        used.map(|(at, (users, item))| (at, *users, item))
    }

    /// The same.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (usize, u32, &mut T)> {
        let used = (self.first..).zip(&mut self.items).filter(|(_, (users, _))| *users > 0);
        used.map(|(at, (users, item))| (at, *users, item))
    }

    /// The numbers of those in use.
    pub(crate) fn numbers(&self) -> Vec<usize> {
        self.iter().map(|(at, ..)| at).collect()
    }

    /// Gives back the memory of those at the front that are gone.
    pub(crate) fn shrink(&mut self) {
        let gone = drop_front(&mut self.items, |(users, _)| *users == 0);
        if gone > 0 {
            self.first += gone;
            self.free.retain(|&at| at >= self.first);
            self.free.shrink_to_fit();
        }
    }
}

impl<T> Index<usize> for Shared<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        &self.items[at - self.first].1
    }
}

impl<T> IndexMut<usize> for Shared<T> {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.items[at - self.first].1
    }
}
