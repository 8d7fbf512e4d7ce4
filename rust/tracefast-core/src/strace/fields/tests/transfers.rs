//! The direction of transfers, where they start, and what changes the file position.

use crate::events::details::Detail;
use crate::events::vocabulary::{At, FileType, Motion, Op, open_flags, whence};
use crate::strace::fields::tests::{columns, detail, effect, head};

const IOV: &str = r#"[{iov_base="ab", iov_len=2}]"#;

#[test]
fn reads_and_writes() {
    use At::{Elsewhere, Given, Position, Stream};
    use Motion::{None, Read, Write};
    for (line, motion, place) in [
        (r#"read(3, "a", 9) = 1"#, Read, Position),
        ("read(3, 0x7ffe, 9) = -1 EAGAIN (Try)", Read, Position),
        ("read(0x3, 0x7ffe, 0x1000) = 0x10", Read, Position),
        (r#"write(3, "a", 1) = 1"#, Write, Position),
        ("readv(3, IOV, 1) = 2", Read, Position),
        ("writev(3, IOV, 1) = 2", Write, Position),
        (r#"pread64(3, "a", 9, 5) = 1"#, Read, Given),
        (r#"pwrite(3, "a", 1, 0) = 1"#, Write, Given),
        ("pread64(3, 0x7f, 9, -1) = -1 EINVAL (Invalid argument)", Read, Elsewhere),
        ("pread64(0x3, 0xff00, 0xa, 0x40, 0x1) = 0xa", Read, Elsewhere),
        ("preadv(3, IOV, 1, 5) = 2", Read, Given),
        ("pwritev(3, IOV, 1, -1) = -1 EINVAL (Invalid argument)", Write, Elsewhere),
        ("preadv2(3, IOV, 1, 5, 0) = 2", Read, Given),
        ("preadv2(3, IOV, 1, -1, 0) = 2", Read, Position),
        ("preadv2(3, IOV, 1, 18446744073709551615, RWF_NOWAIT) = 2", Read, Position),
        ("pwritev2(fd=3, vec=IOV, vlen=1, pos=-1, flags=RWF_DSYNC) = 2", Write, Position),
        ("pwritev2(3, IOV, 1, -2, 0) = -1 EINVAL (Invalid argument)", Write, Elsewhere),
        // Raw registers, of 64 and of 32 bits.
        ("preadv2(0x3, 0x7ffe00001000, 0x1, 0xffffffffffffffff, 0, 0) = 0x2", Read, Position),
        ("preadv2(0x3, 0x7ffe00001000, 0x1, 0x40, 0xffff, 0) = 0x2", Read, Given),
        ("pwritev2(0x3, 0xff00, 0x1, 0xffffffff, 0xffffffff, 0) = 0x2", Write, Position),
        ("pwritev2(0x3, 0xff00, 0x1, 0xffffffff, 0, 0) = 0x2", Write, Given),
        (r#"recvfrom(3, "a", 9, 0, NULL, NULL) = 1"#, Read, Stream),
        (r#"recv(3, "a", 9, 0) = 1"#, Read, Stream),
        (r#"sendto(3, "a", 1, 0, NULL, 0) = 1"#, Write, Stream),
        (r#"send(3, "a", 1, 0) = 1"#, Write, Stream),
        ("recvmsg(3, {msg_iov=IOV, msg_iovlen=1}, 0) = 2", Read, Stream),
        ("sendmsg(3, {msg_iov=IOV, msg_iovlen=1}, 0) = 2", Write, Stream),
        ("recvmmsg(3, [{msg_hdr={msg_iov=IOV}, msg_len=2}], 1, 0, NULL) = 1", Read, Stream),
        ("recvmmsg_time64(3, [], 1, 0, NULL) = 0", Read, Stream),
        ("sendmmsg(3, [{msg_hdr={msg_iov=IOV}, msg_len=2}], 1, 0) = 1", Write, Stream),
        (r#"mq_timedreceive(3, "a", 9, [0], NULL) = 1"#, Read, Stream),
        (r#"mq_timedsend_time64(3, "a", 1, 0, NULL) = 0"#, Write, Stream),
        ("vmsplice(3, IOV, 1, 0) = 2", Write, Stream),
        ("process_vm_readv(7, IOV, 1, IOV, 1, 0) = 2", None, Position),
        (r#"getrandom("a", 1, 0) = 1"#, None, Position),
        ("readahead(3, 4096, 8) = 0", None, Position),
        ("mmap(NULL, 8, PROT_READ, MAP_PRIVATE, 3, 0x1000) = 0x7f00", None, Position),
    ] {
        let line = line.replace("IOV", IOV);
        let effect = effect(&line);
        assert_eq!((effect.motion, effect.place), (motion, place), "{line}");
        // The first half shows the same.
        let head = head(line.split_once(") = ").expect("a result").0);
        let moves = (motion != None && place == Position, false);
        assert_eq!((head.motion, head.moves), (motion, moves), "{line}");
    }
}

#[test]
fn offsets_in_two_registers() {
    let offset = |line: &str| columns(line).split_once(" offset=").map(|(_, at)| at.to_owned());
    let of = |line: &str| offset(line).expect("an offset");
    assert_eq!(of("preadv(0x3, 0xff00, 0x1, 0x40, 0x1) = 0x2"), "4294967360");
    assert_eq!(of("preadv(0x3, 0x7ffe00001000, 0x1, 0x40, 0x1) = 0x2"), "64");
    assert_eq!(of("pwritev(0x3, 0x7ffe00001000, 0x1, 0x40) = 0x2"), "64");
}

#[test]
fn from_one_descriptor_to_another() {
    use At::{Elsewhere, Given, Position, Stream};
    for (line, place, place2) in [
        ("sendfile(1, 3, NULL, 10) = 4", Position, Position),
        ("sendfile(1, 3, [14] => [18], 10) = 4", Given, Position),
        ("sendfile64(1, 3, [14 => 18], 10) = 4", Given, Position),
        ("sendfile(1, 3, 0x7ffe, 10) = -1 EFAULT (Bad address)", Elsewhere, Position),
        ("sendfile(0x1, 0x3, 0, 0xa) = 0x4", Position, Position),
        ("sendfile(0x1, 0x3, 0x7ffe, 0xa) = 0x4", Elsewhere, Position),
        ("splice(3, [5], 4, NULL, 10, SPLICE_F_MOVE) = 4", Given, Position),
        ("splice(3, NULL, 4, [6 => 10], 10, 0) = 4", Position, Given),
        ("splice(0x6, 0, 0x5, 0x7ffe, 0x1000, 0) = 4096", Position, Elsewhere),
        ("splice(-1, [-7], -2, [-8], 10, 0) = -1 EBADF (Bad)", Elsewhere, Elsewhere),
        ("copy_file_range(4</a>, [0], 5</b>, [10], 4096, 0) = 4096", Given, Given),
        (
            "copy_file_range(fd_in=4, off_in=NULL, fd_out=5, off_out=NULL, len=9, flags=0) = 9",
            Position,
            Position,
        ),
        ("tee(6, 9, 100, 0) = 10", Stream, Stream),
    ] {
        let effect = effect(line);
        assert_eq!((effect.place, effect.place2), (place, place2), "{line}");
        assert_eq!(effect.motion, Motion::Copy);
        let head = head(line.split_once(") = ").expect("a result").0);
        assert_eq!(head.moves, (place == Position, place2 == Position), "{line}");
    }
}

#[test]
fn a_first_half_without_an_offset_is_taken_to_move_the_position() {
    let moves = |line| head(line).moves;
    assert_eq!(moves("read(3, "), (true, false));
    assert_eq!(moves("read(3"), (true, false));
    assert_eq!(moves("pread64(3, "), (false, false));
    assert_eq!(moves("preadv(3, "), (false, false));
    assert_eq!(moves("preadv2(3, "), (true, false));
    assert_eq!(moves("sendfile(1, 3, "), (true, true));
    assert_eq!(moves("sendfile(1, 3, [14"), (false, true));
    assert_eq!(moves("splice(3, [5], 4"), (false, true));
    assert_eq!(moves("copy_file_range("), (true, true));
    assert_eq!(moves("lseek(3, 0, SEEK_SET"), (false, false));
}

#[test]
fn seeks() {
    for (line, argument, from) in [
        ("lseek(3, 5, SEEK_SET) = 5", 5, whence::SEEK_SET),
        ("lseek(3</a>, -5, SEEK_CUR) = 5", -5, whence::SEEK_CUR),
        ("lseek(3, -5, SEEK_END) = 5", -5, whence::SEEK_END),
        ("lseek(3, 5, SEEK_DATA) = 9", 5, whence::SEEK_DATA),
        ("lseek(3, 5, SEEK_HOLE) = -1 ENXIO (No such device or address)", 5, whence::SEEK_HOLE),
        ("lseek(fd=3, offset=5, whence=SEEK_CUR) = 9", 5, whence::SEEK_CUR),
        ("lseek(3, 5, 1) = 9", 5, whence::SEEK_CUR),
        ("lseek(3, 5, 0x1 /* SEEK_CUR */) = 9", 5, whence::SEEK_CUR),
        ("lseek(3, 5, 0x7 /* SEEK_??? */) = -1 EINVAL (Invalid argument)", 5, whence::OTHER),
        ("lseek(0x3, 0xfffffffffffffff6, 0x1) = 0x5", -10, whence::SEEK_CUR),
        // A raw 32-bit register.
        ("lseek(0x3, 0xfffffff6, 0x1) = 0x5", -10, whence::SEEK_CUR),
        ("lseek(0x3, 0xfffffff6, 0) = 0xfffffff6", 0xffff_fff6, whence::SEEK_SET),
    ] {
        let effect = effect(line);
        assert_eq!((effect.op, effect.flags, effect.number), (Op::Seek, from, argument), "{line}");
        assert_eq!(detail(line), None);
    }
    assert_eq!(columns("lseek(0x3, 0xfffffff6, 0x2) = 0x5a"), "fd=3 size=100");
    assert_eq!(head("lseek(3, 5, SEEK_SET").fd, Some(3));
    assert_eq!(head("lseek(3, 5, SEEK_SET").op, Op::Seek);
}

#[test]
fn seeks_whose_position_is_an_argument() {
    for (line, argument, from, position) in [
        ("_llseek(3</a>, -60, [54], SEEK_CUR) = 0", -60, whence::SEEK_CUR, Some(54)),
        ("_llseek(3, 5, [5], SEEK_SET) = 0", 5, whence::SEEK_SET, Some(5)),
        ("_llseek(3, 0, [99], 2) = 0", 0, whence::SEEK_END, Some(99)),
        (
            "_llseek(0x3, 0x1, 0x5, 0xff00, 0) = 0",
            0x1_0000_0005,
            whence::SEEK_SET,
            Some(0x1_0000_0005),
        ),
        ("_llseek(0x3, 0xffffffff, 0xfffffff6, 0xff00, 0x1) = 0", -10, whence::SEEK_CUR, None),
    ] {
        let effect = effect(line);
        assert_eq!((effect.op, effect.flags, effect.number), (Op::Seek, from, argument), "{line}");
        assert_eq!(detail(line), Some(Detail::Position(position)), "{line}");
    }
    let failed = "_llseek(3, 5, 0xff00, SEEK_CUR) = -1 ESPIPE (Illegal seek)";
    assert_eq!((effect(failed).op, detail(failed)), (Op::Seek, None));
}

#[test]
fn status_of_open_files() {
    let status = |line| {
        let effect = effect(line);
        (effect.op == Op::SetStatus).then_some(effect.flags & open_flags::APPEND != 0)
    };
    for (line, expected) in [
        ("fcntl(3, F_SETFL, O_RDWR|O_APPEND) = 0", Some(true)),
        ("fcntl64(3, F_SETFL, O_RDONLY|O_NONBLOCK) = 0", Some(false)),
        ("fcntl(3, F_SETFL, 0x8402) = 0", Some(true)),
        ("fcntl(3, 4, 0x8402) = 0", Some(true)),
        ("fcntl(3, 0x4 /* F_SETFL */, 0x800 /* O_RDONLY|O_NONBLOCK */) = 0", Some(false)),
        ("fcntl(0x3, 0x4, 0x400) = 0", Some(true)),
        ("fcntl(3, F_SETFL, O_APPEND) = -1 EPERM (Operation not permitted)", None),
        ("fcntl(3, F_SETFL, O_APPEND) = 0 (INJECTED)", None),
        ("fcntl(3</a>, F_GETFL) = 0x8402 (flags O_RDWR|O_APPEND|O_LARGEFILE)", Some(true)),
        ("fcntl(3, F_GETFL) = 0x8002 (flags O_RDWR|O_LARGEFILE)", Some(false)),
        // By number, on mips.
        ("fcntl(3, F_GETFL) = 0xa (flags O_RDWR|O_APPEND)", Some(true)),
        ("fcntl(3, F_GETFL) = 0x402 (flags O_RDWR|O_CREAT)", Some(false)),
        ("fcntl(3, 0x3) = 0x402", Some(true)),
        ("fcntl(fd=3, op=F_GETFL) = 0x402 (flags O_RDWR|O_APPEND)", Some(true)),
        ("fcntl(3, F_GETFD) = 0x1 (flags FD_CLOEXEC)", None),
    ] {
        assert_eq!(status(line), expected, "{line}");
    }
}

#[test]
fn how_files_are_opened() {
    use open_flags::{APPEND, CLOEXEC, NEW, PATH, TRUNC, TYPED, UNSHOWN};
    let directory = TYPED | FileType::Directory as u32;
    for (line, flags) in [
        (r#"open("/a", O_RDONLY) = 3"#, 0),
        (r#"open("/a", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3"#, TRUNC),
        (
            r#"openat(AT_FDCWD, "/a", O_WRONLY|O_CREAT|O_APPEND|O_CLOEXEC, 0666) = 3"#,
            APPEND | CLOEXEC,
        ),
        (r#"openat(AT_FDCWD, "/a", O_RDWR|O_CREAT|O_EXCL, 0600) = 3"#, NEW),
        (r#"openat(AT_FDCWD, "/tmp", O_RDWR|O_TMPFILE, 0600) = 3"#, NEW),
        (r#"openat(AT_FDCWD, "/a", O_RDONLY|O_DIRECTORY|O_PATH) = 3"#, PATH | directory),
        (r#"openat(-100, "/a", 0x4c1, 0600) = 3"#, NEW | APPEND),
        (
            r#"openat(-100 /* AT_FDCWD */, "/a", 0x241 /* O_WRONLY|O_CREAT|O_TRUNC */, 0666) = 3"#,
            TRUNC,
        ),
        ("openat(0xffffff9c, 0x55d8, 0x80400, 0) = 0x8", APPEND | CLOEXEC),
        (r#"openat(dfd=AT_FDCWD, filename="/a", flags=O_WRONLY|O_TRUNC) = 3"#, TRUNC),
        (
            r#"openat2(AT_FDCWD, "/a", {flags=O_WRONLY|O_CREAT|O_EXCL, mode=0600, resolve=0}, 24) = 3"#,
            NEW,
        ),
        (r#"openat2(AT_FDCWD, "/a", {flags=0x400, resolve=0x8}, 24) = 3"#, APPEND),
        (r#"openat2(AT_FDCWD, "/a", 0x7ffe000c0fc0, 24) = 3"#, UNSHOWN),
        (r#"creat("/a", 0644) = 3"#, TRUNC),
    ] {
        let effect = effect(line);
        assert_eq!((effect.op, effect.flags), (Op::Open, flags), "{line}");
    }
}
