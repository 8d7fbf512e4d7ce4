//! Calls that wait: for what, how long they may, and how they ended.

use std::hash::BuildHasher;

use crate::hash::Hasher;
use crate::linux::clone::{Kind as Birth, kind_of};
use crate::linux::waits::Giver;
use crate::tables::packed::Packed;
use crate::tables::waits::arguments::{
    Arguments, FutexCall, FutexOp, Limit, address, poll_set, ready, select_sets,
};
use crate::tables::waits::file_locks::{asked_by_flock, locked};
use crate::tables::waits::fold::{At, Columns, Waits};
use crate::tables::waits::wait::{End as Ended, On, Wait};
use crate::tables::waits::word_classes::{Act, Fault, Holds, Status};
use crate::tables::waits::world::descriptors::Ofd;
use crate::tables::waits::world::ends::{End, Kind};
use crate::tables::waits::world::spaces::FutexKey;
use crate::tables::waits::world::tasks::{Blocked, Series, Target};

/// What a call waits for.
pub(crate) struct Waiting {
    pub(crate) target: Target,
    pub(crate) on: On,
    pub(crate) object: Option<String>,
    pub(crate) limit: Limit,
    pub(crate) fd: Option<i32>,
}

impl Waiting {
    pub(crate) fn new(target: Target, on: On) -> Self {
        Self { target, on, object: None, limit: Limit::None, fd: None }
    }
}

impl Waits {
    /// A call that may wait.
    pub(crate) fn wait(&mut self, columns: &mut Columns<'_>, at: &At<'_>) {
        let returned = at.status == Status::Returned;
        if matches!(at.status, Status::Headless | Status::Injected) {
            return;
        }
        if returned && at.dur.is_none_or(|dur| dur < self.min_ns) {
            return self.short(at);
        }
        let Some(waiting) = self.waiting(columns, at) else { return };
        let fault = columns.1.fault.get(at.row, Fault::from_errno);
        let result = columns.1.result.get(at.row).unwrap_or_default();
        let mut end = ended(at, waiting.limit, fault);
        let part = returned && self.is_part(columns, at, &waiting.target);
        if part {
            end = Ended::Signal;
        }
        if returned && end == Ended::Error && fault == Some(Fault::Again) {
            // A socket with a limit says so when the time is up: socket(7).
            let limited =
                matches!((waiting.limit, at.dur), (Limit::For(ns), Some(dur)) if dur >= ns);
            if !limited {
                return;
            }
            end = Ended::Timeout;
        }
        self.tell_clock(at, waiting.limit, end);
        if at.ftrace && returned && self.off_cpu.shows(at.source) {
            // The time off the CPU is the wait; this call says what it was for.
            return self.named_off_cpu(at, &waiting, end);
        }
        let open = if end == Ended::Open {
            self.off_cpu
                .since(at.source, self.world.task(at.task).and_then(|task| task.tid))
                .or(at.ts)
        } else {
            None
        };
        // Of a call in which the task died, or of a log without times, the log may not say.
        let long = at.dur.is_none_or(|dur| dur >= self.min_ns);
        let number = (end == Ended::Open || long).then_some(self.rows.len() as u32);
        if number.is_some() {
            let row = self.row_of(at, &waiting, end, result);
            self.rows.push(row);
        }
        let woken = end == Ended::Woken || fault == Some(Fault::Removed);
        if let (true, Some(number), Some(ts)) = (woken, number, at.ts) {
            let made = columns.1.ofd[0].get(at.row).map(|ofd| (at.source, ofd));
            self.find_ender(at, &waiting, number, (ts, at.end().unwrap_or(ts)), (result, made));
        }
        self.series(at, &waiting, end);
        let vfork = waiting.target == Target::Vfork;
        let blocked = Blocked {
            wait: number,
            ts: open.or(at.ts).unwrap_or(0),
            line: at.line,
            target: waiting.target,
            limit: waiting.limit,
            bytes: columns.1.requested.get(at.row),
            dies: at.status == Status::Died,
            returned: returned && !part,
        };
        match at.status {
            Status::Returned if !part => {
                self.was_blocked(at.task, &blocked);
                // A call that is not restarted (signal(7)) ended by the signal of the next line.
                if end == Ended::Signal
                    && let Some(task) = self.world.task_mut(at.task)
                {
                    task.blocked = Some(Box::new(blocked));
                }
            }
            _ => self.blocked(at.task, blocked),
        }
        // Its descriptors close before the line of its death, which wakes others. The child of a
        // vfork has no row until then.
        if at.status == Status::Died && !vfork {
            self.struck(at.task, at.source, at.end());
        }
    }

