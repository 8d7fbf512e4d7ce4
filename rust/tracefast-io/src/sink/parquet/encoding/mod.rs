//! How the values of a column become bytes: Parquet's encodings.

pub(crate) mod bit_packing;
pub(crate) mod delta;
pub(crate) mod integers;
pub(crate) mod nulls;
pub(crate) mod rle_bit_packed;
pub(crate) mod texts;
