//! What the arguments of a program show about its part among worker processes.
//!
//! Libraries that start workers as new programs do so with command lines of their own. This is the
//! one place that knows them. Workers that are forked and execute nothing have no such mark.

use crate::tables::process_tracking::argv::CUT;

/// The part of a program among worker processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum WorkerRole {
    /// A worker of multiprocessing's start method `spawn`.
    SpawnWorker,
    /// The process of multiprocessing's start method `forkserver` that forks the workers.
    ForkServer,
    /// multiprocessing's resource tracker, up to Python 3.7 its semaphore tracker, or loky's: it
    /// removes what others leave behind, and does no work.
    ResourceTracker,
    /// A worker of loky, which joblib uses.
    LokyWorker,
    /// torch's launcher of one process for each GPU. Its workers are told by their environment.
    Torchrun,
}

impl WorkerRole {
    /// The role of a program that was started with these arguments, cut ones included.
    ///
    /// None if they show none: most programs have nothing to do with workers.
    pub(crate) fn from_argv<S: AsRef<str>>(argv: &[S]) -> Option<Self> {
        let argument = |at: usize| argv.get(at).map(AsRef::as_ref);
        // What a frozen program starts itself with: `get_command_line` in multiprocessing/spawn.py.
        if argument(1).is_some_and(|first| is(first, FORK_FLAG)) {
            return Some(Self::SpawnWorker);
        }
        if let Some(role) = argv.iter().take(2).find_map(|path| by_script(path.as_ref())) {
            return Some(role);
        }
        // Options of the interpreter come first. What follows the code or the name of a module is
        // the program's.
        let at =
            1 + argv.iter().skip(1).position(|option| ["-c", "-m"].contains(&option.as_ref()))?;
        let text = argument(at + 1)?;
        let code = argument(at)? == "-c";
        let known: &[(&str, Self)] = if code { &CODE } else { &MODULES };
        let fits = |whole: &str| is(text, whole) || code && text.starts_with(whole);
        let mut found = known.iter().filter(|(whole, _)| fits(whole)).map(|&(_, role)| role);
        let role = found.next()?;
        // Cut so short that it may be more than one.
        if found.any(|other| other != role) {
            let flag = argument(at + 2).is_some_and(|flag| is(flag, FORK_FLAG));
            return flag.then_some(Self::SpawnWorker);
        }
        Some(role)
    }

    /// Whether it does the work that a pool is for.
    pub(crate) fn is_worker(self) -> bool {
        matches!(self, Self::SpawnWorker | Self::LokyWorker)
    }

    /// Whether it only serves workers.
    pub(crate) fn is_helper(self) -> bool {
        matches!(self, Self::ForkServer | Self::ResourceTracker)
    }
}

/// How a worker is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum StartMethod {
    /// Forked from the process that uses it.
    Fork,
    /// Started as a new program by a library of Python.
    Spawn,
    /// Forked from a forkserver.
    Forkserver,
    /// Started as a new program by a launcher.
    Exec,
}

impl StartMethod {
    /// How a process was started that was forked by a program with the role `parent`, and has
    /// executed nothing. Whether it works for that one, its later calls must show.
    pub(crate) fn of_fork(parent: Option<WorkerRole>) -> Self {
        if parent == Some(WorkerRole::ForkServer) { Self::Forkserver } else { Self::Fork }
    }

    /// How a worker was started that is a program with the role `own`, from one with the role
    /// `parent`; None if it is no worker.
    pub(crate) fn of_program(parent: Option<WorkerRole>, own: Option<WorkerRole>) -> Option<Self> {
        match own {
            Some(role) if role.is_worker() => Some(Self::Spawn),
            Some(role) if role.is_helper() => None,
            _ => (parent == Some(WorkerRole::Torchrun)).then_some(Self::Exec),
        }
    }

    /// Its name, which is multiprocessing's where that has one.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::Spawn => "spawn",
            Self::Forkserver => "forkserver",
            Self::Exec => "exec",
        }
    }
}

