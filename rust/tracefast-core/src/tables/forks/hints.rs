//! Evidence for advice, on request: what else the events say about why tasks were created as they
//! were.

use crate::hash::HashMap;
use crate::linux::clone::Kind;
use crate::linux::syscalls::{by_name, shape};
use crate::tables::forks::fold::{Columns, Forks};
use crate::tables::forks::parents::Parents;
use crate::tables::forks::task::{Birth, FRESH, Task};
use crate::tables::forks::word_classes::Act;
use crate::tables::names::Names;
use crate::tables::process_tracking::launcher::{StartMethod, WorkerRole};
use crate::tables::process_tracking::word_classes::Status;
use crate::tables::table_builder::TableBuilder;
use crate::tables::workers::Workers;
use crate::tables::workers::table::{Start, WorkerStarts, starts};
use crate::text::search::{contains, find};

/// How many opened files are examined: the ones that identify a program come early.
const PYTHON_OPENS: u32 = 256;
const TORCH_OPENS: u32 = 20_000;

/// What the files that a task opened say about the program that it ran.
#[derive(Debug, Default)]
struct Opened {
    /// The row of the first one.
    row: u64,
    /// How many programs the task had started until then.
    execs: usize,
    opens: u32,
    clues: Clues,
}

/// What is known about a program.
#[derive(Debug, Default, Clone, Copy)]
struct Clues {
    /// The row that shows the version of Python, and its major and minor version.
    python: Option<(u64, (u32, u32))>,
    torch: bool,
}

/// How workers are found.
#[derive(Debug)]
pub(crate) enum Starts {
    /// By the fold itself.
    Own(Box<Workers>),
    /// By another fold of the same pass, which gives what it found at the end.
    Given(WorkerStarts),
}

/// What the opened files say about all programs.
#[derive(Debug, Default)]
pub(crate) struct Evidence<'a> {
    /// By source and path.
    programs: HashMap<(u32, &'a str), Clues>,
    /// By process, while its program is not known.
    processes: HashMap<u32, Clues>,
    /// By number of the source and task.
    workers: HashMap<(u32, u32), Start>,
}

/// What a task did.
#[derive(Debug, Default)]
pub(crate) struct Deeds {
    /// Names of the calls before it started a program, by number.
    calls: Vec<u32>,
    /// The files that it opened, by program.
    opened: Vec<Opened>,
    /// How many compiled Python modules it opened, and when.
    modules: u32,
    first_module: Option<i64>,
    last_module: Option<i64>,
}

/// The first and last time of a source, and its fastest execve.
#[derive(Debug, Default)]
pub(crate) struct Extent {
    first: Option<i64>,
    last: Option<i64>,
    exec: Option<i64>,
}

/// The name of a call, and what follows from it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Called {
    number: u32,
    pub(crate) opens: bool,
}

impl Called {
    pub(crate) fn new(name: &str, names: &mut Names) -> Self {
        let shape = shape(by_name(name.as_bytes()));
        Self { number: names.number(name), opens: shape.opens_path() }
    }
}

impl Opened {
    /// Notes the path of an open call, successful or not.
    fn add(&mut self, path: &str, row: u64) {
        let Clues { python, torch } = &mut self.clues;
        if self.opens >= TORCH_OPENS || (python.is_none() && self.opens >= PYTHON_OPENS) {
            return;
        }
        self.opens += 1;
        if python.is_none() {
            *python = version(path).map(|version| (row, version));
        }
        *torch = *torch || contains(path.as_bytes(), b"/torch/", 5);
    }
}

impl Clues {
    fn join(&mut self, other: Self) {
        // The first version counts.
        self.python = match (self.python, other.python) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        self.torch |= other.torch;
    }
}

/// The version in paths like `libpython3.7m.so` and `/usr/lib/python3.11/os.py`.
fn version(path: &str) -> Option<(u32, u32)> {
    let mut rest = path;
    while let Some(at) = find(rest.as_bytes(), b"python", 1) {
        rest = rest.get(at + "python".len()..)?;
        let numbers = || {
            let (major, rest) = rest.split_once('.')?;
            let minor = rest.split(|c: char| !c.is_ascii_digit()).next()?;
            let digits = |text: &str| (1..=3).contains(&text.len()).then(|| text.parse().ok());
            Some((digits(major)??, digits(minor)??))
        };
        if let Some(version) = numbers() {
            return Some(version);
        }
    }
    None
}

