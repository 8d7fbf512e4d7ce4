//! The effects of particular calls on the process, and columns that only those calls have.

use crate::events::details::Detail;
use crate::events::schema::Column as C;
use crate::events::vocabulary::{FileType, Motion, Op, clone_flags, open_flags};
use crate::linux::bpf::COMMANDS_THAT_OPEN;
use crate::linux::rings::{self, Enter};
use crate::linux::syscalls::flags::{
    CLOSE_RANGE_UNSHARE, O_APPEND, RENAME_EXCHANGE, SECCOMP_FILTER_FLAG_NEW_LISTENER,
    SECCOMP_IOCTL_NOTIF_ADDFD, SECCOMP_IOCTL_NOTIF_RECV, TCGETS, TIOCGWINSZ,
};
use crate::linux::syscalls::{self, flags};
use crate::linux::syscalls::{Classes, Cloexec, NONE, Shape, Special};
use crate::strace::arguments::{MAX_ARGS, Split};
use crate::strace::fields::flags::{Flags, is_constant};
use crate::strace::fields::paths;
use crate::strace::fields::scm_rights;
use crate::strace::fields::stat::type_of;
use crate::strace::fields::writer::{FieldWriter, fd_number};
use crate::text::number;
use crate::text::search;

const O_CLOEXEC: u32 = syscalls::O_CLOEXEC;
const CLOSE_RANGE_CLOEXEC: u32 = 4;
const FD_CLOEXEC: u32 = 1;

/// Clone flags in the arguments.
pub(crate) fn fork_flags(text: &[u8], sys: u16) -> u32 {
    match syscalls::name(sys) {
        "fork" => 0,
        "vfork" => clone_flags::CLONE_VM | clone_flags::CLONE_VFORK,
        _ => clone_bits(text, sys),
    }
}

/// [`open_flags::TRUNC`], if a call that opens a file may cut it.
pub(crate) fn cuts(args: &[u8], shape: &Shape) -> u32 {
    let flags = match shape.special {
        Special::Creat => return open_flags::TRUNC,
        Special::How => Flags::within(args, None, shape.flags),
        _ => Some(Flags::at(args, None, shape.flags)),
    };
    flags.map_or(open_flags::TRUNC, |flags| flags.opened() & open_flags::TRUNC)
}

fn clone_bits(text: &[u8], sys: u16) -> u32 {
    let by_address = syscalls::name(sys) == "clone3";
    let named = memchr::memchr(b'=', text).is_some();
    if text.trim_ascii().is_empty() || !by_address && !named && number::c_integer(text).1 == 0 {
        // Before 5.1 strace prints all arguments at the end of the call, and perhaps a message here.
        return 0;
    }
    let shown = if let Some(at) = search::find(text, b"flags=", 5) {
        let text = &text[at + 6..];
        text.first()
            .is_some_and(u8::is_ascii_alphanumeric)
            .then(|| flags::mask(text, flags::clone_bit))
    } else {
        // Raw registers: the flags come first, but those of clone3 have only their address.
        let (flags, n) = number::c_integer(text);
        (n > 0 && !by_address).then_some(flags as u32)
    };
    shown.map_or(clone_flags::UNSHOWN, |flags| flags & !clone_flags::CSIGNAL)
}

/// The pid that an argument names. For a task in another namespace, the id that strace uses
/// elsewhere, if it says that: `7 /* 20841 in strace's PID NS */`. Returns whether it does.
fn process(arg: &[u8]) -> Option<(i32, bool)> {
    let known = arg.strip_suffix(b" in strace's PID NS */");
    let known = known.and_then(|arg| arg.get(search::rfind(arg, b"/* ", 0)? + 3..));
    let (pid, n) = number::c_integer(known.unwrap_or(arg));
    let pid = i32::try_from(pid).ok().filter(|_| n > 0)?;
    Some((pid, known.is_some()))
}

/// The flags of `close_range`: whether it only sets close-on-exec, and whether it unshares the
/// descriptor table first.
pub(crate) fn range_flags(text: &[u8], split: Option<&Split>) -> u32 {
    let flags = Flags::at(text, split, 2);
    let mut known = 0;
    if flags.cloexec(CLOSE_RANGE_CLOEXEC) {
        known |= open_flags::CLOEXEC;
    }
    if flags.has(b"CLOSE_RANGE_UNSHARE", 12, CLOSE_RANGE_UNSHARE) {
        known |= clone_flags::CLONE_FILES;
    }
    known
}

