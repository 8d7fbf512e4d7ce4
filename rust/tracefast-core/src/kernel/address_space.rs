//! An estimate of the memory that an address space may take, from calls that map and unmap.
//!
//! A log of system calls does not show which pages were touched, so this is what may be resident, at
//! most. The model needs private writable memory only, whose page tables a fork has to copy; the
//! table of memory also needs mapped files and shared memory.

use crate::events::details::{Mapping, Memory};

/// How many ranges are followed at most: a call may change all of them, and a hostile log has many
/// calls.
const RANGES: usize = 1 << 12;

/// A range that is mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    start: u64,
    end: u64,
    kind: Kind,
}

/// What makes two ranges alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kind {
    mapping: Mapping,
    writable: bool,
}

/// What may be resident, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Resident {
    pub(crate) anon: i64,
    pub(crate) file: i64,
    pub(crate) shared: i64,
}

/// An address space.
#[derive(Debug, Clone, Default)]
pub(crate) struct AddressSpace {
    /// In order. Most programs have a dozen, which are found faster here than in a tree.
    ranges: Vec<Range>,
    /// Bytes of private anonymous ranges that may be written to: no page of others was ever
    /// written to.
    writable: u64,
    /// Bytes of files and of shared memory.
    file: u64,
    shared: u64,
    /// Start and end of the heap.
    heap: Option<(u64, u64)>,
    /// Files and shared memory are followed, too.
    whole: bool,
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

    /// The same, which follows files and shared memory, too.
    pub(crate) fn fresh_whole() -> Self {
        Self { whole: true, ..Self::fresh() }
    }

    /// What may be resident; `None` for an address space older than the log.
    pub(crate) fn resident(&self) -> Option<Resident> {
        let bytes = |bytes| i64::try_from(bytes).unwrap_or(i64::MAX);
        let (file, shared) = (bytes(self.file), bytes(self.shared));
        self.bytes().map(|anon| Resident { anon, file, shared })
    }

    /// Private writable memory in bytes; `None` for an address space older than the log.
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
            Memory::Map { start, len, mapping, writable } => {
                self.cut(start, len);
                if mapping == Mapping::Anonymous || self.whole {
                    self.put(start, len, Kind { mapping, writable });
                }
            }
            Memory::Unmap { start, len } => {
                self.cut(start, len);
            }
            Memory::Protect { start, len, writable } => {
                for Range { start, end, kind } in self.cut(start, len) {
                    self.put(start, end - start, Kind { writable, ..kind });
                }
            }
            Memory::Remap { start, len, new_start, new_len, stays } => {
                let moved = self.cut(start, len);
                for &Range { start, end, kind } in moved.iter().filter(|_| stays) {
                    self.put(start, end - start, kind);
                }
                // A range that is not followed stays so.
                if let Some(&Range { kind, .. }) = moved.first() {
                    self.cut(new_start, new_len);
                    self.put(new_start, new_len, kind);
                }
            }
            Memory::Break { end } => {
                let (start, _) = self.heap.unwrap_or((end, end));
                self.heap = Some((start.min(end), end));
            }
        }
    }

    /// The sum that a range of this kind counts in.
    fn sum(&mut self, kind: Kind) -> Option<&mut u64> {
        match kind.mapping {
            Mapping::Anonymous => kind.writable.then_some(&mut self.writable),
            Mapping::File => Some(&mut self.file),
            Mapping::Shared => Some(&mut self.shared),
            Mapping::Device => None,
        }
    }

    /// Removes `start..start + len`, rounded up to pages, and returns what was there.
    fn cut(&mut self, start: u64, len: u64) -> Vec<Range> {
        let end = start.saturating_add(pages(len));
        let first = self.ranges.partition_point(|range| range.end <= start);
        // Most often nothing is there.
        if start >= end || self.ranges.get(first).is_none_or(|range| range.start >= end) {
            return Vec::new();
        }
        let count = self.ranges[first..].iter().take_while(|range| range.start < end).count();
        let touched = &self.ranges[first..first + count];
        let (low, high) = (touched[0], touched[count - 1]);
        let below = (low.start < start).then_some(Range { end: start, ..low });
        let above = (high.end > end).then_some(Range { start: end, ..high });
        let left = below.into_iter().chain(above);
        let mut found: Vec<Range> = self.ranges.splice(first..first + count, left).collect();
        for range in &mut found {
            (range.start, range.end) = (range.start.max(start), range.end.min(end));
            if let Some(sum) = self.sum(range.kind) {
                *sum -= range.end - range.start;
            }
        }
        found
    }

    /// Adds a range where none is.
    fn put(&mut self, start: u64, len: u64, kind: Kind) {
        let end = start.saturating_add(pages(len));
        if end <= start {
            return;
        }
        // Merge neighbours of the same kind: heaps are mapped piece by piece.
        let at = self.ranges.partition_point(|range| range.end <= start);
        let below = at.checked_sub(1).map(|below| self.ranges[below]);
        let below = below.filter(|below| below.end == start && below.kind == kind);
        let above = self.ranges.get(at).copied();
        let above = above.filter(|above| above.start == end && above.kind == kind);
        match (below, above) {
            (Some(_), Some(above)) => {
                self.ranges.remove(at);
                self.ranges[at - 1].end = above.end;
            }
            (Some(_), None) => self.ranges[at - 1].end = end,
            (None, Some(_)) => self.ranges[at].start = start,
            (None, None) if self.ranges.len() >= RANGES => return,
            (None, None) => self.ranges.insert(at, Range { start, end, kind }),
        }
        if let Some(sum) = self.sum(kind) {
            *sum += end - start;
        }
    }
}

