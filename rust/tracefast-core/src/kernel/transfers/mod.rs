//! Calls that move data or positions.

pub(crate) mod aio;
pub(crate) mod calls_under_way;
pub(crate) mod effects;
pub(crate) mod position;
pub(crate) mod transfer;
