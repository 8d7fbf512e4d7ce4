//! Workers: how they choose a job, and what each job does.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow_array::RecordBatch;
use tracefast_core::batch::{assemble, assemble_selected};
use tracefast_core::events::parsed_block::Parsed;
use tracefast_core::format::Grammar;
use tracefast_core::text::block::Block;

use crate::error::Result;
use crate::input::split::read_block;
use crate::pipeline::row_groups::{BatchRows, ReadyRows, RowGrouper};
use crate::pipeline::unpack::NumberedPiece;
use crate::pipeline::{Encode, LONG_BLOCK, Plan, Shared, State};

pub(crate) enum Job {
    Encode(u64, Vec<RecordBatch>),
    Assemble(BatchRows),
    Resolve(Box<RowGrouper>, Vec<(Block, Parsed)>),
    Read(Arc<Plan>, u64),
    Parse(Arc<Plan>, u64, Block),
    Unpack(Arc<Plan>, NumberedPiece),
}

impl<E: Encode> Shared<E> {
    pub(crate) fn work(&self) {
        let mut grammar = Grammar::default();
        let mut state = self.lock();
        loop {
            let Some(job) = self.job(&mut state) else {
                // The worker that makes the last batch of a group encodes the group next.
                let idle = state.batches_due.is_empty() && state.groups.is_empty();
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
    pub(super) fn job(&self, state: &mut State<E::Output>) -> Option<Job> {
        if state.stop {
            return None;
        }
        if let Some((number, batches)) = state.groups.pop_front() {
            return Some(Job::Encode(number, batches));
        }
        if let Some(rows) = state.batches_due.pop_front() {
            return Some(Job::Assemble(rows));
        }
        if self.more_groups(state)
            && state.finished.is_none()
            && state.parsed.contains_key(&state.resolve)
            && let Some(grouper) = state.grouper.take()
        {
            let mut blocks = Vec::new();
            // A few at a time, so that groups go out soon.
            let mut bytes = 0;
            while blocks.len() < 8 && bytes < 8 * LONG_BLOCK {
                let next = state.resolve + blocks.len() as u64;
                let Some((block, parsed)) = state.parsed.remove(&next) else { break };
                bytes += block.source_len();
                blocks.push((block, parsed));
            }
            state.waiting = state.waiting.saturating_sub(bytes);
            return Some(Job::Resolve(grouper, blocks));
        }
        let ahead = state.claim < state.blocks && {
            // Blocks in `read` count as waiting already, until they are parsed.
            !state.read.is_empty() || self.more_blocks(state, state.claim)
        };
        if ahead && state.finished.is_none() {
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
        let piece = state.unpacking.claim()?;
        Some(Job::Unpack(Arc::clone(state.plan.as_ref()?), piece))
    }

    fn run(&self, job: Job, grammar: &mut Grammar) -> Result<()> {
        match job {
            Job::Encode(number, batches) => {
                let output = self.encode.encode(batches)?;
                self.lock().outputs.insert(number, output);
                self.output.notify_one();
            }
            Job::Assemble(rows) => {
                // The blocks are given back as soon as they are copied.
                let BatchRows { place, mut parts, values } = rows;
                let projection = &self.options.projection;
                let batch = match &self.options.predicate {
                    None => assemble(&parts, projection, &values),
                    Some(predicate) => {
                        parts = predicate.select(parts, &values);
                        assemble_selected(&parts, projection, &values)
                    }
                };
                drop(parts);
                self.progress.built(&batch);
                let mut state = self.lock();
                if let Some(batches) = state.open_groups.add(place, batch) {
                    state.groups.push_back((place.0, batches));
                }
            }
            Job::Resolve(mut grouper, blocks) => {
                let count = blocks.len() as u64;
                let mut ready = ReadyRows::default();
                for (block, parsed) in blocks {
                    let resolved = grouper.stream.resolve(block, parsed);
                    grouper.add(resolved, &mut ready).map_err(|error| self.placed(error))?;
                    if grouper.has_enough() {
                        break;
                    }
                }
                if self.options.arriving.is_some() {
                    grouper.finish(&mut ready);
                }
                let enough = grouper.has_enough().then(|| grouper.stream.counts.clone());
                let rows = grouper.stream.counts.total.rows();
                self.progress.rows.store(rows, Ordering::Relaxed);
                let mut state = self.lock();
                state.resolve += count;
                state.grouper = Some(grouper);
                Self::hand_on(&mut state, ready);
                if enough.is_some() {
                    // Blocks read after that are dropped (see `job`).
                    state.finished = enough;
                    self.output.notify_one();
                }
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
            Job::Unpack(plan, piece) => self.unpack(&plan, piece),
        }
        Ok(())
    }

    fn parse(&self, plan: &Plan, number: u64, mut block: Block, grammar: &mut Grammar) {
        let mut parsed = self.pool.parsed();
        grammar.parse(&plan.format, &mut block, &mut parsed);
        self.progress.blocks.fetch_add(1, Ordering::Relaxed);
        let mut state = self.lock();
        if plan.file.is_some() {
            state.waiting += block.source_len();
        }
        state.parsed.insert(number, (block, parsed));
        // This worker looks for a job next, and finds what just became ready; others are woken
        // when resolving opens the way for several.
    }
}
