//! New descriptions: of what kind, of which file, where they begin.

use crate::events::schema::Column as C;
use crate::events::vocabulary::{FileType, Op, open_flags};
use crate::kernel::Kernel;
use crate::kernel::block_rows::Page;
use crate::kernel::descriptors::columns::{self, identify};
use crate::kernel::descriptors::fd_table::{FileRef, OpenFile};
use crate::kernel::descriptors::messages::End;
use crate::kernel::files::inodes::Node;
use crate::kernel::files::length::Change;
use crate::kernel::files::paths;
use crate::kernel::tasks::TaskRef;
use crate::kernel::transfers::calls_under_way::Pending;
use crate::kernel::transfers::position::{Position, Spot};
use crate::kernel::transfers::transfer::nameless;

impl Kernel {
    /// A descriptor was made, for a new description.
    pub(crate) fn open(
        &mut self,
        task: TaskRef,
        fd: i32,
        row: usize,
        page: &mut Page<'_>,
        second: bool,
        name: Option<u64>,
    ) -> Option<FileRef> {
        let flags = page.rows.effect[row].flags;
        let by_name = page.rows.effect[row].op == Op::Open;
        let typed = flags & open_flags::TYPED != 0 && flags & 0xff != FileType::Unknown as u32;
        let file_type = if page.rows.has(row, C::FileType) && !second {
            Some(page.rows.file_type[row])
        } else {
            typed.then_some(flags as u8)
        };
        let path = page.path(row, second);
        let id = if second {
            page.rows.has(row, C::File2).then(|| page.rows.file2[row])
        } else {
            page.rows.has(row, C::File).then(|| page.rows.file[row])
        };
        let mut file = OpenFile::new(path, id, file_type);
        if by_name {
            self.follow(task, row, page, &mut file, name);
        }
        if let (Some(file_type), false) = (file.file_type, second) {
            page.rows.file_type[row] = file_type;
            page.set(row, C::FileType);
        }
        let memory = file.file_type == Some(FileType::Memfd as u8);
        let stream = file.file_type.is_some_and(columns::is_stream)
            || !(by_name || memory)
            || flags & open_flags::PATH != 0
            || file.path.as_ref().is_some_and(|path| paths::is_stream(path));
        if !stream {
            file.position = Position::At(Spot::Exact(0));
        }
        file.append = flags & open_flags::APPEND != 0;
        let id = file.id.filter(|_| !memory);
        let file = self.tasks.open(task, fd, file, flags & open_flags::CLOEXEC != 0)?;
        let number = self.tasks.files.number(file);
        if second {
            page.rows.ofd2[row] = number;
            page.set(row, C::Ofd2);
        } else {
            page.rows.ofd[row] = number;
            page.set(row, C::Ofd);
        }
        if !stream {
            let id = id.unwrap_or_else(|| nameless(number));
            let nodes = &mut self.tasks.files.nodes;
            let node = nodes.open(id);
            let now = nodes.tick();
            if let Some(Node { length, .. }) = nodes.get(node)
                && (memory || flags & (open_flags::TRUNC | open_flags::NEW) != 0)
            {
                let raced = length.land(None, page.since);
                length.change(Change::Cut(0), raced, now);
            }
            if let Some(open) = self.tasks.files.get(file) {
                open.node = Some(node);
            }
        }
        Some(file)
    }

    /// The path that a probe told within the call, where the call itself does not tell one.
    pub(crate) fn named(
        &mut self,
        task: TaskRef,
        row: usize,
        page: &mut Page<'_>,
        pending: &mut Pending,
    ) {
        let Some(path) = pending.path.take() else { return };
        if page.rows.effect[row].op != Op::Open || page.rows.has(row, C::Path) {
            return;
        }
        page.rows.path[row] = page.side.put(&path);
        page.set(row, C::Path);
        page.rows.effect[row].relative = !path.starts_with(b"/");
        page.rows.effect[row].identify = path.starts_with(b"/");
        paths::resolve(&mut self.tasks, task, page, row);
        identify(page, row, false);
    }

    /// The file that the name leads to: by `/proc/self/fd/3` that of descriptor 3; a new one if the
    /// call made it.
    pub(crate) fn follow(
        &mut self,
        task: TaskRef,
        row: usize,
        page: &mut Page<'_>,
        file: &mut OpenFile,
        name: Option<u64>,
    ) {
        let of = file.path.as_ref().and_then(|path| paths::in_proc(&mut self.tasks, task, path));
        if let Some(open) = of.and_then(|of| self.tasks.files.get(of)) {
            (file.path, file.id, file.file_type) =
                (open.path.clone().or(file.path.take()), open.id, open.file_type);
            if let Some(path) = &file.path {
                page.rows.path[row] = page.side.put(path);
            }
            match file.id {
                Some(id) => {
                    page.rows.file[row] = id;
                    page.set(row, C::File);
                }
                None => page.clear(row, C::File),
            }
            return;
        }
        // Somebody has open what had the name before: it was removed unseen.
        let nodes = &mut self.tasks.files.nodes;
        if page.rows.effect[row].flags & open_flags::NEW != 0
            && let (Some(name), Some(id)) = (name, file.id)
            && nodes.by_id(id).is_some()
        {
            nodes.unlink(name);
            let id = nodes.identity(name);
            file.id = Some(id);
            page.rows.file[row] = id;
        }
    }

    /// The two ends of a pipe, or of a pair of sockets.
    pub(crate) fn pair(&mut self, ends: [Option<FileRef>; 2]) {
        self.pairs = self.pairs.wrapping_add(1);
        for (second, file) in [false, true].into_iter().zip(ends) {
            if let Some(open) = file.and_then(|file| self.tasks.files.get(file)) {
                open.end = Some(End { pair: self.pairs, second });
            }
        }
    }

    /// The page cache tells which file the call is about: if nothing else does, that is what its
    /// descriptor leads to.
    pub(crate) fn inode(&mut self, task: TaskRef, id: u64) {
        let Some(pending) = self.tasks.pending(task) else { return };
        let held = pending.held[0].filter(|_| !pending.fault);
        let Some((open, nodes)) = held.and_then(|held| self.tasks.files.with_nodes(held.file))
        else {
            return;
        };
        if open.id.is_none() && open.position != Position::None {
            open.id = Some(id);
            open.changed();
            if let Some(node) = open.node.replace(nodes.join(id)) {
                nodes.close(node);
            }
        }
    }
}
