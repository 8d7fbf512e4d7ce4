//! Files of events that were written before: their metadata, their batches.

pub mod metadata;
pub mod parquet_events;
