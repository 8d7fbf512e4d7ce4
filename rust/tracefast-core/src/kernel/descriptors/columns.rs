//! What rows show of the descriptions that their descriptors refer to.

use crate::events::details::Detail;
use crate::events::file_id::file_id;
use crate::events::model_columns::{self, FileColumns, ShownFile};
use crate::events::rows::NO_DETAIL;
use crate::events::schema::Column as C;
use crate::events::vocabulary::{At, FileType, Motion, Op};
use crate::kernel::Kernel;
use crate::kernel::block_rows::BlockRows;
use crate::kernel::descriptors::open_file_description::{
    DescriptionRef, OpenFileDescription, is_rooted,
};
use crate::kernel::files::inodes::Direct;
use crate::kernel::tasks::TaskRef;
use crate::kernel::transfers::position::{Offset, Position};
use crate::linux::sockets::SocketName;

/// Whether the operation acts on the description of its first and of its second descriptor.
pub(crate) fn binds(op: Op) -> (bool, bool) {
    let first = matches!(op, Op::Close | Op::Dup | Op::Fchdir | Op::SetCloexec | Op::Exec);
    // accept(2) makes a socket, and acts on the one that listens.
    (first || op.uses(), matches!(op, Op::Use | Op::OpenAnon))
}

/// Whether the operation shows that the descriptor was open, even if the log does not show how.
pub(crate) fn shows(op: Op) -> bool {
    matches!(op, Op::Dup | Op::Fchdir | Op::SetCloexec) || op.uses()
}

/// Whether files of this type have no positions.
pub(crate) fn is_stream(file_type: u8) -> bool {
    use FileType::{Anon, Char, Directory, Fifo, Pipe, Socket};
    [Directory, Pipe, Fifo, Socket, Char, Anon].iter().any(|&stream| stream as u8 == file_type)
}

impl OpenFileDescription {
    /// Notes its columns for rows of the block at hand; `path`: a view of its path. Returns their
    /// index in [`crate::events::model_columns`].
    fn describe(&mut self, block: &mut BlockRows<'_>, path: Option<u128>) -> u32 {
        self.description = block.model_columns.descriptions.len() as u32;
        self.described = block.number;
        block.model_columns.descriptions.push(FileColumns {
            number: self.number(),
            path,
            id: self.id,
            file_type: self.file_type,
        });
        self.description
    }
}

impl Kernel {
    /// The description that `fd` refers to. If the log does not show how it was opened, but the
    /// call shows that it was open, it is older than the log.
    #[inline]
    pub(crate) fn descriptor(
        &mut self,
        task: TaskRef,
        fd: i32,
        shown: impl FnOnce() -> bool,
    ) -> Option<DescriptionRef> {
        let found = self.tasks.descriptor(task, fd);
        if found.is_some() || fd < 0 || !shown() {
            return found;
        }
        self.tasks.expect_set_up(task);
        let mut file = OpenFileDescription::inherited(Position::At(Offset::Relative(0)));
        if !self.unseen.receivers.is_empty() {
            file.others.unexplained = self.may_have_arrived(task);
        }
        if self.follows && self.tasks.was_made_unseen(task, fd) {
            // It may be the same as any that the task has.
            file.others.unexplained = true;
            self.tasks.suspect_all(task);
        }
        self.tasks.open(task, fd, file, false)
    }

    /// Shows path, identity, type and number of the description in the columns of the row.
    pub(crate) fn show_file(
        &mut self,
        block: &mut BlockRows<'_>,
        row: usize,
        file: DescriptionRef,
        second: bool,
    ) {
        if let Some(at) = self.describe(block, file) {
            model_columns::show(
                block.rows,
                row,
                &block.model_columns.descriptions[at as usize],
                second,
            );
        }
    }

    /// The same, but leaves the writing to [`crate::events::model_columns`].
    #[inline]
    pub(crate) fn show_file_later(
        &mut self,
        block: &mut BlockRows<'_>,
        row: usize,
        file: DescriptionRef,
        second: bool,
    ) {
        if let Some(description) = self.describe(block, file) {
            let shown = ShownFile { row: row as u32, description };
            block.model_columns.shown[usize::from(second)].push(shown);
        }
    }

