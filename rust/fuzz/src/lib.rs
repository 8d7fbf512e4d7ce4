//! What the fuzz targets check, as plain functions: each panics where a promise is broken.

#[path = "bodies.rs"]
mod bodies;
mod split;
mod whole;

pub use bodies::*;
pub use split::split;
pub use whole::whole;
