//! The fold: which rows say something about memory, and about whose.

use arrow_array::RecordBatch;
use arrow_array::types::{Int32Type, Int64Type, TimestampNanosecondType, UInt16Type, UInt32Type};
use arrow_schema::ArrowError;

use crate::events::details::{self, Mapping};
use crate::kernel::address_space::Resident;
use crate::linux::clone::{Kind, kind_of};
use crate::linux::memory_calls;
use crate::linux::rss_stat::RssStat;
use crate::linux::syscalls::Special;
use crate::linux::task_events;
use crate::tables::argument_parts::Parts;
use crate::tables::event_columns::{Numbers, Text, Words, event_columns};
use crate::tables::fold::RowFold;
use crate::tables::memory::live::{Ids, Key, Live};
use crate::tables::memory::mappings::Space;
use crate::tables::memory::row::{self, From, Row};
use crate::tables::memory::rss::Mms;
use crate::tables::memory::word_classes::Meaning;
use crate::tables::names::Names;
use crate::tables::packed::Packed;
use crate::tables::process_tracking::word_classes::{RowKind, Status};
use crate::tables::table_builder::PART;

/// The memory of the processes that live, and rows that were not given yet.
///
/// # Examples
/// ```
/// use tracefast_core::tables::fold::Fold;
/// use tracefast_core::tables::memory::Memory;
/// let table = Memory::default().finish().expect("columns of one length").remove(0);
/// assert_eq!(table.num_rows(), 0);
/// assert!(table.column_by_name("anon_bytes").is_some());
/// ```
#[derive(Debug, Default)]
pub struct Memory {
    sources: Names,
    images: Names,
    names: Names,
    live: Live,
    mms: Mms,
    pub(crate) rows: Vec<Row>,
}

event_columns! {
    pub(crate) struct MemoryColumns {
        ts: Numbers<TimestampNanosecondType> = "ts",
        task: Numbers<UInt32Type> = "task",
        pid: Numbers<Int32Type> = "pid",
        tid: Numbers<Int32Type> = "tid",
        kind: Words<RowKind> = "kind",
        name: Words<(Meaning, u32)> = "name",
        args: Text = "args",
        ret: Numbers<Int64Type> = "ret",
        status: Words<Status> = "status",
        path: Text = "path",
        fd: Numbers<Int32Type> = "fd",
        child: Numbers<UInt32Type> = "child",
        source: Words<u32> = "source",
        cpu: Numbers<UInt16Type> = "cpu",
    }
}

impl Memory {
    /// How many processes and address spaces are kept.
    #[cfg(test)]
    pub(crate) fn kept(&self) -> (usize, usize) {
        (self.live.len(), self.mms.len())
    }

    /// A system call.
    fn call(&mut self, columns: &MemoryColumns<'_>, row: usize, ids: Ids, name: (Meaning, u32)) {
        let Some(ret) = columns.ret.get(row) else { return };
        let ts = columns.ts.get(row).into();
        match name.0 {
            // What ftrace prints of calls is not needed: its events are exact.
            Meaning::Maps(call) if columns.cpu.get(row).is_none() => {
                if let Some(change) = change(columns, row, call, ret) {
                    let process = self.live.of_row(ids);
                    self.change(process, ts, change);
                }
            }
            Meaning::Forks if ret > 0 => {
                if let Some(child) = columns.child.get(row).filter(|&child| child != ids.task) {
                    let parent = self.live.of_row(ids);
                    let call = self.names.text(name.1).unwrap_or_default();
                    let kind = kind_of(call, columns.args.get(row).unwrap_or_default());
                    self.forked(parent, child, kind, ts);
                }
            }
            Meaning::Execs if ret == 0 => {
                let process = self.live.of_row(ids);
                let image = columns.path.get(row).map(|path| self.images.number(path));
                if columns.cpu.get(row).is_none() {
                    self.started(process, ts);
                }
                if let Some(process) = self.live.get(process) {
                    process.image.set(image);
                }
            }
            _ => {}
        }
    }

