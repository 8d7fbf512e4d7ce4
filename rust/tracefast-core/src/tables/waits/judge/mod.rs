//! Who can never go on.

pub(crate) mod components;
pub(crate) mod moments;
pub(crate) mod proofs;
pub(crate) mod verdicts;
pub(crate) mod wakers;
