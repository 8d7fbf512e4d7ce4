//! Parquet files of our own encoders against those of the parquet crate.

mod support;

use std::io::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, RecordBatch, StringArray, StringViewArray, UInt32Array,
    new_null_array,
};
use arrow_schema::DataType;
use bytes::Bytes;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{BoundaryOrder, Compression as Codec, Encoding, ZstdLevel};
use parquet::data_type::ByteArray;
use parquet::file::metadata::{
    ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::TrackedWrite;
use proptest::prelude::*;
use support::{Cell, Numbers, SHAPES, batches, column, own, read, stock, table, vocabulary};
use tracefast_core::events::schema::{COLUMNS, Column, PLAIN, schema};
use tracefast_io::sink::{Compression, ParquetAppender, ParquetEncoder, ParquetOptions};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn both_writers_tell_the_same(batches in batches(), cut in 0_usize..4) {
        let expected = table(&batches);
        let (first, second) = batches.split_at(cut.min(batches.len()));
        prop_assert_eq!(table(&read(own(&[first, second]))), expected.clone());
        prop_assert_eq!(table(&read(stock(&batches, 1 << 20))), expected);
    }

    #[test]
    fn bytes_depend_on_rows_only(batches in batches(), cut in 0_usize..300) {
        // Columns refer to one vocabulary, or cutting a batch would be all that is tested.
        let pieces: Vec<RecordBatch> = batches
            .iter()
            .flat_map(|batch| {
                let cut = cut.min(batch.num_rows());
                [batch.slice(0, cut), batch.slice(cut, batch.num_rows() - cut)]
            })
            .collect();
        prop_assert_eq!(own(&[&pieces]), own(&[&batches]));
    }

    #[test]
    fn statistics_are_those_of_the_stock_writer(batches in batches()) {
        let metadata = |file| footer(file).row_groups().to_vec();
        let (own, stock) = (metadata(own(&[&batches])), metadata(stock(&batches, 1 << 20)));
        prop_assert_eq!(own.len(), stock.len());
        for (own, stock) in own.iter().zip(&stock) {
            prop_assert_eq!(own.num_rows(), stock.num_rows());
            for (i, (own, stock)) in own.columns().iter().zip(stock.columns()).enumerate() {
                let (own, stock) = (own.statistics().unwrap(), stock.statistics().unwrap());
                prop_assert_eq!(own.null_count_opt(), stock.null_count_opt());
                if i == Column::Args as usize {
                    continue;
                }
                let at = COLUMNS[i].1;
                prop_assert_eq!(own.min_bytes_opt(), stock.min_bytes_opt(), "least {}", at);
                prop_assert_eq!(own.max_bytes_opt(), stock.max_bytes_opt(), "largest {}", at);
                prop_assert_eq!(own.min_is_exact(), stock.min_is_exact(), "least {}", at);
                prop_assert_eq!(own.max_is_exact(), stock.max_is_exact(), "largest {}", at);
            }
        }
    }
}

/// A batch in which only one column has values.
#[allow(clippy::needless_pass_by_value)] // Callers have no use for the array.
fn only(wanted: Column, values: ArrayRef) -> RecordBatch {
    let columns = COLUMNS
        .iter()
        .map(|&(column, _, kind)| {
            if column == wanted {
                Arc::clone(&values)
            } else {
                new_null_array(&kind.data_type(), values.len())
            }
        })
        .collect();
    RecordBatch::try_new(schema(), columns).unwrap()
}

fn footer(file: Vec<u8>) -> Arc<ParquetMetaData> {
    let options = ArrowReaderOptions::new()
        .with_page_index_policy(PageIndexPolicy::Required)
        .with_encoding_stats_as_mask(false);
    let metadata = ArrowReaderMetadata::load(&Bytes::from(file), options).unwrap();
    Arc::clone(metadata.metadata())
}

fn encodings(metadata: &ParquetMetaData, column: Column) -> Vec<Encoding> {
    metadata.row_group(0).column(column as usize).encodings().collect()
}

#[test]
fn a_file_without_rows_has_the_schema() {
    for file in [own(&[]), own(&[&[]]), own(&[&[RecordBatch::new_empty(schema())]])] {
        assert!(read(file).is_empty());
    }
}

