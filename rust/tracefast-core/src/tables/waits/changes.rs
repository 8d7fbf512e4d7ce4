//! What calls change: descriptors, mappings, locks; and whom they wake.

use memchr::memchr;

use crate::tables::waits::arguments::{Arguments, FutexCall, FutexOp};
use crate::tables::waits::connections::is_unnamed;
use crate::tables::waits::file_locks::asked_by_flock;
use crate::tables::waits::fold::{At, Columns, WaitColumns, Waits};
use crate::tables::waits::word_classes::{Act, Holds};
use crate::tables::waits::world::acts::Act as Done;
use crate::tables::waits::world::descriptors::{Descriptor, Ofd};
use crate::tables::waits::world::ends::{End, Kind};
use crate::tables::waits::world::locks::{Lock, Owner};
use crate::tables::waits::world::signals::Handled;
use crate::tables::waits::world::spaces::FutexKey;
use crate::tables::waits::world::wakes::{ANY, Wake};
use crate::text::search::contains;

/// The flag on most machines; strace prints it by number with `-X raw`.
const O_NONBLOCK: i64 = 0x800;

impl Waits {
    /// A call that returned.
    pub(crate) fn changes(&mut self, columns: &mut Columns<'_>, at: &At<'_>) {
        let (first, fd) = (description(columns, at, 0), columns.1.fd[0].get(at.row));
        let Some(table) = self.world.task(at.task).map(|task| task.table) else { return };
        let failed = at.ret.is_none_or(|ret| ret < 0);
        if let (Some(ofd), Some(fd), true) = (first, fd, self.on_end(&mut columns.1, at.row)) {
            self.learn(columns, at, table, fd, ofd);
        }
        match at.act {
            Act::Futex if !failed => self.woke_futex(at),
            Act::Pipe | Act::SocketPair if at.ret == Some(0) => {
                let (second, fd2) = (description(columns, at, 1), columns.1.fd[1].get(at.row));
                let ends = first.zip(second).zip(fd.zip(fd2));
                let Some(((one, other), (fd, fd2))) = ends else { return };
                let kind = if at.act == Act::Pipe { Kind::Pipe } else { Kind::Pair };
                let name = inner_name(at.args);
                // `O_NONBLOCK` in pipe(2), `SOCK_NONBLOCK` in socket(2): one bit.
                let arguments = Arguments::new(at.args, at.ftrace);
                let nonblocking = arguments.has(1, "NONBLOCK", O_NONBLOCK);
                for (ofd, peer, fd) in [(one, other, fd), (other, one, fd2)] {
                    let mut end = End::new(kind, Some(peer), at.line);
                    end.name = name.map(Into::into);
                    end.nonblocking = nonblocking;
                    self.world.ends.insert(ofd, end);
                    self.world.tables.insert(table, fd, made(at, ofd));
                }
            }
            Act::Eventfd | Act::Timerfd | Act::Epoll if !failed => {
                let Some((ofd, fd)) = first.zip(fd) else { return };
                let (kind, peer) = match at.act {
                    Act::Eventfd => (Kind::Eventfd, Some(ofd)),
                    Act::Timerfd => (Kind::Timerfd, None),
                    _ => (Kind::Epoll, None),
                };
                let mut end = End::new(kind, peer, at.line);
                end.set = (kind == Kind::Epoll).then(Box::default);
                let arguments = Arguments::new(at.args, at.ftrace);
                end.nonblocking = arguments.has(1, "NONBLOCK", O_NONBLOCK);
                self.world.ends.insert(ofd, end);
                self.world.tables.insert(table, fd, made(at, ofd));
            }
            Act::EpollControl if !failed => self.watches(at, table, first),
            Act::EpollWait if !failed => self.limits(at, first),
            Act::Dup if !failed => {
                self.duplicated(at, (table, first), columns.1.fd[1].get(at.row));
            }
            Act::Control if !failed => self.controlled(columns, at, table, (fd, first)),
            Act::Ioctl if !failed => {
                let has = |word: &[u8]| contains(at.args.as_bytes(), word, 0);
                if !has(b"FIO") {
                    // Of a terminal or a device.
                } else if let Some(fd) = fd
                    && (has(b"FIOCLEX") || has(b"FIONCLEX"))
                {
                    self.world.tables.set_cloexec(table, fd, has(b"FIOCLEX"));
                } else if has(b"FIONBIO")
                    && let Some(end) = first.and_then(|ofd| self.world.ends.get_mut(ofd))
                {
                    end.nonblocking = !at.args.ends_with("[0]");
                }
            }
            Act::Ipc | Act::IpcGet | Act::IpcControl | Act::Queue if !failed => {
                self.on_ipc(columns, at);
            }
            Act::Socket
            | Act::Bind
            | Act::Listen
            | Act::OwnAddress
            | Act::PeerAddress
            | Act::SetOption
            | Act::Shutdown
            | Act::Accept
            | Act::Connect => self.on_socket(columns, at, table, (fd, first)),
            Act::Namespace | Act::Fork if is_new_network(at) => {
                self.world.ends.sockets.several_networks = true;
            }
            // close(2) closes even if it fails with EINTR or EIO.
            Act::Close => {
                if let Some(fd) = fd {
                    self.unlock_process(at, columns.1.file.get(at.row), table);
                    self.world.tables.remove(table, fd);
                    self.closed(at.as_act());
                }
            }
            Act::CloseRange if !failed => self.closed_range(at, table),
            Act::Take if !failed => self.took(at, first, columns.1.bytes.get(at.row)),
            Act::Give if !failed => {
                self.gave(at, first, columns.1.bytes.get(at.row));
                self.sent(at, table);
            }
            Act::Transfer if !failed => {
                let bytes = columns.1.bytes.get(at.row);
                self.took(at, first, bytes);
                self.gave(at, description(columns, at, 1), bytes);
            }
            Act::Flock if !failed => {
                if let Some((file, lock)) = asked_by_flock(columns, at) {
                    self.holds_file(at, table, fd.zip(first));
                    let arguments = Arguments::new(at.args, at.ftrace);
                    self.lock(at, file, lock, arguments.has(1, "LOCK_UN", 8));
                }
            }
            Act::Map => {
                self.log_mut(at.source).memory = true;
                if !failed {
                    self.mapped(columns, at);
                }
            }
            Act::Memory => self.log_mut(at.source).memory = true,
            Act::Unmap if !failed => {
                let arguments = Arguments::new(at.args, at.ftrace);
                let range = arguments.first().map(|part| arguments.value(part?));
                if let [Some(start), Some(length)] = range
                    && let Some(space) = self.world.space_mut(at.task)
                {
                    space.unmap(start as u64, length as u64);
                }
            }
            Act::StartTimer | Act::Ring => {
                if let Some(space) = self.world.space_mut(at.task) {
                    space.unsure = true;
                }
            }
            Act::Alarm => {
                if let Some(space) = self.world.space_mut(at.task) {
                    space.alarm = true;
                }
            }
            Act::Handle if !failed => {
                let arguments = Arguments::new(at.args, at.ftrace);
                // A child of vfork has the memory of its parent, and handlers of its own: clone(2).
                if !self.world.borrows_memory(at.task)
                    && let Some(space) = self.world.space_mut(at.task)
                {
                    space.handled.set(arguments);
                }
            }
            Act::Kill if !failed => self.told(at),
            // Most calls open files that are no ends: their paths are not even looked at.
            Act::Open if !failed && self.may_be_end(&mut columns.1, at.row) => {
                self.reopened(at, table);
                self.opens_fifo(columns, at, table, fd.zip(first));
            }
            Act::Unlink if !failed && self.world.ends.has_fifos() => {
                if let Some(file) = columns.1.file.get(at.row) {
                    self.world.ends.unlinked((at.source, file));
                }
            }
            Act::MakeNode if !failed => self.makes_node(columns, at),
            Act::Startup => self.log_mut(at.source).startup = true,
            _ => {}
        }
    }

