//! Descriptions that may be one and the same.
//!
//! Two numbers that are older than the log may refer to one description, of one process
//! (`program >out 2>&1`) or of several, and so may a descriptor that comes unexplained. The log does
//! not show it. So a call that moves the position of one makes those of the others doubtful, until a
//! seek proves them again, unless something shows that the two differ: names, file types, numbers of
//! files, or sizes or positions at the same moment.

use crate::events::vocabulary::FileType;
use crate::kernel::descriptors::open_file_description::{
    DescriptionRef, OpenFileDescription, OpenFileDescriptions, is_rooted_path,
};
use crate::kernel::files::length::Moment;
use crate::kernel::files::numbers::differ;
use crate::kernel::transfers::position::{Offset, Position, Stream};
use crate::thin_vec::ThinVec;

/// How many descriptions are compared. Where there are more, their positions stay doubtful.
const COMPARED: usize = 1024;

/// What is known of a description that other ones may be the same as.
#[derive(Debug, Default)]
pub(crate) struct Others {
    /// It has been compared with the others.
    compared: bool,
    /// It is among [`OlderDescriptions::used`].
    used: bool,
    /// It is among [`OlderDescriptions::active`].
    active: bool,
    /// Those that it may be the same as, in ascending order.
    same: ThinVec<DescriptionRef>,
    /// Its position is doubtful after the call under way, which is its first one.
    doubt_next: bool,
    /// It came to a process in a way that the log does not show.
    pub unexplained: bool,
    /// The size of its file, and when a call showed that: few are asked for it.
    size: Option<Box<(i64, Moment)>>,
}

/// Descriptions that may be the same as others.
#[derive(Debug, Default)]
pub(crate) struct OlderDescriptions {
    /// Those that have been used, [`COMPARED`] of them at most.
    used: Vec<DescriptionRef>,
    /// Those of them whose position is known, or moved by a call under way; and perhaps more.
    active: Vec<DescriptionRef>,
    /// There are too many. From then on each is doubtful after every use of its own, so that no use
    /// of another one can make it so.
    many: bool,
    /// The description of the last call that moved a position, or began to, and whether it has moved
    /// it, if no call on a description that may be the same was under way. The same again changes
    /// nothing.
    pub last: Option<(DescriptionRef, bool)>,
    /// How many of their files have no name.
    nameless: u64,
    /// How many names have changed so far.
    pub renames: u32,
}

impl Others {
    /// It has been found to be no other one of those that have been used.
    fn are_none(&self) -> bool {
        self.compared && self.active && self.same.is_empty()
    }
}

impl OpenFileDescription {
    /// Nothing has used its position so far, so its offsets will count from its first access.
    fn is_fresh(&self) -> bool {
        self.position == Position::At(Offset::Relative(0))
            && self.streams == [Stream::Fresh; 2]
            && !self.relative
    }

    /// A call on another description, which may be this one, has moved the position.
    fn doubt(&mut self) {
        match self.position {
            Position::None => return,
            Position::Unknown if self.in_progress.is_empty() => return,
            // Offsets count from its first access, wherever that is; but not after it.
            _ if self.is_fresh() && self.in_progress.is_single() => {
                self.others.doubt_next = true;
                return;
            }
            _ if self.in_progress.is_empty() && self.is_fresh() => return,
            _ => {}
        }
        if !self.in_progress.is_empty() {
            self.in_progress.pass(None, false);
        }
        self.lose();
        self.doubtful = true;
        self.at_end_of_write = false;
    }

    /// The same while calls are under way that may move the position: it is doubtful even if it was
    /// not known.
    fn doubt_with_others(&mut self) {
        self.doubtful |= self.position == Position::Unknown;
        self.doubt();
    }

    /// Whether the two may be the same. What their files' sizes and their positions showed at some
    /// moment is not compared again.
    fn may_be(&self, other: &Self) -> bool {
        let typed = |file_type: Option<u8>| file_type.filter(|&it| it != FileType::Unknown as u8);
        if let (Some(one), Some(two)) = (typed(self.file_type), typed(other.file_type))
            && one != two
        {
            return false;
        }
        if differ(self.file_number, other.file_number) {
            return false;
        }
        if let (Some(one), Some(two)) = (&self.path, &other.path)
            && self.named == other.named
            && is_rooted_path(one)
            && is_rooted_path(two)
        {
            return one == two;
        }
        let positioned = self.position != Position::None && other.position != Position::None;
        positioned && (self.older_than(other) && other.older_than(self))
    }