#[test]
fn metadata_and_arrow_schema_are_in_the_footer() {
    let encoder = ParquetEncoder::try_new(ParquetOptions::default()).unwrap();
    let appender = ParquetAppender::try_new(Vec::new(), &encoder).unwrap();
    let pairs = [("tracefast.clock", "epoch"), ("tracefast.format", "strace")];
    let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let file = appender.finish(pairs.to_vec()).unwrap();
    let options = ArrowReaderOptions::new();
    let metadata = ArrowReaderMetadata::load(&Bytes::from(file), options).unwrap();
    let found = metadata.metadata().file_metadata().key_value_metadata().unwrap();
    let keys: Vec<&str> = found.iter().map(|pair| pair.key.as_str()).collect();
    assert_eq!(keys, ["ARROW:schema", "tracefast.clock", "tracefast.format"]);
    assert_eq!(found[1].value.as_deref(), Some("epoch"));
}

#[test]
fn pages_are_compressed_as_asked() {
    let mut numbers = Numbers(3);
    let words = vocabulary(40);
    let columns = COLUMNS
        .iter()
        .enumerate()
        .map(|(i, &(_, _, kind))| {
            let shape = SHAPES[i % SHAPES.len()];
            column(kind, shape, i as u64 % 4, 9_000, &mut numbers, &words)
        })
        .collect();
    let batch = RecordBatch::try_new(schema(), columns).unwrap();
    let expected = table(std::slice::from_ref(&batch));
    let sizes = ["none", "lz4", "zstd:1", "zstd:19"].map(|name| {
        let mut options = ParquetOptions::default();
        options.compression = name.parse().unwrap();
        assert_eq!(options.compression.to_string(), name);
        let encoder = ParquetEncoder::try_new(options).unwrap();
        let mut appender = ParquetAppender::try_new(Vec::new(), &encoder).unwrap();
        // The second one with memory that was used before.
        appender.append(encoder.encode(std::slice::from_ref(&batch)).unwrap()).unwrap();
        appender.append(encoder.encode(std::slice::from_ref(&batch)).unwrap()).unwrap();
        let file = appender.finish(Vec::new()).unwrap();
        for group in footer(file.clone()).row_groups() {
            for column in group.columns() {
                let expected = match name {
                    "none" => Codec::UNCOMPRESSED,
                    "lz4" => Codec::LZ4_RAW,
                    // The level is not in the file.
                    _ => Codec::ZSTD(ZstdLevel::default()),
                };
                assert_eq!(column.compression(), expected, "{name}");
            }
        }
        let found = table(&read(file.clone()));
        assert!(found.iter().zip(&expected).all(|(found, expected)| {
            found[..9_000] == expected[..] && found[9_000..] == expected[..]
        }));
        file.len()
    });
    assert!(sizes.is_sorted_by(|more, fewer| more > fewer), "{sizes:?}");
}

#[test]
fn what_cannot_be_written_is_no_compression() {
    for text in
        ["", "LZ4", "lz4:1", "zstd:", "zstd:0", "zstd:23", "zstd:-1", "zstd:+1", "zstd:x", "none:1"]
    {
        let error = text.parse::<Compression>().unwrap_err().to_string();
        assert!(error.ends_with(&format!("or 'none', got '{text}'")), "{error}");
    }
}

#[test]
fn views_can_be_declared_as_strings() {
    let mut options = ParquetOptions::default();
    options.string_views = false;
    let encoder = ParquetEncoder::try_new(options).unwrap();
    let mut appender = ParquetAppender::try_new(Vec::new(), &encoder).unwrap();
    let batch = only(Column::Args, Arc::new(StringViewArray::from(vec!["a", "b"])));
    appender.append(encoder.encode(&[batch]).unwrap()).unwrap();
    let file = Bytes::from(appender.finish(Vec::new()).unwrap());
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    for (field, (column, _, kind)) in reader.schema().fields().iter().zip(COLUMNS) {
        let declared = kind.data_type();
        let string = declared == DataType::Utf8View || PLAIN.contains(&column);
        let expected = if string { DataType::Utf8 } else { declared };
        assert_eq!(*field.data_type(), expected);
    }
    let found: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    assert_eq!(found[0].column(Column::Args as usize).as_string::<i32>().value(1), "b");
}

