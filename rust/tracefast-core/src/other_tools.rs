//! Recognizes the output of other tracers, and texts in other encodings: they look like logs, or
//! hold one, but cannot be read as they are.

use crate::format;
use crate::text::number;
use crate::text::parts::{PART, parts};

/// What a text is, if it is no log of strace or ftrace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherTool {
    /// In words: `the output of ltrace`.
    pub what: &'static str,
    /// What to do.
    pub hint: &'static str,
    /// The first line that shows it, counted from 1.
    pub line: u64,
    /// It has lines that a grammar can try to read.
    pub has_lines: bool,
}

/// What a tool's output is called, what to do, and how much a line speaks for it.
struct Tool(&'static str, &'static str, fn(&[u8]) -> usize);

/// How much a line speaks for a tool that no other program writes.
const CERTAIN: usize = PART;

const STRACE: &str = "record with strace instead: strace -f -ttt -T -yy -o FILE";

const TOOLS: [Tool; 7] = [
    Tool(
        "the log of gVisor's own strace",
        "run strace inside of the sandbox instead: strace -f -ttt -T -yy -o FILE",
        gvisor,
    ),
    Tool("the output of perf trace", STRACE, perf_trace),
    Tool(
        "the output of perf script",
        "record the same events with trace-cmd record -e EVENT, and print them with trace-cmd report",
        perf_script,
    ),
    Tool("the output of ltrace", STRACE, ltrace),
    Tool(
        "the output of dtruss or truss",
        "it is from another system; only logs from Linux can be read",
        truss,
    ),
    Tool("the output of bpftrace", STRACE, bpftrace),
    Tool("the output of uftrace", STRACE, uftrace),
];

/// What `text` is instead of a log. `None` if that is not known, or if most of its first lines that
/// say anything are those of strace or ftrace.
///
/// # Examples
/// ```
/// use tracefast_core::other_tools::recognize;
/// let text = b"strlen(\"abc\") = 3\n+++ exited (status 0) +++\n";
/// assert_eq!(recognize(text).unwrap().what, "the output of ltrace");
/// assert_eq!(recognize(b"close(3) = 0\n+++ exited with 0 +++\n"), None);
/// ```
pub fn recognize(text: &[u8]) -> Option<OtherTool> {
    if let Some((what, hint)) = encoding(text).or_else(|| container(text)) {
        return Some(OtherTool { what, hint, line: 1, has_lines: false });
    }
    let mut before = 0;
    for part in parts(text) {
        let own = format::likeness(part);
        let (tool, weight) = most(part)?;
        // All lines of another tool may look like those of strace.
        if weight > 0 && weight >= own {
            let first = lines(part).position(|line| (tool.2)(line) > 0)?;
            let line = (before + first) as u64 + 1;
            return Some(OtherTool { what: tool.0, hint: tool.1, line, has_lines: true });
        }
        if own > 0 {
            return None;
        }
        before += memchr::memchr_iter(b'\n', part).count();
    }
    None
}

/// The tool that most lines speak for, and how much they do.
fn most(part: &[u8]) -> Option<(&'static Tool, usize)> {
    let weight = |tool: &Tool| lines(part).map(tool.2).sum();
    TOOLS.iter().map(|tool| (tool, weight(tool))).rev().max_by_key(|&(_, weight)| weight)
}

fn lines(part: &[u8]) -> impl Iterator<Item = &[u8]> {
    part.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end)
}

/// A text in two bytes per character, and the command that converts it.
fn encoding(text: &[u8]) -> Option<(&'static str, &'static str)> {
    let start = &text[..text.len().min(256)];
    let others = |odd: usize| start.iter().skip(odd).step_by(2).filter(|&&byte| byte != 0).count();
    let zeros = |odd: usize| start.len() > 2 && others(odd) * 4 <= start.len() / 2;
    let full = |odd: usize| others(odd) * 8 >= start.len() / 2 * 7;
    let hint = if start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff") {
        "convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW"
    } else if zeros(1) && full(0) {
        "convert it: iconv -f UTF-16LE -t UTF-8 FILE > NEW"
    } else if zeros(0) && full(1) {
        "convert it: iconv -f UTF-16BE -t UTF-8 FILE > NEW"
    } else {
        return None;
    };
    Some(("text in UTF-16", hint))
}

