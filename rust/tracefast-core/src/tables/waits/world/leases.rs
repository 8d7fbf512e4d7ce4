//! Leases on files: who opens the file waits until its holder gives it back.

use crate::hash::HashMap;
use crate::tables::waits::world::acts::{Act, Acts};
use crate::tables::waits::world::descriptors::Ofd;
use crate::tables::waits::world::locks::LockedFile;

/// A lease, or one that was given back.
#[derive(Debug, Clone)]
pub(crate) struct Lease {
    ofd: Ofd,
    task: u32,
    held: bool,
    pub(crate) released: Acts,
}

impl Lease {
    /// Of a description, taken by a task.
    pub(crate) fn new(ofd: Ofd, task: u32) -> Self {
        Self { ofd, task, held: true, released: Acts::default() }
    }

    /// Whether a task had to wait for it since a moment.
    pub(crate) fn stops(&self, task: u32, since: i64) -> bool {
        self.task != task && (self.held || self.released.any_since(since))
    }
}

/// All leases.
#[derive(Debug, Clone, Default)]
pub(crate) struct Leases {
    files: HashMap<LockedFile, Lease>,
}

impl Leases {
    pub(crate) fn get(&self, file: LockedFile) -> Option<&Lease> {
        self.files.get(&file)
    }

    pub(crate) fn take(&mut self, file: LockedFile, mut lease: Lease) {
        if let Some(before) = self.files.get(&file) {
            lease.released = before.released.clone();
        }
        // Those that were given back are of interest for a moment only.
        self.files.retain(|&one, lease| lease.held || one == file);
        self.files.insert(file, lease);
    }

    pub(crate) fn release(&mut self, file: LockedFile, act: Act) {
        if let Some(lease) = self.files.get_mut(&file) {
            lease.held = false;
            lease.released.push(act);
        }
    }

    /// The last descriptor of a description was closed.
    pub(crate) fn closed(&mut self, ofd: Ofd, act: Act) {
        for lease in self.files.values_mut().filter(|lease| lease.ofd == ofd && lease.held) {
            lease.held = false;
            lease.released.push(act);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_stops_others_until_it_is_given_back() {
        let (file, ofd) = ((0, 5), (0, 1));
        let mut leases = Leases::default();
        leases.take(file, Lease::new(ofd, 1));
        let stops = |leases: &Leases, task, since| {
            leases.get(file).is_some_and(|lease| lease.stops(task, since))
        };
        assert!(stops(&leases, 2, 10) && !stops(&leases, 1, 10));
        leases.closed(ofd, Act { task: 1, line: 9, ts: 20, end: 21 });
        assert!(stops(&leases, 2, 10) && !stops(&leases, 2, 30));
        leases.take((0, 6), Lease::new((0, 2), 1));
        assert!(leases.get(file).is_none());
    }
}
