//! What epoll sets watch: epoll(7).

use std::collections::{BTreeMap, BTreeSet};

use crate::tables::waits::world::descriptors::Ofd;

/// What only an epoll set has.
#[derive(Debug, Clone, Default)]
pub(crate) struct EpollSet {
    /// By description, and by the number under which it was added.
    watched: BTreeMap<(Ofd, i32), Watch>,
    /// The same, by data.
    by_data: BTreeSet<(i64, Ofd, i32)>,
    /// It watches what is not known.
    pub(crate) others: bool,
    /// A wait for it had a limit.
    pub(crate) limited: bool,
}

/// An entry of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Watch {
    pub(crate) ofd: Ofd,
    pub(crate) fd: i32,
    /// Data that can be taken, room for data that can be given.
    pub(crate) take: bool,
    pub(crate) give: bool,
    /// What `epoll_wait`(2) returns for it.
    pub(crate) data: Option<i64>,
}

impl EpollSet {
    /// Adds an entry, or changes it.
    pub(crate) fn watch(&mut self, watch: Watch) {
        let Watch { ofd, fd, data, .. } = watch;
        self.unwatch(ofd, fd);
        self.watched.insert((ofd, fd), watch);
        self.by_data.extend(data.map(|data| (data, ofd, fd)));
    }

    /// An entry is of a description and the number under which it was added.
    pub(crate) fn unwatch(&mut self, ofd: Ofd, fd: i32) {
        let before = self.watched.remove(&(ofd, fd));
        if let Some(data) = before.and_then(|before| before.data) {
            self.by_data.remove(&(data, ofd, fd));
        }
    }

    /// Removes all entries of a description.
    pub(crate) fn forget(&mut self, ofd: Ofd) {
        let fds: Vec<i32> = self.watched_of(ofd).map(|one| one.fd).collect();
        for fd in fds {
            self.unwatch(ofd, fd);
        }
    }

    /// The entries, in the order of their descriptions.
    pub(crate) fn watched(&self) -> impl Iterator<Item = &Watch> {
        self.watched.values()
    }

    /// The entries of one description.
    pub(crate) fn watched_of(&self, ofd: Ofd) -> impl Iterator<Item = &Watch> {
        self.watched.range((ofd, i32::MIN)..=(ofd, i32::MAX)).map(|(_, one)| one)
    }

    /// What a call returned, by its data.
    pub(crate) fn ready(&self, data: i64) -> Option<Ofd> {
        let least = (data, (0, 0), i32::MIN);
        let mut found = self.by_data.range(least..).take_while(|one| one.0 == data);
        let &(_, first, _) = found.next()?;
        found.next().is_none().then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_of_a_description_and_a_number() {
        let one = Watch { ofd: (0, 1), fd: 3, take: true, give: false, data: Some(7) };
        let mut set = EpollSet::default();
        set.watch(one);
        set.watch(Watch { give: true, ..one });
        assert_eq!(set.watched().collect::<Vec<_>>(), [&Watch { give: true, ..one }]);
        assert_eq!(set.ready(7), Some((0, 1)));
        set.watch(Watch { fd: 4, ..one });
        assert_eq!(set.ready(7), None);
        set.unwatch((0, 1), 3);
        assert_eq!(set.watched().count(), 1);
        set.watch(Watch { ofd: (0, 2), data: Some(8), ..one });
        assert_eq!(set.ready(7), Some((0, 1)));
        set.forget((0, 1));
        assert_eq!(set.watched_of((0, 1)).count(), 0);
        assert_eq!((set.ready(7), set.ready(8)), (None, Some((0, 2))));
    }
}
