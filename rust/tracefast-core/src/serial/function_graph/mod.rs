//! Functions of the `function_graph` tracer: entries and exits joined in the order of the blocks.
//!
//! Lines rarely name their task. Lines that show a switch say which task a processor runs, so each
//! processor has its task, and each task the functions that it is in. A task that moves to another
//! processor keeps them.

pub(crate) mod stack;
#[cfg(test)]
mod tests;

use crate::hash::HashMap;

use crate::events::function_graph::{FunctionEntry, GraphLine, GraphStep, SwitchedTask};
use crate::events::line_counts::LineUse;
use crate::events::parsed_block::Parsed;
use crate::events::schema::Column as C;
use crate::events::split_calls::RowPosition;
use crate::events::vocabulary::Status;
use crate::serial::function_graph::stack::{BlockContext, Frame, LineText, NameKey, Stack};

/// Most tasks with functions. Above this number, those not seen for longest are given up, so that a
/// log that does not show the ends of tasks does not fill the memory.
const MAX_TASKS: usize = 1 << 16;

/// The function in which a task ends (`kernel/sched/core.c`).
const LAST_FUNCTION: &str = "do_task_dead";

/// The task that a processor runs.
#[derive(Debug, Clone)]
struct Running {
    tid: i32,
    comm: NameKey,
}

/// The functions that tasks are in.
#[derive(Debug, Default)]
pub(crate) struct FunctionStacks {
    running: HashMap<i32, Running>,
    stacks: HashMap<i64, Stack>,
    /// Empty stacks, to be used again.
    spare: Vec<Stack>,
    /// Stacks that got functions in the block at hand.
    grown: Vec<i64>,
    /// Number of the block at hand.
    block: u64,
    /// Steps so far.
    turn: u64,
    /// The processor of all switches so far, while there is only one.
    switching: Option<u16>,
    mixed: bool,
}

/// The key of a processor. Lines without the column share one.
fn processor(cpu: Option<u16>) -> i32 {
    cpu.map_or(-1, i32::from)
}

/// The key of a stack: a task has one; so has the idle task of each processor; so has the task that
/// a processor runs while no line has named it.
fn owner(tid: Option<i32>, cpu: Option<u16>) -> i64 {
    match tid {
        Some(0) => 1 << 40 | i64::from(processor(cpu) + 1),
        Some(tid) => i64::from(tid),
        None => 1 << 41 | i64::from(processor(cpu) + 1),
    }
}

impl FunctionStacks {
    /// Joins the lines of a block. `line` is the line of the log on which the block starts, from 0.
    pub(crate) fn run(&mut self, parsed: &mut Parsed, text: &[u8], line: i64) {
        self.block += 1;
        let calls = parsed.inserted.len();
        let items = std::mem::take(&mut parsed.graph_lines);
        let mut block = BlockContext { parsed, text, line, number: self.block };
        for item in &items {
            self.turn += 1;
            self.item(item, &mut block);
        }
        parsed.graph_lines = items;
        if calls > 0 && parsed.inserted.len() > calls {
            // The line that shows that a system call never ended has a row or an entry of its own:
            // functions at the same position were lost before it.
            parsed.inserted.rotate_left(calls);
            parsed.inserted.sort_by_key(|&(at, _)| (at.row, at.entries));
        }
        for key in self.grown.drain(..) {
            if let Some(stack) = self.stacks.get_mut(&key) {
                stack.keep(self.block, text, &parsed.side);
            }
        }
    }

    fn item(&mut self, item: &GraphLine, block: &mut BlockContext<'_>) {
        let GraphLine { at, cpu, tid, .. } = *item;
        match item.step {
            GraphStep::Switch { from, to } => self.switch(cpu, from, to, at, block),
            GraphStep::Row { row } => self.set_task(cpu, row as usize, block),
            GraphStep::Enter(ref entry) => self.enter(item, entry, block),
            GraphStep::Leaf { row, depth, called } => {
                let row = row as usize;
                self.set_task(cpu, row, block);
                let key = self.key(tid, cpu);
                self.drop_from(key, depth, at, block);
                let rest = LineText::View(block.parsed.rows.args[row]);
                let args = block.args(self.stacks.get_mut(&key), &rest, called, depth);
                block.parsed.rows.args[row] = args;
            }
            GraphStep::Exit { row, depth, bytes, seconds } => {
                let row = row as usize;
                self.set_task(cpu, row, block);
                let key = self.key(tid, cpu);
                self.drop_from(key, depth.saturating_add(1), at, block);
                let used = if let Some(mut frame) = self.entered(key, depth, row, at, block) {
                    let args = block.args_of(&frame, self.stacks.get_mut(&key));
                    block.join(&mut frame, args, row, seconds);
                    LineUse::Resumed
                } else {
                    let rest = LineText::View(0);
                    let args = block.args(self.stacks.get_mut(&key), &rest, false, depth);
                    let rows = &mut block.parsed.rows;
                    rows.args[row] = args;
                    rows.status[row] = Status::Headless as u8;
                    rows.valid[row] |= C::Args.bit() | C::Status.bit();
                    LineUse::Events
                };
                // Every line counts once, for the first record on it.
                if bytes > 0 {
                    block.parsed.counts.add_line(used, bytes);
                } else {
                    block.parsed.oddities.shared_lines += u64::from(used == LineUse::Events);
                }
                self.tidy(key);
            }
        }
    }

