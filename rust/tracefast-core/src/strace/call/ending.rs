//! Where the text of a call ends, and whether a blank follows `resumed>`.

use memchr::memmem;

use crate::events::vocabulary::Status;
use crate::strace::arguments::{args_end, ended_args};
use crate::strace::call::note;
use crate::strace::call::result::{self, Outcome};

/// The end of a call's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// Length of the arguments.
    pub args: usize,
    /// The result, if the text has one.
    pub outcome: Option<Outcome>,
    /// Status, if the text says more than the result.
    pub status: Option<Status>,
}

/// Whether a blank follows `resumed>`, as `<... NAME resumed> ` was printed before strace 5.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Gap {
    /// Not known.
    #[default]
    Unknown,
    /// No blank: strace 5.0 and later.
    New,
    /// A blank: earlier versions.
    Old,
}

impl Gap {
    /// Detects it from the second halves in `text`.
    pub fn detect(text: &[u8]) -> Self {
        let halves = memmem::find_iter(text, b" resumed>");
        halves.map(|at| Self::from_second_half(&text[at + 9..])).max().unwrap_or_default()
    }

    /// Detects it from the text after one `resumed>`.
    fn from_second_half(rest: &[u8]) -> Self {
        match rest {
            // In every version these start with a blank of their own, or may do so.
            [b' ', b'=' | b'<' | b'o' | b'/' | b'[', ..] | [b'<' | b'\n', ..] | [] => Self::Unknown,
            [b' ', ..] => Self::Old,
            // strace 4.15 to 4.26 prints no blank either where a task dies in the call.
            [b')', rest @ ..] if rest.trim_ascii_start().starts_with(b"= ?") => Self::Unknown,
            _ => Self::New,
        }
    }
}

/// Removes the blank that versions up to 4.26 print after `resumed>`.
pub(crate) fn strip_gap(rest: &[u8], gap: Gap) -> &[u8] {
    match rest {
        // No later version prints these, even if earlier lines are of a newer version.
        [b' ', b' ' | b')', ..] => &rest[1..],
        // ` => {…}` and ` <unfinished ...>` start with a blank of their own.
        [b' ', b'=', b'>', b' ', ..] | [b' ', b'<', ..] => rest,
        [b' ', b'o', b'r', b' ', ..] if gap != Gap::Old => rest,
        [b' ', ..] if gap != Gap::New => &rest[1..],
        _ => rest,
    }
}

/// Position of the `)` that, with blanks, precedes the ` = ` whose last blank is at `mark`.
#[inline]
pub(crate) fn plain_end(line: &[u8], mark: usize) -> Option<usize> {
    let mut i = mark.checked_sub(2)?;
    while i > 0 && line[i - 1] == b' ' {
        i -= 1;
    }
    (i > 0 && line[i - 1] == b')').then(|| i - 1)
}

/// If `text` has exactly one ` = `, the position of its last blank.
pub(crate) fn only_mark(text: &[u8]) -> Option<usize> {
    let mut marks = memchr::memchr_iter(b'=', text)
        .filter(|&at| at > 0 && text[at - 1] == b' ' && text.get(at + 1) == Some(&b' '));
    let first = marks.next()?;
    marks.next().is_none().then_some(first + 1)
}

/// How many `)` are tried as the end of the arguments.
const TRIES: usize = 64;

/// Finds the end of a call in `text`, which starts with its arguments and is complete. `None` if
/// the call does not end in it.
pub fn ending(text: &[u8]) -> Option<Ending> {
    for (mark, status) in
        [(&b" <detached ...>"[..], Status::Detached), (b" <unfinished ...>", Status::Unfinished)]
    {
        if let Some(head) = text.strip_suffix(mark) {
            return Some(Ending { args: head.len(), outcome: None, status: Some(status) });
        }
    }
    if text.ends_with(b">") {
        // `<Cannot restart pid N …>`, `<ptrace(OP):ERR>`, `<unfinished ... exit status N>`
        let marks = [
            (&b" <Cannot restart pid "[..], Status::Unavailable),
            (b" <ptrace(", Status::Unavailable),
            (b" <unfinished ... exit status ", Status::Killed),
        ];
        // The last mark ends the line: whatever looks like a mark before it is part of the text.
        let found = marks
            .into_iter()
            .filter_map(|(mark, status)| Some((memmem::rfind(text, mark)?, status)))
            .max_by_key(|&(at, _)| at);
        if let Some((at, status)) = found
            && args_end(text, 0).is_none_or(|end| end >= at)
        {
            return Some(Ending { args: at, outcome: None, status: Some(status) });
        }
    }
    by_result(text, result::parse)
}

