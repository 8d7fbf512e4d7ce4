//! The serial part: blocks in order, to blocks whose rows are final.

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use arrow_array::StringArray;
use arrow_buffer::Buffer;
use bytes::Bytes;

use crate::events::dictionary::Dictionary;
use crate::events::parsed_block::Parsed;
use crate::events::rows::{RowClock, Rows};
use crate::events::schema::Column as C;
use crate::events::split_calls::Deferred;
use crate::events::vocabulary::EventKind;
use crate::format::Format;
use crate::kernel::Kernel;
use crate::serial::counts::Tally;
use crate::serial::function_graph::Graph;
use crate::serial::unfinished::Stitch;
use crate::text::block::Block;

/// Memory that goes round: blocks' buffers and columns.
#[derive(Debug, Default)]
pub struct Pool {
    buffers: Mutex<Vec<Vec<u8>>>,
    parsed: Mutex<Vec<Parsed>>,
}

/// Buffers above this size (a line of many megabytes) are given back to the system.
const KEEP: usize = 2 << 20;

impl Pool {
    /// An empty buffer, used before if there is one.
    pub fn buffer(&self) -> Vec<u8> {
        lock(&self.buffers).pop().unwrap_or_default()
    }

    /// Columns, used before if there are some.
    pub fn parsed(&self) -> Parsed {
        lock(&self.parsed).pop().unwrap_or_default()
    }

    /// Takes back what was not made into rows.
    pub fn give_back(&self, block: Block, parsed: Parsed) {
        self.give(block.into_buffer().0);
        self.give_parsed(parsed);
    }

    fn give(&self, buffer: Vec<u8>) {
        if buffer.capacity() <= KEEP {
            lock(&self.buffers).push(buffer);
        }
    }

    fn give_parsed(&self, mut parsed: Parsed) {
        parsed.scratch.shrink_to(KEEP);
        // Columns are as many bytes for a row as a short line has twice over.
        if parsed.rows.valid.len() <= KEEP / 64 {
            lock(&self.parsed).push(parsed);
        }
    }
}

/// A poisoned lock only means that another thread failed; a list of spare buffers is never broken.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A buffer that Arrow holds and that goes back to its pool afterwards.
struct Pooled {
    buffer: Vec<u8>,
    pool: Arc<Pool>,
}

impl AsRef<[u8]> for Pooled {
    fn as_ref(&self) -> &[u8] {
        &self.buffer
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        self.pool.give(std::mem::take(&mut self.buffer));
    }
}

/// A block whose rows are final but for the keys of its dictionaries, which `maps` translates.
#[derive(Debug)]
pub struct Resolved {
    /// As the stages in order left it, until somebody asks for the rows.
    left: Mutex<Parsed>,
    /// With every column that has values.
    filled: OnceLock<Parsed>,
    pool: Arc<Pool>,
    /// Text and side text, for the views.
    pub buffers: [Buffer; 2],
    /// Keys of the stream by local key: names, errors, commands.
    pub maps: [Vec<u32>; 3],
    /// Rows that count.
    pub runs: Vec<Range<usize>>,
    /// The log's line on which the block begins, 1-based.
    pub line: i64,
    /// Key of the source.
    pub source: u32,
}

impl Resolved {
    /// The columns. Who asks first writes what the stages in order left to be written.
    pub fn rows(&self) -> &Rows {
        &self.parsed().rows
    }

    fn parsed(&self) -> &Parsed {
        self.filled.get_or_init(|| {
            let mut parsed = std::mem::take(&mut *lock(&self.left));
            parsed.write_model_columns(&self.buffers[0], &self.buffers[1]);
            parsed
        })
    }

    /// Looks at the rows before they are given to anybody who asks for them: at their texts, say, which
    /// are not left to be written.
    pub fn look<T>(&self, look: impl FnOnce(&Rows) -> T) -> T {
        self.look_whole(|parsed| look(&parsed.rows))
    }

    fn look_whole<T>(&self, look: impl FnOnce(&Parsed) -> T) -> T {
        match self.filled.get() {
            Some(parsed) => look(parsed),
            None => look(&lock(&self.left)),
        }
    }

    /// Bytes of the texts of all rows that count (see [`Rows::text_bytes`]), if the stages in order
    /// left them as they were.
    pub fn text_bytes(&self) -> Option<usize> {
        self.look_whole(|parsed| {
            let Parsed { rows, model_rows, .. } = parsed;
            let same = model_rows.done && model_rows.rows == rows.len && model_rows.open.is_empty();
            same.then_some(model_rows.text_bytes)
        })
    }

    /// Number of rows that count.
    pub fn len(&self) -> usize {
        self.runs.iter().map(ExactSizeIterator::len).sum()
    }

