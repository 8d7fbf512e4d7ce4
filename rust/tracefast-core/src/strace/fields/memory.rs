//! What calls do to the address space of their task.

use super::Out;
use crate::detail::{Detail, Memory};
use crate::num;
use crate::schema::Column as C;
use crate::strace::args::Split;
use crate::syscalls::{Special, flags};

impl Out<'_> {
    /// The change that a call made which returned `ret`.
    #[cold]
    pub(super) fn memory(&mut self, ret: Option<i64>) {
        let Some(ret) = ret else { return };
        if let Some(change) = self.change(ret) {
            let detail = self.side.detail(Detail::Memory(change));
            self.rows.effect[self.row].detail = detail;
        }
    }

    fn change(&self, ret: i64) -> Option<Memory> {
        let text = self.source.bytes;
        let split = Split::new(text, 3);
        let value = |at| match split.get(text, at)? {
            b"NULL" => Some(0),
            arg => num::whole_integer(arg).map(|value| value as u64),
        };
        let mask =
            |at, bit: fn(&[u8]) -> u32| flags::mask(split.get(text, at).unwrap_or_default(), bit);
        Some(match self.shape.special {
            Special::Mmap => {
                let shared = mask(3, flags::map_bit);
                let file = !self.has(C::Fd) || self.rows.fd[self.row] >= 0;
                Memory::Map {
                    start: ret as u64,
                    len: value(1)?,
                    anonymous: flags::is_private(shared) && (flags::is_anonymous(shared) || !file),
                    writable: flags::is_writable(mask(2, flags::prot_bit)),
                }
            }
            Special::Munmap => Memory::Unmap { start: value(0)?, len: value(1)? },
            Special::Mprotect => Memory::Protect {
                start: value(0)?,
                len: value(1)?,
                writable: flags::is_writable(mask(2, flags::prot_bit)),
            },
            Special::Mremap => Memory::Remap {
                start: value(0)?,
                len: value(1)?,
                new_start: ret as u64,
                new_len: value(2)?,
            },
            Special::Brk => Memory::Break { end: ret as u64 },
            _ => return None,
        })
    }
}
