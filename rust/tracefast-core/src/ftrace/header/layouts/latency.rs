//! The columns of the option `latency-format` (`trace_print_lat_context` in
//! `kernel/trace/trace_output.c`), with and without `verbose`, and of `trace-cmd report -l`.

use crate::ftrace::header::layouts::default::are_names;
use crate::ftrace::header::numbers::{after_colon, number, timestamp};
use crate::ftrace::header::{Clock, Header, Layout};
use crate::ftrace::scan::blanks;
use crate::text::number::hex_digits;

/// The longest columns, for any name of a command.
const COLUMNS: usize = 96;

/// Longest name of a command that these layouts print: 8 bytes of tracefs', 16 of trace-cmd.
const COMM: usize = 16;

/// `COMM-PID CPUFLAGS TIME: `, where the time is microseconds since the trace's start and a mark,
/// an integer of another clock, or trace-cmd's seconds.
pub(crate) fn parse(line: &[u8]) -> Option<Header> {
    let columns = &line[..line.len().min(COLUMNS)];
    memchr::memchr_iter(b'-', columns).find_map(|dash| at_dash(line, dash))
}

pub(crate) fn at_dash(line: &[u8], dash: usize) -> Option<Header> {
    let start = named(&line[..dash]).unwrap_or(0);
    let start = start + blanks(&line[start..dash], 0);
    if dash - start > COMM {
        return None;
    }
    let (pid, at) = number(line, dash + 1)?;
    let next = blanks(line, at);
    if next == at {
        return None;
    }
    let (cpu, flags) = number(line, next)?;
    let (flags_end, at) = flags_end(line, flags)?;
    let (time, clock, end) = delay(line, at)?;
    Some(Header {
        layout: Layout::Latency,
        comm: Some((start, dash)),
        pid: Some(i32::try_from(pid).ok()?),
        cpu: u16::try_from(cpu).ok(),
        flags: (flags, flags_end),
        time,
        clock,
        payload: after_colon(line, end),
        ..Header::EMPTY
    })
}

/// Where the flags at `at` end, and where the time starts: after blanks, except with trace-cmd's
/// `--raw-ts`.
fn flags_end(line: &[u8], at: usize) -> Option<(usize, usize)> {
    // trace-cmd's `-R` prints a number.
    if line[at..].starts_with(b"-0x") {
        let (_, n) = hex_digits(&line[at + 3..]);
        let end = at + 3 + n;
        return (n > 0 && line.get(end) == Some(&b' ')).then(|| (end, blanks(line, end)));
    }
    let letters = line[at..].iter().take(32);
    let n = letters.take_while(|b| b.is_ascii_alphanumeric() || **b == b'.').count();
    let end = at + n;
    if (4..=7).contains(&n) && line.get(end) == Some(&b' ') {
        return Some((end, blanks(line, end)));
    }
    // The last of the flags may be a digit, too: five of them are the usual number.
    let glued = line.get(end) == Some(&b':');
    [5, 4].into_iter().filter(|_| glued).map(|n| at + n).find_map(|split| {
        let digits = line.get(split..end)?;
        (!digits.is_empty() && digits.iter().all(u8::is_ascii_digit)).then_some((split, split))
    })
}

/// After the names of a file and an instance, `NAME: `, with which trace-cmd starts a line. Names of
/// commands are aligned to eight bytes after them.
fn named(text: &[u8]) -> Option<usize> {
    let column = text.len().checked_sub(8)?;
    let name = text[..column].strip_suffix(b": ")?;
    let before = name.iter().rposition(|&b| b == b' ').map_or(0, |at| at + 1);
    (before < name.len() && are_names(&name[..before])).then_some(column)
}

/// `25321us :`, `25321us!:`, `17:`, `321.623902:`; then the position of the colon.
fn delay(line: &[u8], at: usize) -> Option<(Option<i64>, Clock, usize)> {
    let minus = line.get(at) == Some(&b'-');
    let (time, clock, end) = timestamp(line, at + usize::from(minus))?;
    let time = if minus { time.map(|time| -time) } else { time };
    if clock == Clock::Ticks && line[end..].starts_with(b"us") {
        let colon = end + 3;
        let mark = matches!(line.get(end + 2)?, b' ' | b'+' | b'!' | b'#' | b'*' | b'@' | b'$');
        let time = time.and_then(|time| time.checked_mul(1000));
        return (mark && line.get(colon) == Some(&b':')).then_some((time, Clock::Start, colon));
    }
    (line.get(end) == Some(&b':')).then_some((time, clock, end))
}

