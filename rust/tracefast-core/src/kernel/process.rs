//! What calls do to tasks, tables of descriptors, names and memory.

use super::*;

impl Kernel {
    /// The call took place: its effects.
    #[allow(clippy::too_many_arguments)] // A row, what it acts on, and who did it.
    pub(super) fn act(
        &mut self,
        task: TaskRef,
        tid: Option<i32>,
        row: usize,
        page: &mut Page<'_>,
        files: [Option<FileRef>; 2],
        names: [Option<u64>; 2],
        pending: &mut Pending,
    ) {
        let effect = page.rows.effect[row];
        let fd = page.fd(row, false);
        let fd2 = page.fd(row, true);
        let ret = page.ret(row);
        let failed = page.rows.has(row, C::Errno);
        if !effect.begun {
            self.entry(task, effect.op, effect.flags, fd);
        }
        let done = ret.is_some_and(|ret| ret >= 0) && !failed;
        let cloexec = effect.flags & open_flags::CLOEXEC != 0;
        if matches!(effect.op, Op::Fork | Op::Exec) && !failed {
            self.estimate(task, row, page);
        }
        match (effect.op, fd, fd2) {
            (Op::Open | Op::OpenAnon, Some(fd), _) if done => {
                self.named(task, row, page, pending);
                self.open(task, fd, row, page, false, names[0]);
            }
            (Op::OpenPair, Some(fd), Some(fd2)) if done => {
                let ends = [
                    self.open(task, fd, row, page, false, None),
                    self.open(task, fd2, row, page, true, None),
                ];
                self.pair(ends);
            }
            (Op::OpenProcess, Some(fd), _) if done => {
                let file = self.open(task, fd, row, page, false, None);
                if let Some(open) = file.and_then(|file| self.tasks.files.get(file)) {
                    open.process = Some(effect.at);
                }
            }
            (Op::Take, Some(fd), Some(from)) if done => self.take(task, fd, from, row, page),
            (Op::Dup, Some(fd), Some(fd2)) if done => self.tasks.dup(task, fd, fd2, cloexec),
            (Op::CloseRange, Some(fd), Some(fd2)) if done => {
                self.closed |= !cloexec;
                self.tasks.unshare(task, effect.number as u32 & clone_flags::CLONE_FILES);
                self.tasks.close_range(task, fd, fd2, cloexec);
            }
            (Op::Close, ..) => self.closed |= done,
            (Op::SetCloexec, Some(fd), _) if done => {
                self.tasks.table(task).set_cloexec(fd, cloexec);
            }
            (Op::SetStatus, ..) if done => {
                if let Some(open) = files[0].and_then(|file| self.tasks.files.get(file)) {
                    open.append = effect.flags & open_flags::APPEND != 0;
                }
            }
            (Op::Allocate, ..) if done => {
                if let Some((open, nodes)) =
                    files[0].and_then(|file| self.tasks.files.with_nodes(file))
                    && let Some(node) = open.node.and_then(|node| nodes.get(node))
                {
                    node.size = node.size.map(|size| size.max(effect.number));
                }
            }
            (Op::Fork, ..) => self.forked(task, tid, row, page, ret.filter(|_| done)),
            (Op::Appear, ..) => {
                self.tasks.appeared(task, effect.at, effect.flags, effect.at2 != AT_FDCWD);
            }
            (Op::Exec, ..) if done => {
                if let Some(tid) = tid {
                    self.names.executed(tid);
                }
                self.executed = true;
                self.tasks.exec(task);
            }
            (Op::Unshare, ..) if done => self.tasks.unshare(task, effect.flags),
            (Op::Gone, ..) if effect.flags & gone_flags::NAMED != 0 => self.tasks.exited(tid),
            (Op::Gone, ..) => {
                self.forget(tid);
                self.tasks.gone(tid);
            }
            (Op::Chdir, ..) if done => {
                let path = page.path(row, false).filter(|_| !effect_relative(page, row));
                self.tasks.directories(task).working = path;
            }
            (Op::Chroot, ..) if done => {
                let path = page.path(row, false).filter(|path| path.starts_with(b"/"));
                self.tasks.directories(task).root = path.filter(|path| **path != *b"/");
            }
            (Op::Fchdir, ..) if done => {
                let path = files[0].and_then(|file| self.tasks.files.get(file)?.path.clone());
                self.tasks.directories(task).working = path;
            }
            (Op::Rename, ..) if done => {
                self.renamed = true;
                if let [Some(from), Some(to)] = names {
                    if effect.flags == 1 {
                        self.tasks.files.nodes.exchange(from, to);
                    } else {
                        self.tasks.files.nodes.rename(from, to);
                    }
                }
            }
            (Op::Unlink, ..) if done => {
                if let Some(name) = names[0] {
                    self.tasks.files.nodes.unlink(name);
                }
            }
            (Op::Link, ..) if done => {
                if let [Some(from), Some(to)] = names {
                    self.tasks.files.nodes.link(from, to);
                }
            }
            _ => {}
        }
        if effect.detail != NO_DETAIL {
            self.detail(task, row, page, files[0], pending, done);
        }
    }

