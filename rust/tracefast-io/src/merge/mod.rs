//! Logs of strace cut by task (`-ff`), read as the one log that they are.

mod files;
mod order;
mod reader;
mod set;

pub use reader::{Member, Merge};
pub use set::{Input, Inputs, Set, inputs};
