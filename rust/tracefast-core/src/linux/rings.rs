//! `io_uring`: what calls ask the kernel to do.

use crate::events::vocabulary::{open_flags, ring_flags};

const IORING_SETUP_SQPOLL: u32 = 0x2;
const IORING_ENTER_SQ_WAKEUP: u32 = 0x2;
const IORING_ENTER_SQ_WAIT: u32 = 0x4;
const IORING_ENTER_REGISTERED_RING: u32 = 0x10;

/// The bit of a name in the flags of `io_uring_setup` and `io_uring_enter`.
pub(crate) fn bit(name: &[u8]) -> u32 {
    match name {
        b"IORING_SETUP_SQPOLL" => IORING_SETUP_SQPOLL,
        b"IORING_ENTER_SQ_WAKEUP" => IORING_ENTER_SQ_WAKEUP,
        b"IORING_ENTER_SQ_WAIT" => IORING_ENTER_SQ_WAIT,
        b"IORING_ENTER_REGISTERED_RING" => IORING_ENTER_REGISTERED_RING,
        _ => 0,
    }
}

/// `io_uring_setup` with these flags, `None` if the text does not show them: what a new ring is, as
/// [`open_flags`].
pub(crate) fn made(flags: Option<u32>) -> u32 {
    let polls = flags.is_none_or(|flags| flags & IORING_SETUP_SQPOLL != 0);
    if polls { open_flags::POLLS } else { 0 }
}

/// The arguments of `io_uring_enter`; `None` where the text does not show them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Enter {
    /// How many operations it submits.
    pub to_submit: Option<u32>,
    /// `IORING_ENTER_…`.
    pub flags: Option<u32>,
}

impl Enter {
    /// What it asks for, as [`ring_flags`]; `None` if it submits nothing.
    pub(crate) fn asks(self) -> Option<u32> {
        let flags = self.flags.unwrap_or(0);
        if flags & (IORING_ENTER_SQ_WAKEUP | IORING_ENTER_SQ_WAIT) != 0 {
            return Some(ring_flags::POLLS);
        }
        (self.to_submit != Some(0)).then_some(0)
    }

    /// The same once it has returned how many it has submitted.
    pub(crate) fn asked(self, submitted: Option<i64>) -> Option<u32> {
        self.asks().filter(|&asks| submitted != Some(0) || asks == ring_flags::POLLS)
    }

    /// The ring is given by its number in a table of the task's own, not by a descriptor.
    pub(crate) fn by_index(self) -> bool {
        self.flags.is_some_and(|flags| flags & IORING_ENTER_REGISTERED_RING != 0)
    }
}

/// Whether the command of `io_uring_register` gives the ring descriptions to keep
/// (`IORING_REGISTER_FILES`, `IORING_REGISTER_FILES_UPDATE` and their successors).
pub(crate) fn keeps(command: &[u8]) -> bool {
    command.starts_with(b"IORING_REGISTER_FILES")
}

/// The same by number (`include/uapi/linux/io_uring.h`). The highest bit says that the ring is given
/// by its number.
pub(crate) fn keeps_by_number(command: u32) -> bool {
    matches!(command & !(1 << 31), 2 | 6 | 13 | 14)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_call_asks_for() {
        let enter = |to_submit, flags| Enter { to_submit: Some(to_submit), flags: Some(flags) };
        assert_eq!(enter(0, 1).asks(), None);
        assert_eq!(enter(2, 1).asks(), Some(0));
        assert_eq!(enter(0, 2).asks(), Some(ring_flags::POLLS));
        assert_eq!(enter(2, 1).asked(Some(2)), Some(0));
        assert_eq!(enter(2, 1).asked(None), Some(0));
        assert_eq!(enter(2, 1).asked(Some(0)), None);
        assert_eq!(enter(2, 2).asked(Some(0)), Some(ring_flags::POLLS));
    }
}
