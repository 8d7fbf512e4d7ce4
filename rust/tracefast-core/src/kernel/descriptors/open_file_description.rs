//! Open file descriptions: what the kernel calls `struct file`, and open(2) an open file
//! description.

use std::sync::Arc;

use crate::events::details::FileNumber;
use crate::events::file_id::{file_id, has_part, last_part, lexical};
use crate::kernel::descriptors::messages::End;
use crate::kernel::descriptors::same_description::{OlderDescriptions, Others};
use crate::kernel::files::inodes::{InodeRef, Inodes};
use crate::kernel::files::length::Moment;
use crate::kernel::numbered::Numbered;
use crate::kernel::transfers::burst::BurstStart;
use crate::kernel::transfers::position::{CallsInProgress, Position, Stream};

/// Index in [`OpenFileDescriptions`]. It is used again.
pub(crate) type DescriptionRef = u32;

/// An open file description, which all copies of a descriptor share.
///
/// Its fields are in the order in which reads and writes need them: what most rows touch is in the
/// first two or three lines of the processor's cache, of five.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct OpenFileDescription {
    refs: u32,
    /// Index in [`crate::events::model_columns::ModelColumns::descriptions`] of block `described`.
    pub description: u32,
    /// See `description`.
    pub described: u64,
    /// The file, if it has positions.
    pub inode: Option<InodeRef>,
    /// Key of the type, if known.
    pub file_type: Option<u8>,
    /// Writes go to the end of the file (`O_APPEND`).
    pub append: bool,
    /// It is older than the log, or was opened by a call that was not traced.
    pub inherited: bool,
    /// Other descriptions may be the same one.
    pub unsure: bool,
    /// A call on one of those may have moved the position.
    pub doubtful: bool,
    /// Whether writes append is not known: it is older than the log.
    pub may_append: bool,
    /// Its position is where its last write ended.
    pub at_end_of_write: bool,
    /// Rows show relative offsets.
    pub relative: bool,
    /// Rows showed relative offsets, and since then something has proved where those count from.
    pub proved: bool,
    /// Other tasks may use it too, in an order that the log does not show.
    pub unordered: bool,
    /// A number that referred to it was closed in a table that tasks share.
    pub number_closed: bool,
    /// Tasks whose calls are not in the log may use it.
    pub hidden: bool,
    /// strace writes the log to it.
    pub logged: bool,
    /// Its name may not be `path` any more.
    astray: bool,
    /// Where the next transfer begins.
    pub position: Position,
    /// Calls under way that move the position.
    pub in_progress: CallsInProgress,
    /// Reads and writes so far.
    pub streams: [Stream; 2],
    /// When the last read that returned data began.
    pub read: Moment,
    /// Name at open, or in the first annotation; `None` if the log shows none.
    pub path: Option<Arc<[u8]>>,
    /// Identity of the file.
    pub id: Option<u64>,
    /// Calls under way that change `append`.
    pub switching: u32,
    /// The number that rows show, `ofd`; 0 until a row needs it.
    number: u32,
    /// When `append` was last changed.
    pub switched: Moment,
    /// Those of the calls under way that have moved data.
    pub burst: BurstStart,
    /// Which others may be the same: see `unsure`.
    pub others: Others,
    /// How many names had changed when it got its name.
    pub named: u32,
    /// [`OpenFileDescriptions::moves`] when it was opened.
    moves: u32,
    /// The number of its file, if a call on it has shown that.
    pub file_number: Option<FileNumber>,
    /// When the call that opened it began; 0 if the log does not show that.
    pub opened: Moment,
    /// The process that it stands for (`pidfd_open(2)`).
    pub process: Option<i32>,
    /// The end of a pair of sockets or of a pipe that it is.
    pub end: Option<End>,
}

