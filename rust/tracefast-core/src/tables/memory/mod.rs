//! How much memory processes have: one row per change.
//!
//! Two sources say it. `rss_stat` of ftrace ([`rss`]) is the kernel's own count. From strace only
//! what may be resident is known: what is mapped ([`mappings`]).
//!
//! Rows are given while events come in, and what has ended is forgotten: memory grows with the
//! processes that live at the same time.

pub(crate) mod fold;
pub(crate) mod live;
pub(crate) mod mappings;
pub(crate) mod row;
pub(crate) mod rss;
#[cfg(test)]
mod tests;
pub(crate) mod word_classes;

pub use fold::Memory;
