//! The fold: events in their order into rows of the table.

use arrow_array::types::{Int32Type, Int64Type, TimestampNanosecondType, UInt32Type};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::ArrowError;
use hashbrown::HashMap;

use super::By;
use super::entry::{Call, Entry};
use super::images::{Step, images};
use super::incarnations::Incarnations;
use super::table::{self, Row};
use super::tasks::{Key, Tasks, Who};
use super::words::{Behind, End, Fault, Kind, Meaning, Role, Wait};
use crate::uses::Names;
use crate::uses::columns::{Dictionaries, Numbers, Text, Words};

/// The source of events that name none.
const NO_SOURCE: u32 = u32::MAX;

/// System calls by name so far.
///
/// # Examples
/// ```
/// use tracefast_core::call_table::{By, CallTable};
/// let table = CallTable::new(By::Name).finish().expect("columns of one length");
/// assert_eq!(table.num_rows(), 0);
/// assert!(table.column_by_name("total_ns").is_some());
/// ```
#[derive(Debug)]
pub struct CallTable {
    by: By,
    dictionaries: Dictionaries,
    sources: Names,
    names: Names,
    comms: Names,
    tasks: Tasks,
    entries: Vec<Entry>,
    /// By source or task, and name of the call.
    index: HashMap<(u32, u32), u32, foldhash::fast::FixedState>,
    rows: u64,
}

/// The columns that are needed.
struct Columns<'a> {
    ts: Numbers<'a, TimestampNanosecondType>,
    dur: Numbers<'a, Int64Type>,
    kind: Words<'a, Kind>,
    name: Words<'a, Meaning>,
    ret: Numbers<'a, Int64Type>,
    errno: Words<'a, Fault>,
    status: Words<'a, End>,
    path: Text<'a>,
    file_type: Words<'a, Behind>,
    bytes: Numbers<'a, Int64Type>,
    source: Words<'a, u32>,
    tasks: Option<TaskColumns<'a>>,
}

/// Those that tell one process from another.
struct TaskColumns<'a> {
    task: Numbers<'a, UInt32Type>,
    pid: Numbers<'a, Int32Type>,
    tid: Numbers<'a, Int32Type>,
    comm: Words<'a, u32>,
    child: Numbers<'a, UInt32Type>,
}

impl<'a> Columns<'a> {
    fn of(batch: &'a RecordBatch, known: &'a Dictionaries, by: By) -> Result<Self, ArrowError> {
        let tasks = match by {
            By::Name => None,
            By::Process => Some(TaskColumns {
                task: Numbers::of(batch, "task")?,
                pid: Numbers::of(batch, "pid")?,
                tid: Numbers::of(batch, "tid")?,
                comm: Words::of(batch, "comm", known)?,
                child: Numbers::of(batch, "child")?,
            }),
        };
        Ok(Self {
            ts: Numbers::of(batch, "ts")?,
            dur: Numbers::of(batch, "dur_ns")?,
            kind: Words::of(batch, "kind", known)?,
            name: Words::of(batch, "name", known)?,
            ret: Numbers::of(batch, "ret")?,
            errno: Words::of(batch, "errno", known)?,
            status: Words::of(batch, "status", known)?,
            path: Text::of(batch, "path")?,
            file_type: Words::of(batch, "file_type", known)?,
            bytes: Numbers::of(batch, "bytes")?,
            source: Words::of(batch, "source", known)?,
            tasks,
        })
    }
}

impl CallTable {
    /// No call was made yet.
    pub fn new(by: By) -> Self {
        Self {
            by,
            dictionaries: Dictionaries::default(),
            sources: Names::default(),
            names: Names::default(),
            comms: Names::default(),
            tasks: Tasks::default(),
            entries: Vec::new(),
            index: HashMap::default(),
            rows: 0,
        }
    }

