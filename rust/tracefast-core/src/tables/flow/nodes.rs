//! The nodes of the graph: what data comes from and goes to.

use crate::hash::HashMap;
use crate::tables::flow::edges::Edges;
use crate::tables::flow::file_names::is_shared_memory;
use crate::tables::names::Names;
use crate::tables::packed::Packed;

/// Descriptions of pipes and sockets without a name that are remembered. With more, the oldest are
/// forgotten: what goes through them afterwards is of an unnamed pipe.
const MOST_UNNAMED: usize = 65_536;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    File,
    Pipe,
    Socket,
    SharedMemory,
    /// A socket, of which the log shows only one end.
    Host,
    /// The log does not show what it is.
    Unknown,
}

impl Kind {
    pub(crate) fn text(self) -> Option<&'static str> {
        match self {
            Self::File => Some("file"),
            Self::Pipe => Some("pipe"),
            Self::Socket => Some("socket"),
            Self::SharedMemory => Some("shm"),
            Self::Host => Some("host"),
            Self::Unknown => None,
        }
    }
}

/// What was done to a file, as far as its role depends on it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Uses {
    pub(crate) read: bool,
    pub(crate) executed: bool,
    /// Mapped to be executed.
    pub(crate) code: bool,
    pub(crate) written: bool,
    /// When the last write ended, and through which description.
    pub(crate) ts_written: Packed<i64>,
    wrote: Packed<u32>,
    /// It was read after that, through another description.
    pub(crate) read_after: bool,
    pub(crate) ts_read_after: Packed<i64>,
    /// It was opened to append, and to write anywhere.
    pub(crate) appends: bool,
    pub(crate) overwrites: bool,
    pub(crate) removed: bool,
    /// The number of the name that it had, or that it was copied from.
    pub(crate) from: Packed<u32>,
}

impl Uses {
    /// It was read, executed or mapped.
    pub(crate) fn read(&mut self, ofd: Option<u32>, ts: Option<i64>) {
        self.read = true;
        // A program that reads back what it writes uses it for nothing else yet.
        let own = ofd.is_some() && self.wrote.get() == ofd;
        if self.written && !own && !self.read_after {
            self.read_after = true;
            self.ts_read_after.set(ts);
        }
    }

    /// It was written until `end`, or made without any data.
    pub(crate) fn write(&mut self, ofd: Option<u32>, end: Option<i64>) {
        self.written = true;
        self.ts_written.set(end);
        self.wrote.set(ofd);
        self.read_after = false;
        self.ts_read_after = Packed::default();
        self.removed = false;
    }
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) source: u32,
    pub(crate) kind: Kind,
    /// The number of its name.
    pub(crate) name: Packed<u32>,
    /// A directory or a device, which has no role.
    pub(crate) special: bool,
    pub(crate) uses: Uses,
    /// A second name that the same file got.
    linked: Packed<u32>,
}

/// All nodes, by their names.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    pub(crate) all: Vec<Node>,
    pub(crate) names: Names,
    by_name: HashMap<(u32, u32), u32>,
    /// By source and identity, the files that have been seen under a name.
    by_file: HashMap<(u32, u64), u32>,
    /// By source and description.
    unnamed: HashMap<(u32, u32), u32>,
    /// By source, how many pipes without a name were used, and other things without a name.
    numbers: HashMap<(u32, Kind), u32>,
    /// Folders of files that have nodes, by source and name.
    folders: HashMap<(u32, u32), ()>,
    last: Option<((u32, u64), u32)>,
}

impl Nodes {
    pub(crate) fn get(&self, node: u32) -> Option<&Node> {
        self.all.get(node as usize)
    }

    pub(crate) fn uses(&mut self, node: u32) -> Option<&mut Uses> {
        self.all.get_mut(node as usize).map(|node| &mut node.uses)
    }

    pub(crate) fn text(&self, node: &Node) -> Option<&str> {
        self.names.text(node.name.get()?)
    }

    pub(crate) fn push(&mut self, source: u32, kind: Kind, name: Packed<u32>) -> u32 {
        let (special, uses, linked) = (false, Uses::default(), Packed::default());
        self.all.push(Node { source, kind, name, special, uses, linked });
        self.all.len() as u32 - 1
    }

