//! Open files and the tables of descriptors that lead to them.

use std::sync::Arc;

use crate::kernel::descriptors::messages::End;
use crate::kernel::files::inodes::{InodeRef, Inodes};
use crate::kernel::files::length::Moment;
use crate::kernel::transfers::position::{Flight, Position, Stream};

/// Number of an open file in [`OpenFileDescriptions`].
pub(crate) type DescriptionRef = u32;

/// An open file description, shared by every descriptor that was duplicated or inherited.
#[derive(Debug)]
pub(crate) struct OpenFileDescription {
    refs: u32,
    /// What users see; 0 until a row needs it.
    number: u32,
    /// Name at open, or from the first annotation; `None` where the log gives none.
    pub path: Option<Arc<[u8]>>,
    /// Identity of the file.
    pub id: Option<u64>,
    /// Key of the type, if known.
    pub file_type: Option<u8>,
    /// Position of its description in [`crate::events::model_columns::ModelColumns::descriptions`] of block `described`.
    pub description: u32,
    /// See `description`.
    pub described: u64,
    /// What is known of the file itself, if it has positions.
    pub inode: Option<InodeRef>,
    /// Where the next transfer begins.
    pub position: Position,
    /// Reads and writes so far.
    pub streams: [Stream; 2],
    /// Calls under way that move the position.
    pub flight: Flight,
    /// Writes land at the end of the file.
    pub append: bool,
    /// It is older than the log: nobody opened it there.
    pub inherited: bool,
    /// When the last read that found data began.
    pub read: Moment,
    /// Calls under way that change `append`.
    pub switching: u32,
    /// When `append` changed last.
    pub switched: Moment,
    /// Rows were given relative offsets.
    pub relative: bool,
    /// Rows were given relative offsets, and since then something proved where those count from.
    pub proved: bool,
    /// The process that it stands for.
    pub process: Option<i32>,
    /// The end of a pair of sockets that it is.
    pub end: Option<End>,
}

impl OpenFileDescription {
    /// A description that nothing refers to yet.
    pub(crate) fn new(path: Option<Arc<[u8]>>, id: Option<u64>, file_type: Option<u8>) -> Self {
        Self {
            refs: 0,
            number: 0,
            path,
            id,
            file_type,
            description: 0,
            described: u64::MAX,
            inode: None,
            position: Position::None,
            streams: [Stream::Fresh; 2],
            flight: Flight::default(),
            append: false,
            inherited: false,
            read: 0,
            switching: 0,
            switched: 0,
            relative: false,
            proved: false,
            process: None,
            end: None,
        }
    }

    /// The same, older than the log.
    pub(crate) fn inherited(position: Position) -> Self {
        Self { inherited: true, position, ..Self::new(None, None, None) }
    }

    /// What users see of it; 0 as long as no row needed it.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Its name, identity or type is another one: the next row gets another description.
    pub(crate) fn changed(&mut self) {
        self.described = u64::MAX;
    }

    /// `path`, which is its own, is the path of a file. Of most files this is known without a look.
    #[inline]
    pub(crate) fn is_named(&self, path: &[u8]) -> bool {
        self.inode.is_some() || path.starts_with(b"/")
    }

    /// What an annotation prints, a view, may be the name that it has.
    #[inline]
    pub(crate) fn agrees(&self, view: u128) -> bool {
        let named = self.path.as_ref().is_some_and(|path| self.is_named(path));
        !self.inherited && named == is_rooted(view)
    }

    /// It has no positions.
    #[inline]
    pub(crate) fn is_stream(&self) -> bool {
        self.position == Position::None && self.inode.is_none()
    }

    /// The same, and no call is under way that knew of some.
    #[inline]
    pub(crate) fn is_quiet_stream(&self) -> bool {
        self.is_stream() && self.flight.is_quiet()
    }

    /// Where it stands may have changed, and nobody knows to what.
    pub(crate) fn lose(&mut self) {
        if self.position != Position::None {
            self.position = Position::Unknown;
            self.streams = [Stream::Lost; 2];
        }
    }

    /// It is no file with positions.
    pub(crate) fn never_positioned(&mut self, inodes: &mut Inodes) {
        self.position = Position::None;
        if let Some(inode) = self.inode.take() {
            inodes.close(inode);
        }
    }

    /// Relative positions count from `base`, as something proves. Says whether rows have any.
    pub(crate) fn prove(&mut self, base: i64) -> bool {
        self.position = self.position.based(base);
        for stream in &mut self.streams {
            stream.base(base);
        }
        self.proved |= self.relative;
        std::mem::take(&mut self.relative)
    }
}

/// A path begins with a slash, `pipe:[1]`, `socket:[1]` and the like do not.
#[inline]
pub(crate) fn is_rooted(view: u128) -> bool {
    (view >> 32) as u8 == b'/'
}

