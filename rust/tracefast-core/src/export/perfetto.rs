//! The protobuf of Perfetto: `protos/perfetto/trace/perfetto_trace.proto` of its repository.
//!
//! One sequence of packets. Names are interned: a packet that uses one for the first time has it,
//! and when many are known, all are forgotten together, so memory stays bounded.

use crate::export::counters::{Counter, Sample, What};
use crate::export::lanes::LANES;
use crate::export::plan::Plan;
use crate::export::timeline::{Form, Instant, Slice};
use crate::export::tracks::Tracks;
use crate::hash::HashMap;

/// Bytes of interned texts that are remembered.
const MOST_TEXT: usize = 16 << 20;

/// `BUILTIN_CLOCK_BOOTTIME` and `BUILTIN_CLOCK_REALTIME`.
const BOOTTIME: u64 = 6;
const REALTIME: u64 = 1;

/// Times after this (September 2001) are dates, and not seconds since a machine was started.
const DATES: i64 = 1_000_000_000_000_000_000;

// Numbers of fields.
mod field {
    pub(super) const PACKET: u32 = 1;
    pub(super) const CLOCK_SNAPSHOT: u32 = 6;
    pub(super) const TIMESTAMP: u32 = 8;
    pub(super) const SEQUENCE: u32 = 10;
    pub(super) const TRACK_EVENT: u32 = 11;
    pub(super) const INTERNED: u32 = 12;
    pub(super) const SEQUENCE_FLAGS: u32 = 13;
    pub(super) const CLOCK: u32 = 58;
    pub(super) const DEFAULTS: u32 = 59;
    pub(super) const TRACK: u32 = 60;
}

const CLEARED: u64 = 1;
const NEEDS_STATE: u64 = 2;

const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;

/// Names of arguments and categories, which each state has from its start on.
const ARGUMENTS: [&str; 9] =
    ["path", "path2", "error", "fd", "ret", "bytes", "offset", "line", "unfinished"];
const CATEGORIES: [&str; 4] = ["syscall", "signal", "exit", "sched"];

/// Writes a message.
#[derive(Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u32, value: u64) {
        self.varint(u64::from(field) << 3);
        self.varint(value);
    }

    fn fixed(&mut self, field: u32, value: u64) {
        self.varint(u64::from(field) << 3 | 1);
        self.0.extend(value.to_le_bytes());
    }

    fn bytes(&mut self, field: u32, value: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend(value);
    }

    /// A message in this one.
    fn with(&mut self, field: u32, fill: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        fill(&mut inner);
        self.bytes(field, &inner.0);
    }
}

#[derive(Debug, Default)]
pub(crate) struct Perfetto {
    names: Vec<bool>,
    texts: HashMap<Box<str>, u64>,
    text_bytes: usize,
    counters: HashMap<Counter, ()>,
    lanes: HashMap<(u32, usize), ()>,
    interned: Message,
    event: Message,
    value: Message,
    packet: Message,
}

fn process_track(process: u32) -> u64 {
    u64::from(process) * 32 + 1
}

fn counter_track((what, process): Counter) -> u64 {
    // The counter of all processes has a number that no lane and no process has.
    process.map_or(2, |process| u64::from(process) * 32 + 3 + 2 * what as u64)
}

fn thread_track(thread: u32, lane: usize) -> u64 {
    (u64::from(thread) + 1) * 2 * LANES as u64 + 2 * lane as u64
}

impl Perfetto {
    /// Forgets all names, at the start and when they are many.
    fn clear(&mut self, out: &mut Vec<u8>) {
        self.names.clear();
        self.texts.clear();
        self.text_bytes = 0;
        let mut packet = Message::default();
        packet.number(field::SEQUENCE, 1);
        packet.number(field::SEQUENCE_FLAGS, CLEARED);
        packet.with(field::DEFAULTS, |defaults| defaults.number(field::CLOCK, BOOTTIME));
        packet.with(field::INTERNED, |interned| {
            for (iid, name) in (1..).zip(CATEGORIES) {
                interned.with(1, |one| {
                    one.number(1, iid);
                    one.bytes(2, name.as_bytes());
                });
            }
            for (iid, name) in (1..).zip(ARGUMENTS) {
                interned.with(3, |one| {
                    one.number(1, iid);
                    one.bytes(2, name.as_bytes());
                });
            }
        });
        write(out, &packet);
    }

