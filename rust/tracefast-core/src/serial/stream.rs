//! The serial stage: blocks in the order of the log, until their rows are final.

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use crate::events::dictionary::Dictionary;
use crate::events::parsed_block::Parsed;
use crate::events::schema::Column as C;
use crate::events::vocabulary::EventKind;
use crate::format::Format;
use crate::kernel::Kernel;
use crate::serial::counts::RunCounts;
use crate::serial::function_graph::FunctionStacks;
use crate::serial::join_across_blocks::UnfinishedCalls;
use crate::serial::pool::Pool;
use crate::serial::resolved_block::{DictionaryValues, ResolvedBlock};
use crate::serial::source_clock::SourceClock;
use crate::text::block::Block;

/// The source at hand, with all state that does not outlive it.
#[derive(Debug)]
struct Source {
    key: u32,
    /// Its position in `RunCounts::sources`.
    number: usize,
    format: Format,
    unfinished: UnfinishedCalls,
    functions: FunctionStacks,
    kernel: Kernel,
    clock: SourceClock,
    /// Lines before the next block.
    line: i64,
}

/// The serial stage, over all blocks of all sources.
#[derive(Debug)]
pub struct Stream {
    names: Dictionary,
    errnos: Dictionary,
    comms: Dictionary,
    sources: Dictionary,
    source: Option<Source>,
    pool: Arc<Pool>,
    /// Run the model of the kernel. Without it, columns that need it have no values.
    pub model: bool,
    /// All calls that move positions are in the logs, as the user says.
    pub assume_complete: bool,
    /// Counts so far.
    pub counts: RunCounts,
}

impl Stream {
    /// A stream that takes its memory from `pool`.
    pub fn new(pool: Arc<Pool>) -> Self {
        Self {
            names: Dictionary::default(),
            errnos: Dictionary::default(),
            comms: Dictionary::default(),
            sources: Dictionary::default(),
            source: None,
            pool,
            model: true,
            assume_complete: false,
            counts: RunCounts::default(),
        }
    }

    /// Starts a source, whose blocks come next.
    pub fn begin(&mut self, name: &str, format: Format) {
        let key = self.sources.key(&Arc::from(name));
        let number = self.counts.begin(name, Some(&format));
        self.source = Some(Source {
            key,
            number,
            format,
            unfinished: UnfinishedCalls::new(format.root()),
            functions: FunctionStacks::default(),
            kernel: Kernel::new(&format, self.assume_complete),
            clock: SourceClock::default(),
            line: 0,
        });
    }

    /// The source starts after this many lines of its file.
    pub fn skip_lines(&mut self, lines: u64) {
        if let Some(source) = &mut self.source {
            source.line = lines as i64;
        }
    }

    /// Counts a source without any text.
    pub fn empty(&mut self, name: &str) {
        self.counts.begin(name, None);
    }

    /// Makes the rows of the next block final.
    ///
    /// # Panics
    /// If no source was started.
    pub fn resolve(&mut self, block: Block, mut parsed: Parsed) -> ResolvedBlock {
        let source = self.source.as_mut().expect("a source was started");
        let text = block.text();
        source.clock.run(&mut parsed, &source.format);
        source.unfinished.run(&mut parsed, text, &source.format, source.line);
        if !parsed.graph_lines.is_empty() {
            source.functions.run(&mut parsed, text, source.line);
        }
        if self.model {
            source.kernel.run(&mut parsed, text);
        }
        let line = source.line;
        // Lines of merged logs have numbers of their own.
        if !source.format.is_merged() {
            source.line += parsed.counts.total() as i64;
        }
        self.close(block, parsed, line)
    }

    /// Ends the source. Returns rows of what is still open, a part of them at a time; `None` after
    /// the last part.
    pub fn end(&mut self) -> Option<ResolvedBlock> {
        let source = self.source.as_mut()?;
        let mut parsed = self.pool.parsed();
        let more = source.unfinished.finish(&mut parsed, &source.format, source.line);
        if !more {
            source.functions.finish(&mut parsed, source.line);
        }
        if self.model {
            source.kernel.end(&mut parsed);
        }
        let line = source.line;
        let resolved = self.close(Block::default(), parsed, line);
        if !more {
            self.source = None;
        }
        Some(resolved).filter(|resolved| !resolved.is_empty())
    }

