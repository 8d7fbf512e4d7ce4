//! What the pages of a file are compressed with.

use std::fmt;
use std::io;
use std::str::FromStr;

use bytes::Bytes;
use parquet::basic::{CompressionCodec as Codec, ZstdLevel};
use zstd::bulk::Compressor;

use crate::error::{Error, ErrorKind, Result};

/// What the pages of a Parquet file are compressed with: what every reader knows, and no more than
/// is of use here. On the columns of events lz4, snappy and gzip are neither smaller nor faster
/// than the first level of zstd.
///
/// # Examples
/// ```
/// use tracefast_io::sink::Compression;
///
/// assert_eq!("zstd".parse::<Compression>()?, Compression::default());
/// assert_eq!("zstd:9".parse::<Compression>()?.to_string(), "zstd:9");
/// assert_eq!("none".parse::<Compression>()?, Compression::NONE);
/// assert!("zstd:23".parse::<Compression>().is_err());
/// # Ok::<(), tracefast_io::error::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compression(Option<ZstdLevel>);

impl Compression {
    /// Pages are written as they are.
    pub const NONE: Self = Self(None);

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
        Ok(Self(Some(ZstdLevel::try_new(level)?)))
    }

    /// The number in the file.
    pub(crate) fn codec(self) -> i32 {
        let codec = if self.0.is_some() { Codec::ZSTD } else { Codec::UNCOMPRESSED };
        codec as i32
    }
}

impl Default for Compression {
    /// The first level of zstd.
    fn default() -> Self {
        Self(Some(ZstdLevel::default()))
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(level) => write!(f, "zstd:{}", level.compression_level()),
            None => f.write_str("none"),
        }
    }
}

impl FromStr for Compression {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let known = match text.split_once(':') {
            None if text == "none" => Some(Self::NONE),
            None if text == "zstd" => Some(Self::default()),
            Some(("zstd", level)) if level.bytes().all(|b| b.is_ascii_digit()) => {
                level.parse().ok().and_then(|level| Self::zstd(level).ok())
            }
            _ => None,
        };
        known.ok_or_else(|| {
            let what = format!(
                "compression must be 'zstd', 'zstd:1' to 'zstd:22', or 'none', got '{text}'"
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
    zstd: Option<Compressor<'static>>,
    packed: Vec<u8>,
}

impl Packer {
    pub(crate) fn new(compression: Compression) -> io::Result<Self> {
        let level = compression.0.map(|level| level.compression_level());
        let zstd = level.map(Compressor::new).transpose()?;
        Ok(Self { codec: compression.codec(), zstd, packed: Vec::new() })
    }

    pub(crate) fn codec(&self) -> i32 {
        self.codec
    }

    pub(crate) fn pack(&mut self, plain: &[u8]) -> io::Result<Bytes> {
        let Some(zstd) = &mut self.zstd else { return Ok(Bytes::copy_from_slice(plain)) };
        self.packed.clear();
        self.packed.reserve(zstd::zstd_safe::compress_bound(plain.len()));
        zstd.compress_to_buffer(plain, &mut self.packed)?;
        if self.packed.len() > LONG {
            return Ok(Bytes::from(std::mem::take(&mut self.packed)));
        }
        Ok(Bytes::copy_from_slice(&self.packed))
    }

    /// Frees the memory of an unusually large page.
    pub(crate) fn shrink(&mut self, capacity: usize) {
        self.packed.shrink_to(capacity);
    }
}
