//! What calls do to tasks, fd tables, names and memory.

use crate::events::details::Detail;
use crate::events::file_id::{file_id, last_part, lexical, part_bits};
use crate::events::rows::{AT_FDCWD, NO_DETAIL};
use crate::events::schema::Column as C;
use crate::events::vocabulary::{FileType, Op, clone_flags, gone_flags, open_flags, ring_flags};
use crate::kernel::Kernel;
use crate::kernel::address_space::AddressSpace;
use crate::kernel::block_rows::BlockRows;
use crate::kernel::descriptors::open_file_description::DescriptionRef;
use crate::kernel::files::nodes::Node;
use crate::kernel::files::paths::{self, LONGEST};
use crate::kernel::tasks::TaskRef;
use crate::kernel::transfers::calls_under_way::Pending;

impl Kernel {
    /// The effects of a call that took place.
    #[allow(clippy::too_many_arguments)] // A row, what it acts on, and who did it.
    pub(crate) fn act(
        &mut self,
        task: TaskRef,
        tid: Option<i32>,
        row: usize,
        block: &mut BlockRows<'_>,
        files: [Option<DescriptionRef>; 2],
        names: [Option<u64>; 2],
        mut pending: Option<&mut Pending>,
    ) {
        let effect = block.rows.effect[row];
        let fd = block.fd(row, false);
        let fd2 = block.fd(row, true);
        let ret = block.ret(row);
        let failed = block.rows.has(row, C::Errno);
        let done = ret.is_some_and(|ret| ret >= 0) && !failed;
        if !effect.begun {
            if let (Op::Close, Some(fd), true) = (effect.op, fd, done) {
                self.tasks.closed_again(task, fd);
            }
            self.entry(task, effect.op, effect.flags, fd);
        }
        let cloexec = effect.flags & open_flags::CLOEXEC != 0;
        if matches!(effect.op, Op::Fork | Op::Exec) && !failed {
            self.estimate(task, row, block);
        }
        match (effect.op, fd, fd2) {
            (Op::Open | Op::OpenAnon, Some(fd), _) if done => {
                if let Some(pending) = pending.as_deref_mut() {
                    self.named(task, row, block, pending);
                }
                self.open(task, fd, row, block, false, names[0]);
                if effect.flags & open_flags::POLLS != 0 && effect.op == Op::OpenAnon {
                    self.submit(task, ring_flags::POLLS);
                }
            }
            (Op::OpenPair, Some(fd), Some(fd2)) if done => {
                let ends = [
                    self.open(task, fd, row, block, false, None),
                    self.open(task, fd2, row, block, true, None),
                ];
                self.pair(ends, effect.flags & open_flags::RECORDS != 0);
            }
            (Op::OpenProcess, Some(fd), _) if done => {
                let translated = effect.flags & open_flags::TRANSLATED != 0;
                let process = self.tasks.number_from(task, effect.at, translated);
                let file = self.open(task, fd, row, block, false, None);
                if let Some(open) = file.and_then(|file| self.tasks.files.get(file)) {
                    open.process = process;
                }
            }
            (Op::Take, Some(fd), Some(from)) if done => self.take(task, fd, from, row, block),
            (Op::Dup, Some(fd), Some(fd2)) if done => {
                self.dup(task, fd, fd2, cloexec, files[0]);
                if let Some(file) = files[0] {
                    block.rows.ofd2[row] = self.tasks.files.number(file);
                    block.set(row, C::Ofd2);
                }
            }
            (Op::CloseRange, Some(fd), Some(fd2)) if done && !effect.begun => {
                self.close_range(task, fd, fd2, effect.flags);
            }
            (Op::Close, ..) => self.closed |= done,
            (Op::SetCloexec, Some(fd), _) if done => {
                self.tasks.changes_table(task);
                self.tasks.table(task).set_cloexec(fd, cloexec);
            }
            (Op::SetStatus, ..) if done => {
                let appends = effect.flags & open_flags::APPEND != 0;
                let file = files[0].and_then(|file| self.tasks.files.with_inodes(file));
                if let Some((open, inodes)) = file.filter(|(open, _)| open.append != appends) {
                    (open.append, open.switched) = (appends, inodes.tick());
                    if let Some(inode) = open.inode.filter(|_| appends) {
                        inodes.append_to(inode);
                    }
                }
                if let Some(file) = files[0] {
                    self.tasks.files.know_append(file, appends);
                }
            }
            (Op::Submit, ..) if !failed => self.submit(task, effect.flags),
            (Op::Fork, ..) => self.forked(task, tid, row, block, ret.filter(|_| done)),
            (Op::Appear, ..) => {
                self.tasks.appeared(task, effect.at, effect.flags, effect.at2 != AT_FDCWD);
            }
            (Op::Exec, ..) if done => {
                if let Some(tid) = tid {
                    self.comms.executed(tid);
                }
                self.tasks.exec(task);
                if self.follows && !self.cut {
                    self.tasks.started();
                }
            }
            (Op::SetUp, ..) => self.tasks.space(task).set_up(),
            (Op::Unshare, ..) if done => {
                self.tasks.files.inodes.forget_sizes();
                self.tasks.unshare(task, effect.flags);
            }
            (Op::Gone, ..) if effect.flags & gone_flags::NAMED != 0 => self.tasks.exited(tid),
            (Op::Gone, ..) => {
                self.forget(tid);
                self.tasks.gone(tid);
            }
            (Op::Chdir, ..) if done => {
                let path = block.path(row, false);
                if effect.flags & open_flags::RESOLVED == 0 {
                    let astray = block.apart[0] != 0;
                    self.tasks.enter(task, path, block.since, astray);
                } else if let Some(path) = path {
                    self.tasks.show_directory(task, &path);
                }
            }
            (Op::Chroot, ..) if done => {
                self.tasks.files.inodes.forget_sizes();
                let path = block.path(row, false);
                let outermost = path.as_deref() == Some(b"/");
                let path = path.filter(|path| path.starts_with(b"/") && !outermost);
                let path = path.filter(|path| path.len() <= LONGEST);
                let now = self.tasks.files.inodes.tick();
                let directories = self.tasks.directories(task);
                if path.is_some() || !outermost {
                    directories.rooted = now;
                }
                directories.root = path;
                self.tasks.rooted = true;
            }
            (Op::Fchdir, ..) if done => {
                let found = files[0].and_then(|file| self.tasks.files.directory(file));
                let astray = found.as_ref().is_some_and(|(_, astray)| astray.is_some());
                self.tasks.enter(task, found.map(|(path, _)| path), block.since, astray);
            }
            (Op::Rename, ..) if done => {
                self.renamed = true;
                self.tasks.files.inodes.forget_sizes();
                self.tasks.files.older.renames += 1;
                self.rename(row, block, names, effect.flags == 1);
            }
            (Op::Unlink, ..) if done => {
                self.tasks.files.inodes.forget_sizes();
                self.tasks.files.older.renames += 1;
                let folder = !self.is_regular(names[0]);
                self.tasks.files.inodes.target_moves(folder);
                self.name_moves(row, block, false, folder);
                self.remove_node(last_parts(block, row)[0], names[0]);
                for name in every_name(block, row, false, names[0]) {
                    self.tasks.files.inodes.unlink(name);
                }
            }
            (Op::Link, ..) if done => {
                let [from, to] = last_parts(block, row);
                self.tasks.files.inodes.types.nodes.name(from, to);
                self.link(task, row, block, names);
            }
            (Op::MakeNode, ..) if done => {
                // What has a path of its own can be shown to be gone.
                let path = block.path(row, false).filter(|path| path.starts_with(b"/"));
                let inodes = &mut self.tasks.files.inodes;
                let id = path.as_ref().and(names[0]).map(|name| inodes.identity(name));
                let node = Node::new(id, path.map_or(0, |path| part_bits(&path)));
                inodes.types.nodes.make(last_parts(block, row)[0], node);
            }
            (Op::Symlink, ..) if done => {
                let target = Some(effect.number as u64).filter(|&target| target != 0);
                self.tasks.files.inodes.types.nodes.link(target, last_parts(block, row)[0]);
            }
            _ => {}
        }
        if effect.detail != NO_DETAIL {
            self.detail(task, row, block, files[0], pending, done);
        }
    }

