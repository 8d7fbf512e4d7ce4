//! Files that are open, whoever opened them, and names that refer to other files than they did at
//! first.

use std::collections::VecDeque;

use crate::events::details::FileNumber;
use crate::hash::HashMap;
use xxhash_rust::xxh3::xxh3_64;

use crate::kernel::files::length::{Length, Moment};
use crate::kernel::files::types::Types;
use crate::text::scan::fetch_place;
use crate::thin_vec::ThinVec;

/// Index in [`Inodes`]. It is used again.
pub(crate) type InodeRef = u32;

/// A file that is open.
#[derive(Debug)]
pub(crate) struct Inode {
    refs: u32,
    pub id: u64,
    /// Its length.
    pub length: Length,
    /// When it was opened, and has been open since.
    pub opened: Moment,
    /// When a call created it, if the log shows that one did; otherwise 0.
    pub created: Moment,
    /// A description appends to it.
    pub appended: bool,
    /// Identities of files that are other ones, as their sizes have shown; the latest.
    pub others: ThinVec<u64>,
    /// Its number, if a call on a descriptor of it has shown that.
    pub number: Option<FileNumber>,
    /// Its name may lead to another file by now.
    astray: bool,
    /// How its name leads to it.
    direct: Direct,
}

/// How much of a path the log shows to be free of symbolic links. A component that is no link now was
/// none before, and stays so until a call of the log renames, replaces or removes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Direct {
    /// Any component may be a link.
    #[default]
    Unknown,
    /// The last component is no link.
    Last,
    /// No component is a link.
    Whole,
}

impl Inode {
    /// Whether there is one description of it.
    pub(crate) fn is_open_once(&self) -> bool {
        self.refs == 1
    }

    /// There is one more.
    pub(crate) fn add_user(&mut self) {
        self.refs += 1;
    }
}

/// A file that has changed and is closed.
#[derive(Debug)]
pub(crate) struct Left {
    pub id: u64,
    pub changed: Moment,
    /// See [`Inode::created`].
    pub created: Moment,
    /// Its size, and until when that was proved.
    size: Option<(i64, Moment)>,
    /// See [`Inode::number`].
    pub number: Option<FileNumber>,
    /// When it was closed.
    pub closed: Moment,
}

/// How many closed files are remembered, for calls that were under way when they changed.
const LEFT: usize = 32;

/// How many names that were renamed, removed or linked are remembered.
const MOVED: usize = 1 << 16;

/// Words of 64 bits in [`Inodes::moved_bits`], a power of two: 8 KiB.
const MOVED_WORDS: usize = 1 << 10;

/// A name that does not lead to its first file any more.
#[derive(Debug, Clone, Copy)]
struct Name {
    /// Identity of its file.
    id: u64,
    /// Identity of the last file that was created under it: other names may lead to that now.
    created: u64,
}

/// All files that are open. A closed one leaves nothing but its identity, a hash.
#[derive(Debug, Default)]
pub(crate) struct Inodes {
    pub open: Vec<Option<Inode>>,
    free: Vec<InodeRef>,
    by_id: HashMap<u64, InodeRef>,
    /// Those whose numbers are known.
    pub numbers: HashMap<FileNumber, InodeRef>,
    /// How many have lost their names.
    pub unnamed: u64,
    /// Names that were renamed, removed or linked; by their hash.
    moved: HashMap<u64, Name>,
    /// The same names, the oldest first.
    order: VecDeque<u64>,
    /// Bits of all names that have been in `moved`, by their hashes, or nothing. It is small and so
    /// near the processor, and most names that are asked for are not in the map.
    moved_bits: Vec<u64>,
    now: Moment,
    /// Files that changed and are closed now, and when they changed; the latest of many.
    pub left: VecDeque<Left>,
    /// A bit for each of them, by its identity: most files that are looked for are not among them.
    left_bits: u64,
    /// The latest change of a file that is forgotten.
    pub forgotten: Moment,
    /// The file that changed last, when it did, and when another one did.
    pub last_changed: (u64, Moment, Moment),
    /// Calls under way that may change the size of a file.
    pub resizing: u32,
    /// Calls under way that may change any file.
    pub rings: u32,
    /// Calls under way that may cut a file by its name.
    pub cuts: u32,
    /// What types files have.
    pub types: Types,
    /// Files that descriptions append to.
    pub appended: Vec<InodeRef>,
    /// Some file has `others`.
    pub compared: bool,
    /// The log does not show the order of changes.
    unordered: bool,
    /// Until then, names of files may have been given to others.
    names_moved: Moment,
    /// Until then, files may have been given to others that symbolic links lead to.
    targets_moved: Moment,
    /// The same for directories, and for links to those.
    folders_moved: Moment,
    /// The same for directories whose paths the kernel has shown.
    shown_folders_moved: Moment,
    /// When something was mounted or unmounted last.
    mounted: Moment,
    /// The log has all calls of a program and of what it starts, so sizes hold while files are
    /// closed.
    pub remembers: bool,
}

