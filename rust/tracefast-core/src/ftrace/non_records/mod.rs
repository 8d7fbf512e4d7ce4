//! Lines that are not records: headers, stack frames, notes of lost events, text that goes on.

pub(crate) mod classify;
pub(crate) mod line_feeds;
pub(crate) mod lines;
pub(crate) mod stacks;
