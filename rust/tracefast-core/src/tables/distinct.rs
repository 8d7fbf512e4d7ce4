//! How many different numbers there were.

use hashbrown::HashSet;

use crate::hash::Hasher;
use crate::tables::packed::Packed;

/// A set of process ids, or of numbers of tasks, that usually come several times in a row.
///
/// There are several in each row of a table: one number takes no memory of its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Distinct {
    /// It fits into 32 bits.
    last: Packed<i64>,
    /// All numbers, if there is more than one.
    all: Option<Box<HashSet<u32, Hasher>>>,
}

impl Distinct {
    #[inline]
    pub(crate) fn insert(&mut self, number: u32) {
        if self.last != i64::from(number).into() {
            self.add(number);
        }
    }

    fn add(&mut self, number: u32) {
        let before = std::mem::replace(&mut self.last, i64::from(number).into());
        match &mut self.all {
            Some(all) => {
                all.insert(number);
            }
            None => {
                if let Some(before) = before.get() {
                    self.all = Some(Box::new([before as u32, number].into_iter().collect()));
                }
            }
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.all.as_ref().map_or_else(|| self.last.is_some().into(), |all| all.len() as u64)
    }

    /// Adds all of `other`.
    pub(crate) fn absorb(&mut self, other: Self) {
        if let Some(last) = other.last.get() {
            self.insert(last as u32);
        }
        for number in other.all.into_iter().flat_map(|all| *all) {
            self.insert(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counts_what_a_set_has(
            one in prop::collection::vec(0u32..6, 0..9), other in prop::collection::vec(2u32..9, 0..9),
        ) {
            let of = |numbers: &[u32]| {
                let mut found = Distinct::default();
                for &number in numbers {
                    found.insert(number);
                }
                found
            };
            let mut found = of(&one);
            prop_assert_eq!(found.count(), one.iter().collect::<BTreeSet<_>>().len() as u64);
            found.absorb(of(&other));
            let all: BTreeSet<_> = one.iter().chain(&other).collect();
            prop_assert_eq!(found.count(), all.len() as u64);
        }
    }

    #[test]
    fn it_is_small() {
        assert_eq!(size_of::<Distinct>(), 16);
    }
}
