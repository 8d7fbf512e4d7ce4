//! The lines of several logs as one text, in the order of their effects.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use memchr::{memchr, memrchr};
use tracefast_core::block::MAX_BLOCK;
use tracefast_core::strace::leader::Layout;
use tracefast_core::strace::merged::{PREFIX, Prefix};

use super::files::{Descriptors, Reopened};
use super::order::Clock;
use crate::error::{Error, ErrorKind};
use crate::source::{Progress, decompressed, read_up_to};

/// Bytes that all buffers together may have, unless lines are long.
const BUFFERS: usize = 32 << 20;

/// The smallest and the largest buffer of a log.
const BUFFER: (usize, usize) = (4 << 10, 256 << 10);

/// Longest line: with its prefix it must fit into a block.
const LONGEST: usize = MAX_BLOCK - 2 * PREFIX;

/// One task's log.
#[derive(Debug, Clone)]
pub struct Member {
    /// File.
    pub name: String,
    /// The task, by the file's name.
    pub pid: i32,
    /// The first time in it.
    pub first: Option<i64>,
}

/// One task's log, at one of its lines.
struct Task {
    path: PathBuf,
    pid: i32,
    raw: Option<Box<dyn Read + Send>>,
    buf: Vec<u8>,
    /// What was read and not yet handed on: `buf[start..have]`.
    start: usize,
    have: usize,
    /// Bytes handed on, for the place of an error.
    done: u64,
    ended: bool,
    /// Where the line at hand ends, without its feed, and whether it has one.
    line: (usize, bool),
    number: u64,
    clock: Clock,
    key: i64,
}

impl Task {
    /// Goes to the next line. `false`: there is none.
    fn advance(&mut self) -> Result<bool, Error> {
        let mut seen = self.start;
        loop {
            if let Some(at) = memchr(b'\n', &self.buf[seen..self.have]) {
                self.line = (seen + at, true);
                break;
            }
            if self.ended {
                if self.start == self.have {
                    self.buf = Vec::new();
                    self.raw = None;
                    return Ok(false);
                }
                self.line = (self.have, false);
                break;
            }
            seen = self.have - self.start;
            self.fill()?;
            seen += self.start;
        }
        self.number += 1;
        self.key = self.clock.next(&self.buf[self.start..self.line.0]);
        Ok(true)
    }

    /// Reads on, behind what is there.
    fn fill(&mut self) -> Result<(), Error> {
        if self.start > 0 {
            self.buf.copy_within(self.start..self.have, 0);
            self.have -= self.start;
            self.start = 0;
        }
        if self.have == self.buf.len() {
            if self.have > LONGEST {
                let error = Error::new(ErrorKind::TooLong { limit: LONGEST as u64 });
                return Err(error.at_path(&self.path).at_line(self.number + 1).at_byte(self.done));
            }
            self.buf.resize(2 * self.have.max(BUFFER.0 / 2), 0);
        }
        let Some(raw) = &mut self.raw else {
            self.ended = true;
            return Ok(());
        };
        loop {
            match raw.read(&mut self.buf[self.have..]) {
                Ok(n) => {
                    self.have += n;
                    self.ended = n == 0;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(Error::io(&self.path, error).at_byte(self.done + self.have as u64));
                }
            }
        }
    }

    /// Bytes of the line at hand with its prefix and its feed.
    fn len(&self) -> usize {
        PREFIX + self.line.0 - self.start + 1
    }

    /// Writes the line at hand into `out`, which has the room for it.
    fn write(&self, out: &mut [u8]) {
        let (head, rest) = out.split_at_mut(PREFIX);
        let fed = !self.line.1;
        head.copy_from_slice(&Prefix { pid: self.pid, line: self.number, fed }.text());
        let line = &self.buf[self.start..self.line.0];
        rest[..line.len()].copy_from_slice(line);
        rest[line.len()] = b'\n';
    }

    /// The task under whose number this one goes on behind the line at hand: an execve in a thread.
    fn successor(&self) -> Option<i32> {
        let line = self.buf[self.start..self.line.0].strip_suffix(b" ...>")?;
        let at = memrchr(b' ', line)?;
        let head = line[..at].ends_with(b" <pid changed to");
        head.then(|| std::str::from_utf8(&line[at + 1..]).ok()?.parse().ok()).flatten()
    }

    /// At the line at hand the task goes on as one that called execve.
    fn succeeds(&self, layout: &Layout) -> bool {
        let line = &self.buf[self.start..self.line.0];
        layout.leader(line).is_some_and(|leader| {
            let event = &line[leader.next..];
            event.starts_with(b"+++ superseded by execve in ")
                || event.starts_with(b"<... execve resumed")
        })
    }

    /// Leaves the line at hand.
    fn leave(&mut self) {
        let next = self.line.0 + usize::from(self.line.1);
        self.done += (next - self.start) as u64;
        self.start = next;
    }
}

/// The logs of several tasks as one text, each line behind its [`Prefix`].
pub struct Merge {
    tasks: Vec<Task>,
    /// Tasks with a line at hand, by its time, then by task.
    waiting: BinaryHeap<Reverse<(i64, i32, usize)>>,
    /// The task whose line is next.
    current: Option<usize>,
    /// Tasks whose lines come before all others, the first one last.
    urgent: Vec<usize>,
    /// Tasks at an execve that ends in the log of another task: by that task, behind whose lines
    /// before the end it belongs, though it was entered earlier.
    held: BTreeMap<i32, Vec<usize>>,
    layout: Layout,
    /// A line that did not fit.
    rest: Vec<u8>,
    given: usize,
}

