//! The fold: events in their order into rows of the table.

use arrow_array::RecordBatch;
use arrow_array::types::{Int32Type, Int64Type, TimestampNanosecondType, UInt32Type};
use arrow_schema::ArrowError;

use crate::linux::waits::{self, Giver};
use crate::tables::event_columns::{EventColumns, Numbers, Text, Words, event_columns};
use crate::tables::fold::{Dictionaries, RowFold};
use crate::tables::names::Names;
use crate::tables::syscalls::By;
use crate::tables::syscalls::images::{Step, images};
use crate::tables::syscalls::incarnations::Incarnations;
use crate::tables::syscalls::row::{Call, Entry};
use crate::tables::syscalls::table::{self, Row};
use crate::tables::syscalls::tasks::{Key, Tasks, Who};
use crate::tables::syscalls::words::{End, Fault, Kind, Meaning, Role};

/// System calls by name so far.
///
/// # Examples
/// ```
/// use tracefast_core::tables::syscalls::{By, Syscalls};
/// use tracefast_core::tables::fold::Fold;
/// let table = Syscalls::new(By::Name).finish().expect("columns of one length");
/// assert_eq!(table.num_rows(), 0);
/// assert!(table.column_by_name("total_ns").is_some());
/// ```
#[derive(Debug)]
pub struct Syscalls {
    by: By,
    sources: Names,
    names: Names,
    comms: Names,
    tasks: Tasks,
    entries: Vec<Entry>,
    /// By source or task, and by name of the call: the position in `entries` plus one, 0 for none.
    index: Vec<Vec<u32>>,
    rows: u64,
}

event_columns! {
    pub(crate) struct CallColumns {
        ts: Numbers<TimestampNanosecondType> = "ts",
        dur: Numbers<Int64Type> = "dur_ns",
        kind: Words<Kind> = "kind",
        name: Words<Meaning> = "name",
        ret: Numbers<Int64Type> = "ret",
        errno: Words<Fault> = "errno",
        status: Words<End> = "status",
        path: Text = "path",
        file_type: Words<Giver> = "file_type",
        bytes: Numbers<Int64Type> = "bytes",
        source: Words<u32> = "source",
    }
}

event_columns! {
    /// What tells one process from another.
    pub(crate) struct TaskColumns {
        task: Numbers<UInt32Type> = "task",
        pid: Numbers<Int32Type> = "pid",
        tid: Numbers<Int32Type> = "tid",
        comm: Words<u32> = "comm",
        child: Numbers<UInt32Type> = "child",
    }
}

type Columns<'a> = (CallColumns<'a>, Option<TaskColumns<'a>>);

impl Syscalls {
    /// A table with no calls yet.
    pub fn new(by: By) -> Self {
        Self {
            by,
            sources: Names::default(),
            names: Names::default(),
            comms: Names::default(),
            tasks: Tasks::default(),
            entries: Vec::new(),
            index: Vec::new(),
            rows: 0,
        }
    }

    /// The entry of a source or task, and a name.
    #[inline]
    fn entry(&mut self, owner: u32, name: u32) -> Option<&mut Entry> {
        let (owner, name) = (owner as usize, name as usize);
        if owner >= self.index.len() {
            self.index.resize_with(owner + 1, Vec::new);
        }
        let names = self.index.get_mut(owner)?;
        if name >= names.len() {
            names.resize(name + 1, 0);
        }
        let at = names.get_mut(name)?;
        if *at == 0 {
            self.entries.push(Entry::default());
            *at = self.entries.len() as u32;
        }
        self.entries.get_mut(*at as usize - 1)
    }

    /// The task that an event is of, what the event tells of it noted.
    fn task(&mut self, columns: &mut TaskColumns<'_>, row: usize, source: u32) -> u32 {
        self.rows += 1;
        let (pid, tid) = (columns.pid.get(row), columns.tid.get(row));
        let who = columns.task.get(row).map_or(Who::Process(pid), Who::Task);
        let number = self.tasks.number(Key { source, who });
        let comm = columns.comm.get(row, |text| self.comms.number(text));
        self.tasks.see(number, (pid, tid), comm.map(|comm| (self.rows, comm)));
        number
    }

    #[cold]
    fn fork(&mut self, columns: Option<&TaskColumns<'_>>, row: usize, task: u32) {
        if let Some(child) = columns.and_then(|columns| columns.child.get(row)) {
            self.tasks.steps.push(Step::Fork(task, child));
        }
    }
}

