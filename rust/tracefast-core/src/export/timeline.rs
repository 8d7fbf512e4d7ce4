//! The second pass of a timeline: each row to slices, instants, arrows and values of counters.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::types::{Int32Type, Int64Type, UInt16Type, UInt32Type};
use arrow_schema::ArrowError;

use crate::events::vocabulary::Op;
use crate::export::Counts;
use crate::export::counters::{Counters, Sample, What};
use crate::export::descriptors::{self, Descriptors};
use crate::export::lanes::{Lanes, Place};
use crate::export::plan::Plan;
use crate::export::rows::{Kind, Row, RowColumns, Wanted, Who};
use crate::export::tracks::Tracks;
use crate::tables::event_columns::{EventColumns, Numbers, Text, Words, event_columns};
use crate::tables::files::word_classes::Act;
use crate::tables::fold::{Dictionaries, RowFold};
use crate::tables::memory::Memory;
use crate::tables::memory::fold::MemoryColumns;
use crate::tables::names::Names;
use crate::tables::syscalls::word_classes::End;

event_columns! {
    pub(crate) struct CallColumns {
        args: Text = "args",
        errno: Words<u32> = "errno",
        fd: Numbers<Int32Type> = ["fd", "fd2"],
        path: Text = "path",
        path2: Text = "path2",
        offset: Numbers<Int64Type> = "offset",
        bytes: Numbers<Int64Type> = "bytes",
        cpu: Numbers<UInt16Type> = "cpu",
        child: Numbers<UInt32Type> = "child",
    }
}

pub(crate) type Columns<'a> = (RowColumns<'a>, (CallColumns<'a>, MemoryColumns<'a>));

/// A call, with what a reader of the timeline may ask about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slice<'a> {
    pub(crate) thread: u32,
    pub(crate) place: Place,
    pub(crate) name: (u32, &'a str),
    pub(crate) path: Option<&'a str>,
    pub(crate) path2: Option<&'a str>,
    pub(crate) error: Option<&'a str>,
    /// Numbers with their names.
    pub(crate) numbers: [(&'static str, Option<i64>); 5],
    /// Its end is not in the log.
    pub(crate) open: bool,
    pub(crate) flows: Arrows<'a>,
}

/// The numbers of arrows at a slice.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Arrows<'a> {
    pub(crate) starts: &'a [u64],
    /// Those that end where it begins.
    pub(crate) births: &'a [u64],
    /// Those that end where it ends.
    pub(crate) wakes: &'a [u64],
}

/// A signal, the end of a task, or a wake-up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Instant<'a> {
    pub(crate) thread: u32,
    pub(crate) ts: i64,
    pub(crate) category: &'static str,
    pub(crate) name: &'a str,
    pub(crate) details: Option<&'a str>,
    pub(crate) starts: &'a [u64],
    pub(crate) ends: &'a [u64],
}

