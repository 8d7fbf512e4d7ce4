//! Calls under way: what they were found to act on when they were entered.

use std::sync::Arc;

use crate::events::vocabulary::Motion;
use crate::kernel::descriptors::open_file_description::{DescriptionRef, OpenFileDescriptions};
use crate::kernel::files::length::{Change, Moment, Turn};
use crate::kernel::transfers::position::{Ticket, Total};

/// A descriptor of a call under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    /// Its number.
    pub fd: i32,
    /// What it leads to, which lives on until the call is over.
    pub file: DescriptionRef,
    /// Moves the position of that.
    pub ticket: Option<Ticket>,
    /// May change how long that file is.
    pub turn: Option<Turn>,
    /// May change whether writes of that append.
    pub switches: bool,
}

impl Held {
    /// It is held no more.
    pub(crate) fn release(&self, files: &mut OpenFileDescriptions) {
        if let Some(open) = files.get(self.file).filter(|_| self.switches) {
            open.switching = open.switching.saturating_sub(1);
        }
        files.release(self.file);
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
    /// The message with descriptors that it sends.
    pub message: Option<u64>,
    /// The path that an event within it tells.
    pub path: Option<Arc<[u8]>>,
    /// A page of a mapped file was brought in: events may be about that.
    pub fault: bool,
}

impl Pending {
    /// The descriptor `fd`, first or second, if it was held at entry.
    #[inline]
    pub(crate) fn take(&mut self, second: bool, fd: i32) -> Option<Held> {
        let held = &mut self.held[usize::from(second)];
        held.take_if(|held| held.fd == fd)
    }

    /// Forgets all facts; nothing is held.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.comm = None;
        self.message = None;
        self.path = None;
        self.fault = false;
    }

    /// The call never ended, as far as the log tells.
    #[inline]
    pub(crate) fn abandon(&mut self, files: &mut OpenFileDescriptions) {
        for held in &mut self.held {
            if let Some(held) = held.take() {
                drop_held(files, held);
            }
        }
    }
}

/// A descriptor is held no more, by a call of which it is not known what it did.
pub(crate) fn drop_held(files: &mut OpenFileDescriptions, held: Held) {
    if let Some((file, inodes)) = files.with_inodes(held.file) {
        let now = inodes.tick();
        if let Some(ticket) = held.ticket {
            let landed = file.flight.end(ticket, None, false);
            if landed.total != Total::Open {
                file.lose();
            }
        }
        if let Some(turn) = held.turn
            && let Some(inode) = file.inode.and_then(|inode| inodes.get(inode))
        {
            let raced = inode.length.land(Some(turn), now);
            inode.length.change(Change::Any, raced, now);
        }
    }
    held.release(files);
}

/// Which descriptors of a call move the position of their descriptions, and which way data goes.
pub(crate) fn writes(motion: Motion, second: bool) -> bool {
    matches!((motion, second), (Motion::Write, false) | (Motion::Copy, true))
}
