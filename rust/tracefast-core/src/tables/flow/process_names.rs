//! What processes are called in the table.

use crate::hash::HashMap;
use crate::tables::flow::graph::Graph;
use crate::tables::names::Names;
use crate::tables::packed::Packed;
use crate::tables::process_tracking::group::{self, Process};
use crate::tables::process_tracking::programs::{self, Programs};
use crate::tables::process_tracking::tracker::Tracker;

/// The processes by their tasks, with their names.
#[derive(Debug)]
pub(crate) struct ProcessNames {
    /// By task, the number of its process.
    pub(crate) by_task: Vec<Packed<u32>>,
    /// By process, the numbers of its own name and of that of its program.
    pub(crate) own: Vec<u32>,
    pub(crate) images: Vec<Packed<u32>>,
}

impl ProcessNames {
    /// Names the processes of a graph, once all rows are in.
    pub(crate) fn of_graph(graph: &mut Graph) -> Self {
        Self::new(&mut graph.tracker, &mut graph.nodes.names)
    }

    fn new(tracker: &mut Tracker, names: &mut Names) -> Self {
        tracker.finish();
        let tasks = &tracker.tasks;
        let processes = group::processes(tasks);
        let programs = Programs::new(tasks, &processes);
        let mut found = Self {
            by_task: group::processes_by_task(tasks, &processes),
            own: Vec::with_capacity(processes.len()),
            images: Vec::with_capacity(processes.len()),
        };
        let mut used: HashMap<(u32, u32), u32> = HashMap::default();
        for (at, process) in processes.iter().enumerate() {
            let image = programs.last(at).and_then(|exec| exec.path.as_deref());
            let comm = || tracker.comms.text(programs::comm(tasks, process)?);
            let program = image.map(base_name).or_else(comm);
            let name = name(program, tasks.get(process.root as usize), process);
            let number = names.number(&name);
            // Ids are given again: the second process of a name is another one.
            let count = used.entry((process.source, number)).or_default();
            *count += 1;
            let own = if *count == 1 { number } else { names.number(&format!("{name} #{count}")) };
            found.own.push(own);
            let image = image.or_else(comm);
            found.images.push(image.map(|image| names.number(image)).into());
        }
        found
    }

    /// The process of a task.
    pub(crate) fn of(&self, task: u32) -> Option<usize> {
        self.by_task.get(task as usize)?.get().map(|process| process as usize)
    }
}

/// `python3 11783`.
fn name(
    program: Option<&str>,
    root: Option<&crate::tables::process_tracking::task::Task>,
    process: &Process,
) -> String {
    let pid = process.pid.get().or(root.and_then(|task| task.tid.get()));
    let program = program.unwrap_or("process");
    match (pid, root) {
        (Some(pid), _) => format!("{program} {pid}"),
        (None, Some(task)) => format!("{program} (task {})", task.id),
        (None, None) => program.to_owned(),
    }
}

/// The name of a file without its folders.
pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(path)
}
