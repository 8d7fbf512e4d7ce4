//! The usual columns before each record: `COMM-PID (TGID) [CPU] FLAGS TIME: `, as
//! `trace_print_context` in `kernel/trace/trace_output.c` prints them.
//!
//! No column has a fixed position: pids of eight digits, processors above 999 and other versions
//! shift them. What is fixed is their order, and that the kernel right-aligns a command's name to
//! 16 bytes (`%16s-%-7d`), so the `-` at byte 16 decides if a name looks like columns itself.

use crate::ftrace::header::numbers::{after_colon, number, timestamp};
use crate::ftrace::header::{COMM, Clock, Header, Layout};
use crate::ftrace::scan::blanks;
use crate::text::number::short_digits;

/// The longest columns, whatever comes before them.
const COLUMNS: usize = 256;

/// The header at the start of `line`; `None`: it is not a record.
///
/// # Examples
/// ```
/// use tracefast_core::ftrace::header::layouts::default::parse;
/// let line = b"            bash-2101    [001] d..2.  2881.878957: sys_write -> 0x2";
/// let header = parse(line).unwrap();
/// let (start, end) = header.comm.unwrap();
/// assert_eq!(&line[start..end], b"bash");
/// assert_eq!((header.pid, header.cpu), (Some(2101), Some(1)));
/// assert_eq!(header.time, Some(2_881_878_957_000));
/// assert_eq!(&line[header.payload..], b"sys_write -> 0x2");
/// ```
#[inline(always)]
pub fn parse(line: &[u8]) -> Option<Header> {
    match usual(line) {
        Some(header) => Some(header),
        None => unusual(line),
    }
}

/// Columns of other widths, or none.
#[inline(never)]
fn unusual(line: &[u8]) -> Option<Header> {
    if line.get(COMM) == Some(&b'-')
        && let Some(header) = at_dash(line, COMM)
    {
        return Some(header);
    }
    anywhere(line)
}

/// The columns as nearly all logs have them: numbers of less than eight digits, no thread group.
/// Eight bytes at a time; [`at_dash`] says the same of each line that this one takes.
#[inline(always)]
fn usual(line: &[u8]) -> Option<Header> {
    let column = u128::from_le_bytes(*line.first_chunk::<COMM>()?);
    if line.get(COMM) != Some(&b'-') {
        return None;
    }
    let blanks_before = (column ^ BLANKS).trailing_zeros() as usize / 8;
    let (pid, n) = short_digits(eight(line, COMM + 1)?)?;
    // Blanks align the pid to seven digits; older kernels to five.
    let mut at = COMM + 1 + n;
    let gap = u64::from_le_bytes(eight(line, at)?) ^ BLANKS as u64;
    let gap = gap.trailing_zeros() as usize / 8;
    at += gap;
    if gap == 0 || line.get(at) != Some(&b'[') {
        return None;
    }
    let (cpu, n) = short_digits(eight(line, at + 1)?)?;
    at += 1 + n;
    if line.get(at..at + 2) != Some(b"] ") || cpu > u64::from(u16::MAX) {
        return None;
    }
    at += 2;
    let from = at;
    let flagged = matches!(line.get(at)?, b'.' | b'd' | b'D');
    if flagged {
        at = flags_end(line, at)?;
    }
    let to = at;
    let gap = u64::from_le_bytes(eight(line, at)?) ^ BLANKS as u64;
    at += gap.trailing_zeros() as usize / 8;
    let flags = if flagged { (from, to) } else { (at, at) };
    let (whole, n) = short_digits(eight(line, at)?)?;
    at += n;
    let (fraction, m) = short_digits(eight(line, at + 1)?)?;
    if line[at] != b'.' || line.get(at + 7..at + 9) != Some(b": ") || m != 6 {
        return None;
    }
    Some(Header {
        layout: Layout::Default,
        comm: Some((blanks_before, COMM)),
        pid: Some(pid as i32),
        tgid: None,
        has_tgid: false,
        cpu: Some(cpu as u16),
        flags,
        time: Some(whole as i64 * 1_000_000_000 + fraction as i64 * 1_000),
        clock: Clock::Uptime,
        payload: at + 9,
    })
}