#[test]
fn many_paths_do_without_a_dictionary() {
    let texts: Vec<String> = (0..70_000)
        .map(|i| format!("/a/path/that/is/not/short/{i}/{:x}", Numbers(i).next()))
        .collect();
    let batch = only(Column::Path, Arc::new(StringViewArray::from_iter_values(&texts)));
    let file = own(&[std::slice::from_ref(&batch)]);
    let metadata = footer(file.clone());
    let found = encodings(&metadata, Column::Path);
    assert!(found.contains(&Encoding::DELTA_BYTE_ARRAY), "{found:?}");
    assert!(!found.contains(&Encoding::RLE_DICTIONARY), "{found:?}");
    let read = read(file);
    let cells: Vec<Cell> = texts.iter().cloned().map(Cell::Text).collect();
    assert!(table(&read)[Column::Path as usize] == cells);
    // Without a dictionary there are still bounds.
    let Some(Statistics::ByteArray(bounds)) =
        metadata.row_group(0).column(Column::Path as usize).statistics()
    else {
        panic!("no statistics")
    };
    let least = texts.iter().min().unwrap().as_bytes();
    assert_eq!(bounds.min_opt().map(ByteArray::data), Some(least));
}

#[test]
fn arguments_have_a_dictionary_if_they_repeat() {
    use Encoding::{DELTA_BYTE_ARRAY, RLE_DICTIONARY};
    let long = |i: u64| format!("3, {:x}, {:x}, {i}", Numbers(i).next(), Numbers(i + 1).next());
    let rows = 20_000;
    let of = |text: &dyn Fn(u64) -> String| -> Vec<String> { (0..rows).map(text).collect() };
    let longer = |i: u64| long(i % 5_000).repeat(30);
    for (what, texts, expected) in [
        ("each twice", of(&|i| long(i / 2)), RLE_DICTIONARY),
        ("new ones", of(&long), DELTA_BYTE_ARRAY),
        ("new ones first", of(&|i| long(i % 9_000)), DELTA_BYTE_ARRAY),
        ("new ones at the end", of(&|i| long(i.max(4_500))), DELTA_BYTE_ARRAY),
        ("few, but too long", of(&longer), DELTA_BYTE_ARRAY),
    ] {
        let array: ArrayRef = Arc::new(StringViewArray::from_iter_values(&texts));
        let whole = only(Column::Args, array);
        let file = own(&[std::slice::from_ref(&whole)]);
        let found = encodings(&footer(file.clone()), Column::Args);
        assert!(found.contains(&expected), "{what}: {found:?}");
        let cells: Vec<Cell> = texts.iter().cloned().map(Cell::Text).collect();
        assert!(table(&read(file.clone()))[Column::Args as usize] == cells, "{what}");
        for cut in [1, 8_191, 8_192, 8_193, 15_000] {
            let parts = [whole.slice(0, cut), whole.slice(cut, rows as usize - cut)];
            assert!(own(&[&parts]) == file, "{what}, cut at {cut}");
        }
    }
}

#[test]
fn many_numbers_do_without_a_dictionary() {
    let values: Vec<i64> = (0..140_000).map(|i| Numbers(i).next() as i64).collect();
    let array: ArrayRef = Arc::new(arrow_array::Int64Array::from(values.clone()));
    let file = own(&[&[only(Column::Ret, array)]]);
    let found = encodings(&footer(file.clone()), Column::Ret);
    assert!(!found.contains(&Encoding::RLE_DICTIONARY), "{found:?}");
    let cells: Vec<Cell> = values.iter().map(|&v| Cell::Int(v.into())).collect();
    assert!(table(&read(file))[Column::Ret as usize] == cells);
}

#[test]
fn every_column_but_args_can_be_skipped_by_page() {
    let rows = 131_072;
    let ts = arrow_array::TimestampNanosecondArray::from_iter_values(0..rows);
    let metadata = footer(own(&[&[only(Column::Ts, Arc::new(ts))]]));
    for (i, &(column, name, _)) in COLUMNS.iter().enumerate() {
        let offsets = metadata.page_index().unwrap();
        let pages = offsets.offset_index(0, i).unwrap().page_locations();
        let starts: Vec<i64> = pages.iter().map(|page| page.first_row_index).collect();
        assert_eq!(starts, [0, 65_536], "{name}");
        let index = offsets.column_index(0, i);
        if column == Column::Ts {
            assert_eq!(index.unwrap().get_boundary_order(), Some(BoundaryOrder::ASCENDING));
            let Some(ColumnIndexMetaData::INT64(index)) = index else { panic!("no index of ts") };
            assert_eq!(index.min_value(1), Some(&65_536));
            assert_eq!(index.max_value(0), Some(&65_535));
        } else {
            assert_eq!(index.unwrap().null_count(1), Some(65_536), "{name}");
            assert!(index.unwrap().is_null_page(1), "{name}");
        }
    }
}

