//! Bytes, offsets and sizes.

use crate::events::vocabulary::Op;
use crate::strace::fields::tests::{check, columns, effect};

#[test]
fn counts_and_offsets() {
    check(&[
        (r#"read(3, "abc", 10) = 3"#, "fd=3 requested=10 bytes=3"),
        (r#"read(3, "", 4096) = 0"#, "fd=3 requested=4096 bytes=0"),
        ("read(-1, NULL, 18446744073709551615) = -1 EBADF (Bad file descriptor)", "fd=-1"),
        (r#"read(fd=3, buf="x", count=10) = 1"#, "fd=3 requested=10 bytes=1"),
        ("read(0x3, 0x7ffe, 0x1000) = 0x10", "fd=3 requested=4096 bytes=16"),
        (r#"read(3, "abc", 10) = 10 (INJECTED)"#, "fd=3 requested=10"),
        (r#"pread64(3, "abc", 10, 4096) = 3"#, "fd=3 requested=10 bytes=3 offset=4096"),
        (r#"pwrite(3, "abc", 3, 0) = 3"#, "fd=3 requested=3 bytes=3 offset=0"),
        ("pread64(0, 0x7f00, 2, -7) = -1 EINVAL (Invalid argument)", "fd=0 requested=2"),
        (r#"pread64(fd=3, buf="a", count=1, pos=9) = 1"#, "fd=3 requested=1 bytes=1 offset=9"),
        // Raw registers. A fifth one may be the upper half of the offset, or meaningless.
        ("pread64(0x3, 0x7f00, 0xa, 0x1000) = 0xa", "fd=3 requested=10 bytes=10 offset=4096"),
        (
            "pread(0x3, 0x7ffeffbcedd0, 0xa, 0x40, 0xc0ff) = 0xa",
            "fd=3 requested=10 bytes=10 offset=64",
        ),
        ("pread64(0x3, 0xff00, 0xa, 0x40, 0) = 0xa", "fd=3 requested=10 bytes=10 offset=64"),
        ("pread64(0x3, 0xff00, 0xa, 0x40, 0x1) = 0xa", "fd=3 requested=10 bytes=10"),
        (
            "pread64(0x3, 0xff00, 0xa, 0, 0x1, 0x1) = 0xa",
            "fd=3 requested=10 bytes=10 offset=4294967297",
        ),
        (r#"recvfrom(3, "a, b", 100, 0, NULL, NULL) = 4"#, "fd=3 requested=100 bytes=4"),
        (r#"send(3, "ab", 2, 0) = 2"#, "fd=3 requested=2 bytes=2"),
        (r#"recv(3, "ab", 9, 0) = 2"#, "fd=3 requested=9 bytes=2"),
        (r#"getrandom("\x0d", 4, GRND_NONBLOCK) = 4"#, "requested=4 bytes=4"),
        ("getdents64(3, 0x55 /* 2 entries */, 32768) = 48", "fd=3 requested=32768"),
        (
            r#"readlink("/proc/self/exe", "/bin/sh", 4095) = 7"#,
            "path=/proc/self/exe requested=4095",
        ),
        (r#"fgetxattr(3, "user.x", "v", 256) = 1"#, "fd=3 requested=256"),
        (r#"mq_timedsend(3, "abc", 3, 0, NULL) = 0"#, "fd=3 requested=3 bytes=3"),
        (r#"mq_timedreceive_time64(3, "abc", 64, [0], NULL) = 3"#, "fd=3 requested=64 bytes=3"),
    ]);
}

#[test]
fn ranges_of_a_file() {
    let whole = "fd=3 requested=8 offset=4096";
    check(&[
        ("fallocate(3, 0, 4096, 8) = 0", whole),
        ("fadvise64(3, 4096, 8, POSIX_FADV_DONTNEED) = 0", whole),
        ("fadvise64_64(3, 4096, 8, POSIX_FADV_DONTNEED) = 0", whole),
        ("arm_fadvise64_64(3, POSIX_FADV_DONTNEED, 4096, 8) = 0", whole),
        ("readahead(3, 4096, 8) = 0", whole),
        ("sync_file_range(3, 4096, 8, SYNC_FILE_RANGE_WRITE) = 0", whole),
        ("sync_file_range2(3, SYNC_FILE_RANGE_WRITE, 4096, 8) = 0", whole),
        ("arm_sync_file_range(3, SYNC_FILE_RANGE_WRITE, 4096, 8) = 0", whole),
        ("mmap(NULL, 8, PROT_READ, MAP_PRIVATE, 3, 0x1000) = 0x7f00", whole),
        ("mmap2(NULL, 8, PROT_READ, MAP_PRIVATE, 3, 0x1000) = 0xf700", whole),
        ("old_mmap(NULL, 8, PROT_READ, MAP_PRIVATE, 3, 0x1000) = 0xf700", whole),
        (
            "mmap(addr=NULL, length=8, prot=PROT_READ, flags=MAP_PRIVATE, fd=3, offset=0x1000) = 0x7f00",
            whole,
        ),
    ]);
}

#[test]
fn vectors() {
    let items = r#"{iov_base="ab", iov_len=2}, {iov_base="}]), "..., iov_len=300}"#;
    let many = vec![r#"{iov_base="", iov_len=1}"#; 40].join(", ");
    check(&[
        (&format!("writev(3, [{items}], 2) = 302"), "fd=3 requested=302 bytes=302"),
        (r#"writev(3, [{"ab", 2}, {"c", 1}], 2) = 3"#, "fd=3 requested=3 bytes=3"),
        ("writev(3, [], 0) = 0", "fd=3 requested=0 bytes=0"),
        (&format!("readv(3, [{many}], 40) = 4"), "fd=3 requested=40 bytes=4"),
        (&format!("writev(3, [{items}, ...], 40) = 900"), "fd=3 bytes=900"),
        (&format!("writev(3, [{items}, ... /* 0x7f0 */], 3) = -1 EFAULT (Bad address)"), "fd=3"),
        ("writev(3, 0x7ffe, 2) = -1 EFAULT (Bad address)", "fd=3"),
        (
            &format!("preadv(3, [{items}], 2, 4096) = 302"),
            "fd=3 requested=302 bytes=302 offset=4096",
        ),
        (&format!("preadv2(3, [{items}], 2, -1, 0) = 302"), "fd=3 requested=302 bytes=302"),
        (
            &format!("pwritev2(3, [{items}], 2, 8, RWF_SYNC) = 302"),
            "fd=3 requested=302 bytes=302 offset=8",
        ),
        (&format!("vmsplice(3, [{items}], 2, 0) = 302"), "fd=3 requested=302 bytes=302"),
        (
            r#"process_vm_readv(7, [{iov_base="abc", iov_len=3}], 1, [{iov_base=0x7f, iov_len=3}], 1, 0) = 3"#,
            "requested=3 bytes=3",
        ),
    ]);
}

#[test]
fn vectors_without_an_end_do_not_slow_down_parsing() {
    let open = format!("writev(3, [{}], 9) = 9", "{[(".repeat(300_000));
    assert_eq!(columns(&open), "fd=3 bytes=9");
    let long = format!("writev(3, [{}], 9) = 9", vec!["{a, 1}"; 300_000].join(", "));
    assert_eq!(columns(&long), "fd=3 requested=300000 bytes=9");
}

#[test]
fn messages() {
    let header = |text: &str| {
        format!(
            r#"{{msg_name=NULL, msg_namelen=0, msg_iov=[{{iov_base="{text}", iov_len={}}}, {{iov_base="", iov_len=5}}], msg_iovlen=2, msg_controllen=0, msg_flags=0}}"#,
            text.len()
        )
    };
    let old = r#"{msg_name(0)=NULL, msg_iov(1)=[{"abc", 3}], msg_controllen=0, msg_flags=0}"#;
    let new = header("abc");
    let two = format!("{{msg_hdr={}, msg_len=4}}, {{msg_hdr={}, msg_len=2}}", new, header("z"));
    check(&[
        (&format!("sendmsg(3, {new}, 0) = 8"), "fd=3 requested=8 bytes=8"),
        (&format!("recvmsg(3, {old}, 0) = 2"), "fd=3 requested=3 bytes=2"),
        (&format!("recvmsg(3, msg={new}, flags=0) = 2"), "fd=3 requested=8 bytes=2"),
        (
            "sendmsg(3, {msg_name=NULL, msg_iov=NULL, msg_iovlen=0}, 0) = -1 EBADF (Bad file descriptor)",
            "fd=3",
        ),
        ("sendmsg(3, 0x7f00, 0) = -1 EFAULT (Bad address)", "fd=3"),
        // The return value counts messages.
        (&format!("sendmmsg(3, [{two}], 2, 0) = 2"), "fd=3 requested=14 bytes=6"),
        (&format!("sendmmsg(3, [{two}], 2, 0) = 1"), "fd=3 requested=14 bytes=4"),
        (&format!("sendmmsg(3, [{{{old}, 3}}], 1, 0) = 1"), "fd=3 requested=3 bytes=3"),
        (
            &format!("sendmmsg(3, [{{msg_hdr={new}}}], 1, 0) = -1 EBADF (Bad file descriptor)"),
            "fd=3 requested=8",
        ),
        // Of received messages, the text shows only those that arrived.
        (&format!("recvmmsg(3, [{two}], 2, 0, NULL) = 2"), "fd=3 requested=14 bytes=6"),
        (&format!("recvmmsg_time64(3, [{two}], 8, 0, NULL) = 2"), "fd=3 bytes=6"),
        ("recvmmsg(3, [], 8, 0, {tv_sec=0, tv_nsec=1}) = 0 (Timeout)", "fd=3"),
    ]);
}

#[test]
fn submissions() {
    let new = |fd, bytes, offset| {
        format!(
            "{{aio_data=0x1, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes={fd}, aio_buf=0x7f, aio_nbytes={bytes}, aio_offset={offset}}}"
        )
    };
    let (a, b, c) = (new("3</a>", 10, 5), new("3</a>", 20, 9), new("4</b>", 1, 0));
    check(&[
        (&format!("io_submit(0x7f, 1, [{a}]) = 1"), "fd=3 path=/a requested=10 offset=5"),
        (&format!("io_submit(0x7f, 2, [{a}, {b}]) = 2"), "fd=3 path=/a requested=30"),
        (&format!("io_submit(0x7f, 2, [{a}, {c}]) = 2"), "requested=11"),
        (&format!("io_submit(0x7f, 9, [{a}, ...]) = 9"), ""),
        (
            "io_submit(0x7f, 1, [{data=0x1, pread, reqprio=11, fildes=3, buf=0x7f, nbytes=10, offset=5}]) = 1",
            "fd=3 requested=10 offset=5",
        ),
        (
            r#"io_submit(0x7f, 1, [{aio_lio_opcode=IOCB_CMD_PWRITEV, aio_fildes=3, aio_buf=[{iov_base="ab", iov_len=2}, {iov_base="c", iov_len=1}], aio_offset=7}]) = 1"#,
            "fd=3 requested=3 offset=7",
        ),
        ("io_submit(139838549946368, 2, 0x7f2eb2f88ff0) = 2", ""),
        ("io_submit(140133363109888, 2, {...}) = 2", ""),
        (
            &format!("io_cancel(0x7f, {a}, 0x7f00) = -1 EINVAL (Invalid argument)"),
            "fd=3 path=/a requested=10 offset=5",
        ),
    ]);
    assert_eq!(effect(&format!("io_submit(0x7f, 1, [{a}]) = 1")).op, Op::Use);
}

#[test]
fn transfers_between_two_descriptors() {
    check(&[
        ("sendfile(1, 3, NULL, 10) = 4", "fd=3 fd2=1 requested=10 bytes=4"),
        ("sendfile(1, 3, [14], 10) = 4", "fd=3 fd2=1 requested=10 bytes=4 offset=14"),
        ("sendfile(1, 3, [14 => 18], 10) = 4", "fd=3 fd2=1 requested=10 bytes=4 offset=14"),
        ("sendfile64(1, 3, [14] => [18], 10) = 4", "fd=3 fd2=1 requested=10 bytes=4 offset=14"),
        // An address is not an offset.
        ("sendfile(0x1, 0x3, 0x7ffe, 0xa) = 0x4", "fd=3 fd2=1 requested=10 bytes=4"),
        (
            "sendfile(0, 1, 0x7effe233f000, 4096) = -1 EFAULT (Bad address)",
            "fd=1 fd2=0 requested=4096",
        ),
        (
            "splice(3, [5], 4, NULL, 10, SPLICE_F_MOVE) = 4",
            "fd=3 fd2=4 requested=10 bytes=4 offset=5",
        ),
        ("splice(3, NULL, 4, [6 => 10], 10, 0) = 4", "fd=3 fd2=4 requested=10 bytes=4 offset2=6"),
        (
            "copy_file_range(3</a>, [2], 4</b>, [5], 10, 0) = 4",
            "fd=3 fd2=4 path=/a path2=/b requested=10 bytes=4 offset=2 offset2=5",
        ),
        (
            "splice(-1, [-7], -2, [-8], 10, 0) = -1 EBADF (Bad file descriptor)",
            "fd=-1 fd2=-2 requested=10",
        ),
        ("tee(3, 4, 10, 0) = 4", "fd=3 fd2=4 requested=10 bytes=4"),
        ("kexec_file_load(3, 4, 0, \"\", 0) = 0", "fd=3 fd2=4"),
    ]);
}

#[test]
fn sizes() {
    check(&[
        ("lseek(3, 0, SEEK_END) = 4096", "fd=3 size=4096"),
        ("lseek(3, -60, SEEK_END) = 54", "fd=3 size=114"),
        ("lseek(3, 0, 2) = 4096", "fd=3 size=4096"),
        ("lseek(3, 0, 0x2 /* SEEK_END */) = 4096", "fd=3 size=4096"),
        ("lseek(0x3, 0, 0x2) = 0x1000", "fd=3 size=4096"),
        ("lseek(fd=3, offset=0, whence=SEEK_END) = 4096", "fd=3 size=4096"),
        ("lseek(3, 2, SEEK_SET) = 2", "fd=3"),
        ("lseek(3, 0, SEEK_END) = -1 ESPIPE (Illegal seek)", "fd=3"),
        ("_llseek(3, 0, [4096], SEEK_END) = 0", "fd=3 size=4096"),
        ("_llseek(3, -60, [54], SEEK_END) = 0", "fd=3 size=114"),
        ("_llseek(3, -60, [54], SEEK_CUR) = 0", "fd=3"),
        ("ftruncate(3, 100) = 0", "fd=3 size=100"),
        ("ftruncate64(fd=3, length=100) = 0", "fd=3 size=100"),
        ("ftruncate64(-1, 1004211379570065135) = -1 EBADF (Bad file descriptor)", "fd=-1"),
        (r#"truncate("/a", 100) = 0"#, "path=/a size=100"),
        (r#"truncate64("/a", 100) = 0"#, "path=/a size=100"),
    ]);
}

#[test]
fn stat_structures() {
    let old = "{st_dev=makedev(8, 1), st_ino=5, st_mode=S_IFREG|0640, st_nlink=1, st_blksize=4096, st_blocks=0, st_size=9, st_atime=2026/11/20-12:12:12}";
    let raw = "{st_dev=0xfe00, st_ino=2, st_mode=0100640, st_nlink=1, st_size=9, st_atime=-1 /* 1969-12-31T20:59:17+0000 */}";
    let verbose = raw.replace("0100640", "0100640 /* S_IFREG|0640 */");
    let times =
        "stx_atime={tv_sec=1, tv_nsec=1} /* 2026-11-19T17:09:03.514435173+0000 */, ".repeat(6);
    check(&[
        ("fstat(3, {st_mode=S_IFREG|0644, st_size=9, ...}) = 0", "fd=3 size=9 type=regular"),
        ("fstat64(3, {st_mode=S_IFDIR|0755, st_size=4096, ...}) = 0", "fd=3 type=directory"),
        (
            "oldfstat(3, {st_mode=S_IFCHR|0666, st_rdev=makedev(0x1, 0x3), ...}) = 0",
            "fd=3 type=char",
        ),
        (&format!("fstat(3, {old}) = 0"), "fd=3 size=9 type=regular"),
        (&format!("fstat(3, {raw}) = 0"), "fd=3 size=9 type=regular"),
        (&format!("fstat(3, {verbose}) = 0"), "fd=3 size=9 type=regular"),
        ("fstat(3, 0x7ffe) = 0", "fd=3"),
        (
            r#"stat("/{st_mode=S_IFREG|0644, st_size=9}", 0x7ffe) = 0"#,
            "path=/{st_mode=S_IFREG|0644, st_size=9}",
        ),
        (r#"oldstat("/a", {st_mode=S_IFSOCK|0644, st_size=0, ...}) = 0"#, "path=/a type=socket"),
        // The size of a link is the length of its target.
        (r#"lstat64("/a", {st_mode=S_IFLNK|0777, st_size=7, ...}) = 0"#, "path=/a"),
        (
            r#"fstatat64(AT_FDCWD, "/a", {st_mode=S_IFREG|0644, st_size=9, ...}, 0) = 0"#,
            "path=/a size=9 type=regular",
        ),
        (
            r#"statx(AT_FDCWD, "/a", 0, STATX_ALL, {stx_mask=STATX_ALL, stx_attributes=0, stx_mode=S_IFREG|0644, stx_size=9, ...}) = 0"#,
            "path=/a size=9 type=regular",
        ),
        (
            &format!(
                r#"statx(AT_FDCWD, "/a", 0, STATX_ALL, {{stx_mask=STATX_ALL, stx_mode=S_IFREG|0644, stx_size=9, {times}stx_dev_minor=6}}) = 0"#
            ),
            "path=/a size=9 type=regular",
        ),
    ]);
}