impl OpenFileDescription {
    /// A new description, without users.
    pub(crate) fn new(path: Option<Arc<[u8]>>, id: Option<u64>, file_type: Option<u8>) -> Self {
        Self {
            refs: 0,
            number: 0,
            path,
            id,
            file_type,
            description: 0,
            described: u64::MAX,
            inode: None,
            position: Position::None,
            streams: [Stream::Fresh; 2],
            in_progress: CallsInProgress::default(),
            burst: BurstStart::default(),
            append: false,
            inherited: false,
            unsure: false,
            others: Others::default(),
            doubtful: false,
            may_append: false,
            at_end_of_write: false,
            named: 0,
            file_number: None,
            read: 0,
            switching: 0,
            switched: 0,
            relative: false,
            proved: false,
            unordered: false,
            number_closed: false,
            hidden: false,
            logged: false,
            opened: 0,
            astray: false,
            moves: 0,
            process: None,
            end: None,
        }
    }

    /// A description that is older than the log.
    pub(crate) fn inherited(position: Position) -> Self {
        Self {
            inherited: true,
            unsure: true,
            may_append: true,
            position,
            ..Self::new(None, None, None)
        }
    }

    /// The number that rows show; 0 if no row has needed it.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// How many users it has: descriptors, calls under way, messages.
    pub(crate) fn users(&self) -> u32 {
        self.refs
    }

    /// Whether it has several users.
    pub(crate) fn is_shared(&self) -> bool {
        self.refs > 1
    }

    /// Name, identity or type have changed: the next row needs a new entry.
    pub(crate) fn changed(&mut self) {
        self.described = u64::MAX;
    }

    /// Whether it has a path of which this holds.
    pub(crate) fn has_path(&self, is: impl FnOnce(&[u8]) -> bool) -> bool {
        self.path.as_ref().is_some_and(|path| is(path))
    }

    /// Whether `path`, which is its own, is the path of a file. For most files this needs no look
    /// at the path.
    #[inline]
    pub(crate) fn is_named(&self, path: &[u8]) -> bool {
        self.inode.is_some() || path.starts_with(b"/")
    }

    /// Whether the view of an annotation may hold the name that it has.
    #[inline]
    pub(crate) fn agrees(&self, view: u128) -> bool {
        let named = self.path.as_ref().is_some_and(|path| self.is_named(path));
        !self.inherited && named == is_rooted(view)
    }

    /// Whether it is a stream: it has no positions.
    #[inline]
    pub(crate) fn is_stream(&self) -> bool {
        self.position == Position::None && self.inode.is_none()
    }

    /// The same, and no call in progress treats it as a file with positions.
    #[inline]
    pub(crate) fn is_idle_stream(&self) -> bool {
        self.is_stream() && self.in_progress.is_empty()
    }

    /// The position may have changed, and is not known.
    pub(crate) fn lose(&mut self) {
        if self.position != Position::None {
            self.position = Position::Unknown;
            self.streams = [Stream::Lost; 2];
        }
    }

    /// Its file turns out to have no positions.
    pub(crate) fn never_positioned(&mut self, inodes: &mut Inodes) {
        self.position = Position::None;
        if let Some(inode) = self.inode.take() {
            inodes.close(inode);
        }
    }

    /// Something proves that relative positions count from `base`. Returns whether rows show any.
    pub(crate) fn prove(&mut self, base: i64) -> bool {
        if self.logged {
            // Those that rows show do not count from one place.
            return false;
        }
        self.position = self.position.based(base);
        for stream in &mut self.streams {
            stream.base(base);
        }
        self.proved |= self.relative;
        std::mem::take(&mut self.relative)
    }
}

/// Whether the text of a view is a path, and not `pipe:[1]`, `socket:[1]` and the like.
#[inline]
pub(crate) fn is_rooted(view: u128) -> bool {
    (view >> 32) as u8 == b'/'
}

/// Whether it is a path, and not `pipe:[1]`, `socket:[1]` and the like.
pub(crate) fn is_rooted_path(path: &[u8]) -> bool {
    path.starts_with(b"/")
}

/// Whether the path is below the folder, whose path is lexical.
fn is_below(path: &[u8], folder: &[u8]) -> bool {
    let folder = folder.strip_suffix(b"/").unwrap_or(folder);
    lexical(path).strip_prefix(folder).is_some_and(|rest| rest.starts_with(b"/"))
}

/// Whether a directory has another name after this folder got one, whose path is lexical. Of a
/// relative and an absolute path, both may be the same.
pub(crate) fn may_move_with(path: &[u8], folder: &[u8]) -> bool {
    *lexical(path) == *folder
        || is_below(path, folder)
        || path.starts_with(b"/") != folder.starts_with(b"/")
}

