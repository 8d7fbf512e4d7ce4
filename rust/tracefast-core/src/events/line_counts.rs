//! How the lines of a log were used: every line counts once.

/// What a line of a log was used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum LineUse {
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

impl LineUse {
    /// Names, in the order of the report.
    pub const TEXTS: [&'static str; 8] =
        ["events", "resumed", "continuation", "summary", "header", "message", "blank", "unparsed"];
}

/// How the lines of a log were used, and how many bytes they are, line feeds included; every line
/// counts once.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct LineCounts {
    lines: [u64; LineUse::TEXTS.len()],
    bytes: [u64; LineUse::TEXTS.len()],
}

impl LineCounts {
    /// Counts that were taken before: for the name of every use, its lines and bytes.
    pub fn of(mut count: impl FnMut(&str) -> (u64, u64)) -> Self {
        let mut counts = Self::default();
        for (i, name) in LineUse::TEXTS.iter().enumerate() {
            (counts.lines[i], counts.bytes[i]) = count(name);
        }
        counts
    }

    /// Counts a line of `bytes` bytes.
    #[inline]
    pub fn see(&mut self, used: LineUse, bytes: u64) {
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

    /// Every use by its name, with its lines and bytes.
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
pub const MAX_EXAMPLES: usize = 3;
