//! Sums over all rows of a log, for tables that are made of several others: by task and kind of row
//! ([`TaskTally`]), of calls by file ([`FileTally`]), of questions without an answer
//! ([`PollTally`]), of calls over time ([`ActivityTally`]).
//!
//! Memory grows with tasks, with the steps of time of each, and with files and the names of calls on
//! each.

pub(crate) mod activity;
pub(crate) mod files;
pub(crate) mod polls;
pub(crate) mod tasks;

pub use activity::ActivityTally;
pub use files::FileTally;
pub use polls::PollTally;
pub use tasks::TaskTally;
