//! Children in other pid namespaces than strace.
//!
//! There a call that makes a task returns the number that the child has in the namespace of its
//! parent, and the lines of the child show another one: `pid_namespaces(7)`. So a task that appears
//! is the child of a call whose number has not appeared. Where that may be several calls, what only
//! some of them have may be used by it unseen.
//!
//! A task gets its numbers in all namespaces at once, and the kernel counts up in each
//! (`alloc_pid` in kernel/pid.c). So the two numbers of a task differ by the same amount from one
//! child to the next, unless tasks were made outside in between. Of several calls the one whose
//! number fits is taken for that of the child; where none fits, the oldest in the oldest one's
//! namespace, which has the lowest number. That is no proof.

use crate::events::model_columns::task_key as key;
use crate::kernel::descriptors::open_file_description::DescriptionRef;
use crate::kernel::tasks::fork::Forking;
use crate::kernel::tasks::{TaskRef, Tasks};
use crate::kernel::transfers::position::Position;

/// A child that a call has returned, and whose lines have not come.
#[derive(Debug)]
pub(crate) struct Unseen {
    /// What the call returned.
    pub(crate) number: i32,
    /// Number of the task, unique in the log.
    pub(crate) id: u32,
    at: TaskRef,
    /// The namespace of the call.
    pids: u64,
}

/// How far the numbers that strace has for tasks are above those of a pid namespace.
#[derive(Debug)]
pub(crate) struct Apart {
    /// As the last child there showed.
    by: i32,
    /// As the one before showed, too.
    confirmed: bool,
}

/// How many such children are remembered.
const UNSEEN: usize = 256;

/// Of how many namespaces it is remembered how the numbers differ.
const SPACES: usize = 1 << 10;

/// Lower numbers are not used again (`RESERVED_PIDS` in kernel/pid.c): a task with a higher one that
/// makes a task with a lower one is in a namespace of its own.
const RESERVED: i32 = 300;

impl Tasks {
    /// Whether calls of the task, one of which has returned `child`, return numbers of another
    /// namespace.
    pub(crate) fn has_foreign_children(&mut self, task: TaskRef, child: i32) -> bool {
        let Some(task) = self.task_mut(task) else { return false };
        task.foreign |= child < RESERVED && task.tid.is_some_and(|tid| tid >= RESERVED);
        task.foreign
    }

    /// What strace calls the task that `task` calls `number`, if that is known. `translated`: the
    /// log shows strace's number.
    pub(crate) fn number_from(&self, task: TaskRef, number: i32, translated: bool) -> Option<i32> {
        let own = self.task(task)?;
        if translated || !own.foreign {
            return Some(number);
        }
        let mut others = self.slots.iter().filter(|other| !other.exited);
        others.find(|other| other.pids == own.pids && other.inside == Some(number))?.tid
    }

    /// The child `number` of a namespace has shown itself as `tid`.
    pub(crate) fn number_shown(&mut self, pids: u64, number: i32, tid: i32) {
        if self.apart.len() == SPACES && !self.apart.contains_key(&pids) {
            self.apart.clear();
        }
        let by = tid.wrapping_sub(number);
        let apart = self.apart.entry(pids).or_insert(Apart { by, confirmed: true });
        apart.confirmed = apart.by == by;
        apart.by = by;
    }

    /// What strace calls the child `number` of a namespace, if no task was made outside since the
    /// last child. `None` if some are made there.
    fn number_outside(&self, pids: u64, number: i32) -> Option<i32> {
        let apart = self.apart.get(&pids).filter(|apart| apart.confirmed || self.unordered)?;
        Some(number.wrapping_add(apart.by))
    }