    fn track(out: &mut Vec<u8>, fill: impl FnOnce(&mut Message)) {
        let mut packet = Message::default();
        packet.number(field::SEQUENCE, 1);
        packet.with(field::TRACK, fill);
        write(out, &packet);
    }

    /// Starts an event of a type on a track.
    fn begin(&mut self, kind: u64, track: u64) {
        self.event.0.clear();
        self.interned.0.clear();
        self.event.number(9, kind);
        self.event.number(11, track);
    }

    /// Writes the event.
    fn send(&mut self, out: &mut Vec<u8>, ts: i64) {
        let packet = &mut self.packet;
        packet.0.clear();
        packet.number(field::TIMESTAMP, ts as u64);
        packet.number(field::SEQUENCE, 1);
        packet.number(field::SEQUENCE_FLAGS, NEEDS_STATE);
        if !self.interned.0.is_empty() {
            packet.bytes(field::INTERNED, &self.interned.0);
        }
        packet.bytes(field::TRACK_EVENT, &self.event.0);
        write(out, packet);
    }

    fn name(&mut self, (number, name): (u32, &str)) {
        let at = number as usize;
        let iid = u64::from(number) + 1;
        if self.names.len() <= at {
            self.names.resize(at + 1, false);
        }
        if let Some(known) = self.names.get_mut(at)
            && !std::mem::replace(known, true)
        {
            self.interned.with(2, |one| {
                one.number(1, iid);
                one.bytes(2, name.as_bytes());
            });
        }
        self.event.number(10, iid);
    }

    fn text(&mut self, argument: u64, text: &str) {
        let new = self.texts.len() as u64 + 1;
        let iid = if let Some(&iid) = self.texts.get(text) {
            iid
        } else {
            self.texts.insert(text.into(), new);
            self.text_bytes += text.len() + 64;
            self.interned.with(29, |one| {
                one.number(1, new);
                one.bytes(2, text.as_bytes());
            });
            new
        };
        self.value.0.clear();
        self.value.number(1, argument);
        self.value.number(17, iid);
        self.event.bytes(4, &self.value.0);
    }

    fn argument(&mut self, name: &str, value: i64) {
        let iid = ARGUMENTS.iter().position(|&one| one == name).map_or(0, |at| at as u64 + 1);
        self.value.0.clear();
        self.value.number(1, iid);
        self.value.number(4, value as u64);
        self.event.bytes(4, &self.value.0);
    }

    /// Numbers of arrows that start or pass here, and of those that end.
    fn flows(&mut self, starts: &[u64], ends: &[u64]) {
        for &flow in starts {
            self.event.fixed(47, flow);
        }
        for &flow in ends {
            self.event.fixed(48, flow);
        }
    }

    fn lane(&mut self, out: &mut Vec<u8>, thread: u32, lane: usize) {
        if lane == 0 || self.lanes.insert((thread, lane), ()).is_some() {
            return;
        }
        Self::track(out, |track| {
            track.number(1, thread_track(thread, lane));
            track.number(5, thread_track(thread, 0));
            track.bytes(2, format!("overlapping calls {lane}").as_bytes());
        });
    }
}

fn write(out: &mut Vec<u8>, packet: &Message) {
    let mut whole = Message(std::mem::take(out));
    whole.bytes(field::PACKET, &packet.0);
    *out = whole.0;
}