/// Sixteen blanks.
const BLANKS: u128 = u128::from_le_bytes([b' '; COMM]);

#[inline(always)]
fn eight(line: &[u8], at: usize) -> Option<[u8; 8]> {
    line.get(at..)?.first_chunk().copied()
}

/// Looks at each `[`: the first one with `-PID` before and a time after it is that of the
/// processor.
#[cold]
fn anywhere(line: &[u8]) -> Option<Header> {
    dashes(line)
        .find_map(|dash| columns(line, dash, comm(line, dash).or_else(|| long(line, dash))?))
}

/// Whether the columns are in the line, whatever is before `-PID`.
pub(crate) fn has_columns(line: &[u8]) -> bool {
    columns_end(line).is_some()
}

/// Where the columns end, whatever is before `-PID`.
#[cold]
pub(crate) fn columns_end(line: &[u8]) -> Option<usize> {
    dashes(line).find_map(|dash| Some(columns(line, dash, (dash, dash))?.payload))
}

/// Whether a record starts with the line, whose columns end in mid-column behind the processor.
#[cold]
pub(crate) fn is_cut(line: &[u8]) -> bool {
    let columns = &line[..line.len().min(COLUMNS)];
    memchr::memchr_iter(b'[', columns).any(|bracket| {
        let named = dash_before(line, bracket)
            .is_some_and(|dash| comm(line, dash).or_else(|| long(line, dash)).is_some());
        let rest = number(line, bracket + 1).map(|(_, close)| &line[close..]);
        named && rest.is_some_and(|rest| rest.first() == Some(&b']') && is_part(&rest[1..]))
    })
}

/// A part of the flags and the time.
fn is_part(text: &[u8]) -> bool {
    let mut words = text.split(|&b| b == b' ').filter(|word| !word.is_empty());
    let flags =
        |word: &[u8]| flags_start(word[0]) && word[1..].iter().all(|&b| FLAGS[usize::from(b)]);
    let time = |word: &[u8]| word.iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b':'));
    let [first, second, third] = [words.next(), words.next(), words.next()];
    third.is_none()
        && second.is_none_or(time)
        && first.is_none_or(|first| time(first) || flags(first))
}

/// Each `-` that may be before a pid.
fn dashes(line: &[u8]) -> impl Iterator<Item = usize> {
    let columns = &line[..line.len().min(COLUMNS)];
    memchr::memchr_iter(b'[', columns).filter_map(|bracket| dash_before(line, bracket))
}

/// The `-` before the pid, in columns that end at `bracket`.
fn dash_before(line: &[u8], bracket: usize) -> Option<usize> {
    let mut left = trim_blanks(&line[..bracket]);
    if let Some(group) = left.strip_suffix(b")") {
        let inner = group.iter().rev().take_while(|b| matches!(b, b' ' | b'-' | b'0'..=b'9'));
        left = trim_blanks(group[..group.len() - inner.count()].strip_suffix(b"(")?);
    }
    let digits = left.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let dash = left.len().checked_sub(digits + 1)?;
    (digits > 0 && left[dash] == b'-').then_some(dash)
}

fn trim_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().rev().take_while(|&&b| b == b' ').count();
    &text[..text.len() - blanks]
}

/// The columns, if the `-` before the pid is at `dash`.
#[inline]
pub(crate) fn at_dash(line: &[u8], dash: usize) -> Option<Header> {
    columns(line, dash, comm(line, dash)?)
}

