//! The payload of a record, after its columns: a system call's entry or exit, or some other event.

pub(crate) mod cache;
pub(crate) mod function;

use memchr::memmem;

use crate::ftrace::header::layouts::raw_and_hex;
use crate::ftrace::scan::blanks;
use crate::text::number;

/// A payload. Ranges are positions in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Payload {
    /// A system call is entered.
    Enter {
        /// Which one.
        call: CallId,
        /// Its arguments.
        args: (usize, usize),
    },
    /// A system call returns.
    Exit {
        /// Which one.
        call: CallId,
        /// The return value.
        ret: (usize, usize),
    },
    /// Text that a program or the kernel wrote.
    Marker {
        /// Name of the event.
        name: &'static [u8],
        /// The text.
        text: (usize, usize),
    },
    /// A function was called.
    Function {
        /// Its name.
        name: (usize, usize),
        /// The rest: its caller.
        rest: (usize, usize),
    },
    /// Any other event.
    Event {
        /// Its name.
        name: (usize, usize),
        /// The text of its fields.
        text: (usize, usize),
    },
    /// The stack of the record before, in the lines that follow.
    Stack {
        /// Name of the event.
        name: &'static [u8],
        /// Its first frame, which trace-cmd prints on the same line; else empty.
        frame: (usize, usize),
    },
    /// A record of a tracer that has no events.
    Tracer {
        /// Name by which the kernel or the tracer knows such records.
        name: &'static [u8],
        /// All of it.
        text: (usize, usize),
    },
    /// Without a name that can be separated from its text.
    Nameless {
        /// All of it.
        text: (usize, usize),
    },
}

/// Which system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallId {
    /// By the kernel's name.
    Name(usize, usize),
    /// By number, as `raw_syscalls` prints it.
    Number(u64),
}

/// Reads the payload `text`.
#[inline]
pub(crate) fn parse(text: &[u8]) -> Payload {
    // trace-cmd pads, or puts the time since the record before.
    let mut start = blanks(text, 0);
    if text[start..].starts_with(b"(+") {
        let (_, n) = number::digits(&text[start + 2..]);
        if n > 0 && text.get(start + 2 + n) == Some(&b')') {
            start = blanks(text, start + 3 + n);
        }
    }
    if text[start..].starts_with(b"sys_")
        && let Some(payload) = call(text, start + 4)
    {
        return payload;
    }
    event(text, start)
}

#[inline]
fn word_end(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while text.get(at).is_some_and(|&b| b.is_ascii_alphanumeric() || b == b'_') {
        at += 1;
    }
    at
}

/// `a=1) <-caller`: arguments of a function, which have `=`, and who called it. Those of a system
/// call have `: `, and data in them may be anything.
pub(crate) fn is_function(args: &[u8]) -> bool {
    let named = match memchr::memchr3(b'=', b':', b')', args) {
        Some(at) if args[at] == b')' => args[at..].starts_with(b") <-"),
        Some(at) => args[at] == b'=',
        None => false,
    };
    named && memmem::find(args, b") <-").is_some()
}

