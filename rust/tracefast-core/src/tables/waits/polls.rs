//! Calls that wait for any of several descriptors: poll(2), select(2), epoll(7).

use std::fmt::Write;

use crate::tables::waits::arguments::{Arguments, Limit, Watched};
use crate::tables::waits::calls::Waiting;
use crate::tables::waits::enders::MOST_ENDS;
use crate::tables::waits::fold::{At, Columns, Waits};
use crate::tables::waits::wait::On;
use crate::tables::waits::word_classes::{Act, Status};
use crate::tables::waits::world::descriptors::Ofd;
use crate::tables::waits::world::ends::End;
use crate::tables::waits::world::epoll::Watch;
use crate::tables::waits::world::tasks::Target;
use crate::text::number;

/// `EPOLLIN`, `EPOLLRDNORM`, `EPOLLOUT` and `EPOLLWRNORM` in include/uapi/linux/eventpoll.h.
const TAKES: i64 = 0x1 | 0x40;
const GIVES: i64 = 0x4 | 0x100;

impl Waits {
    /// poll and select.
    pub(super) fn set(&self, at: &At<'_>, set: Option<Vec<Watched>>, limit: Limit) -> Waiting {
        let table = self.world.task(at.task).map(|task| task.table);
        let Some((set, table)) = set.zip(table) else {
            return Waiting { limit, ..Waiting::new(Target::Unknown, On::Other) };
        };
        if set.is_empty() {
            // It sleeps, or waits for a signal.
            let (target, on) = if limit.ends() {
                (Target::Timer, On::Timer)
            } else {
                (Target::Outside, On::Signal)
            };
            return Waiting { limit, ..Waiting::new(target, on) };
        }
        let (mut ends, mut others, mut on) = (Vec::new(), false, None);
        for one in &set {
            match self.world.tables.descriptor(table, one.fd) {
                Some(found) => {
                    on = on.or_else(|| self.world.ends.get(found.ofd).map(End::on));
                    let side = self.world.ends.side(found.ofd);
                    if one.take {
                        ends.push((side, true));
                    }
                    if one.give {
                        ends.push((side, false));
                    }
                }
                None => others = true,
            }
        }
        let mut object = String::new();
        for one in set.iter().take(8) {
            let name = self.name_of(at, one.fd).unwrap_or_else(|| format!("fd {}", one.fd));
            let gap = if object.is_empty() { "" } else { ", " };
            _ = write!(object, "{gap}{name}");
        }
        let on = on.unwrap_or(On::Other);
        let fd = if let [one] = &set[..] { Some(one.fd) } else { None };
        let target = if ends.is_empty() {
            Target::Unknown
        } else {
            Target::Ends { ends, others, set: None }
        };
        Waiting { target, on, object: Some(object), limit, fd }
    }

    /// `epoll_wait`(2): what it waits for is what the set watches.
    pub(super) fn epoll(
        &self,
        columns: &Columns<'_>,
        at: &At<'_>,
        arguments: Arguments<'_>,
    ) -> Waiting {
        let limit = self.limit_of_epoll(at, arguments);
        let ofd = columns.1.ofd[0].get(at.row).map(|ofd| (at.source, ofd));
        let mut waiting = Waiting { limit, ..Waiting::new(Target::Unknown, On::Other) };
        waiting.fd = columns.1.fd[0].get(at.row);
        let end = ofd.and_then(|ofd| self.world.ends.get(ofd));
        let Some(set) = end.and_then(|end| end.set.as_deref()) else { return waiting };
        // A set may have very many entries, and most calls say for which one they returned. All that
        // it waited for counts where it is judged who could have gone on meanwhile.
        let ready = ofd.filter(|_| !self.moments.are_open());
        let ready = ready.and_then(|set| self.ready_in(at, set));
        let of_one = ready.into_iter().flat_map(|ready| set.watched_of(ready));
        let all = ready.is_none().then(|| set.watched()).into_iter().flatten();
        // Nobody looks for who ended a wait for more than that.
        let most = if at.status == Status::Returned { MOST_ENDS } else { usize::MAX };
        let mut chosen = of_one.chain(all);
        let (chosen, more): (Vec<_>, _) = (chosen.by_ref().take(most).collect(), chosen.next());
        let mut ends = Vec::new();
        for one in &chosen {
            ends.extend(one.take.then_some((one.ofd, true)));
            ends.extend(one.give.then_some((one.ofd, false)));
        }
        let first = ends.first().and_then(|&(ofd, _)| self.world.ends.get(ofd));
        waiting.on = first.map_or(On::Other, End::on);
        let names = chosen.iter().filter_map(|one| self.name_of_end(one.ofd)).take(8);
        let names: Vec<_> = names.collect();
        waiting.object = (!names.is_empty()).then(|| names.join(", "));
        // One that watches nothing in the log may have been filled by calls that a filter hides.
        let others = set.others || ends.is_empty() || more.is_some();
        waiting.target = Target::Ends { ends, others, set: ofd };
        waiting
    }

