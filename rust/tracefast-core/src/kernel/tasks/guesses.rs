//! Children that appear while several calls that make tasks are under way.
//!
//! Such a child is taken for that of the oldest call, until the calls return. If it moves a position
//! before that, it may be that of any description that only some of the possible parents have. If the
//! guess was wrong, the child gets what its parent has, and what it did since is done to that. Which
//! process it belongs to nobody knows before, if one of the calls makes a thread.

use crate::events::vocabulary::clone_flags::{CLONE_FILES, CLONE_THREAD, UNSHOWN};
use crate::kernel::descriptors::fd_table::FdTable;
use crate::kernel::descriptors::open_file_description::{DescriptionRef, OpenFileDescriptions};
use crate::kernel::tasks::directories::Directories;
use crate::kernel::tasks::{Task, TaskRef, Tasks};
use crate::kernel::transfers::calls_under_way::UnseenMoves;
use crate::kernel::transfers::position::Position;

/// What a child got from the task that is taken for its parent.
#[derive(Debug)]
pub(crate) struct Guess {
    /// Numbers of its possible parents.
    parents: Vec<u32>,
    /// The thread group that it is in if the guess is right, and all that it may be in.
    group: Option<i32>,
    groups: Vec<i32>,
    table: FdTable,
    directories: Directories,
    /// It has started a program since.
    pub(crate) started: bool,
    /// It has moved a position.
    moves: bool,
    /// What that may be of.
    unseen: UnseenMoves,
}

impl Guess {
    /// The log does not say whether it was right.
    pub(crate) fn end(mut self, files: &mut OpenFileDescriptions) {
        self.table.clear(files);
        self.unseen.misled(files);
    }
}

impl Task {
    /// The thread groups that it may be in.
    pub(super) fn groups(&self) -> &[i32] {
        match (&self.group, &self.guess) {
            (Some(group), _) => std::slice::from_ref(group),
            (None, Some(guess)) => &guess.groups,
            (None, None) => &[],
        }
    }
}

impl Tasks {
    /// The task with this number.
    pub(crate) fn by_number(&self, id: u32) -> Option<TaskRef> {
        self.slots.position(|task| task.id == id)
    }

    /// Numbers of the tasks in calls that make a task, whose children have not appeared, or are
    /// guessed.
    pub(crate) fn possible_parents(&self) -> Vec<u32> {
        let open = self.forking.iter().filter(|forking| {
            forking.child.is_none_or(|(_, child)| self.guessed_parents(child).is_some())
        });
        open.map(|forking| forking.parent).collect()
    }

    /// Of which tasks the one with this number may be the child, if that is guessed.
    pub(crate) fn guessed_parents(&self, id: u32) -> Option<&[u32]> {
        if self.guesses == 0 {
            return None;
        }
        let guess = self.task(self.by_number(id)?)?.guess.as_ref();
        guess.map(|guess| guess.parents.as_slice())
    }

    /// The thread groups that a task may be in.
    #[cold]
    pub(crate) fn groups_of(&self, task: TaskRef) -> &[i32] {
        self.task(task).map_or(&[], Task::groups)
    }

    /// The thread groups that a child may be in, without doubles.
    fn groups_of_child(&self, tid: Option<i32>, parents: &[u32]) -> Vec<i32> {
        let mut groups = Vec::new();
        for forking in self.forking.iter().filter(|forking| parents.contains(&forking.parent)) {
            let parent = self.by_number(forking.parent).and_then(|at| self.task(at));
            let thread = forking.flags & CLONE_THREAD != 0;
            let group = if thread { parent.and_then(|parent| parent.group) } else { tid };
            groups.extend(group.filter(|group| !groups.contains(group)));
        }
        groups
    }

    /// The descriptions that only some of these fd tables have under a number.
    pub(crate) fn only_some(&mut self, tables: &mut Vec<usize>) -> Vec<(i32, DescriptionRef)> {
        tables.sort_unstable();
        tables.dedup();
        let mut open: Vec<(i32, DescriptionRef)> = Vec::new();
        for &table in tables.iter() {
            open.extend(self.table_at(table).all());
        }
        open.sort_unstable();
        let same = open.chunk_by(|one, other| one == other);
        same.filter(|same| same.len() < tables.len()).map(|same| same[0]).collect()
    }

    /// The child may be that of any of these tasks.
    #[cold]
    pub(crate) fn guess(&mut self, child: TaskRef, parents: Vec<u32>) {
        let Some(&Task { table, directory, tid, group, .. }) = self.task(child) else { return };
        self.guesses += 1;
        let groups = self.groups_of_child(tid, &parents);
        let guess = Guess {
            parents,
            group,
            groups,
            table: self.copy_of_table(table),
            directories: self.directories.get(directory).cloned().unwrap_or_default(),
            started: false,
            moves: false,
            unseen: UnseenMoves::default(),
        };
        if let Some(task) = self.task_mut(child) {
            task.inside = None;
            task.group = task.group.filter(|_| guess.groups.len() < 2);
            task.guess = Some(Box::new(guess));
        }
    }

