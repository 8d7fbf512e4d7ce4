//! Which of the logs named are one log cut by task: strace's `NAME.PID`, without a pid column.
//!
//! Numbered logs may be something else: several runs, or the parts of one log. The numbers are
//! taken for those of tasks if all of them are 300 or more (once pids have wrapped around, Linux
//! does not reuse those below 300: `RESERVED_PIDS` in kernel/pid.c), or if the logs themselves show
//! it: one names a task that another file is named after, or its own number, and fewer show other
//! numbers. If the user gives only the common `NAME`, they are taken for those of tasks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use tracefast_core::format::{Format, Wanted};
use tracefast_core::strace::detect::traced_calls::TracedCalls;
use tracefast_core::strace::leader::{Delta, Layout, Pid, Time};
use tracefast_core::strace::{self, line_start};

use crate::error::{Error, Result};
use crate::input::compressed::{self, MAGIC, Packing};
use crate::input::merge::effect_time::{Clock, first_time_of_day, other_task, own_task};
use crate::input::merge::reader::Member;
use crate::input::source::{read_at, read_up_to, with_file_hint};

/// Bytes of each log that are looked at.
const HEAD: usize = 64 << 10;

/// Bytes at the end of a log in which its last time is looked for.
const TAIL: usize = 4 << 10;

/// The smallest number that is taken for a task's without further evidence.
const RESERVED: i32 = 300;

/// Files that are read as one log.
#[derive(Debug, Clone)]
pub enum Input {
    /// A log as it is.
    Log(String),
    /// The log of one task.
    TaskLog {
        /// File.
        name: String,
        /// What the rows call it.
        source: String,
        /// The task, by the file's name.
        pid: i32,
    },
    /// The logs of several tasks, to be merged.
    Set(Set),
}

/// The logs of several tasks that are one.
#[derive(Debug, Clone)]
pub struct Set {
    /// The name without the numbers.
    pub name: String,
    /// The logs, by number.
    pub(crate) members: Vec<Member>,
    /// The format of their lines.
    pub(crate) format: strace::Format,
    /// Time of day at which the first of them starts, ns.
    pub(crate) origin: i64,
}

impl Input {
    /// The files.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Log(name) | Self::TaskLog { name, .. } => vec![name],
            Self::Set(set) => set.members.iter().map(|member| member.name.as_str()).collect(),
        }
    }
}

/// What the given names refer to.
#[derive(Debug, Default)]
pub struct Inputs {
    /// Logs, in the order in which they are read.
    pub inputs: Vec<Input>,
    /// Warnings about them.
    pub warnings: Vec<String>,
}

/// Finds among the logs `names` those that are one log cut by task. A name without a file stands
/// for all files with that name and a number.
///
/// # Errors
/// A file whose name looks like that of a task's log cannot be read.
pub fn inputs(names: &[String], wanted: Option<Wanted>) -> Result<Inputs> {
    let mut out = Inputs::default();
    if wanted == Some(Wanted::Ftrace) {
        out.inputs = names.iter().cloned().map(Input::Log).collect();
        return Ok(out);
    }
    // By name: position of the set, whether the user named it, its files.
    let mut sets: BTreeMap<String, (usize, bool, Vec<Sniffed>)> = BTreeMap::new();
    let mut slots: Vec<Vec<Input>> = vec![Vec::new(); names.len()];
    for (slot, name) in names.iter().enumerate() {
        let files = if name == "-" { Vec::new() } else { files_of(name) };
        let insisted = !files.is_empty();
        for file in if insisted { files } else { vec![name.clone()] } {
            let known = match task_name(&file) {
                Some((set, pid)) => Sniffed::read(&file, pid, wanted)?.map(|found| (set, found)),
                None => None,
            };
            let Some((set, found)) = known else {
                slots[slot].push(Input::Log(file));
                continue;
            };
            let entry = sets.entry(set.to_owned()).or_insert((slot, false, Vec::new()));
            entry.1 |= insisted;
            if entry.2.iter().any(|other| other.pid == found.pid) {
                slots[slot].push(Input::Log(file));
            } else {
                entry.2.push(Sniffed { slot, ..found });
            }
        }
    }
    for (name, (slot, insisted, found)) in sets {
        let (set, others) = choose(&name, insisted, found);
        if let Some(input) = set {
            if let Input::Set(set) = &input {
                out.warnings.extend(unordered(set));
            }
            slots[slot].insert(0, input);
        }
        for other in others {
            slots[other.slot].push(Input::Log(other.name));
        }
    }
    out.inputs = slots.into_iter().flatten().collect();
    Ok(out)
}

