//! Bursts: calls that overlapped on one description. Where each of them began is not known, but what
//! they covered together, once a notice of the model says so.

use crate::hash::HashMap;
use crate::tables::files::Scope;
use crate::tables::files::direction::{DataCall, Direction};
use crate::tables::files::fold::{Files, flush};
use crate::tables::files::position::{Place, Stream};
use crate::tables::files::row::{FileUse, READ};
use crate::tables::files::shared_bytes::ProcessRanges;
use crate::tables::files::word_classes::{Class, Known};

/// The calls that may be a burst, by source and description.
pub(crate) type Bursts = HashMap<(u32, u32), Burst>;

/// Calls of one description that overlapped others, as long as no other call came in between.
#[derive(Debug, Clone)]
pub(crate) struct Burst {
    file_use: u32,
    direction: usize,
    /// They are in several rows of the table.
    scattered: bool,
    /// Those that moved data.
    calls: u64,
    bytes: i64,
    /// What each of them moved, if all moved as much.
    each: Option<i64>,
    /// Their process, if it is one.
    pid: Option<i32>,
    several: bool,
    /// Where the access before them ended.
    before: Place,
    /// How many calls of their row and direction had moved data before.
    moved: u64,
}

/// What a notice says of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Notice {
    pub(crate) calls: Option<i64>,
    pub(crate) start: Option<i64>,
    pub(crate) end: Option<i64>,
    pub(crate) known: Option<Known>,
    pub(crate) class: Option<Class>,
}

impl Notice {
    /// Where they began, if it is known.
    fn place(&self, ofd: u32, proved: bool) -> Option<Place> {
        let start = self.start?;
        match self.known? {
            Known::Relative | Known::AssumedRelative if !proved => {
                Some(Place::Relative(ofd, start))
            }
            Known::Ambiguous | Known::Unknown => None,
            _ => Some(Place::Exact(start)),
        }
    }
}

/// Notes a call that overlaps others on `ofd`, in a row of the table and a direction; `moved`: data.
pub(crate) fn overlap<'a>(
    bursts: &'a mut Bursts,
    file_uses: &mut [FileUse],
    ofd: (u32, u32),
    (file_use, direction): (u32, usize),
    moved: bool,
) -> &'a mut Burst {
    let burst = bursts.entry(ofd).or_insert_with(|| Burst::new(file_use, direction));
    if moved && burst.direction != direction {
        if burst.calls > 0 {
            burst.give_up(file_uses);
            *burst = Burst::new(file_use, direction);
        }
        burst.direction = direction;
    }
    if burst.file_use != file_use {
        burst.scattered = true;
        burst.give_up(file_uses);
        Burst::new(file_use, direction).give_up(file_uses);
    }
    burst
}

/// A call on `ofd` that overlapped no other has moved data in the direction, or has moved the
/// position: what comes now does not belong to what came before.
pub(crate) fn interrupt(
    bursts: &mut Bursts,
    file_uses: &mut [FileUse],
    ofd: (u32, u32),
    direction: Option<usize>,
) {
    let burst = bursts.get(&ofd);
    if burst.is_some_and(|burst| direction.is_none_or(|way| way == burst.direction))
        && let Some(burst) = bursts.remove(&ofd)
    {
        burst.give_up(file_uses);
    }
}

impl Files {
    /// A notice says what calls on `ofd` covered together.
    #[cold]
    pub(crate) fn end_burst(&mut self, ofd: (u32, u32), notice: &Notice) {
        let Some(burst) = self.bursts.remove(&ofd) else { return };
        let relative = self.relative.get(&ofd);
        let place = notice.place(ofd.1, relative.is_some_and(|relative| relative.proved));
        let Some(place) = place.filter(|_| burst.is(notice)) else {
            burst.give_up(&mut self.file_uses);
            return;
        };
        let Some(file_use) = self.file_uses.get_mut(burst.file_use as usize) else { return };
        let assumed = matches!(notice.known, Some(Known::Assumed | Known::AssumedRelative));
        let mut part = None;
        match place {
            Place::Relative(_, at) => {
                let waiting = &mut self.relative.entry(ofd).or_default().waiting;
                let waiting = waiting.part(burst.file_use, burst.direction);
                waiting.assumed |= assumed;
                waiting.highest = waiting.highest.max(Some(at.saturating_add(burst.bytes)));
                burst.cover(&mut waiting.ranges, at);
                part = Some(waiting);
            }
            Place::Exact(at) => {
                file_use.know(if assumed { Known::Assumed } else { Known::Exact });
                if burst.direction == READ {
                    file_use.prove_size(at.saturating_add(burst.bytes));
                }
                burst.cover(&mut file_use.direction(burst.direction).ranges, at);
            }
            Place::Start | Place::Lost => {}
        }
        let direction = file_use.direction(burst.direction);
        burst.place(direction);
        let in_file = self.options.scope == Scope::File;
        let mut stream = match &direction.stream {
            Some(stream) if in_file => **stream,
            _ => *self.streams.get_or_insert(ofd.0, ofd.1, burst.direction),
        };
        let class = if !in_file {
            notice.class.filter(|class| !matches!(class, Class::Eof | Class::Other))
        } else if burst.is_whole(direction) {
            place.class_after(burst.before)
        } else {
            return;
        };
        let over = burst.judge(class, place, direction, &mut stream, self.options.near);
        match (class, place, part) {
            (Some(Class::Backward), Place::Exact(0), _) => direction.rewinds += 1,
            (Some(Class::Backward), Place::Relative(_, at), Some(part)) => part.backward.push(at),
            _ => {}
        }
        if in_file {
            direction.stream = Some(Box::new(stream));
        } else {
            *self.streams.get_or_insert(ofd.0, ofd.1, burst.direction) = stream;
        }
        flush(&mut self.file_uses, burst.direction, over);
    }
}

