//! Files: `paths.rs` makes paths absolute, `inodes.rs` finds the file that a name refers to,
//! `length.rs` follows its size.

pub(crate) mod inodes;
pub(crate) mod length;
pub(crate) mod paths;