    /// A signal is on its way: those who handle it may go on before the log shows it.
    fn told(&mut self, at: &At<'_>) {
        let arguments = Arguments::new(at.args, at.ftrace);
        let which = match self.tracker.row_name(at.name) {
            "tgkill" | "rt_tgsigqueueinfo" => 2,
            _ => 1,
        };
        let number = Handled::number_at(arguments, which);
        let Some((number, ts)) = number.zip(at.end()) else { return };
        let pid = arguments.number(0).and_then(|pid| i32::try_from(pid).ok());
        let one = pid.and_then(|pid| self.world.by_tid.get(&(at.source, pid)).copied());
        let one = one.filter(|_| self.tracker.row_name(at.name) != "pidfd_send_signal");
        let one = one.and_then(|task| self.world.task(task)).map(|task| task.space);
        // Of a group of processes, or one by its descriptor, the log does not show who gets it; of
        // those that are older than the log, not what they handle.
        for (&key, space) in &mut self.world.spaces {
            if one.is_none_or(|one| one == key) && (space.handled.has(number) || !space.known) {
                space.told = Some(ts);
            }
        }
    }

    /// A row shows that a descriptor leads to an end: a message may have brought it.
    fn learn(&mut self, columns: &Columns<'_>, at: &At<'_>, table: u32, fd: i32, ofd: Ofd) {
        let Some(end) = self.world.ends.get_mut(ofd) else { return };
        if end.name.is_none()
            && let Some(path) = columns.0.path.get(at.row)
        {
            end.name = Some(path.into());
        }
        let known = self.world.tables.descriptor(table, fd).is_some_and(|one| one.ofd == ofd);
        let makes = matches!(
            at.act,
            Act::Close | Act::Pipe | Act::SocketPair | Act::Dup | Act::Socket | Act::Accept
        );
        let asks = !makes && is_unnamed(end);
        if !known && !makes {
            self.world.tables.insert(table, fd, made(at, ofd));
        }
        if asks {
            let own = crate::text::number::c_integer(at.args.as_bytes()).0 == i64::from(fd);
            self.shows(ofd, inner_name(at.args).filter(|_| own));
        }
    }

