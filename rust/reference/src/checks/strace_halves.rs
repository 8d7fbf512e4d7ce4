//! Calls in two halves: joined, they are what they would have been in one.

use tracefast_core::events::line_counts::LineUse;
use tracefast_core::format::{Format, Wanted};

use crate::compare::parse;
use crate::compare::{Row, rows};
use crate::made::strace::{Choices, RESULTS, Style, arguments, name, style};
use crate::strace;
use crate::strace::{Pid, Time};

/// A call cut where strace may cut it, by the rules of the version that the bytes choose.
///
/// # Panics
/// If the row is not that of the call in one piece.
pub fn strace_halves(data: &[u8]) {
    let mut choices = Choices::new(data);
    let mut style = style(&mut choices);
    if style.layout.pid == Pid::None {
        style.layout.pid = Pid::Plain;
    }
    let old = choices.rarely();
    // Since 6.16 the comma is printed with the argument after it.
    let late_comma = !old && choices.byte().is_multiple_of(2);
    let name = name(&mut choices);
    let mut args = arguments(&mut choices, 3);
    let (result, ..) = choices.pick(&RESULTS);
    let time = if style.layout.times { " <0.000013>" } else { "" };
    let (first, second) = if choices.rarely() {
        // Structures that the kernel fills are printed again at the end.
        args.insert(0, "{flags=CLONE_VM}".to_owned());
        (args.remove(0), format!(" => {{parent_tid=[3]}}, {}", args.join(", ")))
    } else {
        let at = choices.below(args.len() + 1);
        let comma = if at > 0 && at < args.len() { ", " } else { "" };
        let (first, second) = (args[..at].join(", "), args[at..].join(", "));
        if late_comma { (first, format!("{comma}{second}")) } else { (first + comma, second) }
    };
    let whole = format!("{name}({first}{second})");
    let whole = format!("{whole}{}= {result}{time}", style.pad(&whole));
    let gap = if old { " " } else { "" };
    let rest = format!("{gap}{second}) = {result}{time}");

    // The reference joins by the bytes alone.
    let slow = strace::join(first.as_bytes(), rest.as_bytes(), old);
    assert_eq!(slow, format!("{first}{second}) = {result}{time}").into_bytes());

    let mut log = anchors(&style, old);
    let mut line = |pid: i32, text: &str| {
        let fixed = style.leader(&mut Choices::new(&[]), pid, 2);
        log += &format!("{fixed}{text}\n");
    };
    line(7, &whole);
    line(7, &format!("{name}({first} <unfinished ...>"));
    for _ in 0..choices.below(4) {
        let others = [
            "close(3) = 0",
            "read(3, \"<... read resumed>) = 1\", 9) = 1",
            "pause( <unfinished ...>",
        ];
        let other = choices.pick(&others);
        let end = if other.ends_with("...>") { "" } else { time };
        line(7 + choices.pick(&[1, 1993, 4_000_001]), &format!("{other}{end}"));
    }
    line(7, &format!("<... {name} resumed>{rest}"));
    check(&style, &log);
}

/// The first two rows of task 7 after the leading lines are equal.
fn check(style: &Style, log: &str) {
    let format = Format::detect(log.as_bytes(), Some(Wanted::Strace)).expect("strace's lines");
    let (counts, batch) = parse(format, log.as_bytes(), usize::MAX);
    assert_eq!(counts.lines(LineUse::Unparsed), 0, "{log}");
    let mut own: Vec<Row> = rows(&batch);
    own.retain(|row| row.tid == Some(7) && row.line > ANCHORS);
    let [whole, joined] = &mut own[..] else { panic!("not two rows in {log}") };
    joined.line = whole.line;
    // Sums of deltas; the two do not start on the same line.
    if style.layout.time == Time::None {
        joined.ts = whole.ts;
    }
    // Without -T only the halves show how long it took.
    if whole.dur.is_none() {
        joined.dur = None;
    }
    assert_eq!(joined, whole, "{log}");
}

/// Lines in front.
const ANCHORS: u64 = 4;

/// Lines from which layout and version are found.
fn anchors(style: &Style, old: bool) -> String {
    let time = if style.layout.times { " <0.000010>" } else { "" };
    let gap = if old { " " } else { "" };
    let mut log = String::new();
    for event in [
        &format!("close(3) = 0{time}"),
        &format!("dup(3) = 4{time}"),
        "close(4 <unfinished ...>",
        &format!("<... close resumed>{gap})          = 0{time}"),
    ] {
        log += &style.leader(&mut Choices::new(&[]), 9, 1);
        log += &format!("{event}\n");
    }
    log
}
