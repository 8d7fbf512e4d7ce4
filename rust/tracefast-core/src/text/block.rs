//! A block: whole lines of one source, in a padded buffer that is reused.

use crate::text::prefix::PREFIX_MAX;

/// Bytes of padding before and after the text, so that wide loads never leave the buffer.
pub const PAD: usize = 128;

/// The longest line, and the longest run of lines in which no line can start a block. A block has
/// at most one of each, so offsets into it fit into the 31 bits of Arrow's string views.
pub const MAX_LINE: usize = 1 << 28;

/// Bytes at the start of a line that are enough to know whether it belongs to the line before it,
/// in every format, behind a prefix or not.
pub const LINE_START: usize = OWN_START + PREFIX_MAX;

/// The same, without a prefix.
pub const OWN_START: usize = 532;

/// The mark that some programs put at the start of a file in UTF-8.
pub const BOM: &[u8] = b"\xef\xbb\xbf";

/// A range of a block's text.
pub type TextRange = (u32, u32);

/// Whole lines of one source.
#[derive(Debug, Default)]
pub struct Block {
    buf: Vec<u8>,
    start: usize,
    len: usize,
    /// Bytes that were removed from the text, less those that were added.
    taken: isize,
    /// The text ends with the source, whether or not its last line has a line feed.
    pub last: bool,
}

impl Block {
    /// An empty block that needs no allocation up to `capacity` bytes of text.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { buf: Vec::with_capacity(capacity + 2 * PAD), ..Self::default() }
    }

    /// A block that holds `text`.
    ///
    /// # Examples
    /// ```
    /// let block = tracefast_core::text::block::Block::from_text(b"close(3) = 0\n");
    /// assert_eq!(block.text(), b"close(3) = 0\n");
    /// ```
    pub fn from_text(text: &[u8]) -> Self {
        let mut block = Self::default();
        block.space(text.len()).copy_from_slice(text);
        block.set(0, text.len());
        block.last = true;
        block
    }

    /// Room to read `len` bytes of text into; [`Block::set`] then says which of them are the text.
    /// A call with a greater `len` keeps what was read.
    pub fn space(&mut self, len: usize) -> &mut [u8] {
        let need = len + 2 * PAD;
        if self.buf.len() < need {
            self.buf.resize(need, 0);
        }
        &mut self.buf[PAD..PAD + len]
    }

    /// Keeps `start..end` of the space as the text.
    pub fn set(&mut self, start: usize, end: usize) {
        self.start = start;
        self.len = end - start;
        self.taken = 0;
        // Wide loads after the text must not depend on what the buffer held before.
        self.buf[PAD + end..PAD + end + PAD].fill(0);
    }

    /// Appends `more` to the text.
    pub fn extend(&mut self, more: &[u8]) {
        let end = self.start + self.len;
        self.space(end + more.len())[end..].copy_from_slice(more);
        self.set(self.start, end + more.len());
    }

    /// Drops the first `n` bytes of the text.
    pub fn skip(&mut self, n: usize) {
        let end = self.start + self.len;
        self.set(end.min(self.start + n), end);
    }

    /// Changes the text in place. `change` returns the new length, which must not be greater.
    pub(crate) fn edit(&mut self, change: impl FnOnce(&mut [u8]) -> usize) {
        if !self.buf.is_empty() {
            let start = self.start + PAD;
            let len = change(&mut self.buf[start..start + self.len]).min(self.len);
            let taken = self.taken + (self.len - len) as isize;
            self.set(self.start, self.start + len);
            self.taken = taken;
        }
    }

    /// Puts another text in its place.
    pub(crate) fn replace(&mut self, text: &[u8]) {
        let taken = self.taken + self.len as isize - text.len() as isize;
        let (start, end) = (self.start, self.start + text.len());
        self.space(end)[start..].copy_from_slice(text);
        self.set(start, end);
        self.taken = taken;
    }

    /// The lines.
    pub fn text(&self) -> &[u8] {
        &self.padded()[PAD..PAD + self.len]
    }

    /// The text with its padding: text position 0 is at [`PAD`].
    pub fn padded(&self) -> &[u8] {
        if self.buf.is_empty() { &[0; 2 * PAD] } else { &self.buf[self.start..] }
    }

    /// Bytes of text.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Bytes of text as they are in the source.
    pub fn source_len(&self) -> usize {
        self.len.wrapping_add_signed(self.taken)
    }

    /// No text.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The buffer itself, and where in it the text begins, so that Arrow can hold it.
    pub(crate) fn into_buffer(self) -> (Vec<u8>, usize) {
        let start = if self.buf.is_empty() { 0 } else { self.start + PAD };
        (self.buf, start)
    }

    /// A block that uses this buffer.
    pub fn from_buffer(buf: Vec<u8>) -> Self {
        Self { buf, ..Self::default() }
    }
}