    /// Whether the descriptor of a call may lead to somebody who waits: files are no ends.
    #[inline]
    pub(crate) fn on_end(&self, columns: &mut WaitColumns<'_>, row: usize) -> bool {
        columns.ofd[0].get(row).is_some() && self.may_be_end(columns, row)
    }

    #[inline]
    fn may_be_end(&self, columns: &mut WaitColumns<'_>, row: usize) -> bool {
        columns.holds.get(row, Holds::from_file_type) != Some(Holds::Storage)
            || self.world.ends.has_files()
    }

    fn woke_futex(&mut self, at: &At<'_>) {
        let arguments = Arguments::new(at.args, at.ftrace);
        let Some(call) = FutexCall::parse(arguments) else { return };
        if let Some(space) = self.world.space_mut(at.task) {
            space.used(call.address, at.task, at.line);
        }
        let ret = at.ret.unwrap_or(-1);
        let woke = match call.op {
            FutexOp::Wait | FutexOp::Other => false,
            // It says only that it did not fail.
            FutexOp::Unlock => ret == 0,
            FutexOp::Wake | FutexOp::Requeue | FutexOp::WakeBoth => ret > 0,
        };
        let key = |address| self.world.futex(at.task, address, call.private);
        let Some(key_of_first) = key(call.address).filter(|_| woke) else { return };
        let second = key(call.second).filter(|_| call.second != 0);
        let act = at.as_act();
        let mut wake = Wake { act, mask: call.mask, sure: second.is_none(), moved: None };
        if call.op == FutexOp::Requeue {
            // It wakes some, up to its third argument, and moves others: both count.
            wake.sure = true;
            wake.moved = second.filter(|_| ret > call.value).map(|key| (key, call.value == 0));
        }
        self.woke(key_of_first, wake);
        if let Some(key) = second {
            // Who is moved there wakes nobody who waits there.
            let mask = if call.op == FutexOp::Requeue { 0 } else { ANY };
            self.woke(key, Wake { mask, moved: None, ..wake });
        }
    }

