//! What a process is: which tasks are its threads, what created it, which programs it ran.
//!
//! Every table asks here, so all tables agree. [`tracker`] keeps a record of each task, [`kinds`]
//! says how it was created, [`namespaces`] by which call, [`group`] decides which tasks are one
//! process, [`programs`] finds what it ran, [`argv`] with which arguments, [`callers`] gives these to
//! calls, [`launcher`] says what these show about its part among worker processes, and [`outcome`]
//! how and when it ended. [`task_rows`] is for several tables at once. Memory grows with tasks and
//! the programs that they started.

pub(crate) mod argv;
pub(crate) mod callers;
pub(crate) mod group;
pub(crate) mod kinds;
pub(crate) mod launcher;
pub(crate) mod namespaces;
pub(crate) mod outcome;
pub(crate) mod programs;
pub(crate) mod task;
pub mod task_rows;
pub(crate) mod tracker;
pub(crate) mod word_classes;
