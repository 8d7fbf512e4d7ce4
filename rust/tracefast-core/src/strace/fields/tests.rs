//! A line in, the columns that its arguments give out.

use crate::block::Block;
use crate::event::{FileType, Op, clone_flags, open_flags};
use crate::parsed::Parsed;
use crate::rows::Effect;
use crate::schema::Column as C;
use crate::strace::{Grammar, detect};
use crate::view::unpack;

fn parse(line: &str) -> (Parsed, String) {
    let text = format!("7 {line}\n7 exit_group(0) = ?\n");
    let format = detect(text.as_bytes()).expect("a log of strace");
    let mut parsed = Parsed::default();
    Grammar::default().parse(&format, &Block::from_text(text.as_bytes()), &mut parsed);
    assert_eq!(parsed.counts.unparsed, 0, "{line}");
    (parsed, text)
}

/// The columns of the line, `NAME=VALUE` behind `NAME=VALUE`. A path that is still to be made
/// absolute has a `~` before it.
fn columns(line: &str) -> String {
    let (parsed, text) = parse(line);
    let rows = &parsed.rows;
    let view = |view: &u128| {
        String::from_utf8(unpack(view, text.as_bytes(), &parsed.side.bytes).to_vec()).expect("text")
    };
    let mut out = Vec::new();
    let mut put = |column, name: &str, value: String| {
        if rows.has(0, column) {
            out.push(format!("{name}={value}"));
        }
    };
    let mark = |relative| if relative { "~" } else { "" };
    let effect = rows.effect[0];
    put(C::Fd, "fd", rows.fd[0].to_string());
    put(C::Fd2, "fd2", rows.fd2[0].to_string());
    if rows.has(0, C::Path) {
        put(C::Path, "path", format!("{}{}", mark(effect.relative), view(&rows.path[0])));
    }
    if rows.has(0, C::Path2) {
        put(C::Path2, "path2", format!("{}{}", mark(effect.relative2), view(&rows.path2[0])));
    }
    put(C::Requested, "requested", rows.requested[0].to_string());
    put(C::Bytes, "bytes", rows.bytes[0].to_string());
    put(C::Offset, "offset", rows.offset[0].to_string());
    put(C::Offset2, "offset2", rows.offset2[0].to_string());
    put(C::Size, "size", rows.size[0].to_string());
    if rows.has(0, C::FileType) {
        put(C::FileType, "type", FileType::TEXTS[usize::from(rows.file_type[0])].to_owned());
    }
    out.join(" ")
}

fn check(cases: &[(&str, &str)]) {
    for (line, expected) in cases {
        assert_eq!(columns(line), *expected, "{line}");
    }
}

fn effect(line: &str) -> Effect {
    parse(line).0.rows.effect[0]
}

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
        // Registers as they are: 64 bits in one, in two, in two beginning with an even one.
        ("pread64(0x3, 0x7f00, 0xa, 0x1000) = 0xa", "fd=3 requested=10 bytes=10 offset=4096"),
        (
            "pread64(0x3, 0xff00, 0xa, 0x1, 0x1) = 0xa",
            "fd=3 requested=10 bytes=10 offset=4294967297",
        ),
        ("pread64(0x3, 0xff00, 0xa, 0, 0x1, 0) = 0xa", "fd=3 requested=10 bytes=10 offset=1"),
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
fn a_vector_without_an_end_takes_no_longer_than_others() {
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
        // Of those received, only they are printed.
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
fn two_sides() {
    check(&[
        ("sendfile(1, 3, NULL, 10) = 4", "fd=3 fd2=1 requested=10 bytes=4"),
        ("sendfile(1, 3, [14], 10) = 4", "fd=3 fd2=1 requested=10 bytes=4 offset=14"),
        ("sendfile(1, 3, [14 => 18], 10) = 4", "fd=3 fd2=1 requested=10 bytes=4 offset=14"),
        ("sendfile64(1, 3, [14] => [18], 10) = 4", "fd=3 fd2=1 requested=10 bytes=4 offset=14"),
        // An address is no offset.
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
fn structures_of_files() {
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
        // The size of a link is the length of its text.
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

#[test]
fn where_paths_start() {
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
        // A path that is not printed, or not in full.
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
fn the_first_half_tells_what_the_whole_does() {
    let head = |line: &str| {
        let (name, args) = line.split_once('(').expect("a call");
        super::head(args.as_bytes(), crate::syscalls::by_name(name.as_bytes()))
    };
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
            r#"connect(3<socket:[5]>, {sa_family=AF_INET, sin_port=htons(80)}, 16) = 0"#,
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
fn descriptors_that_are_made() {
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
        (r#"open_by_handle_at(4, {handle_bytes=8}, O_RDONLY) = 3</a>"#, "fd=3 fd2=4 path=/a"),
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
fn types_that_flags_tell() {
    let typed = |line| effect(line).flags & (open_flags::TYPED | 0xff);
    let directory = open_flags::TYPED | FileType::Directory as u32;
    assert_eq!(typed(r#"openat(AT_FDCWD, "/a", O_RDONLY|O_DIRECTORY) = 3"#), directory);
    assert_eq!(typed(r#"openat(-100, "/a", 0x90800) = 3"#), directory);
    // A file without a name is no directory, though its number has the bit.
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

#[test]
fn getcwd_finds_the_working_directory() {
    assert_eq!(columns(r#"getcwd("/w", 4096) = 3"#), "path=/w");
    assert_eq!(effect(r#"getcwd("/w", 4096) = 3"#).op, Op::Chdir);
    assert_eq!(effect(r#"getcwd("(unreachable)/w", 4096) = 16"#).op, Op::Path);
    assert_eq!(effect(r#"getcwd("Strace!", 4096) = 45 (INJECTED: args) (DELAYED)"#).op, Op::Path);
}