/// `sys_NAME(…)`, `sys_NAME -> …`, `sys_enter_NAME: …`, `sys_exit_NAME: …`, `sys_enter: NR …`,
/// `sys_exit: NR …`; `start` is after `sys_`.
#[inline]
fn call(text: &[u8], start: usize) -> Option<Payload> {
    let end = word_end(text, start);
    let whole = text.len();
    match text.get(end)? {
        b'(' if end > start => {
            let args = end + 1;
            let close = if text[args..].ends_with(b")") { whole - 1 } else { whole };
            // The function tracer with arguments prints `sys_f(a=1) <-caller`.
            if is_function(&text[args..]) {
                return None;
            }
            Some(Payload::Enter { call: CallId::Name(start, end), args: (args, close) })
        }
        b' ' if end > start && matches!(&text[end..], b" ->" | [b' ', b'-', b'>', b' ', ..]) => {
            let ret = (whole.min(end + 4), whole);
            Some(Payload::Exit { call: CallId::Name(start, end), ret })
        }
        b':' => {
            let rest = blanks(text, end + 1);
            let word = &text[start..end];
            if let Some(name) = word.strip_prefix(b"enter_") {
                let call = CallId::Name(end - name.len(), end);
                return (!name.is_empty()).then_some(Payload::Enter { call, args: (rest, whole) });
            }
            if let Some(name) = word.strip_prefix(b"exit_") {
                let call = CallId::Name(end - name.len(), end);
                return (!name.is_empty()).then_some(Payload::Exit { call, ret: (rest, whole) });
            }
            if text[rest..].starts_with(b"id=") {
                return numbered_fields(text, word, rest);
            }
            let number = text[rest..].strip_prefix(b"NR ")?;
            let (number, n) = number::digits(number);
            let after = rest + 3 + n;
            if n == 0 || n > 10 {
                return None;
            }
            let call = CallId::Number(number);
            match (word, &text[after..]) {
                (b"enter", [b' ', b'(', .., b')']) => {
                    Some(Payload::Enter { call, args: (after + 2, whole - 1) })
                }
                (b"exit", [b' ', b'=', b' ', ..]) => {
                    Some(Payload::Exit { call, ret: (after + 3, whole) })
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// `id=0x21 (33) args=<INVALID-SIZE>`, `id=0x21 (33) ret=0x1 (1)`: calls by number as fields of the
/// event. The kernel does not print the arguments then.
#[cold]
fn numbered_fields(text: &[u8], word: &[u8], start: usize) -> Option<Payload> {
    let (number, n) = number::c_integer(&text[start + 3..]);
    let call = CallId::Number(u64::try_from(number).ok().filter(|_| n > 0)?);
    match word {
        b"enter" => Some(Payload::Enter { call, args: (start, text.len()) }),
        b"exit" => {
            let ret = memmem::find(&text[start..], b" ret=")? + start + 5;
            Some(Payload::Exit { call, ret: (ret, text.len()) })
        }
        _ => None,
    }
}

fn event(text: &[u8], start: usize) -> Payload {
    let whole = text.len();
    let rest = &text[start..];
    match rest {
        b"<stack trace>" => return stack(b"kernel_stack", text, whole),
        b"<user stack trace>" => return stack(b"user_stack", text, whole),
        [b'#', b' ', ..] => {
            let (_, n) = number::hex_digits(&rest[2..]);
            if n > 0 && rest[2 + n..].starts_with(b" buf:") {
                return Payload::Marker { name: b"raw_data", text: (start, whole) };
            }
        }
        _ => {}
    }
    let end = name_end(text, start);
    if end > start && text.get(end) == Some(&b':') && matches!(text.get(end + 1), None | Some(b' '))
    {
        let after = (end + 2).min(whole);
        let name = &text[start..end];
        return match name {
            // Only its number is known.
            b"type" => Payload::Nameless { text: (start, whole) },
            b"kernel_stack" if is_stack(&text[after..]) => stack(b"kernel_stack", text, after),
            b"user_stack" if is_stack(&text[after..]) => stack(b"user_stack", text, after),
            b"tracing_mark_write" | b"0" => {
                Payload::Marker { name: b"tracing_mark_write", text: (after, whole) }
            }
            b"print" | b"bprint" | b"bputs" => {
                let at = blanks(text, after);
                let written = text[at..].strip_prefix(b"tracing_mark_write: ");
                match (written, name) {
                    (Some(written), _) => Payload::Marker {
                        name: b"tracing_mark_write",
                        text: (whole - written.len(), whole),
                    },
                    (None, b"print") => Payload::Marker { name: b"print", text: (at, whole) },
                    (None, b"bprint") => Payload::Marker { name: b"bprint", text: (at, whole) },
                    (None, _) => Payload::Marker { name: b"bputs", text: (at, whole) },
                }
            }
            // trace-cmd says the event, too.
            b"function" if let Some((name, rest)) = function::parse(text, blanks(text, after)) => {
                Payload::Function { name, rest }
            }
            _ => Payload::Event { name: (start, end), text: (blanks(text, after), whole) },
        };
    }
    if let Some((name, rest)) = function::parse(text, start) {
        return Payload::Function { name, rest };
    }
    match tracer(rest) {
        Some(name) => Payload::Tracer { name, text: (start, whole) },
        None => Payload::Nameless { text: (start, whole) },
    }
}

/// What trace-cmd prints of a stack: a note, or the first frame.
fn is_stack(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    [&b"<stack trace"[..], b"<user stack trace", b"=> "].iter().any(|head| text.starts_with(head))
}

/// A stack; its text starts at `from`.
fn stack(name: &'static [u8], text: &[u8], from: usize) -> Payload {
    let start = blanks(text, from);
    let framed = text[start..].trim_ascii_start().starts_with(b"=> ");
    Payload::Stack { name, frame: (if framed { start } else { text.len() }, text.len()) }
}

/// Whose record without a name of an event this is: a line of mmiotrace, the columns of osnoise, `254,0    Q  RA 8 + 8 [dd]` of blk,
/// `#1 inner/outer(us): 3/4 …` of hwlat, `#1 context irq timer_latency 9 ns` of timerlat,
/// `1:120:S ==> [000]    2:120:R …` and `1:120:S   + [000] …` of wakeup.
fn tracer(text: &[u8]) -> Option<&'static [u8]> {
    if let Some(rest) = text.strip_prefix(b"#") {
        let (_, n) = number::digits(rest);
        let word = rest.get(n..)?.trim_ascii_start();
        return match n {
            0 => None,
            _ if word.starts_with(b"inner/outer") => Some(b"hwlat"),
            _ if word.starts_with(b"context ") => Some(b"timerlat"),
            _ => None,
        };
    }
    if raw_and_hex::mmio(text).is_some() {
        return Some(b"mmiotrace");
    }
    let (_, n) = number::digits(text);
    if n > 0 && is_osnoise(text) {
        return Some(b"osnoise");
    }
    let (_, m) = number::digits(text.get(n + 1..)?);
    if n == 0 || m == 0 {
        return None;
    }
    let after = &text[n + 1 + m..];
    match text[n] {
        b',' if after.starts_with(b" ") => Some(b"blk"),
        b':' if after.starts_with(b":") => {
            let state = after.get(2..)?.trim_ascii_start();
            if state.starts_with(b"==>") {
                Some(b"context_switch")
            } else {
                state.starts_with(b"+ [").then_some(b"wakeup")
            }
        }
        _ => None,
    }
}

/// `1000000        190  99.98100       9     18      0   1007     18      1`: the columns of
/// `trace_osnoise_print` in `kernel/trace/trace_output.c`, the third of which has five decimals.
fn is_osnoise(text: &[u8]) -> bool {
    let mut words = text.split(|&b| b == b' ').filter(|word| !word.is_empty());
    let is_number = |word: &[u8]| word.iter().all(u8::is_ascii_digit);
    let is_ratio = |word: &[u8]| {
        word.iter().position(|&b| b == b'.').is_some_and(|at| {
            word.len() == at + 6 && is_number(&word[..at]) && is_number(&word[at + 1..])
        })
    };
    let whole = words.by_ref().take(2).filter(|word| is_number(word)).count() == 2
        && words.next().is_some_and(is_ratio);
    whole && words.clone().count() >= 5 && words.all(is_number)
}

/// Names of events are words; those of functions that print may have suffixes.
#[inline]
fn name_end(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while text
        .get(at)
        .is_some_and(|&b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$' | b'-'))
    {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enter(text: &str) -> (&str, &str) {
        match parse(text.as_bytes()) {
            Payload::Enter { call: CallId::Name(a, b), args } => {
                (&text[a..b], &text[args.0..args.1])
            }
            other => panic!("{text}: {other:?}"),
        }
    }

    fn exit(text: &str) -> (&str, &str) {
        match parse(text.as_bytes()) {
            Payload::Exit { call: CallId::Name(a, b), ret } => (&text[a..b], &text[ret.0..ret.1]),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn event(text: &str) -> (&str, &str) {
        match parse(text.as_bytes()) {
            Payload::Event { name, text: t } => (&text[name.0..name.1], &text[t.0..t.1]),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn marker(text: &str) -> (&str, &str) {
        match parse(text.as_bytes()) {
            Payload::Marker { name, text: t } => {
                (std::str::from_utf8(name).expect("ASCII"), &text[t.0..t.1])
            }
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn system_calls_in_every_form() {
        assert_eq!(
            enter("sys_read(fd: 3, buf: 7ffc, count: 340)"),
            ("read", "fd: 3, buf: 7ffc, count: 340")
        );
        assert_eq!(enter("sys_vfork()"), ("vfork", ""));
        assert_eq!(enter("sys_newfstatat(dfd: 3, filename: 0x1 \")\", flag: 0)").0, "newfstatat");
        assert_eq!(enter("sys_openat(dfd: 0xff"), ("openat", "dfd: 0xff"));
        assert_eq!(enter("sys_enter_dup2:       oldfd: 0x0b"), ("dup2", "oldfd: 0x0b"));
        assert_eq!(enter("(+18)    sys_enter_dup2:       oldfd: 0x0b"), ("dup2", "oldfd: 0x0b"));
        assert_eq!(enter("         sys_enter_getuid:     "), ("getuid", ""));
        assert_eq!(exit("sys_read -> 0x340"), ("read", "0x340"));
        assert_eq!(exit("sys_exit_write:       0x2"), ("write", "0x2"));
        assert_eq!(exit("sys_exit_group -> 0x0"), ("exit_group", "0x0"));
        assert_eq!(enter("sys_exit(error_code: 0)"), ("exit", "error_code: 0"));
        assert_eq!(enter("sys_exit_group(error_code: 0)"), ("exit_group", "error_code: 0"));
        assert_eq!(
            parse(b"sys_enter: NR 33 (b, 1, 5651, 0, 7, b)"),
            Payload::Enter { call: CallId::Number(33), args: (18, 37) }
        );
        assert_eq!(
            parse(b"sys_exit: NR 1 = -2"),
            Payload::Exit { call: CallId::Number(1), ret: (17, 19) }
        );
        assert_eq!(
            parse(b"sys_enter: id=0x21 (33) args=<INVALID-SIZE>"),
            Payload::Enter { call: CallId::Number(33), args: (11, 43) }
        );
        assert_eq!(
            parse(b"sys_exit:             id=33 ret=-2"),
            Payload::Exit { call: CallId::Number(33), ret: (32, 34) }
        );
        assert_eq!(event("sys_exit: id=0xffffffffffffffff (-1) ret=0x0 (0)").0, "sys_exit");
        // rt_sigreturn resets the number of the call.
        assert_eq!(event("sys_exit: NR -1 = 0"), ("sys_exit", "NR -1 = 0"));
    }

    #[test]
    fn other_events() {
        assert_eq!(event("sched_switch: prev_comm=bash"), ("sched_switch", "prev_comm=bash"));
        assert_eq!(
            event("sys_probe: (do_sys+0x0/0x1) a=0x1"),
            ("sys_probe", "(do_sys+0x0/0x1) a=0x1")
        );
        assert_eq!(event("xcmd: (0x55) s=(fault)"), ("xcmd", "(0x55) s=(fault)"));
        assert_eq!(parse(b"type: 839"), Payload::Nameless { text: (0, 9) });
        assert_eq!(event("kvm_entry:            vcpu 0"), ("kvm_entry", "vcpu 0"));
        assert_eq!(event("empty:"), ("empty", ""));
        assert_eq!(event("function: ip=0x1 parent_ip=0x2"), ("function", "ip=0x1 parent_ip=0x2"));
        assert_eq!(
            parse(b"<stack trace>"),
            Payload::Stack { name: b"kernel_stack", frame: (13, 13) }
        );
        let user = Payload::Stack { name: b"user_stack", frame: (18, 18) };
        assert_eq!(parse(b"<user stack trace>"), user);
        assert_eq!(
            parse(b"kernel_stack:         <stack trace >"),
            Payload::Stack { name: b"kernel_stack", frame: (36, 36) }
        );
        assert_eq!(
            parse(b"user_stack:           \t=> 0x7fc980939dcc"),
            Payload::Stack { name: b"user_stack", frame: (22, 40) }
        );
        assert_eq!(parse(b""), Payload::Nameless { text: (0, 0) });
    }

    #[test]
    fn tracers_without_events() {
        for (text, name) in [
            ("254,0    Q  RA 1 + 16 [dd]", "blk"),
            ("  8,16   m   N cfq1234 put_queue", "blk"),
            ("#1 inner/outer(us):   11/12   ts:1581527483.343962693 count:6", "hwlat"),
            ("#1  context    irq timer_latency       932 ns", "timerlat"),
            ("1000000        190  99.98100       9     18      0   1007     18      1", "osnoise"),
            (
                "190300000    1000000   99.99980       9     18      0   1007     18      1",
                "osnoise",
            ),
            ("     0:120:R ==> [000]   1234:100:R kworker", "context_switch"),
            ("  1234:100:S   + [000]   5678:120:R bash", "wakeup"),
        ] {
            match parse(text.as_bytes()) {
                Payload::Tracer { name: found, text: (_, end) } => {
                    assert_eq!((found, end), (name.as_bytes(), text.len()), "{text}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
        for text in [
            "1 2 3.4 5",
            "1 2 99.98100",
            "1 2 99.98100 x",
            "254,0",
            "254",
            "#1",
            "# 1",
            "1:2",
            "1:2:S",
            "1:2:S x",
            "Unknown type 1",
        ] {
            assert!(matches!(parse(text.as_bytes()), Payload::Nameless { .. }), "{text}");
        }
    }

    #[test]
    fn functions() {
        for (text, name, rest) in [
            ("_raw_spin_lock <-__schedule", "_raw_spin_lock", "<-__schedule"),
            ("sys_read(fd=3) <-do_syscall_64", "sys_read", "(fd=3) <-do_syscall_64"),
            ("mutex_lock+0x0/0x10 <-f", "mutex_lock", "+0x0/0x10 <-f"),
            (
                "sys_read(fd=3) <-b (repeats: 2, last_ts:  2881.879001)",
                "sys_read",
                "(fd=3) <-b (repeats: 2, last_ts:  2881.879001)",
            ),
            ("sys_vfork() <-b", "sys_vfork", "() <-b"),
            ("function:             ip_rcv <-- napi_poll", "ip_rcv", "<-- napi_poll"),
        ] {
            match parse(text.as_bytes()) {
                Payload::Function { name: n, rest: r } => {
                    assert_eq!((&text[n.0..n.1], &text[r.0..r.1]), (name, rest));
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn markers_keep_their_blanks() {
        let name = "tracing_mark_write";
        assert_eq!(marker("tracing_mark_write: B|12|a b"), (name, "B|12|a b"));
        assert_eq!(marker("tracing_mark_write:    lead"), (name, "   lead"));
        assert_eq!(marker("tracing_mark_write: "), (name, ""));
        assert_eq!(
            marker("tracing_mark_write: fake-1 [000] ..... 1.000000: sys_read -> 0x1"),
            (name, "fake-1 [000] ..... 1.000000: sys_read -> 0x1")
        );
        assert_eq!(marker("print:                tracing_mark_write: hello"), (name, "hello"));
        assert_eq!(marker("bprint:               f: hello"), ("bprint", "f: hello"));
        assert_eq!(marker("0: B|12|a"), (name, "B|12|a"));
        assert_eq!(marker("# 1 buf: 72 61"), ("raw_data", "# 1 buf: 72 61"));
    }

    #[test]
    fn example_of_parse() {
        use crate::ftrace::payload::{CallId, Payload, parse};
        let text = b"sys_dup2(oldfd: 0xb, newfd: 1)";
        assert_eq!(parse(text), Payload::Enter { call: CallId::Name(4, 8), args: (9, 29) });
        assert_eq!(
            parse(b"sys_dup2 -> 0x1"),
            Payload::Exit { call: CallId::Name(4, 8), ret: (12, 15) }
        );
    }
}
