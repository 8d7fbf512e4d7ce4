//! Which blocked tasks can never go on: the rules of proof.
//!
//! A task is stuck if it waits without a limit, and all who could end its wait are stuck. That is
//! the largest set of blocked tasks that only wait for one another. What the log does not show
//! (an end that was sent away, a pipe that is older than the log, a timer) counts as somebody who
//! runs, so an incomplete log gives fewer verdicts, and no wrong one.

use crate::hash::HashMap;
use crate::linux::clone::Kind as Birth;
use crate::tables::process_tracking::tracker::Tracker;
use crate::tables::waits::arguments::Limit;
use crate::tables::waits::fold::Log;
use crate::tables::waits::judge::components;
use crate::tables::waits::judge::moments::AGE_NS;
use crate::tables::waits::judge::proofs;
use crate::tables::waits::judge::wakers::{Others, Wakers, wakers};
use crate::tables::waits::wait::{End, Judged, Verdict, Wait};
use crate::tables::waits::world::descriptors::Ofd;
use crate::tables::waits::world::ends::Kind;
use crate::tables::waits::world::tasks::{Blocked, Target, World};

/// Waits for one thing in a row that must have timed out until they are a series.
const SERIES: u32 = 2;

/// How many tasks are looked at for all that wait at one moment. Of more, such as of five thousand
/// threads that wait for one lock, those that come later are taken for some who may go on.
const MOST_LOOKS: usize = 1 << 26;

/// Bytes for which a pipe has room. It has 16 pages (pipe(7)); a write starts a page of its own if it
/// does not fit into the last one, so that one of two may be nearly empty.
const ALWAYS_FITS: i64 = 8 * 4096;

/// A blocked task.
pub(crate) struct Node<'a> {
    pub(crate) task: u32,
    pub(crate) target: &'a Target,
    pub(crate) ts: i64,
    pub(crate) line: u64,
    wait: Option<u32>,
    /// It waits for ever if nobody ends it; it ends by itself. Neither, if the log does not say.
    endless: bool,
    ends: bool,
    bytes: Option<i64>,
    /// It timed out again and again; since when.
    series: Option<i64>,
    pub(crate) wakers: Wakers,
}

/// A moment at which waits are judged.
pub(crate) struct Now {
    pub(crate) source: u32,
    pub(crate) ts: i64,
    pub(crate) log: Log,
    /// The log ends here.
    pub(crate) last: bool,
}