    /// Bytes of the values of the largest dictionary.
    pub fn dictionary_bytes(&self) -> usize {
        let all = [&self.names, &self.errnos, &self.comms, &self.sources];
        all.map(Dictionary::bytes).into_iter().max().unwrap_or(0)
    }

    /// Values of the dictionaries so far.
    ///
    /// # Panics
    /// If one has more than 2 GiB of text; see [`Stream::dictionary_bytes`].
    pub fn values(&mut self) -> DictionaryValues {
        DictionaryValues {
            open: [
                self.names.values(),
                self.errnos.values(),
                self.comms.values(),
                self.sources.values(),
            ],
        }
    }

    fn close(&mut self, block: Block, mut parsed: Parsed, line: i64) -> ResolvedBlock {
        let runs = parsed.runs();
        let known = [
            self.names.known(&parsed.names),
            self.errnos.known(&parsed.errnos),
            self.comms.known(&parsed.comms),
        ];
        let maps = match known {
            [Some(names), Some(errnos), Some(comms)] => [names, errnos, comms],
            _ => self.keys(&mut parsed, block.text(), &runs),
        };
        let kinds = kinds(&parsed);
        let mut key = 0;
        if let Some(source) = &self.source {
            key = source.key;
            let bytes = block.source_len() as u64 - parsed.added;
            self.counts.add(source.number, &parsed, line, bytes, &kinds);
        }
        let len = block.len();
        let (buffer, start) = block.into_buffer();
        let text = self.pool.share_block(buffer, start..start + len);
        let side = self.pool.share_side(&mut parsed.side.bytes);
        ResolvedBlock {
            left: Mutex::new(parsed),
            filled: OnceLock::new(),
            pool: Arc::clone(&self.pool),
            buffers: [text, side],
            maps,
            runs,
            line: line + 1,
            source: key,
        }
    }

    /// Keys of the stream by keys of a block with new texts. New keys are in the order of the rows,
    /// so that they do not depend on the size of blocks. After the first blocks this is rare.
    #[cold]
    fn keys(&mut self, parsed: &mut Parsed, text: &[u8], runs: &[Range<usize>]) -> [Vec<u32>; 3] {
        let side = std::mem::take(&mut parsed.side.bytes);
        parsed.write_model_columns(text, &side);
        parsed.model_columns.clear();
        parsed.side.bytes = side;
        let Parsed { rows, names, errnos, comms, .. } = parsed;
        let mut columns = [
            (C::Name, &rows.name, &*names, &mut self.names),
            (C::Errno, &rows.errno, &*errnos, &mut self.errnos),
            (C::Comm, &rows.comm, &*comms, &mut self.comms),
        ];
        columns.each_mut().map(|(column, keys, texts, dictionary)| {
            let mut map = vec![u32::MAX; texts.len()];
            for row in runs.iter().cloned().flatten().filter(|&row| rows.has(row, *column)) {
                let local = keys[row] as usize;
                if map[local] == u32::MAX {
                    map[local] = dictionary.key(&texts[local]);
                }
            }
            map
        })
    }
}

