//! Which processes are workers of one pool, and in which rounds they worked.

use std::collections::BTreeMap;

use crate::hash::HashMap;
use crate::tables::process_tracking::launcher::StartMethod;
use crate::tables::workers::retired::{Kin, Retired};

/// How alike the calls of workers without jobs are, at least: the groups of calls that two of them
/// both made, of those that one of them made.
const ALIKE: f64 = 0.5;

/// How many workers without jobs live at once, at least, while any does: five quarters. One that
/// follows the other may start a moment before that one has ended.
const PARALLEL: (i128, i128) = (5, 4);

/// Workers with one maker that do the same.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) kin: Kin,
    /// Indices of the workers, in order of their start, and the round of each, from 0.
    pub(crate) workers: Vec<(usize, u32)>,
}

/// The pools, in order of their first start. `is_shell` says whether a process is a shell.
pub(crate) fn pools(all: &[Retired], is_shell: impl Fn(u32) -> bool) -> Vec<Pool> {
    let mut kins: BTreeMap<Kin, Vec<usize>> = BTreeMap::new();
    for (at, one) in all.iter().enumerate() {
        kins.entry(one.kin).or_default().push(at);
    }
    let mut pools: Vec<Pool> = kins
        .into_iter()
        .filter_map(|(kin, mut kin_of)| {
            kin_of.sort_by_key(|&at| (all[at].from, all[at].task));
            if kin.method == StartMethod::Fork {
                // A shell forks for its own syntax: subshells, pipelines, substitutions.
                kin_of.retain(|&at| !is_shell(all[at].task));
            }
            let workers = workers(all, kin, kin_of);
            (!workers.is_empty()).then(|| Pool { kin, workers: rounds(all, workers) })
        })
        .collect();
    let start = |pool: &Pool| pool.workers.first().map(|&(at, _)| (all[at].from, all[at].task));
    pools.sort_by_key(start);
    pools
}

/// Those of one kin that are workers.
fn workers(all: &[Retired], kin: Kin, mut found: Vec<usize>) -> Vec<usize> {
    let gets_jobs = |at: &usize| all[*at].ready.is_some();
    match kin.method {
        // What their maker told them says that they are workers; a server listens, as those of
        // `multiprocessing.managers` do, and gets no jobs.
        StartMethod::Spawn | StartMethod::Forkserver => {
            found.retain(|at| gets_jobs(at) || !all[*at].listens);
            found
        }
        StartMethod::Fork => {
            let getting: Vec<usize> = found.iter().copied().filter(gets_jobs).collect();
            // One child that reads what its maker writes is no pool, unless what it reads are jobs.
            let sure = getting.iter().any(|&at| all[at].sure);
            let known = if sure { getting } else { together(all, getting) };
            if !known.is_empty() {
                return known;
            }
            // The log may lack the calls that take jobs.
            found.retain(|&at| !all[at].listens);
            together(all, alike(all, found))
        }
        StartMethod::Exec => together(all, found),
    }
}

/// Those whose calls are like those of most.
fn alike(all: &[Retired], mut found: Vec<usize>) -> Vec<usize> {
    let mut counts: HashMap<u64, usize> = HashMap::default();
    for &at in &found {
        *counts.entry(all[at].bits).or_default() += 1;
    }
    let common = counts.into_iter().max_by_key(|&(bits, count)| (count, bits));
    let Some((common, _)) = common else { return found };
    found.retain(|&at| {
        let bits = all[at].bits;
        let (both, any) = ((bits & common).count_ones(), (bits | common).count_ones());
        f64::from(both) >= ALIKE * f64::from(any)
    });
    found
}

