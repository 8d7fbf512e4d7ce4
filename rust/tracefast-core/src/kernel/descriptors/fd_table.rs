//! Tables of descriptors, as the kernel's `files_struct`: each number refers to an open file
//! description.

use std::collections::VecDeque;

use crate::kernel::descriptors::open_file_description::{
    DescriptionRef, OpenFileDescription, OpenFileDescriptions,
};
use crate::kernel::files::length::Moment;
use crate::thin_vec::ThinVec;

/// A descriptor without its number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Descriptor {
    /// The description that it refers to.
    pub file: DescriptionRef,
    /// Execve closes it.
    pub cloexec: bool,
}

/// A descriptor that a table may have: a call made it in another table while a fork copied that.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Perhaps {
    pub fd: i32,
    /// What it refers to, if that was opened then: the index may have been used again.
    pub file: DescriptionRef,
    pub opened: Moment,
    /// Execve closes it.
    pub cloexec: bool,
}

/// How many of the copies of a table are remembered.
pub(crate) const COPIES: usize = 8;

/// The last of the numbers that something was done to, and when.
#[derive(Debug, Default, Clone)]
struct Recent(VecDeque<(i32, Moment)>);

impl Recent {
    /// How many are remembered.
    const MOST: usize = 64;

    fn push(&mut self, fd: i32, now: Moment) {
        if self.0.len() == Self::MOST {
            self.0.pop_front();
        }
        self.0.push_back((fd, now));
    }

    /// Whether it may have been done to the number `fd` after that moment.
    fn has_since(&self, fd: i32, since: Moment) -> bool {
        let forgotten = self.0.len() == Self::MOST && self.0[0].1 > since;
        forgotten || self.0.iter().rev().any(|&(number, at)| number == fd && at > since)
    }
}

/// What happened lately to a table that several tasks use, and to its copies.
#[derive(Debug, Default, Clone)]
pub(crate) struct Lately {
    /// Descriptors that were made: when the calls ended.
    made: Recent,
    /// Numbers that were closed beside calls on them: when those ended.
    outlived: Recent,
    /// Its last copies, and when they were made.
    pub copies: Vec<(usize, Moment)>,
    /// When it was copied from such a table.
    pub copied: Moment,
    /// What it may have, of numbers about which nothing is known.
    pub perhaps: Vec<Perhaps>,
}

/// What is known of a number.
#[derive(Debug, Clone, Copy, Default)]
enum Slot {
    /// Nothing: it may be a descriptor that is older than the log.
    #[default]
    Unknown,
    /// No descriptor has it since a call closed the one that had it.
    Closed(Since),
    Open(Descriptor),
}

/// What is known of a number since its descriptor was closed.
#[derive(Debug, Clone, Copy, Default)]
struct Since {
    /// Others used the description then, perhaps in calls on this number.
    in_use: bool,
    /// It was closed once more, so a call whose end is not in the log yet may have made it.
    again: bool,
}

impl Slot {
    #[inline]
    fn open(self) -> Option<Descriptor> {
        match self {
            Self::Open(descriptor) => Some(descriptor),
            Self::Unknown | Self::Closed(_) => None,
        }
    }
}

/// The largest descriptor that is followed. The usual limit of the kernel is the same
/// (`fs.nr_open`, proc(5)); larger numbers come from damaged or hostile text.
const MAX_FD: i32 = 1 << 20;

/// The fd table of a process, or of several tasks that share it.
#[derive(Debug, Default)]
pub(crate) struct FdTable {
    slots: Vec<Slot>,
    /// Other tasks use it too, in an order that the log does not show.
    pub unordered: bool,
    /// It may have changed unseen: as a ring of `io_uring` asked, or as another task did that
    /// shared it.
    pub changes_unseen: bool,
    /// Tasks that were made by calls without flags: it is open whether they share it with those that
    /// made them. See `tasks/unshown_flags.rs`.
    pub unclear: ThinVec<u32>,
    /// One of them, or a task that may share it with one of them, has changed its own.
    pub diverged: bool,
    /// A task whose calls are not in the log uses it, too.
    pub hidden: bool,
    /// Calls were on a number that was given to another description: they may still be under way.
    pub raced: bool,
    /// A box, because most tables are of one task.
    pub lately: Option<Box<Lately>>,
    /// How many descriptors were looked at for rings so far.
    pub looked_at: u32,
    /// Standard input, output and error, which are older than the log, are not in it yet: of many
    /// tasks the log shows one call or two.
    pub lacks_standard: bool,
}

