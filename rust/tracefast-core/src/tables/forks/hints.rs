//! Evidence for advice, on request: what else the events say about why tasks were created as they
//! were.

use memchr::memmem;

use crate::hash::HashMap;
use crate::linux::syscalls::{by_name, shape};
use crate::tables::forks::fold::{Columns, Forks};
use crate::tables::forks::task::{Birth, FRESH, Image, Process, Task};
use crate::tables::forks::word_classes::Act;
use crate::tables::names::Names;
use crate::tables::table_builder::TableBuilder;

/// How many opened files are examined: the ones that identify a program come early.
const PYTHON_OPENS: u32 = 256;
const TORCH_OPENS: u32 = 20_000;

/// Evidence about programs.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// By source and number of the program's path.
    programs: HashMap<(u32, u32), Program>,
}

/// What the files that a program opens say about it.
#[derive(Debug, Default, Clone)]
pub(crate) struct Program {
    /// Major and minor version of Python.
    python: Option<(u32, u32)>,
    torch: bool,
    opens: u32,
}

/// What a task did.
#[derive(Debug, Default)]
pub(crate) struct Deeds {
    /// Names of the calls before it started a program, by number.
    calls: Vec<u32>,
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
        Self { number: names.number(name), opens: shape(by_name(name.as_bytes())).opens_path() }
    }
}

impl Program {
    /// Notes the path of an open call, successful or not.
    fn opens(&mut self, path: &str) {
        if self.opens >= TORCH_OPENS || (self.python.is_none() && self.opens >= PYTHON_OPENS) {
            return;
        }
        self.opens += 1;
        if self.python.is_none() {
            self.python = version(path);
        }
        if !self.torch {
            self.torch = memmem::find(path.as_bytes(), b"/torch/").is_some();
        }
    }
}

/// The version in paths like `libpython3.7m.so` and `/usr/lib/python3.11/os.py`.
fn version(path: &str) -> Option<(u32, u32)> {
    memmem::find_iter(path.as_bytes(), b"python").find_map(|at| {
        let rest = path.get(at + "python".len()..)?;
        let (major, rest) = rest.split_once('.')?;
        let minor = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        let digits = |text: &str| (1..=3).contains(&text.len()).then(|| text.parse().ok());
        Some((digits(major)??, digits(minor)??))
    })
}

impl Hints {
    /// Notes the path of an open call, successful or not.
    pub(crate) fn opens(&mut self, source: u32, process: &mut Process, path: &str) {
        match process.image {
            Image::Known(image) => self.programs.entry((source, image)).or_default().opens(path),
            Image::Inherited | Image::Unknown => process.program.opens(path),
        }
    }

    fn program<'a>(
        &'a self,
        source: u32,
        image: Option<u32>,
        process: Option<&'a Process>,
    ) -> Option<&'a Program> {
        let by_image = image.and_then(|image| self.programs.get(&(source, image)));
        by_image.or_else(|| process.map(|process| &process.program))
    }
}

impl Forks {
    /// A fold that also keeps evidence for advice, and adds its columns to the table.
    #[must_use]
    pub fn with_hints() -> Self {
        let mut forks = Self::default();
        forks.hints = Some(Hints::default());
        forks
    }

    /// Notes what a call says about its task and program.
    pub(crate) fn hint(
        &mut self,
        columns: &mut Columns<'_>,
        row: usize,
        source: u32,
        act: Act,
        number: u32,
    ) {
        let Some(hints) = &mut self.hints else { return };
        let Some(task) = self.tasks.get_mut(number as usize) else { return };
        let fresh = task.exec.is_none() && task.lines <= FRESH;
        if !(fresh || matches!(act, Act::Loader | Act::Exec | Act::Other)) {
            return;
        }
        let Some(called) = columns.called(row, &mut self.names) else { return };
        let started = act == Act::Exec && columns.ret(row) == Some(0);
        if !called.opens && !started && !fresh || columns.injected(row) {
            return;
        }
        if started {
            if let Some(source) = self.sources.get_mut(source as usize) {
                source.extent.executes(columns.dur(row));
            }
        } else if fresh {
            task.deeds.calls(called);
        }
        if called.opens
            && let Some(path) = columns.path(row)
        {
            if columns.ret(row).is_none_or(|ret| ret >= 0) {
                let (ts, dur) = (columns.ts(row), columns.dur(row));
                task.deeds.opened(path, ts, ts.zip(dur).map(|(ts, dur)| ts.saturating_add(dur)));
            }
            let process = task.process.and_then(|process| self.processes.get_mut(process as usize));
            if let Some(process) = process {
                hints.opens(source, process, path);
            }
        }
    }

    pub(crate) fn hint_of(&self, birth: &Birth, image: Option<u32>, child: Option<&Task>) -> Hint {
        let Some(hints) = &self.hints else { return Hint::default() };
        let process = birth.process.and_then(|process| self.processes.get(process as usize));
        let parent = hints.program(birth.source, image, process);
        let log = self.sources.get(birth.source as usize).map(|source| &source.extent);
        let deeds = child.map(|child| &child.deeds);
        Hint {
            start: child.and_then(Task::start),
            calls: child.and_then(|child| child.deeds.names(child, &self.names)),
            modules: child.filter(|child| child.seen).map(|child| child.deeds.modules),
            modules_ns: deeds.and_then(|deeds| {
                let (first, last) = deeds.first_module.zip(deeds.last_module)?;
                Some(last.saturating_sub(first))
            }),
            python: parent
                .and_then(|parent| parent.python)
                .map(|(major, minor)| format!("{major}.{minor}")),
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

    /// Notes an opened file.
    pub(crate) fn opened(&mut self, path: &str, ts: Option<i64>, end: Option<i64>) {
        if let Some(ts) = ts.filter(|_| path.as_bytes().ends_with(b".pyc")) {
            self.modules = self.modules.saturating_add(1);
            self.first_module.get_or_insert(ts);
            self.last_module = self.last_module.max(end.or(Some(ts)));
        }
    }

    /// The names of its calls in alphabetical order, if it started a program soon.
    fn names(&self, task: &Task, names: &Names) -> Option<String> {
        (task.exec.is_some() && task.lines <= FRESH).then(|| {
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