impl Inodes {
    /// The file with this identity, made if it is not open yet, for a description that was just
    /// opened; one user more. `direct`: how its name leads to it.
    pub(crate) fn open(&mut self, id: u64, direct: Direct) -> InodeRef {
        let (mut since, mut size) = (self.forgotten, None);
        if self.left_bits & bit(id) != 0 {
            for left in self.left.iter().filter(|left| left.id == id) {
                (since, size) = (since.max(left.changed), left.size);
            }
        }
        let remembered = size.filter(|_| self.remembers && !self.unordered);
        let size = remembered.filter(|_| self.find_shown(id, direct).is_none());
        let at = self.user((id, direct), since);
        if let (Some(size), Some(inode)) = (size, self.get(at)) {
            inode.length.restore(size);
        }
        at
    }

    /// The log shows how the name of the file leads to it.
    pub(crate) fn show_direct(&mut self, id: u64, direct: Direct) {
        if let Some(at) = self.by_id.get(&id).copied() {
            self.show_direct_at(at, direct);
        }
    }

    fn show_direct_at(&mut self, at: InodeRef, direct: Direct) {
        let folders_moved = self.folders_moved;
        if let Some(inode) = self.get(at) {
            // Folders that had another name then may lead to it now.
            let late = inode.direct != Direct::Whole && inode.opened < folders_moved;
            inode.direct = inode.direct.max(if late { direct.min(Direct::Last) } else { direct });
        }
    }

    /// Names may be those of other files from here on, so the sizes of closed files are forgotten.
    pub(crate) fn forget_sizes(&mut self) {
        for left in &mut self.left {
            left.size = None;
        }
    }

    /// Names of files that are open may be given to others from here on.
    pub(crate) fn names_move(&mut self) {
        self.names_moved = self.tick();
    }

    /// The name of this file may be given to another one from here on.
    pub(crate) fn name_moves(&mut self, at: InodeRef) {
        if let Some(inode) = self.get(at) {
            inode.astray = true;
        }
    }

    /// A name means another file from here on, or none. So may any symbolic link, which may lead to
    /// it or, if it is that of a `folder`, through it.
    pub(crate) fn target_moves(&mut self, folder: bool) {
        self.targets_moved = self.tick();
        if folder {
            self.folders_moved = self.targets_moved;
        }
    }

    /// Something is mounted or not any more: any name may be that of another file.
    pub(crate) fn mounts_change(&mut self) {
        self.names_move();
        self.mounted = self.names_moved;
    }

    /// When something was mounted or unmounted last.
    pub(crate) fn mounted(&self) -> Moment {
        self.mounted
    }

    /// Whether the path of a directory, by which it was entered or opened at `since`, may lead to
    /// another one now; `shown`: the kernel has given that path, which has no links.
    pub(crate) fn is_folder_astray(&self, shown: bool, since: Moment) -> bool {
        if shown {
            since < self.shown_folders_moved || self.is_astray(Direct::Whole, since)
        } else {
            self.is_astray(Direct::Last, since)
        }
    }

