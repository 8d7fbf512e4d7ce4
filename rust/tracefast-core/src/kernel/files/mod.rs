//! Files: `paths.rs` makes paths absolute, `inodes.rs` finds the file that a name refers to,
//! `types.rs` remembers its type, `nodes.rs` knows names that may lead to FIFOs, `length.rs` follows
//! its size, `other_names.rs` doubts that where another name may be one of the same file,
//! `numbers.rs` knows it where inode numbers decide.

pub(crate) mod inodes;
pub(crate) mod length;
pub(crate) mod nodes;
pub(crate) mod numbers;
mod other_names;
pub(crate) mod paths;
pub(crate) mod types;
