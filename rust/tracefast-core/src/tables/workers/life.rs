//! What one live process does, as far as it may be a worker.

use crate::hash::HashMap;
use crate::tables::memory::row::Row;
use crate::tables::packed::Packed;
use crate::tables::process_tracking::launcher::WorkerRole;
use crate::tables::ranges::Ranges;
use crate::tables::workers::channels::{Ofd, Request};
use crate::tables::workers::framing::{is_length, length};
use crate::tables::workers::growth::Growth;
use crate::tables::workers::steps::Steps;

/// Channels of a process that are remembered, the first ones.
const MOST_CHANNELS: usize = 8;

/// Names of phases that are remembered, the first ones.
const MOST_PHASES: usize = 8;

/// What a process had done when it was ready for its first job.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ready {
    pub(crate) ts: Packed<i64>,
    pub(crate) calls: u64,
    pub(crate) modules: u32,
    pub(crate) module_bytes: i64,
    /// Time in calls on modules, and from one to the next.
    pub(crate) module_ns: i64,
    /// Its anonymous memory.
    pub(crate) anon: Packed<i64>,
}

/// A pipe or socket from which a process takes.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) ofd: Ofd,
    /// When it first waited for it.
    pub(crate) ready: Ready,
    pub(crate) messages: u64,
    /// Its messages are connections.
    pub(crate) accepts: bool,
    /// Its messages are jobs beyond doubt: they have lengths, or are connections.
    pub(crate) sure: bool,
    /// Bytes of the message that are still to come.
    left: i64,
    /// The memory of its process, from message to message.
    pub(crate) steps: Steps,
}

/// A file that a process read.
#[derive(Debug)]
pub(crate) struct FileRead {
    pub(crate) path: Option<Box<str>>,
    pub(crate) ranges: Ranges,
}

/// What a live process did.
#[derive(Debug, Default)]
pub(crate) struct Life {
    /// The role of its program, and the number of its form, if it is named; None if it started none.
    pub(crate) program: Option<(Option<WorkerRole>, Option<u32>)>,
    /// It gets all it needs through its first pipe, before any job: it was spawned, or a server
    /// forked it.
    pub(crate) prepared: bool,
    /// The connection by which a server was asked for it.
    pub(crate) request: Option<Request>,
    pub(crate) calls: u64,
    /// The latest end of one, or its row in a log without times.
    pub(crate) last: i64,
    /// Groups of calls that it made: `Meaning::bit`.
    pub(crate) bits: u64,
    /// Its first thread listened on a socket.
    pub(crate) listens: bool,
    /// What its first thread waited for others.
    pub(crate) wait_ns: i64,
    pub(crate) channels: Vec<Channel>,
    /// When it first waited for a semaphore that processes share.
    pub(crate) semaphore: Option<Ready>,
    /// Its first thread has watched descriptors since, and done nothing else.
    watching: Option<Ready>,
    /// Modules, and whether their size is known.
    modules: HashMap<u64, bool>,
    module_bytes: i64,
    module_ns: i64,
    /// When its last call on a module ended, if its first thread has moved no other data since.
    importing: Option<i64>,
    pub(crate) files: HashMap<u64, FileRead>,
    pub(crate) read_bytes: i64,
    pub(crate) shm_bytes: i64,
    pub(crate) growth: Growth,
    /// By name of phases, its memory from one to the next.
    phases: Vec<(u32, Steps)>,
}

impl Life {
    /// It started a program: what it did before is of another one.
    pub(crate) fn starts(&mut self, role: Option<WorkerRole>, form: Option<u32>) {
        *self = Self {
            program: Some((role, form)),
            prepared: role.is_some_and(WorkerRole::is_worker),
            calls: self.calls,
            last: self.last,
            wait_ns: self.wait_ns,
            growth: Growth::of_program(),
            ..Self::default()
        };
    }