impl<'a> Evidence<'a> {
    pub(crate) fn new(forks: &Forks, parents: &Parents<'a>) -> Self {
        let workers = match &forks.hints {
            Some(Starts::Own(workers)) => starts(&workers.retired, &forks.tracker.tasks),
            Some(Starts::Given(found)) => found.of(&forks.tracker),
            None => HashMap::default(),
        };
        let mut evidence = Self { workers, ..Self::default() };
        for task in &forks.tasks {
            let Some(process) = parents.process_of(task) else { continue };
            for opened in task.deeds.iter().flat_map(|deeds| &deeds.opened) {
                let clues = match parents.program(process, opened.row) {
                    Some(path) => evidence.programs.entry((task.source, path)).or_default(),
                    None => evidence.processes.entry(process).or_default(),
                };
                clues.join(opened.clues);
            }
        }
        evidence
    }
}

impl Forks {
    /// A fold that also keeps evidence for advice, and adds its columns to the table.
    #[must_use]
    pub fn with_hints() -> Self {
        let mut forks = Self::default();
        forks.hints = Some(Starts::Own(Box::new(Workers::starts_only())));
        forks
    }

    /// Another fold finds the workers in the same events, if any are wanted, which
    /// [`take_workers`](Self::take_workers) takes in the end. Before any event is added.
    pub fn expect_workers(&mut self) {
        if self.hints.is_some() {
            self.hints = Some(Starts::Given(WorkerStarts::default()));
        }
    }

    /// Takes the workers that another fold has found in all events.
    pub fn take_workers(&mut self, found: WorkerStarts) {
        if let Some(Starts::Given(starts)) = &mut self.hints {
            *starts = found;
        }
    }

    /// Notes what a call says about its task and program.
    pub(crate) fn hint(
        &mut self,
        (tasks, columns): &mut Columns<'_>,
        row: usize,
        source: u32,
        act: Act,
        number: u32,
    ) {
        let Some(task) = self.tasks.get_mut(number as usize) else { return };
        let fresh = task.exec().is_none() && task.lines <= FRESH;
        if !(fresh || matches!(act, Act::Loader | Act::Exec | Act::Other)) {
            return;
        }
        let names = &mut self.names;
        let called = columns.called.get(row, |name| Called::new(name, names));
        let Some(called) = called else { return };
        let started = act == Act::Exec && tasks.ret.get(row) == Some(0);
        if !called.opens && !started && !fresh || tasks.status(row) == Some(Status::Injected) {
            return;
        }
        let (ts, dur) = (tasks.ts.get(row), tasks.dur.get(row));
        if started {
            if let Some(source) = self.sources.get_mut(source as usize) {
                source.extent.executes(dur);
            }
        } else if fresh {
            task.deeds.get_or_insert_default().calls(called);
        }
        if called.opens
            && let Some(path) = tasks.path.get(row)
        {
            if tasks.ret.get(row).is_none_or(|ret| ret >= 0) {
                let deeds = task.deeds.get_or_insert_default();
                deeds.imports(path, ts, ts.zip(dur).map(|(ts, dur)| ts.saturating_add(dur)));
            }
            let known =
                task.tracked.get().and_then(|tracked| self.tracker.tasks.get(tracked as usize));
            let execs = known.map_or(0, |known| known.execs.len());
            task.deeds.get_or_insert_default().opens(path, execs, self.tracker.row);
        }
    }

    /// The evidence about the birth of a task, by the program and the process of its creator.
    pub(crate) fn hint_of(
        &self,
        birth: &Birth,
        (image, process, role): (Option<&str>, Option<u32>, Option<WorkerRole>),
        child: Option<&Task>,
        evidence: &Evidence<'_>,
    ) -> Hint {
        if self.hints.is_none() {
            return Hint::default();
        }
        let parent = process.map(|process| match image {
            Some(image) => evidence.programs.get(&(birth.source, image)),
            None => evidence.processes.get(&process),
        });
        let parent = parent.map(|clues| clues.copied().unwrap_or_default());
        let log = self.sources.get(birth.source as usize).map(|source| &source.extent);
        let start = child.and_then(|child| {
            let tracked = self.tracked(child)?;
            evidence.workers.get(&(tracked.source, tracked.id))
        });
        let none = Deeds::default();
        let deeds = child.map(|child| child.deeds.as_deref().unwrap_or(&none));
        Hint {
            start: child.and_then(|child| self.start(child)),
            calls: child.zip(deeds).and_then(|(child, deeds)| deeds.names(child, &self.names)),
            modules: deeds.filter(|_| child.is_some_and(Task::seen)).map(|deeds| deeds.modules),
            modules_ns: deeds.and_then(|deeds| {
                let (first, last) = deeds.first_module.zip(deeds.last_module)?;
                Some(last.saturating_sub(first))
            }),
            method: start.map(|start| start.method).or_else(|| {
                child.and_then(|child| match self.tracked(child)?.execs.first() {
                    Some(program) => StartMethod::of_program(role, program.role),
                    // What shares the memory of its parent until it executes a program is no worker.
                    None => {
                        (self.kind(birth) == Some(Kind::Fork)).then(|| StartMethod::of_fork(role))
                    }
                })
            }),
            in_pool: child.map(|_| start.is_some()),
            ready_ns: start.and_then(|start| start.ns),
            python: parent
                .and_then(|parent| parent.python)
                .map(|(_, (major, minor))| format!("{major}.{minor}")),
            torch: parent.map(|parent| parent.torch),
            log: log.and_then(|log| log.last.zip(log.first)).map(|(l, f)| l.saturating_sub(f)),
            exec: log.and_then(|log| log.exec),
        }
    }
}

