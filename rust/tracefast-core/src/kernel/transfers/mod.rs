//! Calls that move data or positions.

pub(crate) mod aio;
pub(crate) mod effects;
pub(crate) mod in_flight;
pub(crate) mod position;
pub(crate) mod transfer;
