//! Locks on files and leases: flock(2), and fcntl(2).

use crate::tables::waits::arguments::{Arguments, Limit};
use crate::tables::waits::calls::Waiting;
use crate::tables::waits::fold::{At, Columns, Waits};
use crate::tables::waits::wait::On;
use crate::tables::waits::world::descriptors::Ofd;
use crate::tables::waits::world::leases::Lease;
use crate::tables::waits::world::locks::{Lock, LockedFile, Owner};
use crate::tables::waits::world::tasks::Target;

impl Waits {
    /// What `F_SETLK` and the like of fcntl(2) ask for.
    pub(crate) fn asked_by_fcntl(
        &self,
        columns: &Columns<'_>,
        at: &At<'_>,
    ) -> Option<(LockedFile, Lock)> {
        let arguments = Arguments::new(at.args, at.ftrace);
        let command = arguments.at(1)?;
        let is = |name, number| arguments.means(command, name, number);
        let of_process = is("F_SETLK", 6) || is("F_SETLKW", 7);
        let of_description = is("F_OFD_SETLK", 37) || is("F_OFD_SETLKW", 38);
        if !(of_process || of_description) {
            return None;
        }
        if !(at.args.contains("l_whence=SEEK_SET") || at.args.contains("l_whence=0,")) {
            return None;
        }
        let number = |key: &str| {
            let (_, rest) = at.args.split_once(key)?;
            let (value, n) = crate::text::number::c_integer(rest.as_bytes());
            (n > 0).then_some(value)
        };
        let file = (at.source, columns.1.file.get(at.row)?);
        let (start, length) = (number("l_start=")?, number("l_len=")?);
        let end = if length == 0 { i64::MAX } else { start.saturating_add(length) };
        let owner = if of_description {
            Owner::Description((at.source, columns.1.ofd[0].get(at.row)?))
        } else {
            Owner::Process(self.world.task(at.task)?.table)
        };
        let exclusive = at.args.contains("F_WRLCK") || at.args.contains("l_type=0x1,");
        let lock =
            Lock { owner, exclusive, whole: false, start, end, task: at.task, line: at.line };
        Some((file, lock))
    }

    /// A lease was taken or given back: `F_SETLEASE` in fcntl(2).
    pub(crate) fn leased(&mut self, columns: &Columns<'_>, at: &At<'_>, ofd: Option<Ofd>) {
        let Some(file) = columns.1.file.get(at.row).map(|file| (at.source, file)) else { return };
        let arguments = Arguments::new(at.args, at.ftrace);
        let act = at.as_act();
        // Whoever only wants to read may go on as well when others may.
        if !arguments.is(2, "F_WRLCK", 1) {
            self.world.leases.release(file, act);
        }
        if let Some(ofd) = ofd.filter(|_| !arguments.is(2, "F_UNLCK", 2)) {
            self.world.leases.take(file, Lease::new(ofd, at.task));
        }
    }

    /// An open waits for who has a lease on the file, as long as the kernel lets it:
    /// `/proc/sys/fs/lease-break-time`.
    pub(crate) fn waits_for_lease(&self, columns: &Columns<'_>, at: &At<'_>) -> Option<Waiting> {
        let file = (at.source, columns.1.file.get(at.row)?);
        let lease = self.world.leases.get(file)?;
        if !lease.stops(at.task, at.ts?) || at.args.contains("O_NONBLOCK") {
            return None;
        }
        let mut waiting = Waiting::new(Target::Lease(file), On::Lock);
        waiting.limit = Limit::Some;
        waiting.object = columns.0.path.get(at.row).map(|path| format!("lease {path}"));
        Some(waiting)
    }
}

/// What flock(2) asks for.
pub(crate) fn asked_by_flock(columns: &Columns<'_>, at: &At<'_>) -> Option<(LockedFile, Lock)> {
    let file = (at.source, columns.1.file.get(at.row)?);
    let owner = Owner::Description((at.source, columns.1.ofd[0].get(at.row)?));
    let exclusive = Arguments::new(at.args, at.ftrace).has(1, "LOCK_EX", 2);
    let (start, end) = (0, i64::MAX);
    let lock = Lock { owner, exclusive, whole: true, start, end, task: at.task, line: at.line };
    Some((file, lock))
}

/// A call that waits for a lock.
pub(crate) fn locked(
    columns: &Columns<'_>,
    at: &At<'_>,
    asked: Option<(LockedFile, Lock)>,
) -> Waiting {
    let target = asked.map_or(Target::Unknown, |(file, lock)| Target::Lock(file, lock));
    let mut waiting = Waiting::new(target, On::Lock);
    waiting.fd = columns.1.fd[0].get(at.row);
    let path = columns.0.path.get(at.row).unwrap_or("?");
    let Some((_, lock)) = asked else {
        // The log does not show which file, or which part of it.
        waiting.object = columns.0.path.get(at.row).map(|path| format!("lock {path}"));
        return waiting;
    };
    waiting.object = Some(if lock.whole {
        format!("lock {path}")
    } else if lock.end == i64::MAX {
        format!("lock {path} {}-", lock.start)
    } else {
        format!("lock {path} {}-{}", lock.start, lock.end)
    });
    waiting
}
