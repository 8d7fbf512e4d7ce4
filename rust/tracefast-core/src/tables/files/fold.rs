//! The fold: events in order to rows of the table.

use arrow_array::RecordBatch;
use arrow_array::types::{Int32Type, Int64Type, TimestampNanosecondType, UInt32Type, UInt64Type};
use arrow_schema::ArrowError;

use hashbrown::HashTable;

use crate::hash::{HashMap, Hasher};
use crate::tables::distinct::LatelyAdded;
use crate::tables::event_columns::{EventColumns, Numbers, Text, Words, event_columns};
use crate::tables::files::bursts::{self, Bursts, Notice};
use crate::tables::files::by_phase::{ByPhase, part_of};
use crate::tables::files::descriptions::Relative;
use crate::tables::files::direction::DataCall;
use crate::tables::files::file_types::{self, KnownTypes};
use crate::tables::files::position::Place;
use crate::tables::files::row::{FileUse, Key, READ, WRITE, What};
use crate::tables::files::streams::Streams;
use crate::tables::files::word_classes::{Act, Class, Known, RowKind};
use crate::tables::files::{By, Options, Scope, table};
use crate::tables::fold::{Dictionaries, RowFold};
use crate::tables::names::Names;
use crate::tables::packed::Packed;
use crate::tables::phases::rows::PhaseColumns;

/// The uses of files so far.
///
/// # Examples
/// ```
/// use tracefast_core::tables::fold::Fold;
/// use tracefast_core::tables::files::{Options, Files};
/// let files = Files::new(Options::default());
/// let table = files.finish().expect("columns of one length").remove(0);
/// assert_eq!(table.num_rows(), 0);
/// assert!(table.column_by_name("read_bytes").is_some());
/// ```
#[derive(Debug, Clone)]
pub struct Files {
    pub(crate) options: Options,
    sources: Names,
    kinds: Names,
    pub(crate) file_uses: Vec<FileUse>,
    pub(crate) index: HashTable<u32>,
    pub(crate) hasher: Hasher,
    /// The row of the last event: usually the next event has the same.
    pub(crate) last: Option<(Key, u32)>,
    /// Processes and tasks of rows.
    pub(crate) users: LatelyAdded,
    pub(crate) streams: Streams,
    /// By source and description.
    pub(crate) relative: HashMap<(u32, u32), Relative>,
    /// Calls that overlap, until it is known what they covered.
    pub(crate) bursts: Bursts,
    /// Descriptions that were used before their file or its name was known, and the file found
    /// later.
    nameless: Nameless,
    /// Filled only if a file may have several rows.
    known_types: KnownTypes,
    pub(crate) by_phase: ByPhase,
    rings: (u64, u64),
}

/// The file of each description, by source and description.
pub(crate) type Nameless = HashMap<(u32, u32), Packed<u64>>;

event_columns! {
    pub(crate) struct Columns {
        ts: Numbers<TimestampNanosecondType> = "ts",
        dur: Numbers<Int64Type> = "dur_ns",
        task: Numbers<UInt32Type> = "task",
        pid: Numbers<Int32Type> = "pid",
        kind: Words<RowKind> = "kind",
        name: Words<Act> = "name",
        ret: Numbers<Int64Type> = "ret",
        injected: Words<bool> = "status",
        ofd: Numbers<UInt32Type> = ["ofd", "ofd2"],
        path: Text = ["path", "path2"],
        file: Numbers<UInt64Type> = ["file", "file2"],
        file_type: Words<u32> = "file_type",
        size: Numbers<Int64Type> = "size",
        offset: Numbers<Int64Type> = ["offset", "offset2"],
        known: Words<Known> = "offset_known",
        requested: Numbers<Int64Type> = "requested",
        bytes: Numbers<Int64Type> = "bytes",
        access: Words<Class> = ["access", "access2"],
        source: Words<u32> = "source",
    }
}

/// One side of a data call.
struct Side {
    file_use: u32,
    direction: usize,
    source: u32,
    ofd: Option<u32>,
    offset: Option<i64>,
    known: Option<Known>,
    class: Option<Class>,
    /// It is one of two.
    two_sided: bool,
}

