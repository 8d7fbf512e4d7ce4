//! What the grammar stage makes of one block, and what it leaves to the stages in order.

use std::sync::Arc;

use crate::events::rows::{RowClock, Rows, Side};
use crate::events::vocabulary::{Motion, Op, Status};
use crate::serial::function_graph::Item;
use crate::serial::model_rows::Survey;
use crate::serial::task_columns::Fill;
use crate::text::escape::escape_invalid;

/// What a line of a log was used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Use {
    /// A row begins on it.
    Events,
    /// Second half joined to a row that began before.
    Resumed,
    /// Stack frame, dump, or other line that belongs to the event before it.
    Continuation,
    /// Part of a table of counts that the tracer adds.
    Summary,
    /// Header line.
    Header,
    /// The tracer's own message.
    Message,
    /// No text.
    Blank,
    /// Not understood.
    Unparsed,
}

impl Use {
    /// Names, in the order of the report.
    pub const TEXTS: [&'static str; 8] =
        ["events", "resumed", "continuation", "summary", "header", "message", "blank", "unparsed"];
}

/// How the lines of a log were used, and how many bytes they are, line feeds included; every line
/// counts once.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct LineCounts {
    lines: [u64; Use::TEXTS.len()],
    bytes: [u64; Use::TEXTS.len()],
}

impl LineCounts {
    /// Counts that were taken before: for the name of every use, its lines and bytes.
    pub fn of(mut count: impl FnMut(&str) -> (u64, u64)) -> Self {
        let mut counts = Self::default();
        for (i, name) in Use::TEXTS.iter().enumerate() {
            (counts.lines[i], counts.bytes[i]) = count(name);
        }
        counts
    }

    /// Counts a line of `bytes` bytes.
    #[inline]
    pub fn see(&mut self, used: Use, bytes: u64) {
        self.lines[used as usize] += 1;
        self.bytes[used as usize] += bytes;
    }

    /// Lines of one use.
    pub fn lines(&self, used: Use) -> u64 {
        self.lines[used as usize]
    }

    /// All lines.
    pub fn total(&self) -> u64 {
        self.lines.iter().sum()
    }

    /// Bytes of all lines.
    pub fn total_bytes(&self) -> u64 {
        self.bytes.iter().sum()
    }

    /// Every use by its name, with its lines and bytes.
    pub fn fields(&self) -> [(&'static str, u64, u64); Use::TEXTS.len()] {
        std::array::from_fn(|i| (Use::TEXTS[i], self.lines[i], self.bytes[i]))
    }

    /// Adds the counts of another part of the log.
    pub fn add(&mut self, other: &Self) {
        for i in 0..Use::TEXTS.len() {
            self.lines[i] += other.lines[i];
            self.bytes[i] += other.bytes[i];
        }
    }
}

/// What a log shows that is no loss, but that its reader should know.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Oddities {
    /// Lines whose time is before that of the line before them.
    pub time_steps_back: u64,
    /// Lines with other columns in front of the event than the log has at its start.
    pub relayouts: u64,
    /// Pieces of the traced program's output that were found inside of strace's lines.
    pub foreign: u64,
    /// Records that stand on the line of the one before them: each gives a row more than lines say.
    pub shared_lines: u64,
}

