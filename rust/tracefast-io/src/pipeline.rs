//! All stages at work: N workers over blocks in any order, one of them at a time over what has to
//! be in order, and bounded queues between them.
//!
//! Every worker takes, under one lock, the job nearest to the end of the road that is ready: encode
//! a group of rows, resolve blocks in order, parse a block. Jobs take a fraction of a millisecond
//! and more, so the lock is hardly ever contended, and nobody waits for a job that he could do.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use arrow_array::RecordBatch;
use tracefast_core::batch::{BATCH_ROWS, Projection, assemble};
use tracefast_core::block::Block;
use tracefast_core::format::{Format, Grammar, Wanted};
use tracefast_core::ftrace::Machine;
use tracefast_core::parsed::Parsed;
use tracefast_core::stream::{Pool, Stream};
use tracefast_core::tally::Tally;

use crate::error::{Error, ErrorKind, Result};
use crate::groups::{Cut, Groups, Piece, Serial};
use crate::merge::Input;
use crate::source::{Bytes, Progress, Source};
use crate::split::{Cutter, block_count, read_block};

/// How to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Worker threads; 0 for as many as the machine has processors.
    pub threads: usize,
    /// Bytes of a block.
    pub block_bytes: usize,
    /// Rows of a group: what one encoder gets at a time.
    pub group_rows: usize,
    /// Columns.
    pub projection: Projection,
    /// The format that the user insists on.
    pub format: Option<Wanted>,
    /// The machine that ftrace's logs were recorded on; `None`: it is guessed.
    pub machine: Option<Machine>,
    /// The model of the kernel runs; without it the columns that need it are null.
    pub model: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: 0,
            block_bytes: 256 << 10,
            group_rows: BATCH_ROWS,
            projection: Projection::default(),
            format: None,
            machine: None,
            model: true,
        }
    }
}

impl Options {
    fn threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            n => n,
        }
    }
}

/// What workers make of a group's batches, in any thread.
pub trait Encode: Send + Sync + 'static {
    /// The product.
    type Output: Send + 'static;

    /// A source begins: its rows follow.
    fn begin(&self, _source: &str, _format: Format) {}

    /// Encodes one group.
    ///
    /// # Errors
    /// As the encoder says.
    fn encode(&self, batches: Vec<RecordBatch>) -> Result<Self::Output>;
}

/// What the workers read at the moment.
struct Plan {
    name: String,
    format: Format,
    file: Option<(Arc<std::fs::File>, u64)>,
    /// Number of its first block.
    first: u64,
}

struct State<T> {
    plan: Option<Arc<Plan>>,
    /// Blocks that may be claimed: up to this number.
    blocks: u64,
    /// Next block to claim.
    claim: u64,
    /// Blocks of a stream, read and not yet claimed.
    read: VecDeque<Block>,
    /// Parsed blocks by number.
    parsed: BTreeMap<u64, (Block, Parsed)>,
    /// Next block to resolve.
    resolve: u64,
    /// The serial state; taken by whoever resolves.
    stream: Option<Box<Serial>>,
    /// Final rows, to be made into batches.
    pieces: VecDeque<Piece>,
    /// Batches of groups that are not whole yet.
    building: Groups,
    /// Groups to encode, by number.
    groups: VecDeque<(u64, Vec<RecordBatch>)>,
    /// Groups made and not yet taken from `outputs`.
    outstanding: u64,
    outputs: BTreeMap<u64, T>,
    /// Next output to take.
    next: u64,
    /// Everything is in `groups` or behind.
    finished: Option<Tally>,
    error: Option<Error>,
    stop: bool,
}

struct Shared<E: Encode> {
    state: Mutex<State<E::Output>>,
    /// Workers wait here for jobs.
    work: Condvar,
    /// The thread that opens and cuts sources waits here.
    drive: Condvar,
    /// The consumer waits here.
    output: Condvar,
    encode: E,
    options: Options,
    threads: usize,
    pool: Arc<Pool>,
    progress: Arc<Progress>,
}

/// A running pipeline. Dropping it stops it.
pub struct Pipeline<E: Encode> {
    shared: Arc<Shared<E>>,
    threads: Vec<JoinHandle<()>>,
}

enum Job {
    Encode(u64, Vec<RecordBatch>),
    Assemble(Piece),
    Resolve(Box<Serial>, Vec<(Block, Parsed)>),
    Read(Arc<Plan>, u64),
    Parse(Arc<Plan>, u64, Block),
}