/// The same for a call with a note behind its result, or the text of whose error is cut.
#[cold]
pub(crate) fn noted(text: &[u8]) -> Option<Ending> {
    by_result(text, note::parse)
}

/// Finds the end of a call by its result, which `parse` reads.
fn by_result(text: &[u8], parse: fn(&[u8], usize) -> Option<Outcome>) -> Option<Ending> {
    let mut from = 0;
    // The first half may hold opening brackets that `text` lacks, so a `)` may be too early. Each
    // try may scan the rest of the text, so their number is limited.
    for _ in 0..TRIES {
        let end = args_end(text, from)?;
        if let Some(outcome) = result_start(text, end).and_then(|at| parse(text, at)) {
            let (args, killed) = match text[..end].strip_suffix(b" <unfinished ...>") {
                Some(head) => (head.len(), true),
                None => (end, false),
            };
            return Some(Ending {
                args,
                outcome: Some(outcome),
                status: killed.then_some(Status::Killed),
            });
        }
        from = end + 1;
    }
    None
}

/// What a line without a leader does to the call that an earlier line left open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// Nothing: strace did not write it.
    No,
    /// It is the rest of the call.
    Whole,
    /// It marks the call as unfinished; the rest follows elsewhere.
    Mark,
}

/// What `line` does to a call whose text so far is `head`. `torn`: no mark ends that text.
///
/// # Examples
/// ```
/// use tracefast_core::strace::call::ending::{Tail, tail};
/// let mut room = Vec::new();
/// let mut tail = |head: &str, line: &str| tail(head.as_bytes(), line.as_bytes(), true, &mut room);
/// assert_eq!(tail("flags=SIGCHLD", ", child_tidptr=0x7f) = 3490"), Tail::Whole);
/// assert_eq!(tail("2, \"x\\n\", 2", ")            = 2"), Tail::Whole);
/// assert_eq!(tail("flags=SIGCHLD", " <unfinished ...>"), Tail::Mark);
/// assert_eq!(tail("2, \"x\\n\", 2", "some output"), Tail::No);
/// ```
pub fn tail(head: &[u8], line: &[u8], torn: bool, room: &mut Vec<u8>) -> Tail {
    if torn && line == b" <unfinished ...>" {
        return Tail::Mark;
    }
    // The rest may hold none of the arguments, and the head may have brackets left open.
    if line.first() == Some(&b')') && result_after(line, 0).is_some() {
        return Tail::Whole;
    }
    if !may_end(line) {
        return Tail::No;
    }
    room.clear();
    room.extend_from_slice(head);
    room.extend_from_slice(line);
    match ending(room) {
        Some(found) if found.args >= head.len() => Tail::Whole,
        _ => Tail::No,
    }
}

/// Whether a call may end on this line.
pub(crate) fn may_end(line: &[u8]) -> bool {
    line.ends_with(b">") || memmem::find(line, b" = ").is_some()
}

/// Length of the arguments in `text`, the text of a call that was cut off: without the `)` and the
/// part of a result that may follow.
///
/// # Examples
/// ```
/// use tracefast_core::strace::call::ending::cut_args;
/// assert_eq!(cut_args(b"3, \"a\", 1)   = -1 ENOENT (No su"), 9);
/// assert_eq!(cut_args(b"3, \"a"), 5);
/// ```
pub fn cut_args(text: &[u8]) -> usize {
    args_end(text, 0)
        .filter(|&end| {
            let rest = text[end + 1..].trim_ascii_start();
            rest.is_empty() || rest.starts_with(b"=")
        })
        .unwrap_or(text.len())
}

