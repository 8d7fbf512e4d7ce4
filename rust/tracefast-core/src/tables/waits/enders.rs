//! Who ended a wait.

use std::collections::VecDeque;

use crate::tables::waits::arguments::ready;
use crate::tables::waits::calls::Waiting;
use crate::tables::waits::fold::{At, Waits};
use crate::tables::waits::wait::{Wait, Waker};
use crate::tables::waits::word_classes::Act;
use crate::tables::waits::world::acts;
use crate::tables::waits::world::descriptors::Ofd;
use crate::tables::waits::world::ends::{End, Kind};
use crate::tables::waits::world::ipc::{Ipc, IpcKey};
use crate::tables::waits::world::locks::LockedFile;
use crate::tables::waits::world::spaces::FutexKey;
use crate::tables::waits::world::tasks::{Target, World};
use crate::tables::waits::world::wakes::{ANY, Wake};

/// Waits that ended a moment ago, and whose ender has not yet shown itself.
const MOST: usize = 64;

/// Of so many ends nobody looks for who ended a wait, if the log does not say which was ready.
pub(crate) const MOST_ENDS: usize = 256;

/// Waits whose ender may come later: its call was under way when theirs returned.
#[derive(Debug, Default)]
pub(crate) struct Late {
    waits: VecDeque<LateWait>,
}

#[derive(Debug)]
struct LateWait {
    wait: u32,
    target: Target,
    from: i64,
    to: i64,
}

impl Late {
    fn push(&mut self, wait: LateWait) {
        if self.waits.len() == MOST {
            self.waits.pop_front();
        }
        self.waits.push_back(wait);
    }

    /// A futex was woken.
    pub(crate) fn woke(&mut self, waits: &mut [Wait], key: FutexKey, wake: Wake) {
        self.ended(waits, wake.act, |target| match *target {
            Target::Futex { key: one, mask, .. } => {
                (one == key && mask & wake.mask != 0).then_some(wake.sure && wake.moved.is_none())
            }
            _ => None,
        });
    }

    /// A semaphore or queue was used; `taker`: those are woken who wait to take from it.
    pub(crate) fn used(
        &mut self,
        waits: &mut [Wait],
        key: IpcKey,
        (taker, exact): (bool, bool),
        act: acts::Act,
    ) {
        self.ended(waits, act, |target| match target {
            Target::Ipc(one, take) => (*one == key && *take == taker).then_some(exact),
            _ => None,
        });
    }

    /// A lock was given back.
    pub(crate) fn unlocked(&mut self, waits: &mut [Wait], file: LockedFile, act: acts::Act) {
        self.ended(waits, act, |target| match target {
            Target::Lock(one, _) => (*one == file).then_some(true),
            _ => None,
        });
    }

    /// Something was given to an end, or taken from it.
    pub(crate) fn acted(
        &mut self,
        waits: &mut [Wait],
        world: &World,
        ofd: Ofd,
        gave: bool,
        act: acts::Act,
    ) {
        self.ended(waits, act, |target| {
            let Target::Ends { ends, others, .. } = target else { return None };
            let found = ends.iter().any(|&(end, take)| {
                take == gave && world.ends.get(end).is_some_and(|end| end.peer == Some(ofd))
            });
            let shows = |end: &End| end.kind.shows_peer() && end.kind != Kind::Fifo;
            let known = world.ends.get(ofd).is_some_and(shows);
            found.then_some(known && ends.len() == 1 && !others)
        });
    }

    /// A side of a FIFO was opened.
    pub(crate) fn opened(&mut self, waits: &mut [Wait], side: Ofd, act: acts::Act) {
        self.ended(waits, act, |target| (*target == Target::Opening(side)).then_some(false));
    }

    fn ended(
        &mut self,
        waits: &mut [Wait],
        act: acts::Act,
        ends: impl Fn(&Target) -> Option<bool>,
    ) {
        if self.waits.is_empty() {
            return;
        }
        self.waits.retain(|late| {
            // What began later ended no wait of these.
            if act.ts > late.to.saturating_add(acts::LATER_NS) {
                return false;
            }
            let Some(exact) = ends(&late.target).filter(|_| act.end >= late.from) else {
                return true;
            };
            let Some(wait) = waits.get_mut(late.wait as usize) else { return false };
            if wait.task == act.task {
                return true;
            }
            let in_time = act.ts <= late.to;
            if in_time || wait.waker.is_none() && late.to - late.from >= acts::LATER_NS {
                let exact = exact && in_time;
                wait.waker = Some(Waker { task: act.task, line: act.line, exact });
            }
            // Who began in time may still come.
            !in_time
        });
    }
}

