//! New open file descriptions: of which file, of which type, with or without a position.

use crate::events::details::Detail;
use crate::events::schema::Column as C;
use crate::events::vocabulary::{FileType, Op, open_flags};
use crate::kernel::Kernel;
use crate::kernel::block_rows::BlockRows;
use crate::kernel::descriptors::columns::{self, identify};
use crate::kernel::descriptors::messages::End;
use crate::kernel::descriptors::open_file_description::{DescriptionRef, OpenFileDescription};
use crate::kernel::files::inodes::{Direct, Inode, nameless};
use crate::kernel::files::length::Change;
use crate::kernel::files::paths;
use crate::kernel::tasks::TaskRef;
use crate::kernel::transfers::calls_under_way::Pending;
use crate::kernel::transfers::position::{Offset, Position};
use crate::linux::devices;

impl Kernel {
    /// A call made a descriptor for a new description.
    pub(crate) fn open(
        &mut self,
        task: TaskRef,
        fd: i32,
        row: usize,
        block: &mut BlockRows<'_>,
        second: bool,
        name: Option<u64>,
    ) -> Option<DescriptionRef> {
        self.tasks.since = block.since;
        let flags = block.rows.effect[row].flags;
        let by_name = block.rows.effect[row].op == Op::Open;
        let typed = flags & open_flags::TYPED != 0 && flags & 0xff != FileType::Unknown as u32;
        let file_type = if block.rows.has(row, C::FileType) && !second {
            Some(block.rows.file_type[row])
        } else {
            typed.then_some(flags as u8)
        };
        let view = if second { block.rows.path2[row] } else { block.rows.path[row] };
        // A file without a name has that of another one, as far as the log shows it.
        let deleted = flags & open_flags::DELETED != 0;
        let special = deleted || paths::may_be_special(view);
        let id = if second {
            block.rows.has(row, C::File2).then(|| block.rows.file2[row])
        } else {
            block.rows.has(row, C::File).then(|| block.rows.file[row])
        };
        // It is seldom in the processor's cache: read here, it is there when it is needed below.
        let known_type = id.and_then(|id| self.tasks.files.inodes.types.get(id));
        let path = block.path(row, second);
        let mut file = OpenFileDescription::new(path, id, file_type);
        file.opened = block.since;
        // Whether what has this name is another file for others.
        let (mut same, mut own) = (None, false);
        if by_name {
            self.tasks.expect_set_up(task);
            self.tasks.opens(task);
            let of = if special { self.in_proc(task, row, block, &file) } else { None };
            same = self.follow(of, row, block, &mut file, name);
            own = special
                && same.is_none()
                && (deleted && flags & open_flags::NEW == 0 || file.has_path(paths::is_of_process));
            let types = &mut self.tasks.files.inodes.types;
            match (file.id.filter(|_| !own), file.file_type) {
                // A file that an open creates is a regular one: open(2).
                (id, None) if flags & open_flags::NEW != 0 => {
                    file.file_type = Some(FileType::Regular as u8);
                    if let Some(id) = id {
                        types.learn(id, FileType::Regular as u8);
                    }
                }
                (Some(now), None) => {
                    file.file_type = if id == Some(now) { known_type } else { types.get(now) };
                }
                (Some(id), Some(file_type)) => types.learn(id, file_type),
                (None, _) => {}
            }
        }
        // The call itself does not say what it has opened, and the name may lead to a FIFO.
        let unclear = by_name
            && self.tasks.files.inodes.types.nodes.exist()
            && flags & open_flags::NEW == 0
            && file.file_type.is_none_or(|known| known == FileType::Regular as u8)
            && self.tasks.files.inodes.types.nodes.may_be_at(file.path.as_deref());
        if unclear {
            file.file_type = None;
        }
        if let (Some(file_type), false) = (file.file_type, second) {
            block.rows.file_type[row] = file_type;
            block.set(row, C::FileType);
        }
        let memory = !by_name && file.file_type == Some(FileType::Memfd as u8);
        let stream = file.file_type.is_some_and(columns::is_stream)
            || !(by_name || memory)
            || flags & open_flags::PATH != 0
            || special && file.has_path(devices::is_stream_device);
        if !stream {
            // What is opened again by its number may be a pipe or a terminal.
            let again = special
                && file.file_type.is_none()
                && file.has_path(|path| paths::descriptor_in_proc(path).is_some());
            let start = if again || unclear { Offset::Relative(0) } else { Offset::Exact(0) };
            file.position = Position::At(start);
        }
        let generated = special && file.has_path(paths::is_generated);
        let appends = flags & open_flags::APPEND != 0 && !generated;
        file.append = appends;
        let unshown = flags & open_flags::UNSHOWN != 0;
        file.may_append = unshown;
        let cuts = flags & (open_flags::TRUNC | open_flags::NEW) != 0;
        let own_name = name.filter(|_| by_name && paths::own_name(block, row, false).is_some());
        let moved = by_name && self.tasks.files.inodes.names_moved_since(block.since);
        let id = match own_name {
            _ if same.is_some() || own => same,
            // Which file that was, the log does not show.
            _ if moved => None,
            Some(name) => Some(self.tasks.files.inodes.identity(name)),
            None => file.id.filter(|_| !memory),
        };
        if self.tasks.lacks_close(task, fd) {
            self.tasks.files.filter();
        }
        let file = self.tasks.open(task, fd, file, flags & open_flags::CLOEXEC != 0)?;
        let number = self.tasks.files.number(file);
        if second {
            block.rows.ofd2[row] = number;
            block.set(row, C::Ofd2);
        } else {
            block.rows.ofd[row] = number;
            block.set(row, C::Ofd);
        }
        self.describe_opened(block, row, file, second);
        if !stream {
            let id = id.unwrap_or_else(|| nameless(number));
            let inodes = &mut self.tasks.files.inodes;
            let direct = name.map_or(Direct::Unknown, |name| inodes.direct(name, direct(flags)));
            let inode = inodes.open(id, direct);
            let now = inodes.tick();
            if memory || cuts && !unclear {
                if memory || flags & open_flags::NEW != 0 && !moved {
                    inodes.created(inode, now);
                } else {
                    inodes.changed(inode, now);
                }
                if let Some(Inode { length, .. }) = inodes.get(inode) {
                    let raced = length.end(None, block.since);
                    length.change(Change::Cut(0), raced, now);
                    length.cut_since(block.since);
                }
            }
            if unshown || cuts && unclear {
                // It may have emptied the file.
                inodes.changed(inode, now);
                if let Some(Inode { length, .. }) = inodes.get(inode) {
                    let raced = length.end(None, block.since);
                    length.change(Change::Any, raced, now);
                }
            }
            if appends || unshown {
                inodes.append_to(inode);
            }
            if let Some(open) = self.tasks.files.get(file) {
                open.inode = Some(inode);
            }
        }
        Some(file)
    }