/// The columns after `dash`, behind the name `comm`.
#[inline]
fn columns(line: &[u8], dash: usize, comm: (usize, usize)) -> Option<Header> {
    let (pid, at) = number(line, dash + 1)?;
    let pid = i32::try_from(pid).ok()?;
    let mut next = blanks(line, at);
    if next == at {
        return None;
    }
    let mut tgid = None;
    let has_tgid = line.get(next) == Some(&b'(');
    if has_tgid {
        let inner = blanks(line, next + 1);
        let mut end = inner;
        if let Some((group, after)) = number(line, inner) {
            tgid = i32::try_from(group).ok();
            end = after;
        } else {
            while line.get(end) == Some(&b'-') {
                end += 1;
            }
        }
        let close = blanks(line, end);
        if end == inner || line.get(close) != Some(&b')') {
            return None;
        }
        next = blanks(line, close + 1);
    }
    if line.get(next) != Some(&b'[') {
        return None;
    }
    let (cpu, close) = number(line, next + 1)?;
    if line.get(close) != Some(&b']') {
        return None;
    }
    let cpu = u16::try_from(cpu).ok();
    let mut next = blanks(line, close + 1);
    let mut flags = (next, next);
    if !line.get(next)?.is_ascii_digit() {
        let end = flags_end(line, next)?;
        flags.1 = end;
        next = blanks(line, end);
    }
    let (time, clock, end) = timestamp(line, next)?;
    if line.get(end) != Some(&b':') {
        return None;
    }
    Some(Header {
        layout: Layout::Default,
        comm: Some(comm),
        pid: Some(pid),
        tgid,
        has_tgid,
        cpu,
        flags,
        time,
        clock,
        payload: after_colon(line, end),
    })
}

/// The name before `dash`. Names of a file and of a trace instance may precede its column.
#[inline]
fn comm(line: &[u8], dash: usize) -> Option<(usize, usize)> {
    // The kernel's own lines start with a blank: no name is as long as its column.
    let tabs = line.first() == Some(&b'\t');
    let start = if tabs { indent(&line[..dash]) } else { blanks(&line[..dash], 0) };
    if dash - start <= COMM {
        return Some((start, dash));
    }
    let column = dash - COMM;
    are_names(&line[start..column]).then(|| (column + blanks(&line[column..dash], 0), dash))
}

/// A longer name than the kernel keeps: systrace puts in the whole names of processes (its
/// `fix_thread_names`).
fn long(line: &[u8], dash: usize) -> Option<(usize, usize)> {
    let name = line[..dash].rsplit(|b| matches!(b, b' ' | b'\t')).next()?;
    let start = dash - name.len();
    let whole = name.len() > COMM && !name.iter().any(|b| matches!(b, b'"' | b'(' | b'='));
    (whole && are_names(&line[..start])).then_some((start, dash))
}

/// Blanks and tabs at the start.
fn indent(text: &[u8]) -> usize {
    text.iter().take_while(|b| matches!(b, b' ' | b'\t')).count()
}

/// Names of an instance or of a file, each with a colon, are all that is before a record.
pub(crate) fn are_names(text: &[u8]) -> bool {
    let mut words = text.split(|b| matches!(b, b' ' | b'\t')).filter(|word| !word.is_empty());
    words.all(|word| word.ends_with(b":"))
}

