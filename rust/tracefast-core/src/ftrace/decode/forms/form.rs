//! One way in which an event is printed: literals, and values between them.
//!
//! A form is written like the text itself, `comm={comm:comm} pid={pid:i32}`:
//!
//! - `{name:type}` is a value of the column `name`; the type is given where the column first
//!   appears, and may be left out after that. `resolve` lists the types.
//! - `~` is one or more blanks.
//! - `{_}` is a word that the record already has in a column of its own.
//! - `{action=C}` is the column `action`, whose text is `C` and nothing else.
//! - `\s` is a blank (at the end of a line), `\t` a tab.
//!
//! Most values end where their own text says so. The names of commands and files are open: they may
//! hold anything, even text that looks like the rest of the form. The part of the form between two
//! open values is searched for from the right, because the kernel prints what comes last, whatever
//! a name before it contains.

use memchr::memmem::FinderRev;

use crate::ftrace::decode::value::{self, FieldType, Print, Slot};

/// Bytes of a command's name at most.
const COMM: usize = 15;

/// A column of an event, as its forms name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventColumn {
    /// Its name in the kernel.
    pub name: &'static str,
    /// Its type.
    pub kind: FieldType,
    /// How it is printed.
    pub print: Print,
}

/// The values of one row, before they go to their columns.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// By column.
    pub slots: Vec<Slot>,
    /// Text that was rewritten.
    pub made: String,
}

impl Row {
    /// All columns are null again.
    pub(crate) fn clear(&mut self) {
        self.slots.fill(Slot::Null);
        self.made.clear();
    }
}

/// One way in which an event is printed.
#[derive(Debug)]
pub(crate) struct Form {
    /// Pieces with values that end by themselves; an open value is between each two.
    pieces: Vec<FormPiece>,
    /// The open values: their columns, and how they are printed.
    open: Vec<(usize, Print)>,
}

#[derive(Debug, Default)]
struct FormPiece {
    parts: Vec<FormPart>,
    /// Of the literal at its start.
    finder: Option<FinderRev<'static>>,
}

