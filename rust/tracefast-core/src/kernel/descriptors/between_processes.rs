//! Descriptors that come from another process: sent through a socket (`SCM_RIGHTS`, unix(7)), or
//! taken with `pidfd_getfd(2)`, or put there by a supervisor (`seccomp_unotify(2)`).

use std::collections::HashSet;

use crate::events::details::{Added, Detail};
use crate::events::schema::Column as C;
use crate::events::vocabulary::open_flags;
use crate::kernel::Kernel;
use crate::kernel::block_rows::BlockRows;
use crate::kernel::descriptors::columns::shows_deleted;
use crate::kernel::descriptors::messages::{End, Message};
use crate::kernel::descriptors::open_file_description::{DescriptionRef, OpenFileDescription};
use crate::kernel::tasks::TaskRef;
use crate::kernel::transfers::position::{Offset, Position};

/// How many notices of seccomp are remembered.
const NOTICES: usize = 256;

impl Kernel {
    /// `pidfd_getfd`: a copy of a descriptor of another process. It is close-on-exec.
    pub(crate) fn take(
        &mut self,
        task: TaskRef,
        fd: i32,
        from: i32,
        row: usize,
        block: &mut BlockRows<'_>,
    ) {
        let process = self.tasks.descriptor(task, from);
        let process = process.and_then(|file| self.tasks.files.get(file)?.process);
        let target = block.rows.effect[row].at;
        let other = process.and_then(|tid| self.tasks.by_tid(tid));
        let file = other.and_then(|other| self.tasks.descriptor(other, target));
        self.tasks.taken(other);
        if let Some(other) = other
            && (block.rows.effect[row].begun || self.tasks.is_changing_numbers(other))
        {
            // The number may have referred to another description when it was looked up.
            self.tasks.share_descriptions(other);
            if let Some(file) = file {
                self.tasks.unordered(file);
            }
        }
        // A log of one task may not name it: then any number may be its own.
        let any = process.is_none() || other.is_none() && self.tasks.known(None).is_some();
        if any {
            self.tasks.copied_from_any();
        }
        if let Some(open) = file.and_then(|file| self.tasks.files.get(file))
            && !open.in_progress.is_empty()
        {
            // A call of a process that had it alone has taken no lock: fdget_pos in fs/file.c.
            open.in_progress.pass(None, false);
        }
        self.receive(task, fd, file, true);
        if let Some(copy) = self.tasks.descriptor(task, fd).filter(|_| any) {
            self.tasks.unordered(copy);
        }
        self.show(task, fd, row, block);
    }

    /// A supervisor of seccomp was notified of a call of the task with this id.
    #[cold]
    pub(crate) fn notified(&mut self, task: TaskRef, notice: u64, tid: i32) {
        self.tasks.supervised = true;
        // In a pid namespace the id is another one.
        if self.tasks.is_foreign(task) {
            return;
        }
        if self.notices.len() == NOTICES {
            self.notices.pop_front();
        }
        self.notices.push_back((notice, tid));
    }

    /// It has put a descriptor into the task that waits for it.
    #[cold]
    pub(crate) fn added(&mut self, task: TaskRef, row: usize, added: Added, block: &BlockRows<'_>) {
        let Some(fd) = block.ret(row).and_then(|fd| i32::try_from(fd).ok()) else { return };
        self.tasks.supervised = true;
        let file = added.fd.and_then(|fd| self.descriptor(task, fd, || true));
        let of = self.notices.iter().rev().find(|(notice, _)| Some(*notice) == added.notice);
        let target = of.and_then(|&(_, tid)| self.tasks.by_tid(tid));
        if let (Some(target), Some(file)) = (target, file) {
            self.tasks.receive(target, fd, file, added.cloexec);
            // The call that waits may return it (`SECCOMP_ADDFD_FLAG_SEND`).
            self.tasks.made_for(target, fd);
        } else {
            self.tasks.replace_elsewhere(task, fd);
        }
        if added.fd.is_none() {
            self.tasks.share_descriptions(task);
        }
        // The other task may have used it before the call returned.
        if let Some(file) = file.filter(|_| target.is_none() || block.rows.effect[row].begun) {
            self.tasks.unordered(file);
        }
    }

