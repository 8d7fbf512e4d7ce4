//! The graph: which rows move data, and between what.

use arrow_array::types::{Int32Type, Int64Type, UInt16Type, UInt32Type, UInt64Type};

use crate::tables::event_columns::{Numbers, Text, Words, event_columns};
use crate::tables::flow::edges::{Edges, End, How, Key, Sum};
use crate::tables::flow::nodes::{Kind, Nodes, kind_of};
use crate::tables::flow::shared_memory::SharedMemory;
use crate::tables::flow::sockets::Sockets;
use crate::tables::flow::word_classes::{Act, Holds};
use crate::tables::packed::Packed;
use crate::tables::phases::fold::{MarkColumns, Watched};
use crate::tables::phases::open::In;
use crate::tables::process_tracking::tracker::{TaskColumns, Tracker};
use crate::tables::process_tracking::word_classes::{RowKind, Status};
use crate::tables::waits::arguments::{Arguments, address};

/// How far the makers of a process are asked for a socket that it got from them.
const MOST_MAKERS: usize = 8;

/// What the log has of what the table is made from.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    calls: bool,
    /// Calls that move data, those of them whose file has a name, and of a socket without one.
    data: u64,
    named: u64,
    sockets: u64,
    sockets_unnamed: u64,
    /// Calls that make tasks.
    forks: u64,
}

/// The graph so far.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) tracker: Tracker,
    pub(crate) nodes: Nodes,
    pub(crate) edges: Edges,
    pub(crate) sockets: Sockets,
    pub(crate) shared: SharedMemory,
    pub(crate) watched: Watched,
    seen: Seen,
}

event_columns! {
    pub(crate) struct FlowColumns {
        pub(crate) act: Words<Act> = "name",
        pub(crate) holds: Words<Holds> = "file_type",
        pub(crate) fd: Numbers<Int32Type> = ["fd", "fd2"],
        pub(crate) ofd: Numbers<UInt32Type> = ["ofd", "ofd2"],
        pub(crate) file: Numbers<UInt64Type> = ["file", "file2"],
        pub(crate) path2: Text = "path2",
        pub(crate) requested: Numbers<Int64Type> = "requested",
        pub(crate) bytes: Numbers<Int64Type> = "bytes",
        pub(crate) cpu: Numbers<UInt16Type> = "cpu",
    }
}

pub(crate) type Columns<'a> = ((TaskColumns<'a>, MarkColumns<'a>), FlowColumns<'a>);

/// A call of a task.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) row: usize,
    pub(crate) task: u32,
    /// The first task of its process.
    pub(crate) owner: u32,
    pub(crate) source: u32,
    pub(crate) phase: In,
    pub(crate) ts: Option<i64>,
    pub(crate) end: Option<i64>,
    pub(crate) args: &'a str,
    pub(crate) ftrace: bool,
}

impl At<'_> {
    pub(crate) fn arguments(&self) -> Arguments<'_> {
        Arguments::new(self.args, self.ftrace)
    }

    /// Whether an argument sets a flag.
    pub(crate) fn sets(&self, part: Option<&str>, name: &str, bit: i64) -> bool {
        part.is_some_and(|part| self.arguments().sets(part, name, bit))
    }

    /// Whose call it is, and in which phase.
    pub(crate) fn user(&self) -> (End, In) {
        (End::task(self.task), self.phase)
    }

    pub(crate) fn sum(&self, bytes: Option<i64>) -> Sum {
        Sum { bytes: bytes.into(), calls: 1, first: self.ts.into(), last: self.end.into() }
    }
}

/// Which way data goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// From a node to a process.
    In,
    /// From a process to a node.
    Out,
}

