//! The fast parser beside the slow one: lines that strace could have printed, and such lines with
//! a few bytes changed.

use tracefast_core::format::{Format, Wanted};

use crate::compare::parse;
use crate::compare::{Row, differs, rows};
use crate::made::strace::{Choices, RESULTS, Style, arguments, name, style};
use crate::strace::{Ending, Event, Line, line};

/// Bytes that are put into lines.
const NOISE: [&[u8]; 27] = [
    b") = ",
    b" = ",
    b"\"",
    b"\\",
    b"<",
    b">",
    b"(",
    b")",
    b"[",
    b"]",
    b"{",
    b"}",
    b" ",
    b",",
    b"/*",
    b"*/",
    b" <unfinished ...>",
    b"<... ",
    b" resumed>",
    b"?",
    b"0",
    b"+++ ",
    b"--- ",
    b"'",
    b"\xff",
    b"(INJECTED)",
    b" <0.000011>",
];

/// A line that the bytes choose, alone or with changes.
///
/// # Panics
/// If the two parsers read it differently, or not as it was made.
pub fn strace_lines(data: &[u8]) {
    let mut choices = Choices::new(data);
    let style = style(&mut choices);
    let changes = choices.below(4);
    let (text, made) = if choices.byte() % 8 == 7 {
        (choices.rest().to_vec(), None)
    } else {
        let (text, made) = event(&style, &mut choices);
        (text.into_bytes(), Some(made))
    };
    let text = changed(text, changes, &mut choices);
    let slow = read(&style, &text, made.is_some() && changes == 0);
    if let Some(made) = made.filter(|_| changes == 0) {
        let shown = text.escape_ascii();
        let slow = slow.unwrap_or_else(|| panic!("the reference has no opinion on {shown}"));
        assert_eq!(made.difference(&slow.event), None, "{shown}");
    }
}

/// Reads a line in a log of its own kind both ways, and returns the reference's reading. A line
/// that strace cannot print (`exact`: it could) may be rejected by either; if both read it, they
/// must read the same call.
///
/// # Panics
/// If they disagree.
fn read(style: &Style, text: &[u8], exact: bool) -> Option<Line> {
    let layout = &style.layout;
    let mut log = anchors(style).into_bytes();
    let number = log.split(|&b| b == b'\n').count() as u64;
    // The other lines determine the layout.
    let format = Format::detect(&log, Some(Wanted::Strace)).expect("lines of strace");
    log.extend_from_slice(text);
    log.push(b'\n');
    let (counts, batch) = parse(format, &log, usize::MAX);
    assert_eq!(counts.total(), number, "{}", log.escape_ascii());
    let slow = line(layout, text)?;
    if slow.event == Event::Nothing || slow.event == Event::Personality {
        return Some(slow);
    }
    // A line that stops within its arguments may be continued by the next one.
    if matches!(slow.event, Event::Call { ending: Ending::Cut, .. }) {
        return Some(slow);
    }
    // A column that comes and goes: a line without it belongs to a task, and is not a continuation.
    let fast: Vec<Row> = rows(&batch).into_iter().filter(|row| row.line == number).collect();
    let shown = log.escape_ascii().to_string().replace("\\n", "\n");
    let [row] = &fast[..] else { panic!("{} rows of the last line of\n{shown}", fast.len()) };
    if !exact && (row.kind == "unparsed" || row.status.as_deref() == Some("truncated")) {
        return Some(slow);
    }
    if let Some(found) = differs(layout, &slow, row) {
        let call = ["tid:", "ts:", "name:", "args:", "ret:"];
        let same = !found.lines().any(|line| call.iter().any(|field| line.starts_with(field)));
        assert!(!exact && same, "{found}{layout:?}\n{shown}");
    }
    Some(slow)
}

/// Some plain lines in front, from which the layout is found.
fn anchors(style: &Style) -> String {
    let mut log = String::new();
    let time = if style.layout.times { " <0.000010>" } else { "" };
    for second in [0, 1, 1] {
        log += &style.leader(&mut Choices::new(&[]), 7, second);
        log += &format!("close(3) = 0{time}\n");
    }
    log
}

/// What was put into a line.
struct Made {
    name: String,
    args: String,
    value: Option<i64>,
    error: Option<&'static str>,
    ending: &'static str,
}