impl FdTable {
    /// The table of a task that is older than the log.
    pub(crate) fn older() -> Self {
        Self { lacks_standard: true, ..Self::default() }
    }

    /// The description that `fd` refers to.
    #[inline]
    pub(crate) fn get(&self, fd: i32) -> Option<DescriptionRef> {
        self.slot(fd).map(|slot| slot.file)
    }

    /// Whether calls may have changed it that the log does not have, or not in their order.
    pub(crate) fn may_change_unseen(&self) -> bool {
        self.unordered || self.changes_unseen || self.hidden || !self.unclear.is_empty()
    }

    /// All descriptors: their numbers, and the descriptions that they refer to.
    pub(crate) fn all(&self) -> impl Iterator<Item = (i32, DescriptionRef)> {
        let open = |(fd, slot): (usize, &Slot)| Some((fd as i32, slot.open()?.file));
        self.slots.iter().enumerate().filter_map(open)
    }

    /// The descriptor `fd`.
    #[inline]
    pub(crate) fn slot(&self, fd: i32) -> Option<Descriptor> {
        self.slots.get(usize::try_from(fd).ok()?)?.open()
    }

    /// A call has made descriptor `fd`, and tasks share the table.
    pub(crate) fn note_made(&mut self, fd: i32, now: Moment) {
        self.lately.get_or_insert_default().made.push(fd, now);
    }

    /// Whether descriptor `fd`, which exists, may have been made after that moment.
    #[inline]
    pub(crate) fn was_made_since(&self, fd: i32, since: Moment) -> bool {
        self.lately.as_ref().is_some_and(|lately| lately.made.has_since(fd, since))
    }

    /// A call on the number `fd` has ended, which was closed before.
    pub(crate) fn note_outlived(&mut self, fd: i32, now: Moment) {
        self.lately.get_or_insert_default().outlived.push(fd, now);
        self.raced = true;
    }

    /// When it was copied, if that was from a table of several tasks.
    pub(crate) fn copied(&self) -> Option<Moment> {
        self.lately.as_ref().map(|lately| lately.copied)
    }

    /// All numbers that have been in use are below this one.
    pub(crate) fn numbers(&self) -> usize {
        self.slots.len()
    }

    /// Whether the log shows that no descriptor has the number `fd`.
    pub(crate) fn is_closed(&self, fd: i32) -> bool {
        let slot = usize::try_from(fd).ok().and_then(|at| self.slots.get(at));
        matches!(slot, Some(Slot::Closed(_)))
    }

    /// Whether calls that have begun on the number `fd` may not be over. Its next description may be
    /// the one that they use: see `tasks/number_races.rs`.
    #[inline]
    pub(crate) fn is_in_use(&self, files: &OpenFileDescriptions, fd: i32) -> bool {
        if self.raced {
            return true;
        }
        let slot = usize::try_from(fd).ok().and_then(|at| self.slots.get(at));
        match slot {
            Some(Slot::Open(descriptor)) => {
                let file = files.at(descriptor.file);
                file.is_some_and(|open| open.is_shared() || open.inherited)
            }
            Some(&Slot::Closed(Since { in_use, again })) => in_use || again,
            Some(Slot::Unknown) | None => false,
        }
    }

    /// Whether a descriptor with the number `fd` was made before the call that makes it has ended, as
    /// far as the log shows. That call began at `since`.
    #[cold]
    pub(crate) fn was_made_early(
        &self,
        files: &OpenFileDescriptions,
        fd: i32,
        since: Moment,
    ) -> bool {
        let slot = usize::try_from(fd).ok().and_then(|at| self.slots.get(at));
        match slot {
            // It was used as if it was older than the log, and nothing has closed it; or it was closed
            // before the call that made it had ended.
            Some(Slot::Open(descriptor)) => {
                self.raced || files.at(descriptor.file).is_some_and(|open| open.inherited)
            }
            Some(Slot::Closed(closed)) => {
                let lately = self.lately.as_ref();
                closed.again || lately.is_some_and(|lately| lately.outlived.has_since(fd, since))
            }
            Some(Slot::Unknown) | None => false,
        }
    }

    /// A close of the number `fd`, if it is closed, has not failed.
    #[inline]
    pub(crate) fn close_again(&mut self, fd: i32) {
        let slot = usize::try_from(fd).ok().and_then(|at| self.slots.get_mut(at));
        if let Some(Slot::Closed(since)) = slot {
            since.again = true;
        }
    }