/// A file that may hold a log, but not as lines.
fn container(text: &[u8]) -> Option<(&'static str, &'static str)> {
    if text.starts_with(b"\x17\x08\x44tracing") {
        return Some(("a recording of trace-cmd", "print it: trace-cmd report -i FILE > LOG"));
    }
    if text.starts_with(b"PERFILE2") {
        return Some((
            "a recording of perf",
            "record the same events with trace-cmd record -e EVENT, and print them with trace-cmd \
             report",
        ));
    }
    // The magic of tar(5), at its place in the first header.
    if text.get(257..262) == Some(b"ustar") {
        return Some(("an archive of files", "unpack it (tar xf FILE), and give the logs in it"));
    }
    is_json(text).then_some((
        "JSON",
        "take the text of the log out of it, for example with jq -rj .log for logs of containers",
    ))
}

/// Whether the text is an object or an array. A program may print one before its log starts.
fn is_json(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let inner = text.get(1..).unwrap_or_default().trim_ascii_start();
    let starts = match text.first() {
        Some(b'{') => matches!(inner.first(), Some(b'"' | b'}')),
        Some(b'[') => matches!(inner.first(), Some(b'"' | b'{' | b'[')),
        _ => false,
    };
    let ends = || {
        let last = text.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        matches!(last.first(), Some(b'{' | b'}' | b']')) && matches!(last.last(), Some(b'}' | b']'))
    };
    let start = || parts(text).next().unwrap_or_default();
    starts && (ends() || format::likeness(start()) == 0)
}

/// `… strace.go:567] [   1:   1] bash E openat(AT_FDCWD /, …`
fn gvisor(line: &[u8]) -> usize {
    let is = after(line, b" strace.go:").is_some_and(|rest| {
        let digits = number::digits(rest).1;
        digits > 0 && rest[digits..].starts_with(b"] [")
    });
    usize::from(is)
}

/// `     0.000 ( 0.004 ms): ls/12345 close(fd: 3) = 0`; before the end of a call nothing but blanks
/// is in the parentheses.
fn perf_trace(line: &[u8]) -> usize {
    let is = after(line, b" (").is_some_and(|rest| {
        let inner = |byte: &&u8| matches!(**byte, b' ' | b'.' | b'0'..=b'9');
        let (inner, rest) = rest.split_at(rest.iter().take_while(inner).count());
        rest.starts_with(b"ms): ") || rest.starts_with(b"): ") && inner.trim_ascii().is_empty()
    });
    usize::from(is)
}

/// `bash  1977 [000] 17284.993652: sched:sched_switch: …`, with a count before the event or without
/// the processor.
fn perf_script(line: &[u8]) -> usize {
    let is = |line: &[u8]| {
        let colon = memchr::memmem::find(line, b": ")?;
        let event = line[colon + 2..].trim_ascii_start();
        let (_, count) = number::digits(event);
        let event = event[count..].trim_ascii_start();
        let mut words = line[..colon].split(|&byte| byte == b' ').filter(|word| !word.is_empty());
        let (seconds, part) = split_at(words.next_back()?, b'.')?;
        let mut pid = words.next_back()?;
        if pid.starts_with(b"[") {
            pid = words.next_back()?;
        }
        let (process, thread) = split_at(pid, b'/').unwrap_or((pid, pid));
        let number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
        let numbers = [seconds, part, process, thread].into_iter().all(number);
        words.next()?;
        let name = event.split(|&byte| byte == b' ').next()?;
        (numbers && part.len() >= 6 && name.ends_with(b":")).then_some(())
    };
    usize::from(is(line).is_some())
}

/// Functions of the library of C that most programs call, with what may follow their names.
const LIBRARY: [&[u8]; 16] = [
    b"malloc(",
    b"calloc(",
    b"realloc(",
    b"free(",
    b"strlen(",
    b"strcmp(",
    b"strncmp(",
    b"strchr(",
    b"strrchr(",
    b"memcpy(",
    b"memset(",
    b"puts(",
    b"printf(",
    b"getenv(",
    b"setlocale(",
    b"fopen(",
];

