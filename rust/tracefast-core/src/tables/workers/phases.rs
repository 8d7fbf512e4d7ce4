//! The phases that makers mark, as borders of what their workers do.

use crate::hash::HashMap;
use crate::tables::names::Names;
use crate::tables::phases::fold::{MarkColumns, Watched};
use crate::tables::process_tracking::tracker::{TaskColumns, TaskRow};
use crate::tables::process_tracking::word_classes::RowKind;
use crate::tables::workers::fold::Workers;

/// The phases so far.
#[derive(Debug, Default)]
pub(crate) struct Phases {
    watched: Watched,
    /// Names without their numbers: each epoch may have its own.
    names: Names,
    /// By process and name, phases that have begun.
    begun: HashMap<(u32, u32), u64>,
    /// Phases that have been taken in.
    seen: usize,
}

impl Workers {
    /// A row may be a mark, which begins a phase: of a process, and of those that it made.
    #[inline]
    pub(crate) fn phases_begin(
        &mut self,
        (tasks, marks): (&mut TaskColumns<'_>, &mut MarkColumns<'_>),
        row: usize,
        found: TaskRow,
    ) {
        // The path of a mark does not exist, so a call that succeeds is not a mark.
        if found.kind == RowKind::Call && tasks.ret.get(row).is_some_and(|ret| ret >= 0) {
            return;
        }
        let owner = self.owner(found.task);
        self.phases.watched.row((tasks, marks), row, found, (owner, &self.tracker));
        while let Some(phase) = self.phases.watched.open.phases.get(self.phases.seen) {
            self.phases.seen += 1;
            let owner = phase.owner;
            let name = self.phases.watched.open.name(phase.name).unwrap_or_default();
            let name: String = name.chars().filter(|one| !one.is_ascii_digit()).collect();
            let name = self.phases.names.number(&name);
            let begun = self.phases.begun.entry((owner, name)).or_default();
            let first = *begun == 0;
            *begun += 1;
            self.phase_begins(owner, name, first);
        }
    }

    fn phase_begins(&mut self, owner: u32, name: u32, first: bool) {
        let mut met: HashMap<u32, ()> = HashMap::default();
        let mut family = vec![owner];
        while let Some(task) = family.pop() {
            if met.insert(task, ()).is_some() {
                continue;
            }
            if let Some(Some(life)) = self.lives.get_mut(task as usize) {
                life.phase_begins(name, first);
            }
            family.extend(self.children.get(&task).into_iter().flatten());
        }
    }
}