    /// Whether a signal ended a call before all was written: without one it waits for the whole of
    /// it (pipe(7), send(2)).
    fn is_part(&self, columns: &Columns<'_>, at: &At<'_>, target: &Target) -> bool {
        let Target::Ends { ends, .. } = target else { return false };
        let blocks = ends
            .iter()
            .all(|&(ofd, _)| self.world.ends.get(ofd).is_some_and(|end| !end.nonblocking));
        let requested = columns.1.requested.get(at.row);
        let less = requested.zip(at.ret).is_some_and(|(all, ret)| ret < all);
        at.act == Act::Give && blocks && less
    }

    /// A call that did not wait, or not long.
    fn short(&mut self, at: &At<'_>) {
        if matches!(at.act, Act::Fork | Act::Exec | Act::Open | Act::Accept) {
            self.progressed(at.task);
        }
    }

    fn row_of(&self, at: &At<'_>, waiting: &Waiting, end: Ended, result: &str) -> Wait {
        let timeout = match waiting.limit {
            Limit::For(ns) => Some(ns),
            Limit::Until(_) if end == Ended::Timeout => at.dur,
            Limit::Until(until) => {
                let clock = self.log(at.source).clock;
                clock.zip(at.ts).map(|(clock, ts)| until.saturating_sub(ts.saturating_add(clock)))
            }
            Limit::None | Limit::Some | Limit::Unknown => None,
        };
        let open = end == Ended::Open;
        let object = match ready(result) {
            Some(fd) if matches!(at.act, Act::Poll | Act::Select) => self.name_of(at, fd),
            _ => self.ready_of_set(at, &waiting.target).and_then(|ofd| self.name_of_end(ofd)),
        };
        Wait {
            task: at.task,
            row: self.tracker.row,
            line: at.line,
            ts: at.ts.into(),
            dur: if open { Packed::default() } else { at.dur.into() },
            open: Packed::default(),
            run_delay: Packed::default(),
            name: Some(at.name).into(),
            fd: waiting.fd.into(),
            on: waiting.on,
            object: object.or_else(|| waiting.object.clone()).map(Into::into),
            timeout: timeout.filter(|&ns| ns >= 0).into(),
            end,
            waker: None,
            judged: None,
        }
    }

    /// Clocks of calls that wait until a time start elsewhere than the log's.
    fn tell_clock(&mut self, at: &At<'_>, limit: Limit, end: Ended) {
        if let (Limit::Until(until), Ended::Timeout, Some(now)) = (limit, end, at.end()) {
            self.log_mut(at.source).clock = Some(until.saturating_sub(now));
        }
    }