    /// Index of the description in [`crate::events::model_columns`] for the block at hand.
    #[inline]
    fn describe(&mut self, block: &mut BlockRows<'_>, file: DescriptionRef) -> Option<u32> {
        let open = self.tasks.files.get(file)?;
        if open.described != block.number {
            return self.describe_again(block, file);
        }
        Some(open.description)
    }

    #[inline(never)]
    fn describe_again(&mut self, block: &mut BlockRows<'_>, file: DescriptionRef) -> Option<u32> {
        let open = self.tasks.files.numbered(file)?;
        let path = open.path.as_ref().map(|path| block.side.put(path));
        Some(open.describe(block, path))
    }

    /// Describes what the row has opened for the rows of the block that use it. They get the view
    /// that this row has: a text with one view is looked up once.
    pub(crate) fn describe_opened(
        &mut self,
        block: &mut BlockRows<'_>,
        row: usize,
        file: DescriptionRef,
        second: bool,
    ) {
        let (column, view) = if second {
            (C::Path2, block.rows.path2[row])
        } else {
            (C::Path, block.rows.path[row])
        };
        let path = block.rows.has(row, column).then_some(view);
        if let Some(open) = self.tasks.files.numbered(file) {
            open.describe(block, path);
        }
    }

    /// Compares the annotation of the row's descriptor with the description that it is known to
    /// refer to. The annotation may name a description without a name, or show another file: then a
    /// close and an open were not traced. The row has a path.
    ///
    /// Returns the description that the descriptor refers to.
    #[inline]
    pub(crate) fn compare_annotation(
        &mut self,
        block: &mut BlockRows<'_>,
        row: usize,
        task: TaskRef,
        file: DescriptionRef,
        second: bool,
        at_entry: bool,
    ) -> DescriptionRef {
        if let Some(open) = self.tasks.files.get(file)
            && open.path.is_some()
        {
            let view = if second { block.rows.path2[row] } else { block.rows.path[row] };
            if at_entry || self.closed && open.agrees(view) {
                return file;
            }
        }
        self.compare_annotation_in_full(block, row, task, file, second)
    }

    #[inline(never)]
    fn compare_annotation_in_full(
        &mut self,
        block: &mut BlockRows<'_>,
        row: usize,
        task: TaskRef,
        file: DescriptionRef,
        second: bool,
    ) -> DescriptionRef {
        let view = if second { block.rows.path2[row] } else { block.rows.path[row] };
        let Some(open) = self.tasks.files.get(file) else { return file };
        if let Some(path) = &open.path {
            let rooted = is_rooted(view);
            let other_kind = open.is_named(path) != rooted;
            // A relative path, whose directory is not known.
            let part = rooted && !path.starts_with(b"/");
            let same = part || is_same(path, block.text_of(&view));
            // If files are renamed in the log, another name may be that of the same file.
            if same || !other_kind && self.renamed {
                return file;
            }
            let Some(fd) = block.fd(row, second) else { return file };
            // If the open was not traced, reads before this one may not have been either.
            let unseen = !self.closed && !open.inherited;
            let relative = Position::At(Offset::Relative(0));
            let another =
                OpenFileDescription::inherited(if unseen { Position::Unknown } else { relative });
            let Some(new) = self.tasks.open(task, fd, another, false) else { return file };
            self.name(block, row, new, view, second);
            return new;
        }
        self.name(block, row, file, view, second);
        file
    }

    /// Gives the description the name, identity and type that the row's annotation shows.
    fn name(
        &mut self,
        block: &BlockRows<'_>,
        row: usize,
        file: DescriptionRef,
        view: u128,
        second: bool,
    ) {
        let effect = &block.rows.effect[row];
        let identify = if second { effect.identify2 } else { effect.identify };
        let said = !second && block.rows.has(row, C::FileType);
        let file_type = said.then(|| block.rows.file_type[row]);
        let deleted = is_rooted(view) && shows_deleted(block, row);
        self.set_name(file, block.text_of(&view), (identify, deleted), file_type);
    }

