//! What single calls do to the traced system, and columns that only they have.

use crate::events::details::{Added, Detail};
use crate::events::schema::Column as C;
use crate::events::vocabulary::{FileType, Motion, Op, clone_flags, open_flags, whence};
use crate::ftrace::call::arguments::SplitArguments;
use crate::ftrace::fields::FieldWriter;
use crate::linux::bpf::COMMANDS_THAT_OPEN;
use crate::linux::rings::{self, Enter};
use crate::linux::syscalls::flags::{
    CLOSE_RANGE_UNSHARE, O_APPEND, O_DIRECTORY, RENAME_EXCHANGE, SECCOMP_FILTER_FLAG_NEW_LISTENER,
    SECCOMP_IOCTL_NOTIF_ADDFD, TCGETS, TIOCGWINSZ,
};
use crate::linux::syscalls::{self, flags};
use crate::linux::syscalls::{Classes, Cloexec, NONE, Shape, Special};

const F_DUPFD: u32 = 0;
const F_SETFD: u32 = 2;
const F_GETFL: u32 = 3;
const F_SETFL: u32 = 4;
const F_DUPFD_CLOEXEC: u32 = 1030;
const FD_CLOEXEC: u32 = 1;
const FIONCLEX: u32 = 0x5450;
const FIOCLEX: u32 = 0x5451;
const CLOSE_RANGE_CLOEXEC: u32 = 4;
const P_PIDFD: u32 = 3;

/// [`open_flags::TRUNC`], if a call that opens a file may cut it.
pub(crate) fn cuts(split: &SplitArguments, text: &[u8], shape: &Shape) -> u32 {
    if matches!(shape.special, Special::Creat | Special::How) {
        return open_flags::TRUNC;
    }
    let flags = match split.get(text, shape.flags) {
        Some(value) if value.starts_with(b"O_") => flags::opened(value),
        _ => split.number(text, shape.flags).map_or(0, |flags| flags::opened_by(flags as u32)),
    };
    flags & open_flags::TRUNC
}

/// Clone flags where the text has them: that of clone3 has only their address.
pub(crate) fn fork_flags(text: &[u8], sys: u16) -> u32 {
    match syscalls::name(sys) {
        "vfork" => clone_flags::CLONE_VM | clone_flags::CLONE_VFORK,
        "clone" | "clone2" => {
            // Some machines take the new stack first.
            let name = memchr::memmem::find(text, b"clone_flags");
            let second = name.is_some_and(|at| text[..at].contains(&b','));
            let at = u8::from(second);
            let flags = SplitArguments::new(text, usize::from(at), false).number(text, at);
            flags.map_or(clone_flags::UNSHOWN, |flags| flags as u32 & !clone_flags::CSIGNAL)
        }
        "clone3" => clone_flags::UNSHOWN,
        _ => 0,
    }
}

/// Command of bpf that makes a descriptor.
fn makes_descriptor(command: u32) -> bool {
    COMMANDS_THAT_OPEN.iter().any(|&(_, number)| number == i64::from(command))
}

/// What `close_range` does: it only marks descriptors, or works on a copy of their table.
pub(crate) fn range_flags(split: &SplitArguments, text: &[u8]) -> u32 {
    let flags = split.number(text, 2).unwrap_or(0) as u32;
    let mut known = 0;
    if flags & CLOSE_RANGE_CLOEXEC != 0 {
        known |= open_flags::CLOEXEC;
    }
    if flags & CLOSE_RANGE_UNSHARE != 0 {
        known |= clone_flags::CLONE_FILES;
    }
    known
}

/// The arguments of `io_uring_enter`.
#[cold]
pub(crate) fn ring_enter(split: &SplitArguments, text: &[u8]) -> Enter {
    let int = |at| split.number(text, at).map(|number| number as u32);
    Enter { to_submit: int(1), flags: int(3) }
}

