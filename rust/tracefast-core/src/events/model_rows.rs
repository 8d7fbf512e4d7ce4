//! Which rows of a block the model of the kernel must look at, and how many rows there are of each
//! kind. Workers find this out in parallel, before the block's turn in the serial stage.
//!
//! A third of the rows of a usual log change nothing in the system. Of these the model needs to
//! know only the task, and knows it from another row of the same task: see
//! [`crate::events::model_columns`].

use crate::events::details::Detail;
use crate::events::rows::{Effect, NO_DETAIL, Rows};
use crate::events::schema::Column as C;
use crate::events::split_calls::Deferred;
use crate::events::vocabulary::{EventKind, Motion, Op, Status, open_flags};

/// Which kinds of rows are of a task, as bits: those that do not have the task's id, those that have.
const OF_TASK: [u32; 2] = {
    let unknown = 1 << EventKind::Event as u32
        | 1 << EventKind::Function as u32
        | 1 << EventKind::Marker as u32
        | 1 << EventKind::Lost as u32;
    let all = ((1 << EventKind::TEXTS.len()) - 1) & !(1 << EventKind::Unparsed as u32);
    [all & !unknown, all]
};

/// Whether a row of this kind is of a task; `named`: it has the task's id.
#[inline]
pub(crate) fn is_of_task(kind: u8, named: bool) -> bool {
    OF_TASK[usize::from(named)] >> (kind & 31) & 1 != 0
}

/// How much of the model a row needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum RowClass {
    /// It changes nothing; the model only needs its task.
    #[default]
    Idle,
    /// It uses one descriptor, and changes neither others nor its task.
    Use,
    /// It closes a descriptor.
    Close,
    /// It changes an address space, and may use a descriptor.
    Memory,
    /// It acts on absolute paths.
    Path,
    /// It opens an absolute path.
    Open,
    /// It shows the path of the working directory.
    Directory,
    /// Anything else.
    Other,
}

/// The rows that the model must look at.
#[derive(Debug, Default)]
pub struct ModelRows {
    /// They were found; otherwise every row must be looked at.
    pub done: bool,
    /// Rows that the block had then.
    pub rows: usize,
    /// These rows by kind, apart from those in `open`.
    pub kinds: [u64; EventKind::TEXTS.len()],
    /// Bytes of their texts: see [`Rows::text_bytes`].
    pub text_bytes: usize,
    /// Rows of calls whose first half is in another block, or missing.
    pub open: Vec<u32>,
    /// Rows that act on a file by its name, or open it.
    pub named: Vec<u32>,
    /// A bit for each row: it must be looked at.
    visits: Vec<u64>,
    /// The class of each row, and whether its entry came before it.
    classes: Vec<(RowClass, bool)>,
}

/// Tasks that the search for the first row of each task remembers, by the last bits of their ids.
/// Forgetting one costs an extra visit.
const KNOWN: usize = 64;

/// No task.
const NOBODY: i64 = i64::MAX;

impl ModelRows {
    /// Finds the rows of a parsed block. `ebadf`: the key of this error in the block, if a row has
    /// it. `event_rows`: rows that say something about another task.
    pub(crate) fn find(
        &mut self,
        rows: &Rows,
        ebadf: Option<u32>,
        details: &[Detail],
        deferred: &[Deferred],
        event_rows: impl Iterator<Item = u32>,
    ) {
        (self.done, self.rows) = (true, rows.len);
        self.kinds = [0; EventKind::TEXTS.len()];
        self.visits.clear();
        self.visits.resize(rows.len.div_ceil(64), 0);
        self.open.clear();
        self.named.clear();
        self.classes.clear();
        self.classes.resize(rows.len, (RowClass::Idle, false));
        // These steps may find the task of rows that do not name it.
        let tasks_may_be_named = deferred.iter().any(|step| {
            matches!(
                step,
                Deferred::PidPrefix { .. } | Deferred::Resume { .. } | Deferred::Superseded { .. }
            )
        });
        classify(rows, ebadf, details, tasks_may_be_named, self);
        // What such a call does is known only together with its first half.
        for step in deferred {
            if let Deferred::Resume { row, .. } = step {
                let at = *row as usize;
                self.visit(at);
                self.classes[at] = (RowClass::Other, false);
                self.kinds[usize::from(rows.kind[at])] -= 1;
                self.open.push(*row);
            }
        }
        for row in event_rows {
            self.visit(row as usize);
        }
    }

