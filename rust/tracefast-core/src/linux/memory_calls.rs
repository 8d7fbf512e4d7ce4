//! What calls do to the address space of their task, by their arguments as strace prints them.

use crate::events::details::{Mapping, Memory};
use crate::linux::syscalls::{Special, flags};
use crate::text::number;
use crate::text::search;

/// The change that a call makes which returned `ret`. `no_file`: the descriptor shows that it maps
/// no file; `argument` gives the arguments by their position.
#[inline]
pub(crate) fn change<'a>(
    call: Special,
    ret: i64,
    no_file: bool,
    argument: impl Fn(u8) -> Option<&'a [u8]>,
) -> Option<Memory> {
    let value = |at| match argument(at)? {
        b"NULL" => Some(0),
        text => number::whole_integer(text).map(|value| value as u64),
    };
    let word = |at| argument(at).unwrap_or_default();
    Some(match call {
        Special::Mmap => Memory::Map {
            start: ret as u64,
            len: value(1)?,
            mapping: mapping(word(3), no_file),
            writable: is_writable(word(2)),
        },
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
        Special::Brk => Memory::Break { end: ret as u64 },
        _ => return None,
    })
}

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

/// What the flags of mmap(2) say. `no_file`: the descriptor shows that no file is mapped.
fn mapping(shared: &[u8], no_file: bool) -> Mapping {
    // The numbers that strace explains with names differ between architectures.
    if !search::contains(shared, b"MAP_", 3) {
        let shared = number::c_integer(shared).0 as u32;
        return Mapping::new(flags::is_private(shared), no_file || flags::is_anonymous(shared));
    }
    let private = search::contains(shared, b"MAP_PRIVATE", 8);
    Mapping::new(private, no_file || search::contains(shared, b"MAP_ANON", 6))
}
