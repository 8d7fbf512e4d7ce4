//! The phases that are open in each process, and those that were.

use crate::hash::HashMap;
use crate::tables::names::Names;
use crate::tables::packed::Packed;
use crate::tables::phases::mark::Mark;
use crate::tables::process_tracking::tracker::Tracker;

/// How far the makers of a process are asked for their phase: no real log has as many in a line.
const MOST_MAKERS: usize = 64;

/// A phase.
#[derive(Debug, Clone)]
pub(crate) struct Phase {
    /// The number of its name.
    pub(crate) name: u32,
    /// The first task of its process.
    pub(crate) owner: u32,
    pub(crate) start: Packed<i64>,
    pub(crate) end: Packed<i64>,
    /// It is over.
    pub(crate) ended: bool,
    /// It began within another one.
    within: bool,
    pub(crate) calls: u64,
}

/// The phase of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Now {
    /// None was open in it or its makers.
    None,
    /// The number of the phase.
    Phase(u32),
    /// None was open in it, and the log does not show yet who made this one: the process itself, or
    /// the first of its makers.
    Unknown(u32),
}

/// The phase of a row, for tables in which phases of one name are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum In {
    #[default]
    None,
    /// The number of its name.
    Phase(u32),
    /// That of the maker of this process, which the log does not show yet.
    Unknown(u32),
}

/// The phases of one process.
#[derive(Debug, Clone, Default)]
struct Own {
    /// Those that are open, the innermost last.
    open: Vec<u32>,
    /// The innermost one from each time on, in order: a call that returns after a mark may have begun
    /// before it.
    from: Vec<(i64, Packed<u32>)>,
}

impl Own {
    /// Notes which phase is the innermost one from `ts` on.
    fn note(&mut self, ts: Option<i64>) {
        let innermost = self.open.last().copied().into();
        match self.from.last_mut() {
            // A clock may be set back, but marks follow each other.
            Some((last, at)) if ts.is_none_or(|ts| ts <= *last) => *at = innermost,
            _ => self.from.push((ts.unwrap_or(i64::MIN), innermost)),
        }
    }

    /// When the innermost phase last changed.
    fn changed(&self) -> i64 {
        self.from.last().map_or(i64::MIN, |&(ts, _)| ts)
    }

    /// The innermost phase at a time.
    fn at(&self, ts: Option<i64>) -> Option<u32> {
        match ts {
            Some(ts) if ts < self.changed() => {
                let after = self.from.partition_point(|&(from, _)| from <= ts);
                self.from.get(after.checked_sub(1)?)?.1.get()
            }
            _ => self.open.last().copied(),
        }
    }
}

/// All phases so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Open {
    names: Names,
    pub(crate) phases: Vec<Phase>,
    /// By the first task of a process that marked something.
    own: HashMap<u32, Own>,
    /// By process, the text of a mark that a call made, which may come again as a marker.
    echoes: HashMap<u32, Box<str>>,
    /// The last answer, until something changes: for which process, and for calls that began when.
    last: Option<(u32, i64, Now)>,
}

impl Open {
    /// A task of the process `owner` looked up a path, at `ts`. Returns whether that is a mark.
    pub(crate) fn call(&mut self, owner: u32, path: &str, ts: Option<i64>) -> bool {
        let Some(mark) = Mark::parse(path) else { return false };
        self.mark(owner, mark, ts);
        self.echoes.insert(owner, path.into());
        true
    }

    /// A task of the process `owner` wrote to `trace_marker`. A program that does both, for both
    /// tracers, means one mark.
    pub(crate) fn marker(&mut self, owner: u32, text: &str, ts: Option<i64>) {
        let text = text.trim_end();
        let Some(mark) = Mark::parse(text) else { return };
        if self.echoes.remove(&owner).is_some_and(|path| *path == *text) {
            return;
        }
        self.mark(owner, mark, ts);
    }

