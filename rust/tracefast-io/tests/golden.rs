//! Logs and the rows that they must give, in files that the Python tests read too.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int32Type, Int64Type, TimestampNanosecondType, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use serde_json::{Map, Value, json};
use tracefast_core::events::schema::{COLUMNS, Column, Kind};
use tracefast_io::pipeline::Options;
use tracefast_io::read::BatchStream;

fn value(batch: &RecordBatch, index: usize, kind: Kind, row: usize) -> Value {
    let array = batch.column(index);
    match kind {
        Kind::Timestamp => json!(array.as_primitive::<TimestampNanosecondType>().value(row)),
        Kind::I64 => json!(array.as_primitive::<Int64Type>().value(row)),
        Kind::U64 => json!(array.as_primitive::<UInt64Type>().value(row)),
        Kind::I32 => json!(array.as_primitive::<Int32Type>().value(row)),
        Kind::U32 => json!(array.as_primitive::<UInt32Type>().value(row)),
        Kind::U16 => json!(array.as_primitive::<UInt16Type>().value(row)),
        Kind::View => json!(array.as_string_view().value(row)),
        Kind::Dictionary => {
            let dictionary = array.as_dictionary::<UInt32Type>();
            let key = dictionary.keys().value(row) as usize;
            json!(dictionary.values().as_string::<i32>().value(key))
        }
    }
}

fn rows(log: &Path, block_bytes: usize, threads: usize) -> Vec<Value> {
    let names = [log.display().to_string()];
    let options = Options { block_bytes, threads, ..Options::default() };
    let stream = BatchStream::open(&names, options, &Arc::default()).expect("a log");
    let mut out = Vec::new();
    for batch in stream {
        let batch = batch.expect("a batch");
        for row in 0..batch.num_rows() {
            let mut object = Map::new();
            for (index, &(column, name, kind)) in COLUMNS.iter().enumerate() {
                if column != Column::Source && !batch.column(index).is_null(row) {
                    object.insert(name.to_owned(), value(&batch, index, kind, row));
                }
            }
            out.push(Value::Object(object));
        }
    }
    out
}

fn logs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/golden");
    let mut logs: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder of golden files")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .collect();
    logs.sort();
    assert!(logs.len() >= 3, "golden files are missing");
    logs
}

#[test]
fn logs_give_their_rows_whatever_the_blocks() {
    for log in logs() {
        let text = std::fs::read_to_string(log.with_extension("ndjson")).expect("its rows");
        let expected: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        for (block_bytes, threads) in [(1, 1), (100, 2), (700, 3), (256 << 10, 1)] {
            let found = rows(&log, block_bytes, threads);
            for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert_eq!(found, expected, "{} row {number}, {block_bytes}", log.display());
            }
            assert_eq!(found.len(), expected.len(), "{}", log.display());
        }
    }
}