#[derive(Debug)]
enum FormPart {
    Literal(&'static [u8]),
    Blanks,
    Skipped,
    Exactly { column: usize, value: &'static [u8] },
    Value { column: usize, kind: FieldType, print: Print, stop: Option<u8> },
}

impl Form {
    /// Reads a form, whose new columns are appended to `columns`. `None` if it is not well formed.
    pub(crate) fn new(form: &'static str, columns: &mut Vec<EventColumn>) -> Option<Self> {
        let mut pieces = vec![FormPiece::default()];
        let mut open = Vec::new();
        let mut rest = form;
        while !rest.is_empty() {
            let piece = pieces.last_mut()?;
            let Some(inner) = rest.strip_prefix('{') else {
                if let Some(after) = rest.strip_prefix('~') {
                    piece.parts.push(FormPart::Blanks);
                    rest = after;
                    continue;
                }
                if let Some(escaped) = rest.strip_prefix('\\') {
                    piece.parts.push(FormPart::Literal(escape(escaped)?));
                    rest = &escaped[1..];
                    continue;
                }
                let end = rest.find(['{', '~', '\\']).unwrap_or(rest.len());
                piece.parts.push(FormPart::Literal(&rest.as_bytes()[..end]));
                rest = &rest[end..];
                continue;
            };
            let (value, after) = inner.split_once('}')?;
            rest = after;
            if value == "_" {
                piece.parts.push(FormPart::Skipped);
                continue;
            }
            if let Some((name, value)) = value.split_once('=') {
                let column = resolve(name, columns)?;
                piece.parts.push(FormPart::Exactly { column, value: value.as_bytes() });
                continue;
            }
            let column = resolve(value, columns)?;
            let EventColumn { kind, print, .. } = columns[column];
            if print.is_open() {
                // Nothing separates two adjacent open values.
                if piece.parts.is_empty() && !open.is_empty() {
                    return None;
                }
                open.push((column, print));
                pieces.push(FormPiece::default());
            } else {
                let stop = match after.strip_prefix('\\') {
                    Some(escaped) => escape(escaped)?.first().copied(),
                    None => after.bytes().next().filter(|&b| b != b'{'),
                };
                piece.parts.push(FormPart::Value { column, kind, print, stop });
            }
        }
        let last = pieces.len() - 1;
        for (i, piece) in pieces.iter_mut().enumerate().skip(1) {
            piece.finder = match piece.parts.first() {
                Some(FormPart::Literal(literal)) => Some(FinderRev::new(*literal)),
                None if i == last => None,
                _ => return None,
            };
        }
        Some(Self { pieces, open })
    }

    /// The words before the values, as in `pid=`, `ino `, `len: `.
    pub(crate) fn keys(&self) -> Vec<(&'static str, usize)> {
        let mut keys = Vec::new();
        let mut before: &'static [u8] = b"";
        let mut note = |before: &'static [u8], column| {
            let text = std::str::from_utf8(before).unwrap_or_default();
            let text = text.trim_end_matches(['=', ':', ' ']);
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let key = &text[text.trim_end_matches(word).len()..];
            if !key.is_empty() && text.len() < before.len() {
                keys.push((key, column));
            }
        };
        for (i, piece) in self.pieces.iter().enumerate() {
            for part in &piece.parts {
                match *part {
                    FormPart::Literal(literal) => before = literal,
                    FormPart::Value { column, .. } => {
                        note(before, column);
                        before = b"";
                    }
                    FormPart::Blanks | FormPart::Skipped | FormPart::Exactly { .. } => before = b"",
                }
            }
            if let Some(&(column, _)) = self.open.get(i) {
                note(before, column);
                before = b"";
            }
        }
        keys
    }

    /// Reads all of `text` into `row`. After a failed attempt the row holds garbage.
    #[inline]
    pub(crate) fn read(&self, text: &[u8], row: &mut Row) -> bool {
        let Some(start) = self.pieces[0].read(text, 0, row) else { return false };
        let Some(&(first, first_print)) = self.open.first() else { return start == text.len() };
        let last = self.open.len();
        let mut end = text.len();
        for i in (1..=last).rev() {
            let piece = &self.pieces[i];
            // What follows the piece: an open value, or nothing.
            let open_value = self.open.get(i).copied();
            let mut place = None;
            if let Some(finder) = &piece.finder {
                let mut bound = end;
                while let Some(n) = text.get(start..bound).and_then(|hay| finder.rfind(hay)) {
                    let at = start + n;
                    let fits = piece.read(&text[..end], at, row).filter(|&stop| match open_value {
                        None => stop == end,
                        Some((_, print)) => fits_in(print, &text[stop..end]),
                    });
                    if let Some(stop) = fits
                        && (i > 1 || fits_in(first_print, &text[start..at]))
                    {
                        place = Some((at, stop));
                        break;
                    }
                    bound = at + finder.needle().len() - 1;
                }
            } else if i > 1 || fits_in(first_print, &text[start..end]) {
                place = Some((end, end));
            }
            let Some((at, stop)) = place else { return false };
            if let Some((column, print)) = open_value {
                row.slots[column] = print.open(text, stop, end);
            }
            end = at;
        }
        row.slots[first] = first_print.open(text, start, end);
        true
    }
}

impl FormPiece {
    #[inline]
    fn read(&self, text: &[u8], start: usize, row: &mut Row) -> Option<usize> {
        let mut at = start;
        for part in &self.parts {
            match *part {
                FormPart::Literal(literal) => {
                    if !text.get(at..)?.starts_with(literal) {
                        return None;
                    }
                    at += literal.len();
                }
                FormPart::Blanks | FormPart::Skipped => {
                    let skipped = matches!(part, FormPart::Skipped);
                    let rest = text.get(at..)?.iter();
                    let n = rest.take_while(|&&b| (b == b' ') != skipped).count();
                    if n == 0 {
                        return None;
                    }
                    at += n;
                }
                FormPart::Exactly { column, value } => {
                    if !text.get(at..)?.starts_with(value) {
                        return None;
                    }
                    row.slots[column] = Slot::Text(at, at + value.len());
                    at += value.len();
                }
                FormPart::Value { column, kind, print, stop } => {
                    let (slot, end) = value::read(print, kind, text, at, stop, &mut row.made)?;
                    row.slots[column] = slot;
                    at = end;
                }
            }
        }
        Some(at)
    }
}

/// An open value may be `text`.
#[inline]
fn fits_in(print: Print, text: &[u8]) -> bool {
    print != Print::Comm || is_name(text)
}

/// `text` may be the name of a command. Bytes that are not UTF-8 are written `\xNN`.
#[inline]
fn is_name(text: &[u8]) -> bool {
    if text.len() <= COMM {
        return true;
    }
    if text.len() > 4 * COMM {
        return false;
    }
    let mut bytes = 0;
    let mut at = 0;
    while at < text.len() {
        let digit = |n: usize| text.get(at + n).is_some_and(u8::is_ascii_hexdigit);
        let escaped = text[at..].starts_with(b"\\x") && digit(2) && digit(3);
        at += if escaped { 4 } else { 1 };
        bytes += 1;
    }
    bytes <= COMM
}

/// The blank or tab that `\s` or `\t` stands for; `text` begins after the backslash.
fn escape(text: &str) -> Option<&'static [u8]> {
    match text.as_bytes().first()? {
        b's' => Some(b" "),
        b't' => Some(b"\t"),
        _ => None,
    }
}