impl Deeds {
    pub(crate) fn calls(&mut self, called: Called) {
        if !self.calls.contains(&called.number) {
            self.calls.push(called.number);
        }
    }

    /// Notes the path of an open call, successful or not, of a task that has started so many
    /// programs.
    fn opens(&mut self, path: &str, execs: usize, row: u64) {
        let same = |opened: &&mut Opened| opened.execs == execs;
        if let Some(opened) = self.opened.last_mut().filter(same) {
            opened.add(path, row);
        } else {
            let mut opened = Opened { row, execs, ..Opened::default() };
            opened.add(path, row);
            self.opened.push(opened);
        }
    }

    /// Notes an opened file, which may be a module of Python.
    fn imports(&mut self, path: &str, ts: Option<i64>, end: Option<i64>) {
        if let Some(ts) = ts.filter(|_| path.as_bytes().ends_with(b".pyc")) {
            self.modules = self.modules.saturating_add(1);
            self.first_module.get_or_insert(ts);
            self.last_module = self.last_module.max(end.or(Some(ts)));
        }
    }

    /// The names of its calls in alphabetical order, if it started a program soon.
    fn names(&self, task: &Task, names: &Names) -> Option<String> {
        (task.exec().is_some() && task.lines <= FRESH).then(|| {
            let mut texts: Vec<&str> =
                self.calls.iter().filter_map(|&number| names.text(number)).collect();
            texts.sort_unstable();
            texts.join(" ")
        })
    }
}

impl Extent {
    /// Extends it to a row.
    #[inline]
    pub(crate) fn reaches(&mut self, ts: Option<i64>, dur: Option<i64>) {
        if let Some(ts) = ts {
            self.first = Some(self.first.map_or(ts, |first| first.min(ts)));
            self.last = self.last.max(Some(ts.saturating_add(dur.unwrap_or(0).max(0))));
        }
    }

    /// Notes a successful execve.
    pub(crate) fn executes(&mut self, dur: Option<i64>) {
        self.exec = match (self.exec, dur) {
            (Some(least), Some(dur)) => Some(least.min(dur)),
            (least, dur) => least.or(dur),
        };
    }
}

/// The evidence about one created task.
#[derive(Debug, Default)]
pub(crate) struct Hint {
    start: Option<i64>,
    calls: Option<String>,
    modules: Option<u32>,
    modules_ns: Option<i64>,
    method: Option<StartMethod>,
    in_pool: Option<bool>,
    ready_ns: Option<i64>,
    python: Option<String>,
    torch: Option<bool>,
    log: Option<i64>,
    exec: Option<i64>,
}

pub(crate) fn add_columns<R>(table: &mut TableBuilder<'_, R>, hint: impl Fn(&R) -> &Hint) {
    table.timestamp("child_start", |row| hint(row).start);
    table.text("child_calls", |row| hint(row).calls.as_deref());
    table.uint32("child_modules", |row| hint(row).modules);
    table.int64("child_modules_ns", |row| hint(row).modules_ns);
    table.text("worker_method", |row| hint(row).method.map(StartMethod::text));
    table.boolean("in_pool", |row| hint(row).in_pool);
    table.int64("child_ready_ns", |row| hint(row).ready_ns);
    table.text("parent_python", |row| hint(row).python.as_deref());
    table.boolean("parent_torch", |row| hint(row).torch);
    table.int64("log_ns", |row| hint(row).log);
    table.int64("log_exec_ns", |row| hint(row).exec);
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn finds_the_python_version_in_paths() {
        for (path, expected) in [
            ("/usr/lib/libpython3.7m.so.1.0", Some((3, 7))),
            ("/usr/lib/python3.11/os.py", Some((3, 11))),
            ("/srv/python/lib/python2.7", Some((2, 7))),
            ("/usr/lib/python3/dist-packages/a.py", None),
            ("/usr/bin/python", None),
            ("/usr/lib/python3.", None),
            ("/srv/python99999999999.1/", None),
            ("/srv/pythonä.1", None),
            ("", None),
        ] {
            assert_eq!(version(path), expected, "{path}");
        }
    }
}
