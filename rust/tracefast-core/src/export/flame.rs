//! The second pass of a flame graph: distinct stacks, and what each of them adds up to.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::types::Int64Type;
use arrow_schema::ArrowError;

use crate::export::json::{key, number, string};
use crate::export::plan::Plan;
use crate::export::rows::{Kind, RowColumns, Wanted};
use crate::export::stacks;
use crate::export::{Counts, Weight};
use crate::hash::HashMap;
use crate::tables::event_columns::{EventColumns, Numbers, Text, event_columns};
use crate::tables::fold::Dictionaries;
use crate::tables::names::Names;

event_columns! {
    pub(crate) struct CallColumns {
        path: Text = "path",
        bytes: Numbers<Int64Type> = "bytes",
        extra: Text = "extra",
    }
}

pub(crate) type Columns<'a> = (RowColumns<'a>, CallColumns<'a>);

/// What a stack consists of: frames of the program by number, the call, the path.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Stack {
    process: u32,
    frames: u32,
    call: u32,
    path: Option<u32>,
}

#[derive(Debug)]
pub(crate) struct Flame {
    plan: Arc<Plan>,
    weight: Weight,
    speedscope: bool,
    sources: Names,
    calls: Names,
    paths: Names,
    frames: Names,
    /// Lists of frames, and their numbers.
    stacks: Vec<Vec<u32>>,
    numbers: HashMap<Vec<u32>, u32>,
    list: Vec<u32>,
    sums: HashMap<Stack, i64>,
    counts: Counts,
}

