//! A system call fills the same columns in every form in which ftrace prints it, and those of
//! strace's line.

use super::{Log, records};
use crate::block::Block;
use crate::detail::Detail;
use crate::event::{At, Motion, Op, clone_flags};
use crate::ftrace::machine::Machine;
use crate::parsed::Parsed;
use crate::schema::Column as C;
use crate::strace;

/// strace's line; the kernel's call with its arguments, in hexadecimal; the return value.
type Case = (&'static str, &'static str, i64);

const ADDRESS: &str = "7ffcad6c47c8";

/// Every call whose arguments fill a column. Addresses are `@`.
static CASES: &[Case] = &[
    // Data.
    (r#"read(3, "a", 832) = 832"#, "read fd=3 buf=@ count=340", 832),
    (r#"read(31, "", 832) = 0"#, "read fd=1f buf=@ count=340", 0),
    ("read(3, 0x7ffc, 832) = -1 EAGAIN (Try)", "read fd=3 buf=@ count=340", -11),
    ("read(3, 0x7ffc, 832) = ? ERESTARTSYS (To)", "read fd=3 buf=@ count=340", -512),
    (r#"write(1, "a", 2) = 2"#, "write fd=1 buf=@ count=2", 2),
    (r#"pread64(31, "a", 784, 64) = 784"#, "pread64 fd=1f buf=@ count=310 pos=40", 784),
    (r#"pwrite64(3, "a", 9, 4096) = 9"#, "pwrite64 fd=3 buf=@ count=9 pos=1000", 9),
    ("readv(3, 0x7ffc, 2) = 16", "readv fd=3 vec=@ vlen=2", 16),
    ("writev(3, 0x7ffc, 2) = 16", "writev fd=3 vec=@ vlen=2", 16),
    ("preadv(3, 0x7ffc, 2, 64) = 5", "preadv fd=3 vec=@ vlen=2 pos_l=40 pos_h=0", 5),
    ("pwritev(3, 0x7ffc, 2, 64) = 5", "pwritev fd=3 vec=@ vlen=2 pos_l=40 pos_h=0", 5),
    ("preadv(3, 0x7ffc, 2, -1) = -1 EINVAL (I)", "preadv fd=3 vec=@ vlen=2 pos_l=-1 pos_h=0", -22),
    ("preadv2(3, 0x7ffc, 2, -1, 0) = 5", "preadv2 fd=3 vec=@ vlen=2 pos_l=-1 pos_h=0 flags=0", 5),
    ("pwritev2(3, 0x7ffc, 2, 8, 0) = 5", "pwritev2 fd=3 vec=@ vlen=2 pos_l=8 pos_h=0 flags=0", 5),
    ("vmsplice(4, 0x7ffc, 1, 0) = 5", "vmsplice fd=4 uiov=@ nr_segs=1 flags=0", 5),
    ("sendfile(5, 10, 0x7ffc, 16) = 16", "sendfile64 out_fd=5 in_fd=a offset=@ count=10", 16),
    ("sendfile(5, 10, NULL, 16) = 16", "sendfile64 out_fd=5 in_fd=a offset=0 count=10", 16),
    (
        "splice(3, NULL, 5, NULL, 4096, 0) = 100",
        "splice fd_in=3 off_in=0 fd_out=5 off_out=0 len=1000 flags=0",
        100,
    ),
    (
        "splice(3, 0x7ffc, 5, NULL, 4096, 0) = 100",
        "splice fd_in=3 off_in=@ fd_out=5 off_out=0 len=1000 flags=0",
        100,
    ),
    ("tee(3, 5, 4096, 0) = 100", "tee fdin=3 fdout=5 len=1000 flags=0", 100),
    (
        "copy_file_range(3, NULL, 4, NULL, 100, 0) = 100",
        "copy_file_range fd_in=3 off_in=0 fd_out=4 off_out=0 len=64 flags=0",
        100,
    ),
    (
        "copy_file_range(3, NULL, 4, 0x7ffc, 100, 0) = 100",
        "copy_file_range fd_in=3 off_in=0 fd_out=4 off_out=@ len=64 flags=0",
        100,
    ),
    (
        r#"sendto(3, "a", 10, 0, NULL, 0) = 10"#,
        "sendto fd=3 buff=@ len=a flags=0 addr=0 addr_len=0",
        10,
    ),
    (
        "recvfrom(3, 0x7ffc, 10, 0, NULL, NULL) = -1 ECONNREFUSED (C)",
        "recvfrom fd=3 ubuf=@ size=a flags=0 addr=0 addr_len=0",
        -111,
    ),
    ("sendmsg(3, 0x7ffc, 0) = 5", "sendmsg fd=3 msg=@ flags=0", 5),
    ("recvmsg(3, 0x7ffc, 0) = 5", "recvmsg fd=3 msg=@ flags=0", 5),
    ("recvmmsg(3, 0x7ffc, 2, 0, NULL) = 1", "recvmmsg fd=3 mmsg=@ vlen=2 flags=0 timeout=0", 1),
    (
        "process_vm_readv(7, 0x7ffc, 1, 0x7ffd, 1, 0) = 8",
        "process_vm_readv pid=7 lvec=@ liovcnt=1 rvec=@ riovcnt=1 flags=0",
        8,
    ),
    (r#"getrandom("a", 8, 0) = 8"#, "getrandom ubuf=@ len=8 flags=0", 8),
    (
        "mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, 3, 0x1000) = 0x7fc0a1b2c000",
        "mmap addr=0 len=2000 prot=1 flags=2 fd=3 off=1000",
        0x7fc0_a1b2_c000,
    ),
    (
        "mmap(NULL, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7fc0a1b2c000",
        "mmap addr=0 len=2000 prot=1 flags=22 fd=ffffffff off=0",
        0x7fc0_a1b2_c000,
    ),
    (
        "mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7fc0a1b2c000",
        "mmap addr=0 len=2000 prot=3 flags=22 fd=ffffffff off=0",
        0x7fc0_a1b2_c000,
    ),
    (
        "mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS, -1, 0) = 0x7fc0a1b2c000",
        "mmap addr=0 len=2000 prot=3 flags=21 fd=ffffffff off=0",
        0x7fc0_a1b2_c000,
    ),
    ("munmap(0x7ffcad6c47c8, 8192) = 0", "munmap addr=@ len=2000", 0),
    ("munmap(0x7ffcad6c47c8, 8192) = -1 EINVAL (I)", "munmap addr=@ len=2000", -22),
    ("mprotect(0x7ffcad6c47c8, 8192, PROT_READ) = 0", "mprotect start=@ len=2000 prot=1", 0),
    (
        "pkey_mprotect(0x7ffcad6c47c8, 8192, PROT_READ|PROT_WRITE, 1) = 0",
        "pkey_mprotect start=@ len=2000 prot=3 pkey=1",
        0,
    ),
    (
        "mremap(0x7ffcad6c47c8, 8192, 16384, MREMAP_MAYMOVE) = 0x7fc0a1b2c000",
        "mremap addr=@ old_len=2000 new_len=4000 flags=1 new_addr=0",
        0x7fc0_a1b2_c000,
    ),
    ("brk(NULL) = 0x7fc0a1b2c000", "brk brk=0", 0x7fc0_a1b2_c000),
    // Positions and ranges.
    ("lseek(3, -10, SEEK_END) = 90", "lseek fd=3 offset=-a whence=2", 90),
    ("lseek(3, 0, SEEK_END) = 90", "lseek fd=3 offset=0 whence=2", 90),
    ("lseek(3, 7, SEEK_SET) = 7", "lseek fd=3 offset=7 whence=0", 7),
    ("lseek(3, -7, SEEK_CUR) = 7", "lseek fd=3 offset=-7 whence=1", 7),
    ("lseek(3, 0, SEEK_HOLE) = 99", "lseek fd=3 offset=0 whence=4", 99),
    ("lseek(3, 0, 0x9 /* SEEK_??? */) = -1 EINVAL (I)", "lseek fd=3 offset=0 whence=9", -22),
    ("ftruncate(3, 100) = 0", "ftruncate fd=3 length=64", 0),
    ("ftruncate(3, 100) = -1 EINVAL (I)", "ftruncate fd=3 length=64", -22),
    ("truncate(0x7ffc, 100) = 0", "truncate path=@ length=64", 0),
    ("fallocate(3, 0, 16, 32) = 0", "fallocate fd=3 mode=0 offset=10 len=20", 0),
    ("fallocate(3, 0, 16, 32) = -1 ENOSPC (N)", "fallocate fd=3 mode=0 offset=10 len=20", -28),
    ("fallocate(3, FALLOC_FL_KEEP_SIZE, 16, 32) = 0", "fallocate fd=3 mode=1 offset=10 len=20", 0),
    (
        "fallocate(3, FALLOC_FL_ZERO_RANGE, 16, 32) = 0",
        "fallocate fd=3 mode=10 offset=10 len=20",
        0,
    ),
    ("fadvise64(3, 16, 32, POSIX_FADV_NORMAL) = 0", "fadvise64 fd=3 offset=10 len=20 advice=0", 0),
    ("readahead(3, 16, 32) = 0", "readahead fd=3 offset=10 count=20", 0),
    ("sync_file_range(3, 16, 32, 0) = 0", "sync_file_range fd=3 offset=10 nbytes=20 flags=0", 0),
    // What a descriptor leads to.
    ("fstat(3, 0x7ffc) = 0", "newfstat fd=3 statbuf=@", 0),
    ("fstatfs(3, 0x7ffc) = 0", "fstatfs fd=3 buf=@", 0),
    ("fsync(3) = 0", "fsync fd=3", 0),
    ("flock(3, LOCK_EX) = 0", "flock fd=3 cmd=2", 0),
    ("cachestat(3, 0x7ffc, 0x7ffd, 0) = 0", "cachestat fd=3 cstat_range=@ cstat=@ flags=0", 0),
    ("getdents64(3, 0x7ffc, 32768) = 48", "getdents64 fd=3 dirent=@ count=8000", 48),
    ("fgetxattr(3, \"a\", 0x7ffc, 100) = 5", "fgetxattr fd=3 name=@ value=@ size=64", 5),
    ("fchmod(3, 0644) = 0", "fchmod fd=3 mode=1a4", 0),
    ("ioctl(3, TCGETS, 0x7ffc) = -1 ENOTTY (I)", "ioctl fd=3 cmd=5401 arg=@", -25),
    ("ioctl(3, FIOCLEX) = 0", "ioctl fd=3 cmd=5451 arg=0", 0),
    ("ioctl(3, FIONCLEX) = 0", "ioctl fd=3 cmd=5450 arg=0", 0),
    ("fcntl(8, F_DUPFD_CLOEXEC, 3) = 9", "fcntl fd=8 cmd=406 arg=3", 9),
    ("fcntl(8, F_DUPFD, 0) = 9", "fcntl fd=8 cmd=0 arg=0", 9),
    ("fcntl(8, F_DUPFD, 0) = -1 EMFILE (T)", "fcntl fd=8 cmd=0 arg=0", -24),
    ("fcntl(8, F_SETFD, FD_CLOEXEC) = 0", "fcntl fd=8 cmd=2 arg=1", 0),
    ("fcntl(8, F_SETFD, 0) = 0", "fcntl fd=8 cmd=2 arg=0", 0),
    ("fcntl(8, F_SETFL, O_RDWR|O_APPEND) = 0", "fcntl fd=8 cmd=4 arg=402", 0),
    ("fcntl(8, F_SETFL, O_RDWR|O_NONBLOCK) = 0", "fcntl fd=8 cmd=4 arg=802", 0),
    ("fcntl(8, F_SETFL, O_APPEND) = -1 EPERM (O)", "fcntl fd=8 cmd=4 arg=400", -1),
    (
        "fcntl(8, F_GETFL) = 0x8401 (flags O_WRONLY|O_APPEND|O_LARGEFILE)",
        "fcntl fd=8 cmd=3 arg=0",
        0x8401,
    ),
    ("fcntl(8, F_GETFL) = 0x8002 (flags O_RDWR|O_LARGEFILE)", "fcntl fd=8 cmd=3 arg=0", 0x8002),
    ("fcntl(8, F_GETFD) = 1", "fcntl fd=8 cmd=1 arg=0", 1),
    (
        "kexec_file_load(3, 4, 1, \"\", 0) = 0",
        "kexec_file_load kernel_fd=3 initrd_fd=4 cmdline_len=1 cmdline_ptr=@ flags=0",
        0,
    ),
    // Sockets.
    (
        "socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0) = 3",
        "socket family=1 type=80001 protocol=0",
        3,
    ),
    ("socket(AF_INET, SOCK_STREAM, 0) = 3", "socket family=2 type=1 protocol=0", 3),
    ("accept(3, NULL, NULL) = 4", "accept fd=3 upeer_sockaddr=0 upeer_addrlen=0", 4),
    (
        "accept4(3, NULL, NULL, SOCK_CLOEXEC) = 4",
        "accept4 fd=3 upeer_sockaddr=0 upeer_addrlen=0 flags=80000",
        4,
    ),
    ("connect(3, 0x7ffc, 16) = 0", "connect fd=3 uservaddr=@ addrlen=10", 0),
    ("bind(3, 0x7ffc, 16) = 0", "bind fd=3 umyaddr=@ addrlen=10", 0),
    ("listen(3, 128) = 0", "listen fd=3 backlog=80", 0),
    ("shutdown(3, SHUT_WR) = 0", "shutdown fd=3 how=1", 0),
    ("getsockname(3, 0x7ffc, [16]) = 0", "getsockname fd=3 usockaddr=@ usockaddr_len=@", 0),
    (
        "setsockopt(3, SOL_SOCKET, 2, [1], 4) = 0",
        "setsockopt fd=3 level=1 optname=2 optval=@ optlen=4",
        0,
    ),
    // Descriptors that wait for others, or stand for something that is no file.
    ("epoll_create1(EPOLL_CLOEXEC) = 3", "epoll_create1 flags=80000", 3),
    ("epoll_create(1) = 3", "epoll_create size=1", 3),
    ("epoll_ctl(3, EPOLL_CTL_ADD, 4, 0x7ffc) = 0", "epoll_ctl epfd=3 op=1 fd=4 event=@", 0),
    ("epoll_wait(3, 0x7ffc, 10, -1) = 1", "epoll_wait epfd=3 events=@ maxevents=a timeout=-1", 1),
    ("eventfd2(0, EFD_CLOEXEC) = 3", "eventfd2 count=0 flags=80000", 3),
    ("timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC) = 3", "timerfd_create clockid=1 flags=80000", 3),
    ("timerfd_settime(3, 0, 0x7ffc, NULL) = 0", "timerfd_settime ufd=3 flags=0 utmr=@ otmr=0", 0),
    (
        "signalfd4(-1, [], 8, SFD_CLOEXEC) = 3",
        "signalfd4 ufd=ffffffff user_mask=@ sizemask=8 flags=80000",
        3,
    ),
    ("inotify_init1(IN_CLOEXEC) = 3", "inotify_init1 flags=80000", 3),
    ("inotify_add_watch(3, 0x7ffc, IN_ALL) = 1", "inotify_add_watch fd=3 pathname=@ mask=fff", 1),
    ("fanotify_init(FAN_CLOEXEC, 0) = 3", "fanotify_init flags=1 event_f_flags=0", 3),
    (
        "fanotify_mark(3, 1, 2, AT_FDCWD, 0x7ffc) = 0",
        "fanotify_mark fanotify_fd=3 flags=1 mask=2 dfd=ffffff9c pathname=@",
        0,
    ),
    ("userfaultfd(O_CLOEXEC) = 3", "userfaultfd flags=80000", 3),
    (
        "perf_event_open(0x7ffc, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) = 3",
        "perf_event_open attr_uptr=@ pid=0 cpu=-1 group_fd=-1 flags=8",
        3,
    ),
    ("bpf(BPF_MAP_CREATE, 0x7ffc, 72) = 3", "bpf cmd=0 uattr=@ size=48", 3),
    ("bpf(BPF_MAP_LOOKUP_ELEM, 0x7ffc, 72) = 0", "bpf cmd=1 uattr=@ size=48", 0),
    ("pidfd_open(7, 0) = 3", "pidfd_open pid=7 flags=0", 3),
    ("pidfd_getfd(3, 4, 0) = 5", "pidfd_getfd pidfd=3 fd=4 flags=0", 5),
    (
        "pidfd_send_signal(3, SIGTERM, NULL, 0) = 0",
        "pidfd_send_signal pidfd=3 sig=f info=0 flags=0",
        0,
    ),
    (
        "waitid(P_PIDFD, 3, NULL, WEXITED, NULL) = 0",
        "waitid which=3 upid=3 infop=0 options=4 ru=0",
        0,
    ),
    (
        "waitid(P_PID, 3, NULL, WEXITED, NULL) = 0",
        "waitid which=1 upid=3 infop=0 options=4 ru=0",
        0,
    ),
    ("setns(3, 0) = 0", "setns fd=3 flags=0", 0),
    ("io_uring_setup(8, 0x7ffc) = 3", "io_uring_setup entries=8 params=@", 3),
    (
        "io_uring_enter(3, 1, 1, 1, NULL, 8) = 1",
        "io_uring_enter fd=3 to_submit=1 min_complete=1 flags=1 argp=0 argsz=8",
        1,
    ),
    (
        "io_uring_register(3, 0, 0x7ffc, 1) = 0",
        "io_uring_register fd=3 opcode=0 arg=@ nr_args=1",
        0,
    ),
    (
        "landlock_create_ruleset(0x7ffc, 16, 0) = 3",
        "landlock_create_ruleset attr=@ size=10 flags=0",
        3,
    ),
    ("memfd_create(0x7ffc, MFD_CLOEXEC) = 3", "memfd_create uname=@ flags=1", 3),
    ("memfd_create(0x7ffc, MFD_ALLOW_SEALING) = 3", "memfd_create uname=@ flags=2", 3),
    ("mq_open(0x7ffc, O_RDWR|O_CLOEXEC) = 3", "mq_open u_name=@ oflag=80002 mode=0 u_attr=0", 3),
    (
        "mq_timedsend(3, 0x7ffc, 10, 0, NULL) = 0",
        "mq_timedsend mqdes=3 u_msg_ptr=@ msg_len=a msg_prio=0 u_abs_timeout=0",
        0,
    ),
    (
        "mq_timedreceive(3, 0x7ffc, 8192, NULL, NULL) = 10",
        "mq_timedreceive mqdes=3 u_msg_ptr=@ msg_len=2000 u_msg_prio=0 u_abs_timeout=0",
        10,
    ),
    // Tables of descriptors.
    ("open(0x7ffc, O_RDONLY|O_CLOEXEC) = 3", "open filename=@ flags=80000 mode=0", 3),
    ("open(0x7ffc, O_RDONLY|O_DIRECTORY) = 3", "open filename=@ flags=10000 mode=0", 3),
    (
        "openat(AT_FDCWD, 0x7ffc, O_RDONLY) = -1 ENOENT (N)",
        "openat dfd=ffffff9c filename=@ flags=0 mode=0",
        -2,
    ),
    (
        "openat(4, 0x7ffc, O_RDWR|O_TMPFILE|O_CLOEXEC, 0600) = 5",
        "openat dfd=4 filename=@ flags=490002 mode=180",
        5,
    ),
    (
        "openat(4, 0x7ffc, O_WRONLY|O_CREAT|O_EXCL|O_APPEND, 0600) = 5",
        "openat dfd=4 filename=@ flags=4c1 mode=180",
        5,
    ),
    (
        "openat(4, 0x7ffc, O_WRONLY|O_CREAT|O_TRUNC, 0600) = 5",
        "openat dfd=4 filename=@ flags=241 mode=180",
        5,
    ),
    ("open(0x7ffc, O_RDONLY|O_PATH) = 3", "open filename=@ flags=200000 mode=0", 3),
    (
        "openat2(AT_FDCWD, 0x7ffc, 0x7ffd, 24) = 3",
        "openat2 dfd=ffffff9c filename=@ how=@ usize=18",
        3,
    ),
    ("creat(0x7ffc, 0644) = 3", "creat pathname=@ mode=1a4", 3),
    (
        "open_by_handle_at(3, 0x7ffc, O_RDONLY|O_CLOEXEC) = 4",
        "open_by_handle_at mountdirfd=3 handle=@ flags=80000",
        4,
    ),
    ("open_tree(3, 0x7ffc, O_CLOEXEC) = 4", "open_tree dfd=3 filename=@ flags=80000", 4),
    ("fsmount(3, FSMOUNT_CLOEXEC, 0) = 4", "fsmount fs_fd=3 flags=1 attr_flags=0", 4),
    ("close(3) = 0", "close fd=3", 0),
    ("close(255) = -1 EBADF (B)", "close fd=ff", -9),
    (
        "close_range(3, 4294967295, CLOSE_RANGE_CLOEXEC) = 0",
        "close_range fd=3 max_fd=ffffffff flags=4",
        0,
    ),
    ("close_range(3, 9, 0) = 0", "close_range fd=3 max_fd=9 flags=0", 0),
    ("close_range(3, 9, CLOSE_RANGE_UNSHARE) = 0", "close_range fd=3 max_fd=9 flags=2", 0),
    ("dup(3) = 4", "dup fildes=3", 4),
    ("dup2(11, 1) = 1", "dup2 oldfd=b newfd=1", 1),
    ("dup3(3, 4, O_CLOEXEC) = 4", "dup3 oldfd=3 newfd=4 flags=80000", 4),
    // Tasks.
    ("fork() = 85", "fork", 85),
    ("vfork() = 85", "vfork", 85),
    (
        "clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x7f) = 2139",
        "clone clone_flags=1200011 newsp=0 parent_tidptr=0 child_tidptr=@ tls=0",
        2139,
    ),
    (
        "clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD, tls=0x7f) = 9",
        "clone clone_flags=3d0f00 newsp=@ parent_tidptr=@ child_tidptr=@ tls=@",
        9,
    ),
    (
        "clone(child_stack=0x7f, flags=CLONE_FILES|CLONE_PARENT|SIGCHLD) = 9",
        "clone clone_flags=8411 newsp=@ parent_tidptr=@ child_tidptr=@ tls=@",
        9,
    ),
    ("unshare(CLONE_FS|CLONE_FILES) = 0", "unshare unshare_flags=600", 0),
    ("unshare(CLONE_NEWNS|CLONE_NEWPID) = 0", "unshare unshare_flags=20020000", 0),
    ("unshare(CLONE_FILES) = -1 ENOMEM (C)", "unshare unshare_flags=400", -12),
    ("execve(0x7ffc, 0x7ffd, 0x7ffe) = 0", "execve filename=@ argv=@ envp=@", 0),
    (
        r#"execveat(3, "", [], 0x7f, AT_EMPTY_PATH) = 0"#,
        "execveat fd=3 filename=@ argv=@ envp=@ flags=1000",
        0,
    ),
    ("exit_group(1) = ?", "exit_group error_code=1", 0),
    ("chdir(0x7ffc) = 0", "chdir filename=@", 0),
    ("fchdir(3) = 0", "fchdir fd=3", 0),
    // Names.
    ("access(0x7ffc, R_OK) = -1 ENOENT (N)", "access filename=@ mode=4", -2),
    ("stat(0x7ffc, 0x7ffd) = 0", "newstat filename=@ statbuf=@", 0),
    (
        "newfstatat(AT_FDCWD, 0x7ffc, 0x7ffd, 0) = 0",
        "newfstatat dfd=ffffff9c filename=@ statbuf=@ flag=0",
        0,
    ),
    (
        r#"newfstatat(8, "", 0x7ffd, AT_EMPTY_PATH) = 0"#,
        "newfstatat dfd=8 filename=@ statbuf=@ flag=1000",
        0,
    ),
    (
        r#"statx(8, "", AT_EMPTY_PATH, STATX_ALL, 0x7f) = 0"#,
        "statx dfd=8 filename=@ flags=1000 mask=fff buffer=@",
        0,
    ),
    (
        r#"fchownat(8, "", 1, 1, AT_EMPTY_PATH) = 0"#,
        "fchownat dfd=8 filename=@ user=1 group=1 flag=1000",
        0,
    ),
    (
        r#"linkat(8, "", AT_FDCWD, 0x7f, AT_EMPTY_PATH) = 0"#,
        "linkat olddfd=8 oldname=@ newdfd=ffffff9c newname=@ flags=1000",
        0,
    ),
    (
        r#"move_mount(8, "", AT_FDCWD, 0x7f, 4) = 0"#,
        "move_mount from_dfd=8 from_pathname=@ to_dfd=ffffff9c to_pathname=@ flags=4",
        0,
    ),
    ("utimensat(3, NULL, NULL, 0) = 0", "utimensat dfd=3 filename=0 utimes=0 flags=0", 0),
    ("utimensat(3, 0x7ffc, NULL, 0) = 0", "utimensat dfd=3 filename=@ utimes=0 flags=0", 0),
    ("readlink(0x7ffc, 0x7ffd, 4095) = 4", "readlink path=@ buf=@ bufsiz=fff", 4),
    ("getxattr(0x7ffc, \"a\", 0x7ffd, 100) = 5", "getxattr pathname=@ name=@ value=@ size=64", 5),
    ("rename(0x7ffc, 0x7ffd) = 0", "rename oldname=@ newname=@", 0),
    (
        "renameat2(3, 0x7ffc, 4, 0x7ffd, RENAME_EXCHANGE) = 0",
        "renameat2 olddfd=3 oldname=@ newdfd=4 newname=@ flags=2",
        0,
    ),
    (
        "renameat2(3, 0x7ffc, 4, 0x7ffd, RENAME_NOREPLACE) = 0",
        "renameat2 olddfd=3 oldname=@ newdfd=4 newname=@ flags=1",
        0,
    ),
    ("unlinkat(3, 0x7ffc, 0) = 0", "unlinkat dfd=3 pathname=@ flag=0", 0),
    ("link(0x7ffc, 0x7ffd) = 0", "link oldname=@ newname=@", 0),
    ("chroot(0x7ffc) = 0", "chroot filename=@", 0),
    ("umount2(0x7ffc, 0) = 0", "umount name=@ flags=0", 0),
];

/// The call as the kernel has it: name, arguments by name.
fn call(spec: &str) -> (&str, Vec<(&str, u64)>) {
    let mut words = spec.split(' ');
    let name = words.next().expect("a name");
    let args = words.map(|word| {
        let (key, value) = word.split_once('=').expect("an argument");
        let value = if value == "@" { ADDRESS } else { value };
        let value = match value.strip_prefix('-') {
            Some(digits) => u64::from_str_radix(digits, 16).expect("a number").wrapping_neg(),
            None => u64::from_str_radix(value, 16).expect("a number"),
        };
        (key, value)
    });
    (name, args.collect())
}

fn join<T>(items: &[T], between: &str, show: impl Fn(&T) -> String) -> String {
    items.iter().map(show).collect::<Vec<_>>().join(between)
}

/// Small values have no `0x` since Linux 6.18.
fn short(value: u64) -> String {
    if value < 10 { value.to_string() } else { format!("{value:#x}") }
}

/// Entry and exit in every form.
fn forms(spec: &str, strace: &str, ret: i64) -> Vec<[String; 2]> {
    let (name, args) = call(spec);
    let text = |show: &dyn Fn(&str, u64) -> String| join(&args, ", ", |(k, v)| show(k, *v));
    let fields = |show: &dyn Fn(&str, u64) -> String| join(&args, "", |(k, v)| show(k, *v));
    let plain = |args: String| [format!("sys_{name}({args})"), format!("sys_{name} -> {ret:#x}")];
    let number = (0..480).find(|n| Machine::X86_64.call(*n) == Some(strace)).expect("a number");
    let mut registers: Vec<u64> = args.iter().map(|(_, value)| *value).collect();
    // What the caller left in them.
    registers.extend([0x2a6e_5c01_c10c_3755, 0xffff_ffff, 7, 0x5651_394d_1000, 1, 0x8_0000]);
    registers.truncate(6);
    vec![
        plain(text(&|k, v| format!("{k}: {v:x}"))),
        plain(text(&|k, v| format!("{k}: {}", short(v)))),
        plain(text(&|k, v| format!("unsigned long {k}: {}", short(v)))),
        [
            format!(
                "sys_enter_{name}: __syscall_nr={number:#x} ({number}){}",
                fields(&|k, v| format!(" {k}={v:#x} ({v})"))
            ),
            format!("sys_exit_{name}: __syscall_nr={number:#x} ({number}) ret={ret:#x} ({ret})"),
        ],
        [
            format!("sys_enter_{name}:       {}", text(&|k, v| format!("{k}: {v:#010x}"))),
            format!("sys_exit_{name}:        {ret:#x}"),
        ],
        [
            format!(
                "sys_enter_{name}:  __syscall_nr={number}{}",
                fields(&|k, v| format!(" {k}={v:#010x}"))
            ),
            format!("sys_exit_{name}:   __syscall_nr={number} ret={ret:#x}"),
        ],
        [
            format!(
                "sys_enter_{name}:  __syscall_nr={number}{}",
                fields(&|k, v| format!(" {k}={}", v as i64))
            ),
            format!("sys_exit_{name}:   __syscall_nr={number} ret={ret}"),
        ],
        [
            format!("sys_enter: NR {number} ({})", join(&registers, ", ", |v| format!("{v:x}"))),
            format!("sys_exit: NR {number} = {ret}"),
        ],
    ]
}

/// The columns that both formats fill, and what the model gets.
fn columns(log: &Log, row: usize) -> String {
    let rows = &log.parsed.rows;
    let number = |column, value: i64| log.has(row, column).then_some(value);
    let effect = rows.effect[row];
    let flags = match effect.op {
        // Of strace's text only those that matter are read.
        Op::Fork => {
            use clone_flags::{
                CLONE_FILES, CLONE_FS, CLONE_PARENT, CLONE_THREAD, CLONE_VFORK, CLONE_VM,
            };
            let shared = CLONE_VM | CLONE_FS | CLONE_FILES;
            effect.flags & (shared | CLONE_VFORK | CLONE_PARENT | CLONE_THREAD)
        }
        _ => effect.flags,
    };
    let process = matches!(effect.op, Op::OpenProcess | Op::Take).then_some(effect.at);
    format!(
        "{:?}",
        (
            (log.name(row), log.status(row), log.ret(row), log.errno(row)),
            (number(C::Fd, rows.fd[row].into()), number(C::Fd2, rows.fd2[row].into())),
            (number(C::Requested, rows.requested[row]), number(C::Bytes, rows.bytes[row])),
            (number(C::Offset, rows.offset[row]), number(C::Size, rows.size[row])),
            (effect.op, flags, effect.number, process, detail(log, row)),
            (effect.motion, effect.place, effect.place2),
        )
    )
}

/// The fact about the row that the columns have no room for.
fn detail(log: &Log, row: usize) -> Option<&Detail> {
    log.parsed.side.details.get(log.parsed.rows.effect[row].detail as usize)
}

/// The row of a line of strace.
fn strace_row(line: &str) -> (Log, usize) {
    let text = format!("7 {line}\n").into_bytes();
    let format = strace::detect(&text).expect("a line of strace");
    let mut parsed = Parsed::default();
    strace::Grammar::default().parse(&format, &mut Block::from_text(&text), &mut parsed);
    let log = Log { text, parsed };
    let row = log.only();
    (log, row)
}

#[test]
fn every_form_of_every_call_is_one_row_with_straces_columns() {
    for &(line, spec, ret) in CASES {
        let (strace, row) = strace_row(line);
        let name = strace.name(row).expect("a name").to_owned();
        let expected = columns(&strace, row);
        let never = name == "exit_group";
        for [enter, exit] in forms(spec, &name, ret) {
            let log = if never { records(&[&enter]) } else { records(&[&enter, &exit]) };
            let row = log.only();
            assert_eq!(columns(&log, row), expected, "{line}\n{enter}");
            // What it acts on is known when it is entered.
            let head = log.parsed.begins.first().map(|begin| begin.head);
            let Some(head) = head else { continue };
            if head.op.uses() || head.op == Op::Close {
                assert_eq!(head.fd, log.fd(row), "{line}\n{enter}");
            }
            let effect = log.parsed.rows.effect[row];
            assert_eq!(head.motion, effect.motion, "{line}\n{enter}");
            let moves = |place, way: bool| way && place == At::Position;
            let way = effect.motion != Motion::None;
            let second = effect.motion == Motion::Copy;
            let moves = (moves(effect.place, way), moves(effect.place2, second));
            assert_eq!(head.moves, moves, "{line}\n{enter}");
        }
    }
}

#[test]
fn columns_are_not_all_empty() {
    // The test above compares; this one says that there is something to compare.
    let filled = |column| {
        CASES
            .iter()
            .filter(|(line, ..)| {
                let (log, row) = strace_row(line);
                log.has(row, column)
            })
            .count()
    };
    for (column, least) in [
        (C::Fd, 90),
        (C::Fd2, 12),
        (C::Requested, 25),
        (C::Bytes, 20),
        (C::Offset, 9),
        (C::Size, 4),
        (C::Errno, 9),
    ] {
        assert!(filled(column) >= least, "{column:?}: {}", filled(column));
    }
    let of = |says: &dyn Fn(&Log, usize) -> bool| {
        CASES
            .iter()
            .filter(|(line, ..)| {
                let (log, row) = strace_row(line);
                says(&log, row)
            })
            .count()
    };
    assert!(of(&|log, row| detail(log, row).is_some()) >= 9);
    assert!(of(&|log, row| log.parsed.rows.effect[row].motion != Motion::None) >= 25);
    assert!(of(&|log, row| log.parsed.rows.effect[row].place == At::Elsewhere) >= 3);
}

#[test]
fn data_of_writes_hide_no_argument() {
    for enter in [
        r#"sys_write(fd: 1, buf: 0x7f (2f:74:6d, ...) "/tm"..., count: 0x10)"#,
        r#"sys_write(fd: 1, buf: 0x7f (22:2c:20) "", ", count: 0x10)"#,
        r#"sys_write(unsigned int fd: 1, const char * buf: 0x7f (2f) "/", size_t count: 0x10)"#,
        r#"sys_write(fd: 1, buf: 0x7f (63) "x", count: 0x9", count: 0x10)"#,
        "sys_write(fd: 1, buf: 0x7f (00:01), count: 0x10)",
        "sys_enter_write: fd: 0x00000001, buf: 0x7f00 (ARRAY[2f, 74]), count: 0x00000010",
        "sys_enter_write: __syscall_nr=0x1 (1) fd=0x1 (1) buf=0x7f (127) count=0x10 (16) __buf_val=a count=0x9",
    ] {
        let exit =
            if enter.contains("enter") { "sys_exit_write: 0x10" } else { "sys_write -> 0x10" };
        let log = records(&[enter, exit]);
        let row = log.only();
        assert_eq!(log.fd(row), Some(1), "{enter}");
        assert_eq!(log.parsed.rows.requested[row], 16, "{enter}");
        assert!(!log.has(row, C::Path));
    }
}

#[test]
fn clone_flags_are_found_by_their_name() {
    // On s390 the new stack is the first argument.
    let log = records(&["sys_clone(newsp: 0x7f, clone_flags: 0x3d0f00)", "sys_clone -> 0x9"]);
    let effect = log.parsed.rows.effect[log.only()];
    assert_eq!((effect.op, effect.flags), (Op::Fork, 0x3d_0f00));
}
