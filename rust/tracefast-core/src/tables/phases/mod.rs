//! Named parts of the time: a program marks them by looking up a path ([`mark`]), and a process is in
//! the phase that is open in it, or else in that of its maker ([`open`]). [`rows`] gives other tables
//! the phase of each row.

pub(crate) mod fold;
pub(crate) mod mark;
pub(crate) mod open;
pub(crate) mod rows;

pub use fold::Phases;
