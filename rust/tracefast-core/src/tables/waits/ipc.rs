//! Calls on semaphores and message queues: what they wait for, and whom they wake.

use crate::tables::waits::arguments::{Arguments, Limit};
use crate::tables::waits::calls::Waiting;
use crate::tables::waits::fold::{At, Columns, Waits};
use crate::tables::waits::wait::On;
use crate::tables::waits::word_classes::Act;
use crate::tables::waits::world::ipc::{IpcKey, IpcKind};
use crate::tables::waits::world::tasks::Target;

/// Later than any time since a machine started, in nanoseconds: then a log has times of the day.
const TIME_OF_DAY_NS: i64 = 1_000_000_000_000_000_000;

impl Waits {
    /// What a call is about, and whether it takes from it.
    fn ipc_of(&self, columns: &Columns<'_>, at: &At<'_>) -> Option<(IpcKey, bool)> {
        let name = self.tracker.row_name(at.name);
        let arguments = Arguments::new(at.args, at.ftrace);
        if name.starts_with("mq_") {
            let key = (at.source, IpcKind::Queue, columns.1.file.get(at.row)?);
            return Some((key, name.starts_with("mq_timedreceive")));
        }
        let kind = if name.starts_with("sem") { IpcKind::Semaphores } else { IpcKind::Messages };
        let id = u64::try_from(arguments.number(0)?).ok()?;
        let take = match name {
            "msgsnd" => false,
            "msgrcv" => true,
            // One that waits for zero is woken by who takes.
            _ => steps(at.args).any(|by| by < 0),
        };
        Some(((at.source, kind, id), take))
    }

    /// A call on one of them that returned.
    pub(crate) fn on_ipc(&mut self, columns: &Columns<'_>, at: &At<'_>) {
        let name = self.tracker.row_name(at.name);
        let arguments = Arguments::new(at.args, at.ftrace);
        let act = at.as_act();
        if at.act == Act::IpcGet {
            let Some(id) = at.ret.and_then(|ret| u64::try_from(ret).ok()) else { return };
            let kind = if name == "semget" { IpcKind::Semaphores } else { IpcKind::Messages };
            let private = matches!(arguments.at(0), Some("IPC_PRIVATE" | "0"));
            self.world.ipcs.made((at.source, kind, id), private.then_some(at.task));
            return;
        }
        let Some((key, take)) = self.ipc_of(columns, at) else { return };
        let (mut gave, mut took) = (false, false);
        if at.act == Act::IpcControl {
            let wakes = at.args.contains("SETVAL") || at.args.contains("SETALL");
            if at.args.contains("IPC_RMID") {
                self.world.ipcs.removed(key, act);
                (gave, took) = (true, true);
            } else if wakes || at.args.contains("IPC_SET") {
                (gave, took) = (true, true);
                let one = self.world.ipcs.used(key, at.task);
                one.gave.push(act);
                one.took.push(act);
            }
        } else {
            let one = self.world.ipcs.used(key, at.task);
            if key.1 == IpcKind::Semaphores {
                (gave, took) = (steps(at.args).any(|by| by > 0), take);
            } else {
                (gave, took) = (!take, take);
            }
            if gave {
                one.gave.push(act);
            }
            if took {
                one.took.push(act);
            }
            self.progressed(at.task);
        }
        let exact = self.world.ipcs.get(key).is_some_and(|one| !one.anybody);
        for (wakes, taker) in [(gave, true), (took, false)] {
            if wakes {
                self.late.used(&mut self.rows, key, (taker, exact), act);
            }
        }
    }

    /// A call that waits for one of them.
    pub(crate) fn waits_for_ipc(&self, columns: &Columns<'_>, at: &At<'_>) -> Option<Waiting> {
        if at.args.contains("IPC_NOWAIT") {
            return None;
        }
        let name = self.tracker.row_name(at.name);
        let arguments = Arguments::new(at.args, at.ftrace);
        let (key, take) = self.ipc_of(columns, at)?;
        // To add never waits: semop(2).
        if key.1 == IpcKind::Semaphores
            && steps(at.args).all(|by| by > 0)
            && at.args.contains("sem_op=")
        {
            return None;
        }
        let on = if key.1 == IpcKind::Semaphores { On::Lock } else { On::Other };
        let mut waiting = Waiting::new(Target::Ipc(key, take), on);
        waiting.limit = match name {
            "semop" | "msgrcv" | "msgsnd" => Limit::None,
            _ if key.1 == IpcKind::Semaphores => arguments.time(3),
            // The time of the day at which it ends: mq_receive(3).
            _ => match (arguments.time(4), at.ts) {
                (Limit::For(until), Some(ts)) if ts >= TIME_OF_DAY_NS => {
                    Limit::For(until.saturating_sub(ts).max(0))
                }
                (Limit::For(_), _) => Limit::Some,
                (limit, _) => limit,
            },
        };
        if key.1 == IpcKind::Queue {
            waiting.fd = columns.1.fd[0].get(at.row);
        }
        waiting.object = Some(match key.1 {
            IpcKind::Semaphores => match semaphore(at.args) {
                Some(number) => format!("semaphore {number} of set {}", key.2),
                None => format!("set {} of semaphores", key.2),
            },
            IpcKind::Messages => format!("queue {}", key.2),
            IpcKind::Queue => format!("queue {}", columns.0.path.get(at.row).unwrap_or("?")),
        });
        Some(waiting)
    }
}

/// By how much a call of semop(2) changes semaphores: `[{sem_num=0, sem_op=-1, sem_flg=0}]`.
fn steps(args: &str) -> impl Iterator<Item = i64> {
    let steps = args.split("sem_op=").skip(1);
    steps.filter_map(|rest| {
        let (by, n) = crate::text::number::c_integer(rest.as_bytes());
        (n > 0).then_some(by)
    })
}

/// The only semaphore that a call of semop(2) is about.
fn semaphore(args: &str) -> Option<i64> {
    let mut numbers = args.split("sem_num=").skip(1);
    let (number, n) = crate::text::number::c_integer(numbers.next()?.as_bytes());
    (n > 0 && numbers.next().is_none()).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_on_semaphores() {
        let one = "5, [{sem_num=3, sem_op=-1, sem_flg=SEM_UNDO}], 1";
        assert_eq!((semaphore(one), steps(one).collect::<Vec<_>>()), (Some(3), vec![-1]));
        let two = "5, [{sem_num=0, sem_op=0, sem_flg=0}, {sem_num=1, sem_op=2, sem_flg=0}], 2";
        assert_eq!((semaphore(two), steps(two).collect::<Vec<_>>()), (None, vec![0, 2]));
        assert_eq!(semaphore("5, 0x7ffe, 1"), None);
    }
}
