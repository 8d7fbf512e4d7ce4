//! Counts for the report: of each source, and of all of them.

use std::borrow::Cow;

use crate::events::line_counts::{LineCounts, LineUse, MAX_EXAMPLES, Oddities};
use crate::events::parsed_block::Parsed;
use crate::events::vocabulary::EventKind;
use crate::format::Format;

/// Counts of one source, or of all.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Counts {
    /// Lines, and their bytes, by use.
    pub lines: LineCounts,
    /// Bytes of text, counted by block. The sum over the lines must be the same.
    pub bytes: u64,
    /// Rows by kind.
    pub kinds: [u64; EventKind::TEXTS.len()],
    /// Oddities.
    pub oddities: Oddities,
}

impl Counts {
    /// Rows of all kinds.
    pub fn rows(&self) -> u64 {
        self.kinds.iter().sum()
    }

    /// Lines that were not understood, values that are lost, and logs that end within a call.
    pub fn losses(&self) -> u64 {
        let Oddities { lost_values, cut_ends, .. } = self.oddities;
        self.lines.lines(LineUse::Unparsed) + lost_values + cut_ends
    }

    /// How good the log is, in words: what is missing, or that nothing is, then what was done to it.
    /// `filtered`: calls were left out when it was recorded; `widths`: at which its lines look wrapped.
    fn quality(&self, filtered: bool, widths: impl IntoIterator<Item = u32>) -> Vec<String> {
        let counted = |number: u64, one: &str, several: &str| match number {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{number} {several}")),
        };
        let said = |is: bool, words: &str| is.then(|| words.to_owned());
        let unparsed = self.lines.lines(LineUse::Unparsed);
        let missing: Vec<String> = [
            said(self.bytes == 0, "empty"),
            counted(unparsed, "line not understood", "lines not understood"),
            counted(self.oddities.lost_values, "value lost", "values lost"),
            said(self.kinds[EventKind::Lost as usize] > 0, "records lost by the tracer"),
            said(self.oddities.cut_ends > 0, "cut at the end"),
            said(filtered, "filtered"),
        ]
        .into_iter()
        .flatten()
        .collect();
        let complete = said(missing.is_empty(), "complete");
        let pasted = said(self.oddities.prefixes > 0, "pasted: prefix removed");
        let mut widths: Vec<u32> = widths.into_iter().collect();
        widths.sort_unstable();
        widths.dedup();
        let wrapped = widths.into_iter().map(|width| format!("looks wrapped at {width}"));
        complete.into_iter().chain(missing).chain(pasted).chain(wrapped).collect()
    }

    /// Rows by kind; kinds without rows are left out.
    pub fn kinds(&self) -> Vec<(&'static str, u64)> {
        let all = EventKind::TEXTS.iter().copied().zip(self.kinds);
        all.filter(|&(_, count)| count > 0).collect()
    }
}

/// Counts of one source: a few hundred bytes, whatever its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceCounts {
    /// As the user named it.
    pub name: String,
    /// Name of its format; `none` if it is empty.
    pub format: Cow<'static, str>,
    /// Name of its clock; `none` if it is empty.
    pub clock: Cow<'static, str>,
    /// Name of the machine whose numbers of system calls its lines use.
    pub machine: Option<Cow<'static, str>>,
    /// Calls that move positions are missing.
    pub filtered: bool,
    /// The width at which its lines look wrapped.
    pub wrapped: Option<u32>,
    /// The counts.
    pub counts: Counts,
    /// Number and start of the first line that could not be parsed.
    pub example: Option<(u64, String)>,
    /// Number of the first lines with a note behind their result, and the start of the notes.
    pub noted: Vec<(u64, String)>,
}

impl SourceCounts {
    /// How good the log is.
    pub fn quality(&self) -> Vec<String> {
        self.counts.quality(self.filtered, self.wrapped)
    }
}

/// Counts of a run.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct RunCounts {
    /// Over all sources.
    pub total: Counts,
    /// Every source, in order.
    pub sources: Vec<SourceCounts>,
    /// The first lines that could not be parsed: source, line, text.
    pub examples: Vec<(String, u64, String)>,
}

impl RunCounts {
    /// How good the logs are, all together.
    pub fn quality(&self) -> Vec<String> {
        let filtered = self.sources.iter().any(|source| source.filtered);
        self.total.quality(filtered, self.sources.iter().filter_map(|source| source.wrapped))
    }

    /// Starts a source, without a format if it is empty. Returns its number.
    pub fn begin(&mut self, name: &str, format: Option<&Format>) -> usize {
        let number = self.sources.len();
        self.sources.push(SourceCounts {
            name: name.to_owned(),
            format: format.map_or("none", Format::name).into(),
            clock: format.map_or("none", Format::clock).into(),
            machine: format.and_then(Format::machine).map(Cow::Borrowed),
            filtered: format.is_some_and(Format::is_filtered),
            wrapped: format.and_then(Format::wrapped),
            counts: Counts::default(),
            example: None,
            noted: Vec::new(),
        });
        number
    }

    /// Adds a block of source `source`, with the bytes of its text and its rows by kind. `line` is
    /// the number of lines before it.
    ///
    /// # Panics
    /// If there is no such source.
    pub fn add(&mut self, source: usize, parsed: &Parsed, line: i64, bytes: u64, kinds: &[u64]) {
        let source = &mut self.sources[source];
        for counts in [&mut self.total, &mut source.counts] {
            counts.lines.add(&parsed.counts);
            counts.bytes += bytes;
            counts.oddities.add(&parsed.oddities);
            for (kind, more) in counts.kinds.iter_mut().zip(kinds) {
                *kind += more;
            }
        }
        let left = MAX_EXAMPLES - source.noted.len();
        let noted = parsed.noted.iter().take(left);
        source.noted.extend(noted.map(|note| ((line + note.line + 1) as u64, note.text.clone())));
        for example in &parsed.examples {
            let at = (line + example.line + 1) as u64;
            source.example.get_or_insert_with(|| (at, example.text.clone()));
            if self.examples.len() < MAX_EXAMPLES {
                let file = match example.task {
                    Some(task) => format!("{}.{task}", source.name),
                    None => source.name.clone(),
                };
                self.examples.push((file, at, example.text.clone()));
            }
        }
    }
}