impl Side {
    /// Whether it may be one of the calls of a burst.
    fn overlaps(&self) -> bool {
        self.known == Some(Known::Ambiguous)
            && self.offset.is_none()
            && self.ofd.is_some()
            && !self.two_sided
    }
}

/// The source of events that name none.
pub(crate) const NO_SOURCE: u32 = u32::MAX;

impl Files {
    /// A table with no events yet.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            sources: Names::default(),
            kinds: Names::default(),
            file_uses: Vec::new(),
            index: HashTable::new(),
            hasher: Hasher::default(),
            last: None,
            users: LatelyAdded::default(),
            streams: Streams::default(),
            relative: HashMap::default(),
            bursts: Bursts::default(),
            nameless: Nameless::default(),
            known_types: KnownTypes::default(),
            by_phase: ByPhase::default(),
            rings: (0, 0),
        }
    }

    /// Calls of `io_uring_enter`, and how many submissions they took. The log does not show what
    /// these read and wrote.
    pub fn rings(&self) -> (u64, u64) {
        self.rings
    }

    /// Finds the row of the table for one side of an event, and notes the event's time and task.
    fn touch(
        &mut self,
        columns: &Columns<'_>,
        row: usize,
        source: u32,
        act: Act,
        side: usize,
    ) -> Option<u32> {
        let file = columns.file[side].get(row);
        let path = if file.is_none() { columns.path[side].get(row) } else { None };
        let pid = columns.pid.get(row);
        let what = match (file, path) {
            (Some(file), _) => What::File(file),
            (None, Some(_)) => What::Name,
            (None, None) => What::Nameless(columns.ofd[side].get(row)?),
        };
        self.identify(source, what, || columns.ofd[side].get(row));
        let key = match self.options.by {
            By::File => Key { source, part: Packed::default(), what },
            By::Process => Key { source, part: pid.map(i64::from).into(), what },
            By::Phase => Key { source, part: part_of(self.by_phase.now), what },
            By::Open => match columns.ofd[side].get(row) {
                Some(ofd) => Key { source, part: i64::from(ofd).into(), what: What::Description },
                // Without a description there is no row, except for data: no byte may be lost.
                None if matches!(act, Act::Read | Act::Write | Act::Transfer) => {
                    Key { source, part: Packed::default(), what }
                }
                None => return None,
            },
        };
        let number = self.find(key, file, path);
        let file_use = self.file_uses.get_mut(number as usize)?;
        file_use.file.set_first(file);
        if file_use.path.is_none() || (act == Act::Open && !file_use.opened) {
            // An open call has the best name. The name that strace prints after a descriptor is the
            // current one, and the file may have been renamed.
            if let Some(path) = columns.path[side].get(row) {
                file_use.path = Some(path.into());
                file_use.opened = act == Act::Open;
            }
        }
        let task = columns.task.get(row);
        let both = pid.zip(task).map(|(pid, task)| [pid as u32, task]);
        if both.is_none_or(|both| self.users.add(number, both)) {
            if let Some(pid) = pid {
                file_use.pids.insert(pid as u32);
            }
            if let Some(task) = task {
                file_use.tasks.insert(task);
            }
        }
        if let Some(ts) = columns.ts.get(row) {
            let end = ts.saturating_add(columns.dur.get(row).unwrap_or(0));
            file_use.ts_first.lower(ts);
            file_use.ts_last.raise(end);
            // A file used after a close is still open through another descriptor.
            if let Some(open) = &mut file_use.open
                && act != Act::Close
                && open.ts_close.is_some_and(|closed| closed < ts)
            {
                open.ts_close = None;
            }
        }
        Some(number)
    }

    /// Notes the file of a description that was used before its file was known.
    #[inline]
    fn identify(&mut self, source: u32, what: What, ofd: impl FnOnce() -> Option<u32>) {
        match what {
            What::Nameless(ofd) => {
                self.nameless.entry((source, ofd)).or_default();
            }
            What::File(file) if !self.nameless.is_empty() => {
                if let Some(known) = ofd().and_then(|ofd| self.nameless.get_mut(&(source, ofd))) {
                    known.set_first(file);
                }
            }
            _ => {}
        }
    }

    /// Notes what an event says about the file itself.
    fn note(&mut self, columns: &mut Columns<'_>, row: usize, file_use: u32, act: Act) {
        let Some(file_use) = self.file_uses.get_mut(file_use as usize) else { return };
        if file_use.kind.is_none()
            && let Some(kind) = columns.file_type.get(row, |word| self.kinds.number(word))
        {
            if self.kinds.text(kind) == Some("unknown") {
                file_use.kind_unknown = true;
            } else {
                file_use.kind.set(kind);
                if let (true, Some(file)) = (self.options.by != By::File, file_use.file.get()) {
                    self.known_types.entry((file_use.key.source, file)).or_insert(kind);
                }
            }
        }
        if let Some(size) = columns.size.get(row) {
            file_use.prove_size(size);
        }
        let ret = columns.ret.get(row);
        let done = ret.is_some_and(|ret| ret >= 0);
        match act {
            Act::Open if done => {
                file_use.opens = file_use.opens.saturating_add(1);
                if self.options.by == By::Open {
                    let open = file_use.open.get_or_insert_default();
                    if open.by.is_none() {
                        open.by = columns.task.get(row);
                        open.ts = columns.ts.get(row);
                    }
                }
            }
            Act::Open if ret.is_some() => {
                file_use.opens_failed = file_use.opens_failed.saturating_add(1);
            }
            Act::Look => {
                file_use.stats = file_use.stats.saturating_add(1);
                let failed = u32::from(ret.is_some_and(|ret| ret < 0));
                file_use.stats_failed = file_use.stats_failed.saturating_add(failed);
            }
            Act::Map if done => {
                file_use.mmaps = file_use.mmaps.saturating_add(1);
                file_use.mmap_bytes.add(columns.requested.get(row));
            }
            Act::Map if ret.is_some() => {
                file_use.mmaps_failed = file_use.mmaps_failed.saturating_add(1);
            }
            Act::Close if self.options.by == By::Open => {
                let open = file_use.open.get_or_insert_default();
                open.ts_close = columns.ts.get(row).or(open.ts_close);
            }
            _ => {}
        }
    }

    /// Counts one side of a data call.
    fn side(
        &mut self,
        columns: &mut Columns<'_>,
        row: usize,
        source: u32,
        file_use: u32,
        direction: usize,
        [side, sides]: [usize; 2],
    ) {
        let call = DataCall {
            ts: columns.ts.get(row),
            dur: columns.dur.get(row),
            ret: columns.ret.get(row),
            requested: columns.requested.get(row),
            bytes: columns.bytes.get(row),
            pid: columns.pid.get(row),
        };
        let side = Side {
            file_use,
            direction,
            source,
            ofd: columns.ofd[side].get(row),
            offset: columns.offset[side].get(row),
            known: columns.known.get(row, Known::from_word),
            class: columns.access[side].get(row, Class::from_word),
            two_sided: sides == 2,
        };
        self.access(&side, &call);
    }

    fn access(&mut self, side: &Side, call: &DataCall) {
        let Some(file_use) = self.file_uses.get_mut(side.file_use as usize) else { return };
        let moved = file_use.direction(side.direction).count(call, self.options.distributions);
        if call.ret.is_none_or(|ret| ret < 0) {
            return;
        }
        let ofd = side.ofd.map(|ofd| (side.source, ofd));
        let wait = if self.relative.is_empty() { None } else { ofd };
        let place = locate(side, wait.and_then(|ofd| self.relative.get(&ofd)));
        let mut part = match (place, ofd) {
            (Place::Relative(..), Some(ofd)) => {
                let waiting = &mut self.relative.entry(ofd).or_default().waiting;
                // How well these are known is decided at the end of the log.
                let part = waiting.part(side.file_use, side.direction);
                part.assumed |= side.known == Some(Known::AssumedRelative);
                Some(part)
            }
            _ => None,
        };
        match (side.known, side.offset, place) {
            (None, _, _) | (_, _, Place::Relative(..)) => {}
            (Some(Known::Assumed | Known::AssumedRelative), Some(_), _) => {
                file_use.know(Known::Assumed);
            }
            (Some(_), Some(_), Place::Exact(_)) => file_use.know(Known::Exact),
            (Some(_), Some(_), _) => file_use.know(Known::Relative),
            // What they covered together may become known.
            (Some(Known::Ambiguous), None, _) if side.overlaps() => {}
            (Some(known @ (Known::Ambiguous | Known::Unknown)), None, _) => file_use.know(known),
            // In a call with two sides, it describes the side that has an offset.
            (Some(_), None, _) => {}
        }
        let burst = match ofd {
            Some(ofd) if side.overlaps() => {
                let way = (side.file_use, side.direction);
                Some(bursts::overlap(&mut self.bursts, &mut self.file_uses, ofd, way, moved))
            }
            Some(ofd) if moved && !self.bursts.is_empty() => {
                let direction = Some(side.direction);
                bursts::interrupt(&mut self.bursts, &mut self.file_uses, ofd, direction);
                None
            }
            _ => None,
        };
        let mut class = side.class;
        let Some(file_use) = self.file_uses.get_mut(side.file_use as usize) else { return };
        let direction = file_use.direction(side.direction);
        if !moved {
            let ended = class == Some(Class::Eof) || class.is_none() && call.ended();
            direction.eof += u64::from(ended && side.direction == READ);
            return;
        }
        let bytes = call.bytes.unwrap_or(0);
        match (place, &mut part) {
            (Place::Exact(at), _) => direction.cover(call.pid, at, bytes),
            (Place::Relative(_, at), Some(part)) => {
                let end = at.saturating_add(bytes);
                part.ranges.insert(call.pid, at, end);
                part.highest = part.highest.max(Some(end));
                direction.place(bytes);
            }
            _ => {}
        }
        let stream = match (self.options.scope, side.ofd) {
            (Scope::Stream, Some(ofd)) => {
                self.streams.get_or_insert(side.source, ofd, side.direction)
            }
            _ => direction.stream.get_or_insert_default(),
        };
        if self.options.scope == Scope::File {
            class = stream.class(place);
        }
        if let Some(burst) = burst {
            burst.add(call, direction.moved.get(), stream.end());
        }
        let gap = place.distance_from(stream.end());
        let over = stream.chain(class, side.file_use, bytes);
        stream.set_end(place.plus(bytes));
        if let Some(class) = class {
            direction.judge(class, bytes, gap, self.options.near);
            match (class, place, part) {
                (Class::Backward, Place::Exact(0), _) => direction.rewinds += 1,
                (Class::Backward, Place::Relative(_, at), Some(part)) => part.backward.push(at),
                _ => {}
            }
        }
        if let (READ, Place::Exact(at)) = (side.direction, place) {
            file_use.prove_size(at.saturating_add(bytes));
        }
        flush(&mut self.file_uses, side.direction, over);
    }
}

