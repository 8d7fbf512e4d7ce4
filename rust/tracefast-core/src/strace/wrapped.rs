//! Calls that were wrapped at a width: by mail, by the form of an issue, by a copy from a terminal.
//!
//! The width is found once, from the first lines, and a line is joined to the one before it only if
//! that one has the width and both together are a whole event. All else stays as it is, and is not
//! understood.

use std::borrow::Cow;

use crate::strace::call::{ending, foreign_text};
use crate::strace::leader::line_layout::{layout_of, stands_alone};
use crate::strace::leader::{Delta, Layout, Pid, Time};
use crate::strace::line_start::{call_name, is_continuation, personality};
use crate::text::block::Block;
use crate::text::colour;
use crate::text::prefix::Prefix;

/// How many bytes of a log are searched for wrapped lines.
const SEARCHED: usize = 1 << 18;

/// Widths that programs wrap at. One call that was wrapped at another width proves nothing.
const USUAL: [usize; 9] = [72, 76, 78, 79, 80, 100, 120, 132, 160];

/// The least width: columns and the name of a call have room.
const LEAST: usize = 40;

/// Most lines of one event, and most bytes.
const MOST_LINES: usize = 256;
const MOST_BYTES: usize = 1 << 16;

/// Where lines were wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wrap {
    /// No event's first line is longer. Where lines end between words, blanks at their ends do not
    /// count.
    longest: usize,
    /// The width that the log looks wrapped at.
    pub width: u32,
    breaks: Breaks,
    /// The columns before each event, if the log has any.
    columns: Option<Layout>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Breaks {
    /// Behind as many bytes as a line has.
    Anywhere,
    /// Between words, with the blanks at the ends of lines, as `fold -s` does.
    BehindBlanks,
    /// Between words, without the blanks, as mail programs and Python's `textwrap` do.
    AtBlanks,
}

/// A line that was made of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Joined {
    /// Its number among the lines of its block, after all were joined.
    pub line: u32,
    /// How many lines were joined to it.
    pub lines: u32,
    /// How many bytes it lost; blanks that belong there may be more than the line feeds.
    pub bytes: i32,
}

impl Wrap {
    /// The width at which the lines of `text` were wrapped, if they were. They have no prefixes.
    pub(crate) fn find(text: &[u8]) -> Option<Self> {
        let text = &text[..text.len().min(SEARCHED)];
        let lines: Vec<&[u8]> = text.split(|&b| b == b'\n').map(without_feed).collect();
        // Most logs have none, and none of their lines is looked at twice.
        let columns = columns(&lines);
        let starts: Vec<bool> = lines.iter().map(|line| is_start(line, columns)).collect();
        let parts = |at: &usize| {
            let [line, next] = [lines[*at], lines.get(at + 1).copied().unwrap_or_default()];
            starts[*at] && goes_on(next, columns) && !is_torn(line)
        };
        let heads: Vec<usize> = (0..lines.len()).filter(parts).collect();
        if heads.is_empty() {
            return None;
        }
        let longest = |len: fn(&[u8]) -> usize| {
            let records = lines.iter().zip(&starts).filter(|(_, starts)| **starts);
            records.map(|(line, _)| len(line)).max().unwrap_or(0)
        };
        let wraps = [
            (Breaks::Anywhere, longest(<[u8]>::len)),
            (Breaks::BehindBlanks, longest(<[u8]>::len)),
            (Breaks::AtBlanks, longest(|line| line.trim_ascii_end().len())),
        ];
        wraps.into_iter().filter(|(_, longest)| *longest >= LEAST).find_map(|(breaks, longest)| {
            let wrap = Self { longest, width: longest as u32, breaks, columns };
            wrap.proved(&lines, &heads)
        })
    }

