//! Rows of the fast parser beside lines of the slow one.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, TimestampNanosecondType, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch, StringArray};

use crate::strace::{
    Delta, Ending, Event, Layout, Line, Outcome, Time, begins_with_gap, join, rest_of,
};

/// What one row says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // Columns of the schema.
pub struct Row {
    pub line: u64,
    pub kind: String,
    pub ts: Option<i64>,
    pub tid: Option<i32>,
    pub comm: Option<String>,
    pub name: Option<String>,
    pub args: Option<String>,
    pub ret: Option<i64>,
    pub errno: Option<String>,
    pub result: Option<String>,
    pub status: Option<String>,
    pub dur: Option<i64>,
    pub extra: Option<String>,
}

/// All rows of a batch that has every column.
///
/// # Panics
/// Where the batch has other columns than those of the schema.
pub fn rows(batch: &RecordBatch) -> Vec<Row> {
    let column = |name: &str| batch.column_by_name(name).expect("all columns are there");
    let long = |name: &str, row: usize| {
        let array = column(name).as_primitive::<Int64Type>();
        array.is_valid(row).then(|| array.value(row))
    };
    let view = |name: &str, row: usize| {
        let array = column(name).as_string_view();
        array.is_valid(row).then(|| array.value(row).to_owned())
    };
    let word = |name: &str, row: usize| {
        let array = column(name).as_dictionary::<UInt32Type>();
        let words = array.downcast_dict::<StringArray>().expect("a dictionary of text");
        array
            .is_valid(row)
            .then(|| words.values().value(array.keys().value(row) as usize).to_owned())
    };
    let time = column("ts").as_primitive::<TimestampNanosecondType>();
    let tid = column("tid").as_primitive::<Int32Type>();
    let line = column("line").as_primitive::<UInt64Type>();
    (0..batch.num_rows())
        .map(|row| Row {
            line: line.value(row),
            kind: word("kind", row).unwrap_or_default(),
            ts: time.is_valid(row).then(|| time.value(row)),
            tid: tid.is_valid(row).then(|| tid.value(row)),
            comm: word("comm", row),
            name: word("name", row),
            args: view("args", row),
            ret: long("ret", row),
            errno: word("errno", row),
            result: view("result", row),
            status: word("status", row),
            dur: long("dur_ns", row),
            extra: view("extra", row),
        })
        .collect()
}

/// Collects what differs.
#[derive(Default)]
struct Differences(String);

impl Differences {
    #[allow(clippy::needless_pass_by_value)] // Most are numbers.
    fn check<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, fast: T, slow: T) {
        if fast != slow {
            self.0 += &format!("{what}: fast {fast:?}, reference {slow:?}\n");
        }
    }

    fn text(&mut self, what: &str, fast: Option<&String>, slow: Option<&[u8]>) {
        // Bytes that are not UTF-8 appear as `\xNN` in rows.
        let slow = slow.map(|slow| tracefast_core::text::escape::escape_invalid(slow).into_owned());
        self.check(what, fast, slow.as_ref());
    }

    fn done(self) -> Option<String> {
        (!self.0.is_empty()).then_some(self.0)
    }
}

/// What the row of a line says differently from the line; `None`: nothing. Only for whole calls: a
/// first half must not have been joined.
pub fn differs(layout: &Layout, line: &Line, row: &Row) -> Option<String> {
    let mut found = Differences::default();
    if let Event::Resumed { name, rest } = &line.event {
        headless(&mut found, layout, line, row, name, rest);
        return found.done();
    }
    leader(&mut found, layout, line, row);
    match &line.event {
        Event::Call { name, args, ending } => {
            found.check("kind", &*row.kind, "syscall");
            found.text("name", row.name.as_ref(), Some(name));
            found.text("args", row.args.as_ref(), Some(args));
            if let Ending::Result(outcome) = ending {
                result(&mut found, outcome, row);
                found.check("dur_ns", row.dur, outcome.dur);
            } else {
                found.check("ret", row.ret, None);
                found.check("errno", row.errno.as_ref(), None);
            }
            if let Some(status) = status(ending) {
                found.check("status", row.status.as_deref(), Some(status));
            }
        }
        Event::Exit(code) => {
            found.check("kind", &*row.kind, "exit");
            found.check("name", row.name.as_deref(), Some("exited"));
            found.check("ret", row.ret, Some(*code));
        }
        Event::Killed(signal) => {
            found.check("kind", &*row.kind, "exit");
            found.text("name", row.name.as_ref(), Some(signal));
            found.check("ret", row.ret, None);
        }
        Event::Superseded(_) => {
            found.check("kind", &*row.kind, "exit");
            found.check("name", row.name.as_deref(), Some("superseded"));
        }
        Event::Signal(signal) => {
            found.check("kind", &*row.kind, "signal");
            if signal.is_some() {
                found.text("name", row.name.as_ref(), signal.as_deref());
            }
        }
        Event::Stop(signal) => {
            found.check("kind", &*row.kind, "signal");
            found.text("name", row.name.as_ref(), Some(signal));
        }
        Event::Resumed { .. } | Event::Personality | Event::Nothing => {}
    }
    found.done()
}

