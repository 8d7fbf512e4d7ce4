//! ftrace's text, made of all its productions, read by the parser and by the reference.

use tracefast_core::format::{Format, Wanted};
use tracefast_core::linux::machine::SyscallAbi;

use crate::compare::ftrace_differences;
use crate::ftrace::{Hints, Row, read};
use crate::made::ftrace::log;
use crate::made::strace::Choices;

/// A log that the bytes choose, read by both.
///
/// # Panics
/// If the reference does not read it as it was made, or the parser differs from the reference.
pub fn ftrace_logs(data: &[u8]) {
    let text = made(data);
    // A log without a line that is known is refused.
    let Some(format) = Format::detect(&text, Some(Wanted::Ftrace)) else { return };
    if let Some(found) = ftrace_differences(format, &text) {
        panic!("{found}{}", shown(&text));
    }
}

/// A log that the bytes choose.
///
/// # Panics
/// If the reference reads it otherwise than it was made.
pub fn made(data: &[u8]) -> Vec<u8> {
    let made = log(&mut Choices::new(data));
    let slow =
        read(&made.text, &Hints { machine: SyscallAbi::default(), stacks: true, seam: &|_| false });
    for expected in &made.rows {
        // Of several on a line, the one of this kind.
        let row =
            slow.rows.iter().find(|row| row.line == expected.line && row.kind == expected.kind);
        let Some(row) = row else { panic!("no row for {expected:?} in\n{}", shown(&made.text)) };
        let fields = |row: &Row| {
            let Row { kind, name, tid, pid, comm, cpu, ret, .. } = row.clone();
            (kind, name, tid, pid, comm, cpu, ret)
        };
        let what = || format!("the reference on line {}\n{}", expected.line, shown(&made.text));
        assert_eq!(fields(row), fields(expected), "{}", what());
        // Two clocks cannot be in one column.
        assert!(row.ts.is_none() || row.ts == expected.ts, "{}", what());
        // A piece of another line may follow, which looks like text.
        let text =
            |args: &Option<Vec<u8>>| args.as_ref().map(|args| args.escape_ascii().to_string());
        let (args, put) = (text(&row.args), text(&expected.args));
        let more = row.args.iter().zip(&expected.args).any(|(args, put)| {
            let rest = args.strip_prefix(&put[..]);
            rest.is_some_and(|rest| rest.starts_with(b"\n") || rest.starts_with(b"\\n\\\n"))
        });
        assert!(put.is_none() || more || args == put, "args {args:?}, put {put:?}: {}", what());
    }
    made.text
}

fn shown(text: &[u8]) -> String {
    text.escape_ascii().to_string().replace("\\n", "\n")
}
