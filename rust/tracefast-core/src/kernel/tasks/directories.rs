//! Where the paths of a task start: its working directory, its root directory, its mounts.

use std::sync::Arc;

use crate::events::file_id::{has_part, may_have_part, part_bits};
use crate::kernel::files::inodes::Inodes;
use crate::kernel::files::length::Moment;
use crate::kernel::files::paths::LONGEST;
use crate::kernel::tasks::{TaskRef, Tasks};

/// How many directories are looked at when a name changes. Where there are more, any may be
/// concerned.
const LOOKED_AT: usize = 256;

/// Where the paths of a task start, as the kernel's `fs_struct`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Directories {
    /// Working directory, as far as it is known: absolute, or relative to the one that the task had
    /// at first.
    pub working: Option<Arc<[u8]>>,
    /// The task has left its first working directory, and the log does not show for which.
    pub lost: bool,
    /// Root directory, if it is not that of the start of the log, and known: chroot(2).
    pub root: Option<Arc<[u8]>>,
    /// When the task got another root directory; 0 if it has that of the start of the log. Absolute
    /// symbolic links lead elsewhere from there.
    pub rooted: Moment,
    /// When the task left the mount namespace of the start of the log; 0 if it has not.
    pub mounts: Moment,
    /// [`OpenFileDescriptions::moves`] when the working directory was entered.
    ///
    /// [`OpenFileDescriptions::moves`]: crate::kernel::descriptors::open_file_description::OpenFileDescriptions::moves
    pub(super) moves: u32,
    /// How the task entered its working directory.
    pub entered: Entered,
}

/// How a task entered a directory.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Entered {
    /// When it did, or the last moment at which the path was known to lead there.
    since: Moment,
    /// The path has no symbolic links, as the kernel has given it.
    shown: bool,
    /// The path may lead elsewhere by now.
    astray: bool,
    /// A bit for each component of a shown path: a name that changes is compared with the path only
    /// if its bit is set.
    parts: u64,
}

impl Entered {
    /// When that was, if the path may lead elsewhere by now.
    pub(crate) fn gone_astray(self, inodes: &Inodes) -> Option<Moment> {
        let astray = self.astray || inodes.is_folder_astray(self.shown, self.since);
        astray.then_some(self.since)
    }
}

impl Directories {
    /// The task has changed its working directory, by a call that began at `since`. `astray`: its
    /// path may have led elsewhere already.
    pub(crate) fn enter(&mut self, path: Option<Arc<[u8]>>, since: Moment, astray: bool) {
        self.working = path.filter(|path| path.len() <= LONGEST);
        self.lost = self.working.is_none();
        self.entered = Entered { since, shown: false, astray, parts: 0 };
    }

    /// Nobody knows which working directory the task has.
    pub(crate) fn lose(&mut self) {
        self.enter(None, 0, false);
    }

    /// The kernel has given the path of the working directory, which has no links. `mounted`: when
    /// mounts changed last.
    fn show(&mut self, path: &[u8], now: Moment, mounted: Moment) {
        if path.len() > LONGEST {
            self.lose();
            return;
        }
        let first = self.working.is_none() && !self.lost;
        if self.working.as_ref().is_none_or(|known| **known != *path) {
            // The first one is as old as the log.
            self.enter(Some(path.into()), if first { 0 } else { now }, false);
        }
        // The path of a directory that a mount has covered leads to what covers it.
        if self.entered.since >= mounted {
            let known = self.entered.parts;
            let parts = if known == 0 { part_bits(path) } else { known };
            self.entered = Entered { since: now, shown: true, astray: false, parts };
        }
    }

    /// Whether both have the same directories.
    pub(super) fn agree(&self, other: &Self) -> bool {
        let which = |of: &Self| (of.working.clone(), of.lost, of.root.clone());
        which(self) == which(other)
    }
}

impl Tasks {
    /// A name ends with this part, by its hash, and means another file from here on, or none. If it
    /// may be that of a `folder`, so may any path that has this part. `None`: any path.
    pub(crate) fn names_move(&mut self, last: Option<u64>, folder: bool) {
        self.files.names_move(last, folder);
        let Some(last) = last.filter(|_| folder) else { return };
        if self.directories.slots() > LOOKED_AT {
            self.files.inodes.shown_folders_move();
            return;
        }
        // Those with links in their paths are astray anyway: see `Inodes::target_moves`.
        for (.., Directories { working, entered, .. }) in self.directories.iter_mut() {
            if may_have_part(entered.parts, last) {
                entered.astray |= working.as_ref().is_some_and(|path| has_part(path, last));
            }
        }
    }

    /// The kernel has given the path of the task's working directory.
    pub(crate) fn show_directory(&mut self, task: TaskRef, path: &[u8]) {
        let inodes = &self.files.inodes;
        let (now, mounted) = (inodes.now(), inodes.mounted());
        self.directories(task).show(path, now, mounted);
    }

    /// The task has its own mounts from here on: the same path may lead it to another file than it
    /// leads other tasks to.
    #[cold]
    pub(crate) fn leave_mounts(&mut self, task: TaskRef) {
        let at = self.number_of_directories(task);
        self.leave_mounts_at(at);
    }

    /// The same for the directories with this number.
    #[cold]
    pub(super) fn leave_mounts_at(&mut self, at: usize) {
        self.directories[at].mounts = self.files.inodes.tick();
        self.rooted = true;
    }
}
