//! Memory that processes share: that of System V, and what a child has mapped since its maker had it.
//!
//! A child of fork(2) has the mappings of its maker, and those with `MAP_SHARED` stay the same memory
//! (mmap(2), shmat(2)). Who made a process is settled when all rows are in, so what a process had
//! mapped while it made another one is kept until then. No log of system calls shows that memory is
//! read or written: an edge says that the process has it mapped. Of memory with a file, which any
//! process may open, only calls count.

use crate::hash::HashMap;
use crate::linux::clone::Kind as Birth;
use crate::tables::flow::edges::{End, Sum};
use crate::tables::flow::graph::{At, Graph};
use crate::tables::flow::nodes::Kind;
use crate::tables::flow::process_names::ProcessNames;
use crate::tables::packed::Packed;
use crate::tables::phases::open::In;
use crate::tables::process_tracking::kinds;

/// The flag of shmat(2) in numbers: bits/shm.h.
const SHM_RDONLY: i64 = 0o10_000;

/// A mapping of shared memory.
#[derive(Debug, Clone, Copy)]
struct Mapping {
    start: i64,
    bytes: Packed<i64>,
    /// The node of memory that has a name. Other memory is a node once two processes have it.
    node: Packed<u32>,
    reads: bool,
    writes: bool,
    task: u32,
    phase: In,
    ts: Packed<i64>,
    end: Packed<i64>,
    /// From which row until before which one it was there.
    since: u64,
    until: Option<u64>,
    /// Its process made a task meanwhile.
    copied: bool,
}

/// What a process has of one of them.
#[derive(Debug, Clone, Copy)]
struct Held {
    /// The number of the mapping.
    mapping: usize,
    since: u64,
    until: Option<u64>,
}

/// The shared memory of all processes.
#[derive(Debug, Default)]
pub(crate) struct SharedMemory {
    /// By the first task of a process, what it mapped itself: what is there, and what was when it made
    /// a task.
    own: HashMap<u32, Vec<Mapping>>,
    /// Where processes had some of it when they made tasks.
    copied_at: HashMap<i64, ()>,
    /// By process and such an address, the first row at which it unmapped what it had not mapped
    /// itself.
    unmapped: HashMap<(u32, i64), u64>,
    /// By source and id, the size of segments of System V.
    sizes: HashMap<(u32, i64), i64>,
}

impl SharedMemory {
    /// A process made a task, which may be a child with its memory.
    pub(crate) fn made_task(&mut self, owner: u32) {
        let own = self.own.get_mut(&owner).into_iter().flatten();
        for mapping in own.filter(|mapping| mapping.until.is_none()) {
            mapping.copied = true;
            self.copied_at.insert(mapping.start, ());
        }
    }

    /// Nothing is mapped at an address from this row on.
    fn unmap(&mut self, owner: u32, start: i64, row: u64) {
        let there = |mapping: &Mapping| mapping.until.is_none() && mapping.start == start;
        let own = self.own.get_mut(&owner);
        match own.and_then(|own| Some((own.iter().position(there)?, own))) {
            Some((at, own)) if own[at].copied => own[at].until = Some(row),
            Some((at, own)) => drop(own.swap_remove(at)),
            None if self.copied_at.contains_key(&start) => {
                self.unmapped.entry((owner, start)).or_insert(row);
            }
            None => {}
        }
    }

    /// A process ended, or started a program, and has none of its memory any more.
    pub(crate) fn unmap_all(&mut self, owner: u32, row: u64) {
        let Some(own) = self.own.get_mut(&owner) else { return };
        own.retain(|mapping| mapping.copied);
        for mapping in &mut *own {
            mapping.until.get_or_insert(row);
        }
        if own.is_empty() {
            self.own.remove(&owner);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.own.is_empty()
    }
}

impl Graph {
    /// Memory was mapped that children share: by shmat(2), or without a name.
    pub(crate) fn shares(
        &mut self,
        at: &At<'_>,
        node: Option<u32>,
        (start, bytes): (Option<i64>, Option<i64>),
        (reads, writes): (bool, bool),
    ) {
        let Some(start) = start else { return };
        let mapping = Mapping {
            start,
            bytes: bytes.into(),
            node: node.into(),
            reads,
            writes,
            task: at.task,
            phase: at.phase,
            ts: at.ts.into(),
            end: at.end.into(),
            since: self.tracker.row,
            until: None,
            copied: false,
        };
        self.shared.own.entry(at.owner).or_default().push(mapping);
    }

    /// shmget(2), which returned the id of a segment.
    pub(crate) fn gets_segment(&mut self, at: &At<'_>, id: Option<i64>) {
        // A size of 0 asks for one that is there.
        let size = at.arguments().number(1).filter(|&size| size > 0);
        if let Some((id, size)) = id.zip(size) {
            self.shared.sizes.insert((at.source, id), size);
        }
    }

