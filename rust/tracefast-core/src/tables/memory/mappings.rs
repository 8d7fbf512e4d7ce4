//! What may be resident, from the calls that map and unmap: strace's logs.

use crate::events::details;
use crate::kernel::address_space::{AddressSpace, Resident};
use crate::linux::clone::Kind;
use crate::tables::memory::live::Key;
use crate::tables::packed::Packed;

/// Changes that are kept until the log says what was there before.
const KEPT: usize = 4096;

/// What is known of the address space of a process.
#[derive(Debug)]
pub(crate) enum Space {
    /// The log has not shown yet where it comes from: the calls of a child may be in the log before
    /// the call that made it returns.
    Unborn(Vec<(Packed<i64>, details::Memory)>),
    Own(Box<AddressSpace>),
    /// That of another process, until it starts a program.
    SharedWith(Key),
    /// It is older than the log.
    Unknown,
}

impl Default for Space {
    fn default() -> Self {
        Self::Unborn(Vec::new())
    }
}

impl Space {
    /// That of a program that has just been started.
    pub(crate) fn started() -> Self {
        Self::Own(Box::new(AddressSpace::fresh_whole()))
    }

    /// What may be resident, where that is known.
    pub(crate) fn resident(&self) -> Option<Resident> {
        match self {
            Self::Own(space) => space.resident(),
            _ => None,
        }
    }

    /// That of a child that `parent`, whose space this is, makes.
    pub(crate) fn of_child(&self, parent: Key, kind: Option<Kind>) -> Self {
        match (kind, self) {
            (Some(Kind::Fork), Self::Own(space)) => Self::Own(space.clone()),
            (Some(Kind::Fork) | None, _) => Self::Unknown,
            // Until its execve the child of vfork, posix_spawn and CLONE_VM has its parent's.
            (Some(_), &Self::SharedWith(owner)) => Self::SharedWith(owner),
            (Some(_), _) => Self::SharedWith(parent),
        }
    }

    /// Applies a change; returns the process whose memory it changes, if that is another one.
    pub(crate) fn change(&mut self, ts: Packed<i64>, change: details::Memory) -> Option<Key> {
        match self {
            Self::Unborn(changes) if changes.len() < KEPT => changes.push((ts, change)),
            Self::Unborn(_) => *self = Self::Unknown,
            Self::Own(space) => space.change(change),
            &mut Self::SharedWith(owner) => return Some(owner),
            Self::Unknown => {}
        }
        None
    }
}