impl<E: Encode> Pipeline<E> {
    /// Starts reading `inputs`, the first of which is open already, one after another.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(
        first: Source,
        inputs: Vec<Input>,
        encode: E,
        options: Options,
        progress: Arc<Progress>,
    ) -> Result<Self> {
        let pool = Arc::new(Pool::default());
        let threads = options.threads();
        let mut stream = Stream::new(Arc::clone(&pool));
        stream.model = options.model;
        let serial = Serial::new(stream, options.group_rows);
        let state = State {
            plan: None,
            blocks: 0,
            claim: 0,
            read: VecDeque::new(),
            parsed: BTreeMap::new(),
            resolve: 0,
            stream: Some(Box::new(serial)),
            pieces: VecDeque::new(),
            building: Groups::default(),
            groups: VecDeque::new(),
            outstanding: 0,
            outputs: BTreeMap::new(),
            next: 0,
            finished: None,
            error: None,
            stop: false,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            work: Condvar::new(),
            drive: Condvar::new(),
            output: Condvar::new(),
            encode,
            options,
            threads,
            pool,
            progress,
        });
        let mut this = Self { shared, threads: Vec::new() };
        for number in 0..threads {
            this.spawn(format!("tracefast-{number}"), Shared::work)?;
        }
        this.spawn("tracefast-source".to_owned(), move |shared| shared.drive(first, &inputs))?;
        Ok(this)
    }

    fn spawn(&mut self, name: String, run: impl FnOnce(&Shared<E>) + Send + 'static) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        let guarded = move || {
            let guard = Guard(&shared);
            run(&shared);
            std::mem::forget(guard);
        };
        self.threads.push(std::thread::Builder::new().name(name).spawn(guarded)?);
        Ok(())
    }

    /// The next output, in order; `Ok(None)` at the end. Gives up after `patience` with
    /// `Ok(Some(None))`, so that the caller can look for signals.
    ///
    /// # Errors
    /// The first error of any stage.
    pub fn next(&self, patience: std::time::Duration) -> Result<Option<Option<E::Output>>> {
        let shared = &*self.shared;
        let mut state = shared.lock();
        loop {
            if let Some(error) = state.error.take() {
                state.stop = true;
                shared.wake_all();
                return Err(error);
            }
            if shared.progress.cancelled.load(Ordering::Relaxed) {
                state.stop = true;
                shared.wake_all();
                return Err(Error::cancelled());
            }
            let next = state.next;
            if let Some(output) = state.outputs.remove(&next) {
                state.next += 1;
                state.outstanding -= 1;
                shared.work.notify_all();
                return Ok(Some(Some(output)));
            }
            if state.finished.is_some() && state.outstanding == 0 {
                return Ok(None);
            }
            if state.stop {
                return Err(Error::cancelled());
            }
            let (guard, timeout) =
                shared.output.wait_timeout(state, patience).unwrap_or_else(PoisonError::into_inner);
            state = guard;
            if timeout.timed_out() && !state.outputs.contains_key(&state.next) {
                return Ok(Some(None));
            }
        }
    }

    /// The counts, once [`Pipeline::next`] has said that nothing follows.
    pub fn tally(&self) -> Option<Tally> {
        self.shared.lock().finished.clone()
    }
}

impl<E: Encode> Drop for Pipeline<E> {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.wake_all();
        for thread in self.threads.drain(..) {
            // One that panicked has left its error behind (see `Guard`). A thread that waits for
            // input (a pipe nobody writes to) cannot be woken: it is left to end with its input.
            if thread.thread().name() != Some("tracefast-source") || thread.is_finished() {
                let _ = thread.join();
            }
        }
    }
}

/// Tells the others when a thread is lost, so that nobody waits for it.
struct Guard<'a, E: Encode>(&'a Shared<E>);

impl<E: Encode> Drop for Guard<'_, E> {
    fn drop(&mut self) {
        let what = "a worker failed; this is an error in tracefast".to_owned();
        self.0.fail(Error::new(ErrorKind::Broken(what)));
    }
}

