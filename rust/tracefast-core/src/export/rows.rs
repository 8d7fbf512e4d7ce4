//! What a row is to an export, and whose it is.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, TimestampNanosecondType, UInt32Type, UInt64Type};
use arrow_array::{Array, BooleanArray, RecordBatch};

use crate::events::vocabulary::{Motion, Op};
use crate::linux::syscalls::{self, Cloexec, Count, Shape, Special};
use crate::tables::event_columns::{Numbers, Words, event_columns};
use crate::tables::files::word_classes::Act;
use crate::tables::phases::rows::COUNTED;
use crate::tables::syscalls::word_classes::{End, Role};

/// What a call does, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Called {
    /// The number of the name.
    pub(crate) name: u32,
    pub(crate) role: Role,
    pub(crate) act: Act,
    pub(crate) op: Op,
    /// It makes a descriptor and returns it.
    pub(crate) makes_fd: bool,
    /// What makes execve close the descriptors that it makes, and the position of its flags.
    pub(crate) cloexec: Cloexec,
    pub(crate) flags: u8,
    pub(crate) special: Special,
    /// Of calls that receive messages, which may carry descriptors: where these are.
    pub(crate) messages: Option<&'static Shape>,
    /// An event of the scheduler that wakes a task, or takes it off the CPU.
    pub(crate) schedules: bool,
}

impl Called {
    pub(crate) fn from_name(word: &str, name: u32) -> Self {
        let shape = syscalls::shape(syscalls::by_name(word.as_bytes()));
        let receives = shape.motion == Motion::Read
            && matches!(shape.count, Count::Message(_) | Count::Messages(_));
        Self {
            name,
            role: Role::from_name(word),
            act: Act::from_name(word),
            op: shape.op,
            makes_fd: shape.makes_fd,
            cloexec: shape.cloexec,
            flags: shape.flags,
            special: shape.special,
            messages: receives.then_some(shape),
            schedules: word.starts_with("sched_wak") || word == "sched_switch",
        }
    }
}

/// Kinds of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Call,
    /// A completed part of an asynchronous submission.
    Part,
    Signal,
    /// The end of a task.
    Exit,
    Event,
    Other,
}

impl Kind {
    fn from_word(word: &str) -> Self {
        match word {
            "syscall" => Self::Call,
            "aio" => Self::Part,
            "signal" => Self::Signal,
            "exit" => Self::Exit,
            "event" => Self::Event,
            _ => Self::Other,
        }
    }
}

/// Whose row it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Who {
    /// A task of the model.
    Task(u32),
    /// Events without the model have only thread ids, if any.
    Tid(Option<i32>),
}

event_columns! {
    /// The columns that both passes read.
    pub(crate) struct RowColumns {
        pub(crate) ts: Numbers<TimestampNanosecondType> = "ts",
        pub(crate) dur: Numbers<Int64Type> = "dur_ns",
        task: Numbers<UInt32Type> = "task",
        pub(crate) pid: Numbers<Int32Type> = "pid",
        tid: Numbers<Int32Type> = "tid",
        kind: Words<Kind> = "kind",
        name: Words<Called> = "name",
        pub(crate) ret: Numbers<Int64Type> = "ret",
        status: Words<End> = "status",
        line: Numbers<UInt64Type> = "line",
        source: Words<u32> = "source",
    }
}

/// A row that an export looks at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) kind: Kind,
    pub(crate) called: Called,
    pub(crate) end: End,
    pub(crate) source: u32,
    pub(crate) who: Who,
    pub(crate) ts: Option<i64>,
    pub(crate) dur: Option<i64>,
    pub(crate) line: u64,
}

impl Row {
    /// The log does not have the end of the call: it never returns, or was cut off.
    pub(crate) fn is_open(&self) -> bool {
        self.dur.is_none() && (self.end == End::None || self.called.role == Role::Exit)
    }

    /// When it ended. What has no duration has none, not even an unknown one.
    pub(crate) fn end_ts(&self) -> Option<i64> {
        Some(self.ts?.saturating_add(self.dur.unwrap_or(0).max(0)))
    }
}

impl RowColumns<'_> {
    /// Reads a row; None for what is neither a call nor anything else that a task did. `number` gives
    /// the number of a name, `source` that of a source.
    #[inline]
    pub(crate) fn get(
        &mut self,
        row: usize,
        number: impl FnMut(&str) -> u32,
        source: impl FnMut(&str) -> u32,
    ) -> Option<Row> {
        let kind = self.kind.get(row, Kind::from_word).filter(|&kind| kind != Kind::Other)?;
        let mut number = number;
        let called = self.name.get(row, |word| Called::from_name(word, number(word)))?;
        let end = self.status.get(row, End::from_status).unwrap_or(End::Returned);
        let child = called.role == Role::Fork && end == End::Headless;
        if kind == Kind::Call && child && self.ret.get(row) == Some(0) {
            // The call that created a task returns in it too, but it is the parent's call.
            return None;
        }
        let who = self.task.get(row).map_or_else(|| Who::Tid(self.tid.get(row)), Who::Task);
        Some(Row {
            kind,
            called,
            end,
            source: self.source.get(row, source).unwrap_or(0),
            who,
            ts: self.ts.get(row),
            dur: self.dur.get(row),
            line: self.line.get(row).unwrap_or(0),
        })
    }
}

/// Which rows of a batch are wanted: all, if it does not say. The others only show the state of the
/// system.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a>(Option<&'a BooleanArray>);

impl<'a> Wanted<'a> {
    pub(crate) fn of_batch(batch: &'a RecordBatch) -> Self {
        Self(batch.column_by_name(COUNTED).and_then(|column| column.as_boolean_opt()))
    }

    #[inline]
    pub(crate) fn is(self, row: usize) -> bool {
        self.0.is_none_or(|wanted| wanted.is_valid(row) && wanted.value(row))
    }
}
