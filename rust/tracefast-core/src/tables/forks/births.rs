//! Births of tasks: calls that create them, and events that report them.

use crate::linux::clone::{Kind, kind_of};
use crate::tables::forks::fold::{At, Columns, Forks};
use crate::tables::forks::task::Birth;
use crate::tables::forks::word_classes::Maker;
use crate::tables::packed::Packed;
use crate::tables::process_tracking::kinds;
use crate::tables::process_tracking::namespaces::Move;

impl Birth {
    /// How the task was created, by the flags.
    pub(crate) fn kind(&self) -> Option<Kind> {
        let name = self.name.map_or("", Maker::text);
        self.kind
            .or_else(|| self.event_flags.get().map(|flags| Kind::from_flags(name, flags, None)))
    }
}

impl Forks {
    /// A call that creates a task, or tries to.
    pub(crate) fn makes(
        &mut self,
        (tasks, columns): &mut Columns<'_>,
        at: &At<'_>,
        caller: Option<u32>,
        maker: Maker,
    ) {
        let pid = at.ret.filter(|&pid| pid > 0).and_then(|pid| i32::try_from(pid).ok());
        let attempt = self.attempt(caller, maker);
        let announced = self.announced(at, caller, pid);
        let number = match (attempt, announced) {
            (Some(attempt), Some(announced)) => {
                self.join(attempt, announced);
                attempt
            }
            (Some(known), None) | (None, Some(known)) => known,
            (None, None) => self.new_birth(at.source),
        };
        let pid_number = caller.and_then(|caller| self.tasks.get(caller as usize)?.pid.get());
        let anon = pid_number.and_then(|number| self.pids.get(number)?.anon.get());
        let comm = self.tracker.comm(tasks, at.row);
        let Some(birth) = self.births.get_mut(number as usize) else { return };
        if birth.attempts == 0 {
            birth.ts.set(at.ts);
            birth.line.set(columns.line.get(at.row));
        }
        birth.attempts = birth.attempts.saturating_add(1);
        birth.task.set(tasks.task.get(at.row));
        birth.pid.set(tasks.pid.get(at.row));
        birth.tid.set(tasks.tid.get(at.row));
        (birth.caller, birth.comm) = (caller.into(), comm.into());
        birth.name = Some(maker);
        birth.kind = kind_of(maker.text(), at.args.unwrap_or_default());
        birth.errno.set(at.errno.map(|errno| errno.name));
        birth.interrupted = at.errno.is_some_and(|errno| errno.restarts);
        if let Some(dur) = at.dur {
            birth.call.set(birth.call.get().unwrap_or(0).saturating_add(dur));
        }
        birth.anon.set_last(anon.or_else(|| columns.anon.get(at.row)));
        birth.child_pid.set_last(pid);
        birth.row = self.tracker.row;
        let interrupted = birth.interrupted;
        if let Some(caller) = caller.and_then(|caller| self.tasks.get_mut(caller as usize)) {
            caller.made.set(number);
            caller.attempts.retain(|&attempt| attempt != number);
            if interrupted {
                caller.attempts.push(number);
            }
        }
        if let Some(pid) = pid_number.and_then(|number| self.pids.get_mut(number)) {
            pid.made.set(number);
        }
        let child = tasks.child.get(at.row);
        if child.is_some() || pid.is_some() {
            self.set_child(number, child, pid);
        }
    }

    /// The earlier attempt that this call repeats, if the kernel restarted it.
    fn attempt(&self, caller: Option<u32>, maker: Maker) -> Option<u32> {
        let caller = self.tasks.get(caller? as usize)?;
        let same = |&&number: &&u32| {
            self.births.get(number as usize).is_some_and(|birth| birth.name == Some(maker))
        };
        caller.attempts.iter().find(same).copied()
    }

    /// The birth that events reported for the task that this call created.
    fn announced(&self, at: &At<'_>, caller: Option<u32>, pid: Option<i32>) -> Option<u32> {
        let caller = caller?;
        let number = match (pid, at.ret) {
            (Some(pid), _) => {
                let child = *self.tids.get(&(at.source, pid))?;
                self.tasks.get(child as usize)?.birth.get()
            }
            // The end of the call is not in the log.
            (None, None) => self.tasks.get(caller as usize)?.announced.get(),
            _ => None,
        }?;
        let birth = self.births.get(number as usize)?;
        let within = pid.is_some() || birth.ts.get() >= at.ts;
        (birth.name.is_none() && birth.caller.get() == Some(caller) && within).then_some(number)
    }

    /// Joins a birth that an event reported to the birth of a call with an earlier attempt.
    fn join(&mut self, attempt: u32, announced: u32) {
        let Some(reported) = self.births.get_mut(announced as usize) else { return };
        let child_pid = reported.child_pid;
        let (child, child_task, flags) =
            (reported.child, reported.child_task, reported.event_flags);
        // It is not a separate birth.
        reported.caller.set(None);
        reported.joined = true;
        let Some(birth) = self.births.get_mut(attempt as usize) else { return };
        (birth.child, birth.child_task, birth.child_pid) = (child, child_task, child_pid);
        birth.event_flags = flags;
        if let Some(child) = child.get().and_then(|child| self.tasks.get_mut(child as usize)) {
            child.birth.set(attempt);
        }
    }