    /// What a call waits for; `None` if it does not wait.
    pub(crate) fn waiting(&mut self, columns: &mut Columns<'_>, at: &At<'_>) -> Option<Waiting> {
        let arguments = Arguments::new(at.args, at.ftrace);
        match at.act {
            Act::Futex => self.futex(at, arguments),
            Act::Poll => {
                let set = arguments.at(0).and_then(poll_set);
                let seconds = arguments.at(2).is_none_or(|part| part.starts_with('{'));
                let name = self.tracker.row_name(at.name);
                let limit = if name == "poll" && !seconds {
                    arguments.milliseconds(2)
                } else {
                    arguments.time(2)
                };
                Some(self.set(at, set, limit))
            }
            Act::Select => {
                let set = select_sets(
                    arguments.at(1).unwrap_or_default(),
                    arguments.at(2).unwrap_or_default(),
                );
                // Without sets it sleeps: select(2).
                let set = if arguments.number(0) == Some(0) { Some(Vec::new()) } else { set };
                Some(self.set(at, set, arguments.time(4)))
            }
            Act::EpollWait => Some(self.epoll(columns, at, arguments)),
            Act::Take => self.descriptor(columns, at, true),
            Act::Give => self.descriptor(columns, at, false),
            Act::Transfer => {
                let source = self.descriptor(columns, at, true);
                match (source, self.second_descriptor(columns, at)) {
                    (Some(source), Some(output)) => Some(either(source, output)),
                    (source, output) => source.or(output),
                }
            }
            Act::Collect => {
                let pid = match (self.tracker.row_name(at.name), arguments.at(0)?) {
                    ("waitid", "P_PID" | "1") => arguments.number(1),
                    ("waitid", _) => None,
                    _ => arguments.number(0),
                };
                if arguments.only_looks(self.tracker.row_name(at.name)) {
                    return None;
                }
                let pid = pid.map(|pid| pid as i32).filter(|&pid| pid > 0);
                let ended = at.ret.filter(|&ret| ret > 0).and_then(|ret| i32::try_from(ret).ok());
                let mut waiting = Waiting::new(Target::Child(pid), On::Child);
                waiting.object =
                    Some(ended.or(pid).map_or("any child".into(), |pid| format!("pid {pid}")));
                Some(waiting)
            }
            Act::Fork => {
                let name = self.tracker.row_name(at.name);
                let waits =
                    matches!(kind_of(name, at.args), Some(Birth::Vfork | Birth::PosixSpawn));
                waits.then(|| {
                    let mut waiting = Waiting::new(Target::Vfork, On::Child);
                    waiting.object = at.ret.map(|pid| format!("pid {pid}"));
                    waiting
                })
            }
            Act::Sleep => {
                let absolute = at.args.contains("TIMER_ABSTIME");
                let which = if self.tracker.row_name(at.name) == "nanosleep" { 0 } else { 2 };
                let mut waiting = Waiting::new(Target::Timer, On::Timer);
                waiting.limit = match arguments.time(which) {
                    Limit::For(ns) if absolute => Limit::Until(ns),
                    Limit::None | Limit::Unknown => Limit::Some,
                    limit => limit,
                };
                Some(waiting)
            }
            Act::AwaitSignal => {
                let mut waiting = Waiting::new(Target::Outside, On::Signal);
                if self.tracker.row_name(at.name).starts_with("rt_sigtimedwait") {
                    waiting.limit = arguments.time(2);
                }
                Some(waiting)
            }
            Act::Ipc | Act::Queue => self.waits_for_ipc(columns, at),
            Act::Restart => Some(Waiting::new(Target::Unknown, On::Other)),
            Act::Flock => Some(locked(columns, at, asked_by_flock(columns, at))),
            Act::Control
                if arguments.is(1, "F_SETLKW", 7) || arguments.is(1, "F_OFD_SETLKW", 38) =>
            {
                Some(locked(columns, at, self.asked_by_fcntl(columns, at)))
            }
            Act::AwaitIo => {
                let mut waiting = Waiting::new(Target::Outside, On::Disk);
                waiting.limit = arguments.time(4);
                Some(waiting)
            }
            Act::Ring => {
                let waits = arguments.number(2).is_some_and(|least| least > 0);
                waits.then(|| Waiting::new(Target::Outside, On::Ring))
            }
            Act::Accept => {
                let mut waiting = Waiting::new(Target::Outside, On::Socket);
                waiting.fd = Self::accepts_from(columns, at);
                let listening = self.listening(columns, at);
                if let Some(end) = listening.and_then(|ofd| self.world.ends.get(ofd)) {
                    if end.nonblocking {
                        return None;
                    }
                    waiting.limit = end.limit(true);
                }
                waiting.object = listening.and_then(|ofd| self.name_of_end(ofd));
                Some(waiting)
            }
            Act::Connect => self.connect(columns, at),
            // Only a FIFO makes it wait for somebody: fifo(7).
            Act::Open
                if at.status != Status::Returned
                    || columns.1.holds.get(at.row, Holds::from_file_type) == Some(Holds::Pipe) =>
            {
                let mut waiting = Waiting::new(Target::Unknown, On::Pipe);
                waiting.object = columns.0.path.get(at.row).map(Into::into);
                let found = self.waits_for_lease(columns, at);
                found.or_else(|| self.waits_for_side(columns, at)).or(Some(waiting))
            }
            Act::Open => {
                let found = self.waits_for_lease(columns, at);
                found.or_else(|| self.waits_for_side(columns, at))
            }
            _ => None,
        }
    }