    /// shmat(2), which returned where the segment is.
    pub(crate) fn attaches(&mut self, at: &At<'_>, start: Option<i64>) {
        let arguments = at.arguments();
        let Some(id) = arguments.number(0) else { return };
        let reads_only = at.sets(arguments.at(2), "SHM_RDONLY", SHM_RDONLY);
        let node = self.nodes.named(at.source, Kind::SharedMemory, &format!("shmid {id}"));
        let bytes = self.shared.sizes.get(&(at.source, id)).copied();
        self.edges.mapped(at.user(), node, (true, !reads_only), &at.sum(bytes));
        self.shares(at, Some(node), (start, bytes), (true, !reads_only));
    }

    /// munmap(2), shmdt(2).
    pub(crate) fn unmaps(&mut self, at: &At<'_>) {
        if self.shared.is_empty() {
            return;
        }
        if let Some(start) = at.arguments().number(0) {
            self.shared.unmap(at.owner, start, self.tracker.row);
        }
    }

    /// mremap(2), which returned where the mapping is from now on.
    pub(crate) fn moves_mapping(&mut self, at: &At<'_>, to: Option<i64>) {
        if self.shared.is_empty() {
            return;
        }
        let [Some(from), _, Some(bytes)] = [0, 1, 2].map(|part| at.arguments().number(part)) else {
            return;
        };
        let own = self.shared.own.get_mut(&at.owner).into_iter().flatten();
        for mapping in own.filter(|mapping| mapping.until.is_none() && mapping.start == from) {
            mapping.start = to.unwrap_or(from);
            mapping.bytes.set(bytes);
        }
    }

    /// Adds the edges of memory that children have from their makers, once all rows are in.
    pub(crate) fn share(&mut self, names: &ProcessNames) {
        let shared = std::mem::take(&mut self.shared);
        let mut mappings: Vec<Mapping> = Vec::new();
        let mut held: HashMap<usize, Vec<Held>> = HashMap::default();
        for (task, own) in shared.own {
            let Some(process) = names.of(task) else { continue };
            for mapping in own {
                let Mapping { since, until, .. } = mapping;
                held.entry(process).or_default().push(Held {
                    mapping: mappings.len(),
                    since,
                    until,
                });
                mappings.push(mapping);
            }
        }
        if mappings.is_empty() {
            return;
        }
        for (row, child, process, maker) in self.forks(names) {
            let Some(task) = self.tracker.tasks.get(child as usize) else { continue };
            let (source, ts) =
                (task.source, task.birth.map_or(Packed::default(), |birth| birth.ts));
            let exec = task.execs.first().map(|exec| exec.row);
            let there =
                |held: &&Held| held.since <= row && held.until.is_none_or(|until| until > row);
            let had: Vec<Held> =
                held.get(&maker).into_iter().flatten().filter(there).copied().collect();
            for Held { mapping: number, .. } in had {
                let start = mappings[number].start;
                let until = shared.unmapped.get(&(child, start)).copied().or(exec);
                held.entry(process).or_default().push(Held { mapping: number, since: row, until });
                // Between fork and execve a child has all that its maker has, and seldom needs it.
                if exec.is_none() {
                    let node = self.shared_node(source, &mut mappings[number]);
                    let Mapping { bytes, reads, writes, .. } = mappings[number];
                    let sum = Sum { bytes, calls: 1, first: ts, last: ts };
                    let end = (End::task(child), In::Unknown(child));
                    self.edges.mapped(end, node, (reads, writes), &sum);
                }
            }
        }
    }

    /// The node of memory that two processes have. Where it has no name, that of who mapped it is added.
    fn shared_node(&mut self, source: u32, mapping: &mut Mapping) -> u32 {
        if let Some(node) = mapping.node.get() {
            return node;
        }
        let node = self.nodes.push(source, Kind::SharedMemory, Packed::default());
        self.nodes.number(node);
        mapping.node.set(node);
        let &mut Mapping { bytes, reads, writes, task, phase, ts, end, .. } = mapping;
        let sum = Sum { bytes, calls: 1, first: ts, last: end };
        self.edges.mapped((End::task(task), phase), node, (reads, writes), &sum);
        node
    }

    /// The children with a copy of their maker's memory, in the order in which they were made: the
    /// row that shows it, the first task of the child, the numbers of its process and of its maker's.
    fn forks(&self, names: &ProcessNames) -> Vec<(u64, u32, usize, usize)> {
        let tasks = &self.tracker.tasks;
        let mut found: Vec<_> = (0..)
            .zip(tasks)
            .filter(|(_, task)| kinds::kind(tasks, task) == Some(Birth::Fork))
            .filter_map(|(number, task)| {
                let birth = task.birth?;
                Some((birth.row, number, names.of(number)?, names.of(birth.parent)?))
            })
            .collect();
        found.sort_unstable();
        found
    }
}
