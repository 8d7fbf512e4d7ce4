//! What a worker did since it took a job.

use std::collections::VecDeque;

use crate::hash::HashMap;
use crate::linux::waits::Time;

/// Jobs of a worker whose results are not yet known. A worker that sends no results has more.
const MOST_JOBS: usize = 64;

/// One job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Work {
    /// When the worker had taken it.
    pub(crate) begun: i64,
    /// It has sent its result, or waits for the next job.
    ended: bool,
    pub(crate) read_ns: i64,
    pub(crate) read_bytes: i64,
    pub(crate) wait_ns: i64,
    /// Time in reads of each file.
    files: HashMap<u64, i64>,
    /// The path of the file that took most of it.
    slowest: Option<(String, i64)>,
}

impl Work {
    /// A call of the worker; `reads`: bytes, file and path of what it read.
    pub(crate) fn call(
        &mut self,
        time: Time,
        ns: Option<i64>,
        reads: Option<(i64, Option<u64>, Option<&str>)>,
    ) {
        let ns = ns.unwrap_or(0);
        if time == Time::Wait {
            self.wait_ns = self.wait_ns.saturating_add(ns);
            return;
        }
        let Some((bytes, file, path)) = reads else { return };
        self.read_ns = self.read_ns.saturating_add(ns);
        self.read_bytes = self.read_bytes.saturating_add(bytes);
        let Some(file) = file else { return };
        let sum = self.files.entry(file).or_default();
        *sum = sum.saturating_add(ns);
        let slowest = self.slowest.get_or_insert_default();
        if *sum >= slowest.1 {
            slowest.1 = *sum;
            if let Some(path) = path
                && slowest.0 != path
            {
                slowest.0.clear();
                slowest.0.push_str(path);
            }
        }
    }

    pub(crate) fn files(&self) -> i64 {
        self.files.len() as i64
    }

    /// The path of the file that took longest to read, and how long.
    pub(crate) fn slowest(&self) -> Option<(&str, i64)> {
        self.slowest.as_ref().map(|(path, ns)| (path.as_str(), *ns))
    }
}

/// A process that takes jobs.
#[derive(Debug)]
pub(crate) struct Worker {
    /// The task that took the last job, and the channel and descriptor that it came from.
    pub(crate) task: u32,
    channel: u32,
    pub(crate) fd: Option<i32>,
    /// The process that gave it.
    pub(crate) maker: Option<i32>,
    jobs: VecDeque<Work>,
}

impl Worker {
    pub(crate) fn new(task: u32, channel: u32) -> Self {
        Self { task, channel, fd: None, maker: None, jobs: VecDeque::new() }
    }

    /// It took a job at a moment.
    pub(crate) fn took(&mut self, task: u32, channel: u32, at: i64) {
        // What came first through another channel told it how to start.
        if channel != self.channel {
            self.jobs.clear();
        }
        (self.task, self.channel) = (task, channel);
        self.ended();
        if self.jobs.len() == MOST_JOBS {
            self.jobs.pop_front();
        }
        self.jobs.push_back(Work { begun: at, ..Work::default() });
    }

    /// It has sent a result, or waits for the next job.
    pub(crate) fn ended(&mut self) {
        if let Some(job) = self.jobs.back_mut() {
            job.ended = true;
        }
    }

    /// The job that it works on.
    pub(crate) fn current(&mut self) -> Option<&mut Work> {
        self.jobs.back_mut().filter(|job| !job.ended)
    }

    /// The job of a result that it began to send at a moment: the oldest without one.
    pub(crate) fn done(&mut self, at: i64) -> Option<Work> {
        if self.jobs.front()?.begun > at {
            return None;
        }
        self.jobs.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_jobs() {
        let mut worker = Worker::new(7, 1);
        worker.took(7, 1, 10);
        let job = worker.current().expect("a job");
        job.call(Time::Io, Some(5), Some((100, Some(1), Some("a"))));
        job.call(Time::Io, Some(9), Some((50, Some(2), Some("b"))));
        job.call(Time::Wait, Some(3), None);
        worker.ended();
        assert!(worker.current().is_none());
        worker.took(7, 1, 40);
        let first = worker.done(50).expect("the first");
        assert_eq!((first.begun, first.read_ns, first.read_bytes), (10, 14, 150));
        assert_eq!((first.wait_ns, first.files(), first.slowest()), (3, 2, Some(("b", 9))));
        assert_eq!(worker.done(30), None);
        assert_eq!(worker.done(60).map(|job| job.begun), Some(40));
    }

    #[test]
    fn what_starts_a_worker_is_no_job() {
        let mut worker = Worker::new(7, 1);
        worker.took(7, 1, 10);
        worker.took(7, 2, 20);
        worker.took(7, 2, 30);
        assert_eq!(worker.done(99).map(|job| job.begun), Some(20));
    }
}
