//! Descriptors that tasks give to one another: through sockets, or by looking into one another.

use crate::events::details::Detail;
use crate::events::schema::Column as C;
use crate::events::vocabulary::open_flags;
use crate::kernel::Kernel;
use crate::kernel::block_rows::Page;
use crate::kernel::descriptors::fd_table::{FileRef, OpenFile};
use crate::kernel::descriptors::messages::Pass;
use crate::kernel::tasks::TaskRef;
use crate::kernel::transfers::position::{Position, Spot};

impl Kernel {
    /// `pidfd_getfd`: a descriptor of another process.
    pub(crate) fn take(
        &mut self,
        task: TaskRef,
        fd: i32,
        from: i32,
        row: usize,
        page: &mut Page<'_>,
    ) {
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
        if let Some(file) = file {
            self.tasks.install(task, fd, file, cloexec);
        } else {
            let at = Position::At(Spot::Relative(0));
            self.tasks.open(task, fd, OpenFile::inherited(at), cloexec);
        }
    }

    /// What the new descriptor `fd` leads to, in the row of the call that made it.
    fn show(&mut self, task: TaskRef, fd: i32, row: usize, page: &mut Page<'_>) {
        if let Some(mut file) = self.tasks.table(task).get(fd) {
            if page.rows.has(row, C::Path) {
                file = self.hear(page, row, task, file, false, false);
            }
            self.put_file(page, row, file, false);
        }
    }

    /// Descriptors go through a socket.
    pub(crate) fn send(&mut self, task: TaskRef, socket: Option<FileRef>, fds: &[i32]) -> u64 {
        let end = socket.and_then(|file| self.tasks.files.get(file)?.end);
        let files: Vec<Option<FileRef>> =
            fds.iter().map(|&fd| self.descriptor(task, fd, || true)).collect();
        let mut names = Vec::with_capacity(files.len());
        for file in files.iter().flatten() {
            self.tasks.files.keep(*file);
        }
        for file in &files {
            names.push(file.and_then(|file| self.tasks.files.get(file)?.path.clone()));
        }
        let (number, oldest) = self.passes.send(end, files, names);
        self.drop_pass(oldest);
        number
    }

    /// They were not sent after all.
    pub(crate) fn unsend(&mut self, number: u64) {
        let pass = self.passes.take_back(number);
        self.drop_pass(pass);
    }

    fn drop_pass(&mut self, pass: Option<Pass>) {
        for file in pass.into_iter().flat_map(|pass| pass.files).flatten() {
            self.tasks.files.release(file);
        }
    }

    /// Descriptors came through a socket.
    pub(crate) fn received(
        &mut self,
        task: TaskRef,
        row: usize,
        detail: usize,
        page: &Page<'_>,
        socket: Option<FileRef>,
    ) {
        let Some(Detail::Received(received)) = page.side.details.get(detail) else { return };
        let end = socket.and_then(|file| self.tasks.files.get(file)?.end);
        let paths: Vec<Option<&[u8]>> =
            received.iter().map(|one| one.path.as_ref().map(|view| page.text_of(view))).collect();
        let cloexec = page.rows.effect[row].flags & open_flags::CLOEXEC != 0;
        let pass = self.passes.receive(end, &paths);
        for (i, one) in received.iter().enumerate() {
            let file = pass.as_ref().and_then(|pass| pass.files.get(i).copied().flatten());
            self.receive(task, one.fd, file, cloexec);
            let made = self.tasks.table(task).get(one.fd);
            if let (None, Some(path), Some(made)) = (file, paths[i], made) {
                self.christen(made, path, true, None);
            }
        }
        self.drop_pass(pass);
    }
}