/// Rows by kind.
fn kinds(parsed: &Parsed) -> [u64; EventKind::TEXTS.len()] {
    let Parsed { rows, model_rows, .. } = parsed;
    let mut kinds = [0; EventKind::TEXTS.len()];
    let mut count = |row: usize| kinds[usize::from(rows.kind[row])] += 1;
    // Workers counted most of the block's own rows.
    let counted = if model_rows.done { model_rows.rows } else { 0 };
    (counted..rows.len).for_each(&mut count);
    if model_rows.done {
        model_rows.open.iter().for_each(|&row| count(row as usize));
        for (kind, more) in kinds.iter_mut().zip(model_rows.kinds) {
            *kind += more;
        }
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::line_counts::Oddities;
    use crate::format::Grammar;
    use crate::serial::counts::Counts;

    /// The rows of logs that follow one another, whose blocks use the same memory.
    fn rows(logs: &[&str]) -> RunCounts {
        let pool = Arc::new(Pool::default());
        let mut stream = Stream::new(Arc::clone(&pool));
        let mut grammar = Grammar::default();
        for log in logs {
            let format = Format::detect(log.as_bytes(), None).expect("a log");
            stream.begin("log", format);
            let mut block = Block::from_text(log.as_bytes());
            let mut parsed = pool.parsed();
            grammar.parse(&format, &mut block, &mut parsed);
            drop(stream.resolve(block, parsed));
            drop(stream.end());
        }
        stream.counts
    }

    #[test]
    fn columns_without_a_value_are_not_looked_at() {
        let long = format!("7 open(\"/{}\", O_RDONLY) = 3\n", "x".repeat(100)).repeat(3);
        // The path's column still holds the place of a path in the block before.
        let counts = rows(&[&long, "7 chdir(0x1) = 0\n"]);
        assert_eq!(counts.total.rows(), 4);
    }

    #[test]
    fn oddities_go_from_the_block_to_source_and_total() {
        let pool = Arc::new(Pool::default());
        let mut stream = Stream::new(Arc::clone(&pool));
        let format = Format::detect(b"close(3) = 0\n", None).expect("a log");
        for name in ["one", "two"] {
            stream.begin(name, format);
            for _ in 0..2 {
                let mut parsed = pool.parsed();
                parsed.reset(1);
                assert_eq!(parsed.oddities, Oddities::default());
                parsed.oddities = Oddities {
                    time_steps_back: 1,
                    relayouts: 2,
                    foreign: 3,
                    notes: 4,
                    prefixes: 9,
                    wrapped: 13,
                    lost_values: 10,
                    cut_ends: 11,
                    other_format: 12,
                    shared_lines: 5,
                    impossible_durations: 6,
                    impossible_cpu_times: 7,
                };
                stream.resolve(Block::default(), parsed);
            }
            stream.end();
        }
        let fields = |by: u64| {
            [
                ("time_steps_back", 2 * by),
                ("relayouts", 4 * by),
                ("foreign", 6 * by),
                ("notes", 8 * by),
                ("prefixes", 18 * by),
                ("wrapped", 26 * by),
                ("lost_values", 20 * by),
                ("cut_ends", 22 * by),
                ("other_format", 24 * by),
                ("shared_lines", 10 * by),
                ("impossible_durations", 12 * by),
                ("impossible_cpu_times", 14 * by),
            ]
        };
        assert_eq!(stream.counts.total.oddities.fields(), fields(2));
        for source in &stream.counts.sources {
            assert_eq!(source.counts.oddities.fields(), fields(1));
        }
    }

    #[test]
    fn what_is_open_at_the_end_comes_in_parts() {
        let pool = Arc::new(Pool::default());
        let mut stream = Stream::new(Arc::clone(&pool));
        let lines: Vec<String> =
            (1..=10_000).map(|pid| format!("{pid} read(3,  <unfinished ...>\n")).collect();
        let log = lines.concat();
        let format = Format::detect(log.as_bytes(), None).expect("a log");
        stream.begin("log", format);
        let mut block = Block::from_text(log.as_bytes());
        let mut parsed = pool.parsed();
        Grammar::default().parse(&format, &mut block, &mut parsed);
        assert!(stream.resolve(block, parsed).is_empty());
        let mut tids = Vec::new();
        while let Some(part) = stream.end() {
            assert!(part.len() < lines.len() / 2);
            tids.extend(part.look(|rows| rows.tid[..rows.len].to_vec()));
        }
        assert_eq!(tids, (1..=10_000).collect::<Vec<_>>());
        assert_eq!(stream.counts.total.rows(), lines.len() as u64);
    }

    #[test]
    fn every_source_has_its_counts() {
        let mut counts = rows(&["7 close(3) = 0\n7 well\n", "close(3) = 0\n\n"]);
        counts.begin("empty", None);
        let [first, second, empty] = &counts.sources[..] else { panic!("three sources") };
        assert_eq!((first.counts.lines.total(), first.counts.bytes), (2, 22));
        assert_eq!((second.counts.lines.total(), second.counts.bytes), (2, 14));
        assert_eq!(first.example, Some((2, "7 well".to_owned())));
        assert_eq!((second.example.as_ref(), empty.example.as_ref()), (None, None));
        assert_eq!([&first.format, &empty.format, &empty.clock], ["strace", "none", "none"]);
        assert_eq!(empty.counts, Counts::default());
        assert_eq!((counts.total.lines.total(), counts.total.bytes), (4, 36));
        assert_eq!(counts.examples, [("log".to_owned(), 2, "7 well".to_owned())]);
    }
}