    /// An event that reports a new task.
    pub(crate) fn announces(
        &mut self,
        (tasks, columns): &mut Columns<'_>,
        at: &At<'_>,
        caller: u32,
        pid: i32,
        flags: Option<u32>,
    ) {
        let by_fork = flags.is_none();
        let known = self.tids.get(&(at.source, pid)).and_then(|&child| {
            let birth = self.tasks.get(child as usize)?.birth.get()?;
            let reported = self.births.get(birth as usize)?;
            // The other of the two events reported it just before.
            let other = if by_fork { !reported.by_fork } else { !reported.by_new_task };
            let same = reported.name.is_none() && reported.caller.get() == Some(caller);
            (same && other).then_some(birth)
        });
        let number = known.unwrap_or_else(|| self.new_birth(at.source));
        let pid_number = self.tasks.get(caller as usize).and_then(|caller| caller.pid.get());
        let anon = pid_number.and_then(|number| self.pids.get(number)?.anon.get());
        let comm = self.tracker.comm(tasks, at.row);
        let Some(birth) = self.births.get_mut(number as usize) else { return };
        birth.by_fork |= by_fork;
        birth.by_new_task |= !by_fork;
        birth.event_flags.set_last(flags);
        birth.child_pid.set(pid);
        if known.is_none() {
            birth.ts.set(at.ts);
            birth.line.set(columns.line.get(at.row));
            birth.task.set(tasks.task.get(at.row));
            birth.pid.set(tasks.pid.get(at.row));
            birth.tid.set(tasks.tid.get(at.row));
            (birth.caller, birth.comm, birth.anon) = (caller.into(), comm.into(), anon.into());
            birth.row = self.tracker.row;
            // A reused id now belongs to the new task.
            let child = self.new_task(at.source, 1);
            self.tids.insert((at.source, pid), child);
            self.pids.forget(at.source, pid);
            self.bind(number, child);
        } else if let Some(child) = birth.child.get() {
            self.add_gaps(child);
        }
        if let Some(caller) = self.tasks.get_mut(caller as usize) {
            caller.announced.set(number);
        }
    }

    /// How a task was created: by the flags, or else by what it did; None if nothing shows it.
    pub(crate) fn kind(&self, birth: &Birth) -> Option<Kind> {
        self.shown_kind(birth).or_else(|| {
            // Of the callers of clone3 in the C library, only threads call `set_robust_list`.
            let child = self.tasks.get(birth.child.get()? as usize)?;
            let robust = child.robust && child.execs_failed() == 0;
            (robust && birth.name.is_some_and(Maker::is_clone3)).then_some(Kind::Thread)
        })
    }

    /// The same without guesses from the calls of a child.
    fn shown_kind(&self, birth: &Birth) -> Option<Kind> {
        birth.kind().or_else(|| {
            let child = self.tasks.get(birth.child.get()? as usize)?;
            kinds::kind(&self.tracker.tasks, self.tracker.tasks.get(child.tracked.get()? as usize)?)
        })
    }

    /// Whether a birth is known to have created a thread.
    pub(crate) fn is_thread(&self, birth: u32) -> bool {
        let birth = self.births.get(birth as usize);
        birth.is_some_and(|birth| self.shown_kind(birth) == Some(Kind::Thread))
    }

    fn new_birth(&mut self, source: u32) -> u32 {
        let number = self.births.len() as u32;
        self.births.push(Birth { source, ..Birth::default() });
        number
    }

    /// Sets the child of a call: `number` is its task in the events, `pid` the returned id.
    fn set_child(&mut self, birth: u32, number: Option<u32>, pid: Option<i32>) {
        let Some(known) = self.births.get_mut(birth as usize) else { return };
        let (source, child) = (known.source, known.child.get());
        known.child_task.set_last(number);
        let ts = known.ts.get();
        let tracked = number.map(|number| self.tracker.number(source, number));
        let by_number = tracked.and_then(|tracked| self.task_of(tracked));
        // Without a number, the returned id finds a child that ran before the call returned.
        let by_id = || {
            let child = self.tids.get(&(source, pid.filter(|_| number.is_none())?)).copied()?;
            let task = self.tasks.get(child as usize)?;
            (task.birth.is_none() && self.first(task) >= ts).then_some(child)
        };
        let child = by_number.or(child).or_else(by_id).unwrap_or_else(|| self.new_task(source, 1));
        if let Some(tracked) = tracked {
            self.track(child, tracked);
        }
        if let Some(pid) = pid {
            self.tids.insert((source, pid), child);
            if self.tasks.get(child as usize).is_some_and(|child| !child.seen()) {
                // The id is used again.
                self.pids.forget(source, pid);
            }
        }
        self.bind(birth, child);
    }

    fn bind(&mut self, birth: u32, child: u32) {
        if let Some(birth) = self.births.get_mut(birth as usize) {
            birth.child.set(child);
        }
        if let Some(child) = self.tasks.get_mut(child as usize) {
            child.birth.set_first(birth);
        }
        self.add_gaps(child);
    }

    /// Calls turned out to have other children, or it is open which.
    pub(crate) fn rebind(&mut self, moves: &[Move]) {
        let mut births = Vec::with_capacity(moves.len());
        for (call, child) in moves {
            let claimed = self.task_of(call.claimed).and_then(|at| self.tasks.get_mut(at as usize));
            let birth = claimed.and_then(|claimed| std::mem::take(&mut claimed.birth).get());
            births.extend(birth.map(|birth| (birth, *child)));
        }
        for (number, child) in births {
            let child = child.and_then(|child| self.task_of(child));
            let Some(birth) = self.births.get_mut(number as usize) else { continue };
            (birth.child, birth.child_task) = (child.into(), Packed::default());
            if let Some(child) = child.and_then(|child| self.tasks.get_mut(child as usize)) {
                child.birth.set(number);
            }
        }
    }
}