    /// Takes in events, which follow those before in their order.
    ///
    /// # Errors
    /// A column is missing, or is of another type than in the event schema. Text may be in any
    /// layout; words may stand in a dictionary or not.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        // Lent out, as a row changes what is beside it.
        let known = std::mem::take(&mut self.dictionaries);
        let done = Columns::of(batch, &known, self.by).map(|mut columns| {
            for row in 0..batch.num_rows() {
                self.row(&mut columns, row);
            }
        });
        self.dictionaries = known;
        done
    }

    /// Takes in the words that the numbers in a column stand for, in batches to come.
    pub fn words(&mut self, column: &str, words: ArrayRef) {
        self.dictionaries.insert(column.to_owned(), words);
    }

    #[inline]
    fn row(&mut self, columns: &mut Columns<'_>, row: usize) {
        let kind = columns.kind.get(row, Kind::of).unwrap_or(Kind::Other);
        if kind == Kind::Other || (kind == Kind::Exit && columns.tasks.is_none()) {
            return;
        }
        let names = &mut self.names;
        let Some(meaning) = columns.name.get(row, |word| Meaning::of(word, names.number(word)))
        else {
            return;
        };
        let source = columns.source.get(row, |text| self.sources.number(text));
        let source = source.unwrap_or(NO_SOURCE);
        let owner = match &mut columns.tasks {
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
            Role::Fork => self.fork(columns, row, owner),
            Role::Exec if end != End::Injected && columns.ret.get(row) == Some(0) => {
                self.exec(columns, row, owner);
            }
            _ => {}
        }
        let behind = match meaning.wait {
            Wait::ByFile => behind(columns, row),
            Wait::Always | Wait::Never => Behind::Unknown,
        };
        let call = Call {
            meaning,
            ts: columns.ts.get(row),
            dur: columns.dur.get(row),
            end,
            fault,
            behind,
            bytes: columns.bytes.get(row),
        };
        let entries = &mut self.entries;
        let at = *self.index.entry((owner, meaning.name)).or_insert_with(|| {
            entries.push(Entry::default());
            entries.len() as u32 - 1
        });
        if let Some(entry) = entries.get_mut(at as usize) {
            entry.count(&call);
        }
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
    fn fork(&mut self, columns: &Columns<'_>, row: usize, task: u32) {
        if let Some(child) = columns.tasks.as_ref().and_then(|tasks| tasks.child.get(row)) {
            self.tasks.steps.push(Step::Fork(task, child));
        }
    }

    #[cold]
    fn exec(&mut self, columns: &Columns<'_>, row: usize, task: u32) {
        if columns.tasks.is_some() {
            let path = columns.path.get(row).map(Into::into);
            self.tasks.steps.push(Step::Exec(task, path));
        }
    }

    /// The table, the largest sum of durations first.
    ///
    /// # Errors
    /// None, as all columns have one length.
    pub fn finish(self) -> Result<RecordBatch, ArrowError> {
        let Self { by, sources, names, comms, tasks, entries, index, .. } = self;
        let mut keys: Vec<((u32, u32), u32)> = index.into_iter().collect();
        // Entries are taken out in the order in which they came in, whatever the order of hashes.
        keys.sort_unstable_by_key(|&(_, at)| at);
        let entries = keys.into_iter().map(|(key, _)| key).zip(entries);
        match by {
            By::Name => {
                let row = |((source, name), entry)| {
                    Row::of(entry, sources.text(source), names.text(name), None)
                };
                table::build(entries.map(row).collect(), by)
            }
            By::Process => {
                let processes = Incarnations::find(&tasks);
                let images = images(&tasks, &processes);
                let row = |((process, name), entry): ((u32, u32), Entry)| {
                    let found = processes.all.get(process as usize)?;
                    let image = images.get(process as usize).and_then(|image| {
                        let comm = || image.comm.and_then(|comm| comms.text(comm));
                        image.path.as_deref().or_else(comm)
                    });
                    let who = Some((process, found.pid, image));
                    Some(Row::of(entry, sources.text(found.source), names.text(name), who))
                };
                let joined = joined(entries, &processes);
                table::build(joined.into_iter().filter_map(row).collect(), by)
            }
        }
    }
}

/// What is behind the descriptor that a call acts on.
#[inline]
fn behind(columns: &mut Columns<'_>, row: usize) -> Behind {
    let path = |by: fn(&str) -> Behind| columns.path.get(row).map_or(Behind::Unknown, by);
    match columns.file_type.get(row, Behind::of).unwrap_or(Behind::Unknown) {
        Behind::Device => path(Behind::device),
        Behind::Unknown => path(Behind::named),
        known => known,
    }
}

/// The entries of each process and name of those of each task and name.
fn joined(
    entries: impl Iterator<Item = ((u32, u32), Entry)>,
    processes: &Incarnations,
) -> Vec<((u32, u32), Entry)> {
    let mut joined: Vec<((u32, u32), Entry)> = Vec::new();
    let mut places: HashMap<(u32, u32), usize, foldhash::fast::FixedState> = HashMap::default();
    for ((task, name), entry) in entries {
        let process = processes.of.get(task as usize).copied().unwrap_or_default();
        let key = (process, name);
        if let Some((_, whole)) = places.get(&key).and_then(|&at| joined.get_mut(at)) {
            whole.absorb(entry);
        } else {
            places.insert(key, joined.len());
            joined.push((key, entry));
        }
    }
    joined
}