    /// A process changed its address space.
    fn change(&mut self, key: Key, ts: Packed<i64>, change: details::Memory) {
        let Some(process) = self.live.get(key) else { return };
        match process.space.change(ts, change) {
            None => self.show_mapped(key, ts),
            Some(owner) => {
                if let Some(process) = self.live.get(owner) {
                    process.space.change(ts, change);
                    self.show_mapped(owner, ts);
                }
            }
        }
    }

    /// A process made another one, or a thread.
    fn forked(&mut self, parent: Key, child: u32, kind: Option<Kind>, ts: Packed<i64>) {
        let Some(process) = self.live.get(parent) else { return };
        if kind == Some(Kind::Thread) {
            return;
        }
        let (space, image) = (process.space.of_child(parent, kind), process.image);
        let key = (parent.0, child);
        let process = self.live.born(parent.0, child);
        // The program that it has started meanwhile is its own.
        if process.image.is_none() {
            process.image = image;
        }
        let Space::Unborn(changes) = &mut process.space else { return };
        let changes = std::mem::take(changes);
        process.space = space;
        let (seen, ended) = (process.seen, process.ended);
        if seen {
            self.show_mapped(key, ts);
        }
        for &(ts, change) in &changes {
            self.change(key, ts, change);
        }
        if ended {
            let ts = changes.last().map_or(ts, |&(ts, _)| ts);
            self.ended(key, ts);
        }
    }

    /// A process started a program.
    fn started(&mut self, key: Key, ts: Packed<i64>) {
        let Some(process) = self.live.get(key) else { return };
        process.space = Space::started();
        self.show(key, ts, Resident::default(), From::Mappings);
    }

    /// A process ended, with all its threads.
    fn ended(&mut self, key: Key, ts: Packed<i64>) {
        let Some(process) = self.live.get(key) else { return };
        if matches!(process.space, Space::Unborn(_)) {
            // The call that made it may come later.
            process.ended = true;
            self.live.release_pid(key);
            self.live.wait(key);
            return;
        }
        self.show(key, ts, Resident::default(), From::Mappings);
        self.live.remove(key);
    }

    fn show_mapped(&mut self, key: Key, ts: Packed<i64>) {
        if let Some(resident) = self.live.get(key).and_then(|process| process.space.resident()) {
            self.show(key, ts, resident, From::Mappings);
        }
    }

    /// Adds a row, unless the last one about the process says the same. Before the first one nothing
    /// is known: the log may lack the calls that map memory.
    fn show(&mut self, key: Key, ts: Packed<i64>, resident: Resident, from: From) {
        let Some(process) = self.live.get(key) else { return };
        if process.shown == resident {
            return;
        }
        process.shown = resident;
        let (task, pid, image) = (process.task, process.pid, process.image);
        self.rows.push(Row { source: key.0, ts, task, pid, image, resident, from });
    }

    /// An event of ftrace.
    fn event(&mut self, columns: &MemoryColumns<'_>, row: usize, ids: Ids, meaning: Meaning) {
        let args = columns.args.get(row).unwrap_or_default();
        let ts = columns.ts.get(row).into();
        match meaning {
            Meaning::Rss => {
                let Some(stat) = RssStat::parse(args) else { return };
                let current = stat.own.then(|| self.live.of_row(ids));
                let found = self.mms.changed(&mut self.live, ids.source, current, stat);
                let Some((owner, resident)) = found else { return };
                self.show(owner, ts, resident, From::RssStat);
                let over = !stat.own && resident == Resident::default();
                if over && self.live.get(owner).is_some_and(|process| process.ended) {
                    self.live.remove(owner);
                }
            }
            Meaning::ExecEvent => {
                let process = self.live.of_row(ids);
                let image = task_events::program(args).map(|path| self.images.number(path));
                if let Some(process) = self.live.get(process) {
                    process.image.set(image);
                }
            }
            // Its pages are given back after that, or were before: that depends on the kernel.
            Meaning::ExitEvent if ids.leads() => {
                let key = self.live.of_row(ids);
                let Some(process) = self.live.get(key) else { return };
                process.ended = true;
                if process.shown == Resident::default() {
                    self.live.remove(key);
                }
            }
            _ => {}
        }
    }

