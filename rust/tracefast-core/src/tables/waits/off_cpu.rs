//! Time off the CPU, where the events of ftrace's scheduler show it: from the switch away from a
//! task that does not run on, to the wake-up.

use crate::hash::HashMap;
use crate::tables::packed::Packed;
use crate::tables::waits::arguments::Limit;
use crate::tables::waits::calls::Waiting;
use crate::tables::waits::fold::{At, Waits};
use crate::tables::waits::wait::{End, On, Wait, Waker};

/// Signals that end a process unless it handles them: HUP, INT, QUIT, ABRT, KILL, USR1, USR2, ALRM,
/// TERM in signal(7).
const DEADLY: [i32; 9] = [1, 2, 3, 6, 9, 10, 12, 14, 15];

/// A task that is off the CPU.
#[derive(Debug, Clone, Copy)]
struct Off {
    ts: i64,
    line: u64,
    /// The wake-up: when, and by whom if it was no interrupt.
    woken: Option<(i64, Option<Waker>)>,
}

/// All tasks that are off the CPU, and the waits of calls that have not yet returned.
#[derive(Debug, Default)]
pub(crate) struct OffCpu {
    /// By source and thread id.
    off: HashMap<(u32, i32), Off>,
    /// Sources with switches.
    sources: Vec<u32>,
    /// By task, its waits since its last call returned.
    unnamed: HashMap<u32, Vec<u32>>,
}

impl OffCpu {
    /// Whether the log of a source has such events.
    pub(crate) fn shows(&self, source: u32) -> bool {
        self.sources.contains(&source)
    }

    /// Since when a task that nobody has woken is off the CPU.
    pub(crate) fn since(&self, source: u32, tid: Option<i32>) -> Option<i64> {
        let off = self.off.get(&(source, tid?))?;
        off.woken.is_none().then_some(off.ts)
    }
}

impl Waits {
    /// An event of ftrace.
    pub(crate) fn event(
        &mut self,
        (task, source, line, ts): (u32, u32, u64, Option<i64>),
        name: u32,
        args: &str,
        flags: &str,
    ) {
        let Some(ts) = ts else { return };
        match self.tracker.row_name(name) {
            "sched_switch" => {
                if !self.off_cpu.sources.contains(&source) {
                    self.off_cpu.sources.push(source);
                }
                let Some(switch) = Switch::parse(args) else { return };
                if switch.sleeps {
                    let off = Off { ts, line, woken: None };
                    self.off_cpu.off.insert((source, switch.from), off);
                }
                self.on_cpu(source, switch.to, ts);
            }
            "sched_waking" | "sched_wakeup" => {
                let Some(tid) = field(args, "pid=") else { return };
                // An interrupt runs in whatever task the CPU was running.
                let interrupt = flags.contains(['h', 's', 'H', 'Z', 'z']);
                let exact = true;
                let waker = (!interrupt).then_some(Waker { task, line, exact });
                if let Some(off) = self.off_cpu.off.get_mut(&(source, tid)) {
                    off.woken.get_or_insert((ts, waker));
                }
            }
            // The event is in the task that gets the signal.
            "signal_deliver" => {
                let deadly = field(args, "sig=").is_some_and(|number| DEADLY.contains(&number));
                let default = args.contains("sa_handler=0 ") || args.ends_with("sa_handler=0");
                if deadly
                    && default
                    && let Some(task) = self.world.task_mut(task)
                {
                    task.doomed = true;
                }
                if deadly {
                    self.struck(task, source, Some(ts));
                }
            }
            _ => {}
        }
    }

    /// A task runs again.
    fn on_cpu(&mut self, source: u32, tid: i32, ts: i64) {
        let Some(off) = self.off_cpu.off.remove(&(source, tid)) else { return };
        let Some(&task) = self.world.by_tid.get(&(source, tid)) else { return };
        let (woken, waker) = off.woken.unwrap_or((ts, None));
        let dur = woken.saturating_sub(off.ts);
        if dur < self.min_ns {
            return;
        }
        let number = self.rows.len() as u32;
        self.rows.push(Wait {
            task,
            row: self.tracker.row,
            line: off.line,
            ts: Some(off.ts).into(),
            dur: Some(dur).into(),
            open: Packed::default(),
            run_delay: ts.checked_sub(woken).into(),
            name: Packed::default(),
            fd: Packed::default(),
            on: On::Other,
            object: None,
            timeout: Packed::default(),
            end: End::Woken,
            waker: waker.filter(|waker| waker.task != task),
            judged: None,
        });
        self.off_cpu.unnamed.entry(task).or_default().push(number);
    }

    /// A call returned: the waits since it began were for what it does.
    pub(crate) fn named_off_cpu(&mut self, at: &At<'_>, waiting: &Waiting, end: End) {
        let Some(numbers) = self.off_cpu.unnamed.remove(&at.task) else { return };
        let Some(ts) = at.ts else { return };
        let limit = match waiting.limit {
            Limit::For(ns) => Some(ns),
            _ => None,
        };
        // The last time off the CPU of a call that returned at its limit ended by itself.
        let last = numbers.last().copied();
        for number in numbers {
            let Some(wait) = self.rows.get_mut(number as usize) else { continue };
            if wait.ts.get().is_none_or(|off| off < ts) {
                continue;
            }
            wait.name.set(Some(at.name));
            wait.fd = waiting.fd.into();
            wait.on = waiting.on;
            wait.object = waiting.object.clone().map(Into::into);
            wait.line = at.line;
            wait.timeout = limit.into();
            if end == End::Timeout && Some(number) == last {
                wait.end = End::Timeout;
                wait.waker = None;
            }
        }
    }
}

/// What `sched_switch` says.
struct Switch {
    from: i32,
    /// The task does not run on: it was not preempted.
    sleeps: bool,
    to: i32,
}

impl Switch {
    fn parse(args: &str) -> Option<Self> {
        let (before, after) = args.split_once("==>")?;
        let from = field(before, "prev_pid=")?;
        let (_, state) = before.rsplit_once("prev_state=")?;
        // `R` runs on, `R+` was preempted; `X` and `Z` are ends.
        let sleeps = state.starts_with(['S', 'D', 'T', 't', 'I', 'K', 'P']);
        Some(Self { from, sleeps, to: field(after, "next_pid=")? })
    }
}

/// The number after a key; the last one, as a command may hold the same text.
fn field(args: &str, key: &str) -> Option<i32> {
    let (_, rest) = args.rsplit_once(key)?;
    let (value, n) = crate::text::number::c_integer(rest.as_bytes());
    if n == 0 { None } else { i32::try_from(value).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches() {
        let args = "prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=b next_pid=9 next_prio=120";
        let switch = Switch::parse(args).expect("a switch");
        assert_eq!((switch.from, switch.sleeps, switch.to), (7, true, 9));
        let preempted = args.replace("prev_state=S", "prev_state=R+");
        assert!(Switch::parse(&preempted).is_some_and(|switch| !switch.sleeps));
        assert_eq!(field("comm=x pid=3 pid=12 prio=1", "pid="), Some(12));
    }
}
