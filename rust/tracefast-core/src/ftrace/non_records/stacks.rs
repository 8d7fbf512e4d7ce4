//! Stacks (the option `stacktrace`), which belong to the record before them of the same processor
//! and task.
//!
//! Records of other processors may come between them, and a block may end there. Which stacks are
//! joined must not depend on the size of blocks: in a log with stacks one record in [`SEAMS`],
//! chosen by its own bytes, separates what is before it from what is after it, and blocks start
//! only there.

use crate::hash::HashMap;

use crate::ftrace::header::Header;

/// One record in so many separates stacks.
const SEAMS: u32 = 128;

/// What a stack may belong to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StackOwner {
    /// A row.
    Row(usize),
    /// A call that is open, by its position.
    Call(u32),
}

/// A record that stacks may follow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastRecord {
    tid: Option<i32>,
    /// What its stacks belong to.
    pub(crate) owner: StackOwner,
    /// Its stack in the kernel, and that of the program, have come: it has at most one of each.
    stacks: [bool; 2],
}

impl LastRecord {
    fn new(tid: Option<i32>, owner: StackOwner) -> Self {
        Self { tid, owner, stacks: [false; 2] }
    }
}

/// The last record of each processor.
#[derive(Debug, Default)]
pub(crate) struct LastRecords {
    cpus: HashMap<u16, LastRecord>,
}

impl LastRecords {
    /// No record before here has a stack after here.
    pub(crate) fn clear(&mut self) {
        self.cpus.clear();
    }

    /// A record that a stack may follow.
    pub(crate) fn record(&mut self, header: &Header, target: StackOwner) {
        if let Some(cpu) = header.cpu {
            self.cpus.insert(cpu, LastRecord::new(header.pid, target));
        }
    }

    /// A line of `function_graph` on a processor: no stack belongs to a record before it, but
    /// perhaps to the event that it shows, in `row`; the line does not always name the event's
    /// task.
    pub(crate) fn line(&mut self, cpu: Option<u16>, tid: Option<i32>, row: Option<usize>) {
        match (cpu, row) {
            (Some(cpu), Some(row)) => {
                self.cpus.insert(cpu, LastRecord::new(tid, StackOwner::Row(row)));
            }
            (Some(cpu), None) => {
                self.cpus.remove(&cpu);
            }
            (None, _) => self.clear(),
        }
    }

    /// Takes the record that a stack belongs to; `user`: it is the stack of the program. `None` if
    /// that record is not in the log.
    pub(crate) fn take(&mut self, header: &Header, user: bool) -> Option<LastRecord> {
        let mut record = self.cpus.remove(&header.cpu?)?;
        let same = record.tid.is_none() || record.tid == header.pid;
        let first = !std::mem::replace(&mut record.stacks[usize::from(user)], true);
        (same && first).then_some(record)
    }

    /// Puts it back, for the record's other stack; the row of the stack itself has none.
    pub(crate) fn put_back(&mut self, header: &Header, record: Option<LastRecord>) {
        let Some(cpu) = header.cpu else { return };
        match record {
            Some(record) => drop(self.cpus.insert(cpu, record)),
            None => drop(self.cpus.remove(&cpu)),
        }
    }
}

/// The record separates what is before it from what is after it.
pub(crate) fn is_seam(line: &[u8]) -> bool {
    // The end of the columns differs most from record to record; FNV-1a mixes it well enough.
    let hash = line
        .iter()
        .take(64)
        .fold(0x811c_9dc5_u32, |hash, &b| (hash ^ u32::from(b)).wrapping_mul(0x0100_0193));
    (hash ^ hash >> 16) % SEAMS == 0
        && memchr::memmem::find(&line[..line.len().min(256)], b"stack").is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seams_are_neither_rare_nor_common() {
        let record = |i: u32| format!("            bash-7       [001] .....  2924.{i:06}: x: y");
        let seams = (0..100_000).filter(|&i| is_seam(record(i).as_bytes())).count();
        assert!((600..1000).contains(&seams), "{seams} of 100,000");
        let stack =
            |i: u32| format!("            bash-7       [001] .....  2924.{i:06}: <stack trace>");
        assert!(!(0..100_000).any(|i| is_seam(stack(i).as_bytes())));
    }
}