impl Oddities {
    /// Every count by its name.
    pub fn fields(&self) -> [(&'static str, u64); 4] {
        [
            ("time_steps_back", self.time_steps_back),
            ("relayouts", self.relayouts),
            ("foreign", self.foreign),
            ("shared_lines", self.shared_lines),
        ]
    }

    /// Counts that were taken before, by their names.
    pub fn of(mut count: impl FnMut(&str) -> u64) -> Self {
        Self {
            time_steps_back: count("time_steps_back"),
            relayouts: count("relayouts"),
            foreign: count("foreign"),
            shared_lines: count("shared_lines"),
        }
    }

    /// Adds the counts of another part of the log.
    pub fn add(&mut self, other: &Self) {
        let Self { time_steps_back, relayouts, foreign, shared_lines } = other;
        self.time_steps_back += time_steps_back;
        self.relayouts += relayouts;
        self.foreign += foreign;
        self.shared_lines += shared_lines;
    }
}

/// A range of a block's text.
pub type Range = (u32, u32);

/// A call whose end is not (yet) in sight. Dictionary keys are those of the block.
#[derive(Debug, Clone, Copy, Default)]
pub struct Open {
    /// Task as printed.
    pub tid: Option<i32>,
    /// Line where it began, relative to the block.
    pub line: i64,
    /// Entry.
    pub ts: Option<i64>,
    /// Key of the name.
    pub name: u32,
    /// Number of the call.
    pub sys: u16,
    /// Key of the command's name.
    pub comm: Option<u32>,
    /// Processor.
    pub cpu: Option<u16>,
    /// Thread group as printed.
    pub pid: Option<i32>,
    /// Argument text of the first half.
    pub args: Range,
    /// Columns of the first half that are kept as they are.
    pub extra: Option<Range>,
    /// The same: the security context, where other columns stand between it and `extra`.
    pub context: Option<Range>,
    /// Lines that follow the first half and belong to it.
    pub frames: Option<Range>,
    /// The same: a second stack, where a record stands between the two.
    pub more_frames: Option<Range>,
    /// Its line has no mark of its end: something was written into it, or it was cut.
    pub torn: bool,
    /// The clock of its time.
    pub clock: RowClock,
    /// Its begin is not in the log.
    pub headless: bool,
    /// Number of its entry in [`Parsed::begins`].
    pub begin: u32,
    /// What its first half tells of its effect.
    pub head: Head,
}

/// What shows that an open call never ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// Its task does something else, or the log ends.
    Elsewhere,
    /// Its task is killed.
    Killed,
    /// A thread's execve takes over its task's id.
    Superseded,
    /// Its task is not traced any more.
    Detached,
}

impl Open {
    /// State of its row if it never ends.
    pub fn lost(&self, lost: Lost) -> Status {
        match lost {
            Lost::Killed => Status::Killed,
            Lost::Superseded => Status::Superseded,
            Lost::Detached => Status::Detached,
            Lost::Elsewhere if self.torn => Status::Truncated,
            Lost::Elsewhere => Status::Unfinished,
        }
    }
}

/// What the first half of a call tells of its effect. Effects at entry use nothing else, so that
/// they do not depend on where its second half stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Head {
    /// What it does.
    pub op: Op,
    /// As in [`crate::events::rows::Effect`].
    pub flags: u32,
    /// Descriptor that it acts on.
    pub fd: Option<i32>,
    /// The second one.
    pub fd2: Option<i32>,
    /// Which way it moves data.
    pub motion: Motion,
    /// It does so at the description's own position (first, second descriptor).
    pub moves: (bool, bool),
    /// As in [`crate::events::rows::Effect`].
    pub detail: Option<u32>,
}

/// A spot between the rows and entries of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// Rows before it.
    pub row: u32,
    /// Entries of split calls before it.
    pub begins: u32,
}