/// Workers without jobs are those that lived at the same time, and of which none reads what another
/// one writes, as in a pipeline.
fn together(all: &[Retired], mut found: Vec<usize>) -> Vec<usize> {
    let members: HashMap<u32, ()> = found.iter().map(|&at| (all[at].task, ())).collect();
    let mut piped: HashMap<u32, ()> = HashMap::default();
    for &at in &found {
        for writer in all[at].reads_from.iter().filter(|writer| members.contains_key(*writer)) {
            piped.insert(*writer, ());
            piped.insert(all[at].task, ());
        }
    }
    found.retain(|&at| !piped.contains_key(&all[at].task));
    let judged: Vec<usize> = found.iter().copied().filter(|&at| !all[at].early).collect();
    // One may outlast all others, which follow one another.
    let longest = judged.iter().copied().max_by_key(|&at| all[at].to - all[at].from);
    let others = judged.iter().copied().filter(|&at| judged.len() < 3 || Some(at) != longest);
    if !parallel(all, others) {
        return Vec::new();
    }
    let kept = overlapping(all, &found);
    let count = kept.iter().filter(|&&kept| kept).count();
    if count * 2 < found.len() {
        let mut kept = kept.into_iter();
        found.retain(|_| kept.next().unwrap_or(false));
    }
    found
}

/// Whether several of these, which are in order of their start, live at once for most of the time.
fn parallel(all: &[Retired], found: impl Iterator<Item = usize>) -> bool {
    let (mut lived, mut any, mut last) = (0_i128, 0_i128, i64::MIN);
    for at in found {
        let (from, to) = (all[at].from, all[at].to);
        lived += i128::from((to - from).max(0));
        any += i128::from((to - from.max(last)).max(0));
        last = last.max(to);
    }
    lived * PARALLEL.1 >= any * PARALLEL.0 && lived > 0
}

/// Which of these, which are in order of their start, live at one time with another one.
fn overlapping(all: &[Retired], found: &[usize]) -> Vec<bool> {
    let mut kept = vec![false; found.len()];
    let mut last: Option<usize> = None;
    for (index, &at) in found.iter().enumerate() {
        // One that overlaps any that started before it overlaps the one that ended last.
        let before = last.map(|before| (before, all[found[before]].to));
        if let Some((before, end)) = before
            && all[at].from < end
        {
            (kept[before], kept[index]) = (true, true);
        }
        if before.is_none_or(|(_, end)| end < all[at].to) {
            last = Some(index);
        }
    }
    kept
}

