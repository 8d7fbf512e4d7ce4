//! The rules of the model: small logs and what their rows must hold.
//!
//! The rules are data, `tests/data/kernel-rules/*.rules`, which the Python tests read as well;
//! the README there describes the form. Here each log is processed from text to columns,
//! as one block and with a block for each line.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int32Type, Int64Type, TimestampNanosecondType, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};

use crate::batch::{Part, Projection, assemble};
use crate::events::schema::{COLUMNS, Kind};
use crate::format::{Format, Grammar};
use crate::serial::pool::Pool;
use crate::serial::stream::Stream;
use crate::text::block::Block;

/// A log and what is expected of its rows.
#[derive(Debug, Clone)]
struct Rule {
    name: String,
    lines: Vec<String>,
    expected: Vec<Expected>,
}

/// What is expected of one row.
#[derive(Debug, Clone)]
struct Expected {
    /// Line in the file of rules.
    at: usize,
    /// The line of the log at which the row begins.
    line: usize,
    /// The model adds the row.
    added: bool,
    /// One of these must hold: columns and their values.
    alternatives: Vec<Vec<(String, String)>>,
}

/// A row: the columns that have a value, as text.
type Row = BTreeMap<&'static str, String>;

/// Columns whose values are ids, by what they number. A rule has letters in place of ids: one
/// letter for each id.
const IDS: [(&str, &str); 6] = [
    ("task", "task"),
    ("child", "task"),
    ("ofd", "ofd"),
    ("ofd2", "ofd"),
    ("file", "file"),
    ("file2", "file"),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/kernel-rules")
}

/// The rules of a file. Lines before the first rule begin every log.
fn parse(text: &str) -> Vec<Rule> {
    let mut start = Rule { name: String::new(), lines: Vec::new(), expected: Vec::new() };
    let mut rules: Vec<Rule> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if let Some(name) = line.strip_prefix("== ") {
            rules.push(Rule { name: name.to_owned(), ..start.clone() });
            continue;
        }
        let rule = rules.last_mut().unwrap_or(&mut start);
        if let Some((mark @ ('^' | '+'), columns)) =
            line.strip_prefix("    ").and_then(|rest| Some((rest.chars().next()?, rest.get(2..)?)))
        {
            let alternative = |columns: &str| {
                let pairs =
                    columns.split(' ').map(|pair| pair.split_once('=').expect("COLUMN=VALUE"));
                pairs.map(|(column, value)| (column.to_owned(), value.to_owned())).collect()
            };
            rule.expected.push(Expected {
                at: at + 1,
                line: rule.lines.len(),
                added: mark == '+',
                alternatives: columns.split(" or ").map(alternative).collect(),
            });
        } else if !line.is_empty() && !line.starts_with("//") {
            rule.lines.push(line.to_owned());
        }
    }
    rules
}

/// The rows of a log in blocks of so many lines.
fn rows(lines: &[String], block_lines: usize) -> Vec<Row> {
    let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
    let format = Format::detect(text.as_bytes(), None).expect("a log");
    let pool = Arc::new(Pool::default());
    let mut stream = Stream::new(Arc::clone(&pool));
    let mut grammar = Grammar::default();
    let mut blocks = Vec::new();
    stream.begin("log", format);
    for lines in lines.chunks(block_lines) {
        let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        let mut block = Block::from_text(text.as_bytes());
        let mut parsed = pool.parsed();
        grammar.parse(&format, &mut block, &mut parsed);
        blocks.push(Arc::new(stream.resolve(block, parsed)));
    }
    blocks.extend(stream.end().map(Arc::new));
    let parts: Vec<Part> = blocks
        .iter()
        .flat_map(|block| block.runs.iter().map(|run| Part::new(Arc::clone(block), run.clone())))
        .collect();
    let batch = assemble(&parts, &Projection::default(), &stream.values());
    (0..batch.num_rows()).map(|row| columns(&batch, row)).collect()
}

fn columns(batch: &RecordBatch, row: usize) -> Row {
    let columns = COLUMNS.iter().zip(batch.columns());
    let known = columns.filter(|(_, array)| !array.is_null(row));
    known.map(|(&(_, name, kind), array)| (name, value(array, kind, row))).collect()
}

fn value(array: &ArrayRef, kind: Kind, row: usize) -> String {
    match kind {
        Kind::Timestamp => array.as_primitive::<TimestampNanosecondType>().value(row).to_string(),
        Kind::I64 => array.as_primitive::<Int64Type>().value(row).to_string(),
        Kind::U64 => array.as_primitive::<UInt64Type>().value(row).to_string(),
        Kind::I32 => array.as_primitive::<Int32Type>().value(row).to_string(),
        Kind::U32 => array.as_primitive::<UInt32Type>().value(row).to_string(),
        Kind::U16 => array.as_primitive::<UInt16Type>().value(row).to_string(),
        Kind::View => array.as_string_view().value(row).to_owned(),
        Kind::Dictionary => {
            let dictionary = array.as_dictionary::<UInt32Type>();
            let key = dictionary.keys().value(row) as usize;
            dictionary.values().as_string::<i32>().value(key).to_owned()
        }
    }
}

