//! Files by device and inode number, where calls have shown those (`strace -v`).
//!
//! Two open files with one number are one file under all its names, and two with different numbers
//! are two (inode(7)). A number may be given again once its file is gone, so what is known of it
//! ends with the last description of the file. Only calls on descriptors prove a number: between two
//! calls on one name, something outside of the log may have put another file there.

use crate::events::details::FileNumber;
use crate::kernel::descriptors::open_file_description::{DescriptionRef, OpenFileDescriptions};
use crate::kernel::files::inodes::{Inode, InodeRef, Inodes, nameless};
use crate::kernel::files::length::Moment;
use crate::kernel::transfers::position::Position;

/// Whether both are known, and differ.
pub(crate) fn differ(one: Option<FileNumber>, other: Option<FileNumber>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}

impl OpenFileDescriptions {
    /// A call on the description has shown the number of its file; `regular`: it is a regular file.
    #[cold]
    pub(crate) fn know_number(&mut self, file: DescriptionRef, number: FileNumber, regular: bool) {
        let Some(open) = self.get(file) else { return };
        if open.file_number.replace(number) != Some(number) {
            self.compare_again(file);
        }
        let own = nameless(self.number(file));
        let Some((open, inodes)) = self.with_inodes(file) else { return };
        if !regular || open.position == Position::None {
            return;
        }
        let (before, logged) = (open.inode, open.logged);
        let Some(at) = inodes.of_number(before, number, own) else { return };
        if let Some(inode) = inodes.get(at).filter(|_| logged) {
            inode.length.lose_order();
        }
        if before != Some(at) {
            open.inode = Some(at);
            if open.append {
                inodes.append_to(at);
            }
            if let Some(before) = before {
                inodes.close(before);
            }
        }
    }
}

impl Inodes {
    /// The file with this number, for a description that has been taken for one of file `before`.
    /// If it is another one, it has one user more. `own`: an identity for a file without a name.
    /// `None` if that cannot change now.
    fn of_number(
        &mut self,
        before: Option<InodeRef>,
        number: FileNumber,
        own: u64,
    ) -> Option<InodeRef> {
        let was = before.and_then(|before| self.get(before)).map(|inode| inode.number);
        if was == Some(Some(number)) {
            return before;
        }
        // Calls under way will tell the file that they began at.
        if before.and_then(|before| self.get(before)).is_some_and(|it| it.length.is_changing()) {
            return None;
        }
        if let Some(at) = self.numbers.get(&number).copied() {
            if !self.are_different(before, at) {
                return self.join_numbered(at);
            }
            // The one that is known is older than the log shows: the number was given again.
            self.forget_number(at);
        }
        let at = match (before, was) {
            (Some(before), Some(None)) => before,
            (before, _) => {
                // Its name leads to another file than the log shows.
                if let Some(before) = before {
                    self.unname(before);
                }
                self.join(own)
            }
        };
        self.get(at)?.number = Some(number);
        self.numbers.insert(number, at);
        Some(at)
    }

    fn are_different(&self, one: Option<InodeRef>, two: InodeRef) -> bool {
        let get = |at: InodeRef| self.open.get(at as usize).and_then(Option::as_ref);
        let pair = one.and_then(get).zip(get(two));
        pair.is_some_and(|(one, two)| one.number.is_none() && one.differs_from(two))
    }

    /// What was done to the file by its other name is not known to this one.
    fn join_numbered(&mut self, at: InodeRef) -> Option<InodeRef> {
        let now = self.now();
        let inode = self.get(at)?;
        inode.add_user();
        inode.length.lose();
        inode.length.followed_from(now);
        inode.length.was_cut(now);
        Some(at)
    }

    /// The file that a call, which began at `since`, has looked at by a name that leads to `named`
    /// as far as the log shows.
    #[cold]
    pub(crate) fn looked_at(
        &mut self,
        named: Option<InodeRef>,
        number: FileNumber,
        since: Moment,
    ) -> Option<InodeRef> {
        if let Some(at) = self.numbers.get(&number).copied()
            && self.get(at).is_some_and(|inode| inode.opened <= since)
        {
            return Some(at);
        }
        let known = self.get(named?)?.number;
        if differ(known, Some(number)) {
            self.unname(named?);
            return None;
        }
        named
    }

    /// No number is known of the file any more.
    pub(crate) fn forget_number(&mut self, at: InodeRef) {
        if let Some(number) = self.get(at).and_then(|inode| inode.number.take())
            && self.numbers.get(&number) == Some(&at)
        {
            self.numbers.remove(&number);
        }
    }

    /// The name of the file leads to another one, which the log does not show: what is opened by it
    /// from here on is not this file.
    pub(super) fn unname(&mut self, at: InodeRef) {
        self.unnamed += 1;
        let fresh = (u64::MAX >> 2) - self.unnamed;
        let Some(inode) = self.get(at) else { return };
        let id = std::mem::replace(&mut inode.id, fresh);
        self.forget_name(id);
        if self.compared {
            for inode in self.open.iter_mut().flatten() {
                inode.others.retain(|&other| other != id);
            }
        }
        if self.last_changed.0 == id {
            self.last_changed.0 = fresh;
        }
    }
}

impl Inode {
    /// Whether the file was open when another one with this number, which was closed at `closed`,
    /// still was.
    pub(crate) fn has_other_number(&self, number: Option<FileNumber>, closed: Moment) -> bool {
        differ(self.number, number) && self.opened <= closed
    }
}