    /// Whether the log has shown that this name is a regular file. No path leads through it, and
    /// rename(2) does not put it in the place of a directory.
    fn is_regular(&self, name: Option<u64>) -> bool {
        let inodes = &self.tasks.files.inodes;
        let known = name.and_then(|name| inodes.types.get(inodes.identity(name)));
        known == Some(FileType::Regular as u8)
    }

    /// What was renamed may be a directory. Names from there on mean other files.
    fn move_directories(
        &mut self,
        row: usize,
        block: &BlockRows<'_>,
        names: [Option<u64>; 2],
        exchange: bool,
    ) {
        for second in [false, true].into_iter().take(1 + usize::from(exchange)) {
            let path = block.path(row, second).filter(|_| names[usize::from(second)].is_some());
            self.tasks.move_directories(path.as_deref().map(lexical).as_deref());
        }
    }

    /// The first or second path of the row means another file, or none. If it may have been a
    /// `folder`, or a link to one, names below it mean other files, too.
    fn name_moves(&mut self, row: usize, block: &BlockRows<'_>, second: bool, folder: bool) {
        let path = block.path(row, second);
        if let Some(path) = path.as_ref().filter(|_| folder) {
            self.tasks.files.lead_elsewhere(path);
        }
        self.tasks.names_move(path.and_then(|path| last_part(&path)), folder);
    }

