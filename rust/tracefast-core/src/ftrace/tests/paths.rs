//! Paths, which the kernel prints since Linux 6.19, and what is printed instead of them.

use crate::events::schema::Column as C;
use crate::events::vocabulary::Op;
use crate::ftrace::tests::{Log, records};

/// Path, second path, where they start from, and whether they identify a file.
fn paths(log: &Log, row: usize) -> (Option<String>, Option<String>, i32, bool) {
    let rows = &log.parsed.rows;
    let second = log.string(row, C::Path2, rows.path2[row]);
    (log.path(row), second, rows.effect[row].at, log.has(row, C::File))
}

#[test]
fn paths_since_linux_6_19_are_those_of_strace() {
    let none = None::<&str>;
    for (enter, exit, path, second, at, file) in [
        (
            r#"sys_openat(dfd: 18446744073709551516, filename: 140737 "/srv/a "b", c", flags: O_RDONLY|O_CLOEXEC)"#,
            "sys_openat -> 0x3",
            Some(r#"/srv/a "b", c"#),
            none,
            -100,
            true,
        ),
        (
            r#"sys_openat(dfd: 12, filename: 140737 "x", flags: O_WRONLY|O_CREAT, mode: 0644)"#,
            "sys_openat -> 0x3",
            Some("x"),
            none,
            12,
            false,
        ),
        (
            r#"sys_openat(int dfd: 0xffffff9c, const char * filename: 0x7f "/a", int flags: 0, umode_t mode: 0)"#,
            "sys_openat -> 0x3",
            Some("/a"),
            none,
            -100,
            true,
        ),
        (
            r#"sys_enter_openat: dfd: 0x0000000c, filename: 0x7f00 "x", flags: O_RDONLY, mode: 0000"#,
            "sys_exit_openat: 0x3",
            Some("x"),
            none,
            12,
            false,
        ),
        (
            "sys_enter_openat: __syscall_nr=0x101 (257) dfd=0xc (12) filename=0x7f00 (32512) flags=0x0 (0) mode=0x0 (0) __filename_val=a=b c",
            "sys_exit_openat: __syscall_nr=0x101 (257) ret=0x3 (3)",
            Some("a=b c"),
            none,
            12,
            false,
        ),
        (
            "sys_enter_rename: __syscall_nr=82 oldname=0x7f00 newname=0x7f10 __oldname_val=/a b __newname_val=/c",
            "sys_exit_rename: __syscall_nr=82 ret=0x0",
            Some("/a b"),
            Some("/c"),
            -100,
            true,
        ),
        (
            r#"sys_rename(oldname: 0x7f00 "/a", newname: 0x7f10 "b")"#,
            "sys_rename -> 0x0",
            Some("/a"),
            Some("b"),
            -100,
            true,
        ),
        (
            r#"sys_symlinkat(oldname: 0x7f00 "/a", newdfd: 0xc, newname: 0x7f10 "b")"#,
            "sys_symlinkat -> 0x0",
            Some("b"),
            none,
            12,
            false,
        ),
        // Cut: the kernel's dots are within the quotes, or without.
        (
            r#"sys_chdir(filename: 0x7f00 "/a/long...")"#,
            "sys_chdir -> 0x0",
            Some("/a/long..."),
            none,
            -100,
            false,
        ),
        (
            r#"sys_chdir(filename: 0x7f00 "/a/long"...)"#,
            "sys_chdir -> 0x0",
            Some("/a/long..."),
            none,
            -100,
            false,
        ),
        // Names in a namespace of their own.
        (
            r#"sys_memfd_create(uname: 0x7f00 "x", flags: 1)"#,
            "sys_memfd_create -> 0x3",
            Some("/memfd:x"),
            none,
            -100,
            true,
        ),
        (
            r#"sys_mq_open(u_name: 0x7f00 "q", oflag: 2, mode: 0, u_attr: 0)"#,
            "sys_mq_open -> 0x3",
            Some("/q"),
            none,
            -100,
            true,
        ),
        // What is mounted may be but a word.
        (
            r#"sys_mount(dev_name: 0x7f00 "proc", dir_name: 0x7f10 "/proc", type: 0x7f20 "proc", flags: 0, data: 0)"#,
            "sys_mount -> 0x0",
            Some("/proc"),
            none,
            -100,
            true,
        ),
        (
            r#"sys_mount(dev_name: 0x7f00 "/dev/vda", dir_name: 0x7f10 "/m", type: 0x7f20 "ext4", flags: 0, data: 0)"#,
            "sys_mount -> 0x0",
            Some("/m"),
            Some("/dev/vda"),
            -100,
            true,
        ),
        (
            r#"sys_mount(dev_name: 0x7f00 "a", dir_name: 0x7f10 "/m", type: 0, flags: 0x1000, data: 0)"#,
            "sys_mount -> 0x0",
            Some("/m"),
            Some("a"),
            -100,
            true,
        ),
        // Nothing could be read.
        (r#"sys_chdir(filename: 0x7f00 "")"#, "sys_chdir -> 0x0", none, none, -100, false),
    ] {
        let log = records(&[enter, exit]);
        let expected = (path.map(str::to_owned), second.map(str::to_owned), at, file);
        assert_eq!(paths(&log, log.only()), expected, "{enter}");
    }
}

#[test]
fn empty_paths_stand_for_descriptors() {
    for (enter, fd, op) in [
        (r#"newfstatat(dfd: 8, filename: 0x5 "", statbuf: 0x1, flag: 0x1000)"#, Some(8), Op::Use),
        (r#"newfstatat(dfd: 8, filename: 0x5 "x", statbuf: 0x1, flag: 0x1000)"#, None, Op::Path),
        // The kernel was set to print nothing of it.
        (r#"newfstatat(dfd: 8, filename: 0x5 "", statbuf: 0x1, flag: 0)"#, None, Op::Path),
        (
            r#"newfstatat(dfd: 0xffffff9c, filename: 0x5 "", statbuf: 0x1, flag: 0x1000)"#,
            None,
            Op::Path,
        ),
        (r#"readlinkat(dfd: 8, pathname: 0x5 "", buf: 0x1, bufsiz: 9)"#, Some(8), Op::Use),
        (r#"readlinkat(dfd: 8, pathname: 0x5 "x", buf: 0x1, bufsiz: 9)"#, None, Op::Path),
        (
            r#"execveat(fd: 8, filename: 0x5 "", argv: 1, envp: 2, flags: 0x1000)"#,
            Some(8),
            Op::Exec,
        ),
        (r#"execveat(fd: 8, filename: 0x5 "x", argv: 1, envp: 2, flags: 0)"#, None, Op::Exec),
    ] {
        let name = enter.split('(').next().expect("a name");
        let log = records(&[&format!("sys_{enter}"), &format!("sys_{name} -> 0x0")]);
        let row = log.only();
        assert_eq!((log.fd(row), log.parsed.rows.effect[row].op), (fd, op), "{enter}");
        let head = log.parsed.entries[0].head;
        assert_eq!((head.fd, head.op), (fd, op), "{enter}");
    }
}