    /// The node of a name.
    pub(crate) fn named(&mut self, source: u32, kind: Kind, name: &str) -> u32 {
        let number = self.names.number(name);
        if let Some(&node) = self.by_name.get(&(source, number)) {
            return node;
        }
        let node = self.push(source, kind, number.into());
        self.by_name.insert((source, number), node);
        if kind == Kind::File {
            self.note_folders(source, name);
        }
        node
    }

    /// The node of a file, by its identity where the log shows that, as it may have several names.
    #[inline]
    pub(crate) fn file(&mut self, source: u32, file: Option<u64>, path: Option<&str>) -> u32 {
        let Some(file) = file else {
            return match path {
                Some(path) => self.named(source, kind_of(path), path),
                None => self.nameless(source),
            };
        };
        if let Some((last, node)) = self.last
            && last == (source, file)
        {
            return node;
        }
        let known = self.by_file.get(&(source, file)).copied();
        let node = match (known, path) {
            (Some(node), Some(path)) if self.get(node).is_some_and(|node| node.name.is_none()) => {
                // Its first rows had no name.
                let name = self.names.number(path);
                if let Some(node) = self.all.get_mut(node as usize) {
                    (node.name, node.kind) = (name.into(), kind_of(path));
                }
                self.by_name.entry((source, name)).or_insert(node);
                node
            }
            (Some(node), _) => node,
            (None, Some(path)) => self.named(source, kind_of(path), path),
            (None, None) => self.push(source, Kind::File, Packed::default()),
        };
        if known.is_none() {
            self.by_file.insert((source, file), node);
        }
        self.last = Some(((source, file), node));
        node
    }

    /// The one node of all that the log names in no way.
    pub(crate) fn nameless(&mut self, source: u32) -> u32 {
        self.unnamed_node(source, u32::MAX, Kind::Unknown)
    }

    /// The node of a pipe or socket that has no name, by its description.
    pub(crate) fn unnamed_node(&mut self, source: u32, ofd: u32, kind: Kind) -> u32 {
        if let Some(&node) = self.unnamed.get(&(source, ofd)) {
            return node;
        }
        let node = self.push(source, kind, Packed::default());
        self.set_unnamed(source, ofd, node);
        node
    }

    /// A description leads to a node.
    pub(crate) fn set_unnamed(&mut self, source: u32, ofd: u32, node: u32) {
        if self.unnamed.len() >= MOST_UNNAMED {
            self.unnamed.clear();
        }
        self.unnamed.insert((source, ofd), node);
    }

    /// Where a description is known to lead to.
    pub(crate) fn of_description(&self, source: u32, ofd: u32) -> Option<u32> {
        self.unnamed.get(&(source, ofd)).copied()
    }

    /// A pipe whose two ends are these descriptions.
    pub(crate) fn pipe(&mut self, source: u32, ends: [u32; 2]) {
        let node = self.push(source, Kind::Pipe, Packed::default());
        for ofd in ends {
            self.set_unnamed(source, ofd, node);
        }
    }

    /// A pipe or memory without a name is used: it gets a number.
    pub(crate) fn number(&mut self, node: u32) {
        let Some(Node { source, kind, .. }) =
            self.all.get(node as usize).filter(|node| node.name.is_none())
        else {
            return;
        };
        let number = self.numbers.entry((*source, *kind)).or_default();
        *number += 1;
        let what = if *kind == Kind::Pipe { "pipe" } else { "shared memory" };
        let name = self.names.number(&format!("{what} {number}"));
        if let Some(node) = self.all.get_mut(node as usize) {
            node.name.set(name);
        }
    }

    /// A file of one name has another one from now on; returns the nodes of the old and the new name.
    pub(crate) fn renamed(
        &mut self,
        edges: &mut Edges,
        source: u32,
        (file, old): (Option<u64>, &str),
        new: &str,
    ) -> (u32, u32) {
        let known = file.and_then(|file| self.by_file.get(&(source, file)).copied());
        let node = known.unwrap_or_else(|| self.named(source, kind_of(old), old));
        let target = self.named(source, kind_of(new), new);
        self.last = None;
        if let Some(number) = self.names.find(old)
            && self.folders.contains_key(&(source, number))
        {
            self.folder_renamed(edges, source, old, new);
        }
        if node != target {
            self.moved(edges, node, target);
        }
        if let Some(file) = file {
            self.by_file.insert((source, file), target);
        }
        (node, target)
    }

