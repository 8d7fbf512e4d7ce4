//! The tracer's share of the cost of a new process.
//!
//! strace stops a task twice for each call. The cost of such a pair of stops shows in the time from
//! one line of a thread to the next: the shortest tenth of these gaps are calls that do almost
//! nothing.

/// The least number of gaps for an estimate.
const ENOUGH: u64 = 10;

/// The most that a pair of stops can cost, in nanoseconds. If even the shortest gaps are longer,
/// the calls between the lines were not traced.
const MOST: i64 = 100_000;

/// A histogram of times in nanoseconds, rounded down to five binary digits.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    total: u64,
    counts: Vec<u64>,
}

const DIGITS: u32 = 5;

impl Gaps {
    /// Counts a time; ignores negative ones.
    #[inline]
    pub(crate) fn push(&mut self, ns: i64) {
        let Ok(ns) = u64::try_from(ns) else { return };
        let bucket = bucket(ns);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += 1;
            self.total += 1;
        }
    }

    /// The percentile by nearest rank, rounded down; None if there are too few gaps.
    pub(crate) fn rank(&self, percent: u64) -> Option<i64> {
        if self.total < ENOUGH {
            return None;
        }
        let rank = self.total.saturating_mul(percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return Some(lower(bucket));
            }
        }
        None
    }
}

#[inline]
fn bucket(ns: u64) -> usize {
    let digits = u64::BITS - ns.leading_zeros();
    let shift = digits.saturating_sub(DIGITS);
    // After the first buckets, each power of two has half as many, as its first digit is 1.
    ((u64::from(shift) << (DIGITS - 1)) + (ns >> shift)) as usize
}

fn lower(bucket: usize) -> i64 {
    let bucket = bucket as u64;
    let half = 1 << (DIGITS - 1);
    let shift = (bucket >> (DIGITS - 1)).saturating_sub(1);
    let digits = if shift == 0 { bucket } else { bucket % half + half };
    digits.checked_shl(shift as u32).and_then(|ns| i64::try_from(ns).ok()).unwrap_or(i64::MAX)
}

/// The least, usual and greatest cost of one line of a thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    low: i64,
    usual: i64,
    high: i64,
}

impl Cost {
    /// `all`: gaps between lines; `fresh`: those in new processes before they start a program.
    pub(crate) fn from_gaps(all: &Gaps, fresh: &Gaps) -> Option<Self> {
        let low = all.rank(10)?.min(MOST);
        let usual = fresh.rank(50).or_else(|| all.rank(50))?.max(low);
        let high = fresh.rank(90).unwrap_or(usual).max(usual);
        Some(Self { low, usual, high })
    }

    /// Bounds of the tracer's share of `call`, `gap` and `exec`, added up.
    pub(crate) fn share(self, spawn: &Spawn) -> Option<(i64, i64)> {
        let call = spawn.call?.max(0);
        let started = spawn.gap.zip(spawn.exec);
        let (gap, exec) = started.map_or((0, 0), |(gap, exec)| (gap.max(0), exec.max(0)));
        let all = call.saturating_add(gap).saturating_add(exec);
        let lines = i64::from(spawn.lines);
        let low = lines.saturating_mul(self.low).min(gap);
        let high = if spawn.waited && started.is_some() {
            // The call contains the gap and the execve; the rest of it is stops.
            let execve = exec.min(self.high.saturating_mul(EXEC));
            let rest = call.saturating_sub(gap).saturating_sub(exec).max(0);
            gap.saturating_add(execve).saturating_mul(2).saturating_add(rest)
        } else {
            let price = |lines: i64| self.usual.saturating_mul(lines);
            let birth = price(CALL + if spawn.followed { BIRTH } else { 0 });
            let execve = exec.min(price(EXEC));
            let between = self.high.saturating_mul(lines + 1).min(gap);
            birth.saturating_add(between).saturating_add(execve)
        };
        Some((low, high.clamp(low, all.max(low))))
    }
}

