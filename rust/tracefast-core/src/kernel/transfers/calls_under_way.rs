//! Calls in progress, and the descriptions that they hold since their entry.

use std::sync::Arc;

use crate::events::vocabulary::Motion;
use crate::kernel::descriptors::open_file_description::{DescriptionRef, OpenFileDescriptions};
use crate::kernel::files::length::{Change, Changes, Moment, ResizeStart};
use crate::kernel::transfers::position::{CallStart, Total};

/// A descriptor of a call under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    /// Its number.
    pub fd: i32,
    /// The description that it refers to, which lives until the call ends.
    pub file: DescriptionRef,
    /// The call moves the position of the description.
    pub call_start: Option<CallStart>,
    /// The call may change the size of the file.
    pub resize: Option<ResizeStart>,
    /// The call switches whether writes append.
    pub switches: bool,
}

impl Held {
    /// Releases the description.
    pub(crate) fn release(&self, files: &mut OpenFileDescriptions) {
        if let Some(open) = files.get(self.file).filter(|_| self.switches) {
            open.switching = open.switching.saturating_sub(1);
        }
        if self.resize.is_some() {
            files.inodes.resizing = files.inodes.resizing.saturating_sub(1);
        }
        files.release(self.file);
    }
}

impl OpenFileDescriptions {
    /// Keeps the description that `fd` refers to until a call ends, and registers the call where it
    /// may move the position or change the size.
    pub(crate) fn hold(
        &mut self,
        fd: i32,
        file: DescriptionRef,
        position: bool,
        changes: Option<Changes>,
    ) -> Option<Held> {
        let mut held = None;
        self.hold_in(&mut held, fd, file, position, changes);
        held
    }

    /// The same, noted in `held`: fields that are written one by one cannot be copied at once.
    #[inline(never)]
    pub(crate) fn hold_in(
        &mut self,
        held: &mut Option<Held>,
        fd: i32,
        file: DescriptionRef,
        position: bool,
        changes: Option<Changes>,
    ) {
        let Some(unsure) = self.keep(file).map(|open| open.unsure) else { return };
        if unsure && changes.is_some() {
            self.follow_file(file);
        }
        let Some((open, inodes)) = self.with_inodes(file) else { return };
        let call_start = position.then(|| open.in_progress.begin());
        let resize = match (open.inode, changes) {
            (Some(inode), Some(changes)) => inodes.begin_change(inode, changes),
            _ => None,
        };
        if unsure && position {
            self.move_others(file, false);
        }
        *held = Some(Held { fd, file, call_start, resize, switches: false });
    }
}

/// Descriptions that may move until a call ends, though the log does not show it.
#[derive(Debug, Default)]
pub(crate) struct UnseenMoves {
    pub held: Vec<Held>,
    /// Any file may change meanwhile.
    pub files: bool,
    /// A call may cut a file by its name meanwhile.
    pub cuts: bool,
    /// A supervisor of seccomp puts a descriptor into another task meanwhile.
    pub adds: bool,
    /// How many users the first one had when the call began, if that replaces it by the second one.
    pub users: u32,
}

impl UnseenMoves {
    /// The call is over, and what has moved is not known.
    #[cold]
    pub(crate) fn end(self, files: &mut OpenFileDescriptions) {
        for held in self.held {
            if files.at(held.file).is_some_and(|open| open.unsure) {
                files.moved_others(held.file, true);
            }
            drop_held(files, held);
        }
        if self.files {
            files.inodes.end_unseen_changes();
        }
        if self.cuts {
            files.inodes.end_cut();
        }
        if self.adds {
            files.adding -= 1;
        }
    }

    /// The call is over, and has moved nothing: what others did meanwhile adds up.
    #[cold]
    pub(crate) fn moved_nothing(self, files: &mut OpenFileDescriptions) {
        for held in self.held {
            if let Some((open, inodes)) = files.with_inodes(held.file) {
                if let Some(start) = held.call_start {
                    let overlap = open.in_progress.end(start, Some(0), false);
                    match overlap.total {
                        Total::Moved(moved) if overlap.overlapped => {
                            open.position = open.position.plus(moved);
                        }
                        Total::Lost => open.lose(),
                        _ => {}
                    }
                }
                let now = inodes.now();
                let inode = open.inode.and_then(|inode| inodes.get(inode));
                if let Some((inode, resize)) = inode.zip(held.resize) {
                    inode.length.end(Some(resize), now);
                }
            }
            held.release(files);
        }
    }