    /// A new descriptor for a description of another task; `None`: for one that is not known.
    fn receive(&mut self, task: TaskRef, fd: i32, file: Option<DescriptionRef>, cloexec: bool) {
        if let Some(file) = file {
            self.tasks.receive(task, fd, file, cloexec);
        } else {
            let at = Position::At(Offset::Relative(0));
            let mut file = OpenFileDescription::inherited(at);
            file.others.unexplained = true;
            self.tasks.changes_table(task);
            self.tasks.open(task, fd, file, cloexec);
        }
    }

    /// Shows the description of the new descriptor `fd` in the row of the call that made it.
    fn show(&mut self, task: TaskRef, fd: i32, row: usize, block: &mut BlockRows<'_>) {
        if let Some(mut file) = self.tasks.descriptor(task, fd) {
            if block.rows.has(row, C::Path) {
                file = self.compare_annotation(block, row, task, file, false, false);
            }
            self.show_file(block, row, file, false);
        }
    }

    /// The row is a message whose contents the log does not show.
    #[cold]
    pub(crate) fn unseen_message(&mut self, row: usize, block: &BlockRows<'_>) {
        let name = block.names.get(block.rows.name[row] as usize).map_or("", |name| &**name);
        let (receives, sends) = (name.starts_with("recvm"), name.starts_with("sendm"));
        if !receives && !sends {
            return;
        }
        let groups = match &block.whose.group {
            Some(group) => std::slice::from_ref(group),
            None => self
                .tasks
                .by_number(block.whose.task)
                .map_or(&[][..], |at| self.tasks.groups_of(at)),
        };
        if receives {
            self.unseen.receivers.extend(groups);
            return;
        }
        let senders = groups.iter().copied().filter(|&group| self.unseen.senders.insert(group));
        let senders: HashSet<i32> = senders.collect();
        // It may have been received before the call returned.
        if self.unseen.arrived && !senders.is_empty() {
            for file in self.tasks.files_of(&senders) {
                self.tasks.files.suspect(file);
                self.tasks.files.doubt(file);
            }
        }
    }

    /// Whether a message that the log does not show may have brought a descriptor of the task. Then
    /// it may be any that a sender has.
    #[cold]
    pub(crate) fn may_have_arrived(&mut self, task: TaskRef) -> bool {
        let mut groups = self.tasks.groups_of(task).iter();
        let arrived = groups.any(|group| self.unseen.receivers.contains(group));
        if arrived {
            self.unseen.arrived = true;
            for file in self.tasks.files_of(&self.unseen.senders) {
                self.tasks.files.suspect(file);
            }
        }
        arrived
    }

    /// Descriptors are sent through a socket.
    pub(crate) fn send(
        &mut self,
        task: TaskRef,
        socket: Option<DescriptionRef>,
        fds: &[i32],
    ) -> u64 {
        let end = socket.and_then(|file| self.tasks.files.get(file)?.end);
        let files: Vec<Option<DescriptionRef>> =
            fds.iter().map(|&fd| self.descriptor(task, fd, || true)).collect();
        let mut names = Vec::with_capacity(files.len());
        for file in files.iter().flatten() {
            self.tasks.files.keep(*file);
        }
        let beside = end.is_some_and(|end| self.sends_beside(end));
        for &file in files.iter().flatten() {
            self.tasks.sent(file, self.messages.early, end.is_some());
            if beside {
                self.tasks.unordered(file);
            }
        }
        for file in &files {
            names.push(file.and_then(|file| self.tasks.files.get(file)?.path.clone()));
        }
        let outside = socket.filter(|_| self.messages.complete && end.is_none());
        let through = outside.map(|socket| self.tasks.files.number(socket));
        let (number, oldest) = self.messages.send((end, through), files, names);
        self.drop_message(oldest);
        number
    }

    /// Whether what is sent from that end may arrive instead of other messages: some were lost, or
    /// calls of other tasks send from there, too. Those of them are `ambiguous` then.
    fn sends_beside(&mut self, end: End) -> bool {
        let messages = &self.messages;
        let beside = self.tasks.sends_beside(|number| messages.is_from(number, end));
        if beside {
            for file in self.messages.on_the_way(end.other()) {
                self.tasks.unordered(file);
            }
        }
        beside || self.messages.may_be_lost(end)
    }