/// `COMM PID CPU FLAGS PREEMPTION INDEX [MICROSECONDS] TIME (+DELTA): `: the number in brackets is
/// hexadecimal and counts from the clock's start, the time from the trace's. Of other clocks it is
/// what the clock counts.
pub(crate) fn verbose(line: &[u8]) -> Option<Header> {
    let columns = &line[..line.len().min(COLUMNS)];
    memchr::memchr_iter(b'[', columns).find_map(|bracket| at_bracket(line, bracket))
}

fn at_bracket(line: &[u8], bracket: usize) -> Option<Header> {
    let mut left = Left { line, end: bracket };
    let _index = left.word(|b| b.is_ascii_hexdigit())?;
    let _preemption = left.word(|b| b.is_ascii_hexdigit())?;
    let flags = left.word(|b| b.is_ascii_digit())?;
    let cpu = left.word(|b| b.is_ascii_digit())?;
    let pid = left.word(|b| b.is_ascii_digit())?;
    // The pid is aligned to seven digits, after one blank.
    let end = pid.1.checked_sub((pid.1 - pid.0).max(7) + 1)?;
    let comm = (blanks(&line[..end], 0), end);
    if comm.1 - comm.0 > COMM {
        return None;
    }
    let digits = line[bracket + 1..].iter().take(17).take_while(|b| b.is_ascii_hexdigit()).count();
    let (start, close) = (bracket + 1, bracket + 1 + digits);
    if !(8..=16).contains(&digits) || line.get(close..close + 2) != Some(b"] ") {
        return None;
    }
    let stamp = std::str::from_utf8(&line[start..close]).ok()?;
    let stamp = i64::from_str_radix(stamp, 16).ok();
    // The same clock from the trace's start on: `25.321ms (+0.002ms): `, `17 (+2): `.
    let close = line[close..].iter().take(64).position(|&b| b == b')')? + close;
    let clock = if line[..close].ends_with(b"ms") { Clock::Uptime } else { Clock::Ticks };
    if line.get(close + 1) != Some(&b':') {
        return None;
    }
    let number = |(from, to): (usize, usize)| number(line, from).filter(|n| n.1 == to).map(|n| n.0);
    Some(Header {
        layout: Layout::Verbose,
        comm: Some(comm),
        pid: Some(i32::try_from(number(pid)?).ok()?),
        cpu: u16::try_from(number(cpu)?).ok(),
        // A number here; 0 says nothing.
        flags: if line[flags.0..flags.1] == *b"0" { (0, 0) } else { flags },
        time: match clock {
            Clock::Uptime => stamp.and_then(|micros| micros.checked_mul(1000)),
            _ => stamp,
        },
        clock,
        payload: after_colon(line, close + 1),
        ..Header::EMPTY
    })
}

/// Words from the right.
struct Left<'a> {
    line: &'a [u8],
    end: usize,
}

