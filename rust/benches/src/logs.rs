//! The logs that benches read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most bytes of a log to time: a log of gigabytes would be read only once.
const MOST: u64 = 64 << 20;

/// Bytes of a log in a test, which only checks that a bench works.
const LITTLE: u64 = 64 << 10;

/// The name of a log, and its text.
pub type Log = (String, Vec<u8>);

/// The log of `TRACEFAST_BENCH_LOG`.
pub fn named() -> Option<String> {
    std::env::var("TRACEFAST_BENCH_LOG").ok()
}

/// Whether this is `cargo bench`. `cargo test --all-targets` starts the benches too: each is then
/// run once, on little input.
pub fn in_earnest() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// The log of `TRACEFAST_BENCH_LOG`, or else those of `kinds` that ship with the project.
///
/// # Errors
///
/// If one cannot be read.
pub fn logs(kinds: &[&str]) -> io::Result<Vec<Log>> {
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