    /// The same with its width, if the events that start at `heads` were wrapped so.
    fn proved(mut self, lines: &[&[u8]], heads: &[usize]) -> Option<Self> {
        let (mut joined, mut fit, mut kept, mut lacking, mut others) = (0, 0, 0, 0, 0);
        let mut most = usize::MAX;
        for &head in heads {
            let [line, next] = [lines[head], lines[head + 1]];
            if !self.is_break(line, next) {
                others += usize::from(!is_whole(line));
                continue;
            }
            fit += 1;
            lacking += usize::from(lacks_blank(line, next));
            kept += usize::from(line.ends_with(b" "));
            most = most.min(room_for(line, next));
            joined += usize::from(self.join(&lines[head..]).is_some());
        }
        let widths = match self.breaks {
            Breaks::Anywhere => self.longest..=self.longest,
            _ => self.longest..=most.saturating_sub(1),
        };
        let usual = USUAL.into_iter().find(|width| widths.contains(width));
        self.width = usual.unwrap_or(self.longest) as u32;
        let blanks = match self.breaks {
            Breaks::Anywhere => lacking * 10 <= fit,
            Breaks::BehindBlanks => lacking * 10 <= fit && kept * 2 > fit,
            Breaks::AtBlanks => true,
        };
        let enough = joined > 0 && (fit > 1 || usual.is_some());
        (enough && blanks && others * 10 <= fit).then_some(self)
    }

    /// Whether a line that is followed by `next` may have been wrapped between the two.
    fn is_break(&self, line: &[u8], next: &[u8]) -> bool {
        match self.breaks {
            Breaks::Anywhere => line.len() == self.longest,
            Breaks::BehindBlanks => {
                let kept = line.ends_with(b" ") || line.len() >= self.longest;
                kept && room_for(line, next) > self.longest
            }
            // Strace aligns results with blanks, which may be gone.
            Breaks::AtBlanks if line.trim_ascii_end().ends_with(b")") && is_result(next) => true,
            Breaks::AtBlanks => room_for(line, next) > self.longest,
        }
    }

