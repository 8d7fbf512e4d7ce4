//! Who could end a wait.

use std::collections::HashSet;

use crate::tables::waits::world::acts::Acts;
use crate::tables::waits::world::descriptors::Ofd;
use crate::tables::waits::world::ends::Kind;
use crate::tables::waits::world::ipc::IpcKey;
use crate::tables::waits::world::locks::Owner;
use crate::tables::waits::world::spaces::{FutexKey, Space};
use crate::tables::waits::world::tasks::{Blocked, Live, Target, World};

/// Who could end a wait.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wakers {
    /// Live tasks, without the waiter.
    pub(crate) tasks: Vec<u32>,
    /// The same without those of the waiter's process that never did so.
    pub(crate) likely: Vec<u32>,
    /// Nobody else could: the log shows all who hold the other end.
    pub(crate) all: bool,
    /// The log shows some of them.
    pub(crate) shown: bool,
    /// The log shows where they all come from, since their programs were started.
    pub(crate) certain: bool,
    /// Somebody did what ends the wait since it began.
    pub(crate) woken: bool,
    /// The waiter's own process holds the other end.
    pub(crate) own: bool,
    /// When a signal last killed one of those who could have ended it.
    pub(crate) killed: Option<i64>,
}

/// Tasks that may share more than the log shows.
pub(crate) struct Others {
    /// Those of whom the log does not show who made them.
    strangers: Vec<u32>,
    /// All of the log that live.
    pub(crate) all: Vec<u32>,
}

impl Others {
    pub(crate) fn new(world: &World, source: u32, ftrace: bool) -> Self {
        let alive = (0..).zip(&world.tasks).filter(|(_, one)| one.alive && one.source == source);
        let all: Vec<u32> = alive.map(|(number, _)| number).collect();
        let strange = |one: &&u32| world.task(**one).is_some_and(|one| !one.known);
        // ftrace may show all tasks of the machine.
        let strangers =
            if ftrace { Vec::new() } else { all.iter().filter(strange).copied().collect() };
        Self { strangers, all }
    }
}

/// Who could end the wait of a task.
pub(crate) fn wakers(world: &World, number: u32, blocked: &Blocked, others: &Others) -> Wakers {
    let Some(task) = world.task(number) else { return Wakers::default() };
    let mut found = match &blocked.target {
        Target::Futex { key, private, value, .. } => {
            futex(world, others, (number, task), (*key, *private, *value))
        }
        Target::Ends { ends, others, set } => {
            let mut found = self::ends(world, (number, task), ends, blocked.ts);
            found.all &= !others;
            if let Some((ofd, end)) = set.and_then(|set| Some((set, world.ends.get(set)?))) {
                // Who holds the set can add what is ready.
                found.tasks.extend(world.tables.tasks_that_hold(ofd));
                found.all &= !end.unsure;
                found.woken |= end.gave.any_since(blocked.ts);
            }
            found
        }
        Target::Child(pid) => children(world, others, task, *pid),
        Target::Vfork => {
            let mut found = Wakers { all: true, shown: true, certain: true, ..Wakers::default() };
            // Its threads share its memory, too.
            found.tasks = with(world, others, |child| {
                child.parent == Some(number) && child.space == task.space && !child.thread
            });
            found
        }
        Target::Lock(file, lock) => {
            let mut found = Wakers { all: true, shown: true, certain: true, ..Wakers::default() };
            let conflicts = world.locks.conflicts(*file, lock);
            found.all = !conflicts.is_empty();
            for held in conflicts {
                match held.owner {
                    Owner::Description(ofd) => {
                        found.tasks.extend(world.tasks_that_may_hold(ofd));
                    }
                    Owner::Process(table) => {
                        let table = world.tables.get(table);
                        found.tasks.extend(table.into_iter().flat_map(|table| &table.tasks));
                    }
                }
            }
            found.own = found.tasks.contains(&number);
            let released = world.locks.released(*file);
            found.woken = released.is_some_and(|acts| acts.any_since(blocked.ts));
            found
        }
        Target::Ipc(key, take) => ipc(world, others, (*key, *take), blocked.ts),
        Target::Opening(_)
        | Target::Lease(_)
        | Target::Timer
        | Target::Outside
        | Target::Unknown => Wakers::default(),
    };
    if let Target::Futex { key, .. } = &blocked.target {
        found.woken |= world.wakes.get(key).is_some_and(|acts| acts.any_since(blocked.ts));
    }
    found.woken |= task.dying;
    let told = world.space(number).and_then(|space| space.told);
    found.woken |= told.is_some_and(|ts| ts >= blocked.ts);
    if matches!(blocked.target, Target::Child(_) | Target::Vfork) && found.tasks.is_empty() {
        // Those whom it waits for have ended, or the log does not show them.
        (found.all, found.shown) = (false, false);
    }
    if !found.all && !found.shown {
        // Anybody could: it is not said who. There may be very many, and many who wait so.
        (found.tasks, found.likely) = (Vec::new(), Vec::new());
        return found;
    }
    if !matches!(blocked.target, Target::Vfork) {
        // One of whom the log does not show who made it may share with any other.
        let strange = others.strangers.contains(&number);
        let strangers = if strange { &others.all } else { &others.strangers };
        let strangers = strangers.iter().filter(|&&one| one != number);
        let before = found.tasks.len();
        found.tasks.extend(strangers);
        found.certain &= found.tasks.len() == before;
    }
    // Without thread ids, the log may be that of one thread alone.
    found.certain &= task.tid.is_some();
    if found.all {
        found.tasks.extend(signallers(world, task, others));
        // Others send these as well: a shell, or who started it.
        found.certain &= !world.space(number).is_some_and(|space| space.handled.requests());
    }
    found.tasks.sort_unstable();
    found.tasks.dedup();
    found.tasks.retain(|&one| one != number);
    if found.likely.is_empty() {
        found.likely.clone_from(&found.tasks);
    }
    found.likely.retain(|&one| one != number);
    // A signal may come that the log cannot foresee: of a timer that runs.
    if world.space(number).is_some_and(Space::may_be_helped) {
        found.all = false;
    }
    found
}