    /// The first row of a process that was made by a call before.
    #[cold]
    fn appears(&mut self, ids: Ids, ts: Packed<i64>) {
        let key = (ids.source, ids.task);
        if self.live.get(key).is_some_and(|process| !process.seen) {
            self.live.of_row(ids);
            self.show_mapped(key, ts);
        }
    }
}

/// What a call did to the address space, with the kind of file that it maps.
fn change(
    columns: &MemoryColumns<'_>,
    row: usize,
    call: Special,
    ret: i64,
) -> Option<details::Memory> {
    // These calls return -1 only with an error.
    let args = columns.args.get(row).filter(|_| ret != -1)?;
    let no_file = columns.fd.get(row).is_some_and(|fd| fd < 0);
    let argument = |at: u8| {
        let part = Parts(args).nth(at.into())?.trim();
        // With strace's option -N names come before the values.
        Some(part.split_once('=').map_or(part, |(_, value)| value).as_bytes())
    };
    let mut change = memory_calls::change(call, ret, no_file, argument)?;
    if let details::Memory::Map { mapping: mapping @ Mapping::File, .. } = &mut change
        && let Some(path) = columns.path.get(row)
    {
        *mapping = mapping_of(path);
    }
    Some(change)
}

/// What is mapped with the file of a path.
fn mapping_of(path: &str) -> Mapping {
    // Files of tmpfs are shared memory: shm_open(3), memfd_create(2), and what the kernel maps for
    // anonymous memory that is shared.
    const SHARED: [&str; 4] = ["/dev/shm/", "/memfd:", "/SYSV", "/dev/zero"];
    if SHARED.iter().any(|start| path.starts_with(start)) {
        Mapping::Shared
    } else if path.starts_with("/dev/") && !path.starts_with("/dev/hugepages/") {
        Mapping::Device
    } else {
        Mapping::File
    }
}

impl RowFold for Memory {
    type Columns<'a> = MemoryColumns<'a>;

    fn empty(&self) -> Self {
        Self::default()
    }

    #[inline]
    fn row(&mut self, columns: &mut MemoryColumns<'_>, row: usize) {
        let Some(task) = columns.task.get(row) else { return };
        let Some(kind) = columns.kind.get(row, RowKind::from_word) else { return };
        let names = &mut self.names;
        let name = columns.name.get(row, |word| (Meaning::from_name(word), names.number(word)));
        let meaning = name.map_or(Meaning::Other, |(meaning, _)| meaning);
        if kind == RowKind::Notice {
            return;
        }
        let source = columns.source.get(row, |text| self.sources.number(text) + 1).unwrap_or(0);
        let (pid, tid) = (columns.pid.get(row), columns.tid.get(row));
        let ids = Ids { source, task, pid, tid };
        self.live.note(ids);
        if self.live.unseen > 0 {
            self.appears(ids, columns.ts.get(row).into());
        }
        match (kind, name) {
            (RowKind::Call, Some(name)) => {
                let injected = columns.status.get(row, Status::from_word) == Some(Status::Injected);
                if !injected {
                    self.call(columns, row, ids, name);
                }
            }
            (RowKind::Exit, _) if ids.leads() && meaning != Meaning::Superseded => {
                let process = self.live.of_row(ids);
                self.ended(process, columns.ts.get(row).into());
            }
            (RowKind::Event, _) => self.event(columns, row, ids, meaning),
            _ => {}
        }
    }

    fn ready(&mut self) -> Result<Vec<RecordBatch>, ArrowError> {
        let mut parts = Vec::new();
        let whole = self.rows.len() / PART * PART;
        for rows in self.rows[..whole].chunks(PART) {
            parts.push(row::build(rows, &self.sources, &self.images)?);
        }
        self.rows.drain(..whole);
        Ok(parts)
    }

    fn table(self) -> Result<Vec<RecordBatch>, ArrowError> {
        let mut parts = Vec::new();
        // At least one, so that the table has its columns.
        for rows in self.rows.chunks(PART).chain(self.rows.is_empty().then_some(&[][..])) {
            parts.push(row::build(rows, &self.sources, &self.images)?);
        }
        Ok(parts)
    }
}