    /// Gives the description a name; `identify`: the name identifies the file, if that is not
    /// `deleted`. Then another one may have the same name.
    pub(crate) fn set_name(
        &mut self,
        file: DescriptionRef,
        path: &[u8],
        (identify, deleted): (bool, bool),
        file_type: Option<u8>,
    ) {
        let renames = self.tasks.files.older.renames;
        let Some((open, inodes)) = self.tasks.files.with_inodes(file) else { return };
        let name = file_id(path);
        let id = identify.then(|| inodes.identity(name));
        let stream = !path.starts_with(b"/") || crate::linux::devices::is_stream_device(path);
        open.path = Some(path.into());
        open.id = id.or(open.id);
        open.file_type = file_type.or(open.file_type);
        open.named = renames;
        open.changed();
        if stream && open.inherited || file_type.is_some_and(is_stream) {
            open.never_positioned(inodes);
        } else if let Some(id) = id
            && open.inode.is_none()
            && open.position != Position::None
            && !deleted
        {
            // What strace shows has no links: d_path in fs/d_path.c.
            let direct = inodes.direct(name, Direct::Whole);
            open.inode = Some(inodes.join_named(id, direct));
        }
        if open.unsure {
            self.tasks.files.compare_again(file);
        }
    }

    /// Takes over the file type that the call shows.
    #[inline]
    pub(crate) fn learn(&mut self, block: &BlockRows<'_>, row: usize, file: DescriptionRef) {
        if block.rows.effect[row].op != Op::Use || !block.rows.has(row, C::FileType) {
            return;
        }
        let said = block.rows.file_type[row];
        if let Some((open, inodes)) = self.tasks.files.with_inodes(file) {
            let Some(file_type) = FileType::settled(open.file_type, Some(said)) else { return };
            if is_stream(file_type) && open.position != Position::None {
                open.never_positioned(inodes);
            }
            if open.file_type != Some(file_type) {
                open.file_type = Some(file_type);
                open.changed();
                if let Some(id) = open.id {
                    inodes.types.learn(id, file_type);
                }
                if open.unsure {
                    self.tasks.files.compare_again(file);
                }
            }
        }
    }

    /// Notes that the file is regular where the call has done what only such files allow: it moved
    /// data at an offset of its own, or mapped the file. Devices that allow it are in `/dev`.
    #[inline(always)] // Nearly every row comes by here, and the test is two comparisons.
    pub(crate) fn infer_regular(
        &mut self,
        row: usize,
        block: &BlockRows<'_>,
        file: DescriptionRef,
    ) {
        let effect = &block.rows.effect[row];
        let moved = effect.place == At::Given
            && effect.motion != Motion::None
            && block.rows.has(row, C::Bytes)
            && block.rows.bytes[row] > 0;
        let detailed = effect.detail != NO_DETAIL && effect.op == Op::Use;
        if moved || detailed {
            self.note_regular(row, block, file, moved);
        }
    }

    #[inline(never)]
    fn note_regular(
        &mut self,
        row: usize,
        block: &BlockRows<'_>,
        file: DescriptionRef,
        moved: bool,
    ) {
        let effect = &block.rows.effect[row];
        let mapped = || {
            let detail = block.side.details.get(effect.detail as usize);
            matches!(detail, Some(Detail::Memory(_))) && block.rows.has(row, C::Ret)
        };
        if effect.made_up || block.rows.has(row, C::Errno) || !(moved || mapped()) {
            return;
        }
        let Some((open, inodes)) = self.tasks.files.with_inodes(file) else { return };
        let device = open.path.as_ref().is_none_or(|path| path.starts_with(b"/dev/"));
        if open.file_type.is_none() && open.inode.is_some() && !device {
            open.file_type = Some(FileType::Regular as u8);
            open.changed();
            if let Some(id) = open.id {
                inodes.types.learn(id, FileType::Regular as u8);
            }
        }
    }
}

/// Whether one of the files in the row has no name: of memory (`memfd_create(2)`), or removed.
pub(crate) fn shows_deleted(block: &BlockRows<'_>, row: usize) -> bool {
    let args = block.rows.has(row, C::Args).then(|| block.text_of(&block.rows.args[row]));
    args.is_some_and(|args| memchr::memmem::find(args, b"(deleted)").is_some())
}

/// Whether a descriptor with the first name may have got the second one since, without another open.
fn is_same(before: &[u8], now: &[u8]) -> bool {
    let socket = |name| SocketName::parse(std::str::from_utf8(name).ok()?);
    before == now
        || socket(before).zip(socket(now)).is_some_and(|(before, now)| before.may_become(&now))
}

/// Writes the identity of a file that only an annotation names.
#[inline]
pub(crate) fn identify(block: &mut BlockRows<'_>, row: usize, second: bool) {
    model_columns::identify(block.rows, row, second, block.text, &block.side.bytes);
}
