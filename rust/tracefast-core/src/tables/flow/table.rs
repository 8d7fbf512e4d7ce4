//! The tables: names and types of their columns, and their values.

use std::collections::BTreeSet;
use std::hash::BuildHasher;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::ArrowError;
use hashbrown::HashTable;

use crate::hash::{HashMap, Hasher};
use crate::tables::flow::By;
use crate::tables::flow::edges::{Edge, Edges, End, How, Sum};
use crate::tables::flow::graph::Graph;
use crate::tables::flow::nodes::{Kind, Node};
use crate::tables::flow::process_names::{ProcessNames, base_name};
use crate::tables::flow::roles::{Role, role};
use crate::tables::packed::Packed;
use crate::tables::table_builder::{TableBuilder, build_by_parts};

/// Writers and readers of a file that are listed: all processes read the C library.
const MOST_LISTED: usize = 1000;
/// Programs at one side of a pipe that its name has.
const MOST_AT_PIPE: usize = 3;

/// What an end of a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Is {
    Process,
    Phase,
    Node(Kind),
}

impl Is {
    fn text(self) -> Option<&'static str> {
        match self {
            Self::Process => Some("process"),
            Self::Phase => Some("phase"),
            Self::Node(kind) => kind.text(),
        }
    }
}

/// One end of a row: what it is, and the number of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Name {
    is: Is,
    name: Packed<u32>,
}

/// What a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct About {
    source: u32,
    from: Name,
    to: Name,
    how: How,
    /// The number of the phase's name.
    phase: Packed<u32>,
}

/// The rows of edges, in order of source and first use.
pub(crate) fn edges(
    mut graph: Graph,
    names: &ProcessNames,
    by: By,
) -> Result<Vec<RecordBatch>, ArrowError> {
    graph.sockets.finish(&mut graph.nodes);
    graph.share(names);
    let mut rows = joined(&mut graph, names, by);
    graph.edges = Edges::default();
    let source_name = |source: u32| graph.tracker.source_name(source);
    let source = |number: u32| (source_name(number).is_none(), source_name(number));
    let first = |sum: &Sum| (sum.first.is_none(), sum.first.get());
    // Equal rows stay in the order of their first use in the log.
    rows.sort_by(|(one, moved), (other, later)| {
        let at_first = || first(moved).cmp(&first(later));
        if one.source == other.source {
            return at_first();
        }
        source(one.source).cmp(&source(other.source)).then_with(at_first)
    });
    let texts = &graph.nodes.names;
    let open = &graph.watched.open;
    build_by_parts(rows, |rows| {
        let mut table = TableBuilder::new(&rows);
        // Phases have names of their own.
        let text = |end: Name| match end.is {
            Is::Phase => open.name(end.name.get()?),
            _ => texts.text(end.name.get()?),
        };
        table.keyed_text("source", |row| row.0.source, source_name);
        table.text("src_kind", |row| row.0.from.is.text());
        table.keyed_text("src", |row| row.0.from, text);
        table.text("dst_kind", |row| row.0.to.is.text());
        table.keyed_text("dst", |row| row.0.to, text);
        table.text("how", |row| Some(row.0.how.text()));
        table.int64("bytes", |row| row.1.bytes.get());
        table.uint64("calls", |row| Some(row.1.calls));
        table.timestamp("ts_first", |row| row.1.first.get());
        table.timestamp("ts_last", |row| row.1.last.get());
        table.keyed_text("phase", |row| row.0.phase, |name| open.name(name.get()?));
        table.finish()
    })
}

/// The edges, those that the table calls alike as one.
fn joined(graph: &mut Graph, names: &ProcessNames, by: By) -> Vec<(About, Sum)> {
    let pipes = if by == By::Process { HashMap::default() } else { pipes(graph, names, by) };
    let hasher = Hasher::default();
    let mut index: HashTable<u32> = HashTable::new();
    let mut rows: Vec<(About, Sum)> = Vec::new();
    for edge in graph.edges.all() {
        let Some(source) = source(graph, edge) else { continue };
        let end = |end: End| name(graph, names, &pipes, by, edge, end);
        let (Some(from), Some(to)) = (end(edge.key.from), end(edge.key.to)) else { continue };
        let phase = phase(graph, edge);
        let about = About { source, from, to, how: edge.key.how, phase };
        let hash = hasher.hash_one(about);
        if let Some(&at) = index.find(hash, |&at| rows[at as usize].0 == about) {
            rows[at as usize].1.join(&edge.sum);
        } else {
            let at = rows.len() as u32;
            rows.push((about, edge.sum));
            index.insert_unique(hash, at, |&at| hasher.hash_one(rows[at as usize].0));
        }
    }
    rows
}

fn phase(graph: &Graph, edge: &Edge) -> Packed<u32> {
    graph.watched.open.settled(edge.key.phase, &graph.tracker).into()
}

/// The number of the source of an edge, which both of its ends have.
fn source(graph: &Graph, edge: &Edge) -> Option<u32> {
    let node = |end: End| graph.nodes.get(end.as_node()?).map(|node| node.source);
    node(edge.key.from).or_else(|| node(edge.key.to))
}

fn name(
    graph: &Graph,
    names: &ProcessNames,
    pipes: &HashMap<u32, u32>,
    by: By,
    edge: &Edge,
    end: End,
) -> Option<Name> {
    if let Some(number) = end.as_node() {
        let node = graph.nodes.get(number)?;
        let name = pipes.get(&number).map_or(node.name, |&name| name.into());
        return Some(Name { is: Is::Node(node.kind), name });
    }
    let process = names.of(end.as_task()?)?;
    Some(match by {
        By::Process => Name { is: Is::Process, name: (*names.own.get(process)?).into() },
        By::Image => Name { is: Is::Process, name: *names.images.get(process)? },
        By::Phase => Name { is: Is::Phase, name: phase(graph, edge) },
    })
}

