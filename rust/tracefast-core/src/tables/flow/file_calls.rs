//! Calls that open, map, execute, rename and copy files.

use crate::linux::devices;
use crate::tables::flow::edges::How;
use crate::tables::flow::graph::{At, FlowColumns, Graph, Way};
use crate::tables::flow::nodes::{Kind, kind_of};
use crate::tables::flow::word_classes::{Act, Holds};

impl Graph {
    pub(crate) fn executes(&mut self, at: &At<'_>, node: u32) {
        if let Some(uses) = self.nodes.uses(node) {
            uses.executed = true;
            uses.read(None, at.ts);
        }
        self.edge(at, node, Way::In, How::Exec, None);
    }

    /// What is in `to` came from `from`, without passing through a program.
    pub(crate) fn copied(&mut self, from: u32, to: u32) {
        let name = self.nodes.get(from).filter(|node| node.kind == Kind::File);
        let Some(name) = name.map(|node| node.name) else { return };
        if from != to
            && let Some(uses) = self.nodes.uses(to)
        {
            uses.from.set_first(name);
        }
    }

    pub(crate) fn opens(
        &mut self,
        own: &mut FlowColumns<'_>,
        at: &At<'_>,
        path: &str,
        flags: Option<usize>,
        ofd: Option<u32>,
    ) {
        // Most files are opened to be read. Flags are the last argument, unless O_CREAT is among them.
        let last = at.args.rsplit(',').next().map(str::trim_ascii_start);
        if last.is_some_and(|last| last.starts_with("O_RDONLY")) {
            return;
        }
        let part = flags.and_then(|position| at.arguments().at(position));
        // openat2(2) has them in a structure.
        let has = |name: &str, bit: i64| at.sets(part, name, bit);
        let creates = flags.is_none();
        let writes = creates || has("O_WRONLY", 1) || has("O_RDWR", 2);
        // Of a file without a name, the path is that of the folder: O_TMPFILE in open(2).
        if !writes || at.args.contains("O_TMPFILE") {
            return;
        }
        let node = self.nodes.file(at.source, own.file[0].get(at.row), Some(path));
        if own.holds.get(at.row, Holds::from_file_type) == Some(Holds::Device)
            && let Some(node) = self.nodes.all.get_mut(node as usize)
        {
            node.special = true;
        }
        let appends = has("O_APPEND", 0o2000);
        // Without these, it may have been there, with what is in it.
        let anew = creates || has("O_TRUNC", 0o1000) || has("O_EXCL", 0o200);
        let makes = anew && (creates || has("O_CREAT", 0o100));
        let is_file = !devices::is_stream_device(path.as_bytes());
        if let Some(uses) = self.nodes.uses(node) {
            uses.appends |= appends;
            uses.overwrites |= !appends;
            if makes && is_file {
                uses.write(ofd, at.end);
            }
        }
        if makes && is_file {
            self.edge(at, node, Way::Out, How::Create, None);
        }
    }

    pub(crate) fn maps(&mut self, own: &mut FlowColumns<'_>, at: &At<'_>, path: Option<&str>) {
        let Some(node) = self.data(own, at, 0, path) else { return };
        let [_, _, protection, sharing] = at.arguments().first();
        let writes = at.sets(protection, "PROT_WRITE", 2) && is_shared(at, sharing);
        let ofd = own.ofd[0].get(at.row);
        if let Some(uses) = self.nodes.uses(node) {
            uses.code |= at.sets(protection, "PROT_EXEC", 4);
            uses.read(ofd, at.ts);
            if writes {
                uses.overwrites = true;
                uses.write(ofd, at.end);
            }
        }
        let length = own.requested.get(at.row);
        self.edges.mapped(at.user(), node, (true, writes), &at.sum(length));
    }

    /// Memory without a file is mapped, at `start`.
    pub(crate) fn maps_memory(&mut self, at: &At<'_>, start: Option<i64>, length: Option<i64>) {
        let [_, _, protection, sharing] = at.arguments().first();
        if is_shared(at, sharing) {
            let reads = at.sets(protection, "PROT_READ", 1);
            let writes = at.sets(protection, "PROT_WRITE", 2);
            self.shares(at, None, (start, length), (reads, writes));
        }
    }

    /// A file has another name, or one more.
    pub(crate) fn names(&mut self, at: &At<'_>, act: Act, old: (Option<u64>, &str), new: &str) {
        if old.1 == new {
            return;
        }
        if act == Act::Link {
            let (from, to) = self.nodes.linked(at.source, old, new);
            self.between(at, from, to, How::Link);
            return;
        }
        let exchanges = at.args.contains("RENAME_EXCHANGE");
        if exchanges {
            let from = self.nodes.named(at.source, kind_of(old.1), old.1);
            let to = self.nodes.named(at.source, kind_of(new), new);
            self.between(at, from, to, How::Rename);
            self.between(at, to, from, How::Rename);
            return;
        }
        let (from, to) = self.nodes.renamed(&mut self.edges, at.source, old, new);
        self.between(at, from, to, How::Rename);
    }

    /// ioctl(2) that shares the data of one file with another: `ioctl_ficlonerange`(2).
    pub(crate) fn clones(&mut self, own: &mut FlowColumns<'_>, at: &At<'_>, path: Option<&str>) {
        let Some((_, rest)) = at.args.split_once("FICLONE") else { return };
        // strace's -y shows the name of the other descriptor.
        let from = rest.split_once('<').and_then(|(_, rest)| rest.split('>').next());
        let Some(path) = path else { return };
        let to = self.nodes.file(at.source, own.file[0].get(at.row), Some(path));
        if let Some(uses) = self.nodes.uses(to) {
            uses.write(own.ofd[0].get(at.row), at.end);
        }
        self.edge(at, to, Way::Out, How::Copy, None);
        if let Some(from) = from {
            let from = self.nodes.named(at.source, kind_of(from), from);
            if let Some(uses) = self.nodes.uses(from) {
                uses.read(None, at.ts);
            }
            self.edge(at, from, Way::In, How::Copy, None);
            self.copied(from, to);
        }
    }
}

/// Whether the memory of a mapping is that of others, too: mmap(2).
fn is_shared(at: &At<'_>, sharing: Option<&str>) -> bool {
    at.sets(sharing, "MAP_SHARED", 1) && !at.sets(sharing, "MAP_PRIVATE", 2)
}
