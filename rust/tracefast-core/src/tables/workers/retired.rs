//! What is kept of a process that ended, and may be a worker.

use std::sync::Arc;

use crate::hash::HashMap;
use crate::linux::clone::Kind as Birth;
use crate::tables::packed::Packed;
use crate::tables::process_tracking::kinds;
use crate::tables::process_tracking::launcher::StartMethod;
use crate::tables::take_out;
use crate::tables::workers::fold::Workers;
use crate::tables::workers::growth::Growth;
use crate::tables::workers::life::{FileRead, Life, Ready};
use crate::tables::workers::shared_reads::FilePart;

/// Processes that ended before the log shows the return of the call that made them.
const MOST_UNBORN: usize = 64;

/// Phases, and jobs, at least, which show what each of them adds to the memory: the first ones
/// add what comes once.
const LEAST_PHASES: u64 = 2;
const LEAST_JOBS: u64 = 9;

/// Processes with the same maker that were started in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Kin {
    /// The first task of the maker.
    pub(crate) maker: u32,
    pub(crate) method: StartMethod,
    /// The number of the form of its program; 0 of methods that have one.
    pub(crate) form: u32,
}

/// A process that may be a worker.
#[derive(Debug)]
pub(crate) struct Retired {
    /// Its first task.
    pub(crate) task: u32,
    pub(crate) kin: Kin,
    /// From the call that made it to its end, or the end of the log: times, or rows of a log without
    /// times.
    pub(crate) from: i64,
    pub(crate) to: i64,
    /// When its maker asked a server for it.
    pub(crate) asked: Packed<i64>,
    /// When it was ready for its first job.
    pub(crate) ready: Option<Ready>,
    /// Messages from its maker, if it has a channel for them.
    pub(crate) jobs: Option<u64>,
    /// Connections that it accepted.
    pub(crate) connections: u64,
    /// What it got are jobs beyond doubt.
    pub(crate) sure: bool,
    /// It ended before another one was made, and its maker had not waited for it by then.
    pub(crate) early: bool,
    pub(crate) bits: u64,
    pub(crate) listens: bool,
    /// The first tasks of others whose writing it reads, other than its maker.
    pub(crate) reads_from: Vec<u32>,
    pub(crate) wait_ns: Packed<i64>,
    pub(crate) files: u32,
    pub(crate) reads: Box<[Arc<FilePart>]>,
    pub(crate) read_bytes: i64,
    pub(crate) shm_bytes: i64,
    pub(crate) growth: Growth,
}

/// The jobs of a process.
struct Jobs {
    /// When it was ready for the first one.
    ready: Option<Ready>,
    count: Option<u64>,
    /// Of them, connections.
    connections: u64,
    /// They are jobs beyond doubt.
    sure: bool,
    /// What each of them added to the memory of the process, and how many did.
    growth: Option<(i64, u64)>,
    /// From whom it reads besides.
    reads_from: Vec<u32>,
}

impl Workers {
    /// A task ended: with the first one, its process.
    pub(crate) fn ended(&mut self, task: u32) {
        if self.owner(task) != task {
            return;
        }
        if self.tracker.tasks.get(task as usize).is_some_and(|task| task.birth.is_some()) {
            self.retire(task);
            return;
        }
        self.unborn.push_back(task);
        if self.unborn.len() > MOST_UNBORN
            && let Some(oldest) = self.unborn.pop_front()
        {
            self.no_child(oldest);
        }
    }

    /// A call returned that made a task: it may have ended before.
    pub(crate) fn made(&mut self, task: u32) {
        self.owner(task);
        let before = self.unborn.len();
        self.unborn.retain(|&one| one != task);
        if self.unborn.len() < before {
            self.retire(task);
        }
    }