/// Judges the tasks of one source as they are at a moment.
pub(crate) fn judge(world: &World, tracker: &Tracker, waits: &mut [Wait], at: &Now) {
    let (now, whole) = (at.ts, at.log.whole());
    let nodes = nodes(world, at);
    if nodes.is_empty() {
        return;
    }
    let by_task: HashMap<u32, usize> =
        nodes.iter().enumerate().map(|(at, node)| (node.task, at)).collect();
    let stuck = stuck(&nodes, &by_task);
    let edges: Vec<Vec<usize>> = nodes
        .iter()
        .enumerate()
        .map(|(at, node)| {
            let all = node.wakers.tasks.iter().filter(|_| stuck[at]);
            all.filter_map(|task| by_task.get(task).copied()).collect()
        })
        .collect();
    let component = components::of(&edges);
    // Each waits for any one of several, so only those of whom nobody waits for others are the root.
    let mut leads_out = vec![false; nodes.len()];
    for (at, edges) in edges.iter().enumerate() {
        leads_out[component[at]] |= edges.iter().any(|&to| component[to] != component[at]);
    }
    let is_core = |at: usize| stuck[at] && !leads_out[component[at]];
    let groups = groups(&nodes, &component, now, &is_core);
    let stalled = stalled(&nodes, &by_task, &stuck);
    for (at, node) in nodes.iter().enumerate() {
        let Some(wait) = node.wait.and_then(|number| waits.get_mut(number as usize)) else {
            continue;
        };
        if !matches!(wait.end, End::Open | End::Signal) || is_settled(wait) {
            continue;
        }
        let since = node.series.filter(|_| stalled[at]).unwrap_or(node.ts);
        let mut judged = Judged {
            verdict: Verdict::Waiting,
            proof: None,
            root: None,
            because: None,
            waits_for: None,
            could_wake: None,
            open_ns: Some(now.saturating_sub(since)),
        };
        if stuck[at] || stalled[at] {
            let all = if stuck[at] { &node.wakers.tasks } else { &node.wakers.likely };
            judged.waits_for = all.first().copied();
        }
        if is_core(at) {
            let group = &groups[&component[at]];
            judged.verdict = if whole && group.certain && group.old {
                Verdict::Deadlock
            } else {
                Verdict::LikelyDeadlock
            };
            judged.proof = Some(proofs::proof(world, node, &group.members));
            judged.because = proofs::because(world, node, &group.members, judged.proof);
            judged.root = group.first;
            judged.could_wake = Some(Vec::new());
        } else if stuck[at] || stalled[at] {
            judged.verdict = Verdict::Stalled;
            judged.root = root(&nodes, &by_task, at, &is_core);
            judged.could_wake = Some(Vec::new());
        } else {
            let free = |task: &u32| by_task.get(task).is_none_or(|&other| !stuck[other]);
            if node.wakers.shown && node.wakers.all {
                judged.could_wake = Some(node.wakers.tasks.iter().copied().filter(free).collect());
            }
            if node.ends || *node.target == Target::Timer {
                judged.verdict = Verdict::Asleep;
            } else if *node.target == Target::Unknown {
                continue;
            }
        }
        let ids = |tasks: Vec<u32>| -> Vec<u32> {
            let id = |task: u32| Some(tracker.tasks.get(task as usize)?.id);
            tasks.into_iter().filter_map(id).collect()
        };
        judged.could_wake = judged.could_wake.map(ids);
        wait.judged = Some(Box::new(judged));
    }
}

/// Tasks that wait for one another, and for nobody else.
struct Group<'a> {
    members: Vec<&'a Node<'a>>,
    /// The log shows where all come from who could end their waits.
    certain: bool,
    /// They have waited for long.
    old: bool,
    /// Who waits for the longest time.
    first: Option<u32>,
}

/// The groups of those nodes that are a core, by component.
fn groups<'a>(
    nodes: &'a [Node<'a>],
    component: &[usize],
    now: i64,
    is_core: &impl Fn(usize) -> bool,
) -> HashMap<usize, Group<'a>> {
    let mut members: HashMap<usize, Vec<&Node<'_>>> = HashMap::default();
    for (at, node) in nodes.iter().enumerate().filter(|&(at, _)| is_core(at)) {
        members.entry(component[at]).or_default().push(node);
    }
    let since = |one: &&Node<'_>| one.wakers.killed.map_or(one.ts, |ts| ts.max(one.ts));
    let group = |members: Vec<&'a Node<'a>>| {
        let youngest = members.iter().map(since).max().unwrap_or(now);
        Group {
            certain: members.iter().all(|one| one.wakers.certain),
            old: now.saturating_sub(youngest) >= AGE_NS,
            first: members.iter().min_by_key(|one| (one.ts, one.line)).map(|one| one.task),
            members,
        }
    };
    members.into_iter().map(|(component, members)| (component, group(members))).collect()
}

/// Whether a wait was found stuck at an earlier moment.
fn is_settled(wait: &Wait) -> bool {
    let verdict = wait.judged.as_ref().map(|judged| judged.verdict);
    matches!(verdict, Some(Verdict::Deadlock | Verdict::LikelyDeadlock | Verdict::Stalled))
}