    fn woke(&mut self, key: FutexKey, wake: Wake) {
        self.world.woke(key, wake);
        self.late.woke(&mut self.rows, key, wake);
    }

    fn duplicated(&mut self, at: &At<'_>, (table, ofd): (u32, Option<Ofd>), new: Option<i32>) {
        let new = new.or_else(|| at.ret.and_then(|ret| i32::try_from(ret).ok()));
        let Some(new) = new else { return };
        let known = ofd.filter(|&ofd| self.world.ends.get(ofd).is_some());
        let before = self.world.tables.descriptor(table, new);
        if before.is_some_and(|before| Some(before.ofd) == ofd) {
            // dup2(n, n) does nothing.
            return;
        }
        self.world.tables.remove(table, new);
        if let Some(ofd) = known {
            self.world.tables.insert(table, new, made(at, ofd));
        }
        self.closed(at.as_act());
    }

    fn controlled(
        &mut self,
        columns: &Columns<'_>,
        at: &At<'_>,
        table: u32,
        (fd, ofd): (Option<i32>, Option<Ofd>),
    ) {
        let arguments = Arguments::new(at.args, at.ftrace);
        let command = arguments.at(1);
        let is = |name, number| command.is_some_and(|part| arguments.means(part, name, number));
        if is("F_DUPFD", 0) || is("F_DUPFD_CLOEXEC", 1030) {
            let new = at.ret.and_then(|ret| i32::try_from(ret).ok());
            self.duplicated(at, (table, ofd), new);
        } else if is("F_SETFD", 2) {
            let set = arguments.has(2, "FD_CLOEXEC", 1);
            if let Some(fd) = fd {
                self.world.tables.set_cloexec(table, fd, set);
            }
        } else if is("F_SETFL", 4) {
            let nonblocking = arguments.has(2, "O_NONBLOCK", O_NONBLOCK);
            if let Some(end) = ofd.and_then(|ofd| self.world.ends.get_mut(ofd)) {
                end.nonblocking = nonblocking;
            }
        } else if is("F_SETLEASE", 1024) {
            self.holds_file(at, table, fd.zip(ofd));
            self.leased(columns, at, ofd);
        } else if let Some((file, lock)) = self.asked_by_fcntl(columns, at) {
            if matches!(lock.owner, Owner::Description(_)) {
                self.holds_file(at, table, fd.zip(ofd));
            }
            let gives_back = at.args.contains("F_UNLCK") || at.args.contains("l_type=0x2");
            self.lock(at, file, lock, gives_back);
        }
    }

    /// A descriptor of a file with a lock: whoever holds it holds the lock.
    fn holds_file(&mut self, at: &At<'_>, table: u32, descriptor: Option<(i32, Ofd)>) {
        let Some((fd, ofd)) = descriptor else { return };
        if self.world.ends.get(ofd).is_none() {
            self.world.ends.insert(ofd, End::new(Kind::File, None, at.line));
            self.world.tables.insert(table, fd, made(at, ofd));
        }
    }

    fn lock(&mut self, at: &At<'_>, file: (u32, u64), lock: Lock, gives_back: bool) {
        if gives_back {
            self.world.locks.release(file, &lock, at.as_act());
            self.late.unlocked(&mut self.rows, file, at.as_act());
        } else {
            self.world.locks.take(file, lock);
        }
    }

    /// A process that closes any descriptor of a file loses its locks on it: fcntl(2).
    fn unlock_process(&mut self, at: &At<'_>, file: Option<u64>, table: u32) {
        if self.world.locks.is_empty() {
            return;
        }
        let Some(file) = file else { return };
        let all = Lock {
            owner: Owner::Process(table),
            exclusive: true,
            whole: false,
            start: 0,
            end: i64::MAX,
            task: at.task,
            line: at.line,
        };
        if self.world.locks.any_of(all.owner) {
            self.world.locks.release((at.source, file), &all, at.as_act());
        }
    }

