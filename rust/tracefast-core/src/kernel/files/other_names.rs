//! Files that may be one file under several names.
//!
//! The log does not show where symbolic links, hard links and mounts lead that are older than it, nor
//! which file `d/../x` is. So a call that changes a file may change any other one as well, unless
//! something shows that the two differ: one of them was created while the other one was open, they
//! had different sizes at the same moment, or they have different numbers. A file that is not open, whose name is just looked at, is
//! not compared.

use crate::kernel::files::inodes::{Inode, InodeRef, Inodes};
use crate::kernel::files::length::{Changes, Moment, ResizeStart};
use crate::kernel::files::numbers::differ;

/// How many open files are compared. Where there are more, none is known to be another one.
const COMPARED: usize = 1024;

/// How many files that are other ones are remembered for each file.
const OTHERS: usize = 16;

/// Stands for the identity of any file.
const ANY: u64 = 0;

impl Inode {
    fn differs(&self, id: u64, opened: Moment, created: Moment) -> bool {
        created > self.opened || self.created > opened || self.others.contains(&id)
    }

    pub(crate) fn differs_from(&self, other: &Self) -> bool {
        differ(self.number, other.number)
            || self.differs(other.id, other.opened, other.created)
            || other.others.contains(&self.id)
    }

    fn note_other(&mut self, id: u64) {
        if self.others.len() == OTHERS {
            self.others.remove(0);
        }
        if !self.others.contains(&id) {
            self.others.push(id);
        }
    }
}

impl Inodes {
    /// A call begins that may change the file.
    pub(crate) fn begin_change(&mut self, at: InodeRef, changes: Changes) -> Option<ResizeStart> {
        let now = self.now();
        self.changed(at, now);
        self.resizing += 1;
        Some(self.get(at)?.length.begin(changes))
    }

    /// The file changes `now`.
    #[inline]
    pub(crate) fn changed(&mut self, at: InodeRef, now: Moment) {
        if let Some(Inode { id, .. }) = self.get(at) {
            let id = *id;
            self.note_change(id, now);
        }
    }

    /// The file with this identity changes `now`.
    #[inline]
    pub(crate) fn note_change(&mut self, id: u64, now: Moment) {
        let (last, at, before) = self.last_changed;
        self.last_changed = (id, now, if last == id { before } else { at });
    }

    /// Forgets the size of the file if a file that may be the same one has changed since the size
    /// was proved.
    #[inline]
    pub(crate) fn check_other_names(&mut self, at: InodeRef) {
        let (last, changed, before) = self.last_changed;
        let Some(inode) = self.get(at) else { return };
        let (id, proved) = (inode.id, inode.length.proved());
        if !inode.length.counts() {
            return;
        }
        let other = if last == id { before } else { changed };
        if other > proved || self.resizing > 0 {
            self.compare_changed(at, proved);
        }
    }

    /// Notes whether that may be so, before a call writes to the file.
    #[inline]
    pub(crate) fn doubt_other_names(&mut self, at: InodeRef) {
        let ((last, changed, before), others) = (self.last_changed, self.resizing > 1);
        if let Some(Inode { id, length, .. }) = self.get(at) {
            let other = if last == *id { before } else { changed };
            length.doubt(other > length.proved() || others);
        }
    }

    #[inline(never)]
    fn compare_changed(&mut self, at: InodeRef, proved: Moment) {
        let now = self.now();
        let Some(inode) = self.open.get(at as usize).and_then(Option::as_ref) else { return };
        let open = self.open.iter().flatten().any(|other| {
            other.id != inode.id
                && (other.length.changed() > proved || other.length.is_changing())
                && !inode.differs_from(other)
        });
        // When such a file was opened is not known any more: perhaps after this one was created.
        let left = self.left.iter().any(|left| {
            left.id != inode.id
                && left.changed > proved
                && !inode.differs(left.id, Moment::MAX, left.created)
                && !inode.has_other_number(left.number, left.closed)
        });
        let any = self.rings > 0 || self.cuts > 0 || self.forgotten > proved;
        let doubtful = open || left || any || self.open.len() > COMPARED;
        if let Some(inode) = self.get(at) {
            if doubtful {
                inode.length.lose();
            } else {
                inode.length.prove(now);
            }
        }
    }

    /// The kernel is asked to change files that the log does not show.
    pub(crate) fn begin_unseen_changes(&mut self) {
        self.rings += 1;
        self.resizing += 1;
    }

    /// It has done so.
    pub(crate) fn end_unseen_changes(&mut self) {
        (self.rings, self.resizing) = (self.rings - 1, self.resizing - 1);
        self.change_any();
    }

    /// A call begins that may cut a file by its name. The kernel does that at some moment of it.
    pub(crate) fn begin_cut(&mut self) {
        self.cuts += 1;
        self.resizing += 1;
    }

    /// It is over. What it has changed counts as changed now.
    pub(crate) fn end_cut(&mut self) {
        (self.cuts, self.resizing) = (self.cuts - 1, self.resizing - 1);
    }

    /// A call has changed a file, and the log does not show which.
    #[cold]
    pub(crate) fn change_any(&mut self) {
        let now = self.tick();
        self.forgotten = now;
        self.note_change(ANY, now);
    }

    /// A call created the file, which is just open once.
    pub(crate) fn created(&mut self, at: InodeRef, now: Moment) {
        if let Some(inode) = self.get(at).filter(|inode| inode.is_open_once()) {
            inode.created = now;
        }
    }

    /// Descriptions append to this file from now on.
    pub(crate) fn append_to(&mut self, at: InodeRef) {
        if let Some(inode) = self.get(at)
            && !std::mem::replace(&mut inode.appended, true)
        {
            self.appended.push(at);
        }
    }

    /// The size of this file is known. A file of another size is another file.
    #[inline]
    pub(crate) fn compare_size(&mut self, at: InodeRef) {
        if !self.appended.is_empty() {
            self.compare_with_appended(at);
        }
    }

    #[cold]
    fn compare_with_appended(&mut self, at: InodeRef) {
        let appended = self.get(at).is_some_and(|inode| inode.appended);
        if appended && self.open.len() <= COMPARED {
            for other in 0..self.open.len() as InodeRef {
                self.compare_sizes(at, other);
            }
        } else {
            for index in 0..self.appended.len().min(OTHERS) {
                self.compare_sizes(self.appended[index], at);
            }
        }
    }

    fn compare_sizes(&mut self, at: InodeRef, other: InodeRef) {
        if at == other || self.size_now(other).is_none() {
            return;
        }
        let (size, of_other) = (self.size_now(at), self.size_now(other));
        let Some(id) = self.get(other).map(|inode| inode.id) else { return };
        if let (Some(size), Some(of_other)) = (size, of_other)
            && size != of_other
            && let Some(inode) = self.get(at)
        {
            inode.note_other(id);
            self.compared = true;
        }
    }

    /// The size of the file, if no call is under way that may change it.
    fn size_now(&mut self, at: InodeRef) -> Option<i64> {
        self.get(at)?.length.size()?;
        self.check_other_names(at);
        let length = &self.get(at)?.length;
        length.size().filter(|_| !length.is_changing())
    }
}
