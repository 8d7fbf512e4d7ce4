//! Open calls by task, within one block.
//!
//! A block is parsed without its neighbours, so what a task had open before the block is not known.
//! The first line of each task is therefore recorded as a [`Deferred`] step, with the position at
//! which the row of a lost call of an earlier block belongs.

use crate::hash::HashMap;

use crate::events::parsed_block::Parsed;
use crate::events::split_calls::{CallEntry, Deferred, EntryTarget, LossReason, OpenCall};
use crate::text::block::TextRange;

/// What is known of the first half of a call when its second half comes.
#[derive(Debug)]
pub(crate) enum FirstHalf {
    /// It is in this block.
    Open(OpenCall),
    /// There is none: the task did something else in this block since.
    Nothing,
    /// The task has not been seen in this block.
    Unknown,
}

/// Open calls of the tasks seen in the block at hand.
#[derive(Debug)]
pub(crate) struct OpenCalls {
    /// Tasks by key, as positions in `states`.
    tasks: HashMap<i64, u32>,
    /// The tasks that were looked up last: few tasks take turns.
    recent: [(i64, u32); RECENT],
    /// What each task has open, as a position in `places`; or [`NOTHING`], or [`UNSEEN`].
    states: Vec<u32>,
    /// Keys of the tasks.
    keys: Vec<i64>,
    /// The slot of each call, or [`NOTHING`], and its task.
    places: Vec<(u32, u32)>,
    /// Open calls. Slots are used again, so that they stay in the cache.
    slots: Vec<OpenCall>,
    /// Slots without a call.
    free: Vec<u32>,
}

/// The task has nothing open; the call is no longer open.
const NOTHING: u32 = u32::MAX;

/// The task has not been seen in this block, or was forgotten.
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
    /// Clears everything, for the next block.
    pub(crate) fn clear(&mut self) {
        self.tasks.clear();
        self.recent = [NOBODY; RECENT];
        self.states.clear();
        self.keys.clear();
        self.places.clear();
        self.slots.clear();
        self.free.clear();
    }

    /// The position of a task in `states`.
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

    /// Sets what the task has open, and returns what it had.
    #[inline]
    fn replace(&mut self, tid: Option<i32>, state: u32) -> u32 {
        let task = self.task(key(tid));
        std::mem::replace(&mut self.states[task], state)
    }

    /// Takes the call at this position, which is no longer open.
    #[inline]
    fn close(&mut self, at: u32) -> Option<OpenCall> {
        let place = self.places.get_mut(at as usize)?;
        let slot = std::mem::replace(&mut place.0, NOTHING);
        let open = *self.slots.get(slot as usize)?;
        self.free.push(slot);
        Some(open)
    }

    /// The task starts something else. Returns the call that it had open in this block. For a call
    /// of an earlier block, the position of its row is recorded.
    #[inline]
    pub(crate) fn touch(
        &mut self,
        tid: Option<i32>,
        parsed: &mut Parsed,
        reason: LossReason,
    ) -> Option<OpenCall> {
        match self.replace(tid, NOTHING) {
            UNSEEN => {
                let at = parsed.position();
                parsed.deferred.push(Deferred::TaskMovedOn { tid, at, reason });
                None
            }
            NOTHING => None,
            at => self.close(at),
        }
    }

    /// Opens a call of `tid`, after [`OpenCalls::touch`]. Returns its position, for
    /// [`OpenCalls::extend`].
    #[inline(always)]
    pub(crate) fn open(
        &mut self,
        tid: Option<i32>,
        mut open: OpenCall,
        parsed: &mut Parsed,
    ) -> u32 {
        record_entry(&mut open, parsed);
        let task = self.task(key(tid));
        let at = self.places.len() as u32;
        let slot = self.free.pop().unwrap_or_else(|| self.new_slot());
        // With a reference to `open` on any path from here, the compiler would build it elsewhere
        // and copy it.
        self.slots[slot as usize] = open;
        self.places.push((slot, task as u32));
        self.states[task] = at;
        at
    }

    #[cold]
    fn new_slot(&mut self) -> u32 {
        self.slots.push(OpenCall::default());
        self.slots.len() as u32 - 1
    }

    /// Adds a line that belongs to the open call at this position.
    pub(crate) fn extend(&mut self, at: u32, line: TextRange) {
        if let Some(open) = self.at(at) {
            // Such lines follow one another, so one range holds them all.
            open.frames = Some((open.frames.map_or(line.0, |frames| frames.0), line.1));
        }
    }

    /// The first half for a second half of `tid`.
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

    /// Forgets `tid`: its next line is the first of another task.
    pub(crate) fn forget(&mut self, tid: Option<i32>, parsed: &mut Parsed) {
        let at = self.replace(tid, UNSEEN);
        if let Some(open) = self.close(at) {
            parsed.deferred.push(Deferred::Open { tid, open });
        }
    }

    /// Task `by` goes on under the id `tid`. Only the serial stage knows the calls of both.
    pub(crate) fn superseded(&mut self, tid: Option<i32>, by: i32, parsed: &mut Parsed) {
        if tid.is_none() {
            // The line has no pid: its task may be any of those that have calls open.
            self.flush(parsed);
        }
        for task in [Some(by), tid] {
            self.forget(task, parsed);
        }
        let at = parsed.position();
        parsed.deferred.push(Deferred::Superseded { tid, by, at });
    }

    /// The call that `tid` has open in this block.
    #[inline]
    pub(crate) fn get(&mut self, tid: Option<i32>) -> Option<&OpenCall> {
        let task = self.task(key(tid));
        let at = self.states[task];
        self.slots.get(self.places.get(at as usize)?.0 as usize)
    }

    /// The open call at this position.
    pub(crate) fn at(&mut self, at: u32) -> Option<&mut OpenCall> {
        self.slots.get_mut(self.places.get(at as usize)?.0 as usize)
    }

    /// Closes the call at this position.
    pub(crate) fn take(&mut self, at: u32) -> Option<OpenCall> {
        let open = self.close(at)?;
        let task = self.places[at as usize].1;
        self.states[task as usize] = NOTHING;
        Some(open)
    }

    /// Hands all open calls to the serial stage and forgets all tasks: the block ends, or lines
    /// name tasks in another way from here on.
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
#[inline(always)]
pub(crate) fn record_entry(open: &mut OpenCall, parsed: &mut Parsed) {
    open.entry = parsed.entries.len() as u32;
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
    fn tasks_are_distinguished_and_forgotten() {
        let (mut calls, mut parsed) = (OpenCalls::default(), Parsed::default());
        // These share a slot of `recent`.
        let tids = [7, 7 + RECENT as i32, 7 + 2 * RECENT as i32];
        for tid in tids {
            assert!(calls.touch(Some(tid), &mut parsed, LossReason::Elsewhere).is_none());
            let open = OpenCall { tid: Some(tid), ..OpenCall::default() };
            calls.open(Some(tid), open, &mut parsed);
        }
        assert_eq!(parsed.deferred.len(), 3);
        assert!(calls.get(Some(8)).is_none());
        let tid_of = |open: Option<&OpenCall>| open.and_then(|open| open.tid);
        assert_eq!(tid_of(calls.get(Some(tids[0]))), Some(tids[0]));
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
