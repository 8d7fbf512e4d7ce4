//! Arrow by the `PyCapsule` interface: batches and streams in and out.

pub(crate) mod batch;
pub(crate) mod import;
pub(crate) mod parquet_events;
pub(crate) mod requested;
pub(crate) mod values;