impl RowFold for Files {
    type Columns<'a> = (Columns<'a>, Option<PhaseColumns<'a>>);

    fn empty(&self) -> Self {
        Self::new(self.options)
    }

    fn column_names(&self) -> Vec<&'static str> {
        match self.options.by {
            By::Phase => Self::Columns::names(),
            By::File | By::Process | By::Open => Columns::names(),
        }
    }

    fn columns<'a>(
        &self,
        batch: &'a RecordBatch,
        words: &'a Dictionaries,
    ) -> Result<Self::Columns<'a>, ArrowError> {
        match self.options.by {
            By::Phase => EventColumns::from_batch(batch, words),
            By::File | By::Process | By::Open => Ok((Columns::from_batch(batch, words)?, None)),
        }
    }

    #[inline]
    fn row(&mut self, (columns, phases): &mut Self::Columns<'_>, row: usize) {
        if let Some(phases) = phases {
            let found = self.by_phase.phases.row(phases, row);
            if !self.in_phase(found) {
                return;
            }
        }
        let Some(kind) = columns.kind.get(row, RowKind::from_word) else { return };
        if kind == RowKind::Other {
            return;
        }
        let act = columns.name.get(row, Act::from_name).unwrap_or(Act::Other);
        let source = columns.source.get(row, |text| self.sources.number(text));
        let source = source.unwrap_or(NO_SOURCE);
        if kind == RowKind::Notice {
            let (ofd, base) = (columns.ofd[0].get(row), columns.offset[0].get(row));
            if let (Act::Base, Some(ofd), Some(base)) = (act, ofd, base) {
                for direction in [READ, WRITE] {
                    if let Some(stream) = self.streams.get(source, ofd, direction) {
                        stream.prove(ofd, base);
                    }
                }
                let relative = self.relative.entry((source, ofd)).or_default();
                relative.prove(ofd, base, &mut self.file_uses);
            }
            if let (Act::Burst, Some(ofd)) = (act, ofd) {
                let notice = Notice {
                    calls: columns.ret.get(row),
                    start: base,
                    end: columns.offset[1].get(row),
                    known: columns.known.get(row, Known::from_word),
                    class: columns.access[0].get(row, Class::from_word),
                };
                self.end_burst((source, ofd), &notice);
            }
            return;
        }
        if columns.injected.get(row, |word| word == "injected") == Some(true) {
            return;
        }
        if act == Act::Seek
            && !self.bursts.is_empty()
            && columns.ret.get(row).is_some_and(|ret| ret >= 0)
            && let Some(ofd) = columns.ofd[0].get(row)
        {
            bursts::interrupt(&mut self.bursts, &mut self.file_uses, (source, ofd), None);
        }
        if act == Act::Ring {
            self.rings.0 += 1;
            self.rings.1 += columns.ret.get(row).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        }
        let direction = match act {
            Act::Read | Act::Transfer => Some(READ),
            Act::Write => Some(WRITE),
            _ => None,
        };
        if let Some(file_use) = self.touch(columns, row, source, act, 0) {
            self.note(columns, row, file_use, act);
            if let Some(direction) = direction {
                let sides = if act == Act::Transfer { 2 } else { 1 };
                self.side(columns, row, source, file_use, direction, [0, sides]);
            }
        }
        if act == Act::Transfer
            && let Some(file_use) = self.touch(columns, row, source, act, 1)
        {
            self.side(columns, row, source, file_use, WRITE, [1, 2]);
        }
    }

    /// The table, the largest number of bytes first.
    fn table(mut self) -> Result<Vec<RecordBatch>, ArrowError> {
        if self.options.by == By::Phase {
            self.settle_phases();
        }
        for (direction, stream) in self.streams.all() {
            flush(&mut self.file_uses, direction, stream.run());
        }
        for burst in std::mem::take(&mut self.bursts).into_values() {
            burst.give_up(&mut self.file_uses);
        }
        for relative in std::mem::take(&mut self.relative).into_values() {
            relative.finish(&mut self.file_uses);
        }
        for at in 0..self.file_uses.len() {
            for direction in [READ, WRITE] {
                let run = self.file_uses[at].directions[direction]
                    .as_ref()
                    .and_then(|direction| direction.stream.as_ref()?.run());
                flush(&mut self.file_uses, direction, run);
            }
        }
        if self.options.by == By::Phase {
            self.join_phases();
        }
        let mut file_uses = table::adopted(self.file_uses, &self.nameless);
        if self.options.by != By::File {
            file_types::share(&mut file_uses, &self.known_types, &self.nameless);
        }
        let phases = &self.by_phase.phases;
        table::build(file_uses, self.options.by, (&self.sources, &self.kinds, phases))
    }
}

fn locate(side: &Side, relative: Option<&Relative>) -> Place {
    let Some(at) = side.offset else { return Place::Lost };
    let proved = relative.is_some_and(|relative| relative.proved);
    let waits = relative.is_some_and(|relative| !relative.waiting.is_empty());
    match side.known {
        Some(Known::Relative | Known::AssumedRelative) if !proved => {
            side.ofd.map_or(Place::Lost, |ofd| Place::Relative(ofd, at))
        }
        // It is the other side whose position is not known.
        Some(Known::Ambiguous | Known::Unknown) if waits => {
            side.ofd.map_or(Place::Lost, |ofd| Place::Relative(ofd, at))
        }
        _ => Place::Exact(at),
    }
}

/// Counts a finished chain.
pub(crate) fn flush(file_uses: &mut [FileUse], direction: usize, run: Option<(u32, i64)>) {
    if let Some((owner, bytes)) = run
        && let Some(file_use) = file_uses.get_mut(owner as usize)
    {
        file_use.direction(direction).runs.push(bytes);
    }
}