/// What calls may be missing in the log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MissingCalls {
    /// Those that a filter left out, of all tasks.
    pub filtered: bool,
    /// Those of some children.
    pub hidden: bool,
}

impl MissingCalls {
    /// Whether one of them may have moved the position of the description, or the end of the file
    /// that it appends to.
    #[inline]
    pub(crate) fn may_move(self, open: &OpenFileDescription) -> bool {
        self.filtered || open.logged || self.hidden && (open.hidden || open.append)
    }
}

/// How many open descriptions are looked at when a name changes. Where there are more, any may be
/// concerned.
const LOOKED_AT: usize = 256;

/// All open file descriptions. A description without users is removed at once.
#[derive(Debug, Default)]
pub(crate) struct OpenFileDescriptions {
    pub files: Numbered<OpenFileDescription>,
    /// The files that they are of.
    pub inodes: Inodes,
    /// Those that may be the same.
    pub older: OlderDescriptions,
    /// The last number that was assigned.
    numbers: u32,
    /// Not all calls that move positions are in the log.
    filtered: bool,
    /// All of them are, as the user says.
    pub complete: bool,
    /// Calls of some children are not in the log.
    pub hidden: bool,
    /// Calls under way by which supervisors of seccomp put descriptors into other tasks: what a call
    /// of those returns meanwhile may be one of these (`SECCOMP_ADDFD_FLAG_SEND`).
    pub adding: u32,
    /// How often directories got other names, any of those that were open.
    pub moves: u32,
}

impl OpenFileDescriptions {
    /// Whether calls that move positions may be missing in the log.
    #[inline]
    pub(crate) fn is_filtered(&self) -> bool {
        self.filtered
    }

    /// Such calls are missing, from here on at the latest.
    #[cold]
    pub(crate) fn filter(&mut self) {
        self.filtered = !self.complete;
    }

    /// What calls may be missing in the log.
    #[inline]
    pub(crate) fn missing_calls(&self) -> MissingCalls {
        MissingCalls { filtered: self.filtered, hidden: self.hidden }
    }

    /// Names below this one may lead to other files from here on than those that are open.
    pub(crate) fn lead_elsewhere(&mut self, folder: &[u8]) {
        if self.files.slots() > LOOKED_AT {
            self.inodes.names_move();
            return;
        }
        let folder = lexical(folder);
        for open in self.files.iter().filter(|open| open.inode.is_some()) {
            if let Some(path) = open.path.as_ref().filter(|path| is_below(path, &folder)) {
                self.inodes.unlink(file_id(path));
            }
        }
    }

    /// A name ends with this part, by its hash, and means another file from here on, or none; so may
    /// any name that ends with it, and if it may be that of a `folder`, any below such a name. Which
    /// directories are the same, the log does not show: links and mounts may be older. `None`: any
    /// name. See [`Inodes::target_moves`], too.
    #[cold]
    pub(crate) fn names_move(&mut self, last: Option<u64>, folder: bool) {
        let Some(last) = last.filter(|_| self.files.slots() <= LOOKED_AT) else {
            self.inodes.names_move();
            return;
        };
        for open in self.files.iter() {
            if let (Some(inode), Some(path)) = (open.inode, &open.path)
                && (last_part(path) == Some(last)
                    || folder && self.inodes.is_direct(inode) && has_part(path, last))
            {
                self.inodes.name_moves(inode);
            }
        }
    }

    /// Directories that are open were renamed with this one. What is below them has other names now.
    #[cold]
    pub(crate) fn move_directories(&mut self, folder: &[u8]) {
        for open in self.files.iter_mut() {
            open.astray |= open.path.as_ref().is_some_and(|path| may_move_with(path, folder));
        }
    }

    /// The path that leads to the directory of a descriptor, and when that was opened, if the path
    /// may lead elsewhere by now; `None` if the log does not show it.
    pub(crate) fn directory(&self, file: DescriptionRef) -> Option<(Arc<[u8]>, Option<Moment>)> {
        let open = self.at(file).filter(|open| !open.astray && open.moves == self.moves)?;
        let astray = self.inodes.is_folder_astray(false, open.opened);
        Some((open.path.clone()?, astray.then_some(open.opened)))
    }

