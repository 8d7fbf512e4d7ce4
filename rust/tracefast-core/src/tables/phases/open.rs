//! The phases that are open, by process.

use crate::hash::HashMap;
use crate::tables::names::Names;
use crate::tables::packed::Packed;
use crate::tables::phases::mark::Mark;
use crate::tables::process_tracking::tracker::Tracker;

/// How far the makers of a process are asked for their phase: no real log has as many in a line.
const MOST_MAKERS: usize = 64;

/// A phase.
#[derive(Debug)]
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
    /// None is open in it or its makers.
    None,
    /// The number of the phase.
    Phase(u32),
    /// The log does not show yet who made it.
    Unknown,
}

/// All phases so far.
#[derive(Debug, Default)]
pub(crate) struct Open {
    names: Names,
    pub(crate) phases: Vec<Phase>,
    /// By the first task of a process, the phases that are open in it, the innermost last.
    stacks: HashMap<u32, Vec<u32>>,
    /// By process, the text of a mark that a call made, which may come again as a marker.
    echoes: HashMap<u32, Box<str>>,
    /// The last answer, until something changes.
    last: Option<(u32, Now)>,
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
                let open = self.stacks.get(&owner).and_then(|open| open.last().copied());
                if let Some(at) = open.filter(|&at| !self.phases[at as usize].within) {
                    self.end(at, ts);
                    self.stacks.entry(owner).or_default().pop();
                }
                self.begin(owner, name, false, ts);
            }
            Mark::Begin(name) => self.begin(owner, name, true, ts),
            Mark::End(name) => {
                let Some(name) = self.names.find(name) else { return };
                let Some(open) = self.stacks.get(&owner) else { return };
                let named = |&at: &u32| self.phases[at as usize].name == name;
                let Some(from) = open.iter().rposition(named) else { return };
                let over = self.stacks.entry(owner).or_default().split_off(from);
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
        self.stacks.entry(owner).or_default().push(at);
    }

    fn end(&mut self, at: u32, ts: Option<i64>) {
        let phase = &mut self.phases[at as usize];
        (phase.end, phase.ended) = (ts.into(), true);
    }

    /// A process ended, and its phases with it.
    pub(crate) fn ended(&mut self, owner: u32, ts: Option<i64>) {
        self.echoes.remove(&owner);
        if let Some(over) = self.stacks.remove(&owner) {
            self.last = None;
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

    /// The phase of the process `owner`: its own, or else that of its maker at this moment.
    pub(crate) fn now(&mut self, owner: u32, tracker: &Tracker) -> Now {
        if self.stacks.is_empty() {
            return Now::None;
        }
        if let Some((last, now)) = self.last
            && last == owner
        {
            return now;
        }
        let now = self.find(owner, tracker);
        self.last = Some((owner, now));
        now
    }

    fn find(&self, owner: u32, tracker: &Tracker) -> Now {
        let mut at = owner;
        for maker in 0..MOST_MAKERS {
            if let Some(&phase) = self.stacks.get(&at).and_then(|open| open.last()) {
                return Now::Phase(phase);
            }
            match tracker.tasks.get(at as usize).and_then(|task| task.birth) {
                Some(birth) => at = tracker.leader(birth.parent),
                None if maker == 0 => return Now::Unknown,
                None => return Now::None,
            }
        }
        Now::None
    }

    /// The name of a phase.
    pub(crate) fn name(&self, name: u32) -> Option<&str> {
        self.names.text(name)
    }
}
