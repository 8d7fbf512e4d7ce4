//! What each system call does, and what its arguments mean. To add a call, add a line.
//!
//! Positions count from 0, in the order in which strace prints the arguments, which is the kernel's
//! on 64-bit machines. The names are strace's; the 32-bit and old spellings of a call are next to
//! it. Classes that follow from the arguments are not repeated: see [`Shape::motion`] and
//! [`Shape::op`].

use crate::events::vocabulary::Motion::{Copy, Read, Write};
use crate::events::vocabulary::{FileType, Op};
use crate::linux::syscalls::Cloexec::{Always, Bit};
use crate::linux::syscalls::Count::{Arg, Last, LastButOne, Message, Messages, Submission, Vector};
use crate::linux::syscalls::{Classes, Shape, Special};

/// A call of some class whose arguments fill no column.
const fn does(classes: Classes) -> Shape {
    Shape::EMPTY.does(classes)
}

const LINKS: Classes = Classes::LINKS;
const LOOKS: Classes = Classes::LOOKS;
const SYNCS: Classes = Classes::SYNCS;
const WAITS: Classes = Classes::WAITS;
const POLLS: Classes = WAITS.and(Classes::POLLS);
const COLLECTS: Classes = WAITS.and(Classes::COLLECTS);

const PAIR: Shape = Shape { op: Op::OpenPair, ..Shape::EMPTY };
const ANON: Shape = Shape::makes(FileType::Anon);
const SOCKET: Shape = Shape::makes(FileType::Socket);
/// Reads or writes at an offset that is the last argument.
const AT_OFFSET: Shape = Shape::fd(0).moves(LastButOne).offset(3);
const VECTOR: Shape = Shape::fd(0).moves(Vector(1));
const CURRENT: Shape = VECTOR.offset(3).special(Special::Current);
/// `NAME(source, offset, destination, offset, length)`.
const TWO_SIDED: Shape =
    Shape { offset2: 3, ..Shape::both(0, 2).moves(Arg(4)).offset(1).motion(Copy) };
const BETWEEN_PROCESSES: Shape = Shape::EMPTY.moves(Vector(1));
const MMAP: Shape =
    Shape::fd(4).count(Arg(1)).offset(5).special(Special::Mmap).does(Classes::MAPS.and(LINKS));
const PROTECT: Shape = does(Classes::PROTECTS).special(Special::Mprotect);
const EVENTS: Shape = does(Classes::AIO).special(Special::Events);
const SUBMISSION: Shape = does(Classes::AIO).op(Op::Use);
const SENDFILE: Shape = Shape::both(1, 0).moves(Arg(3)).offset(2).motion(Copy);
const MESSAGES: Shape = Shape::fd(0).count(Messages(1));
const LSEEK: Shape = Shape::fd(0).op(Op::Seek).special(Special::Lseek);
const FTRUNCATE: Shape = Shape::fd(0).length(1).op(Op::Truncate);
const TRUNCATE: Shape = Shape::path(0).length(1).op(Op::Truncate);
const FCNTL: Shape = Shape::fd(0).flags(1).special(Special::Fcntl);
/// `NAME(fd, offset, length, …)`.
const RANGE: Shape = Shape::fd(0).offset(1).count(Arg(2));
/// `NAME(fd, …, offset, length)`.
const LATE_RANGE: Shape = Shape::fd(0).offset(2).count(Arg(3));
const ADDRESS: Shape = Shape { path: 1, ..Shape::fd(0).special(Special::Address) };
/// An extended attribute of a path, or of a descriptor: its size is the fourth argument.
const PATH_ATTRIBUTE: Shape = Shape::path(0).count(Arg(3));
const RENAMEAT: Shape = Shape::path_at(1).path2_at(3).op(Op::Rename);
const QUEUE: Shape = Shape { prefix: "/", ..Shape::path(0) };

