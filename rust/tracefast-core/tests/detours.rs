//! Lines that leave the fast path are counted, so that the benches can show which logs have many.

use tracefast_core::events::parsed_block::Parsed;
use tracefast_core::format::{Format, Grammar};
use tracefast_core::text::block::Block;

fn detours(log: &str) -> u64 {
    let format = Format::detect(log.as_bytes(), None).expect("a log");
    let mut parsed = Parsed::default();
    Grammar::default().parse(&format, &mut Block::from_text(log.as_bytes()), &mut parsed);
    assert_eq!(parsed.counts.total(), log.lines().count() as u64);
    parsed.detours
}

const PLAIN: &str = "7 1700000000.000001 read(3</a>, \"x\", 9) = 1 <0.000011>\n\
                     7 1700000000.000101 wait4(-1,  <unfinished ...>\n\
                     8 1700000000.000201 --- SIGCHLD {si_signo=SIGCHLD} ---\n\
                     8 1700000000.000211 +++ exited with 0 +++\n\
                     7 1700000000.000221 <... wait4 resumed>NULL, 0, NULL) = 8 <0.000011>\n";

#[test]
fn usual_lines_of_strace_stay_on_the_fast_path() {
    assert_eq!(detours(PLAIN), 0);
    // The first bytes of a line show what belongs to a call.
    assert_eq!(detours(&format!("{PLAIN} | 00000  78   x |\n")), 0);
}

#[test]
fn each_odd_line_of_strace_counts_once() {
    for line in [
        r#"7 1700000000.000301 write(1, "a = b) = c", 10) = 10 <0.000011>"#,
        "7 1700000000.000301 read(3, <ptrace(SYSCALL):No such process>",
        "strace: Process 9 attached",
        "1700000000.000301 close(3) = 0",
        "hello",
    ] {
        assert_eq!(detours(&format!("{PLAIN}{line}\n")), 1, "{line}");
    }
    let half = PLAIN.replace("NULL, 0, NULL", r#""a = b", 0, NULL"#);
    assert_eq!(detours(&half), 1);
}

#[test]
fn headers_of_ftrace_are_off_the_fast_path() {
    let line = "  sh-7  [000] .....    10.000100: sched_process_exit: comm=sh pid=7 prio=120\n";
    assert_eq!(detours(line), 0);
    assert_eq!(detours(&format!("# tracer: nop\n#\n{line}")), 2);
}
