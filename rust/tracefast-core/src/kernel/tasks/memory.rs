//! An estimate of private writable memory, whose page tables a fork has to copy.
//!
//! It counts private anonymous mappings that may be written to, and the growth of the heap. A log
//! of system calls does not show which pages were touched.

use std::collections::BTreeMap;

use crate::events::details::Memory;

/// How many ranges are followed at most: a call may change all of them, and a hostile log has many
/// calls.
const RANGES: usize = 1 << 12;

/// An address space.
#[derive(Debug, Clone, Default)]
pub(crate) struct AddressSpace {
    /// Private anonymous ranges: from start to end, and whether they are writable.
    ranges: BTreeMap<u64, (u64, bool)>,
    /// Bytes of the writable ones.
    writable: u64,
    /// Start and end of the heap.
    heap: Option<(u64, u64)>,
    /// It began in the log, so all of it is known.
    known: bool,
    /// A call of its tasks was of those that every program starts with.
    set_up: bool,
}

impl AddressSpace {
    /// The address space of a program that has just been started.
    pub(crate) fn fresh() -> Self {
        Self { known: true, ..Self::default() }
    }

    /// The estimate in bytes; `None` for an address space older than the log.
    pub(crate) fn bytes(&self) -> Option<i64> {
        let heap = self.heap.map_or(0, |(start, end)| end.saturating_sub(start));
        let bytes = i64::try_from(self.writable.saturating_add(heap)).unwrap_or(i64::MAX);
        self.known.then_some(bytes)
    }

    /// Whether the log shows the start of its program, but none of the calls that every program
    /// starts with.
    pub(crate) fn lacks_set_up(&self) -> bool {
        self.known && !self.set_up
    }

    /// A task has set itself up.
    pub(crate) fn set_up(&mut self) {
        self.set_up = true;
    }

    /// Applies a change.
    pub(crate) fn change(&mut self, memory: Memory) {
        self.set_up = true;
        match memory {
            Memory::Map { start, len, anonymous, writable } => {
                self.cut(start, len);
                if anonymous {
                    self.put(start, len, writable);
                }
            }
            Memory::Unmap { start, len } => {
                self.cut(start, len);
            }
            Memory::Protect { start, len, writable } => {
                for (start, end, _) in self.cut(start, len) {
                    self.put(start, end - start, writable);
                }
            }
            Memory::Remap { start, len, new_start, new_len, stays } => {
                let moved = self.cut(start, len);
                for &(start, end, writable) in moved.iter().filter(|_| stays) {
                    self.put(start, end - start, writable);
                }
                // A range of a file is not followed, and stays so.
                if let Some(&(_, _, writable)) = moved.first() {
                    self.cut(new_start, new_len);
                    self.put(new_start, new_len, writable);
                }
            }
            Memory::Break { end } => {
                let (start, _) = self.heap.unwrap_or((end, end));
                self.heap = Some((start.min(end), end));
            }
        }
    }

    /// Removes `start..start + len`, rounded up to pages, and returns what was there.
    fn cut(&mut self, start: u64, len: u64) -> Vec<(u64, u64, bool)> {
        let end = start.saturating_add(pages(len));
        if self.ranges.is_empty() || start >= end {
            return Vec::new();
        }
        let mut found = Vec::new();
        let before = self.ranges.range(..start).next_back();
        if let Some((&from, &(to, writable))) = before.filter(|(_, (to, _))| *to > start) {
            found.push((from, to, writable));
        }
        found.extend(self.ranges.range(start..end).map(|(&from, &(to, w))| (from, to, w)));
        for part in &mut found {
            let (from, to, writable) = *part;
            self.ranges.remove(&from);
            if from < start {
                self.ranges.insert(from, (start, writable));
            }
            if to > end {
                self.ranges.insert(end, (to, writable));
            }
            *part = (from.max(start), to.min(end), writable);
            if writable {
                self.writable -= part.1 - part.0;
            }
        }
        found
    }