impl Burst {
    fn new(file_use: u32, direction: usize) -> Self {
        Self {
            file_use,
            direction,
            scattered: false,
            calls: 0,
            bytes: 0,
            each: None,
            pid: None,
            several: false,
            before: Place::Start,
            moved: 0,
        }
    }

    /// Adds a call that moved data: it is number `moved` of its row and direction, and follows an
    /// access that ended `before`.
    pub(crate) fn add(&mut self, call: &DataCall, moved: u64, before: Place) {
        let bytes = call.bytes.unwrap_or(0);
        if self.calls == 0 {
            (self.each, self.pid) = (Some(bytes), call.pid);
            (self.before, self.moved) = (before, moved.saturating_sub(1));
        }
        self.calls += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.each = self.each.filter(|&each| each == bytes);
        self.several |= self.pid != call.pid;
    }

    /// Whether these are the calls that a notice is about.
    fn is(&self, notice: &Notice) -> bool {
        let calls = notice.calls.and_then(|calls| u64::try_from(calls).ok());
        let length = notice.end.zip(notice.start).and_then(|(end, start)| end.checked_sub(start));
        !self.scattered && self.calls > 0 && calls == Some(self.calls) && length == Some(self.bytes)
    }

    /// What they covered stays unknown.
    pub(crate) fn give_up(&self, file_uses: &mut [FileUse]) {
        if let Some(file_use) = file_uses.get_mut(self.file_use as usize) {
            file_use.know(Known::Ambiguous);
        }
    }

    /// Adds what they covered.
    fn cover(&self, ranges: &mut ProcessRanges, at: i64) {
        let end = at.saturating_add(self.bytes);
        if self.several {
            ranges.insert_together(at, end);
        } else {
            ranges.insert(self.pid, at, end);
        }
    }

    /// Counts them as calls at known positions.
    fn place(&self, direction: &mut Direction) {
        direction.placed += self.calls;
        direction.placed_bytes = direction.placed_bytes.saturating_add(self.bytes);
    }

    /// Whether no other access of their row came in between.
    fn is_whole(&self, direction: &Direction) -> bool {
        direction.moved.get().checked_sub(self.moved) == Some(self.calls)
    }

    /// Counts the classes: the first follows what was before, as `class` says, and each other one
    /// follows another one. Returns the chain of consecutive accesses that this ends.
    fn judge(
        &self,
        class: Option<Class>,
        place: Place,
        direction: &mut Direction,
        stream: &mut Stream,
        near: i64,
    ) -> Option<(u32, i64)> {
        let gap = place.distance_from(self.before);
        // How many bytes the first one moved is known if all moved as many, and does not matter if
        // all are consecutive.
        let first = match class {
            Some(Class::Consecutive) => Some(0),
            _ => self.each,
        };
        let rest = first.map(|first| self.bytes.saturating_sub(first));
        stream.set_end(place.plus(self.bytes));
        let Some(class) = class else {
            let rest = rest?;
            if self.calls > 1 {
                direction.follow(self.calls - 1, rest);
                return stream.chain(Some(Class::Consecutive), self.file_use, rest);
            }
            return None;
        };
        direction.judge(class, first.unwrap_or(0), gap, near);
        direction.follow(self.calls - 1, rest.unwrap_or(0));
        stream.chain(Some(class), self.file_use, self.bytes)
    }
}
