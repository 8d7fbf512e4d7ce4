//! A second, slow and obvious implementation of the grammar of strace's lines, for tests only.
//!
//! It is written from the grammar alone and shares no code with the parser that it checks. It reads
//! one line at a time by recursive descent, and where the grammar leaves a line open it has no
//! opinion rather than a guess.

pub(crate) mod arguments;
pub(crate) mod call;
pub(crate) mod cursor;
pub(crate) mod leader;
pub(crate) mod non_calls;
pub(crate) mod result;
pub(crate) mod text;

pub use call::{call, rest_of};
pub use leader::sniff;
pub use text::{annotation_end, begins_with_gap, join, unescape, visible};

use cursor::Cursor;

/// Nesting beyond which there is no opinion, so that no input can exhaust the stack.
pub const DEPTH: usize = 200;

/// The state of the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pid {
    /// Nowhere.
    #[default]
    None,
    /// `123   `, as in files.
    Plain,
    /// `[pid   123] `, while more than one task lives.
    Bracket,
}

/// The absolute time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Time {
    /// None.
    #[default]
    None,
    /// `12:34:56.789`
    Day,
    /// `1795176760.745550993`
    Epoch,
}

/// The time since the line before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Delta {
    /// None.
    #[default]
    None,
    /// `     0.000123 `
    Plain,
    /// `(+     0.000123) `
    Parens,
}

/// The columns before each event, and whether complete calls end with their time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layout {
    /// Task.
    pub pid: Pid,
    /// Security context.
    pub context: bool,
    /// Absolute time.
    pub time: Time,
    /// Relative time.
    pub delta: Delta,
    /// Number of the system call.
    pub number: bool,
    /// Instruction pointer.
    pub pointer: bool,
    /// `<0.000123>` after results.
    pub times: bool,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Task.
    pub pid: Option<i32>,
    /// Command name, as printed.
    pub comm: Option<Vec<u8>>,
    /// Absolute time, ns since the epoch or midnight.
    pub time: Option<i64>,
    /// Time since the line before, ns.
    pub delta: Option<i64>,
    /// Text of the other columns: context, number, pointer.
    pub extra: Vec<Vec<u8>>,
    /// What happened.
    pub event: Event,
}

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The start of a call, or all of it.
    Call {
        /// System call.
        name: Vec<u8>,
        /// Text between the parentheses, as far as it is there.
        args: Vec<u8>,
        /// How it continues.
        ending: Ending,
    },
    /// The second half of a call.
    Resumed {
        /// System call.
        name: Vec<u8>,
        /// Text after `resumed>`.
        rest: Vec<u8>,
    },
    /// `+++ exited with 3 +++`
    Exit(i64),
    /// `+++ killed by SIGKILL +++`
    Killed(Vec<u8>),
    /// `+++ superseded by execve in pid 3 +++`
    Superseded(i32),
    /// `--- SIGCHLD {si_signo=SIGCHLD} ---`, in any of its forms; the name, if it is printed.
    Signal(Option<Vec<u8>>),
    /// `--- stopped by SIGSTOP ---`
    Stop(Vec<u8>),
    /// `[ Process PID=3 runs in 32 bit mode. ]`
    Personality,
    /// None of these.
    Nothing,
}

/// How a call ends on its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// With a result.
    Result(Outcome),
    /// `<unfinished ...>`
    Unfinished,
    /// `<detached ...>`
    Detached,
    /// `<pid changed to 3 ...>`
    PidChanged(i32),
    /// `<unfinished ...>) = ?` or, in old versions, `<unfinished ... exit status 3>`
    Killed,
    /// `= ? <unavailable>`, or the task could not be let go on.
    Unavailable,
    /// The line stops within the arguments.
    Cut,
}

/// The end of a call: everything after ` = `.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Value; `None` for `?`.
    pub ret: Option<i64>,
    /// Name of the error.
    pub errno: Option<Vec<u8>>,
    /// Number of the error, if the name is not printed.
    pub errno_number: Option<i64>,
    /// What else is said of the value: contexts, comments, `(Timeout)`; no error.
    pub aux: Vec<Vec<u8>>,
    /// Time in the call, ns.
    pub dur: Option<i64>,
    /// `(INJECTED)`, or with `retval`: the value is made up.
    pub injected: bool,
    /// `(INJECTED: args)`
    pub poked: bool,
    /// `(DELAYED)`
    pub delayed: bool,
    /// Text between `<` and `>` right after the value.
    pub annotation: Option<Vec<u8>>,
}

/// Reads one line without its line feed. `None`: no opinion.
pub fn line(layout: &Layout, text: &[u8]) -> Option<Line> {
    let text = without_colours(text);
    let mut cursor = Cursor::new(&text);
    let mut line = leader::leader(layout, &mut cursor)?;
    line.event = event(layout, cursor.rest())?;
    Some(line)
}

fn event(layout: &Layout, text: &[u8]) -> Option<Event> {
    let mut cursor = Cursor::new(text);
    if cursor.eat(b"<... ") {
        let name = cursor.until(b" resumed>").filter(|name| call::is_name(name))?;
        let name = name.to_vec();
        return Some(Event::Resumed { name, rest: cursor.rest().to_vec() });
    }
    non_calls::other(text).or_else(|| call(layout, text))
}

/// Colours of 7.0 and later: `ESC [ digits;… m`. Inside of strings an ESC is always escaped.
fn without_colours(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut cursor = Cursor::new(text);
    while let Some(byte) = cursor.peek() {
        let from = cursor.at;
        if cursor.eat(b"\x1b[") {
            while cursor.peek().is_some_and(|b| b.is_ascii_digit() || b == b';') {
                cursor.at += 1;
            }
            if cursor.eat(b"m") {
                continue;
            }
        }
        cursor.at = from + 1;
        out.push(byte);
    }
    out
}
