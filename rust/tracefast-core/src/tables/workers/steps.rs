//! How the memory of a process grows from one step of its work, such as a job, to the next.

/// Peaks that are kept, at most: of more steps every second, fourth, and so on.
const MOST: usize = 96;

/// Into how many parts the steps are divided: what grows with each step grows in all of them.
const PARTS: usize = 3;

/// The highest amount of each step.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    /// Steps that are over.
    over: u64,
    /// The peak of the step that goes on.
    now: Option<i64>,
    /// Of every so many steps, as a power of two, the peak is kept.
    every: u32,
    /// Numbers and peaks of steps that are over.
    peaks: Vec<(u64, i64)>,
}

impl Steps {
    /// A step begins, with an amount.
    pub(crate) fn begin(&mut self, amount: i64) {
        let Some(peak) = self.now.replace(amount) else { return };
        if self.is_kept(self.over) {
            if self.peaks.len() == MOST {
                self.every += 1;
                let every = self.every;
                self.peaks.retain(|(step, _)| step.trailing_zeros() >= every);
            }
            if self.is_kept(self.over) {
                self.peaks.push((self.over, peak));
            }
        }
        self.over += 1;
    }

    /// None has begun.
    pub(crate) fn is_empty(&self) -> bool {
        self.now.is_none()
    }

    fn is_kept(&self, step: u64) -> bool {
        step.trailing_zeros() >= self.every
    }

    /// The amount has changed.
    pub(crate) fn show(&mut self, amount: i64) {
        self.now = self.now.map(|peak| peak.max(amount));
    }

    /// Steps after the first one, the one that goes on included.
    pub(crate) fn after_first(&self) -> u64 {
        self.over
    }

    /// What each step added, and how many did, if there are at least so many.
    pub(crate) fn each(&self, least: u64) -> Option<(i64, u64)> {
        Some((self.per_step(least)?, self.over + 1))
    }

    /// By how much each step raised the peak: the least of what it did in each part of them, as what
    /// grows for a while, and then no more, does not grow with each step.
    fn per_step(&self, least: u64) -> Option<i64> {
        let last = (self.over, self.now?);
        if self.over + 1 < least {
            return None;
        }
        let of = |at: usize| self.peaks.get(at).copied().unwrap_or(last);
        let after = self.peaks.len();
        let parts = after.min(PARTS);
        let borders = |part: usize| (of(after * part / parts), of(after * (part + 1) / parts));
        let grown = (0..parts).map(borders).map(|((from, low), (to, high))| {
            let steps = i64::try_from(to.saturating_sub(from)).unwrap_or(i64::MAX).max(1);
            high.saturating_sub(low) / steps
        });
        Some(grown.min()?.max(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(amounts: impl IntoIterator<Item = i64>) -> Steps {
        let mut steps = Steps::default();
        amounts.into_iter().for_each(|amount| steps.begin(amount));
        steps
    }

    #[test]
    fn what_grows_with_each_step() {
        assert_eq!(of((0..20).map(|step| 500 + 30 * step)).per_step(9), Some(30));
        // More before that.
        let warm = [0, 4000, 9000].into_iter().chain((3..30).map(|step| 9000 + 30 * step));
        assert_eq!(of(warm).per_step(9), Some(30));
        // Not in each.
        assert_eq!(of((0..28).map(|step| 500 + 90 * (step / 3))).per_step(9), Some(30));
    }

    #[test]
    fn what_grows_once() {
        assert_eq!(of((0..20).map(|step| 900.min(100 * step))).per_step(9), Some(0));
        // In the middle, or in the end.
        assert_eq!(of((0..20).map(|step| 900 * i64::from(step > 9))).per_step(9), Some(0));
        assert_eq!(of((0..20).map(|step| 900 * i64::from(step > 18))).per_step(9), Some(0));
        assert_eq!(of((0..20).map(|step| 900 - step)).per_step(9), Some(0));
    }

    #[test]
    fn few_steps() {
        assert_eq!(Steps::default().per_step(0), None);
        assert_eq!(of([5]).per_step(1), None);
        assert_eq!(of([5, 9]).per_step(3), None);
        assert_eq!(of([5, 9]).per_step(2), Some(4));
        assert_eq!(of([5, 9, 12]).per_step(2), Some(3));
    }

    #[test]
    fn the_peak_of_a_step_counts() {
        let mut steps = Steps::default();
        steps.show(999);
        for step in 0..10 {
            steps.begin(100);
            steps.show(500 + step);
            steps.show(50);
        }
        assert_eq!((steps.per_step(9), steps.after_first()), (Some(1), 9));
    }

    #[test]
    fn a_worker_with_many_jobs_takes_no_memory_for_each() {
        let steps = of((0..1_000_000).map(|step| 7 * step));
        assert_eq!((steps.per_step(9), steps.after_first()), (Some(7), 999_999));
        assert!(steps.peaks.len() <= MOST);
    }
}