    /// What was between a line and the next one. `None` if the text so far, which ends with that
    /// line, does not show it: within a string there may have been several blanks.
    fn glue(&self, text: &[u8], line: &[u8], next: &[u8]) -> Option<&'static [u8]> {
        let kept = self.breaks != Breaks::AtBlanks;
        if kept || line.ends_with(b" ") || next.starts_with(b" ") {
            return Some(b"");
        }
        let last = line.rsplit(|&b| b == b' ').next().map_or(0, <[u8]>::len);
        let long = line.len() >= self.longest && last + first_word(next) > self.longest;
        match (is_in_string(text), long) {
            (false, false) => Some(blanks_before(line, next)),
            (false, true) if lacks_blank(line, next) => Some(b" "),
            // No line has room for the word; but a word that is as long as a line may end with it.
            (false, true) if last < self.longest => Some(b""),
            _ => None,
        }
    }

    /// The event that starts on the first of `lines` and goes on in others, and how many these are.
    fn join(&self, lines: &[&[u8]]) -> Option<(Vec<u8>, usize)> {
        let mut text = lines.first()?.to_vec();
        let mut whole = None;
        for (at, pair) in lines.windows(2).enumerate().take(MOST_LINES) {
            let [line, next] = [pair[0], pair[1]];
            if !goes_on(next, self.columns) || !self.is_break(line, next) || text.len() > MOST_BYTES
            {
                break;
            }
            // It goes on, but nobody knows how.
            let glue = self.glue(&text, line, next)?;
            text.extend_from_slice(glue);
            text.extend_from_slice(next);
            if is_whole(&text) {
                whole = Some((at + 1, text.len()));
            }
        }
        let (lines, len) = whole?;
        text.truncate(len);
        Some((text, lines))
    }

    /// Whether an event starts on the line: no line is joined to others before it.
    pub(crate) fn starts_event(&self, line: &[u8]) -> bool {
        is_start(line, self.columns)
    }

    /// The rest of a call, which strace 5.2 to 6.1 may print without columns (`-z`): a line that has
    /// the width goes on.
    fn join_rest(&self, lines: &[&[u8]]) -> Option<(Vec<u8>, usize)> {
        let full = |line: &&&[u8]| self.breaks == Breaks::Anywhere && line.len() == self.longest;
        let full = lines.iter().take(MOST_LINES).take_while(full).count();
        let goes_on = |line: &&&[u8]| goes_on(line, self.columns);
        let more = lines.iter().skip(1).take(full).take_while(goes_on).count();
        (more > 0).then(|| (lines[..=more].concat(), more))
    }

    /// The text with its lines joined.
    pub(crate) fn joined(&self, text: &[u8]) -> Vec<u8> {
        self.write(text, None).0
    }

    /// Joins the lines of `block`.
    #[cold]
    pub(crate) fn join_lines(&self, block: &mut Block, prefix: Option<&Prefix>) -> Vec<Joined> {
        let (text, all) = self.write(block.text(), prefix);
        if !all.is_empty() {
            block.replace(&text);
        }
        all
    }

    /// The text with its lines joined, and which lines were.
    fn write(&self, text: &[u8], prefix: Option<&Prefix>) -> (Vec<u8>, Vec<Joined>) {
        let lines: Vec<&[u8]> = text.split_inclusive(|&b| b == b'\n').collect();
        let skip = |line: &[u8]| prefix.and_then(|prefix| prefix.skip(line)).unwrap_or(0);
        let skips: Vec<usize> = lines.iter().map(|line| skip(without_feed(line))).collect();
        let behind = lines.iter().zip(&skips).map(|(line, &skip)| &without_feed(line)[skip..]);
        let plain: Vec<Cow<'_, [u8]>> = behind.map(colour::plain).collect();
        let own: Vec<&[u8]> = plain.iter().map(|line| &**line).collect();
        let (mut out, mut all) = (Vec::with_capacity(text.len()), Vec::new());
        let (mut at, mut number) = (0, 0);
        while at < lines.len() {
            let starts = self.starts_event(own[at]);
            let found = match starts {
                true if is_torn(own[at]) => None,
                true => self.join(&own[at..]),
                false => self.join_rest(&own[at..]),
            };
            let len = out.len();
            let mut last = at;
            if let Some((event, more)) = found {
                last += more;
                out.extend_from_slice(&lines[at][..skips[at]]);
                out.extend_from_slice(&event);
                out.extend(lines[last].ends_with(b"\n").then_some(b'\n'));
                let before: usize = lines[at..=last].iter().map(|line| line.len()).sum();
                let bytes = before as i32 - (out.len() - len) as i32;
                all.push(Joined { line: number, lines: more as u32, bytes });
            } else {
                out.extend_from_slice(lines[at]);
            }
            (at, number) = (last + 1, number + 1);
        }
        (out, all)
    }
}

/// The line without its end.
fn without_feed(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The columns that most events have which have any. Names of tasks that come and go are none.
fn columns(lines: &[&[u8]]) -> Option<Layout> {
    let alone = lines.iter().filter(|line| stands_alone(line));
    let mut found: Vec<(Layout, usize)> = Vec::new();
    let mut all = 0;
    for layout in alone.filter_map(|line| layout_of(line)).map(|(layout, _)| layout) {
        all += 1;
        match found.iter_mut().find(|(other, _)| *other == layout) {
            Some((_, count)) => *count += 1,
            None => found.push((layout, 1)),
        }
    }
    found.retain(|(layout, _)| is_timed(layout) || layout.pid == Pid::Plain);
    let (layout, count) = found.into_iter().max_by_key(|(_, count)| *count)?;
    // Rests that look like calls have none.
    (count * 3 > all).then_some(layout)
}

/// Whether an event starts on the line, in a log with these columns; it may have nothing else.
fn is_start(line: &[u8], columns: Option<Layout>) -> bool {
    let Some(columns) = columns else { return stands_alone(line) };
    let own = |line: &[u8]| layout_of(line).filter(|(layout, _)| same_columns(*layout, columns));
    if own(line).is_some() {
        return stands_alone(line) || own(line).is_some_and(|(_, at)| at == line.len());
    }
    let columns = [line, b" "].concat();
    own(&columns).is_some_and(|(_, at)| at > line.len())
}

/// `[pid N]` comes and goes.
fn same_columns(one: Layout, two: Layout) -> bool {
    one == two || is_timed(&two) && Layout { pid: two.pid, ..one } == two
}

fn is_timed(layout: &Layout) -> bool {
    layout.time != Time::None || layout.delta != Delta::None
}

/// Whether the line starts with the result of a call.
fn is_result(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"= ")
}