/// `strlen("abc") = 3`, `libfoo.so->puts("x")`, `SYS_brk(0) = 0x55c`, `brk@SYS(nil) = 0x55c`,
/// `+++ exited (status 0) +++`
fn ltrace(line: &[u8]) -> usize {
    let line = behind_columns(line);
    if line.starts_with(b"+++ exited (status ") || line.starts_with(b"__libc_start_main(") {
        return CERTAIN;
    }
    let name = line.iter().take_while(|byte| byte.is_ascii_graphic() && **byte != b'(').count();
    let (name, rest) = line.split_at(name);
    let ended = memchr::memmem::rfind(rest, b" = ")
        .is_some_and(|at| rest[..at].trim_ascii_end().last() == Some(&b')'));
    let call = rest.first() == Some(&b'(')
        && !rest.ends_with(b";")
        && (ended || rest.ends_with(b"<unfinished ...>"));
    let system = name.starts_with(b"SYS_") && name.last().is_some_and(u8::is_ascii_lowercase)
        || name.ends_with(b"@SYS");
    let library = has(name, b"->") || LIBRARY.iter().any(|name| line.starts_with(name));
    usize::from(call && (system || library))
}

/// The line without the pid and the time before its event.
fn behind_columns(line: &[u8]) -> &[u8] {
    let rest = line.strip_prefix(b"[pid ").unwrap_or(line);
    let columns = |byte: &&u8| matches!(**byte, b'0'..=b'9' | b'.' | b':' | b']' | b' ');
    &rest[rest.iter().take_while(columns).count()..]
}

/// `close(0x3)\t\t = 0 0`, `open("/x",O_RDONLY,00)\t = 3 (0x3)`, `SYSCALL(args) \t\t = return`;
/// on Solaris `close(3)\t\t\tErr#9 EBADF`, `execve("/bin/x", 0x1, 0x2)  argc = 2`
fn truss(line: &[u8]) -> usize {
    if has(line, b"SYSCALL(args)") {
        return CERTAIN;
    }
    // Strings may hold such calls, so errors count only behind all parentheses.
    let end = memchr::memrchr(b')', line).map_or(line.len(), |at| at + 1);
    let ended = line[end..].trim_ascii();
    let digit = |rest: &[u8]| rest.first().is_some_and(u8::is_ascii_digit);
    if ended.strip_prefix(b"Err#").or_else(|| ended.strip_prefix(b"argc = ")).is_some_and(digit) {
        // Only truss of Solaris writes this, and most of its other lines are like those of strace.
        return CERTAIN;
    }
    let result = after(line, b")\t").or_else(|| after(line, b") = ")).unwrap_or_default();
    let value = result.trim_ascii_start();
    let value = value.strip_prefix(b"= ").unwrap_or(value);
    let (_, digits) = number::digits(value);
    let twice = value.get(digits..).is_some_and(|rest| rest.starts_with(b" (0x"));
    let error = has(ended, b"Err#") || has(ended, b"ERR#");
    usize::from(error || digits > 0 && (twice || has(line, b")\t\t = ")))
}

/// `Attaching 2 probes...`, `@reads[bash]: 12`, and rows of histograms.
fn bpftrace(line: &[u8]) -> usize {
    let probes = line
        .strip_prefix(b"Attaching ")
        .or_else(|| line.strip_prefix(b"Attached "))
        .is_some_and(|rest| has(rest, b" probe"));
    let name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let map = line.strip_prefix(b"@").is_some_and(|rest| {
        let rest = &rest[rest.iter().take_while(name).count()..];
        let value = rest.strip_prefix(b": ").and_then(<[u8]>::first);
        rest.starts_with(b"[") && has(rest, b"]: ") || value.is_some_and(u8::is_ascii_digit)
    });
    let row =
        matches!(line.first(), Some(b'[' | b'(')) && has(line, b" |@") && line.ends_with(b"|");
    usize::from(probes || map || row)
}

/// `   0.100 us [ 12345] |   foo();` below `# DURATION     TID     FUNCTION`
fn uftrace(line: &[u8]) -> usize {
    let header = line.starts_with(b"# DURATION ") && line.ends_with(b" FUNCTION");
    if header { CERTAIN } else { 0 }
}

fn after<'a>(line: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    memchr::memmem::find(line, mark).map(|at| &line[at + mark.len()..])
}

fn has(line: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(line, part).is_some()
}

