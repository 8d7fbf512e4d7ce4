//! Facts that no column holds.

use crate::events::details::{
    AioCall, Completion, Detail, FileNumber, Mapping, Memory, Received, Submission,
};
use crate::events::rows::Side;
use crate::events::vocabulary::open_flags;
use crate::strace::fields::tests::{columns, detail, effect, head, parse};
use crate::text::string_view::unpack;

#[test]
fn address_spaces() {
    use Mapping::{Anonymous, File, Shared};
    let map = |start, len, mapping, writable| Memory::Map { start, len, mapping, writable };
    let unmap = |start, len| Memory::Unmap { start, len };
    let protect = |start, len, writable| Memory::Protect { start, len, writable };
    for (line, change) in [
        (
            "mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f00",
            map(0x7f00, 8192, Anonymous, true),
        ),
        (
            "mmap2(0xf000, 8192, PROT_NONE, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS|MAP_NORESERVE, -1, 0) = 0xf000",
            map(0xf000, 8192, Anonymous, false),
        ),
        (
            "old_mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0xf700",
            map(0xf700, 4096, Anonymous, true),
        ),
        (
            "mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS, -1, 0) = 0x7f00",
            map(0x7f00, 8192, Shared, true),
        ),
        (
            "mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_DENYWRITE, 3</a>, 0x1000) = 0x7f00",
            map(0x7f00, 8192, File, true),
        ),
        ("mmap(NULL, 8192, 0x3, 0x22, -1, 0) = 0x7f00", map(0x7f00, 8192, Anonymous, true)),
        // The descriptor is ignored for anonymous mappings.
        (
            "mmap(NULL, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, 0, 0) = 0x7f00",
            map(0x7f00, 8192, Anonymous, false),
        ),
        ("mmap(NULL, 8192, 0x1, 0x22, 0, 0) = 0x7f00", map(0x7f00, 8192, Anonymous, false)),
        // MAP_SHARED_VALIDATE
        ("mmap(NULL, 8192, 0x3, 0x23, -1, 0) = 0x7f00", map(0x7f00, 8192, Shared, true)),
        (
            "mmap(NULL, 8192, 0x1 /* PROT_READ */, 0x22 /* MAP_PRIVATE|MAP_ANONYMOUS */, -1, 0) = 0x7f00",
            map(0x7f00, 8192, Anonymous, false),
        ),
        // By number, on mips: no file either.
        ("mmap(NULL, 8192, 0x3, 0x802, -1, 0) = 0x7f00", map(0x7f00, 8192, Anonymous, true)),
        (
            "mmap(0, 0x2000, 0x3, 0x22, 0xffffffff, 0) = 0x7f0000",
            map(0x7f_0000, 8192, Anonymous, true),
        ),
        (
            "mmap(addr=NULL, length=8, prot=PROT_READ, flags=MAP_PRIVATE|MAP_ANONYMOUS, fd=-1, offset=0) = 0x7f00",
            map(0x7f00, 8, Anonymous, false),
        ),
        ("munmap(0x7f2735472000, 39423) = 0", unmap(0x7f27_3547_2000, 39423)),
        ("mprotect(0x7f00, 4096, PROT_READ|PROT_WRITE) = 0", protect(0x7f00, 4096, true)),
        ("mprotect(0x7f00, 4096, PROT_NONE) = 0", protect(0x7f00, 4096, false)),
        ("mprotect(0x7f00, 4096, 0x3 /* PROT_READ|PROT_WRITE */) = 0", protect(0x7f00, 4096, true)),
        ("pkey_mprotect(0x7f00, 4096, PROT_READ|PROT_WRITE, 1) = 0", protect(0x7f00, 4096, true)),
        (
            "mremap(0x7f00, 8192, 16384, MREMAP_MAYMOVE) = 0x9f00",
            Memory::Remap {
                start: 0x7f00,
                len: 8192,
                new_start: 0x9f00,
                new_len: 16384,
                stays: false,
            },
        ),
        (
            "mremap(0x7f00, 12288, 8192, 0x3 /* MREMAP_MAYMOVE|MREMAP_FIXED */, 0x9f00) = 0x9f00",
            Memory::Remap {
                start: 0x7f00,
                len: 12288,
                new_start: 0x9f00,
                new_len: 8192,
                stays: false,
            },
        ),
        (
            "mremap(0x7f00, 8192, 8192, MREMAP_MAYMOVE|MREMAP_DONTUNMAP) = 0x9f00",
            Memory::Remap {
                start: 0x7f00,
                len: 8192,
                new_start: 0x9f00,
                new_len: 8192,
                stays: true,
            },
        ),
        (
            "mremap(0x7f00, 8192, 8192, 0x5 /* MREMAP_MAYMOVE|MREMAP_DONTUNMAP */) = 0x9f00",
            Memory::Remap {
                start: 0x7f00,
                len: 8192,
                new_start: 0x9f00,
                new_len: 8192,
                stays: true,
            },
        ),
        ("brk(NULL) = 0x5556e28f8000", Memory::Break { end: 0x5556_e28f_8000 }),
        ("brk(0x5556e2919000) = 0x5556e2919000", Memory::Break { end: 0x5556_e291_9000 }),
    ] {
        assert_eq!(detail(line), Some(Detail::Memory(change)), "{line}");
    }
    for line in [
        "mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, 9, 0) = -1 EBADF (Bad file descriptor)",
        "mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, 9, 0) = 0x7f00 (INJECTED)",
        // Only the address of the arguments.
        "mmap(0xff8c) = 0xf700",
        "munmap(0x7f01, 1) = -1 EINVAL (Invalid argument)",
        "mprotect(0x7f00, 4096, PROT_READ) = -1 ENOMEM (Cannot allocate memory)",
        "mremap(0x7f00, 8192, 16384, 0) = -1 ENOMEM (Cannot allocate memory)",
    ] {
        assert_eq!(detail(line), None, "{line}");
    }
    // The columns of mapping a file stay as they were.
    let file = "mmap(NULL, 8, PROT_READ, MAP_PRIVATE, 3</a>, 0x1000) = 0x7f00";
    assert_eq!(columns(file), "fd=3 path=/a requested=8 offset=4096");
    assert_eq!(columns("munmap(0x7f00, 4096) = 0"), "");
}

