//! What processes did, and how long they waited.

use crate::linux::waits::Time;

/// Times of calls.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spell {
    calls: u64,
    /// Calls whose duration is known.
    known: u64,
    ns: i64,
}

impl Spell {
    #[inline]
    pub(crate) fn add(&mut self, ns: Option<i64>) {
        self.calls += 1;
        if let Some(ns) = ns {
            self.known += 1;
            self.ns = self.ns.saturating_add(ns);
        }
    }

    pub(crate) fn join(&mut self, other: Self) {
        self.calls += other.calls;
        self.known += other.known;
        self.ns = self.ns.saturating_add(other.ns);
    }

    /// The time in all calls; None if there were calls but no durations.
    pub(crate) fn total(self) -> Option<i64> {
        (self.calls == 0 || self.known > 0).then_some(self.ns)
    }
}

/// What one task did, or all tasks of a process.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Work {
    pub(crate) calls: u64,
    pub(crate) io: Spell,
    pub(crate) wait: Spell,
    pub(crate) read: i64,
    pub(crate) written: i64,
}

impl Work {
    #[inline]
    pub(crate) fn spend(&mut self, time: Time, ns: Option<i64>) {
        match time {
            Time::Io => self.io.add(ns),
            Time::Wait => self.wait.add(ns),
            Time::Work => {}
        }
    }

    pub(crate) fn join(&mut self, other: &Self) {
        self.calls += other.calls;
        self.io.join(other.io);
        self.wait.join(other.wait);
        self.read = self.read.saturating_add(other.read);
        self.written = self.written.saturating_add(other.written);
    }
}