    /// The words that this block's keys stand for: names, errors, commands.
    pub fn words(&self, which: usize) -> &[Arc<str>] {
        let parsed = self.parsed();
        match which {
            0 => &parsed.names,
            1 => &parsed.errnos,
            _ => &parsed.comms,
        }
    }

    /// No row.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

impl Drop for Resolved {
    fn drop(&mut self) {
        let parsed = match self.filled.take() {
            Some(parsed) => parsed,
            None => std::mem::take(&mut *lock(&self.left)),
        };
        self.pool.give_parsed(parsed);
    }
}

/// Values of the open dictionaries at some point of the stream.
#[derive(Debug, Clone)]
pub struct Values {
    /// Names, errors, commands, sources.
    pub open: [Arc<StringArray>; 4],
}

#[derive(Debug)]
struct Source {
    key: u32,
    /// Its number in the tally.
    number: usize,
    format: Format,
    stitch: Stitch,
    graph: Graph,
    kernel: Kernel,
    line: i64,
    /// The sum of all deltas, or the time of the days that began.
    elapsed: i64,
    /// The sum of the deltas of lines with other columns than the log has at its start.
    other_elapsed: i64,
    /// Time of the last line.
    last: Option<i64>,
    /// The same, as printed.
    printed: Option<i64>,
}

impl Source {
    /// The block's times become those of the log.
    fn clock(&mut self, parsed: &mut Parsed) {
        if let Some(span) = parsed.span {
            self.elapsed = self.elapsed.wrapping_add(self.format.pause(self.printed, span.first));
            let first = span.first.wrapping_add(self.elapsed);
            parsed.oddities.time_steps_back +=
                u64::from(self.last.is_some_and(|last| first < last));
            self.last = Some(span.last.wrapping_add(self.elapsed));
            self.printed = Some(span.printed);
        }
        if self.format.is_merged() {
            // Lines stand where calls ended: that one of another task began earlier is not odd.
            parsed.oddities.time_steps_back = 0;
        }
        shift_times(parsed, self.elapsed, self.other_elapsed);
        self.elapsed = self.elapsed.wrapping_add(parsed.elapsed);
        self.other_elapsed = self.other_elapsed.wrapping_add(parsed.other_elapsed);
    }
}

/// State over all blocks of all sources.
#[derive(Debug)]
pub struct Stream {
    names: Dictionary,
    errnos: Dictionary,
    comms: Dictionary,
    sources: Dictionary,
    source: Option<Source>,
    pool: Arc<Pool>,
    /// The model of the kernel runs; without it columns that need it have no values.
    pub model: bool,
    /// Counts so far.
    pub tally: Tally,
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
            tally: Tally::default(),
        }
    }

    /// The next blocks are those of this source.
    pub fn begin(&mut self, name: &str, format: Format) {
        let key = self.sources.key(&Arc::from(name));
        let number = self.tally.begin(name, Some(&format));
        self.source = Some(Source {
            key,
            number,
            format,
            stitch: Stitch::new(format.root()),
            graph: Graph::default(),
            kernel: Kernel::new(format.is_merged()),
            line: 0,
            elapsed: 0,
            other_elapsed: 0,
            last: None,
            printed: None,
        });
    }

    /// A source without any text: there is nothing to resolve.
    pub fn empty(&mut self, name: &str) {
        self.tally.begin(name, None);
    }

    /// Makes the rows of the next block final.
    ///
    /// # Panics
    /// If no source has begun.
    pub fn resolve(&mut self, block: Block, mut parsed: Parsed) -> Resolved {
        let source = self.source.as_mut().expect("a source has begun");
        let text = block.text();
        source.clock(&mut parsed);
        source.stitch.run(&mut parsed, text, &source.format, source.line);
        if !parsed.graph_lines.is_empty() {
            source.graph.run(&mut parsed, text, source.line);
        }
        if self.model {
            source.kernel.run(&mut parsed, text);
        }
        let line = source.line;
        // The lines of merged logs bring their own numbers.
        if !source.format.is_merged() {
            source.line += parsed.counts.total() as i64;
        }
        self.close(block, parsed, line)
    }

    /// The source ends: what was still open.
    pub fn end(&mut self) -> Option<Resolved> {
        let source = self.source.as_mut()?;
        let mut parsed = self.pool.parsed();
        source.stitch.finish(&mut parsed, &source.format, source.line);
        source.graph.finish(&mut parsed, source.line);
        if self.model {
            source.kernel.run(&mut parsed, b"");
        }
        let line = source.line;
        let resolved = self.close(Block::default(), parsed, line);
        self.source = None;
        Some(resolved).filter(|resolved| !resolved.is_empty())
    }

    /// Bytes of the values of the dictionary that has most.
    pub fn words_bytes(&self) -> usize {
        let all = [&self.names, &self.errnos, &self.comms, &self.sources];
        all.map(Dictionary::bytes).into_iter().max().unwrap_or(0)
    }

    /// Values of the dictionaries so far.
    ///
    /// # Panics
    /// If one has more than 2 GiB of text; ask [`Stream::words_bytes`] before.
    pub fn values(&mut self) -> Values {
        Values {
            open: [
                self.names.values(),
                self.errnos.values(),
                self.comms.values(),
                self.sources.values(),
            ],
        }
    }

    fn close(&mut self, block: Block, mut parsed: Parsed, line: i64) -> Resolved {
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
            self.tally.add(source.number, &parsed, line, bytes, &kinds);
        }
        let len = block.len();
        let (buffer, start) = block.into_buffer();
        let text = self.buffer(buffer, start..start + len);
        let side = std::mem::take(&mut parsed.side.bytes);
        let len = side.len();
        let side = self.buffer(side, 0..len);
        // The next block's side text gets a buffer that has grown already.
        parsed.side.bytes = self.pool.buffer();
        Resolved {
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

    /// Keys of the stream by keys of a block that brings new words. They are given out as rows show
    /// them, so that blocks of any size give the same. That is seldom so, but for the first blocks.
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

    fn buffer(&self, buffer: Vec<u8>, range: Range<usize>) -> Buffer {
        if buffer.is_empty() {
            return Buffer::from(Vec::<u8>::new());
        }
        let pool = Arc::clone(&self.pool);
        Buffer::from(Bytes::from_owner(Pooled { buffer, pool }).slice(range))
    }
}