/// What a block did to the calls that may be open from blocks before it, in order.
#[derive(Debug, Clone)]
pub enum Touch {
    /// The task does something else: the row of a call still open belongs to the spot `at`.
    Place {
        /// Task as printed.
        tid: Option<i32>,
        /// The place.
        at: Spot,
        /// How the log goes on for the task.
        lost: Lost,
    },
    /// A second half whose first is in an earlier block, or nowhere.
    Resume {
        /// Task as printed.
        tid: Option<i32>,
        /// The row, so far with the facts of the second half only.
        row: u32,
        /// Entries of split calls before it.
        begins: u32,
        /// Text behind `resumed>`; for ftrace the return value.
        rest: Range,
        /// Number of the call by the second half.
        sys: u16,
        /// Bytes of the line, its line feed included; 0: another record on it counts them.
        bytes: u64,
        /// View of the leader's columns that are kept, if there is no first half to have them.
        columns: Option<u128>,
        /// The halves belong together only if they name the same call: otherwise the row of the
        /// open one belongs here.
        lost: Option<Spot>,
    },
    /// A second half that does not end its call either: the call goes on.
    More {
        /// Task as printed.
        tid: Option<i32>,
        /// The half as a call of its own, if it is of none that is open; its arguments are what it
        /// adds to those of the call.
        open: Open,
        /// Bytes of the line, its line feed included.
        bytes: u64,
    },
    /// A call left open, under the id that its end will have.
    Open {
        /// Task.
        tid: Option<i32>,
        /// The call.
        open: Open,
    },
    /// Records of a processor are missing before this line: it is not known which calls they ended.
    Lost {
        /// The processor; `None`: of all, since another log begins.
        cpu: Option<u16>,
        /// Line, relative to the block.
        line: i64,
    },
    /// From the spot `at` on tasks are named in another way.
    Naming {
        /// How.
        naming: Naming,
        /// The place.
        at: Spot,
    },
    /// A task is traced, or no more.
    Life(Life),
    /// Task `tid` goes on as what was task `by`, whose call becomes its own; a call of `tid` that
    /// is still open belongs to the spot `at`.
    Superseded {
        /// Task as printed.
        tid: Option<i32>,
        /// The thread that called execve.
        by: i32,
        /// The place.
        at: Spot,
    },
}

/// How strace names tasks in a log without a column of pids: not at all while there is one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// Lines have no pid: they are of the one task that is traced.
    Bare,
    /// Lines have one.
    Named,
}

/// What a line says of a task being traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// It is.
    Traced(i32),
    /// It called exit, or its thread group did: older versions say no more of it.
    Exiting(Option<i32>),
    /// It is no more.
    Gone(Option<i32>),
}

/// Times of a block's lines on the clock of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Of the first line that has one.
    pub first: i64,
    /// Of the last.
    pub last: i64,
    /// Of the last, as printed: without days before it.
    pub printed: i64,
}

/// The entry of a call whose two halves stand on different lines: for effects at entry.
#[derive(Debug, Clone, Copy)]
pub struct Begin {
    /// Rows that stand before it.
    pub at: u32,
    /// Task as printed.
    pub tid: Option<i32>,
    /// What it does there.
    pub head: Head,
    /// Where the effect is recorded.
    pub target: Target,
}

/// A task has this name, as an event tells.
#[derive(Debug, Clone, Copy)]
pub struct Named {
    /// The row of the event.
    pub row: u32,
    /// It has it from the next row on.
    pub later: bool,
    /// The task.
    pub tid: i32,
    /// Key of the name.
    pub comm: u32,
}

impl Named {
    /// The first row that may show it.
    #[inline]
    pub fn from(&self) -> u32 {
        self.row + u32::from(self.later)
    }
}

/// What a [`Begin`] belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The call is still open within its block.
    Open,
    /// A row of the same block.
    Row(u32),
    /// A pending call of the stitch stage.
    Pending(u32),
}

/// One line that was not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// Line, relative to the block.
    pub line: u64,
    /// Task in whose log it stands, if each has its own.
    pub task: Option<i32>,
    /// Its beginning.
    pub text: String,
}

/// How many examples a report shows.
pub const EXAMPLES: usize = 3;

