//! Things that tasks may share, with counts of their users.

/// Things of one kind, each with the count of its users.
#[derive(Debug, Default)]
pub(crate) struct Shared<T> {
    pub(crate) items: Vec<(u32, T)>,
    free: Vec<usize>,
}

impl<T: Default> Shared<T> {
    pub(crate) fn add(&mut self, item: T) -> usize {
        if let Some(at) = self.free.pop() {
            self.items[at] = (1, item);
            at
        } else {
            self.items.push((1, item));
            self.items.len() - 1
        }
    }

    pub(crate) fn keep(&mut self, at: usize) -> usize {
        self.items[at].0 += 1;
        at
    }

    /// What a child gets: the same item, or a copy.
    pub(crate) fn child(&mut self, at: usize, shared: bool) -> usize
    where
        T: Clone,
    {
        if shared {
            return self.keep(at);
        }
        let copy = self.items[at].1.clone();
        self.add(copy)
    }

    /// One user less; returns the item if that was the last one.
    pub(crate) fn release(&mut self, at: usize) -> Option<T> {
        self.items[at].0 -= 1;
        (self.items[at].0 == 0).then(|| {
            self.free.push(at);
            std::mem::take(&mut self.items[at].1)
        })
    }
}
