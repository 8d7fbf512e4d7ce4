//! What is known after the first pass: tracks, and where arrows begin and end.

use crate::export::survey::Survey;
use crate::export::tracks::Tracks;
use crate::hash::HashMap;
use crate::tables::process_tracking::tracker::Tracker;
use crate::tables::waits::wait::Wait;

/// Numbers of flows by source and line.
type ByLine = HashMap<(u32, u64), Vec<u64>>;

/// The end of a wait that no call shows: a task that was off the CPU goes on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Woken {
    pub(crate) thread: u32,
    pub(crate) ts: i64,
    pub(crate) flow: u64,
}

/// Arrows between slices. Their numbers follow from the order of the rows, so they are the same in
/// every run.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    pub(crate) count: u64,
    /// Where they start.
    pub(crate) starts: ByLine,
    /// Those that end where a slice begins: the first call of a child.
    pub(crate) births: ByLine,
    /// Those that end where a slice ends: the call that waited.
    pub(crate) wakes: ByLine,
    pub(crate) woken: Vec<Woken>,
    /// By the line of a waker, when the first wait that it ended was over. strace may stop the parent
    /// before it prints that the child is gone, so that line may have a later time.
    pub(crate) over: HashMap<(u32, u64), i64>,
}

impl Flows {
    fn start(&mut self, at: (u32, u64)) -> u64 {
        self.count += 1;
        self.starts.entry(at).or_default().push(self.count);
        self.count
    }
}

/// What an export knows before it writes.
#[derive(Debug)]
pub struct Plan {
    pub(crate) tracks: Tracks,
    pub(crate) flows: Flows,
    pub(crate) span: Option<(i64, i64)>,
    calls: u64,
    placed: u64,
}

impl Plan {
    pub(crate) fn new(mut survey: Survey) -> Self {
        let waits = survey.waits.take().map(|waits| *waits);
        let (mut tracker, waits) = match waits {
            Some(waits) => (waits.tracker, waits.rows),
            None => (std::mem::take(&mut survey.tracker), Vec::new()),
        };
        tracker.finish();
        let tracks = Tracks::new(&tracker, &survey.sources, &survey.loose, &survey.unusual_files);
        let mut flows = Flows::default();
        forks(&mut flows, &survey, &tracker);
        wakes(&mut flows, &survey, (&tracker, &tracks), waits);
        let Survey { span, calls, placed, .. } = survey;
        Self { tracks, flows, span, calls, placed }
    }

    /// Calls that the log has.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Calls whose time is known: the slices of a timeline.
    pub fn placed(&self) -> u64 {
        self.placed
    }
}

/// From the call that made a task to the first call of that.
fn forks(flows: &mut Flows, survey: &Survey, tracker: &Tracker) {
    for task in &tracker.tasks {
        let Some(birth) = task.birth.filter(|birth| birth.by_call) else { continue };
        let source = survey.source_of(tracker, task.source);
        let fork = survey.forks.get(&birth.row).copied();
        let first = survey.firsts.get(&(source, task.id)).copied();
        if let (Some(line), Some(first), Some(ts)) = (fork, first, birth.ts.get())
            && ts <= first.ts
            && survey.shown.contains(source, line)
        {
            let flow = flows.start((source, line));
            flows.births.entry((source, first.line)).or_default().push(flow);
        }
    }
}

/// From what proves to be the waker to the end of the wait.
fn wakes(
    flows: &mut Flows,
    survey: &Survey,
    (tracker, tracks): (&Tracker, &Tracks),
    mut waits: Vec<Wait>,
) {
    waits.sort_by_key(|wait| wait.row);
    for wait in waits {
        let Some(waker) = wait.waker.filter(|waker| waker.exact) else { continue };
        let Some(task) = tracker.tasks.get(wait.task as usize) else { continue };
        let source = survey.source_of(tracker, task.source);
        let shown = |line| survey.shown.contains(source, line);
        if !shown(waker.line) || !shown(wait.line) || waker.line == wait.line {
            continue;
        }
        let Some(thread) = tracks.of_task(source, task.id) else { continue };
        let flow = flows.start((source, waker.line));
        let over = wait.ts.get().zip(wait.dur.get()).map(|(ts, dur)| ts.saturating_add(dur));
        if let Some(ts) = over {
            let first = flows.over.entry((source, waker.line)).or_insert(ts);
            *first = ts.min(*first);
        }
        match over {
            // Off the CPU: the line is that of the switch.
            Some(ts) if wait.run_delay.get().is_some() => {
                flows.woken.push(Woken { thread, ts, flow });
            }
            _ => flows.wakes.entry((source, wait.line)).or_default().push(flow),
        }
    }
}

impl Survey {
    /// The number of a source that the tracker knows by another one.
    fn source_of(&self, tracker: &Tracker, source: u32) -> u32 {
        let number = tracker.source_name(source).and_then(|name| self.sources.find(name));
        number.map_or(0, |number| number + 1)
    }
}
