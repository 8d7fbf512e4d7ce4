//! Rows of the table by phase: those of processes whose maker the log does not show yet, and what
//! becomes of them. A run of consecutive accesses that goes on in such a process is counted as two.

use crate::hash::HashMap;
use crate::tables::files::fold::Files;
use crate::tables::files::row::{FileUse, Key};
use crate::tables::packed::Packed;
use crate::tables::phases::open::In;
use crate::tables::phases::rows::{PhaseRow, PhasesOfRows};

/// The phases of calls, and what is known of rows by phase.
#[derive(Debug, Clone, Default)]
pub(crate) struct ByPhase {
    pub(crate) phases: PhasesOfRows,
    /// The phase of the call that is counted.
    pub(crate) now: In,
    /// The rows of the table of processes whose maker the log does not show yet.
    unborn: HashMap<u32, Vec<u32>>,
    /// Rows that are about the same as another one, and which one that is.
    joined: HashMap<u32, u32>,
    /// Rows that nothing is in.
    pub(crate) free: Vec<u32>,
}

/// The phase as a part of the key: negative numbers are processes whose phase is not known yet.
pub(crate) fn part_of(phase: In) -> Packed<i64> {
    match phase {
        In::None => Packed::default(),
        In::Phase(name) => i64::from(name).into(),
        In::Unknown(process) => (!i64::from(process)).into(),
    }
}

/// The phase that [`part_of`] made a part of.
pub(crate) fn phase_of(part: Packed<i64>) -> In {
    match part.get() {
        None => In::None,
        Some(part @ 0..) => In::Phase(part as u32),
        Some(part) => In::Unknown(!part as u32),
    }
}

impl ByPhase {
    /// Notes a new row of the table.
    #[inline]
    pub(crate) fn added(&mut self, key: Key, number: u32) {
        if let In::Unknown(process) = phase_of(key.part) {
            self.unborn.entry(process).or_default().push(number);
        }
    }
}

impl Files {
    /// Takes in what a row says of phases. Returns whether the table counts it.
    #[inline]
    pub(crate) fn in_phase(&mut self, row: PhaseRow) -> bool {
        if let Some((process, phase)) = row.born
            && let Some(numbers) = self.by_phase.unborn.remove(&process)
        {
            self.born(numbers, phase);
        }
        self.by_phase.now = row.phase;
        row.counted
    }

    /// The log shows in which phase a process was made: its rows so far are about that phase.
    #[cold]
    fn born(&mut self, numbers: Vec<u32>, phase: In) {
        for number in numbers {
            let Some(file_use) = self.file_uses.get(number as usize) else { continue };
            let key = Key { part: part_of(phase), ..file_use.key };
            self.by_phase.joined.remove(&number);
            if let Some(same) = self.change_key(number, key) {
                if self.file_uses.get(number as usize).is_some_and(FileUse::is_idle) {
                    self.absorb(same, number);
                    continue;
                }
                // Chains of accesses, and those that wait for a position, know it by its number.
                self.by_phase.joined.insert(number, same);
            }
            self.by_phase.added(key, number);
        }
    }

    /// Adds a row to another one, and leaves nothing in it.
    fn absorb(&mut self, same: u32, number: u32) {
        let Some(file_use) = self.file_uses.get_mut(number as usize) else { return };
        let empty = FileUse::new(file_use.key, None);
        let mut other = std::mem::replace(file_use, empty);
        if let Some(file_use) = self.file_uses.get_mut(same as usize) {
            file_use.absorb(&mut other);
        }
        self.by_phase.free.push(number);
    }

    /// All rows are in: gives all of them their phases.
    pub(crate) fn settle_phases(&mut self) {
        let mut unborn: Vec<_> = std::mem::take(&mut self.by_phase.unborn).into_iter().collect();
        // What the first process shows comes first.
        unborn.sort_unstable();
        for (process, numbers) in unborn {
            let phase = self.by_phase.phases.settled(In::Unknown(process));
            self.born(numbers, phase.map_or(In::None, In::Phase));
        }
        let joined = &self.by_phase.joined;
        if !joined.is_empty() {
            for relative in self.relative.values_mut() {
                relative.waiting.join(|row| joined.get(&row).copied().unwrap_or(row));
            }
        }
    }

    /// Makes one of rows that are about the same, once nothing knows them by their numbers.
    pub(crate) fn join_phases(&mut self) {
        for (number, same) in std::mem::take(&mut self.by_phase.joined) {
            self.absorb(same, number);
        }
        let mut gone = std::mem::take(&mut self.by_phase.free);
        gone.sort_unstable();
        let mut gone = gone.into_iter().peekable();
        let mut number = 0;
        self.file_uses.retain(|_| {
            number += 1;
            gone.next_if_eq(&(number - 1)).is_none()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::files::row::What;
    use crate::tables::files::{By, Options};

    const LOAD: In = In::Phase(0);

    fn files() -> Files {
        Files::new(Options { by: By::Phase, ..Options::default() })
    }

    /// Opens a file in a phase. Returns its row.
    fn open(files: &mut Files, phase: In, file: u64) -> u32 {
        let key = Key { source: 0, part: part_of(phase), what: What::File(file) };
        let number = files.find(key, Some(file), None);
        files.file_uses[number as usize].opens += 1;
        number
    }

    fn made(files: &mut Files, process: u32, phase: In) {
        assert!(files.in_phase(PhaseRow { phase, counted: true, born: Some((process, phase)) }));
    }

    #[test]
    fn a_part_of_the_key_is_a_phase() {
        for phase in [In::None, LOAD, In::Phase(7), In::Unknown(0), In::Unknown(u32::MAX)] {
            assert_eq!(phase_of(part_of(phase)), phase);
        }
    }

    #[test]
    fn what_a_child_did_before_its_maker_is_known_is_of_its_phase() {
        let mut files = files();
        let (first, early) = (open(&mut files, LOAD, 1), open(&mut files, In::Unknown(5), 1));
        let own = open(&mut files, In::Unknown(5), 2);
        made(&mut files, 5, LOAD);
        assert_eq!(open(&mut files, LOAD, 1), first);
        assert_eq!(files.file_uses[first as usize].opens, 3);
        // The phase had no row for this file.
        assert_eq!(open(&mut files, LOAD, 2), own);
        assert_eq!(files.file_uses[own as usize].opens, 2);
        // What is empty is used again: the table takes no more memory with each child.
        assert_eq!(open(&mut files, In::Unknown(6), 1), early);
        files.settle_phases();
        files.join_phases();
        assert_eq!(files.file_uses.len(), 3);
    }

    #[test]
    fn a_row_that_moved_data_keeps_its_number_to_the_end() {
        let mut files = files();
        let first = open(&mut files, LOAD, 1);
        let early = open(&mut files, In::Unknown(5), 1);
        files.file_uses[early as usize].direction(0).done += 1;
        // Its maker is a child, too, whose maker is not known yet.
        made(&mut files, 5, In::Unknown(4));
        made(&mut files, 4, LOAD);
        assert_eq!(files.by_phase.joined.get(&early), Some(&first));
        files.settle_phases();
        files.join_phases();
        assert_eq!(files.file_uses.len(), 1);
        assert_eq!(files.file_uses[0].opens, 2);
        assert_eq!(files.file_uses[0].direction(0).done.get(), 1);
    }
}
