//! Births of tasks: calls that create them, and events that report them.

use crate::linux::clone::{Kind, kind_of};
use crate::tables::forks::arguments;
use crate::tables::forks::fold::{At, Columns, Forks};
use crate::tables::forks::pipes::{Pipe, Wait};
use crate::tables::forks::task::{Birth, Image};
use crate::tables::forks::word_classes::{Act, Maker};

impl Birth {
    pub(crate) fn kind(&self) -> Option<Kind> {
        let name = self.name.map_or("", Maker::text);
        self.kind.or_else(|| self.event_flags.map(|flags| Kind::from_flags(name, flags, None)))
    }
}

impl Forks {
    /// A call that creates a task, or tries to.
    pub(crate) fn makes(
        &mut self,
        columns: &mut Columns<'_>,
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
        let process = caller.and_then(|caller| self.tasks.get(caller as usize)?.process);
        let known = process.and_then(|process| self.processes.get(process as usize));
        let (image, anon) = known.map_or((Image::Unknown, None), |p| (p.image, p.anon));
        let names = &mut self.names;
        let comm = columns.comm.get(at.row, |comm| names.number(comm));
        let Some(birth) = self.births.get_mut(number as usize) else { return };
        if birth.attempts == 0 {
            birth.ts = at.ts;
            birth.line = columns.line.get(at.row);
        }
        birth.attempts = birth.attempts.saturating_add(1);
        birth.task = columns.task_of(at.row);
        birth.pid = columns.pid.get(at.row);
        birth.tid = columns.tid.get(at.row);
        (birth.caller, birth.process) = (caller, process);
        (birth.image, birth.comm) = (image, comm);
        birth.name = Some(maker);
        birth.kind = kind_of(maker.text(), at.args.unwrap_or_default());
        birth.errno = at.errno.map(|errno| errno.name);
        birth.interrupted = at.errno.is_some_and(|errno| errno.restarts);
        if let Some(dur) = at.dur {
            birth.call = Some(birth.call.unwrap_or(0).saturating_add(dur));
        }
        birth.anon = anon.or_else(|| columns.anon.get(at.row)).or(birth.anon);
        birth.child_pid = pid.or(birth.child_pid);
        birth.row = self.rows;
        let interrupted = birth.interrupted;
        if let Some(caller) = caller.and_then(|caller| self.tasks.get_mut(caller as usize)) {
            caller.made = Some(number);
            caller.attempts.retain(|&attempt| attempt != number);
            if interrupted {
                caller.attempts.push(number);
            }
        }
        if let Some(process) = process.and_then(|p| self.processes.get_mut(p as usize)) {
            process.made = Some(number);
        }
        let child = columns.child.get(at.row);
        if child.is_some() || pid.is_some() {
            self.bears(number, child, pid);
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
                self.tasks.get(child as usize)?.birth
            }
            // The end of the call is not in the log.
            (None, None) => self.tasks.get(caller as usize)?.announced,
            _ => None,
        }?;
        let birth = self.births.get(number as usize)?;
        let within = pid.is_some() || birth.ts >= at.ts;
        (birth.name.is_none() && birth.caller == Some(caller) && within).then_some(number)
    }

    /// Joins a birth that an event reported to the birth of a call with an earlier attempt.
    fn join(&mut self, attempt: u32, announced: u32) {
        let Some(told) = self.births.get_mut(announced as usize) else { return };
        let (child, child_task, child_pid) = (told.child, told.child_task, told.child_pid);
        let flags = told.event_flags;
        // It is not a separate birth.
        told.caller = None;
        told.joined = true;
        let Some(birth) = self.births.get_mut(attempt as usize) else { return };
        (birth.child, birth.child_task, birth.child_pid) = (child, child_task, child_pid);
        birth.event_flags = flags;
        if let Some(child) = child.and_then(|child| self.tasks.get_mut(child as usize)) {
            child.birth = Some(attempt);
            let process = child.process.and_then(|p| self.processes.get_mut(p as usize));
            if let Some(process) = process
                && process.birth == Some(announced)
            {
                process.birth = Some(attempt);
            }
        }
    }

    /// An event that reports a new task.
    pub(crate) fn announces(
        &mut self,
        columns: &mut Columns<'_>,
        at: &At<'_>,
        caller: u32,
        pid: i32,
        flags: Option<u32>,
    ) {
        let by_fork = flags.is_none();
        let known = self.tids.get(&(at.source, pid)).and_then(|&child| {
            let birth = self.tasks.get(child as usize)?.birth?;
            let told = self.births.get(birth as usize)?;
            // The other of the two events reported it just before.
            let other = if by_fork { !told.by_fork } else { !told.by_new_task };
            let same = told.name.is_none() && told.caller == Some(caller);
            (same && other).then_some(birth)
        });
        let number = known.unwrap_or_else(|| self.new_birth(at.source));
        let process = self.tasks.get(caller as usize).and_then(|caller| caller.process);
        let parent = process.and_then(|process| self.processes.get(process as usize));
        let (image, anon) = parent.map_or((Image::Unknown, None), |p| (p.image, p.anon));
        let names = &mut self.names;
        let comm = columns.comm.get(at.row, |comm| names.number(comm));
        let Some(birth) = self.births.get_mut(number as usize) else { return };
        birth.by_fork |= by_fork;
        birth.by_new_task |= !by_fork;
        birth.event_flags = flags.or(birth.event_flags);
        birth.child_pid = Some(pid);
        if known.is_none() {
            birth.ts = at.ts;
            birth.line = columns.line.get(at.row);
            birth.task = columns.task_of(at.row);
            birth.pid = columns.pid.get(at.row);
            birth.tid = columns.tid.get(at.row);
            (birth.caller, birth.process) = (Some(caller), process);
            (birth.image, birth.comm, birth.anon) = (image, comm, anon);
            birth.row = self.rows;
            // A reused id now belongs to the new task.
            let child = self.new_task(at.source, 1);
            self.tids.insert((at.source, pid), child);
            self.bind(number, child);
        } else if let Some(child) = birth.child {
            self.settle(child);
        }
        if let Some(caller) = self.tasks.get_mut(caller as usize) {
            caller.announced = Some(number);
        }
    }

    /// Infers the kinds of births whose flags are not in the log from what the child did.
    pub(crate) fn guess(&mut self) {
        for number in 0..self.births.len() as u32 {
            let Some(birth) = self.births.get(number as usize) else { continue };
            let child = birth.child;
            let Some(kind) = self.kind_by_life(number) else { continue };
            let process = birth.process;
            if let Some(birth) = self.births.get_mut(number as usize) {
                birth.kind = Some(kind);
            }
            if let Some(child) = child.and_then(|child| self.tasks.get_mut(child as usize))
                && kind == Kind::Thread
            {
                child.process = process;
            }
        }
    }

    /// Only `clone3` hides its flags. The C library uses it to create threads, which call
    /// `set_robust_list`, and processes that start a program while the caller waits.
    fn kind_by_life(&self, number: u32) -> Option<Kind> {
        let birth = self.births.get(number as usize)?;
        if birth.kind().is_some() || !birth.name.is_some_and(Maker::is_clone3) {
            return None;
        }
        if self.is_thread(number) {
            return Some(Kind::Thread);
        }
        let child = self.tasks.get(birth.child? as usize)?;
        if let Some(exec) = child.exec {
            let end = birth.ts.zip(birth.call).map(|(ts, call)| ts.saturating_add(call));
            let over = end.zip(exec.ts).is_some_and(|(end, exec)| end < exec);
            return Some(if over { Kind::Fork } else { Kind::PosixSpawn });
        }
        (child.robust && child.exec_failed == 0).then_some(Kind::Thread)
    }

    fn new_birth(&mut self, source: u32) -> u32 {
        let number = self.births.len() as u32;
        self.births.push(Birth { source, ..Birth::default() });
        number
    }

    /// Sets the child of a call: `number` is its task in the events, `pid` the returned id.
    fn bears(&mut self, birth: u32, number: Option<u32>, pid: Option<i32>) {
        let Some(known) = self.births.get_mut(birth as usize) else { return };
        let (source, child) = (known.source, known.child);
        known.child_task = number.or(known.child_task);
        let ts = known.ts;
        let by_number = number.and_then(|number| self.numbers.get(&(source, number)).copied());
        // Without a number, the returned id finds a child that ran before the call returned.
        let by_id = || {
            let child = self.tids.get(&(source, pid.filter(|_| number.is_none())?)).copied()?;
            let task = self.tasks.get(child as usize)?;
            (task.birth.is_none() && task.first >= ts).then_some(child)
        };
        let child = by_number.or(child).or_else(by_id).unwrap_or_else(|| self.new_task(source, 1));
        if let Some(number) = number {
            self.numbers.insert((source, number), child);
            if let Some(child) = self.tasks.get_mut(child as usize) {
                child.number.get_or_insert(number);
            }
        }
        if let Some(pid) = pid {
            self.tids.insert((source, pid), child);
        }
        self.bind(birth, child);
    }

    fn bind(&mut self, birth: u32, child: u32) {
        if let Some(birth) = self.births.get_mut(birth as usize) {
            birth.child = Some(child);
        }
        if let Some(child) = self.tasks.get_mut(child as usize) {
            child.birth.get_or_insert(birth);
        }
        self.settle(child);
    }

    pub(crate) fn pipe(&mut self, columns: &Columns<'_>, at: &At<'_>, task: u32) {
        let ends = columns.ofd[0].get(at.row).zip(columns.ofd[1].get(at.row));
        let Some((read_end, write_end)) = ends else { return };
        if at.ret == Some(0) && at.args.is_some_and(arguments::closes_on_exec) {
            let process = self.tasks.get(task as usize).and_then(|task| task.process);
            let row = self.rows;
            let pipe = Pipe { write_end, task, process, row, closed: false, birth: None };
            self.pipes.insert(at.source, read_end, pipe);
        }
    }

    /// A call on a descriptor that may be such a pipe.
    pub(crate) fn uses_pipe(&mut self, columns: &Columns<'_>, at: &At<'_>, task: u32) {
        let Some(ofd) = columns.ofd[0].get(at.row) else { return };
        let process = self.tasks.get(task as usize).and_then(|task| task.process);
        match at.act {
            Act::Close => {
                if let Some((_, pipe)) = self.pipes.written_through(at.source, ofd) {
                    pipe.closed |= pipe.process == process;
                } else if let Some(pipe) = self.pipes.read_through(at.source, ofd)
                    && pipe.process == process
                {
                    self.pipes.remove(at.source, ofd);
                }
            }
            Act::Dup => {
                // A pipe that the child's program inherits does not report on the child.
                if let Some((read_end, pipe)) = self.pipes.written_through(at.source, ofd)
                    && pipe.process != process
                    && at.args.is_some_and(arguments::hands_on)
                {
                    let birth = pipe.birth;
                    self.pipes.remove(at.source, read_end);
                    if let Some(birth) = birth.and_then(|b| self.births.get_mut(b as usize)) {
                        birth.pipe = None;
                    }
                }
            }
            _ => self.reads_pipe(at, ofd, process),
        }
    }

    fn reads_pipe(&mut self, at: &At<'_>, ofd: u32, process: Option<u32>) {
        let Some(ret) = at.ret.filter(|&ret| ret >= 0) else { return };
        let Some(pipe) = self.pipes.read_through(at.source, ofd) else { return };
        if !pipe.closed || pipe.process != process {
            return;
        }
        let first = pipe.birth.is_none();
        if first {
            // The last child of the thread that created the pipe, or else of its process.
            let since = |&number: &u32| {
                self.births.get(number as usize).is_some_and(|birth| birth.row > pipe.row)
            };
            let by_task = self.tasks.get(pipe.task as usize).and_then(|task| task.made);
            let by_process = || self.processes.get(process? as usize)?.made;
            pipe.birth = by_task.filter(since).or_else(|| by_process().filter(since));
        }
        let number = pipe.birth;
        let taken =
            number.and_then(|number| self.births.get(number as usize)).is_none_or(|birth| {
                first && birth.pipe.is_some()
                    || birth.child.is_none()
                    || birth.kind() == Some(Kind::Thread)
            });
        if taken || ret == 0 {
            self.pipes.remove(at.source, ofd);
        }
        if taken {
            return;
        }
        let Some(birth) = number.and_then(|number| self.births.get_mut(number as usize)) else {
            return;
        };
        let wait = birth.pipe.get_or_insert_with(Wait::default);
        if let Some(dur) = at.dur {
            wait.ns = Some(wait.ns.unwrap_or(0).saturating_add(dur));
        }
        wait.end = at.end().or(wait.end);
        wait.data |= ret > 0;
    }
}
