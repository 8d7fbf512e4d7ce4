//! Effects on names, tables and tasks.

use crate::events::rows::AT_FDCWD;
use crate::events::vocabulary::{FileType, Op, clone_flags, open_flags};
use crate::strace::fields::tests::{check, effect, head};

#[test]
fn names_that_are_created_and_removed() {
    let op = |line| effect(line).op;
    for (line, expected) in [
        (r#"rename("/a", "/b") = 0"#, Op::Rename),
        (r#"renameat(AT_FDCWD, "a", 3</w>, "b") = 0"#, Op::Rename),
        (r#"renameat2(18, "hard", 18, "hard2", 0x1 /* RENAME_NOREPLACE */) = 0"#, Op::Rename),
        (r#"unlink("/a") = 0"#, Op::Unlink),
        (r#"unlinkat(AT_FDCWD, "a", 0) = 0"#, Op::Unlink),
        (r#"unlinkat(AT_FDCWD, "a", AT_REMOVEDIR) = 0"#, Op::Unlink),
        (r#"rmdir("/a") = 0"#, Op::Unlink),
        (r#"link("/a", "/b") = 0"#, Op::Link),
        (r#"linkat(18</w>, "src", 18</w>, "hard", 0) = 0"#, Op::Link),
        // Without a name it acts on the descriptor.
        (r#"linkat(3, "", AT_FDCWD, "/b", AT_EMPTY_PATH) = 0"#, Op::Use),
        (r#"chroot("/new") = 0"#, Op::Chroot),
        (r#"pivot_root("/new", "/new/old") = 0"#, Op::Chroot),
        (r#"symlink("a", "/b") = 0"#, Op::Symlink),
        (r#"mknod("/b", S_IFIFO|0600) = 0"#, Op::MakeNode),
        (r#"mknod("/b", S_IFREG|0600) = 0"#, Op::Path),
        (r#"truncate("/a", 5) = 0"#, Op::Truncate),
        ("ftruncate(3, 5) = 0", Op::Truncate),
    ] {
        assert_eq!(op(line), expected, "{line}");
    }
    check(&[
        (r#"renameat(3</w>, "a", 4</v>, "b") = 0"#, "path=/w/a path2=/v/b"),
        (r#"linkat(3</w>, "a", 4</v>, "b", 0) = 0"#, "path=/w/a path2=/v/b"),
        (r#"unlinkat(3</w>, "a", 0) = 0"#, "path=/w/a"),
        (r#"chroot("new") = 0"#, "path=~new"),
    ]);
    let head = |line| {
        let head = head(line);
        (head.op, head.fd)
    };
    assert_eq!(head(r#"unlinkat(3, "a", 0"#), (Op::Unlink, None));
    assert_eq!(head(r#"linkat(3, "", AT_FDCWD, "/b""#), (Op::Use, Some(3)));
    assert_eq!(head("ftruncate(3, 5"), (Op::Truncate, Some(3)));
    assert_eq!(head("fallocate(3, 0, 5, 5"), (Op::Allocate, Some(3)));
    assert_eq!(head(r#"truncate("/a", 5"#), (Op::Truncate, None));
}

#[test]
fn exchanged_names() {
    let exchanged = |flags: &str| {
        let line = format!(r#"renameat2(3, "a", 3, "b", {flags}) = 0"#);
        effect(&line).flags
    };
    assert_eq!(exchanged("RENAME_EXCHANGE"), 1);
    assert_eq!(exchanged("0x2"), 1);
    assert_eq!(exchanged("0x2 /* RENAME_EXCHANGE */"), 1);
    assert_eq!(exchanged("RENAME_NOREPLACE|RENAME_WHITEOUT"), 0);
    assert_eq!(exchanged("0x5"), 0);
    assert_eq!(effect(r#"renameat(3, "a", 3, "b") = 0"#).flags, 0);
}

#[test]
fn what_stops_being_shared() {
    use clone_flags::{CLONE_FILES, CLONE_FS, CLONE_NEWNS, CLONE_NEWPID};
    for (line, flags) in [
        ("unshare(CLONE_FILES) = 0", CLONE_FILES),
        ("unshare(CLONE_FS|CLONE_FILES|CLONE_SYSVSEM) = 0", CLONE_FS | CLONE_FILES),
        ("unshare(0x600) = 0", CLONE_FS | CLONE_FILES),
        ("unshare(0x400 /* CLONE_FILES */) = 0", CLONE_FILES),
        ("unshare(unshare_flags=CLONE_FILES) = 0", CLONE_FILES),
        ("unshare(CLONE_NEWPID) = 0", CLONE_NEWPID),
        // These namespaces also unshare the directories (unshare(2)).
        ("unshare(CLONE_NEWUSER|CLONE_NEWPID) = 0", CLONE_FS | CLONE_NEWPID),
        ("unshare(CLONE_NEWNS|CLONE_FILES) = 0", CLONE_NEWNS | CLONE_FS | CLONE_FILES),
        ("unshare(0x30000000 /* CLONE_??? */) = 0", CLONE_FS | CLONE_NEWPID),
    ] {
        let effect = effect(line);
        assert_eq!((effect.op, effect.flags), (Op::Unshare, flags), "{line}");
    }
    let range = |flags: &str| effect(&format!("close_range(3, 9, {flags}) = 0")).flags;
    assert_eq!(range("CLOSE_RANGE_UNSHARE"), CLONE_FILES);
    assert_eq!(range("0x6"), CLONE_FILES | open_flags::CLOEXEC);
    assert_eq!(range("CLOSE_RANGE_CLOEXEC"), open_flags::CLOEXEC);
    assert_eq!(range("0"), 0);
    // The first half says the same: descriptors are closed at entry.
    let head = head("close_range(3, 4294967295, CLOSE_RANGE_UNSHARE");
    assert_eq!((head.fd, head.fd2, head.flags), (Some(3), Some(i32::MAX), CLONE_FILES));
}

#[test]
fn siblings_of_the_caller() {
    use clone_flags::{CLONE_FILES, CLONE_PARENT, CLONE_VM, UNSHOWN};
    for line in [
        "clone(child_stack=NULL, flags=CLONE_VM|CLONE_FILES|CLONE_PARENT|SIGCHLD) = 8",
        "clone3({flags=CLONE_VM|CLONE_FILES|CLONE_PARENT, exit_signal=SIGCHLD}, 88) = 8",
        "clone3({flags=0x8500 /* CLONE_VM|CLONE_FILES|CLONE_PARENT */}, 88) = 8",
    ] {
        assert_eq!(effect(line).flags, CLONE_VM | CLONE_FILES | CLONE_PARENT, "{line}");
    }
    let settid = "clone(child_stack=NULL, flags=CLONE_PARENT_SETTID|SIGCHLD) = 8";
    assert_eq!(effect(settid).flags, 0);
    // The arguments follow at the end of the call.
    assert_eq!(head("clone(/usr/bin/strace: Process 8 attached").flags, 0);
    for line in [
        // The address of the flags shows no flags.
        "clone3(0x7ffe0000ff00, 0x58) = 0x8",
        "clone3({...}, 88) = 8",
        "syscall_0x1b3(0x7ffe0000ff00, 0x58, 0x7f, 0x8, 0, 0) = 0x8",
        "syscall_435(0x7ffe0000ff00, 0x58, 0x7f, 0x8, 0, 0) = 0x8",
        "clone(child_stack=NULL, ) = 8",
    ] {
        assert_eq!((effect(line).op, effect(line).flags), (Op::Fork, UNSHOWN), "{line}");
    }
}

#[test]
fn allocated_ranges() {
    let end = |line| {
        let effect = effect(line);
        match effect.op {
            Op::Allocate => Some((effect.number, effect.flags == 1)),
            op => {
                assert_eq!(op, Op::Use, "{line}");
                None
            }
        }
    };
    for (line, expected) in [
        ("fallocate(3</a>, 0, 4096, 8) = 0", Some((4104, false))),
        ("fallocate(3, FALLOC_FL_ZERO_RANGE, 4096, 8) = 0", Some((4104, false))),
        ("fallocate(3, 0x10 /* FALLOC_FL_ZERO_RANGE */, 4096, 8) = 0", Some((4104, false))),
        ("fallocate(3, FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE, 4096, 4096) = 0", None),
        ("fallocate(3, 03, 4096, 4096) = 0", None),
        ("fallocate(3, 0x1, 4096, 4096) = 0", None),
        ("fallocate(3, FALLOC_FL_COLLAPSE_RANGE, 4096, 4096) = 0", Some((-4096, true))),
        ("fallocate(3, 0x20, 4096, 4096) = 0", Some((4096, true))),
        ("fallocate(3, 0, 4096, 8) = -1 ENOSPC (No space left on device)", Some((-1, false))),
        ("fallocate(3, 0, 4096, 8) = 0 (INJECTED)", None),
        ("fallocate(3, 0, 9223372036854775807, 8) = 0", None),
        // Raw registers, of 64 and of 32 bits.
        ("fallocate(0x3, 0, 0x1000, 0x8) = 0", Some((4104, false))),
        ("fallocate(0x3, 0, 0x10, 0x1, 0x8, 0) = 0", Some((0x1_0000_0018, false))),
    ] {
        assert_eq!(end(line), expected, "{line}");
    }
    check(&[
        ("fallocate(0x3, 0, 0x10, 0x1, 0x8, 0) = 0", "fd=3 requested=8 offset=4294967312"),
        ("ftruncate64(0x3, 0x10, 0x1) = 0", "fd=3 size=4294967312"),
        ("ftruncate64(0x3, 0x7f00, 0x10, 0x1) = 0", "fd=3 size=4294967312"),
        ("ftruncate(0x3, 0x10) = 0", "fd=3 size=16"),
    ]);
    let head = head("fallocate(3, 0, 4096, 8");
    assert_eq!((head.op, head.fd), (Op::Allocate, Some(3)));
}

#[test]
fn descriptors_for_processes() {
    let anon = FileType::Anon as u32 | open_flags::TYPED | open_flags::CLOEXEC;
    for (line, pid) in [
        ("pidfd_open(28901, 0) = 17", 28901),
        ("pidfd_open(28901<cat>, PIDFD_NONBLOCK) = 17<pid:28901>", 28901),
        ("pidfd_open(7 /* 28901 in strace's PID NS */, 0) = 17", 28901),
        ("pidfd_open(7<cat> /* 28901 in strace's PID NS */, 0) = 17", 28901),
        ("pidfd_open(pid=28901, flags=0) = 17", 28901),
        ("pidfd_open(0x70e5, 0) = 0x11", 28901),
    ] {
        let effect = effect(line);
        let translated = if line.contains("PID NS") { open_flags::TRANSLATED } else { 0 };
        let flags = anon | translated;
        assert_eq!((effect.op, effect.flags, effect.at), (Op::OpenProcess, flags, pid), "{line}");
    }
    assert_eq!(effect("pidfd_open() = 17").at, AT_FDCWD);
    for (line, fd) in [
        ("pidfd_getfd(5<anon_inode:[pidfd]>, 6</dev/full>, 0) = 7</dev/full>", 6),
        ("pidfd_getfd(5, 6, 0) = 7", 6),
        ("pidfd_getfd(0x5, 0x6, 0) = 0x7", 6),
    ] {
        let effect = effect(line);
        assert_eq!((effect.op, effect.at), (Op::Take, fd), "{line}");
        assert!(effect.flags & open_flags::CLOEXEC != 0);
    }
    check(&[
        ("pidfd_open(28901, 0) = 17", "fd=17"),
        (
            "pidfd_getfd(5<pid:9>, 6</dev/full>, 0) = 7</dev/full>",
            "fd=7 fd2=5 path=/dev/full path2=pid:9",
        ),
    ]);
}
