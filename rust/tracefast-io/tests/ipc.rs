//! Arrow IPC files, read back with the arrow crate's own reader.

mod support;

use std::io::Cursor;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, DictionaryArray, RecordBatch, StringArray, UInt32Array, new_null_array,
};
use arrow_ipc::reader::FileReader;
use proptest::prelude::*;
use support::{Cell, batches, table};
use tracefast_core::events::schema::{COLUMNS, Column, schema};
use tracefast_io::Result;
use tracefast_io::sink::{Encoder, IpcAppender, IpcEncoder, ParquetEncoder, ParquetOptions};

fn file(groups: &[&[RecordBatch]]) -> Result<Vec<u8>> {
    let encoder = IpcEncoder::new();
    let mut appender = IpcAppender::try_new(Vec::new())?;
    for group in groups {
        appender.append(encoder.encode(group)?)?;
    }
    appender.finish(vec![("tracefast.clock".into(), "epoch".into())])
}

fn read(file: Vec<u8>) -> Vec<RecordBatch> {
    let reader = FileReader::try_new(Cursor::new(file), None).unwrap();
    assert_eq!(reader.schema().fields(), schema().fields());
    assert_eq!(reader.schema().metadata().get("tracefast.clock").map(|v| &**v), Some("epoch"));
    reader.map(std::result::Result::unwrap).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn batches_come_back(batches in batches(), cut in 0_usize..4) {
        let (first, second) = batches.split_at(cut.min(batches.len()));
        prop_assert_eq!(table(&read(file(&[first, second]).unwrap())), table(&batches));
    }

    #[test]
    fn bytes_depend_on_rows_only(batches in batches(), skip in 1_usize..70) {
        // The same rows as slices of longer batches, whose other rows must not show.
        let inside: Vec<RecordBatch> = batches
            .iter()
            .map(|batch| {
                let columns = batch.columns().iter().map(|array| surround(array, skip)).collect();
                let longer = RecordBatch::try_new(schema(), columns).unwrap();
                longer.slice(skip, batch.num_rows())
            })
            .collect();
        prop_assert_eq!(table(&inside), table(&batches));
        prop_assert!(file(&[&inside]).unwrap() == file(&[&batches]).unwrap());
    }
}

/// The array with its own start, or nulls, before and after it.
fn surround(array: &ArrayRef, count: usize) -> ArrayRef {
    let other = if array.len() >= count {
        array.slice(0, count)
    } else {
        new_null_array(array.data_type(), count)
    };
    arrow_select::concat::concat(&[&other, array, &other]).unwrap()
}

fn names(keys: &[u32], words: &[&str]) -> RecordBatch {
    let columns = COLUMNS
        .iter()
        .map(|&(column, _, kind)| -> ArrayRef {
            if column == Column::Name {
                let keys = UInt32Array::from(keys.to_vec());
                let words = StringArray::from(words.to_vec());
                Arc::new(DictionaryArray::new(keys, Arc::new(words)))
            } else {
                new_null_array(&kind.data_type(), keys.len())
            }
        })
        .collect();
    RecordBatch::try_new(schema(), columns).unwrap()
}

#[test]
fn a_file_without_batches_can_be_read() {
    assert!(read(file(&[]).unwrap()).is_empty());
    assert!(read(file(&[&[RecordBatch::new_empty(schema())]]).unwrap()).is_empty());
}

#[test]
fn dictionaries_grow() {
    let batches = [names(&[0, 0], &["open"]), names(&[2, 0, 1], &["open", "read", "close"])];
    let found = table(&read(file(&[&batches[..1], &batches[1..]]).unwrap()));
    let expected = ["open", "open", "close", "open", "read"];
    let expected: Vec<Cell> = expected.map(|name| Cell::Text(name.to_owned())).to_vec();
    assert_eq!(found[Column::Name as usize], expected);
}

#[test]
fn a_replaced_dictionary_is_refused() {
    let batches = [names(&[0], &["open"]), names(&[0], &["read", "open"])];
    let error = file(&[&batches[..1], &batches[1..]]).unwrap_err();
    assert!(error.to_string().contains("dictionary of name"), "{error}");
    // In one group, too.
    assert!(file(&[&batches]).is_err());
}

#[test]
fn kinds_of_files_are_not_mixed() {
    let parquet = Encoder::Parquet(ParquetEncoder::try_new(ParquetOptions::default()).unwrap());
    let ipc = Encoder::Ipc(IpcEncoder::new());
    let batch = names(&[0], &["open"]);
    for (a, b) in [(&parquet, &ipc), (&ipc, &parquet)] {
        let encoded = a.encode(std::slice::from_ref(&batch)).unwrap();
        assert_eq!(encoded.rows(), 1);
        assert!(encoded.bytes() > 0);
        assert!(b.appender(Vec::new()).unwrap().append(encoded).is_err());
    }
}
