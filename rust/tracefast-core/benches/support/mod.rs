//! What the benches of all crates share: the logs, how long they are timed, and the way to run one
//! stage once for a tool that measures by itself.

#![allow(dead_code)] // Each user needs a part.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use criterion::{Criterion, Throughput};

/// The most bytes of a log to time: a log of gigabytes would be read only once.
const MOST: u64 = 64 << 20;

/// Bytes of a log in a test, which only checks that a bench works.
const LITTLE: u64 = 64 << 10;

/// The name of a log, and its text.
pub(crate) type Log = (String, Vec<u8>);

/// The stage of `TRACEFAST_BENCH_STAGE`, to be run and not timed.
pub(crate) fn alone() -> Option<String> {
    std::env::var("TRACEFAST_BENCH_STAGE").ok()
}

/// The log of `TRACEFAST_BENCH_LOG`.
pub(crate) fn named() -> Option<String> {
    std::env::var("TRACEFAST_BENCH_LOG").ok()
}

/// Whether this is `cargo bench`. `cargo test --all-targets` starts the benches too: each is then
/// run once, on little input.
pub(crate) fn in_earnest() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// The log of `TRACEFAST_BENCH_LOG`, or else those of `kinds` that ship with the project.
pub(crate) fn logs(kinds: &[&str]) -> io::Result<Vec<Log>> {
    if let Some(path) = named() {
        let name = Path::new(&path).file_name().unwrap_or_default().to_string_lossy();
        return Ok(vec![(name.into_owned(), start(File::open(&path)?)?)]);
    }
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
    let log = |kind: &&str| {
        let name = format!("demo.{kind}");
        let packed = File::open(data.join(format!("{name}.zst")))?;
        Ok((name, start(zstd::Decoder::new(packed)?)?))
    };
    kinds.iter().map(log).collect()
}

/// The start of a log, in whole lines.
fn start(log: impl Read) -> io::Result<Vec<u8>> {
    let most = if in_earnest() { MOST } else { LITTLE };
    let mut text = Vec::new();
    log.take(most).read_to_end(&mut text)?;
    if text.len() as u64 == most {
        text.truncate(memchr::memrchr(b'\n', &text).map_or(text.len(), |end| end + 1));
    }
    Ok(text)
}

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