/// The last descriptor of a range; callers often pass the largest number.
pub(crate) fn range_end(arg: &[u8]) -> Option<i32> {
    let last = number::whole_integer(arg)?;
    Some(i32::try_from(last).ok().filter(|&fd| fd >= 0).unwrap_or(i32::MAX))
}

impl FieldWriter<'_> {
    /// Writes effects and columns of particular calls. If the arguments were split, `split` holds
    /// them up to the last one that a column needs.
    #[inline]
    pub(crate) fn effects(&mut self, split: Option<&Split>, sys: u16, ret: Option<i64>) {
        let shape = self.shape;
        let row = self.row;
        let text = self.source.bytes;
        match shape.op {
            Op::Fork => self.rows.effect[row].flags = fork_flags(text, sys),
            Op::Open | Op::OpenAnon | Op::OpenPair | Op::OpenProcess | Op::Take => {
                self.rows.effect[row].flags |= self.opened(split);
                if shape.special == Special::RingSetup {
                    self.rows.effect[row].flags |= ring_made(text);
                }
                if shape.special == Special::How && search::contains(text, b"RESOLVE_IN_ROOT", 12) {
                    // The path starts at the directory, wherever it seems to: openat2(2).
                    self.rows.valid[row] &= !(C::Path.bit() | C::File.bit());
                    let effect = &mut self.rows.effect[row];
                    (effect.relative, effect.identify) = (false, false);
                }
                if shape.op == Op::OpenPair && ret == Some(0) {
                    self.pair();
                }
                if matches!(shape.op, Op::OpenProcess | Op::Take) {
                    self.process();
                }
            }
            Op::Unshare => {
                self.rows.effect[row].flags = Flags::at(text, split, 0).unshared();
            }
            Op::Rename if shape.flags != NONE => {
                let flags = Flags::at(text, split, shape.flags);
                let exchange = flags.has(b"RENAME_EXCHANGE", 8, RENAME_EXCHANGE);
                self.rows.effect[row].flags = exchange.into();
            }
            Op::Dup
                if shape.flags != NONE
                    && Flags::at(text, split, shape.flags).cloexec(O_CLOEXEC) =>
            {
                self.rows.effect[row].flags = open_flags::CLOEXEC;
            }
            Op::CloseRange => self.close_range(split),
            Op::ExitCall => {
                self.rows.effect[row].flags = u32::from(shape.classes.has(Classes::ENDS_GROUP));
            }
            _ if shape.special != Special::None => self.special(split, ret),
            _ => {}
        }
        if shape.length != NONE && ret == Some(0) {
            self.length();
        }
    }

    fn special(&mut self, split: Option<&Split>, ret: Option<i64>) {
        let text = self.source.bytes;
        let row = self.row;
        match self.shape.special {
            Special::Fcntl => self.fcntl(ret),
            Special::Ioctl => self.ioctl(ret),
            Special::Lseek => self.lseek(ret),
            Special::Llseek => self.llseek(ret),
            Special::Brk
            | Special::Mmap
            | Special::Mprotect
            | Special::Mremap
            | Special::Munmap => self.memory(split, ret),
            Special::Events => self.collected(ret),
            Special::Fallocate => self.fallocate(ret),
            Special::Getcwd => {
                if self.rows.effect[row].relative {
                    // getcwd(2) returns `(unreachable)/…` for a directory outside the root: not a
                    // path.
                    self.rows.effect[row].relative = false;
                    self.rows.valid[row] &= !C::Path.bit();
                } else if ret.is_some() && self.has(C::Path) {
                    self.rows.effect[row].op = Op::Chdir;
                    // What getcwd(2) returns has no links.
                    self.rows.effect[row].flags = open_flags::RESOLVED;
                }
            }
            Special::Whole => {
                if ret == Some(0) && self.has(C::Requested) {
                    self.integer(self.rows.requested[row], C::Bytes);
                }
            }
            Special::Bpf => {
                let split = Split::new(text, 0);
                let command = split.get(text, 0).unwrap_or_default();
                if COMMANDS_THAT_OPEN
                    .iter()
                    .any(|&(name, number)| is_constant(command, name, number))
                {
                    self.rows.effect[row].op = Op::OpenAnon;
                    self.rows.effect[row].flags =
                        FileType::Anon as u32 | open_flags::TYPED | open_flags::CLOEXEC;
                    self.returned_descriptor(ret);
                }
            }
            Special::Seccomp => {
                let flags = Flags::at(text, None, 1);
                if ret.is_some_and(|ret| ret >= 0)
                    && flags.has(b"NEW_LISTENER", 4, SECCOMP_FILTER_FLAG_NEW_LISTENER)
                {
                    self.rows.effect[row].op = Op::OpenAnon;
                    self.rows.effect[row].flags =
                        FileType::Anon as u32 | open_flags::TYPED | open_flags::CLOEXEC;
                    self.rows.effect[row].detail = self.side.detail(Detail::Supervised);
                    self.returned_descriptor(ret);
                }
            }
            Special::Waitid => {
                let split = Split::new(text, 1);
                if split.len() == 2
                    && split.get(text, 0).is_some_and(|kind| is_constant(kind, b"P_PIDFD", 3))
                {
                    self.descriptor(split.start(1), false);
                }
            }
            Special::Current if self.shape.motion == Motion::Write => {
                let split = Split::new(text, MAX_ARGS);
                // As raw registers of 32 bits the offset takes two.
                let last = (split.len() as u8).checked_sub(1).filter(|&last| last > 3);
                let given = last.and_then(|last| split.get(text, last)).unwrap_or_default();
                self.rows.effect[row].flags = flags::written(flags::mask(given, flags::rwf_bit));
            }
            Special::MakeNode => {
                if let Some(made) = node_type(text, self.shape).filter(|_| ret == Some(0)) {
                    self.rows.file_type[row] = made as u8;
                    self.set(C::FileType);
                    if makes_node(text, self.shape) {
                        self.rows.effect[row].op = Op::MakeNode;
                    }
                }
            }
            Special::Symlink => {
                let [target, _] = paths::last_parts(text, self.shape);
                self.rows.effect[row].op = Op::Symlink;
                self.rows.effect[row].number = target.unwrap_or(0) as i64;
            }
            Special::Mount | Special::Unmount => {
                if ret == Some(0) {
                    self.rows.effect[row].detail = self.side.detail(Detail::Mounted);
                }
            }
            Special::AioSetup => {
                if ret == Some(0) {
                    self.rows.effect[row].detail = self.side.detail(Detail::AioSetup);
                }
            }
            Special::Setns => {
                if ret == Some(0) {
                    let kinds = Split::new(text, 1);
                    let kinds = kinds.get(text, 1).unwrap_or_default();
                    let detail = Detail::Entered(flags::mask(kinds, flags::clone_bit));
                    self.rows.effect[row].detail = self.side.detail(detail);
                }
            }
            Special::SocketOption => {
                if ret == Some(0) && scm_rights::sets_peek_offset(text) {
                    self.rows.effect[row].detail = self.side.detail(Detail::PeeksLater);
                }
            }
            Special::RingEnter => {
                let enter = ring_enter(text);
                if let Some(asks) = enter.asked(ret) {
                    self.rows.effect[row].op = Op::Submit;
                    self.rows.effect[row].flags = asks;
                }
                if enter.by_index() {
                    self.rows.valid[row] &= !C::Fd.bit();
                }
            }
            Special::RingRegister => {
                if ret.is_some() && keeps(text) {
                    self.rows.effect[row].op = Op::Submit;
                }
            }
            Special::None
            | Special::Address
            | Special::Cancel
            | Special::Creat
            | Special::Current
            | Special::How
            | Special::RingSetup
            | Special::Submission => {}
        }
    }

    /// What the flags say about a new descriptor.
    fn opened(&self, split: Option<&Split>) -> u32 {
        let shape = self.shape;
        let mut known = shape.makes.map_or(0, |t| t as u32 | open_flags::TYPED);
        let bit = match shape.cloexec {
            Cloexec::Always => return known | open_flags::CLOEXEC,
            Cloexec::Bit(bit) => bit,
        };
        if shape.flags == NONE {
            // creat is open with O_CREAT|O_WRONLY|O_TRUNC (open(2)).
            return if shape.special == Special::Creat { open_flags::TRUNC } else { known };
        }
        let text = self.source.bytes;
        if shape.special == Special::How {
            return Flags::within(text, split, shape.flags)
                .map_or(open_flags::UNSHOWN, Flags::opened);
        }
        let flags = Flags::at(text, split, shape.flags);
        if shape.op == Op::Open {
            return flags.opened();
        }
        if flags.cloexec(bit) {
            known |= open_flags::CLOEXEC;
        }
        if (shape.op, shape.makes) == (Op::OpenPair, Some(FileType::Socket))
            && !flags.has(b"SOCK_STREAM", 5, 0)
        {
            known |= open_flags::RECORDS;
        }
        known
    }

    /// Writes the process of `pidfd_open(20841, 0)`, or the descriptor that `pidfd_getfd` copies.
    fn process(&mut self) {
        let text = self.source.bytes;
        let split = Split::new(text, 1);
        let effect = &mut self.rows.effect[self.row];
        if self.shape.op == Op::Take {
            let fd = split.get(text, 1).map(fd_number).filter(|&(_, n)| n > 0);
            effect.at = fd.map_or(effect.at, |(fd, _)| fd);
        } else if let Some((pid, translated)) = split.get(text, 0).and_then(process) {
            effect.at = pid;
            effect.flags |= if translated { open_flags::TRANSLATED } else { 0 };
        }
    }

    /// Writes the new length of the file. As raw 32-bit registers it takes two, which start with an
    /// even one on some architectures (syscall(2)).
    fn length(&mut self) {
        let text = self.source.bytes;
        let split = Split::new(text, MAX_ARGS);
        let value = |at| split.get(text, at).and_then(number::whole_integer);
        let length = match split.len() {
            3 => self.pair_of(&split, 1),
            4 => self.pair_of(&split, 2),
            _ => value(self.shape.length),
        };
        if let Some(length) = length {
            self.integer(length, C::Size);
        }
    }

    /// Two registers as one number, lower half first.
    fn pair_of(&self, split: &Split, low: u8) -> Option<i64> {
        let text = self.source.bytes;
        let value = |at| split.get(text, at).and_then(number::whole_integer);
        Some(value(low + 1)? << 32 | value(low)?)
    }

    /// `fallocate(3, 0, 4096, 8)` extends the file to the end of the range.
    fn fallocate(&mut self, ret: Option<i64>) {
        let text = self.source.bytes;
        let row = self.row;
        let split = Split::new(text, MAX_ARGS);
        if split.len() == 6 {
            for (column, low) in [(C::Offset, 2), (C::Requested, 4)] {
                self.rows.valid[row] &= !column.bit();
                if let Some(value) = self.pair_of(&split, low) {
                    self.integer(value, column);
                }
            }
        }
        let mode = flags::mask(split.get(text, 1).unwrap_or_default(), flags::fallocate_bit);
        if ret == Some(0) && flags::shifts(mode) {
            let by = self.has(C::Requested).then(|| self.rows.requested[row]);
            let effect = &mut self.rows.effect[row];
            effect.op = Op::Allocate;
            effect.flags = by.is_some().into();
            effect.number = by.map_or(-1, |by| flags::shifted(mode, by));
        } else if ret == Some(0)
            && flags::allocates(mode)
            && self.has(C::Offset)
            && self.has(C::Requested)
        {
            let end = self.rows.offset[row].checked_add(self.rows.requested[row]);
            if let Some(end) = end {
                self.rows.effect[row].op = Op::Allocate;
                self.rows.effect[row].number = end;
            }
        } else if self.has(C::Errno) {
            // It may have reached a part of the range.
            (self.rows.effect[row].op, self.rows.effect[row].number) = (Op::Allocate, -1);
        }
    }

    fn close_range(&mut self, split: Option<&Split>) {
        let text = self.source.bytes;
        self.rows.effect[self.row].flags = range_flags(text, split);
        let last = split.and_then(|split| split.get(text, self.shape.fd2));
        if let Some(last) = last.and_then(range_end) {
            self.put_fd(last, true);
        }
    }

    /// `F_DUPFD` and `F_DUPFD_CLOEXEC` duplicate a descriptor, `F_SETFD` sets close-on-exec,
    /// `F_SETFL` and `F_GETFL` show the status flags of the open file.
    fn fcntl(&mut self, ret: Option<i64>) {
        let text = self.source.bytes;
        let split = Split::new(text, 2);
        let Some(command) = split.get(text, 1) else { return };
        let row = self.row;
        if is_constant(command, b"F_SETFD", 2) {
            if ret == Some(0) {
                let mark = Flags::at(text, None, 2).has(b"FD_CLOEXEC", 9, FD_CLOEXEC);
                self.rows.effect[row].op = Op::SetCloexec;
                self.rows.effect[row].flags = if mark { open_flags::CLOEXEC } else { 0 };
            }
            return;
        }
        let status = if is_constant(command, b"F_GETFL", 3) {
            ret.map(|flags| status(flags & i64::from(O_APPEND) != 0))
        } else {
            new_status(text).filter(|_| ret.is_some())
        };
        if let Some(status) = status {
            self.rows.effect[row].op = Op::SetStatus;
            self.rows.effect[row].flags = status;
            return;
        }
        let marked = is_constant(command, b"F_DUPFD_CLOEXEC", 0x406);
        if !marked && !is_constant(command, b"F_DUPFD", 0) {
            return;
        }
        if let Some(fd) = ret.and_then(|fd| i32::try_from(fd).ok()).filter(|&fd| fd >= 0) {
            self.rows.effect[row].op = Op::Dup;
            if marked {
                self.rows.effect[row].flags = open_flags::CLOEXEC;
            }
            self.put_fd(fd, true);
        }
    }

    /// `FIOCLEX` and `FIONCLEX` also change close-on-exec. `TCGETS` and `TIOCGWINSZ` succeed on
    /// terminals only.
    fn ioctl(&mut self, ret: Option<i64>) {
        let text = self.source.bytes;
        let Some(ret) = ret else {
            if ioctl_resizes(text) {
                // It may have done so, as its entry says where the two are apart.
                let effect = &mut self.rows.effect[self.row];
                (effect.op, effect.number) = (Op::Allocate, -1);
            }
            return;
        };
        let split = Split::new(text, 1);
        let Some(command) = split.get(text, 1) else { return };
        // The lengths of the structures are part of the numbers, so they are those of 64 bits.
        if is_addfd(command) {
            let added = scm_rights::added(text);
            self.rows.effect[self.row].detail = self.side.detail(Detail::Added(added));
        } else if let Ok(fd @ 1..) = i32::try_from(ret) {
            self.rows.effect[self.row].detail = self.side.detail(Detail::MayMake(fd));
        }
        if ret != 0 {
            return;
        }
        if is_constant(command, b"SECCOMP_IOCTL_NOTIF_RECV", SECCOMP_IOCTL_NOTIF_RECV.into())
            && let Some((notice, tid)) = scm_rights::notified(text)
        {
            let detail = self.side.detail(Detail::Notified(notice, tid));
            self.rows.effect[self.row].detail = detail;
            return;
        }
        // strace lists all names of a number that several devices use: `SNDCTL_TMR_TIMEBASE or
        // TCGETS`.
        let terminal = command.ends_with(b"TCGETS")
            || command == b"TCGETS2"
            || is_constant(command, b"TIOCGWINSZ", TIOCGWINSZ.into())
            || is_constant(command, b"TCGETS", TCGETS.into());
        if terminal {
            if !self.has(C::FileType) {
                self.rows.file_type[self.row] = FileType::Char as u8;
                self.rows.valid[self.row] |= C::FileType.bit();
            }
            return;
        }
        if resizes(command) {
            self.rows.effect[self.row].op = Op::Allocate;
            self.rows.effect[self.row].number = -1;
            return;
        }
        let mark = is_constant(command, b"FIOCLEX", 0x5451);
        if mark || is_constant(command, b"FIONCLEX", 0x5450) {
            self.rows.effect[self.row].op = Op::SetCloexec;
            self.rows.effect[self.row].flags = if mark { open_flags::CLOEXEC } else { 0 };
        }
    }

    /// Writes the two descriptors in `[3<…>, 4<…>]` of pipe and socketpair.
    fn pair(&mut self) {
        let text = self.source.bytes;
        let split = Split::new(text, MAX_ARGS);
        for i in 0..split.len() as u8 {
            let Some(arg) = split.get(text, i) else { return };
            if arg.first() != Some(&b'[') {
                continue;
            }
            let from = split.start(i) + 1;
            let two = Split::new(&arg[1..], 1);
            if two.len() == 2 {
                self.descriptor(from + two.start(0), false);
                self.descriptor(from + two.start(1), true);
            }
        }
    }
}

