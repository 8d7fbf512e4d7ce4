//! Messages that processes receive from those that they made.

use std::collections::VecDeque;

use crate::hash::HashMap;
use crate::linux::waits::{Giver, Time, spent};
use crate::tables::process_tracking::tracker::{TaskColumns, Tracker};
use crate::tables::waits::word_classes::Act;
use crate::tables::workers::batches::takers::{Message, Taker};
use crate::tables::workers::batches::traffic::{Channel, Given, Traffic};
use crate::tables::workers::batches::uses::Turn;
use crate::tables::workers::batches::work::{Work, Worker};
use crate::tables::workers::calls::{is_shared_memory, takes};
use crate::tables::workers::fold::WorkerColumns;
use crate::tables::workers::word_classes::{Held, Meaning};
use crate::text::number::c_integer;

/// Ancestors that are looked at to see whether one process made another.
const MOST_ANCESTORS: usize = 32;

/// Workers that are kept after their end.
const MOST_GONE: usize = 1024;

/// The messages so far.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    pub(crate) rows: Vec<Batch>,
    traffic: Traffic<Message>,
    takers: HashMap<u32, Taker>,
    /// By task, whether it ever was one of `takers`: most calls are of others.
    takes: Vec<bool>,
    /// By source and process.
    workers: HashMap<(u32, i32), Worker>,
    /// Workers that ended, the oldest first: their maker may take what they sent later.
    gone: VecDeque<(u32, i32)>,
}

/// A message from a worker: a row of the table.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) taker: u32,
    pub(crate) taker_tid: Option<i32>,
    pub(crate) giver: u32,
    pub(crate) line: u64,
    /// When the receiver asked for the message, or for the first that came instead of it; since when
    /// it waited, when it had the message, and when also the memory.
    asked: i64,
    since: i64,
    had: i64,
    pub(crate) end: i64,
    /// It came while the receiver waited for another one, and no log shows when it was used.
    early: bool,
    pub(crate) bytes: i64,
    pub(crate) busy_ns: Option<i64>,
    /// When its sender had given it.
    given: i64,
    pub(crate) work: Option<Box<Work>>,
}

/// A call.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) tracker: &'a Tracker,
    pub(crate) row: usize,
    pub(crate) task: u32,
    pub(crate) source: u32,
    pub(crate) ts: i64,
    pub(crate) dur: Option<i64>,
    pub(crate) meaning: Meaning,
}

impl Call<'_> {
    fn end(&self) -> i64 {
        self.ts.saturating_add(self.dur.unwrap_or(0))
    }

    fn pid(&self, task: u32) -> Option<i32> {
        self.tracker.tasks.get(task as usize)?.pid.get()
    }

    fn tid(&self, task: u32) -> Option<i32> {
        self.tracker.tasks.get(task as usize)?.tid.get()
    }

    /// Whether a process made another one, or a process that made it.
    fn is_ancestor(&self, process: i32, of: u32) -> bool {
        let mut task = of;
        for _ in 0..MOST_ANCESTORS {
            let birth = self.tracker.tasks.get(task as usize).and_then(|task| task.birth);
            let Some(birth) = birth else { return false };
            task = birth.parent;
            if self.pid(task) == Some(process) {
                return true;
            }
        }
        false
    }
}

impl Batch {
    /// How long the receiver waited for it; null if that is not known.
    pub(crate) fn wait_ns(&self) -> Option<i64> {
        (!self.early).then(|| self.end.saturating_sub(self.since).max(0))
    }

    /// What is part of the wait, after the message had come.
    pub(crate) fn take_over_ns(&self) -> Option<i64> {
        (!self.early).then(|| self.end.saturating_sub(self.had).max(0))
    }

    /// What the worker spent its time on, or that the message was there before the maker asked.
    pub(crate) fn cause(&self) -> Option<&'static str> {
        if self.early || self.given <= self.asked {
            return Some("queue");
        }
        let (work, busy) = self.work.as_deref().zip(self.busy_ns)?;
        let computing = busy.saturating_sub(work.read_ns).saturating_sub(work.wait_ns);
        let most = work.read_ns.max(work.wait_ns).max(computing);
        Some(match most {
            ns if ns == computing => "computing",
            ns if ns == work.read_ns => "reading",
            _ => "waiting",
        })
    }
}