    fn closed_range(&mut self, at: &At<'_>, table: u32) {
        let arguments = Arguments::new(at.args, at.ftrace);
        let number = |at| arguments.number(at).map(|fd| i32::try_from(fd).unwrap_or(i32::MAX));
        let (Some(first), Some(last)) = (number(0), number(1)) else { return };
        let last = if last < 0 { i32::MAX } else { last };
        if arguments.has(2, "CLOSE_RANGE_CLOEXEC", 4) {
            return;
        }
        self.world.tables.remove_range(table, first, last);
        self.closed(at.as_act());
    }

    /// Ends that nobody holds any more were closed.
    pub(crate) fn closed(&mut self, act: Done) {
        let mut released = self.world.tables.take_released();
        released = released.into_iter().filter_map(|ofd| self.world.ends.left(ofd)).collect();
        for &ofd in &released {
            for gave in [true, false] {
                self.late.acted(&mut self.rows, &self.world, ofd, gave, act);
            }
        }
        self.world.close(&released, act);
    }

    fn took(&mut self, at: &At<'_>, ofd: Option<Ofd>, bytes: Option<i64>) {
        let bytes = bytes.or(at.ret).unwrap_or(0);
        let Some(ofd) = ofd.filter(|_| bytes > 0).map(|ofd| self.world.ends.side(ofd)) else {
            return;
        };
        if let Some(end) = self.world.ends.get_mut(ofd) {
            // The data is still there.
            let bytes = if at.args.contains("MSG_PEEK") { 0 } else { bytes };
            end.took(at.as_act(), bytes);
            self.late.acted(&mut self.rows, &self.world, ofd, false, at.as_act());
        }
        self.progressed(at.task);
    }

    fn gave(&mut self, at: &At<'_>, ofd: Option<Ofd>, bytes: Option<i64>) {
        let bytes = bytes.or(at.ret).unwrap_or(0);
        let Some(ofd) = ofd.filter(|_| bytes > 0).map(|ofd| self.world.ends.side(ofd)) else {
            return;
        };
        if let Some(end) = self.world.ends.get_mut(ofd) {
            end.gave(at.as_act(), bytes);
            self.late.acted(&mut self.rows, &self.world, ofd, true, at.as_act());
        }
        self.progressed(at.task);
    }

    /// An end was opened once more by its name in /proc/PID/fd, which /dev/fd and /dev/stdin lead to:
    /// from here on the log does not show all who hold it (`proc_pid_fd`(5)).
    fn reopened(&mut self, at: &At<'_>, table: u32) {
        let mut quotes = memchr::memchr_iter(b'"', at.args.as_bytes());
        let Some(start) = quotes.next() else { return };
        let end = quotes.next().unwrap_or(at.args.len());
        let Some(path) = at.args.get(start + 1..end) else { return };
        let (folder, name) = path.rsplit_once('/').unwrap_or_default();
        if !folder.ends_with("/fd") && !path.starts_with("/dev/std") {
            return;
        }
        let fd = match path {
            "/dev/stdin" => Some(0),
            "/dev/stdout" => Some(1),
            "/dev/stderr" => Some(2),
            _ => name.parse().ok(),
        };
        let pid = folder.strip_prefix("/proc/").and_then(|rest| rest.split('/').next());
        let owner = pid.and_then(|pid| pid.parse::<i32>().ok()).map_or(Some(table), |pid| {
            let task = self.world.by_tid.get(&(at.source, pid)).copied();
            task.and_then(|task| self.world.task(task)).map(|task| task.table)
        });
        let Some((fd, owner)) = fd.zip(owner) else { return };
        if let Some(one) = self.world.tables.descriptor(owner, fd)
            && let Some(end) = self.world.ends.get_mut(one.ofd)
        {
            end.unsure = true;
        }
    }