    /// Whether it may have been open before `other` was: a description that a call opened is the same
    /// as one that came unexplained, if any.
    fn older_than(&self, other: &Self) -> bool {
        self.inherited || other.others.unexplained
    }
}

impl OpenFileDescriptions {
    /// A call that moves the position of the description is over; `moved`: it has moved it.
    pub(crate) fn moved_others(&mut self, file: DescriptionRef, moved: bool) {
        if let Some(open) = self.get(file)
            && std::mem::take(&mut open.others.doubt_next)
        {
            open.doubt();
        }
        self.move_others(file, moved);
    }

    /// A call that began and ended since [`Self::move_others`] was told of both is over;
    /// `under_way`: what that returned.
    pub(crate) fn moved_since(&mut self, file: DescriptionRef, under_way: bool) {
        let Some(open) = self.get(file) else { return };
        if std::mem::take(&mut open.others.doubt_next) {
            open.doubt();
        }
        if under_way {
            open.doubt_with_others();
        }
    }

    /// The description is about to be written to: its file is followed from here on.
    pub(crate) fn follow_file(&mut self, file: DescriptionRef) {
        let Some(open) = self.files.get_mut(file as usize) else { return };
        if open.inode.is_none() && open.position != Position::None {
            self.older.nameless += 1;
            // Like the ids of files without a name that are known by their number.
            open.inode = Some(self.inodes.join((u64::MAX >> 1) - self.older.nameless));
        }
    }

    /// Compares a description that may be the same as others with those, before it is used.
    fn compare(&mut self, file: DescriptionRef) {
        let Some(open) = self.get(file) else { return };
        if std::mem::replace(&mut open.others.compared, true) {
            return;
        }
        if self.older.used.len() >= COMPARED {
            if std::mem::replace(&mut self.older.many, true) {
                return;
            }
            for at in 0..self.older.used.len() {
                let used = self.older.used[at];
                if let Some(open) = self.get(used) {
                    open.doubt();
                }
            }
            return;
        }
        let mut same: Vec<DescriptionRef> = Vec::new();
        for at in 0..self.older.used.len() {
            let other = self.older.used[at];
            if self.may_be(file, other) {
                same.push(other);
                if let Some(other) = self.get(other)
                    && let Err(at) = other.others.same.binary_search(&file)
                {
                    other.others.same.insert(at, file);
                }
            }
        }
        same.sort_unstable();
        if let Some(open) = self.get(file) {
            (open.others.same, open.others.used) = (same.into(), true);
        }
        self.older.used.push(file);
    }

    fn may_be(&self, one: DescriptionRef, two: DescriptionRef) -> bool {
        let get = |file: DescriptionRef| self.at(file);
        get(one).zip(get(two)).is_some_and(|(one, two)| one.may_be(two))
    }

    /// The two are not the same.
    fn separate(&mut self, one: DescriptionRef, two: DescriptionRef) {
        for (of, other) in [(one, two), (two, one)] {
            if let Some(open) = self.get(of)
                && let Ok(at) = open.others.same.binary_search(&other)
            {
                open.others.same.remove(at);
            }
        }
    }

    fn separate_where(
        &mut self,
        file: DescriptionRef,
        differs: impl Fn(&OpenFileDescription, &OpenFileDescription) -> bool,
    ) {
        let Some(open) = self.get(file) else { return };
        for &other in &open.others.same.clone() {
            let pair = self.at(file).zip(self.at(other));
            if pair.is_some_and(|(one, two)| differs(one, two)) {
                self.separate(file, other);
            }
        }
    }

    /// The log has shown the name or the type of a description.
    pub(crate) fn compare_again(&mut self, file: DescriptionRef) {
        if self.at(file).is_some_and(|open| !open.others.same.is_empty()) {
            self.separate_where(file, |one, two| !one.may_be(two));
        }
    }