/// What each worker of `spawn` is started with: `get_command_line` in `multiprocessing/spawn.py`.
const FORK_FLAG: &str = "--multiprocessing-fork";

/// The code that `-c` runs, up to the numbers of descriptors in it: `spawn.py`, `forkserver.py`,
/// `resource_tracker.py` and `semaphore_tracker.py` of multiprocessing, and of multiprocess, which
/// pathos uses; `loky/backend/resource_tracker.py`, of which joblib has a copy.
const CODE: [(&str, WorkerRole); 9] = [
    ("from multiprocessing.spawn import spawn_main", WorkerRole::SpawnWorker),
    ("from multiprocessing.forkserver import main", WorkerRole::ForkServer),
    ("from multiprocessing.resource_tracker import main", WorkerRole::ResourceTracker),
    ("from multiprocessing.semaphore_tracker import main", WorkerRole::ResourceTracker),
    ("from multiprocess.spawn import spawn_main", WorkerRole::SpawnWorker),
    ("from multiprocess.forkserver import main", WorkerRole::ForkServer),
    ("from multiprocess.resource_tracker import main", WorkerRole::ResourceTracker),
    ("from loky.backend.resource_tracker import main", WorkerRole::ResourceTracker),
    (
        "from joblib.externals.loky.backend.resource_tracker import main",
        WorkerRole::ResourceTracker,
    ),
];

/// The modules that `-m` runs: `loky/backend/popen_loky_posix.py`; `torch/distributed/run.py`, and
/// `launch.py`, its older form.
const MODULES: [(&str, WorkerRole); 4] = [
    ("loky.backend.popen_loky_posix", WorkerRole::LokyWorker),
    ("joblib.externals.loky.backend.popen_loky_posix", WorkerRole::LokyWorker),
    ("torch.distributed.run", WorkerRole::Torchrun),
    ("torch.distributed.launch", WorkerRole::Torchrun),
];

/// What a script is, started by itself or by the interpreter.
fn by_script(path: &str) -> Option<WorkerRole> {
    (path.rsplit('/').next() == Some("torchrun")).then_some(WorkerRole::Torchrun)
}

/// Whether an argument is `whole`, as far as the log has it.
fn is(text: &str, whole: &str) -> bool {
    text == whole || cut_from(text, whole)
}

