//! Logs made by mutation of real lines, the same ones in every run: what tests give to the bodies.

#![allow(clippy::print_stderr)] // A failing case is shown.

pub mod ftrace;
pub mod logs;

/// Real lines; some of them belong together.
pub const SEEDS: [&str; 5] = [
    r#"3215  1795229587.100001 openat(AT_FDCWD</srv/demo>, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC) = 3</etc/ld.so.cache> <0.000036>
3215  1795229587.100101 read(3</etc/ld.so.cache>, "\177ELF) = 3 <0.5>"..., 832) = 832 <0.000030>
3215  1795229587.100201 read(3</etc/ld.so.cache>,  <unfinished ...>
3216  1795229587.100301 vfork( <unfinished ...>
3217  1795229587.100401 execve("/bin/true", ["true"], 0x7ffd /* 3 vars */ <unfinished ...>
3216  1795229587.100501 <... vfork resumed>) = 3217 <0.000912>
3217  1795229587.100601 <... execve resumed>) = 0 <0.000211>
3215  1795229587.100701 <... read resumed>"", 4096) = 0 <0.000500>
3215  1795229587.100801 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 3217 <0.001>
3217  1795229587.100901 exit_group(0)   = ?
3217  1795229587.101001 +++ exited with 0 +++
3215  1795229587.101101 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=3217} ---
"#,
    r#"1002  1795229587.200001 execve("/bin/sh", ["sh"], 0x1 /* 1 var */ <unfinished ...>
1003  1795229587.200101 read(0<pipe:[1]>,  <unfinished ...>
1002  1795229587.200201 +++ superseded by execve in pid 1003 +++
1002  1795229587.200301 <... execve resumed>) = 0 <0.000300>
1004  1795229587.200401 nanosleep({tv_sec=5, tv_nsec=0},  <unfinished ...>
1004  1795229587.200501 <... nanosleep resumed> <unfinished ...>) = ?
1004  1795229587.200601 +++ killed by SIGKILL +++
1002  1795229587.200701 futex(0x7f, FUTEX_WAIT_PRIVATE, 2, NULL) = ? ERESTARTSYS (To be restarted)
1002  1795229587.200801 restart_syscall(<... resuming interrupted futex ...>) = 0 <0.1>
"#,
    "close(3)                                = 0
 > /usr/lib/libc.so.6(__close+0x10) [0x11]
 | 00000  54 72 61 63 65                                    Trace            |
strace: Process 17 attached
[pid    17] 12:00:00.000001 dup2(3, 4) = 4
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
100.00    0.000001           1         1           close
",
    "# tracer: nop
#
# entries-in-buffer/entries-written: 4/4   #P:2
#
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
            bash-2101    [001] .....  2881.878957: sys_write -> 0x2
            bash-2101    [001] .....  2881.878961: sys_dup2(oldfd: 0xb, newfd: 1)
          <idle>-0       [000] d..2.  2881.878962: sched_switch: prev_comm=a b prev_pid=0 ==> next_comm=c next_pid=7 next_prio=120
            bash-2101    [001] .....  2881.878963: sys_dup2 -> 0x1
CPU:1 [LOST 12 EVENTS]
         memfd:x-2102    [001] .....  2881.878999: sched_process_exit: comm=x pid=2102 prio=120
",
    "\n\n# nothing\n",
];

/// What is put into them.
pub const PIECES: [&[u8]; 24] = [
    b" = ",
    b") = ",
    b"\"",
    b"\\",
    b" <unfinished ...>",
    b"<... read resumed>",
    b"\r",
    b"\0",
    b"\xff",
    b"\n",
    b"<",
    b">",
    b"(",
    b")",
    b"{",
    b"]",
    b" /* ",
    b" */",
    b"3215  ",
    b"1002 ",
    b" -> 0x0",
    b"+++ exited with 0 +++",
    b"--- SIG",
    b"    ",
];

/// Numbers that look random and are the same every time (xorshift).
pub struct Numbers(u64);

impl Numbers {
    /// The numbers of one case.
    pub fn seeded(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// Bytes of any kind, up to `most` of them.
    pub fn bytes(&mut self, most: usize) -> Vec<u8> {
        (0..self.below(most)).map(|_| self.below(256) as u8).collect()
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }
}

/// A seed with a few things cut out, put in, doubled or moved.
pub fn mutant(numbers: &mut Numbers) -> Vec<u8> {
    mutated(&SEEDS, &PIECES, numbers)
}

/// One or two of `seeds` with a few things cut out, put in, of `pieces`, doubled or moved.
pub fn mutated(seeds: &[&str], pieces: &[&[u8]], numbers: &mut Numbers) -> Vec<u8> {
    let mut log = seeds[numbers.below(seeds.len())].as_bytes().to_vec();
    if numbers.below(4) == 0 {
        log.extend_from_slice(seeds[numbers.below(seeds.len())].as_bytes());
    }
    for _ in 0..numbers.below(12) {
        let at = numbers.below(log.len() + 1);
        let end = (at + numbers.below(40)).min(log.len());
        match numbers.below(6) {
            0 => drop(log.drain(at..end)),
            1 => drop(log.splice(at..at, pieces[numbers.below(pieces.len())].iter().copied())),
            2 => {
                let piece = log[at..end].to_vec();
                let to = numbers.below(log.len() + 1);
                drop(log.splice(to..to, piece));
            }
            3 => swap_lines(&mut log, numbers),
            4 if at < log.len() => log[at] = numbers.below(256) as u8,
            _ => log.truncate(log.len() - numbers.below(30).min(log.len())),
        }
    }
    log
}

fn swap_lines(log: &mut Vec<u8>, numbers: &mut Numbers) {
    let mut lines: Vec<&[u8]> = log.split_inclusive(|&b| b == b'\n').collect();
    if lines.len() > 1 {
        let (a, b) = (numbers.below(lines.len()), numbers.below(lines.len()));
        lines.swap(a, b);
        *log = lines.concat();
    }
}

/// Runs `body`, and shows the shortest log found on which it fails.
pub fn run(count: u64, make: fn(&mut Numbers) -> Vec<u8>, body: fn(&[u8])) {
    let fails = |data: &[u8]| std::panic::catch_unwind(|| body(data)).is_err();
    for seed in 1..=count {
        let data = make(&mut Numbers::seeded(seed));
        if fails(&data) {
            let data = shortened(data, fails);
            eprintln!(
                "seed {seed} fails on\n{}",
                data.escape_ascii().to_string().replace("\\n", "\n")
            );
            body(&data);
        }
    }
}

/// `data` without the lines that are not needed for it to fail.
fn shortened(mut data: Vec<u8>, fails: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut line = 0;
    loop {
        let mut lines: Vec<&[u8]> = data.split_inclusive(|&b| b == b'\n').collect();
        if line >= lines.len() {
            return data;
        }
        lines.remove(line);
        let fewer = lines.concat();
        if fails(&fewer) {
            data = fewer;
        } else {
            line += 1;
        }
    }
}
