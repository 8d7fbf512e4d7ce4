//! How the lines of a log were used: every line counts once.

use crate::events::vocabulary::Status;

/// What a line of a log was used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum LineUse {
    /// A row starts on it.
    Events,
    /// The second half of a call, joined to a row of an earlier line.
    Resumed,
    /// A stack frame, dump, or other line that belongs to the event before it.
    Continuation,
    /// Part of a table of counts that the tracer adds.
    Summary,
    /// Header line.
    Header,
    /// The tracer's own message.
    Message,
    /// Empty.
    Blank,
    /// Not understood.
    Unparsed,
}

impl LineUse {
    /// Names, in the order of the report.
    pub const TEXTS: [&'static str; 8] =
        ["events", "resumed", "continuation", "summary", "header", "message", "blank", "unparsed"];
}

/// Lines by use, and their bytes, line feeds included. Every line counts once.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct LineCounts {
    lines: [u64; LineUse::TEXTS.len()],
    bytes: [u64; LineUse::TEXTS.len()],
}

impl LineCounts {
    /// Counts that were saved: `count` returns lines and bytes by the name of a use.
    pub fn from_named(mut count: impl FnMut(&str) -> (u64, u64)) -> Self {
        let mut counts = Self::default();
        for (i, name) in LineUse::TEXTS.iter().enumerate() {
            (counts.lines[i], counts.bytes[i]) = count(name);
        }
        counts
    }

    /// Counts one line.
    #[inline]
    pub(crate) fn add_line(&mut self, used: LineUse, bytes: u64) {
        self.lines[used as usize] += 1;
        self.bytes[used as usize] += bytes;
    }

    /// Lines of one use.
    pub fn lines(&self, used: LineUse) -> u64 {
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

    /// The name, lines and bytes of every use.
    pub fn fields(&self) -> [(&'static str, u64, u64); LineUse::TEXTS.len()] {
        std::array::from_fn(|i| (LineUse::TEXTS[i], self.lines[i], self.bytes[i]))
    }

    /// Adds the counts of another part of the log.
    pub fn add(&mut self, other: &Self) {
        for i in 0..LineUse::TEXTS.len() {
            self.lines[i] += other.lines[i];
            self.bytes[i] += other.bytes[i];
        }
    }
}

/// Oddities of a log, which users should know of. Nothing is lost by most of them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Oddities {
    /// Lines whose time is before that of the line before them.
    pub time_steps_back: u64,
    /// Lines with columns other than those at the start of the log.
    pub relayouts: u64,
    /// Pieces of the traced program's output within strace's lines.
    pub foreign: u64,
    /// Results with text behind them that strace did not write, or with an error whose text is cut.
    pub notes: u64,
    /// Lines with a prefix that other programs put before them, which was passed over.
    pub prefixes: u64,
    /// Lines that were joined to the one before them, since the text was wrapped at a width.
    pub wrapped: u64,
    /// Calls whose result is lost: their line is cut, or other text is in its place.
    pub lost_values: u64,
    /// Logs that end within a call.
    pub cut_ends: u64,
    /// Lines that were not understood, but look like the other format's: two logs in one file.
    pub other_format: u64,
    /// Records on the line of the record before them: there are that many more rows than lines of
    /// events.
    pub shared_lines: u64,
    /// Calls with a duration that none can have: it is null.
    pub impossible_durations: u64,
    /// Ends of processes with a processor time that none can have: it is null in tables.
    pub impossible_cpu_times: u64,
}

impl Oddities {
    /// The name and value of every count.
    pub fn fields(&self) -> [(&'static str, u64); 12] {
        [
            ("time_steps_back", self.time_steps_back),
            ("relayouts", self.relayouts),
            ("foreign", self.foreign),
            ("notes", self.notes),
            ("prefixes", self.prefixes),
            ("wrapped", self.wrapped),
            ("lost_values", self.lost_values),
            ("cut_ends", self.cut_ends),
            ("other_format", self.other_format),
            ("shared_lines", self.shared_lines),
            ("impossible_durations", self.impossible_durations),
            ("impossible_cpu_times", self.impossible_cpu_times),
        ]
    }

    /// Counts that were saved: `count` returns them by name.
    pub fn from_named(mut count: impl FnMut(&str) -> u64) -> Self {
        Self {
            time_steps_back: count("time_steps_back"),
            relayouts: count("relayouts"),
            foreign: count("foreign"),
            notes: count("notes"),
            prefixes: count("prefixes"),
            wrapped: count("wrapped"),
            lost_values: count("lost_values"),
            cut_ends: count("cut_ends"),
            other_format: count("other_format"),
            shared_lines: count("shared_lines"),
            impossible_durations: count("impossible_durations"),
            impossible_cpu_times: count("impossible_cpu_times"),
        }
    }

    /// Counts a call with this status whose result may be lost.
    pub(crate) fn add_call(&mut self, status: Status) {
        self.lost_values += u64::from(status == Status::Truncated);
    }

    /// Adds the counts of another part of the log.
    pub fn add(&mut self, other: &Self) {
        let Self {
            time_steps_back,
            relayouts,
            foreign,
            notes,
            prefixes,
            wrapped,
            lost_values,
            cut_ends,
            other_format,
            shared_lines,
            impossible_durations,
            impossible_cpu_times,
        } = other;
        self.time_steps_back += time_steps_back;
        self.relayouts += relayouts;
        self.foreign += foreign;
        self.notes += notes;
        self.prefixes += prefixes;
        self.wrapped += wrapped;
        self.lost_values += lost_values;
        self.cut_ends += cut_ends;
        self.other_format += other_format;
        self.shared_lines += shared_lines;
        self.impossible_durations += impossible_durations;
        self.impossible_cpu_times += impossible_cpu_times;
    }
}

/// A line that a report shows: one that was not understood, or has a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// Line, relative to the block; negative if the event began in an earlier one.
    pub line: i64,
    /// The task whose log has it, if every task has a log of its own.
    pub task: Option<i32>,
    /// Its beginning, or that of the note.
    pub text: String,
}

/// Examples that a report shows.
pub(crate) const MAX_EXAMPLES: usize = 3;
