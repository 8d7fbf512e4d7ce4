//! How the memory of a process grew: what it had when it started, and the most that it had.

use crate::tables::memory::row::{From, Row};
use crate::tables::packed::Packed;
use crate::tables::workers::fold::{CallColumns, Workers};

/// The anonymous memory of a process; nothing before the log shows any.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Growth {
    pub(crate) from: Option<From>,
    start: Packed<i64>,
    pub(crate) now: Packed<i64>,
    pub(crate) peak: Packed<i64>,
    /// Faults of its tasks on writes to pages that are present, but protected.
    pub(crate) write_faults: u64,
    /// What each phase of its maker added, and each job; and how many there were.
    pub(crate) per_phase: Option<(i64, u64)>,
    pub(crate) per_job: Option<(i64, u64)>,
}

impl Growth {
    /// A program that it starts has nothing of what was there before.
    pub(crate) fn of_program() -> Self {
        Self { start: 0.into(), ..Self::default() }
    }

    /// It has another amount.
    pub(crate) fn shows(&mut self, row: &Row) {
        match (self.from, row.from) {
            // The kernel's own count is better than what is mapped.
            (Some(From::RssStat), From::Mappings) => return,
            (Some(From::Mappings), From::RssStat) => (self.start, self.peak) = Default::default(),
            _ => {}
        }
        self.from = Some(row.from);
        let anon = row.resident.anon;
        self.start.set_first(anon);
        self.now.set(anon);
        self.peak.raise(anon);
    }

    /// What came once: all but what came again and again.
    pub(crate) fn once(&self) -> Option<i64> {
        let (_, start, peak) = self.known()?;
        let (each, times) = self.per_phase.or(self.per_job)?;
        let again = each.saturating_mul(i64::try_from(times).unwrap_or(i64::MAX));
        Some(peak.saturating_sub(start).saturating_sub(again).max(0))
    }

    /// Whence the numbers are, what it had when it started, and the most that it had.
    pub(crate) fn known(&self) -> Option<(From, i64, i64)> {
        Some((self.from?, self.start.get()?, self.peak.get()?))
    }
}

impl Workers {
    /// A row changed the memory of processes.
    pub(crate) fn grows(&mut self, columns: &mut CallColumns<'_>, row: usize) {
        let source = self.tracker.source(&mut columns.0, row);
        for at in 0..self.memory.rows.len() {
            let Some(&change) = self.memory.rows.get(at) else { break };
            let number = self.tracker.number(source, change.task);
            let owner = self.owner(number);
            if let Some(Some(life)) = self.lives.get_mut(owner as usize) {
                life.shows(&change);
            }
        }
        self.memory.rows.clear();
    }

    /// A process had a page fault.
    pub(crate) fn faults(&mut self, source: u32, owner: u32, args: &str) {
        self.log_mut(source).faults = true;
        if let Some(Some(life)) = self.lives.get_mut(owner as usize)
            && is_write_to_protected(args)
        {
            life.growth.write_faults += 1;
        }
    }
}

/// Whether a page fault is a write to a page that is there, but may not be written to: bits 0 and 1
/// of the error code (`enum x86_pf_error_code` in `arch/x86/include/asm/trap_pf.h`).
pub(crate) fn is_write_to_protected(args: &str) -> bool {
    let code = args.split_ascii_whitespace().find_map(|word| word.strip_prefix("error_code="));
    code.is_some_and(|code| crate::text::number::c_integer(code.as_bytes()).0 & 3 == 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::address_space::Resident;

    fn row(anon: i64, from: From) -> Row {
        let resident = Resident { anon, ..Resident::default() };
        let (ts, pid, image) = (Packed::default(), Packed::default(), Packed::default());
        Row { source: 0, ts, task: 1, pid, image, resident, from }
    }

    #[test]
    fn a_fork_starts_with_what_it_has_of_its_maker() {
        let mut growth = Growth::default();
        for anon in [500, 700, 600, 0] {
            growth.shows(&row(anon, From::Mappings));
        }
        assert_eq!(growth.known(), Some((From::Mappings, 500, 700)));
        let mut growth = Growth::of_program();
        assert_eq!(growth.known(), None);
        growth.shows(&row(8, From::RssStat));
        assert_eq!(growth.known(), Some((From::RssStat, 0, 8)));
    }

    #[test]
    fn what_the_kernel_counted_is_preferred() {
        let mut growth = Growth::default();
        growth.shows(&row(900, From::Mappings));
        growth.shows(&row(100, From::RssStat));
        growth.shows(&row(950, From::Mappings));
        growth.shows(&row(150, From::RssStat));
        assert_eq!(growth.known(), Some((From::RssStat, 100, 150)));
    }

    #[test]
    fn writes_to_protected_pages() {
        let fault =
            |code| is_write_to_protected(&format!("address=0x7f ip=0x55 error_code={code}"));
        assert_eq!(
            ["0x7", "0x3", "0x6", "0x5", "0x4", "0x15"].map(fault),
            [true, true, false, false, false, false]
        );
    }
}