/// The footer of a file as the parquet crate writes it after reading it.
fn rewritten(file: &[u8]) -> Vec<u8> {
    let metadata = footer(file.to_vec());
    let start = metadata
        .row_groups()
        .iter()
        .flat_map(RowGroupMetaData::columns)
        .filter_map(ColumnChunkMetaData::column_index_offset)
        .min();
    let pages = start.map_or(4, |start| start as usize);
    let mut out = Vec::new();
    let mut tail = TrackedWrite::new(&mut out);
    tail.write_all(&file[..pages]).unwrap();
    ParquetMetaDataWriter::new_with_tracked(tail, &metadata).finish().unwrap();
    out
}

/// A batch of all columns, each of another shape.
fn made(rows: usize, numbers: &mut Numbers, words: &[String]) -> RecordBatch {
    let columns = COLUMNS
        .iter()
        .enumerate()
        .map(|(i, &(_, _, kind))| {
            let shape = SHAPES[(i + rows) % SHAPES.len()];
            column(kind, shape, i as u64 % 4, rows, numbers, words)
        })
        .collect();
    RecordBatch::try_new(schema(), columns).unwrap()
}

/// Anything in the footer that the crate does not understand, or would write differently, shows.
#[test]
fn the_footer_is_that_of_the_stock_writer() {
    let mut numbers = Numbers(5);
    let words = vocabulary(40);
    let mut batch = |rows| made(rows, &mut numbers, &words);
    let (few, many) = (batch(3_000), batch(200_001));
    let nothing = batch(0);
    for groups in [
        vec![std::slice::from_ref(&few), std::slice::from_ref(&many)],
        vec![std::slice::from_ref(&few); 20],
        vec![std::slice::from_ref(&nothing)],
    ] {
        let file = own(&groups);
        assert!(rewritten(&file) == file, "{} row groups", groups.len());
    }
}

#[test]
fn dictionaries_that_do_not_extend_each_other_are_told_apart() {
    let array = |keys: &[u32], words: &[&str]| -> ArrayRef {
        let keys = UInt32Array::from(keys.to_vec());
        Arc::new(DictionaryArray::new(keys, Arc::new(StringArray::from(words.to_vec()))))
    };
    let batches = [
        only(Column::Name, array(&[1, 0, 1], &["open", "close"])),
        only(Column::Name, array(&[1, 0, 2, 3], &["read", "open", "read", "unused"])),
    ];
    let expected = ["close", "open", "close", "open", "read", "read", "unused"];
    let expected: Vec<Cell> = expected.map(|name| Cell::Text(name.to_owned())).to_vec();
    let found = read(own(&[&batches]));
    assert_eq!(table(&found)[Column::Name as usize], expected);
}

#[test]
fn what_is_not_the_schema_is_refused() {
    let encoder = ParquetEncoder::try_new(ParquetOptions::default()).unwrap();
    let values: ArrayRef = Arc::new(UInt32Array::from(vec![1]));
    let other = RecordBatch::try_from_iter([("a", values)]).unwrap();
    assert!(encoder.encode(&[other]).is_err());

    let words = StringArray::from(vec![Some("open"), None]);
    let keys = UInt32Array::from(vec![0, 1]);
    let names: ArrayRef = Arc::new(DictionaryArray::new(keys, Arc::new(words)));
    assert!(encoder.encode(&[only(Column::Name, names)]).is_err());
}

#[test]
fn used_memory_leaves_no_trace() {
    let mut numbers = Numbers(1);
    let words = vocabulary(40);
    let mut batch = |rows| made(rows, &mut numbers, &words);
    let (a, b) = (batch(3_000), batch(70_001));
    let encoder = ParquetEncoder::try_new(ParquetOptions::default()).unwrap();
    let file = |batch: &RecordBatch| {
        let mut appender = ParquetAppender::try_new(Vec::new(), &encoder).unwrap();
        appender.append(encoder.encode(std::slice::from_ref(batch)).unwrap()).unwrap();
        appender.finish(Vec::new()).unwrap()
    };
    let fresh = file(&a);
    file(&b);
    assert!(file(&a) == fresh);
    assert!(file(&a) == own(&[&[a]]));
}