/// The round of each worker: a new one begins with the first that started after all before it had
/// ended.
fn rounds(all: &[Retired], workers: Vec<usize>) -> Vec<(usize, u32)> {
    let (mut round, mut last) = (0, None);
    let numbered = workers.into_iter().map(|at| {
        if last.is_some_and(|last| last < all[at].from) {
            round += 1;
            last = None;
        }
        // Its maker went on with others before it had waited for one that ended early.
        if !all[at].early {
            last = last.max(Some(all[at].to));
        }
        (at, round)
    });
    numbered.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::packed::Packed;
    use crate::tables::workers::growth::Growth;
    use crate::tables::workers::life::Ready;

    fn one(task: u32, method: StartMethod, from: i64, to: i64) -> Retired {
        Retired {
            task,
            kin: Kin { maker: 0, method, form: 0 },
            from,
            to,
            asked: Packed::default(),
            ready: None,
            jobs: None,
            connections: 0,
            sure: false,
            early: false,
            bits: 0b111,
            listens: false,
            reads_from: Vec::new(),
            wait_ns: Packed::default(),
            files: 0,
            reads: Box::default(),
            read_bytes: 0,
            shm_bytes: 0,
            growth: Growth::default(),
        }
    }

    fn found(all: &[Retired]) -> Vec<Vec<(u32, u32)>> {
        let of = |pool: Pool| {
            pool.workers.into_iter().map(|(at, round)| (all[at].task, round)).collect()
        };
        pools(all, |task| task >= 100).into_iter().map(of).collect()
    }

    #[test]
    fn a_round_begins_when_all_before_have_ended() {
        let ready = Some(Ready::default());
        let all: Vec<_> = [(1, 0, 10), (2, 2, 9), (3, 11, 20), (4, 12, 13), (5, 14, 30)]
            .into_iter()
            .map(|(task, from, to)| Retired { ready, ..one(task, StartMethod::Fork, from, to) })
            .collect();
        assert_eq!(found(&all), [[(1, 0), (2, 0), (3, 1), (4, 1), (5, 1)]]);
    }

    #[test]
    fn processes_one_after_the_other_are_no_pool() {
        for method in [StartMethod::Fork, StartMethod::Exec] {
            let all = [one(1, method, 0, 10), one(2, method, 11, 20), one(3, method, 21, 22)];
            assert_eq!(found(&all), Vec::<Vec<_>>::new());
            // Nor if they overlap for a moment, or if one outlasts the others.
            let all = [one(1, method, 0, 12), one(2, method, 11, 20), one(3, method, 21, 22)];
            assert_eq!(found(&all), Vec::<Vec<_>>::new());
            let all = [one(1, method, 0, 90), one(2, method, 11, 12), one(3, method, 21, 22)];
            assert_eq!(found(&all), Vec::<Vec<_>>::new());
            let all = [one(1, method, 0, 30), one(2, method, 1, 29), one(3, method, 2, 28)];
            assert_eq!(found(&all), [[(1, 0), (2, 0), (3, 0)]]);
        }
    }

    #[test]
    fn one_that_ended_before_the_others_were_made_is_one_of_them() {
        let early = Retired { early: true, ..one(1, StartMethod::Fork, 0, 10) };
        let all = [early, one(2, StartMethod::Fork, 20, 90), one(3, StartMethod::Fork, 21, 91)];
        assert_eq!(found(&all), [[(1, 0), (2, 0), (3, 0)]]);
    }

    #[test]
    fn a_pipeline_is_no_pool() {
        let reads_from = vec![1];
        let all = [
            one(1, StartMethod::Exec, 0, 10),
            Retired { reads_from, ..one(2, StartMethod::Exec, 1, 11) },
        ];
        assert_eq!(found(&all), Vec::<Vec<_>>::new());
    }

    #[test]
    fn who_gets_no_jobs_is_no_worker_where_others_do() {
        let ready = Some(Ready::default());
        let all = [
            Retired { listens: true, ..one(1, StartMethod::Fork, 0, 10) },
            Retired { ready, sure: true, ..one(2, StartMethod::Fork, 1, 9) },
        ];
        assert_eq!(found(&all), [[(2, 0)]]);
        let all = [
            Retired { listens: true, ..one(1, StartMethod::Spawn, 0, 10) },
            one(2, StartMethod::Spawn, 1, 9),
        ];
        assert_eq!(found(&all), [[(2, 0)]]);
    }

    #[test]
    fn a_log_without_reads_may_show_that_one_waits() {
        let all = [
            Retired { listens: true, ..one(1, StartMethod::Fork, 0, 10) },
            Retired { ready: Some(Ready::default()), ..one(2, StartMethod::Fork, 1, 9) },
            one(3, StartMethod::Fork, 2, 9),
        ];
        assert_eq!(found(&all), [[(2, 0), (3, 0)]]);
    }

    #[test]
    fn one_child_that_reads_a_pipe_is_no_pool() {
        let ready = Some(Ready::default());
        let all = [Retired { ready, ..one(1, StartMethod::Fork, 0, 10) }];
        assert_eq!(found(&all), Vec::<Vec<_>>::new());
    }

    #[test]
    fn subshells_are_no_workers() {
        let all = [one(100, StartMethod::Fork, 0, 10), one(101, StartMethod::Fork, 1, 9)];
        assert_eq!(found(&all), Vec::<Vec<_>>::new());
        let all = [one(100, StartMethod::Exec, 0, 10), one(101, StartMethod::Exec, 1, 9)];
        assert_eq!(found(&all).len(), 1);
    }

    #[test]
    fn what_does_something_else_is_no_worker() {
        let all = [
            one(1, StartMethod::Fork, 0, 10),
            one(2, StartMethod::Fork, 1, 9),
            Retired { bits: 0xff00, ..one(3, StartMethod::Fork, 2, 8) },
        ];
        assert_eq!(found(&all), [[(1, 0), (2, 0)]]);
    }
}