impl Made {
    /// What an event says differently.
    fn difference(&self, event: &Event) -> Option<String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut found = Self {
            name: String::new(),
            args: String::new(),
            value: None,
            error: self.error,
            ending: "other",
        };
        let mut error = None;
        if let Event::Call { name, args, ending } = event {
            found.name = text(name);
            found.args = text(args);
            found.ending = match ending {
                Ending::Result(outcome) => {
                    found.value = outcome.ret;
                    error = outcome.errno.as_deref().map(text);
                    "result"
                }
                Ending::Unfinished => "unfinished",
                Ending::Detached => "detached",
                Ending::PidChanged(_) => "pid changed",
                Ending::Killed => "killed",
                Ending::Unavailable => "unavailable",
                Ending::Cut => "cut",
            };
        }
        let same = found.name == self.name
            && found.args == self.args
            && found.value == self.value
            && error.as_deref() == self.error
            && found.ending == self.ending;
        (!same).then(|| format!("the reference reads {event:?}"))
    }
}

/// A line with its leader, and what it was made of.
fn event(style: &Style, choices: &mut Choices<'_>) -> (String, Made) {
    let pid = choices.pick(&[7, 12345, 4_000_001]);
    let mut text = style.leader(choices, pid, 3);
    let mut made = Made {
        name: name(choices).to_owned(),
        args: String::new(),
        value: None,
        error: None,
        ending: "other",
    };
    let form = choices.byte();
    if form % 8 == 7 {
        text += choices.pick(&OTHERS);
        (made.name, made.ending) = (String::new(), "other");
        return (text, made);
    }
    made.args = arguments(choices, 4).join(", ");
    text += &format!("{}({}", made.name, made.args);
    let (ending, after) = MARKS[usize::from(form / 8) % MARKS.len()];
    if form % 8 < 5 || after.is_empty() {
        let (result, value, error, _, _) = choices.pick(&RESULTS);
        text.push(')');
        text += &style.pad(&text);
        text += &format!("= {result}");
        text += if style.layout.times {
            choices.pick(&[" <0.000013>", " <1.000000>", " <0.100000>", " <3.123456789>"])
        } else {
            ""
        };
        (made.value, made.error, made.ending) = (value, error, "result");
    } else {
        text += after;
        made.ending = ending;
    }
    (text, made)
}

/// How a call that does not return ends.
const MARKS: [(&str, &str); 10] = [
    ("unfinished", " <unfinished ...>"),
    ("detached", " <detached ...>"),
    ("pid changed", " <pid changed to 443 ...>"),
    ("killed", " <unfinished ...>)          = ?"),
    ("unavailable", ") = ? <unavailable>"),
    ("unavailable", " <unavailable>) = ? <unavailable>"),
    ("unavailable", " <Cannot restart pid 7 with ptrace(PTRACE_SYSCALL): No such process>"),
    ("unavailable", " <ptrace(SYSCALL):No such process>"),
    ("killed", " <unfinished ... exit status 3>"),
    ("result", ""),
];

/// Events that are no calls.
const OTHERS: [&str; 12] = [
    "+++ exited with 0 +++",
    "+++ exited with 255 +++",
    "+++ killed by SIGKILL +++",
    "+++ killed by SIGSEGV (core dumped) +++",
    "+++ superseded by execve in pid 443 +++",
    "--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_stime=0 /* 0.03 s */} ---",
    "--- SIGRT_3 {si_signo=SIGRT_3} ---",
    "--- {si_signo=SIGCHLD, si_code=CLD_EXITED} (Child exited) ---",
    "--- SIGCHLD (Child exited) @ 0 (0) ---",
    "--- stopped by SIGSTOP ---",
    "--- SIGSTOP by SIGSTOP ---",
    "<... close resumed>) = 0",
];

/// The text with a few bytes put in, taken out or doubled; one line still.
fn changed(mut text: Vec<u8>, changes: usize, choices: &mut Choices<'_>) -> Vec<u8> {
    for _ in 0..changes {
        let at =
            (usize::from(choices.byte()) << 8 | usize::from(choices.byte())) % (text.len() + 1);
        match choices.below(4) {
            0 => drop(text.splice(at..at, choices.pick(&NOISE).iter().copied())),
            1 => drop(text.drain(at..(at + choices.below(16)).min(text.len()))),
            2 => {
                let piece = text[at..(at + choices.below(24)).min(text.len())].to_vec();
                let to = choices.below(text.len() + 1);
                text.splice(to..to, piece);
            }
            _ => text.insert(at, choices.byte()),
        }
    }
    // Colours are found by the first lines, which have none.
    text.retain(|&b| b != b'\n' && b != b'\x1b');
    text
}
