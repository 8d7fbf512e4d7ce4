//! What a record says.

use crate::ftrace::calls::field;
use crate::ftrace::function::function;
use crate::ftrace::header::trim_start;

/// A payload, by its form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// A system call starts. `number`: by its number, not its name.
    Enter { call: Call, args: Vec<u8> },
    /// It ends with this value.
    Exit { call: Call, value: Option<i64> },
    /// A stack of the kernel or of the program, whose frames follow, but for a first one.
    Stack(&'static str, Vec<u8>),
    /// Text of a program.
    Marker { name: &'static str, args: Vec<u8> },
    /// A function and who called it.
    Function { name: Vec<u8>, args: Vec<u8> },
    /// Anything else.
    Event { name: Option<Vec<u8>>, args: Vec<u8> },
}

/// Which system call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// As the kernel spells it, without prefix.
    Name(Vec<u8>),
    /// `NR 257`.
    Number(u64),
}

/// Reads a payload. trace-cmd may put what passed since the record before it in front: `(+18) `.
pub fn payload(text: &[u8]) -> Payload {
    let long = with_blanks(text);
    match with_blanks(without_blanks(text)) {
        _ if matches!(long, Payload::Marker { .. }) => long,
        Payload::Marker { .. } | Payload::Event { .. } => long,
        short => short,
    }
}

/// Text without what may be blanks behind a call.
pub(crate) fn without_blanks(text: &[u8]) -> &[u8] {
    let upto = text.iter().rposition(|b| !b" \t".contains(b)).map_or(0, |at| at + 1);
    &text[..upto]
}

fn with_blanks(text: &[u8]) -> Payload {
    let text = without_difference(text);
    let event = |name: Option<&[u8]>, args: &[u8]| Payload::Event {
        name: name.map(<[u8]>::to_vec),
        args: args.to_vec(),
    };
    let marker = |name, args: &[u8]| Payload::Marker { name, args: args.to_vec() };
    match text {
        b"<stack trace>" => return Payload::Stack("kernel_stack", Vec::new()),
        b"<user stack trace>" => return Payload::Stack("user_stack", Vec::new()),
        _ => {}
    }
    // Functions have such names, too.
    if let Some((name, args)) = function(text, false) {
        return Payload::Function { name, args };
    }
    if let Some(call) = by_name(text).or_else(|| by_number(text)).or_else(|| by_event(text)) {
        return call;
    }
    if is_raw_data(text) {
        return marker("raw_data", text);
    }
    // A record of an unknown event.
    if let Some(number) = text.strip_prefix(b"type: ")
        && number.iter().all(u8::is_ascii_digit)
    {
        return event(None, text);
    }
    if let Some((name, args)) = named(text) {
        return match name {
            // trace-cmd's.
            b"function" => match trim_start(args).windows(5).position(|five| five == b" <-- ") {
                Some(at) => {
                    let (name, args) = trim_start(args).split_at(at);
                    Payload::Function { name: name.to_vec(), args: args[1..].to_vec() }
                }
                None => event(Some(name), trim_start(args)),
            },
            b"kernel_stack" if is_stack(args) => Payload::Stack("kernel_stack", frame(args)),
            b"user_stack" if is_stack(args) => Payload::Stack("user_stack", frame(args)),
            b"tracing_mark_write" | b"0" => marker("tracing_mark_write", args),
            b"print" => match trim_start(args).strip_prefix(b"tracing_mark_write: ") {
                Some(text) => marker("tracing_mark_write", text),
                None => marker("print", trim_start(args)),
            },
            b"bprint" => marker("bprint", trim_start(args)),
            b"bputs" => marker("bputs", trim_start(args)),
            b"raw_data" => marker("raw_data", trim_start(args)),
            _ => event(Some(name), trim_start(args)),
        };
    }
    let text = trim_start(text);
    if let Some(name) = of_tracer(text) {
        return event(Some(name), text);
    }
    if let Some((name, args)) = function(text, false) {
        return Payload::Function { name, args };
    }
    event(None, text)
}

/// Records of tracers, which print no name: that of the format in which they are kept.
fn of_tracer(text: &[u8]) -> Option<&'static [u8]> {
    if is_blk(text) {
        return Some(b"blk");
    }
    let words: Vec<&[u8]> = text.split(|&b| b == b' ').filter(|word| !word.is_empty()).collect();
    match words[..] {
        [first, b"inner/outer(us):", ..] if first.starts_with(b"#") => Some(b"hwlat"),
        [first, b"context", ..] if first.starts_with(b"#") => Some(b"timerlat"),
        [first, b"==>", ..] if is_state(first) => Some(b"context_switch"),
        [first, b"+", ..] if is_state(first) => Some(b"wakeup"),
        _ => None,
    }
}

/// `2101:120:S`
fn is_state(word: &[u8]) -> bool {
    let parts: Vec<&[u8]> = word.split(|&b| b == b':').collect();
    let digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    matches!(parts[..], [pid, prio, state] if digits(pid) && digits(prio) && state.len() == 1)
}

/// Eight bytes or more, blanks for the first record, which has nothing before it.
fn without_difference(text: &[u8]) -> &[u8] {
    let inner = trim_start(text);
    let Some(rest) = inner.strip_prefix(b"(+") else {
        return text.strip_prefix(b"         ").unwrap_or(text);
    };
    let Some(close) = rest.iter().position(|&b| b == b')') else { return text };
    let digits = rest[..close].strip_prefix(b"-").unwrap_or(&rest[..close]);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return text;
    }
    trim_start(&rest[close + 1..])
}