/// A second half whose first one is not in the log: only `-T` shows when it started.
fn headless(
    found: &mut Differences,
    layout: &Layout,
    line: &Line,
    row: &Row,
    name: &[u8],
    rest: &[u8],
) {
    found.text("name", row.name.as_ref(), Some(name));
    let old = begins_with_gap(rest);
    let Some((args, Ending::Result(outcome))) = rest_of(layout, &join(b"", rest, old)) else {
        return;
    };
    let start = line.time.zip(outcome.dur).map(|(end, dur)| end - dur);
    let line = Line { time: start, extra: Vec::new(), ..line.clone() };
    leader(found, layout, &line, row);
    found.text("args", row.args.as_ref(), Some(&args));
    result(found, &outcome, row);
    found.check("status", row.status.as_deref(), Some("headless"));
}

/// How the row of a call in two halves differs from the halves.
pub fn pair(layout: &Layout, first: &Line, second: &Line, old: bool, row: &Row) -> Option<String> {
    let (Event::Call { name, args, .. }, Event::Resumed { rest, .. }) =
        (&first.event, &second.event)
    else {
        return None;
    };
    let (args, ending) = rest_of(layout, &join(args, rest, old))?;
    let mut found = Differences::default();
    leader(&mut found, layout, first, row);
    found.text("name", row.name.as_ref(), Some(name));
    found.text("args", row.args.as_ref(), Some(&args));
    if let Ending::Result(outcome) = &ending {
        result(&mut found, outcome, row);
        if outcome.dur.is_some() {
            found.check("dur_ns", row.dur, outcome.dur);
        }
    }
    if let Some(status) = status(&ending) {
        found.check("status", row.status.as_deref(), Some(status));
    }
    found.done()
}

fn leader(found: &mut Differences, layout: &Layout, line: &Line, row: &Row) {
    if line.pid.is_some() {
        found.check("tid", row.tid, line.pid);
    }
    if let Some(comm) = line.comm.as_ref().filter(|comm| !comm.contains(&b'\\')) {
        found.text("comm", row.comm.as_ref(), Some(comm));
    }
    let day = 86_400_000_000_000;
    match layout.time {
        // Days are counted.
        Time::Day => found.check("ts", row.ts.map(|ts| ts % day), line.time.map(|ts| ts % day)),
        Time::Epoch => found.check("ts", row.ts, line.time),
        Time::None if layout.delta == Delta::None => found.check("ts", row.ts, None),
        // Summed over the log.
        Time::None => {}
    }
    let extra = row.extra.as_deref().unwrap_or_default();
    for column in &line.extra {
        let there = extra.contains(&*String::from_utf8_lossy(column));
        found.check("extra", Some(extra), there.then_some(extra));
    }
}

fn result(found: &mut Differences, outcome: &Outcome, row: &Row) {
    found.check("ret", row.ret, outcome.ret);
    if outcome.errno_number.is_none() {
        found.text("errno", row.errno.as_ref(), outcome.errno.as_deref());
    }
    let aux = outcome.aux.join(&b' ');
    let text = row.result.as_deref().unwrap_or_default();
    let text = unmarked(without(text, outcome.annotation.as_deref()));
    found.check("result", text, unmarked(&String::from_utf8_lossy(&aux)));
}

/// A result without the marks that the status shows; it can show only one of them.
fn unmarked(result: &str) -> String {
    // That a file is gone is part of its annotation, which the reference keeps apart.
    let marks = [" (INJECTED)", "(INJECTED)", " (DELAYED)", "(DELAYED)", " (deleted)", "(deleted)"];
    let rest = marks.iter().fold(result.to_owned(), |rest, mark| rest.replace(mark, ""));
    rest.trim_start().to_owned()
}

/// A result without the annotation of its value, which is there where no other column has it.
fn without<'a>(result: &'a str, annotation: Option<&[u8]>) -> &'a str {
    let annotation = annotation.map(|text| format!("<{}>", String::from_utf8_lossy(text)));
    let rest = annotation.and_then(|text| result.strip_prefix(&text)).unwrap_or(result);
    rest.trim_start()
}

/// The status that a call by itself has, where there is but one.
fn status(ending: &Ending) -> Option<&'static str> {
    Some(match ending {
        Ending::Result(outcome) => match &outcome.errno {
            _ if outcome.injected => "injected",
            _ if outcome.poked => return None,
            _ if outcome.delayed => "delayed",
            // There is no other error without a value.
            Some(_) if outcome.ret.is_none() => "interrupted",
            // The call does not return, or the task died in it.
            None if outcome.ret.is_none() => return None,
            _ => "complete",
        },
        Ending::Unfinished => "unfinished",
        Ending::Detached => "detached",
        Ending::Killed => "killed",
        Ending::Unavailable => "unavailable",
        Ending::Cut => "truncated",
        Ending::PidChanged(_) => return None,
    })
}