    fn mark(&mut self, owner: u32, mark: Mark<'_>, ts: Option<i64>) {
        self.last = None;
        match mark {
            Mark::Next(name) => {
                let open = self.own.get(&owner).and_then(|own| own.open.last().copied());
                if let Some(at) = open.filter(|&at| !self.phases[at as usize].within) {
                    self.end(at, ts);
                    self.own.entry(owner).or_default().open.pop();
                }
                self.begin(owner, name, false, ts);
            }
            Mark::Begin(name) => self.begin(owner, name, true, ts),
            Mark::End(name) => {
                let Some(name) = self.names.find(name) else { return };
                let Some(own) = self.own.get_mut(&owner) else { return };
                let named = |&at: &u32| self.phases[at as usize].name == name;
                let Some(first) = own.open.iter().rposition(named) else { return };
                let over = own.open.split_off(first);
                own.note(ts);
                for at in over {
                    self.end(at, ts);
                }
            }
        }
    }

    fn begin(&mut self, owner: u32, name: &str, within: bool, ts: Option<i64>) {
        let at = self.phases.len() as u32;
        let (name, start) = (self.names.number(name), ts.into());
        let (end, ended, calls) = (Packed::default(), false, 0);
        self.phases.push(Phase { name, owner, start, end, ended, within, calls });
        let own = self.own.entry(owner).or_default();
        own.open.push(at);
        own.note(ts);
    }

    fn end(&mut self, at: u32, ts: Option<i64>) {
        let phase = &mut self.phases[at as usize];
        (phase.end, phase.ended) = (ts.into(), true);
    }

    /// A process ended, and its phases with it.
    pub(crate) fn ended(&mut self, owner: u32, ts: Option<i64>) {
        self.echoes.remove(&owner);
        if let Some(own) = self.own.get_mut(&owner).filter(|own| !own.open.is_empty()) {
            self.last = None;
            let over = std::mem::take(&mut own.open);
            own.note(ts);
            for at in over {
                self.end(at, ts);
            }
        }
    }

    /// The log shows who made a process.
    pub(crate) fn born(&mut self) {
        self.last = None;
    }

