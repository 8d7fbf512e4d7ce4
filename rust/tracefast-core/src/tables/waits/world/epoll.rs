//! What epoll sets watch: epoll(7).

use crate::tables::waits::world::descriptors::Ofd;

/// What only an epoll set has.
#[derive(Debug, Clone, Default)]
pub(crate) struct EpollSet {
    pub(crate) watched: Vec<Watch>,
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
        self.unwatch(watch.ofd, watch.fd);
        self.watched.push(watch);
    }

    /// An entry is of a description and the number under which it was added.
    pub(crate) fn unwatch(&mut self, ofd: Ofd, fd: i32) {
        self.watched.retain(|one| (one.ofd, one.fd) != (ofd, fd));
    }

    /// What a call returned, by its data.
    pub(crate) fn ready(&self, data: i64) -> Option<Ofd> {
        let mut found = self.watched.iter().filter(|one| one.data == Some(data));
        let first = found.next()?;
        found.next().is_none().then_some(first.ofd)
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
        assert_eq!(set.watched, [Watch { give: true, ..one }]);
        assert_eq!(set.ready(7), Some((0, 1)));
        set.watch(Watch { fd: 4, ..one });
        assert_eq!(set.ready(7), None);
        set.unwatch((0, 1), 3);
        assert_eq!(set.watched.len(), 1);
    }
}