/// Whether the line may be the rest of one that was wrapped.
fn goes_on(line: &[u8], columns: Option<Layout>) -> bool {
    // A result may be all that is left of a call.
    let frame = is_continuation(line) && !line.starts_with(b" = ");
    !line.trim_ascii().is_empty() && !is_start(line, columns) && !frame
}

/// Whether a blank is missing between the two: strace prints one behind a comma that is not in a
/// string, before results and durations, and around marks.
fn lacks_blank(line: &[u8], next: &[u8]) -> bool {
    if line.ends_with(b" ") || next.starts_with(b" ") || is_in_string(line) {
        return false;
    }
    let marks = [&b","[..], b"/*", b"---", b"+++"];
    // `==` may be cut, too.
    let result = line.ends_with(b" =") && !next.starts_with(b"=") || is_result(next);
    let duration = matches!(next, [b'<', b'0'..=b'9', ..]);
    result || duration || marks.into_iter().any(|mark| line.ends_with(mark))
}

fn first_word(line: &[u8]) -> usize {
    line.iter().take_while(|&&b| b != b' ').count()
}

/// How long the line would be with the first word of the next one.
fn room_for(line: &[u8], next: &[u8]) -> usize {
    let word = first_word(next.trim_ascii_start());
    if line.ends_with(b" ") {
        // Blanks that are kept count, that behind the word, too.
        return line.len() + word + usize::from(word < next.trim_ascii().len());
    }
    line.len() + blanks_before(line, next).len() + word
}

/// The blanks that strace prints between the two, where none is left.
fn blanks_before(line: &[u8], next: &[u8]) -> &'static [u8] {
    // The mark has a blank of its own.
    if line.ends_with(b",") && next.starts_with(b"<unfinished ") { b"  " } else { b" " }
}

/// Whether the text is an event from its columns to its end.
fn is_whole(text: &[u8]) -> bool {
    let Some((_, at)) = layout_of(text) else { return false };
    let rest = &text[at..];
    let rest = &rest[personality(rest)..];
    let ends = |mark: &[u8], at: usize| rest.len() > at + mark.len() && rest.ends_with(mark);
    match rest.first() {
        Some(b'+') => ends(b" +++", 4),
        Some(b'-') => ends(b" ---", 4),
        Some(b'<') => {
            let half = memchr::memmem::find(rest, b" resumed>").map(|at| &rest[at + 9..]);
            half.is_some_and(|half| ending::ending(half).is_some())
        }
        _ => call_name(rest).is_some_and(|n| ending::ending(&rest[n + 1..]).is_some()),
    }
}

/// Whether a message of strace or the program's output is behind the call on a line, whose rest
/// comes later.
fn is_torn(line: &[u8]) -> bool {
    let Some((_, at)) = layout_of(line) else { return false };
    let rest = &line[at..];
    let output = |n: usize| {
        foreign_text::writes(&rest[..n]) && foreign_text::output_start(&rest[n + 1..]).is_some()
    };
    call_name(rest).is_some_and(output) || foreign_text::message_start(rest).is_some()
}

