//! The lines of several logs as one text, in the order of their effects.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use memchr::{memchr, memrchr};
use tracefast_core::strace::leader::Layout;
use tracefast_core::strace::task_prefix::{self, Mark, PREFIX, Prefix};
use tracefast_core::text::block::MAX_LINE;

use crate::error::{Error, ErrorKind};
use crate::input::compressed;
use crate::input::merge::effect_time::{Clock, EffectTime};
use crate::input::merge::open_files::{Descriptors, Reopened};
use crate::input::source::{Progress, read_up_to};

/// Bytes that all buffers together may have, unless lines are long.
const BUFFERS: usize = 32 << 20;

/// The smallest and the largest buffer of a log.
const BUFFER: (usize, usize) = (4 << 10, 256 << 10);

/// The most bytes by which a buffer for a long line grows at a time.
const STEP: usize = 4 << 20;

/// How far after a line to look for the time of the next one: lines without a time may come
/// between.
const SIGHT: usize = 4 << 10;

/// One task's log.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// File.
    pub name: String,
    /// The task, by the file's name.
    pub pid: i32,
    /// The first time in it.
    pub first: Option<i64>,
}

/// One task's log, at one of its lines.
struct TaskLog {
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
    /// When the line at hand has its effect.
    span: EffectTime,
    /// Where the task waits for its turn.
    turn: Option<Turn>,
    /// Whether the start of the current line was marked.
    marked: bool,
    /// When the task's next line starts.
    next: i64,
}

/// When something of a task's line is due: its start, or its end. Starts come first, since what
/// happened at the same time may have overlapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    time: i64,
    ends: bool,
}

/// What a log says of the time after the current line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ahead {
    /// The time of the next line that has one.
    Time(i64),
    /// There is no time.
    Nothing,
    /// None is in sight.
    Far,
}

impl TaskLog {
    /// The log of `member`, still unread.
    fn new(member: &Member, raw: Box<dyn Read + Send>, room: usize, clock: Clock) -> Self {
        Self {
            path: PathBuf::from(&member.name),
            pid: member.pid,
            raw: Some(raw),
            buf: vec![0; room],
            start: 0,
            have: 0,
            done: 0,
            ended: false,
            line: (0, false),
            number: 0,
            clock,
            span: EffectTime::default(),
            turn: None,
            marked: false,
            next: i64::MAX,
        }
    }

