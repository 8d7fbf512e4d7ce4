//! The meaning of words in events for the lives of tasks.

use crate::linux::clone::is_unnamed_clone3;
use crate::linux::syscalls::{Classes, classes_of};

/// Kinds of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// A system call.
    Call,
    /// The call that created the task, as it returns in the task itself. It is the parent's call.
    Return,
    /// A completed part of an asynchronous submission.
    Part,
    /// The end of a task.
    Exit,
    /// A signal.
    Signal,
    /// An event of ftrace.
    Event,
    /// Events that the tracer lost, of any task.
    Lost,
    /// A fact found by the model: not a sign of life.
    Notice,
    /// Any other sign of life.
    Other,
}

impl RowKind {
    /// All kinds, by number.
    pub(crate) const ALL: [Self; 9] = [
        Self::Call,
        Self::Return,
        Self::Part,
        Self::Exit,
        Self::Signal,
        Self::Event,
        Self::Lost,
        Self::Notice,
        Self::Other,
    ];

    pub(crate) fn from_word(word: &str) -> Self {
        match word {
            "syscall" => Self::Call,
            "aio" => Self::Part,
            "exit" => Self::Exit,
            "signal" => Self::Signal,
            "event" => Self::Event,
            "notice" => Self::Notice,
            "lost" => Self::Lost,
            _ => Self::Other,
        }
    }
}

/// What a row does to tasks, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A call that creates a task.
    Fork,
    /// `clone3`, printed by an strace that does not know it.
    UnknownFork,
    /// A call that starts a program.
    Exec,
    /// A call that ends a task.
    Exit,
    /// A call that ends a process.
    ExitGroup,
    /// A call that may say how a child ended.
    Wait,
    /// A call that returns the number of the task.
    OwnNumber,
    /// A call that returns the number of the process.
    OwnProcess,
    /// A child changed its state.
    ChildSignal,
    /// An event: a task was created, with its flags.
    NewTask,
    /// An event: a task was created.
    ForkEvent,
    /// An event: a program was started.
    ExecEvent,
    /// An event: the task ended.
    ExitEvent,
    /// None of these.
    Other,
}

impl Role {
    pub(crate) fn from_name(word: &str) -> Self {
        let classes = classes_of(word.as_bytes());
        match word {
            _ if classes.has(Classes::FORKS) => Self::Fork,
            _ if is_unnamed_clone3(word) => Self::UnknownFork,
            _ if classes.has(Classes::EXECS) => Self::Exec,
            _ if classes.has(Classes::ENDS_GROUP) => Self::ExitGroup,
            _ if classes.has(Classes::ENDS) => Self::Exit,
            _ if classes.has(Classes::COLLECTS) => Self::Wait,
            "gettid" | "set_tid_address" => Self::OwnNumber,
            "getpid" => Self::OwnProcess,
            "SIGCHLD" => Self::ChildSignal,
            "task_newtask" => Self::NewTask,
            "sched_process_fork" => Self::ForkEvent,
            "sched_process_exec" => Self::ExecEvent,
            "sched_process_exit" => Self::ExitEvent,
            _ => Self::Other,
        }
    }
}

/// What the status of a call says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Its start is not in the log.
    Headless,
    /// strace injected its result.
    Injected,
    /// Something else.
    Other,
}

impl Status {
    pub(crate) fn from_word(word: &str) -> Self {
        match word {
            "headless" => Self::Headless,
            "injected" => Self::Injected,
            _ => Self::Other,
        }
    }
}
