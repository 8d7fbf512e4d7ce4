//! Runs all stages: N workers take blocks in any order, one of them at a time runs the serial
//! stage, and bounded queues connect them.
//!
//! Under one lock, every worker takes the ready job that is nearest to the end: encode a row group,
//! resolve blocks in order, parse a block, unpack a piece of a compressed log. Jobs take a fraction
//! of a millisecond or more, so the lock is rarely contended, and no worker waits while there is a
//! job.

pub(crate) mod row_groups;
mod source_thread;
mod unpack;
mod worker;

#[cfg(test)]
mod simulation;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use arrow_array::RecordBatch;
use tracefast_core::batch::predicate::Predicate;
use tracefast_core::batch::{BATCH_ROWS, Projection};
use tracefast_core::events::parsed_block::Parsed;
use tracefast_core::format::{Format, Wanted};
use tracefast_core::ftrace::Machine;
use tracefast_core::serial::counts::RunCounts;
use tracefast_core::serial::pool::Pool;
use tracefast_core::serial::stream::Stream;
use tracefast_core::text::block::Block;

use crate::error::{Error, ErrorKind, Result};
use crate::input::arriving::Ending;
use crate::input::merge::Input;
use crate::input::source::{Progress, Source};
use crate::pipeline::row_groups::{BatchRows, FullGroup, OpenGroups, ReadyRows, RowGrouper};
use crate::pipeline::unpack::Unpacking;

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
    /// Run the model of the kernel; without it the columns that need it are null.
    pub model: bool,
    /// All calls that move positions are in the logs, whatever these seem to show.
    pub assume_complete: bool,
    /// Which rows are made into batches; all by default. Groups count the others as well.
    pub predicate: Option<Predicate>,
    /// How many rows are wanted, before the predicate; reading stops there.
    pub limit: Option<usize>,
    /// The one log is still being written: rows are handed on as they come, until its end, or until
    /// this asks for it.
    pub arriving: Option<Ending>,
    /// How many groups more than usual may wait until the first one is taken.
    pub ahead: usize,
    /// What to call the first log in its rows and in messages, where its path says nothing.
    pub name: Option<String>,
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
            assume_complete: false,
            predicate: None,
            limit: None,
            arriving: None,
            ahead: 0,
            name: None,
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

/// A group or a block with more text than this counts as several, so that lines of a gigabyte each
/// do not wait in memory at the same time.
const LONG_GROUP: usize = 32 << 20;
const LONG_BLOCK: usize = 512 << 10;

/// Encodes a group's batches, in any thread.
pub(crate) trait Encode: Send + Sync + 'static {
    /// The product.
    type Output: Send + 'static;

    /// Called when a source starts: its rows follow.
    fn begin(&self, _source: &str, _format: Format) {}

    /// Encodes one group.
    ///
    /// # Errors
    /// As the encoder says.
    fn encode(&self, batches: Vec<RecordBatch>) -> Result<Self::Output>;
}

/// The source that the workers read at the moment.
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
    /// Pieces of a compressed stream.
    unpacking: Unpacking,
    /// Parsed blocks by number.
    parsed: BTreeMap<u64, (Block, Parsed)>,
    /// Bytes of the blocks in `read` and `parsed`.
    waiting: usize,
    /// Next block to resolve.
    resolve: u64,
    /// Makes rows final and groups them; taken by the worker that resolves.
    grouper: Option<Box<RowGrouper>>,
    /// Final rows, to be made into batches.
    batches_due: VecDeque<BatchRows>,
    /// Batches of groups that are not whole yet.
    open_groups: OpenGroups,
    /// Groups to encode, by number.
    groups: VecDeque<(u64, Vec<RecordBatch>)>,
    /// Groups made and not yet taken from `outputs`.
    outstanding: u64,
    /// Bytes of text in each of these, in order.
    texts: VecDeque<usize>,
    outputs: BTreeMap<u64, T>,
    /// Next output to take.
    next: u64,
    /// The source's thread makes rows of what is still open, and may wait for room for more groups.
    ending: bool,
    /// Everything is in `groups` or after it.
    finished: Option<RunCounts>,
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

/// What a wait for the next output gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Poll<T> {
    /// The next output.
    Ready(T),
    /// There is none yet.
    Waiting,
    /// There is none left.
    End,
}

/// A running pipeline. Dropping it stops it.
pub(crate) struct Pipeline<E: Encode> {
    shared: Arc<Shared<E>>,
    threads: Vec<JoinHandle<()>>,
}