    fn rename(
        &mut self,
        row: usize,
        block: &BlockRows<'_>,
        names: [Option<u64>; 2],
        exchange: bool,
    ) {
        let folders = names.map(|name| !self.is_regular(name));
        if folders[0] || exchange && folders[1] {
            self.move_directories(row, block, names, exchange);
        }
        // What is not a folder may replace a link to one.
        self.tasks.files.inodes.target_moves(folders[0] || folders[1]);
        self.name_moves(row, block, false, folders[0]);
        self.name_moves(row, block, true, folders[1]);
        let [from, to] = last_parts(block, row);
        self.tasks.files.inodes.types.nodes.name(from, to);
        if exchange {
            self.tasks.files.inodes.types.nodes.name(to, from);
        }
        // Of what was exchanged both names stay.
        let gone = names.map(|name| name.filter(|_| !exchange));
        self.remove_node(from, gone[0]);
        self.remove_node(to, gone[1]);
        let [Some(_), Some(_)] = names else { return };
        let inodes = &mut self.tasks.files.inodes;
        for from in every_name(block, row, false, names[0]) {
            for to in every_name(block, row, true, names[1]) {
                if exchange {
                    inodes.exchange(from, to);
                } else {
                    inodes.rename(from, to);
                }
            }
        }
    }

    /// A call begins that makes a FIFO or a device, or gives a file another name: others may open that
    /// by the name before the row comes.
    pub(crate) fn names_nodes(&mut self, op: Op, names: [Option<u64>; 2]) {
        let nodes = &mut self.tasks.files.inodes.types.nodes;
        match op {
            Op::MakeNode => nodes.make(names[0], Node::LASTING),
            Op::Symlink => nodes.link(names[0], names[1]),
            Op::Link => nodes.name(names[0], names[1]),
            Op::Rename => {
                nodes.name(names[0], names[1]);
                nodes.name(names[1], names[0]);
            }
            _ => {}
        }
    }

    /// A file has lost a name that ends with this part.
    fn remove_node(&mut self, part: Option<u64>, name: Option<u64>) {
        let inodes = &mut self.tasks.files.inodes;
        if inodes.types.nodes.exist() {
            let id = name.map(|name| inodes.identity(name));
            inodes.types.nodes.remove(part, id);
        }
    }

    /// A file has another name now; the first one may be that of a descriptor, `/proc/self/fd/3`.
    fn link(&mut self, task: TaskRef, row: usize, block: &BlockRows<'_>, names: [Option<u64>; 2]) {
        let [Some(from), Some(to)] = names else { return };
        let path = block.path(row, false);
        let of = path.and_then(|path| paths::in_proc(&mut self.tasks, task, &path));
        let of = of.and_then(|of| self.tasks.files.get(of)?.id);
        let inodes = &mut self.tasks.files.inodes;
        match of {
            Some(id) => inodes.lead(to, id),
            None => inodes.link(from, to),
        }
    }

    /// `to` refers to the description that `from` referred to at the entry of the call.
    fn dup(
        &mut self,
        task: TaskRef,
        from: i32,
        to: i32,
        cloexec: bool,
        file: Option<DescriptionRef>,
    ) {
        match file {
            // dup2 of a number to itself does nothing: dup(2). Any other call returns the number it
            // copied only if another thread closed that meanwhile.
            Some(_) if from == to && self.tasks.descriptor(task, to).is_some() => {}
            Some(file) => self.tasks.install(task, to, file, cloexec),
            None => self.tasks.dup(task, from, to, cloexec),
        }
    }

    /// Closes the descriptors from `first` to `last`, or marks them close-on-exec.
    pub(crate) fn close_range(&mut self, task: TaskRef, first: i32, last: i32, flags: u32) {
        let mark = flags & open_flags::CLOEXEC != 0;
        self.closed |= !mark;
        self.tasks.unshare(task, flags & clone_flags::CLONE_FILES);
        self.tasks.close_range(task, first, last, mark);
    }