fn pages(len: u64) -> u64 {
    len.checked_add(4095).map_or(len, |len| len & !4095)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn map(start: u64, len: u64, writable: bool) -> Memory {
        Memory::Map { start, len, mapping: Mapping::Anonymous, writable }
    }

    #[test]
    fn what_is_mapped_counts_until_it_is_unmapped() {
        let mut space = AddressSpace::fresh();
        space.change(map(MIB, 2 * MIB, true));
        space.change(Memory::Unmap { start: MIB + MIB / 2, len: MIB });
        assert_eq!(space.bytes(), Some(MIB as i64));
        // A file that is mapped over it replaces it.
        space.change(Memory::Map { start: MIB, len: 100, mapping: Mapping::File, writable: true });
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
    fn files_and_shared_memory_count_where_they_are_wanted() {
        let mapping = |mapping, start| Memory::Map { start, len: MIB, mapping, writable: true };
        for (mut space, followed) in
            [(AddressSpace::fresh_whole(), true), (AddressSpace::fresh(), false)]
        {
            let mib = |count: u64| if followed { (count * MIB) as i64 } else { 0 };
            space.change(mapping(Mapping::File, 0));
            space.change(mapping(Mapping::File, MIB));
            space.change(mapping(Mapping::Shared, 8 * MIB));
            space.change(mapping(Mapping::Device, 12 * MIB));
            // What may not be written to may be read.
            space.change(Memory::Protect { start: 0, len: MIB, writable: false });
            let expected = Resident { anon: 0, file: mib(2), shared: mib(1) };
            assert_eq!(space.resident(), Some(expected));
            space.change(Memory::Unmap { start: MIB, len: 8 * MIB });
            let expected = Resident { anon: 0, file: mib(1), shared: 0 };
            assert_eq!(space.resident(), Some(expected));
            space.change(mapping(Mapping::Anonymous, 0));
            assert_eq!(
                space.resident(),
                Some(Resident { anon: MIB as i64, ..Resident::default() })
            );
        }
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

    /// The same, page by page.
    fn change_pages(pages: &mut BTreeMap<u64, (Mapping, bool)>, memory: Memory) {
        match memory {
            Memory::Map { start, len, mapping, writable } => {
                pages.extend((start..start + len).map(|page| (page, (mapping, writable))));
            }
            Memory::Unmap { start, len } => {
                pages.retain(|page, _| !(start..start + len).contains(page));
            }
            Memory::Protect { start, len, writable } => {
                pages.range_mut(start..start + len).for_each(|(_, page)| page.1 = writable);
            }
            Memory::Remap { .. } | Memory::Break { .. } => {}
        }
    }

    #[test]
    fn ranges_agree_with_pages() {
        let mut random = 1u64;
        let mut below = |most: u64| {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (random >> 33) % most
        };
        let (mut space, mut known) = (AddressSpace::fresh_whole(), BTreeMap::new());
        for _ in 0..5_000 {
            let (first, count, writable) = (below(60), 1 + below(12), below(2) == 0);
            let mapping = [Mapping::Anonymous, Mapping::File, Mapping::Shared][below(3) as usize];
            let change = |start, len| match first % 3 {
                0 => Memory::Map { start, len, mapping, writable },
                1 => Memory::Unmap { start, len },
                _ => Memory::Protect { start, len, writable },
            };
            space.change(change(first << 12, count << 12));
            change_pages(&mut known, change(first, count));
            let bytes = |wanted: &dyn Fn(&(Mapping, bool)) -> bool| {
                4096 * known.values().filter(|page| wanted(page)).count() as i64
            };
            let expected = Resident {
                anon: bytes(&|page| *page == (Mapping::Anonymous, true)),
                file: bytes(&|page| page.0 == Mapping::File),
                shared: bytes(&|page| page.0 == Mapping::Shared),
            };
            assert_eq!(space.resident(), Some(expected));
            let gaps = space.ranges.windows(2).all(|two| two[0].end <= two[1].start);
            assert!(gaps, "{:?}", space.ranges);
        }
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
