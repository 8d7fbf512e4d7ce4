//! Sorted lists that grow: new items wait in a list of their own and are merged in batches.

/// Merges `recent` into `merged`, which is sorted, and empties it. `join` adds an item to the one
/// before it, where the two are one, and returns whether it did.
#[cold]
pub(crate) fn merge_recent<T: Copy + Ord>(
    merged: &mut Vec<T>,
    recent: &mut Vec<T>,
    join: impl Fn(&mut T, T) -> bool,
) {
    recent.sort_unstable();
    let Some(first) = recent.first() else { return };
    // Most logs are nearly in order: what comes before all new items stays where it is.
    let stays = merged.partition_point(|item| item <= first);
    let moved = merged.split_off(stays);
    // A table may have a hundred thousand of these lists: none has more room than it may need.
    merged.reserve_exact(moved.len() + recent.len());
    let mut add = |item: T| {
        if !merged.last_mut().is_some_and(|last| join(last, item)) {
            merged.push(item);
        }
    };
    let mut old = moved.iter().copied();
    let mut next_old = old.next();
    for &new in recent.iter() {
        while let Some(item) = next_old.filter(|item| *item <= new) {
            add(item);
            next_old = old.next();
        }
        add(new);
    }
    next_old.into_iter().chain(old).for_each(add);
    recent.clear();
}
