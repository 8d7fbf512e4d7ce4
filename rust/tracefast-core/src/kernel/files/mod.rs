//! Files: `paths.rs` makes paths absolute, `inodes.rs` finds the file that a name refers to,
//! `types.rs` remembers its type, `length.rs` follows its size, `other_names.rs` doubts that where another name may be one of the
//! same file.

pub(crate) mod inodes;
pub(crate) mod length;
mod other_names;
pub(crate) mod paths;
pub(crate) mod types;