/// Whether the text ends within a string.
fn is_in_string(text: &[u8]) -> bool {
    let (mut inside, mut escaped) = (false, false);
    for &byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = inside,
            b'"' => inside = !inside,
            _ => {}
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: [&str; 7] = [
        "7 execve(\"/usr/bin/cat\", [\"cat\", \"words\"], 0x7ffe484ec850 /* 23 vars */) = 0",
        "7 openat(AT_FDCWD, \"/etc/ld.so.cache\", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)",
        "7 close(3) = 0",
        "7 read(3, \"\\177ELF\\2\\1\\1\\3\\0\\0\\0\\0\\0\\0\\0\\0\\3\\0>\\0\\1\\0\\0\\0P\\237\\2\\0\\0\\0\\0\\0\"..., 832) = 832",
        "7 mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f1e0a5d0000",
        "7 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=8, si_uid=0, si_status=0, si_utime=0} ---",
        "7 +++ exited with 0 +++",
    ];

    /// The log with its lines cut behind `width` bytes.
    fn cut(lines: &[&str], width: usize) -> String {
        let parts = |line: &&str| {
            line.as_bytes()
                .chunks(width)
                .map(|part| String::from_utf8_lossy(part).into_owned() + "\n")
                .collect::<String>()
        };
        lines.iter().map(parts).collect()
    }

    /// The log with its lines broken between words; `kept`: blanks stay at their ends.
    fn folded(lines: &[&str], width: usize, kept: bool) -> String {
        let mut out = String::new();
        for line in lines {
            let mut at = 0;
            for word in line.split_inclusive(' ') {
                if at > 0 && at + word.trim_end().len() > width {
                    if !kept {
                        out.truncate(out.trim_end().len());
                    }
                    out.push('\n');
                    at = 0;
                }
                out.push_str(word);
                at += word.len();
            }
            out.push('\n');
        }
        out
    }

    fn clean() -> String {
        LOG.map(|line| format!("{line}\n")).concat()
    }

    #[test]
    fn lines_cut_at_a_width_are_joined() {
        for width in [40, 61, 72, 80, 90] {
            let text = cut(&LOG, width);
            let wrap = Wrap::find(text.as_bytes()).expect("it is wrapped");
            assert_eq!(wrap.width as usize, width);
            assert_eq!(String::from_utf8_lossy(&wrap.joined(text.as_bytes())), clean());
        }
    }

    #[test]
    fn lines_broken_between_words_are_joined() {
        for (width, kept) in [(60, true), (72, true), (80, true), (60, false), (72, false)] {
            let text = folded(&LOG, width, kept);
            let wrap = Wrap::find(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(String::from_utf8_lossy(&wrap.joined(text.as_bytes())), clean(), "{width}");
        }
    }

    #[test]
    fn a_break_within_a_string_may_have_had_several_blanks() {
        let line =
            "7 write(1, \"one two three four five six seven eight nine ten eleven\", 56) = 56";
        let text = folded(&[LOG[0], LOG[1], line], 60, false);
        let wrap = Wrap::find(text.as_bytes()).expect("it is wrapped");
        let joined = String::from_utf8(wrap.joined(text.as_bytes())).unwrap();
        assert!(joined.contains("ten\neleven") && joined.starts_with(LOG[0]), "{joined}");
    }

    #[test]
    fn other_logs_are_not_wrapped() {
        let output = "7 write(1, \"x\", 1x) = 1\nhello\n7 write(1, \"y\\n\", 2y\n) = 2\n";
        for text in [clean(), output.to_owned(), LOG[1][..80].to_owned(), String::new()] {
            assert_eq!(Wrap::find(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn one_call_needs_a_usual_width() {
        assert!(Wrap::find(cut(&LOG[1..3], 80).as_bytes()).is_some());
        assert!(Wrap::find(cut(&LOG[1..3], 83).as_bytes()).is_none());
    }

    #[test]
    fn joined_lines_and_their_bytes_are_counted() {
        let text = cut(&LOG[..2], 40);
        let wrap = Wrap::find(text.as_bytes()).expect("it is wrapped");
        let mut block = Block::from_text(text.as_bytes());
        let joined = wrap.join_lines(&mut block, None);
        let lines: Vec<_> = joined.iter().map(|one| (one.line, one.lines, one.bytes)).collect();
        assert_eq!(lines, [(0, 1, 1), (1, 2, 2)]);
        assert_eq!(block.source_len(), text.len());
    }
}
