//! The kernel's own count of resident pages, from the event `rss_stat`.
//!
//! An event names the address space by a number, and says whether it is that of the current task.
//! Others act on it, too: the parent that copies its memory into a child (`dup_mmap` in
//! kernel/fork.c), a process that reclaims pages, the last task that gives it up.

use crate::hash::HashMap;
use crate::kernel::address_space::Resident;
use crate::linux::rss_stat::{Pages, RssStat};
use crate::tables::memory::live::{Key, Live};

/// An address space.
#[derive(Debug, Default)]
struct Mm {
    resident: Resident,
    /// The process that it belongs to, once a task of it has shown that.
    owner: Option<Key>,
}

/// All address spaces, by source and number.
#[derive(Debug, Default)]
pub(crate) struct Mms(HashMap<(u32, u32), Mm>);

impl Mms {
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes in an event in a row of the process `current`, and returns the process whose memory
    /// changed, if that is known, and what it has now.
    pub(crate) fn changed(
        &mut self,
        live: &mut Live,
        source: u32,
        current: Option<Key>,
        stat: RssStat,
    ) -> Option<(Key, Resident)> {
        let Some(number) = stat.space else {
            let process = live.get(current?)?;
            let mut resident = process.shown;
            count(&mut resident, stat);
            return Some((current?, resident));
        };
        let mm = self.0.entry((source, number)).or_default();
        count(&mut mm.resident, stat);
        // It is no longer the owner's if that has started another program.
        let owner = mm.owner.filter(|&owner| {
            live.get(owner).is_some_and(|process| process.mm.get() == Some(number))
        });
        let ended = owner.and_then(|owner| live.get(owner)).is_some_and(|process| process.ended);
        if stat.own
            && let Some(current) = current
            && (owner.is_none() || ended)
            && let Some(process) = live.get(current)
        {
            process.mm.set(number);
            mm.owner = Some(current);
        } else {
            mm.owner = owner;
        }
        let (owner, resident) = (mm.owner, mm.resident);
        // The last pages of an address space are given back when nobody uses it.
        if !stat.own && resident == Resident::default() {
            self.0.remove(&(source, number));
        }
        Some((owner?, resident))
    }
}

fn count(resident: &mut Resident, stat: RssStat) {
    match stat.pages {
        Pages::Anonymous => resident.anon = stat.bytes,
        Pages::File => resident.file = stat.bytes,
        Pages::Shared => resident.shared = stat.bytes,
        Pages::Swap => {}
    }
}
