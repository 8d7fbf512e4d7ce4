//! Counters over time: few values, each of them right at its time.

use crate::hash::HashMap;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum What {
    Read,
    Written,
    OpenDescriptors,
    AnonymousMemory,
    /// Of all processes.
    InFlight,
}

impl What {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Read => "bytes read",
            Self::Written => "bytes written",
            Self::OpenDescriptors => "open descriptors",
            Self::AnonymousMemory => "anonymous memory",
            Self::InFlight => "calls in flight",
        }
    }

    pub(crate) fn is_bytes(self) -> bool {
        matches!(self, Self::Read | Self::Written | Self::AnonymousMemory)
    }
}

/// A counter; without a process, of all of them.
pub(crate) type Counter = (What, Option<u32>);

/// A value from a time on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    pub(crate) counter: Counter,
    pub(crate) ts: i64,
    pub(crate) value: f64,
}

/// Into how many parts the time of the log is divided: no screen shows more.
const PARTS: i64 = 10_000;

#[derive(Debug, Clone, Copy)]
struct State {
    sum: i64,
    waiting: Option<(i64, i64)>,
    /// The end of the part in which the last value was given.
    until: i64,
    last: i64,
}

/// All counters. Of values that change within a ten-thousandth of the log's time, the last one is
/// given.
#[derive(Debug)]
pub(crate) struct Counters {
    part: i64,
    states: HashMap<Counter, State>,
    flight: Flight,
}

impl Counters {
    pub(crate) fn new(span: Option<(i64, i64)>) -> Self {
        let (first, last) = span.unwrap_or_default();
        let part = last.saturating_sub(first) / PARTS + 1;
        Self { part, states: HashMap::default(), flight: Flight::new(first, part) }
    }

    fn state(&mut self, counter: Counter) -> &mut State {
        let new = State { sum: 0, waiting: None, until: i64::MIN, last: i64::MIN };
        self.states.entry(counter).or_insert(new)
    }

    /// Adds to a sum.
    pub(crate) fn add(&mut self, counter: Counter, ts: i64, more: i64) -> Option<Sample> {
        let state = self.state(counter);
        state.sum = state.sum.saturating_add(more);
        let sum = state.sum;
        self.set(counter, ts, sum)
    }

    /// Sets a value. Returns an earlier one, if that cannot change any more.
    pub(crate) fn set(&mut self, counter: Counter, ts: i64, value: i64) -> Option<Sample> {
        let part = self.part;
        let state = self.state(counter);
        let ts = ts.max(state.last);
        state.last = ts;
        let given = state.waiting.filter(|_| ts >= state.until);
        if given.is_some() || state.waiting.is_none() {
            state.until = ts.saturating_add(part);
        }
        state.waiting = Some((ts, value));
        given.map(|(ts, value)| Sample { counter, ts, value: float(value) })
    }

    /// A call was in progress.
    pub(crate) fn ran(&mut self, start: i64, end: i64) {
        self.flight.ran(start, end);
    }

    /// What is left at the end.
    pub(crate) fn rest(&self) -> Vec<Sample> {
        let waiting = self.states.iter().filter_map(|(&counter, state)| {
            let (ts, value) = state.waiting?;
            Some(Sample { counter, ts, value: float(value) })
        });
        let mut rest: Vec<_> = waiting.collect();
        rest.sort_by_key(|sample| (sample.counter.1, sample.counter.0 as u8));
        rest.extend(self.flight.samples());
        rest
    }
}

#[allow(clippy::cast_precision_loss)] // Only above 2^53.
fn float(value: i64) -> f64 {
    value as f64
}

/// How many calls were in progress on average, in each part of the log's time.
#[derive(Debug)]
struct Flight {
    first: i64,
    part: i64,
    /// By part: nanoseconds of calls that begin or end in it, and how many more calls fill it whole
    /// than the one before.
    partial: Vec<i64>,
    whole: Vec<i64>,
}

impl Flight {
    fn new(first: i64, part: i64) -> Self {
        let parts = PARTS as usize + 2;
        Self { first, part, partial: vec![0; parts], whole: vec![0; parts] }
    }

    fn ran(&mut self, start: i64, end: i64) {
        let place = |ts: i64| {
            let since = ts.saturating_sub(self.first).clamp(0, self.part.saturating_mul(PARTS));
            ((since / self.part) as usize, since % self.part)
        };
        let ((from, skipped), (to, used)) = (place(start), place(end));
        if from == to {
            self.add(from, used - skipped);
            return;
        }
        self.add(from, self.part - skipped);
        self.add(to, used);
        if let Some(more) = self.whole.get_mut(from + 1) {
            *more += 1;
        }
        if let Some(less) = self.whole.get_mut(to) {
            *less -= 1;
        }
    }

    fn add(&mut self, part: usize, ns: i64) {
        if let Some(partial) = self.partial.get_mut(part) {
            *partial = partial.saturating_add(ns);
        }
    }

    fn samples(&self) -> Vec<Sample> {
        let counter = (What::InFlight, None);
        let mut found = Vec::new();
        let (mut ts, mut whole, mut last) = (self.first, 0, 0.0);
        for (&partial, &more) in self.partial.iter().zip(&self.whole) {
            whole += more;
            let value = float(whole) + float(partial) / float(self.part);
            if (value - last).abs() > f64::EPSILON {
                found.push(Sample { counter, ts, value });
                last = value;
            }
            ts = ts.saturating_add(self.part);
        }
        found
    }
}
