//! The hash map of this crate: fast for short keys. Its hash has no random seed, so a map has the
//! same order in every run.

/// The hash function.
pub(crate) type Hasher = foldhash::fast::FixedState;

/// A map with that hash function.
pub(crate) type HashMap<K, V> = hashbrown::HashMap<K, V, Hasher>;