impl Messages {
    /// A task called something.
    pub(crate) fn call(
        &mut self,
        (tasks, own): (&TaskColumns<'_>, &mut WorkerColumns<'_>),
        at: &Call<'_>,
    ) {
        let act = at.meaning.act;
        let may_begin = matches!(
            act,
            Act::Pipe
                | Act::SocketPair
                | Act::Take
                | Act::Give
                | Act::Poll
                | Act::Select
                | Act::EpollWait
        );
        if !may_begin && self.takes.get(at.task as usize) != Some(&true) {
            return;
        }
        let ofd = |which: usize| own.ofd.get(which).and_then(|ofd| ofd.get(at.row));
        let (ret, fd) = (tasks.ret.get(at.row), own.fd.get(at.row));
        let from = if act == Act::Take {
            ofd(0).and_then(|ofd| self.traffic.taken_from(at.source, ofd))
        } else {
            None
        };
        // A thread of Python may wait for its interpreter's lock, or get memory, within a message.
        let goes_on = matches!(
            act,
            Act::Take
                | Act::Give
                | Act::Poll
                | Act::Select
                | Act::EpollWait
                | Act::Sleep
                | Act::Open
        );
        if goes_on && let Some(taker) = self.takers.get_mut(&at.task) {
            let shared = || tasks.path.get(at.row).is_some_and(is_shared_memory);
            if let Some(taking) = taker.goes_on(from) {
                let message = taker.message(at.task, None, taking);
                self.whole(at, message);
            } else if act == Act::Take && from.is_some() {
                taker.asks();
            } else if act == Act::Take {
                taker.moves_on();
            } else if act == Act::Open && !shared() {
                taker.opens();
            }
        }
        let bytes = || own.bytes.get(at.row).or(ret).unwrap_or(0);
        match act {
            Act::Pipe | Act::SocketPair if ret == Some(0) => {
                let Some((one, other)) = ofd(0).zip(ofd(1)) else { return };
                if act == Act::Pipe {
                    self.traffic.pipe(at.source, one, other);
                } else {
                    self.traffic.socket_pair(at.source, one, other);
                }
            }
            Act::Take => {
                let bytes = bytes();
                if let Some(channel) = from {
                    self.waits_for_job(at, fd);
                    if bytes > 0 {
                        let line = own.line.get(at.row).unwrap_or(at.tracker.row);
                        let requested = own.requested.get(at.row);
                        return self.took(at, (channel, fd), (bytes, requested), line);
                    }
                } else if bytes > 0
                    && self.takers.get(&at.task).is_some_and(|taker| taker.taken_over().is_some())
                    && tasks.args.get(at.row).is_some_and(|args| args.contains("SCM_RIGHTS"))
                {
                    self.received(at);
                }
            }
            Act::Give => {
                let to = ofd(0).and_then(|ofd| self.traffic.given_to(at.source, ofd));
                if let Some(channel) = to
                    && bytes() > 0
                {
                    return self.gave(at, channel, bytes());
                }
                if to.is_none()
                    && let Some(taker) = self.takers.get_mut(&at.task)
                {
                    taker.writes();
                }
            }
            Act::Sleep => self.sleeps(at),
            Act::Poll | Act::Select | Act::EpollWait => {
                let fd = only_descriptor(tasks.args.get(at.row).unwrap_or_default());
                if fd == Some(NO_DESCRIPTOR) {
                    self.sleeps(at);
                } else {
                    let found = ret.is_some_and(|ret| ret > 0);
                    let took = at.dur.unwrap_or(0);
                    self.taker(at.task).asked(fd, at.ts, took, found);
                    self.waits_for_job(at, fd);
                }
            }
            _ => self.takes_over((tasks, own), at),
        }
        self.works((tasks, own), at);
    }

    /// A task ended; `leads` if it is the first one of its process.
    pub(crate) fn ended(&mut self, task: u32, source: u32, leads: Option<i32>) {
        if let Some(turn) = self.takers.remove(&task).and_then(|mut taker| taker.ended()) {
            self.used(&turn);
        }
        let Some(key) = leads.map(|pid| (source, pid)) else { return };
        if !self.workers.contains_key(&key) {
            return;
        }
        self.gone.push_back(key);
        if self.gone.len() > MOST_GONE
            && let Some(oldest) = self.gone.pop_front()
        {
            self.workers.remove(&oldest);
        }
    }

    /// All events are in.
    pub(crate) fn finish(&mut self) {
        for mut taker in std::mem::take(&mut self.takers).into_values() {
            if let Some(turn) = taker.ended() {
                self.used(&turn);
            }
        }
    }

    fn taker(&mut self, task: u32) -> &mut Taker {
        let at = task as usize;
        if self.takes.len() <= at {
            self.takes.resize(at + 1, false);
        }
        self.takes[at] = true;
        self.takers.entry(task).or_default()
    }

    /// The worker that a task works for, if it is the thread that takes the jobs.
    fn worker(&mut self, at: &Call<'_>) -> Option<&mut Worker> {
        if self.workers.is_empty() {
            return None;
        }
        let worker = self.workers.get_mut(&(at.source, at.pid(at.task)?))?;
        (worker.task == at.task).then_some(worker)
    }