/// Letters of a rule and the ids that they turned out to be.
#[derive(Debug, Clone, Default)]
struct Letters {
    ids: BTreeMap<(&'static str, String), String>,
    letters: BTreeMap<(&'static str, String), String>,
}

impl Letters {
    /// These letters and those of the columns, if the row has all these values.
    fn with(&self, columns: &[(String, String)], row: &Row) -> Option<Self> {
        let mut letters = self.clone();
        let fit = columns.iter().all(|(column, value)| {
            assert!(COLUMNS.iter().any(|(_, name, _)| name == column), "no column {column}");
            letters.fit(column, value, row.get(column.as_str()))
        });
        fit.then_some(letters)
    }

    /// The column may have this value: each letter is one id, and each id one letter.
    fn fit(&mut self, column: &str, expected: &str, found: Option<&String>) -> bool {
        let Some(&(_, space)) = IDS.iter().find(|(id, _)| *id == column) else {
            return found.map_or("null", String::as_str) == expected;
        };
        let Some(found) = found.filter(|_| expected != "null") else {
            return found.is_none() && expected == "null";
        };
        let one =
            |entry: Entry<'_, _, String>, value: &str| entry.or_insert(value.to_owned()) == value;
        one(self.ids.entry((space, expected.to_owned())), found)
            && one(self.letters.entry((space, found.clone())), expected)
    }
}

/// What is wrong with the rows of a rule, one line for each fault.
fn differences(rule: &Rule, rows: &[Row]) -> String {
    let mut out = String::new();
    let mut letters = Letters::default();
    let damaged = |row: &Row| {
        let of_line = |expected: &&Expected| row["line"] == expected.line.to_string();
        let kind = ("kind".to_owned(), "unparsed".to_owned());
        rule.expected.iter().filter(of_line).any(|of| of.alternatives[0].contains(&kind))
    };
    for row in rows.iter().filter(|row| row["kind"] == "unparsed" && !damaged(row)) {
        let _ = writeln!(out, "{}: not understood: {row:?}", rule.name);
    }
    let is_added = |row: &Row| matches!(row["kind"].as_str(), "notice" | "aio");
    let mut added = rows.iter().filter(|row| is_added(row));
    for expected in &rule.expected {
        let line = expected.line.to_string();
        let row = if expected.added {
            added.next().filter(|row| row["line"] == line)
        } else {
            rows.iter().find(|row| row["line"] == line && !is_added(row))
        };
        let fits = row.and_then(|row| {
            expected.alternatives.iter().find_map(|columns| letters.with(columns, row))
        });
        match fits {
            Some(more) => letters = more,
            None => {
                let _ = writeln!(out, "line {}, {}: the row is {row:?}", expected.at, rule.name);
            }
        }
    }
    for row in added {
        let _ = writeln!(out, "{}: nobody expects the row {row:?}", rule.name);
    }
    out
}

/// Checks the rules of a file.
fn check(file: &str) {
    let path = folder().join(file).with_extension("rules");
    let rules = parse(&std::fs::read_to_string(path).expect("a file of rules"));
    assert!(!rules.is_empty(), "{file} has no rules");
    let mut wrong = String::new();
    for rule in &rules {
        assert!(!rule.expected.is_empty(), "{} expects nothing", rule.name);
        for block_lines in [usize::MAX, 1] {
            wrong += &differences(rule, &rows(&rule.lines, block_lines));
        }
    }
    assert!(wrong.is_empty(), "{file}.rules:\n{wrong}");
}

/// One test for each file, with the file's name.
macro_rules! files {
    ($($file:ident,)*) => {
        $(#[test]
        fn $file() {
            check(stringify!($file));
        })*

        const FILES: &[&str] = &[$(stringify!($file)),*];
    };
}

files! {
    append,
    changing_size,
    close,
    damaged,
    dup,
    exec,
    filtered,
    fork,
    ftrace,
    memory,
    names,
    namespaces,
    number_races,
    numbers,
    offsets,
    older,
    order,
    overlap,
    passing,
    paths,
    relative,
    results,
    rings,
    size,
    streams,
    two_files,
    types,
    unshown,
}

#[test]
fn every_file_has_a_test() {
    let entries = std::fs::read_dir(folder()).expect("the folder of rules");
    let paths = entries.map(|entry| entry.expect("readable").path());
    let mut found: Vec<String> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "rules"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    found.sort();
    assert_eq!(found, FILES);
}

#[test]
fn differences_are_seen() {
    let rule = |expected: &str| {
        let log = "7 read(0, \"x\", 9) = 4\n7 openat(AT_FDCWD, \"/a\", O_RDONLY) = 3\n";
        let text = format!("== rule\n{log}{expected}\n7 read(3, \"x\", 9) = 4\n    ^ ofd=B\n");
        parse(&text).remove(0)
    };
    let found = |expected: &str| {
        let rule = rule(expected);
        differences(&rule, &rows(&rule.lines, usize::MAX))
    };
    assert_eq!(found("    ^ ofd=B path=/a offset=null"), "");
    assert_eq!(found("    ^ path=/b or ofd=B path=/a"), "");
    for wrong in ["ofd=A", "path=/b", "path=null", "offset=0", "ofd=null"] {
        assert_ne!(found(&format!("    ^ {wrong}")), "", "{wrong}");
    }
    // A row that the model adds must be expected, and must come.
    assert_ne!(found("    + name=offset-base"), "");
    let proof = rule("7 lseek(0, 0, SEEK_CUR) = 9");
    assert_ne!(differences(&proof, &rows(&proof.lines, usize::MAX)), "");
    assert_ne!(found("7 hello"), "");
}
