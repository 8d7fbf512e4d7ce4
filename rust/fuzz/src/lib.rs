//! What the fuzz targets check, as plain functions: each panics where a promise is broken.

mod accounting;
mod arguments;
mod log;

pub use accounting::accounting;
pub use arguments::arguments;