/// What `io_uring_setup(8, {flags=IORING_SETUP_SQPOLL, …})` makes.
#[cold]
fn ring_made(args: &[u8]) -> u32 {
    let split = Split::new(args, 1);
    let form = split.get(args, 1).unwrap_or_default();
    let at = form.strip_prefix(b"{").and_then(|form| search::find(form, b"flags=", 1));
    rings::made(at.map(|at| flags::mask(&form[at + 7..], rings::bit)))
}

/// The arguments of `io_uring_enter(4, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0)`.
#[cold]
pub(crate) fn ring_enter(args: &[u8]) -> Enter {
    let split = Split::new(args, 3);
    let count = |at| split.get(args, at).and_then(number::whole_integer);
    let count = |at| count(at).and_then(|count| u32::try_from(count).ok());
    let flags = split.get(args, 3).map(|flags| flags::mask(flags, rings::bit));
    Enter { to_submit: count(1), flags }
}

/// Whether `io_uring_register(4, IORING_REGISTER_FILES, [3], 1)` gives the ring descriptions.
#[cold]
fn keeps(args: &[u8]) -> bool {
    let split = Split::new(args, 1);
    let command = split.get(args, 1).unwrap_or_default();
    let (number, n) = number::c_integer(command);
    if n > 0 { rings::keeps_by_number(number as u32) } else { rings::keeps(command) }
}