    /// What is kept of a process that ended, or lives at the end of the log.
    pub(crate) fn retire(&mut self, task: u32) {
        let Some(mut life) = self.lives.get_mut(task as usize).and_then(Option::take) else {
            return;
        };
        let Some(known) = self.tracker.tasks.get(task as usize) else { return };
        let Some(birth) = known.birth else { return };
        let log = self.logs.get(known.source as usize).copied().unwrap_or_default();
        let kind = kinds::kind(&self.tracker.tasks, known);
        let asked = life.request.and_then(|request| self.channels.request(request));
        let began = asked.or(birth.ts.get()).or(known.ts_start.get());
        let from = began.filter(|_| log.times);
        let from = from.unwrap_or(if log.times { life.last } else { birth.row as i64 });
        let to = match &known.end {
            Some(end) if log.times => end.ts.get().unwrap_or(life.last),
            Some(end) => end.row as i64,
            // Its parent knows of its end, and the log does not show when it was.
            None if known.reported.is_some() => life.last,
            None if log.times => log.last,
            None => self.tracker.row as i64,
        };
        self.early.remove(&task);
        let parent = self.owner(birth.parent);
        if let Some(siblings) = self.children.get_mut(&parent) {
            take_out(siblings, task);
            if siblings.is_empty() {
                self.children.remove(&parent);
            }
        }
        let Some(kin) = self.kin(parent, &life, kind) else { return };
        // Of children that were not traced the log shows nothing.
        if life.calls == 0 {
            return;
        }
        let Jobs { ready, count: jobs, connections, sure, growth, reads_from } =
            self.jobs(&life, kin.maker);
        life.growth.per_job = growth;
        life.growth.per_phase = life.by_phase().and_then(|steps| steps.each(LEAST_PHASES));
        let alive = self.children.get(&parent).is_some_and(|siblings| {
            siblings.iter().any(|&sibling| self.is_kin(parent, sibling, kin, to))
        });
        let family = self.kins.entry(kin).or_default();
        family.together |= alive || family.last.get().is_some_and(|last| last > from);
        family.last.raise(to);
        let shown =
            matches!(kin.method, StartMethod::Spawn | StartMethod::Forkserver) || ready.is_some();
        let kept = shown || family.together;
        let wait_ns = if log.durations { Some(life.wait_ns) } else { None };
        let files = std::mem::take(&mut life.files);
        let retired = Retired {
            task,
            kin,
            from,
            to,
            asked: asked.into(),
            ready,
            jobs,
            connections,
            sure,
            early: !kept,
            bits: life.bits,
            listens: life.listens,
            reads_from,
            wait_ns: wait_ns.into(),
            files: u32::try_from(files.len()).unwrap_or(u32::MAX),
            reads: Box::default(),
            read_bytes: life.read_bytes,
            shm_bytes: life.shm_bytes,
            growth: life.growth,
        };
        if !kept {
            self.early.insert(kin.maker, (retired, files));
            return;
        }
        if let Some((before, files)) = self.early.remove(&kin.maker)
            && before.kin == kin
        {
            self.keep(before, files);
        }
        self.keep(retired, files);
    }

    fn keep(&mut self, mut retired: Retired, mut files: HashMap<u64, FileRead>) {
        let parts = files.drain().filter_map(|(file, mut read)| {
            let ranges: Box<[_]> = read.ranges.merged().into();
            (!ranges.is_empty()).then_some(FilePart { file, path: read.path, ranges })
        });
        retired.reads = parts.map(|part| self.parts.shared(part)).collect();
        self.retired.push(retired);
    }

    /// With whom a process may be in a pool.
    fn kin(&self, parent: u32, life: &Life, kind: Option<Birth>) -> Option<Kin> {
        let server = self.servers.get(&parent).map(|server| server.maker);
        let (maker, method, form) = match life.program {
            Some((Some(role), _)) if role.is_worker() => (parent, StartMethod::Spawn, 0),
            Some((Some(role), _)) if role.is_helper() => return None,
            // The log does not name its program, so nobody can say who does the same.
            Some((_, None)) => return None,
            Some((_, Some(form))) => (parent, StartMethod::Exec, form),
            None => match server {
                Some(maker) => (maker, StartMethod::Forkserver, 0),
                None if matches!(kind, Some(Birth::Fork) | None) => (parent, StartMethod::Fork, 0),
                None => return None,
            },
        };
        Some(Kin { maker, method, form })
    }

    /// Whether a live process is of one kin, and was made before a time.
    fn is_kin(&self, parent: u32, sibling: u32, kin: Kin, before: i64) -> bool {
        let Some(Some(life)) = self.lives.get(sibling as usize) else { return false };
        let Some(task) = self.tracker.tasks.get(sibling as usize) else { return false };
        let kind = kinds::kind(&self.tracker.tasks, task);
        let born = task.birth.map(|birth| birth.ts.get().unwrap_or(birth.row as i64));
        self.kin(parent, life, kind) == Some(kin) && born.is_some_and(|born| born < before)
    }

    /// When a process was ready for its first job, how many it got, and from whom else it reads.
    fn jobs(&mut self, life: &Life, maker: u32) -> Jobs {
        let mut others = Vec::new();
        let mut given = Vec::new();
        for channel in &life.channels {
            let Some((writers, made_by)) = self.channels.writers(channel.ofd) else { continue };
            let writers: Vec<u32> = writers.to_vec();
            let mut owners: Vec<u32> = writers.iter().map(|&writer| self.owner(writer)).collect();
            owners.sort_unstable();
            owners.dedup();
            // Nothing was written to what nobody has written to yet, or ever: then its maker would.
            let by_maker = owners.is_empty() && self.owner(made_by) == maker;
            if by_maker || owners.contains(&maker) {
                given.push(channel);
            } else {
                others.extend(owners);
            }
        }
        let given = if life.prepared { given.get(1..).unwrap_or_default() } else { &given[..] };
        let first = given.iter().map(|channel| channel.ready).chain(life.semaphore);
        let ready = first.min_by_key(|ready| (ready.ts.is_none(), ready.ts.get(), ready.calls));
        let count = given.iter().map(|channel| channel.messages).sum();
        let accepted = given.iter().filter(|channel| channel.accepts);
        let connections = accepted.map(|channel| channel.messages).sum();
        let sure = given.iter().any(|channel| channel.sure && channel.messages > 0);
        let most = given.iter().max_by_key(|channel| channel.messages);
        let growth = most.and_then(|channel| channel.steps.each(LEAST_JOBS));
        let count = ready.map(|_| count);
        Jobs { ready, count, connections, sure, growth, reads_from: others }
    }
}
