//! What calls do to the address space of their task.

use crate::events::details::{Detail, Mapping, Memory};
use crate::events::schema::Column as C;
use crate::ftrace::fields::FieldWriter;
use crate::linux::syscalls::{Special, flags};

impl FieldWriter<'_> {
    /// The change that a call made which returned `ret`.
    pub(crate) fn memory(&mut self, ret: Option<i64>) {
        let Some(ret) = ret else { return };
        if let Some(change) = self.change(ret) {
            let detail = self.side.detail(Detail::Memory(change));
            self.rows.effect[self.row].detail = detail;
        }
    }

    fn change(&self, ret: i64) -> Option<Memory> {
        let value = |at| self.number(at).map(|value| value as u64);
        let writable = |at| self.int(at).is_some_and(flags::is_writable);
        Some(match self.shape.special {
            Special::Mmap => {
                let shared = self.int(3)?;
                let file = !self.rows.has(self.row, C::Fd) || self.rows.fd[self.row] >= 0;
                Memory::Map {
                    start: ret as u64,
                    len: value(1)?,
                    mapping: Mapping::new(
                        flags::is_private(shared),
                        flags::is_anonymous(shared) || !file,
                    ),
                    writable: writable(2),
                }
            }
            Special::Munmap => Memory::Unmap { start: value(0)?, len: value(1)? },
            Special::Mprotect => {
                Memory::Protect { start: value(0)?, len: value(1)?, writable: writable(2) }
            }
            Special::Mremap => Memory::Remap {
                start: value(0)?,
                len: value(1)?,
                new_start: ret as u64,
                new_len: value(2)?,
                stays: self.int(3).is_some_and(flags::keeps_old),
            },
            Special::Brk => Memory::Break { end: ret as u64 },
            _ => return None,
        })
    }
}