    /// Goes to the next line. `false`: there is no more.
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
            self.refuse_longer(self.have)?;
            seen = self.have - self.start;
            self.fill()?;
            seen += self.start;
        }
        self.refuse_longer(self.line.0)?;
        self.number += 1;
        self.span = self.clock.next(&self.buf[self.start..self.line.0]);
        self.marked = false;
        Ok(true)
    }

    /// Refuses the line at hand if it is too long, of which the bytes until `end` are known.
    fn refuse_longer(&self, end: usize) -> Result<(), Error> {
        if end - self.start <= MAX_LINE {
            return Ok(());
        }
        let error = Error::new(ErrorKind::TooLong { limit: MAX_LINE as u64 });
        Err(error.at_path(&self.path).at_line(self.number + 1).at_byte(self.done))
    }

    /// Looks for the next time, in the bytes after the current line.
    fn ahead(&mut self) -> Result<Ahead, Error> {
        let mut seen = 0;
        loop {
            let next_line = self.line.0 + usize::from(self.line.1);
            let sight = self.have.min(next_line + SIGHT);
            let mut at = next_line + seen;
            while at < sight {
                let feed = memchr(b'\n', &self.buf[at..sight]);
                let end = feed.map_or(sight, |feed| at + feed);
                if let Some(time) = self.clock.peek(&self.buf[at..end]) {
                    return Ok(Ahead::Time(time));
                }
                if feed.is_none() {
                    break;
                }
                at = end + 1;
            }
            seen = at - next_line;
            if sight == next_line + SIGHT || self.have > MAX_LINE {
                return Ok(Ahead::Far);
            }
            if self.ended {
                return Ok(Ahead::Nothing);
            }
            let len = self.line.0 - self.start;
            self.fill()?;
            self.line.0 = self.start + len;
        }
    }

    /// Reads more, after what is there.
    fn fill(&mut self) -> Result<(), Error> {
        if self.start > 0 {
            self.buf.copy_within(self.start..self.have, 0);
            self.have -= self.start;
            self.start = 0;
        }
        if self.have == self.buf.len() {
            self.buf.resize(self.have + self.have.clamp(BUFFER.0, STEP), 0);
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

    /// The line at hand.
    fn text(&self) -> &[u8] {
        &self.buf[self.start..self.line.0]
    }

    /// The line at hand, as it is parsed.
    fn own(&self) -> &[u8] {
        let line = self.text();
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// Writes the line at hand into `out`, which has the room for it.
    fn write(&self, mark: Mark, out: &mut [u8]) {
        let (head, rest) = out.split_at_mut(PREFIX);
        head.copy_from_slice(&Prefix { pid: self.pid, line: self.number, mark }.text());
        let line = self.text();
        rest[..line.len()].copy_from_slice(line);
        rest[line.len()] = b'\n';
    }

    /// The task under whose number this one continues after the current line: an execve in a
    /// thread.
    fn successor(&self) -> Option<i32> {
        let line = self.text().strip_suffix(b" ...>")?;
        let at = memrchr(b' ', line)?;
        let head = line[..at].ends_with(b" <pid changed to");
        head.then(|| std::str::from_utf8(&line[at + 1..]).ok()?.parse().ok()).flatten()
    }

    /// At the line at hand the task goes on as one that called execve.
    fn succeeds(&self, layout: &Layout) -> bool {
        let line = self.text();
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

/// The logs of several tasks as one text, each line after its [`Prefix`].
pub(crate) struct Merge {
    tasks: Vec<TaskLog>,
    /// Tasks with a current line, by the turn that it waits for, then by task. If a task is here
    /// more than once, only its current turn counts.
    waiting: BinaryHeap<Reverse<(Turn, i32, usize)>>,
    /// The task whose line is next.
    current: Option<usize>,
    /// Tasks whose lines come before all others, the first one last.
    urgent: Vec<usize>,
    /// Tasks at an execve that ends in the log of another task: by that task, after whose lines
    /// before the end it belongs, though it was entered earlier.
    held: BTreeMap<i32, Vec<usize>>,
    /// Tasks at a line, by its number, whose end depends on the next time in any log; and the last
    /// one that was seen.
    open: Vec<(usize, u64)>,
    last_time: i64,
    /// Lines that wait for an end that may have been earlier: when, the task, the line.
    late: BinaryHeap<Reverse<(i64, usize, u64)>>,
    layout: Layout,
    /// A line that did not fit.
    rest: Vec<u8>,
    given: usize,
}

impl Merge {
    /// Opens the logs, in the order of their numbers, all with the same layout; `origin` is the
    /// time of day at which the first of them starts.
    ///
    /// # Errors
    /// A log cannot be read.
    pub(crate) fn open(
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
            let magic = read_up_to(&mut raw, compressed::MAGIC).map_err(at)?;
            let raw = compressed::plain(magic, Box::new(raw)).map_err(at)?;
            let mut clock = Clock::new(*layout, member.first, origin);
            clock.begin(member.first);
            let mut task = TaskLog::new(member, raw, size.min(most), clock);
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
            open: Vec::new(),
            last_time: i64::MIN,
            late: BinaryHeap::new(),
            layout: *layout,
            rest: Vec::new(),
            given: 0,
        };
        for id in ready {
            out.place(id);
        }
        Ok(out)
    }

    /// Puts a task at the start of a line among those that wait.
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
            self.wait(id, Turn { time: task.span.start, ends: false });
        }
    }

    fn wait(&mut self, id: usize, turn: Turn) {
        let task = &mut self.tasks[id];
        task.turn = Some(turn);
        self.waiting.push(Reverse((turn, task.pid, id)));
    }

    /// Releases the tasks that wait for `pid`.
    fn release(&mut self, pid: i32) {
        for id in self.held.remove(&pid).unwrap_or_default() {
            let turn = Turn { time: self.tasks[id].span.start, ends: false };
            self.wait(id, turn);
        }
    }

    /// The first turn that is waited for, and whose it is.
    fn first(&mut self) -> Option<(Turn, i32, usize)> {
        while let Some(&Reverse((turn, pid, id))) = self.waiting.peek() {
            if self.tasks[id].turn == Some(turn) {
                return Some((turn, pid, id));
            }
            self.waiting.pop();
        }
        None
    }

    /// Writes what is due next, at most one line; `false`: the logs have ended.
    fn step(&mut self, out: &mut Out<'_>) -> Result<bool, Error> {
        if let Some(id) = self.current.take() {
            self.start_line(id, out)?;
        } else if let Some(id) = self.urgent.pop() {
            self.end_line(id, out)?;
        } else if let Some((turn, _, id)) = self.first() {
            self.waiting.pop();
            if let Some(later) = self.later_turn(id).filter(|_| turn.ends) {
                self.wait(id, later);
                return Ok(true);
            }
            self.tasks[id].turn = None;
            if turn.ends {
                self.end_line(id, out)?;
            } else {
                self.start_line(id, out)?;
            }
        } else if !self.open.is_empty() {
            // No log has another time.
            self.bound(i64::MAX);
        } else if let Some((&pid, _)) = self.held.first_key_value() {
            // Two tasks that wait for each other, or for one that is never succeeded.
            self.release(pid);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Starts the current line of a task. If others do something before its end, its start is
    /// marked, where it matters, and the line waits; else it is written.
    fn start_line(&mut self, id: usize, out: &mut Out<'_>) -> Result<(), Error> {
        let task = &self.tasks[id];
        if !self.held.is_empty() && self.held.contains_key(&task.pid) && task.succeeds(&self.layout)
        {
            self.urgent.push(id);
            let held = self.held.remove(&task.pid).unwrap_or_default();
            self.urgent.extend(held.into_iter().rev());
            return Ok(());
        }
        let span = task.span;
        if span.stamped {
            self.see_time(span.start);
        }
        // No other task is left, so there is nothing to wait for.
        let Some(first) = self.first().map(|(turn, pid, _)| (turn, pid)) else {
            return self.end_line(id, out);
        };
        if !span.moves && span.end == span.start {
            return self.end_line(id, out);
        }
        let task = &mut self.tasks[id];
        let ahead = if span.moves { task.ahead()? } else { Ahead::Far };
        task.next = if let Ahead::Time(time) = ahead { time } else { i64::MAX };
        let time = match ahead {
            Ahead::Time(time) => Some(span.end.max(time)),
            Ahead::Far if !span.moves || span.took.is_none() => Some(span.end),
            Ahead::Nothing if span.took.is_none() => Some(i64::MAX),
            // The next time in any log decides.
            Ahead::Far | Ahead::Nothing => None,
        };
        let turn = Turn { time: time.unwrap_or(i64::MAX), ends: true };
        let pid = task.pid;
        if first > (turn, pid) && self.later_turn(id).is_none() {
            return self.end_line(id, out);
        }
        let task = &mut self.tasks[id];
        let whole = task.line.1;
        if whole && task_prefix::entry(&self.layout, task.own()).is_some() {
            task.marked = true;
            out.put(task, Mark::Start, &mut self.rest, &mut self.given);
        }
        if span.moves && span.took.is_some() {
            self.open.push((id, task.number));
            self.late.push(Reverse((span.end, id, task.number)));
        }
        task.turn = Some(turn);
        if time.is_some() {
            self.wait(id, turn);
        }
        Ok(())
    }

    /// The turn of the line at hand of a task, if it has to wait for one that ended before it
    /// began, as far as durations show it: transfers keep their order where there is one.
    fn later_turn(&mut self, id: usize) -> Option<Turn> {
        let task = &self.tasks[id];
        while let Some(&Reverse((end, other, number))) = self.late.peek() {
            let before = &self.tasks[other];
            let Some(turn) = before.turn.filter(|turn| turn.ends && before.number == number) else {
                self.late.pop();
                continue;
            };
            let waits = task.span.moves && end <= task.span.start && other != id;
            let time = turn.time.saturating_add(1);
            return (waits && time < task.next).then_some(Turn { time, ends: true });
        }
        None
    }

    /// A log shows that it is `time`: strace had let go of all tasks whose calls started before.
    fn see_time(&mut self, time: i64) {
        if time > self.last_time {
            self.last_time = time;
            self.bound(time);
        }
    }

    /// What is known of the end of calls that depend on the next time, if that is `time`.
    fn bound(&mut self, time: i64) {
        let mut open = std::mem::take(&mut self.open);
        for (id, number) in open.drain(..) {
            let task = &self.tasks[id];
            let Some(turn) = task.turn.filter(|turn| turn.ends && task.number == number) else {
                continue;
            };
            let took = task.span.took.unwrap_or_default();
            let latest = task.span.end.max(time.saturating_add(took));
            // Those without a known end do not wait yet.
            if latest < turn.time || turn.time == i64::MAX {
                self.wait(id, Turn { time: latest, ends: true });
            }
        }
        self.open = open;
    }

    /// Writes the line at hand of a task, and goes to its next one.
    fn end_line(&mut self, id: usize, out: &mut Out<'_>) -> Result<(), Error> {
        let task = &mut self.tasks[id];
        let mark = match (task.marked, task.line.1) {
            (true, _) => Mark::End,
            (false, true) => Mark::None,
            (false, false) => Mark::AddedFeed,
        };
        out.put(task, mark, &mut self.rest, &mut self.given);
        task.turn = None;
        task.leave();
        if !task.advance()? {
            let pid = task.pid;
            self.release(pid);
            return Ok(());
        }
        let (pid, span) = (task.pid, task.span);
        if !span.stamped && task.successor().is_none() {
            // It belongs to the line above.
            self.current = Some(id);
            return Ok(());
        }
        let turn = Turn { time: span.start, ends: false };
        let free = self.urgent.is_empty() && self.tasks[id].successor().is_none();
        if free && self.first().is_none_or(|(first, other, _)| (turn, pid) < (first, other)) {
            self.current = Some(id);
        } else {
            self.place(id);
        }
        Ok(())
    }

    /// Fills `out` with the next lines; returns the bytes.
    fn fill(&mut self, out: &mut [u8]) -> Result<usize, Error> {
        let mut out = Out { space: out, have: 0 };
        loop {
            if self.given < self.rest.len() {
                let n = (self.rest.len() - self.given).min(out.space.len() - out.have);
                out.space[out.have..out.have + n]
                    .copy_from_slice(&self.rest[self.given..self.given + n]);
                self.given += n;
                out.have += n;
            }
            if out.have == out.space.len() || !self.step(&mut out)? {
                return Ok(out.have);
            }
        }
    }
}

/// Where lines are written to.
struct Out<'a> {
    space: &'a mut [u8],
    have: usize,
}

impl Out<'_> {
    /// Writes the line at hand of `task`, or if it does not fit, into `rest`.
    fn put(&mut self, task: &TaskLog, mark: Mark, rest: &mut Vec<u8>, given: &mut usize) {
        let len = task.len();
        if let Some(space) = self.space.get_mut(self.have..self.have + len) {
            task.write(mark, space);
            self.have += len;
        } else {
            rest.resize(len, 0);
            *given = 0;
            task.write(mark, rest);
        }
    }
}

impl Read for Merge {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        Ok(self.fill(buf)?)
    }
}