pub(crate) static TABLE: &[(&str, Shape)] = &[
    // Data.
    ("read", Shape::fd(0).moves(Last).motion(Read).does(LINKS)),
    ("write", Shape::fd(0).moves(Last).motion(Write)),
    ("pread64", AT_OFFSET.motion(Read).does(LINKS)),
    ("pwrite64", AT_OFFSET.motion(Write)),
    ("pread", AT_OFFSET.motion(Read).does(LINKS)),
    ("pwrite", AT_OFFSET.motion(Write)),
    ("readv", VECTOR.motion(Read)),
    ("writev", VECTOR.motion(Write)),
    ("preadv", VECTOR.offset(3).motion(Read)),
    ("pwritev", VECTOR.offset(3).motion(Write)),
    ("preadv2", CURRENT.motion(Read)),
    ("pwritev2", CURRENT.motion(Write)),
    ("vmsplice", VECTOR.streams(Write)),
    ("sendfile", SENDFILE),
    ("sendfile64", SENDFILE),
    ("splice", TWO_SIDED),
    ("copy_file_range", TWO_SIDED),
    ("tee", Shape::both(0, 1).moves(Arg(2)).streams(Copy)),
    ("recvfrom", Shape::fd(0).moves(Arg(2)).streams(Read)),
    ("sendto", Shape::fd(0).moves(Arg(2)).streams(Write)),
    ("recv", Shape::fd(0).moves(Arg(2)).streams(Read)),
    ("send", Shape::fd(0).moves(Arg(2)).streams(Write)),
    ("recvmsg", Shape::fd(0).moves(Message(1)).streams(Read)),
    ("sendmsg", Shape::fd(0).moves(Message(1)).streams(Write)),
    ("recvmmsg", MESSAGES.streams(Read)),
    ("recvmmsg_time64", MESSAGES.streams(Read)),
    ("sendmmsg", MESSAGES.streams(Write)),
    ("getpmsg", Shape::fd(0)),
    ("putpmsg", Shape::fd(0)),
    ("process_vm_readv", BETWEEN_PROCESSES),
    ("process_vm_writev", BETWEEN_PROCESSES),
    ("getrandom", Shape::EMPTY.moves(Arg(1))),
    ("mmap", MMAP),
    ("mmap2", MMAP),
    ("old_mmap", MMAP),
    ("munmap", does(Classes::UNMAPS.and(LINKS)).special(Special::Munmap)),
    ("mprotect", PROTECT.does(LINKS)),
    ("pkey_mprotect", PROTECT),
    ("mremap", Shape::EMPTY.special(Special::Mremap)),
    ("brk", does(LINKS).special(Special::Brk)),
    ("io_setup", Shape::EMPTY.special(Special::AioSetup)),
    ("io_submit", SUBMISSION.count(Submission(2)).special(Special::Submission)),
    ("io_cancel", Shape::EMPTY.op(Op::Use).count(Submission(1)).special(Special::Cancel)),
    ("io_getevents", EVENTS),
    ("io_pgetevents", EVENTS),
    ("io_pgetevents_time64", EVENTS),
    // Positions and ranges.
    ("lseek", LSEEK),
    ("_llseek", Shape::fd(0).op(Op::Seek).special(Special::Llseek)),
    ("ftruncate", FTRUNCATE),
    ("ftruncate64", FTRUNCATE),
    ("truncate", TRUNCATE),
    ("truncate64", TRUNCATE),
    ("fallocate", LATE_RANGE.special(Special::Fallocate).does(Classes::RESIZES)),
    ("fadvise64", RANGE),
    ("fadvise64_64", RANGE),
    ("arm_fadvise64_64", LATE_RANGE),
    ("readahead", RANGE),
    ("sync_file_range", RANGE.does(SYNCS)),
    ("sync_file_range2", LATE_RANGE.does(SYNCS)),
    ("arm_sync_file_range", LATE_RANGE.does(SYNCS)),
    // What a descriptor refers to.
    ("fstat", Shape::fd(0).stat(1).does(LINKS)),
    ("fstat64", Shape::fd(0).stat(1).does(LINKS)),
    ("oldfstat", Shape::fd(0).stat(1)),
    ("fstatfs", Shape::fd(0).does(LOOKS)),
    ("fstatfs64", Shape::fd(0).does(LOOKS)),
    ("fsync", Shape::fd(0).does(SYNCS)),
    ("fdatasync", Shape::fd(0).does(SYNCS)),
    ("syncfs", Shape::fd(0).does(SYNCS)),
    ("sync", does(SYNCS)),
    ("msync", does(SYNCS)),
    ("flock", Shape::fd(0).does(WAITS)),
    ("cachestat", Shape::fd(0)),
    ("ioctl", Shape::fd(0).special(Special::Ioctl)),
    ("fcntl", FCNTL),
    ("fcntl64", FCNTL),
    ("getdents", Shape::fd(0).count(Arg(2)).does(Classes::LISTS)),
    ("getdents64", Shape::fd(0).count(Arg(2)).does(Classes::LISTS)),
    ("osf_getdirentries", Shape::fd(0).count(Arg(2)).does(Classes::LISTS)),
    ("readdir", Shape::fd(0).does(Classes::LISTS)),
    ("fchmod", Shape::fd(0)),
    ("fchown", Shape::fd(0)),
    ("fchown32", Shape::fd(0)),
    ("fgetxattr", Shape::fd(0).count(Arg(3)).does(LOOKS)),
    ("fsetxattr", Shape::fd(0).count(Arg(3))),
    ("flistxattr", Shape::fd(0).count(Arg(2)).does(LOOKS)),
    ("fremovexattr", Shape::fd(0)),
    ("finit_module", Shape::fd(0)),
    ("kexec_file_load", Shape::both(0, 1)),
    ("quotactl_fd", Shape::fd(0)),
    ("spu_run", Shape::fd(0)),
    // Sockets.
    ("connect", ADDRESS.does(WAITS)),
    ("bind", ADDRESS),
    ("listen", Shape::fd(0)),
    ("shutdown", Shape::fd(0)),
    ("getsockname", Shape::fd(0)),
    ("getpeername", Shape::fd(0)),
    ("getsockopt", Shape::fd(0)),
    ("setsockopt", Shape::fd(0).special(Special::SocketOption)),
    ("socket", SOCKET.flags(1)),
    ("socketpair", Shape { makes: Some(FileType::Socket), ..PAIR.flags(1) }),
    ("accept", SOCKET.with2(0).does(WAITS)),
    ("accept4", SOCKET.with2(0).flags(3).does(WAITS)),
    // Descriptors that wait for others, or refer to something that is not a file.
    ("epoll_create", ANON),
    ("epoll_create1", ANON.flags(0)),
    ("epoll_ctl", Shape::both(0, 2)),
    ("epoll_ctl_old", Shape::both(0, 2)),
    ("epoll_wait", Shape::fd(0).does(POLLS)),
    ("epoll_wait_old", Shape::fd(0).does(POLLS)),
    ("epoll_pwait", Shape::fd(0).does(POLLS)),
    ("epoll_pwait2", Shape::fd(0).does(POLLS)),
    ("eventfd", ANON),
    ("eventfd2", ANON.flags(1)),
    ("timerfd", ANON),
    ("timerfd_create", ANON.flags(1)),
    ("timerfd_settime", Shape::fd(0)),
    ("timerfd_gettime", Shape::fd(0)),
    ("timerfd_settime64", Shape::fd(0)),
    ("timerfd_gettime64", Shape::fd(0)),
    ("signalfd", ANON),
    ("signalfd4", ANON.flags(3)),
    ("inotify_init", ANON),
    ("inotify_init1", ANON.flags(0)),
    ("inotify_add_watch", Shape::path(1).with(0)),
    ("inotify_rm_watch", Shape::fd(0)),
    ("fanotify_init", ANON.flags(0).cloexec(Bit(1))),
    ("fanotify_mark", Shape::path_at(4).with(0)),
    ("userfaultfd", ANON.flags(0)),
    ("perf_event_open", ANON.flags(4).cloexec(Bit(8))),
    ("bpf", Shape::EMPTY.special(Special::Bpf)),
    ("seccomp", Shape::EMPTY.special(Special::Seccomp)),
    ("pidfd_open", ANON.flags(1).cloexec(Always).op(Op::OpenProcess)),
    ("pidfd_getfd", TAKE.with2(0).flags(2).cloexec(Always)),
    ("pidfd_send_signal", Shape::fd(0)),
    ("process_madvise", Shape::fd(0)),
    ("process_mrelease", Shape::fd(0)),
    ("wait4", does(COLLECTS)),
    ("oldwait4", does(COLLECTS)),
    ("osf_wait4", does(COLLECTS)),
    ("waitpid", does(COLLECTS)),
    ("waitid", does(COLLECTS).special(Special::Waitid)),
    ("setns", Shape::fd(0).special(Special::Setns)),
    ("io_uring_setup", ANON.special(Special::RingSetup).cloexec(Always)),
    ("io_uring_enter", Shape::fd(0).special(Special::RingEnter)),
    ("io_uring_register", Shape::fd(0).special(Special::RingRegister)),
    ("landlock_create_ruleset", ANON.cloexec(Always)),
    ("landlock_add_rule", Shape::fd(0)),
    ("landlock_restrict_self", Shape::fd(0)),
    ("memfd_create", NAMED_MEMFD),
    ("memfd_secret", MEMFD.flags(0)),
    ("mq_open", Shape { flags: 1, ..QUEUE.opens().cloexec(Always) }),
    ("mq_unlink", QUEUE),
    ("mq_timedsend", Shape::fd(0).count(Arg(2)).special(Special::Whole).streams(Write)),
    ("mq_timedsend_time64", Shape::fd(0).count(Arg(2)).special(Special::Whole).streams(Write)),
    ("mq_timedreceive", Shape::fd(0).moves(Arg(2)).streams(Read)),
    ("mq_timedreceive_time64", Shape::fd(0).moves(Arg(2)).streams(Read)),
    ("mq_notify", Shape::fd(0)),
    ("mq_getsetattr", Shape::fd(0)),
    // Calls that wait.
    ("futex", does(WAITS)),
    ("futex_time64", does(WAITS)),
    ("futex_wait", does(WAITS)),
    ("futex_waitv", does(WAITS)),
    ("poll", does(POLLS)),
    ("ppoll", does(POLLS)),
    ("ppoll_time64", does(POLLS)),
    ("select", does(POLLS)),
    ("_newselect", does(POLLS)),
    ("oldselect", does(POLLS)),
    ("osf_select", does(POLLS)),
    ("pselect6", does(POLLS)),
    ("pselect6_time64", does(POLLS)),
    ("nanosleep", does(WAITS)),
    ("clock_nanosleep", does(WAITS)),
    ("clock_nanosleep_time64", does(WAITS)),
    ("pause", does(WAITS)),
    ("sigsuspend", does(WAITS)),
    ("rt_sigsuspend", does(WAITS)),
    ("rt_sigtimedwait", does(WAITS)),
    ("rt_sigtimedwait_time64", does(WAITS)),
    ("msgrcv", does(WAITS)),
    ("semop", does(WAITS)),
    ("semtimedop", does(WAITS)),
    ("semtimedop_time64", does(WAITS)),
    // It goes on with one of the others, and no call but those that wait is restarted by it:
    // restart_syscall(2).
    ("restart_syscall", does(WAITS)),
    // Tables of descriptors.
    ("open", Shape::path(0).opens().flags(1).does(LINKS)),
    ("openat", Shape::path_at(1).opens().flags(2).does(LINKS)),
    ("openat2", Shape::path_at(1).opens().flags(2).special(Special::How)),
    ("creat", Shape::path(0).opens().special(Special::Creat)),
    ("open_by_handle_at", Shape::EMPTY.opens().with2(0).flags(2)),
    ("spu_create", Shape { makes_fd: true, ..Shape::path(0).op(Op::Open) }),
    ("pipe", Shape { makes: Some(FileType::Pipe), ..PAIR }),
    ("pipe2", Shape { makes: Some(FileType::Pipe), ..PAIR.flags(1) }),
    ("close", Shape::fd(0).op(Op::Close).does(LINKS)),
    ("close_range", Shape::both(0, 1).op(Op::CloseRange).flags(2)),
    ("dup", Shape { makes_fd: true, ..Shape::fd(0).op(Op::Dup) }),
    ("dup2", Shape::both(0, 1).op(Op::Dup)),
    ("dup3", Shape::both(0, 1).op(Op::Dup).flags(2)),
    // Tasks.
    ("fork", Shape::EMPTY.op(Op::Fork)),
    ("vfork", Shape::EMPTY.op(Op::Fork)),
    ("clone", Shape::EMPTY.op(Op::Fork).flags(0)),
    ("clone2", Shape::EMPTY.op(Op::Fork).flags(0)),
    ("clone3", Shape::EMPTY.op(Op::Fork).flags(0)),
    ("unshare", Shape::EMPTY.op(Op::Unshare).flags(0)),
    ("execve", Shape::path(0).op(Op::Exec)),
    ("execveat", Shape::path_at(1).op(Op::Exec)),
    ("exit", Shape::EMPTY.op(Op::ExitCall)),
    ("_exit", Shape::EMPTY.op(Op::ExitCall)),
    ("exit_group", does(Classes::ENDS_GROUP).op(Op::ExitCall)),
    ("rt_sigreturn", does(Classes::SIGRETURNS)),
    ("sigreturn", does(Classes::SIGRETURNS)),
    ("chdir", Shape::path(0).op(Op::Chdir)),
    ("fchdir", Shape::fd(0).op(Op::Fchdir)),
    ("getcwd", Shape::path(0).special(Special::Getcwd)),
    ("chroot", Shape::path(0).op(Op::Chroot)),
    // What else is called before a program's `main`.
    ("set_robust_list", does(LINKS)),
    ("set_tid_address", does(LINKS).op(Op::SetUp)),
    ("set_thread_area", does(LINKS).op(Op::SetUp)),
    ("set_tls", does(LINKS).op(Op::SetUp)),
    ("arch_prctl", does(LINKS).op(Op::SetUp)),
    // The first call of programs of Go on machines without arch_prctl.
    ("sched_getaffinity", Shape::EMPTY.op(Op::SetUp)),
    ("rseq", does(LINKS)),
    ("prlimit64", does(LINKS)),
    ("getrlimit", does(LINKS)),
    ("ugetrlimit", does(LINKS)),
    ("uname", does(LINKS)),
    ("getuid", does(LINKS)),
    ("geteuid", does(LINKS)),
    ("getgid", does(LINKS)),
    ("getegid", does(LINKS)),
    ("getuid32", does(LINKS)),
    ("geteuid32", does(LINKS)),
    ("getgid32", does(LINKS)),
    ("getegid32", does(LINKS)),
    // Names.
    ("stat", Shape::path(0).stat(1).does(LINKS)),
    ("stat64", Shape::path(0).stat(1).does(LINKS)),
    ("oldstat", Shape::path(0).stat(1)),
    ("lstat", Shape::path(0).lstat(1).does(LINKS)),
    ("lstat64", Shape::path(0).lstat(1).does(LINKS)),
    ("oldlstat", Shape::path(0).lstat(1)),
    ("newfstatat", Shape::path_at(1).stat(2).does(LINKS)),
    ("fstatat64", Shape::path_at(1).stat(2).does(LINKS)),
    ("statx", Shape::path_at(1).stat(4).does(LINKS)),
    ("statfs", Shape::path(0).does(LOOKS)),
    ("statfs64", Shape::path(0).does(LOOKS)),
    ("access", Shape::path(0).does(LINKS.and(LOOKS))),
    ("faccessat", Shape::path_at(1).does(LINKS.and(LOOKS))),
    ("faccessat2", Shape::path_at(1).does(LINKS.and(LOOKS))),
    ("readlink", Shape::path(0).count(Arg(2)).does(LINKS.and(LOOKS))),
    ("readlinkat", Shape::path_at(1).count(Arg(3)).does(LINKS.and(LOOKS))),
    ("unlink", Shape::path(0).op(Op::Unlink)),
    ("unlinkat", Shape::path_at(1).op(Op::Unlink)),
    ("mkdir", Shape::path(0)),
    ("mkdirat", Shape::path_at(1)),
    ("rmdir", Shape::path(0).op(Op::Unlink)),
    ("mknod", Shape::path(0).special(Special::MakeNode)),
    ("mknodat", Shape::path_at(1).special(Special::MakeNode)),
    ("chmod", Shape::path(0)),
    ("fchmodat", Shape::path_at(1)),
    ("fchmodat2", Shape::path_at(1)),
    ("chown", Shape::path(0)),
    ("chown32", Shape::path(0)),
    ("lchown", Shape::path(0)),
    ("lchown32", Shape::path(0)),
    ("fchownat", Shape::path_at(1)),
    ("utime", Shape::path(0)),
    ("utimes", Shape::path(0)),
    ("utimensat", Shape::path_at(1)),
    ("utimensat_time64", Shape::path_at(1)),
    ("futimesat", Shape::path_at(1)),
    ("getxattr", PATH_ATTRIBUTE.does(LOOKS)),
    ("lgetxattr", PATH_ATTRIBUTE.does(LOOKS)),
    ("setxattr", PATH_ATTRIBUTE),
    ("lsetxattr", PATH_ATTRIBUTE),
    ("listxattr", Shape::path(0).count(Arg(2)).does(LOOKS)),
    ("llistxattr", Shape::path(0).count(Arg(2)).does(LOOKS)),
    ("removexattr", Shape::path(0)),
    ("lremovexattr", Shape::path(0)),
    ("getxattrat", Shape::path_at(1).does(LOOKS)),
    ("setxattrat", Shape::path_at(1)),
    ("listxattrat", Shape::path_at(1).count(Arg(4)).does(LOOKS)),
    ("removexattrat", Shape::path_at(1)),
    ("file_getattr", Shape::path_at(1).does(LOOKS)),
    ("file_setattr", Shape::path_at(1)),
    ("name_to_handle_at", Shape::path_at(1)),
    ("rename", Shape::path(0).path2(1).op(Op::Rename)),
    ("renameat", RENAMEAT),
    ("renameat2", RENAMEAT.flags(4)),
    ("link", Shape::path(0).path2(1).op(Op::Link)),
    ("linkat", Shape::path_at(1).path2_at(3).op(Op::Link)),
    // The text in a symbolic link need not be a path.
    ("symlink", Shape::path(1).special(Special::Symlink)),
    ("symlinkat", Shape::path_at(2).special(Special::Symlink)),
    // File systems.
    ("mount", Shape::path(1).path2(0).special(Special::Mount)),
    ("umount", Shape::path(0).special(Special::Unmount)),
    ("umount2", Shape::path(0).special(Special::Unmount)),
    ("oldumount", Shape::path(0).special(Special::Unmount)),
    ("pivot_root", Shape::path(0).path2(1).op(Op::Chroot)),
    ("swapon", Shape::path(0)),
    ("swapoff", Shape::path(0)),
    ("acct", Shape::path(0)),
    ("uselib", Shape::path(0)),
    ("quotactl", Shape::path(1)),
    ("fsopen", ANON.flags(1).cloexec(Bit(1))),
    ("fsconfig", Shape::fd(0)),
    ("fsmount", Shape::makes(FileType::Directory).with2(0).flags(1).cloexec(Bit(1))),
    ("fspick", Shape { path: 1, at: 0, ..ANON.flags(2).cloexec(Bit(1)) }),
    ("open_tree", TREE),
    ("open_tree_attr", TREE),
    ("move_mount", Shape::path_at(1).path2_at(3).special(Special::Unmount)),
    ("mount_setattr", Shape::path_at(1)),
];

const TAKE: Shape = Shape::makes(FileType::Unknown).op(Op::Take);
const MEMFD: Shape = Shape::makes(FileType::Memfd);
const NAMED_MEMFD: Shape =
    Shape { path: 0, prefix: "/memfd:", ..MEMFD.flags(1).cloexec(Bit(1)).does(Classes::OPENS) };
/// Part of the tree of mounts, for other calls to move: not opened for what is in it.
const TREE: Shape = Shape { makes_fd: true, ..Shape::path_at(1).op(Op::Open).flags(2) };