impl Waits {
    /// Finds who ended a wait that lasted from one moment to another.
    pub(crate) fn find_ender(
        &mut self,
        at: &At<'_>,
        waiting: &Waiting,
        number: u32,
        (from, to): (i64, i64),
        (result, accepted): (&str, Option<Ofd>),
    ) {
        let ready = ready(result)
            .and_then(|fd| self.world.tables.descriptor(self.world.task(at.task)?.table, fd))
            .map(|descriptor| descriptor.ofd)
            .or_else(|| self.ready_of_set(at, &waiting.target));
        if let (None, Target::Ends { ends, .. }) = (ready, &waiting.target)
            && ends.len() >= MOST_ENDS
        {
            return;
        }
        let mut moved_to = None;
        let waker = match &waiting.target {
            &Target::Futex { key, value, private, mask, .. } => {
                let (woken, last) = self.world.woken_by(key, (at.task, mask, from, to));
                moved_to = (last != key).then_some(last);
                self.joined(at, value, private).or(woken)
            }
            Target::Ends { ends, others, .. } => {
                self.giver(at.task, (ends, *others), ready, (from, to))
            }
            Target::Child(_) | Target::Vfork => self.child(at, at.ret),
            Target::Lock(file, _) => {
                let released = self.world.locks.released(*file);
                released.and_then(|acts| acts.ender(at.task, from, to))
            }
            &Target::Ipc(key, take) => {
                let one = self.world.ipcs.get(key);
                let ender = |one: &Ipc| {
                    let acts = if take { &one.gave } else { &one.took };
                    let waker = acts.ender(at.task, from, to)?;
                    Some(Waker { exact: waker.exact && !one.anybody, ..waker })
                };
                one.and_then(ender)
            }
            &Target::Opening(side) => {
                let fifo = self.world.ends.get(side).and_then(|end| end.fifo.as_deref());
                let waker = fifo.and_then(|fifo| fifo.opened.ender(at.task, from, to));
                waker.map(|waker| Waker { exact: false, ..waker })
            }
            Target::Lease(file) => {
                let lease = self.world.leases.get(*file);
                lease.and_then(|lease| lease.released.ender(at.task, from, to))
            }
            _ if at.act == Act::Accept => self.client(at, accepted, number),
            Target::Timer | Target::Outside | Target::Unknown => None,
        };
        let open = matches!(
            waiting.target,
            Target::Futex { .. }
                | Target::Ends { .. }
                | Target::Opening(_)
                | Target::Lock(..)
                | Target::Ipc(..)
        );
        match waker {
            Some(_) => {
                if let Some(wait) = self.rows.get_mut(number as usize) {
                    wait.waker = waker;
                }
            }
            None if open => {
                let target = match (ready, moved_to, &waiting.target) {
                    (_, Some(key), &Target::Futex { address, private, value, .. }) => {
                        Target::Futex { key, address, private, value, mask: ANY }
                    }
                    (Some(ofd), _, Target::Ends { ends, others, set }) => {
                        let ends = ends.iter().copied().filter(|&(end, _)| end == ofd).collect();
                        Target::Ends { ends, others: *others, set: *set }
                    }
                    (_, _, target) => target.clone(),
                };
                self.late.push(LateWait { wait: number, target, from, to });
            }
            None => {}
        }
    }

    /// The thread that `pthread_join` waited for: the kernel clears its id and wakes the futex when
    /// it ends (`CLONE_CHILD_CLEARTID` in clone(2)).
    fn joined(&self, at: &At<'_>, value: i64, private: bool) -> Option<Waker> {
        let tid = i32::try_from(value).ok().filter(|&tid| tid > 0 && !private)?;
        let &task = self.world.by_tid.get(&(at.source, tid))?;
        let ended = self.world.task(task)?;
        let me = self.world.task(at.task)?;
        (!ended.alive && ended.pid == me.pid && task != at.task).then_some(Waker {
            task,
            line: ended.last_line,
            exact: true,
        })
    }

    /// Who gave to, or took from, the other end.
    fn giver(
        &self,
        task: u32,
        (ends, others): (&[(Ofd, bool)], bool),
        ready: Option<Ofd>,
        (from, to): (i64, i64),
    ) -> Option<Waker> {
        let chosen = ends.iter().filter(|&&(ofd, _)| ready.is_none_or(|ready| ready == ofd));
        let alone = ready.is_some() || ends.len() == 1 && !others;
        let wakers = chosen.filter_map(|&(ofd, take)| {
            let (_, peer) = self.world.ends.source_of(ofd)?;
            let acts = if take { &peer.gave } else { &peer.took };
            let waker = acts.ender(task, from, to)?;
            // Others may have opened a FIFO.
            let known = peer.kind.shows_peer() && peer.kind != Kind::Fifo && !peer.unsure;
            Some(Waker { exact: waker.exact && known && alone, ..waker })
        });
        wakers.min_by_key(|waker| waker.line)
    }

    /// The child that a call returned.
    fn child(&self, at: &At<'_>, ret: Option<i64>) -> Option<Waker> {
        let named = || {
            let arguments = at.args;
            let (_, rest) = arguments.split_once("si_pid=")?;
            let (pid, n) = crate::text::number::c_integer(rest.as_bytes());
            (n > 0).then_some(pid)
        };
        let pid = ret.filter(|&pid| pid > 0).or_else(named)?;
        let &task = self.world.by_tid.get(&(at.source, i32::try_from(pid).ok()?))?;
        let child = self.world.task(task)?;
        let line = if child.alive { child.exec_line } else { child.last_line };
        (line > 0 && task != at.task).then_some(Waker { task, line, exact: true })
    }
}