fn nodes<'a>(world: &'a World, now: &Now) -> Vec<Node<'a>> {
    let mut nodes = Vec::new();
    let others = Others::new(world, now.source, now.log.ftrace);
    let mut looks = MOST_LOOKS;
    for (number, task) in (0..).zip(&world.tasks) {
        if !task.alive || task.source != now.source {
            continue;
        }
        let Some(blocked) = task.blocked.as_deref() else { continue };
        let series = task.series.filter(|series| series.count >= SERIES);
        let mut wakers = match looks.checked_sub(others.all.len()) {
            Some(_) => wakers(world, number, blocked, &others),
            None => Wakers::default(),
        };
        let found = wakers.tasks.len() + wakers.likely.len();
        looks = looks.saturating_sub(if found > 0 { others.all.len() + found } else { 0 });
        wakers.certain &= blocked.limit == Limit::None;
        // One signal may kill all: those who died a moment ago could still act.
        if !now.last && wakers.killed.is_some_and(|ts| now.ts.saturating_sub(ts) < AGE_NS) {
            wakers.all = false;
        }
        nodes.push(Node {
            task: number,
            target: &blocked.target,
            ts: blocked.ts,
            line: blocked.line,
            wait: blocked.wait,
            endless: may_be_endless(world, blocked, now.ts),
            ends: blocked.limit.ends(),
            bytes: blocked.bytes,
            series: series.filter(|_| blocked.limit != Limit::None).map(|series| series.since),
            wakers,
        });
    }
    meet(world, &mut nodes);
    fit(world, &mut nodes);
    nodes
}

/// Whether a wait has no limit, or none that the log shows: strace prints that of `epoll_wait`(2)
/// when it returns. Those for a set that had no limit before may have none.
fn may_be_endless(world: &World, blocked: &Blocked, now: i64) -> bool {
    match (blocked.limit, &blocked.target) {
        (Limit::None, _) => true,
        (Limit::Unknown, &Target::Ends { set: Some(set), .. }) => {
            let set = world.ends.get(set).and_then(|end| end.set.as_deref());
            let old = now.saturating_sub(blocked.ts) >= AGE_NS;
            old && set.is_some_and(|set| !set.limited)
        }
        _ => false,
    }
}

/// The ends that a task waits for.
fn ends<'a>(node: &Node<'a>) -> &'a [(Ofd, bool)] {
    match node.target {
        Target::Ends { ends, .. } => ends,
        _ => &[],
    }
}

