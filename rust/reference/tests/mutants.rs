//! Mutants of the recorded logs, the same 5,000 in every run: whatever is lost or damaged, every
//! byte counts once, rows do not depend on blocks, and tables add up.

use std::path::Path;
use std::sync::OnceLock;

use tracefast_reference::checks;
use tracefast_reference::mutants::logs::{mutant, recorded};
use tracefast_reference::mutants::{Numbers, run};

/// The recorded logs.
fn logs() -> &'static [Vec<u8>] {
    static LOGS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    LOGS.get_or_init(|| {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
        let mut logs = recorded(&data, &["strace", "ftrace", "log"]);
        assert!(logs.len() > 150, "{}", logs.len());
        logs.retain(|log| !log.is_empty());
        logs
    })
}

fn seeded<const PART: u64>(numbers: &mut Numbers) -> Vec<u8> {
    // Each part has mutants of its own.
    for _ in 0..PART {
        numbers.below(2);
    }
    mutant(logs(), numbers)
}

#[test]
fn first_mutants_hold() {
    run(1200, seeded::<1>, checks::invariants);
}

#[test]
fn second_mutants_hold() {
    run(1200, seeded::<2>, checks::invariants);
}

#[test]
fn third_mutants_hold() {
    run(1200, seeded::<3>, checks::invariants);
}

#[test]
fn fourth_mutants_hold() {
    run(1200, seeded::<4>, checks::invariants);
}

/// Through the pipeline: any number of workers, packed or not.
#[test]
fn mutants_in_files_hold() {
    let log = |numbers: &mut Numbers| {
        let mut data: Vec<u8> = (0..3).map(|_| numbers.below(256) as u8).collect();
        data.extend(seeded::<5>(numbers));
        data
    };
    run(200, log, checks::pipeline);
}

/// What mutants found.
const FINDINGS: [&str; 6] = [
    // The execve of a line without a pid goes on under the pid of another.
    "700   openat(AT_FDCWD, \"/srv/a\", O_RDONLY|O_CLOEXEC) = 3
futex(0x7f01, FUTEX_WAIT, 702, NULL <unfinished ...>
execve(\"/bin/true\", [\"true\"], 0x7ffc /* 3 vars */ <pid changed to 700 ...>
+++ superseded by execve in pid 702 +++
<... execve resumed>)             = 0
700   read(3, 0x7ffc, 1)                = -1 EBADF (Bad file descriptor)
700   exit_group(0)                     = ?
700   +++ exited with 0 +++
100   openat(AT_FDCWD, \"/log\", 100) = 3
write(3, \"x\"..., 100) = 100
write(3, \"x\"..., O_WRONLY|O_APPEND) = 100
",
    // The same, in one block with its end.
    "29186 12:35:12.845000 <... execve resumed> ) +++ 0
12:35:12.846000 +++ exited with 0 +++
12:35:12.844500 execve(\"/bin/true\", [\"true\"], 0x7ffc /* 3 vars */ <pid changed to 29186 ...>
29186 12:35:12.845000 <... execve resumed> ) +++ 0
29186 12:35:12.846000 +++ exited with 0 +++
",
    // Two processes create each other.
    "[pid  4280] pread64(3, \"x\"..., 784, 64) = 784
clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLDstrace: Process 4279 attached
, child_tidptr=0x7f8addbaea10) = 4279
[pid  4279] <... vfork resumed>)        = 4280
",
    // A read that ended before the one before it.
    "7 1795229939.128705 openat(AT_FDCWD, \"/a\", O_RDONLY) = 3 <0.000008>
7 1795229939.128758 pread64(3, \"x\"..., 784, 64) = 784 <0.000006>
7 1795229939.128733 read(3, \"x\"..., 832) = 832 <0.000007>
",
    // A call that may change a length, and whose result is cut.
    "100   openat(AT_FDCWD, \"/log\", O_RDWR|O_CREAT|O_TRUNC|O_APPEND, 0644) = 3
100   write(3, \"x\"..., 10) = 10
100   ioctl(3, FICLONE, 4) = -1 EXDEV (Invalid cross-devic
100   write(3, \"x\"..., 10) = 10
",
    // A call whose arguments end, and that is killed.
    "101   write(3, \"x\"... <unfinished ...>, 3) <unfinished ...>
101   +++ killed by SIGKILL +++
100   write(2147483647, \"end\"..., 7 = 3
",
];

#[test]
fn what_mutants_found_holds() {
    for log in FINDINGS {
        checks::accounting(log.as_bytes());
        checks::invariants(log.as_bytes());
    }
}