    /// Sets the task of `row` to the one on its processor, if its line does not name one.
    fn set_task(&mut self, cpu: Option<u16>, row: usize, block: &mut BlockContext<'_>) {
        if block.parsed.rows.has(row, C::Tid) {
            return;
        }
        let Some(running) = self.running.get_mut(&processor(cpu)) else { return };
        let comm = running.comm.key(block.number, &mut block.parsed.comms);
        let rows = &mut block.parsed.rows;
        rows.tid[row] = running.tid;
        rows.comm[row] = comm;
        rows.valid[row] |= C::Tid.bit() | C::Comm.bit();
        block.parsed.model_rows.visit(row);
    }

    fn key(&self, tid: Option<i32>, cpu: Option<u16>) -> i64 {
        let running = || self.running.get(&processor(cpu)).map(|running| running.tid);
        owner(tid.or_else(running), cpu)
    }

    fn enter(&mut self, item: &GraphLine, entry: &FunctionEntry, block: &mut BlockContext<'_>) {
        let GraphLine { at, cpu, tid, .. } = *item;
        let running = self.running.get(&processor(cpu)).filter(|_| tid.is_none());
        let comm = match entry.comm {
            Some(key) => Some(NameKey::new(key, block.number, &block.parsed.comms)),
            None => running.map(|running| running.comm.clone()),
        };
        let tid = tid.or(running.map(|running| running.tid));
        let key = owner(tid, cpu);
        self.drop_from(key, entry.depth, at, block);
        if self.stacks.len() >= MAX_TASKS && !self.stacks.contains_key(&key) {
            self.give_up(at, block);
        }
        let frame =
            Frame::new(entry, (tid, comm), cpu, block.number, &block.parsed.names, block.line);
        let spare = &mut self.spare;
        let stack = self.stacks.entry(key).or_insert_with(|| spare.pop().unwrap_or_default());
        stack.turn = self.turn;
        if stack.push(frame) {
            self.grown.push(key);
        }
    }

    /// Drops the functions that a task left without a line: those at `depth` or deeper.
    fn drop_from(&mut self, key: i64, depth: u32, at: RowPosition, block: &mut BlockContext<'_>) {
        let Some(stack) = self.stacks.get_mut(&key) else { return };
        while let Some(frame) = stack.pop_from(depth) {
            block.insert(frame, stack, at);
        }
        self.tidy(key);
    }

    /// Takes the function at `depth` that ends in `row`, which may name it.
    fn entered(
        &mut self,
        key: i64,
        depth: u32,
        row: usize,
        at: RowPosition,
        block: &mut BlockContext<'_>,
    ) -> Option<Frame> {
        let rows = &block.parsed.rows;
        let named = rows.has(row, C::Name).then(|| rows.name[row] as usize);
        let stack = self.stacks.get_mut(&key)?;
        let frame = stack.pop_from(depth)?;
        if named.is_none_or(|name| block.parsed.names[name] == *frame.name.text()) {
            return Some(frame);
        }
        // Lines between were lost: this is another function.
        block.insert(frame, stack, at);
        None
    }

    fn switch(
        &mut self,
        cpu: Option<u16>,
        from: SwitchedTask,
        to: SwitchedTask,
        at: RowPosition,
        block: &mut BlockContext<'_>,
    ) {
        self.mixed |= self.switching.is_some_and(|one| Some(one) != cpu);
        self.switching = self.switching.or(cpu);
        // Lines without a processor are of the one that switches, if only one does.
        let without = (!self.mixed).then_some(None);
        let before = owner(Some(from.tid), cpu);
        for cpu in [Some(cpu), without].into_iter().flatten() {
            // The task that ran until now has a name at last.
            if !self.running.contains_key(&processor(cpu))
                && !self.stacks.contains_key(&before)
                && let Some(stack) = self.stacks.remove(&owner(None, cpu))
            {
                self.stacks.insert(before, stack);
                self.grown.push(before);
            }
        }
        if self.stacks.get(&before).is_some_and(|stack| stack.has(LAST_FUNCTION)) {
            self.drop_from(before, 0, at, block);
        }
        let comm = NameKey::new(to.comm, block.number, &block.parsed.comms);
        let running = Running { tid: to.tid, comm };
        if self.mixed {
            self.running.remove(&processor(None));
        } else {
            self.running.insert(processor(None), running.clone());
        }
        self.running.insert(processor(cpu), running);
    }

    /// Gives up the half of the tasks that were not seen for longest.
    #[cold]
    fn give_up(&mut self, at: RowPosition, block: &mut BlockContext<'_>) {
        let mut turns: Vec<(u64, i64)> =
            self.stacks.iter().map(|(&key, stack)| (stack.turn, key)).collect();
        turns.sort_unstable();
        turns.truncate(turns.len() / 2);
        for (_, key) in turns {
            self.drop_from(key, 0, at, block);
        }
    }

    /// Forgets a task if it is in no function.
    fn tidy(&mut self, key: i64) {
        if self.stacks.get(&key).is_some_and(Stack::is_empty)
            && let Some(mut stack) = self.stacks.remove(&key)
        {
            stack.clear();
            self.spare.push(stack);
        }
    }

    /// Ends the log: adds rows for all functions that were not left, in the order in which they
    /// were entered. `line` is the number of lines of the log.
    pub(crate) fn finish(&mut self, parsed: &mut Parsed, line: i64) {
        self.block += 1;
        let mut block = BlockContext { parsed, text: b"", line, number: self.block };
        let mut frames = Vec::new();
        for (_, mut stack) in self.stacks.drain() {
            while let Some(frame) = stack.pop_from(0) {
                frames.push((block.args_of(&frame, Some(&mut stack)), frame));
            }
        }
        frames.sort_by_key(|(_, frame)| frame.line);
        for (args, mut frame) in frames {
            let row = block.parsed.rows.push();
            block.abandon(&mut frame, args, row);
        }
    }
}
