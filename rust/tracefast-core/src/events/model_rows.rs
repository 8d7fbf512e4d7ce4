//! What is found out about the rows of a block before its turn comes, by any worker: which of them
//! the model of the kernel has to look at, and how many there are of each kind.
//!
//! A third of the rows of a usual log do nothing to the system. The model has only to say whose they
//! are, and knows that from another row of the same task: see [`crate::events::model_columns`].

use crate::events::details::Detail;
use crate::events::rows::{Effect, NO_DETAIL, Rows};
use crate::events::schema::Column as C;
use crate::events::split_calls::Deferred;
use crate::events::vocabulary::{EventKind, Motion, Op};

/// The kinds of rows whose task nobody can tell if they do not name it.
pub(crate) const KINDS_WITHOUT_TASK: [EventKind; 4] =
    [EventKind::Event, EventKind::Function, EventKind::Marker, EventKind::Lost];

/// What kind of look a row needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum RowClass {
    /// It does nothing: whose it is.
    #[default]
    Idle,
    /// It uses one descriptor, and does nothing to others or to its task.
    Use,
    /// It closes a descriptor.
    Close,
    /// It changes an address space, and may use a descriptor.
    Memory,
    /// It acts on what paths name in full.
    Path,
    /// It opens what a path names in full.
    Open,
    /// Any other.
    Other,
}

/// The result.
#[derive(Debug, Default)]
pub struct ModelRows {
    /// It was made: without it every row is looked at.
    pub done: bool,
    /// The rows that were there.
    pub rows: usize,
    /// They by kind, but for those in `open`.
    pub kinds: [u64; EventKind::TEXTS.len()],
    /// Bytes of their texts: see [`Rows::text_bytes`].
    pub text_bytes: usize,
    /// Rows of whose calls the first half stands in another block, or nowhere.
    pub open: Vec<u32>,
    /// A bit for each row that has to be looked at.
    visits: Vec<u64>,
    /// How, of each row that was there; and whether its entry came before it.
    lanes: Vec<(RowClass, bool)>,
}

/// How many tasks the search for the first row of each knows at a time, by the last bits of their
/// ids. What it forgets costs a look more.
const KNOWN: usize = 64;

/// No task.
const NOBODY: i64 = i64::MAX;

