//! The fast path finds the end of the arguments from ` = `, the complete tokenizer by reading them:
//! both must find the same end, and the right one.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use tracefast_core::format::{Format, Wanted};
use tracefast_core::strace::call::ending::ending;

use crate::compare::parse;

/// Arguments as strace prints them; most hold something that looks like the end of the call.
const TOKENS: [&str; 24] = [
    "3",
    "-1",
    "NULL",
    "0x7f0a17b79000",
    "O_RDONLY|O_CLOEXEC",
    r#""plain""#,
    r#""cut"..."#,
    r#""(z) = 3 <0.5>""#,
    r#"") = 0""#,
    r#""a\") = 3\\""#,
    r#"" <unfinished ...>""#,
    "3</data/file>",
    "3</w/a) = 3>",
    r#"4</w/a \"q\", b) = 7.txt>"#,
    "4</w/gone>(deleted)",
    "0</dev/null<char 1:3>>",
    "5<TCPv6:[[::1]:36614->[::1]:35535]>",
    r#"5<UNIX-STREAM:[1->2,"/s) = 1"]>"#,
    "{st_mode=S_IFREG|0644, st_size=9, ...}",
    r#"[{iov_base=") = 1", iov_len=5}]"#,
    "[28 => 16]",
    "~[KILL STOP]",
    "0x80 /* ) = 3 */",
    "AT_FDCWD</srv/demo>",
];

/// Results, and the value that each has.
const RESULTS: [(&str, Option<i64>); 8] = [
    ("0", Some(0)),
    ("-1 ENOENT (No such file or directory)", Some(-1)),
    ("? ERESTARTSYS (To be restarted if SA_RESTART is set)", None),
    ("3</w/a) = 7>", Some(3)),
    ("0x7f0a17b79000", Some(0x7f0a_17b7_9000)),
    ("1 ([{fd=5, revents=POLLIN}])", Some(1)),
    ("0 (Timeout)", Some(0)),
    ("4096", Some(4096)),
];

/// Parses a call whose arguments `data` chooses, whole and split, and one whose arguments `data`
/// are.
///
/// # Panics
/// If the arguments or the result are not those that were printed, or the two ways disagree.
pub fn strace_arguments(data: &[u8]) {
    made(data);
    given(data);
}

/// A call made of real tokens: what comes out must be what went in.
fn made(data: &[u8]) {
    let [result, pad, cut, tokens @ ..] = data else { return };
    let (result, value) = RESULTS[usize::from(*result) % RESULTS.len()];
    let tokens: Vec<&str> =
        tokens.iter().take(8).map(|&b| TOKENS[usize::from(b) % TOKENS.len()]).collect();
    let args = tokens.join(", ");
    let blanks = " ".repeat(usize::from(*pad) % 20);
    for time in ["", " <0.000010>"] {
        // A line before it shows the grammar whether the log was written with -T.
        let first = format!("7 1795229587.000000 close(3) = 0{time}\n");
        let whole = format!("{first}7 1795229587.000001 ioctl({args}){blanks} = {result}{time}\n");
        let context = &whole;
        let batch = rows(whole.as_bytes());
        assert_eq!(batch.num_rows(), 2, "{context}");
        assert_eq!((call(&batch, 1).0.as_str(), call(&batch, 1).1), (&*args, value), "{context}");

        // strace cuts between two arguments, after the comma and blank.
        let at = usize::from(*cut) % (tokens.len() + 1);
        let mut head = tokens[..at].join(", ");
        if at > 0 && at < tokens.len() {
            head.push_str(", ");
        }
        let mut split = format!("{first}7 1795229587.000001 ioctl({head} <unfinished ...>\n");
        let _ = writeln!(split, "8 1795229587.000002 close(4) = 0{time}");
        let tail = tokens[at..].join(", ");
        let _ = writeln!(
            split,
            "7 1795229587.000003 <... ioctl resumed>{tail}){blanks} = {result}{time}"
        );
        let batch = rows(split.as_bytes());
        assert_eq!(batch.num_rows(), 3, "{split}");
        assert_eq!((call(&batch, 2).0.as_str(), call(&batch, 2).1), (&*args, value), "{split}");
    }
}

/// A call with any text between its parentheses: where the tokenizer finds an end, the row has it.
fn given(data: &[u8]) {
    let text: String = data.iter().map(|b| char::from((b & 0x7f).max(b' '))).collect();
    let text = text.replace('\u{7f}', "~");
    let rest = format!("{text}) = 3 <0.000010>");
    let first = "7 1795229587.000000 close(3) = 0 <0.000010>\n";
    let line = format!("{first}7 1795229587.000001 ioctl({rest}\n");
    let batch = rows(line.as_bytes());
    let Some(found) = ending(rest.as_bytes()) else { return };
    if found.outcome.is_some() && batch.num_rows() == 2 {
        assert_eq!(call(&batch, 1).0, rest[..found.args], "{line}");
    }
}

fn rows(log: &[u8]) -> RecordBatch {
    let format = Format::detect(log, Some(Wanted::Strace)).expect("a line of strace is in it");
    parse(format, log, usize::MAX).1
}

/// Argument text and result of a row.
fn call(batch: &RecordBatch, row: usize) -> (String, Option<i64>) {
    let args = batch.column_by_name("args").expect("a column").as_string_view();
    let ret = batch.column_by_name("ret").expect("a column");
    let ret = ret.as_primitive::<arrow_array::types::Int64Type>();
    (args.value(row).to_owned(), ret.is_valid(row).then(|| ret.value(row)))
}