/// Of files with a common name, those that are one log, and the others.
fn choose(name: &str, insisted: bool, found: Vec<Sniffed>) -> (Option<Input>, Vec<Sniffed>) {
    // Most lines decide on the columns.
    let mut layouts: Vec<(Layout, usize)> = Vec::new();
    for one in &found {
        let Some(format) = one.format else { continue };
        match layouts.iter_mut().find(|(layout, _)| *layout == format.layout) {
            Some((_, hits)) => *hits += one.hits,
            None => layouts.push((format.layout, one.hits)),
        }
    }
    let Some(&(layout, _)) = layouts.iter().rev().max_by_key(|(_, hits)| *hits) else {
        return (None, found);
    };
    let (mut members, mut others): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|one| one.has(&layout));
    members.sort_by_key(|one| one.pid);
    if !insisted && !are_tasks(&members) {
        others.append(&mut members);
        return (None, others);
    }
    if let [one] = &members[..] {
        let source = if insisted { name.to_owned() } else { one.name.clone() };
        let task = Input::TaskLog { name: one.name.clone(), source, pid: one.pid };
        return (Some(task), others);
    }
    let filled = || members.iter().filter_map(|one| Some((one.format?, one.hits)));
    let timed: usize = filled().filter(|one| one.0.times_calls).map(|one| one.1).sum();
    let untimed: usize = filled().filter(|one| !one.0.times_calls).map(|one| one.1).sum();
    let format = strace::Format {
        layout: Layout { pid: Pid::File, ..layout },
        times_calls: timed > untimed,
        gap: filled().map(|one| one.0.gap).max().unwrap_or_default(),
        merged: true,
        unordered: !members.iter().any(|one| one.fine),
        traced: filled().fold(TracedCalls::default(), |all, one| all.and(one.0.traced)),
        ..strace::Format::default()
    };
    let spans: Vec<(i64, i64)> = members
        .iter()
        .filter_map(|one| one.first.map(|first| (first, one.last.unwrap_or(first))))
        .collect();
    let origin = if layout.time == Time::Day { first_time_of_day(&spans) } else { 0 };
    let members = members
        .into_iter()
        .map(|one| Member { name: one.name, pid: one.pid, first: one.first })
        .collect();
    // A file of that name is another log: only `source` distinguishes their rows.
    let taken = Path::new(name).symlink_metadata().is_ok();
    let name = if taken { format!("{name}.*") } else { name.to_owned() };
    (Some(Input::Set(Set { name, members, format, origin })), others)
}

/// The numbers are those of tasks.
fn are_tasks(members: &[Sniffed]) -> bool {
    let agree = members.iter().filter(|one| one.own == Some(one.pid)).count();
    let differ = members.iter().filter(|one| one.own.is_some()).count() - agree;
    let large = members.iter().all(|one| one.pid >= RESERVED);
    if let [_] = members {
        return agree > 0 || large && differ == 0;
    }
    let pids: BTreeSet<i32> = members.iter().map(|one| one.pid).collect();
    let named = members
        .iter()
        .flat_map(|one| one.others.iter().filter(|&&pid| pid != one.pid))
        .filter(|pid| pids.contains(pid))
        .count();
    large || agree + named > differ
}

/// Why the order among tasks is not known, if it is not.
fn unordered(set: &Set) -> Option<String> {
    let why = match (Clock::is_known(&set.format.layout), set.format.layout.delta) {
        (true, _) => return None,
        (false, Delta::Plain) => {
            "its times count from the previous line of any task, so neither times nor the order of \
             tasks are known"
        }
        (false, _) => "it has no times, so the order of tasks is not known",
    };
    Some(format!(
        "{}: {why}; the {} tasks follow one another by number (record with -ttt)",
        set.name,
        set.members.len()
    ))
}

/// What the first lines of a file show.
#[derive(Debug)]
struct Sniffed {
    name: String,
    pid: i32,
    /// Where it was named.
    slot: usize,
    /// `None`: the file is empty.
    format: Option<strace::Format>,
    /// Lines of that layout.
    hits: usize,
    /// The number that the task itself shows.
    own: Option<i32>,
    /// Numbers of other tasks that it shows.
    others: Vec<i32>,
    first: Option<i64>,
    last: Option<i64>,
    /// Its times show the order of calls.
    fine: bool,
}