    /// Clears everything.
    pub fn clear(&mut self) {
        self.done = false;
        self.named.clear();
        self.visits.clear();
        self.classes.clear();
    }

    /// The class of the row, and whether its entry came before it.
    #[inline]
    pub fn class(&self, row: usize) -> (RowClass, bool) {
        self.classes.get(row).copied().unwrap_or((RowClass::Other, false))
    }

    /// The row must be looked at.
    #[inline]
    pub fn visit(&mut self, row: usize) {
        if let Some(word) = self.visits.get_mut(row / 64) {
            *word |= 1 << (row % 64);
        }
    }

    /// The row need not be looked at after all.
    #[inline]
    pub(crate) fn leave_out(&mut self, row: usize) {
        if let Some(word) = self.visits.get_mut(row / 64) {
            *word &= !(1 << (row % 64));
        }
    }

    /// All rows from `from` on must be looked at.
    pub(crate) fn visit_all(&mut self, from: usize, rows: usize) {
        self.visits.resize(rows.div_ceil(64), 0);
        if let Some(word) = self.visits.get_mut(from / 64) {
            *word |= u64::MAX << (from % 64);
        }
        if let Some(rest) = self.visits.get_mut(from / 64 + 1..) {
            rest.fill(u64::MAX);
        }
    }

    /// The next row to look at, from `from` on; `end` if there is none before it.
    #[inline]
    pub fn next(&self, from: usize, end: usize) -> usize {
        let mut at = from / 64;
        let Some(&word) = self.visits.get(at) else { return end };
        let mut word = word & (u64::MAX << (from % 64));
        while word == 0 {
            at += 1;
            if at * 64 >= end {
                return end;
            }
            let Some(&next) = self.visits.get(at) else { return end };
            word = next;
        }
        (at * 64 + word.trailing_zeros() as usize).min(end)
    }
}

/// What a row must have to be of the class of its operation.
mod needs {
    /// One descriptor, which was open.
    pub(super) const ONE: u8 = 1;
    /// A path whose identity is known, and no data that moves.
    pub(super) const NAMED: u8 = 2;
    /// A path without links.
    pub(super) const RESOLVED: u8 = 4;
}

/// The class of each operation, and what its rows need to be of it. Others are of class `Other`.
const CLASSES: [(RowClass, u8); 256] = {
    use RowClass::{Close, Directory, Idle, Open, Other, Path, Use};
    let mut classes = [(Other, 0); 256];
    classes[Op::None as usize] = (Idle, 0);
    classes[Op::Use as usize] = (Use, needs::ONE);
    classes[Op::Seek as usize] = (Use, needs::ONE);
    classes[Op::Close as usize] = (Close, needs::ONE);
    classes[Op::Path as usize] = (Path, needs::NAMED);
    classes[Op::Open as usize] = (Open, needs::NAMED);
    classes[Op::Chdir as usize] = (Directory, needs::NAMED | needs::RESOLVED);
    classes
};

fn classify(
    rows: &Rows,
    ebadf: Option<u32>,
    details: &[Detail],
    tasks_may_be_named: bool,
    model_rows: &mut ModelRows,
) {
    let len = rows.len;
    let (valid, tid, kind) = (&rows.valid[..len], &rows.tid[..len], &rows.kind[..len]);
    let (errno, status) = (&rows.errno[..len], &rows.status[..len]);
    let effects = &rows.effect[..len];
    let mut known = [NOBODY; KNOWN];
    let ModelRows { named: by_name, visits, classes, kinds, text_bytes, .. } = model_rows;
    *text_bytes = (0..len).map(|row| rows.text_bytes(row)).sum();
    count_kinds(kind, kinds);
    let classes = &mut classes[..len];
    for (at, visits) in visits.iter_mut().enumerate() {
        let mut word = 0;
        for row in at * 64..(at * 64 + 64).min(len) {
            let (valid, effect) = (valid[row], &effects[row]);
            let named = valid & C::Tid.bit() != 0;
            let task = if named { i64::from(tid[row]) } else { i64::MIN };
            // This error may show that the descriptor was not open when the call was entered.
            let closed = valid & C::Errno.bit() != 0 && ebadf == Some(errno[row]);
            let class = class_of(effect, valid, closed && effect.begun, details);
            let detached = status[row] == Status::Detached as u8;
            let class = if detached { RowClass::Other } else { class };
            if matches!(class, RowClass::Path | RowClass::Open) {
                by_name.push(row as u32);
            }
            classes[row] = if named { (class, effect.begun) } else { (RowClass::Other, false) };
            if !is_of_task(kind[row], named) {
                // A damaged line may hide a call.
                word |= u64::from(effect.op != Op::None) << (row % 64);
                continue;
            }
            let known = &mut known[task as usize % KNOWN];
            let doubtful = tasks_may_be_named && !named;
            // All of it, without branches: which rows are idle, a processor cannot predict.
            let visited = u64::from(class != RowClass::Idle)
                | u64::from(effect.begun)
                | u64::from(doubtful)
                | u64::from(*known != task);
            *known = task;
            word |= visited << (row % 64);
        }
        *visits = word;
    }
}