impl RowFold for Syscalls {
    type Columns<'a> = Columns<'a>;

    fn empty(&self) -> Self {
        Self::new(self.by)
    }

    fn column_names(&self) -> Vec<&'static str> {
        match self.by {
            By::Name => CallColumns::names(),
            By::Process => Columns::names(),
        }
    }

    fn columns<'a>(
        &self,
        batch: &'a RecordBatch,
        words: &'a Dictionaries,
    ) -> Result<Columns<'a>, ArrowError> {
        match self.by {
            By::Name => Ok((CallColumns::from_batch(batch, words)?, None)),
            By::Process => Columns::from_batch(batch, words),
        }
    }

    #[inline]
    fn row(&mut self, (columns, tasks): &mut Columns<'_>, row: usize) {
        let kind = columns.kind.get(row, Kind::of).unwrap_or(Kind::Other);
        if kind == Kind::Other || (kind == Kind::Exit && tasks.is_none()) {
            return;
        }
        let names = &mut self.names;
        let Some(meaning) = columns.name.get(row, |word| Meaning::of(word, names.number(word)))
        else {
            return;
        };
        // The first number is that of no source.
        let source = columns.source.get(row, |text| self.sources.number(text) + 1).unwrap_or(0);
        let owner = match tasks {
            None => source,
            Some(tasks) => self.task(tasks, row, source),
        };
        if kind == Kind::Exit {
            if self.names.text(meaning.name) == Some("superseded") {
                self.tasks.superseded(owner);
            }
            return;
        }
        let end = columns.status.get(row, End::of).unwrap_or(End::Returned);
        let fault = columns.errno.get(row, Fault::of);
        match meaning.role {
            // The call that made a task returns in it, too, but was its parent's.
            Role::Fork if end == End::Headless && columns.ret.get(row) == Some(0) => return,
            Role::Fork => self.fork(tasks.as_ref(), row, owner),
            Role::Exec
                if tasks.is_some() && end != End::Injected && columns.ret.get(row) == Some(0) =>
            {
                let path = columns.path.get(row).map(Into::into);
                self.tasks.steps.push(Step::Exec(owner, path));
            }
            _ => {}
        }
        let giver = match meaning.time {
            waits::Call::Takes => giver(columns, row),
            _ => Giver::Unknown,
        };
        let call = Call {
            meaning,
            ts: columns.ts.get(row),
            dur: columns.dur.get(row),
            end,
            fault,
            giver,
            bytes: columns.bytes.get(row),
        };
        if let Some(entry) = self.entry(owner, meaning.name) {
            entry.count(&call);
        }
    }

    /// The table, the largest sum of durations first.
    fn table(self) -> Result<RecordBatch, ArrowError> {
        let Self { by, sources, names, comms, tasks, mut entries, index, .. } = self;
        let source = |number: u32| sources.text(number.checked_sub(1)?);
        let mut take = |at: u32| entries.get_mut(at.checked_sub(1)? as usize).map(std::mem::take);
        let mut rows = Vec::new();
        match by {
            By::Name => {
                for (of, index) in (0..).zip(&index) {
                    for (name, &at) in (0..).zip(index) {
                        if let Some(entry) = take(at) {
                            rows.push(Row::of(entry, source(of), names.text(name), None));
                        }
                    }
                }
            }
            By::Process => {
                let processes = Incarnations::find(&tasks);
                let images = images(&tasks, &processes);
                let members = processes.members();
                let found = (0..).zip(&processes.all).zip(&images).zip(&members);
                for (((process, found), image), members) in found {
                    let comm = || image.comm.and_then(|comm| comms.text(comm));
                    let who = Some((process, found.pid, image.path.or_else(comm)));
                    let indices = || members.iter().filter_map(|&task| index.get(task));
                    let count = indices().map(Vec::len).max().unwrap_or(0);
                    for name in 0..count {
                        let mut same = indices().filter_map(|index| take(*index.get(name)?));
                        let Some(mut whole) = same.next() else { continue };
                        same.for_each(|entry| whole.absorb(entry));
                        let name = names.text(name as u32);
                        rows.push(Row::of(whole, source(found.source), name, who));
                    }
                }
            }
        }
        table::build(rows, by)
    }
}

/// Who gives what is taken from the descriptor that a call acts on.
#[inline]
fn giver(columns: &mut CallColumns<'_>, row: usize) -> Giver {
    let giver = columns.file_type.get(row, Giver::from_file_type).unwrap_or(Giver::Unknown);
    giver.known_as(|| columns.path.get(row))
}