    /// A call of such a task has returned `number`; `seen`: id and number of a task that was taken
    /// for its child. Returns the number of the child in the log.
    pub(crate) fn forked_elsewhere(
        &mut self,
        parent: TaskRef,
        number: i32,
        flags: u32,
        mut seen: Option<(i32, u32)>,
    ) -> u32 {
        let pids = self.task(parent).map_or(0, |task| task.pids);
        let outside = self.number_outside(pids, number);
        if let Some(outside) = outside
            && seen.is_none_or(|(tid, _)| tid != outside)
        {
            let of_other = self.take_child(outside, self.identity(parent).0);
            // The child of a later call, whose own has not appeared.
            let wrong = seen.filter(|&(_, id)| self.guessed_parents(id).is_some());
            let wrong = wrong.filter(|_| of_other.is_some() || self.childless() > 0);
            if let Some((tid, id)) = wrong {
                self.leave_open(id);
                self.reassign((tid, id));
                self.may_have_more(id);
                seen = None;
            }
            if let Some(id) = of_other {
                self.leave_open(id);
                self.guessed_wrong(id, parent, flags);
                self.may_have_more(id);
                return id;
            }
        }
        if let Some((tid, id)) = seen {
            self.is_child();
            self.leave_open(id);
            if let Some((_, guess)) = self.end_guess(id) {
                guess.end(&mut self.files);
                self.may_have_more(id);
            } else if let Some(at) = self.by_number(id) {
                self.is_inside(at, pids, number);
            } else {
                self.leave_open_to_others(parent);
            }
            self.number_shown(pids, number, tid);
            return id;
        }
        if let Some((tid, id)) = self.adopt(parent, flags, outside) {
            self.is_child();
            self.number_shown(pids, number, tid);
            return id;
        }
        // The number may be that of a task that strace sees under the same one.
        let other = self.by_tid.remove(&key(Some(number)));
        let at = self.add(Some(number), Some(parent), flags);
        if let Some(other) = other {
            self.by_tid.insert(key(Some(number)), other);
            self.change(Some(number));
        }
        let (id, _) = self.identity(at);
        if self.unseen.len() == UNSEEN
            && let Some(oldest) = self.unseen.pop_front()
            && self.by_tid.get(&key(Some(oldest.number))) != Some(&oldest.at)
        {
            self.remove_at(oldest.at);
        }
        self.unseen.push_back(Unseen { number, id, at, pids });
        id
    }

    /// Takes the child `tid` from the call under way that it was taken for one of, if it may be one
    /// of `parent`.
    fn take_child(&mut self, tid: i32, parent: u32) -> Option<u32> {
        let of = |other: &Forking| {
            let (_, id) = other.child.filter(|&(seen, _)| seen == tid && !other.confirmed)?;
            self.guessed_parents(id)?.contains(&parent).then_some(id)
        };
        let (at, id) =
            self.forking.iter().enumerate().find_map(|(at, other)| Some((at, of(other)?)))?;
        self.forking[at].child = None;
        Some(id)
    }

    /// The number of the task in its namespace is known.
    fn is_inside(&mut self, task: TaskRef, pids: u64, number: i32) {
        if let Some(task) = self.task_mut(task).filter(|task| task.pids == pids) {
            task.inside = Some(number);
        }
    }

    /// How many calls are under way whose child has not appeared.
    fn childless(&self) -> usize {
        self.forking.iter().filter(|forking| forking.child.is_none()).count()
    }

    /// Which call has made the task with this number is not proved: it may use what only some of
    /// the tasks have that may have made it.
    fn leave_open(&mut self, id: u32) {
        let Some(parents) = self.guessed_parents(id) else { return };
        let tasks = parents.iter().chain([&id]).filter_map(|&id| self.task(self.by_number(id)?));
        let mut tables: Vec<usize> = tasks.map(|task| task.table).collect();
        for (_, file) in self.only_some(&mut tables) {
            self.doubt(file);
        }
    }

    /// The task that was taken for the child of this call is gone, and may have been that of another
    /// call under way. Then the child that appears for that one is the child of this call.
    #[cold]
    fn leave_open_to_others(&mut self, parent: TaskRef) {
        let open = self.forking.iter_mut().filter(|other| other.child.is_none());
        let others: Vec<u32> = open
            .map(|other| {
                other.unproved = true;
                other.parent
            })
            .collect();
        let others = others.iter().filter_map(|&other| self.by_number(other));
        let tasks = others.chain([parent]).filter_map(|at| self.task(at));
        let mut tables: Vec<usize> = tasks.map(|task| task.table).collect();
        for (_, file) in self.only_some(&mut tables) {
            self.doubt(file);
        }
    }

    /// The parent of the task with this number is not proved: descriptors that its table lacks may
    /// be those of another task.
    pub(crate) fn may_have_more(&mut self, id: u32) {
        let table = self.by_number(id).and_then(|at| self.task(at)).map(|task| task.table);
        if let Some(at) = table {
            self.table_at(at).changes_unseen = true;
        }
    }

    /// Calls that are printed only when they return (`strace -z`) let a child appear before its
    /// parent's call. It is the task whose number is `outside`; where that is not known, the only one
    /// that has appeared like this.
    fn adopt(&mut self, parent: TaskRef, flags: u32, outside: Option<i32>) -> Option<(i32, u32)> {
        let (older, _) = self.identity(parent);
        let early = self.slots.iter();
        let mut early = early
            .filter(|task| task.unexpected && !task.exited && task.id > older)
            .map(|task| (task.tid, task.id));
        let fits = early.clone().find(|&(tid, _)| outside.is_some() && tid == outside);
        let (tid, id) = fits.or_else(|| {
            let (child, None) = (early.next()?, early.next()) else { return None };
            Some(child)
        })?;
        let tid = tid?;
        self.remove(Some(tid));
        let at = self.add(Some(tid), Some(parent), flags);
        if let Some(task) = self.task_mut(at) {
            task.id = id;
        }
        self.change(Some(tid));
        Some((tid, id))
    }