    /// A message with descriptors was sent: whoever gets it holds them.
    fn sent(&mut self, at: &At<'_>, table: u32) {
        // sendmsg(2) and sendmmsg(2) alone have such messages. Others have the data in their arguments.
        if !self.tracker.row_name(at.name).starts_with("sendm") {
            return;
        }
        let rights = ["cmsg_type=SCM_RIGHTS, cmsg_data=[", "cmsg_type=0x1, cmsg_data=["];
        for list in rights.iter().flat_map(|&start| at.args.split(start).skip(1)) {
            // Names of descriptors have brackets too: `[6<pipe:[219782]>]`.
            for fd in list.split('}').next().unwrap_or_default().split(", ") {
                let (number, n) = crate::text::number::c_integer(fd.as_bytes());
                let number = i32::try_from(number).ok().filter(|_| n > 0);
                let one = number.and_then(|fd| self.world.tables.descriptor(table, fd));
                // With a small -s, strace leaves some out: then it may be any.
                let all = fd.starts_with("...").then(|| self.world.tables.ends_of(table));
                for ofd in one.map(|one| one.ofd).into_iter().chain(all.into_iter().flatten()) {
                    let side = self.world.ends.side(ofd);
                    if let Some(end) = self.world.ends.get_mut(side) {
                        end.unsure = true;
                    }
                }
            }
        }
    }

    fn mapped(&mut self, columns: &Columns<'_>, at: &At<'_>) {
        const MAP_TYPE: i64 = 3;
        const MAP_SHARED: i64 = 1;
        let Some(start) = at.ret else { return };
        // Most mappings are private, and say nothing but what they take the place of.
        // A path comes after the flags, behind the descriptor.
        let flags = at.args.as_bytes();
        let flags = &flags[..memchr(b'<', flags).unwrap_or(flags.len())];
        if let Some(length) = columns.1.requested.get(at.row)
            && contains(flags, b" MAP_PRIVATE", 5)
        {
            if let Some(space) = self.world.space_mut(at.task) {
                space.unmap(start as u64, length as u64);
            }
            return;
        }
        let arguments = Arguments::new(at.args, at.ftrace);
        let [_, length, _, flags, _, offset] = arguments.first();
        let number = |part: Option<&str>| part.and_then(|part| arguments.value(part));
        // strace prints the type first, by its name or in a number.
        let shared = flags.is_some_and(|flags| flags.starts_with("MAP_SHARED"))
            || number(flags).is_some_and(|flags| flags & MAP_TYPE == MAP_SHARED);
        let Some(length) = number(length) else { return };
        if !shared {
            if let Some(space) = self.world.space_mut(at.task) {
                space.unmap(start as u64, length as u64);
            }
            return;
        }
        // Without a file it is an object of its own, which forks share.
        let object = columns.1.file.get(at.row).unwrap_or(at.line | 1 << 63);
        self.world.name_object(object, columns.0.path.get(at.row));
        let Some(space) = self.world.space_mut(at.task) else { return };
        let offset = number(offset).unwrap_or(0);
        space.map(start as u64, length as u64, object, offset as u64);
    }

    /// A task got or gave something: polls that time out are no longer a series.
    pub(crate) fn progressed(&mut self, task: u32) {
        if let Some(task) = self.world.task_mut(task) {
            task.series = None;
        }
    }
}

/// What the first or the second descriptor of a call leads to.
#[inline]
fn description(columns: &Columns<'_>, at: &At<'_>, which: usize) -> Option<Ofd> {
    Some((at.source, columns.1.ofd.get(which)?.get(at.row)?))
}

/// Whether a task gets a network of its own: namespaces(7).
fn is_new_network(at: &At<'_>) -> bool {
    at.act == Act::Namespace && !at.args.contains("CLONE_") || at.args.contains("CLONE_NEWNET")
}

/// A descriptor that a call made.
pub(crate) fn made(at: &At<'_>, ofd: Ofd) -> Descriptor {
    Descriptor { ofd, cloexec: at.args.contains("CLOEXEC"), line: at.line, inherited: false }
}

/// The name in `[3<pipe:[206973]>, 4<pipe:[206973]>]`.
pub(crate) fn inner_name(args: &str) -> Option<&str> {
    let (_, rest) = args.split_once('<')?;
    let end = rest.find("]>").map(|at| at + 1).or_else(|| rest.find('>'))?;
    rest.get(..end).filter(|name| !name.is_empty())
}