    fn ready(&self, ts: Option<i64>) -> Ready {
        Ready {
            ts: ts.into(),
            calls: self.calls,
            modules: u32::try_from(self.modules.len()).unwrap_or(u32::MAX),
            module_bytes: self.module_bytes,
            module_ns: self.module_ns,
            anon: self.growth.now,
        }
    }

    /// Its first thread waits on several descriptors.
    pub(crate) fn watches(&mut self, ts: Option<i64>) {
        if self.watching.is_none() {
            self.watching = Some(self.ready(ts));
        }
    }

    /// Its first thread does something else.
    #[inline]
    pub(crate) fn looks_away(&mut self) {
        self.watching = None;
    }

    /// It takes from a channel, or tries to.
    pub(crate) fn takes(&mut self, ofd: Ofd, ts: Option<i64>) -> Option<&mut Channel> {
        if let Some(at) = self.channels.iter().position(|one| one.ofd == ofd) {
            return self.channels.get_mut(at);
        }
        if self.channels.len() == MOST_CHANNELS {
            return None;
        }
        let ready = self.watching.unwrap_or_else(|| self.ready(ts));
        self.channels.push(Channel {
            ofd,
            ready,
            messages: 0,
            accepts: false,
            sure: false,
            left: 0,
            steps: Steps::default(),
        });
        self.channels.last_mut()
    }

    /// It waits for a semaphore that processes share.
    pub(crate) fn waits_for_semaphore(&mut self, ts: Option<i64>) {
        if self.semaphore.is_none() && !(self.prepared && self.channels.is_empty()) {
            self.semaphore = Some(self.ready(ts));
        }
    }

    /// A call on a module of an interpreter, or a library: opened or mapped if `used`.
    pub(crate) fn module(&mut self, file: Option<u64>, size: Option<i64>, ns: i64, used: bool) {
        self.module_ns = self.module_ns.saturating_add(ns);
        let Some(file) = file else { return };
        if used {
            self.modules.entry(file).or_insert(false);
        }
        if let (Some(size), Some(known)) = (size, self.modules.get_mut(&file))
            && !std::mem::replace(known, true)
        {
            self.module_bytes = self.module_bytes.saturating_add(size);
        }
    }

    /// A call of its first thread: on a module, `aside` from one to the next, or something else. The
    /// time between is that of running the code of modules.
    pub(crate) fn imports(
        &mut self,
        module: bool,
        aside: bool,
        (ts, end): (Option<i64>, Option<i64>),
    ) {
        if module {
            if let Some((since, ts)) = self.importing.zip(ts) {
                let between = ts.saturating_sub(since).max(0);
                self.module_ns = self.module_ns.saturating_add(between);
            }
            self.importing = end;
        } else if !aside {
            self.importing = None;
        }
    }

    /// It read from a file.
    pub(crate) fn reads(
        &mut self,
        file: Option<u64>,
        path: Option<&str>,
        offset: Option<i64>,
        bytes: i64,
    ) {
        self.read_bytes = self.read_bytes.saturating_add(bytes);
        let Some(file) = file else { return };
        let read = self
            .files
            .entry(file)
            .or_insert_with(|| FileRead { path: path.map(Into::into), ranges: Ranges::default() });
        if let Some(offset) = offset {
            read.ranges.insert(offset, offset.saturating_add(bytes));
        }
    }

    /// Its memory changed.
    pub(crate) fn shows(&mut self, row: &Row) {
        let from = self.growth.from;
        self.growth.shows(row);
        if from.is_some() && from != self.growth.from {
            // What was counted otherwise compares with nothing.
            self.phases.clear();
            self.channels.iter_mut().for_each(|channel| channel.steps = Steps::default());
        }
        let Some(now) = self.growth.now.get() else { return };
        self.phases.iter_mut().for_each(|(_, steps)| steps.show(now));
        self.channels.iter_mut().for_each(|channel| channel.steps.show(now));
    }

