//! How long benches are timed, and what is counted.

use std::time::Duration;

use criterion::{Criterion, Throughput};

/// Times each bench for two seconds: enough to see a difference of a tenth.
pub(crate) fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args()
}

/// Rows and bytes a second.
pub(crate) fn throughput(rows: u64, bytes: usize) -> Throughput {
    Throughput::ElementsAndBytes { elements: rows, bytes: bytes as u64 }
}
