//! Changes to the address space of a process.

use crate::events::details::{Detail, Memory};
use crate::events::schema::Column as C;
use crate::linux::memory_calls;
use crate::linux::syscalls::Special;
use crate::strace::arguments::Split;
use crate::strace::fields::writer::FieldWriter;

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
        let no_file = self.has(C::Fd) && self.rows.fd[self.row] < 0;
        let argument = |at| split.get(self.source.bytes, at);
        memory_calls::change(self.shape.special, ret, no_file, argument)
    }
}