/// Like [`cut_args`], for a line that was cut: if nothing closes the arguments, the last one may have
/// lost digits or the end of a name, so it is left out.
pub(crate) fn known_args(text: &[u8]) -> usize {
    let end = cut_args(text);
    if end < text.len() { end } else { ended_args(text) }
}

/// The result after the `)` at `end`: blanks, `= `, value.
pub(crate) fn result_after(text: &[u8], end: usize) -> Option<Outcome> {
    result_start(text, end).and_then(|at| result::parse(text, at))
}

/// Where the value starts after the `)` at `end`.
fn result_start(text: &[u8], end: usize) -> Option<usize> {
    let rest = &text[end + 1..];
    let blanks = rest.iter().position(|&b| b != b' ')?;
    (blanks > 0 && rest[blanks..].starts_with(b"= ")).then_some(end + 1 + blanks + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_after_resumed_in_old_and_new_versions() {
        assert_eq!(strip_gap(b" )             = 0", Gap::Unknown), b")             = 0");
        assert_eq!(strip_gap(b" \"x\", 10) = 1", Gap::Unknown), b"\"x\", 10) = 1");
        assert_eq!(
            strip_gap(b" => {parent_tid=[1]}, 88) = 1", Gap::Unknown),
            b" => {parent_tid=[1]}, 88) = 1"
        );
        // Whatever the version of earlier lines.
        assert_eq!(strip_gap(b" => {a=1}) = 1", Gap::Old), b" => {a=1}) = 1");
        assert_eq!(strip_gap(b" <unfinished ...>) = ?", Gap::Old), b" <unfinished ...>) = ?");
        assert_eq!(strip_gap(b", \"x\", 10) = 1", Gap::Unknown), b", \"x\", 10) = 1");
        assert_eq!(strip_gap(b" <unfinished ...>) = ?", Gap::Unknown), b" <unfinished ...>) = ?");
        assert_eq!(strip_gap(b" [u:r:t:s0], 3) = 4", Gap::New), b" [u:r:t:s0], 3) = 4");
        assert_eq!(Gap::detect(b"<... close resumed> ) = 0 <... close resumed>) = ?"), Gap::Old);
        assert_eq!(Gap::detect(b"<... read resumed>, 3) = 0"), Gap::New);
        assert_eq!(Gap::detect(b"<... read resumed>\"x\", 3) = 0"), Gap::New);
        assert_eq!(Gap::detect(b"<... a resumed>) = ?\n<... b resumed> NULL) = 0"), Gap::Old);
        assert_eq!(
            Gap::detect(b"<... a resumed>) = ?\n<... b resumed> => {a=1}) = 0"),
            Gap::Unknown
        );
    }

    #[test]
    fn the_last_mark_counts() {
        let text = b" <Cannot restart pid 7 with <ptrace(PTRACE_SYSCALL): No such process>";
        let ending = ending(text).expect("a mark");
        assert_eq!((ending.args, ending.status), (27, Some(Status::Unavailable)));
    }

    #[test]
    fn many_false_ends_do_not_slow_down_parsing() {
        // If each of them scanned the rest of the text, this would take minutes.
        let text = ") = -1 E".repeat(1_000_000);
        assert_eq!(ending(text.as_bytes()), None);
    }

    #[test]
    fn endings() {
        let of =
            |text: &str| ending(text.as_bytes()).map(|e| (text[..e.args].to_owned(), e.status));
        assert_eq!(of("3) = 0"), Some(("3".into(), None)));
        assert_eq!(of("3 <unfinished ...>) = ?"), Some(("3".into(), Some(Status::Killed))));
        assert_eq!(of("3 <detached ...>"), Some(("3".into(), Some(Status::Detached))));
        assert_eq!(of("3, \"a) = 3"), None);
        assert_eq!(of("0x3), 5) = 0"), Some(("0x3), 5".into(), None)));
        assert_eq!(
            of("1 <ptrace(SYSCALL):No such process>"),
            Some(("1".into(), Some(Status::Unavailable)))
        );
    }
}