    /// A call that began at `since` has shown the size of the file of a description that may be the
    /// same as others. Files of two sizes at one moment are two files.
    pub(crate) fn compare_sizes(&mut self, file: DescriptionRef, size: i64, since: Moment) {
        self.compare(file);
        if self.inodes.resizing > 0 {
            return;
        }
        let changed = self.inodes.last_changed.1;
        if changed > since {
            return;
        }
        if let Some(open) = self.get(file) {
            open.others.size = Some(Box::new((size, since)));
        }
        self.separate_where(file, |_, two| {
            two.others.size.as_deref().is_some_and(|&(other, at)| other != size && changed <= at)
        });
    }

    /// A seek has shown that the position was `at`, and that no call was moving it.
    pub(crate) fn compare_positions(&mut self, file: DescriptionRef, at: i64) {
        self.compare(file);
        self.separate_where(file, |_, two| {
            let two = Some(two).filter(|two| two.in_progress.is_empty()).map(|two| two.position);
            two.is_some_and(|two| matches!(two, Position::At(Offset::Exact(other)) if other != at))
        });
    }

    /// A call moves the position of the description, which may be the same as others, or begins to;
    /// `moved`: it moves it by something. Returns whether a call is under way on one of the others.
    #[inline]
    pub(crate) fn move_others(&mut self, file: DescriptionRef, moved: bool) -> bool {
        let done = self.older.last;
        if done.is_some_and(|(last, all)| last == file && (all || !moved)) {
            return false;
        }
        let alone = |open: &OpenFileDescription| open.others.are_none();
        let others = self.older.many || !self.at(file).is_some_and(alone);
        others && self.move_all_others(file, moved)
    }

    #[inline(never)]
    fn move_all_others(&mut self, file: DescriptionRef, moved: bool) -> bool {
        self.older.last = None;
        if self.at(file).is_none_or(|open| open.position == Position::None) {
            return false;
        }
        self.compare(file);
        let many = self.older.many;
        let mut under_way = many;
        let alone = many || self.at(file).is_none_or(|open| open.others.same.is_empty());
        let mut active = if alone { Vec::new() } else { std::mem::take(&mut self.older.active) };
        let mut at = 0;
        while let Some(&other) = active.get(at) {
            let same =
                self.at(file).is_some_and(|open| open.others.same.binary_search(&other).is_ok());
            let Some(open) = self.get(other).filter(|_| other != file) else {
                at += 1;
                continue;
            };
            if same {
                under_way |= !open.in_progress.is_empty();
                if moved {
                    open.doubt();
                }
            }
            let known = matches!(open.position, Position::At(_));
            if !known && open.in_progress.is_empty() {
                open.others.active = false;
                active.swap_remove(at);
            } else {
                at += 1;
            }
        }
        if !alone {
            self.older.active = active;
        }
        let Some(open) = self.get(file) else { return false };
        if under_way {
            open.doubt_with_others();
        }
        if !many && !std::mem::replace(&mut open.others.active, true) {
            self.older.active.push(file);
        }
        self.older.last = (!under_way).then_some((file, moved));
        under_way
    }

    /// The log shows whether writes append. If it has changed, it has changed for the others, too.
    pub(crate) fn know_append(&mut self, file: DescriptionRef, appends: bool) {
        let Some(open) = self.get(file) else { return };
        open.may_append = false;
        for &other in &open.others.same.clone() {
            if let Some(other) = self.get(other) {
                other.may_append |= other.append != appends;
            }
        }
    }

    /// The description may have come to a process in a way that the log does not show.
    pub(crate) fn suspect(&mut self, file: DescriptionRef) {
        if let Some(open) = self.get(file)
            && open.position != Position::None
        {
            open.unsure = true;
            self.move_others(file, false);
        }
    }

    /// The same, unless it is compared with others already.
    pub(crate) fn suspect_once(&mut self, file: DescriptionRef) {
        if self.get(file).is_some_and(|open| !open.unsure) {
            self.suspect(file);
        }
    }

    /// A call may have moved the position of the description.
    pub(crate) fn doubt(&mut self, file: DescriptionRef) {
        if let Some(open) = self.get(file) {
            open.doubt();
        }
    }

    /// The description has no users any more.
    pub(crate) fn forget(&mut self, file: DescriptionRef, others: &Others) {
        for &other in &others.same {
            self.separate(other, file);
        }
        if others.used {
            self.older.used.retain(|&used| used != file);
        }
        if others.active {
            self.older.active.retain(|&active| active != file);
        }
    }
}