impl FieldWriter<'_> {
    /// Effects and columns of single calls.
    #[inline]
    pub(crate) fn effects(&mut self, ret: Option<i64>) {
        let shape = self.shape;
        let row = self.row;
        match shape.op {
            Op::Fork => {
                // A return of 0 is the child's view of its own creation.
                if ret == Some(0) {
                    self.rows.effect[row].op = Op::None;
                }
                self.rows.effect[row].flags = fork_flags(self.source.bytes, self.sys);
            }
            Op::Open | Op::OpenAnon | Op::OpenPair => {
                self.rows.effect[row].flags = self.opened();
                if shape.special == Special::RingSetup {
                    // The text has only the address of the flags.
                    self.rows.effect[row].flags |= rings::made(None);
                }
            }
            Op::OpenProcess | Op::Take => {
                self.rows.effect[row].flags = self.opened();
                if let Some(at) = self.int(u8::from(shape.op == Op::Take)) {
                    self.rows.effect[row].at = at as i32;
                }
            }
            Op::Unshare => {
                self.rows.effect[row].flags = self.int(0).map_or(0, flags::unshared);
            }
            Op::Rename => {
                let exchange = self.has_flag(shape.flags, RENAME_EXCHANGE);
                self.rows.effect[row].flags = exchange.into();
            }
            Op::Dup if self.has_flag(shape.flags, syscalls::O_CLOEXEC) => {
                self.rows.effect[row].flags = open_flags::CLOEXEC;
            }
            Op::CloseRange => {
                self.rows.effect[row].flags = range_flags(self.split, self.source.bytes);
                if self.rows.has(row, C::Fd2) && self.rows.fd2[row] < 0 {
                    self.rows.fd2[row] = i32::MAX;
                }
            }
            Op::ExitCall => {
                self.rows.effect[row].flags = u32::from(shape.classes.has(Classes::ENDS_GROUP));
            }
            _ if shape.special != Special::None => self.special(ret),
            _ => {}
        }
    }

    fn special(&mut self, ret: Option<i64>) {
        match self.shape.special {
            Special::Fcntl => self.fcntl(ret),
            // Another way to mark a descriptor.
            Special::Ioctl => match (self.int(1), ret) {
                (Some(command @ (FIOCLEX | FIONCLEX)), Some(0)) => self.mark(command == FIOCLEX),
                // They succeed for terminals alone.
                (Some(TCGETS | TIOCGWINSZ), Some(0)) => {
                    self.rows.file_type[self.row] = FileType::Char as u8;
                    self.rows.valid[self.row] |= C::FileType.bit();
                }
                (Some(SECCOMP_IOCTL_NOTIF_ADDFD), Some(0..)) => {
                    // The text has only the address of what the call says.
                    let detail = self.side.detail(Detail::Added(Added::default()));
                    self.rows.effect[self.row].detail = detail;
                }
                (Some(command), Some(0)) if flags::resizes(command) => {
                    self.rows.effect[self.row].op = Op::Allocate;
                    self.rows.effect[self.row].number = -1;
                }
                _ => {}
            },
            Special::Brk
            | Special::Mmap
            | Special::Mprotect
            | Special::Mremap
            | Special::Munmap => self.memory(ret),
            Special::Fallocate => self.fallocate(ret),
            Special::Lseek => self.lseek(ret),
            Special::Llseek => self.llseek(ret),
            Special::Whole => {
                if ret == Some(0) && self.rows.has(self.row, C::Requested) {
                    self.bytes(Some(self.rows.requested[self.row]));
                }
            }
            Special::Bpf => {
                if self.int(0).is_some_and(makes_descriptor) {
                    self.rows.effect[self.row].op = Op::OpenAnon;
                    self.rows.effect[self.row].flags =
                        FileType::Anon as u32 | open_flags::TYPED | open_flags::CLOEXEC;
                    self.made(ret);
                }
            }
            Special::Seccomp => {
                if self.int(1).is_some_and(|flags| flags & SECCOMP_FILTER_FLAG_NEW_LISTENER != 0)
                    && ret.is_some_and(|ret| ret >= 0)
                {
                    self.rows.effect[self.row].op = Op::OpenAnon;
                    self.rows.effect[self.row].flags =
                        FileType::Anon as u32 | open_flags::TYPED | open_flags::CLOEXEC;
                    self.rows.effect[self.row].detail = self.side.detail(Detail::Supervised);
                    self.made(ret);
                }
            }
            Special::Waitid => {
                let fd = self.int(1).filter(|_| self.int(0) == Some(P_PIDFD));
                self.fd(fd.map(|fd| fd as i32));
            }
            Special::Current if self.shape.motion == Motion::Write => {
                self.rows.effect[self.row].flags = self.int(5).map_or(0, flags::written);
            }
            Special::MakeNode => {
                let made = self.int(self.shape.path + 1).and_then(FileType::of_mode);
                if let Some(made) = made.filter(|_| ret == Some(0)) {
                    self.rows.file_type[self.row] = made as u8;
                    self.rows.valid[self.row] |= C::FileType.bit();
                    // Without a name it could be behind any.
                    let shown = self.rows.has(self.row, C::Path);
                    if shown && matches!(made, FileType::Fifo | FileType::Char) {
                        self.rows.effect[self.row].op = Op::MakeNode;
                    }
                }
            }
            Special::Mount | Special::Unmount => {
                if ret == Some(0) {
                    self.rows.effect[self.row].detail = self.side.detail(Detail::Mounted);
                }
            }
            Special::AioSetup => {
                if ret == Some(0) {
                    self.rows.effect[self.row].detail = self.side.detail(Detail::AioSetup);
                }
            }
            Special::Setns => {
                if ret == Some(0) {
                    let detail = Detail::Entered(self.int(1).unwrap_or(0));
                    self.rows.effect[self.row].detail = self.side.detail(detail);
                }
            }
            Special::RingEnter => {
                let enter = ring_enter(self.split, self.source.bytes);
                if let Some(asks) = enter.asked(ret) {
                    self.rows.effect[self.row].op = Op::Submit;
                    self.rows.effect[self.row].flags = asks;
                }
                if enter.by_index() {
                    self.rows.valid[self.row] &= !C::Fd.bit();
                }
            }
            Special::RingRegister => {
                if ret.is_some() && self.int(1).is_some_and(rings::keeps_by_number) {
                    self.rows.effect[self.row].op = Op::Submit;
                }
            }
            // The kernel prints no addresses of sockets, directories found, parts of submissions or
            // their ends.
            Special::None
            | Special::Address
            | Special::Cancel
            | Special::Creat
            | Special::Current
            | Special::Events
            | Special::Getcwd
            | Special::How
            | Special::RingSetup
            | Special::SocketOption
            | Special::Symlink
            | Special::Submission => {}
        }
    }

    fn has_flag(&self, at: u8, bit: u32) -> bool {
        at != NONE && self.int(at).is_some_and(|flags| flags & bit != 0)
    }

    /// What is known of a descriptor that is made.
    fn opened(&self) -> u32 {
        let shape = self.shape;
        let mut known = shape.makes.map_or(0, |makes| makes as u32 | open_flags::TYPED);
        let bit = match shape.cloexec {
            Cloexec::Always => return known | open_flags::CLOEXEC,
            Cloexec::Bit(bit) => bit,
        };
        if shape.special == Special::Creat {
            return open_flags::TRUNC;
        }
        let Some(value) = self.split.get(self.source.bytes, shape.flags) else { return known };
        if shape.op == Op::Open {
            return if value.starts_with(b"O_") {
                flags::opened(value)
            } else if shape.special == Special::How {
                // The text has only the address of the flags.
                open_flags::UNSHOWN
            } else {
                let flags = self.int(shape.flags).unwrap_or(0);
                // Machines differ in this one, and in O_NOFOLLOW.
                let directory = flags & self.abi.directory() != 0;
                let others = flags & !O_DIRECTORY;
                flags::opened_by(others | if directory { O_DIRECTORY } else { 0 })
            };
        }
        if self.has_flag(shape.flags, bit) {
            known |= open_flags::CLOEXEC;
        }
        known
    }

    /// The file reaches to the end of the range.
    fn fallocate(&mut self, ret: Option<i64>) {
        let row = self.row;
        let known = self.rows.has(row, C::Offset) && self.rows.has(row, C::Requested);
        if let Some(mode) = self.int(1).filter(|&mode| ret == Some(0) && flags::shifts(mode)) {
            let by = self.rows.has(row, C::Requested).then(|| self.rows.requested[row]);
            let effect = &mut self.rows.effect[row];
            effect.op = Op::Allocate;
            effect.flags = by.is_some().into();
            effect.number = by.map_or(-1, |by| flags::shifted(mode, by));
        } else if ret == Some(0) && known && self.int(1).is_some_and(flags::allocates) {
            let end = self.rows.offset[row].checked_add(self.rows.requested[row]);
            if let Some(end) = end {
                self.rows.effect[row].op = Op::Allocate;
                self.rows.effect[row].number = end;
            }
        } else if self.rows.has(row, C::Errno) {
            // It may have reached a part of the range.
            (self.rows.effect[row].op, self.rows.effect[row].number) = (Op::Allocate, -1);
        }
    }

    fn lseek(&mut self, ret: Option<i64>) {
        let offset = self.number(1);
        let offset = if self.abi.narrow { offset.map(|n| i64::from(n as i32)) } else { offset };
        self.seek(offset, 2, ret);
    }

    /// The text has the address of the new position only.
    #[cold]
    fn llseek(&mut self, ret: Option<i64>) {
        let half = |at| self.int(at).map(i64::from);
        let offset = half(1).and_then(|high| Some(high << 32 | half(2)?));
        let absolute = self.int(4) == Some(whence::SEEK_SET);
        let position = offset.filter(|_| absolute && ret == Some(0));
        self.seek(offset, 4, position);
        if ret == Some(0) {
            let detail = self.side.detail(Detail::Position(position));
            self.rows.effect[self.row].detail = detail;
        }
    }

    /// A position counted from the end gives the size of the file.
    fn seek(&mut self, offset: Option<i64>, whence: u8, position: Option<i64>) {
        let whence = offset.and_then(|_| self.int(whence));
        let effect = &mut self.rows.effect[self.row];
        effect.flags = whence.map_or(whence::OTHER, |whence| whence.min(whence::OTHER));
        effect.number = offset.unwrap_or(0);
        if whence == Some(whence::SEEK_END) {
            self.size(position.and_then(|position| position.checked_sub(offset?)));
        }
    }

    /// `fcntl(fd: 3, cmd: 0x406, arg: 0xa)` is a dup, `fcntl(fd: 3, cmd: 2, arg: 1)` a mark.
    fn fcntl(&mut self, ret: Option<i64>) {
        match self.int(1) {
            Some(F_SETFD) if ret == Some(0) => {
                let mark = self.has_flag(2, FD_CLOEXEC);
                self.mark(mark);
            }
            Some(F_SETFL) if ret == Some(0) => {
                let appends = self.has_flag(2, O_APPEND);
                self.status(appends);
            }
            Some(F_GETFL) => {
                if let Some(flags) = ret {
                    self.status(flags & i64::from(O_APPEND) != 0);
                }
            }
            Some(command @ (F_DUPFD | F_DUPFD_CLOEXEC)) => {
                let fd = ret.and_then(|fd| i32::try_from(fd).ok()).filter(|&fd| fd >= 0);
                if fd.is_some() {
                    self.rows.effect[self.row].op = Op::Dup;
                    if command == F_DUPFD_CLOEXEC {
                        self.rows.effect[self.row].flags = open_flags::CLOEXEC;
                    }
                    self.fd2(fd);
                }
            }
            _ => {}
        }
    }

    /// Writes go to the end of the file, or not.
    fn status(&mut self, appends: bool) {
        let effect = &mut self.rows.effect[self.row];
        effect.op = Op::SetStatus;
        effect.flags = if appends { open_flags::APPEND } else { 0 };
    }

    /// The descriptor is to be closed by execve, or not.
    fn mark(&mut self, cloexec: bool) {
        self.rows.effect[self.row].op = Op::SetCloexec;
        self.rows.effect[self.row].flags = if cloexec { open_flags::CLOEXEC } else { 0 };
    }
}