/// The cost of the call, of the birth of a followed child, and of its execve, in lines at most. A
/// birth stops both tasks and attaches the child. An execve stops once more, and strace reads its
/// strings from the child one by one.
const CALL: i64 = 1;
const BIRTH: i64 = 4;
const EXEC: i64 = 10;

/// The times of a process's creation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spawn {
    pub(crate) call: Option<i64>,
    pub(crate) gap: Option<i64>,
    pub(crate) exec: Option<i64>,
    /// Lines of the child before it started its program.
    pub(crate) lines: u32,
    /// The child is in the log.
    pub(crate) followed: bool,
    /// The caller waits for the child's program: its call contains what the child does until then.
    pub(crate) waited: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_in_order_and_have_lower_bounds() {
        let mut last = None;
        for ns in (0..2000).chain((20..63).flat_map(|bit| [(1 << bit) - 1, 1 << bit])) {
            let bucket = bucket(ns);
            assert!(last.is_none_or(|last| last <= bucket), "{ns}");
            last = Some(bucket);
            let low = lower(bucket) as u64;
            assert!(low <= ns && ns - low <= ns / 16, "{ns} {low}");
            assert_eq!(super::bucket(low), bucket);
        }
        assert_eq!(lower(bucket(u64::MAX)), i64::MAX);
    }

    #[test]
    fn ranks_are_nearest() {
        let mut gaps = Gaps::default();
        for ns in 1..=9 {
            gaps.push(ns);
        }
        gaps.push(-1);
        assert_eq!(gaps.rank(10), None);
        gaps.push(10);
        assert_eq!((gaps.rank(10), gaps.rank(50), gaps.rank(90)), (Some(1), Some(5), Some(9)));
        assert_eq!(gaps.rank(100), Some(10));
    }

    fn cost() -> Cost {
        Cost { low: 10, usual: 20, high: 40 }
    }

    fn spawn() -> Spawn {
        Spawn {
            call: Some(7_000),
            gap: Some(500),
            exec: Some(6_000),
            lines: 10,
            followed: true,
            waited: false,
        }
    }

    #[test]
    fn each_line_has_its_share() {
        // Eleven gaps and fifteen more lines.
        assert_eq!(cost().share(&spawn()), Some((100, 440 + 300)));
        // No more than there is.
        assert_eq!(cost().share(&Spawn { gap: Some(60), ..spawn() }), Some((60, 60 + 300)));
        assert_eq!(cost().share(&Spawn { exec: Some(50), ..spawn() }), Some((100, 440 + 150)));
        assert_eq!(cost().share(&Spawn { lines: 100, ..spawn() }), Some((500, 500 + 300)));
    }

    #[test]
    fn a_call_that_waits_contains_the_rest() {
        let vfork = Spawn { call: Some(1100), exec: Some(450), waited: true, ..spawn() };
        assert_eq!(cost().share(&vfork), Some((100, 2 * 500 + 2 * 400 + 150)));
        assert_eq!(cost().share(&Spawn { call: Some(900), ..vfork }), Some((100, 1800)));
        assert_eq!(cost().share(&Spawn { call: Some(100), ..vfork }), Some((100, 1050)));
        assert_eq!(cost().share(&Spawn { exec: None, ..vfork }), Some((0, 100)));
    }

    #[test]
    fn what_did_not_happen_has_no_share() {
        assert_eq!(cost().share(&Spawn { call: None, ..spawn() }), None);
        assert_eq!(cost().share(&Spawn { exec: None, ..spawn() }), Some((0, 100)));
        let alone = Spawn { exec: None, followed: false, ..spawn() };
        assert_eq!(cost().share(&alone), Some((0, 20)));
        assert_eq!(cost().share(&Spawn { call: Some(15), ..alone }), Some((0, 15)));
    }

    #[test]
    fn lines_that_are_far_apart_say_little() {
        let mut gaps = Gaps::default();
        for _ in 0..20 {
            gaps.push(5_000_000);
        }
        let cost = Cost::from_gaps(&gaps, &Gaps::default()).expect("twenty gaps");
        assert_eq!(cost.low, MOST);
        assert!(cost.high > 4_000_000 && cost.high <= 5_000_000);
    }
}
