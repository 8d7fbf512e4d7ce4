//! Which system call a record is of.

/// A system call's name in the block's dictionary, its number in the table of calls, and whether it
/// returns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Callee {
    pub(crate) name: u32,
    pub(crate) sys: u16,
    pub(crate) returns: bool,
}
