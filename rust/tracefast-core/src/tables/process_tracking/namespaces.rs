//! Which call made which task, where calls return numbers of another pid namespace.
//!
//! The model of the kernel binds a child when that shows itself, or when the call returns. Where
//! several calls may have made it, that is a guess (`kernel/tasks/namespaces.rs`). When all events
//! are known, more decides:
//!
//! - A task shows its own number in its namespace: the loader calls `set_tid_address`, a child of
//!   Python `gettid`. It is the child of the call that returned this number.
//! - The kernel gives a task its numbers in all namespaces at once, and counts up in each
//!   (`alloc_pid` in kernel/pid.c), so tasks have the same order by either number. Where there are
//!   as many calls as tasks between two children that are known, they belong together in this order.
//!
//! The rest is open: these calls have no child, and these tasks no parent.

use std::collections::HashSet;

use crate::hash::HashMap;
use crate::tables::packed::Packed;
use crate::tables::process_tracking::kinds::is_thread;
use crate::tables::process_tracking::task::{Birth, Task};

/// A call that made a task, and the task that turned out to be its child; nobody if that is open.
pub(crate) type Move = (Call, Option<u32>);

/// A call in a pid namespace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    /// What it returned.
    number: i32,
    /// The task that the events show as its child.
    pub(crate) claimed: u32,
    birth: Birth,
}

/// A pid namespace: the calls of its tasks, and the tasks that they made, by strace's numbers.
#[derive(Debug, Clone, Default)]
struct Namespace {
    calls: Vec<Call>,
    children: Vec<(i32, u32)>,
}

/// Corrects which call made which task. Returns all calls whose child is another one now.
pub(crate) fn settle(tasks: &mut [Task]) -> Vec<Move> {
    if tasks.iter().all(|task| task.own.is_none()) {
        return Vec::new();
    }
    let namespaces = Namespaces::new(tasks);
    let mut all = namespaces.of_calls(tasks);
    let mut several: HashMap<u32, Vec<u32>> = HashMap::default();
    for (&root, namespace) in &mut all {
        namespace.calls.sort_unstable_by_key(|call| call.number);
        namespace.children.sort_unstable();
        several.entry(tasks[root as usize].source).or_default().push(root);
    }
    let mut moves = Vec::new();
    let mut open = Vec::new();
    for roots in several.into_values() {
        let bound = namespaces.bound(tasks, &all, &roots);
        for (namespace, bound) in roots.iter().filter_map(|root| all.get(root)).zip(bound) {
            let known: HashSet<u32> = bound.iter().filter_map(|&child| child).collect();
            for (&call, child) in namespace.calls.iter().zip(bound) {
                if child != Some(call.claimed) {
                    moves.push((call, child));
                }
            }
            let children = namespace.children.iter().map(|&(_, child)| child);
            open.extend(children.filter(|child| !known.contains(child)));
        }
    }
    moves.sort_unstable_by_key(|(call, _): &Move| call.birth.row);
    // A task that never showed itself does not exist if its call has another child.
    for child in moves.iter().map(|(call, _)| call.claimed).chain(open) {
        if let Some(task) = tasks.get_mut(child as usize) {
            (task.birth, task.guardian) = (None, Packed::default());
        }
    }
    for &(call, child) in &moves {
        let Some(child) = child else { continue };
        if let Some(task) = tasks.get_mut(child as usize) {
            task.birth = Some(call.birth);
        }
        // Its rows have the process that was guessed.
        let thread = tasks.get(child as usize).is_some_and(|task| is_thread(tasks, task));
        let maker = tasks.get(call.birth.parent as usize).map(|maker| maker.pid);
        if let Some(task) = tasks.get_mut(child as usize) {
            task.pid = maker.filter(|_| thread).unwrap_or(task.tid);
        }
    }
    moves
}

/// What the call that made the task returned.
fn number(task: &Task) -> Option<i32> {
    task.birth.filter(|birth| birth.by_call)?.number.get()
}