const IOV: &str =
    r#"msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="x", iov_len=1}], msg_iovlen=1"#;

fn message(rest: &str) -> String {
    format!("{{{IOV}, {rest}, msg_flags=0}}")
}

/// Control messages as printed since 4.15, with `-X verbose`, with `-X raw`, and before 4.15.
fn spellings(data: &str) -> [String; 4] {
    let new = |level: &str, kind: &str| {
        message(&format!(
            "msg_control=[{{cmsg_len=20, cmsg_level={level}, cmsg_type={kind}, cmsg_data=[{data}]}}], msg_controllen=24"
        ))
    };
    [
        new("SOL_SOCKET", "SCM_RIGHTS"),
        new("0x1 /* SOL_SOCKET */", "0x1 /* SCM_RIGHTS */"),
        new("0x1", "0x1"),
        message(&format!(
            "msg_controllen=24, {{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, {{{data}}}}}"
        )),
    ]
}

#[test]
fn sent_descriptors() {
    let sent = |fds: &[i32]| Some(Detail::Sent(fds.to_vec()));
    for message in spellings("3</p, q>, 4") {
        let line = format!("sendmsg(5<socket:[7]>, {message}, MSG_NOSIGNAL) = 1");
        assert_eq!(detail(&line), sent(&[3, 4]), "{line}");
    }
    let list = spellings("3").map(|message| format!("{{msg_hdr={message}, msg_len=1}}"));
    let line = format!("sendmmsg(5, [{}, {}], 2, 0)", list[0], list[1]);
    assert_eq!(detail(&format!("{line} = 2")), sent(&[3, 3]));
    assert_eq!(detail(&format!("{line} = 1")), sent(&[3]));
    let old = format!("sendmmsg(5, {{{{{}, 1}}}}, 1, 0) = 1", spellings("3")[3]);
    assert_eq!(detail(&old), None);
    let old = format!("sendmmsg(5, [{{{}, 1}}], 1, 0) = 1", spellings("3")[3]);
    assert_eq!(detail(&old), sent(&[3]));
    // Several control messages, with others between them.
    let control = |fd| {
        format!("{{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[{fd}]}}")
    };
    let other = "{cmsg_len=28, cmsg_level=SOL_SOCKET, cmsg_type=SCM_CREDENTIALS, cmsg_data={pid=7, uid=0, gid=0}}";
    let many = message(&format!(
        "msg_control=[{}, {other}, {}], msg_controllen=80",
        control("3"),
        control("4</a>")
    ));
    assert_eq!(detail(&format!("sendmsg(5, {many}, 0) = 1")), sent(&[3, 4]));
    for message in [
        message("msg_controllen=0"),
        message(&format!("msg_control=[{other}], msg_controllen=32")),
        message(
            "msg_control=[{cmsg_len=20, cmsg_level=SOL_IP, cmsg_type=0x1, cmsg_data=[3]}], msg_controllen=24",
        ),
        message(
            "msg_control=[{cmsg_len=16, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS}], msg_controllen=16",
        ),
        message(
            r#"msg_control=[{cmsg_len=17, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data="\xf6"}], msg_controllen=17"#,
        ),
        message(
            "msg_controllen=47, {cmsg_len=16, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, ...}",
        ),
        message("msg_control=0x7f00, msg_controllen=24"),
        // Only the data look like it.
        spellings("3")[0]
            .replace('"', "")
            .replace(IOV, r#"msg_iov=[{iov_base="cmsg_type=SCM_RIGHTS"}]"#)
            .replace("msg_control=", "x="),
    ] {
        let line = format!("sendmsg(5, {message}, 0) = 1");
        assert_eq!(detail(&line), None, "{line}");
    }
}

#[test]
fn descriptors_are_sent_at_entry() {
    let mut side = Side::default();
    let text = format!("5, {}, 0", spellings("3</p>, 4")[0]);
    let sys = crate::linux::syscalls::by_name(b"sendmsg");
    let head = crate::strace::fields::head(text.as_bytes(), sys, &mut side);
    assert_eq!(head.detail, Some(0));
    assert_eq!(side.details, [Detail::Sent(vec![3, 4])]);
    assert_eq!(head.fd, Some(5));
    let plain = format!("sendmsg(5, {}, 0", message("msg_controllen=0"));
    assert_eq!(crate::strace::fields::tests::head(&plain).detail, None);
    assert_eq!(crate::strace::fields::tests::head("recvmsg(5, ").detail, None);
}

/// The descriptors that the line receives, with their names.
fn received(line: &str) -> Option<Vec<(i32, Option<String>)>> {
    let (parsed, text) = parse(line);
    let detail = parsed.side.details.get(parsed.rows.effect[0].detail as usize)?;
    let Detail::Received(found) = detail else { panic!("{detail:?}") };
    let name = |view: &u128| {
        String::from_utf8(unpack(view, text.as_bytes(), &parsed.side.bytes).to_vec()).expect("text")
    };
    let one = |received: &Received| (received.fd, received.path.as_ref().map(name));
    Some(found.iter().map(one).collect())
}

#[test]
fn received_descriptors() {
    let name = |text: &str| Some(text.to_owned());
    let data = r"12</dev/null<char 1:3>>, 13, 14</a long name of a file\n>, 15</x>(deleted)";
    let expected = [
        (12, name("/dev/null")),
        (13, None),
        (14, name("/a long name of a file\n")),
        (15, name("/x")),
    ];
    for message in spellings(data) {
        let line = format!("recvmsg(11, {message}, 0) = 2");
        assert_eq!(received(&line).as_deref(), Some(&expected[..]), "{line}");
        assert_eq!(effect(&line).flags, 0);
    }
    let message = &spellings("24")[0];
    let line = format!("recvmsg(23, {message}, MSG_CMSG_CLOEXEC) = 10");
    assert_eq!(received(&line), Some(vec![(24, None)]));
    assert_eq!(effect(&line).flags, open_flags::CLOEXEC);
    let line = format!("recvmmsg(23, [{{msg_hdr={message}, msg_len=1}}], 8, 0x40000000, NULL) = 1");
    assert_eq!(received(&line), Some(vec![(24, None)]));
    assert_eq!(effect(&line).flags, open_flags::CLOEXEC);
    // A failed call receives nothing.
    let failed = format!("recvmsg(11, {message}, 0) = -1 EAGAIN (Try)");
    assert_eq!(received(&failed), None);
    assert_eq!(
        received(&format!(
            "recvmsg(11, {}, 0) = 1",
            crate::strace::fields::tests::details::message("msg_controllen=0")
        )),
        None
    );
}

#[test]
fn accepted_submissions() {
    let part = |data, call, fd, offset, requested| Submission { data, call, fd, offset, requested };
    let new = "{aio_data=0xfeed, aio_lio_opcode=IOCB_CMD_PREAD, aio_reqprio=11, aio_fildes=4</src>, aio_buf=0x7f, aio_nbytes=4096, aio_offset=8192}, {aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=5, aio_buf=\"a, b\"..., aio_nbytes=9, aio_offset=0}";
    let old = "{data=0xfeed, pread, reqprio=11, fildes=4</src>, buf=0x7f, nbytes=4096, offset=8192}, {pwrite, filedes=5, str=\"a, b\"..., nbytes=9, offset=0}";
    let raw = "{aio_data=0xfeed, aio_lio_opcode=0, aio_fildes=4, aio_buf=0x7f, aio_nbytes=4096, aio_offset=8192}, {aio_data=0, aio_lio_opcode=1 /* IOCB_CMD_PWRITE */, aio_fildes=5, aio_buf=\"\", aio_nbytes=9, aio_offset=0}";
    let first = part(0xfeed, AioCall::Pread, 4, Some(8192), Some(4096));
    let second = part(0, AioCall::Pwrite, 5, Some(0), Some(9));
    for parts in [new, old, raw] {
        let line = |ret| format!("io_submit(0x7f21, 2, [{parts}]) = {ret}");
        assert_eq!(detail(&line("2")), Some(Detail::Submitted(vec![first, second])), "{parts}");
        assert_eq!(detail(&line("1")), Some(Detail::Submitted(vec![first])), "{parts}");
        assert_eq!(detail(&line("-1 EAGAIN (Try)")), None);
        assert_eq!(detail(&line("?")), None);
    }
    let one = |text: &str| match detail(&format!("io_submit(0x7f, 1, [{text}]) = 1")) {
        Some(Detail::Submitted(parts)) => parts[0],
        other => panic!("{text}: {other:?}"),
    };
    let iov = r#"[{iov_base="ab", iov_len=2}, {iov_base="c", iov_len=1}]"#;
    let vector = part(0, AioCall::Pwritev, 3, Some(7), Some(3));
    for text in [
        format!(
            "{{aio_data=0, aio_lio_opcode=IOCB_CMD_PWRITEV, aio_fildes=3, aio_buf={iov}, aio_offset=7}}"
        ),
        format!("{{pwritev, fildes=3, buf={iov}, offset=7}}"),
        format!("{{pwritev, filedes=3, 7, {iov}}}"),
    ] {
        assert_eq!(one(&text), vector, "{text}");
    }
    // A number of buffers is not a number of bytes.
    assert_eq!(
        one(
            "{aio_lio_opcode=IOCB_CMD_PREADV, aio_fildes=3, aio_buf=0x7f, aio_nbytes=2, aio_offset=7}"
        ),
        part(0, AioCall::Preadv, 3, Some(7), None)
    );
    for (text, call) in [
        ("{aio_data=0, aio_lio_opcode=IOCB_CMD_FSYNC, aio_fildes=3}", AioCall::Fsync),
        ("{fdsync, fildes=3}", AioCall::Fdsync),
        ("{aio_lio_opcode=IOCB_CMD_POLL, aio_fildes=3, aio_buf=POLLIN}", AioCall::Poll),
        ("{poll, filedes=3, 1}", AioCall::Poll),
        ("{aio_lio_opcode=6, aio_fildes=3}", AioCall::Noop),
    ] {
        assert_eq!(one(text), part(0, call, 3, None, None), "{text}");
    }
    for line in [
        "io_submit(0x7f, 2, {...}) = 2",
        "io_submit(139838549946368, 2, 0x7f2eb2f88ff0) = 2",
        "io_submit(0x7f, 1, [{aio_lio_opcode=IOCB_CMD_PREADX, aio_fildes=3}]) = 1",
        "io_cancel(0x7f, {aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=3}, 0x7f00) = 1",
    ] {
        assert_eq!(detail(line), None, "{line}");
    }
    // Requests that the text leaves out are not recorded.
    let cut = format!("io_submit(0x7f, 9, [{new}, ...]) = 9");
    assert_eq!(detail(&cut), Some(Detail::Submitted(vec![first, second])));
}

#[test]
fn completions() {
    let end = |data, object, result| Completion { data, object, result };
    let events = "[{data=0xfeed, obj=0x7ffdfcb48270, res=4096, res2=0}, {data=0, obj=0x7ffd, res=-5, res2=0}]";
    let expected = [end(0xfeed, 0x7ffd_fcb4_8270, 4096), end(0, 0x7ffd, -5)];
    for line in [
        format!("io_getevents(0x7f, 2, 4, {events}, NULL) = 2"),
        format!("io_pgetevents(0x7f, 2, 4, {events}, NULL, {{sigmask=[], sigsetsize=8}}) = 2"),
        format!("io_pgetevents_time64(0x7f, 2, 4, {events}, NULL, NULL) = 2"),
        format!("io_getevents(ctx_id=0x7f, min_nr=2, nr=4, events={events}, timeout=NULL) = 2"),
        format!("io_getevents(0x7f, 2, 4, {}, NULL) = 2", events.replace("data=0,", "data=NULL,")),
    ] {
        assert_eq!(detail(&line), Some(Detail::Collected(expected.to_vec())), "{line}");
    }
    for line in [
        "io_getevents(139915600556032, 2, 4, {...}NULL) = 2",
        "io_getevents(0x7f, 0, 4, [], NULL) = 0",
        "io_getevents(0x7f, 0, 4, []NULL) = 0",
        "io_getevents(0x7f, 2, 4, 0x7ffd, NULL) = -1 EINTR (Interrupted system call)",
        "io_getevents(0x7f, 0x2, 0x4, 0x7ffd, 0) = 0x2",
    ] {
        assert_eq!(detail(line), None, "{line}");
    }
}

#[test]
fn working_directories_from_annotations() {
    let directory = |line: &str| {
        let (parsed, text) = parse(line);
        let detail = parsed.side.details.get(parsed.rows.effect[0].detail as usize)?;
        let Detail::Directory(view) = detail else { panic!("{detail:?}") };
        let name = unpack(view, text.as_bytes(), &parsed.side.bytes);
        Some(String::from_utf8(name.to_vec()).expect("text"))
    };
    for (line, expected) in [
        (r#"openat(AT_FDCWD</w>, "a", O_RDONLY) = 3</w/a>"#, Some("/w")),
        (
            r#"newfstatat(AT_FDCWD</a directory with a long name>, "a", 0x7f, 0) = 0"#,
            Some("/a directory with a long name"),
        ),
        (r#"unlinkat(AT_FDCWD</w>, "a", 0) = -1 ENOENT (No such file or directory)"#, Some("/w")),
        (r#"faccessat(AT_FDCWD<\x2f\x77>, "\x61", R_OK) = 0"#, Some("/w")),
        (r#"faccessat(AT_FDCWD</w>(deleted), "a", R_OK) = 0"#, Some("/w")),
        (r#"renameat(AT_FDCWD</w>, "a", AT_FDCWD</w>, "b") = 0"#, Some("/w")),
        (r#"openat(AT_FDCWD</w>, "/a", O_RDONLY) = 3</a>"#, None),
        (r#"openat(AT_FDCWD, "a", O_RDONLY) = 3</w/a>"#, None),
        (r#"openat(AT_FDCWD<(unreachable)/w>, "a", O_RDONLY) = 3</w/a>"#, None),
        ("openat(AT_FDCWD</w>, 0x7f00, O_RDONLY) = 3</w/a>", None),
        (r#"faccessat(3</w>, "a", R_OK) = 0"#, None),
    ] {
        assert_eq!(directory(line).as_deref(), expected, "{line}");
    }
    // The directory is recorded once.
    let (parsed, _) = parse(r#"renameat(AT_FDCWD</w>, "a", AT_FDCWD</w>, "b") = 0"#);
    assert_eq!(parsed.side.details.len(), 1);
}

#[test]
fn numbers_of_files() {
    let numbered = |device, inode| Some(Detail::Numbered(FileNumber { device, inode }, None));
    for (line, expected) in [
        (
            "fstat(3, {st_dev=makedev(0x8, 0x1), st_ino=131, st_mode=S_IFREG|0644, st_size=5}) = 0",
            numbered(8 << 32 | 1, 131),
        ),
        (
            "fstat(3, {st_dev=makedev(8, 1), st_ino=131, st_mode=S_IFDIR|0755, st_size=5}) = 0",
            numbered(8 << 32 | 1, 131),
        ),
        (
            "fstat(3, {st_dev=0xfe00, st_ino=131, st_mode=0100644, st_size=5}) = 0",
            numbered(254 << 32, 131),
        ),
        // The minor number has bits on both sides of the major one: makedev(3).
        (
            "fstat(3, {st_dev=0x12367845, st_ino=131, st_mode=0100644, st_size=5}) = 0",
            numbered(0x678 << 32 | 0x12345, 131),
        ),
        (
            "statx(3, \"\", AT_EMPTY_PATH, STATX_ALL, {stx_mask=STATX_ALL, stx_mode=S_IFREG|0644, stx_ino=7, stx_size=5, stx_rdev_major=9, stx_rdev_minor=9, stx_dev_major=254, stx_dev_minor=2}) = 0",
            numbered(254 << 32 | 2, 7),
        ),
        // Abbreviated, cut, or not filled in.
        ("fstat(3, {st_mode=S_IFREG|0644, st_size=5, ...}) = 0", None),
        (
            "fstat(3, {st_dev=makedev(0x8, 0x1), st_ino=0, st_mode=S_IFREG|0644, st_size=5}) = 0",
            None,
        ),
        (
            "fstat(3, {st_dev=makedev(0x8, ), st_ino=131, st_mode=S_IFREG|0644, st_size=5}) = 0",
            None,
        ),
        ("fstat(3, {st_dev=makedev(0x8, 0x1), st_mode=S_IFREG|0644, st_size=5}) = 0", None),
        (
            "fstat(3, {st_dev=makedev(0x8, 0x1), st_ino=131, st_mode=S_IFREG|0644}) = -1 EBADF (Bad file descriptor)",
            None,
        ),
    ] {
        assert_eq!(detail(line), expected, "{line}");
    }
    // The directory that the row's path starts from is kept.
    let line = r#"newfstatat(AT_FDCWD</w>, "a", {st_dev=makedev(0x8, 0x1), st_ino=131, st_mode=S_IFREG|0644, st_size=5}, 0) = 0"#;
    assert!(matches!(detail(line), Some(Detail::Numbered(FileNumber { inode: 131, .. }, Some(_)))));
}

#[test]
fn hostile_messages_do_not_slow_down_parsing() {
    let deep = "{cmsg_type=".repeat(200_000);
    let line =
        format!("sendmsg(3, {{msg_control=[{deep}], msg_controllen=9, msg_flags=0}}, 0) = 1");
    assert_eq!(detail(&line), None);
    let many = "{cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[1]}, ".repeat(100_000);
    let line =
        format!("sendmsg(3, {{msg_control=[{many}], msg_controllen=9, msg_flags=0}}, 0) = 1");
    assert!(matches!(detail(&line), Some(Detail::Sent(fds)) if fds.len() == 100_000));
    assert_eq!(head("sendmmsg(3, [{cmsg_type=").detail, None);
}
