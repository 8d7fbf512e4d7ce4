//! Writes calls into rows: whole calls, joined halves, and calls that lack one half.

use std::borrow::Cow;

use crate::events::file_id::file_id;
use crate::events::parsed_block::Parsed;
use crate::events::rows::ViewSource;
use crate::events::rows::{AT_FDCWD, Rows, Side};
use crate::events::schema::Column as C;
use crate::events::split_calls::SecondHalf;
use crate::events::vocabulary::{EventKind, Op, Status, open_flags};
use crate::linux::LONGEST_NS;
use crate::linux::errno;
use crate::linux::syscalls::{self, Classes};
use crate::strace::arguments::ended_args;
use crate::strace::call::ending::{self, Ending};
use crate::strace::call::result::{Outcome, ResultStatus};
use crate::strace::fields::{self, Annotation};
use crate::strace::format::Format;
use crate::text::escape::{escape_invalid, unescape_into};
use crate::text::number;
use crate::text::string_view::{self, Place, unpack};

/// Writes the result of a call. `source` is the text that the outcome's ranges refer to;
/// `errno_key` is the dictionary key of the error's name.
#[inline]
pub(crate) fn write_outcome(
    parsed: &mut Parsed,
    row: usize,
    source: ViewSource<'_>,
    outcome: &Outcome,
    errno_key: Option<u32>,
    sys: u16,
) {
    let Parsed { rows, side, oddities, .. } = parsed;
    let mut valid = 0;
    if let Some(ret) = outcome.ret {
        rows.ret[row] = ret;
        valid |= C::Ret.bit();
    }
    match outcome.dur {
        Some(dur) if (0..=LONGEST_NS).contains(&dur) => {
            rows.dur[row] = dur;
            valid |= C::DurNs.bit();
        }
        Some(_) => oddities.impossible_durations += 1,
        None => {}
    }
    if let Some(key) = errno_key {
        rows.errno[row] = key;
        valid |= C::Errno.bit();
    }
    let makes_fd = syscalls::shape(sys).makes_fd;
    let noted = outcome.annotation.filter(|_| !makes_fd).map(|(start, _)| start - 1);
    if let Some((start, end)) = outcome.rest(noted) {
        rows.result[row] = source.view(start, end, side);
        valid |= C::Result.bit();
        if makes_fd && source.bytes[start..end].starts_with(b"(deleted)") {
            rows.effect[row].flags |= open_flags::DELETED;
        }
    }
    if makes_fd && let Some(note) = outcome.annotation {
        valid |= write_new_descriptor(rows, side, row, source, note, outcome.plain);
    }
    let status = match outcome.status {
        ResultStatus::NoValue if !returns_nothing(sys) => Status::Killed,
        other => other.status(),
    };
    rows.effect[row].made_up = outcome.status == ResultStatus::Injected;
    rows.status[row] = status as u8;
    rows.kind[row] = EventKind::Syscall as u8;
    rows.valid[row] |= valid | C::Status.bit() | C::Kind.bit();
}

/// Writes path and type of a descriptor that a call returns, from its annotation `start..end` of
/// the source. Returns the columns written. `plain`: the annotation surely holds no escape.
#[inline]
pub(crate) fn write_new_descriptor(
    rows: &mut Rows,
    side: &mut Side,
    row: usize,
    source: ViewSource<'_>,
    (start, end): (usize, usize),
    plain: bool,
) -> u64 {
    let note = Annotation::parse(&source.bytes[start..end]);
    let name = &source.bytes[start..start + note.len];
    let plain = plain || memchr::memchr(b'\\', name).is_none();
    let (path, id) = if source.utf8 && plain {
        (string_view::pack(name, source.place, source.base + start), file_id(name))
    } else {
        let from = side.bytes.len();
        unescape_into(name, &mut side.bytes);
        let id = file_id(&side.bytes[from..]);
        (side.since(from), id)
    };
    rows.path[row] = path;
    let mut valid = C::Path.bit();
    if note.identity {
        rows.file[row] = id;
        valid |= C::File.bit();
    }
    if let Some(file_type) = note.file_type {
        rows.file_type[row] = file_type as u8;
        valid |= C::FileType.bit();
    }
    if note.deleted {
        rows.effect[row].flags |= open_flags::DELETED;
    }
    valid
}

/// Calls that never return a value. Any other call without one was killed.
fn returns_nothing(sys: u16) -> bool {
    syscalls::shape(sys).classes.has(Classes::ENDS.and(Classes::SIGRETURNS))
}