impl Graph {
    /// What the logs lack, so that the graph does.
    pub(crate) fn gaps(&self) -> Vec<&'static str> {
        let seen = &self.seen;
        let mut gaps = Vec::new();
        if !seen.calls {
            gaps.push("calls");
        }
        if seen.data > 0 && seen.named * 2 < seen.data {
            gaps.push("names");
        }
        if seen.sockets_unnamed * 2 > seen.sockets {
            gaps.push("addresses");
        }
        let mut tasks = self.tracker.tasks.iter();
        if seen.forks > 0 && !tasks.any(|task| task.seen && task.birth.is_some()) {
            gaps.push("children");
        }
        gaps
    }

    pub(crate) fn row(&mut self, columns: &mut Columns<'_>, row: usize) {
        let ((tasks, marks), own) = columns;
        let Some(found) = self.tracker.row(tasks, row) else { return };
        let owner = self.tracker.leader(found.task);
        let is_mark = self.watched.row((tasks, marks), row, found, (owner, &self.tracker));
        if is_mark {
            return;
        }
        let Some(source) = self.tracker.tasks.get(found.task as usize).map(|task| task.source)
        else {
            return;
        };
        let is_call = matches!(found.kind, RowKind::Call | RowKind::Part);
        if found.kind == RowKind::Exit && !self.shared.is_empty() {
            self.ended(found.task, owner);
        }
        if found.kind == RowKind::Event {
            self.event((tasks, own), row, (found.task, owner, source));
        }
        if !is_call {
            return;
        }
        self.seen.calls = true;
        if let Some(child) = tasks.child.get(row) {
            self.seen.forks += 1;
            self.shared.made_task(owner);
            let child = self.tracker.number(source, child);
            if self.edges.has_unborn() {
                let phase = self.phase(owner, tasks.ts.get(row));
                self.edges.born(child, phase);
            }
            return;
        }
        let Some(act) = own.act.get(row, Act::from_name).filter(|&act| act != Act::Other) else {
            return;
        };
        let ret = tasks.ret.get(row);
        let done = ret.is_some_and(|ret| ret != -1) || act == Act::Connect;
        if !done || tasks.status(row) == Some(Status::Injected) {
            return;
        }
        let ts = tasks.ts.get(row);
        let at = At {
            row,
            task: found.task,
            owner,
            source,
            phase: self.phase(owner, ts),
            ts,
            end: ts.map(|ts| ts.saturating_add(tasks.dur.get(row).unwrap_or(0))),
            args: tasks.args.get(row).unwrap_or_default(),
            ftrace: own.cpu.get(row).is_some(),
        };
        self.call((tasks, own), &at, act);
    }

    /// The phase of a call of a process.
    #[inline]
    fn phase(&mut self, owner: u32, ts: Option<i64>) -> In {
        let open = &mut self.watched.open;
        if open.is_empty() { In::None } else { open.named(owner, ts, &self.tracker) }
    }

    /// A task of the process that `owner` leads ended.
    fn ended(&mut self, task: u32, owner: u32) {
        let end = self.tracker.tasks.get(task as usize).and_then(|task| task.end.as_ref());
        if task == owner && end.is_some_and(|end| !end.superseded) {
            self.shared.unmap_all(owner, self.tracker.row);
        }
    }

    /// An event of ftrace: a program was started.
    #[cold]
    fn event(
        &mut self,
        (tasks, own): (&mut TaskColumns<'_>, &mut FlowColumns<'_>),
        row: usize,
        (task, owner, source): (u32, u32, u32),
    ) {
        let exec = self.tracker.tasks.get(task as usize).and_then(|task| task.execs.last());
        let Some(exec) = exec.filter(|exec| exec.row == self.tracker.row) else { return };
        let Some(path) = exec.path.clone() else { return };
        let ts = tasks.ts.get(row);
        let ftrace = own.cpu.get(row).is_some();
        let phase = self.phase(owner, ts);
        let args = "";
        let at = At { row, task, owner, source, phase, ts, end: ts, args, ftrace };
        let node = self.nodes.named(source, Kind::File, &path);
        self.executes(&at, node);
    }

    fn call(
        &mut self,
        (tasks, own): (&mut TaskColumns<'_>, &mut FlowColumns<'_>),
        at: &At<'_>,
        act: Act,
    ) {
        let path = tasks.path.get(at.row);
        let file = own.file[0].get(at.row);
        let ofd = own.ofd[0].get(at.row);
        match act {
            Act::Take => {
                if let Some(node) = self.data(own, at, 0, path) {
                    let bytes = own.bytes.get(at.row).unwrap_or(0);
                    self.takes(at, node, How::Read, bytes, ofd);
                }
            }
            Act::Give => {
                if let Some(node) = self.data(own, at, 0, path) {
                    let bytes = own.bytes.get(at.row).unwrap_or(0);
                    self.gives(at, node, How::Write, bytes, ofd);
                }
            }
            Act::Transfer => {
                let bytes = own.bytes.get(at.row).unwrap_or(0);
                let to = own.path2.get(at.row);
                let from = self.data(own, at, 0, path);
                let to = self.data(own, at, 1, to);
                if let Some(node) = from {
                    self.takes(at, node, How::Copy, bytes, ofd);
                }
                if let Some(node) = to {
                    self.gives(at, node, How::Copy, bytes, own.ofd[1].get(at.row));
                }
                if bytes > 0
                    && let (Some(from), Some(to)) = (from, to)
                {
                    self.copied(from, to);
                }
            }
            Act::Open(_) => {
                if let Some(path) = path {
                    self.opens(own, at, path, act.flags(), ofd);
                }
            }
            Act::Map => {
                let has_file = own.fd[0].get(at.row).is_none_or(|fd| fd >= 0);
                // What is mapped of /dev/zero is memory of its own: mem(4).
                if !has_file || path == Some("/dev/zero") {
                    let (start, length) = (tasks.ret.get(at.row), own.requested.get(at.row));
                    self.maps_memory(at, start, length);
                } else if path.is_some() || file.is_some() {
                    self.maps(own, at, path);
                }
            }
            Act::Exec => {
                self.shared.unmap_all(at.owner, self.tracker.row);
                if path.is_some() || file.is_some() {
                    let node = self.nodes.file(at.source, file, path);
                    self.executes(at, node);
                }
            }
            Act::Fork => self.shared.made_task(at.owner),
            Act::Unmap => self.unmaps(at),
            Act::Remap => self.moves_mapping(at, tasks.ret.get(at.row)),
            Act::Segment => self.gets_segment(at, tasks.ret.get(at.row)),
            Act::Attach => self.attaches(at, tasks.ret.get(at.row)),
            Act::Rename | Act::Link => {
                if let Some((old, new)) = path.zip(own.path2.get(at.row)) {
                    self.names(at, act, (file, old), new);
                }
            }
            Act::Symlink => {
                let target = at.arguments().at(0).and_then(quoted);
                if let Some((target, path)) = target.zip(path) {
                    // It is relative to the folder of the link: symlink(7).
                    let folder = path.rsplit_once('/').filter(|_| !target.starts_with('/'));
                    let joined = folder.map(|(folder, _)| format!("{folder}/{target}"));
                    let target = joined.as_deref().unwrap_or(target);
                    let from = self.nodes.named(at.source, kind_of(target), target);
                    let to = self.nodes.named(at.source, kind_of(path), path);
                    self.between(at, from, to, How::Link);
                }
            }
            Act::Unlink => {
                let removes_folder = at.args.contains("AT_REMOVEDIR");
                if !removes_folder {
                    self.nodes.removed(&mut self.edges, at.source, file, path);
                }
            }
            Act::Pipe => {
                if path.is_none()
                    && let (Some(one), Some(other)) = (ofd, own.ofd[1].get(at.row))
                {
                    self.nodes.pipe(at.source, [one, other]);
                }
            }
            Act::SocketPair => {
                if let (Some(one), Some(other)) = (ofd, own.ofd[1].get(at.row)) {
                    let node = self.nodes.push(at.source, Kind::Socket, Packed::default());
                    for ofd in [one, other] {
                        self.nodes.set_unnamed(at.source, ofd, node);
                    }
                }
            }
            Act::Bind | Act::OwnAddress => {
                let fd = own.fd[0].get(at.row);
                if let Some((fd, address)) = fd.zip(at.arguments().at(1).and_then(address)) {
                    self.sockets.bound(at.owner, fd, &address);
                }
            }
            Act::Connect => {
                if let Some((ofd, address)) = ofd.zip(at.arguments().at(1).and_then(address)) {
                    let node = self.sockets.server(&mut self.nodes, at.source, &address);
                    self.nodes.set_unnamed(at.source, ofd, node);
                }
            }
            Act::Accept => {
                if let Some(ofd) = ofd {
                    let client = at.arguments().at(1).and_then(address);
                    let server = own.fd[1].get(at.row).and_then(|fd| self.listens_at(at.owner, fd));
                    let (nodes, sockets) = (&mut self.nodes, &mut self.sockets);
                    let (server, client) = (server.as_deref(), client.as_deref());
                    if let Some(node) = sockets.accepted(nodes, at.source, server, path, client) {
                        self.nodes.set_unnamed(at.source, ofd, node);
                    }
                }
            }
            Act::Control => self.clones(own, at, path),
            Act::Other => {}
        }
    }

    /// The node of one side of a call that moves data. None if it is of something that has none.
    #[inline]
    pub(crate) fn data(
        &mut self,
        own: &mut FlowColumns<'_>,
        at: &At<'_>,
        side: usize,
        path: Option<&str>,
    ) -> Option<u32> {
        // The type of the other side is not in the row.
        let holds = if side == 0 { own.holds.get(at.row, Holds::from_file_type) } else { None };
        let holds = holds.unwrap_or(Holds::Unknown);
        let ofd = own.ofd[side].get(at.row);
        let named = |test: fn(&str) -> bool| holds == Holds::Unknown && path.is_some_and(test);
        if holds == Holds::Anonymous || named(|path| path.starts_with("anon_inode:")) {
            return None;
        }
        // It moves data without a descriptor: process_vm_readv(2), getrandom(2).
        if path.is_none() && ofd.is_none() && own.fd[0].get(at.row).is_none() {
            return None;
        }
        self.seen.data += 1;
        if holds == Holds::Socket || named(is_socket_name) {
            self.seen.sockets += 1;
            let node = Some(self.socket(at, ofd, path));
            let named = ofd.is_some_and(|ofd| self.nodes.of_description(at.source, ofd).is_some());
            self.seen.sockets_unnamed += u64::from(!named);
            self.seen.named += 1;
            return node;
        }
        if path.is_none()
            && let Some(ofd) = ofd
            && let Some(node) = self.nodes.of_description(at.source, ofd)
        {
            if self.nodes.get(node).is_some_and(|node| node.kind == Kind::Pipe) {
                self.nodes.number(node);
            }
            self.seen.named += 1;
            return Some(node);
        }
        if holds == Holds::Pipe
            && path.is_none()
            && let Some(ofd) = ofd
        {
            let node = self.nodes.unnamed_node(at.source, ofd, Kind::Pipe);
            self.nodes.number(node);
            return Some(node);
        }
        let file = own.file[side].get(at.row);
        self.seen.named += u64::from(path.is_some());
        let node = self.nodes.file(at.source, file, path);
        if let Some(node) = self.nodes.all.get_mut(node as usize) {
            match holds {
                Holds::Fifo => node.kind = Kind::Pipe,
                Holds::Memory => node.kind = Kind::SharedMemory,
                Holds::Directory | Holds::Device => node.special = true,
                _ => {}
            }
        }
        Some(node)
    }

    /// The node of a socket.
    fn socket(&mut self, at: &At<'_>, ofd: Option<u32>, path: Option<&str>) -> u32 {
        let (nodes, sockets) = (&mut self.nodes, &mut self.sockets);
        if let Some(ofd) = ofd
            && let Some(node) = nodes.of_description(at.source, ofd)
        {
            return node;
        }
        if let Some(node) = path.and_then(|name| sockets.shown(nodes, at.source, name)) {
            return node;
        }
        // A datagram has its address with it: sendto(2), recvfrom(2).
        if let Some(address) = at.arguments().at(4).and_then(address) {
            return sockets.server(nodes, at.source, &address);
        }
        match (path, ofd) {
            (Some(path), _) => nodes.named(at.source, Kind::Socket, path),
            (None, Some(ofd)) => nodes.unnamed_node(at.source, ofd, Kind::Socket),
            (None, None) => nodes.nameless(at.source),
        }
    }

    /// The address of a socket that a process or one of its makers bound.
    fn listens_at(&self, owner: u32, fd: i32) -> Option<String> {
        let mut at = owner;
        for _ in 0..MOST_MAKERS {
            if let Some(address) = self.sockets.address(at, fd) {
                return Some(address.to_owned());
            }
            at = self.tracker.leader(self.tracker.tasks.get(at as usize)?.birth?.parent);
        }
        None
    }

    /// How data goes to or from a node, if not as `how` of files.
    fn how(&self, node: u32, how: How) -> How {
        match self.nodes.get(node).map(|node| node.kind) {
            _ if how == How::Copy => How::Copy,
            Some(Kind::Pipe) => How::Pipe,
            Some(Kind::Socket | Kind::Host) => How::Socket,
            _ => how,
        }
    }

    #[inline]
    fn takes(&mut self, at: &At<'_>, node: u32, how: How, bytes: i64, ofd: Option<u32>) {
        // At the end of a file there is nothing to take, but who asked has read it.
        if let Some(uses) = self.nodes.uses(node) {
            uses.read(ofd, at.ts);
        }
        self.edge(at, node, Way::In, self.how(node, how), Some(bytes));
    }

    #[inline]
    fn gives(&mut self, at: &At<'_>, node: u32, how: How, bytes: i64, ofd: Option<u32>) {
        if bytes > 0
            && let Some(uses) = self.nodes.uses(node)
        {
            uses.write(ofd, at.end);
        }
        self.edge(at, node, Way::Out, self.how(node, how), Some(bytes));
    }

    /// An edge between the task of a call and a node.
    #[inline]
    pub(crate) fn edge(&mut self, at: &At<'_>, node: u32, way: Way, how: How, bytes: Option<i64>) {
        let (task, node) = (End::task(at.task), End::node(node));
        let (from, to) = if way == Way::In { (node, task) } else { (task, node) };
        self.add(at, Key { from, to, how, phase: at.phase }, bytes);
    }

    /// An edge between two names.
    pub(crate) fn between(&mut self, at: &At<'_>, from: u32, to: u32, how: How) {
        let (from, to) = (End::node(from), End::node(to));
        // The maker of the process may not be known yet, but of no name does the log say that later.
        let phase = if matches!(at.phase, In::Unknown(_)) { In::None } else { at.phase };
        self.add(at, Key { from, to, how, phase }, None);
    }

    #[inline]
    fn add(&mut self, at: &At<'_>, key: Key, bytes: Option<i64>) {
        self.edges.add(key, &at.sum(bytes));
    }
}

/// The text of an argument in quotes.
fn quoted(part: &str) -> Option<&str> {
    part.strip_prefix('"')?.strip_suffix('"')
}

/// Whether a name of strace is that of a socket.
fn is_socket_name(name: &str) -> bool {
    name.starts_with("socket:[") || crate::linux::sockets::SocketName::parse(name).is_some()
}