/// Letters, digits and dots.
static FLAGS: [bool; 256] = {
    let mut flags = [false; 256];
    let mut byte = 0u8;
    while byte < 128 {
        flags[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'.';
        byte += 1;
    }
    flags
};

#[inline]
fn flags_start(byte: u8) -> bool {
    matches!(byte, b'.' | b'd' | b'D' | b'b' | b'X' | b'x' | b'-')
}

/// Four characters (five with migration or the lock's depth, seven with real-time preemption):
/// interrupts first, `.` or a letter; then letters, hexadecimal digits or dots.
#[inline]
fn flags_end(line: &[u8], at: usize) -> Option<usize> {
    if !flags_start(*line.get(at)?) {
        return None;
    }
    let rest = &line[at + 1..];
    let n = rest.iter().take(8).take_while(|&&b| FLAGS[usize::from(b)]).count();
    ((3..=7).contains(&n) && rest.get(n) == Some(&b' ')).then_some(at + 1 + n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(line: &str) -> Header {
        parse(line.as_bytes()).unwrap_or_else(|| panic!("a record: {line}"))
    }

    fn comm(line: &str) -> &str {
        let (start, end) = header(line).comm.expect("a column of names");
        &line[start..end]
    }

    fn flags(line: &str) -> &str {
        let header = header(line);
        &line[header.flags.0..header.flags.1]
    }

    #[test]
    fn every_width_of_the_flags() {
        for (line, expected) in [
            ("            bash-2101    [001]   2881.878957: x: y", ""),
            ("            bash-1977  [000] ....   17284.993652: x: y", "...."),
            ("            bash-2101    [001] d..2.  2881.878957: x: y", "d..2."),
            ("            bash-3747    [000] DBZff  3007.575679: x: y", "DBZff"),
            ("            bash-3747    [000] .n...  3007.575679: x: y", ".n..."),
            ("            bash-2101    [001] d..h2..  2881.878957: x: y", "d..h2.."),
        ] {
            assert_eq!(flags(line), expected, "{line}");
            assert_eq!(&line[header(line).payload..], "x: y");
        }
    }

    proptest::proptest! {
        #[test]
        fn eight_bytes_at_a_time_is_the_same(
            comm in "[ -~]{0,15}",
            pid in 0u32..200_000_000,
            cpu in 0u32..70_000,
            gap in 0usize..5,
            flags in "[.dDbXnNhsHz0-9]{0,7} ?",
            time in "[ ]{0,9}[0-9]{1,9}[.]?[0-9]{0,9}:? ?",
            payload in "[ -~]{0,20}",
        ) {
            let line = format!("{comm:>16}-{pid}{:gap$} [{cpu:03}] {flags}{time}{payload}", "");
            if let Some(header) = usual(line.as_bytes()) {
                proptest::prop_assert_eq!(Some(header), at_dash(line.as_bytes(), COMM), "{}", line);
            }
        }
    }

    #[test]
    fn the_usual_line_is_read_eight_bytes_at_a_time() {
        for line in [
            "            bash-2101    [001]       1.878957: sys_write -> 0x2",
            "            bash-2101    [001] d..2.  2881.878957: sys_write -> 0x2",
            "            bash-2101    [001]   2881.878957: sys_write -> 0x2",
            "            bash-1977  [000] ....   17284.993652: sys_write -> 0x2",
        ] {
            let header = usual(line.as_bytes());
            assert!(header.is_some(), "{line}");
            assert_eq!(header, at_dash(line.as_bytes(), COMM), "{line}");
        }
    }

    #[test]
    fn thread_groups() {
        let known = header("            bash-2101    (   2101) [001] .....  2882.097484: x: y");
        assert_eq!((known.tgid, known.has_tgid), (Some(2101), true));
        let unknown = header("          <idle>-0       (-------) [001] d..2.  2882.097484: x: y");
        assert_eq!((unknown.tgid, unknown.has_tgid, unknown.pid), (None, true, Some(0)));
        let old = header("            bash-2101  ( 2101) [001] ....  2882.097484: x: y");
        assert_eq!(old.tgid, Some(2101));
    }

    #[test]
    fn every_clock() {
        let time = |line| (header(line).time, header(line).clock);
        assert_eq!(
            time("            bash-2101    [001] d..2.            2: x: y"),
            (Some(2), Clock::Ticks)
        );
        assert_eq!(
            time("            bash-2101    [001]   2881.878957: x: y"),
            (Some(2_881_878_957_000), Clock::Uptime)
        );
        assert_eq!(
            time("         bash-2330  [000]   321.623902270: x: y"),
            (Some(321_623_902_270), Clock::Uptime)
        );
        assert_eq!(
            time("         bash-2330  [000]321623902270: x: y"),
            (Some(321_623_902_270), Clock::Ticks)
        );
        // Seconds that overflow nanoseconds, and a counter beyond 63 bits.
        assert_eq!(time("b-1 [000] 99999999999.000000: x: y"), (None, Clock::Uptime));
        assert_eq!(time("b-1 [000] 18446744073709551615: x: y"), (None, Clock::Ticks));
    }

    #[test]
    fn names_of_commands_are_any_bytes() {
        assert_eq!(comm("           a b c-1534    [001] .....  2999.950796: x: y"), "a b c");
        assert_eq!(comm("      x-12 [000]-1535    [001] .....  2999.950796: x: y"), "x-12 [000]");
        assert_eq!(comm("       p-1:2 (3)-1536    [000] .....  2999.957873: x: y"), "p-1:2 (3)");
        assert_eq!(comm("        [br]ack]-1537    [001] .....  2999.958577: x: y"), "[br]ack]");
        assert_eq!(comm("   a: sys_read(fd:-1539    [001] .....  2999.9: x: y"), "a: sys_read(fd:");
        assert_eq!(comm("                -1547    [001] .....  2999.958577: x: y"), "");
        assert_eq!(comm("           <...>-1548    [001] .....  2999.958577: x: y"), "<...>");
        assert_eq!(comm("        a b     -1549    [001] .....  2999.958577: x: y"), "a b     ");
        assert_eq!(comm("    x-1 [0] 1.0:-1550    [001] .....  2999.958577: x: y"), "x-1 [0] 1.0:");
        assert_eq!(comm("        tid-3 [1-7       [001] .....  2999.958577: x: y"), "tid-3 [1");
    }

    #[test]
    fn what_shifts_columns() {
        let wide = header("            bash-123456789 [1023] .....  2881.878957: x: y");
        assert_eq!((wide.pid, wide.cpu), (Some(123_456_789), Some(1023)));
        assert_eq!(header("line-1541    [001] .....  2999.950796: x: y").pid, Some(1541));
        let instance = "  other:             bash-2330  [000]   321.623902: x: y";
        assert_eq!(comm(instance), "bash");
        let both = "a.dat: other:             bash-2330  [000]   321.623902: x: y";
        assert_eq!(comm(both), "bash");
    }

    #[test]
    fn other_text_is_not_a_record() {
        for line in [
            "",
            "            bash-2101    [001] .....  2881.878957",
            "            bash-2101    [001] .....  2881.: x",
            "            bash-2101    [001] ..  2881.878957: x",
            "            bash-2101    [one] .....  2881.878957: x",
            "            bash-99999999999    [001] .....  2881.878957: x",
            "write(1, \"0123456789012345678901234567890-1 [000] 1.000000: x\") = 5",
            "    bash-2101      1..... 25321us : sys_write -> 0x2",
            "CPU:0 [LOST 104 EVENTS]",
        ] {
            assert_eq!(parse(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn tabs_before_a_name_are_blanks() {
        // An editor makes them of the kernel's blanks.
        assert_eq!(comm("\t    bash-2101    [001] d..2.  2881.878957: x: y"), "bash");
        assert_eq!(
            comm("\t\tcom.android.systemui-2101 [001] 2881.878957: x: y"),
            "com.android.systemui"
        );
        assert_eq!(comm("           a\tb c-2101    [001] d..2.  2881.878957: x: y"), "a\tb c");
        assert_eq!(comm("            \ta c-2101    [001] d..2.  2881.878957: x: y"), "\ta c");
    }

    #[test]
    fn names_of_processes_are_whole() {
        let name = "com.android.systemui";
        assert_eq!(comm("com.android.systemui-611   (  611) [001] d..3  123.456789: x: y"), name);
        assert_eq!(comm("com.android.systemui-611 [001] 123.456789: x: [000] y"), name);
        assert_eq!(comm("  a.dat: com.android.systemui-611 [001] 123.456789: x: y"), name);
        for line in [
            "as we see below in com.android.systemui-611 [001] 123.456789: x: y",
            "#            bash-2101    [001] d..2.  2881.878957: x: y",
        ] {
            assert_eq!(parse(line.as_bytes()), None, "{line}");
            assert!(has_columns(line.as_bytes()), "{line}");
        }
        for line in [
            "Binder:290-17  (  290) [002] ...1   123.4",
            "bash-2101 [001]",
            "bash-7 [1] ...",
            "x-12 [000]-",
        ] {
            assert!(is_cut(line.as_bytes()), "{line}");
        }
        for line in ["see foo-7 in file.c", "x-7 [1] the second word", "[001] 12.5", "x-7 [1"] {
            assert!(!is_cut(line.as_bytes()), "{line}");
        }
        assert!(!has_columns(b"a process (-7) is on [001] since 1.0: x"));
    }
}
