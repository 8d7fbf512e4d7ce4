//! Address spaces: which tasks share memory, what they map together, which futexes they used.

use crate::hash::HashMap;
use crate::tables::waits::world::signals::Handled;

/// Futexes of one address space that are remembered.
const MOST_FUTEXES: usize = 4096;

/// A range of memory that other processes may share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SharedRange {
    start: u64,
    end: u64,
    /// What is mapped: the file, or the line of the call if it has none.
    pub(crate) object: u64,
    /// Where in it the range starts.
    offset: u64,
}

/// From which address space a fork made this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Twin {
    pub(crate) space: u32,
    /// The task that forked, and the line of the call.
    pub(crate) task: u32,
    pub(crate) line: u64,
    /// Another thread of the caller's at that moment.
    pub(crate) thread: Option<u32>,
}

/// A task that used a futex, and the line of its first call.
pub(crate) type Use = (u32, u64);

/// An address space.
#[derive(Debug, Clone, Default)]
pub(crate) struct Space {
    pub(crate) tasks: Vec<u32>,
    /// The log shows where it comes from: its program was started in the log, or its creator's was.
    pub(crate) known: bool,
    pub(crate) twin: Option<Twin>,
    shared: Vec<SharedRange>,
    /// By address, the first two tasks that used it.
    futexes: HashMap<u64, [Option<Use>; 2]>,
    /// A ring submits for it, or a timer runs that ends in any signal: somebody else may act.
    pub(crate) unsure: bool,
    /// A timer runs that ends in a signal of its own.
    pub(crate) alarm: bool,
    /// The signals that it handles.
    pub(crate) handled: Handled,
    /// When a task of the log last sent it a signal that it handles.
    pub(crate) told: Option<i64>,
    /// When a signal last killed one of its tasks.
    pub(crate) killed: Option<i64>,
}

/// What a futex is, whoever looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum FutexKey {
    /// An address in an address space.
    Private(u32, u64),
    /// A place in what is mapped.
    Shared(u64, u64),
}

impl Space {
    /// Of one task.
    pub(crate) fn new(task: u32, known: bool) -> Self {
        Self { tasks: vec![task], known, ..Self::default() }
    }

    pub(crate) fn map(&mut self, start: u64, length: u64, object: u64, offset: u64) {
        self.unmap(start, length);
        let end = start.saturating_add(length);
        self.shared.push(SharedRange { start, end, object, offset });
    }

    pub(crate) fn unmap(&mut self, start: u64, length: u64) {
        let end = start.saturating_add(length);
        if !self.shared.iter().any(|range| start < range.end && range.start < end) {
            return;
        }
        let mut left = Vec::new();
        for range in self.shared.drain(..) {
            if range.end <= start || end <= range.start {
                left.push(range);
                continue;
            }
            if range.start < start {
                left.push(SharedRange { end: start, ..range });
            }
            if end < range.end {
                let offset = range.offset + (end - range.start);
                left.push(SharedRange { start: end, offset, ..range });
            }
        }
        self.shared = left;
    }

    /// The place that an address leads to, if it is shared.
    pub(crate) fn place(&self, address: u64) -> Option<(u64, u64)> {
        let range = self.shared.iter().find(|one| (one.start..one.end).contains(&address))?;
        Some((range.object, range.offset + (address - range.start)))
    }

    /// What is mapped together with others.
    pub(crate) fn objects(&self) -> impl Iterator<Item = u64> {
        self.shared.iter().map(|range| range.object)
    }

    /// Whether a place is mapped.
    pub(crate) fn maps(&self, (object, offset): (u64, u64)) -> bool {
        self.shared.iter().any(|one| {
            let end = one.offset.saturating_add(one.end - one.start);
            one.object == object && (one.offset..end).contains(&offset)
        })
    }

    /// Notes that a task used a futex.
    pub(crate) fn used(&mut self, address: u64, task: u32, line: u64) {
        if self.futexes.len() >= MOST_FUTEXES && !self.futexes.contains_key(&address) {
            self.futexes.clear();
        }
        let [first, second] = self.futexes.entry(address).or_default();
        match (first.as_ref(), second.as_ref()) {
            (None, _) => *first = Some((task, line)),
            (Some(&(one, _)), None) if one != task => *second = Some((task, line)),
            _ => {}
        }
    }

    /// Another task that used a futex before a line.
    pub(crate) fn other_user(&self, address: u64, task: u32, before: u64) -> Option<Use> {
        let uses = self.futexes.get(&address)?.iter().flatten();
        uses.copied().find(|&(user, line)| user != task && line < before)
    }

    /// Whether something may act for it that the log does not show when it happens.
    pub(crate) fn may_be_helped(&self) -> bool {
        // Without a handler, the signal of a timer ends the process.
        self.unsure || self.alarm && self.handled.alarms()
    }

    /// What a fork copies.
    pub(crate) fn copied(&self, task: u32, twin: Twin) -> Self {
        Self {
            tasks: vec![task],
            known: self.known,
            twin: Some(twin),
            shared: self.shared.clone(),
            futexes: HashMap::default(),
            unsure: false,
            // A child has the handlers, and not the timers: fork(2).
            alarm: false,
            handled: self.handled,
            told: None,
            killed: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_ranges() {
        let mut space = Space::default();
        space.map(0x1000, 0x3000, 7, 0x100);
        assert_eq!(space.place(0x1010), Some((7, 0x110)));
        assert_eq!(space.place(0x4000), None);
        space.unmap(0x2000, 0x1000);
        assert_eq!(space.place(0x2000), None);
        assert_eq!(space.place(0x3004), Some((7, 0x2104)));
        assert!(space.maps((7, 0x110)) && !space.maps((7, 0x1100)) && !space.maps((8, 0x110)));
        space.map(0x1000, 0x1000, 9, 0);
        assert_eq!(space.place(0x1010), Some((9, 0x10)));
    }

    #[test]
    fn users_of_futexes() {
        let mut space = Space::default();
        space.used(5, 1, 10);
        space.used(5, 1, 11);
        space.used(5, 2, 12);
        assert_eq!(space.other_user(5, 1, 20), Some((2, 12)));
        assert_eq!(space.other_user(5, 2, 20), Some((1, 10)));
        assert_eq!(space.other_user(5, 2, 10), None);
        assert_eq!(space.other_user(6, 2, 20), None);
    }
}
