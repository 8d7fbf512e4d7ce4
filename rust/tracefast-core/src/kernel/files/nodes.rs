//! Names that may lead to a FIFO or a character device that a call of the log has made.
//!
//! Such a file has no positions. Where links, mounts and folders lead, the log does not always show,
//! but whichever way a path takes, it ends with a name of the file, or with that of a link to it
//! (`path_resolution(7)`). So what is opened by such a name is not taken for a regular file, unless the
//! call itself shows that it is one.

use crate::events::file_id::{last_part, may_have_part};
use crate::hash::HashMap;

/// Stands for the identity of any file.
const ANY: u64 = 0;

/// How many links are remembered. Where there are more, any name may lead to a node.
const LINKS: usize = 1 << 16;

/// How many targets of one link are remembered: one with more may lead anywhere.
const TARGETS: usize = 16;

/// How many nodes are remembered, as each removal looks at all. Where there are more, any name may
/// lead to one.
const NODES: usize = 1 << 10;

/// A name of a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    /// Identity of the file. If that is [`ANY`], the name may always lead to a node.
    id: u64,
    /// The components of its path, as `part_bits` gives them.
    bits: u64,
}

impl Node {
    /// A name that the log cannot show to be gone.
    pub(crate) const LASTING: Self = Self { id: ANY, bits: 0 };

    /// A node by its own name: the identity of the file, and the components of the path.
    pub(crate) fn new(id: Option<u64>, bits: u64) -> Self {
        Self { id: id.unwrap_or(ANY), bits }
    }
}

/// All such names, by the hashes that `last_part` gives of their last components.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    names: HashMap<u64, Vec<Node>>,
    /// Symbolic links, and to which names they lead; `None`: any.
    links: HashMap<u64, Vec<Option<u64>>>,
    /// How many links there are.
    count: usize,
    /// How many names of nodes there are.
    known: usize,
    /// Any name may lead to a node.
    any: bool,
}

impl Nodes {
    /// Whether there are nodes.
    #[inline]
    pub(crate) fn exist(&self) -> bool {
        !self.names.is_empty() || self.any
    }

    /// Whether the path may lead to a node. A path that ends with `.` or `..` leads to a folder.
    #[cold]
    pub(crate) fn may_be_at(&self, path: Option<&[u8]>) -> bool {
        let Some(path) = path else { return true };
        last_part(path).is_some_and(|part| self.any || self.names.contains_key(&part))
    }

    /// A call makes a node with this name; `None`: the log does not show it.
    #[cold]
    pub(crate) fn make(&mut self, part: Option<u64>, node: Node) {
        self.any |= part.is_none() || self.count > LINKS;
        let mut made: Vec<(u64, Node)> = part.map(|part| (part, node)).into_iter().collect();
        while let Some((part, node)) = made.pop() {
            self.known += 1;
            self.any |= self.known > NODES;
            if self.any {
                break;
            }
            let names = self.names.entry(part).or_default();
            names.push(node);
            if names.len() > 1 {
                continue;
            }
            let leads = |targets: &Vec<Option<u64>>| {
                targets.iter().any(|&target| target.is_none_or(|target| target == part))
            };
            let links = self.links.iter().filter(|(_, targets)| leads(targets));
            made.extend(links.map(|(&link, _)| (link, Node::LASTING)));
        }
        if self.any {
            // Nothing else matters from here on.
            (self.names, self.links) = (HashMap::default(), HashMap::default());
        }
    }

    /// A symbolic link with this name leads to that one.
    #[cold]
    pub(crate) fn link(&mut self, target: Option<u64>, link: Option<u64>) {
        if self.any || self.count > LINKS {
            return;
        }
        let leads = target.is_none_or(|target| self.names.contains_key(&target)) && self.exist();
        let Some(name) = link else {
            self.any |= leads;
            return;
        };
        let targets = self.links.entry(name).or_default();
        if !targets.contains(&target) {
            self.count += 1;
            targets.push(target);
            if targets.len() > TARGETS {
                *targets = vec![None];
            }
        }
        if self.count > LINKS {
            self.links = HashMap::default();
            self.any |= !self.names.is_empty();
        }
        if leads {
            self.make(link, Node::LASTING);
        }
    }

