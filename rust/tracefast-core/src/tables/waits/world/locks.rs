//! Locks on files: flock(2), and the record locks of fcntl(2).

use crate::hash::HashMap;
use crate::tables::waits::world::acts::{Act, Acts};
use crate::tables::waits::world::descriptors::Ofd;

/// So many files are known before those without a lock are forgotten: on a busy machine, who waits
/// for a lock may get it long after it was given back.
const MANY: usize = 16;

/// Whose a lock is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A description's: flock, `F_OFD_SETLK`.
    Description(Ofd),
    /// A process's: `F_SETLK`. It is known by its table of descriptors.
    Process(u32),
}

/// A lock, or what is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lock {
    pub(crate) owner: Owner,
    pub(crate) exclusive: bool,
    /// Of flock, which does not see the locks of fcntl.
    pub(crate) whole: bool,
    pub(crate) start: i64,
    /// The first byte behind it.
    pub(crate) end: i64,
    /// The task that took it, and the line of its call.
    pub(crate) task: u32,
    pub(crate) line: u64,
}

impl Lock {
    fn overlaps(&self, other: &Self) -> bool {
        self.whole == other.whole && self.start < other.end && other.start < self.end
    }

    /// Whether who asks for this one must wait for the other.
    pub(crate) fn conflicts(&self, held: &Self) -> bool {
        self.overlaps(held) && self.owner != held.owner && (self.exclusive || held.exclusive)
    }
}

/// A source and a file.
pub(crate) type LockedFile = (u32, u64);

#[derive(Debug, Clone, Default)]
struct FileLocks {
    held: Vec<Lock>,
    released: Acts,
}

/// All locks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Locks {
    files: HashMap<LockedFile, FileLocks>,
}

impl Locks {
    /// Whether no lock is held.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.values().all(|locks| locks.held.is_empty())
    }

    /// A lock was taken; it replaces what its owner had there.
    pub(crate) fn take(&mut self, file: LockedFile, lock: Lock) {
        self.cut(file, &lock);
        if self.files.len() >= MANY && !self.files.contains_key(&file) {
            self.files.retain(|_, locks| !locks.held.is_empty());
        }
        self.files.entry(file).or_default().held.push(lock);
    }

    /// A lock, or a part of it, was given back.
    pub(crate) fn release(&mut self, file: LockedFile, lock: &Lock, act: Act) {
        self.cut(file, lock);
        if let Some(locks) = self.files.get_mut(&file) {
            locks.released.push(act);
        }
    }

    fn cut(&mut self, file: LockedFile, lock: &Lock) {
        let Some(locks) = self.files.get_mut(&file) else { return };
        let mut left = Vec::new();
        for held in locks.held.drain(..) {
            if held.owner != lock.owner || !held.overlaps(lock) {
                left.push(held);
                continue;
            }
            if held.start < lock.start {
                left.push(Lock { end: lock.start, ..held });
            }
            if lock.end < held.end {
                left.push(Lock { start: lock.end, ..held });
            }
        }
        locks.held = left;
    }

    /// All locks of an owner end: its last descriptor was closed.
    pub(crate) fn release_all(&mut self, owner: Owner, act: Act) {
        for locks in self.files.values_mut() {
            let before = locks.held.len();
            locks.held.retain(|held| held.owner != owner);
            if locks.held.len() < before {
                locks.released.push(act);
            }
        }
    }

    /// The locks that one that is asked for must wait for.
    pub(crate) fn conflicts(&self, file: LockedFile, asked: &Lock) -> Vec<Lock> {
        let held = self.files.get(&file).map_or(&[][..], |locks| &locks.held);
        held.iter().filter(|held| asked.conflicts(held)).copied().collect()
    }

    pub(crate) fn released(&self, file: LockedFile) -> Option<&Acts> {
        Some(&self.files.get(&file)?.released)
    }

    /// Whether an owner has any.
    pub(crate) fn any_of(&self, owner: Owner) -> bool {
        self.files.values().any(|locks| locks.held.iter().any(|held| held.owner == owner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: LockedFile = (0, 5);

    fn lock(process: u32, exclusive: bool, start: i64, end: i64) -> Lock {
        let owner = Owner::Process(process);
        Lock { owner, exclusive, whole: false, start, end, task: process, line: 1 }
    }

    const ACT: Act = Act { task: 0, line: 9, ts: 9, end: 9 };

    #[test]
    fn ranges_conflict_where_they_overlap() {
        let mut locks = Locks::default();
        locks.take(FILE, lock(1, true, 0, 100));
        assert_eq!(locks.conflicts(FILE, &lock(2, false, 50, 60)), [lock(1, true, 0, 100)]);
        assert!(locks.conflicts(FILE, &lock(1, true, 50, 60)).is_empty());
        assert!(locks.conflicts(FILE, &lock(2, true, 100, 200)).is_empty());
        locks.release(FILE, &lock(1, true, 40, 70), ACT);
        assert!(locks.conflicts(FILE, &lock(2, true, 50, 60)).is_empty());
        assert_eq!(locks.conflicts(FILE, &lock(2, true, 60, 71)).len(), 1);
        locks.take(FILE, lock(1, false, 0, 100));
        assert!(locks.conflicts(FILE, &lock(2, false, 0, 100)).is_empty());
        locks.release_all(Owner::Process(1), ACT);
        assert!(!locks.any_of(Owner::Process(1)));
        assert!(locks.is_empty());
        // Who waits may return after other descriptions were closed.
        let later = Act { ts: 20, end: 20, ..ACT };
        locks.release_all(Owner::Description((0, 3)), later);
        assert!(locks.released(FILE).is_some_and(|acts| acts.any_since(9)));
    }

    #[test]
    fn flock_and_fcntl_do_not_see_each_other() {
        let mut locks = Locks::default();
        locks.take(FILE, lock(1, true, 0, 100));
        let owner = Owner::Description((0, 3));
        let whole = Lock { owner, whole: true, ..lock(2, true, 0, i64::MAX) };
        assert!(locks.conflicts(FILE, &whole).is_empty());
    }
}
