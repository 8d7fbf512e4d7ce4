//! System calls: their names, arguments and results, on one line or split over two.

pub mod ending;
pub(crate) mod fast_path;
pub(crate) mod foreign_text;
pub(crate) mod interleaved;
mod note;
pub mod result;
pub(crate) mod row;
pub(crate) mod split;
pub(crate) mod whole;