    fn futex(&mut self, at: &At<'_>, arguments: Arguments<'_>) -> Option<Waiting> {
        let call = FutexCall::parse(arguments)?;
        if call.op != FutexOp::Wait {
            return None;
        }
        if let Some(space) = self.world.space_mut(at.task) {
            space.used(call.address, at.task, at.line);
        }
        let key = self.world.futex(at.task, call.address, call.private)?;
        let FutexCall { address, private, value, mask, .. } = call;
        let target = Target::Futex { key, address, private, value, mask };
        let mut waiting = Waiting::new(target, On::Futex);
        waiting.limit = call.limit;
        waiting.object = Some(match key {
            FutexKey::Private(..) => {
                let pid = self.world.task(at.task).and_then(|task| task.pid);
                pid.map_or(format!("futex {address:#x}"), |pid| {
                    format!("futex {address:#x} of {pid}")
                })
            }
            FutexKey::Shared(object, offset) => {
                format!("futex {}+{offset:#x}", self.world.object_name(object))
            }
        });
        Some(waiting)
    }

    /// A call that takes from its descriptor, or gives to it.
    fn descriptor(
        &mut self,
        columns: &mut Columns<'_>,
        at: &At<'_>,
        take: bool,
    ) -> Option<Waiting> {
        let fd = columns.1.fd[0].get(at.row);
        let ofd = columns.1.ofd[0].get(at.row).map(|ofd| (at.source, ofd));
        let path = columns.0.path.get(at.row);
        let holds = columns.1.holds.get(at.row, Holds::from_file_type).unwrap_or(Holds::Unknown);
        let file = columns.1.file.get(at.row);
        self.leads_to(at, (fd, ofd, path), (holds, file), take)
    }

    /// connect(2): it waits until who listens there has room for it.
    fn connect(&self, columns: &Columns<'_>, at: &At<'_>) -> Option<Waiting> {
        let fd = columns.1.fd[0].get(at.row);
        let table = self.world.task(at.task)?.table;
        let ofd = fd.and_then(|fd| self.world.tables.descriptor(table, fd)).map(|one| one.ofd);
        let end = ofd.and_then(|ofd| self.world.ends.get(ofd));
        if end.is_some_and(|end| end.nonblocking) {
            return None;
        }
        let listening = self.listening_for(at);
        let target = if listening.is_empty() {
            Target::Outside
        } else {
            let ends = listening.iter().map(|&ofd| (ofd, false)).collect();
            // Of several, nobody knows which one it is.
            let others = listening.len() > 1 || self.world.ends.sockets.several_networks;
            Target::Ends { ends, others, set: None }
        };
        let mut waiting = Waiting::new(target, On::Socket);
        waiting.fd = fd;
        let socket = ofd.and_then(|ofd| self.world.ends.socket(ofd));
        waiting.limit = match (end.map(|end| end.limit(false)), socket) {
            // TCP tries for some minutes: tcp_syn_retries in tcp(7).
            (Some(Limit::None) | None, Some(socket)) if socket.inet => Limit::Some,
            (Some(Limit::None) | None, None) => Limit::Unknown,
            (limit, _) => limit.unwrap_or_default(),
        };
        let address = Arguments::new(at.args, at.ftrace).at(1).and_then(address);
        waiting.object = address.map(|address| format!("socket at {address}"));
        Some(waiting)
    }