/// Rows by kind.
fn kinds(parsed: &Parsed) -> [u64; EventKind::TEXTS.len()] {
    let Parsed { rows, model_rows, .. } = parsed;
    let mut kinds = [0; EventKind::TEXTS.len()];
    let mut count = |row: usize| kinds[usize::from(rows.kind[row])] += 1;
    // Most of the block's own rows somebody counted before.
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

/// Times that are sums from the block's begin: from the log's begin on.
fn shift_times(parsed: &mut Parsed, log: i64, other: i64) {
    if log == 0 && other == 0 {
        return;
    }
    let shifted = |ts: i64, clock: RowClock| match clock {
        RowClock::Log => ts.wrapping_add(log),
        RowClock::Other => ts,
        RowClock::OtherDelta => ts.wrapping_add(other),
    };
    let rows = &mut parsed.rows;
    for row in 0..rows.len {
        if rows.has(row, C::Ts) {
            rows.ts[row] = shifted(rows.ts[row], rows.effect[row].clock);
        }
    }
    for touch in &mut parsed.deferred {
        if let Deferred::Open { open, .. } | Deferred::Continue { open, .. } = touch {
            open.ts = open.ts.map(|ts| shifted(ts, open.clock));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::line_counts::Oddities;
    use crate::format::Grammar;
    use crate::serial::counts::Counts;

    /// The rows of logs that follow one another, whose blocks use the same memory.
    fn rows(logs: &[&str]) -> Tally {
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
        stream.tally
    }

    #[test]
    fn columns_without_a_value_are_not_looked_at() {
        let long = format!("7 open(\"/{}\", O_RDONLY) = 3\n", "x".repeat(100)).repeat(3);
        // The path's column still holds the place of a path in the block before.
        let tally = rows(&[&long, "7 chdir(0x1) = 0\n"]);
        assert_eq!(tally.total.rows(), 4);
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
                parsed.oddities =
                    Oddities { time_steps_back: 1, relayouts: 2, foreign: 3, shared_lines: 4 };
                stream.resolve(Block::default(), parsed);
            }
            stream.end();
        }
        let fields = |by: u64| {
            [
                ("time_steps_back", 2 * by),
                ("relayouts", 4 * by),
                ("foreign", 6 * by),
                ("shared_lines", 8 * by),
            ]
        };
        assert_eq!(stream.tally.total.oddities.fields(), fields(2));
        for source in &stream.tally.sources {
            assert_eq!(source.counts.oddities.fields(), fields(1));
        }
    }

    #[test]
    fn every_source_has_its_counts() {
        let mut tally = rows(&["7 close(3) = 0\n7 well\n", "close(3) = 0\n\n"]);
        tally.begin("empty", None);
        let [first, second, empty] = &tally.sources[..] else { panic!("three sources") };
        assert_eq!((first.counts.lines.total(), first.counts.bytes), (2, 22));
        assert_eq!((second.counts.lines.total(), second.counts.bytes), (2, 14));
        assert_eq!(first.example, Some((2, "7 well".to_owned())));
        assert_eq!((second.example.as_ref(), empty.example.as_ref()), (None, None));
        assert_eq!([&first.format, &empty.format, &empty.clock], ["strace", "none", "none"]);
        assert_eq!(empty.counts, Counts::default());
        assert_eq!((tally.total.lines.total(), tally.total.bytes), (4, 36));
        assert_eq!(tally.examples, [("log".to_owned(), 2, "7 well".to_owned())]);
    }
}