    /// The same, but what others did meanwhile may have been done to other descriptions.
    #[cold]
    pub(crate) fn misled(self, files: &mut OpenFileDescriptions) {
        for held in self.held {
            let alone =
                files.get(held.file).is_some_and(|open| open.in_progress.is_alone(held.call_start));
            if alone {
                held.release(files);
                continue;
            }
            if let Some((open, inodes)) = files.with_inodes(held.file)
                && let Some(inode) = open.inode.and_then(|inode| inodes.get(inode))
            {
                inode.length.lose();
            }
            drop_held(files, held);
        }
    }
}

/// A call under way.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// Its descriptors.
    pub held: [Option<Held>; 2],
    /// When it was entered.
    pub since: Moment,
    /// Name of the caller.
    pub comm: Option<Arc<str>>,
    /// It may make a descriptor.
    pub makes: bool,
    /// What few calls have.
    rare: Option<Box<Rare>>,
    /// What may move unseen until the call ends.
    pub unseen: Option<Box<UnseenMoves>>,
    /// The call has faulted on a mapped file, so events of the page cache may be about that.
    pub fault: bool,
}

/// What few calls have.
#[derive(Debug, Default)]
struct Rare {
    message: Option<u64>,
    /// The descriptors in it, as they were when the call was entered.
    sent: Vec<(i32, DescriptionRef)>,
    path: Option<Arc<[u8]>>,
}

impl Pending {
    /// The number of the message with descriptors that it sends.
    #[inline]
    pub(crate) fn message(&self) -> Option<u64> {
        self.rare.as_ref()?.message
    }

    #[inline]
    pub(crate) fn take_message(&mut self) -> Option<u64> {
        self.rare.as_mut()?.message.take()
    }

    /// The call sends this message with these descriptors.
    pub(crate) fn send(&mut self, message: u64, sent: Vec<(i32, DescriptionRef)>) {
        let rare = self.rare.get_or_insert_default();
        (rare.message, rare.sent) = (Some(message), sent);
    }

    /// The descriptors that it sends.
    pub(crate) fn sent(&self) -> &[(i32, DescriptionRef)] {
        self.rare.as_ref().map_or(&[], |rare| &rare.sent)
    }

    /// An event within the call shows its path. The first one counts.
    pub(crate) fn show_path(&mut self, path: Arc<[u8]>) {
        self.rare.get_or_insert_default().path.get_or_insert(path);
    }

    /// The path that an event within the call has shown.
    pub(crate) fn path(&self) -> Option<&Arc<[u8]>> {
        self.rare.as_ref()?.path.as_ref()
    }

    /// Takes that path out.
    pub(crate) fn take_path(&mut self) -> Option<Arc<[u8]>> {
        self.rare.as_mut()?.path.take()
    }

    /// Takes out what the first or second descriptor referred to at entry, if its number is `fd`.
    #[inline]
    pub(crate) fn take(&mut self, second: bool, fd: i32) -> Option<Held> {
        let held = &mut self.held[usize::from(second)];
        held.take_if(|held| held.fd == fd)
    }

    /// Empties a record that holds no description.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.comm = None;
        self.rare = None;
        self.fault = false;
        self.makes = false;
    }

    /// The call has no end in the log, unless it holds nothing any more.
    #[inline]
    pub(crate) fn abandon(&mut self, files: &mut OpenFileDescriptions) {
        if self.held.iter().any(Option::is_some) || self.unseen.is_some() {
            self.drop_all(files);
        }
    }

    #[cold]
    fn drop_all(&mut self, files: &mut OpenFileDescriptions) {
        for held in &mut self.held {
            if let Some(held) = held.take() {
                drop_held(files, held);
            }
        }
        if let Some(unseen) = self.unseen.take() {
            unseen.end(files);
        }
    }
}

/// Releases the description of a call whose effects are not known.
pub(crate) fn drop_held(files: &mut OpenFileDescriptions, held: Held) {
    if let Some((file, inodes)) = files.with_inodes(held.file) {
        let now = inodes.tick();
        if let Some(call_start) = held.call_start {
            let overlap = file.in_progress.end(call_start, None, false);
            if overlap.total != Total::Open {
                file.lose();
            }
        }
        if let Some(resize) = held.resize
            && let Some(at) = file.inode
            && let Some(inode) = inodes.get(at)
        {
            let raced = inode.length.end(Some(resize), now);
            inode.length.change(Change::Any, raced, now);
            inodes.changed(at, now);
        }
    }
    held.release(files);
}

/// Whether the call writes to its first or second descriptor.
pub(crate) fn writes(motion: Motion, second: bool) -> bool {
    matches!((motion, second), (Motion::Write, false) | (Motion::Copy, true))
}
