//! Paths, and other names of files.

use crate::events::vocabulary::Op;
use crate::strace::fields::tests::{check, columns, effect, head};

#[test]
fn what_paths_are_relative_to() {
    check(&[
        (r#"access("/a/../b", R_OK) = 0"#, "path=/a/../b"),
        (r#"access("a", R_OK) = 0"#, "path=~a"),
        (r#"faccessat(AT_FDCWD</w>, "a", R_OK) = 0"#, "path=/w/a"),
        (r#"faccessat(AT_FDCWD</w>, "./././a/../b", R_OK) = 0"#, "path=/w/a/../b"),
        (r#"faccessat(AT_FDCWD</w>, ".", R_OK) = 0"#, "path=/w"),
        (r#"faccessat(AT_FDCWD</>, "a", R_OK) = 0"#, "path=/a"),
        (r#"faccessat(3</w (deleted)>, "a", R_OK) = 0"#, "path=/w/a"),
        (r#"faccessat(3</w>(deleted), "/a", R_OK) = 0"#, "path=/a"),
        (r#"faccessat(3<socket:[1]>, "a", R_OK) = -1 ENOTDIR (Not a directory)"#, "path=~a"),
        (r#"faccessat(-100 /* AT_FDCWD */, "a", R_OK) = 0"#, "path=~a"),
        (r#"faccessat(dfd=AT_FDCWD</w>, filename="a", mode=R_OK) = 0"#, "path=/w/a"),
        (r#"faccessat(AT_FDCWD<\x2f\x77>, "\x2e\x2f\x61", R_OK) = 0"#, "path=/w/a"),
        (r#"access("\x2f\x61", R_OK) = 0"#, "path=/a"),
        (r#"access("/caf\303\251 \"\n", R_OK) = 0"#, "path=/café \"\n"),
        (r#"openat(AT_FDCWD, "/a" [u:r:t:s0], O_RDONLY) = 3"#, "fd=3 path=/a"),
        (r#"openat(AT_FDCWD</w>, "a", O_RDONLY) = 3</real/a>"#, "fd=3 path=/real/a"),
        // A path that is not printed, or only in part.
        ("openat(0xffffff9c, 0x55d8, 0, 0) = 0x8", "fd=8"),
        (r#"access("/aaa"..., R_OK) = -1 ENAMETOOLONG (File name too long)"#, ""),
        ("access(NULL, R_OK) = -1 EFAULT (Bad address)", ""),
        (
            r#"readlinkat(3</w>, "a", 0x7f, 10) = -1 ENOENT (No such file or directory)"#,
            "path=/w/a requested=10",
        ),
    ]);
}

#[test]
fn empty_paths_act_on_the_descriptor() {
    check(&[
        (
            r#"newfstatat(3</a>, "", {st_mode=S_IFREG|0644, st_size=9, ...}, AT_EMPTY_PATH) = 0"#,
            "fd=3 path=/a size=9 type=regular",
        ),
        (
            r#"newfstatat(3, "", {st_mode=S_IFREG|0644, st_size=9, ...}, 0x1000) = 0"#,
            "fd=3 size=9 type=regular",
        ),
        ("utimensat(3</a>, NULL, NULL, 0) = 0", "fd=3 path=/a"),
        ("utimensat_time64(3, NULL, NULL, 0) = 0", "fd=3"),
        (
            r#"getxattrat(3, NULL, AT_EMPTY_PATH, "user.x", {value=0x7f, size=0, flags=0}, 16) = 7"#,
            "fd=3",
        ),
        (r#"statx(AT_FDCWD</w>, "", AT_EMPTY_PATH, STATX_ALL, 0x7f) = 0"#, "path=/w"),
        (r#"statx(AT_FDCWD, "", AT_EMPTY_PATH, STATX_ALL, 0x7f) = 0"#, "path=~."),
        (r#"faccessat(AT_FDCWD</w>, "", R_OK) = -1 ENOENT (No such file or directory)"#, ""),
        (r#"linkat(3</a>, "", AT_FDCWD, "/b", AT_EMPTY_PATH) = 0"#, "fd=3 path=/a path2=/b"),
        (
            r#"move_mount(3<anon_inode:[fscontext]>, "", AT_FDCWD, "/mnt", MOVE_MOUNT_F_EMPTY_PATH) = 0"#,
            "fd=3 path=anon_inode:[fscontext] path2=/mnt type=anon",
        ),
        (
            r#"execveat(3</bin/a>, "", ["a"], 0x7f /* 1 var */, AT_EMPTY_PATH) = 0"#,
            "fd=3 path=/bin/a",
        ),
        (r#"open_tree(3</a>, "", OPEN_TREE_CLONE|AT_EMPTY_PATH) = 4"#, "fd=4 path=/a"),
        ("fanotify_mark(3, FAN_MARK_ADD, FAN_OPEN, 4</a>, NULL) = 0", "fd=3 path=/a"),
    ]);
    let op = |line| effect(line).op;
    assert_eq!(op(r#"newfstatat(3, "", 0x7f, AT_EMPTY_PATH) = 0"#), Op::Use);
    assert_eq!(op(r#"execveat(3, "", ["a"], 0x7f, AT_EMPTY_PATH) = 0"#), Op::Exec);
    assert_eq!(op(r#"open_tree(3, "", AT_EMPTY_PATH) = 4"#), Op::Open);
}

#[test]
fn the_first_half_shows_the_effect_of_the_whole() {
    let fds = |line| {
        let head = head(line);
        (head.op, head.fd, head.fd2)
    };
    assert_eq!(fds("read(3, "), (Op::Use, Some(3), None));
    assert_eq!(fds("read(fd=3"), (Op::Use, Some(3), None));
    assert_eq!(fds("sendfile(1, 3, [5]"), (Op::Use, Some(3), Some(1)));
    assert_eq!(fds(r#"newfstatat(3, "", "#), (Op::Use, Some(3), None));
    assert_eq!(fds(r#"newfstatat(3, "a", "#), (Op::Path, None, None));
    assert_eq!(fds("utimensat(3, NULL, "), (Op::Use, Some(3), None));
    assert_eq!(fds(r#"linkat(3, "", AT_FDCWD, "b""#), (Op::Use, Some(3), None));
    assert_eq!(fds(r#"connect(3, {sa_family=AF_UNIX, sun_path="/s"}, 110"#).0, Op::Path);
    assert_eq!(fds("connect(3, {sa_family=AF_INET}, 16"), (Op::Use, Some(3), None));
    assert_eq!(fds("io_submit(0x7f, 1, [{aio_fildes=3, aio_nbytes=1}]"), (Op::Use, Some(3), None));
}

#[test]
fn names_of_sockets() {
    let socket = "fd=3 path=/run/x type=socket";
    check(&[
        (r#"connect(3, {sa_family=AF_UNIX, sun_path="/run/x"}, 110) = 0"#, socket),
        (r#"bind(3<socket:[5]>, {sa_family=AF_LOCAL, sun_path="/run/x"}, 110) = 0"#, socket),
        (r#"connect(3, {sa_family=AF_FILE, path="/run/x"}, 110) = 0"#, socket),
        (
            r#"connect(fd=3, uservaddr={sa_family=AF_UNIX, sun_path="/run/x"}, addrlen=110) = 0"#,
            socket,
        ),
        (r#"bind(3, {sa_family=AF_UNIX, sun_path="x"}, 110) = 0"#, "fd=3 path=~x type=socket"),
        (r#"bind(28, {sa_family=AF_FILE, path=@"abs\"x>"}, 9) = 0"#, "fd=28"),
        (
            "connect(3<socket:[5]>, {sa_family=AF_INET, sin_port=htons(80)}, 16) = 0",
            "fd=3 path=socket:[5] type=socket",
        ),
    ]);
}

#[test]
fn mounts_links_and_watches() {
    check(&[
        (r#"mount("/dev/sda1", "/mnt", "ext4", 0, NULL) = 0"#, "path=/mnt path2=/dev/sda1"),
        (r#"mount("proc", "/proc", "proc", 0, NULL) = 0"#, "path=/proc"),
        (r#"mount("a", "/mnt", NULL, MS_BIND, NULL) = 0"#, "path=/mnt path2=~a"),
        (r#"mount(NULL, "/mnt", NULL, MS_REMOUNT, NULL) = 0"#, "path=/mnt"),
        (r#"umount("/mnt", MNT_FORCE) = 0"#, "path=/mnt"),
        (r#"symlink("text", "/link") = 0"#, "path=/link"),
        (r#"symlinkat("text", 3</w>, "link") = 0"#, "path=/w/link"),
        (r#"renameat2(3</w>, "a", 4</v>, "b", RENAME_NOREPLACE) = 0"#, "path=/w/a path2=/v/b"),
        (r#"pivot_root("/new", "/new/old") = 0"#, "path=/new path2=/new/old"),
        (r#"quotactl(QCMD(Q_XQUOTAON, USRQUOTA), "/dev/sda", 0x7f) = 0"#, "path=/dev/sda"),
        (r#"uselib("/lib/a") = 0"#, "path=/lib/a"),
        (r#"inotify_add_watch(3<anon_inode:inotify>, "/a", IN_MODIFY) = 1"#, "fd=3 path=/a"),
        (r#"fanotify_mark(3, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD</w>, "a") = 0"#, "fd=3 path=/w/a"),
        (r#"mq_unlink("queue") = 0"#, "path=/queue"),
        (r#"mount_setattr(3</w>, "a", 0, 0x7f, 32) = 0"#, "path=/w/a"),
        (r#"file_getattr(3</w>, "a", 0x7f, 24, 0) = 0"#, "path=/w/a"),
        (r#"chown32("/a", 0, 0) = 0"#, "path=/a"),
    ]);
    assert_eq!(effect(r#"inotify_add_watch(3, "/a", IN_MODIFY) = 1"#).op, Op::Path);
}

#[test]
fn annotations_of_all_kinds() {
    let close = |note: &str| columns(&format!("close(3<{note}>) = 0"));
    for (note, expected) in [
        ("/a b, c", "path=/a b, c"),
        ("/dev/null<char 1:3>", "path=/dev/null type=char"),
        ("/dev/sda<block 8:0>", "path=/dev/sda type=block"),
        ("/dev/pts/0<char 136:0 @/dev/pts/0>", "path=/dev/pts/0 type=char"),
        ("/a (deleted)", "path=/a"),
        ("pipe:[5]", "path=pipe:[5] type=pipe"),
        ("socket:[5]", "path=socket:[5] type=socket"),
        ("anon_inode:[eventpoll]", "path=anon_inode:[eventpoll] type=anon"),
        ("anon_inode:inotify", "path=anon_inode:inotify type=anon"),
        ("pid:20841", "path=pid:20841 type=anon"),
        ("pid:[4026531836]", "path=pid:[4026531836]"),
        ("mnt:[4026531836]", "path=mnt:[4026531836]"),
        ("signalfd:[USR1 CHLD]", "path=signalfd:[USR1 CHLD] type=anon"),
        ("{eventfd-count=0x5, eventfd-id=2}", "path={eventfd-count=0x5, eventfd-id=2} type=anon"),
        ("TCPv6:[[::1]:1->[::1]:2]", "path=TCPv6:[[::1]:1->[::1]:2] type=socket"),
        (r#"UNIX-STREAM:[1->2,"/a>b"]"#, r#"path=UNIX-STREAM:[1->2,"/a>b"] type=socket"#),
        (r#"(null):[1,"q]>"]"#, r#"path=(null):[1,"q]>"] type=socket"#),
        (r"\x2f\x61", "path=/a"),
        (r"/a\76\74", "path=/a><"),
    ] {
        assert_eq!(close(note), format!("fd=3 {expected}"), "{note}");
    }
    assert_eq!(columns("close(3</a>(deleted)) = 0"), "fd=3 path=/a");
}

#[test]
fn getcwd_finds_the_working_directory() {
    assert_eq!(columns(r#"getcwd("/w", 4096) = 3"#), "path=/w");
    assert_eq!(effect(r#"getcwd("/w", 4096) = 3"#).op, Op::Chdir);
    assert_eq!(columns(r#"getcwd("(unreachable)/w", 4096) = 16"#), "");
    assert_eq!(effect(r#"getcwd("(unreachable)/w", 4096) = 16"#).op, Op::Path);
    assert_eq!(effect(r#"getcwd("/w", 4096) = 45 (INJECTED: args, retval)"#).op, Op::Path);
}