    fn put(&mut self, start: u64, len: u64, writable: bool) {
        let (mut start, mut end) = (start, start.saturating_add(pages(len)));
        if end <= start {
            return;
        }
        let grown = end - start;
        // Merge neighbours of the same kind: heaps are mapped piece by piece.
        if let Some((&from, &(to, kind))) = self.ranges.range(..start).next_back()
            && (to, kind) == (start, writable)
        {
            self.ranges.remove(&from);
            start = from;
        }
        if let Some(&(to, kind)) = self.ranges.get(&end)
            && kind == writable
        {
            self.ranges.remove(&end);
            end = to;
        }
        if self.ranges.len() >= RANGES {
            return;
        }
        self.ranges.insert(start, (end, writable));
        if writable {
            self.writable += grown;
        }
    }
}

fn pages(len: u64) -> u64 {
    len.checked_add(4095).map_or(len, |len| len & !4095)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn map(start: u64, len: u64, writable: bool) -> Memory {
        Memory::Map { start, len, anonymous: true, writable }
    }

    #[test]
    fn what_is_mapped_counts_until_it_is_unmapped() {
        let mut space = AddressSpace::fresh();
        space.change(map(MIB, 2 * MIB, true));
        space.change(Memory::Unmap { start: MIB + MIB / 2, len: MIB });
        assert_eq!(space.bytes(), Some(MIB as i64));
        // A file that is mapped over it replaces it.
        space.change(Memory::Map { start: MIB, len: 100, anonymous: false, writable: true });
        assert_eq!(space.bytes(), Some(MIB as i64 - 4096));
    }

    #[test]
    fn reserved_memory_counts_once_it_may_be_written_to() {
        let mut space = AddressSpace::fresh();
        space.change(map(0, 64 * MIB, false));
        assert_eq!(space.bytes(), Some(0));
        space.change(Memory::Protect { start: 0, len: 3 * MIB, writable: true });
        assert_eq!(space.bytes(), Some(3 * MIB as i64));
        let to = |stays| Memory::Remap {
            start: 0,
            len: 3 * MIB,
            new_start: if stays { 80 * MIB } else { 99 * MIB },
            new_len: MIB,
            stays,
        };
        space.change(to(true));
        assert_eq!(space.bytes(), Some(4 * MIB as i64));
        space.change(to(false));
        assert_eq!(space.bytes(), Some(2 * MIB as i64));
    }

    #[test]
    fn neighbours_become_one() {
        let mut space = AddressSpace::fresh();
        for i in [3, 1, 2, 0] {
            space.change(map(i * MIB, MIB, true));
        }
        assert_eq!((space.ranges.len(), space.bytes()), (1, Some(4 * MIB as i64)));
        // Ranges beyond the limit do not count.
        for i in 0..2 * RANGES as u64 {
            space.change(map((10 + 2 * i) * MIB, MIB, true));
        }
        assert_eq!(space.ranges.len(), RANGES);
        assert_eq!(space.bytes(), Some((RANGES as i64 + 3) * MIB as i64));
    }

    #[test]
    fn the_heap_grows_and_shrinks() {
        let mut space = AddressSpace::fresh();
        for end in [MIB, 3 * MIB, 2 * MIB] {
            space.change(Memory::Break { end });
        }
        assert_eq!(space.bytes(), Some(MIB as i64));
    }

    #[test]
    fn who_knows_what_is_older_than_the_log() {
        let mut space = AddressSpace::default();
        space.change(map(MIB, 2 * MIB, true));
        assert_eq!(space.bytes(), None);
    }

    #[test]
    fn odd_numbers_do_no_harm() {
        let mut space = AddressSpace::fresh();
        space.change(map(u64::MAX - 4096, u64::MAX, true));
        space.change(map(0, u64::MAX, true));
        space.change(Memory::Protect { start: 5, len: u64::MAX, writable: false });
        space.change(Memory::Unmap { start: u64::MAX, len: u64::MAX });
        for stays in [false, true] {
            let (new_start, new_len) = (u64::MAX, 1);
            space.change(Memory::Remap { start: 0, len: 0, new_start, new_len, stays });
        }
        assert!(space.bytes().is_some());
    }
}