    /// Any directory that the kernel has shown may have another path from here on.
    pub(crate) fn shown_folders_move(&mut self) {
        self.shown_folders_moved = self.tick();
    }

    /// Whether the name is shown to be no link: else it is astray as soon as any other one moves.
    pub(crate) fn is_direct(&mut self, at: InodeRef) -> bool {
        self.get(at).is_some_and(|inode| inode.direct != Direct::Unknown)
    }

    /// Whether a name may have moved that a call looked up, which began at `since`.
    pub(crate) fn names_moved_since(&self, since: Moment) -> bool {
        since < self.targets_moved.max(self.names_moved)
    }

    /// Whether a name that leads to its file in this way may have led to another one before `since`.
    fn is_astray(&self, direct: Direct, since: Moment) -> bool {
        let links = match direct {
            Direct::Unknown => self.targets_moved,
            Direct::Last => self.folders_moved,
            Direct::Whole => 0,
        };
        since < links.max(self.names_moved)
    }

    /// The same for an older description: calls on it may be under way that the file does not know
    /// of.
    pub(crate) fn join(&mut self, id: u64) -> InodeRef {
        self.join_named(id, Direct::Unknown)
    }

    /// The same by a name.
    pub(crate) fn join_named(&mut self, id: u64, direct: Direct) -> InodeRef {
        let (at, now) = (self.user((id, direct), self.now), self.now);
        if let Some(inode) = self.get(at) {
            inode.length.followed_from(now);
        }
        at
    }

    fn user(&mut self, (id, direct): (u64, Direct), since: Moment) -> InodeRef {
        if let Some(at) = self.find_shown(id, direct) {
            if let Some(inode) = self.get(at) {
                inode.refs += 1;
            }
            return at;
        }
        let mut inode = Inode {
            refs: 1,
            id,
            length: Length::unknown(since),
            opened: self.now,
            created: 0,
            appended: false,
            others: ThinVec::default(),
            number: None,
            astray: false,
            direct,
        };
        if self.unordered {
            inode.length.lose_order();
        }
        let at = if let Some(at) = self.free.pop() {
            self.open[at as usize] = Some(inode);
            at
        } else {
            self.open.push(Some(inode));
            self.open.len() as u32 - 1
        };
        self.by_id.insert(id, at);
        at
    }

    /// The present moment.
    #[inline]
    pub(crate) fn now(&self) -> Moment {
        self.now
    }

    /// The next moment.
    #[inline]
    pub(crate) fn tick(&mut self) -> Moment {
        self.now += 1;
        self.now
    }

    /// From here on the log does not show in which order tasks change files.
    pub(crate) fn lose_order(&mut self) {
        if !std::mem::replace(&mut self.unordered, true) {
            for inode in self.open.iter_mut().flatten() {
                inode.length.lose_order();
            }
        }
    }

    /// One user less.
    pub(crate) fn close(&mut self, at: InodeRef) {
        let Some(inode) = self.get(at) else { return };
        inode.refs -= 1;
        if inode.refs == 0 {
            let (id, changed, created) = (inode.id, inode.length.changed(), inode.created);
            let size = inode.length.to_restore();
            let number = inode.number;
            if inode.appended {
                self.appended.retain(|&appended| appended != at);
            }
            let size = size.filter(|_| self.remembers);
            self.leave(Left { id, changed, created, size, number, closed: self.now });
            self.by_id.remove(&id);
            if number.is_some() {
                self.forget_number(at);
            }
            self.open[at as usize] = None;
            self.free.push(at);
        }
    }

    /// The file.
    #[inline]
    pub(crate) fn get(&mut self, at: InodeRef) -> Option<&mut Inode> {
        self.open.get_mut(at as usize).and_then(Option::as_mut)
    }

    /// The file, which does not change.
    pub(crate) fn at(&self, at: InodeRef) -> Option<&Inode> {
        self.open.get(at as usize).and_then(Option::as_ref)
    }

