//! Every log through both writers of Parquet: the rows read back are those of the stream.
//!
//! `TRACEFAST_LOGS=folder cargo test -p tracefast-io --test parquet_logs` takes the logs below that
//! folder as well.

mod support;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use support::{own, read, stock, table};
use tracefast_core::events::schema::COLUMNS;
use tracefast_io::pipeline::Options;
use tracefast_io::read::BatchStream;

/// Rows of a batch, and batches of a row group: many of either.
const BATCH: usize = 512;
const GROUP: usize = 3;

/// The suffixes of files in `tests/data` that are not logs; nor are archives of them, and the lists of
/// kernels, which have none.
const NO_LOGS: [&str; 11] =
    ["", "c", "gz", "json", "md", "ndjson", "py", "pyc", "sh", "toml", "txt"];

/// Every log below a folder.
fn below(folder: &Path, logs: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("readable").path();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if path.is_dir() {
            below(&path, logs);
        } else if !NO_LOGS.contains(&ending) && !path.to_string_lossy().contains(".tar.") {
            logs.push(path);
        }
    }
}

/// The rows of a log, in small batches whose dictionaries are those of the pipeline.
fn batches(log: &Path) -> Option<Vec<RecordBatch>> {
    let names = [log.display().to_string()];
    let stream = BatchStream::open(&names, Options::default(), &Arc::default()).ok()?;
    let mut batches = Vec::new();
    for batch in stream {
        let batch = batch.ok()?;
        let starts = (0..batch.num_rows()).step_by(BATCH);
        batches.extend(starts.map(|at| batch.slice(at, BATCH.min(batch.num_rows() - at))));
    }
    Some(batches)
}

/// Compares column by column; all rows of a log would fill the screen.
fn assert_same(found: &[RecordBatch], expected: &[RecordBatch], log: &Path) {
    let (found, expected) = (table(found), table(expected));
    for ((found, expected), (_, name, _)) in found.iter().zip(&expected).zip(COLUMNS) {
        assert_eq!(found.len(), expected.len(), "{name} of {}", log.display());
        for (row, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert_eq!(found, expected, "{name}, row {row} of {}", log.display());
        }
    }
}

#[test]
fn both_writers_tell_what_the_stream_tells() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
    let mut logs = Vec::new();
    below(&data, &mut logs);
    assert!(logs.len() > 200, "logs are missing");
    let ours = logs.len();
    if let Some(folder) = std::env::var_os("TRACEFAST_LOGS") {
        below(Path::new(&folder), &mut logs);
    }
    let mut read_back = 0;
    for (i, log) in logs.iter().enumerate() {
        let Some(batches) = batches(log) else {
            assert!(i >= ours, "{} is a log", log.display());
            continue;
        };
        let groups: Vec<&[RecordBatch]> = batches.chunks(GROUP).collect();
        assert_same(&read(own(&groups)), &batches, log);
        assert_same(&read(stock(&batches, GROUP * BATCH)), &batches, log);
        read_back += 1;
    }
    assert!(read_back >= ours);
}
