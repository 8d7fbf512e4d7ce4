//! Finds the format of a log from its first lines, since strace writes no header.

mod children;
pub(crate) mod cut;
pub(crate) mod first_task;
mod marks;
mod pasted;
mod recording;
mod seeks;
pub mod traced_calls;

pub(crate) use crate::strace::detect::pasted::{are_typeset, is_event, likeness};

use crate::strace::call::ending::{self, Gap};
use crate::strace::call::result;
use crate::strace::detect::recording::Recording;
use crate::strace::format::Format;
use crate::strace::leader::line_layout;
use crate::strace::leader::{Delta, Layout, Leader, Pid, Time};
use crate::strace::line_start::is_continuation;
use crate::strace::non_calls::classify::{self, NonCall};
use crate::strace::wrapped::Wrap;
use crate::text::parts::parts;

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
    let raw = text;
    let (text, prefix) = pasted::own_text(text);
    let wrap = Wrap::find(&text);
    let cut = if wrap.is_some() { 0 } else { cut::width(raw, prefix.as_ref()) };
    let text = match wrap {
        Some(wrap) => wrap.joined(&text).into(),
        None => text,
    };
    detect_own(&text).map(|format| Format { found, prefix, wrap, cut, ..format })
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
    let Recording { by_ends: unordered, traced, .. } = recording;
    let Recording { hides_children, hides_failures, leaves_programs, .. } = recording;
    let format = Format { layout, times_calls, gap, terminal, root, ..Format::default() };
    let format = Format { unordered, traced, hides_children, ..format };
    Some(Format { hides_failures, leaves_programs, ..format })
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

/// How many lines decide which columns a log has.
const ENOUGH: usize = 20;

/// Finds the layout that most of the first events in `text` have, and how many have it; `None` if no
/// line looks like strace's. The output of a program, or other text, may precede the log.
pub fn sniff(text: &[u8]) -> Option<(Layout, usize)> {
    let mut hits: Vec<(Layout, usize)> = candidates().map(|layout| (layout, 0)).collect();
    for part in parts(text) {
        let lines = part.split(|&b| b == b'\n').filter(|line| marks::is_marked(line));
        let lines: Vec<&[u8]> = lines.map(<[u8]>::trim_ascii_end).collect();
        add(&mut hits, &lines, |line, _, leader| marks::is_event(line, leader));
        if best(&hits).is_some_and(|(_, hits)| hits >= ENOUGH) {
            break;
        }
    }
    best(&hits).or_else(|| cut_events(text, hits))
}

/// The same for a text in which every event is cut. In other texts few lines look like that.
fn cut_events(text: &[u8], mut hits: Vec<(Layout, usize)>) -> Option<(Layout, usize)> {
    let part = parts(text).next()?;
    let lines: Vec<&[u8]> = part.split(|&b| b == b'\n').filter(|line| !line.is_empty()).collect();
    add(&mut hits, &lines, marks::is_cut_event);
    best(&hits).filter(|(_, hits)| hits * 2 > lines.len())
}

/// Adds the lines that `is_event` accepts to the layouts that they have.
fn add(
    hits: &mut [(Layout, usize)],
    lines: &[&[u8]],
    is_event: impl Fn(&[u8], &Layout, &Leader) -> bool,
) {
    for (layout, count) in hits {
        let has = |line: &&&[u8]| {
            layout.leader(line).is_some_and(|leader| is_event(line, layout, &leader))
        };
        *count += lines.iter().filter(has).count();
    }
}

/// The first of the layouts that most lines have.
fn best(hits: &[(Layout, usize)]) -> Option<(Layout, usize)> {
    let most = hits.iter().rev().max_by_key(|(_, hits)| *hits)?;
    (most.1 > 0).then_some(*most)
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
