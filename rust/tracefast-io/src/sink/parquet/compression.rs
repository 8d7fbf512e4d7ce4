//! What the pages of a file are compressed with.

use std::fmt;
use std::io;
use std::str::FromStr;

use bytes::Bytes;
use lz4_flex::block;
use parquet::basic::{CompressionCodec as Codec, ZstdLevel};
use zstd::bulk::Compressor;

use crate::error::{Error, ErrorKind, Result};

/// What the pages of a Parquet file are compressed with: what readers know, and no more than is of
/// use here. On the columns of events snappy and gzip are neither smaller nor faster than these.
///
/// # Examples
/// ```
/// use tracefast_io::sink::Compression;
///
/// assert_eq!("zstd".parse::<Compression>()?, Compression::default());
/// assert_eq!("zstd:9".parse::<Compression>()?.to_string(), "zstd:9");
/// assert_eq!("lz4".parse::<Compression>()?, Compression::LZ4);
/// assert_eq!("none".parse::<Compression>()?, Compression::NONE);
/// assert!("zstd:23".parse::<Compression>().is_err());
/// # Ok::<(), tracefast_io::error::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compression(Packing);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    None,
    Lz4,
    Zstd(ZstdLevel),
}

impl Compression {
    /// Pages are written as they are.
    pub const NONE: Self = Self(Packing::None);

    /// Blocks of LZ4 without a frame, which Parquet calls `LZ4_RAW`.
    pub const LZ4: Self = Self(Packing::Lz4);

    /// zstd at a level from 1 to 22. Higher levels save a few per cent and cost much time.
    ///
    /// # Errors
    /// When zstd has no such level.
    pub fn zstd(level: i32) -> Result<Self> {
        if level < 1 {
            // zstd takes level 0 for its default.
            let what = format!("zstd level must be from 1 to 22, got {level}");
            return Err(Error::new(ErrorKind::Option(what)));
        }
        Ok(Self(Packing::Zstd(ZstdLevel::try_new(level)?)))
    }

    /// The number in the file.
    pub(crate) fn codec(self) -> i32 {
        let codec = match self.0 {
            Packing::None => Codec::UNCOMPRESSED,
            Packing::Lz4 => Codec::LZ4_RAW,
            Packing::Zstd(_) => Codec::ZSTD,
        };
        codec as i32
    }
}

impl Default for Compression {
    /// The first level of zstd.
    fn default() -> Self {
        Self(Packing::Zstd(ZstdLevel::default()))
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Packing::None => f.write_str("none"),
            Packing::Lz4 => f.write_str("lz4"),
            Packing::Zstd(level) => write!(f, "zstd:{}", level.compression_level()),
        }
    }
}

impl FromStr for Compression {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let known = match text.split_once(':') {
            None if text == "none" => Some(Self::NONE),
            None if text == "lz4" => Some(Self::LZ4),
            None if text == "zstd" => Some(Self::default()),
            Some(("zstd", level)) if level.bytes().all(|b| b.is_ascii_digit()) => {
                level.parse().ok().and_then(|level| Self::zstd(level).ok())
            }
            _ => None,
        };
        known.ok_or_else(|| {
            let what = format!(
                "compression must be 'zstd', 'zstd:1' to 'zstd:22', 'lz4', or 'none', got '{text}'"
            );
            Error::new(ErrorKind::Option(what))
        })
    }
}

/// A page of more bytes is handed over with the memory that it was packed in.
const LONG: usize = 16 << 20;

/// Compresses page after page with the same memory.
pub(crate) struct Packer {
    codec: i32,
    compressor: PageCompressor,
    packed: Vec<u8>,
    /// The last page, packed, unless it is a long one.
    last: Bytes,
    /// A page that others may be the same as, and what it was packed to.
    kept: (Vec<u8>, Bytes),
}

enum PageCompressor {
    None,
    Lz4,
    Zstd(Compressor<'static>),
}

impl Packer {
    pub(crate) fn new(compression: Compression) -> io::Result<Self> {
        let compressor = match compression.0 {
            Packing::None => PageCompressor::None,
            Packing::Lz4 => PageCompressor::Lz4,
            Packing::Zstd(level) => {
                PageCompressor::Zstd(Compressor::new(level.compression_level())?)
            }
        };
        Ok(Self {
            codec: compression.codec(),
            compressor,
            packed: Vec::new(),
            last: Bytes::new(),
            kept: (Vec::new(), Bytes::new()),
        })
    }

    pub(crate) fn codec(&self) -> i32 {
        self.codec
    }

    /// Compresses a page.
    pub(crate) fn pack(&mut self, plain: &[u8]) -> io::Result<Bytes> {
        let same = !plain.is_empty() && plain == self.kept.0;
        let packed = if same { self.kept.1.clone() } else { self.compress(plain)? };
        self.last = if packed.len() > LONG { Bytes::new() } else { packed.clone() };
        Ok(packed)
    }

    /// Keeps the page that was packed last, as others may be the same: takes its bytes, and gives
    /// other memory for them.
    pub(crate) fn keep(&mut self, plain: &mut Vec<u8>) {
        if !self.last.is_empty() {
            std::mem::swap(&mut self.kept.0, plain);
            self.kept.1 = self.last.clone();
        }
    }

    fn compress(&mut self, plain: &[u8]) -> io::Result<Bytes> {
        let packed = &mut self.packed;
        let len = match &mut self.compressor {
            PageCompressor::None => return Ok(Bytes::copy_from_slice(plain)),
            PageCompressor::Lz4 => {
                // The memory is filled with zeros only where it grows.
                packed.resize(packed.len().max(block::get_maximum_output_size(plain.len())), 0);
                block::compress_into(plain, packed).map_err(io::Error::other)?
            }
            PageCompressor::Zstd(zstd) => {
                packed.clear();
                packed.reserve(zstd::zstd_safe::compress_bound(plain.len()));
                zstd.compress_to_buffer(plain, packed)?
            }
        };
        if len > LONG {
            packed.truncate(len);
            return Ok(Bytes::from(std::mem::take(packed)));
        }
        Ok(Bytes::copy_from_slice(&packed[..len]))
    }

    /// Frees the memory of an unusually large page.
    pub(crate) fn shrink(&mut self, capacity: usize) {
        self.last = Bytes::new();
        if self.kept.0.len() > capacity {
            self.kept = (Vec::new(), Bytes::new());
        }
        self.packed.truncate(capacity);
        self.packed.shrink_to(capacity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_was_kept_is_packed_as_before() {
        for compression in [Compression::NONE, Compression::LZ4, Compression::default()] {
            let mut packer = Packer::new(compression).unwrap();
            let pages = [b"abcabcabc".repeat(99), b"abcabcabd".repeat(99), Vec::new()];
            let packed = pages.each_ref().map(|page| packer.compress(page).unwrap());
            for i in [0, 1, 0, 2, 0, 1, 2] {
                assert_eq!(packer.pack(&pages[i]).unwrap(), packed[i]);
                assert_eq!(packer.pack(&pages[0]).unwrap(), packed[0]);
                packer.keep(&mut pages[0].clone());
                packer.shrink(if i == 1 { 1 } else { 1 << 20 });
            }
        }
    }
}
