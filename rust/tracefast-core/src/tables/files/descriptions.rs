//! Open file descriptions: the streams of accesses that each carries.

use crate::hash::HashMap;
use crate::tables::files::row::{FileUse, READ};
use crate::tables::files::shared_bytes::ProcessRanges;
use crate::tables::files::word_classes::Known;
use crate::tables::values::Values;

/// A description whose position in the file was not known when it was first seen; rare.
#[derive(Debug, Clone, Default)]
pub(crate) struct Relative {
    /// Its position was found later: an offset said to be relative is so because of the other side.
    pub(crate) proved: bool,
    /// Accesses that wait for the position.
    pub(crate) waiting: Waiting,
}

/// Accesses whose position is known only relative to the first access of their description, by row
/// of the table and by direction.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waiting {
    parts: HashMap<(u32, u8), WaitingAccesses>,
}

impl Waiting {
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub(crate) fn part(&mut self, file_use: u32, direction: usize) -> &mut WaitingAccesses {
        self.parts.entry((file_use, direction as u8)).or_default()
    }

    /// Some rows turned out to be about the same.
    pub(crate) fn join(&mut self, same: impl Fn(u32) -> u32) {
        for ((file_use, direction), mut part) in std::mem::take(&mut self.parts) {
            let whole = self.part(same(file_use), direction.into());
            part.ranges.move_to(&mut whole.ranges, 0);
            whole.highest = whole.highest.max(part.highest);
            whole.backward.absorb(part.backward);
            whole.assumed |= part.assumed;
        }
    }
}

/// The waiting accesses of one row, in one direction.
#[derive(Debug, Clone, Default)]
pub(crate) struct WaitingAccesses {
    pub(crate) ranges: ProcessRanges,
    /// The furthest end.
    pub(crate) highest: Option<i64>,
    /// Where backward accesses start.
    pub(crate) backward: Values,
    /// Calls that were not traced may have moved the position.
    pub(crate) assumed: bool,
}

impl Relative {
    /// Resolves the waiting accesses, now that the first access is known to have been at `base`.
    pub(crate) fn prove(&mut self, ofd: u32, base: i64, file_uses: &mut [FileUse]) {
        self.proved = true;
        for ((file_use, direction), mut part) in std::mem::take(&mut self.waiting.parts) {
            let Some(file_use) = file_uses.get_mut(file_use as usize) else { continue };
            let direction = usize::from(direction);
            if let (READ, Some(highest)) = (direction, part.highest) {
                file_use.prove_size(highest.saturating_add(base));
            }
            // Backward accesses that turn out to start at the start of the file.
            let back = base.checked_neg().map_or(0, |zero| part.backward.count_of(zero));
            let direction = file_use.direction(direction);
            direction.rewinds += back;
            direction.prove(ofd, base);
            part.ranges.move_to(&mut direction.ranges, base);
            file_use.know(if part.assumed { Known::Assumed } else { Known::Exact });
        }
    }

    /// Counts what still waits at the end of the log on its own.
    pub(crate) fn finish(self, file_uses: &mut [FileUse]) {
        for ((file_use, direction), mut part) in self.waiting.parts {
            let Some(file_use) = file_uses.get_mut(file_use as usize) else { continue };
            file_use.know(if part.assumed { Known::AssumedRelative } else { Known::Relative });
            let (union, shared) = part.ranges.lengths();
            let direction = file_use.direction(usize::from(direction));
            let apart = direction.apart.get_or_insert_default();
            **apart = (apart.0.saturating_add(union), apart.1.saturating_add(shared));
        }
    }
}