    /// Shows the path that a probe within the call has read, if the call itself shows none.
    pub(crate) fn named(
        &mut self,
        task: TaskRef,
        row: usize,
        block: &mut BlockRows<'_>,
        pending: &mut Pending,
    ) {
        let Some(path) = pending.take_path() else { return };
        if block.rows.effect[row].op != Op::Open || block.rows.has(row, C::Path) {
            return;
        }
        block.rows.path[row] = block.side.put(&path);
        block.set(row, C::Path);
        block.rows.effect[row].relative = !path.starts_with(b"/");
        block.rows.effect[row].identify = path.starts_with(b"/");
        paths::resolve(&mut self.tasks, task, block, row);
        identify(block, row, false);
    }

    /// The description that the name stands for: that of descriptor 3 for `/proc/self/fd/3`.
    fn in_proc(
        &mut self,
        task: TaskRef,
        row: usize,
        block: &BlockRows<'_>,
        file: &OpenFileDescription,
    ) -> Option<DescriptionRef> {
        let shown = file.path.as_ref()?;
        match block.side.details.get(block.rows.effect[row].detail as usize) {
            Some(Detail::Requested(view)) => {
                let of = paths::in_proc(&mut self.tasks, task, block.text_of(view))?;
                let same = |open: &OpenFileDescription| open.path.as_ref() == Some(shown);
                Some(of).filter(|&of| self.tasks.files.at(of).is_some_and(same))
            }
            _ => paths::in_proc(&mut self.tasks, task, shown),
        }
    }