impl Flame {
    pub(crate) fn new(plan: Arc<Plan>, weight: Weight, speedscope: bool) -> Self {
        Self {
            plan,
            weight,
            speedscope,
            sources: Names::default(),
            calls: Names::default(),
            paths: Names::default(),
            frames: Names::default(),
            stacks: Vec::new(),
            numbers: HashMap::default(),
            list: Vec::new(),
            sums: HashMap::default(),
            counts: Counts::default(),
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    pub(crate) fn push(
        &mut self,
        batch: &RecordBatch,
        words: &Dictionaries,
    ) -> Result<(), ArrowError> {
        let mut columns = Columns::from_batch(batch, words)?;
        let wanted = Wanted::of_batch(batch);
        for row in (0..batch.num_rows()).filter(|&row| wanted.is(row)) {
            self.row(&mut columns, row);
        }
        Ok(())
    }

    fn row(&mut self, (rows, calls): &mut Columns<'_>, at: usize) {
        let (names, sources) = (&mut self.calls, &mut self.sources);
        let found = rows.get(at, |word| names.number(word), |name| sources.number(name) + 1);
        let Some(row) = found.filter(|row| row.kind == Kind::Call) else { return };
        self.counts.calls += 1;
        self.counts.untimed += u64::from(row.dur.is_none());
        let weight = match self.weight {
            Weight::Time => row.dur.unwrap_or(0),
            Weight::Calls => 1,
            Weight::Bytes => calls.bytes.get(at).unwrap_or(0),
        };
        let tracks = &self.plan.tracks;
        let thread =
            tracks.find(row.source, row.who).and_then(|at| tracks.threads.get(at as usize));
        let (Some(thread), true) = (thread, weight > 0) else { return };
        let stack = Stack {
            process: thread.process,
            frames: self.stack(calls.extra.get(at).unwrap_or_default()),
            call: row.called.name,
            path: calls.path.get(at).map(|path| self.paths.number(path)),
        };
        let sum = self.sums.entry(stack).or_default();
        *sum = sum.saturating_add(weight);
    }

    /// The number of a stack.
    fn stack(&mut self, extra: &str) -> u32 {
        let (list, frames) = (&mut self.list, &mut self.frames);
        list.clear();
        list.extend(stacks::frames(extra).map(|frame| frames.number(frame)));
        if let Some(&number) = self.numbers.get(&self.list) {
            return number;
        }
        let number = self.stacks.len() as u32;
        self.stacks.push(self.list.clone());
        self.numbers.insert(self.list.clone(), number);
        number
    }

    /// The frames of a stack below its process, the outermost first.
    fn texts<'s>(&'s self, stack: &'s Stack) -> impl Iterator<Item = &'s str> {
        let frames = self.stacks.get(stack.frames as usize).into_iter().flatten();
        let frames = frames.map(|&frame| self.frames.text(frame));
        let path = stack.path.map(|path| self.paths.text(path));
        frames.chain([self.calls.text(stack.call)]).chain(path).flatten()
    }

    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        let mut sums: Vec<_> = std::mem::take(&mut self.sums).into_iter().collect();
        sums.sort_unstable();
        if self.speedscope { self.speedscope(out, &sums) } else { self.folded(out, &sums) }
    }

    /// `program;frame;call;path weight`. Processes of one program are one.
    fn folded(&self, out: &mut Vec<u8>, sums: &[(Stack, i64)]) {
        let program = |process: u32| self.plan.tracks.processes.get(process as usize);
        let mut merged: HashMap<(&str, Stack), i64> = HashMap::default();
        for (stack, sum) in sums {
            let name = program(stack.process).map_or("process", |track| &*track.program);
            let total = merged.entry((name, Stack { process: 0, ..stack.clone() })).or_default();
            *total = total.saturating_add(*sum);
        }
        let mut lines: Vec<_> = merged.into_iter().collect();
        lines.sort_unstable();
        for ((name, stack), sum) in &lines {
            folded_frame(out, name);
            for text in self.texts(stack) {
                out.push(b';');
                folded_frame(out, text);
            }
            out.push(b' ');
            number(out, *sum);
            out.push(b'\n');
        }
    }

    /// <https://www.speedscope.app/file-format-schema.json>: one profile per process, whose samples
    /// are its stacks.
    fn speedscope(&self, out: &mut Vec<u8>, sums: &[(Stack, i64)]) {
        let unit = match self.weight {
            Weight::Time => "nanoseconds",
            Weight::Calls => "none",
            Weight::Bytes => "bytes",
        };
        out.extend(b"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",");
        out.extend(b"\"exporter\":\"tracefast\",\"activeProfileIndex\":0,\"profiles\":[");
        let mut frames = Names::default();
        for (at, of_process) in sums.chunk_by(|a, b| a.0.process == b.0.process).enumerate() {
            out.extend(if at == 0 { &b"\n"[..] } else { &b",\n"[..] });
            let process = of_process.first().map_or(0, |(stack, _)| stack.process);
            let track = self.plan.tracks.processes.get(process as usize);
            let name = track.map_or_else(String::new, |one| format!("{} {}", one.name, one.number));
            out.extend(b"{\"type\":\"sampled\",\"name\":");
            string(out, &name);
            out.push(b',');
            key(out, "unit");
            string(out, unit);
            let total = of_process.iter().fold(0_i64, |sum, (_, one)| sum.saturating_add(*one));
            out.extend(b",\"startValue\":0,\"endValue\":");
            number(out, total);
            out.extend(b",\"samples\":[");
            list(out, of_process, |out, (stack, _)| {
                out.push(b'[');
                let mut texts = self.texts(stack).map(|text| frames.number(text)).peekable();
                while let Some(frame) = texts.next() {
                    number(out, frame.into());
                    if texts.peek().is_some() {
                        out.push(b',');
                    }
                }
                out.push(b']');
            });
            out.extend(b"],\"weights\":[");
            list(out, of_process, |out, (_, sum)| number(out, *sum));
            out.extend(b"]}");
        }
        out.extend(b"\n],\"shared\":{\"frames\":[");
        let all: Vec<_> = (0..).map_while(|number| frames.text(number)).collect();
        list(out, &all, |out, text| {
            out.extend(b"{\"name\":");
            string(out, text);
            out.push(b'}');
        });
        out.extend(b"]}}\n");
    }
}

/// The items of a list, with commas between them.
fn list<T>(out: &mut Vec<u8>, items: &[T], mut each: impl FnMut(&mut Vec<u8>, &T)) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        each(out, item);
    }
}

/// A frame of the folded format, which has semicolons between frames, and one stack a line. What
/// moves the cursor of a terminal or turns the text around is written as a number.
fn folded_frame(out: &mut Vec<u8>, text: &str) {
    for c in text.chars() {
        match c {
            ';' | '\0'..='\x1f' | '\x7f' => {
                out.extend(format!("\\x{:02x}", u32::from(c)).as_bytes());
            }
            '\u{80}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => {
                out.extend(format!("\\u{{{:x}}}", u32::from(c)).as_bytes());
            }
            _ => out.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}