    /// What was done to a node was done to the file that has another name now.
    fn moved(&mut self, edges: &mut Edges, from: u32, to: u32) {
        let Some(node) = self.all.get_mut(from as usize) else { return };
        let (name, special, uses) = (node.name, node.special, node.uses);
        node.uses = Uses { removed: true, ..Uses::default() };
        node.linked = Packed::default();
        let Some(target) = self.all.get_mut(to as usize) else { return };
        let read = target.uses.read;
        target.special |= special;
        target.uses = Uses { from: name, removed: false, read: read || uses.read, ..uses };
        edges.move_node(from, to);
    }

    /// All files of a folder have other names.
    fn folder_renamed(&mut self, edges: &mut Edges, source: u32, old: &str, new: &str) {
        let inside = |node: &Node, names: &Names| -> Option<String> {
            let name = names.text(node.name.get().filter(|_| node.source == source)?)?;
            let rest = name.strip_prefix(old).filter(|rest| rest.starts_with('/'))?;
            Some(format!("{new}{rest}"))
        };
        let moves: Vec<(u32, String)> = (0..)
            .zip(&self.all)
            .filter_map(|(at, node)| Some((at, inside(node, &self.names)?)))
            .collect();
        let mut targets: HashMap<u32, u32> = HashMap::default();
        for (node, name) in moves {
            let target = self.named(source, kind_of(&name), &name);
            self.moved(edges, node, target);
            targets.insert(node, target);
        }
        for node in self.by_file.values_mut() {
            *node = targets.get(node).copied().unwrap_or(*node);
        }
    }

    /// A file got a second name; returns the nodes of both.
    pub(crate) fn linked(
        &mut self,
        source: u32,
        (file, old): (Option<u64>, &str),
        new: &str,
    ) -> (u32, u32) {
        let node = self.file(source, file, Some(old));
        let target = self.named(source, kind_of(new), new);
        let (name, uses) = match self.get(node) {
            Some(node) => (node.name, node.uses),
            None => return (node, target),
        };
        if node != target {
            if let Some(node) = self.all.get_mut(node as usize) {
                node.linked.set(target);
            }
            if let Some(target) = self.all.get_mut(target as usize) {
                target.uses = Uses { from: name, removed: false, ..uses };
            }
        }
        (node, target)
    }

    /// A name was removed. With a second one, the file keeps that.
    pub(crate) fn removed(
        &mut self,
        edges: &mut Edges,
        source: u32,
        file: Option<u64>,
        path: Option<&str>,
    ) {
        let found = file.and_then(|file| self.by_file.remove(&(source, file)));
        let named = || {
            let number = self.names.find(path?)?;
            self.by_name.get(&(source, number)).copied()
        };
        self.last = None;
        let Some(node) = found.or_else(named) else { return };
        let linked = self.get(node).and_then(|node| node.linked.get());
        if let Some(linked) = linked
            && self.get(linked).is_some_and(|linked| !linked.uses.removed)
        {
            self.moved(edges, node, linked);
        } else if let Some(node) = self.all.get_mut(node as usize) {
            node.uses.removed = true;
        }
    }

    /// Notes the folders of a file, up to the first one that is known.
    fn note_folders(&mut self, source: u32, path: &str) {
        let mut rest = path;
        while let Some((folder, _)) = rest.rsplit_once('/')
            && !folder.is_empty()
        {
            let number = self.names.number(folder);
            if self.folders.insert((source, number), ()).is_some() {
                return;
            }
            rest = folder;
        }
    }
}

/// What a name is of.
pub(crate) fn kind_of(path: &str) -> Kind {
    if is_shared_memory(path) {
        Kind::SharedMemory
    } else if path.starts_with("pipe:[") {
        Kind::Pipe
    } else if path.starts_with("socket:[") {
        Kind::Socket
    } else {
        Kind::File
    }
}