impl<E: Encode> Shared<E> {
    fn lock(&self) -> MutexGuard<'_, State<E::Output>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a sign that something changed for those who wait at `place`.
    fn wait<'a>(
        place: &Condvar,
        state: MutexGuard<'a, State<E::Output>>,
    ) -> MutexGuard<'a, State<E::Output>> {
        place.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    fn wake_all(&self) {
        self.work.notify_all();
        self.drive.notify_all();
        self.output.notify_all();
    }

    fn fail(&self, error: Error) {
        let mut state = self.lock();
        if !state.stop {
            state.error.get_or_insert(error);
        }
        state.stop = true;
        self.wake_all();
    }

    /// Groups that may exist at a time: one for each worker and one to hand over.
    fn group_limit(&self) -> u64 {
        self.threads as u64 + 1
    }

    /// Blocks that may be read ahead of the one to resolve next.
    fn block_limit(&self) -> u64 {
        4 * self.threads as u64 + 4
    }

    fn work(&self) {
        let mut grammar = Grammar::default();
        let mut state = self.lock();
        loop {
            let Some(job) = self.job(&mut state) else {
                // Who makes the last batch of a group finds that to encode next.
                let idle = state.pieces.is_empty() && state.groups.is_empty();
                if state.stop || state.finished.is_some() && idle {
                    return;
                }
                state = Self::wait(&self.work, state);
                continue;
            };
            drop(state);
            let done = self.run(job, &mut grammar);
            if let Err(error) = done {
                self.fail(error);
            }
            state = self.lock();
        }
    }

    /// The job that is ready and nearest to the end.
    fn job(&self, state: &mut State<E::Output>) -> Option<Job> {
        if state.stop {
            return None;
        }
        if let Some((number, batches)) = state.groups.pop_front() {
            return Some(Job::Encode(number, batches));
        }
        if let Some(piece) = state.pieces.pop_front() {
            return Some(Job::Assemble(piece));
        }
        let room = state.outstanding < self.group_limit();
        if room
            && state.parsed.contains_key(&state.resolve)
            && let Some(serial) = state.stream.take()
        {
            let mut blocks = Vec::new();
            // A few at a time, so that groups go out soon.
            while blocks.len() < 8 {
                let next = state.resolve + blocks.len() as u64;
                match state.parsed.remove(&next) {
                    Some(block) => blocks.push(block),
                    None => break,
                }
            }
            return Some(Job::Resolve(serial, blocks));
        }
        let ahead = state.claim < state.resolve + self.block_limit();
        if ahead && state.claim < state.blocks {
            let plan = Arc::clone(state.plan.as_ref()?);
            let number = state.claim;
            let job = if plan.file.is_some() {
                Job::Read(plan, number)
            } else {
                Job::Parse(plan, number, state.read.pop_front()?)
            };
            state.claim += 1;
            return Some(job);
        }
        None
    }

    fn run(&self, job: Job, grammar: &mut Grammar) -> Result<()> {
        match job {
            Job::Encode(number, batches) => {
                let output = self.encode.encode(batches)?;
                self.lock().outputs.insert(number, output);
                self.output.notify_one();
            }
            Job::Assemble(piece) => {
                // The blocks are given back as soon as they are copied.
                let Piece { place, parts, values } = piece;
                let batch = assemble(&parts, &self.options.projection, &values);
                drop(parts);
                let mut state = self.lock();
                if let Some(batches) = state.building.add(place, batch) {
                    state.groups.push_back((place.0, batches));
                }
            }
            Job::Resolve(mut serial, blocks) => {
                let count = blocks.len() as u64;
                let mut cut = Cut::default();
                for (block, parsed) in blocks {
                    let resolved = serial.stream.resolve(block, parsed);
                    serial.add(resolved, &mut cut);
                }
                let rows = serial.stream.tally.total.rows();
                self.progress.rows.store(rows, Ordering::Relaxed);
                let mut state = self.lock();
                state.resolve += count;
                state.stream = Some(serial);
                Self::hand_on(&mut state, cut);
                // The source's thread is woken only for what it waits for: its end, or room for
                // more of a stream. A thread woken in vain costs more than a block.
                let streams = state.plan.as_ref().is_some_and(|plan| plan.file.is_none());
                let drive = streams || state.resolve >= state.blocks;
                drop(state);
                if self.threads > 1 {
                    self.work.notify_all();
                }
                if drive {
                    self.drive.notify_one();
                }
            }
            Job::Read(plan, number) => {
                let mut block = Block::from_buffer(self.pool.buffer());
                if let Some((file, len)) = &plan.file {
                    let size = self.options.block_bytes;
                    read_block(file, *len, number - plan.first, size, &plan.format, &mut block)
                        .map_err(|error| error.at_path(&plan.name))?;
                    let read = block.len() as u64;
                    self.progress.bytes_read.fetch_add(read, Ordering::Relaxed);
                }
                self.parse(&plan, number, block, grammar);
            }
            Job::Parse(plan, number, block) => self.parse(&plan, number, block, grammar),
        }
        Ok(())
    }

    fn parse(&self, plan: &Plan, number: u64, mut block: Block, grammar: &mut Grammar) {
        let mut parsed = self.pool.parsed();
        grammar.parse(&plan.format, &mut block, &mut parsed);
        let mut state = self.lock();
        state.parsed.insert(number, (block, parsed));
        // This worker looks for a job next, and finds what just became ready; others are woken
        // when resolving opens the way for several.
    }

    /// Hands on what was cut. What is counted as outstanding ends as an output.
    fn hand_on(state: &mut State<E::Output>, cut: Cut) {
        state.pieces.extend(cut.pieces);
        for (number, pieces) in cut.groups {
            state.outstanding += 1;
            if let Some(batches) = state.building.close(number, pieces) {
                state.groups.push_back((number, batches));
            }
        }
    }

    /// Opens one source after another and sees each to its end.
    fn drive(&self, first: Source, inputs: &[Input]) {
        let mut source = Some(first);
        for input in inputs {
            let wanted = self.options.format;
            let open =
                source.take().map_or_else(|| Source::open_input(input, wanted, &self.progress), Ok);
            let done = open.and_then(|source| self.source(source.on(self.options.machine)));
            if let Err(error) = done {
                self.fail(error);
                return;
            }
            if self.lock().stop {
                return;
            }
        }
        let mut state = self.lock();
        if let Some(serial) = state.stream.as_mut() {
            let mut cut = Cut::default();
            serial.finish(&mut cut);
            let tally = serial.stream.tally.clone();
            Self::hand_on(&mut state, cut);
            state.finished = Some(tally);
        }
        drop(state);
        self.wake_all();
    }

    fn source(&self, source: Source) -> Result<()> {
        let name = source.name;
        let mut state = self.lock();
        let Some(format) = source.format else {
            if let Some(serial) = state.stream.as_mut() {
                serial.stream.empty(&name);
            }
            return Ok(());
        };
        self.encode.begin(&name, format);
        if let Some(serial) = state.stream.as_mut() {
            serial.stream.begin(&name, format);
        }
        let first = state.blocks;
        match source.bytes {
            Bytes::File { file, len } => {
                state.plan = Some(Arc::new(Plan { name, format, file: Some((file, len)), first }));
                state.blocks += block_count(len, self.options.block_bytes);
                self.work.notify_all();
            }
            Bytes::Stream { head, rest } => {
                state.plan = Some(Arc::new(Plan { name: name.clone(), format, file: None, first }));
                drop(state);
                self.cut(&name, Cutter::new(head, rest), &format)?;
                state = self.lock();
            }
        }
        while !state.stop && (state.resolve < state.blocks || state.stream.is_none()) {
            state = Self::wait(&self.drive, state);
        }
        if state.stop {
            return Ok(());
        }
        if let Some(mut serial) = state.stream.take() {
            drop(state);
            let mut cut = Cut::default();
            if let Some(rest) = serial.stream.end() {
                serial.add(rest, &mut cut);
            }
            state = self.lock();
            Self::hand_on(&mut state, cut);
            state.stream = Some(serial);
            self.work.notify_all();
        }
        Ok(())
    }

    /// Reads a stream on this thread, never far ahead of the workers.
    fn cut(&self, name: &str, mut cutter: Cutter, format: &Format) -> Result<()> {
        loop {
            let mut block = Block::from_buffer(self.pool.buffer());
            let more = cutter
                .next(self.options.block_bytes, format, &mut block)
                .map_err(|error| error.at_path(name))?;
            if !more {
                return Ok(());
            }
            let mut state = self.lock();
            while !state.stop && state.blocks >= state.resolve + self.block_limit() {
                state = Self::wait(&self.drive, state);
            }
            if state.stop {
                return Ok(());
            }
            state.read.push_back(block);
            state.blocks += 1;
            self.work.notify_one();
        }
    }
}
