//! The serial part: blocks in order, to blocks whose rows are final.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use arrow_array::StringArray;
use arrow_buffer::Buffer;
use bytes::Bytes;

use crate::block::Block;
use crate::dict::Dictionary;
use crate::event::EventKind;
use crate::format::Format;
use crate::kernel::Kernel;
use crate::parsed::{EXAMPLES, LineCounts, Parsed};
use crate::rows::Rows;
use crate::schema::Column as C;
use crate::stitch::Stitch;

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

    fn give_parsed(&self, parsed: Parsed) {
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
    parsed: Parsed,
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
    /// The columns.
    pub fn rows(&self) -> &Rows {
        &self.parsed.rows
    }

    /// Number of rows that count.
    pub fn len(&self) -> usize {
        self.runs.iter().map(ExactSizeIterator::len).sum()
    }

    /// No row.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

impl Drop for Resolved {
    fn drop(&mut self) {
        self.pool.give_parsed(std::mem::take(&mut self.parsed));
    }
}

/// What the report counts.
#[derive(Debug, Default, Clone)]
pub struct Tally {
    /// Lines by use.
    pub lines: LineCounts,
    /// Bytes of text.
    pub bytes: u64,
    /// Rows by kind.
    pub kinds: [u64; EventKind::TEXTS.len()],
    /// First lines that were not understood: source, line, text.
    pub examples: Vec<(String, u64, String)>,
    /// Names of the formats, in order of appearance.
    pub formats: Vec<&'static str>,
    /// Names of the clocks, likewise.
    pub clocks: Vec<&'static str>,
}

/// Values of the open dictionaries at some point of the stream.
#[derive(Debug, Clone)]
pub struct Values {
    /// Names, errors, commands, sources.
    pub open: [Arc<StringArray>; 4],
}

#[derive(Debug)]
struct Source {
    name: String,
    key: u32,
    format: Format,
    stitch: Stitch,
    kernel: Kernel,
    line: i64,
    elapsed: i64,
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
            tally: Tally::default(),
        }
    }

    /// The next blocks are those of this source.
    pub fn begin(&mut self, name: &str, format: Format) {
        let key = self.sources.key(&Arc::from(name));
        for (list, item) in
            [(&mut self.tally.formats, format.name()), (&mut self.tally.clocks, format.clock())]
        {
            if !list.contains(&item) {
                list.push(item);
            }
        }
        self.source = Some(Source {
            name: name.to_owned(),
            key,
            format,
            stitch: Stitch::default(),
            kernel: Kernel::default(),
            line: 0,
            elapsed: 0,
        });
    }

    /// Makes the rows of the next block final.
    ///
    /// # Panics
    /// If no source has begun.
    pub fn resolve(&mut self, block: Block, mut parsed: Parsed) -> Resolved {
        let source = self.source.as_mut().expect("a source has begun");
        let text = block.text();
        shift_times(&mut parsed, source.elapsed);
        source.elapsed = source.elapsed.wrapping_add(parsed.elapsed);
        source.stitch.run(&mut parsed, text, &source.format, source.line);
        let Source { kernel, stitch, .. } = source;
        kernel.run(&mut parsed, text, |id, bound| stitch.bind(id, bound));
        self.tally.bytes += text.len() as u64 - parsed.added;
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
        source.kernel.run(&mut parsed, b"", |_, _| ());
        let line = source.line;
        let resolved = self.close(Block::default(), parsed, line);
        self.source = None;
        Some(resolved).filter(|resolved| !resolved.is_empty())
    }

    /// Values of the dictionaries so far.
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
        let mut maps =
            [Keys::new(&parsed.names), Keys::new(&parsed.errnos), Keys::new(&parsed.comms)];
        let runs = parsed.runs();
        let rows = &parsed.rows;
        let [names, errnos, comms] = &mut maps;
        for row in runs.iter().cloned().flatten() {
            let valid = rows.valid[row];
            if valid & C::Name.bit() != 0 {
                names.see(rows.name[row], &mut self.names);
            }
            if valid & C::Errno.bit() != 0 {
                errnos.see(rows.errno[row], &mut self.errnos);
            }
            if valid & C::Comm.bit() != 0 {
                comms.see(rows.comm[row], &mut self.comms);
            }
            self.tally.kinds[usize::from(rows.kind[row])] += 1;
        }
        let maps = maps.map(|keys| keys.map);
        let source = self.source.as_ref().map_or(0, |source| source.key);
        self.tally.lines.add(&parsed.counts);
        let name = self.source.as_ref().map_or("", |source| &source.name);
        for example in &parsed.examples {
            if self.tally.examples.len() < EXAMPLES {
                let at = line as u64 + example.line + 1;
                let file = match example.task {
                    Some(task) => format!("{name}.{task}"),
                    None => name.to_owned(),
                };
                self.tally.examples.push((file, at, example.text.clone()));
            }
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
            parsed,
            pool: Arc::clone(&self.pool),
            buffers: [text, side],
            maps,
            runs,
            line: line + 1,
            source,
        }
    }

    fn buffer(&self, buffer: Vec<u8>, range: Range<usize>) -> Buffer {
        if buffer.is_empty() {
            return Buffer::from(Vec::<u8>::new());
        }
        let pool = Arc::clone(&self.pool);
        Buffer::from(Bytes::from_owner(Pooled { buffer, pool }).slice(range))
    }
}

/// Keys of the stream by keys of a block, given out as rows show them.
struct Keys<'a> {
    texts: &'a [Arc<str>],
    map: Vec<u32>,
}

impl<'a> Keys<'a> {
    fn new(texts: &'a [Arc<str>]) -> Self {
        Self { texts, map: vec![u32::MAX; texts.len()] }
    }

    #[inline]
    fn see(&mut self, local: u32, dictionary: &mut Dictionary) {
        let slot = &mut self.map[local as usize];
        if *slot == u32::MAX {
            *slot = dictionary.key(&self.texts[local as usize]);
        }
    }
}

/// Deltas are sums from the block's begin: from the log's begin on.
fn shift_times(parsed: &mut Parsed, by: i64) {
    use crate::parsed::Touch;
    if by == 0 {
        return;
    }
    let rows = &mut parsed.rows;
    for row in 0..rows.len {
        if rows.has(row, C::Ts) {
            rows.ts[row] = rows.ts[row].wrapping_add(by);
        }
    }
    for touch in &mut parsed.touches {
        if let Touch::Open { open, .. } = touch {
            open.ts = open.ts.map(|ts| ts.wrapping_add(by));
        }
    }
}