    /// The end of a call that makes a task.
    fn forked(
        &mut self,
        task: TaskRef,
        tid: Option<i32>,
        row: usize,
        block: &mut BlockRows<'_>,
        ret: Option<i64>,
    ) {
        let effect = block.rows.effect[row];
        let child = ret.and_then(|ret| i32::try_from(ret).ok());
        let translated = effect.at != AT_FDCWD;
        let child = child.map(|ret| if translated { effect.at } else { ret });
        if let (Some(child), Some(parent)) = (child, tid) {
            self.comms.inherit(child, parent);
        }
        if let Some(child) = self.tasks.forked(task, child, effect.flags, translated) {
            block.rows.child[row] = child;
            block.set(row, C::Child);
        }
    }

    /// Shows the private memory of a task that makes another one or executes a program.
    fn estimate(&mut self, task: TaskRef, row: usize, block: &mut BlockRows<'_>) {
        if let Some(bytes) = self.tasks.known_space(task).and_then(AddressSpace::bytes) {
            block.rows.anon_bytes[row] = bytes;
            block.set(row, C::AnonBytes);
        }
    }

    /// Effects of facts that few rows have.
    fn detail(
        &mut self,
        task: TaskRef,
        row: usize,
        block: &mut BlockRows<'_>,
        file: Option<DescriptionRef>,
        pending: Option<&mut Pending>,
        done: bool,
    ) {
        let at = block.rows.effect[row].detail as usize;
        let Some(detail) = block.side.details.get(at) else { return };
        let sent = pending.and_then(Pending::take_message);
        match detail {
            Detail::Memory(memory) => {
                if done {
                    let memory = *memory;
                    self.tasks.space(task).change(memory);
                }
            }
            detail @ (Detail::Sent(fds) | Detail::SentTo(fds)) => match (sent, done) {
                (Some(number), false) => self.unsend(number),
                (None, true) => {
                    let socket = file.filter(|_| matches!(detail, Detail::Sent(_)));
                    let fds = fds.clone();
                    self.send(task, socket, &fds);
                }
                (Some(_), true) | (None, false) => {}
            },
            Detail::PeeksLater if done => self.peeks_later(file),
            Detail::UnseenMessage if done => self.unseen_message(row, block),
            Detail::Inode(id) => {
                let id = *id;
                self.inode(task, id);
            }
            Detail::Fault => {
                if let Some(pending) = self.tasks.pending(task) {
                    pending.fault = true;
                }
            }
            Detail::Name(view) => {
                let path = block.text_of(view).into();
                if let Some(pending) = self.tasks.pending(task) {
                    pending.show_path(path);
                }
            }
            Detail::Received(_) if done => self.received(task, row, at, block, file),
            Detail::AioSetup if done => self.expect_submissions(),
            Detail::Mounted if done => {
                // A FIFO may be mounted, and what is mounted may cover a folder that has one.
                let [target, source] = last_parts(block, row);
                self.tasks.files.inodes.types.nodes.name(source, target);
                self.remove_node(None, None);
                self.tasks.files.inodes.forget_sizes();
                self.tasks.files.lead_elsewhere(b"");
                self.tasks.files.inodes.mounts_change();
                self.tasks.rooted = true;
            }
            &Detail::Entered(kinds) if done => {
                if kinds == 0 || kinds & clone_flags::CLONE_NEWPID != 0 {
                    self.tasks.separate(task);
                }
                // There a name is that of another file.
                if kinds == 0 || kinds & clone_flags::CLONE_NEWNS != 0 {
                    self.any_file_changes();
                    self.tasks.leave_mounts(task);
                }
            }
            Detail::Supervised if done => self.tasks.supervised = true,
            &Detail::Notified(notice, tid) if done => self.notified(task, notice, tid),
            &Detail::Added(added) if done => self.added(task, row, added, block),
            &Detail::MayMake(fd) if done => self.tasks.may_make(task, fd),
            Detail::Submitted(_) if done => self.submitted(task, row, at, block),
            Detail::Collected(_) if done => self.collected(task, row, at, block),
            _ => {
                if let Some(number) = sent.filter(|_| !done) {
                    self.unsend(number);
                }
            }
        }
    }
}

/// The last parts of the row's paths, by their hashes.
fn last_parts(block: &BlockRows<'_>, row: usize) -> [Option<u64>; 2] {
    [false, true].map(|second| block.path(row, second).and_then(|path| last_part(&path)))
}

/// The name of the model for the row's first or second path, and the one that is lexically equal,
/// if the two may differ.
fn every_name(
    block: &BlockRows<'_>,
    row: usize,
    second: bool,
    name: Option<u64>,
) -> impl Iterator<Item = u64> {
    let own = paths::own_name(block, row, second).is_some();
    let view = if second { &block.rows.path2[row] } else { &block.rows.path[row] };
    let equal = (own && name.is_some()).then(|| file_id(block.text_of(view)));
    name.into_iter().chain(equal)
}