/// The type of file that `mknod("/d/fifo", S_IFIFO|0644)` makes.
fn node_type(args: &[u8], shape: &Shape) -> Option<FileType> {
    let at = shape.path + 1;
    Split::new(args, usize::from(at)).get(args, at).and_then(type_of)
}

/// Whether such a call makes a file that has no positions.
#[cold]
pub(crate) fn makes_node(args: &[u8], shape: &Shape) -> bool {
    matches!(node_type(args, shape), Some(FileType::Fifo | FileType::Char))
}

/// Whether a command of ioctl changes the length of a file.
fn resizes(command: &[u8]) -> bool {
    let (number, n) = number::c_integer(command);
    if n > 0 { flags::resizes(number as u32) } else { flags::resizes_by_name(command) }
}

/// Whether `ioctl(4, FICLONE, 3)` does.
pub(crate) fn ioctl_resizes(args: &[u8]) -> bool {
    Split::new(args, 1).get(args, 1).is_some_and(resizes)
}

/// Whether `ioctl(6, SECCOMP_IOCTL_NOTIF_ADDFD, {...})` does something in another process.
pub(crate) fn adds_descriptor(args: &[u8]) -> bool {
    Split::new(args, 1).get(args, 1).is_some_and(is_addfd)
}

fn is_addfd(command: &[u8]) -> bool {
    is_constant(command, b"SECCOMP_IOCTL_NOTIF_ADDFD", SECCOMP_IOCTL_NOTIF_ADDFD.into())
}

/// The status flags as [`Op::SetStatus`] stores them.
fn status(appends: bool) -> u32 {
    if appends { open_flags::APPEND } else { 0 }
}

/// The flags that `fcntl(3, F_SETFL, O_APPEND)` sets; `None` for other commands.
pub(crate) fn new_status(args: &[u8]) -> Option<u32> {
    let split = Split::new(args, 1);
    is_constant(split.get(args, 1)?, b"F_SETFL", 4)
        .then(|| status(Flags::at(args, None, 2).appends()))
}