    /// A call has written at the position of the description.
    #[inline]
    pub(crate) fn wrote(&mut self, file: DescriptionRef) {
        if let Some(open) = self.get(file)
            && let Some(path) = &open.path
            && path.starts_with(b"/proc/")
            && !path.ends_with(b"/mem")
        {
            // Most handlers below /proc leave the position where it is; that of memory moves it.
            open.lose();
        }
    }

    /// Tasks whose calls are not in the log may use the description.
    #[cold]
    pub(crate) fn hide(&mut self, file: DescriptionRef) {
        if let Some(open) = self.get(file) {
            open.hidden = true;
        }
    }

    /// A call writes into the file of the log (`strace PROGRAM 2>log`), as strace does after each
    /// call. Where this is one description, every line of the log moves the position.
    #[cold]
    pub(crate) fn writes_log(&mut self, file: DescriptionRef) {
        if self.complete {
            return;
        }
        let Some((open, inodes)) = self.with_inodes(file) else { return };
        open.logged = true;
        // Other descriptions may be of the same file.
        let shown = open.id.is_some() || open.file_number.is_some();
        if let Some(inode) = open.inode.filter(|_| shown).and_then(|inode| inodes.get(inode)) {
            inode.length.lose_order();
        }
    }

    pub(crate) fn add(&mut self, file: OpenFileDescription) -> DescriptionRef {
        let at = self.files.add(file);
        if let Some(open) = self.files.get_mut(at) {
            open.moves = self.moves;
        }
        at as u32
    }

    /// The description.
    #[inline]
    pub(crate) fn get(&mut self, file: DescriptionRef) -> Option<&mut OpenFileDescription> {
        self.files.get_mut(file as usize)
    }

    /// The description, which does not change.
    #[inline]
    pub(crate) fn at(&self, file: DescriptionRef) -> Option<&OpenFileDescription> {
        self.files.get(file as usize)
    }

    /// The description, and the files.
    #[inline]
    pub(crate) fn with_inodes(
        &mut self,
        file: DescriptionRef,
    ) -> Option<(&mut OpenFileDescription, &mut Inodes)> {
        let open = self.files.get_mut(file as usize)?;
        Some((open, &mut self.inodes))
    }

    /// The number that rows show: unique in this log.
    #[inline]
    pub(crate) fn number(&mut self, file: DescriptionRef) -> u32 {
        self.numbered(file).map_or(0, |open| open.number)
    }

    /// The description, whose number a row is about to show.
    #[inline]
    pub(crate) fn numbered(&mut self, file: DescriptionRef) -> Option<&mut OpenFileDescription> {
        let open = self.files.get_mut(file as usize)?;
        if open.number == 0 {
            self.numbers += 1;
            open.number = self.numbers;
        }
        Some(open)
    }

    /// How many users the description has.
    pub(crate) fn users(&self, file: DescriptionRef) -> u32 {
        self.at(file).map_or(0, OpenFileDescription::users)
    }

    /// Adds a user: a descriptor, a call in progress, a message.
    #[inline]
    pub(crate) fn keep(&mut self, file: DescriptionRef) -> Option<&mut OpenFileDescription> {
        let open = self.get(file)?;
        open.refs += 1;
        Some(open)
    }

    /// One user less. Returns whether there are others.
    #[inline]
    pub(crate) fn release(&mut self, file: DescriptionRef) -> bool {
        let Some(open) = self.get(file) else { return false };
        open.refs -= 1;
        if open.refs == 0 {
            self.remove(file);
            return false;
        }
        true
    }

    /// Nobody uses the description any more.
    #[inline(never)]
    fn remove(&mut self, file: DescriptionRef) {
        let Some(open) = self.get(file) else { return };
        let inode = open.inode;
        if open.unsure {
            let others = std::mem::take(&mut open.others);
            self.forget(file, &others);
        }
        self.files.discard(file as usize);
        // Another description may get its place.
        self.older.last = None;
        if let Some(inode) = inode {
            self.inodes.close(inode);
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }
}
