//! Finds the format of a log from its first lines, since strace writes no header.

mod children;
pub(crate) mod first_task;
mod pasted;
mod recording;
mod seeks;
pub mod traced_calls;

pub(crate) use crate::strace::detect::pasted::are_typeset;

use crate::strace::call::ending::{self, Gap};
use crate::strace::call::result;
use crate::strace::detect::recording::Recording;
use crate::strace::format::Format;
use crate::strace::leader::line_layout;
use crate::strace::leader::{Delta, Layout, Pid, Time};
use crate::strace::line_start::{begins_event, call_name, is_call, is_continuation};
use crate::strace::non_calls::classify::{self, NonCall};
use crate::text::search::find;

/// Detects the format of a log from its first lines; `None` if strace did not write them.
///
/// # Examples
/// ```
/// use tracefast_core::strace::{self, leader::{Pid, Time}};
/// let format = strace::detect(b"7 1795175299.690276 close(3) = 0 <0.000011>\n").unwrap();
/// assert_eq!(format.layout.pid, Pid::Plain);
/// assert_eq!(format.layout.time, Time::Epoch);
/// assert!(format.times_calls);
/// ```
pub fn detect(text: &[u8]) -> Option<Format> {
    let found = memchr::memmem::find(text, b"\x1b[K").is_some();
    let (text, prefix) = pasted::own_text(text);
    detect_own(&text).map(|format| Format { found, prefix, ..format })
}

/// The same for lines without colours and prefixes.
fn detect_own(text: &[u8]) -> Option<Format> {
    // A log may consist of tables and messages alone.
    let layout = match sniff(text) {
        Some((layout, _)) => layout,
        None if text.split(|&b| b == b'\n').any(classify::is_known) => Layout::default(),
        None => return None,
    };
    let mut timed = 0;
    let mut untimed = 0;
    for line in text.split(|&b| b == b'\n').take(1000) {
        if line.last() == Some(&b'>') && result::elapsed(line, 0).is_some() {
            timed += 1;
        } else if ending::only_mark(line).is_some() {
            untimed += 1;
        }
    }
    let gap = Gap::detect(text);
    let bracket = layout.pid == Pid::Bracket;
    let root = bracket.then(|| first_task::find(text)).flatten();
    let terminal = bracket && is_terminal(text);
    let times_calls = timed > untimed;
    let recording = Recording::detect(text, &layout);
    let Recording { by_ends: unordered, traced, hides_children } = recording;
    let format = Format { layout, times_calls, gap, terminal, root, ..Format::default() };
    Some(Format { unordered, traced, hides_children, ..format })
}

/// Whether `text` holds something that strace prints on a terminal only, or that others wrote.
fn is_terminal(text: &[u8]) -> bool {
    // Only whole lines: the last one may be cut.
    let start = &text[..text.len().min(1 << 18)];
    let whole = &start[..memchr::memrchr(b'\n', start).unwrap_or(0)];
    memchr::memmem::find(text, b"[pid ").is_some()
        || whole.split(|&b| b == b'\n').any(|line| {
            let known = line_layout::stands_alone(line)
                || is_continuation(line)
                || matches!(
                    classify::classify(line, line, true),
                    NonCall::Blank | NonCall::Summary { .. }
                );
            !known
        })
}

/// Number of lines of `text` that look like strace's, to choose between formats: at most
/// [`MOST_LIKE`].
pub fn likeness(text: &[u8]) -> usize {
    match pasted::own_text(text) {
        (own, Some(_)) => sniff(&own),
        (_, None) => sniff(text),
    }
    .map_or(0, |(_, hits)| hits)
}

/// Number of lines that are tried at a time.
pub(crate) const MOST_LIKE: usize = 200;

/// Finds the layout that most of the first lines of `text` have, and how many have it; `None` if no
/// line looks like strace's. If none of the first lines match, tries later ones: the output of a
/// program may precede the log.
pub fn sniff(text: &[u8]) -> Option<(Layout, usize)> {
    let lines: Vec<&[u8]> = text.split(|&b| b == b'\n').filter(|l| !l.is_empty()).collect();
    lines.chunks(MOST_LIKE).find_map(best)
}

fn best(lines: &[&[u8]]) -> Option<(Layout, usize)> {
    let mut best: Option<(Layout, usize)> = None;
    for layout in candidates() {
        let hits = lines
            .iter()
            .filter(|line| {
                layout.leader(line).is_some_and(|leader| {
                    let rest = &line[leader.next..];
                    begins_event(rest) && (leader.next > 0 || is_plausible(rest))
                })
            })
            .count();
        if hits > best.map_or(0, |(_, hits)| hits) {
            best = Some((layout, hits));
        }
    }
    best
}

/// Without any column before it, a name and a parenthesis are not enough: prose and program output
/// have them too.
fn is_plausible(rest: &[u8]) -> bool {
    call_name(rest).is_none_or(|n| is_call(&rest[..n]) || find(rest, b" = ", 1).is_some())
}

/// All layouts, simpler ones first: if two fit equally well, the first one wins.
fn candidates() -> impl Iterator<Item = Layout> {
    let flags = [false, true];
    let clocks = [
        (Time::None, Delta::None),
        (Time::None, Delta::Plain),
        (Time::Day, Delta::None),
        (Time::Epoch, Delta::None),
        (Time::Day, Delta::Paren),
        (Time::Epoch, Delta::Paren),
    ];
    flags.into_iter().flat_map(move |context| {
        flags.into_iter().flat_map(move |number| {
            flags.into_iter().flat_map(move |pointer| {
                clocks.into_iter().flat_map(move |(time, delta)| {
                    [Pid::Bracket, Pid::Plain].map(|pid| Layout {
                        pid,
                        time,
                        delta,
                        context,
                        number,
                        pointer,
                    })
                })
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(text: &str) -> Layout {
        sniff(text.as_bytes()).expect("a strace log").0
    }

    #[test]
    fn pids_and_clocks_are_distinguished() {
        assert_eq!(layout("1234 read(3, \"\", 1) = 0\n").pid, Pid::Plain);
        assert_eq!(layout("1795176762 read(3, \"\", 1) = 0\n").time, Time::Epoch);
        let both = layout("1234  1795176762.1 read(3, \"\", 1) = 0\n");
        assert_eq!((both.pid, both.time), (Pid::Plain, Time::Epoch));
        assert_eq!(both.delta, Delta::None);
        assert_eq!(layout("     0.000123 read(3, \"\", 1) = 0\n").delta, Delta::Plain);
        assert_eq!(layout("read(3, \"\", 1) = 0\n"), Layout::default());
        let stderr = layout("execve(\"/x\", [], 0x0) = 0\n[pid   12] read(3, \"\", 1) = 0\n");
        assert_eq!(stderr.pid, Pid::Bracket);
        assert!(layout("5240  1795176558.716752 [   3] close(1) = 0\n").number);
        assert!(layout("26847 [00007fcff6408e67] close(2) = 0\n").pointer);
    }

    #[test]
    fn output_of_the_program_may_come_first() {
        let text = "a line of output\n".repeat(500) + "7 close(3) = 0\n";
        assert_eq!(layout(&text).pid, Pid::Plain);
    }

    #[test]
    fn other_text_is_not_strace() {
        assert_eq!(sniff(b"hello, world\nmain(void)\n"), None);
        assert_eq!(sniff(b""), None);
    }
}