    /// A worker waits for its next job.
    fn waits_for_job(&mut self, at: &Call<'_>, fd: Option<i32>) {
        if let Some(worker) = self.worker(at)
            && fd.is_some()
            && worker.fd == fd
        {
            worker.ended();
        }
    }

    /// A call of a worker while it has a job.
    fn works(&mut self, (tasks, own): (&TaskColumns<'_>, &mut WorkerColumns<'_>), at: &Call<'_>) {
        let Some(job) = self.worker(at).and_then(Worker::current) else { return };
        let path = tasks.path.get(at.row);
        let held = own.held.get(at.row, Held::from_file_type);
        let giver = held.map_or(Giver::Unknown, |held| held.giver).known_as(|| path);
        let reads = (takes(at.meaning.act) && giver == Giver::Storage)
            .then(|| (own.bytes.get(at.row).unwrap_or(0), own.file.get(at.row), path));
        let time = match reads {
            Some(_) => Time::Io,
            None => spent(at.meaning.time, giver, at.dur),
        };
        job.call(time, at.dur, reads);
    }

    fn took(
        &mut self,
        at: &Call<'_>,
        (channel, fd): (u32, Option<i32>),
        (bytes, requested): (i64, Option<i64>),
        line: u64,
    ) {
        let taker = self.taker(at.task);
        let whole = taker.took((channel, fd), (bytes, requested), (at.ts, at.end()), line);
        let message = whole.map(|taking| taker.message(at.task, fd, taking));
        if let Some(channel) = self.traffic.get_mut(channel) {
            channel.take(bytes);
        }
        if let Some(message) = message {
            self.whole(at, message);
        }
    }

    /// A task has taken all of a message.
    fn whole(&mut self, at: &Call<'_>, message: Message) {
        let Some(channel) = self.traffic.get_mut(message.channel) else { return };
        channel.taker = at.pid(message.task);
        channel.end_message(message);
        self.deliver(at, message.channel);
    }

    fn gave(&mut self, at: &Call<'_>, number: u32, bytes: i64) {
        let Some(channel) = self.traffic.get_mut(number) else { return };
        channel.give(at.task, bytes, (at.ts, at.end()));
        let taker = channel.taker;
        if let Some(worker) = self.worker(at)
            && (taker.is_none() || taker == worker.maker)
        {
            worker.ended();
        }
        self.deliver(at, number);
    }

    /// Messages whose sender is known.
    fn deliver(&mut self, at: &Call<'_>, number: u32) {
        while let Some((given, message)) =
            self.traffic.get_mut(number).and_then(Channel::next_message)
        {
            self.delivered(at, given, message);
        }
    }

    fn delivered(&mut self, at: &Call<'_>, given: Given, message: Message) {
        let pids = at.pid(given.task).zip(at.pid(message.task));
        let Some((giver, taker)) = pids.filter(|(giver, taker)| giver != taker) else { return };
        if at.is_ancestor(taker, given.task) {
            let worker = self.workers.get_mut(&(at.source, giver));
            let work = worker.and_then(|worker| worker.done(given.ts)).map(Box::new);
            let number = self.rows.len() as u32;
            let mut end = message.end;
            if let Some(taker) = self.takers.get_mut(&message.task) {
                if taker.messages == message.number {
                    end = taker.taken_over().unwrap_or(end).max(end);
                }
                taker.has_row(number, &message);
            }
            self.rows.push(Batch {
                taker: message.task,
                taker_tid: at.tid(message.task),
                giver: given.task,
                line: message.line,
                asked: message.asked,
                since: message.since,
                had: message.end,
                end,
                early: false,
                bytes: message.bytes,
                busy_ns: work.as_ref().map(|work| given.ts.saturating_sub(work.begun).max(0)),
                given: given.end,
                work,
            });
        } else if at.is_ancestor(giver, message.task) {
            let worker = self
                .workers
                .entry((at.source, taker))
                .or_insert_with(|| Worker::new(message.task, message.channel));
            worker.took(message.task, message.channel, message.end);
            (worker.fd, worker.maker) = (message.fd, Some(giver));
        }
    }

    /// A task received descriptors: those of the message that it last took.
    fn received(&mut self, at: &Call<'_>) {
        if let Some(taker) = self.takers.get_mut(&at.task) {
            taker.received(at.end());
            self.taken_over(at.task);
        }
    }

    /// A task sleeps.
    fn sleeps(&mut self, at: &Call<'_>) {
        if let Some(taker) = self.takers.get_mut(&at.task)
            && taker.sleeps((at.ts, at.end()))
        {
            self.taken_over(at.task);
        }
    }

