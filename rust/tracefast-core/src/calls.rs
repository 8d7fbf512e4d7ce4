//! Calls that are open, by task, within one block.
//!
//! A block is parsed without its neighbours, so what a task had open before the block is unknown
//! until the task first shows itself. That first sight is recorded as a [`Touch`], with the place
//! where the row of a lost call of an earlier block would have to stand.

use hashbrown::HashMap;

use crate::parsed::{Begin, Lost, Open, Parsed, Range, Target, Touch};

/// What a second half finds.
#[derive(Debug)]
pub enum Pending {
    /// The first half, in this block.
    Open(Open),
    /// The task did something else in this block since.
    Nothing,
    /// The task has not been seen in this block.
    Unknown,
}

/// Open calls of the tasks seen in the block at hand.
#[derive(Debug)]
pub struct Calls {
    /// By task: a position in `states`.
    tasks: HashMap<i64, u32, foldhash::fast::FixedState>,
    /// A position in `opens`, [`NOTHING`] or [`UNSEEN`].
    states: Vec<u32>,
    /// Tasks and their positions in `states`, for those looked up last: most lines need no more.
    recent: [(i64, u32); RECENT],
    opens: Vec<Option<Open>>,
    /// Under which task each of `opens` is found.
    keys: Vec<i64>,
}

impl Default for Calls {
    fn default() -> Self {
        Self {
            tasks: HashMap::default(),
            states: Vec::new(),
            recent: [NOBODY; RECENT],
            opens: Vec::new(),
            keys: Vec::new(),
        }
    }
}

/// The task is known to have nothing open.
const NOTHING: u32 = u32::MAX;

/// The task has done nothing yet, or was forgotten.
const UNSEEN: u32 = u32::MAX - 1;

/// A power of two.
const RECENT: usize = 64;

/// No task has this key.
const NOBODY: (i64, u32) = (i64::MAX, 0);

fn key(tid: Option<i32>) -> i64 {
    tid.map_or(i64::MIN, i64::from)
}

impl Calls {
    /// Forgets everything: a block begins.
    pub fn clear(&mut self) {
        self.tasks.clear();
        self.states.clear();
        self.recent = [NOBODY; RECENT];
        self.opens.clear();
        self.keys.clear();
    }

    /// The state of a task.
    #[inline]
    fn state(&mut self, key: i64) -> &mut u32 {
        let slot = &mut self.recent[key as usize % RECENT];
        if slot.0 != key {
            let new = self.states.len() as u32;
            let at = *self.tasks.entry(key).or_insert(new);
            if at == new {
                self.states.push(UNSEEN);
            }
            *slot = (key, at);
        }
        &mut self.states[slot.1 as usize]
    }

    /// The task begins something else. Returns the call that it had open in this block; for one of
    /// an earlier block its place is recorded.
    #[inline]
    pub fn touch(&mut self, tid: Option<i32>, parsed: &mut Parsed, lost: Lost) -> Option<Open> {
        match std::mem::replace(self.state(key(tid)), NOTHING) {
            NOTHING => None,
            UNSEEN => {
                let at = parsed.spot();
                parsed.touches.push(Touch::Place { tid, at, lost });
                None
            }
            at => self.opens[at as usize].take(),
        }
    }

    /// The entry of `open` is recorded.
    pub fn entry(&mut self, mut open: Open, parsed: &mut Parsed) -> Open {
        open.begin = parsed.begins.len() as u32;
        parsed.begins.push(Begin {
            at: parsed.rows.len as u32,
            tid: open.tid,
            head: open.head,
            target: Target::Open,
        });
        open
    }

    /// A call of `tid`, just touched, is open. Returns its position, for [`Calls::extend`].
    pub fn open(&mut self, tid: Option<i32>, open: Open, parsed: &mut Parsed) -> u32 {
        let key = key(tid);
        let open = self.entry(open, parsed);
        let at = self.opens.len() as u32;
        self.opens.push(Some(open));
        self.keys.push(key);
        *self.state(key) = at;
        at
    }

    /// A line that belongs to the open call at this position.
    pub fn extend(&mut self, at: u32, line: Range) {
        if let Some(open) = self.opens.get_mut(at as usize).and_then(Option::as_mut) {
            // Such lines follow one another, so one range holds them all.
            open.frames = Some((open.frames.map_or(line.0, |frames| frames.0), line.1));
        }
    }

    /// A second half of `tid`: what it belongs to.
    pub fn resume(&mut self, tid: Option<i32>) -> Pending {
        match std::mem::replace(self.state(key(tid)), NOTHING) {
            UNSEEN => Pending::Unknown,
            NOTHING => Pending::Nothing,
            at => self.opens[at as usize].take().map_or(Pending::Nothing, Pending::Open),
        }
    }

    /// The call that `tid` has open in this block has ended.
    #[inline]
    pub fn end(&mut self, tid: Option<i32>) {
        let at = std::mem::replace(self.state(key(tid)), NOTHING);
        if let Some(open) = self.opens.get_mut(at as usize) {
            *open = None;
        }
    }

    /// What `tid` did is over: a line of such a task is the first of another one.
    pub fn forget(&mut self, tid: Option<i32>, parsed: &mut Parsed) {
        let at = std::mem::replace(self.state(key(tid)), UNSEEN);
        if let Some(open) = self.opens.get_mut(at as usize).and_then(Option::take) {
            parsed.touches.push(Touch::Open { tid, open });
        }
    }

    /// `tid` goes on as what was `by`: for the stitch stage, which knows both.
    pub fn superseded(&mut self, tid: Option<i32>, by: i32, parsed: &mut Parsed) {
        for task in [Some(by), tid] {
            self.forget(task, parsed);
        }
        let at = parsed.spot();
        parsed.touches.push(Touch::Superseded { tid, by, at });
    }

    /// The call that `tid` has open in this block.
    #[inline]
    pub fn of(&mut self, tid: Option<i32>) -> Option<&Open> {
        let at = *self.state(key(tid));
        self.opens.get(at as usize)?.as_ref()
    }

    /// The open call at this position.
    pub fn at(&mut self, at: u32) -> Option<&mut Open> {
        self.opens.get_mut(at as usize)?.as_mut()
    }

    /// The call at this position is open no more.
    pub fn take(&mut self, at: u32) -> Option<Open> {
        let open = self.opens.get_mut(at as usize)?.take()?;
        let key = self.keys[at as usize];
        *self.state(key) = NOTHING;
        Some(open)
    }

    /// What is open goes to the stitch stage, and all tasks are forgotten: the block ends, or tasks
    /// have other names from here on.
    pub fn flush(&mut self, parsed: &mut Parsed) {
        for (open, key) in self.opens.iter_mut().zip(&self.keys) {
            if let Some(open) = open.take() {
                let tid = i32::try_from(*key).ok();
                parsed.touches.push(Touch::Open { tid, open });
            }
        }
        self.clear();
    }
}