fn split_at(word: &[u8], byte: u8) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(byte, word)?;
    Some((&word[..at], &word[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(text: &str) -> Option<&'static str> {
        recognize(text.as_bytes()).map(|found| found.what)
    }

    #[test]
    fn each_tool_has_its_name() {
        for (text, expected) in [
            (
                "I0101 00:00:00.000000       1 strace.go:567] [   1:   1] bash X close(0x3) = 0 (0x0)",
                "the log of gVisor's own strace",
            ),
            ("     0.000 ( 0.004 ms): ls/12 close(fd: 3) = 0", "the output of perf trace"),
            (
                "         ? (         ): ls/12  ... [continued]: execve()) = 0",
                "the output of perf trace",
            ),
            (
                "perf 12345 [001] 17284.993652:          1 cycles:  ffff m+0x6",
                "the output of perf script",
            ),
            ("bash  1977/1978 17284.993652: sched:sched_switch: x=1", "the output of perf script"),
            ("__libc_start_main(0x401000, 1 <unfinished ...>", "the output of ltrace"),
            ("[pid 7] libx.so.1->malloc(100) = 0x55f", "the output of ltrace"),
            ("SYS_brk(0)    = 0x55c", "the output of ltrace"),
            ("[pid 7] 09:00:22.529684 brk@SYS(nil)   = 0x55e <0.000762>", "the output of ltrace"),
            ("open(\"/x\", 0x2, 0x7FFF5F)\t\t = 3 0", "the output of dtruss or truss"),
            ("close(3) = 0 (0x0)", "the output of dtruss or truss"),
            ("access(\"/x\", 0x0, 0x0)\t\t = -1 Err#2", "the output of dtruss or truss"),
            ("close(3)\t\t\t\tErr#9 EBADF", "the output of dtruss or truss"),
            ("execve(\"/x\", 0x8047, 0x8048)  argc = 2", "the output of dtruss or truss"),
            ("Attaching 2 probes...", "the output of bpftrace"),
            ("@bytes[bash, 3]: 4096", "the output of bpftrace"),
            ("[4, 8)          12 |@@@@@@@@@@      |", "the output of bpftrace"),
            ("# DURATION     TID     FUNCTION", "the output of uftrace"),
            ("{\"log\": \"close(3) = 0\\n\"}", "JSON"),
            ("[\n  {\"ph\": \"X\"}\n]", "JSON"),
            ("c\0l\0o\0s\0e\0", "text in UTF-16"),
            ("\0c\0l\0o\0s\0e", "text in UTF-16"),
        ] {
            assert_eq!(what(text), Some(expected), "{text}");
            let behind = format!("{}{text}\n", "some text\n".repeat(300));
            if !["JSON", "text in UTF-16"].contains(&expected) {
                let line = recognize(behind.as_bytes()).map(|found| found.line);
                assert_eq!(line, Some(301), "{text}");
            }
        }
    }

    #[test]
    fn one_line_of_truss_is_enough() {
        let text = format!("{}close(9)\t\tErr#9 EBADF\n", "close(3)\t\t= 0\n".repeat(60));
        let found = recognize(text.as_bytes()).expect("a tool");
        assert_eq!((found.what, found.line), ("the output of dtruss or truss", 61));
        let text = "write(1, \"close(3)\\tErr#9 EBADF\\n\", 23) = 23\n".repeat(3);
        assert_eq!(recognize(text.as_bytes()), None);
    }

    #[test]
    fn archives_have_a_name() {
        let mut header = [0; 512];
        header[..9].copy_from_slice(b"a/log.txt");
        header[257..262].copy_from_slice(b"ustar");
        let text = [&header[..], b"close(3) = 0\n"].concat();
        assert_eq!(recognize(&text).map(|found| found.what), Some("an archive of files"));
    }

    #[test]
    fn logs_and_other_texts_are_no_tool() {
        let calls = "close(3) = 0\nread(3, 0x7f, 10) = 3 (deleted)\n";
        for text in [
            calls.to_owned(),
            format!("{{\"program\": \"output\"}}\n{calls}"),
            format!("{calls}{calls}Attaching 2 probes...\n@x[a]: 3\n"),
            "[pid 7] close(3) = 0\n[ Process PID=7 runs in 32 bit mode. ]\n".to_owned(),
            "fcntl(3, F_GETFL) = 0x8000 (flags O_RDONLY)\n".to_owned(),
            "  bash-1977  [000] 17284.993652: sys_close: fd: 3\n".to_owned(),
            "64 bytes from localhost (127.0.0.1): icmp_seq=1 ttl=64\n".to_owned(),
            "  this->get() = other.get();\n".to_owned(),
            "$cb->($chunk) while length($chunk = $self->read(1));\n".to_owned(),
            "@@ -1,3 +1,4 @@\n@user: hello\n".to_owned(),
            "\0\0\0\0\0\0".to_owned(),
            // The start of a program, or of an archive.
            format!("abcdefghijklmnop{}a\0b\0c\0", "\0".repeat(84)),
            String::new(),
        ] {
            assert_eq!(what(&text), None, "{text}");
        }
    }
}