    /// No process has marked anything so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.phases.is_empty()
    }

    /// The phase of a call of the process `owner` that began at `ts`: its own at that moment, or else
    /// that of its maker.
    pub(crate) fn now(&mut self, owner: u32, ts: Option<i64>, tracker: &Tracker) -> Now {
        if let Some((last, since, now)) = self.last
            && last == owner
            && ts.is_none_or(|ts| ts >= since)
        {
            return now;
        }
        let (now, changed) = self.find(owner, ts, tracker);
        // Whose maker is not known may be made by the next row.
        if ts.is_none_or(|ts| ts >= changed) && now != Now::Unknown(owner) {
            self.last = Some((owner, changed, now));
        }
        now
    }

    /// The phase, and when one of those that were asked for it last changed.
    fn find(&self, owner: u32, ts: Option<i64>, tracker: &Tracker) -> (Now, i64) {
        let (mut at, mut changed) = (owner, i64::MIN);
        for _ in 0..MOST_MAKERS {
            if let Some(own) = self.own.get(&at) {
                changed = changed.max(own.changed());
                if let Some(phase) = own.at(ts) {
                    return (Now::Phase(phase), changed);
                }
            }
            match tracker.tasks.get(at as usize).and_then(|task| task.birth) {
                Some(birth) => at = tracker.leader(birth.parent),
                None => return (Now::Unknown(at), changed),
            }
        }
        (Now::None, changed)
    }

    /// The phase of such a call by its name.
    #[inline]
    pub(crate) fn named(&mut self, owner: u32, ts: Option<i64>, tracker: &Tracker) -> In {
        let now = self.now(owner, ts, tracker);
        self.by_name(now)
    }

    fn by_name(&self, now: Now) -> In {
        match now {
            Now::None => In::None,
            Now::Unknown(process) => In::Unknown(process),
            Now::Phase(at) => {
                self.phases.get(at as usize).map_or(In::None, |phase| In::Phase(phase.name))
            }
        }
    }

    /// The phase in which a process was made, once all rows are in: some calls return only the id of
    /// the task that they made.
    pub(crate) fn made_in(&self, process: u32, tracker: &Tracker) -> Now {
        let birth = tracker.tasks.get(process as usize).and_then(|task| task.birth);
        birth.map_or(Now::None, |birth| {
            self.find(tracker.leader(birth.parent), birth.ts.get(), tracker).0
        })
    }

    /// The number of a phase's name, once all rows are in.
    pub(crate) fn settled(&self, phase: In, tracker: &Tracker) -> Option<u32> {
        let phase = match phase {
            In::Unknown(process) => self.by_name(self.made_in(process, tracker)),
            known => known,
        };
        if let In::Phase(name) = phase { Some(name) } else { None }
    }

    /// The name of a phase.
    pub(crate) fn name(&self, name: u32) -> Option<&str> {
        self.names.text(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::process_tracking::task::{Birth, Task};

    /// Process 0 made process 1 at 10, and that process 2 at 20.
    fn family() -> Tracker {
        let mut tracker = Tracker::default();
        for id in 0..3 {
            let mut task = Task::new(0, id, 0);
            task.birth = id.checked_sub(1).map(|parent| Birth {
                parent,
                kind: None,
                row: 0,
                ts: Some(i64::from(id) * 10).into(),
                dur: Packed::default(),
                by_call: true,
                clone3: false,
                number: Packed::default(),
            });
            tracker.tasks.push(task);
        }
        tracker
    }

    fn name(open: &mut Open, owner: u32, ts: Option<i64>, tracker: &Tracker) -> Option<String> {
        match open.named(owner, ts, tracker) {
            In::Phase(name) => open.name(name).map(str::to_owned),
            In::None | In::Unknown(_) => None,
        }
    }

    #[test]
    fn a_call_is_where_it_began() {
        let tracker = family();
        let mut open = Open::default();
        open.call(0, "/tracefast/phase/load", Some(100));
        open.call(0, "/tracefast/phase/train", Some(200));
        open.call(0, "/tracefast/begin/epoch", Some(300));
        open.call(0, "/tracefast/end/epoch", Some(400));
        open.ended(0, Some(500));
        for owner in 0..3 {
            for (ts, phase) in [
                (50, None),
                (100, Some("load")),
                (199, Some("load")),
                (200, Some("train")),
                (350, Some("epoch")),
                (450, Some("train")),
                (600, None),
            ] {
                let found = name(&mut open, owner, Some(ts), &tracker);
                assert_eq!(found.as_deref(), phase, "{owner} at {ts}");
            }
            assert_eq!(open.now(owner, None, &tracker), Now::Unknown(0));
        }
    }

    #[test]
    fn its_own_phase_comes_before_that_of_its_maker() {
        let tracker = family();
        let mut open = Open::default();
        open.call(0, "/tracefast/phase/load", Some(100));
        open.call(1, "/tracefast/phase/own", Some(200));
        assert_eq!(name(&mut open, 1, Some(150), &tracker).as_deref(), Some("load"));
        assert_eq!(name(&mut open, 2, Some(250), &tracker).as_deref(), Some("own"));
        open.ended(1, Some(300));
        assert_eq!(name(&mut open, 2, Some(350), &tracker).as_deref(), Some("load"));
        assert_eq!(name(&mut open, 2, Some(250), &tracker).as_deref(), Some("own"));
    }

    #[test]
    fn a_clock_that_is_set_back_ends_no_phase() {
        let tracker = family();
        let mut open = Open::default();
        open.call(0, "/tracefast/phase/load", Some(100));
        open.call(0, "/tracefast/phase/train", Some(50));
        assert_eq!(name(&mut open, 0, Some(60), &tracker), None);
        assert_eq!(name(&mut open, 0, Some(110), &tracker).as_deref(), Some("train"));
    }

    #[test]
    fn a_process_is_in_the_phase_in_which_it_was_made() {
        let tracker = family();
        let mut open = Open::default();
        open.call(0, "/tracefast/phase/load", Some(5));
        open.call(0, "/tracefast/phase/train", Some(15));
        let load = open.names.find("load");
        assert_eq!(open.settled(In::Unknown(1), &tracker), load);
        assert_eq!(open.settled(In::Unknown(0), &tracker), None);
    }
}
