//! Events of a block, column by column, before they become Arrow arrays.
//!
//! Columns are sized once for a block and written by index. A value counts only where the row's
//! validity mask has the column's bit; elsewhere a slot holds whatever an earlier block left.

use std::ops::Range;

use crate::events::details::Detail;
use crate::events::model_rows::is_of_task;
use crate::events::schema::Column;
use crate::events::vocabulary::{At, Motion, Op};
use crate::text::escape::escape_invalid;
use crate::text::string_view::{self, Place};

/// The clock of the time of a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RowClock {
    /// The log's own.
    #[default]
    Log,
    /// Another one: the line has columns other than those at the start of the log.
    Other,
    /// The sum of the differences of such lines.
    OtherDelta,
}

/// What the model of the kernel must know of a row beyond its columns.
#[derive(Debug, Clone, Copy, Default)]
pub struct Effect {
    /// What the call does.
    pub op: Op,
    /// Clone flags, or [`crate::events::vocabulary::open_flags`].
    pub flags: u32,
    /// Descriptor that a relative `path` starts from; `AT_FDCWD` (−100) for the working directory.
    /// Of a call that makes a task, the task's id if it is not the return value.
    pub at: i32,
    /// The same for `path2`.
    pub at2: i32,
    /// `path` is the argument of a call and relative to `at`.
    pub relative: bool,
    /// The same for `path2`.
    pub relative2: bool,
    /// `path` names the file, and the model has to look at its text: its identity is yet to be
    /// computed, or depends on where `..` leads.
    pub identify: bool,
    /// The same for `path2`.
    pub identify2: bool,
    /// Effects at the call's entry took place before the row.
    pub begun: bool,
    /// The call did not take place: strace injected its result.
    pub made_up: bool,
    /// The clock of its time.
    pub clock: RowClock,
    /// The thread that made the call, if the call ended under another id; otherwise 0.
    pub thread: i32,
    /// The direction in which it moves data.
    pub motion: Motion,
    /// Where in the file of `fd` a transfer starts.
    pub place: At,
    /// The same for `fd2`.
    pub place2: At,
    /// A number that the operation needs.
    pub number: i64,
    /// The rest, as a position in [`Side::details`]; or [`NO_DETAIL`].
    pub detail: u32,
}

/// The row has no detail.
pub const NO_DETAIL: u32 = u32::MAX;

/// The descriptor that stands for the working directory.
pub const AT_FDCWD: i32 = -100;

impl Effect {
    /// No effect, no relative path.
    pub const NONE: Self = Self {
        op: Op::None,
        flags: 0,
        at: AT_FDCWD,
        at2: AT_FDCWD,
        relative: false,
        relative2: false,
        identify: false,
        identify2: false,
        begun: false,
        made_up: false,
        clock: RowClock::Log,
        thread: 0,
        motion: Motion::None,
        place: At::Position,
        place2: At::Position,
        number: 0,
        detail: NO_DETAIL,
    };
}