    /// A task was made, or not.
    fn forked(
        &mut self,
        task: TaskRef,
        tid: Option<i32>,
        row: usize,
        page: &mut Page<'_>,
        ret: Option<i64>,
    ) {
        let effect = page.rows.effect[row];
        let child = ret.and_then(|ret| i32::try_from(ret).ok());
        let child = child.map(|ret| if effect.at == AT_FDCWD { ret } else { effect.at });
        if let (Some(child), Some(parent)) = (child, tid) {
            self.names.inherit(child, parent);
        }
        if let Some(child) = self.tasks.forked(task, child, effect.flags) {
            page.rows.child[row] = child;
            page.set(row, C::Child);
        }
    }

    /// Private memory of a task that makes another one, or starts a program.
    fn estimate(&mut self, task: TaskRef, row: usize, page: &mut Page<'_>) {
        if let Some(bytes) = self.tasks.space(task).bytes() {
            page.rows.anon_bytes[row] = bytes;
            page.set(row, C::AnonBytes);
        }
    }

    /// A descriptor was made, for a new description.
    fn open(
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
        self.opened |= by_name;
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
        let stream = file.file_type.is_some_and(bind::is_stream)
            || !(by_name || memory)
            || flags & open_flags::PATH != 0
            || file.path.as_ref().is_some_and(|path| paths::is_stream(path));
        if !stream {
            file.position = Position::At(position::Spot::Exact(0));
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
            // A file without a name is known by its description alone.
            let id = id.unwrap_or_else(|| u64::MAX - u64::from(number));
            let node = self.tasks.files.nodes.open(id);
            if (memory || flags & (open_flags::TRUNC | open_flags::NEW) != 0)
                && let Some(node) = self.tasks.files.nodes.get(node)
            {
                (node.size, node.cut) = (Some(0), true);
            }
            if let Some(open) = self.tasks.files.get(file) {
                open.node = Some(node);
            }
        }
        Some(file)
    }

    /// The path that a probe told within the call, where the call itself does not tell one.
    fn named(&mut self, task: TaskRef, row: usize, page: &mut Page<'_>, pending: &mut Pending) {
        let Some(path) = pending.path.take() else { return };
        if page.rows.effect[row].op != Op::Open || page.rows.has(row, C::Path) {
            return;
        }
        page.rows.path[row] = page.side.put(&path);
        page.set(row, C::Path);
        page.rows.effect[row].relative = !path.starts_with(b"/");
        page.rows.effect[row].identify = path.starts_with(b"/");
        paths::resolve(&mut self.tasks, task, page, row);
        identify(page, row);
    }

