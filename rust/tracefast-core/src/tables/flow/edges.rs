//! The edges of the graph.

use std::hash::BuildHasher;

use hashbrown::HashTable;

use crate::hash::{HashMap, Hasher};
use crate::tables::packed::Packed;
use crate::tables::phases::open::In;

/// One end of an edge: a task or a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct End(u32);

const TASK: u32 = 1 << 31;

impl End {
    pub(crate) fn task(number: u32) -> Self {
        Self(number | TASK)
    }

    pub(crate) fn node(number: u32) -> Self {
        Self(number & !TASK)
    }

    /// The number of the task, if it is one.
    pub(crate) fn as_task(self) -> Option<u32> {
        (self.0 & TASK != 0).then_some(self.0 & !TASK)
    }

    /// The number of the node, if it is one.
    pub(crate) fn as_node(self) -> Option<u32> {
        (self.0 & TASK == 0).then_some(self.0)
    }
}

/// How data goes along an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum How {
    Read,
    Write,
    Map,
    Pipe,
    Socket,
    Copy,
    Rename,
    Link,
    Create,
    Exec,
}

impl How {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Map => "map",
            Self::Pipe => "pipe",
            Self::Socket => "socket",
            Self::Copy => "copy",
            Self::Rename => "rename",
            Self::Link => "link",
            Self::Create => "create",
            Self::Exec => "exec",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) from: End,
    pub(crate) to: End,
    pub(crate) how: How,
    pub(crate) phase: In,
}

/// What went along an edge.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sum {
    /// Nothing where calls have no bytes.
    pub(crate) bytes: Packed<i64>,
    pub(crate) calls: u64,
    pub(crate) first: Packed<i64>,
    pub(crate) last: Packed<i64>,
}

impl Sum {
    pub(crate) fn join(&mut self, other: &Self) {
        if let Some(bytes) = other.bytes.get() {
            self.bytes = self.bytes.get().unwrap_or(0).saturating_add(bytes).into();
        }
        self.calls = self.calls.saturating_add(other.calls);
        self.first.lower(other.first);
        self.last.raise(other.last);
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) key: Key,
    pub(crate) sum: Sum,
    /// The next edge between the same node and tasks.
    next: Packed<u32>,
    /// It was joined to another one.
    gone: bool,
}

/// All edges, in the order in which they were first used.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    all: Vec<Edge>,
    /// By key.
    index: HashTable<u32>,
    hasher: Hasher,
    /// By node, the first of its edges from and to tasks.
    of_node: Vec<Packed<u32>>,
    /// Of processes whose maker the log does not show yet, and of their children.
    unborn: HashMap<u32, Vec<u32>>,
    free: Vec<u32>,
    last: Option<(Key, u32)>,
    /// Only the nodes are wanted: there are no edges.
    pub(crate) unwanted: bool,
}

impl Edges {
    /// Something went along an edge.
    #[inline]
    pub(crate) fn add(&mut self, key: Key, sum: &Sum) {
        if self.unwanted {
            return;
        }
        let at = match self.last {
            Some((last, at)) if last == key => at,
            _ => self.find(key),
        };
        self.last = Some((key, at));
        self.all[at as usize].sum.join(sum);
    }

    /// A task has a node mapped.
    pub(crate) fn mapped(
        &mut self,
        (task, phase): (End, In),
        node: u32,
        (reads, writes): (bool, bool),
        sum: &Sum,
    ) {
        let (how, node) = (How::Map, End::node(node));
        if reads {
            self.add(Key { from: node, to: task, how, phase }, sum);
        }
        if writes {
            self.add(Key { from: task, to: node, how, phase }, sum);
        }
    }

    fn find(&mut self, key: Key) -> u32 {
        let hash = self.hasher.hash_one(key);
        if let Some(&at) = self.index.find(hash, |&at| self.all[at as usize].key == key) {
            return at;
        }
        let next = self.link(key);
        let edge = Edge { key, sum: Sum::default(), next, gone: false };
        let at = if let Some(at) = self.free.pop() {
            self.all[at as usize] = edge;
            at
        } else {
            self.all.push(edge);
            self.all.len() as u32 - 1
        };
        if let Some(node) = of_task(&key) {
            self.of_node[node as usize] = at.into();
        }
        if let In::Unknown(process) = key.phase {
            self.unborn.entry(process).or_default().push(at);
        }
        let (all, hasher) = (&self.all, &self.hasher);
        self.index.insert_unique(hash, at, |&at| hasher.hash_one(all[at as usize].key));
        at
    }

    /// An edge is no more what its key says.
    fn leave(&mut self, at: u32) {
        let hash = self.hasher.hash_one(self.all[at as usize].key);
        if let Ok(found) = self.index.find_entry(hash, |&other| other == at) {
            found.remove();
        }
        self.all[at as usize].gone = true;
    }

    /// The edges of a new edge's node so far.
    fn link(&mut self, key: Key) -> Packed<u32> {
        let Some(node) = of_task(&key) else { return Packed::default() };
        if self.of_node.len() <= node as usize {
            self.of_node.resize(node as usize + 1, Packed::default());
        }
        self.of_node[node as usize]
    }

    /// What tasks did with a node, they did with another: it has its name now.
    pub(crate) fn move_node(&mut self, from: u32, to: u32) {
        let Some(list) = self.of_node.get_mut(from as usize) else { return };
        let mut next = std::mem::take(list);
        self.last = None;
        while let Some(at) = next.get() {
            let Edge { key, sum, next: after, gone } = self.all[at as usize];
            next = after;
            if gone {
                continue;
            }
            self.leave(at);
            let moved = |end: End| if end == End::node(from) { End::node(to) } else { end };
            let key = Key { from: moved(key.from), to: moved(key.to), ..key };
            // Those of a task that is not born are known by their numbers.
            if !matches!(key.phase, In::Unknown(_)) {
                self.free.push(at);
            }
            self.add(key, &sum);
        }
    }

    /// The log shows who made a task, and so in which phase it began.
    pub(crate) fn born(&mut self, task: u32, phase: In) {
        let Some(edges) = self.unborn.remove(&task) else { return };
        self.last = None;
        for at in edges {
            let Edge { key, sum, gone, .. } = self.all[at as usize];
            if gone {
                continue;
            }
            // It stays in the list of its node, with nothing in it.
            self.leave(at);
            self.all[at as usize].sum = Sum::default();
            self.add(Key { phase, ..key }, &sum);
        }
    }

    pub(crate) fn has_unborn(&self) -> bool {
        !self.unborn.is_empty()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Edge> {
        self.all.iter().filter(|edge| !edge.gone)
    }
}

/// The node of an edge from or to a task.
fn of_task(key: &Key) -> Option<u32> {
    match (key.from.as_node(), key.to.as_node()) {
        (Some(node), None) | (None, Some(node)) => Some(node),
        _ => None,
    }
}