    fn second_descriptor(&mut self, columns: &mut Columns<'_>, at: &At<'_>) -> Option<Waiting> {
        let fd = columns.1.fd[1].get(at.row);
        let ofd = columns.1.ofd[1].get(at.row).map(|ofd| (at.source, ofd));
        ofd.filter(|&ofd| self.world.ends.get(ofd).is_some())?;
        self.leads_to(at, (fd, ofd, None), (Holds::Unknown, None), false)
    }

    fn leads_to(
        &mut self,
        at: &At<'_>,
        (fd, ofd, path): (Option<i32>, Option<Ofd>, Option<&str>),
        (holds, file): (Holds, Option<u64>),
        take: bool,
    ) -> Option<Waiting> {
        let known = ofd.filter(|&ofd| self.world.ends.get(ofd).is_some());
        if known.is_none()
            && matches!(holds, Holds::Pipe | Holds::Socket)
            && let Some(ofd) = ofd
        {
            self.world.ends.foreign(ofd, (file, holds == Holds::Socket), path, at.line);
            self.shows(ofd, path);
        }
        let end = ofd.and_then(|ofd| Some((ofd, self.world.ends.get(ofd)?)));
        let nonblocking = end.is_some_and(|(_, end)| end.nonblocking);
        // Descriptions of a FIFO are one end.
        let ofd = ofd.map(|ofd| self.world.ends.side(ofd));
        let end = ofd.and_then(|ofd| Some((ofd, self.world.ends.get(ofd)?)));
        // A file with a lock is a file.
        let end = end.filter(|(_, end)| end.kind != Kind::File);
        if nonblocking || at.args.contains("MSG_DONTWAIT") {
            return None;
        }
        let limit = end.map_or(Limit::None, |(_, end)| end.limit(take));
        let mut waiting = match end {
            Some((_, end)) if end.kind == Kind::Timerfd => {
                Waiting { limit: Limit::Some, ..Waiting::new(Target::Timer, On::Timer) }
            }
            Some((ofd, end)) => {
                let target = Target::Ends { ends: vec![(ofd, take)], others: false, set: None };
                Waiting { limit, ..Waiting::new(target, end.on()) }
            }
            None => {
                let (target, on) = anonymous(holds, path, at.status)?;
                Waiting::new(target, on)
            }
        };
        waiting.fd = fd;
        waiting.object = ofd.and_then(|ofd| self.name_of_end(ofd)).or_else(|| path.map(Into::into));
        Some(waiting)
    }

    /// The name of what a descriptor of a task leads to.
    pub(super) fn name_of(&self, at: &At<'_>, fd: i32) -> Option<String> {
        let table = self.world.task(at.task)?.table;
        self.name_of_end(self.world.tables.descriptor(table, fd)?.ofd)
    }

    pub(crate) fn name_of_end(&self, ofd: Ofd) -> Option<String> {
        let end = self.world.ends.get(ofd)?;
        if let Some(name) = &end.name {
            return Some(name.to_string());
        }
        let kind = match end.kind {
            Kind::Pipe => "pipe",
            Kind::Fifo => "FIFO",
            Kind::Pair => "socket pair",
            Kind::Eventfd => "eventfd",
            Kind::Timerfd => "timerfd",
            Kind::Epoll => "epoll set",
            Kind::Socket | Kind::Listening | Kind::Queued | Kind::Connection => {
                return Some(named_socket(end));
            }
            Kind::File | Kind::Foreign => return None,
        };
        Some(format!("{kind} of line {}", end.line))
    }