    /// The file that the name leads to: by `/proc/self/fd/3` that of descriptor 3; a new one if the
    /// call made it.
    fn follow(
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
    fn pair(&mut self, ends: [Option<FileRef>; 2]) {
        self.pairs = self.pairs.wrapping_add(1);
        for (second, file) in [false, true].into_iter().zip(ends) {
            if let Some(open) = file.and_then(|file| self.tasks.files.get(file)) {
                open.end = Some(End { pair: self.pairs, second });
            }
        }
    }

    /// pidfd_getfd: a descriptor of another process.
    fn take(&mut self, task: TaskRef, fd: i32, from: i32, row: usize, page: &mut Page<'_>) {
        let process = self.tasks.table(task).get(from);
        let process = process.and_then(|file| self.tasks.files.get(file)?.process);
        let target = page.rows.effect[row].at;
        let file = process
            .and_then(|tid| self.tasks.by_tid(tid))
            .and_then(|other| self.tasks.table(other).get(target));
        self.receive(task, fd, file, true);
        self.show(task, fd, row, page);
    }

    /// A descriptor for a description that another task has open; `None`: for one that is not known.
    fn receive(&mut self, task: TaskRef, fd: i32, file: Option<FileRef>, cloexec: bool) {
        match file {
            Some(file) => self.tasks.install(task, fd, file, cloexec),
            None => {
                let at = Position::At(position::Spot::Relative(0));
                self.tasks.open(task, fd, OpenFile::inherited(at), cloexec);
            }
        }
    }

    /// What the new descriptor `fd` leads to, in the row of the call that made it.
    fn show(&mut self, task: TaskRef, fd: i32, row: usize, page: &mut Page<'_>) {
        if let Some(file) = self.tasks.table(task).get(fd) {
            let file = self.hear(page, row, task, file, false, false);
            self.put_file(page, row, file, false);
        }
    }

    /// Facts that few rows have.
    fn detail(
        &mut self,
        task: TaskRef,
        row: usize,
        page: &mut Page<'_>,
        file: Option<FileRef>,
        pending: &mut Pending,
        done: bool,
    ) {
        let at = page.rows.effect[row].detail as usize;
        let Some(detail) = page.side.details.get(at) else { return };
        match detail {
            Detail::Memory(memory) => {
                if done {
                    let memory = *memory;
                    self.tasks.space(task).change(memory);
                }
            }
            Detail::Sent(fds) => match pending.pass.take() {
                Some(number) if !done => self.unsend(number),
                Some(_) => {}
                None if done => {
                    let fds = fds.clone();
                    self.send(task, file, &fds);
                }
                None => {}
            },
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
                let path = page.text_of(view).into();
                if let Some(pending) = self.tasks.pending(task) {
                    pending.path.get_or_insert(path);
                }
            }
            Detail::Received(_) if done => self.received(task, at, page, file),
            Detail::Submitted(_) if done => self.submitted(task, row, at, page),
            Detail::Collected(_) if done => self.collected(task, row, at, page),
            _ => {
                if let Some(number) = pending.pass.take().filter(|_| !done) {
                    self.unsend(number);
                }
            }
        }
    }

    /// The page cache tells which file the call is about: if nothing else does, that is what its
    /// descriptor leads to.
    fn inode(&mut self, task: TaskRef, id: u64) {
        let Some(pending) = self.tasks.pending(task) else { return };
        let held = pending.held[0].filter(|_| !pending.fault);
        let Some((open, nodes)) = held.and_then(|held| self.tasks.files.with_nodes(held.file))
        else {
            return;
        };
        if open.id.is_none() && open.position != Position::None {
            open.id = Some(id);
            if let Some(node) = open.node.replace(nodes.open(id)) {
                nodes.close(node);
            }
        }
    }

    /// Descriptors go through a socket.
    pub(super) fn send(
        &mut self,
        task: TaskRef,
        socket: Option<FileRef>,
        fds: &[i32],
    ) -> Option<u64> {
        let end = socket.and_then(|file| self.tasks.files.get(file)?.end);
        let files: Vec<Option<FileRef>> =
            fds.iter().map(|&fd| self.descriptor(task, fd, true)).collect();
        let mut names = Vec::with_capacity(files.len());
        for file in files.iter().flatten() {
            self.tasks.files.keep(*file);
        }
        for file in &files {
            names.push(file.and_then(|file| self.tasks.files.get(file)?.path.clone()));
        }
        let (number, oldest) = self.passes.send(end, files, names);
        self.drop_pass(oldest);
        Some(number)
    }

    /// They were not sent after all.
    pub(super) fn unsend(&mut self, number: u64) {
        let pass = self.passes.take_back(number);
        self.drop_pass(pass);
    }

    fn drop_pass(&mut self, pass: Option<passing::Pass>) {
        for file in pass.into_iter().flat_map(|pass| pass.files).flatten() {
            self.tasks.files.release(file);
        }
    }

    /// Descriptors came through a socket.
    fn received(&mut self, task: TaskRef, detail: usize, page: &Page<'_>, socket: Option<FileRef>) {
        let Some(Detail::Received(received)) = page.side.details.get(detail) else { return };
        let end = socket.and_then(|file| self.tasks.files.get(file)?.end);
        let paths: Vec<Option<&[u8]>> =
            received.iter().map(|one| one.path.as_ref().map(|view| page.text_of(view))).collect();
        let pass = self.passes.receive(end, &paths);
        for (i, one) in received.iter().enumerate() {
            let file = pass.as_ref().and_then(|pass| pass.files.get(i).copied().flatten());
            self.receive(task, one.fd, file, false);
            let made = self.tasks.table(task).get(one.fd);
            if let (None, Some(path), Some(made)) = (file, paths[i], made) {
                self.christen(made, path, true, None);
            }
        }
        self.drop_pass(pass);
    }
}

/// The path of the row is relative still.
fn effect_relative(page: &Page<'_>, row: usize) -> bool {
    page.rows.effect[row].relative
}
