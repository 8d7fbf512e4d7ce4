//! Changes to the address space of a process.

use crate::events::details::{Detail, Memory};
use crate::events::schema::Column as C;
use crate::linux::syscalls::{Special, flags};
use crate::strace::arguments::Split;
use crate::strace::fields::writer::FieldWriter;
use crate::text::number;
use crate::text::search;

/// `PROT_READ|PROT_WRITE`, `0x3`, `0x3 /* PROT_READ|PROT_WRITE */`.
fn is_writable(protection: &[u8]) -> bool {
    if protection.first().is_some_and(u8::is_ascii_digit) {
        return flags::is_writable(number::c_integer(protection).0 as u32);
    }
    search::contains(protection, b"PROT_WRITE", 5)
}

/// `MREMAP_MAYMOVE|MREMAP_DONTUNMAP`, `0x5`.
fn stays(moves: &[u8]) -> bool {
    if moves.first().is_some_and(u8::is_ascii_digit) {
        return flags::keeps_old(number::c_integer(moves).0 as u32);
    }
    search::contains(moves, b"DONTUNMAP", 0)
}

/// Whether a mapping with these flags is private and has no file. `no_file`: the descriptor shows
/// that it has none.
fn is_anonymous(shared: &[u8], no_file: bool) -> bool {
    // The numbers that strace explains with names differ between architectures.
    if !search::contains(shared, b"MAP_", 3) {
        let shared = number::c_integer(shared).0 as u32;
        return flags::is_private(shared) && (no_file || flags::is_anonymous(shared));
    }
    search::contains(shared, b"MAP_PRIVATE", 8)
        && (no_file || search::contains(shared, b"MAP_ANON", 6))
}

impl FieldWriter<'_> {
    /// Records the change made by a call that returned `ret`. `split` holds the arguments if a
    /// column needs them.
    pub(crate) fn memory(&mut self, split: Option<&Split>, ret: Option<i64>) {
        let Some(ret) = ret else { return };
        let change = match split {
            Some(split) => self.change(split, ret),
            None if self.shape.special == Special::Brk => Some(Memory::Break { end: ret as u64 }),
            None => self.change(&Split::new(self.source.bytes, 3), ret),
        };
        if let Some(change) = change {
            let detail = self.side.detail(Detail::Memory(change));
            self.rows.effect[self.row].detail = detail;
        }
    }

    fn change(&self, split: &Split, ret: i64) -> Option<Memory> {
        let text = self.source.bytes;
        let value = |at| match split.get(text, at)? {
            b"NULL" => Some(0),
            arg => number::whole_integer(arg).map(|value| value as u64),
        };
        let word = |at| split.get(text, at).unwrap_or_default();
        Some(match self.shape.special {
            Special::Mmap => {
                let no_file = self.has(C::Fd) && self.rows.fd[self.row] < 0;
                Memory::Map {
                    start: ret as u64,
                    len: value(1)?,
                    anonymous: is_anonymous(word(3), no_file),
                    writable: is_writable(word(2)),
                }
            }
            Special::Munmap => Memory::Unmap { start: value(0)?, len: value(1)? },
            Special::Mprotect => {
                Memory::Protect { start: value(0)?, len: value(1)?, writable: is_writable(word(2)) }
            }
            Special::Mremap => Memory::Remap {
                start: value(0)?,
                len: value(1)?,
                new_start: ret as u64,
                new_len: value(2)?,
                stays: stays(word(3)),
            },
            _ => return None,
        })
    }
}
