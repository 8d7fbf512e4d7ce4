//! Compressed logs: which compression it is, and how compressed bytes become text.
//!
//! There are two ways. [`text`] reads from start to end and reports what is wrong. [`Pieces`] finds
//! where whole members (of gzip), frames (of zstd) and streams (of xz and bzip2) start without
//! unpacking them, so that several can be unpacked at a time. This is a guess: a piece counts only
//! if it unpacks without an error, and from the first one that does not, `text` takes over. So both
//! ways give the same text and the same errors.

pub(crate) mod members;
pub(crate) mod pieces;

use std::io::{self, Read};

use crate::error::{Error, ErrorKind};

pub use pieces::{MOST_TEXT, Piece, Pieces};

/// Bytes that identify a compression.
pub(crate) const MAGIC: usize = 6;

/// A compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// gzip, bgzip too.
    Gzip,
    /// zstd, seekable or not.
    Zstd,
    /// xz.
    Xz,
    /// bzip2.
    Bzip2,
}

impl Packing {
    /// The compression of a file that starts with `magic`, if it is compressed.
    pub fn from_magic(magic: &[u8]) -> Option<Self> {
        let skippable = |magic: &[u8]| {
            magic.first_chunk::<4>().is_some_and(|m| u32::from_le_bytes(*m) & !0xf == 0x184d_2a50)
        };
        match magic {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [b'B', b'Z', b'h', ..] => Some(Self::Bzip2),
            // Files of pzstd start with such a frame.
            _ if skippable(magic) => Some(Self::Zstd),
            _ => None,
        }
    }

    /// Whether one thread unpacks it more slowly than two threads parse the text.
    pub(crate) fn is_slow(self) -> bool {
        matches!(self, Self::Xz | Self::Bzip2)
    }
}

/// The whole text of `compressed`. Several members, one after another, are one text.
///
/// # Errors
/// The decoder cannot be made.
pub fn text(
    packing: Packing,
    compressed: Box<dyn Read + Send>,
) -> io::Result<Box<dyn Read + Send>> {
    Ok(match packing {
        Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(
            io::BufReader::with_capacity(1 << 17, compressed),
        )),
        Packing::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::new(compressed)?;
            // Logs are compressed with long windows, as they repeat themselves.
            decoder.window_log_max(31)?;
            Box::new(decoder)
        }
        Packing::Xz => Box::new(liblzma::read::XzDecoder::new_multi_decoder(compressed)),
        Packing::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(compressed)),
    })
}

/// The text of a file that starts with `magic` and continues with `raw`, compressed or not.
///
/// # Errors
/// The decoder cannot be made.
pub(crate) fn plain(magic: Vec<u8>, raw: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let packing = Packing::from_magic(&magic);
    let whole = Box::new(io::Cursor::new(magic).chain(raw));
    match packing {
        Some(packing) => text(packing, whole),
        None => Ok(whole),
    }
}

/// Says what to do about an error that a decoder found, not the operating system.
pub(crate) fn with_damage_hint(error: Error) -> Error {
    let damaged = error.errno().is_none() && matches!(error.kind(), ErrorKind::Io(_));
    if damaged && error.hint().is_none() {
        return error.with_hint(
            "the compressed log is damaged or cut short: compress or fetch it again, or unpack what \
             can be unpacked and parse that",
        );
    }
    error
}