    /// What has the name `from` has the name `to`, too, or instead.
    #[inline]
    pub(crate) fn name(&mut self, from: Option<u64>, to: Option<u64>) {
        if self.exist() || !self.links.is_empty() {
            self.name_known(from, to);
        }
    }

    #[cold]
    fn name_known(&mut self, from: Option<u64>, to: Option<u64>) {
        let targets = from.and_then(|from| self.links.get(&from)).cloned().unwrap_or_default();
        if from.is_some_and(|from| self.names.contains_key(&from)) {
            self.make(to, Node::LASTING);
        }
        for target in targets {
            self.link(target, to);
        }
    }

    /// The file with this identity has that name no more. A folder that had it has another one, too.
    #[inline]
    pub(crate) fn remove(&mut self, part: Option<u64>, id: Option<u64>) {
        if !self.names.is_empty() {
            self.remove_known(part, id);
        }
    }

    #[cold]
    fn remove_known(&mut self, part: Option<u64>, id: Option<u64>) {
        if let (Some(part), Some(id)) = (part, id.filter(|&id| id != ANY))
            && let Some(names) = self.names.get_mut(&part)
            && let Some(at) = names.iter().position(|node| node.id == id)
        {
            names.swap_remove(at);
            self.known -= 1;
            if names.is_empty() {
                self.names.remove(&part);
            }
        }
        for node in self.names.values_mut().flatten() {
            if part.is_none_or(|part| may_have_part(node.bits, part)) {
                node.id = ANY;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::file_id::part_bits;

    fn part(name: &str) -> Option<u64> {
        last_part(name.as_bytes())
    }

    #[test]
    fn names_lead_to_nodes_through_links() {
        let mut nodes = Nodes::default();
        // A link to a link to a file that is made later.
        nodes.link(part("/d/pipe"), part("one"));
        nodes.link(part("one"), part("two"));
        nodes.name(part("two"), part("three"));
        nodes.link(part("other"), part("four"));
        assert!(!nodes.exist());
        nodes.make(part("/d/pipe"), Node::new(Some(7), part_bits(b"/d/pipe")));
        nodes.link(part("three"), part("five"));
        let leads = |nodes: &Nodes, path: &str| nodes.may_be_at(Some(path.as_bytes()));
        for name in ["/e/pipe", "pipe", "/one", "x/two", "three", "five"] {
            assert!(leads(&nodes, name), "{name}");
        }
        assert!(!leads(&nodes, "four") && !leads(&nodes, "/pipe/..") && nodes.may_be_at(None));
        // The links may lead to another one.
        nodes.remove(part("pipe"), Some(7));
        assert!(!leads(&nodes, "pipe") && leads(&nodes, "one"));
        nodes.link(None, part("six"));
        assert!(leads(&nodes, "six"));
    }

    #[test]
    fn a_name_lasts_if_its_folder_has_moved() {
        for (moved, lasts) in [("/d", true), ("/e", false)] {
            let mut nodes = Nodes::default();
            nodes.make(part("/d/pipe"), Node::new(Some(7), part_bits(b"/d/pipe")));
            nodes.remove(part(moved), Some(8));
            nodes.remove(part("/d/pipe"), Some(7));
            assert_eq!(nodes.exist(), lasts, "{moved}");
        }
    }

    #[test]
    fn not_every_link_is_kept() {
        let mut nodes = Nodes::default();
        for link in 0..2 * LINKS as u64 {
            nodes.link(Some(1), Some(link % (LINKS as u64 + 9) + 2));
        }
        assert!(!nodes.exist());
        assert!(nodes.links.is_empty());
        nodes.make(Some(0), Node::LASTING);
        assert!(nodes.any);
    }

    #[test]
    fn many_nodes_and_targets_take_no_memory() {
        let (mut nodes, mut links) = (Nodes::default(), Nodes::default());
        for at in 0..2 * NODES as u64 {
            nodes.make(Some(at + 1), Node::LASTING);
            links.link(Some(at + 9), Some(1));
        }
        assert!(nodes.names.is_empty() && nodes.exist() && nodes.may_be_at(Some(b"/x")));
        assert!(links.links[&1].len() <= TARGETS);
        links.make(Some(5), Node::LASTING);
        assert!(links.names.contains_key(&1), "the link may lead anywhere");
    }
}