/// Counts the rows of each kind; nearly all are calls.
fn count_kinds(rows: &[u8], kinds: &mut [u64]) {
    for rows in rows.chunks(64) {
        let calls = rows.iter().map(|&kind| u8::from(kind == EventKind::Syscall as u8)).sum::<u8>();
        kinds[EventKind::Syscall as usize] += u64::from(calls);
        if usize::from(calls) < rows.len() {
            for &kind in rows.iter().filter(|&&kind| kind != EventKind::Syscall as u8) {
                kinds[usize::from(kind)] += 1;
            }
        }
    }
}

#[inline(always)] // A few instructions for nearly every row.
fn class_of(effect: &Effect, valid: u64, closed: bool, details: &[Detail]) -> RowClass {
    let one = valid & (C::Fd.bit() | C::Fd2.bit()) == C::Fd.bit() && !closed;
    let named = effect.motion == Motion::None && !effect.identify;
    let resolved = effect.flags & open_flags::RESOLVED != 0;
    let has = (u8::from(one) * needs::ONE)
        | (u8::from(named) * needs::NAMED)
        | (u8::from(resolved) * needs::RESOLVED);
    let (class, needed) = if effect.detail == NO_DETAIL {
        CLASSES[effect.op as usize]
    } else {
        detailed(effect, details)
    };
    let indirect = effect.relative | effect.relative2 | effect.identify2;
    let idle = class == RowClass::Idle;
    if needed & !has == 0 && (idle || !indirect) { class } else { RowClass::Other }
}

/// The same as in [`CLASSES`], for a row with a detail.
fn detailed(effect: &Effect, details: &[Detail]) -> (RowClass, u8) {
    match (effect.op, details.get(effect.detail as usize)) {
        (Op::None, Some(Detail::Memory(_))) => (RowClass::Memory, 0),
        (Op::Use, Some(Detail::Memory(_))) => (RowClass::Memory, needs::ONE),
        (Op::Path, Some(Detail::Directory(_) | Detail::Numbered(..))) => CLASSES[Op::Path as usize],
        (Op::Open, Some(Detail::Directory(_))) => CLASSES[Op::Open as usize],
        _ => (RowClass::Other, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_in_order() {
        let mut model_rows = ModelRows::default();
        assert_eq!(model_rows.next(0, 10), 10);
        model_rows.visits.resize(4, 0);
        for row in [0, 63, 64, 200, 255] {
            model_rows.visit(row);
        }
        model_rows.visit(256);
        let mut found = Vec::new();
        let mut row = model_rows.next(0, 256);
        while row < 256 {
            found.push(row);
            row = model_rows.next(row + 1, 256);
        }
        assert_eq!(found, [0, 63, 64, 200, 255]);
        assert_eq!((model_rows.next(1, 60), model_rows.next(65, 200)), (60, 200));
        model_rows.visit_all(130, 256);
        assert_eq!((model_rows.next(65, 256), model_rows.next(131, 256)), (130, 131));
    }

    #[test]
    fn rows_that_do_nothing_are_left_out_but_for_the_first_of_each_task() {
        let (mut rows, mut model_rows) = (Rows::default(), ModelRows::default());
        rows.reset(8);
        for (tid, op) in [(1, Op::None), (1, Op::None), (2, Op::None), (1, Op::Use), (65, Op::None)]
        {
            let row = rows.push();
            rows.kind[row] = EventKind::Syscall as u8;
            rows.tid[row] = tid;
            rows.effect[row].op = op;
            rows.valid[row] = C::Tid.bit() | C::Kind.bit();
        }
        model_rows.find(&rows, None, &[], &[], std::iter::empty());
        let looked = (0..5).filter(|&row| model_rows.next(row, 5) == row);
        assert_eq!(looked.collect::<Vec<_>>(), [0, 2, 3, 4]);
        assert_eq!(model_rows.kinds[EventKind::Syscall as usize], 5);
    }
}
