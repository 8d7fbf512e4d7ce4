use crate::linux::syscalls::*;

fn with(any: Classes) -> impl Iterator<Item = (&'static str, &'static Shape)> {
    TABLE
        .iter()
        .filter(move |(_, shape)| shape.classes.has(any))
        .map(|(name, shape)| (*name, shape))
}

#[test]
fn every_name_is_there_once() {
    for (i, (name, _)) in TABLE.iter().enumerate() {
        assert_eq!(usize::from(by_name(name.as_bytes())), i, "{name}");
        assert!(!NAMES.contains(name), "{name} is among the other names too");
    }
    assert!(NAMES.is_sorted_by(|a, b| a < b));
    assert!(is_syscall(b"futex") && is_syscall(b"adjtimex"));
    assert!(!is_syscall(b"printf"));
}

#[test]
fn every_line_says_something() {
    for (name, shape) in TABLE {
        assert!(!shape.is_empty() || shape.classes != Classes::NONE, "{name}");
    }
}

#[test]
fn every_class_has_calls_and_a_word_of_its_own() {
    for (i, &(word, class)) in Classes::NAMED.iter().enumerate() {
        assert!(with(class).next().is_some(), "{word}");
        assert!(Classes::NAMED[..i].iter().all(|&(other, bit)| other != word && bit != class));
    }
    assert!(syscalls_that("does nothing").is_none());
}

#[test]
fn classes_agree_with_arguments() {
    let data = Classes::READS.and(Classes::WRITES).and(Classes::TRANSFERS);
    let data = data.and(Classes::RECEIVES).and(Classes::SENDS);
    for (name, shape) in with(data) {
        assert!(shape.fd != NONE && shape.count != Count::None, "{name}");
        assert_eq!(shape.classes.has(Classes::TRANSFERS), shape.fd2 != NONE, "{name}");
    }
    let position = Classes::SEEKS.and(Classes::LISTS).and(Classes::CLOSES).and(Classes::DUPS);
    for (name, shape) in with(position) {
        assert_eq!(shape.fd, 0, "{name}");
    }
    for (name, shape) in with(Classes::OPENS) {
        assert!(shape.makes_fd, "{name}");
        assert!(shape.path != NONE || name == "open_by_handle_at", "{name}");
    }
    for (name, shape) in with(Classes::LOOKS.and(Classes::RESIZES)) {
        assert!(shape.fd != NONE || shape.path != NONE, "{name}");
    }
    for (name, shape) in with(Classes::STATS) {
        assert!(shape.classes.has(Classes::LOOKS), "{name}");
    }
    for (name, shape) in with(Classes::SYNCS) {
        assert!(shape.fd == 0 || matches!(name, "sync" | "msync"), "{name}");
    }
    for (name, shape) in with(Classes::ENDS_GROUP) {
        assert_eq!(shape.op, Op::ExitCall, "{name}");
    }
    for (name, shape) in with(Classes::COLLECTS) {
        assert!(shape.classes.has(Classes::WAITS), "{name}");
    }
}

/// Different names of one call have the same classes and effects.
#[test]
fn spellings_of_a_call_do_the_same() {
    for names in [
        &["pread64", "pread"][..],
        &["pwrite64", "pwrite"],
        &["sendfile", "sendfile64"],
        &["recvmmsg", "recvmmsg_time64"],
        &["mq_timedreceive", "mq_timedreceive_time64"],
        &["mq_timedsend", "mq_timedsend_time64"],
        &["io_getevents", "io_pgetevents", "io_pgetevents_time64"],
        &["mmap", "mmap2", "old_mmap"],
        &["stat", "stat64", "lstat", "lstat64"],
        &["oldstat", "oldlstat"],
        &["newfstatat", "fstatat64"],
        &["fstat", "fstat64"],
        &["futex", "futex_time64", "futex_wait", "futex_waitv"],
        &["poll", "ppoll", "ppoll_time64"],
        &["select", "_newselect", "oldselect", "osf_select", "pselect6", "pselect6_time64"],
        &["epoll_wait", "epoll_wait_old", "epoll_pwait", "epoll_pwait2"],
        &["wait4", "waitpid", "oldwait4", "osf_wait4"],
        &["clock_nanosleep", "clock_nanosleep_time64", "nanosleep"],
        &["rt_sigtimedwait", "rt_sigtimedwait_time64"],
        &["semtimedop", "semtimedop_time64", "semop"],
        &["getdents", "getdents64", "osf_getdirentries"],
        &["sync_file_range", "sync_file_range2", "arm_sync_file_range"],
        &["access", "faccessat", "faccessat2", "readlink", "readlinkat"],
        &["statfs", "statfs64", "fstatfs", "fstatfs64"],
        &["getxattr", "lgetxattr", "fgetxattr", "getxattrat", "listxattr", "flistxattr"],
        &["truncate", "truncate64"],
        &["ftruncate", "ftruncate64"],
        &["clone", "clone2", "clone3", "fork", "vfork"],
        &["exit", "_exit"],
        &["rt_sigreturn", "sigreturn"],
    ] {
        let classes = |name: &str| classes_of(name.as_bytes());
        for name in names {
            assert_eq!(classes(name), classes(names[0]), "{name} and {}", names[0]);
            assert_ne!(classes(name), Classes::NONE, "{name}");
        }
    }
}

#[test]
fn calls_are_found_by_class() {
    let that = |word| syscalls_that(word).into_iter().flatten().collect::<Vec<_>>();
    assert_eq!(that("ends"), ["exit", "_exit", "exit_group"]);
    assert_eq!(that("collects"), ["wait4", "oldwait4", "osf_wait4", "waitpid", "waitid"]);
    assert_eq!(shape(by_name(b"read")).fd, 0);
    assert_eq!(by_name(b"no such call"), UNKNOWN);
}
