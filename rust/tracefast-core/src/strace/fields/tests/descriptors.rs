//! New descriptors and new tasks.

use crate::events::vocabulary::{FileType, Op, clone_flags, open_flags};
use crate::strace::fields::tests::{check, columns, effect};

#[test]
fn new_descriptors() {
    check(&[
        ("accept4(3<socket:[5]>, NULL, NULL, 0) = 4", "fd=4 fd2=3 path2=socket:[5]"),
        (
            "pipe2([3<pipe:[8]>, 4<pipe:[8]>], O_CLOEXEC) = 0",
            "fd=3 fd2=4 path=pipe:[8] path2=pipe:[8] type=pipe",
        ),
        ("socketpair(AF_UNIX, SOCK_STREAM, 0, [3, 4]) = 0", "fd=3 fd2=4"),
        ("dup(3</a>) = 5</a>", "fd=3 fd2=5 path=/a"),
        ("dup2(3, 5) = 5", "fd=3 fd2=5"),
        ("fcntl64(3, F_DUPFD, 10) = 10", "fd=3 fd2=10"),
        ("fcntl(3, F_DUPFD_QUERY, 4) = 1", "fd=3"),
        (r#"memfd_create("a b", MFD_CLOEXEC) = 3"#, "fd=3 path=/memfd:a b"),
        (
            r#"memfd_create("a", MFD_CLOEXEC) = 3</memfd:a>(deleted)"#,
            "fd=3 path=/memfd:a type=memfd",
        ),
        (r#"mq_open("queue", O_RDWR|O_CREAT, 0700, NULL) = 3"#, "fd=3 path=/queue"),
        ("open_by_handle_at(4, {handle_bytes=8}, O_RDONLY) = 3</a>", "fd=3 fd2=4 path=/a"),
        (r#"fspick(AT_FDCWD, "/a", FSPICK_CLOEXEC) = 3"#, "fd=3 path=/a"),
        ("fsmount(3, FSMOUNT_CLOEXEC, 0) = 4", "fd=4 fd2=3"),
        ("pidfd_getfd(5<pid:7>, 5, 0) = 6</a>", "fd=6 fd2=5 path=/a path2=pid:7"),
        ("bpf(BPF_MAP_CREATE, {map_type=BPF_MAP_TYPE_ARRAY}, 72) = 3", "fd=3"),
        ("bpf(BPF_OBJ_GET_INFO_BY_FD, {info={bpf_fd=3}}, 16) = 0", ""),
        ("waitid(P_PIDFD, 3<pid:20841>, NULL, WEXITED, NULL) = 0", "fd=3 path=pid:20841 type=anon"),
        ("waitid(P_PID, 3, NULL, WEXITED, NULL) = 0", ""),
    ]);
}

#[test]
fn close_on_exec_by_name_and_by_number() {
    let marked = |line: &str| effect(line).flags & open_flags::CLOEXEC != 0;
    for line in [
        r#"open("/a", O_RDONLY|O_CLOEXEC) = 3"#,
        r#"openat(AT_FDCWD, "/a", O_WRONLY|O_CREAT|O_CLOEXEC, 0666) = 3"#,
        r#"openat(-100, "/a", 0x80241, 0666) = 3"#,
        r#"openat(-100 /* AT_FDCWD */, "/a", 0x80241 /* O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC */, 0666) = 3"#,
        r#"openat(dfd=AT_FDCWD, filename="/a", flags=0x80000) = 3"#,
        r#"openat2(AT_FDCWD, "/a", {flags=O_RDWR|O_CLOEXEC, resolve=0}, 24) = 3"#,
        r#"openat2(-100, "/a", {flags=0x80002, resolve=0}, 24) = 3"#,
        "openat(0xffffff9c, 0x55d8, 0x80000, 0) = 0x8",
        "pipe2([3, 4], 0x80000) = 0",
        "dup3(3, 10, O_CLOEXEC) = 10",
        "dup3(3, 10, 0x80000) = 10",
        "socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0) = 3",
        "socket(0x1, 0x80801, 0) = 3",
        "socket(PF_UNIX, SOCK_STREAM|0x80000, 0) = 3",
        "accept4(3, NULL, NULL, 0x80000) = 4",
        r#"memfd_create("a", MFD_CLOEXEC) = 3"#,
        r#"memfd_create("a", 0x1) = 3"#,
        "eventfd2(0, EFD_CLOEXEC) = 3",
        "eventfd2(0, 0x80000) = 3",
        "epoll_create1(0x80000) = 3",
        "fanotify_init(0x1, 0) = 3",
        "perf_event_open({type=0}, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) = 3",
        "perf_event_open(0x7f, 0, -1, -1, 0x8) = 3",
        "fcntl(3, F_DUPFD_CLOEXEC, 10) = 10",
        "fcntl(3, 0x406, 10) = 10",
        "fcntl(3, 0x406 /* F_DUPFD_CLOEXEC */, 10) = 10",
        "fcntl(3, F_SETFD, FD_CLOEXEC) = 0",
        "fcntl(3, 0x2, 0x1) = 0",
        "fcntl(3</F_DUPFD>, F_SETFD, FD_CLOEXEC) = 0",
        "ioctl(3, FIOCLEX) = 0",
        "ioctl(3, 0x5451) = 0",
        "close_range(3, 4294967295, CLOSE_RANGE_CLOEXEC) = 0",
        "close_range(3, 4294967295, 0x4) = 0",
        "pidfd_open(7, 0) = 3",
        "bpf(BPF_MAP_CREATE, {map_type=BPF_MAP_TYPE_ARRAY}, 72) = 3",
        r#"fsopen("ext4", FSOPEN_CLOEXEC) = 3"#,
        r#"open_tree(AT_FDCWD, "/a", OPEN_TREE_CLONE|OPEN_TREE_CLOEXEC) = 3"#,
        r#"mq_open("a", O_RDWR) = 3"#,
    ] {
        assert!(marked(line), "{line}");
    }
    for line in [
        r#"openat(AT_FDCWD, "/O_CLOEXEC", O_RDONLY) = 3"#,
        r#"openat(-100, "/a", 0x241, 0666) = 3"#,
        r#"open("/a", O_RDONLY) = 3"#,
        "pipe2([3, 4], 0x800) = 0",
        "dup3(3, 10, 0) = 10",
        r#"memfd_create("MFD_CLOEXEC", 0x2) = 3"#,
        "fcntl(3, F_DUPFD, 10) = 10",
        "fcntl(3, F_SETFD, 0) = 0",
        "fcntl(3</FD_CLOEXEC>, 0x2, 0) = 0",
        "ioctl(3, FIONCLEX) = 0",
        "close_range(3, 4294967295, 0) = 0",
        "signalfd4(-1, [CHLD], 8, SFD_NONBLOCK) = 3",
        r#"fsopen("ext4", 0) = 3"#,
    ] {
        assert!(!marked(line), "{line}");
    }
    assert_eq!(effect("fcntl(3, F_DUPFD_QUERY, 4) = 1").op, Op::Use);
    assert_eq!(effect("fcntl(3</F_DUPFD>, F_GETFD) = 0").op, Op::Use);
    assert_eq!(effect("fcntl(3, 0, 10) = 10").op, Op::Dup);
    assert_eq!(effect("ioctl(3, FIONCLEX) = 0").op, Op::SetCloexec);
    assert_eq!(effect("ioctl(3, FIONREAD, [5]) = 0").op, Op::Use);
    assert_eq!(columns("close_range(3</a>, 4294967295, 0) = 0"), "fd=3 fd2=2147483647 path=/a");
}

#[test]
fn file_types_from_open_flags() {
    let typed = |line| effect(line).flags & (open_flags::TYPED | 0xff);
    let directory = open_flags::TYPED | FileType::Directory as u32;
    assert_eq!(typed(r#"openat(AT_FDCWD, "/a", O_RDONLY|O_DIRECTORY) = 3"#), directory);
    assert_eq!(typed(r#"openat(-100, "/a", 0x90800) = 3"#), directory);
    // O_TMPFILE includes the bit of O_DIRECTORY (open(2)).
    assert_eq!(typed(r#"openat(-100, "/a", 0x410002, 0600) = 3"#), 0);
    assert_eq!(typed(r#"openat(AT_FDCWD, "/O_DIRECTORY", O_RDONLY) = 3"#), 0);
}

#[test]
fn what_a_child_shares() {
    use clone_flags::{CLONE_FILES, CLONE_FS, CLONE_THREAD, CLONE_VFORK, CLONE_VM};
    let flags = |line| effect(line).flags;
    let thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_THREAD;
    for line in [
        "clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD, tls=0x7f) = 8",
        "clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD, exit_signal=0}, 88) = 8",
    ] {
        assert_eq!(flags(line), thread, "{line}");
    }
    for line in [
        "clone(child_stack=NULL, flags=0x4111|0) = 8",
        "clone(child_stack=0x7f4100, flags=0x4100 /* CLONE_VM|CLONE_VFORK */|17 /* SIGCHLD */) = 8",
        "clone(0x4111, 0x7f00, 0, 0, 0) = 0x8",
    ] {
        assert_eq!(flags(line) & 0xff00, CLONE_VM | CLONE_VFORK, "{line}");
    }
    assert_eq!(flags("vfork() = 8"), CLONE_VM | CLONE_VFORK);
    assert_eq!(flags("clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 8"), 0);
}
