//! Lines that are not records: headers, stack frames, notes of lost events, text that goes on.

pub(crate) mod between_records;
pub(crate) mod classify;
pub(crate) mod open_text;
pub(crate) mod stacks;
