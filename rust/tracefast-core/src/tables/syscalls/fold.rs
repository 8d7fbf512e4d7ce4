//! The fold: events in order to rows of the table.

use arrow_array::RecordBatch;
use arrow_array::types::{Int64Type, TimestampNanosecondType, UInt32Type};
use arrow_schema::ArrowError;

use crate::hash::HashMap;
use crate::linux::waits::{CallTime, Giver};
use crate::tables::event_columns::{EventColumns, Numbers, Text, Words, event_columns};
use crate::tables::fold::{Dictionaries, RowFold};
use crate::tables::names::Names;
use crate::tables::phases::open::In;
use crate::tables::phases::rows::PhaseColumns;
use crate::tables::process_tracking::callers::callers;
use crate::tables::process_tracking::group;
use crate::tables::process_tracking::tracker::{TaskColumns, Tracker};
use crate::tables::streams::Streams;
use crate::tables::syscalls::By;
use crate::tables::syscalls::by_phase::ByPhase;
use crate::tables::syscalls::row::{CallFacts, Entry};
use crate::tables::syscalls::table::{self, Log, Row};
use crate::tables::syscalls::word_classes::{End, Fault, Meaning, Role, RowKind};

/// System calls by name so far.
///
/// # Examples
/// ```
/// use tracefast_core::tables::syscalls::{By, Syscalls};
/// use tracefast_core::tables::fold::Fold;
/// let table = Syscalls::new(By::Name).finish().expect("columns of one length").remove(0);
/// assert_eq!(table.num_rows(), 0);
/// assert!(table.column_by_name("total_ns").is_some());
/// ```
#[derive(Debug, Clone)]
pub struct Syscalls {
    by: By,
    /// Whether each row says how long its log is.
    with_span: bool,
    /// Whether durations are kept, and not only their sums.
    distributions: bool,
    sources: Names,
    names: Names,
    tracker: Tracker,
    entries: Vec<Entry>,
    /// Those that nothing is in, plus one.
    free: Vec<u32>,
    /// By source, task or phase, and by name of the call: the index in `entries` plus one, 0 for
    /// none.
    index: Vec<Vec<u32>>,
    by_phase: ByPhase,
    /// Rows of `index` for calls without a task, by source and process id.
    taskless: HashMap<(u32, Option<i32>), Vec<u32>>,
    /// By source, the time of the first event, and of the last one or the end of a call.
    spans: Vec<(i64, i64)>,
    streams: Streams,
}

event_columns! {
    pub(crate) struct CallColumns {
        ts: Numbers<TimestampNanosecondType> = "ts",
        dur: Numbers<Int64Type> = "dur_ns",
        kind: Words<RowKind> = "kind",
        name: Words<Meaning> = "name",
        ret: Numbers<Int64Type> = "ret",
        errno: Words<Fault> = "errno",
        status: Words<End> = "status",
        path: Text = "path",
        path2: Text = "path2",
        ofd: Numbers<UInt32Type> = ["ofd", "ofd2"],
        file_type: Words<Giver> = "file_type",
        bytes: Numbers<Int64Type> = "bytes",
        source: Words<u32> = "source",
    }
}

type Columns<'a> = (CallColumns<'a>, (Option<TaskColumns<'a>>, Option<PhaseColumns<'a>>));

impl Syscalls {
    /// A table with no calls yet.
    pub fn new(by: By) -> Self {
        Self {
            by,
            with_span: false,
            distributions: true,
            sources: Names::default(),
            names: Names::default(),
            tracker: Tracker::default(),
            entries: Vec::new(),
            free: Vec::new(),
            index: Vec::new(),
            by_phase: ByPhase::default(),
            taskless: HashMap::default(),
            spans: Vec::new(),
            streams: Streams::default(),
        }
    }

    /// The same table, with `span_ns`: from the first event of the log to its last.
    #[must_use]
    pub fn with_span(self, with_span: bool) -> Self {
        Self { with_span, ..self }
    }

    /// The same table, with or without how durations are distributed. Without, the columns of the
    /// shortest, the longest, percentiles, and the time in which calls overlapped are null.
    #[must_use]
    pub fn with_distributions(self, distributions: bool) -> Self {
        Self { distributions, ..self }
    }