/// A format of timelines.
pub(crate) trait Form: Send {
    fn start(&mut self, out: &mut Vec<u8>, plan: &Plan);
    fn slice(&mut self, out: &mut Vec<u8>, tracks: &Tracks, slice: &Slice<'_>);
    fn instant(&mut self, out: &mut Vec<u8>, tracks: &Tracks, instant: &Instant<'_>);
    fn sample(&mut self, out: &mut Vec<u8>, tracks: &Tracks, sample: Sample);
    fn end(&mut self, out: &mut Vec<u8>);
}

/// A call whose end is shown by what its task does next.
#[derive(Debug)]
struct Open {
    row: Row,
    path: Option<Box<str>>,
    path2: Option<Box<str>>,
    numbers: [(&'static str, Option<i64>); 5],
}

#[derive(Debug, Default)]
struct State {
    lanes: Lanes,
    open: Option<Open>,
    ended: Option<i64>,
}

pub(crate) struct Timeline {
    plan: Arc<Plan>,
    form: Box<dyn Form>,
    names: Names,
    errors: Names,
    states: Vec<State>,
    counters: Counters,
    descriptors: Descriptors,
    memory: Memory,
    sources: Names,
    counts: Counts,
}

impl Timeline {
    pub(crate) fn new(plan: Arc<Plan>, mut form: Box<dyn Form>, out: &mut Vec<u8>) -> Self {
        form.start(out, &plan);
        let mut states = Vec::new();
        states.resize_with(plan.tracks.threads.len(), State::default);
        let counters = Counters::new(plan.span);
        let counts = Counts { flows: plan.flows.count, ..Counts::default() };
        Self {
            plan,
            form,
            names: Names::default(),
            errors: Names::default(),
            states,
            counters,
            descriptors: Descriptors::default(),
            memory: Memory::default(),
            sources: Names::default(),
            counts,
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    pub(crate) fn push(
        &mut self,
        batch: &RecordBatch,
        words: &Dictionaries,
        out: &mut Vec<u8>,
    ) -> Result<(), ArrowError> {
        let mut columns = Columns::from_batch(batch, words)?;
        let wanted = Wanted::of_batch(batch);
        for row in 0..batch.num_rows() {
            self.row(&mut columns, row, wanted.is(row), out);
        }
        Ok(())
    }

    fn row(&mut self, columns: &mut Columns<'_>, at: usize, wanted: bool, out: &mut Vec<u8>) {
        let (rows, (calls, memory)) = columns;
        self.memory.row(memory, at);
        let (names, sources) = (&mut self.names, &mut self.sources);
        let found = rows.get(at, |word| names.number(word), |name| sources.number(name) + 1);
        let source = found.map_or(0, |row| row.source);
        self.show_memory(source, wanted, out);
        let Some(row) = found else { return };
        let Some(thread) = self.plan.tracks.find(row.source, row.who) else { return };
        let process = self.plan.tracks.threads.get(thread as usize).map(|thread| thread.process);
        let Some(process) = process else { return };
        let open = self.states.get_mut(thread as usize).and_then(|state| match row.ts {
            Some(ts) => state.open.take().map(|open| (open, ts)),
            None => None,
        });
        if let Some((open, ts)) = open {
            self.show_open(thread, &open, ts, out);
        }
        self.count_descriptors((rows, calls), at, (row, thread), wanted, out);
        if !wanted {
            return;
        }
        match row.kind {
            Kind::Call => {
                self.count_bytes(calls.bytes.get(at), row, process, out);
                self.call((rows, calls), at, (row, thread), out);
            }
            Kind::Part => self.count_bytes(calls.bytes.get(at), row, process, out),
            Kind::Signal => self.instant(row, thread, calls.args.get(at), out),
            Kind::Exit => {
                self.instant(row, thread, None, out);
                if let Some(state) = self.states.get_mut(thread as usize) {
                    state.ended = row.ts;
                }
            }
            Kind::Event if row.called.schedules => self.instant(row, thread, None, out),
            Kind::Event | Kind::Other => {}
        }
    }

    fn call(
        &mut self,
        (rows, calls): (&RowColumns<'_>, &mut CallColumns<'_>),
        at: usize,
        (row, thread): (Row, u32),
        out: &mut Vec<u8>,
    ) {
        let (Some(ts), Some(end)) = (row.ts, row.end_ts()) else {
            self.counts.timeless += 1;
            return;
        };
        let numbers = [
            ("fd", calls.fd[0].get(at).map(i64::from)),
            ("ret", rows.ret.get(at)),
            ("bytes", calls.bytes.get(at)),
            ("offset", calls.offset.get(at)),
            ("line", i64::try_from(row.line).ok()),
        ];
        let path = calls.path.get(at);
        let Some(state) = self.states.get_mut(thread as usize) else { return };
        if row.is_open() {
            let path2 = calls.path2.get(at).map(Into::into);
            let open = Open { row, path: path.map(Into::into), path2, numbers };
            match state.ended {
                Some(ended) => self.show_open(thread, &open, ended, out),
                None => state.open = Some(open),
            }
            return;
        }
        self.counts.untimed += u64::from(row.dur.is_none());
        let errors = &mut self.errors;
        let error = calls.errno.get(at, |word| errors.number(word));
        let place = state.lanes.place(ts, end);
        self.placed(place, ts);
        let slice = Slice {
            thread,
            place,
            name: (row.called.name, self.names.text(row.called.name).unwrap_or_default()),
            path,
            path2: calls.path2.get(at),
            error: error.and_then(|error| self.errors.text(error)),
            numbers,
            open: false,
            flows: arrows(&self.plan, row),
        };
        self.form.slice(out, &self.plan.tracks, &slice);
    }

    fn placed(&mut self, place: Place, ts: i64) {
        self.counts.calls += 1;
        self.counts.moved += u64::from(place.lane > 0);
        self.counts.clipped += u64::from(place.start > ts);
        self.counters.ran(place.start, place.end);
    }

    /// A call without an end: the next row of its task says how long it lasted at most.
    fn show_open(&mut self, thread: u32, open: &Open, end: i64, out: &mut Vec<u8>) {
        let (Some(ts), Some(state)) = (open.row.ts, self.states.get_mut(thread as usize)) else {
            return;
        };
        let place = state.lanes.place(ts, end);
        self.placed(place, ts);
        let name = open.row.called.name;
        let slice = Slice {
            thread,
            place,
            name: (name, self.names.text(name).unwrap_or_default()),
            path: open.path.as_deref(),
            path2: open.path2.as_deref(),
            error: None,
            numbers: open.numbers,
            open: true,
            flows: arrows(&self.plan, open.row),
        };
        self.form.slice(out, &self.plan.tracks, &slice);
    }

    fn instant(&mut self, row: Row, thread: u32, details: Option<&str>, out: &mut Vec<u8>) {
        let Some(ts) = row.ts else { return };
        let starts = arrows(&self.plan, row).starts;
        let category = match row.kind {
            Kind::Signal => "signal",
            Kind::Exit => "exit",
            // Only those that start an arrow are of interest.
            _ if starts.is_empty() => return,
            _ => "sched",
        };
        // Who ended a wait did so before that was over.
        let over = self.plan.flows.over.get(&(row.source, row.line));
        let ts = over.map_or(ts, |&over| ts.min(over));
        let name = self.names.text(row.called.name).unwrap_or_default();
        let instant = Instant { thread, ts, category, name, details, starts, ends: &[] };
        self.counts.instants += 1;
        self.form.instant(out, &self.plan.tracks, &instant);
    }

    fn count_bytes(&mut self, bytes: Option<i64>, row: Row, process: u32, out: &mut Vec<u8>) {
        let (Some(bytes), Some(end)) = (bytes.filter(|&bytes| bytes > 0), row.end_ts()) else {
            return;
        };
        let whats: &[What] = match row.called.act {
            Act::Read => &[What::Read],
            Act::Write => &[What::Written],
            Act::Transfer => &[What::Read, What::Written],
            _ => return,
        };
        for &what in whats {
            let sample = self.counters.add((what, Some(process)), end, bytes);
            self.sample(sample, out);
        }
    }

    /// What ftrace shows of calls does not say which descriptors execve closes.
    fn count_descriptors(
        &mut self,
        (rows, calls): (&RowColumns<'_>, &CallColumns<'_>),
        at: usize,
        (row, thread): (Row, u32),
        wanted: bool,
        out: &mut Vec<u8>,
    ) {
        if calls.cpu.get(at).is_some() {
            return;
        }
        let tracks = &self.plan.tracks;
        match row.kind {
            Kind::Call => {
                self.descriptors.appears(tracks, thread);
                let fds = [calls.fd[0].get(at), calls.fd[1].get(at)];
                let args = calls.args.get(at).unwrap_or_default();
                let call = descriptors::Call { fds, ret: rows.ret.get(at), args };
                // What strace injects did not take place.
                if row.end != End::Injected {
                    self.descriptors.call(tracks, thread, row.called, call);
                }
                let child = calls.child.get(at).filter(|_| row.called.op == Op::Fork);
                if let Some(child) = child.and_then(|child| tracks.of_task(row.source, child)) {
                    self.descriptors.appears(tracks, child);
                }
            }
            Kind::Exit => self.descriptors.ended(thread),
            _ => return,
        }
        let Some(end) = row.end_ts() else { return };
        let mut changes = std::mem::take(&mut self.descriptors.changes);
        for (process, number) in changes.drain(..) {
            if wanted {
                let counter = (What::OpenDescriptors, Some(process));
                let sample = self.counters.set(counter, end, number as i64);
                self.sample(sample, out);
            }
        }
        self.descriptors.changes = changes;
    }

    /// What the last row has changed in the memory of processes.
    fn show_memory(&mut self, source: u32, wanted: bool, out: &mut Vec<u8>) {
        if self.memory.rows.is_empty() {
            return;
        }
        for row in std::mem::take(&mut self.memory.rows) {
            let tracks = &self.plan.tracks;
            let thread = tracks.find(source, Who::Task(row.task));
            let process =
                thread.and_then(|at| tracks.threads.get(at as usize)).map(|one| one.process);
            if let (Some(process), Some(ts), true) = (process, row.ts.get(), wanted) {
                let counter = (What::AnonymousMemory, Some(process));
                let sample = self.counters.set(counter, ts, row.resident.anon);
                self.sample(sample, out);
            }
        }
    }

    fn sample(&mut self, sample: Option<Sample>, out: &mut Vec<u8>) {
        if let Some(sample) = sample {
            self.counts.samples += 1;
            self.form.sample(out, &self.plan.tracks, sample);
        }
    }

    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        let last = self.plan.span.map_or(i64::MIN, |(_, last)| last);
        for thread in 0..self.states.len() {
            if let Some(open) = self.states.get_mut(thread).and_then(|state| state.open.take()) {
                self.show_open(thread as u32, &open, last, out);
            }
        }
        for woken in &self.plan.flows.woken {
            let (thread, ts, ends) = (woken.thread, woken.ts, &[woken.flow][..]);
            let (name, category) = ("woken", "sched");
            let instant = Instant { thread, ts, category, name, details: None, starts: &[], ends };
            self.counts.instants += 1;
            self.form.instant(out, &self.plan.tracks, &instant);
        }
        for sample in self.counters.rest() {
            self.sample(Some(sample), out);
        }
        self.form.end(out);
    }
}

fn arrows(plan: &Plan, row: Row) -> Arrows<'_> {
    let key = (row.source, row.line);
    let flows = &plan.flows;
    let starts = flows.starts.get(&key).map_or(&[][..], Vec::as_slice);
    if row.kind != Kind::Call {
        return Arrows { starts, ..Arrows::default() };
    }
    Arrows {
        starts,
        births: flows.births.get(&key).map_or(&[][..], Vec::as_slice),
        wakes: flows.wakes.get(&key).map_or(&[][..], Vec::as_slice),
    }
}