/// A pipe is not full for its writer and empty for its reader at the same time: one of them is about
/// to go on.
fn meet(world: &World, nodes: &mut [Node<'_>]) {
    let takes = |&&(_, take): &&(Ofd, bool)| take;
    let taken: HashMap<Ofd, ()> = nodes
        .iter()
        .flat_map(|node| ends(node).iter().filter(takes))
        .map(|&(ofd, _)| (ofd, ()))
        .collect();
    for node in nodes {
        let meets = ends(node).iter().any(|&(ofd, take)| {
            let peer = world.ends.source_of(ofd).map(|(peer, _)| peer);
            !take && peer.is_some_and(|peer| taken.contains_key(&peer))
        });
        node.wakers.woken |= meets;
    }
}

/// A write that still has room in its pipe does not wait, however many others write there now.
fn fit(world: &World, nodes: &mut [Node<'_>]) {
    let mut unread: HashMap<Ofd, i64> = HashMap::default();
    for node in &*nodes {
        let Some((&(ofd, false), [])) = ends(node).split_first() else { continue };
        let Some((peer, end)) = world.ends.source_of(ofd).zip(world.ends.get(ofd)) else {
            continue;
        };
        let before =
            if end.kind == Kind::Pipe { end.given.saturating_sub(peer.1.taken) } else { i64::MAX };
        let all = unread.entry(ofd).or_insert(before);
        *all = all.saturating_add(node.bytes.unwrap_or(i64::MAX));
    }
    for node in nodes {
        let Some((ofd, false)) = ends(node).first() else { continue };
        node.wakers.woken |= unread.get(ofd).is_some_and(|&bytes| bytes <= ALWAYS_FITS);
    }
}

/// Those who only wait for one another: all others are taken away until nothing changes.
fn stuck(nodes: &[Node<'_>], by_task: &HashMap<u32, usize>) -> Vec<bool> {
    let mut stuck: Vec<bool> =
        nodes.iter().map(|node| node.endless && node.wakers.all && !node.wakers.woken).collect();
    loop {
        let mut changed = false;
        for (at, node) in nodes.iter().enumerate() {
            let free = |task: &u32| by_task.get(task).is_none_or(|&other| !stuck[other]);
            if stuck[at] && node.wakers.tasks.iter().any(free) {
                stuck[at] = false;
                changed = true;
            }
        }
        if !changed {
            return stuck;
        }
    }
}

/// Those who wait for stuck ones alone, as far as the log shows: threads of their own process that
/// never wrote do not count, and a limit does not if it passed again and again.
fn stalled(nodes: &[Node<'_>], by_task: &HashMap<u32, usize>, stuck: &[bool]) -> Vec<bool> {
    let mut stalled: Vec<bool> = nodes
        .iter()
        .map(|node| {
            let patient = !node.ends || node.series.is_some();
            patient && node.wakers.shown && !node.wakers.woken && !node.wakers.likely.is_empty()
        })
        .collect();
    loop {
        let mut changed = false;
        for (at, node) in nodes.iter().enumerate() {
            let free = |task: &u32| {
                by_task.get(task).is_none_or(|&other| !stuck[other] && !stalled[other])
            };
            if stalled[at] && node.wakers.likely.iter().any(free) {
                stalled[at] = false;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    // Who waits in a circle of such tasks only is not stalled: nobody in it is stuck.
    let mut reaches: Vec<bool> = stuck.to_vec();
    loop {
        let mut changed = false;
        for (at, node) in nodes.iter().enumerate() {
            let mut to = node.wakers.likely.iter().filter_map(|task| by_task.get(task));
            if stalled[at] && !reaches[at] && to.any(|&other| reaches[other]) {
                reaches[at] = true;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    stalled.iter().zip(reaches).map(|(&stalled, reaches)| stalled && reaches).collect()
}

/// The stuck task that a wait leads to.
fn root(
    nodes: &[Node<'_>],
    by_task: &HashMap<u32, usize>,
    from: usize,
    is_core: &impl Fn(usize) -> bool,
) -> Option<u32> {
    let mut seen = vec![false; nodes.len()];
    let mut next = std::collections::VecDeque::from([from]);
    while let Some(at) = next.pop_front() {
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        if is_core(at) {
            return Some(nodes[at].task);
        }
        let node = &nodes[at];
        let to = node.wakers.tasks.iter().chain(&node.wakers.likely);
        next.extend(to.filter_map(|task| by_task.get(task).copied()));
    }
    None
}

/// Binds the child of a call that has not returned: vfork's parent waits for it. Gives the child.
pub(crate) fn bind_children(world: &mut World, source: u32) -> Option<u32> {
    let parents: Vec<(u32, u64)> = (0..)
        .zip(&world.tasks)
        .filter(|(_, task)| task.alive && task.source == source)
        .filter_map(|(number, task)| {
            let blocked = task.blocked.as_deref()?;
            (blocked.target == Target::Vfork).then_some((number, blocked.line))
        })
        .collect();
    let [(parent, line)] = parents[..] else { return None };
    let strangers: Vec<u32> = (0..)
        .zip(&world.tasks)
        .filter(|(_, task)| {
            task.alive && task.source == source && !task.known && task.first_line > line
        })
        .map(|(number, _)| number)
        .collect();
    let [child] = strangers[..] else { return None };
    world.born(child, parent, Some(Birth::Vfork), false, line);
    Some(child)
}
