//! What several processes of a pool read: of each byte of a file, whether one did or several.

use std::sync::Arc;

use crate::hash::HashMap;

/// What one process read of one file.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct FilePart {
    pub(crate) file: u64,
    pub(crate) path: Option<Box<str>>,
    /// In order, without overlaps.
    pub(crate) ranges: Box<[(i64, i64)]>,
}

/// What processes that ended read. Which of them are of one pool is known at the end of the log;
/// until then a part of a file is kept once, however many read it.
#[derive(Debug, Default)]
pub(crate) struct FileParts {
    all: HashMap<Arc<FilePart>, ()>,
}

impl FileParts {
    pub(crate) fn shared(&mut self, part: FilePart) -> Arc<FilePart> {
        if let Some((known, ())) = self.all.get_key_value(&part) {
            return Arc::clone(known);
        }
        let part = Arc::new(part);
        self.all.insert(Arc::clone(&part), ());
        part
    }
}

/// A range of a file. Without an owner, several processes read it.
type Read = (i64, i64, Option<u32>);

/// What the processes of one pool read of one file.
#[derive(Debug, Default)]
pub(crate) struct FileReads<'a> {
    pub(crate) path: Option<&'a str>,
    /// In order, without overlaps.
    ranges: Vec<Read>,
    /// Processes that read it.
    pub(crate) readers: u32,
    /// Bytes that they read, each process each byte once.
    pub(crate) bytes: i64,
}

impl FileReads<'_> {
    /// Bytes that any of them read.
    pub(crate) fn union(&self) -> i64 {
        self.ranges.iter().map(|&(start, end, _)| end - start).sum()
    }
}

/// What several processes of one pool read of one file, each for itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharedFile<'a> {
    pub(crate) file: u64,
    pub(crate) path: Option<&'a str>,
    pub(crate) readers: u32,
    /// Bytes that they read, each process each byte once; and what one that reads for all saves.
    pub(crate) bytes: i64,
    pub(crate) again: i64,
}

/// What the processes of one pool read.
#[derive(Debug, Default)]
pub(crate) struct SharedReads<'a> {
    pub(crate) files: HashMap<u64, FileReads<'a>>,
    /// By process, the bytes that another one read as well.
    credits: HashMap<u32, i64>,
}

impl<'a> SharedReads<'a> {
    /// A process read a part of a file.
    pub(crate) fn add(&mut self, process: u32, part: &'a FilePart) {
        let entry = self.files.entry(part.file).or_default();
        entry.path = entry.path.or(part.path.as_deref());
        entry.readers += 1;
        entry.bytes += part.ranges.iter().map(|&(start, end)| end - start).sum::<i64>();
        let before = std::mem::take(&mut entry.ranges);
        entry.ranges = if before.is_empty() {
            part.ranges.iter().map(|&(start, end)| (start, end, Some(process))).collect()
        } else {
            merge(&before, &part.ranges, process, &mut self.credits)
        };
    }

    /// Bytes that a process read, and another one as well.
    pub(crate) fn shared(&self, process: u32) -> i64 {
        self.credits.get(&process).copied().unwrap_or(0)
    }

    /// What was read again by file, most first.
    pub(crate) fn again_files(&self) -> Vec<SharedFile<'a>> {
        let read_again = self.files.iter().filter(|(_, reads)| reads.readers > 1);
        let mut files: Vec<_> = read_again
            .map(|(&file, reads)| {
                let FileReads { path, readers, bytes, .. } = *reads;
                SharedFile { file, path, readers, bytes, again: bytes - reads.union() }
            })
            .filter(|file| file.again > 0)
            .collect();
        files.sort_by(|one, other| {
            (other.again, one.path, one.file).cmp(&(one.again, other.path, other.file))
        });
        files
    }

    /// Bytes that were read again: what one process that read for all would have saved.
    pub(crate) fn again(&self) -> i64 {
        self.files.values().map(|file| file.bytes - file.union()).sum()
    }
}

/// Adds ranges of a process to those of others.
fn merge(
    before: &[Read],
    read: &[(i64, i64)],
    process: u32,
    credits: &mut HashMap<u32, i64>,
) -> Vec<Read> {
    let mut all: Vec<Read> = Vec::with_capacity(before.len() + read.len());
    let mut push = |range: Read| {
        if range.0 >= range.1 {
            return;
        }
        match all.last_mut() {
            Some(last) if last.1 == range.0 && last.2 == range.2 => last.1 = range.1,
            _ => all.push(range),
        }
    };
    let mut old = before.iter().copied();
    let mut rest = old.next();
    for &(mut start, end) in read {
        while start < end {
            match rest {
                Some(range) if range.1 <= start => {
                    push(range);
                    rest = old.next();
                }
                Some((first, last, owner)) if first < end => {
                    if first < start {
                        push((first, start, owner));
                    }
                    push((start, first, Some(process)));
                    let (from, to) = (start.max(first), end.min(last));
                    if owner != Some(process) {
                        let length = to - from;
                        if let Some(owner) = owner {
                            *credits.entry(owner).or_default() += length;
                        }
                        *credits.entry(process).or_default() += length;
                    }
                    push((from, to, owner.filter(|&owner| owner == process)));
                    start = to;
                    rest = if to < last { Some((to, last, owner)) } else { old.next() };
                }
                _ => {
                    push((start, end, Some(process)));
                    start = end;
                }
            }
        }
    }
    rest.into_iter().chain(old).for_each(push);
    all
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;
    use crate::tables::ranges::Ranges;

    proptest! {
        #[test]
        fn bytes_are_those_of_sets(
            reads in prop::collection::vec(
                prop::collection::vec((0i64..60, 1i64..20), 0..6), 0..6),
        ) {
            let mut parts = Vec::new();
            let mut slow: BTreeMap<u32, BTreeSet<i64>> = BTreeMap::new();
            for (process, ranges) in (0..).zip(&reads) {
                let mut set = Ranges::default();
                for &(start, length) in ranges {
                    set.insert(start, start + length);
                    slow.entry(process).or_default().extend(start..start + length);
                }
                parts.push((process, FilePart { file: 5, path: None, ranges: set.merged().into() }));
            }
            let mut reading = SharedReads::default();
            for (process, part) in &parts {
                reading.add(*process, part);
            }
            let sum: usize = slow.values().map(BTreeSet::len).sum();
            let union: BTreeSet<i64> = slow.values().flatten().copied().collect();
            prop_assert_eq!(reading.again(), (sum - union.len()) as i64);
            for (process, bytes) in &slow {
                let others: BTreeSet<i64> = slow
                    .iter()
                    .filter(|(other, _)| *other != process)
                    .flat_map(|(_, bytes)| bytes.iter().copied())
                    .collect();
                let shared = bytes.intersection(&others).count() as i64;
                prop_assert_eq!(reading.shared(*process), shared);
            }
        }
    }
}