/// By node, the number of the name of a pipe among programs or phases: who gives and who takes.
fn pipes(graph: &mut Graph, names: &ProcessNames, by: By) -> HashMap<u32, u32> {
    let mut sides: HashMap<u32, [BTreeSet<Option<u32>>; 2]> = HashMap::default();
    for edge in graph.edges.all() {
        let (task, node, side) = match (edge.key.from.as_task(), edge.key.to.as_task()) {
            (Some(task), None) => (task, edge.key.to.as_node(), 0),
            (None, Some(task)) => (task, edge.key.from.as_node(), 1),
            _ => continue,
        };
        let Some(number) = node else { continue };
        let anonymous = |node: &Node| {
            node.kind == Kind::Pipe
                && graph.nodes.text(node).is_none_or(|name| name.starts_with("pipe"))
        };
        if !graph.nodes.get(number).is_some_and(anonymous) {
            continue;
        }
        let program = names.of(task).and_then(|process| names.images.get(process).copied());
        let who = if by == By::Image { program.unwrap_or_default() } else { phase(graph, edge) };
        sides.entry(number).or_default()[side].insert(who.get());
    }
    let mut found = HashMap::default();
    for (node, sides) in sides {
        let side = |all: &BTreeSet<Option<u32>>| {
            let text = |who: &Option<u32>| match (*who, by) {
                (None, _) => "?",
                (Some(name), By::Phase) => graph.watched.open.name(name).unwrap_or("?"),
                (Some(name), _) => graph.nodes.names.text(name).map_or("?", base_name),
            };
            let mut texts: Vec<&str> = all.iter().map(text).collect();
            texts.sort_unstable();
            texts.dedup();
            let more = texts.len() > MOST_AT_PIPE;
            texts.truncate(MOST_AT_PIPE);
            if more {
                texts.push("…");
            }
            if texts.is_empty() { "?".to_owned() } else { texts.join(", ") }
        };
        let name = format!("{} | {}", side(&sides[0]), side(&sides[1]));
        found.insert(node, graph.nodes.names.number(&name));
    }
    found
}

/// A file, with what decided its role.
struct File<'a> {
    node: &'a Node,
    path: &'a str,
    role: Role,
    because: &'static str,
    writers: Vec<&'a str>,
    readers: Vec<&'a str>,
}

/// The rows of files, in order of source and path. `names`: those of the processes that use them,
/// if these are wanted.
pub(crate) fn roles(
    graph: &Graph,
    names: Option<&ProcessNames>,
) -> Result<Vec<RecordBatch>, ArrowError> {
    let mut rows: Vec<File<'_>> = Vec::new();
    let mut by_node: Vec<Packed<u32>> = vec![Packed::default(); graph.nodes.all.len()];
    for (node, number) in graph.nodes.all.iter().zip(&mut by_node) {
        let Some(path) = graph.nodes.text(node).filter(|path| !path.starts_with("/dev/")) else {
            continue;
        };
        if node.kind != Kind::File || node.special {
            continue;
        }
        let Some((role, because)) = role(&node.uses, path) else { continue };
        number.set(rows.len() as u32);
        rows.push(File { node, path, role, because, writers: Vec::new(), readers: Vec::new() });
    }
    let mut listed: HashMap<(u32, u32, bool), ()> = HashMap::default();
    for edge in graph.edges.all() {
        let (task, node, writes) = match (edge.key.from.as_task(), edge.key.to.as_task()) {
            (Some(task), None) => (task, edge.key.to.as_node(), true),
            (None, Some(task)) => (task, edge.key.from.as_node(), false),
            _ => continue,
        };
        let row = node.and_then(|node| by_node.get(node as usize)?.get());
        let Some(row) = row else { continue };
        let Some(names) = names else { break };
        let Some(process) = names.of(task) else { continue };
        let Some(&name) = names.own.get(process) else { continue };
        let file = &mut rows[row as usize];
        let list = if writes { &mut file.writers } else { &mut file.readers };
        if list.len() < MOST_LISTED && listed.insert((row, name, writes), ()).is_none() {
            list.extend(graph.nodes.names.text(name));
        }
    }
    rows.sort_by_key(|row| {
        let source = graph.tracker.source_name(row.node.source);
        ((source.is_none(), source), row.path)
    });
    build_by_parts(rows, |rows| {
        let mut table = TableBuilder::new(&rows);
        table.text("source", |row| graph.tracker.source_name(row.node.source));
        table.text("path", |row| Some(row.path));
        table.text("role", |row| Some(row.role.text()));
        table.text("decided_by", |row| Some(row.because));
        if names.is_some() {
            table.array("writers", lists(rows.iter().map(|row| &row.writers)));
            table.array("readers", lists(rows.iter().map(|row| &row.readers)));
        }
        table.timestamp("ts_written", |row| row.node.uses.ts_written.get());
        table.timestamp("ts_read_after", |row| row.node.uses.ts_read_after.get());
        table.text("from_path", |row| graph.nodes.names.text(row.node.uses.from.get()?));
        table.boolean("removed", |row| Some(row.node.uses.removed));
        table.finish()
    })
}

fn lists<'a>(all: impl Iterator<Item = &'a Vec<&'a str>>) -> ArrayRef {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for list in all {
        for text in list {
            lists.values().append_value(text);
        }
        lists.append(true);
    }
    Arc::new(lists.finish())
}