impl Merge {
    /// Opens the logs, in the order of their numbers, all with the same layout; `origin` is the time of day at which the first
    /// of them begins.
    ///
    /// # Errors
    /// A log cannot be read.
    pub fn open(
        members: &[Member],
        layout: &Layout,
        origin: i64,
        progress: &Arc<Progress>,
    ) -> Result<Self, Error> {
        let files = Arc::new(Descriptors::default());
        let most = (BUFFERS / members.len().max(1)).clamp(BUFFER.0, BUFFER.1);
        let mut tasks = Vec::with_capacity(members.len());
        let mut ready = Vec::with_capacity(members.len());
        for (id, member) in members.iter().enumerate() {
            let path = PathBuf::from(&member.name);
            let mut raw = Reopened::new(path.clone(), id, &files, progress);
            let size = std::fs::metadata(&path).map_or(most, |facts| facts.len() as usize + 1);
            let at = |error| Error::io(&path, error);
            let magic = read_up_to(&mut raw, 6).map_err(at)?;
            let raw = decompressed(&magic, Box::new(raw)).map_err(at)?;
            let mut clock = Clock::new(*layout, member.first, origin);
            clock.begin(member.first);
            let mut task = Task {
                path,
                pid: member.pid,
                raw: Some(raw),
                buf: vec![0; size.min(most)],
                start: 0,
                have: 0,
                done: 0,
                ended: false,
                line: (0, false),
                number: 0,
                clock,
                key: i64::MIN,
            };
            if task.advance()? {
                ready.push(id);
            }
            tasks.push(task);
        }
        let mut out = Self {
            tasks,
            waiting: BinaryHeap::with_capacity(members.len()),
            current: None,
            urgent: Vec::new(),
            held: BTreeMap::new(),
            layout: *layout,
            rest: Vec::new(),
            given: 0,
        };
        for id in ready {
            out.place(id);
        }
        Ok(out)
    }

    /// Puts a task among those that wait.
    fn place(&mut self, id: usize) {
        let task = &self.tasks[id];
        // Members are in the order of their numbers.
        let open = |pid: i32| {
            let found = self.tasks.binary_search_by_key(&pid, |other| other.pid);
            pid != task.pid && found.is_ok_and(|other| self.tasks[other].raw.is_some())
        };
        if let Some(pid) = task.successor().filter(|&pid| open(pid)) {
            self.held.entry(pid).or_default().push(id);
        } else {
            self.waiting.push(Reverse((task.key, task.pid, id)));
        }
    }

    /// The tasks held for `pid` wait for it no longer.
    fn release(&mut self, pid: i32) {
        for id in self.held.remove(&pid).unwrap_or_default() {
            let task = &self.tasks[id];
            self.waiting.push(Reverse((task.key, task.pid, id)));
        }
    }

    /// The task whose line is next.
    fn next(&mut self) -> Option<usize> {
        if self.waiting.is_empty() && self.current.is_none() && self.urgent.is_empty() {
            // Two tasks that wait for each other, or for one that is never succeeded.
            while let Some((&pid, _)) = self.held.first_key_value() {
                self.release(pid);
            }
        }
        let first = self.current.take().or_else(|| self.urgent.pop());
        first.or_else(|| Some(self.waiting.pop()?.0.2))
    }

    /// Fills `out` with the next lines; returns the bytes.
    fn fill(&mut self, out: &mut [u8]) -> Result<usize, Error> {
        let mut have = 0;
        loop {
            if self.given < self.rest.len() {
                let n = (self.rest.len() - self.given).min(out.len() - have);
                out[have..have + n].copy_from_slice(&self.rest[self.given..self.given + n]);
                self.given += n;
                have += n;
            }
            if have == out.len() {
                return Ok(have);
            }
            let Some(id) = self.next() else { return Ok(have) };
            let next = self.waiting.peek().map(|Reverse((key, pid, _))| (*key, *pid));
            loop {
                let task = &mut self.tasks[id];
                if !self.held.is_empty()
                    && self.held.contains_key(&task.pid)
                    && task.succeeds(&self.layout)
                {
                    self.urgent.push(id);
                    let held = self.held.remove(&task.pid).unwrap_or_default();
                    self.urgent.extend(held.into_iter().rev());
                    break;
                }
                let len = task.len();
                if let Some(space) = out.get_mut(have..have + len) {
                    task.write(space);
                    have += len;
                } else {
                    self.rest.resize(len, 0);
                    self.given = 0;
                    task.write(&mut self.rest);
                }
                task.leave();
                if !task.advance()? {
                    let pid = task.pid;
                    self.release(pid);
                    break;
                }
                let later = next.is_some_and(|next| next < (task.key, task.pid));
                if later || !self.urgent.is_empty() || task.successor().is_some() {
                    self.place(id);
                    break;
                }
                if self.given < self.rest.len() {
                    self.current = Some(id);
                    break;
                }
            }
        }
    }
}

impl Read for Merge {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        Ok(self.fill(buf)?)
    }
}
