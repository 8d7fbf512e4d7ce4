//! What the benches of the Rust crates share, and the programs that measure them from outside.

pub mod logs;
pub mod stages;
