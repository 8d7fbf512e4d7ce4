//! Which program each process ran last.

use crate::tables::syscalls::incarnations::Incarnations;
use crate::tables::syscalls::tasks::{Key, Tasks, Who};

/// What changes the program of a process, in the order of events.
#[derive(Debug)]
pub(crate) enum Step {
    /// A task started a program; its path, if the log has it.
    Exec(u32, Option<Box<str>>),
    /// A task made another one, which has this identity.
    Fork(u32, u32),
}

/// What is known of a process's program.
#[derive(Debug, Clone, Copy)]
enum Program<'a> {
    /// It is the one that it began with.
    Inherited,
    /// It is another one; its path, if that is known.
    Own(Option<&'a str>),
}

/// The program with which a process begins.
#[derive(Debug, Clone, Copy)]
enum Birth<'a> {
    /// This one; its path, if that is known.
    With(Option<&'a str>),
    /// That with which this process, its parent, began.
    Like(usize),
}

/// By process, the path of the program, else the number of the command's name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Image<'a> {
    pub(crate) path: Option<&'a str>,
    pub(crate) comm: Option<u32>,
}

/// Finds the program of each process: the path of its last execve, or of that of the process
/// which it was forked from; its name stands in where the log has no such path.
pub(crate) fn images<'a>(tasks: &'a Tasks, processes: &Incarnations) -> Vec<Image<'a>> {
    let count = processes.all.len();
    let by_task = processes.by_task(tasks);
    let mut programs = vec![Program::Inherited; count];
    let mut births: Vec<Option<Birth>> = vec![None; count];
    for step in &tasks.steps {
        match step {
            Step::Exec(task, path) => {
                if let Some(&process) = processes.of.get(*task as usize) {
                    programs[process as usize] = Program::Own(path.as_deref());
                }
            }
            Step::Fork(task, child) => {
                let (Some(&parent), Some(maker)) =
                    (processes.of.get(*task as usize), tasks.all.get(*task as usize))
                else {
                    continue;
                };
                let key = Key { source: maker.key.source, who: Who::Task(*child) };
                let Some(&child) = by_task.get(&key) else { continue };
                if child != parent && births[child as usize].is_none() {
                    births[child as usize] = Some(match programs[parent as usize] {
                        Program::Own(path) => Birth::With(path),
                        Program::Inherited => Birth::Like(parent as usize),
                    });
                }
            }
        }
    }
    let names = names(tasks, processes);
    let born = born_with(&births);
    (programs.iter().zip(born).zip(names))
        .map(|((program, born), comm)| {
            let path = match *program {
                Program::Own(path) => path,
                Program::Inherited => born,
            };
            Image { path, comm }
        })
        .collect()
}

/// By process, the program that it began with.
fn born_with<'a>(births: &[Option<Birth<'a>>]) -> Vec<Option<&'a str>> {
    let mut found: Vec<Option<Option<&str>>> = vec![None; births.len()];
    let mut descent = Vec::new();
    for process in 0..births.len() {
        let mut at = process;
        let path = loop {
            if let Some(path) = found[at] {
                break path;
            }
            // Who meets itself among its ancestors has none: the events are those of no log.
            found[at] = Some(None);
            descent.push(at);
            match births[at] {
                None => break None,
                Some(Birth::With(path)) => break path,
                Some(Birth::Like(parent)) => at = parent,
            }
        };
        for at in descent.drain(..) {
            found[at] = Some(path);
        }
    }
    found.into_iter().map(Option::flatten).collect()
}

/// By process, the last name of its first thread, else of any.
fn names(tasks: &Tasks, processes: &Incarnations) -> Vec<Option<u32>> {
    let mut last: Vec<Option<(bool, u64, u32)>> = vec![None; processes.all.len()];
    for (task, &process) in tasks.all.iter().zip(&processes.of) {
        if let Some((seen, comm)) = task.comm {
            let best = &mut last[process as usize];
            *best = (*best).max(Some((task.led, seen, comm)));
        }
    }
    last.into_iter().map(|best| best.map(|(_, _, comm)| comm)).collect()
}