    /// The number `fd`, if it is free, may refer to a description that the log does not show.
    pub(crate) fn may_open(&mut self, fd: i32) {
        let slot = usize::try_from(fd).ok().and_then(|at| self.slots.get_mut(at));
        if let Some(slot @ Slot::Closed(_)) = slot {
            *slot = Slot::Unknown;
        }
    }

    /// The same of any number.
    pub(crate) fn may_open_any(&mut self) {
        (0..self.slots.len() as i32).for_each(|fd| self.may_open(fd));
    }

    /// The number `fd` refers to a description that the log does not show.
    fn lose(&mut self, files: &mut OpenFileDescriptions, fd: i32) {
        self.close(files, fd);
        self.may_open(fd);
    }

    /// Replaces the descriptor `fd`, which exists. Counts of users do not change.
    pub(crate) fn replace(&mut self, fd: i32, by: Descriptor) {
        let slot = usize::try_from(fd).ok().and_then(|at| self.slots.get_mut(at));
        if let Some(slot) = slot {
            *slot = Slot::Open(by);
        }
    }

    /// Lets `fd` refer to a new description, and returns that.
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

    /// Lets `fd` refer to an existing description.
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

    /// Lets `to` refer to the description of `from`; closes it if that is not known.
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
            _ => self.lose(files, to),
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
            self.slots.resize(at + 1, Slot::Unknown);
        }
        self.slots[at] = Slot::Open(Descriptor { file, cloexec });
    }

    /// Sets or clears the close-on-exec flag of `fd`.
    pub(crate) fn set_cloexec(&mut self, fd: i32, mark: bool) {
        let slot = usize::try_from(fd).ok().and_then(|at| self.slots.get_mut(at));
        if let Some(Slot::Open(descriptor)) = slot {
            descriptor.cloexec = mark;
        }
    }

    /// Closes `fd`.
    pub(crate) fn close(&mut self, files: &mut OpenFileDescriptions, fd: i32) {
        let Some(slot) = usize::try_from(fd).ok().and_then(|at| self.slots.get_mut(at)) else {
            return;
        };
        if let Some(before) = slot.open() {
            let in_use = files.release(before.file);
            *slot = Slot::Closed(Since { in_use, again: false });
        } else if matches!(slot, Slot::Unknown) {
            *slot = Slot::Closed(Since::default());
        }
    }

    /// Removes `fd`, and keeps its description.
    pub(crate) fn take(&mut self, fd: i32) -> Option<Descriptor> {
        let slot = self.slots.get_mut(usize::try_from(fd).ok()?)?;
        let again = matches!(slot, Slot::Closed(_));
        std::mem::replace(slot, Slot::Closed(Since { in_use: true, again })).open()
    }

    /// Ends a removal: puts the descriptor back if the close did not take place and the number is
    /// free; else releases it.
    pub(crate) fn give_back(
        &mut self,
        files: &mut OpenFileDescriptions,
        fd: i32,
        taken: Descriptor,
        open: bool,
    ) {
        match usize::try_from(fd).ok().and_then(|at| self.slots.get_mut(at)) {
            Some(slot @ (Slot::Unknown | Slot::Closed(_))) if open => *slot = Slot::Open(taken),
            _ => {
                files.release(taken.file);
            }
        }
    }

    /// Closes every descriptor from `first` to `last`.
    pub(crate) fn close_range(&mut self, files: &mut OpenFileDescriptions, first: i32, last: i32) {
        let end = (i64::from(last) + 1).clamp(0, self.slots.len() as i64) as i32;
        for fd in first.max(0)..end {
            self.close(files, fd);
        }
    }

    /// Marks every descriptor from `first` to `last` close-on-exec.
    pub(crate) fn mark_range(&mut self, first: i32, last: i32) {
        let end = (i64::from(last) + 1).clamp(0, self.slots.len() as i64) as usize;
        let first = first.max(0) as usize;
        for slot in self.slots.get_mut(first..end).unwrap_or_default() {
            if let Slot::Open(descriptor) = slot {
                descriptor.cloexec = true;
            }
        }
    }

    /// Closes every descriptor that is marked close-on-exec.
    pub(crate) fn exec(&mut self, files: &mut OpenFileDescriptions) {
        for fd in 0..self.slots.len() as i32 {
            if self.slot(fd).is_some_and(|slot| slot.cloexec) {
                self.close(files, fd);
            }
        }
        if let Some(lately) = &mut self.lately {
            lately.perhaps.retain(|perhaps| !perhaps.cloexec);
        }
    }

    /// A copy of the table; its descriptors refer to the same descriptions.
    #[must_use]
    pub(crate) fn copy(&self, files: &mut OpenFileDescriptions) -> Self {
        for file in self.files() {
            files.keep(file);
        }
        let perhaps = self.lately.as_ref().map_or(&[][..], |lately| &lately.perhaps);
        let lately = Lately { perhaps: perhaps.to_vec(), ..Lately::default() };
        Self {
            slots: self.slots.clone(),
            changes_unseen: self.changes_unseen,
            lately: (!perhaps.is_empty()).then(|| Box::new(lately)),
            ..Self::default()
        }
    }

    /// Does to this table what was done to another one, which was `before` and is `after`;
    /// `started`: a program was started meanwhile.
    pub(crate) fn repeat(
        &mut self,
        files: &mut OpenFileDescriptions,
        before: &Self,
        after: &Self,
        started: bool,
    ) {
        let mut own = self.copy(files);
        let changes: Vec<(i32, Option<Descriptor>, Option<Descriptor>)> = (0..)
            .take(before.slots.len().max(after.slots.len()))
            .map(|fd| (fd, before.slot(fd), after.slot(fd)))
            .collect();
        for &(fd, old, new) in &changes {
            match (old, new) {
                (Some(old), Some(new)) if old.file == new.file && old.cloexec != new.cloexec => {
                    self.set_cloexec(fd, new.cloexec);
                }
                _ => {}
            }
        }
        if started {
            self.exec(files);
        }
        for (fd, old, new) in changes {
            match (old, new) {
                (Some(old), None) if !(started && old.cloexec) => self.close(files, fd),
                (_, Some(new)) if old.is_none_or(|old| old.file != new.file) => {
                    // A copy of a number refers to what that number refers to here.
                    let from = before.all().find(|&(_, file)| file == new.file);
                    let file = from.map_or(Some(new.file), |(from, _)| own.get(from));
                    match file {
                        Some(file) => self.put(files, fd, file, new.cloexec),
                        None => self.lose(files, fd),
                    }
                }
                _ => {}
            }
        }
        own.clear(files);
    }

    /// Other tasks may use the descriptions too, in an order that the log does not show.
    pub(crate) fn lose_order(&self, files: &mut OpenFileDescriptions) {
        for file in self.files() {
            if let Some(open) = files.get(file) {
                open.unordered = true;
            }
        }
    }

    /// The descriptions that it leads to.
    pub(crate) fn files(&self) -> impl Iterator<Item = DescriptionRef> {
        self.slots.iter().filter_map(|slot| slot.open()).map(|slot| slot.file)
    }

    /// Closes every descriptor.
    pub(crate) fn clear(&mut self, files: &mut OpenFileDescriptions) {
        for slot in self.slots.drain(..).filter_map(Slot::open) {
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
        assert_eq!(files.len(), 1);
        child.clear(&mut files);
        assert_eq!(files.len(), 0);
    }

    #[test]
    fn what_was_done_to_one_table_is_done_to_another() {
        let mut files = OpenFileDescriptions::default();
        let (mut one, mut other) = (FdTable::default(), FdTable::default());
        for (table, name) in [(&mut one, "/a"), (&mut other, "/b")] {
            for (fd, cloexec) in [(1, false), (3, true), (4, true), (5, false), (6, true)] {
                table.open(&mut files, fd, file(name), cloexec);
            }
        }
        let before = one.copy(&mut files);
        let mut after = one.copy(&mut files);
        after.dup(&mut files, 3, 1, false);
        after.set_cloexec(4, false);
        after.close(&mut files, 5);
        after.exec(&mut files);
        let new = after.open(&mut files, 3, file("/c"), true);
        let mut child = other.copy(&mut files);
        child.repeat(&mut files, &before, &after, true);
        assert_eq!((child.get(1), child.get(3), child.get(4)), (other.get(3), new, other.get(4)));
        assert_eq!((child.get(5), child.get(6)), (None, None));
        for mut table in [one, other, before, after, child] {
            table.clear(&mut files);
        }
        assert_eq!(files.len(), 0);
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
        assert_eq!(files.len(), 0);
    }
}