    /// A file changed that is not open.
    pub(crate) fn changed_unopened(&mut self, id: u64) {
        self.note_change(id, self.now);
        let (number, now) = (None, self.now);
        self.leave(Left { id, changed: now, created: 0, size: None, number, closed: now });
    }

    /// Remembers when a closed file changed: calls under way may have opened it before.
    fn leave(&mut self, left: Left) {
        if left.changed == 0 {
            return;
        }
        if self.left.len() >= LEFT
            && let Some(oldest) = self.left.pop_front()
        {
            self.forgotten = self.forgotten.max(oldest.changed);
            self.left_bits = self.left.iter().fold(0, |bits, left| bits | bit(left.id));
        }
        self.left_bits |= bit(left.id);
        self.left.push_back(left);
    }

    /// Where the file with this identity is, if it is open and its name still leads to it.
    #[inline]
    pub(crate) fn find(&mut self, id: u64) -> Option<InodeRef> {
        self.find_shown(id, Direct::Unknown)
    }

    /// The same by a name of which the log shows now how it leads to the file.
    #[inline]
    fn find_shown(&mut self, id: u64, direct: Direct) -> Option<InodeRef> {
        if self.by_id.is_empty() {
            return None;
        }
        let at = self.by_id.get(&id).copied()?;
        if direct != Direct::Unknown {
            self.show_direct_at(at, direct);
        }
        let inode = self.open.get(at as usize)?.as_ref()?;
        if inode.astray || self.is_astray(inode.direct, inode.opened) {
            // Perhaps the name leads to this file, perhaps to another one: they are two.
            self.unname(at);
            return None;
        }
        Some(at)
    }

    /// Whether a file has this identity that is open, although its name may lead elsewhere by now.
    pub(crate) fn is_open(&self, id: u64) -> bool {
        self.by_id.contains_key(&id)
    }

    /// The file with this identity, if it is open, is not found by it any more.
    pub(crate) fn forget_name(&mut self, id: u64) {
        self.by_id.remove(&id);
    }

    /// The file that the name with this hash refers to now.
    #[inline]
    pub(crate) fn identity(&self, name: u64) -> u64 {
        self.moved(name).map_or(name, |known| known.id)
    }

    /// What is known of the name, if it does not lead to its first file.
    #[inline]
    fn moved(&self, name: u64) -> Option<Name> {
        let (word, bit) = moved_bit(name);
        if self.moved_bits.get(word).is_none_or(|bits| bits & bit == 0) {
            return None;
        }
        self.moved.get(&name).copied()
    }

    /// It will be asked soon which file this name refers to, and of which type that is.
    #[inline]
    pub(crate) fn fetch(&self, name: u64) {
        if let Some(bits) = self.moved_bits.get(moved_bit(name).0) {
            fetch_place(bits);
        }
        self.types.fetch(name);
    }

    /// How a name leads to its file, as a call has `shown`. That counts if the file has got its
    /// identity from this name: another one that it has may be a link.
    #[inline]
    pub(crate) fn direct(&self, name: u64, shown: Direct) -> Direct {
        if shown == Direct::Unknown {
            return shown;
        }
        match self.moved(name) {
            Some(known) if known.id != known.created => Direct::Unknown,
            _ => shown,
        }
    }

    /// The name refers to this file from now on.
    pub(crate) fn lead(&mut self, name: u64, id: u64) {
        let created = self.moved.get(&name).map_or(name, |known| known.created);
        self.lead_to(name, Name { id, created });
    }

    /// What is created under the name next is another file.
    fn reuse(&mut self, name: u64) {
        let created = self.moved.get(&name).map_or(name, |known| known.created);
        let id = next_generation(created);
        self.lead_to(name, Name { id, created: id });
    }

    fn lead_to(&mut self, name: u64, now: Name) {
        self.moved_bits.resize(MOVED_WORDS, 0);
        let (word, bit) = moved_bit(name);
        self.moved_bits[word] |= bit;
        if self.moved.insert(name, now).is_none() {
            self.order.push_back(name);
            if self.order.len() > MOVED
                && let Some(oldest) = self.order.pop_front()
            {
                self.moved.remove(&oldest);
            }
        }
    }