    /// Finds the file that the name refers to: the one of the description `of`, if it stands for one, a
    /// new one if the call created it. Returns the identity of the file of such a description: it may
    /// have no name, or one that other files have too.
    fn follow(
        &mut self,
        of: Option<DescriptionRef>,
        row: usize,
        block: &mut BlockRows<'_>,
        file: &mut OpenFileDescription,
        name: Option<u64>,
    ) -> Option<u64> {
        if let Some((open, inodes)) = of.and_then(|of| self.tasks.files.with_inodes(of)) {
            let inode = open.inode.and_then(|inode| inodes.get(inode)).map(|inode| inode.id);
            (file.path, file.id, file.file_type) =
                (open.path.clone().or(file.path.take()), open.id, open.file_type);
            if let Some(path) = &file.path {
                block.rows.path[row] = block.side.put(path);
            }
            match file.id {
                Some(id) => {
                    block.rows.file[row] = id;
                    block.set(row, C::File);
                }
                None => block.clear(row, C::File),
            }
            return inode;
        }
        // The file that had this name is still open, so the name was removed by a call that was not
        // traced.
        let own_name = paths::own_name(block, row, false).is_some();
        let inodes = &mut self.tasks.files.inodes;
        if block.rows.effect[row].flags & open_flags::NEW != 0
            && let (Some(name), Some(id)) = (name, file.id)
            && inodes.is_open(if own_name { inodes.identity(name) } else { id })
        {
            inodes.unlink(name);
            if !own_name {
                let id = inodes.identity(name);
                file.id = Some(id);
                block.rows.file[row] = id;
            }
        }
        None
    }

    /// Joins the two ends of a pipe, or of a pair of sockets; `records`: see [`End::records`].
    pub(crate) fn pair(&mut self, ends: [Option<DescriptionRef>; 2], records: bool) {
        self.pairs = self.pairs.wrapping_add(1);
        for (second, file) in [false, true].into_iter().zip(ends) {
            if let Some(open) = file.and_then(|file| self.tasks.files.get(file)) {
                open.end = Some(End { pair: self.pairs, second, records });
            }
        }
    }

    /// An event of the page cache shows the inode that the call is about. If nothing else
    /// identifies the file of its descriptor, this does.
    pub(crate) fn inode(&mut self, task: TaskRef, id: u64) {
        let Some(pending) = self.tasks.pending(task) else { return };
        let held = pending.held[0].filter(|_| !pending.fault);
        let Some((open, inodes)) = held.and_then(|held| self.tasks.files.with_inodes(held.file))
        else {
            return;
        };
        if open.id.is_none() && open.position != Position::None {
            open.id = Some(id);
            open.changed();
            if let Some(inode) = open.inode.replace(inodes.join(id)) {
                inodes.close(inode);
            }
        }
    }
}

/// How the name that was opened leads to the file, as the flags of the row show.
fn direct(flags: u32) -> Direct {
    if flags & open_flags::RESOLVED != 0 {
        Direct::Whole
    } else if flags & (open_flags::NEW | open_flags::NO_LINK) != 0 {
        // O_EXCL does not follow links either: open(2).
        Direct::Last
    } else {
        Direct::Unknown
    }
}
