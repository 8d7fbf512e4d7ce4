//! Calls that are open, by task, within one block.
//!
//! A block is parsed without its neighbours, so what a task had open before the block is unknown
//! until the task first shows itself. That first sight is recorded as a [`Deferred`], with the place
//! where the row of a lost call of an earlier block would have to stand.

use crate::hash::HashMap;

use crate::events::parsed_block::Parsed;
use crate::events::split_calls::{CallEntry, Deferred, EntryTarget, LossReason, OpenCall};
use crate::text::block::TextRange;

/// What a second half finds.
#[derive(Debug)]
pub(crate) enum FirstHalf {
    /// The first half, in this block.
    Open(OpenCall),
    /// The task did something else in this block since.
    Nothing,
    /// The task has not been seen in this block.
    Unknown,
}

/// Open calls of the tasks seen in the block at hand.
#[derive(Debug)]
pub(crate) struct OpenCalls {
    /// Tasks by their key, as positions in `states`.
    tasks: HashMap<i64, u32>,
    /// The same of those that were asked for last: few tasks take turns.
    recent: [(i64, u32); RECENT],
    /// Of each task what it has open, by its position in `places`; or [`NOTHING`], or [`UNSEEN`].
    states: Vec<u32>,
    /// Keys of the tasks.
    keys: Vec<i64>,
    /// Of each call the slot that holds it, or [`NOTHING`], and its task.
    places: Vec<(u32, u32)>,
    /// Calls that are open. Their places are used again, so that they stay in the cache.
    slots: Vec<OpenCall>,
    /// Slots without a call.
    free: Vec<u32>,
}

/// The task has nothing open; the call is not open any more.
const NOTHING: u32 = u32::MAX;

/// The task has not been seen, or was forgotten.
const UNSEEN: u32 = u32::MAX - 1;

const RECENT: usize = 16;

/// The key of no task.
const NOBODY: (i64, u32) = (i64::MAX, 0);

#[inline]
fn key(tid: Option<i32>) -> i64 {
    tid.map_or(i64::MIN, i64::from)
}