/// All open file descriptions: those without a descriptor are gone at once.
#[derive(Debug, Default)]
pub(crate) struct OpenFileDescriptions {
    files: Vec<Option<OpenFileDescription>>,
    free: Vec<DescriptionRef>,
    /// The files that they are of.
    pub inodes: Inodes,
    /// Numbers given out.
    numbers: u32,
}

impl OpenFileDescriptions {
    fn add(&mut self, file: OpenFileDescription) -> DescriptionRef {
        if let Some(at) = self.free.pop() {
            self.files[at as usize] = Some(file);
            at
        } else {
            self.files.push(Some(file));
            self.files.len() as u32 - 1
        }
    }

    /// The description.
    #[inline]
    pub(crate) fn get(&mut self, file: DescriptionRef) -> Option<&mut OpenFileDescription> {
        self.files.get_mut(file as usize).and_then(Option::as_mut)
    }

    /// The description, and the files.
    #[inline]
    pub(crate) fn with_inodes(
        &mut self,
        file: DescriptionRef,
    ) -> Option<(&mut OpenFileDescription, &mut Inodes)> {
        let open = self.files.get_mut(file as usize).and_then(Option::as_mut)?;
        Some((open, &mut self.inodes))
    }

    /// What users see of it: unique in this log.
    #[inline]
    pub(crate) fn number(&mut self, file: DescriptionRef) -> u32 {
        self.numbered(file).map_or(0, |open| open.number)
    }

    /// The description, whose number a row is about to show.
    #[inline]
    pub(crate) fn numbered(&mut self, file: DescriptionRef) -> Option<&mut OpenFileDescription> {
        let open = self.files.get_mut(file as usize).and_then(Option::as_mut)?;
        if open.number == 0 {
            self.numbers += 1;
            open.number = self.numbers;
        }
        Some(open)
    }

    /// A user more: a descriptor, a call under way.
    pub(crate) fn keep(&mut self, file: DescriptionRef) {
        if let Some(file) = self.get(file) {
            file.refs += 1;
        }
    }

    /// A user less.
    pub(crate) fn release(&mut self, file: DescriptionRef) {
        if let Some(open) = self.get(file) {
            open.refs -= 1;
            if open.refs == 0 {
                let inode = open.inode;
                self.files[file as usize] = None;
                self.free.push(file);
                if let Some(inode) = inode {
                    self.inodes.close(inode);
                }
            }
        }
    }
}

/// What a descriptor leads to, taken out of its table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Descriptor {
    /// What it leads to.
    pub file: DescriptionRef,
    /// It is closed by execve.
    pub cloexec: bool,
}

/// Largest descriptor that is followed: beyond stands only what hostile text makes up.
const MAX_FD: i32 = 1 << 20;

/// A table of descriptors, of one process or shared by several tasks.
#[derive(Debug, Default)]
pub(crate) struct FdTable {
    slots: Vec<Option<Descriptor>>,
}

impl FdTable {
    /// What `fd` leads to.
    #[inline]
    pub(crate) fn get(&self, fd: i32) -> Option<DescriptionRef> {
        self.slots.get(usize::try_from(fd).ok()?)?.map(|slot| slot.file)
    }

    /// The descriptor `fd`.
    pub(crate) fn slot(&self, fd: i32) -> Option<Descriptor> {
        *self.slots.get(usize::try_from(fd).ok()?)?
    }

    /// Puts another descriptor in the place of `fd`, which there is; users of files stay as they are.
    pub(crate) fn replace(&mut self, fd: i32, by: Descriptor) {
        let slot = usize::try_from(fd).ok().and_then(|at| self.slots.get_mut(at));
        if let Some(slot) = slot {
            *slot = Some(by);
        }
    }

    /// Lets `fd` lead to a new description; gives that.
    pub(crate) fn open(
        &mut self,
        files: &mut OpenFileDescriptions,
        fd: i32,
        file: OpenFileDescription,
        cloexec: bool,
    ) -> Option<DescriptionRef> {
        if !(0..MAX_FD).contains(&fd) {
            return None;
        }
        let file = files.add(file);
        self.put(files, fd, file, cloexec);
        Some(file)
    }

    /// Lets `fd` lead to a description that there is.
    pub(crate) fn install(
        &mut self,
        files: &mut OpenFileDescriptions,
        fd: i32,
        file: DescriptionRef,
        cloexec: bool,
    ) {
        if (0..MAX_FD).contains(&fd) {
            self.put(files, fd, file, cloexec);
        }
    }

    /// Lets `to` lead to what `from` leads to; whether that is known.
    pub(crate) fn dup(
        &mut self,
        files: &mut OpenFileDescriptions,
        from: i32,
        to: i32,
        cloexec: bool,
    ) {
        if from == to {
            return;
        }
        match self.get(from) {
            Some(file) if (0..MAX_FD).contains(&to) => self.put(files, to, file, cloexec),
            _ => self.close(files, to),
        }
    }