/// Whether the log has only the start of an argument, and `whole` starts with it.
fn cut_from(text: &str, whole: &str) -> bool {
    text.strip_suffix(CUT).is_some_and(|start| !start.is_empty() && whole.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(argv: &[&str]) -> Option<WorkerRole> {
        WorkerRole::from_argv(argv)
    }

    const SPAWN: &str =
        "from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=5, pipe_handle=7)";

    #[test]
    fn the_start_methods_of_multiprocessing() {
        let code = |code| role(&["/venv/bin/python", "-B", "-X", "dev", "-c", code]);
        assert_eq!(code(SPAWN), Some(WorkerRole::SpawnWorker));
        for (text, expected) in [
            (
                "from multiprocessing.forkserver import main; main(6, 7, ['__main__'], **{})",
                WorkerRole::ForkServer,
            ),
            (
                "from multiprocessing.resource_tracker import main;main(5)",
                WorkerRole::ResourceTracker,
            ),
            (
                "from multiprocessing.semaphore_tracker import main;main(5)",
                WorkerRole::ResourceTracker,
            ),
            (
                "from multiprocess.spawn import spawn_main; spawn_main(pipe_handle=7)",
                WorkerRole::SpawnWorker,
            ),
        ] {
            assert_eq!(code(text), Some(expected), "{text}");
        }
        assert_eq!(
            role(&["app", FORK_FLAG, "tracker_fd=6", "pipe_handle=8"]),
            Some(WorkerRole::SpawnWorker)
        );
    }

    #[test]
    fn arguments_that_strace_cut() {
        let cut = |length: usize, code: &str| {
            let flag = if length < FORK_FLAG.len() {
                format!("{}...", &FORK_FLAG[..length])
            } else {
                FORK_FLAG.into()
            };
            let start = format!("{}...", &code[..length]);
            WorkerRole::from_argv(&["python".to_owned(), "-c".to_owned(), start, flag])
        };
        for length in 1..SPAWN.len() {
            assert_eq!(cut(length, SPAWN), Some(WorkerRole::SpawnWorker), "-s {length}");
        }
        // As short as this the code may be that of several, and only workers have the flag.
        let short = "from multiprocessing....";
        assert_eq!(role(&["python", "-c", short]), None);
        let tracker = "from joblib.externals.loky.backe...";
        assert_eq!(role(&["python", "-c", tracker]), Some(WorkerRole::ResourceTracker));
        assert_eq!(role(&["python", "-c", "..."]), None);
    }

    #[test]
    fn workers_of_other_libraries() {
        let module = |name| role(&["python", "-m", name, "--process-name", "LokyProcess-1"]);
        assert_eq!(
            module("joblib.externals.loky.backend.popen_loky_posix"),
            Some(WorkerRole::LokyWorker)
        );
        assert_eq!(module("joblib.externals.loky.backend.po..."), Some(WorkerRole::LokyWorker));
        assert_eq!(module("loky.backend.popen_loky_posix"), Some(WorkerRole::LokyWorker));
        assert_eq!(module("torch.distributed.launch"), Some(WorkerRole::Torchrun));
        assert_eq!(
            role(&["/venv/bin/python", "/venv/bin/torchrun", "train.py"]),
            Some(WorkerRole::Torchrun)
        );
        assert_eq!(
            role(&["torchrun", "--nproc-per-node=2", "train.py"]),
            Some(WorkerRole::Torchrun)
        );
    }

    #[test]
    fn programs_that_have_no_part() {
        for argv in [
            &[][..],
            &["python3"],
            &["python3", "-c"],
            &["python3", "-c", "import multiprocessing"],
            &["python3", "-c", "from multiprocessing.spawn import get_command_line"],
            &["python3", "-m", "torch.distributed"],
            &["python3", "-m", "torch.distributed.runner"],
            &["python3", "train.py", "--run", "torchrun"],
            &["grep", "-c", "from multi", "spawn.py"],
        ] {
            assert_eq!(role(argv), None, "{argv:?}");
        }
    }

    #[test]
    fn helpers_do_no_work() {
        for (role, worker, helper) in [
            (WorkerRole::SpawnWorker, true, false),
            (WorkerRole::LokyWorker, true, false),
            (WorkerRole::ForkServer, false, true),
            (WorkerRole::ResourceTracker, false, true),
            (WorkerRole::Torchrun, false, false),
        ] {
            assert_eq!((role.is_worker(), role.is_helper()), (worker, helper), "{role:?}");
        }
    }

    #[test]
    fn methods() {
        use WorkerRole::{ForkServer, ResourceTracker, SpawnWorker, Torchrun};
        assert_eq!(StartMethod::of_fork(None).text(), "fork");
        assert_eq!(StartMethod::of_fork(Some(SpawnWorker)).text(), "fork");
        assert_eq!(StartMethod::of_fork(Some(ForkServer)).text(), "forkserver");
        for (parent, own, expected) in [
            (None, Some(SpawnWorker), Some("spawn")),
            (None, Some(ResourceTracker), None),
            (Some(Torchrun), Some(ResourceTracker), None),
            (Some(Torchrun), None, Some("exec")),
            // A program that has nothing to do with workers.
            (None, None, None),
            (Some(ForkServer), None, None),
        ] {
            let method = StartMethod::of_program(parent, own).map(StartMethod::text);
            assert_eq!(method, expected, "{parent:?} {own:?}");
        }
    }
}