    /// The log shows who made a process: what it called so far was in the phase of its maker.
    #[cold]
    fn born(&mut self, source: u32, born: (u32, In)) {
        let Some((from, to)) = self.by_phase.born(source, born).filter(|(from, to)| from != to)
        else {
            return;
        };
        let calls = std::mem::take(of_row(&mut self.index, from as usize));
        let names = of_row(&mut self.index, to as usize);
        for (name, at) in (0..).zip(calls).filter(|&(_, at)| at > 0) {
            let Some(same) = of_name(names, name) else { continue };
            if *same == 0 {
                *same = at;
                continue;
            }
            let other = self.entries.get_mut(at as usize - 1).map(std::mem::take);
            if let (Some(entry), Some(other)) = (self.entries.get_mut(*same as usize - 1), other) {
                entry.absorb(other);
                self.free.push(at);
            }
        }
    }
}

/// The entries of a source, a task or a phase.
#[inline]
fn of_row(index: &mut Vec<Vec<u32>>, row: usize) -> &mut Vec<u32> {
    if row >= index.len() {
        index.resize_with(row + 1, Vec::new);
    }
    &mut index[row]
}

/// The place of a name among them.
#[inline]
fn of_name(names: &mut Vec<u32>, name: u32) -> Option<&mut u32> {
    let name = name as usize;
    if name >= names.len() {
        names.resize(name + 1, 0);
    }
    names.get_mut(name)
}

/// The entry of a name among those of a source, a task or a phase.
#[inline]
fn entry<'e>(
    names: &mut Vec<u32>,
    (entries, free): (&'e mut Vec<Entry>, &mut Vec<u32>),
    name: u32,
) -> Option<&'e mut Entry> {
    let at = of_name(names, name)?;
    if *at == 0 {
        *at = free.pop().unwrap_or_else(|| {
            entries.push(Entry::default());
            entries.len() as u32
        });
    }
    entries.get_mut(*at as usize - 1)
}

impl RowFold for Syscalls {
    type Columns<'a> = Columns<'a>;

    fn empty(&self) -> Self {
        Self::new(self.by).with_span(self.with_span).with_distributions(self.distributions)
    }