impl Sniffed {
    /// Reads the start and end of a file; `None` unless it is a log of strace without a pid column.
    fn read(name: &str, pid: i32, wanted: Option<Wanted>) -> Result<Option<Self>> {
        let Ok(facts) = std::fs::metadata(name) else { return Ok(None) };
        if !facts.is_file() {
            return Ok(None);
        }
        let head = head(name)?;
        let mut out = Self {
            name: name.to_owned(),
            pid,
            slot: 0,
            format: None,
            hits: 0,
            own: None,
            others: Vec::new(),
            first: None,
            last: None,
            fine: false,
        };
        if head.is_empty() {
            return Ok(Some(out));
        }
        let Some(Format::Strace(format)) = Format::detect(&head, wanted) else { return Ok(None) };
        let column = |line: &[u8]| line.starts_with(b"[pid ");
        if format.layout.pid != Pid::Bracket
            || format.prefix.is_some()
            || format.wrap.is_some()
            || head.split(|&b| b == b'\n').any(column)
        {
            return Ok(None);
        }
        out.format = Some(format);
        for line in head.split(|&b| b == b'\n') {
            let Some(event) = event(&format.layout, line) else { continue };
            out.hits += 1;
            out.own = out.own.or_else(|| own_task(event));
            out.others.extend(other_task(event));
            let time = Clock::column(&format.layout, line);
            out.fine |= time.is_some() && Clock::is_fine(&format.layout, line);
            out.last = time.or(out.last);
            out.first = out.first.or(out.last);
        }
        if format.layout.time == Time::Day && facts.len() > HEAD as u64 {
            out.last = last_time(name, facts.len(), &format.layout).or(out.last);
        }
        Ok(Some(out))
    }

    /// The file's lines have this layout. Where there are few, they may have several.
    fn has(&self, layout: &Layout) -> bool {
        let Some(format) = self.format else { return true };
        format.layout == *layout
            || head(&self.name).is_ok_and(|head| {
                let lines = head.split(|&b| b == b'\n');
                self.hits > 0 && lines.filter_map(|line| event(layout, line)).count() >= self.hits
            })
    }
}

/// The event on a line of this layout.
fn event<'a>(layout: &Layout, line: &'a [u8]) -> Option<&'a [u8]> {
    let event = &line[layout.leader(line)?.next..];
    line_start::begins_event(event).then_some(event)
}

/// The first lines of a file, compressed or not.
fn head(name: &str) -> Result<Vec<u8>> {
    let at = |error| with_file_hint(Error::io(name, error));
    let mut file = File::open(name).map_err(at)?;
    let magic = read_up_to(&mut file, MAGIC).map_err(at)?;
    let mut text = compressed::plain(magic, Box::new(file)).map_err(at)?;
    let mut out = Vec::new();
    text.by_ref().take(HEAD as u64).read_to_end(&mut out).map_err(at)?;
    if out.len() == HEAD {
        // The last line may be cut.
        out.truncate(memchr::memrchr(b'\n', &out).map_or(HEAD, |at| at + 1));
    }
    Ok(out)
}

/// The last time in a file that is not compressed.
fn last_time(name: &str, len: u64, layout: &Layout) -> Option<i64> {
    let mut tail = vec![0; TAIL];
    let file = File::open(name).ok()?;
    let mut magic = [0; MAGIC];
    let have = read_at(&file, &mut magic, 0).ok()?;
    if Packing::from_magic(&magic[..have]).is_some() {
        return None;
    }
    let have = read_at(&file, &mut tail, len.saturating_sub(TAIL as u64)).ok()?;
    tail[..have].rsplit(|&b| b == b'\n').find_map(|line| Clock::column(layout, line))
}

/// `NAME.PID`, or that and the suffix of a compression: the name and the number.
fn task_name(name: &str) -> Option<(&str, i32)> {
    let plain = [".gz", ".zst", ".xz", ".bz2"].iter().find_map(|end| name.strip_suffix(end));
    let (set, pid) = plain.unwrap_or(name).rsplit_once('.')?;
    let digits = (1..=7).contains(&pid.len()) && pid.bytes().all(|b| b.is_ascii_digit());
    let named = !set.is_empty() && !set.ends_with('/');
    (digits && named && !pid.starts_with('0')).then_some((set, pid.parse().ok()?))
}

/// The files `NAME.PID`, by number, if there is no file `NAME`.
fn files_of(name: &str) -> Vec<String> {
    let path = Path::new(name);
    let Some(own) = path.file_name().and_then(|own| own.to_str()) else { return Vec::new() };
    if path.symlink_metadata().is_ok() || name.ends_with('/') {
        return Vec::new();
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = std::fs::read_dir(folder.unwrap_or(Path::new("."))) else {
        return Vec::new();
    };
    let mut files: Vec<(i32, String)> = entries
        .filter_map(|entry| {
            let file = entry.ok()?.file_name().into_string().ok()?;
            let (set, pid) = task_name(&file)?;
            (set == own).then(|| (pid, format!("{name}{}", &file[own.len()..])))
        })
        .collect();
    files.sort();
    files.into_iter().map(|(_, file)| file).collect()
}