/// No task.
const NONE: u32 = u32::MAX;

/// By task, the first task of its namespace, if that is not the one of strace.
struct Namespaces {
    roots: Vec<u32>,
}

impl Namespaces {
    fn new(tasks: &[Task]) -> Self {
        let mut inside: Vec<bool> = tasks.iter().map(|task| task.own.is_some()).collect();
        for task in tasks.iter().filter(|task| task.seen) {
            if let (Some(birth), Some(number)) = (task.birth, number(task)) {
                inside[birth.parent as usize] |= Some(number) != task.tid.get();
            }
        }
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (at, task) in tasks.iter().enumerate() {
                if !inside[at] && task.birth.is_some_and(|birth| inside[birth.parent as usize]) {
                    inside[at] = true;
                    changed = true;
                }
            }
        }
        let mut roots = vec![NONE; tasks.len()];
        let mut path = Vec::new();
        for start in 0..tasks.len() {
            let mut at = start;
            path.clear();
            while inside[at] && roots[at] == NONE {
                // Marked, so that a circle ends.
                roots[at] = at as u32;
                path.push(at);
                let parent = tasks[at].birth.map(|birth| birth.parent as usize);
                let parent =
                    parent.filter(|&parent| inside[parent] && tasks[at].own.get() != Some(1));
                at = parent.unwrap_or(at);
            }
            let root = roots[at];
            for &passed in &path {
                roots[passed] = root;
            }
        }
        Self { roots }
    }

    /// The calls of each namespace, and the tasks that may be their children.
    fn of_calls(&self, tasks: &[Task]) -> HashMap<u32, Namespace> {
        let mut all: HashMap<u32, Namespace> = HashMap::default();
        for (at, task) in (0..).zip(tasks) {
            let (Some(birth), Some(number)) = (task.birth, number(task)) else { continue };
            let root = self.roots[birth.parent as usize];
            if root == NONE {
                continue;
            }
            let namespace = all.entry(root).or_default();
            namespace.calls.push(Call { number, claimed: at, birth });
            namespace.children.extend(task.tid.get().filter(|_| task.seen).map(|tid| (tid, at)));
        }
        // Tasks that no call has made may be children of calls that have none.
        let mut lacking = all.values_mut().filter(|one| one.children.len() < one.calls.len());
        if let (Some(namespace), None) = (lacking.next(), lacking.next()) {
            let first = namespace.calls.iter().map(|call| call.birth.row).min();
            let source = namespace.calls.first().map(|call| tasks[call.claimed as usize].source);
            for (at, task) in (0..).zip(tasks) {
                let orphan = task.seen && task.birth.is_none() && Some(task.source) == source;
                let late = Some(task.row) > first;
                namespace
                    .children
                    .extend(task.tid.get().filter(|_| orphan && late).map(|tid| (tid, at)));
            }
        }
        all
    }

    /// The child of each call of some namespaces of one log.
    fn bound(
        &self,
        tasks: &[Task],
        all: &HashMap<u32, Namespace>,
        roots: &[u32],
    ) -> Vec<Vec<Option<u32>>> {
        let found = || roots.iter().filter_map(|root| Some((*root, all.get(root)?)));
        if let &[root] = roots {
            return found().map(|(_, one)| one.bound(&self.anchors(tasks, root, one))).collect();
        }
        // A task may be in another namespace than the one of the call that it was taken for. If it
        // is, something does not fit.
        let consistent = found().all(|(root, one)| {
            let anchors = self.anchors(tasks, root, one);
            let own =
                one.children.iter().filter(|&&(_, child)| self.has_number(tasks, root, child));
            unique(&one.calls)
                && fit(&one.calls, &one.children)
                && anchors.iter().all(|(call, child)| call == child)
                && anchors.len() == own.count()
        });
        if consistent {
            let children =
                |one: &Namespace| one.children.iter().map(|&(_, child)| Some(child)).collect();
            return found().map(|(_, one)| children(one)).collect();
        }
        // A number that a single call has returned, and a single task has, is proof all the same.
        let mut owners: HashMap<i32, (u32, u32)> = HashMap::default();
        for (_, one) in found() {
            for call in &one.calls {
                owners.entry(call.number).or_default().0 += 1;
            }
        }
        let mut of: HashMap<i32, u32> = HashMap::default();
        for (at, task) in (0..).zip(tasks) {
            let own = task.own.get().filter(|&own| own != 1 && self.roots[at as usize] != NONE);
            if let Some((own, owner)) = own.and_then(|own| Some((own, owners.get_mut(&own)?))) {
                owner.1 += 1;
                of.insert(own, at);
            }
        }
        let child = |call: &Call| {
            let alone = owners.get(&call.number) == Some(&(1, 1));
            of.get(&call.number).copied().filter(|_| alone)
        };
        found().map(|(_, one)| one.calls.iter().map(child).collect()).collect()
    }

    /// Whether the child shows the number that it has in the namespace of the call that made it. The
    /// first task of a namespace has another one there.
    fn has_number(&self, tasks: &[Task], root: u32, child: u32) -> bool {
        let task = &tasks[child as usize];
        let here = self.roots[child as usize] == root || task.birth.is_none();
        here && task.own.get().is_some_and(|own| own != 1)
    }

    /// The calls and children of a namespace that certainly belong together.
    fn anchors(&self, tasks: &[Task], root: u32, namespace: &Namespace) -> Vec<(usize, usize)> {
        let mut anchors = Vec::new();
        for (at, &(_, child)) in namespace.children.iter().enumerate() {
            let own = tasks[child as usize].own.get();
            let own = own.filter(|_| self.has_number(tasks, root, child));
            let call = own.and_then(|own| {
                namespace.calls.binary_search_by_key(&own, |call| call.number).ok()
            });
            anchors.extend(call.map(|call| (call, at)));
        }
        anchors
    }
}

