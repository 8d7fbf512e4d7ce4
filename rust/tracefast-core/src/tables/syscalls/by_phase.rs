//! Which rows of the index are about which phase.

use crate::hash::HashMap;
use crate::tables::phases::open::In;
use crate::tables::phases::rows::PhasesOfRows;

/// The phases of calls, and the rows of the index that they have, by source.
#[derive(Debug, Clone, Default)]
pub(crate) struct ByPhase {
    pub(crate) phases: PhasesOfRows,
    rows: HashMap<(u32, In), u32>,
    last: Option<((u32, In), u32)>,
    free: Vec<u32>,
}

impl ByPhase {
    /// The row of a phase; the next free one at its first call.
    #[inline]
    pub(crate) fn row(&mut self, source: u32, phase: In) -> u32 {
        let key = (source, phase);
        if let Some((last, row)) = self.last
            && last == key
        {
            return row;
        }
        let next = (self.rows.len() + self.free.len()) as u32;
        let row = *self.rows.entry(key).or_insert_with(|| self.free.pop().unwrap_or(next));
        self.last = Some((key, row));
        row
    }

    /// The log shows who made a process: the rows of its calls so far, and of the phase that they
    /// belong to.
    pub(crate) fn born(&mut self, source: u32, (process, phase): (u32, In)) -> Option<(u32, u32)> {
        let from = self.rows.remove(&(source, In::Unknown(process)))?;
        self.last = None;
        // If the phase has no row yet, it takes this one.
        self.free.push(from);
        Some((from, self.row(source, phase)))
    }

    /// All rows, and the phases that they are about.
    pub(crate) fn all(&self) -> impl Iterator<Item = ((u32, In), u32)> + '_ {
        self.rows.iter().map(|(&key, &row)| (key, row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_children_become_those_of_phases() {
        let mut rows = ByPhase::default();
        let load = rows.row(0, In::Phase(0));
        let child = rows.row(0, In::Unknown(5));
        assert_eq!(rows.born(0, (9, In::Phase(0))), None);
        assert_eq!(rows.born(0, (5, In::Phase(0))), Some((child, load)));
        // A free row is used again.
        assert_eq!(rows.row(0, In::Unknown(6)), child);
        // The phase has no row yet, and takes that of the child.
        assert_eq!(rows.born(0, (6, In::Phase(1))), Some((child, child)));
        assert_eq!(rows.row(0, In::Phase(1)), child);
        assert_eq!(rows.row(1, In::Phase(1)), 2);
        assert_eq!(rows.all().count(), 3);
    }
}