impl Form for Perfetto {
    fn start(&mut self, out: &mut Vec<u8>, plan: &Plan) {
        let first = plan.span.map_or(0, |(first, _)| first);
        let mut packet = Message::default();
        packet.number(field::SEQUENCE, 1);
        packet.with(field::CLOCK_SNAPSHOT, |snapshot| {
            let clocks: &[u64] = if first >= DATES { &[BOOTTIME, REALTIME] } else { &[BOOTTIME] };
            for &clock in clocks {
                snapshot.with(1, |one| {
                    one.number(1, clock);
                    one.number(2, first as u64);
                });
            }
            snapshot.number(2, BOOTTIME);
        });
        write(out, &packet);
        self.clear(out);
        for (at, process) in (0..).zip(&plan.tracks.processes) {
            Self::track(out, |track| {
                track.number(1, process_track(at));
                track.with(3, |one| {
                    one.number(1, process.number as u64);
                    one.bytes(6, process.name.as_bytes());
                });
            });
        }
        for (at, thread) in (0..).zip(&plan.tracks.threads) {
            let Some(process) = plan.tracks.processes.get(thread.process as usize) else {
                continue;
            };
            Self::track(out, |track| {
                track.number(1, thread_track(at, 0));
                track.number(5, process_track(thread.process));
                track.with(4, |one| {
                    one.number(1, process.number as u64);
                    one.number(2, thread.number as u64);
                    let leads = thread.number == process.number;
                    let name = thread.name.as_deref().or(leads.then_some(&*process.name));
                    if let Some(name) = name {
                        one.bytes(5, name.as_bytes());
                    }
                });
            });
        }
    }

    fn slice(&mut self, out: &mut Vec<u8>, _tracks: &Tracks, slice: &Slice<'_>) {
        if self.text_bytes > MOST_TEXT {
            self.clear(out);
        }
        let lane = slice.place.lane;
        self.lane(out, slice.thread, lane);
        let track = thread_track(slice.thread, lane);
        self.begin(BEGIN, track);
        self.event.number(3, 1);
        self.name(slice.name);
        for (iid, text) in (1..).zip([slice.path, slice.path2, slice.error]) {
            if let Some(text) = text {
                self.text(iid, text);
            }
        }
        for (name, value) in slice.numbers {
            if let Some(value) = value {
                self.argument(name, value);
            }
        }
        if slice.open {
            self.argument("unfinished", 1);
        }
        self.flows(slice.flows.starts, slice.flows.births);
        self.send(out, slice.place.start);
        self.begin(END, track);
        self.flows(&[], slice.flows.wakes);
        self.send(out, slice.place.end);
    }

    fn instant(&mut self, out: &mut Vec<u8>, _tracks: &Tracks, instant: &Instant<'_>) {
        self.begin(INSTANT, thread_track(instant.thread, 0));
        let category = CATEGORIES.iter().position(|&one| one == instant.category);
        self.event.number(3, category.map_or(0, |at| at as u64 + 1));
        self.event.bytes(23, instant.name.as_bytes());
        if let Some(details) = instant.details {
            self.event.with(4, |one| {
                one.bytes(10, b"details");
                one.bytes(6, details.as_bytes());
            });
        }
        self.flows(instant.starts, instant.ends);
        self.send(out, instant.ts);
    }

    fn sample(&mut self, out: &mut Vec<u8>, _tracks: &Tracks, sample: Sample) {
        let (what, process) = sample.counter;
        let uuid = counter_track(sample.counter);
        if self.counters.insert(sample.counter, ()).is_none() {
            Self::track(out, |track| {
                track.number(1, uuid);
                if let Some(process) = process {
                    track.number(5, process_track(process));
                }
                track.bytes(2, what.text().as_bytes());
                track.with(8, |counter| counter.number(3, if what.is_bytes() { 3 } else { 2 }));
            });
        }
        self.begin(COUNTER, uuid);
        if what == What::InFlight {
            self.event.fixed(44, sample.value.to_bits());
        } else {
            self.event.number(30, sample.value as i64 as u64);
        }
        self.send(out, sample.ts);
    }

    fn end(&mut self, _out: &mut Vec<u8>) {}
}
