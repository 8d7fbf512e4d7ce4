//! The columns of one line of ftrace, found by the parser and by the reference.

use tracefast_core::ftrace::header::{Layout, layouts};

use crate::ftrace::{self as reference, any_columns};
use crate::made::ftrace;
use crate::made::strace::Choices;

/// Bytes that are put into lines.
const NOISE: [&[u8]; 16] = [
    b"-1 ",
    b"[000]",
    b" [1] ",
    b" d..2. ",
    b" 1.000000: ",
    b" 12: ",
    b"us : ",
    b"ms (+0.002ms): ",
    b"(  7) ",
    b"(-------) ",
    b": ",
    b"-",
    b" ",
    b"\t",
    b"\xff",
    b"18446744073709551616",
];

const LAYOUTS: [(Layout, reference::Layout); 7] = [
    (Layout::Default, reference::Layout::Default),
    (Layout::Latency, reference::Layout::Latency),
    (Layout::Verbose, reference::Layout::Verbose),
    (Layout::Raw, reference::Layout::Raw),
    (Layout::Hex, reference::Layout::Hex),
    (Layout::Classic, reference::Layout::BlkClassic),
    (Layout::Remote, reference::Layout::Remote),
];

/// A line that the bytes choose, alone or with changes, in a log of any layout.
///
/// # Panics
/// If both find columns and they are not the same, or, in a line as the kernel prints it, only one
/// of them finds any. Of other lines each may think that it is no record.
pub fn ftrace_headers(data: &[u8]) {
    let mut choices = Choices::new(data);
    let (usual, slow_usual) = choices.pick(&LAYOUTS);
    let changes = choices.below(4);
    let exact = changes == 0 && choices.byte() % 8 != 7;
    let mut line =
        if exact || changes > 0 { ftrace::record(&mut choices) } else { choices.rest().to_vec() };
    for _ in 0..changes {
        let at = usize::from(choices.byte()) % (line.len() + 1);
        match choices.below(3) {
            0 => drop(line.splice(at..at, choices.pick(&NOISE).iter().copied())),
            1 => drop(line.drain(at..(at + choices.below(9)).min(line.len()))),
            _ => line.insert(at, choices.byte()),
        }
    }
    line.retain(|&b| b != b'\n');
    let fast = layouts::parse(&line, usual).filter(|header| header.layout != Layout::NoContext);
    let slow = any_columns(&line, slow_usual);
    let shown = line.escape_ascii();
    let ((own, slow), fast) = match (slow, fast) {
        (Some(slow), Some(fast)) => (slow, fast),
        (None, None) => return,
        (slow, fast) => {
            assert!(!exact, "{usual:?}: fast {fast:?}, reference {slow:?}: {shown}");
            return;
        }
    };
    let own = LAYOUTS.iter().find(|(_, layout)| *layout == own).map(|&(layout, _)| layout);
    // A line that could be either, were it printed at all.
    if !exact && own != Some(fast.layout) {
        return;
    }
    // In these, text outside its column may belong to the name or to what surrounds it.
    let comm = exact || !matches!(fast.layout, Layout::Verbose | Layout::Latency);
    let fast_fields = (
        Some(fast.layout),
        fast.comm.map(|(from, upto)| &line[from..upto]).filter(|_| comm),
        fast.pid,
        fast.tgid,
        fast.cpu,
        fast.time,
        line[fast.payload..].trim_ascii_start(),
    );
    let slow_fields = (
        own,
        slow.comm.as_deref().filter(|_| comm),
        slow.tid,
        slow.tgid,
        slow.cpu,
        slow.ts,
        line[slow.payload..].trim_ascii_start(),
    );
    assert!(
        fast_fields == slow_fields,
        "{usual:?}:\nfast {fast_fields:?}\nreference {slow_fields:?}\n{shown}"
    );
    let flags = line[fast.flags.0..fast.flags.1].to_vec();
    assert!(!exact || flags == slow.flags, "{usual:?}: flags {flags:?} {:?}: {shown}", slow.flags);
}