/// The name of the error, as printed or by its number.
pub(crate) fn errno_name<'a>(outcome: &Outcome, text: &'a [u8]) -> Option<Cow<'a, [u8]>> {
    if let Some((start, end)) = outcome.errno {
        return Some(Cow::Borrowed(&text[start..end]));
    }
    let number = outcome.errno_number?;
    Some(match errno::name(number) {
        Some(name) => Cow::Borrowed(name.as_bytes()),
        // strace prints errors without a name like this.
        None => Cow::Owned(format!("ERRNO_{number}").into_bytes()),
    })
}

/// The return value, if the call took place and succeeded.
#[inline]
pub(crate) fn success(outcome: &Outcome) -> Option<i64> {
    let failed = outcome.errno.is_some()
        || outcome.errno_number.is_some()
        || outcome.status == ResultStatus::Injected;
    outcome.ret.filter(|_| !failed)
}

/// Fills the row that was kept for the second half of a call. `half` holds the text of the first
/// half, unless the log has none.
pub fn finish(parsed: &mut Parsed, text: &[u8], row: usize, format: &Format, half: SecondHalf<'_>) {
    let rest = &text[half.rest.0 as usize..half.rest.1 as usize];
    let rest = if half.gap { ending::strip_gap(rest, format.gap) } else { rest };
    let mut joined = std::mem::take(&mut parsed.scratch);
    joined.clear();
    joined.extend_from_slice(half.head.unwrap_or_default());
    let head_len = joined.len();
    joined.extend_from_slice(rest);
    // If the second half is plain, it is enough to parse it alone; otherwise parse the joined text.
    let plain = half.mark.unwrap_or_else(|| ending::only_mark(rest)).and_then(|mark| {
        let end = ending::plain_end(rest, mark)?;
        let args = rest[..end].strip_suffix(b" <unfinished ...>");
        let found = ending::result_after(rest, end)?;
        (!format.times_calls || found.dur.is_some() || found.ret.is_none()).then(|| Ending {
            args: head_len + args.map_or(end, <[u8]>::len),
            outcome: Some(shift_ranges(found, head_len)),
            status: args.map(|_| Status::Killed),
        })
    });
    parsed.detours += u64::from(plain.is_none());
    let ending = plain.or_else(|| ending::ending(&joined));
    let noted = if ending.is_none() { ending::noted(&joined) } else { None };
    parsed.oddities.lost_values += u64::from(ending.is_none() && noted.is_none());
    let ending = ending.or(noted).unwrap_or(truncated(joined.len()));
    let note = noted.and_then(|ending| ending.outcome?.note);
    // Views of arguments and result share one copy of the joined text.
    let base = parsed.side.bytes.len();
    if half.utf8 || simdutf8::basic::from_utf8(&joined).is_ok() {
        parsed.side.bytes.extend_from_slice(&joined);
        write_joined(parsed, row, &joined, base, half, &ending);
    } else {
        // Views cannot point at text that is not UTF-8, so the call is parsed again after escaping.
        let escaped = escape_invalid(&joined).into_owned().into_bytes();
        parsed.side.bytes.extend_from_slice(&escaped);
        let ending = ending::ending(&escaped).or_else(|| ending::noted(&escaped));
        let ending = ending.unwrap_or(truncated(escaped.len()));
        write_joined(parsed, row, &escaped, base, half, &ending);
    }
    if noted.is_some() {
        let (start, end) = note.unwrap_or_default();
        parsed.note(row, &joined[start..end]);
        if start < end {
            add_extra(parsed, row, text, &joined[start..end]);
        }
    }
    parsed.scratch = joined;
}

/// Adds a line to what `extra` holds. `text` is that of the block.
pub(crate) fn add_extra(parsed: &mut Parsed, row: usize, text: &[u8], line: &[u8]) {
    let Parsed { rows, side, .. } = parsed;
    let from = side.bytes.len();
    if rows.has(row, C::Extra) {
        let before = unpack(&rows.extra[row], text, &side.bytes).to_vec();
        side.bytes.extend_from_slice(&before);
        side.bytes.push(b'\n');
    }
    side.bytes.extend_from_slice(escape_invalid(line).as_bytes());
    rows.extra[row] = side.since(from);
    rows.valid[row] |= C::Extra.bit();
}

/// Fills the columns of a call without an end from its arguments `args`.
/// `partial`: the last of them may be a part of one.
pub fn abandon(parsed: &mut Parsed, row: usize, args: &[u8], sys: u16, partial: bool) {
    let text = escape_invalid(args);
    let known = if partial { ending::known_args } else { ending::cut_args }(text.as_bytes());
    let text = &text[..ending::cut_args(text.as_bytes())];
    let base = parsed.side.bytes.len();
    parsed.side.bytes.extend_from_slice(text.as_bytes());
    let Parsed { rows, side, .. } = parsed;
    rows.args[row] = string_view::pack(text.as_bytes(), Place::Side, base);
    rows.valid[row] |= C::Args.bit();
    let known = &text.as_bytes()[..known];
    let source = ViewSource { bytes: known, place: Place::Side, base, utf8: true };
    fields::fill(rows, side, row, source, sys, None);
    if known.len() < text.len() {
        fields::forget_ends(rows, row, sys);
    }
}

