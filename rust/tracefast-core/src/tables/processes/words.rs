//! What the words in events mean for the life of processes.

use crate::linux::clone::makes_tasks;
use crate::linux::waits;
use crate::tables::files::words::Act;

/// Kinds of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A system call.
    Call,
    /// A part of a submission.
    Part,
    /// The end of a task.
    Exit,
    /// A signal.
    Signal,
    /// An event of ftrace.
    Event,
    /// A remark of the model: not a sign of life.
    Notice,
    /// Any other sign of life.
    Other,
}

impl Kind {
    pub(crate) fn of(word: &str) -> Self {
        match word {
            "syscall" => Self::Call,
            "aio" => Self::Part,
            "exit" => Self::Exit,
            "signal" => Self::Signal,
            "event" => Self::Event,
            "notice" => Self::Notice,
            _ => Self::Other,
        }
    }
}

/// What a row of some name does to tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A call that makes a task.
    Fork,
    /// The same, of a tracer that is older than `clone3`.
    UnknownFork,
    /// A call that starts a program.
    Exec,
    /// A call that ends a task.
    Exit,
    /// A call that ends a process.
    ExitGroup,
    /// A call that may tell how a child ended.
    Wait,
    /// A child changed its state.
    ChildSignal,
    /// An event: a task was made, its flags are told.
    NewTask,
    /// An event: a task was made.
    ForkEvent,
    /// An event: a program was started.
    ExecEvent,
    /// An event: the task ended.
    ExitEvent,
    /// Nothing of this.
    Other,
}

impl Role {
    fn of(word: &str) -> Self {
        match word {
            "execve" | "execveat" => Self::Exec,
            "exit" | "_exit" => Self::Exit,
            "exit_group" => Self::ExitGroup,
            "wait4" | "waitpid" | "waitid" | "oldwait4" | "osf_wait4" => Self::Wait,
            "SIGCHLD" => Self::ChildSignal,
            // The number of clone3 on all machines but alpha.
            "syscall_435" | "syscall_0x1b3" => Self::UnknownFork,
            "task_newtask" => Self::NewTask,
            "sched_process_fork" => Self::ForkEvent,
            "sched_process_exec" => Self::ExecEvent,
            "sched_process_exit" => Self::ExitEvent,
            _ if makes_tasks(word) => Self::Fork,
            _ => Self::Other,
        }
    }
}

/// The meaning of a name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meaning {
    /// The number of the name.
    pub(crate) name: u32,
    pub(crate) role: Role,
    /// How it moves data.
    pub(crate) act: Act,
    /// What it does with its time.
    pub(crate) spent: waits::Call,
}

impl Meaning {
    pub(crate) fn of(word: &str, name: u32) -> Self {
        Self { name, role: Role::of(word), act: Act::of(word), spent: waits::Call::of(word) }
    }
}

/// What the status of a call says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// The beginning is not in the log.
    Headless,
    /// Its result was made up by the tracer.
    Injected,
    /// Something else.
    Other,
}

impl Status {
    pub(crate) fn of(word: &str) -> Self {
        match word {
            "headless" => Self::Headless,
            "injected" => Self::Injected,
            _ => Self::Other,
        }
    }
}
