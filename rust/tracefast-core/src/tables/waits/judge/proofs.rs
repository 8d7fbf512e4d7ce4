//! What proves that tasks can never go on, and the line that explains it.

use crate::tables::waits::judge::verdicts::Node;
use crate::tables::waits::wait::Proof;
use crate::tables::waits::world::ends::Kind;
use crate::tables::waits::world::spaces::FutexKey;
use crate::tables::waits::world::tasks::{Target, World};

/// What proves that a task is stuck; `group` are those that wait for one another, and it.
pub(crate) fn proof(world: &World, node: &Node<'_>, group: &[&Node<'_>]) -> Proof {
    let is_private = |one: &&Node<'_>| matches!(one.target, Target::Futex { private: true, .. });
    let space = |task: u32| world.task(task).map(|task| task.space);
    let older = |task: u32| world.space(task).is_some_and(|space| !space.known);
    // Of tasks that are older than the log, nobody knows which share their memory.
    let one_space = group.iter().all(|one| space(one.task) == space(node.task))
        || group.iter().all(|one| older(one.task));
    if one_space && group.iter().all(is_private) {
        return Proof::PrivateFutex;
    }
    if group.len() > 1 {
        return Proof::Cycle;
    }
    match node.target {
        Target::Lock(..) => Proof::HeldLock,
        _ if lost(world, node).is_some() => Proof::LostChild,
        Target::Ends { .. } if node.wakers.own && !is_eventfd(world, node) => Proof::OwnPipe,
        _ => Proof::NoWriter,
    }
}

/// The line that explains it, and the task in it.
pub(crate) fn because(
    world: &World,
    node: &Node<'_>,
    group: &[&Node<'_>],
    proof: Option<Proof>,
) -> Option<(u64, u32)> {
    match proof? {
        Proof::PrivateFutex => inherited_lock(world, node).or_else(|| dead_user(world, node)),
        Proof::Cycle => {
            let last = group.iter().max_by_key(|one| (one.ts, one.line))?;
            Some((last.line, last.task))
        }
        Proof::OwnPipe | Proof::NoWriter => {
            let Target::Ends { ends, .. } = node.target else { return None };
            let &(ofd, _) = ends.first()?;
            let (peer, end) = world.ends.source_of(ofd)?;
            let table = world.task(node.task)?.table;
            let held = world.tables.find(table, peer).filter(|held| held.inherited);
            Some((held.map_or(end.line, |held| held.line), node.task))
        }
        Proof::LostChild => lost(world, node).map(|(task, line)| (line, task)),
        Proof::HeldLock => {
            let Target::Lock(file, lock) = node.target else { return None };
            let held = world.locks.conflicts(*file, lock).into_iter().next()?;
            Some((held.line, held.task))
        }
    }
}

/// The fork that copied a lock while another thread used it: the child has the lock, and not the
/// thread.
fn inherited_lock(world: &World, node: &Node<'_>) -> Option<(u64, u32)> {
    let Target::Futex { address, .. } = *node.target else { return None };
    let twin = world.space(node.task)?.twin?;
    let user = world
        .spaces
        .get(&twin.space)
        .and_then(|space| space.other_user(address, twin.task, twin.line));
    // A lock that was free when it was taken shows no call.
    Some((twin.line, user.map(|(user, _)| user).or(twin.thread)?))
}

/// A thread of the same process that used the lock, and ended.
fn dead_user(world: &World, node: &Node<'_>) -> Option<(u64, u32)> {
    let Target::Futex { address, .. } = *node.target else { return None };
    let (user, _) = world.space(node.task)?.other_user(address, node.task, u64::MAX)?;
    let user_task = world.task(user).filter(|task| !task.alive)?;
    Some((user_task.last_line, user))
}

/// The task that died with the other end, or with what was mapped.
fn lost(world: &World, node: &Node<'_>) -> Option<(u32, u64)> {
    match node.target {
        Target::Ends { ends, .. } => ends.iter().find_map(|&(ofd, _)| {
            let (_, end) = world.ends.source_of(ofd)?;
            end.lost
        }),
        Target::Futex { key: FutexKey::Shared(object, _), .. } => world.lost_mapping(*object),
        _ => None,
    }
}

fn is_eventfd(world: &World, node: &Node<'_>) -> bool {
    let Target::Ends { ends, .. } = node.target else { return false };
    ends.iter().any(|&(ofd, _)| world.ends.get(ofd).is_some_and(|end| end.kind == Kind::Eventfd))
}