/// The column of `name` or `name:type`.
fn resolve(value: &'static str, columns: &mut Vec<EventColumn>) -> Option<usize> {
    let (name, printed) = value.split_once(':').unzip();
    let name = name.unwrap_or(value);
    let known = columns.iter().position(|column| column.name == name);
    let Some(printed) = printed else { return known };
    let (kind, print) = match printed {
        "i32" => (FieldType::I32, Print::Integer),
        "u32" => (FieldType::U32, Print::Integer),
        "i64" => (FieldType::I64, Print::Integer),
        "u64" => (FieldType::U64, Print::Integer),
        "x32" => (FieldType::U32, Print::Hex),
        "x64" => (FieldType::U64, Print::Hex),
        "o32" => (FieldType::U32, Print::Octal),
        "f64" => (FieldType::F64, Print::Float),
        "bool" => (FieldType::Bool, Print::Bool),
        "dev" => (FieldType::Text, Print::Device),
        "state" => (FieldType::Text, Print::State),
        "ioprio" => (FieldType::Text, Print::Ioprio),
        "word" => (FieldType::Text, Print::Word),
        "comm" => (FieldType::Text, Print::Comm),
        "symbol" | "flags" => (FieldType::Text, Print::Symbol),
        "text" => (FieldType::Text, Print::Text),
        _ => return None,
    };
    let column = EventColumn { name, kind, print };
    if let Some(at) = known {
        return (columns[at] == column).then_some(at);
    }
    columns.push(column);
    Some(columns.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(form: &'static str, text: &str) -> Option<Vec<String>> {
        let mut columns = Vec::new();
        let form = Form::new(form, &mut columns).expect("well formed");
        let mut row = Row { slots: vec![Slot::Null; columns.len()], made: String::new() };
        form.read(text.as_bytes(), &mut row).then(|| {
            let value = |slot: &Slot| match *slot {
                Slot::Null => "-".to_owned(),
                Slot::Bits(bits) => (bits as i64).to_string(),
                Slot::Text(start, end) => text[start..end].to_owned(),
                Slot::Made(start, end) => row.made[start..end].to_owned(),
            };
            row.slots.iter().map(value).collect()
        })
    }

    const SWITCH: &str =
        "prev_comm={a:comm} prev_pid={b:i32} ==> next_comm={c:comm} next_pid={d:i32}";

    #[test]
    fn values_between_literals() {
        assert_eq!(
            read("a={a:i32}, b={b:x64}", "a=-1, b=ff"),
            Some(vec!["-1".into(), "255".into()])
        );
        assert_eq!(read("a={a:i32}", "a=1 "), None);
        assert_eq!(read("a={a:i32}", "a=x"), None);
        assert_eq!(read("", ""), Some(vec![]));
        assert_eq!(read("[{a:comm}]", "[]"), Some(vec![String::new()]));
        assert_eq!(read("[{a:comm}] {b:i32}", "[a] 2] 1"), Some(vec!["a] 2".into(), "1".into()]));
        assert_eq!(read("{a:word} {b:text}", "RA a b "), Some(vec!["RA".into(), "a b ".into()]));
        assert_eq!(read("{a:text}", "any\nthing"), Some(vec!["any\nthing".into()]));
        assert_eq!(read("{a:word}~{_}~{a=x} b", "q  12   x b"), Some(vec!["x".into()]));
        assert_eq!(read("{a:word}~{_}~{a=x} b", "q  12 x"), None);
        assert_eq!(read("{a:word}~{_}~{a=x} b", "q"), None);
    }

    #[test]
    fn escaped_blanks() {
        let form = r"a:{a:word}\tb:{b:text}\tc:{c:i32}\s";
        assert_eq!(
            read(form, "a:1\tb:2\t\tc:3 "),
            Some(vec!["1".into(), "2\t".into(), "3".into()])
        );
        assert_eq!(read(form, "a:1\tb:2\tc:3"), None);
        assert_eq!(read(form, "a:1 b:2\tc:3 "), None);
    }

    #[test]
    fn names_that_look_like_the_rest() {
        let read = |text| read(SWITCH, text).map(|row| row.join("|"));
        assert_eq!(
            read("prev_comm=a b prev_pid=7 ==> next_comm=c next_pid=8").as_deref(),
            Some("a b|7|c|8")
        );
        // A name of 15 bytes may look like a key and its value.
        assert_eq!(
            read("prev_comm=x prev_pid=66 prev_pid=7 ==> next_comm= next_pid=9 next_pid=8")
                .as_deref(),
            Some("x prev_pid=66|7| next_pid=9|8")
        );
        assert_eq!(
            read("prev_comm= ==> next_comm= prev_pid=7 ==> next_comm= ==> next_comm= next_pid=8")
                .as_deref(),
            Some(" ==> next_comm=|7| ==> next_comm=|8")
        );
        // No name is that long.
        assert_eq!(read("prev_comm=0123456789abcdef prev_pid=7 ==> next_comm=c next_pid=8"), None);
        assert_eq!(
            read(r"prev_comm=\xff\xfe0123456789abc prev_pid=7 ==> next_comm=c next_pid=8")
                .as_deref(),
            Some(r"\xff\xfe0123456789abc|7|c|8")
        );
    }

    #[test]
    fn the_last_match_counts() {
        let form = "filename={a:text} pid={b:i32} old_pid={c:i32}";
        assert_eq!(
            read(form, "filename=/a pid=7 old_pid=8 pid=1 old_pid=2"),
            Some(vec!["/a pid=7 old_pid=8".into(), "1".into(), "2".into()])
        );
        assert_eq!(read(form, "filename=/a pid=7 old_pid=8 "), None);
    }

    #[test]
    fn three_open_values() {
        let form = "interp={a:text} filename={b:text} pid={c:i32} comm={d:comm}";
        assert_eq!(
            read(form, "interp=/a b filename=/c filename=/d pid=7 comm=e f"),
            Some(vec!["/a b filename=/c".into(), "/d".into(), "7".into(), "e f".into()])
        );
    }

    #[test]
    fn malformed_forms() {
        for form in [
            "{a:text}{b:text}",
            "{a}",
            "{a:i31}",
            "{a:i32",
            "{a:i32} {a:u32}",
            "{a:text}{b:i32}",
            "{a:i32}\\n",
            "a\\",
        ] {
            assert!(Form::new(form, &mut Vec::new()).is_none(), "{form}");
        }
    }

    #[test]
    fn keys_before_values() {
        let form =
            Form::new("dev {dev:dev} len: {len:u32} a={a:text}, {b:u32}[{c:u32}]", &mut vec![]);
        assert_eq!(form.expect("well formed").keys(), [("dev", 0), ("len", 1), ("a", 2)]);
    }

    #[test]
    fn long_hostile_text_is_read_in_linear_time() {
        let text = format!("filename={} pid=1 old_pid=2x", " pid=1 old_pid=".repeat(200_000));
        assert_eq!(read("filename={a:text} pid={b:i32} old_pid={c:i32}", &text), None);
    }
}