impl Namespace {
    /// The child of each call. Both are in order of their numbers.
    fn bound(&self, anchors: &[(usize, usize)]) -> Vec<Option<u32>> {
        let mut bound = vec![None; self.calls.len()];
        for &(call, child) in anchors {
            bound[call] = Some(self.children[child].1);
        }
        let ordered = anchors.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if !(ordered && unique(&self.calls)) {
            return bound;
        }
        let (mut call, mut child) = (0, 0);
        let end = (self.calls.len(), self.children.len());
        for &(next_call, next_child) in anchors.iter().chain([&end]) {
            let (calls, children) =
                (&self.calls[call..next_call], &self.children[child..next_child]);
            if fit(calls, children) {
                for (bound, &(_, child)) in bound[call..next_call].iter_mut().zip(children) {
                    *bound = Some(child);
                }
            } else if of_one(calls, children) {
                for (bound, call) in bound[call..next_call].iter_mut().zip(calls) {
                    *bound = Some(call.claimed);
                }
            }
            (call, child) = (next_call + 1, next_child + 1);
        }
        bound
    }
}

/// Whether no number was returned twice.
fn unique(calls: &[Call]) -> bool {
    calls.windows(2).all(|pair| pair[0].number < pair[1].number)
}

/// Whether these belong together in this order. Strace's numbers count the tasks outside, too.
fn fit(calls: &[Call], children: &[(i32, u32)]) -> bool {
    let apart = |(call, child): (&Call, &(i32, u32))| i64::from(child.0) - i64::from(call.number);
    calls.len() == children.len() && calls.iter().zip(children).map(apart).is_sorted()
}

/// Whether one task made all of these calls, and the children are theirs, whichever is of which.
fn of_one(calls: &[Call], children: &[(i32, u32)]) -> bool {
    let same = calls.windows(2).all(|pair| pair[0].birth.parent == pair[1].birth.parent);
    same && children.iter().all(|(_, child)| calls.iter().any(|call| call.claimed == *child))
}