    /// A call that may be part of taking over a message.
    fn takes_over(
        &mut self,
        (tasks, own): (&TaskColumns<'_>, &mut WorkerColumns<'_>),
        at: &Call<'_>,
    ) {
        let Some(taker) = self.takers.get_mut(&at.task) else { return };
        // What is unmapped later is no longer memory of a message.
        if !taker.is_taking_over() && !matches!(at.meaning.act, Act::Unmap | Act::Close) {
            return;
        }
        let times = (at.ts, at.end());
        let path = || tasks.path.get(at.row);
        let description = own.ofd[0].get(at.row);
        let takes_over = match at.meaning.act {
            Act::Map => {
                let maps_file = own.fd.get(at.row).is_some_and(|fd| fd >= 0);
                let address = tasks.ret.get(at.row).filter(|&ret| ret != -1 && maps_file);
                let shared = path().map(is_shared_memory);
                address.is_some_and(|address| {
                    let place = (address, description);
                    shared != Some(false) && taker.maps(place, shared.is_some(), times)
                })
            }
            Act::Unmap if taker.has_maps() => {
                let args = tasks.args.get(at.row).unwrap_or_default();
                let (takes_over, turn) = taker.unmaps(c_integer(args.as_bytes()).0, times);
                if let Some(turn) = turn {
                    self.used(&turn);
                }
                takes_over
            }
            Act::Unmap => false,
            act => {
                let shared = path().is_some_and(is_shared_memory);
                let takes_over = taker.is_taking_over() && taker.uses(description, shared, times);
                if act == Act::Close && !takes_over {
                    taker.closes(description, at.ts);
                }
                takes_over
            }
        };
        if takes_over {
            self.taken_over(at.task);
        }
    }

    /// How a task got a message that it has used is known. What it waited for those that came
    /// meanwhile is part of the wait for this one; one that had come early took the place of the one
    /// that the task then gave back.
    fn used(&mut self, turn: &Turn) {
        let mut first = None;
        for &early in &turn.early {
            let Some(row) = self.rows.get_mut(early as usize) else { continue };
            first = first.or(Some((row.asked, row.since)));
            row.early = true;
        }
        let Some(row) = self.rows.get_mut(turn.row as usize) else { return };
        (row.asked, row.since) = first.unwrap_or((row.asked, row.since));
        if let Some((since, end)) = turn.bound {
            (row.asked, row.since, row.had, row.end) = (since, since, since, end);
            row.early = false;
        }
    }

    /// A task has taken over more of its last message: until then it has not got all of it.
    fn taken_over(&mut self, task: u32) {
        let Some(taker) = self.takers.get(&task) else { return };
        if let Some((row, number)) = taker.row
            && number == taker.messages
            && let Some(row) = self.rows.get_mut(row as usize)
            && let Some(end) = taker.taken_over()
        {
            row.end = row.end.max(end);
        }
    }
}

/// What poll and select have where they wait for no descriptor at all.
const NO_DESCRIPTOR: i32 = -1;

/// The descriptor of a call that waits for a single one; [`NO_DESCRIPTOR`] if it waits for none.
fn only_descriptor(args: &str) -> Option<i32> {
    let number = |text: &str| {
        let (value, n) = c_integer(text.as_bytes());
        (n > 0).then(|| i32::try_from(value).ok()).flatten()
    };
    if let Some(rest) = args.strip_prefix("[{fd=") {
        let single = !rest.contains("{fd=");
        return number(rest).filter(|_| single);
    }
    // select(2): the highest descriptor and one, then the sets.
    match args.split_once(", ") {
        Some(("0", _)) => Some(NO_DESCRIPTOR),
        Some((_, sets)) => {
            let (set, rest) = sets.strip_prefix('[')?.split_once(']')?;
            number(set).filter(|_| !set.contains(' ') && rest.starts_with(", NULL, NULL"))
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_descriptors() {
        for (args, fd) in [
            ("[{fd=3<pipe:[5]>, events=POLLIN}], 1, 5000", Some(3)),
            ("[{fd=3, events=POLLIN}, {fd=4, events=POLLIN}], 2, -1", None),
            ("0, NULL, NULL, NULL, {tv_sec=0, tv_nsec=5000000}, NULL", Some(NO_DESCRIPTOR)),
            ("8, [7], NULL, NULL, NULL", Some(7)),
            ("8, [5 7], NULL, NULL, NULL", None),
            ("4, [], 64, -1", None),
            ("0x7ffe, 1, -1", None),
        ] {
            assert_eq!(only_descriptor(args), fd, "{args}");
        }
    }
}
