//! Calls that move data or positions.
//!
//! `effects.rs` reads the effect of a row and writes its columns, `transfer.rs` handles one side of
//! a transfer, `seek.rs` seeks, `size.rs` calls that show or change the size of a file. `position.rs`
//! has positions, the classes of accesses, and calls that overlap; `burst.rs` what those covered
//! together; `calls_under_way.rs` what calls hold from entry to exit; `aio.rs` submissions whose
//! parts complete later.

pub(crate) mod aio;
pub(crate) mod burst;
pub(crate) mod calls_under_way;
pub(crate) mod effects;
pub(crate) mod position;
pub(crate) mod seek;
pub(crate) mod size;
pub(crate) mod transfer;