    fn column_names(&self) -> Vec<&'static str> {
        match self.by {
            By::Name => CallColumns::names(),
            By::Process => <(CallColumns<'_>, TaskColumns<'_>)>::names(),
            By::Phase => <(CallColumns<'_>, PhaseColumns<'_>)>::names(),
        }
    }

    fn columns<'a>(
        &self,
        batch: &'a RecordBatch,
        words: &'a Dictionaries,
    ) -> Result<Columns<'a>, ArrowError> {
        let calls = CallColumns::from_batch(batch, words)?;
        Ok(match self.by {
            By::Name => (calls, (None, None)),
            By::Process => (calls, (Some(TaskColumns::from_batch(batch, words)?), None)),
            By::Phase => (calls, (None, Some(PhaseColumns::from_batch(batch, words)?))),
        })
    }

    #[inline]
    fn row(&mut self, (columns, (tasks, phases)): &mut Columns<'_>, row: usize) {
        // Every row of a task helps to find its process.
        let task = tasks.as_mut().and_then(|tasks| self.tracker.row(tasks, row));
        // The first number is for calls without a source.
        let source = columns.source.get(row, |text| self.sources.number(text) + 1).unwrap_or(0);
        // So does every row that makes a task or marks a phase, counted or not.
        let phase = phases.as_mut().map(|phases| self.by_phase.phases.row(phases, row));
        if let Some(phase) = &phase {
            if let Some(born) = phase.born {
                self.born(source, born);
            }
            if !phase.counted {
                return;
            }
        }
        let (ts, dur) = (columns.ts.get(row), columns.dur.get(row));
        if let Some(ts) = ts {
            if self.spans.len() <= source as usize {
                self.spans.resize(source as usize + 1, (i64::MAX, i64::MIN));
            }
            let (first, last) = &mut self.spans[source as usize];
            *first = (*first).min(ts);
            *last = (*last).max(ts.saturating_add(dur.unwrap_or(0)));
        }
        if columns.kind.get(row, RowKind::from_word) != Some(RowKind::Call) {
            return;
        }
        let names = &mut self.names;
        let Some(meaning) =
            columns.name.get(row, |word| Meaning::from_name(word, names.number(word)))
        else {
            return;
        };
        let end = columns.status.get(row, End::from_status).unwrap_or(End::Returned);
        if meaning.role == Role::Fork && end == End::Headless && columns.ret.get(row) == Some(0) {
            // The call that created a task returns in it too, but it is the parent's call.
            return;
        }
        let fault = columns.errno.get(row, Fault::from_errno);
        let asks = meaning.time.asks_for_giver(dur);
        let mut giver = if asks { giver(columns, row) } else { Giver::Unknown };
        let ofd = |which: usize| columns.ofd.get(which).and_then(|ofd| ofd.get(row));
        if meaning.makes_stream {
            self.streams.made(source, [ofd(0), ofd(1)]);
        } else if meaning.time == CallTime::Transfers {
            giver = giver.to(self.streams.taker(source, ofd(1), columns.path2.get(row)));
        }
        let call = CallFacts { meaning, ts, dur, end, fault, giver, bytes: columns.bytes.get(row) };
        let names = match (tasks, task) {
            (Some(tasks), None) => self.taskless.entry((source, tasks.pid.get(row))).or_default(),
            (_, task) => {
                let owner = match phase {
                    Some(found) => self.by_phase.row(source, found.phase),
                    None => task.map_or(source, |row| row.task),
                };
                of_row(&mut self.index, owner as usize)
            }
        };
        let entries = (&mut self.entries, &mut self.free);
        if let Some(entry) = entry(names, entries, meaning.name) {
            entry.count(&call, self.distributions);
        }
    }

    /// The table, the largest sum of durations first.
    fn table(mut self) -> Result<Vec<RecordBatch>, ArrowError> {
        let phases: Vec<_> = self.by_phase.all().map(|(key, _)| key).collect();
        for (source, phase) in phases {
            if let In::Unknown(process) = phase {
                let found = self.by_phase.phases.settled(phase).map_or(In::None, In::Phase);
                self.born(source, (process, found));
            }
        }
        let Self { by, with_span, sources, names, mut tracker, mut entries, by_phase, .. } = self;
        let (index, taskless, spans) = (self.index, self.taskless, self.spans);
        let source = |number: u32| sources.text(number.checked_sub(1)?);
        let spans: HashMap<Option<&str>, (i64, i64)> = (0..)
            .zip(spans)
            .filter(|(_, (first, last))| first <= last)
            .map(|(number, span)| (source(number), span))
            .collect();
        let log = |source| Log { name: source, span: spans.get(&source).copied() };
        let mut take = |at: u32| entries.get_mut(at.checked_sub(1)? as usize).map(std::mem::take);
        let mut rows = Vec::new();
        if by == By::Phase {
            for ((of, phase), row) in by_phase.all() {
                let phase = by_phase.phases.settled(phase).and_then(|n| by_phase.phases.name(n));
                for (name, &at) in (0..).zip(index.get(row as usize).into_iter().flatten()) {
                    if let Some(entry) = take(at) {
                        let row = Row::new(entry, log(source(of)), names.text(name), None);
                        rows.push(row.in_phase(phase));
                    }
                }
            }
            return Ok(vec![table::build(rows, by, with_span)?]);
        }
        if by == By::Name {
            for (of, index) in (0..).zip(&index) {
                for (name, &at) in (0..).zip(index) {
                    if let Some(entry) = take(at) {
                        rows.push(Row::new(entry, log(source(of)), names.text(name), None));
                    }
                }
            }
            return Ok(vec![table::build(rows, by, with_span)?]);
        }
        tracker.finish();
        let processes = group::processes(&tracker.tasks);
        // For each owner: the entries of its tasks, its source, id and program.
        let mut owners = Vec::new();
        for caller in callers(&tracker, &processes) {
            let members: Vec<_> =
                caller.tasks.iter().filter_map(|&task| index.get(task as usize)).collect();
            owners.push((members, caller.source, caller.pid, caller.image));
        }
        for (&(number, pid), index) in &taskless {
            owners.push((vec![index], source(number), pid, None));
        }
        for (owner, (members, source, pid, image)) in (0..).zip(owners) {
            let count = members.iter().map(|index| index.len()).max().unwrap_or(0);
            for name in 0..count {
                let mut same = members.iter().filter_map(|index| take(*index.get(name)?));
                let Some(mut whole) = same.next() else { continue };
                same.for_each(|entry| whole.absorb(entry));
                let name = names.text(name as u32);
                rows.push(Row::new(whole, log(source), name, Some((owner, pid, image))));
            }
        }
        Ok(vec![table::build(rows, by, with_span)?])
    }
}

/// What provides the data that a call takes from its descriptor.
#[inline]
fn giver(columns: &mut CallColumns<'_>, row: usize) -> Giver {
    let giver = columns.file_type.get(row, Giver::from_file_type).unwrap_or(Giver::Unknown);
    giver.known_as(|| columns.path.get(row))
}