    /// A call has returned the number of the task.
    pub(crate) fn keep_silent(&mut self, task: TaskRef) {
        if let Some(task) = self.task_mut(task) {
            task.silent = true;
            self.silent += 1;
        }
    }

    /// A task appears that no call has made as far as the log shows. It may be older than the log,
    /// but then its number is lower than those of new tasks. Otherwise it may be a child that has
    /// not shown itself under the number that a call returned: strace may be attached to a
    /// container. Then it has the child's descriptions.
    pub(crate) fn doubt_silent(&mut self, tid: i32) {
        let mut tables: Vec<usize> = Vec::new();
        for task in self.slots.iter_mut() {
            if task.silent && !task.exited && task.tid.is_some_and(|number| number < tid) {
                task.silent = false;
                self.silent -= 1;
                tables.push(task.table);
            }
        }
        let mut open: Vec<DescriptionRef> = Vec::new();
        for table in tables {
            open.extend(self.table_at(table).files());
        }
        open.sort_unstable();
        open.dedup();
        for file in open {
            self.doubt(file);
        }
    }

    /// Calls of another task may use the description unseen from now on.
    fn doubt(&mut self, file: DescriptionRef) {
        if let Some(file) = self.files.get(file)
            && file.position != Position::None
        {
            // As if a call were under way that never ends.
            file.in_progress.begin();
        }
    }

    /// A row shows the task.
    #[inline]
    pub(crate) fn showed(&mut self, task: TaskRef) {
        if self.hides_children && self.task(task).is_some_and(|task| task.hidden) {
            self.child_shows();
        }
        if self.silent > 0
            && let Some(task) = self.task_mut(task)
        {
            self.silent -= usize::from(std::mem::take(&mut task.silent));
        }
        if !self.unseen.is_empty() {
            self.unseen.retain(|unseen| unseen.at != task);
        }
    }

    /// The task for an id that appears for the first time, if a call has returned it under another
    /// number.
    pub(crate) fn first_sight_of_unseen(&mut self, tid: i32) -> Option<TaskRef> {
        if self.unseen.is_empty() || self.events_show_children {
            return None;
        }
        let open = self.childless();
        let same = self.unseen.iter().position(|unseen| unseen.number == tid);
        let several = same.is_none() && self.is_of_several();
        if several {
            self.doubt_descriptions();
        }
        let outside = |unseen: &Unseen| self.number_outside(unseen.pids, unseen.number);
        let fits = self.unseen.iter().position(|unseen| outside(unseen) == Some(tid));
        // The call that made it is under way.
        if same.or(fits).is_none()
            && open > 0
            && !self.unordered
            && self.unseen.iter().all(|unseen| outside(unseen).is_some())
        {
            return None;
        }
        let place = same.or(fits).unwrap_or(self.oldest());
        let Unseen { number, at, pids, .. } = self.unseen.remove(place)?;
        if same.is_none() {
            self.number_shown(pids, number, tid);
            if !several && !self.unordered {
                self.is_inside(at, pids, number);
            }
        }
        let old = key(Some(number));
        if self.by_tid.get(&old) == Some(&at) {
            self.by_tid.remove(&old);
            self.change(Some(number));
        }
        let task = self.task_mut(at)?;
        task.tid = Some(tid);
        if task.group == Some(number) {
            task.group = Some(tid);
        }
        let id = task.id;
        self.by_tid.insert(key(Some(tid)), at);
        self.change(Some(tid));
        if several {
            self.may_have_more(id);
        }
        Some(at)
    }

    /// The place of the oldest child of those in one namespace. In logs of `-ff` without times all
    /// calls of the parent come before those of its first child.
    fn oldest(&self) -> usize {
        let space = self.unseen.front().map(|unseen| unseen.pids);
        let same = self.unseen.iter().enumerate().filter(|(_, unseen)| Some(unseen.pids) == space);
        same.min_by_key(|(_, unseen)| unseen.number).map_or(0, |(at, _)| at)
    }

    /// Whether several calls may have made a task that appears.
    fn is_of_several(&self) -> bool {
        self.unseen.len() + self.possible_parents().len() > 1
    }

    /// Which of several children a task is remains open. What only some of them have under a number
    /// may be used by calls of another task from now on.
    fn doubt_descriptions(&mut self) {
        let parents = self.possible_parents();
        let parents = parents.iter().filter_map(|&parent| self.task(self.by_number(parent)?));
        let children = self.unseen.iter().filter_map(|unseen| self.task(unseen.at));
        let mut tables: Vec<usize> = parents.chain(children).map(|task| task.table).collect();
        for (_, file) in self.only_some(&mut tables) {
            self.doubt(file);
        }
    }
}
