//! The thread of the sources: it opens one after another and sees each to its end.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tracefast_core::format::Format;
use tracefast_core::text::block::Block;

use crate::error::Result;
use crate::input::merge::Input;
use crate::input::source::{Bytes, Source};
use crate::input::split::{Cutter, block_count};
use crate::pipeline::row_groups::ReadyRows;
use crate::pipeline::{Encode, Plan, Shared};

impl<E: Encode> Shared<E> {
    /// Opens one source after another and sees each to its end.
    pub(crate) fn drive(&self, first: Source, inputs: &[Input]) {
        let mut source = Some(first);
        for input in inputs {
            let wanted = self.options.format;
            let open =
                source.take().map_or_else(|| Source::open_input(input, wanted, &self.progress), Ok);
            let done = open.and_then(|source| self.sources(source.on(self.options.machine)));
            if let Err(error) = done {
                self.fail(error);
                return;
            }
            if self.lock().stop {
                return;
            }
        }
        let mut state = self.lock();
        if let Some(grouper) = state.grouper.as_mut() {
            let mut ready = ReadyRows::default();
            grouper.finish(&mut ready);
            let counts = grouper.stream.counts.clone();
            Self::hand_on(&mut state, ready);
            state.finished = Some(counts);
        }
        drop(state);
        self.wake_all();
    }

    /// Sees the logs of a file to their ends: one, or two.
    fn sources(&self, first: Source) -> Result<()> {
        let mut next = Some(Box::new(first));
        while let Some(mut source) = next {
            next = source.second.take();
            self.source(*source)?;
        }
        Ok(())
    }

    fn source(&self, source: Source) -> Result<()> {
        let name = source.name;
        let mut state = self.lock();
        let Some(format) = source.format else {
            if let Some(grouper) = state.grouper.as_mut() {
                grouper.stream.empty(&name);
            }
            return Ok(());
        };
        self.encode.begin(&name, format);
        if let Some(grouper) = state.grouper.as_mut() {
            grouper.stream.begin(&name, format);
            grouper.stream.skip_lines(source.line);
        }
        let first = state.blocks;
        match source.bytes {
            Bytes::File { file, len } => {
                state.plan = Some(Arc::new(Plan { name, format, file: Some((file, len)), first }));
                state.blocks += block_count(len, self.options.block_bytes);
                self.work.notify_all();
            }
            Bytes::Stream { head, rest, before } => {
                state.plan = Some(Arc::new(Plan { name: name.clone(), format, file: None, first }));
                drop(state);
                self.cut(&name, Cutter::after(before, head, rest), &format)?;
                state = self.lock();
            }
            Bytes::Arriving { head, rest } => {
                state.plan = Some(Arc::new(Plan { name: name.clone(), format, file: None, first }));
                drop(state);
                self.cut(&name, Cutter::at_once(head, Box::new(rest)), &format)?;
                state = self.lock();
            }
            Bytes::Packed { head, rest } => {
                state.plan = Some(Arc::new(Plan { name: name.clone(), format, file: None, first }));
                drop(state);
                self.read_pieces(&name, head, rest, &format)?;
                state = self.lock();
            }
        }
        while !state.stop && (state.resolve < state.blocks || state.grouper.is_none()) {
            state = Self::wait(&self.drive, state);
        }
        drop(state);
        self.end_source()
    }

    /// Makes rows of the calls that were open at the end, a part of them at a time: there may be as
    /// many as the log has lines.
    fn end_source(&self) -> Result<()> {
        self.lock().ending = true;
        loop {
            let mut state = self.lock();
            while !state.stop && !self.more_groups(&state) {
                state = Self::wait(&self.drive, state);
            }
            let Some(mut grouper) = state.grouper.take().filter(|_| !state.stop) else { break };
            drop(state);
            let mut ready = ReadyRows::default();
            let rest = grouper.stream.end();
            let more = rest.is_some();
            if let Some(rest) = rest {
                grouper.add(rest, &mut ready).map_err(|error| self.placed(error))?;
                let rows = grouper.stream.counts.total.rows();
                self.progress.rows.store(rows, Ordering::Relaxed);
            }
            state = self.lock();
            Self::hand_on(&mut state, ready);
            state.grouper = Some(grouper);
            self.work.notify_all();
            if !more {
                break;
            }
        }
        self.lock().ending = false;
        Ok(())
    }

    /// Reads a stream on this thread.
    pub(crate) fn cut(&self, name: &str, mut cutter: Cutter, format: &Format) -> Result<()> {
        loop {
            let mut block = Block::from_buffer(self.pool.buffer());
            let more = cutter
                .next(self.options.block_bytes, format, &mut block)
                .map_err(|error| error.at_path(name))?;
            if !more {
                return Ok(());
            }
            if !self.push(block) {
                return Ok(());
            }
        }
    }

    /// Hands a block of a stream to the workers, never far ahead of them. `false`: stop.
    pub(crate) fn push(&self, block: Block) -> bool {
        let mut state = self.lock();
        while !state.stop && !self.more_blocks(&state, state.blocks) {
            state = Self::wait(&self.drive, state);
        }
        if state.stop {
            return false;
        }
        state.waiting += block.source_len();
        state.read.push_back(block);
        state.blocks += 1;
        self.work.notify_one();
        true
    }
}
