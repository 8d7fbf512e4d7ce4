//! Logs made by mutation of real lines of ftrace, the same ones in every run.

use crate::mutants::{Numbers, mutated};

/// Real lines in every layout; some of them belong together.
pub const SEEDS: [&str; 9] = [
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
      x-12 [000]-2102    [001] .....  2881.878999: sched_process_exit: comm=x pid=2102 prio=120
        new
line-1541    [001] .....  2881.879001: task_rename: pid=1541 oldcomm=python3.11 newcomm=new
line oom_score_adj=0
",
    "# tracer: nop
#
           ft.sh-28450   (  28450) [000] .....  2705.391741: sys_openat -> 0x3
           ft.sh-28451   (-------) [000] d..2.  2705.391794: <stack trace>
 => schedule+0x23/0xa0 <ffffffff821f8c03>
 => do_nanosleep
           ft.sh-28451   (-------) [001] d..2.  2705.391795: <user stack trace>
 =>  <00007fb1db0c8bd3>
           ft.sh-28450   (  28450) [000] .....  2705.391815: sys_enter: NR 72 (1, 1, 0, 1b6, 0, 20)
           ft.sh-28450   (  28450) [000] .....  2705.391816: sys_exit: NR 72 = -22
##### CPU 1 buffer started ####
           <...>-28452   (-------) [001] DBZff  2705.391900: xret: (0x55c9 <- 0x55c8) ret=0x0 s=\"a\"
",
    "           <...>-1617    [001] ...1.  3000.174844: tracing_mark_write: multi
line

marker
           <...>-1617    [001] ...1.  3000.174847: tracing_mark_write: nul           <...>-1617    [001] ...1.  3000.174848: tracing_mark_write: after nul
            bash-1617    [001] ...1.  3000.174851: # 1 buf: 72 61 77 21
            bash-1617    [001] ...1.  3000.174852: 0: B|77|name with | pipe
            bash-1617    [001] ...1.  3000.174853: schedule+0x0/0x10 <-do_idle+0x23/0x40
            bash-1617    [001] ...1.  3000.174854: # comment
# no comment
",
    "# nop latency trace v1.1.5 on 6.18.44
#
    bash-2101      1..... 25321us : sys_write -> 0x2
    bash-2101      1..... 25323us+: sys_dup2(oldfd: 0xb, newfd: 1)
    bash-2101      1d..2. 25324us!: sys_dup2 -> 0x1
      sh-2139      0..... 25572us : mm_filemap_map_pages: dev=254:0 ino=52db4 ofs=860160-925695
            bash    2101   1 0 00000000 00000000 [abc5fbad] 25.321ms (+0.002ms): sys_write -> 0x2
            bash    2101   1 1 00000002 00000011 [abc5fc61] 25.500ms (+0.004ms): sys_dup2(unsigned int oldfd: 0xb, unsigned int newfd: 1)
",
    "2101 1 2881878957473 type: 839
2101 1 2881878959917 type: 918
00000835 00000001 0000029efd5f1da1 type: 839

00000835 00000001 0000029efd5f272d type: 918

254,0    0  3068.686402651 25219  Q  RA 29947752 + 16 [dd]
254,0    0  3068.686414328 25219  P   N [dd]
[003]\t   12.345678: hyp_enter: x=1
",
    "sys_write -> 0x2
sys_dup2(oldfd: 0xb, newfd: 1)
sys_dup2 -> 0x1
sched_process_fork: comm=bash pid=2101 child_comm=bash child_pid=2139
",
    "cpus=2
                     bash-2330  [000]   321.623902: sys_exit_write:       0x2
                     bash-2330  [000]   321.623920: (+18)    sys_enter_dup2:       oldfd: 0x0000000b, newfd: 0x00000001
ftp_cap:             bash-2330  [000]   321.623921: (+1)     sys_exit_dup2:        0x1
                     bash-2330  [000]321623902270: print:                tracing_mark_write: a
             bash-2330    0d..2.   321.623902: sched_switch:         bash:2330 [120] S ==> swapper/0:0 [120]
CPU:0 [1704389 EVENTS DROPPED]
",
    "<html>
<script>
# tracer: nop
#
            bash-2101    [001] .....  2881.878957: tracing_mark_write: a\\n\\
more\\n\\
            bash-2101    [001] .....  2881.878958: sys_close(fd: 3)\\n\\
            bash-2101    [001] .....  2881.878959: sys_close -> 0x0\\n\\
</script>
",
    "[   12.345678] Dumping ftrace buffer:
[   12.345678] ---------------------------------
[   12.345679]     bash-2101      1d..2. 12345us : sys_close(fd: 3)
<4>[   12.345680][    T1]     bash-2101      1d..2. 12347us : <stack trace>
[   12.345680]  => schedule
[   12.345681]     bash-2101      1d..2. 12349us : sys_close -> 0xfffffffffffffff7
[   12.345682] ---------------------------------
",
];

/// What is put into them.
pub const PIECES: [&[u8]; 26] = [
    b": ",
    b"-7 ",
    b"[000]",
    b"[001] ",
    b" d..2. ",
    b"2881.878957: ",
    b" 12us : ",
    b"(  28450) ",
    b"(-------) ",
    b"\n",
    b"\r\n",
    b"\0",
    b"\xff",
    b" -> 0x0",
    b"sys_read(",
    b"tracing_mark_write: ",
    b"<stack trace>",
    b" => ",
    b"# ",
    b"            bash-2101    [001] .....  2881.878957: ",
    b"\\n\\",
    b"[   12.345678] ",
    b" ==> ",
    b" <-",
    b"18446744073709551616",
    b"-",
];

/// A seed with a few things cut out, put in, doubled or moved.
pub fn mutant(numbers: &mut Numbers) -> Vec<u8> {
    mutated(&SEEDS, &PIECES, numbers)
}