/// The ending of a call whose text stops in the middle.
fn truncated(len: usize) -> Ending {
    Ending { args: len, outcome: None, status: Some(Status::Truncated) }
}

fn write_joined(
    parsed: &mut Parsed,
    row: usize,
    joined: &[u8],
    base: usize,
    half: SecondHalf<'_>,
    ending: &Ending,
) {
    let source = ViewSource { bytes: joined, place: Place::Side, base, utf8: true };
    let mut ret = None;
    if let Some(found) = &ending.outcome {
        let key = errno_name(found, joined).map(|name| parsed.errno_key(&name));
        write_outcome(parsed, row, source, found, key, half.sys);
        ret = success(found);
    }
    let rows = &mut parsed.rows;
    rows.kind[row] = EventKind::Syscall as u8;
    rows.valid[row] |= C::Kind.bit() | C::Status.bit();
    let exit = rows.has(row, C::Ts).then_some(rows.ts[row]);
    if let Some(status) = ending.status {
        rows.status[row] = status as u8;
    }
    if half.head.is_none() {
        rows.status[row] = Status::Headless as u8;
    }
    // Until here the row's time is that of the exit.
    let entry = match (half.head, half.entry) {
        (Some(_), entry) => {
            if let (Some(entry), Some(exit), false) = (entry, exit, rows.has(row, C::DurNs)) {
                if exit >= entry {
                    rows.dur[row] = exit.wrapping_sub(entry);
                    rows.valid[row] |= C::DurNs.bit();
                } else {
                    // The clock was set back.
                    parsed.oddities.impossible_durations += 1;
                }
            }
            entry
        }
        (None, _) => {
            exit.filter(|_| rows.has(row, C::DurNs)).map(|exit| exit.wrapping_sub(rows.dur[row]))
        }
    };
    match entry {
        Some(entry) => {
            rows.ts[row] = entry;
            rows.valid[row] |= C::Ts.bit();
        }
        None => rows.valid[row] &= !C::Ts.bit(),
    }
    rows.args[row] = string_view::pack(&joined[..ending.args], Place::Side, base);
    rows.valid[row] |= C::Args.bit();
    let known = match half.head {
        // Of the argument that was cut, the second half may have none, or the end of another.
        Some(head) if half.partial => ended_args(escape_invalid(head).as_bytes()),
        _ if ending.status == Some(Status::Truncated) => ending::known_args(&joined[..ending.args]),
        _ => ending.args,
    };
    let args = ViewSource { bytes: &joined[..known], ..source };
    fields::fill(&mut parsed.rows, &mut parsed.side, row, args, half.sys, ret);
    if known < ending.args {
        fields::forget_ends(&mut parsed.rows, row, half.sys);
    }
    if let Some(found) = &ending.outcome {
        apply_result(parsed, row, found, joined);
    }
}

/// Applies what the result means for particular calls. The outcome's ranges refer to `text`.
#[inline]
pub(crate) fn apply_result(parsed: &mut Parsed, row: usize, outcome: &Outcome, text: &[u8]) {
    let rows = &mut parsed.rows;
    match (rows.effect[row].op, outcome.aux) {
        // dup returns the same open file, so its annotation repeats that of the argument.
        (Op::Dup, None) if outcome.annotation.is_some() => rows.valid[row] &= !C::Result.bit(),
        // strace adds the pid in its own namespace (`printpid_translation` in `src/pidns.c`), which
        // is the one it prints everywhere else.
        (Op::Fork, Some((start, end))) => {
            if let Some(comment) = text[start..end].strip_prefix(b"/* ") {
                let (pid, n) = number::digits(comment);
                if n > 0 && comment[n..].starts_with(b" in strace's PID NS") {
                    rows.effect[row].at = i32::try_from(pid).unwrap_or(AT_FDCWD);
                }
            }
        }
        // Use the names: the numbers of these flags differ between architectures.
        (Op::SetStatus, Some((start, end))) => {
            if let Some(flags) = text[start..end].strip_prefix(b"(flags ") {
                let appends = syscalls::flags::appends(flags);
                rows.effect[row].flags = if appends { open_flags::APPEND } else { 0 };
            }
        }
        _ => {}
    }
}

pub(crate) fn shift_ranges(mut outcome: Outcome, by: usize) -> Outcome {
    let moved = |range: Option<(usize, usize)>| range.map(|(a, b)| (a + by, b + by));
    outcome.annotation = moved(outcome.annotation);
    outcome.errno = moved(outcome.errno);
    outcome.aux = moved(outcome.aux);
    outcome.note = moved(outcome.note);
    outcome
}
