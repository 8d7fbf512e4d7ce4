//! What follows the columns: a function that is entered, called or left, or a comment.

use memchr::memmem;

use crate::ftrace::function_graph::NAME;
use crate::ftrace::scan::{Span, blanks, trim_end};
use crate::text::number;

/// What a line says, after its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GraphEvent {
    /// `f() {`
    Enter(FunctionCall),
    /// `f();`: it calls no other traced function.
    Leaf(FunctionCall),
    /// `}`
    Exit(FunctionReturn),
    /// `/* … */`: an event, or text that a program wrote.
    Comment {
        /// The text between the marks.
        text: Span,
        /// The comment ends on its line.
        closed: bool,
    },
    /// `==========>`, `<==========`: an interrupt starts or ends.
    Interrupt,
}

/// A function that is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FunctionCall {
    /// Its name.
    pub name: Span,
    /// What is printed between its name and the end, such as `[module]` or arguments.
    pub rest: Span,
    /// `<-caller+0x1/0x2`, with `funcgraph-retaddr`; else empty.
    pub caller: Span,
    /// Its return value.
    pub ret: Option<i64>,
    /// Functions around it.
    pub depth: u32,
}

/// A function that is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FunctionReturn {
    /// Its name, where the kernel prints it.
    pub name: Option<Span>,
    /// Its return value.
    pub ret: Option<i64>,
    /// Functions around it.
    pub depth: u32,
}

/// Reads what starts at `from`, after blanks. A function without a traced caller is indented by
/// `base` blanks. `bare`: there is no column before it that shows that it is one.
pub(crate) fn parse(line: &[u8], from: usize, base: usize, bare: bool) -> Option<GraphEvent> {
    let start = blanks(line, from);
    let depth = u32::try_from((start - from).saturating_sub(base) / 2).ok()?;
    let end = trim_end(line, start, line.len());
    match line.get(start)? {
        b'}' => exit(line, start, numbered(line, start, end), depth),
        b'/' => comment(line, start, end),
        b'=' | b'<' => {
            let arrow = line[start..end].strip_suffix(b"|").unwrap_or(&line[start..end]);
            matches!(arrow.trim_ascii_end(), b"==========>" | b"<==========")
                .then_some(GraphEvent::Interrupt)
        }
        _ => call(line, start, numbered(line, start, end), depth, bare),
    }
}

/// Without the depth that trace-cmd may append: ` (3)`.
fn numbered(line: &[u8], start: usize, end: usize) -> usize {
    let Some(inner) = line[start..end].strip_suffix(b")") else { return end };
    let digits = inner.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let Some(before) = inner[..inner.len() - digits].strip_suffix(b" (") else { return end };
    let known = matches!(before.last(), Some(b';' | b'{' | b'}' | b'/'));
    if digits > 0 && known { start + before.len() } else { end }
}

/// `/* text */`, or the first line of such a text.
fn comment(line: &[u8], start: usize, end: usize) -> Option<GraphEvent> {
    let text = &line[start..];
    if !text.starts_with(b"/* ") {
        return None;
    }
    let closed = line[start + 3..end].ends_with(b" */") || &line[start..end] == b"/*  */";
    let text = if closed { (start + 3, (end - 3).max(start + 3)) } else { (start + 3, line.len()) };
    Some(GraphEvent::Comment { text, closed })
}

/// `}`, `} /* f */`, `} /* f = 0x0 */`, `} /* f [module] ret=-22 */`.
fn exit(line: &[u8], start: usize, end: usize, depth: u32) -> Option<GraphEvent> {
    if start + 1 == end {
        return Some(GraphEvent::Exit(FunctionReturn { name: None, ret: None, depth }));
    }
    let tail = tail(line, start + 1, end)?;
    if blanks(line, start + 1) != tail.open {
        return None;
    }
    let (from, to) = tail.text;
    let name = name_end(line, from, to);
    if name == from || name - from > NAME {
        return None;
    }
    let ret = value(&line[name..to]);
    Some(GraphEvent::Exit(FunctionReturn { name: Some((from, name)), ret, depth }))
}

/// `f() {`, `f();`, with arguments in the brackets, a module before and a comment after them.
fn call(line: &[u8], start: usize, end: usize, depth: u32, bare: bool) -> Option<GraphEvent> {
    let mut end = end;
    let (mut caller, mut ret) = ((end, end), None);
    if let Some(tail) = tail(line, start, end) {
        let (from, to) = tail.text;
        caller = (from, from);
        if line[from..to].starts_with(b"<-") {
            let after = memmem::find(&line[from..to], b" ret=").map_or(to, |at| from + at);
            caller.1 = trim_end(line, from, after);
        }
        ret = value(&line[caller.1..to]);
        end = trim_end(line, start, tail.open);
    }
    let nested = match line[start..end].last()? {
        b';' => false,
        b'{' => true,
        _ => return None,
    };
    let close = trim_end(line, start, end - 1);
    let name = name_end(line, start, close);
    if name == start || name - start > NAME || line[start..close].last() != Some(&b')') {
        return None;
    }
    // Only a module and arguments may follow the name.
    let mut open = name;
    if line[open..close].starts_with(b" [") {
        open += memchr::memchr(b']', &line[open..close])? + 1;
    }
    let symbol = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$');
    if line.get(open) != Some(&b'(') || bare && !line[start..name].iter().all(|&b| symbol(b)) {
        return None;
    }
    let rest = if close - open == 2 { open } else { close };
    let rest = (blanks(line, name).min(rest), rest);
    let call = FunctionCall { name: (start, name), rest, caller, ret, depth };
    Some(if nested { GraphEvent::Enter(call) } else { GraphEvent::Leaf(call) })
}

/// Names of functions are symbols, or addresses.
fn name_end(line: &[u8], start: usize, end: usize) -> usize {
    let name = &line[start..end];
    start + name.iter().position(|b| matches!(b, b' ' | b'(')).unwrap_or(name.len())
}

/// A comment at the end of a line.
struct Tail {
    /// Where it starts.
    open: usize,
    /// Its text, without blanks around it.
    text: Span,
}

fn tail(line: &[u8], start: usize, end: usize) -> Option<Tail> {
    let inner = line[start..end].strip_suffix(b"*/")?;
    let open = start + memmem::rfind(inner, b"/*")?;
    let to = trim_end(line, open + 2, start + inner.len());
    let from = blanks(line, open + 2).min(to);
    Some(Tail { open, text: (from, to) })
}

/// The value in ` = 0x0`, ` = -22`, ` ret=0x0`, ` ret=true`, ` ret=0x1(trunc)`.
fn value(text: &[u8]) -> Option<i64> {
    let at = memmem::find(text, b"ret=").map(|at| at + 4);
    let at = at.or_else(|| memmem::rfind(text, b"= ").map(|at| at + 2))?;
    let value = &text[at..];
    match value.strip_suffix(b"(trunc)").unwrap_or(value) {
        b"true" => Some(1),
        b"false" => Some(0),
        value => number::whole_integer(value),
    }
}
