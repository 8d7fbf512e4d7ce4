//! Trace events of Chrome, as JSON: the "Trace Event Format" of catapult. Times are microseconds
//! since the first event of the log, so that numbers of JSON have room for nanoseconds.

use crate::export::counters::{Sample, What};
use crate::export::json::{key, micros, number, string};
use crate::export::plan::Plan;
use crate::export::timeline::{Form, Instant, Slice};
use crate::export::tracks::Tracks;
use crate::hash::HashMap;

#[derive(Debug, Default)]
pub(crate) struct Chrome {
    origin: i64,
    any: bool,
    /// Numbers of further tracks of threads, which have none of their own.
    lanes: HashMap<(u32, usize), i32>,
}

/// The number of a thread that is not known, which no row has.
const UNKNOWN: i32 = 0;

impl Chrome {
    /// Starts an event of a phase.
    fn begin(&mut self, out: &mut Vec<u8>, phase: &str, name: &str, (pid, tid): (i32, i32)) {
        out.extend(if self.any { &b",\n{"[..] } else { &b"\n{"[..] });
        self.any = true;
        for (name, text) in [("ph", phase), ("name", name)] {
            key(out, name);
            string(out, text);
            out.push(b',');
        }
        for (name, value) in [("pid", pid), ("tid", tid)] {
            key(out, name);
            number(out, value.into());
            out.push(b',');
        }
        // Closed by what follows.
        key(out, "ts");
    }

    fn named(&mut self, out: &mut Vec<u8>, what: &str, ids: (i32, i32), name: &str) {
        self.begin(out, "M", what, ids);
        out.extend(b"0,\"args\":{\"name\":");
        string(out, name);
        out.extend(b"}}");
    }

    fn arrows(
        &mut self,
        out: &mut Vec<u8>,
        ids: (i32, i32),
        (ts, starts): (i64, bool),
        flows: &[u64],
    ) {
        for &flow in flows {
            self.begin(out, if starts { "s" } else { "f" }, "flow", ids);
            micros(out, ts.saturating_sub(self.origin));
            out.extend(b",\"cat\":\"flow\",\"id\":");
            number(out, flow as i64);
            out.extend(if starts { &b"}"[..] } else { &b",\"bp\":\"e\"}"[..] });
        }
    }

    /// The numbers of a track: process and thread.
    fn ids(&mut self, out: &mut Vec<u8>, tracks: &Tracks, thread: u32, lane: usize) -> (i32, i32) {
        let Some(track) = tracks.threads.get(thread as usize) else { return (UNKNOWN, UNKNOWN) };
        let pid = tracks.processes.get(track.process as usize).map_or(UNKNOWN, |one| one.number);
        if lane == 0 {
            return (pid, track.number);
        }
        let new = tracks.free_number(self.lanes.len() as i32 + 1);
        let known = self.lanes.get(&(thread, lane)).copied();
        let tid = known.unwrap_or_else(|| {
            self.lanes.insert((thread, lane), new);
            self.named(
                out,
                "thread_name",
                (pid, new),
                &format!("{} overlapping calls {lane}", track.number),
            );
            new
        });
        (pid, tid)
    }
}

impl Form for Chrome {
    fn start(&mut self, out: &mut Vec<u8>, plan: &Plan) {
        self.origin = plan.span.map_or(0, |(first, _)| first);
        out.extend(b"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"first_event_ns\":\"");
        number(out, self.origin);
        out.extend(b"\"},\"traceEvents\":[");
        for process in &plan.tracks.processes {
            self.named(out, "process_name", (process.number, process.number), &process.name);
        }
        for thread in &plan.tracks.threads {
            let Some(process) = plan.tracks.processes.get(thread.process as usize) else {
                continue;
            };
            let name = thread.name.as_deref();
            let name = name.or((thread.number == process.number).then_some(&*process.name));
            if let Some(name) = name {
                self.named(out, "thread_name", (process.number, thread.number), name);
            }
        }
        let all = plan.tracks.free_number(0);
        self.named(out, "process_name", (all, all), "all processes");
    }

    fn slice(&mut self, out: &mut Vec<u8>, tracks: &Tracks, slice: &Slice<'_>) {
        let place = slice.place;
        let ids = self.ids(out, tracks, slice.thread, place.lane);
        self.begin(out, "X", slice.name.1, ids);
        micros(out, place.start.saturating_sub(self.origin));
        out.extend(b",\"dur\":");
        micros(out, place.end.saturating_sub(place.start));
        out.extend(b",\"cat\":\"syscall\",\"args\":{");
        let texts = [("path", slice.path), ("path2", slice.path2), ("error", slice.error)];
        let start = out.len();
        for (name, text) in texts {
            if let Some(text) = text {
                key(out, name);
                string(out, text);
                out.push(b',');
            }
        }
        let open = ("unfinished", slice.open.then_some(1));
        for (name, value) in slice.numbers.into_iter().chain([open]) {
            if let Some(value) = value {
                key(out, name);
                number(out, value);
                out.push(b',');
            }
        }
        if out.len() > start {
            out.pop();
        }
        out.extend(b"}}");
        let last = place.end.saturating_sub(1).max(place.start);
        self.arrows(out, ids, (place.start, true), slice.flows.starts);
        self.arrows(out, ids, (place.start, false), slice.flows.births);
        self.arrows(out, ids, (last, false), slice.flows.wakes);
    }

    fn instant(&mut self, out: &mut Vec<u8>, tracks: &Tracks, instant: &Instant<'_>) {
        let ids = self.ids(out, tracks, instant.thread, 0);
        self.begin(out, "i", instant.name, ids);
        micros(out, instant.ts.saturating_sub(self.origin));
        out.extend(b",\"s\":\"t\",\"cat\":");
        string(out, instant.category);
        if let Some(details) = instant.details {
            out.extend(b",\"args\":{\"details\":");
            string(out, details);
            out.push(b'}');
        }
        out.push(b'}');
        self.arrows(out, ids, (instant.ts, true), instant.starts);
        self.arrows(out, ids, (instant.ts, false), instant.ends);
    }

    fn sample(&mut self, out: &mut Vec<u8>, tracks: &Tracks, sample: Sample) {
        let (what, process) = sample.counter;
        let track = process.and_then(|process| tracks.processes.get(process as usize));
        let pid = track.map_or_else(|| tracks.free_number(0), |track| track.number);
        self.begin(out, "C", what.text(), (pid, pid));
        micros(out, sample.ts.saturating_sub(self.origin));
        out.extend(b",\"args\":{\"value\":");
        if what == What::InFlight {
            out.extend(format!("{:.6}", sample.value).as_bytes());
        } else {
            number(out, sample.value as i64);
        }
        out.extend(b"}}");
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        out.extend(b"\n]}\n");
    }
}