/// Everything that the grammar knows of one block.
#[derive(Debug, Default)]
pub struct Parsed {
    /// Events in the order in which they became complete.
    pub rows: Rows,
    /// Text that is not in the block as it stands.
    pub side: Side,
    /// Names by local key.
    pub names: Vec<Arc<str>>,
    /// Names of errors by local key.
    pub errnos: Vec<Arc<str>>,
    /// Names of commands by local key.
    pub comms: Vec<Arc<str>>,
    /// What happened to calls of earlier blocks.
    pub touches: Vec<Touch>,
    /// Rows of calls of earlier blocks, which stand at the end: where each belongs, and its number.
    pub inserted: Vec<(Spot, u32)>,
    /// Entries of split calls.
    pub begins: Vec<Begin>,
    /// Names of tasks that events tell, in order.
    pub named: Vec<Named>,
    /// What lines of `function_graph` did.
    pub graph: Vec<Item>,
    /// Lines by use.
    pub counts: LineCounts,
    /// Bytes of the text that are not the log's: prefixes of merged lines, feeds of their last.
    pub added: u64,
    /// What is odd about them.
    pub oddities: Oddities,
    /// First lines that were not understood.
    pub examples: Vec<Example>,
    /// Lines that the marks of the structure pass and the log's own layout did not settle, but for
    /// those that belong to the event above: they were read again, byte by byte. No result depends
    /// on this; the benches show it, since a kind of line that is common must not be among them.
    pub detours: u64,
    /// Times of the rows are relative to the block's begin; this is the time that it took: the sum
    /// of its deltas, or the days that began in it.
    pub elapsed: i64,
    /// The sum of the deltas of lines with other columns than the log has at its start.
    pub other_elapsed: i64,
    /// First and last time.
    pub span: Option<Span>,
    /// Room to join halves in, used again and again.
    pub scratch: Vec<u8>,
    /// Which rows the model has to look at.
    pub survey: Survey,
    /// What it leaves to be written.
    pub fill: Fill,
}

impl Parsed {
    /// Forgets everything and makes room for the rows of `lines` lines.
    pub fn reset(&mut self, lines: usize) {
        // A line gives at most one row; calls of earlier blocks that never ended add some.
        self.rows.reset(lines + 64);
        self.side.bytes.clear();
        self.side.details.clear();
        self.names.clear();
        self.errnos.clear();
        self.comms.clear();
        self.touches.clear();
        self.inserted.clear();
        self.begins.clear();
        self.named.clear();
        self.graph.clear();
        self.counts = LineCounts::default();
        self.added = 0;
        self.oddities = Oddities::default();
        self.examples.clear();
        self.detours = 0;
        self.elapsed = 0;
        self.other_elapsed = 0;
        self.span = None;
        self.survey.clear();
        self.fill.clear();
    }

    /// Records a line that was not understood.
    pub fn example(&mut self, line: u64, task: Option<i32>, text: &[u8]) {
        if self.examples.len() < EXAMPLES {
            let shown = &text[..text.len().min(200)];
            let text = String::from_utf8_lossy(shown).into_owned();
            self.examples.push(Example { line, task, text });
        }
    }

    /// Key of an error's name outside the grammar stage, where there is no interner.
    pub fn errno_key(&mut self, name: &[u8]) -> u32 {
        key_in(&mut self.errnos, &escape_invalid(name))
    }
}

impl Parsed {
    /// The spot behind all that has been parsed.
    #[inline]
    pub fn spot(&self) -> Spot {
        Spot { row: self.rows.len as u32, begins: self.begins.len() as u32 }
    }

    /// The rows in their order, as ranges: one, unless calls of earlier blocks were put between.
    pub fn runs(&self) -> Vec<std::ops::Range<usize>> {
        let own = self.rows.len - self.inserted.len();
        let mut out = Vec::with_capacity(1 + 2 * self.inserted.len());
        let mut done = 0;
        for &(at, row) in &self.inserted {
            let (at, row) = (at.row as usize, row as usize);
            if at > done {
                out.push(done..at);
                done = at;
            }
            out.push(row..row + 1);
        }
        if own > done {
            out.push(done..own);
        }
        out
    }
}

/// Key of `text` in `names`, added if new.
pub fn key_in(names: &mut Vec<Arc<str>>, text: &str) -> u32 {
    let at = names.iter().position(|known| **known == *text);
    at.unwrap_or_else(|| {
        names.push(text.into());
        names.len() - 1
    }) as u32
}
