//! Compressed logs whose pieces are unpacked by several workers at a time.
//!
//! The thread of the source finds the pieces, hands them out in order, and joins what comes back in
//! that order. It keeps the pieces until then: from the first one that does not unpack it reads the
//! rest as a plain stream, which gives the same text or the same error.

use std::collections::{BTreeMap, VecDeque};
use std::io;

use tracefast_core::format::Format;

use crate::error::{Error, Result};
use crate::input::compressed::{MOST_TEXT, Piece, Pieces};
use crate::input::joined_pieces::{PieceBlocks, PieceJoiner};
use crate::input::split::Cutter;
use crate::pipeline::{Encode, Plan, Shared};

/// A piece and its number.
pub(crate) type NumberedPiece = (u64, Piece);

/// Pieces on their way through the workers.
#[derive(Default)]
pub(crate) struct Unpacking {
    /// Not yet claimed.
    unclaimed: VecDeque<NumberedPiece>,
    /// Unpacked, by number; `None`: that failed.
    done: BTreeMap<u64, Option<PieceBlocks>>,
    /// The next to join. Results for earlier pieces are ignored.
    next: u64,
    /// Pieces given to workers.
    given: u64,
}

/// What has become of a piece.
enum Unpacked {
    Text(PieceBlocks),
    /// It cannot be unpacked on its own.
    Broken,
    /// It is no longer needed.
    Stopped,
}

impl Unpacking {
    /// The next piece to unpack.
    pub(crate) fn claim(&mut self) -> Option<NumberedPiece> {
        self.unclaimed.pop_front()
    }
}

impl<E: Encode> Shared<E> {
    /// The most pieces given out and not yet joined: one for each worker, and one more.
    fn piece_limit(&self) -> usize {
        self.threads + 1
    }

    /// Bytes of a block: pieces have about a megabyte, and the room of larger blocks would be
    /// empty.
    fn block_bytes(&self) -> usize {
        self.options.block_bytes.min(1 << 20)
    }

    /// What a worker does with a piece.
    pub(crate) fn unpack(&self, plan: &Plan, (number, piece): NumberedPiece) {
        let size = self.block_bytes();
        let blocks = piece.text().map_err(Into::into).and_then(|text| {
            PieceBlocks::new(text, MOST_TEXT, size, &plan.format, || self.pool.buffer())
        });
        let mut state = self.lock();
        let unpacking = &mut state.unpacking;
        if number >= unpacking.next {
            unpacking.done.insert(number, blocks.ok());
            let drive = number == unpacking.next;
            drop(state);
            if drive {
                self.drive.notify_one();
            }
        }
    }

    /// Reads a compressed stream, the first bytes of whose text are `head`.
    pub(crate) fn read_pieces(
        &self,
        name: &str,
        head: Vec<u8>,
        mut rest: Pieces,
        format: &Format,
    ) -> Result<()> {
        let at = |error| Error::io(name, error);
        // A source has its own thread besides the workers. It unpacks gzip and zstd faster than
        // two workers parse, so more than two are needed before pieces save time.
        let least = if rest.packing().is_slow() { 2 } else { 3 };
        if self.threads < least {
            let rest = rest.rest(&[]).map_err(at)?.unwrap_or_else(|| Box::new(io::empty()));
            return self.cut(name, Cutter::new(head, rest), format);
        }
        let mut under_way = VecDeque::new();
        self.hand_out(&mut rest, &mut under_way);
        let mut joiner = PieceJoiner::default();
        let (most, size) = (head.len(), self.block_bytes());
        let head = Box::new(io::Cursor::new(head));
        let mut blocks = PieceBlocks::new(head, most, size, format, || self.pool.buffer())?;
        loop {
            for block in joiner.join(blocks).map_err(|error| error.at_path(name))? {
                if !self.push(block) {
                    return Ok(());
                }
            }
            self.hand_out(&mut rest, &mut under_way);
            if under_way.is_empty() {
                break;
            }
            blocks = match self.unpacked() {
                Unpacked::Text(blocks) => blocks,
                Unpacked::Broken => break,
                Unpacked::Stopped => return Ok(()),
            };
            under_way.pop_front();
        }
        self.take_back();
        let again: Vec<Piece> = under_way.into();
        if let Some(rest) = rest.rest(&again).map_err(at)? {
            return self.cut(name, joiner.go_on(rest), format);
        }
        if let Some(block) = joiner.end().map_err(|error| error.at_path(name))? {
            self.push(block);
        }
        Ok(())
    }

    /// Hands out as many pieces as there may be.
    fn hand_out(&self, rest: &mut Pieces, under_way: &mut VecDeque<Piece>) {
        while under_way.len() < self.piece_limit()
            && let Some(piece) = rest.next()
        {
            under_way.push_back(piece.clone());
            let mut state = self.lock();
            let unpacking = &mut state.unpacking;
            unpacking.unclaimed.push_back((unpacking.given, piece));
            unpacking.given += 1;
            drop(state);
            self.work.notify_one();
        }
    }

    /// Waits for the next piece in order.
    fn unpacked(&self) -> Unpacked {
        let mut state = self.lock();
        loop {
            if state.stop {
                return Unpacked::Stopped;
            }
            let next = state.unpacking.next;
            if let Some(blocks) = state.unpacking.done.remove(&next) {
                state.unpacking.next += 1;
                return blocks.map_or(Unpacked::Broken, Unpacked::Text);
            }
            state = Self::wait(&self.drive, state);
        }
    }

    /// The pieces given out are no longer needed.
    fn take_back(&self) {
        let mut state = self.lock();
        let unpacking = &mut state.unpacking;
        unpacking.unclaimed.clear();
        unpacking.done.clear();
        unpacking.next = unpacking.given;
    }
}