impl<E: Encode> Pipeline<E> {
    /// Starts to read `inputs` one after another; the first one is already open.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub(crate) fn start(
        first: Source,
        inputs: Vec<Input>,
        encode: E,
        options: Options,
        progress: Arc<Progress>,
    ) -> Result<Self> {
        let shared = Arc::new(Shared::new(encode, options, progress));
        let threads = shared.threads;
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

    /// The next output, in order. Waits for it no longer than `patience`, so that the caller can
    /// look for signals.
    ///
    /// # Errors
    /// The first error of any stage.
    pub(crate) fn next(&self, patience: std::time::Duration) -> Result<Poll<E::Output>> {
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
                state.texts.pop_front();
                shared.work.notify_all();
                if state.ending {
                    shared.drive.notify_one();
                }
                return Ok(Poll::Ready(output));
            }
            if state.finished.is_some() && state.outstanding == 0 {
                return Ok(Poll::End);
            }
            if state.stop {
                return Err(Error::cancelled());
            }
            let (guard, timeout) =
                shared.output.wait_timeout(state, patience).unwrap_or_else(PoisonError::into_inner);
            state = guard;
            if timeout.timed_out() && !state.outputs.contains_key(&state.next) {
                return Ok(Poll::Waiting);
            }
        }
    }

    /// The counts, after [`Pipeline::next`] gave [`Poll::End`].
    pub(crate) fn counts(&self) -> Option<RunCounts> {
        self.shared.lock().finished.clone()
    }
}

impl<E: Encode> Drop for Pipeline<E> {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.wake_all();
        for thread in self.threads.drain(..) {
            // One that panicked has reported its error (see `Guard`). A thread that waits for input
            // (a pipe without a writer) cannot be woken, and is left to end with its input.
            if thread.thread().name() != Some("tracefast-source") || thread.is_finished() {
                let _ = thread.join();
            }
        }
    }
}

/// Reports a thread that panicked, so that no other waits for it.
struct Guard<'a, E: Encode>(&'a Shared<E>);

impl<E: Encode> Drop for Guard<'_, E> {
    fn drop(&mut self) {
        let what = "a worker failed; this is an error in tracefast".to_owned();
        self.0.fail(Error::new(ErrorKind::Broken(what)));
    }
}

impl<E: Encode> Shared<E> {
    /// Nothing is read, and no thread runs yet.
    fn new(encode: E, options: Options, progress: Arc<Progress>) -> Self {
        let pool = Arc::new(Pool::default());
        let threads = options.threads();
        let mut stream = Stream::new(Arc::clone(&pool));
        stream.model = options.model;
        stream.assume_complete = options.assume_complete;
        let grouper = RowGrouper::new(stream, options.group_rows, options.limit);
        let state = State {
            plan: None,
            blocks: 0,
            claim: 0,
            read: VecDeque::new(),
            unpacking: Unpacking::default(),
            parsed: BTreeMap::new(),
            waiting: 0,
            resolve: 0,
            grouper: Some(Box::new(grouper)),
            batches_due: VecDeque::new(),
            open_groups: OpenGroups::default(),
            groups: VecDeque::new(),
            outstanding: 0,
            texts: VecDeque::new(),
            outputs: BTreeMap::new(),
            next: 0,
            ending: false,
            finished: None,
            error: None,
            stop: false,
        };
        Self {
            state: Mutex::new(state),
            work: Condvar::new(),
            drive: Condvar::new(),
            output: Condvar::new(),
            encode,
            options,
            threads,
            pool,
            progress,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<E::Output>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something changed for the threads that wait at `place`.
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

    /// Whether one more group may be made: one for each worker, or one to hand over, may be whole
    /// at a time, and fewer where they have long texts.
    fn more_groups(&self, state: &State<E::Output>) -> bool {
        let limit = self.threads.max(2);
        let bytes: usize = state.texts.iter().sum();
        // Later ones are best taken while they are in the cache.
        let ahead = if state.next == 0 { self.options.ahead } else { 0 };
        state.outstanding < (limit + ahead) as u64 && bytes < limit * LONG_GROUP
    }

    /// Whether block `number` may be read, ahead of the one to resolve next.
    fn more_blocks(&self, state: &State<E::Output>, number: u64) -> bool {
        let limit = 4 * self.threads as u64 + 4;
        let bytes = limit as usize * self.options.block_bytes.max(LONG_BLOCK);
        // With a limit, start with few blocks, because they may be enough.
        let ahead = match self.options.limit {
            None => limit,
            Some(_) => limit.min(self.threads as u64 + state.resolve),
        };
        number < state.resolve + ahead && state.waiting < bytes
    }

    /// An error of the source at hand.
    fn placed(&self, error: Error) -> Error {
        let plan = self.lock().plan.clone();
        match plan {
            Some(plan) => error.at_path(&plan.name),
            None => error,
        }
    }

    /// Hands on rows that are ready. What is counted as outstanding ends as an output.
    fn hand_on(state: &mut State<E::Output>, ready: ReadyRows) {
        state.batches_due.extend(ready.batches);
        for FullGroup { number, batches, bytes } in ready.groups {
            state.outstanding += 1;
            state.texts.push_back(bytes);
            if let Some(batches) = state.open_groups.close(number, batches) {
                state.groups.push_back((number, batches));
            }
        }
    }
}