    /// Its maker begins a phase with a name, the first one or another one.
    pub(crate) fn phase_begins(&mut self, name: u32, first: bool) {
        let Some((now, peak)) = self.growth.now.get().zip(self.growth.peak.get()) else { return };
        let at = self.phases.iter().position(|&(one, _)| one == name);
        let at = at.or_else(|| {
            (self.phases.len() < MOST_PHASES)
                .then(|| self.phases.push((name, Steps::default())))?;
            Some(self.phases.len() - 1)
        });
        let Some((_, steps)) = at.and_then(|at| self.phases.get_mut(at)) else { return };
        // It was made in an earlier one.
        if !first && steps.is_empty() {
            steps.begin(peak);
        }
        steps.begin(now);
    }

    /// The memory of its process from phase to phase: of those that began first of all that came
    /// again, as within them others may come again more often.
    pub(crate) fn by_phase(&self) -> Option<&Steps> {
        let again = self.phases.iter().filter(|(_, steps)| steps.after_first() > 0);
        again.min_by_key(|&&(name, _)| name).map(|(_, steps)| steps)
    }

    /// Takes in what one of its threads did before the log showed whose it is.
    pub(crate) fn join(&mut self, mut thread: Self) {
        self.calls += thread.calls;
        self.last = self.last.max(thread.last);
        self.bits |= thread.bits;
        self.read_bytes = self.read_bytes.saturating_add(thread.read_bytes);
        self.shm_bytes = self.shm_bytes.saturating_add(thread.shm_bytes);
        self.growth.write_faults += thread.growth.write_faults;
        for (file, mut read) in thread.files.drain() {
            match self.files.get_mut(&file) {
                Some(known) => known.ranges.absorb(&mut read.ranges, 0),
                None => _ = self.files.insert(file, read),
            }
        }
    }
}

impl Channel {
    /// A connection was accepted.
    pub(crate) fn accepted(&mut self) {
        (self.accepts, self.sure, self.messages) = (true, true, self.messages + 1);
    }

    /// Bytes were taken; `args` are those of the call. Where no length goes before, each read is a
    /// message.
    pub(crate) fn took(&mut self, requested: Option<i64>, bytes: i64, args: &str) {
        if bytes <= 0 {
            return;
        }
        if self.left > 0 {
            self.left = self.left.saturating_sub(bytes);
            return;
        }
        if !is_length(requested, bytes) {
            self.messages += 1;
            return;
        }
        self.sure = true;
        match length(args) {
            // Pickled, None takes 4 bytes, and no job does: it asks the worker to end.
            Some(4) => self.left = 4,
            // A longer length of 8 bytes follows.
            Some(-1) => (self.left, self.messages) = (i64::MAX, self.messages + 1),
            Some(length) => {
                (self.left, self.messages) = (i64::from(length.max(0)), self.messages + 1);
            }
            // The log does not show it: the next read takes the rest.
            None => (self.left, self.messages) = (1, self.messages + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_multiprocessing_are_counted_by_their_lengths() {
        let mut life = Life::default();
        let channel = life.takes((1, 7), Some(0)).expect("the first");
        for (requested, text, bytes) in [
            (4, r"\0\0\0\34", 4),
            (28, r"\200\4\225...", 20),
            (8, r"\0\0\0\0", 8),
            (4, r"\0\0@\n", 4),
            (16394, "...", 16394),
            // None.
            (4, r"\0\0\0\4", 4),
            (4, r"\200\5N.", 4),
        ] {
            channel.took(Some(requested), bytes, &format!("5<pipe:[7]>, \"{text}\", {requested}"));
        }
        assert_eq!((channel.messages, channel.left), (2, 0));
    }

    #[test]
    fn other_messages_are_reads() {
        let mut life = Life::default();
        let channel = life.takes((1, 7), Some(0)).expect("the first");
        channel.took(Some(4096), 12, r#"0, "image.jpg\n", 4096"#);
        channel.took(Some(4096), 0, r#"0, "", 4096"#);
        channel.took(Some(4096), 12, r#"0, "other.jpg\n", 4096"#);
        assert_eq!(channel.messages, 2);
    }
}