impl Left<'_> {
    /// The last word, which blanks follow.
    fn word(&mut self, is: impl Fn(u8) -> bool) -> Option<(usize, usize)> {
        let text = &self.line[..self.end];
        let end = text.len() - text.iter().rev().take_while(|&&b| b == b' ').count();
        let n = text[..end].iter().rev().take(20).take_while(|&&b| is(b)).count();
        if end == text.len() || n == 0 {
            return None;
        }
        self.end = end - n;
        Some((self.end, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency(line: &str) -> (&str, Option<i32>, Option<u16>, &str, Option<i64>, Clock, &str) {
        let header = parse(line.as_bytes()).unwrap_or_else(|| panic!("a record: {line}"));
        let comm = header.comm.map_or("", |(start, end)| &line[start..end]);
        let flags = &line[header.flags.0..header.flags.1];
        let payload = &line[header.payload..];
        (comm, header.pid, header.cpu, flags, header.time, header.clock, payload)
    }

    #[test]
    fn latency_columns() {
        for (line, expected) in [
            (
                "    bash-2101      1..... 25321us : sys_write -> 0x2",
                ("bash", 2101, 1, ".....", 25_321_000, Clock::Start, "sys_write -> 0x2"),
            ),
            (
                "  <idle>-0       0d.h2. 12345us!: f <-g",
                ("<idle>", 0, 0, "d.h2.", 12_345_000, Clock::Start, "f <-g"),
            ),
            (
                "kworker/-12345678  12dN.2.. 3us+: f <-g",
                ("kworker/", 12_345_678, 12, "dN.2..", 3_000, Clock::Start, "f <-g"),
            ),
            (
                "rvlay:     bash-29843   1-0x0 30010.596487: x: y",
                ("bash", 29843, 1, "-0x0", 30_010_596_487_000, Clock::Uptime, "x: y"),
            ),
            (
                "a.dat: rvlay:     bash-29843   1d..2.30010596487011: x: y",
                ("bash", 29843, 1, "d..2.", 30_010_596_487_011, Clock::Ticks, "x: y"),
            ),
            (
                "rvlay:     bash-29843   1d..2.30010596487011: x: y",
                ("bash", 29843, 1, "d..2.", 30_010_596_487_011, Clock::Ticks, "x: y"),
            ),
            (
                "x-1 [0]-7       0..... -4us : f",
                ("x-1 [0]", 7, 0, ".....", -4000, Clock::Start, "f"),
            ),
            (
                "    bash-2101      1.....   17: x: y",
                ("bash", 2101, 1, ".....", 17, Clock::Ticks, "x: y"),
            ),
            (
                "             bash-2330    0.....   321.623902: sys_exit_write:       0x2",
                (
                    "bash",
                    2330,
                    0,
                    ".....",
                    321_623_902_000,
                    Clock::Uptime,
                    "sys_exit_write:       0x2",
                ),
            ),
        ] {
            let (comm, pid, cpu, flags, time, clock, payload) = expected;
            let expected = (comm, Some(pid), Some(cpu), flags, Some(time), clock, payload);
            assert_eq!(latency(line), expected, "{line}");
        }
        for line in [
            "    bash-2101      1..... 25321us: x",
            "    bash-2101      1.. 25321us : x",
            "    bash-2101    [001] .....  2881.878957: x",
            "    bash-2101",
            "-",
        ] {
            assert_eq!(parse(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn verbose_columns() {
        let line =
            "            bash    2101   1 0 00000000 00000000 [abc5fbad] 25.321ms (+0.002ms): x: y";
        let header = verbose(line.as_bytes()).expect("a record");
        assert_eq!(header.comm, Some((12, 16)));
        assert_eq!((header.pid, header.cpu), (Some(2101), Some(1)));
        assert_eq!((header.time, header.clock), (Some(2_881_878_957_000), Clock::Uptime));
        assert_eq!(&line[header.payload..], "x: y");
        let line =
            "       a [0] b c 12345678 100 1 00000002 0000000a [00000000000000ff] 17 (+2): x: y";
        let header = verbose(line.as_bytes()).expect("a record");
        assert_eq!(header.comm.map(|(start, end)| &line[start..end]), Some("a [0] b c"));
        assert_eq!((header.pid, header.cpu), (Some(12_345_678), Some(100)));
        assert_eq!((header.time, header.clock), (Some(255), Clock::Ticks));
        assert_eq!(&line[header.flags.0..header.flags.1], "1");
        let line =
            "                       1   0 0 00000000 00000000 [abc5fbad] 0.000ms (+0.002ms): ";
        assert_eq!(verbose(line.as_bytes()).expect("a record").comm, Some((16, 16)));
        for line in [
            "",
            "[abc5fbad] 25.321ms (+0.002ms): x",
            "bash 2101 1 0 00000000 00000000 [abc] 25.321ms (+0.002ms): x",
            "bash 2101 1 0 00000000 00000000 [abc5fbad] 25.321ms (+0.002ms) x",
            "bash x 1 0 00000000 00000000 [abc5fbad] 25.321ms (+0.002ms): x",
        ] {
            assert_eq!(verbose(line.as_bytes()), None, "{line}");
        }
    }
}
