//! The scheduler with simulated times: how many times as fast as one thread some more are.
//!
//! The pipeline's own code chooses the jobs and hands their results on. Only the work itself is left
//! out: a job ends when the time that it would take has passed on a clock of its own. So this shows
//! machines with more cores than there are here, as far as their cores do not slow each other down.
//!
//! `cargo test -p tracefast-io --lib simulation -- --nocapture` prints the figures.

// Times are short; the figures are for people.
#![allow(clippy::cast_precision_loss, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::RecordBatch;
use tracefast_core::events::parsed_block::Parsed;
use tracefast_core::events::schema::schema;
use tracefast_core::format::{Format, Wanted};
use tracefast_core::text::block::Block;

use crate::error::Result;
use crate::pipeline::row_groups::{BatchRows, FullGroup, ReadyRows};
use crate::pipeline::worker::Job;
use crate::pipeline::{Encode, Options, Pipeline, Plan, Poll, Shared};

/// Blocks of usual text that have the rows of one batch.
const BLOCKS_OF_BATCH: u64 = 5;

/// Blocks of the log: whole groups.
const BLOCKS: u64 = 4_000;

/// Times for the text of one block.
#[derive(Clone, Copy)]
struct Times {
    parse: u64,
    /// The stage that one worker at a time may do.
    resolve: u64,
    assemble: u64,
    encode: u64,
    batches_of_group: u64,
}

impl Times {
    /// Shares of the workers' time in percent, as `perf record` finds them (docs/performance.md).
    const STRACE_TO_ARROW: Self =
        Self { parse: 64, resolve: 21, assemble: 14, encode: 0, batches_of_group: 1 };
    const STRACE_TO_PARQUET: Self =
        Self { parse: 39, resolve: 11, assemble: 11, encode: 37, batches_of_group: 8 };

    fn total(self) -> u64 {
        self.parse + self.resolve + self.assemble + self.encode
    }

    /// No scheduler can do better: all threads always work, or the stage in order always runs.
    fn bound(self, threads: usize) -> f64 {
        (threads as f64).min(self.total() as f64 / self.resolve as f64)
    }

    fn of(self, job: &Job) -> u64 {
        match job {
            Job::Read(..) => self.parse,
            Job::Resolve(_, blocks) => self.resolve * blocks.len() as u64,
            Job::Assemble(_) => self.assemble * BLOCKS_OF_BATCH,
            Job::Encode(_, batches) => self.encode * BLOCKS_OF_BATCH * batches.len() as u64,
            Job::Parse(..) | Job::Unpack(..) => panic!("the log is a plain file"),
        }
    }
}

struct Nothing;

impl Encode for Nothing {
    type Output = ();

    fn encode(&self, _batches: Vec<RecordBatch>) -> Result<()> {
        Ok(())
    }
}

struct Simulation {
    pipeline: Pipeline<Nothing>,
    times: Times,
    resolved: u64,
    batches: u64,
    groups: u64,
    taken: u64,
}

impl Simulation {
    fn new(threads: usize, times: Times) -> Self {
        let options = Options { threads, ..Options::default() };
        let shared = Arc::new(Shared::new(Nothing, options, Arc::default()));
        let file = tempfile::tempfile().expect("a temporary file");
        let plan = Plan {
            name: "log".to_owned(),
            format: Format::from_wanted(Wanted::Strace),
            file: Some((Arc::new(file), 0)),
            first: 0,
        };
        let mut state = shared.lock();
        state.plan = Some(Arc::new(plan));
        state.blocks = BLOCKS;
        drop(state);
        let pipeline = Pipeline { shared, threads: Vec::new() };
        Self { pipeline, times, resolved: 0, batches: 0, groups: 0, taken: 0 }
    }

    /// The time until all rows are encoded and taken.
    fn run(&mut self) -> u64 {
        let shared = Arc::clone(&self.pipeline.shared);
        let (mut looking, mut asleep) = (shared.threads, 0);
        let (mut now, mut number) = (0, 0);
        let mut running = BTreeMap::new();
        loop {
            for _ in 0..looking {
                let Some(job) = shared.job(&mut shared.lock()) else {
                    asleep += 1;
                    continue;
                };
                running.insert((now + self.times.of(&job), number), job);
                number += 1;
            }
            let Some(((at, _), job)) = running.pop_first() else { break };
            now = at;
            looking = 1;
            // As the workers and the consumer do: other ends wake nobody.
            let wakes = matches!(job, Job::Resolve(..));
            self.end(job);
            if self.take() || wakes {
                looking += std::mem::take(&mut asleep);
            }
        }
        now
    }

    /// What a job leaves behind.
    fn end(&mut self, job: Job) {
        let mut state = self.pipeline.shared.lock();
        match job {
            Job::Read(_, number) => {
                state.parsed.insert(number, (Block::default(), Parsed::default()));
            }
            Job::Resolve(mut grouper, blocks) => {
                self.resolved += blocks.len() as u64;
                state.resolve += blocks.len() as u64;
                let mut ready = ReadyRows::default();
                while self.batches < self.resolved / BLOCKS_OF_BATCH {
                    let of = self.times.batches_of_group;
                    let place = (self.batches / of, (self.batches % of) as usize);
                    let values = grouper.stream.values();
                    ready.batches.push(BatchRows { place, parts: Vec::new(), values });
                    self.batches += 1;
                    if self.batches.is_multiple_of(of) {
                        let (number, batches) = (self.groups, of as usize);
                        ready.groups.push(FullGroup { number, batches, bytes: 0 });
                        self.groups += 1;
                    }
                }
                state.grouper = Some(grouper);
                Shared::<Nothing>::hand_on(&mut state, ready);
            }
            Job::Assemble(BatchRows { place, .. }) => {
                let batch = RecordBatch::new_empty(schema());
                if let Some(batches) = state.open_groups.add(place, batch) {
                    state.groups.push_back((place.0, batches));
                }
            }
            Job::Encode(number, _) => {
                state.outputs.insert(number, ());
            }
            Job::Parse(..) | Job::Unpack(..) => unreachable!("such a job has no time"),
        }
    }

    /// Takes what is there to be taken; whether there was anything.
    fn take(&mut self) -> bool {
        let before = self.taken;
        while let Ok(Poll::Ready(())) = self.pipeline.next(Duration::ZERO) {
            self.taken += 1;
        }
        self.taken > before
    }
}

/// How many times as fast as one thread these are.
fn speed(threads: usize, times: Times) -> f64 {
    let mut simulation = Simulation::new(threads, times);
    let took = simulation.run();
    assert_eq!(simulation.taken, BLOCKS / BLOCKS_OF_BATCH / times.batches_of_group);
    (times.total() * BLOCKS) as f64 / took as f64
}

#[test]
fn more_threads_are_as_fast_as_the_stage_in_order_allows() {
    let logs = [
        ("strace to Arrow", Times::STRACE_TO_ARROW),
        ("strace to Parquet", Times::STRACE_TO_PARQUET),
        ("nearly nothing in order", Times { resolve: 1, ..Times::STRACE_TO_PARQUET }),
    ];
    for (name, times) in logs {
        for threads in [1, 2, 4, 8, 16] {
            let (found, bound) = (speed(threads, times), times.bound(threads));
            let line = format!("{name}, {threads} threads: {found:.2} of {bound:.2}");
            eprintln!("{line}");
            assert!(found <= bound * 1.000_001, "{line}");
            assert!(found >= 0.85 * bound, "{line}");
        }
    }
}
