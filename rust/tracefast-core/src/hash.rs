//! The hash map of this crate: fast for short keys. Its hash has no random seed, so that a map has
//! the same order in every run.

/// A map with the hash of this crate.
pub(crate) type HashMap<K, V> = hashbrown::HashMap<K, V, foldhash::fast::FixedState>;
