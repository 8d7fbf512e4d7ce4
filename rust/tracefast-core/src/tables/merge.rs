//! Sorted lists that grow: new items wait in a list of their own and are merged in batches.

/// Merges `recent` into `merged`, which is sorted, and empties it. `join` adds an item to the one
/// before it, where the two are one, and returns whether it did.
#[cold]
pub(crate) fn merge_recent<T: Copy + Ord>(
    merged: &mut Vec<T>,
    recent: &mut Vec<T>,
    join: impl Fn(&mut T, T) -> bool,
) {
    if recent.is_empty() {
        return;
    }
    recent.sort_unstable();
    let mut all: Vec<T> = Vec::with_capacity(merged.len() + recent.len());
    let mut old = merged.iter().copied().peekable();
    let mut new = recent.iter().copied().peekable();
    loop {
        let next = match (old.peek(), new.peek()) {
            (Some(a), Some(b)) if a <= b => old.next(),
            (_, Some(_)) => new.next(),
            _ => old.next(),
        };
        let Some(item) = next else { break };
        if !all.last_mut().is_some_and(|last| join(last, item)) {
            all.push(item);
        }
    }
    *merged = all;
    recent.clear();
}