/// Those whose signal, or whose end, may end a wait of a task by its handler.
fn signallers(world: &World, task: &Live, others: &Others) -> Vec<u32> {
    let Some(handled) = world.spaces.get(&task.space).map(|space| space.handled) else {
        return Vec::new();
    };
    if handled.messages() || handled.requests() {
        let apart = |one: &&u32| world.task(**one).is_some_and(|one| one.space != task.space);
        return others.all.iter().filter(apart).copied().collect();
    }
    if handled.children() {
        return children(world, others, task, None).tasks;
    }
    Vec::new()
}

/// Those of the log that live, and are `wanted`.
fn with(world: &World, others: &Others, wanted: impl Fn(&Live) -> bool) -> Vec<u32> {
    let wanted = |&&number: &&u32| world.task(number).is_some_and(&wanted);
    others.all.iter().filter(wanted).copied().collect()
}

fn futex(
    world: &World,
    others: &Others,
    (number, task): (u32, &Live),
    (key, private, value): (FutexKey, bool, i64),
) -> Wakers {
    let mut found = Wakers { all: true, shown: true, certain: true, ..Wakers::default() };
    // pthread_join waits for the id of a thread to be cleared.
    let joined = i32::try_from(value).ok().filter(|_| !private);
    let joined = joined.and_then(|tid| world.by_tid.get(&(task.source, tid)).copied());
    if let Some(thread) = joined
        && world.task(thread).is_some_and(|one| one.pid == task.pid)
        && thread != number
    {
        // The kernel wakes who waits for a thread that ended.
        found.woken = world.task(thread).is_some_and(|one| !one.alive);
        found.tasks.push(thread);
        return found;
    }
    match key {
        FutexKey::Private(space, _) => {
            let Some(space) = world.spaces.get(&space) else { return Wakers::default() };
            found.tasks.clone_from(&space.tasks);
            found.certain = space.known;
            found.killed = space.killed;
            // A log may be that of one thread alone. Memory of which the log does not show what is
            // mapped may be shared.
            let several = || others.all.len() > 1;
            found.all = task.tid.is_some() && (space.known || private && several());
            // A thread whose creation is not in the log; of tasks that are older than the log, each
            // may be a thread of the same process.
            let older = |one: &Live| {
                !space.known && world.spaces.get(&one.space).is_some_and(|space| !space.known)
            };
            let strangers = with(world, others, |one| {
                one.space != task.space && (one.pid == task.pid || older(one))
            });
            found.certain &= strangers.is_empty();
            found.tasks.extend(strangers);
        }
        FutexKey::Shared(object, offset) => {
            found.killed = world.killed_with(object);
            let mut spaces = 0;
            for space in world.spaces.values().filter(|space| space.maps((object, offset))) {
                found.tasks.extend(&space.tasks);
                found.certain &= space.known;
                spaces += 1;
            }
            // Of a file that nobody else mapped, those who should may not be in the log.
            found.certain &=
                spaces > 1 || !world.is_file(object) || world.lost_mapping(object).is_some();
        }
    }
    found
}