    /// Waits that time out one after the other, for the same thing.
    fn series(&mut self, at: &At<'_>, waiting: &Waiting, end: Ended) {
        let Some(ts) = at.ts else { return };
        let mut arguments = at.args.split(", ");
        let first = arguments.next().map(|first| first.trim_end_matches([',', ' ']));
        // strace prints what a set returned as the second one.
        let second = arguments.next().filter(|_| at.act != Act::EpollWait);
        let key = Hasher::default().hash_one((at.name, first, second));
        let Some(task) = self.world.task_mut(at.task) else { return };
        let again = task.series.filter(|series| series.key == key);
        match end {
            Ended::Timeout if at.act != Act::Sleep && waiting.limit.ends() => {
                let before = again.unwrap_or(Series { since: ts, key, count: 0 });
                task.series = Some(Series { count: before.count + 1, ..before });
            }
            Ended::Open | Ended::Signal if again.is_some() => {}
            Ended::Timeout => {}
            _ => task.series = None,
        }
    }
}

/// A call that waits for one of two things.
fn either(mut one: Waiting, other: Waiting) -> Waiting {
    match (&mut one.target, other.target) {
        (Target::Ends { ends, others, .. }, Target::Ends { ends: more, others: and, .. }) => {
            ends.extend(more);
            *others |= and;
            let objects = [one.object.take(), other.object].into_iter().flatten();
            one.object = Some(objects.collect::<Vec<_>>().join(", "));
            one
        }
        // What it takes from may be a file.
        (_, Target::Ends { ends, .. }) => {
            let target = Target::Ends { ends, others: true, set: None };
            Waiting { target, on: other.on, object: other.object, limit: other.limit, fd: other.fd }
        }
        _ => one,
    }
}

/// What a call waits for on what is no pipe, socket or the like that the log made.
fn anonymous(holds: Holds, path: Option<&str>, status: Status) -> Option<(Target, On)> {
    match holds {
        Holds::Storage => None,
        Holds::Device => match Giver::Device.known_as(|| path) {
            Giver::Storage => None,
            _ => Some((Target::Outside, On::Terminal)),
        },
        Holds::Anonymous => {
            let path = path.unwrap_or_default();
            Some(if path.contains("eventfd") {
                (Target::Unknown, On::Eventfd)
            } else if path.contains("timerfd") {
                (Target::Timer, On::Timer)
            } else if path.contains("signalfd") {
                (Target::Outside, On::Signal)
            } else {
                (Target::Outside, On::Other)
            })
        }
        Holds::Pipe => Some((Target::Unknown, On::Pipe)),
        Holds::Socket => Some((Target::Unknown, On::Socket)),
        Holds::Unknown => {
            let unnamed = match path {
                Some(path) => Giver::Unknown.known_as(|| Some(path)) == Giver::Somebody,
                None => true,
            };
            // A call on a file takes long too, but not for ever.
            let open = matches!(status, Status::Unfinished | Status::Interrupted | Status::Died);
            (open && unnamed).then_some((Target::Unknown, On::Other))
        }
    }
}

/// A socket by its address.
fn named_socket(end: &End) -> String {
    let socket = end.socket.as_deref();
    let (role, address) = match socket {
        Some(socket) if end.kind == Kind::Listening => ("at", socket.local.as_deref()),
        Some(socket) if socket.accepted => ("from", socket.remote.as_deref()),
        Some(socket) => ("to", socket.remote.as_deref()),
        None => ("", None),
    };
    match address {
        Some(address) => format!("socket {role} {address}"),
        None => format!("socket of line {}", end.line),
    }
}

/// How a call ended.
fn ended(at: &At<'_>, limit: Limit, fault: Option<Fault>) -> Ended {
    match (at.status, fault) {
        (Status::Unfinished, _) => Ended::Open,
        (Status::Died | Status::Interrupted, _) | (_, Some(Fault::Signal)) => Ended::Signal,
        (_, Some(Fault::Timeout)) => Ended::Timeout,
        (_, Some(_)) => Ended::Error,
        _ if at.ret.is_some_and(|ret| ret < 0) => Ended::Error,
        _ if at.ret == Some(0)
            && limit.ends()
            && matches!(
                at.act,
                Act::Poll | Act::Select | Act::EpollWait | Act::Sleep | Act::AwaitIo
            ) =>
        {
            Ended::Timeout
        }
        _ if at.act == Act::Sleep => Ended::Timeout,
        _ => Ended::Woken,
    }
}