    fn limit_of_epoll(&self, at: &At<'_>, arguments: Arguments<'_>) -> Limit {
        if self.tracker.row_name(at.name) == "epoll_pwait2" {
            arguments.time(3)
        } else {
            arguments.milliseconds(3)
        }
    }

    /// A call of `epoll_wait`(2) returned, so that its limit is in the log.
    pub(super) fn limits(&mut self, at: &At<'_>, set: Option<Ofd>) {
        let limit = self.limit_of_epoll(at, Arguments::new(at.args, at.ftrace));
        // One that only looks does not wait.
        if matches!(limit, Limit::None | Limit::Unknown | Limit::For(0)) {
            return;
        }
        let end = set.and_then(|set| self.world.ends.get_mut(set));
        if let Some(set) = end.and_then(|end| end.set.as_deref_mut()) {
            set.limited = true;
        }
    }

    /// The end for which `epoll_wait`(2) returned, by the data that the program gave to it.
    pub(super) fn ready_of_set(&self, at: &At<'_>, target: &Target) -> Option<Ofd> {
        let &Target::Ends { set: Some(set), .. } = target else { return None };
        self.ready_in(at, set)
    }

    fn ready_in(&self, at: &At<'_>, set: Ofd) -> Option<Ofd> {
        if at.act != Act::EpollWait || at.status != Status::Returned || at.ret? < 1 {
            return None;
        }
        let events = Arguments::new(at.args, at.ftrace).at(1)?;
        self.world.ends.get(set)?.set.as_deref()?.ready(data(events)?)
    }

    /// `epoll_ctl`(2).
    pub(super) fn watches(&mut self, at: &At<'_>, table: u32, set: Option<Ofd>) {
        let Some(ofd) = set else { return };
        let arguments = Arguments::new(at.args, at.ftrace);
        let adds = arguments.is(1, "EPOLL_CTL_ADD", 1) || arguments.is(1, "EPOLL_CTL_MOD", 3);
        let removes = arguments.is(1, "EPOLL_CTL_DEL", 2);
        let Some(fd) = arguments.number(2).and_then(|fd| i32::try_from(fd).ok()) else { return };
        let found =
            self.world.tables.descriptor(table, fd).map(|one| self.world.ends.side(one.ofd));
        // Whether a set in a set is ready depends on what that watches.
        let simple = |&one: &Ofd| self.world.ends.get(one).is_some_and(|end| end.set.is_none());
        let found = found.filter(simple);
        if let Some(end) = found.filter(|_| adds).and_then(|one| self.world.ends.get_mut(one))
            && !end.watched_by.contains(&ofd)
        {
            end.watched_by.push(ofd);
        }
        let Some(end) = self.world.ends.get_mut(ofd) else { return };
        // It may be what ends a wait that is under way.
        end.gave.push(at.as_act());
        let Some(set) = end.set.as_deref_mut() else { return };
        match found {
            Some(one) if adds => {
                let event = arguments.at(3).unwrap_or_default();
                let (take, give) = events(event, arguments);
                set.watch(Watch { ofd: one, fd, take, give, data: data(event) });
            }
            Some(one) if removes => set.unwatch(one, fd),
            None if adds => set.others = true,
            _ => {}
        }
    }
}

/// What an entry waits for in `{events=EPOLLIN|EPOLLET, data={u32=5, u64=5}}`. The end of the other
/// side is always reported.
fn events(event: &str, arguments: Arguments<'_>) -> (bool, bool) {
    let word = event.split_once("events=").map_or("", |(_, rest)| rest);
    let word = word.split([',', '}']).next().unwrap_or_default();
    let bits = arguments.value(word).unwrap_or(0);
    let has = |names: [&str; 2], mask: i64| {
        bits & mask != 0 || word.split('|').any(|one| names.contains(&one))
    };
    let (take, give) =
        (has(["EPOLLIN", "EPOLLRDNORM"], TAKES), has(["EPOLLOUT", "EPOLLWRNORM"], GIVES));
    (take || !give, give)
}

/// The first number that a program gave to an entry of a set.
fn data(events: &str) -> Option<i64> {
    let (_, rest) = events.split_once("u64=")?;
    let (value, n) = number::c_integer(rest.as_bytes());
    // Some are larger than that.
    (n > 0 && (0..i64::MAX).contains(&value)).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_sets() {
        let entry = |text| (events(text, Arguments::new("", false)), data(text));
        for (text, found) in [
            ("{events=EPOLLIN, data={u32=7, u64=7}}", ((true, false), Some(7))),
            ("{events=EPOLLOUT|EPOLLET, data={u32=0, u64=0}}", ((false, true), Some(0))),
            ("{events=EPOLLIN|EPOLLOUT, data=0x7ffe}", ((true, true), None)),
            ("{events=EPOLLRDHUP, data={u32=1, u64=1}}", ((true, false), Some(1))),
            ("{events=0x5, data={u32=0x1, u64=0x1}}", ((true, true), Some(1))),
            ("NULL", ((true, false), None)),
        ] {
            assert_eq!(entry(text), found, "{text}");
        }
        assert_eq!(data("{u64=18446744073709551615}"), None);
    }
}