impl Default for OpenCalls {
    fn default() -> Self {
        Self {
            tasks: HashMap::default(),
            recent: [NOBODY; RECENT],
            states: Vec::new(),
            keys: Vec::new(),
            places: Vec::new(),
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl OpenCalls {
    /// Forgets everything: a block begins.
    pub(crate) fn clear(&mut self) {
        self.tasks.clear();
        self.recent = [NOBODY; RECENT];
        self.states.clear();
        self.keys.clear();
        self.places.clear();
        self.slots.clear();
        self.free.clear();
    }

    /// The position of a task.
    #[inline]
    fn task(&mut self, key: i64) -> usize {
        let recent = self.recent[key as usize % RECENT];
        if recent.0 == key { recent.1 as usize } else { self.other_task(key) }
    }

    #[inline(never)]
    fn other_task(&mut self, key: i64) -> usize {
        let new = self.states.len() as u32;
        let task = *self.tasks.entry(key).or_insert(new);
        if task == new {
            self.states.push(UNSEEN);
            self.keys.push(key);
        }
        self.recent[key as usize % RECENT] = (key, task);
        task as usize
    }

    /// What the task has open becomes `state`; returns what it was.
    #[inline]
    fn replace(&mut self, tid: Option<i32>, state: u32) -> u32 {
        let task = self.task(key(tid));
        std::mem::replace(&mut self.states[task], state)
    }

    /// The call at this position, which is not open any more.
    #[inline]
    fn close(&mut self, at: u32) -> Option<OpenCall> {
        let place = self.places.get_mut(at as usize)?;
        let slot = std::mem::replace(&mut place.0, NOTHING);
        let open = *self.slots.get(slot as usize)?;
        self.free.push(slot);
        Some(open)
    }

    /// The task begins something else. Returns the call that it had open in this block; for one of
    /// an earlier block its place is recorded.
    #[inline]
    pub(crate) fn touch(
        &mut self,
        tid: Option<i32>,
        parsed: &mut Parsed,
        lost: LossReason,
    ) -> Option<OpenCall> {
        match self.replace(tid, NOTHING) {
            UNSEEN => {
                let at = parsed.spot();
                parsed.deferred.push(Deferred::TaskMovedOn { tid, at, lost });
                None
            }
            NOTHING => None,
            at => self.close(at),
        }
    }

    /// A call of `tid`, just touched, is open. Returns its position, for [`OpenCalls::extend`].
    #[inline(always)]
    pub(crate) fn open(
        &mut self,
        tid: Option<i32>,
        mut open: OpenCall,
        parsed: &mut Parsed,
    ) -> u32 {
        begin(&mut open, parsed);
        let task = self.task(key(tid));
        let at = self.places.len() as u32;
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(slot as usize) {
            Some(place) => *place = open,
            None => self.add(open),
        }
        self.places.push((slot, task as u32));
        self.states[task] = at;
        at
    }

    #[cold]
    fn add(&mut self, open: OpenCall) {
        self.slots.push(open);
    }

    /// A line that belongs to the open call at this position.
    pub(crate) fn extend(&mut self, at: u32, line: TextRange) {
        if let Some(open) = self.at(at) {
            // Such lines follow one another, so one range holds them all.
            open.frames = Some((open.frames.map_or(line.0, |frames| frames.0), line.1));
        }
    }

    /// A second half of `tid`: what it belongs to.
    #[inline]
    pub(crate) fn resume(&mut self, tid: Option<i32>) -> FirstHalf {
        match self.replace(tid, NOTHING) {
            UNSEEN => FirstHalf::Unknown,
            NOTHING => FirstHalf::Nothing,
            at => self.close(at).map_or(FirstHalf::Nothing, FirstHalf::Open),
        }
    }

    /// The call that `tid` has open in this block has ended.
    #[inline]
    pub(crate) fn end(&mut self, tid: Option<i32>) {
        let at = self.replace(tid, NOTHING);
        self.close(at);
    }

    /// What `tid` did is over: a line of such a task is the first of another one.
    pub(crate) fn forget(&mut self, tid: Option<i32>, parsed: &mut Parsed) {
        let at = self.replace(tid, UNSEEN);
        if let Some(open) = self.close(at) {
            parsed.deferred.push(Deferred::Open { tid, open });
        }
    }

    /// `tid` goes on as what was `by`: for the serial stage, which knows both.
    pub(crate) fn superseded(&mut self, tid: Option<i32>, by: i32, parsed: &mut Parsed) {
        for task in [Some(by), tid] {
            self.forget(task, parsed);
        }
        let at = parsed.spot();
        parsed.deferred.push(Deferred::Superseded { tid, by, at });
    }

    /// The call that `tid` has open in this block.
    #[inline]
    pub(crate) fn of(&mut self, tid: Option<i32>) -> Option<&OpenCall> {
        let task = self.task(key(tid));
        let at = self.states[task];
        self.slots.get(self.places.get(at as usize)?.0 as usize)
    }

    /// The open call at this position.
    pub(crate) fn at(&mut self, at: u32) -> Option<&mut OpenCall> {
        self.slots.get_mut(self.places.get(at as usize)?.0 as usize)
    }

    /// The call at this position is open no more.
    pub(crate) fn take(&mut self, at: u32) -> Option<OpenCall> {
        let open = self.close(at)?;
        let task = self.places[at as usize].1;
        self.states[task as usize] = NOTHING;
        Some(open)
    }

    /// What is open goes to the serial stage, and all tasks are forgotten: the block ends, or tasks
    /// have other names from here on.
    pub(crate) fn flush(&mut self, parsed: &mut Parsed) {
        for &(slot, task) in &self.places {
            if let Some(&open) = self.slots.get(slot as usize) {
                let tid = i32::try_from(self.keys[task as usize]).ok();
                parsed.deferred.push(Deferred::Open { tid, open });
            }
        }
        self.clear();
    }
}

/// Records the entry of `open`.
#[inline]
pub(crate) fn begin(open: &mut OpenCall, parsed: &mut Parsed) {
    open.begin = parsed.entries.len() as u32;
    parsed.entries.push(CallEntry {
        at: parsed.rows.len as u32,
        tid: open.tid,
        head: open.head,
        target: EntryTarget::Open,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_told_apart_and_forgotten() {
        let (mut calls, mut parsed) = (OpenCalls::default(), Parsed::default());
        // These share a place among those looked up last.
        let tids = [7, 7 + RECENT as i32, 7 + 2 * RECENT as i32];
        for tid in tids {
            assert!(calls.touch(Some(tid), &mut parsed, LossReason::Elsewhere).is_none());
            let open = OpenCall { tid: Some(tid), ..OpenCall::default() };
            calls.open(Some(tid), open, &mut parsed);
        }
        assert_eq!(parsed.deferred.len(), 3);
        assert!(calls.of(Some(8)).is_none());
        let tid_of = |open: Option<&OpenCall>| open.and_then(|open| open.tid);
        assert_eq!(tid_of(calls.of(Some(tids[0]))), Some(tids[0]));
        calls.end(Some(tids[0]));
        assert!(matches!(calls.resume(Some(tids[0])), FirstHalf::Nothing));
        calls.forget(Some(tids[0]), &mut parsed);
        assert!(matches!(calls.resume(Some(tids[0])), FirstHalf::Unknown));
        calls.forget(Some(tids[1]), &mut parsed);
        assert!(
            matches!(parsed.deferred.last(), Some(Deferred::Open { tid: Some(tid), .. }) if *tid == tids[1])
        );
        assert!(calls.touch(Some(tids[1]), &mut parsed, LossReason::Elsewhere).is_none());
        assert!(
            matches!(parsed.deferred.last(), Some(Deferred::TaskMovedOn { tid: Some(tid), .. }) if *tid == tids[1])
        );
        let lost = calls.touch(Some(tids[2]), &mut parsed, LossReason::Elsewhere);
        assert_eq!(tid_of(lost.as_ref()), Some(tids[2]));
        calls.clear();
        assert!(matches!(calls.resume(Some(tids[2])), FirstHalf::Unknown));
    }
}
