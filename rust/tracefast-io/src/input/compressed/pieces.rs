//! Compressed streams in pieces that can be unpacked each on its own.

use std::io::{self, Cursor, Read};

use bytes::Bytes;

use crate::input::compressed::members::{self, Found};
use crate::input::compressed::{Packing, text};

/// The most text that a piece may have: a frame of `pzstd` has 8 MiB.
pub const MOST_TEXT: usize = 8 << 20;

/// The most compressed bytes of a piece. Logs shrink to a tenth.
const MOST_PACKED: usize = 2 << 20;

/// Members are joined until their text is about this long (those of `bgzip` have 64 KiB) …
const ENOUGH_TEXT: usize = 1 << 20;

/// … or until the members themselves are this long.
const ENOUGH_PACKED: usize = 256 << 10;

/// Bytes read at a time.
const READ: usize = 128 << 10;

/// Members of a compressed stream that seem to be whole.
#[derive(Debug, Clone)]
pub struct Piece {
    packing: Packing,
    compressed: Bytes,
}

impl Piece {
    /// Its text.
    ///
    /// # Errors
    /// The decoder cannot be made.
    pub fn text(&self) -> io::Result<Box<dyn Read + Send>> {
        text(self.packing, Box::new(Cursor::new(self.compressed.clone())))
    }

    /// Adds its text to `out`.
    ///
    /// # Errors
    /// It does not unpack, or has more text than a piece may have. `out` is as it was then.
    pub fn append_to(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let start = out.len();
        let read = self.text()?.take(MOST_TEXT as u64 + 1).read_to_end(out);
        let read = read.and_then(|n| if n > MOST_TEXT { Err(too_much()) } else { Ok(()) });
        if read.is_err() {
            out.truncate(start);
        }
        read
    }
}

/// No caller sees this error: the text is then read in order.
fn too_much() -> io::Error {
    io::Error::other("more text than a piece may have")
}

/// A compressed stream, cut into pieces as far as it can be.
pub struct Pieces {
    packing: Packing,
    raw: Box<dyn Read + Send>,
    /// Bytes read and not yet handed out, from `at` on.
    buf: Vec<u8>,
    at: usize,
    /// How far the end of the next member was looked for.
    seen: usize,
    /// Nothing follows `buf`.
    ends: bool,
    /// The error that stopped reading.
    error: Option<io::Error>,
}

impl Pieces {
    /// A stream after its first bytes, `magic`.
    pub fn new(packing: Packing, magic: Vec<u8>, raw: Box<dyn Read + Send>) -> Self {
        Self { packing, raw, buf: magic, at: 0, seen: 0, ends: false, error: None }
    }

    /// How the stream is compressed.
    pub(crate) fn packing(&self) -> Packing {
        self.packing
    }

    /// The rest: `again`, pieces that were given and did not unpack, then what was not given yet.
    /// `None`: that is nothing.
    ///
    /// # Errors
    /// The decoder cannot be made.
    pub fn rest(mut self, again: &[Piece]) -> io::Result<Option<Box<dyn Read + Send>>> {
        let mut bytes: Vec<u8> = Vec::new();
        for piece in again {
            bytes.extend_from_slice(&piece.compressed);
        }
        bytes.extend_from_slice(&self.buf[self.at..]);
        if bytes.is_empty() && self.error.is_none() {
            // A decoder reports no bytes at all as a truncated text.
            if !self.ends {
                self.read();
            }
            if self.ends {
                return Ok(None);
            }
            bytes.extend_from_slice(&self.buf[self.at..]);
        }
        let rest = Cursor::new(bytes).chain(Failed(self.error)).chain(self.raw);
        text(self.packing, Box::new(rest)).map(Some)
    }

    fn read(&mut self) {
        // Bytes that were handed out are dropped once they are more than half of the buffer.
        if self.at > self.buf.len() / 2 {
            self.buf.drain(..self.at);
            self.at = 0;
        }
        let have = self.buf.len();
        self.buf.resize(have + READ, 0);
        let mut done = 0;
        while done == 0 {
            match self.raw.read(&mut self.buf[have..]) {
                Ok(0) => {
                    self.ends = true;
                    break;
                }
                Ok(n) => done = n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.error = Some(error);
                    break;
                }
            }
        }
        self.buf.truncate(have + done);
    }
}

/// The pieces, as long as their ends can be found; [`Pieces::rest`] has what is left.
impl Iterator for Pieces {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let mut compressed = 0;
        let mut text = 0;
        while compressed < ENOUGH_PACKED && text < ENOUGH_TEXT {
            let bytes = &self.buf[self.at + compressed..];
            match members::find(self.packing, bytes, self.ends, &mut self.seen) {
                Found::Member { compressed: more, text: more_text } => {
                    let fits = more <= MOST_PACKED && more_text <= MOST_TEXT;
                    if !fits || (text > 0 && text + more_text > MOST_TEXT) {
                        break;
                    }
                    self.seen = 0;
                    compressed += more;
                    text += more_text;
                }
                Found::More if bytes.len() <= MOST_PACKED && self.error.is_none() => self.read(),
                Found::More | Found::Unknown => break,
            }
        }
        let piece = Bytes::copy_from_slice(&self.buf[self.at..self.at + compressed]);
        self.at += compressed;
        (compressed > 0).then_some(Piece { packing: self.packing, compressed: piece })
    }
}

/// Gives the error, once.
struct Failed(Option<io::Error>);

impl Read for Failed {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}