    fn put(
        &mut self,
        files: &mut OpenFileDescriptions,
        fd: i32,
        file: DescriptionRef,
        cloexec: bool,
    ) {
        files.keep(file);
        self.close(files, fd);
        let at = fd as usize;
        if self.slots.len() <= at {
            self.slots.resize(at + 1, None);
        }
        self.slots[at] = Some(Descriptor { file, cloexec });
    }

    /// Sets or clears the mark of `fd` to be closed by execve.
    pub(crate) fn set_cloexec(&mut self, fd: i32, mark: bool) {
        let slot = usize::try_from(fd).ok().and_then(|at| self.slots.get_mut(at));
        if let Some(slot) = slot.and_then(Option::as_mut) {
            slot.cloexec = mark;
        }
    }

    /// Frees `fd`.
    pub(crate) fn close(&mut self, files: &mut OpenFileDescriptions, fd: i32) {
        let slot = usize::try_from(fd).ok().and_then(|at| self.slots.get_mut(at));
        if let Some(slot) = slot.and_then(Option::take) {
            files.release(slot.file);
        }
    }

    /// Takes `fd` out of the table, its description kept.
    pub(crate) fn take(&mut self, fd: i32) -> Option<Descriptor> {
        self.slots.get_mut(usize::try_from(fd).ok()?)?.take()
    }

    /// Puts back what was taken, unless `fd` leads elsewhere by now; or ends it.
    pub(crate) fn give_back(
        &mut self,
        files: &mut OpenFileDescriptions,
        fd: i32,
        taken: Descriptor,
        open: bool,
    ) {
        match usize::try_from(fd).ok().and_then(|at| self.slots.get_mut(at)) {
            Some(slot @ None) if open => *slot = Some(taken),
            _ => files.release(taken.file),
        }
    }

    /// Frees every descriptor from `first` to `last`.
    pub(crate) fn close_range(&mut self, files: &mut OpenFileDescriptions, first: i32, last: i32) {
        let end = (i64::from(last) + 1).clamp(0, self.slots.len() as i64) as i32;
        for fd in first.max(0)..end {
            self.close(files, fd);
        }
    }

    /// Marks every descriptor from `first` to `last` as closed by execve.
    pub(crate) fn mark_range(&mut self, first: i32, last: i32) {
        let end = (i64::from(last) + 1).clamp(0, self.slots.len() as i64) as usize;
        let first = first.max(0) as usize;
        for slot in self.slots.get_mut(first..end).unwrap_or_default().iter_mut().flatten() {
            slot.cloexec = true;
        }
    }

    /// Frees what execve closes.
    pub(crate) fn exec(&mut self, files: &mut OpenFileDescriptions) {
        for fd in 0..self.slots.len() as i32 {
            if self.slots[fd as usize].is_some_and(|slot| slot.cloexec) {
                self.close(files, fd);
            }
        }
    }

    /// A copy, whose descriptors lead to the same descriptions.
    #[must_use]
    pub(crate) fn copy(&self, files: &mut OpenFileDescriptions) -> Self {
        for slot in self.slots.iter().flatten() {
            files.keep(slot.file);
        }
        Self { slots: self.slots.clone() }
    }

    /// Frees everything.
    pub(crate) fn clear(&mut self, files: &mut OpenFileDescriptions) {
        for slot in self.slots.drain(..).flatten() {
            files.release(slot.file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> OpenFileDescription {
        OpenFileDescription::new(Some(path.as_bytes().into()), None, None)
    }

    #[test]
    fn descriptions_live_as_long_as_a_descriptor() {
        let mut files = OpenFileDescriptions::default();
        let mut parent = FdTable::default();
        parent.open(&mut files, 3, file("/a"), true);
        parent.dup(&mut files, 3, 10, false);
        let mut child = parent.copy(&mut files);
        assert_eq!(parent.get(3), child.get(10));
        child.exec(&mut files);
        assert_eq!((child.get(3), child.get(10).is_some()), (None, true));
        parent.close(&mut files, 3);
        parent.close(&mut files, 10);
        assert_eq!(files.files.len() - files.free.len(), 1);
        child.clear(&mut files);
        assert_eq!(files.files.len(), files.free.len());
    }

    #[test]
    fn odd_numbers_do_no_harm() {
        let mut files = OpenFileDescriptions::default();
        let mut table = FdTable::default();
        table.open(&mut files, i32::MAX, file("/a"), false);
        table.dup(&mut files, -1, i32::MAX, false);
        table.dup(&mut files, -5, -7, false);
        table.close_range(&mut files, -3, i32::MAX);
        table.mark_range(100, 3);
        assert_eq!(files.files.len(), files.free.len());
    }
}