macro_rules! rows {
    ($($(#[$meta:meta])* $field:ident: $ty:ty,)+) => {
        /// Events of a block as columns.
        #[derive(Debug, Default)]
        pub struct Rows {
            /// Rows in use.
            pub len: usize,
            $($(#[$meta])* #[allow(missing_docs)] pub $field: Vec<$ty>,)+
        }

        impl Rows {
            /// Clears all rows and makes room for `capacity`.
            pub fn reset(&mut self, capacity: usize) {
                self.len = 0;
                // Zeroed memory costs nothing for columns that no row uses, nor does what is left
                // over so that a block with a few more lines needs no other.
                $(if self.$field.len() < capacity {
                    self.$field = vec![Default::default(); capacity + capacity / 4];
                })+
            }

            /// Makes room for at least one more row, and keeps all rows.
            #[cold]
            fn grow(&mut self) {
                let capacity = (self.valid.len() * 3 / 2).max(1024);
                $(self.$field.resize(capacity, Default::default());)+
            }
        }
    };
}

rows! {
    /// A bit for each column of the schema that has a value.
    valid: u64,
    /// What the model needs.
    effect: Effect,
    /// This and the columns below are those of the schema. Dictionary columns hold keys of the
    /// block.
    ts: i64,
    dur: i64,
    task: u32,
    pid: i32,
    tid: i32,
    comm: u32,
    cpu: u16,
    kind: u8,
    name: u32,
    args: u128,
    ret: i64,
    errno: u32,
    result: u128,
    status: u8,
    fd: i32,
    fd2: i32,
    ofd: u32,
    ofd2: u32,
    path: u128,
    path2: u128,
    file: u64,
    file2: u64,
    file_type: u8,
    size: i64,
    offset: i64,
    offset2: i64,
    offset_known: u8,
    requested: i64,
    bytes: i64,
    access: u8,
    access2: u8,
    child: u32,
    anon_bytes: i64,
    /// Line number relative to the first line of the block; negative if the event began in an
    /// earlier block.
    line: i64,
    extra: u128,
}

/// The most that one read or write moves: read(2), write(2).
const MAX_RW_COUNT: i64 = 0x7fff_f000;

impl Rows {
    /// The row has a value in this column.
    #[inline]
    pub fn has(&self, row: usize, column: Column) -> bool {
        self.valid[row] & column.bit() != 0
    }

    /// The call moved more bytes than the kernel lets it: the line is damaged, or the result is
    /// that of another call.
    #[inline]
    pub(crate) fn is_excessive(&self, row: usize) -> bool {
        // copy_file_range(2) had no limit but the count before Linux 5.19.
        let limited = self.effect[row].motion != Motion::Copy;
        let most = if limited { MAX_RW_COUNT } else { i64::MAX };
        let asked = if self.has(row, Column::Requested) { self.requested[row] } else { most };
        self.bytes[row] > asked.min(most)
    }

    /// The first row in `range` of the task with this key: see
    /// [`crate::events::model_columns::task_key`].
    pub(crate) fn next_of(&self, task: i64, range: Range<usize>) -> Option<usize> {
        let Ok(tid) = i32::try_from(task) else {
            let mut range = range;
            return range
                .find(|&row| !self.has(row, Column::Tid) && is_of_task(self.kind[row], false));
        };
        let mut from = range.start;
        while from < range.end {
            let to = range.end.min(from + 64);
            // All 64 at once: that is a few vector instructions.
            let near =
                self.tid[from..to].iter().fold(0, |any, &other| any | u8::from(other == tid));
            if near != 0 {
                let found = (from..to).find(|&row| {
                    self.tid[row] == tid
                        && self.has(row, Column::Tid)
                        && is_of_task(self.kind[row], true)
                });
                if found.is_some() {
                    return found;
                }
            }
            from = to;
        }
        None
    }

    /// Bytes of the texts of the row, without those that are a part of another.
    #[inline]
    pub fn text_bytes(&self, row: usize) -> usize {
        const RARE: u64 = Column::Result.bit() | Column::Extra.bit();
        let valid = self.valid[row];
        let length = |column: Column, views: &[u128]| {
            // The lowest 32 bits of a view are the length.
            if valid & column.bit() != 0 { views[row] as u32 as usize } else { 0 }
        };
        let args = length(Column::Args, &self.args);
        if valid & RARE == 0 {
            return args;
        }
        args + length(Column::Result, &self.result) + length(Column::Extra, &self.extra)
    }

    /// Adds a row without values and returns its number.
    #[inline]
    pub fn push(&mut self) -> usize {
        let row = self.len;
        if row >= self.valid.len() {
            self.grow();
        }
        self.valid[row] = 0;
        self.effect[row] = Effect::NONE;
        self.len += 1;
        row
    }
}

/// What belongs to rows of a block and is neither in the text of the block nor in columns.
#[derive(Debug, Default)]
pub struct Side {
    /// Text that was joined, unescaped or copied from earlier blocks; always valid UTF-8 as a
    /// whole.
    pub bytes: Vec<u8>,
    /// Facts that few rows have; [`Effect::detail`] and
    /// [`crate::events::split_calls::EntryEffect::detail`] are positions in it.
    pub details: Vec<Detail>,
}

impl Side {
    /// Adds a fact, and returns its position.
    pub fn detail(&mut self, detail: Detail) -> u32 {
        self.details.push(detail);
        self.details.len() as u32 - 1
    }

    /// Adds a copy of `text`, which must be UTF-8, and returns its view.
    pub fn put(&mut self, text: &[u8]) -> u128 {
        if text.len() <= string_view::INLINE {
            return string_view::pack(text, Place::Side, 0);
        }
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(text);
        string_view::pack(text, Place::Side, offset)
    }

    /// The view of what was appended since `offset`. Text short enough for the view itself is
    /// removed again.
    pub fn since(&mut self, offset: usize) -> u128 {
        let view = string_view::pack(&self.bytes[offset..], Place::Side, offset);
        if self.bytes.len() - offset <= string_view::INLINE {
            self.bytes.truncate(offset);
        }
        view
    }
}

/// A text that a row's views can point into.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ViewSource<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// The buffer of the block that has them.
    pub place: Place,
    /// Where in that buffer they start.
    pub base: usize,
    /// They are valid UTF-8.
    pub utf8: bool,
}

impl ViewSource<'_> {
    /// The view of `start..end`; of an escaped copy where that is not UTF-8.
    #[inline]
    pub(crate) fn view(&self, start: usize, end: usize, side: &mut Side) -> u128 {
        let part = &self.bytes[start..end];
        if self.utf8 {
            string_view::pack(part, self.place, self.base + start)
        } else {
            match escape_invalid(part) {
                std::borrow::Cow::Borrowed(_) => {
                    string_view::pack(part, self.place, self.base + start)
                }
                std::borrow::Cow::Owned(fixed) => side.put(fixed.as_bytes()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::model_columns::task_key;
    use crate::events::vocabulary::EventKind;

    #[test]
    fn lines_that_were_not_understood_are_of_no_task() {
        let mut rows = Rows::default();
        rows.reset(4);
        let kinds = [EventKind::Unparsed, EventKind::Event, EventKind::Signal, EventKind::Syscall];
        for kind in kinds {
            let row = rows.push();
            rows.kind[row] = kind as u8;
            rows.valid[row] = Column::Kind.bit();
        }
        assert_eq!(rows.next_of(task_key(None), 0..4), Some(2));
        for row in 0..4 {
            rows.tid[row] = 7;
            rows.valid[row] |= Column::Tid.bit();
        }
        assert_eq!(rows.next_of(task_key(Some(7)), 0..4), Some(1));
    }
}