    /// A call has read from a socket. Descriptors that came with the data are gone, unless it was
    /// recvmsg(2): what arrives later may be of any message.
    #[cold]
    pub(crate) fn read_past_messages(
        &mut self,
        row: usize,
        block: &BlockRows<'_>,
        socket: DescriptionRef,
    ) {
        let Some(end) = self.tasks.files.at(socket).and_then(|open| open.end) else { return };
        let name = block.names.get(block.rows.name[row] as usize).map_or("", |name| &**name);
        // A datagram is gone even if its data could not be copied.
        let gone = block.failed_with(row, "EFAULT");
        let failed = block.ret(row).is_some_and(|ret| ret < 0);
        if gone || !(failed || name.starts_with("recvm")) {
            self.lose_messages(end);
        }
    }

    /// A message on the way to that end may be gone.
    fn lose_messages(&mut self, end: End) {
        let files = self.messages.on_the_way(end);
        if !files.is_empty() {
            self.messages.lose(end);
            for file in files {
                self.tasks.unordered(file);
            }
        }
    }

    /// A look at the queue of the socket may show a later message than the oldest, from now on.
    #[cold]
    pub(crate) fn peeks_later(&mut self, socket: Option<DescriptionRef>) {
        let end = socket.and_then(|file| self.tasks.files.get(file)?.end);
        self.messages.look_into(end);
    }

    /// The message was not sent after all.
    pub(crate) fn unsend(&mut self, number: u64) {
        let message = self.messages.take_back(number);
        self.drop_message(message);
    }

    fn drop_message(&mut self, message: Option<Message>) {
        for file in message.into_iter().flat_map(|message| message.files).flatten() {
            self.tasks.files.release(file);
        }
    }

    /// Descriptors were received through a socket.
    pub(crate) fn received(
        &mut self,
        task: TaskRef,
        row: usize,
        detail: usize,
        block: &BlockRows<'_>,
        socket: Option<DescriptionRef>,
    ) {
        let Some(Detail::Received(received)) = block.side.details.get(detail) else { return };
        if received.is_empty() {
            // There was no room for them.
            if let Some(end) = socket.and_then(|file| self.tasks.files.get(file)?.end) {
                self.lose_messages(end);
            }
            return;
        }
        let end = socket.and_then(|file| self.tasks.files.get(file)?.end);
        let paths: Vec<Option<&[u8]>> =
            received.iter().map(|one| one.path.as_ref().map(|view| block.text_of(view))).collect();
        let flags = block.rows.effect[row].flags;
        let cloexec = flags & open_flags::CLOEXEC != 0;
        let peeks = flags & open_flags::PEEKS != 0;
        let unclear = self.messages.unclear(end, &paths, peeks);
        let message = if let Some(unclear) = &unclear {
            // What comes may be any of them: none is known to have come.
            for &file in &unclear.files {
                self.tasks.files.suspect(file);
            }
            if unclear.loses_oldest {
                // Those that are there are among those that stay.
                let oldest = self.messages.receive(end, &paths);
                self.drop_message(oldest);
            }
            None
        } else if peeks {
            let message = self.messages.peek(end, &paths);
            for file in message.iter().flat_map(|message| &message.files).flatten() {
                self.tasks.files.keep(*file);
            }
            message
        } else {
            self.messages.receive(end, &paths)
        };
        if message.is_none() && unclear.is_none() {
            // It may be part of any message.
            for file in self.messages.files() {
                self.tasks.files.suspect(file);
            }
            self.messages.early = true;
        }
        // Which of two calls at once gets which message the log does not show.
        let beside = socket.is_some_and(|socket| self.tasks.receives_beside(socket));
        if let Some(end) = end.filter(|_| beside) {
            let here = message.iter().flat_map(|message| &message.files).flatten().copied();
            for file in here.chain(self.messages.on_the_way(end)).collect::<Vec<_>>() {
                self.tasks.unordered(file);
            }
        }
        for (i, one) in received.iter().enumerate() {
            let file = message.as_ref().and_then(|message| message.files.get(i).copied().flatten());
            self.receive(task, one.fd, file, cloexec);
            let made = self.tasks.descriptor(task, one.fd);
            if let (None, Some(path), Some(made)) = (file, paths[i], made) {
                self.set_name(made, path, (true, shows_deleted(block, row)), None);
            }
        }
        self.drop_message(message);
    }
}