    /// The name was removed: what is created under it next is another file.
    pub(crate) fn unlink(&mut self, name: u64) {
        self.reuse(name);
    }

    /// `from` was renamed to `to`. If both are names of one file, nothing happens: rename(2).
    pub(crate) fn rename(&mut self, from: u64, to: u64) {
        let id = self.identity(from);
        if from == to || id == self.identity(to) {
            return;
        }
        self.lead(to, id);
        self.reuse(from);
    }

    /// The two names were exchanged.
    pub(crate) fn exchange(&mut self, one: u64, other: u64) {
        let (first, second) = (self.identity(one), self.identity(other));
        self.lead(one, second);
        self.lead(other, first);
    }

    /// `to` is another name of the file of `from`.
    pub(crate) fn link(&mut self, from: u64, to: u64) {
        let id = self.identity(from);
        self.lead(to, id);
    }
}

/// One bit of 64; identities are hashes, so any bits will do.
fn bit(id: u64) -> u64 {
    1 << (id % 64)
}

/// The word and the bit of a name in [`Inodes::moved_bits`].
fn moved_bit(name: u64) -> (usize, u64) {
    ((name / 64) as usize % MOVED_WORDS, bit(name))
}

/// The identity of the next file under the same name.
fn next_generation(id: u64) -> u64 {
    let mut bytes = *b"\0\0\0\0\0\0\0\0 next";
    bytes[..8].copy_from_slice(&id.to_le_bytes());
    xxh3_64(&bytes)
}

/// The identity of a file without a name, which no row shows.
pub(crate) fn nameless(number: u32) -> u64 {
    u64::MAX - u64::from(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_file_leaves_nothing() {
        let mut inodes = Inodes::default();
        let (a, b) = (inodes.open(1, Direct::Unknown), inodes.open(1, Direct::Unknown));
        assert_eq!(a, b);
        inodes.close(a);
        assert!(inodes.is_open(1));
        inodes.close(b);
        assert!(!inodes.is_open(1));
        assert_eq!(inodes.open.len(), inodes.free.len());
    }

    #[test]
    fn names_lead_where_they_were_made_to() {
        let mut inodes = Inodes::default();
        inodes.rename(1, 2);
        assert_eq!(inodes.identity(2), 1);
        assert!(![1, 2].contains(&inodes.identity(1)));
        inodes.link(2, 3);
        inodes.unlink(2);
        assert_eq!(inodes.identity(3), 1);
        assert!(![1, 2].contains(&inodes.identity(2)));
        let (two, three) = (inodes.identity(2), inodes.identity(3));
        inodes.exchange(2, 3);
        assert_eq!((inodes.identity(2), inodes.identity(3)), (three, two));
        // Two names of one file: renaming does nothing.
        inodes.link(3, 4);
        inodes.rename(3, 4);
        assert_eq!(inodes.identity(3), inodes.identity(4));
    }

    #[test]
    fn what_is_created_under_two_names_are_two_files() {
        let mut inodes = Inodes::default();
        inodes.rename(1, 2);
        inodes.unlink(2);
        assert_ne!(inodes.identity(1), inodes.identity(2));
        inodes.link(1, 3);
        inodes.unlink(3);
        let third = inodes.identity(3);
        inodes.rename(3, 4);
        inodes.link(1, 3);
        inodes.unlink(3);
        assert_eq!(inodes.identity(4), third);
        assert_ne!(inodes.identity(3), third);
    }

    #[test]
    fn not_every_name_ever_removed_is_kept() {
        let mut inodes = Inodes::default();
        for name in 0..2 * MOVED as u64 {
            inodes.unlink(name);
        }
        assert_eq!((inodes.moved.len(), inodes.order.len()), (MOVED, MOVED));
        assert_eq!(inodes.identity(0), 0);
    }
}
