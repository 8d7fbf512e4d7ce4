//! How kernels print the events that are known.
//!
//! Each event has the forms of all kernels and tools: the text of tracefs first, then what older
//! kernels print, what trace-cmd's plugins make of it, and the fields as they are (`trace-cmd
//! report -R`, the option `fields`). Fields are named as the text names them; where it does not,
//! as the kernel's format file does.

mod block;
mod ext4;
mod filemap;
mod irq;
mod jbd2;
mod memory;
mod power;
mod sched;
mod timer;
mod tracers;
mod writeback;

/// Events that are printed alike.
pub(crate) struct Event {
    /// Their names.
    pub names: &'static [&'static str],
    /// What their text looks like: see `form`.
    pub forms: &'static [&'static str],
}

/// All events, by subsystem.
const GROUPS: [&[Event]; 11] = [
    sched::EVENTS,
    block::EVENTS,
    filemap::EVENTS,
    ext4::EVENTS,
    jbd2::EVENTS,
    writeback::EVENTS,
    memory::EVENTS,
    irq::EVENTS,
    timer::EVENTS,
    power::EVENTS,
    tracers::EVENTS,
];

/// The event of that name.
pub(crate) fn find(name: &str) -> Option<&'static Event> {
    GROUPS.iter().copied().flatten().find(|event| event.names.contains(&name))
}

/// The names of all events.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().copied().flatten().flat_map(|event| event.names).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftrace::decode::form::Form;

    #[test]
    fn every_form_is_well_formed() {
        for event in GROUPS.iter().copied().flatten() {
            let mut columns = Vec::new();
            for form in event.forms {
                assert!(Form::new(form, &mut columns).is_some(), "{:?}: {form}", event.names);
            }
            assert!(!event.names.is_empty() && !event.forms.is_empty());
        }
    }

    #[test]
    fn every_event_stands_once() {
        let mut all: Vec<_> = names().collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