    /// The task moves a position, or changes a file.
    #[cold]
    pub(crate) fn moves(&mut self, task: TaskRef) {
        let guess = self.task_mut(task).and_then(|task| task.guess.as_mut());
        let Some(guess) = guess.filter(|guess| !guess.moves) else { return };
        guess.moves = true;
        let parents = guess.parents.clone();
        let of = parents.iter().filter_map(|&parent| self.task(self.by_number(parent)?));
        let mut held = Vec::new();
        for (fd, file) in self.only_some(&mut of.map(|task| task.table).collect()) {
            if self.files.at(file).is_some_and(|open| open.position != Position::None) {
                held.extend(self.files.hold(fd, file, true, None));
            }
        }
        if let Some(guess) = self.task_mut(task).and_then(|task| task.guess.as_mut()) {
            guess.unseen.held = held;
        }
    }

    /// Takes out the guess about the task with this number.
    pub(crate) fn end_guess(&mut self, id: u32) -> Option<(TaskRef, Box<Guess>)> {
        if self.guesses == 0 {
            return None;
        }
        let child = self.by_number(id)?;
        let guess = self.task_mut(child)?.guess.take()?;
        self.guesses -= 1;
        Some((child, guess))
    }

    /// The call of this task has returned: what was taken for the child of another call is not its.
    pub(crate) fn rule_out(&mut self, parent: u32) {
        if self.guesses == 0 {
            return;
        }
        for at in 0..self.forking.len() {
            let Some((_, child)) = self.forking[at].child else { continue };
            let Some(child_at) = self.by_number(child) else { continue };
            let guess = self.slots.get_mut(child_at).and_then(|task| task.guess.as_mut());
            let Some(guess) = guess else { continue };
            guess.parents.retain(|&possible| possible != parent);
            if guess.parents == [self.forking[at].parent] {
                self.guessed_right(child);
            }
        }
    }

    /// The call has returned the child that was taken for its own.
    pub(crate) fn guessed_right(&mut self, id: u32) {
        if let Some((child, mut guess)) = self.end_guess(id) {
            guess.table.clear(&mut self.files);
            guess.unseen.moved_nothing(&mut self.files);
            let Some(task) = self.task_mut(child) else { return };
            task.group = task.group.or(guess.group);
            let tid = task.tid;
            self.change(tid);
        }
    }

    /// What was taken for the child of a call that has returned is that of another call, whose
    /// child has not appeared.
    pub(crate) fn reassign(&mut self, (tid, id): (i32, u32)) {
        if self.by_number(id).is_none() {
            return;
        }
        let possible = self.guessed_parents(id).map(<[u32]>::to_vec);
        let parents = self.possible_parents();
        let mut others = self.forking.iter_mut().filter(|other| other.child.is_none());
        let other = others.find(|other| {
            possible.as_ref().is_none_or(|possible| possible.contains(&other.parent))
        });
        let Some(other) = other else { return };
        other.child = Some((tid, id));
        let (parent, flags) = (other.parent, other.flags);
        if let Some(parent) = self.by_number(parent) {
            self.guessed_wrong(id, parent, flags);
            if let (Some(child), true) = (self.by_number(id), parents.len() > 1) {
                self.guess(child, parents);
            }
        }
    }

    /// The child is that of `parent`.
    #[cold]
    pub(crate) fn guessed_wrong(&mut self, id: u32, parent: TaskRef, flags: u32) {
        let Some((child, mut guess)) = self.end_guess(id) else { return };
        let (Some(of), Some(own)) = (self.task(parent), self.task(child)) else { return };
        let (tid, old) = (own.tid, (own.table, own.directory, own.space));
        let (table, foreign) = (of.table, of.foreign);
        let group = if flags & CLONE_THREAD != 0 { of.group } else { tid };

        let of_parent = table;
        let table = if flags & CLONE_FILES != 0 && !guess.started {
            self.tables.keep(table)
        } else {
            self.copy_table(table)
        };
        self.table_at(old.0);
        let mut new = std::mem::take(self.table_at(table));
        new.repeat(&mut self.files, &guess.table, &self.tables[old.0], guess.started);
        self.tables[table] = new;
        let now = self.directories.get(old.1).cloned().unwrap_or_default();
        let directory = if now.agree(&guess.directories) {
            self.directories_of_child(parent, flags)
        } else {
            self.directories.keep(old.1)
        };
        let space = if guess.started {
            self.spaces.keep(old.2)
        } else {
            self.space_of_child(parent, flags)
        };
        if let Some(task) = self.task_mut(child) {
            (task.table, task.directory, task.space) = (table, directory, space);
            (task.group, task.foreign) = (group, foreign);
        }
        self.change(tid);
        self.table_ends(old.0);
        if flags & UNSHOWN != 0 {
            self.may_share(child, of_parent);
        }
        if let Some(mut table) = self.tables.release(old.0) {
            table.clear(&mut self.files);
        }
        self.directories.release(old.1);
        self.spaces.release(old.2);
        guess.table.clear(&mut self.files);
        guess.unseen.misled(&mut self.files);
    }
}
