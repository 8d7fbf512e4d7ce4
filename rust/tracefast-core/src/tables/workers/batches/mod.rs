//! What the maker of a pool receives from its workers: one row per message, who sent it, how long the
//! maker waited for it, and what the worker did meanwhile.
//!
//! [`traffic`] keeps the bytes that are under way in each pipe and socket pair: a pipe gives them in
//! order (pipe(7)), so the counts on both sides show who sent what. [`takers`] puts messages together,
//! [`uses`] finds out which one the maker waited for, and [`work`] keeps what a worker did since it
//! took a job. Memory grows with open channels, with workers, and with rows.

pub(crate) mod messages;
pub(crate) mod takers;
pub(crate) mod traffic;
pub(crate) mod uses;
pub(crate) mod work;
