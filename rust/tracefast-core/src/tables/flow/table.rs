//! The tables: names and types of their columns, and their values.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::ArrowError;

use crate::hash::HashMap;
use crate::tables::flow::By;
use crate::tables::flow::edges::{Edge, End, How, Sum};
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

/// One end of a row: what it is, and the number of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Name {
    kind: Option<&'static str>,
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
    let pipes = if by == By::Process { HashMap::default() } else { pipes(&mut graph, names, by) };
    let mut index: HashMap<About, u32> = HashMap::default();
    let mut rows: Vec<(About, Sum)> = Vec::new();
    for edge in graph.edges.all() {
        let Some(source) = source(&graph, edge) else { continue };
        let end = |end: End| name(&graph, names, &pipes, by, edge, end);
        let (Some(from), Some(to)) = (end(edge.key.from), end(edge.key.to)) else { continue };
        let phase = phase(&graph, edge);
        let about = About { source, from, to, how: edge.key.how, phase };
        let at = *index.entry(about).or_insert_with(|| {
            rows.push((about, Sum::default()));
            rows.len() as u32 - 1
        });
        rows[at as usize].1.join(&edge.sum);
    }
    drop(index);
    let source_name = |row: &(About, Sum)| graph.tracker.source_name(row.0.source);
    // Equal rows stay in the order of their first use in the log.
    rows.sort_by_key(|row| {
        let source = source_name(row);
        ((source.is_none(), source), (row.1.first.is_none(), row.1.first.get()))
    });
    let text = |name: Packed<u32>| graph.nodes.names.text(name.get()?);
    let open = &graph.watched.open;
    build_by_parts(rows, |rows| {
        let mut table = TableBuilder::new(&rows);
        table.text("source", source_name);
        table.text("src_kind", |row| row.0.from.kind);
        table.text("src", |row| end_text(row.0.from, text, |name| open.name(name)));
        table.text("dst_kind", |row| row.0.to.kind);
        table.text("dst", |row| end_text(row.0.to, text, |name| open.name(name)));
        table.text("how", |row| Some(row.0.how.text()));
        table.int64("bytes", |row| row.1.bytes.get());
        table.uint64("calls", |row| Some(row.1.calls));
        table.timestamp("ts_first", |row| row.1.first.get());
        table.timestamp("ts_last", |row| row.1.last.get());
        table.text("phase", |row| open.name(row.0.phase.get()?));
        table.finish()
    })
}

const PROCESS: &str = "process";
const PHASE: &str = "phase";

/// The text of an end: phases have names of their own.
fn end_text<'a>(
    end: Name,
    text: impl Fn(Packed<u32>) -> Option<&'a str>,
    phase: impl Fn(u32) -> Option<&'a str>,
) -> Option<&'a str> {
    if end.kind == Some(PHASE) { phase(end.name.get()?) } else { text(end.name) }
}

fn phase(graph: &Graph, edge: &Edge) -> Packed<u32> {
    graph.watched.open.settled(edge.key.phase, &graph.tracker).into()
}

/// The number of the source of an edge.
fn source(graph: &Graph, edge: &Edge) -> Option<u32> {
    let end = |end: End| match (end.as_task(), end.as_node()) {
        (Some(task), _) => graph.tracker.tasks.get(task as usize).map(|task| task.source),
        (None, Some(node)) => graph.nodes.get(node).map(|node| node.source),
        (None, None) => None,
    };
    end(edge.key.from).or_else(|| end(edge.key.to))
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
        return Some(Name { kind: node.kind.text(), name });
    }
    let process = names.of(end.as_task()?)?;
    let (kind, name) = match by {
        By::Process => (PROCESS, (*names.own.get(process)?).into()),
        By::Image => (PROCESS, *names.images.get(process)?),
        By::Phase => (PHASE, phase(graph, edge)),
    };
    Some(Name { kind: Some(kind), name })
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

/// The rows of files, in order of source and path.
pub(crate) fn roles(graph: &Graph, names: &ProcessNames) -> Result<Vec<RecordBatch>, ArrowError> {
    let mut rows: Vec<File<'_>> = Vec::new();
    let mut by_node: HashMap<u32, u32> = HashMap::default();
    for (number, node) in (0..).zip(&graph.nodes.all) {
        let Some(path) = graph.nodes.text(node).filter(|path| !path.starts_with("/dev/")) else {
            continue;
        };
        if node.kind != Kind::File || node.special {
            continue;
        }
        let Some((role, because)) = role(&node.uses, path) else { continue };
        by_node.insert(number, rows.len() as u32);
        rows.push(File { node, path, role, because, writers: Vec::new(), readers: Vec::new() });
    }
    let mut listed: HashMap<(u32, u32, bool), ()> = HashMap::default();
    for edge in graph.edges.all() {
        let (task, node, writes) = match (edge.key.from.as_task(), edge.key.to.as_task()) {
            (Some(task), None) => (task, edge.key.to.as_node(), true),
            (None, Some(task)) => (task, edge.key.from.as_node(), false),
            _ => continue,
        };
        let Some(process) = names.of(task) else { continue };
        let Some(&name) = names.own.get(process) else { continue };
        let Some(&row) = node.and_then(|node| by_node.get(&node)) else { continue };
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
        table.array("writers", lists(rows.iter().map(|row| &row.writers)));
        table.array("readers", lists(rows.iter().map(|row| &row.readers)));
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