impl ModelRows {
    /// Looks through the rows of a block that was parsed.
    pub(crate) fn find(
        &mut self,
        rows: &Rows,
        details: &[Detail],
        deferred: &[Deferred],
        event_rows: impl Iterator<Item = u32>,
    ) {
        (self.done, self.rows) = (true, rows.len);
        self.kinds = [0; EventKind::TEXTS.len()];
        self.visits.clear();
        self.visits.resize(rows.len.div_ceil(64), 0);
        self.open.clear();
        self.lanes.clear();
        self.lanes.resize(rows.len, (RowClass::Idle, false));
        // Whose a row is that does not say may be found out with these.
        let naming = deferred.iter().any(|touch| {
            matches!(
                touch,
                Deferred::PidPrefix { .. } | Deferred::Resume { .. } | Deferred::Superseded { .. }
            )
        });
        look(rows, details, naming, self);
        // What the second half does is known when the first is found.
        for touch in deferred {
            if let Deferred::Resume { row, .. } = touch {
                let at = *row as usize;
                self.visit(at);
                self.lanes[at] = (RowClass::Other, false);
                self.kinds[usize::from(rows.kind[at])] -= 1;
                self.open.push(*row);
            }
        }
        for row in event_rows {
            self.visit(row as usize);
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.done = false;
        self.visits.clear();
        self.lanes.clear();
    }

    /// How to look at the row; and whether its entry came before it.
    #[inline]
    pub fn lane(&self, row: usize) -> (RowClass, bool) {
        self.lanes.get(row).copied().unwrap_or((RowClass::Other, false))
    }

    /// The row has to be looked at.
    #[inline]
    pub fn visit(&mut self, row: usize) {
        if let Some(word) = self.visits.get_mut(row / 64) {
            *word |= 1 << (row % 64);
        }
    }

    /// It need not be looked at after all.
    #[inline]
    pub fn leave_out(&mut self, row: usize) {
        if let Some(word) = self.visits.get_mut(row / 64) {
            *word &= !(1 << (row % 64));
        }
    }

    /// All rows from `from` on have to.
    pub fn visit_all(&mut self, from: usize, rows: usize) {
        self.visits.resize(rows.div_ceil(64), 0);
        if let Some(word) = self.visits.get_mut(from / 64) {
            *word |= u64::MAX << (from % 64);
        }
        if let Some(rest) = self.visits.get_mut(from / 64 + 1..) {
            rest.fill(u64::MAX);
        }
    }

    /// The first such row from `from` on, before `end`; or `end`.
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

fn look(rows: &Rows, details: &[Detail], naming: bool, survey: &mut ModelRows) {
    let len = rows.len;
    let (valid, tid, kind) = (&rows.valid[..len], &rows.tid[..len], &rows.kind[..len]);
    let effects = &rows.effect[..len];
    let mut known = [NOBODY; KNOWN];
    let ModelRows { visits, lanes, kinds, text_bytes, .. } = survey;
    *text_bytes = (0..len).map(|row| rows.text_bytes(row)).sum();
    let lanes = &mut lanes[..len];
    for (at, visits) in visits.iter_mut().enumerate() {
        let mut word = 0;
        for row in at * 64..(at * 64 + 64).min(len) {
            let (kind, effect) = (kind[row], &effects[row]);
            kinds[usize::from(kind)] += 1;
            let named = valid[row] & C::Tid.bit() != 0;
            let task = if named { i64::from(tid[row]) } else { i64::MIN };
            let known = &mut known[task as usize % KNOWN];
            let lane = lane(effect, valid[row], details);
            lanes[row] = if named { (lane, effect.begun) } else { (RowClass::Other, false) };
            let doubtful = naming && !named;
            if lane != RowClass::Idle || effect.begun || doubtful || *known != task {
                if kind == EventKind::Unparsed as u8
                    || !named && KINDS_WITHOUT_TASK.iter().any(|&foreign| foreign as u8 == kind)
                {
                    continue;
                }
                *known = task;
                word |= 1 << (row % 64);
            }
        }
        *visits = word;
    }
}

fn lane(effect: &Effect, valid: u64, details: &[Detail]) -> RowClass {
    let Effect { op, detail, .. } = *effect;
    if op == Op::None && detail == NO_DETAIL {
        return RowClass::Idle;
    }
    if effect.relative || effect.relative2 || effect.identify2 {
        return RowClass::Other;
    }
    let has = |column: C| valid & column.bit() != 0;
    // Whether a descriptor was open when the call was entered its error may tell.
    let one = has(C::Fd) && !has(C::Fd2) && !(effect.begun && has(C::Errno));
    let named = effect.motion == Motion::None && !effect.identify;
    match (op, details.get(detail as usize)) {
        (Op::Use | Op::Seek, None) if one => RowClass::Use,
        (Op::Close, None) if one => RowClass::Close,
        (Op::None, Some(Detail::Memory(_))) => RowClass::Memory,
        (Op::Use, Some(Detail::Memory(_))) if one => RowClass::Memory,
        (Op::Path, None | Some(Detail::Directory(_))) if named => RowClass::Path,
        (Op::Open, None | Some(Detail::Directory(_))) if named => RowClass::Open,
        _ => RowClass::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_in_order() {
        let mut survey = ModelRows::default();
        assert_eq!(survey.next(0, 10), 10);
        survey.visits.resize(4, 0);
        for row in [0, 63, 64, 200, 255] {
            survey.visit(row);
        }
        survey.visit(256);
        let mut found = Vec::new();
        let mut row = survey.next(0, 256);
        while row < 256 {
            found.push(row);
            row = survey.next(row + 1, 256);
        }
        assert_eq!(found, [0, 63, 64, 200, 255]);
        assert_eq!((survey.next(1, 60), survey.next(65, 200)), (60, 200));
        survey.visit_all(130, 256);
        assert_eq!((survey.next(65, 256), survey.next(131, 256)), (130, 131));
    }

    #[test]
    fn rows_that_do_nothing_are_left_out_but_for_the_first_of_each_task() {
        let (mut rows, mut survey) = (Rows::default(), ModelRows::default());
        rows.reset(8);
        for (tid, op) in [(1, Op::None), (1, Op::None), (2, Op::None), (1, Op::Use), (65, Op::None)]
        {
            let row = rows.push();
            rows.kind[row] = EventKind::Syscall as u8;
            rows.tid[row] = tid;
            rows.effect[row].op = op;
            rows.valid[row] = C::Tid.bit() | C::Kind.bit();
        }
        survey.find(&rows, &[], &[], std::iter::empty());
        let looked = (0..5).filter(|&row| survey.next(row, 5) == row);
        assert_eq!(looked.collect::<Vec<_>>(), [0, 2, 3, 4]);
        assert_eq!(survey.kinds[EventKind::Syscall as usize], 5);
    }
}
