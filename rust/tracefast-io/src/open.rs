//! Opening the logs that are named.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use tracefast_core::serial::counts::RunCounts;

use crate::error::{Error, ErrorKind, Result};
use crate::input::merge::{Input, Inputs, inputs};
use crate::input::source::{Progress, Source, total_bytes};
use crate::pipeline::Options;

/// How long a caller waits before it looks for signals again.
pub const PATIENCE: Duration = Duration::from_millis(50);

/// Finds all logs that are named and opens the first one, so that mistakes show before anything is
/// written.
pub(crate) fn open_first(
    names: &[String],
    options: &Options,
    progress: &Arc<Progress>,
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<(Source, Inputs)> {
    progress.done.store(false, Ordering::Relaxed);
    let found = inputs(names, options.format)?;
    let Some(first) = found.inputs.first() else {
        let what = "no log given".to_owned();
        return Err(Error::new(ErrorKind::Option(what))
            .with_hint("give at least one, or - for standard input"));
    };
    let later = found.inputs.iter().skip(1).flat_map(Input::names);
    for name in later.filter(|name| *name != "-") {
        std::fs::metadata(name)
            .map_err(|error| Error::io(name, error).with_hint("check the name"))?;
    }
    // Logs that are opened again add up, as what is read of them does.
    progress.bytes_total.fetch_add(total_bytes(&found.inputs), Ordering::Relaxed);
    let mut source = if let (Some(ending), Input::Log(name)) = (&options.arriving, first) {
        let (name, wanted, ending, counters) =
            (name.clone(), options.format, ending.clone(), Arc::clone(progress));
        let open = move || Source::open_arriving(&name, wanted, &ending, &counters);
        open_on_thread(open, progress, interrupted)?
    } else if first.names().into_iter().any(may_block) {
        let (input, wanted, counters) = (first.clone(), options.format, Arc::clone(progress));
        let open = move || Source::open_input(&input, wanted, &counters);
        open_on_thread(open, progress, interrupted)?
    } else {
        Source::open_input(first, options.format, progress)?
    };
    if let Some(name) = &options.name {
        source.name.clone_from(name);
    }
    Ok((source.on(options.machine), found))
}

/// Whether the first bytes may take long to arrive: a pipe, a terminal.
fn may_block(name: &str) -> bool {
    name == "-" || std::fs::metadata(name).is_ok_and(|file| !file.is_file() && !file.is_dir())
}

/// Opens an input on a thread of its own; meanwhile `interrupted` says whether to stop.
fn open_on_thread(
    open: impl FnOnce() -> Result<Source> + Send + 'static,
    progress: &Progress,
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<Source> {
    let (sender, opened) = mpsc::channel();
    // A thread that waits for input cannot be woken. After an interrupt it is left to end with its
    // input.
    std::thread::Builder::new().name("tracefast-open".to_owned()).spawn(move || {
        let _ = sender.send(open());
    })?;
    loop {
        match opened.recv_timeout(PATIENCE) {
            Ok(source) => return source,
            Err(RecvTimeoutError::Disconnected) => {
                let what = "a source could not be opened; this is a bug in tracefast";
                return Err(Error::new(ErrorKind::Broken(what.to_owned())));
            }
            Err(RecvTimeoutError::Timeout) => {
                if progress.cancelled.load(Ordering::Relaxed) || interrupted() {
                    return Err(Error::cancelled());
                }
            }
        }
    }
}

/// Warnings after the end: empty logs, by name, and a run without any event.
pub(crate) fn warnings(counts: &RunCounts) -> Vec<String> {
    let empty = counts.sources.iter().filter(|source| source.counts.bytes == 0);
    let mut out: Vec<String> =
        empty.map(|source| format!("{}: the log is empty", source.name)).collect();
    let mixed = counts.sources.iter().filter(|source| source.counts.oddities.other_format > 0);
    out.extend(mixed.map(|source| {
        let other = if source.format == "strace" { "ftrace" } else { "strace" };
        let lines = source.counts.oddities.other_format;
        format!(
            "{}: two logs in one file: {lines} lines look like {other}'s and were not read; put \
             them into a file of their own",
            source.name
        )
    }));
    if counts.total.rows() == 0 && counts.sources.iter().any(|source| source.counts.bytes > 0) {
        out.push("no event was found".to_owned());
    }
    out
}