/// `… pid=101 old_pid=102`: which thread went on as which process. The name before may hold
/// anything.
pub(crate) fn exec(args: &[u8]) -> Option<(i32, i32)> {
    let text = String::from_utf8_lossy(args);
    let (rest, from) = text.rsplit_once(" old_pid=")?;
    let (_, to) = rest.rsplit_once(" pid=")?;
    Some((from.parse().ok()?, to.parse().ok()?))
}

/// `sys_NAME(ARGS)` and `sys_NAME -> 0xVALUE`.
fn by_name(text: &[u8]) -> Option<Payload> {
    let rest = text.strip_prefix(b"sys_")?;
    let name = word(rest);
    if name.is_empty() {
        return None;
    }
    let call = Call::Name(name.to_vec());
    let rest = &rest[name.len()..];
    if let Some(args) = rest.strip_prefix(b"(") {
        // The last argument of a record that was cut may have lost digits.
        let ended = || args.iter().rposition(|&b| b == b',').unwrap_or(0);
        let args = args.strip_suffix(b")").unwrap_or_else(|| &args[..ended()]).to_vec();
        return Some(Payload::Enter { call, args });
    }
    // A cut may have left nothing of the value.
    let value = if rest == b" ->" { b"" } else { rest.strip_prefix(b" -> ")? };
    Some(Payload::Exit { call, value: hexadecimal(value) })
}

/// `sys_enter: NR 257 (1, 2, 3, 4, 5, 6)` and `sys_exit: NR 257 = -2`.
fn by_number(text: &[u8]) -> Option<Payload> {
    if let Some(rest) = text.strip_prefix(b"sys_enter: NR ") {
        let (number, rest) = decimal(rest)?;
        let args = rest.strip_prefix(b" (")?;
        let args = args.strip_suffix(b")").unwrap_or(args).to_vec();
        return Some(Payload::Enter { call: Call::Number(number), args });
    }
    let (number, rest) = decimal(text.strip_prefix(b"sys_exit: NR ")?)?;
    let value = rest.strip_prefix(b" = ")?;
    let value = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
    Some(Payload::Exit { call: Call::Number(number), value })
}

/// `sys_enter_NAME: ARGS` and `sys_exit_NAME: VALUE`, as trace-cmd and the option `fields` have it.
fn by_event(text: &[u8]) -> Option<Payload> {
    let (name, args) = named(text)?;
    let args = trim_start(args);
    if let Some(name) = name.strip_prefix(b"sys_enter_") {
        return Some(Payload::Enter { call: Call::Name(name.to_vec()), args: args.to_vec() });
    }
    let name = name.strip_prefix(b"sys_exit_")?;
    let value = match args.windows(4).position(|four| four == b"ret=") {
        Some(at) => field(&args[at + 4..]),
        None => hexadecimal(args),
    };
    Some(Payload::Exit { call: Call::Name(name.to_vec()), value })
}

/// `NAME: TEXT`, the text with all its blanks but the first.
fn named(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = text.iter().position(|&b| b == b':')?;
    let (name, rest) = (&text[..colon], &text[colon + 1..]);
    let known = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    if name.is_empty() || !name.iter().all(known) {
        return None;
    }
    match rest.split_first() {
        None => Some((name, rest)),
        Some((b' ', rest)) => Some((name, rest)),
        Some(_) => None,
    }
}

/// `254,0    Q  RA 29947752 + 16 [dd]`: device, action, flags.
fn is_blk(text: &[u8]) -> bool {
    let words: Vec<&[u8]> = text.split(|&b| b == b' ').filter(|word| !word.is_empty()).collect();
    let [device, action, ..] = words[..] else { return false };
    let mut parts = device.split(|&b| b == b',');
    let digits = |part: Option<&[u8]>| {
        part.is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit))
    };
    digits(parts.next())
        && digits(parts.next())
        && parts.next().is_none()
        && action.len() <= 2
        && action.iter().all(u8::is_ascii_alphabetic)
}

/// `# 1 buf: 72 61 77 21`.
fn is_raw_data(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"# ") else { return false };
    let upto = rest.iter().position(|b| !b.is_ascii_hexdigit()).unwrap_or(rest.len());
    upto > 0 && rest[upto..].starts_with(b" buf:")
}

/// The name at the start.
fn word(text: &[u8]) -> &[u8] {
    let upto =
        text.iter().position(|&b| !(b.is_ascii_alphanumeric() || b == b'_')).unwrap_or(text.len());
    &text[..upto]
}

fn decimal(text: &[u8]) -> Option<(u64, &[u8])> {
    let upto = text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    let number = std::str::from_utf8(&text[..upto]).ok()?.parse().ok()?;
    Some((number, &text[upto..]))
}

/// 64 bits in hexadecimal digits, with or without `0x`.
pub fn hexadecimal(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"0x").unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let value = u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    Some(value.cast_signed())
}

/// trace-cmd's note of a stack, or its first frame.
fn is_stack(args: &[u8]) -> bool {
    let args = args.trim_ascii_start();
    args.starts_with(b"<stack trace")
        || args.starts_with(b"<user stack trace")
        || args.starts_with(b"=> ")
}

/// The first frame, if it is on the line of the record.
fn frame(args: &[u8]) -> Vec<u8> {
    let known = args.trim_ascii_start().starts_with(b"=> ");
    if known { trim_start(args).to_vec() } else { Vec::new() }
}
