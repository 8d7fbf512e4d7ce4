//! The length of unions of ranges, by group.

use crate::tables::ranges::Ranges;

/// Unions of ranges, one for each group.
///
/// # Examples
/// ```
/// use tracefast_core::tables::files::Covered;
/// let mut covered = Covered::default();
/// covered.insert(0, 0, 10);
/// covered.insert(0, 5, 10);
/// covered.insert(2, 100, 1);
/// assert_eq!(covered.lengths(), [15, 0, 1]);
/// ```
#[derive(Debug, Default)]
pub struct Covered {
    groups: Vec<Ranges>,
}

impl Covered {
    /// Adds `length` numbers from `start` on to a group. Groups are numbered from 0 without gaps,
    /// so the largest number decides how many there are.
    pub fn insert(&mut self, group: usize, start: i64, length: i64) {
        if group >= self.groups.len() {
            self.groups.resize_with(group + 1, Ranges::default);
        }
        if length > 0 {
            self.groups[group].insert(start, start.saturating_add(length));
        }
    }

    /// How much each group covers.
    pub fn lengths(&mut self) -> Vec<i64> {
        self.groups.iter_mut().map(Ranges::length).collect()
    }
}
