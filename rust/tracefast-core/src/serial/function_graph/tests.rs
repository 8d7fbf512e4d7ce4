//! What the state keeps. The golden logs test the rows.

use crate::events::line_counts::LineUse;
use crate::events::parsed_block::Parsed;
use crate::events::vocabulary::Status;
use crate::ftrace::{Grammar, detect};
use crate::serial::function_graph::{FunctionStacks, MAX_TASKS};
use crate::text::block::Block;

/// Joins `text` as a block, and gives the names and states of its rows.
fn run(graph: &mut FunctionStacks, text: &str, line: i64) -> (Parsed, Vec<String>) {
    let format = detect(text.as_bytes()).expect("a log");
    let mut parsed = Parsed::default();
    Grammar::default().parse(&format, &mut Block::from_text(text.as_bytes()), &mut parsed);
    graph.run(&mut parsed, text.as_bytes(), line);
    let rows = shown(&parsed);
    (parsed, rows)
}

fn shown(parsed: &Parsed) -> Vec<String> {
    let rows = &parsed.rows;
    let row = |row: usize| {
        let name = &parsed.names[rows.name[row] as usize];
        format!("{name} {} {}", Status::TEXTS[usize::from(rows.status[row])], rows.line[row])
    };
    parsed.runs().into_iter().flatten().map(row).collect()
}

#[test]
fn tasks_that_are_never_seen_again_are_given_up() {
    let line = |tid: usize| format!(" 0)    a-{tid}     |               |  f() {{\n");
    let text = (1..=MAX_TASKS + 1).map(line).collect::<Vec<_>>().concat();
    let mut graph = FunctionStacks::default();
    let (parsed, rows) = run(&mut graph, &text, 0);
    assert_eq!(rows.len(), MAX_TASKS / 2);
    assert_eq!((&*rows[0], &*rows[1]), ("f unfinished 0", "f unfinished 1"));
    assert_eq!(parsed.counts.lines(LineUse::Events), MAX_TASKS as u64 + 1);
    assert_eq!(graph.stacks.len(), MAX_TASKS / 2 + 1);
    let mut rest = Parsed::default();
    graph.finish(&mut rest, MAX_TASKS as i64 + 1);
    assert_eq!(rest.rows.len, MAX_TASKS / 2 + 1);
    assert_eq!(rest.rows.line[0], -1 - MAX_TASKS as i64 / 2);
}

#[test]
fn nothing_is_kept_of_tasks_that_are_in_no_function() {
    let mut graph = FunctionStacks::default();
    for tid in 0..100 {
        let text = format!(
            " 0)    a-{tid}     |               |  f() {{\n 0)    a-{tid}     |   1.000 us    |  }}\n"
        );
        run(&mut graph, &text, 2 * tid);
    }
    assert!(graph.stacks.is_empty());
    assert_eq!(graph.spare.len(), 1);
}

#[test]
fn a_task_that_is_dead_is_in_no_function() {
    let mut graph = FunctionStacks::default();
    let (_, rows) = run(
        &mut graph,
        " 0)               |  do_exit() {\n 0)               |    do_task_dead() {\n 0)  a-7  =>  b-8\n \
         0)               |  schedule() {\n 0)  b-8  =>  a-7\n 0)               |  f() {\n",
        0,
    );
    assert_eq!(rows, ["do_task_dead unfinished 1", "do_exit unfinished 0"]);
    // A task that is only switched out is still in its functions.
    assert_eq!(graph.stacks.len(), 2);
}

#[test]
fn deep_stacks_take_no_longer_than_others() {
    // Each line is nested deeper than the one before, so the text grows with the square of their
    // number.
    let depth = 3000;
    let line = |depth| format!(" 0)               |  {}f() {{\n", "  ".repeat(depth));
    let mut text = (0..depth).map(line).collect::<Vec<_>>().concat();
    text += " 0)   1.000 us    |  }\n";
    let (_, rows) = run(&mut FunctionStacks::default(), &text, 0);
    assert_eq!(rows.len(), depth);
    assert_eq!(rows[depth - 1], "f complete 0");
}
