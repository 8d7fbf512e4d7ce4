//! Files: which one a name leads to, what is known of it, how long it is.

pub(crate) mod inodes;
pub(crate) mod length;
pub(crate) mod paths;