fn ends(world: &World, (number, task): (u32, &Live), ends: &[(Ofd, bool)], since: i64) -> Wakers {
    let mut found = Wakers { all: true, shown: true, certain: true, ..Wakers::default() };
    for &(ofd, take) in ends {
        let end = world.ends.get(ofd);
        let Some(((peer, other), end)) = world.ends.source_of(ofd).zip(end) else {
            (found.all, found.shown) = (false, false);
            continue;
        };
        let holders = world.holders(peer);
        let own = |&holder: &u32| world.task(holder).is_some_and(|one| one.table == task.table);
        // A connect waits until who listens has room in its queue.
        let listens = end.kind == Kind::Listening && !take;
        let queued = end.kind == Kind::Queued;
        let known = end.kind.shows_peer() && other.kind.shows_peer() || listens || queued;
        found.shown &= known;
        found.all &= known && !end.unsure && !other.unsure;
        // With such a pipe a handler of signals wakes its own process.
        let held_by_itself = holders.iter().any(own);
        found.own |= held_by_itself;
        found.killed = found.killed.max(other.killed);
        found.all &= !(held_by_itself && other.nonblocking);
        // Anybody may open a FIFO. Who holds both sides of it expects that.
        let fifo = end.kind == Kind::Fifo;
        found.all &= !(held_by_itself && fifo);
        // Without a holder the call returns at once.
        found.woken |= holders.is_empty();
        let (from, to) = if take { (other, end) } else { (end, other) };
        found.woken |= from.gives_no_more() || to.takes_no_more();
        let acts: &Acts = if take { &other.gave } else { &other.took };
        // Others that connect do not help who waits in the queue.
        found.woken |= acts.any_since(since) && !queued;
        if take && matches!(end.kind, Kind::Pipe | Kind::Fifo | Kind::Pair | Kind::Connection) {
            found.woken |= other.given > end.taken;
        }
        found.certain &= known && !fifo && (!(listens || queued) || other.is_named_for_sure());
        let gives = |holder: &u32| !take || other.givers.contains(holder);
        found.likely.extend(holders.iter().copied().filter(|one| !own(one) || gives(one)));
        found.tasks.extend(holders);
        // Whoever holds a socket can end all calls on it: shutdown(2).
        if matches!(end.kind, Kind::Pair | Kind::Connection | Kind::Queued) {
            found.tasks.extend(world.tables.tasks_that_hold(ofd));
        }
    }
    found.likely.retain(|&one| one != number);
    found
}

/// Of a semaphore or queue without a key: its creator, whom that made, and who used it.
fn ipc(world: &World, others: &Others, (key, take): (IpcKey, bool), since: i64) -> Wakers {
    let Some(one) = world.ipcs.get(key).filter(|one| !one.anybody) else {
        return Wakers::default();
    };
    let mut found = Wakers { all: true, shown: true, ..Wakers::default() };
    let Some(creator) = one.creator else { return Wakers::default() };
    let could = |one_task: &u32| one.users.contains(one_task) || world.descends(*one_task, creator);
    found.tasks = others.all.iter().copied().filter(could).collect();
    // Another task of the log may have been told its number.
    found.certain = found.tasks.len() == others.all.len();
    let acts = if take { &one.gave } else { &one.took };
    found.woken = acts.any_since(since);
    found
}

fn children(world: &World, others: &Others, task: &Live, pid: Option<i32>) -> Wakers {
    let mut found = Wakers { all: true, shown: true, certain: true, ..Wakers::default() };
    let mine = |one: &Live| {
        let parent = one.parent.and_then(|parent| world.task(parent));
        !one.thread
            && parent.is_some_and(|parent| parent.pid == task.pid)
            && pid.is_none_or(|pid| one.pid == Some(pid) || one.tid == Some(pid))
    };
    let mine = with(world, others, mine).into_iter();
    let pids: HashSet<i32> = mine.filter_map(|child| world.task(child)?.pid).collect();
    found.tasks = with(world, others, |one| one.pid.is_some_and(|pid| pids.contains(&pid)));
    found
}
